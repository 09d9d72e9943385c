"""SillyTavern chats: JSON Lines with a header line, then one message per line.

Of several generated answers only the chosen one, in `mes`, counts as said. A message is identified by its
time and sender, so an edited message replaces its older version.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from noodlings.ingest.lines import LineIds, rows_of
from noodlings.ingest.moments import seconds
from noodlings.ingest.record import Item, SourceProblem, SourceRecord, SourceWithheld
from noodlings.ingest.wording import may_be_private
from noodlings.text import clean
from noodlings.values.audience import OPEN
from noodlings.values.percept import Kind

_FORMS = ("%Y-%m-%d@%Hh%Mm%Ss%fms", "%Y-%m-%d@%Hh%Mm%Ss", "%B%d,%Y%I:%M%p", "%b%d,%Y%I:%M%p")
"""Without the spaces: "2023-11-04 @21h 14m 05s 123ms", or "November 4, 2023 9:14pm"."""
_MILLISECONDS = re.compile(r"(?<=s)\d{1,2}(?=ms$)")
"""Fewer than three digits, which a format would take for the first ones of a fraction."""


def sillytavern(path: Path) -> Iterator[Item]:
    """The messages of a chat. Raises `UserError` for a file that cannot be read."""
    source, ids = f"sillytavern:{path.name}", LineIds()
    for item in rows_of(path):
        if not isinstance(item, tuple):
            yield item
            continue
        number, row, *first = item
        if "mes" in row or not ("user_name" in row or "chat_metadata" in row):  # not the header
            yield from _message(source, number, row, ids, bool(first))


def _message(source: str, number: int, row: dict[str, Any], ids: LineIds, twice: bool) -> Iterator[Item]:
    name, said, sent = row.get("name"), row.get("mes"), row.get("send_date")
    if twice or not isinstance(said, str) or not isinstance(name, str) or not clean(said):
        if not twice:
            yield SourceProblem(number, 'a message needs a "name" and a "mes" that are text, and words in it')
        if isinstance(name, str) and sent:
            yield SourceWithheld(number, source, ids.of(sent, name))  # nobody knows whether it is private now
        return
    moment = moment_of(sent)
    if moment is None and sent not in (None, ""):
        yield SourceProblem(number, f"its send_date is in an unknown format: {sent!r:.60}")
        return
    yield SourceRecord(
        source,
        ids.of(sent, name, *(() if sent else (said,))),
        said,
        name,
        moment,
        Kind.EVENT if row.get("is_system") is True else Kind.SAY,
        audience=OPEN.closed(may_be_private(clean(said))),
        line=number,
    )


def moment_of(sent: Any) -> float | None:
    """A `send_date` in any of its formats as seconds since 1970-01-01 UTC, or None."""
    if not isinstance(sent, str):
        return seconds(sent)
    bare = _MILLISECONDS.sub(lambda few: few[0].zfill(3), "".join(sent.split()))
    read = (seconds(sent), *(seconds(bare, form) for form in _FORMS))
    return next((moment for moment in read if moment is not None), None)
