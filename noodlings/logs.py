"""Where the log goes: `noodlings.log` in the data folder, and never onto the screen one plays on."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any, ClassVar
from weakref import WeakSet

from noodlings.errors import UserError
from noodlings.files import make_private
from noodlings.text import shorten
from noodlings.values.audience import Tier
from noodlings.values.memory import MemoryEntry, hearsay_of
from noodlings.values.percept import INNER, Kind

FILE_NAME = "noodlings.log"
MAX_BYTES = 2_000_000
KEPT = 3
"""Older files beside the current one."""

_OURS = ("noodlings", "commands", "api", "studio")

log = logging.getLogger(__name__)


class PrivateFiles(RotatingFileHandler):
    """Each file of the log is made for its owner alone: what was typed may stand in it.

    A log that cannot be written costs nothing but itself: that is said once, in words of ours. Python would
    print a traceback for every line, with what was to be logged, to wherever standard error leads.
    """

    _failed = False
    _open_now: ClassVar[WeakSet[PrivateFiles]] = WeakSet()

    def __init__(self, *path: Any, **how: Any) -> None:
        super().__init__(*path, **how)
        self._open_now.add(self)

    def _open(self) -> TextIOWrapper:
        make_private(Path(self.baseFilename))
        return super()._open()

    def shouldRollover(self, record: logging.LogRecord) -> bool:
        """As in the standard library; a file that another process has put in the place of ours is opened."""
        if self.stream is not None and not _is_at(self.stream, self.baseFilename):
            self.stream.close()
            self.stream = None
        return bool(super().shouldRollover(record))

    def handleError(self, record: logging.LogRecord) -> None:
        """A line could not be written."""
        if not self._failed:
            self._failed = True
            reason = sys.exc_info()[1]
            sys.stderr.write(
                f"{self.baseFilename} cannot be written and lacks lines from here on: {reason}\n"
            )


def _is_at(stream: TextIOWrapper, path: str) -> bool:
    """Whether an open file is the one at a path."""
    try:
        return os.path.samestat(os.fstat(stream.fileno()), os.stat(path))
    except OSError:
        return False


def quoted(entry: MemoryEntry, below: Tier) -> str:
    """The beginning of a memory for the log, if its tier is below this one: what is encrypted is not quoted.

    Neither is what may hold words of others than its speaker, for that line would not be found when all of
    theirs is deleted: of a thought, a fact, a journal and what was handed on it tells the number.
    """
    if entry.tier >= below:
        return "(encrypted)"
    if entry.kind in INNER or entry.kind is Kind.FACT or hearsay_of(entry):
        return f"({entry.kind}, memory {entry.id})"
    return shorten(entry.user_text, 50)


def file_of(folder: Path, name: str, worker: int) -> Path:
    """The file of a log; the second worker of a folder, and each after it, has one of its own."""
    return folder / (name if worker < 2 else f"{name}-{worker}")


@contextmanager
def paused_logs(folder: Path) -> Iterator[None]:
    """Nothing is written to the logs in a folder meanwhile; then to whatever files are there by then."""
    with ExitStack() as stack:
        for handler in tuple(PrivateFiles._open_now):
            if Path(handler.baseFilename).parent == folder.absolute():
                handler.acquire()
                stack.callback(handler.release)
                if handler.stream is not None:
                    handler.stream.close()
                    handler.stream = None  # the next line opens it again, as after a rotation
        yield


@contextmanager
def logging_to(folder: Path, level: str, worker: int = 0) -> Iterator[Path]:
    """Log our packages at `level` (and warnings of all others) to a file in `folder`, which is made.

    What nobody foresaw on a thread is logged as well, in place of a traceback on the screen one plays on.

    Yields the file's path; afterwards everything is as before.

    Args:
        worker: see `file_of`.

    Raises:
        UserError: the folder cannot be written to.
    """
    path = file_of(folder, FILE_NAME, worker)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # for its owner alone: whispers are kept there
        handler = PrivateFiles(path, maxBytes=MAX_BYTES, backupCount=KEPT, encoding="utf-8")
    except OSError as error:
        raise UserError(f"the data folder {folder} cannot be used: {error.strerror or error}") from None
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)-7s %(name)s: %(message)s"))
    ours = [logging.getLogger(name) for name in _OURS]
    before = [logger.level for logger in ours]
    root = logging.getLogger()
    root.addHandler(handler)
    logging.captureWarnings(True)
    hook = threading.excepthook

    def log_the_end(ended: threading.ExceptHookArgs) -> None:
        if ended.exc_type is not SystemExit:
            name = "a thread" if ended.thread is None else ended.thread.name
            log.critical("%s broke: %s", name, ended.exc_value, exc_info=ended.exc_value)
        if hook is not threading.__excepthook__:
            hook(ended)

    threading.excepthook = log_the_end
    for logger in ours:
        logger.setLevel(level.upper())
    try:
        yield path
    finally:
        for logger, old in zip(ours, before, strict=True):
            logger.setLevel(old)
        threading.excepthook = hook
        logging.captureWarnings(False)
        root.removeHandler(handler)
        with suppress(OSError):  # a full disk, which was said
            handler.close()
