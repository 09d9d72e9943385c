"""Talk logs, or transcripts: one JSON object per line, in the two formats that worlds write.

    {"user": "caity", "text": "hi!", "timestamp": …, "agent": …, "affect": […], "surprise": …, …}
    {"text": "Caity says, \\"hi!\\"", "timestamp": "2025-11-15T21:53:47"}

These include the files of `noodlings replay`, and the `conversation_context` rows and chat lines of
noodleMUSH. A line that cannot be used becomes a `SourceProblem`; the others are still read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unicodedata import normalize

from noodlings.clock import LATEST
from noodlings.errors import UserError
from noodlings.ingest.lines import LineIds, lines_of, rows_of
from noodlings.ingest.moments import seconds
from noodlings.ingest.record import (
    Item,
    SourceNote,
    SourceProblem,
    SourceRecord,
    SourceWithheld,
    kind_of,
    marked_tier,
    require_known_version,
)
from noodlings.ingest.wording import CAPITAL, may_be_private
from noodlings.text import clean, word_characters
from noodlings.values.affect import AXES, Affect
from noodlings.values.audience import Audience, Tier
from noodlings.values.circumstances import CIRCUMSTANCES, require_circumstances
from noodlings.values.percept import PRIVATE, Kind

_WORD = word_characters()
_NAME = rf"[{_WORD}.'’-]+(?: {CAPITAL}[{_WORD}.'’-]*)?(?: \([^)]*\))?"
_SAYS = re.compile(
    rf"^(?P<name>{_NAME}) (?P<verb>says|thinks|whispers|asks|shouts),? (?P<words>.+)$", re.DOTALL
)
_TEXT = re.compile(r'"text": ?"([^"\\\\]{0,80})')
_SOMEBODY = "somebody"


@dataclass(frozen=True, slots=True)
class Recorded:
    """One line of a transcript.

    Attributes:
        record: what was said or done, by the id of a user, and confined if the row says so or if it may be a
            page or a whisper. Its `source` is "", and so is its `id` if the row has none.
        agent_id: who perceived it, or None if the transcript does not say.
        affect: as recorded, or None unless all five numbers are within range.
        surprise: as recorded, or None unless it is within 0…1.
        identity_salience: 0…1.
        known: the speaker and kind as they once were read, without combining marks and whatever the row says
            of its kind; lines without an id are known by them.
        withheld: something in the row is wrong, as a `SourceProblem` before it says, and it may be private.
    """

    record: SourceRecord
    agent_id: str | None = None
    affect: Affect | None = None
    surprise: float | None = None
    identity_salience: float = 0.0
    known: tuple[str, Kind] = ("", Kind.SAY)
    withheld: bool = False

    @property
    def line(self) -> int:
        """Its number in the file, from 1."""
        return self.record.line


def talk(path: Path, agent_names: tuple[str, ...] = ()) -> Iterator[Item]:
    """The lines of a talk log, as one agent heard it. Raises `UserError` if the file cannot be read.

    Args:
        agent_names: ids and names of the agent; lines that another agent perceived are skipped, but what a
            private one was before is confined.
    """
    source, agent_ids = f"talk:{path.name}", frozenset(map(plain_id, agent_names))
    ids, ids_of_others, ids_of_newer, others = LineIds(), LineIds(), LineIds(), 0
    for line in transcript_with_notes(path):
        if isinstance(line, SourceNote):
            yield line
        elif isinstance(line, SourceProblem):
            known_by = "" if line.kept is None else line.id or ids_of_newer.of(None, repr(line.kept))
            yield replace(line, source=source, id=known_by, who=line.who.removeprefix("user_"))
        else:
            record = line.record
            another = line.agent_id is not None and agent_ids and line.agent_id not in agent_ids
            others += bool(another and not line.withheld)
            if another and not record.private and not line.withheld:
                continue
            name, kind = line.known
            told = record.timestamp, name.removeprefix("user_"), kind, record.text
            record_id = record.id or (ids_of_others if another else ids).of(*told)
            if another or line.withheld:
                yield SourceWithheld(line.line, source, record_id, record.confined_to)
            else:
                yield replace(record, source=source, id=record_id, who=record.who.removeprefix("user_"))
    if others:
        yield SourceNote(0, f"{others:,} lines were perceived by other characters and were skipped")


def read_transcript(path: Path) -> Iterator[Recorded | SourceProblem]:
    """Every line of a file that is not empty, in order. Raises `UserError` if the file cannot be read."""
    for line in transcript_with_notes(path):
        if isinstance(line, SourceProblem) or (isinstance(line, Recorded) and not line.withheld):
            yield line


def transcript_with_notes(path: Path) -> Iterator[Recorded | SourceProblem | SourceNote]:
    """The same with notes about the file."""
    names = _speakers(path)
    for item in rows_of(path):
        if not isinstance(item, tuple):
            yield item
            continue
        number, row, *first = item
        if first:  # a key stands twice, and it may be private by either value
            tier = max(Tier.CONFINED, *map(marked_tier, (row, *first)))
            for known_by in dict.fromkeys(filter(None, map(_id, (row, *first)))) or [""]:
                if line := _withheld(number, row | {"id": known_by, "tier": tier}, names):
                    yield line
            continue
        try:
            require_known_version(row)
        except UserError as error:
            line, known_by = _withheld(number, row, names), _id(row)
            speaker = _speaker(row, names)
            yield SourceProblem(number, str(error), "", known_by, speaker, row, line is not None)
            if line is not None and not known_by:  # what waits is known by all of the row, the former by less
                yield line
            continue
        try:
            yield _recorded(number, row, names)
        except UserError as error:
            yield SourceProblem(number, str(error))
            if (withheld := _withheld(number, row, names)) is not None:
                yield withheld


def plain_id(name: str) -> str:
    """ "agent_servnak" and "SERVNAK (robot)" become "servnak"; the prefix of a user stays."""
    return _plain(normalize("NFC", clean(name)), _WORD)


def _plain(name: str, kept: str) -> str:
    bare = re.sub(r"\s*\([^)]{0,100}\)$", "", name).casefold().removeprefix("agent_")
    return re.sub(rf"[^{kept}-]+", "_", bare).strip("_") or _SOMEBODY


def _speakers(path: Path) -> set[str]:
    """The names of everybody who speaks or thinks, so that "Mr. Toad grins" is not attributed to "Mr."."""
    starts = (_TEXT.search(item[1]) for item in lines_of(path) if isinstance(item, tuple))
    said = (_SAYS.match(start[1]) for start in starts if start)
    return {match["name"] for match in said if match}


def _recorded(number: int, row: dict[str, Any], names: set[str]) -> Recorded:
    if not isinstance(row.get("text"), str) or not clean(row["text"]):
        raise UserError('not an object with a "text" that is a line of words')
    if row.get("timestamp") is not None and seconds(row["timestamp"]) is None:
        raise UserError(f"its timestamp is neither ISO 8601 nor seconds from 0 to {LATEST:.0f}")
    agent = row.get("agent")
    if not isinstance(agent, str | None):
        raise UserError(f"its agent must be the name of a character, not {agent!r:.40}")
    agent_id = plain_id(agent) if agent else None
    if isinstance(row.get("user"), str) and clean(row["user"]):
        name, text, kind = row["user"], row["text"], Kind.SAY
        private = may_be_private(clean(text))
    else:
        line = clean(row["text"])
        name, text, kind = _told(line, names)
        private = may_be_private(_before_words(line), whole=True)
    user_id = plain_id(name)
    if row.get("is_rumination") or row.get("is_self_monitor") or user_id == agent_id:
        kind = Kind.THOUGHT
    given = row.get(CIRCUMSTANCES)
    known, audience = (_plain(clean(name), r"\w"), kind), _audience(row)
    if kind not in PRIVATE:
        kind = kind if row.get("kind") is None else kind_of(row["kind"])
        audience = audience.closed(True) if private else audience
    data = {} if given is None else require_circumstances(given).as_data()
    return Recorded(
        SourceRecord(
            "", _id(row), text, user_id, seconds(row.get("timestamp")), kind, "", audience, data, number
        ),
        agent_id,
        _affect(row.get("affect")),
        _unit(row.get("surprise")),
        _unit(row.get("identity_salience")) or 0.0,
        known,
    )


def _withheld(number: int, row: dict[str, Any], names: set[str]) -> Recorded | None:
    """A row with something wrong in it, as it is known again, if it may be private and can be known again.
    One that has lost its words may be private."""
    marks, agent = ("confined", "private", "tier", "kind", CIRCUMSTANCES), row.get("agent")
    plain = {name: value for name, value in row.items() if name not in marks}
    plain |= {"agent": agent if isinstance(agent, str) else None}
    lost = not isinstance(row.get("text"), str) or not clean(row["text"])
    try:
        line = _recorded(number, plain, names)
    except UserError:
        line = _recorded(number, plain | {"timestamp": None} | ({"text": "…"} if lost else {}), names)
        if not line.record.id:  # without its time or its words nobody knows which row it was
            return None
    tier = max(marked_tier(row), Tier.CONFINED if lost else Tier.OPEN)
    record = replace(line.record, audience=line.record.audience.at_least(tier))
    return replace(line, record=record, withheld=True) if record.private else None


def _id(row: dict[str, Any]) -> str:
    given = row.get("id")  # tables make 7 into 7.0
    given = int(given) if isinstance(given, float) and given.is_integer() else given
    return str(given) if isinstance(given, str | int) else ""


def _audience(row: dict[str, Any]) -> Audience:
    """Who may learn of a row by its own "confined", "private" and "tier": beside the speaker all, or nobody.

    Raises `UserError` for one that cannot be honoured.
    """
    marks = [row[name] for name in ("confined", "private") if row.get(name) is not None]
    tier = 0 if row.get("tier") is None else row["tier"]
    if isinstance(tier, bool) or tier not in [*Tier] or not all(isinstance(mark, bool) for mark in marks):
        raise UserError("its tier must be 0, 1, 2 or 3, and confined and private must be true or false")
    return Audience(confined=any(marks)).at_least(Tier(tier))


def _before_words(line: str) -> str:
    """A line that players see, up to words without quotes: only what comes before them tells of a page."""
    said = _SAYS.match(line)
    if said is None or '"' in said["words"]:
        return line
    if line[said.end("verb")] == ",":
        return line[: said.start("words")]
    before, comma, words = line.partition(", ")
    return f'{before}, "{words}' if comma else line


def _speaker(row: dict[str, Any], names: set[str]) -> str:
    """Who said or did what is in a row of a newer form, as far as it can be read, or ""."""
    given = [row.get(name) for name in ("user", "who", "name")]
    if isinstance(text := row.get("text"), str) and clean(text):
        given.append(_told(clean(text), names)[0])
    return next((plain_id(name) for name in given if isinstance(name, str) and clean(name)), "")


def _told(text: str, names: set[str]) -> tuple[str, str, Kind]:
    """The name of whoever did something, and what, from a line as players see it."""
    if said := _SAYS.match(text):
        words = clean(said["words"].strip().strip('"“”'))
        kind = {"thinks": Kind.THOUGHT, "whispers": Kind.WHISPER}.get(said["verb"], Kind.SAY)
        return said["name"], words or text, kind
    name = max((n for n in names if text.startswith(f"{n} ")), key=len, default=text.split()[0])
    return name, clean(text.removeprefix(name)) or text, Kind.EMOTE


def _affect(value: Any) -> Affect | None:
    """A recorded affect, or None if it is out of range: some bridges wrote z-scores instead."""
    if not isinstance(value, list) or len(value) != len(AXES):
        return None
    try:
        return Affect(*map(float, value))
    except (TypeError, ValueError, OverflowError, UserError):
        return None


def _unit(value: Any) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0.0 <= value <= 1.0:
        return float(value)
    return None
