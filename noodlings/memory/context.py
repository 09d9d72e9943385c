"""Hybrid context: what an agent has in mind when it speaks.

It holds the latest entries, the most important ones, those that felt like now, and whatever else a caller
brings (entries that share rare words, or are linked). There are no duplicates, and each entry says why it is
there. They are ordered oldest to newest, because hosts cut contexts from the front, and they fit a budget of
entries and tokens. A slot for which nothing fits stays empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from noodlings.errors import UserError
from noodlings.values.memory import MemoryEntry, Recalled, Why

CHARACTERS_PER_TOKEN = 4
ENTRY_TOKENS = 6
"""Tokens an entry costs beside its words: who, when, punctuation."""


@dataclass(frozen=True, slots=True)
class ContextBudget:
    """How much may be in mind. Raises `UserError` for a negative number.

    Attributes:
        working, episodic, affect_similar: slots for the latest, the important, those alike in feeling.
        total: entries in all; more room than slots is filled with the latest, None means the slots decide.
        max_tokens: tokens in all, by `entry_tokens`; None means no limit.
    """

    working: int = 5
    episodic: int = 3
    affect_similar: int = 2
    total: int | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        if min(self.working, self.episodic, self.affect_similar, self.total or 0, self.max_tokens or 0) < 0:
            raise UserError(f"the numbers of entries and tokens in a context must be at least 0: {self}")


DEFAULT_BUDGET = ContextBudget()


def entry_tokens(entry: MemoryEntry) -> int:
    """About how many tokens an entry costs in a prompt."""
    characters = len(entry.user_text) + len(entry.response or "")
    return ENTRY_TOKENS + -(-characters // CHARACTERS_PER_TOKEN)


def recent(newest_first: Iterable[MemoryEntry]) -> list[Recalled]:
    """Entries as recalled for being recent, with the scores 1, 1/2, 1/3 …"""
    return [recalled_for(Why.RECENT, entry, 1.0 / place) for place, entry in enumerate(newest_first, 1)]


def recalled_for(why: Why, entry: MemoryEntry, score: float = 1.0) -> Recalled:
    """An entry as recalled for a single reason."""
    return Recalled(entry, (why,), score, {why.value: score})


def merge(groups: Iterable[Sequence[Recalled]]) -> dict[int, Recalled]:
    """One `Recalled` for each entry, by id, with the reasons of all groups in order."""
    merged: dict[int, Recalled] = {}
    for found in chain.from_iterable(groups):
        known = merged.get(found.entry.id)
        if known is None:
            merged[found.entry.id] = found
            continue
        merged[found.entry.id] = replace(
            known,
            why=tuple(dict.fromkeys(known.why + found.why)),
            scores=found.scores | known.scores,
            sources=tuple(sorted({*known.sources, *found.sources})),
            supersedes=tuple(sorted({*known.supersedes, *found.supersedes})),
            superseded_by=known.superseded_by or found.superseded_by,
            phrases=known.phrases or found.phrases,
            answer=known.answer or found.answer,
        )
    return merged


def assemble(
    latest: Sequence[Recalled], chosen: Sequence[Sequence[Recalled]], budget: ContextBudget
) -> list[Recalled]:
    """The context, oldest to newest.

    Args:
        latest: the recent ones, newest first; more than the slots, so that `total` can be filled.
        chosen: the other groups, each best first; an entry that is there already only gets another reason.
        budget: limits; when there is too much, the older of the recent entries are dropped first, then the
            last of the chosen. The very latest entry is what the talk is about and is dropped last.
    """
    slots = budget.working
    filling = [] if budget.total is None else latest[slots:]
    merged = merge([latest[:slots], *chosen, filling])
    newest = latest[0].entry.id if latest and slots else None
    by_worth = sorted(
        merged.values(), key=lambda found: (found.entry.id != newest, found.why == (Why.RECENT,))
    )
    kept: list[Recalled] = []
    tokens = 0
    for found in by_worth:
        if budget.total is not None and len(kept) >= budget.total:
            break
        cost = entry_tokens(found.entry)
        if budget.max_tokens is not None and tokens + cost > budget.max_tokens:
            continue
        tokens += cost
        kept.append(found)
    return sorted(kept, key=lambda found: found.entry.id)
