"""Person cards: what is known of one person, put together from facts, with evidence.

A fact that was told again appears once, with all of its evidence. The latest age and home replace earlier
ones, and so does a line that says that it corrects something; what it replaced stays on the card as
superseded. What was written by hand is never replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from noodlings.recall.lexical import stems
from noodlings.reflection.facts import Fact, folded
from noodlings.reflection.superseding import corrects
from noodlings.values.fact import FactKind

MOST = 100
"""Facts of one kind on a card, the latest ones."""
MOST_TOLD = 20
"""The same of lines that no pattern knows, those most worth keeping."""
SAME = 2
"""How many more words a line may have that says the same as another."""
ENOUGH = 2
"""The least number of words that a correction shares with what it corrects."""
ALIKE = 0.25
"""The least share of the words of the shorter line that a correction and what it corrects have in common."""
_AGE = re.compile(
    r"\b(?:\d{1,2}|(?:thir|four|fif|six|seven|eigh|nine)teen|eleven|twelve"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty)\b",
    re.I,
)
_RESIDES = re.compile(r"\b(?:live|lives|living|moved) (?:in|at|to|near|by)\b", re.I)


@dataclass(frozen=True, slots=True)
class KnownFact:
    """A fact on a card.

    Attributes:
        told: every time it was told, oldest first; at least once.
        fullest: the one of these that says most, of equals the last.
        superseded_by: what holds in its place, or None while it holds.
    """

    told: tuple[Fact, ...]
    fullest: Fact
    superseded_by: Fact | None = None

    @property
    def evidence(self) -> tuple[int, ...]:
        """Ids of the memories that tell it, rising."""
        return tuple(sorted({fact.entry_id for fact in self.told}))


@dataclass(frozen=True, slots=True)
class PersonCard:
    """What is known of one person.

    Attributes:
        of: who, as in `Fact.of`.
        relations: how else they are known: "user_marta's sister" of Ruth.
        named_in: ids of the memories that tell whose they are, rising.
        facts, superseded: what holds, and what was replaced; by kind, each the latest first.
    """

    of: str
    relations: tuple[str, ...]
    named_in: tuple[int, ...]
    facts: tuple[KnownFact, ...]
    superseded: tuple[KnownFact, ...]


def person_cards(found: Iterable[Fact], replaced: Mapping[Fact, Fact]) -> Iterator[PersonCard]:
    """A card for everybody whom facts tell of, one by one.

    Args:
        found: in the order in which they were told.
        replaced: fact → the later one that is known to hold in its place.
    """
    by_person: dict[str, list[Fact]] = {}
    named: dict[str, set[str]] = {}  # a relation → the names that were told for it
    named_in: dict[str, set[int]] = {}
    for fact in found:
        by_person.setdefault(fact.of, []).append(fact)
        if fact.relative is not None:
            named_in.setdefault(fact.relative.key, set()).add(fact.entry_id)
        if fact.relative is not None and fact.relative.name:
            named.setdefault(fact.relative.relation, set()).add(fact.relative.key)
    same = {relation: next(iter(keys)) for relation, keys in named.items() if len(keys) == 1}
    relations: dict[str, list[str]] = {}
    for relation, key in same.items():
        relations.setdefault(key, []).append(relation)
        if relation in by_person:
            together = [*by_person.pop(relation), *by_person.get(key, ())]
            by_person[key] = sorted(together, key=lambda fact: fact.entry_id)
    for of, told in by_person.items():
        known = [one for kind in FactKind for one in _of_kind([f for f in told if f.kind is kind])]
        known = [
            replace(one, superseded_by=newer) if (newer := replaced.get(one.told[-1])) else one
            for one in known
        ]
        called = frozenset(stems(" ".join((of, *relations.get(of, ())))))
        known = _worth_keeping(_corrected(known, called))
        yield PersonCard(
            of,
            tuple(sorted(relations.get(of, ()))),
            tuple(sorted(named_in.get(of, ()))),
            tuple(one for one in known if one.superseded_by is None),
            tuple(one for one in known if one.superseded_by is not None),
        )


@dataclass(slots=True)
class _Known:
    """A fact while a card is made, and the words that carry it."""

    fact: KnownFact
    stems: frozenset[str]


def _of_kind(told: Iterable[Fact]) -> list[KnownFact]:
    """The known facts of one kind, the latest first."""
    known = list[_Known]()
    for fact in told:
        words = frozenset(stems(fact.words))
        same = next((one for one in known if _says_the_same(one, fact, words)), None)
        correction = corrects(fact.words)
        for one in known:
            if one is not same and one.fact.superseded_by is None and _replaces(fact, words, one, correction):
                one.fact = replace(one.fact, superseded_by=fact)
        if same is None:
            known.append(_Known(KnownFact((fact,), fact), words))
        else:
            known.remove(same)
            fuller = len(words) >= len(same.stems)
            fullest = fact if fuller else same.fact.fullest
            known.append(_Known(KnownFact((*same.fact.told, fact), fullest), words if fuller else same.stems))
        del known[:-MOST]
    return [one.fact for one in reversed(known)]


def _worth_keeping(known: list[KnownFact]) -> list[KnownFact]:
    """The same without all but `MOST_TOLD` of the lines that no pattern knows."""
    told = [one for one in known if one.fullest.kind is FactKind.TOLD]
    told.sort(key=lambda one: (one.fullest.worth, one.fullest.entry_id), reverse=True)
    gone = {one.fullest.entry_id for one in told[MOST_TOLD:]}
    return [one for one in known if one.fullest.kind is not FactKind.TOLD or one.fullest.entry_id not in gone]


def _corrected(known: Sequence[KnownFact], called: frozenset[str]) -> list[KnownFact]:
    """The same, where a correction that replaced nothing of its kind replaces the earlier fact that is most
    like it, names aside. Both were told by the same person, and no pattern knows one or the other.

    Args:
        called: the stems by which whom the card is of is called.
    """
    facts = list(known)
    done = {one.superseded_by.entry_id for one in known if one.superseded_by is not None}
    words = [frozenset(stems(folded(one.fullest.words))) - called for one in known]
    for one, said in zip(known, words, strict=True):
        new = one.told[-1]
        if new.entry_id in done or not corrects(new.words):
            continue
        alike = [
            (len(said & words[at]) / min(len(said), len(words[at])), old.told[-1].entry_id, at)
            for at, old in enumerate(facts)
            if old.superseded_by is None and FactKind.TOLD in (new.kind, old.fullest.kind)
            if FactKind.KNOWN not in (new.kind, old.fullest.kind)
            if old.told[-1].entry_id < new.entry_id and old.told[-1].told_by == new.told_by
            if len(said & words[at]) >= ENOUGH
        ]
        likeness, _, at = max(alike, default=(0.0, 0, 0))
        if likeness >= ALIKE:
            facts[at] = replace(facts[at], superseded_by=new)
            done.add(new.entry_id)
    return facts


def _says_the_same(known: _Known, fact: Fact, words: frozenset[str]) -> bool:
    """Whether both are about the same relative in the same words, except for a few more in one of them."""
    if known.fact.superseded_by is not None or known.fact.fullest.relative != fact.relative:
        return False
    fewer, more = sorted((known.stems, words), key=len)
    return fewer == more or (len(fewer) >= ENOUGH and fewer < more and len(more) - len(fewer) <= SAME)


def _replaces(fact: Fact, words: frozenset[str], known: _Known, correction: bool) -> bool:
    """Whether a later fact cannot hold beside an earlier one."""
    if fact.kind is FactKind.KNOWN:
        return False
    both = (fact.words, known.fact.fullest.words)
    if fact.kind is FactKind.AGE:
        return all(map(_AGE.search, both))
    if fact.kind is FactKind.HOME and all(map(_RESIDES.search, both)):
        return True
    return correction and len(words & known.stems) >= ENOUGH
