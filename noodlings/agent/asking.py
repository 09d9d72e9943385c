"""What an agent asks its memory before it speaks, and what of the answers comes to mind.

A question is woven from what was just said; where that says little by itself ("and then?"), from the talk
before it; and where that says little too, from what the agent wants. Its mood decides between what fits about
equally well. The rules it keeps: nothing private comes to mind that somebody who listens does not know;
nothing that is no nearer than chance; nothing twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from noodlings.agent.archive import AgentArchive
from noodlings.agent.turn import Turn
from noodlings.recall.filters import Filters
from noodlings.recall.search import Hit
from noodlings.recall.words import stems
from noodlings.text import clean
from noodlings.values.memory import MemoryEntry, Recalled, Why
from noodlings.values.percept import Kind, Percept
from noodlings.values.persona import Persona

FLOOR = 0.25
"""Score (0…1) from which a memory comes to mind. Of what answers a question nearly all lies above it, with
vectors and without; of what has nothing to do with a line nearly none (docs/decisions/0009-asking.md)."""
SPARE = 8
"""So many hits more than wanted are looked at, since some are no news."""

ENOUGH = 2
"""Words with a meaning of their own that make a question."""
TALK_SECONDS = 300.0
"""World time after which something said before does not belong to the talk any more."""
TALK = 2
"""So many lines of the talk help out, the later ones first."""

_TOLD = frozenset({Kind.SAY, Kind.EMOTE, Kind.WHISPER, Kind.EVENT})
_COMPONENTS = {Why.SEMANTIC: "meaning", Why.LEXICAL: "words", Why.AFFECT: "mood"}


def question(percept: Percept, persona: Persona, talk: Sequence[MemoryEntry], goals: Iterable[str]) -> str:
    """What is asked, "" for nothing: who comes and goes asks nothing.

    Args:
        percept: what was just perceived.
        persona: who asks; calling it by its name asks for nothing.
        talk: what it perceived before, oldest first.
        goals: what it wants, the strongest first.
    """
    if percept.kind not in _TOLD:
        return ""
    woven = _uncalled(percept.text, persona)
    before = [
        _uncalled(entry.user_text, persona)
        for entry in talk
        if entry.kind in _TOLD and 0.0 <= percept.timestamp - entry.timestamp <= TALK_SECONDS
    ]
    for more in (*before[: -TALK - 1 : -1], *goals):
        if len(stems(woven)) >= ENOUGH:
            break
        woven = f"{more} {woven}".strip()
    return woven


def may_come(percept: Percept) -> Filters:
    """What may come to mind in answering a percept: what was told, and all who listen may know."""
    return Filters(kinds=_TOLD, present=percept.present | {percept.user_id})


async def remind(
    archive: AgentArchive, asked: str, turn: Turn, in_mind: Collection[int], most: int
) -> list[Recalled]:
    """What a question brings to mind, for the answer of a turn; see `recollections`. "" brings nothing."""
    percept = turn.percept
    if not asked:
        return []
    await archive.soon()
    hits = await archive.search(
        asked, may_come(percept), limit=most + SPARE, mood=turn.mood, asker=percept.user_id
    )
    if archive.failed:
        turn.degraded.append(f"remembered by words alone: {archive.failed}")
    entries = archive.entries([hit.entry_id for hit in hits if hit.entry_id != turn.entry.id])
    return recollections(hits, entries, percept, in_mind, most)


def recollections(
    hits: Iterable[Hit],
    entries: Mapping[int, MemoryEntry],
    percept: Percept,
    in_mind: Collection[int],
    most: int,
) -> list[Recalled]:
    """What comes to mind: at most `most` memories that are not in mind already, and the reasons for those.

    Args:
        hits: best first.
        entries: the entries they found, by id, as they are stored now.
        percept: what is answered. What only asks the same gives way to what may answer it.
        in_mind: ids of what will be in mind anyway; they take no place.
    """
    found = [(hit, entries[hit.entry_id]) for hit in hits if hit.score >= FLOOR and hit.entry_id in entries]
    if _asks(percept.text):
        found.sort(key=lambda pair: _asks(pair[1].user_text))
    said = {_folded(percept.text)}
    chosen: list[Recalled] = []
    new = 0
    for hit, entry in found:
        known = entry.id in in_mind
        if not known and (new == most or _folded(entry.user_text) in said):
            continue
        said.add(_folded(entry.user_text))
        new += not known
        chosen.append(_recalled(hit, entry))
    return chosen


def _recalled(hit: Hit, entry: MemoryEntry) -> Recalled:
    scores = {why.value: hit.scores[_COMPONENTS[why]] for why in hit.why}
    return Recalled(entry, hit.why, hit.score, scores)


def _uncalled(text: str, persona: Persona) -> str:
    """Without the name of whoever is spoken to, before the words or behind them."""
    said = clean(text)
    for name in (persona.name, *persona.aliases):
        folded = said.casefold()
        if folded.startswith(f"{name.casefold()},"):
            return said[len(name) + 1 :].strip()
        if folded.rstrip("?!. ").endswith(f", {name.casefold()}"):
            return said[: folded.rindex(",")].strip()
    return said


def _asks(text: str) -> bool:
    return clean(text).endswith("?")


def _folded(text: str) -> str:
    return clean(text).casefold()
