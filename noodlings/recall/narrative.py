"""Memories as readable lines: who said what to whom, when and where, and what it felt like.

Only the words are embedded, because all that stands around them makes lines alike
(docs/decisions/0008-search.md). When and where it happened is told where that was given. Times of telling are
relative, so a block is made anew whenever it is used. Every line is short and printable, and what was said
stands in quotation marks that nothing inside can close.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from noodlings.affect.feeling import feeling
from noodlings.affect.game import ago
from noodlings.memory.context import CHARACTERS_PER_TOKEN
from noodlings.text import clean, shorten
from noodlings.values.caller import display_name
from noodlings.values.memory import MemoryEntry, circumstances_of, given, tags_of, title_of, written_by
from noodlings.values.percept import INNER, Kind

LONGEST = 200
"""Characters shown of what was said; of an answer half as many."""
NOTED = 40
"""Characters shown of a place, a task, or all tags together."""
NOTHING_FELT = ("neutral", "unknown")
"""Names of feelings that are not shown."""
_DONE = frozenset({Kind.EMOTE, Kind.ARRIVE, Kind.LEAVE})
"""Kinds whose words go on from the name of whoever did it: "waves", "arrives from the garden"."""


@dataclass(frozen=True, slots=True)
class Narrator:
    """Whose memories are told, by the shown `names` of users and of the agent, and at what world time."""

    agent_id: str
    names: dict[str, str]
    now: float

    def name(self, user_id: str) -> str:
        return clean(display_name(user_id, self.names))


def block(entries: Iterable[MemoryEntry], narrator: Narrator) -> str:
    """Entries told one a line, oldest to newest; "" for none."""
    in_time = sorted(entries, key=lambda entry: (entry.timestamp, entry.id))
    return "\n".join(f"- {told(entry, narrator)}" for entry in in_time)


def told(entry: MemoryEntry, narrator: Narrator) -> str:
    """One entry as a line.

    `2 d ago (garden) caity said to Phi: "My dog died."; Phi felt sad, and answered: "Oh no." [tags: dog]`

    After the words comes "(it happened on 2 March, in the mill)" where that was given.
    """
    me, felt = narrator.name(narrator.agent_id), feeling(entry.affect)
    after = []
    if felt not in NOTHING_FELT:
        after.append(f"felt {felt}")
    if entry.response:
        after.append(f"answered: {quoted(entry.response, LONGEST // 2)}")
    place = _short(entry.place, NOTED)
    when_and_where = ago(narrator.now - entry.timestamp) + (f" ({place})" if place else "")
    line = f"{when_and_where} {_happened(entry, narrator)}"
    if happened := circumstances_of(entry).in_words(narrator.now):
        line += f" ({happened})"
    return (f"{line}; {me} {', and '.join(after)}" if after else line) + _noted(entry)


def token_count(text: str) -> int:
    """About how many tokens a text costs in a prompt."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def _noted(entry: MemoryEntry) -> str:
    """What it was part of, and how it was tagged, as far as a host said so."""
    known = circumstances_of(entry)
    task, tags = given(entry, "task") or known.task, ", ".join(sorted(tags_of(entry).difference(known.tags)))
    noted = {"task": task if isinstance(task, str) else "", "tags": tags}
    return "".join(f" [{name}: {_short(text, NOTED)}]" for name, text in noted.items() if clean(text))


def _happened(entry: MemoryEntry, narrator: Narrator) -> str:
    who, what = narrator.name(entry.user_id), quoted(entry.user_text)
    if entry.kind in _DONE:
        return f"{who} {_short(entry.user_text)}".rstrip()
    if entry.kind is Kind.READ:
        return f"{narrator.name(narrator.agent_id)} read in {quoted(title_of(entry), NOTED)}: {what}"
    if entry.kind is Kind.KNOWN:
        return f"{narrator.name(narrator.agent_id)} knows: {what}"
    if written_by(entry):
        return f"known of {who}: {what}"
    if entry.kind is Kind.FACT:
        return f"known from {who}: {what}"
    if entry.kind is Kind.EVENT:
        return f"with {who} there, this happened: {what}"
    if entry.kind in INNER:
        return f"{who} {'thought' if entry.kind is Kind.THOUGHT else 'wrote in the journal'}: {what}"
    verb = "whispered" if entry.kind is Kind.WHISPER else "said"
    hearers = _hearers(entry, narrator)
    return f"{who} {verb} to {hearers}: {what}" if hearers else f"{who} {verb}: {what}"


def _hearers(entry: MemoryEntry, narrator: Narrator) -> str:
    """To whom it was said, as far as that is known."""
    ids = entry.audience.witnesses - {entry.user_id} if entry.private else frozenset()
    if not ids and (entry.private or entry.parts.addressed > 0.0):
        ids = frozenset({narrator.agent_id})
    return " and ".join(sorted(narrator.name(user_id) for user_id in ids))


def quoted(text: str, width: int = LONGEST) -> str:
    """The first `width` characters in quotation marks that nothing in them can close."""
    return f'"{_short(text, width)}"'


def _short(text: str, width: int = LONGEST) -> str:
    return shorten(clean(text).replace('"', "'"), width)
