"""One writer for a data folder: a lock that the operating system releases when its holder dies.

A file is locked, and where there is `flock` the folder itself: the file can be deleted and made again, and
then two processes would each hold a lock. A file beside it says who holds the lock, for the error message of
the second process. It may be left over from a process that was killed, so it decides nothing.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from noodlings.errors import StoreBusy, StoreError
from noodlings.text import clean, shorten

if sys.platform != "win32":  # where a file that is open cannot be deleted
    import fcntl

LOCK_NAME = "noodlings.lock"
HOLDER_NAME = "noodlings.pid"

log = logging.getLogger(__name__)


@contextmanager
def writer_lock(folder: Path) -> Iterator[None]:
    """Be the one writer of `folder` (which exists) until the block ends.

    Raises:
        StoreBusy: another process is, or another store of this one; the message says which.
        StoreError: the folder cannot be written.
    """
    # Whichever thread closes a store lets go of it.
    lock = FileLock(folder / LOCK_NAME, thread_local=False)
    with ExitStack() as held:
        try:
            lock.acquire(timeout=0)
            held.callback(lock.release)
            if sys.platform != "win32":
                itself = os.open(folder, os.O_RDONLY)
                held.callback(os.close, itself)
                _lock_folder(itself)
        except (Timeout, BlockingIOError):
            raise StoreBusy(
                f"{folder} is already in use by {_holder(folder)}; stop that first, or use another folder"
                " (--data DIR)"
            ) from None
        except OSError as error:
            raise StoreError(f"{folder} cannot be locked for writing: {error}") from error
        held.callback((folder / HOLDER_NAME).unlink, missing_ok=True)
        _write_holder(folder)
        yield


if sys.platform != "win32":

    def _lock_folder(descriptor: int) -> None:
        """Raises `BlockingIOError` when it is locked. Some network file systems lock only files."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EBADF, errno.ENOLCK, errno.EOPNOTSUPP):
                raise
            log.info("folders cannot be locked on this disk (%s), so only the lock file is used", error)


def _holder(folder: Path) -> str:
    """Which process holds the folder, and how it was started, as far as that is known."""
    try:
        stored = json.loads((folder / HOLDER_NAME).read_text(encoding="utf-8"))
        return f"process {int(stored['pid'])} ({shorten(clean(str(stored['command'])), 60)})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


def _write_holder(folder: Path) -> None:
    """Written aside and moved into place, so that nobody reads half of it."""
    aside = folder / f"{HOLDER_NAME}.{os.getpid()}"
    try:
        aside.write_text(json.dumps({"pid": os.getpid(), "command": _command()}), encoding="utf-8")
        aside.replace(folder / HOLDER_NAME)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise StoreError(f"{folder} cannot be written: {error}") from error


def _command() -> str:
    """The program and its subcommand; further arguments may be nobody's business."""
    program, *arguments = sys.argv or ["python"]
    name = Path(program).name or "python"
    return " ".join([name, *(argument for argument in arguments[:1] if not argument.startswith("-"))])
