"""Hindsight: what speaks for and against a memory, as an agent sees it later.

The importance at encoding never changes. Beside it each memory may have reasons from hindsight, each with how
far it shifts the weight of the memory. The reasons rest on the archive alone, so that they come out the same
whenever they are worked out. A reason counts only if whoever may learn of the memory may learn of the reason,
as what comes to mind first would give it away otherwise. An importance that was set by hand is not shifted.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from noodlings.recall.lexical import stems
from noodlings.reflection.plans import due_of
from noodlings.values.audience import Audience, Tier, within
from noodlings.values.memory import Hindsight, MemoryEntry
from noodlings.values.percept import SPOKEN

SHIFTS = {
    Hindsight.ANSWERED_WITH: 0.03,
    Hindsight.SUPERSEDED: -0.15,
    Hindsight.TOLD_BY_OTHERS: 0.05,
    Hindsight.OVER: -0.1,
    Hindsight.REPEATED: -0.1,
    Hindsight.ASKED_ABOUT: 0.05,
}
"""How far each reason shifts a weight; the first each time that their number doubles."""
MOST_ANSWERED = 3
"""Times that it does so at most."""
SAYS_SOMETHING = 3
"""Stems of a line that is compared with others."""
RARE = 20
"""Lines of the archive in which a stem stands at most that tells what a question is about."""

_OWN = re.compile(r"\b(?:i|my|me|mine|we|our|us)\b", re.I)
_ABOUT_SPEAKER = re.compile(r"\b(?:me|my|mine|our|i)\b", re.I)
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class _Told:
    """A line that says the same as others."""

    entry_id: int
    user_id: str
    audience: Audience


class HindsightReader:
    """Works out the reasons of memories, once it has read all of the archive.

    Args:
        own_ids: of the agent, whose lines tell nothing.
        people: how people are called, in small letters → their ids.
    """

    def __init__(self, own_ids: Iterable[str], people: Mapping[str, str]) -> None:
        self._own_ids = frozenset(own_ids)
        self._people = people
        self._told: dict[int, list[_Told]] = {}  # by a hash of the stems, as there may be very many
        self._asked: dict[tuple[str, str], list[_Told]] = {}
        self._count = Counter[str]()
        self._now = -math.inf

    def read(self, entry: MemoryEntry) -> None:
        """Take notice of an entry; in the order of the archive."""
        self._now = max(self._now, entry.timestamp)
        if entry.kind not in SPOKEN or entry.user_id in self._own_ids:
            return
        said = frozenset(stems(entry.user_text))
        told = _Told(entry.id, entry.user_id, entry.audience)
        if not entry.user_text.rstrip().endswith("?"):
            self._count.update(said)
            if len(said) >= SAYS_SOMETHING:
                self._told.setdefault(hash(said), []).append(told)
            return
        about = {
            self._people[word] for word in _WORD.findall(entry.user_text.lower()) if word in self._people
        }
        if _ABOUT_SPEAKER.search(entry.user_text):
            about.add(entry.user_id)
        for person in about:
            for stem in said:
                self._asked.setdefault((person, stem), []).append(told)

    def reasons(self, entry: MemoryEntry, newer: Sequence[Audience]) -> dict[Hindsight, float]:
        """The reasons of an entry, each with its shift, in the order of their names.

        Args:
            newer: the audiences of what contradicts it or came in its place.
        """
        if entry.tier is Tier.SEALED or entry.override_by == "hand":
            return {}
        found = dict[Hindsight, float]()

        def shift(reason: Hindsight, times: float = 1.0) -> None:
            found[reason] = SHIFTS[reason] * times

        if entry.recall_count:
            shift(Hindsight.ANSWERED_WITH, min(math.log2(1.0 + entry.recall_count), MOST_ANSWERED))
        if any(within(entry.audience, audience) for audience in newer):
            shift(Hindsight.SUPERSEDED)
        if entry.kind in SPOKEN and entry.user_id not in self._own_ids:
            said = frozenset(stems(entry.user_text))
            same = self._known(entry, self._told.get(hash(said), ()))
            if any(one.user_id == entry.user_id and one.entry_id > entry.id for one in same):
                shift(Hindsight.REPEATED)
            if not _OWN.search(entry.user_text) and any(one.user_id != entry.user_id for one in same):
                shift(Hindsight.TOLD_BY_OTHERS)
            rare = [stem for stem in said if self._count[stem] <= RARE]
            if any(self._known(entry, self._asked.get((entry.user_id, stem), ())) for stem in rare):
                shift(Hindsight.ASKED_ABOUT)
            due = due_of(entry)
            if due is not None and due.over <= self._now:
                shift(Hindsight.OVER)
        return dict(sorted(found.items()))

    def _known(self, entry: MemoryEntry, told: Iterable[_Told]) -> list[_Told]:
        """Those that whoever may learn of an entry may learn of."""
        return [one for one in told if one.entry_id != entry.id and within(entry.audience, one.audience)]
