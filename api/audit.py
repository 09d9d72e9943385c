"""Who changed something, and who was refused: `audit.log` in the data folder, one JSON object a line.

The rules it keeps: who, what and when, but no word of what was said, so that forgetting need not reach it.
And whoever is nobody pushes out nobody's record: what they are refused stands in a file of its own,
`refused.log`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from noodlings.errors import UserError
from noodlings.logs import PrivateFiles
from noodlings.text import clean, shorten

FILE_NAME = "audit.log"
REFUSED_NAME = "refused.log"
MAX_BYTES = 5_000_000
KEPT, KEPT_REFUSED = 9, 1
"""Older files beside the current one."""
LONGEST = 200
"""Characters of one fact."""

log = logging.getLogger(__name__)
_refused = logging.getLogger(f"{__name__}.refused")


def note(**facts: Any) -> None:
    """Write one line; without a `role` nobody knows who that was, and nothing was changed."""
    short = {
        name: shorten(clean(fact), LONGEST) if isinstance(fact, str) else fact for name, fact in facts.items()
    }
    (log if facts.get("role") else _refused).info(json.dumps(short, ensure_ascii=False))


@contextmanager
def auditing_to(folder: Path) -> Iterator[Path]:
    """Write what is noted to two files in `folder`, which exists, and nowhere else. Yields the first's path.

    Raises:
        UserError: a file cannot be written.
    """
    path = folder / FILE_NAME
    with ExitStack() as stack:
        stack.enter_context(_written(_refused, folder / REFUSED_NAME, KEPT_REFUSED))
        stack.enter_context(_written(log, path, KEPT))
        yield path


@contextmanager
def _written(log: logging.Logger, path: Path, kept: int) -> Iterator[None]:
    try:
        handler = PrivateFiles(path, maxBytes=MAX_BYTES, backupCount=kept, encoding="utf-8")
        for file in path.parent.glob(f"{path.name}*"):  # an earlier version left them open to others
            file.chmod(0o600)
    except OSError as error:
        raise UserError(f"the audit log cannot be written: {path}: {error.strerror or error}") from None
    handler.setFormatter(logging.Formatter("%(message)s"))
    level, propagate = log.level, log.propagate
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
    try:
        yield
    finally:
        log.setLevel(level)
        log.propagate = propagate
        log.removeHandler(handler)
        handler.close()
