"""The audit log: every change and every denial, in `audit.log` in the data folder, one JSON object per line.

It says who did what and when, but never what was said. Requests without a valid token are kept apart, in
`refused.log`, so that strangers cannot push the records of others out of the log.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

from noodlings.errors import UserError
from noodlings.logs import PrivateFiles, file_of
from noodlings.text import clean, shorten

FILE_NAME = "audit.log"
REFUSED_NAME = "refused.log"
MAX_BYTES = 5_000_000
KEPT, KEPT_REFUSED = 9, 1
"""How many older files are kept."""
LONGEST = 200
"""The most characters of one fact."""

DENIED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
"""Statuses that are noted even if nothing was to be changed."""

log = logging.getLogger(__name__)
_refused = logging.getLogger(f"{__name__}.refused")
for _one in (log, _refused):
    _one.setLevel(logging.INFO)
    _one.propagate = False


def note(**facts: Any) -> None:
    """Write one line, with the time; without a `role`, the caller is unknown and nothing was changed."""
    short = {"at": round(time.time(), 3)} | {
        name: shorten(clean(fact), LONGEST) if isinstance(fact, str) else fact for name, fact in facts.items()
    }
    (log if facts.get("role") else _refused).info(json.dumps(short, ensure_ascii=False))


@contextmanager
def auditing_to(folder: Path, worker: int = 0) -> Iterator[Path]:
    """Write both logs to `folder`, which exists. Yields the path of the audit log.

    Args:
        worker: see `noodlings.logs.file_of`.

    Raises:
        UserError: a file cannot be written.
    """
    path, refused = (file_of(folder, name, worker) for name in (FILE_NAME, REFUSED_NAME))
    with _writing(_refused, refused, KEPT_REFUSED), _writing(log, path, KEPT):
        yield path


@contextmanager
def _writing(log: logging.Logger, path: Path, kept: int) -> Iterator[None]:
    try:
        handler = PrivateFiles(path, maxBytes=MAX_BYTES, backupCount=kept, encoding="utf-8")
        for file in path.parent.glob(f"{path.name}*"):  # an earlier version left them open to others
            file.chmod(0o600)
    except OSError as error:
        raise UserError(f"the audit log cannot be written: {path}: {error.strerror or error}") from None
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
        handler.close()
