"""A small disk of its own for a data folder, to be filled up, made immutable, or broken: Linux, and root."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path

SIZE = 48 * 2**20
_BALLAST = "ballast"


class Disk:
    """An ext4 file system in a file, mounted at a folder.

    Args:
        image: the file, which is made.
        at: the folder.
    """

    def __init__(self, image: Path, at: Path) -> None:
        self._image, self._at = image, at
        with image.open("wb") as file:
            file.truncate(SIZE)
        _run("mkfs.ext4", "-q", "-F", "-m", "0", image)
        self._device = _run("losetup", "--show", "--find", image).strip()
        self._mount()
        (at / "lost+found").rmdir()

    def fill(self) -> None:
        """Leave not a byte free."""
        with (self._at / _BALLAST).open("ab", buffering=0) as ballast:
            for step in (2**20, 2**12, 1):
                with suppress(OSError):  # that it is full
                    while True:
                        ballast.write(b"\0" * step)

    def free(self) -> None:
        """Give the room back."""
        (self._at / _BALLAST).unlink(missing_ok=True)

    def make_immutable(self) -> None:
        """Whoever has a file open cannot write to it any more either."""
        _run("chattr", "-R", "+i", self._at)

    def make_mutable(self) -> None:
        """As before."""
        _run("chattr", "-R", "-i", self._at)

    def break_down(self) -> None:
        """As after a fault of the hardware: the kernel makes it read-only until it is repaired.

        Everything is brought to the disk first. Without that, Linux (6.18) says to some that call fsync just
        then that all is well, and has not written it: no program could keep that.
        """
        _run("fsfreeze", "--freeze", self._at)
        Path("/sys/fs/ext4", Path(self._device).name, "trigger_fs_error").write_text("1", encoding="ascii")
        _run("fsfreeze", "--unfreeze", self._at)

    def repair(self) -> None:
        """Mount it again; nobody may have a file open."""
        _run("umount", self._at)
        done = subprocess.run(["e2fsck", "-p", self._device], capture_output=True, check=False)
        if done.returncode > 1:  # 1: something was corrected
            raise RuntimeError(f"e2fsck ended with {done.returncode}: {done.stdout.decode()}")
        self._mount()

    def close(self) -> None:
        """Leave the files in the folder, and let go of the rest."""
        aside = self._at.with_name(f"{self._at.name}.kept")
        _run("cp", "-a", self._at, aside)
        _run("umount", self._at)
        _run("losetup", "--detach", self._device)
        self._image.unlink()
        self._at.rmdir()
        os.rename(aside, self._at)

    def _mount(self) -> None:
        _run("mount", "-o", "errors=remount-ro", self._device, self._at)


def _run(*words: str | Path) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout
