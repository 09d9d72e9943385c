"""Who changed something, and who was refused: `audit.log` in the data folder, one JSON object a line.

The rule it keeps: who, what and when, but no word of what was said, so that forgetting need not reach it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from noodlings.errors import UserError

FILE_NAME = "audit.log"
MAX_BYTES = 5_000_000
KEPT = 9
"""Older files beside the current one."""

log = logging.getLogger(__name__)


def note(**facts: Any) -> None:
    """Write one line."""
    log.info(json.dumps(facts, ensure_ascii=False))


@contextmanager
def auditing_to(folder: Path) -> Iterator[Path]:
    """Write what is noted to a file in `folder`, which exists, and nowhere else. Yields its path.

    Raises:
        UserError: the file cannot be written.
    """
    path = folder / FILE_NAME
    try:
        handler = RotatingFileHandler(path, maxBytes=MAX_BYTES, backupCount=KEPT, encoding="utf-8")
        path.chmod(0o600)
    except OSError as error:
        raise UserError(f"the audit log {path} cannot be written: {error.strerror or error}") from None
    handler.setFormatter(logging.Formatter("%(message)s"))
    level, propagate = log.level, log.propagate
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
    try:
        yield path
    finally:
        log.setLevel(level)
        log.propagate = propagate
        log.removeHandler(handler)
        handler.close()
