"""Files that appear whole or not at all, and for their owner alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EFBIG, EINVAL
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from noodlings.errors import UserError


@contextmanager
def in_words(path: Path | str, what: str) -> Iterator[None]:
    """Let an `OSError` in the block be a `UserError` that says what `path` cannot be: "read", "written"."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{path} cannot be {what}: {error.strerror or error}") from None


def regular(path: Path) -> Path:
    """The path of a file to read. Raises `OSError` for a pipe or a device: reading one may not end."""
    mode = path.stat().st_mode
    if not S_ISREG(mode) and not S_ISDIR(mode):  # to open a folder says what it is
        raise OSError(EINVAL, "it is not a regular file")
    return path


def read_bounded(path: Path, largest: int) -> bytes:
    """All of a file. Raises `OSError` for a pipe or a device, and where it has more than `largest` bytes."""
    with regular(path).open("rb") as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise OSError(EFBIG, f"it is larger than {largest:,} bytes")
    return content


def path_of(text: str) -> Path:
    """The path that a setting names, with "~" in full. Raises `UserError` where it names none."""
    if "\0" in text:
        raise UserError(f"{text!r} is no path: it has a null character in it")
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise UserError(f"{text}: nobody knows that home folder; write the path in full") from None


@contextmanager
def atomic_write(path: Path, synced: bool = True) -> Iterator[Path]:
    """An empty file beside `path`, for its owner alone, to write into.

    When the block ends well it is on the disk and takes the place of `path`, whatever stood there; otherwise
    it is gone, and `path` is as it was. Not `synced`, it is whole after a kill, but not after a power cut.
    Raises OSError.
    """
    aside = path.with_name(f"{path.name}.part")
    aside.unlink(missing_ok=True)
    _create(aside)
    try:
        yield aside
        if synced:
            with aside.open("rb") as written:
                os.fsync(written.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def make_private(path: Path) -> Path:
    """`path`, made for its owner alone where it is not there, to write into what was said.

    A file that is there stays as it is: whoever lets others read it wants that. Raises OSError.
    """
    with suppress(FileExistsError):
        _create(path)
    return path


def _create(path: Path) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
