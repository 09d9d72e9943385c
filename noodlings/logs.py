"""Where the log goes: `noodlings.log` in the data folder, and never onto the screen one plays on."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path

from noodlings.errors import UserError

FILE_NAME = "noodlings.log"
MAX_BYTES = 2_000_000
KEPT = 3
"""Older files beside the current one."""

_OURS = ("noodlings", "commands", "api", "studio")


@contextmanager
def logging_to(folder: Path, level: str) -> Iterator[Path]:
    """Log our packages at `level` (and warnings of all others) to a file in `folder`, which is made.

    Yields the file's path; afterwards everything is as before.

    Raises:
        UserError: the folder cannot be written to.
    """
    path = folder / FILE_NAME
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # for its owner alone: whispers are kept there
        handler = RotatingFileHandler(path, maxBytes=MAX_BYTES, backupCount=KEPT, encoding="utf-8")
    except OSError as error:
        raise UserError(f"the data folder {folder} cannot be used: {error.strerror or error}") from None
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)-7s %(name)s: %(message)s"))
    ours = [logging.getLogger(name) for name in _OURS]
    before = [logger.level for logger in ours]
    root = logging.getLogger()
    root.addHandler(handler)
    logging.captureWarnings(True)
    for logger in ours:
        logger.setLevel(level.upper())
    try:
        yield path
    finally:
        for logger, old in zip(ours, before, strict=True):
            logger.setLevel(old)
        logging.captureWarnings(False)
        root.removeHandler(handler)
        handler.close()
