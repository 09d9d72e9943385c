"""What an agent asks its memory before it speaks, and what of the answers comes to mind.

A question is woven from what was just said; where that says little by itself ("and then?"), from the talk
before it; and where that says little too, from what the agent wants. Its mood decides between what fits about
equally well. The rules it keeps: nothing private comes to mind that somebody who listens does not know;
nothing that is no nearer than chance; nothing for which only the lines around it speak; nothing twice.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from noodlings.agent.archive import AgentArchive
from noodlings.agent.turn import Turn
from noodlings.config import ContextSettings
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.memory.plain import PlainMemory
from noodlings.recall.filters import Filters
from noodlings.recall.lexical import stems
from noodlings.recall.search import COMPONENTS, Hit
from noodlings.text import clean
from noodlings.values.memory import MemoryEntry, Recalled
from noodlings.values.percept import Kind, Percept
from noodlings.values.persona import Persona

FLOOR = 0.25
"""Score (0…1) from which a memory comes to mind. Of what answers a question .98 lies above it, .84 by words
alone; of the best that chance finds for a line .04 and none (docs/decisions/0009-asking.md)."""
SPARE = 4
"""So many hits more than wanted are looked at, since some are no news."""

ENOUGH = 2
"""Words with a meaning of their own that make a question."""
TALK_SECONDS = 300.0
"""World time after which something said before does not belong to the talk any more."""
TALK = 2
"""So many lines of the talk help out, the later ones first."""

_ASKING = re.compile(
    r"\b(?:(?:do|did|can|could|would|will) you (?:still |even |ever )?(?:remember|recall|know|think of)"
    r"|what (?:did|have|had|do) (?:i|we) (?:ever |just |already )?(?:tell|told|say|said|mention|mentioned)"
    r"(?: to)?(?: you)?"
    r"|(?:please |can you |could you )?(?:tell|remind) me(?: again)?"
    r"|remember when)\b(?: (?:about|of))?",
    re.I,
)
"""The words of asking somebody who remembers: they are not what it is about."""
_TOLD = frozenset({Kind.SAY, Kind.EMOTE, Kind.WHISPER, Kind.EVENT})


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
    woven = subject(_uncalled(percept.text, persona))
    if _asks(percept.text) and stems(woven):
        return woven  # the talk before would answer in place of what is asked about
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


def subject(text: str) -> str:
    """A question without the words of asking: "what did I tell you about my dog?" is about "my dog"."""
    bare = " ".join(_ASKING.sub(" ", text).split())
    return bare if stems(bare) else text


def may_come(percept: Percept) -> Filters:
    """What may come to mind in answering a percept: what all who listen may know."""
    return Filters(present=percept.listeners)


async def remind(
    archive: AgentArchive,
    memory: HierarchicalMemory | PlainMemory,
    asked: str,
    turn: Turn,
    sizes: ContextSettings,
) -> list[Recalled]:
    """What a question brings to mind, for the answer of a turn; see `recollections`. "" brings nothing."""
    percept, most = turn.percept, sizes.relevant
    if not asked:
        return []
    await archive.soon()
    hits = await archive.search(
        asked,
        may_come(percept),
        limit=most + SPARE,
        mood=turn.mood,
        asker=percept.user_id,
        min_score=FLOOR,
    )
    if archive.failed:
        turn.degraded.append(f"remembered by words alone: {archive.failed}")
    wanted = [hit.entry_id for hit in hits if hit.entry_id != turn.entry.id]
    held = {entry_id: entry for entry_id in wanted if (entry := memory.find(entry_id)) is not None}
    entries = held | archive.entries([entry_id for entry_id in wanted if entry_id not in held])
    recent = {entry.id for entry in memory.retrieve_working(sizes.working + 1)}
    return recollections(hits, entries, percept, recent, most)


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
    found = [(hit, entries[hit.entry_id]) for hit in hits if hit.entry_id in entries and not hit.only_near]
    if _asks(percept.text):
        found.sort(key=lambda pair: _asks(pair[1].user_text))
    said = {_folded(percept.text)}
    chosen: list[Recalled] = []
    new = 0
    for hit, entry in found:
        known = entry.id in in_mind
        news = entry.kind in _TOLD and _folded(entry.user_text) not in said
        if not known and (new == most or not news):
            continue
        said.add(_folded(entry.user_text))
        new += not known
        chosen.append(_recalled(hit, entry))
    return chosen


def _recalled(hit: Hit, entry: MemoryEntry) -> Recalled:
    why = tuple(reason for reason in hit.why if reason in COMPONENTS)
    scores = {reason.value: hit.scores[COMPONENTS[reason]] for reason in why}
    return Recalled(entry, why, hit.score, scores)


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
