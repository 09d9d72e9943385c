"""A note: one memory as Markdown, and the path of its file.

The same memory always gives the same bytes, so what changes by itself is not written, such as how often it
was recalled.

Words from outside are escaped, so that they never become a link, an image, a tag or a heading. See "Backslash
escapes" in https://spec.commonmark.org/0.31.2/. More is escaped than it asks for, because note-taking
programs add syntax of their own (tags, highlights, comments, formulas). They also make links of bare
addresses, whatever is escaped in them, so these stand as code.
"""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

from noodlings.text import clean
from noodlings.values.caller import display_name
from noodlings.values.memory import Link, MemoryEntry, tags_of, title_of
from noodlings.values.percept import Kind

_SPECIAL = re.compile(
    r"(?P<address>(?<![^ `])[^ `]*(?:://|(?<![^\W_])www\.|\w@\w)[^ `]*)|[\\`*_{}\[\]<>#|~$&%=^]", re.I
)
# What begins a list, only at the beginning of a line.
_BULLET = re.compile(r"^([-+]|\d+[.)])")
_ESCAPED = re.compile(r"`([^`]*)`|\\([!-/:-@\[-`{-~])")


def escaped(line: str) -> str:
    """One cleaned line (see `noodlings.text.clean`) as Markdown."""
    special = _SPECIAL.sub(lambda found: f"`{found[0]}`" if found["address"] else f"\\{found[0]}", line)
    return _BULLET.sub(lambda found: f"{found[0][:-1]}\\{found[0][-1]}", special)


def unescaped(line: str) -> str:
    """What `escaped` was given."""
    return _ESCAPED.sub(r"\1\2", line)


FENCE = "---"
"""The line above and below the front matter."""
QUOTE = ">"
"""What a line of somebody's words begins with."""

_DIGITS = 6  # of the intensity; further ones may differ from machine to machine
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST = 100
_UNSAFE = re.compile(r"[^a-z0-9_-]")
_DID = {
    Kind.SAY: "said",
    Kind.EMOTE: "gestured",
    Kind.WHISPER: "whispered",
    Kind.ARRIVE: "came",
    Kind.LEAVE: "went",
    Kind.EVENT: "caused",
    Kind.THOUGHT: "thought",
    Kind.JOURNAL: "wrote in the journal",
}


@dataclass(frozen=True, slots=True)
class Note:
    """What a note is made of: whose memory, which, the word for how it felt, and its links."""

    agent_id: str
    entry: MemoryEntry
    feeling: str
    links: tuple[Link, ...] = ()


def path_of(agent_id: str, entry: MemoryEntry) -> Path:
    """Where the note of a memory lies in the folder of notes. Id and time never change, so it never moves."""
    moment, name = _moment(entry.timestamp), f"memory_{entry.id}.md"
    folder = Path(folder_of(agent_id))
    if moment is None:
        return folder / "undated" / name
    day = folder / f"{moment.year:04}" / f"{moment.month:02}" / f"{moment.day:02}"
    return day / f"{moment.hour:02}_{moment.minute:02}_{moment.second:02}_{name}"


def folder_of(agent_id: str) -> str:
    """The name of an agent's folder: its id, in a form that every file system takes.

    All but small letters, digits, hyphens and underscores are written in hexadecimal, so that two ids never
    share a folder, even where capitals do not count.
    """
    name = _UNSAFE.sub(lambda found: f"%{ord(found[0]):X}%", agent_id)
    if 0 < len(name) <= _LONGEST:
        return name
    return f"{name[:_LONGEST]}%{sha256(agent_id.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def render(note: Note) -> str:
    """The whole file: front matter in YAML, then who said what to whom, the answer and the links."""
    # Only ids and tags in it come from outside. In ASCII, for of bare Unicode PyYAML reads some line
    # breaks as spaces.
    front = yaml.safe_dump(_front(note), sort_keys=False, width=math.inf)
    return f"{FENCE}\n{front}{FENCE}\n\n" + "\n\n".join(_body(note)) + "\n"


def _front(note: Note) -> dict[str, Any]:
    entry = note.entry
    moment = _moment(entry.timestamp)
    return {
        "id": entry.id,
        "agent": note.agent_id,
        "user": entry.user_id,
        "kind": entry.kind.value,
        "private": entry.private,
        "addressed": entry.parts.addressed > 0.0,
        "audience": sorted(entry.audience.witnesses),
        "place": entry.place,
        "time": "" if moment is None else f"{moment.replace(tzinfo=None).isoformat()}Z",
        "timestamp": float(entry.timestamp),
        "feeling": note.feeling,
        "affect": None if entry.affect is None else _floats(asdict(entry.affect)),
        "intensity": None if entry.affect is None else round(entry.affect.intensity, _DIGITS),
        "importance": float(entry.importance),
        "encoded_importance": float(entry.encoded_importance),
        "override_by": entry.override_by,
        "parts": _floats(asdict(entry.parts)),
        "pinned": bool(entry.pinned),
        "tags": sorted(filter(None, map(clean, tags_of(entry)))),
    } | ({"source": entry.source} if entry.source else {})


def _floats(numbers: dict[str, Any]) -> dict[str, float]:
    return {name: float(number) for name, number in numbers.items()}


def _body(note: Note) -> list[str]:
    entry = note.entry
    agent = _name(note.agent_id)
    if entry.kind is Kind.READ:
        happened = f"{agent} read in **{escaped(title_of(entry))}**:"
    elif entry.kind is Kind.KNOWN:
        happened = f"{agent} knows:"
    elif entry.kind is Kind.FACT:
        happened = f"{agent} knows from {_name(entry.user_id)}:"
    else:
        to = f" to {agent}" if entry.parts.addressed > 0.0 else ""
        happened = f"{_name(entry.user_id)} {_DID[entry.kind]}{to}:"
    body = [happened, _quoted(entry.user_text)]
    if entry.response is not None:
        body += [f"{agent} answered:", _quoted(entry.response)]
    if note.links:
        body += ["Links:", "\n".join(_link(link, entry.id) for link in note.links)]
    return body


def _quoted(text: str) -> str:
    return f"{QUOTE} {escaped(clean(text))}".rstrip()


def _name(user_id: str) -> str:
    return f"**{escaped(clean(display_name(user_id, {}))) or 'somebody'}**"


def _link(link: Link, entry_id: int) -> str:
    """Seen from one of its ends: → leads away, ← comes from the other one."""
    arrow, other = ("→", link.target) if link.source == entry_id else ("←", link.source)
    return f"- {escaped(link.type.value)} {arrow} {other} ({link.strength:.2f})"


def _moment(timestamp: float) -> datetime | None:
    """The second in which it happened; None where the calendar ends."""
    try:
        return _EPOCH + timedelta(seconds=math.floor(timestamp))
    except OverflowError:
        return None
