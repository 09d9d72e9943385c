"""A journal: what happened on one day, told by the character itself, each sentence with its evidence.

A sentence refers to the memories that it rests on, and holds the words that were said, where no model has
worded it (`noodlings.agent.journal_writing`). What matters most is chosen, repetitions are told once, and
questions are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from noodlings.affect.feeling import feeling
from noodlings.recall.lexical import stems
from noodlings.recall.narrative import NOTHING_FELT, quoted
from noodlings.values.memory import MemoryEntry
from noodlings.values.page import Statement
from noodlings.values.percept import SAID, SPOKEN, Kind

WORTH_TELLING = 0.3
"""The least importance of what stands in a journal. By default what is above it becomes episodic."""
MOST = 8
"""Sentences of one day, beside the one about whom it met."""
MET = 6
"""People who are named in that one: those who spoke most."""
TOLD = SAID | {Kind.EVENT, Kind.THOUGHT}
_ENDED = re.compile(r"[.!?…]\"$")
_DENIES = re.compile(r"\b(?:not|no|never|\w+n['’]t)\b")


def chosen(
    day: Sequence[MemoryEntry], weight: Callable[[MemoryEntry], float], least: float
) -> list[list[MemoryEntry]]:
    """What matters most of a day, each with its repetitions, in the order in which it happened.

    Args:
        day: everything of that day that may be told, oldest first.
        weight: how much a memory matters, 0…1; least: from which on it is worth a sentence.
    """
    same: dict[tuple[str, Kind, frozenset[str]], list[MemoryEntry]] = {}
    for entry in day:
        if entry.kind in TOLD and entry.user_text and not entry.user_text.endswith("?"):
            said = frozenset(stems(entry.user_text)) or frozenset({entry.user_text.casefold()})
            said |= frozenset(_DENIES.findall(entry.user_text.casefold()))
            same.setdefault((entry.user_id, entry.kind, said), []).append(entry)
    told = [group for group in same.values() if max(map(weight, group)) >= least]
    told.sort(key=lambda group: (-max(map(weight, group)), group[0].id))
    return sorted(told[:MOST], key=lambda group: group[0].id)


def met(day: Sequence[MemoryEntry], me: str, name: Callable[[str], str]) -> Statement | None:
    """Whom the agent `me` talked with on a day; the evidence is what each of them said first.

    Args:
        name: how a user is called.
    """
    heard = [entry for entry in day if entry.kind in SPOKEN and entry.user_id != me]
    lines = Counter(entry.user_id for entry in heard)
    first = {entry.user_id: entry.id for entry in reversed(heard)}
    if not first:
        return None
    most = sorted(first, key=lambda user: (-lines[user], first[user]))
    named = [name(user) for user in most[:MET]]
    others = len(most) - len(named)
    if others:
        named.append("one other" if others == 1 else f"{others} others")
    listed = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
    return Statement(f"I talked with {listed}.", tuple(sorted(first[user] for user in most[:MET])))


def quotation(group: Sequence[MemoryEntry], me: str, name: Callable[[str], str]) -> Statement:
    """One of those `chosen`, in the words that were used: a sentence, and maybe one that says how it felt.
    The evidence is never empty."""
    entry = group[-1]
    who, said = name(entry.user_id), quoted(entry.user_text)
    how = " in confidence" if entry.confided else " when we were alone" if entry.private else ""
    if entry.user_id == me:
        told = f"I thought: {said}" if entry.kind is Kind.THOUGHT else f"I did this: {said}"
    elif entry.kind is Kind.EVENT:
        told = f"This happened while {who} was there: {said}"
    elif entry.kind is Kind.EMOTE:
        told = f"{who} did this{how}: {said}"
    elif entry.private or entry.parts.addressed > 0.0:
        told = f"{who} told me{how}: {said}"
    else:
        told = f"I heard {who} say: {said}"
    if len(group) > 1:
        told += ", twice" if len(group) == 2 else f", {len(group)} times"
    if len(group) > 1 or not _ENDED.search(told):
        told += "."
    felt = feeling(entry.affect)
    told = told if felt in NOTHING_FELT else f"{told} I felt {felt}."
    return Statement(told, tuple(one.id for one in group))
