"""What an agent knows of people, as one caller may read it.

A card is never stored. It is made anew from the memories that are its evidence, so nothing in it has been
forgotten or is kept from the caller.
"""

from __future__ import annotations

import asyncio
import difflib
import re
from collections import ChainMap, Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from noodlings.affect.feeling import feeling
from noodlings.agent.memory_question import uncalled
from noodlings.agent.recollection import PLANS, newer_forms
from noodlings.errors import NotFound
from noodlings.inspect.relationships import RelationshipView, relationship_with
from noodlings.inspect.viewpoint import PAGE, Viewpoint, cut
from noodlings.inspect.views import View, ViewOfAgent, iso
from noodlings.recall.filters import EVERYTHING
from noodlings.reflection.facts import LONGEST, Fact, facts
from noodlings.reflection.person_cards import KnownFact, PersonCard, person_cards
from noodlings.reflection.plans import Due, due_by_facts, open_plans
from noodlings.reflection.relations import TALK_SECONDS
from noodlings.stemming import STOP_WORDS, UNSPACED
from noodlings.text import clean, shorten
from noodlings.values.affect import Affect
from noodlings.values.fact import FactKind
from noodlings.values.memory import Hindsight, LinkType, MemoryEntry, written_by
from noodlings.values.percept import SPOKEN, Kind

BEFORE = 2
"""How many earlier lines of the same speaker may say who "she" is."""
_OF_PAIRS = frozenset({FactKind.BETWEEN, FactKind.KIN, FactKind.TOLD})
"""Kinds of facts about one person that bear on how whoever told them stands to them."""
SPOKEN_OF = 100
"""Lines that are read for the card of somebody who is only talked about, the latest ones."""
LONGEST_SHOWN = 40
"""Characters of a name in a message, and of one that is looked for in what people said."""


@dataclass(frozen=True, slots=True)
class FactView(View):
    """A fact on a card.

    Attributes:
        kind: see `noodlings.reflection.facts.FactKind`.
        words: the sentence it was told in.
        told_by: the name of who told it, as shown.
        timestamp, when, age: when it was told; seconds since 1970-01-01 UTC, ISO 8601, seconds until now.
        evidence: ids of the memories that tell it, rising.
        superseded_by: the sentence that replaced it, "" while it holds.
        superseded_evidence: the id of the memory that tells what replaced it; none while it holds.
        private: whether it, or what replaced it, is kept from some.
        confided: whether that is because somebody wanted it so, and not only because nobody else was there.
    """

    kind: str
    words: str
    told_by: str
    timestamp: float
    when: str
    age: float
    evidence: tuple[int, ...]
    superseded_by: str
    superseded_evidence: tuple[int, ...]
    private: bool
    confided: bool


@dataclass(frozen=True, slots=True)
class PlanView(View):
    """Something that somebody said would happen, and that nobody has spoken of since.

    Attributes:
        words: as it was told.
        evidence: the id of the memory.
        due, when: the beginning of its day; seconds since 1970-01-01 UTC, ISO 8601.
        ahead: seconds until the day is over; negative afterwards.
        private, confided: whether it is kept from some, and whether because somebody wanted it so.
    """

    words: str
    evidence: int
    due: float
    when: str
    ahead: float
    private: bool
    confided: bool

    @property
    def state(self) -> str:
        """ "due" once its day is over, "ahead" until then."""
        return "due" if self.ahead <= 0.0 else "ahead"


@dataclass(frozen=True, slots=True)
class AcquaintanceView(View):
    """How well an agent knows somebody, as far as the caller may read what they said.

    Attributes:
        lines: how many lines they said to the agent or in its presence.
        met, last: when the first and the last of them was said; seconds since 1970-01-01 UTC.
        met_when, last_when: the same as ISO 8601.
        last_age: seconds since the last one.
        feeling: the word for what their lines made the agent feel, all together.
        relationship: what it makes of them; None where it makes nothing of people.
    """

    lines: int
    met: float
    met_when: str
    last: float
    last_when: str
    last_age: float
    feeling: str
    relationship: RelationshipView | None = None


@dataclass(frozen=True, slots=True)
class PersonCardView(View):
    """What is known of one person.

    Attributes:
        of: the id of a user or an agent, or a relation and a name ("user_marta's Ruth"); two of these with
            "and" between them for what is between two people.
        name: as shown.
        also: how else they are known ("Marta's sister").
        also_evidence: ids of the memories that say so, rising.
        acquaintance: None for somebody who never said anything.
        plans: what they said would happen and is still open, the earliest first.
        facts, superseded: what holds, and what was replaced; by kind.
    """

    of: str
    name: str
    also: tuple[str, ...]
    also_evidence: tuple[int, ...]
    acquaintance: AcquaintanceView | None
    plans: tuple[PlanView, ...]
    facts: tuple[FactView, ...]
    superseded: tuple[FactView, ...]


@dataclass(frozen=True, slots=True)
class PeopleView(ViewOfAgent):
    """One page of the cards of an agent; those with the most facts come first.

    Attributes:
        offset: of the first of `people`; total: how many there are.
        hidden: how many memories the caller may not read.
    """

    people: tuple[PersonCardView, ...]
    offset: int
    total: int
    hidden: int


async def people_of(
    viewpoint: Viewpoint, person: str | None = None, limit: int | None = None, offset: int = 0
) -> PeopleView:
    """A page of the people the agent knows something about; or one person by id, name, or "me"; or how two
    people stand to each other, as "Ann and Bob".

    Raises:
        NotFound: nothing is known of anybody by that name, or between the two.
        UserError: a limit below 1, or an offset below 0.
    """
    cut((), limit, offset)  # refused before any work
    archive = viewpoint.agent.archive
    if archive is not None and archive.relationships:
        await archive.whole()
    while True:
        forgettings = viewpoint.agent.forgettings
        views, read, tellers = await cards_of(viewpoint, bare=person is not None)
        if person is not None and " and " not in person and _named(viewpoint, views, person) is None:
            views += await _spoken_of(viewpoint, clean(person))
        if viewpoint.agent.forgettings == forgettings:  # else they may hold something forgotten meanwhile
            break
    views.sort(key=lambda card: (-len(card.facts), card.name, card.of))
    if person is not None:
        first, both, second = clean(person).partition(" and ")
        if both and _named(viewpoint, views, person) is None:
            pair = _meant(viewpoint, views, first), _meant(viewpoint, views, second)
            views = [_between(viewpoint, *pair, tellers)]
        else:
            views = [_meant(viewpoint, views, person)]
    shown = tuple(cut(views, limit, offset))
    return PeopleView(*viewpoint.of_agent, shown, offset, len(views), viewpoint.unread(read))


async def cards_of(viewpoint: Viewpoint, bare: bool) -> tuple[list[PersonCardView], int, dict[int, str]]:
    """All cards, how many memories were read for them, and who told which.

    Args:
        bare: also those of people of whom no fact is known, but who are no strangers.
    """
    known, read = list[Fact](), 0
    private: dict[int, bool] = {}  # id → whether it was confided
    names, persona = _names(viewpoint), viewpoint.persona
    told_names: dict[str, dict[str, str]] = {}  # by who told them
    before: dict[str, list[MemoryEntry]] = {}
    heard: dict[str, _Heard] = {}
    understood: dict[int, MemoryEntry] = {}
    contradicted: dict[int, MemoryEntry] = {}
    async for entry in viewpoint.read():
        read += 1
        if _is_corrected(viewpoint, entry):
            continue
        if entry.private:
            private[entry.id] = entry.confided
        if written_by(entry):
            known += facts(entry, {})
        if entry.kind is Kind.FACT:
            understood[entry.id] = entry
        if entry.kind not in SPOKEN:
            continue
        if Hindsight.SUPERSEDED in entry.hindsight:
            contradicted[entry.id] = entry
        entry = replace(entry, user_text=clean(uncalled(entry.user_text, persona)))
        user = entry.user_id
        heard.setdefault(user, _Heard(entry)).add(entry, viewpoint.figure(entry.importance))
        near = [one for one in before.get(user, ()) if 0.0 <= entry.timestamp - one.timestamp <= TALK_SECONDS]
        found = facts(entry, ChainMap(names, told_names.get(user, {})), near)
        for fact in found:
            if fact.relative is not None and fact.relative.name:
                told_names.setdefault(user, {})[fact.relative.name.casefold()] = fact.relative.key
        known += found
        before[user] = [*near, entry][-BEFORE:]
    lines, replaced_ids = _made_of(viewpoint, list(understood))
    by_id: dict[int, Fact] = {}
    for number, entry in understood.items():
        told = ChainMap(names, told_names.get(entry.user_id, {}))
        for fact in facts(entry, told):
            by_id[number] = replace(fact, entry_id=lines.get(number, number))
    better = {(one.entry_id, one.of, kind) for one in by_id.values() for kind in (one.kind, FactKind.TOLD)}
    known = [
        fact
        for fact in known
        if fact.kind is FactKind.KIN or (fact.entry_id, fact.of, fact.kind) not in better
    ]
    known = sorted([*known, *by_id.values()], key=lambda fact: fact.entry_id)
    replaced = {by_id[old]: by_id[new] for old, new in replaced_ids.items() if old in by_id and new in by_id}
    replaced |= _contradicted(viewpoint, contradicted, known)
    due = due_by_facts((one for number, one in understood.items() if number not in replaced_ids), lines)
    views = []
    for card in await viewpoint.aside(lambda: list(person_cards(known, replaced))):
        views.append(_card(viewpoint, card, heard.get(card.of), private, due))
        await asyncio.sleep(0)
    for user in heard.keys() - {view.of for view in views} if bare else ():
        if relationship_with(viewpoint, user) is not None:
            views += [_card(viewpoint, PersonCard(user, (), (), (), ()), heard[user], private, due)]
        await asyncio.sleep(0)
    return views, read, {fact.entry_id: fact.told_by for fact in known}


def _contradicted(
    viewpoint: Viewpoint, entries: Mapping[int, MemoryEntry], known: Sequence[Fact]
) -> dict[Fact, Fact]:
    """Facts told by lines that a later line contradicts, as the night found, and what is told instead.

    Of a line that tells several facts, those are replaced whose words the night quotes.
    """
    if not entries:
        return {}
    links = [
        link
        for link in viewpoint.store.links_of(viewpoint.agent_id, list(entries))
        if link.type is LinkType.CONTRADICTS and link.target in entries
    ]
    later = viewpoint.readable([link.source for link in links])
    by_line: dict[int, list[Fact]] = {}
    for fact in known:
        by_line.setdefault(fact.entry_id, []).append(fact)
    replaced: dict[Fact, Fact] = {}
    for link in links:
        if (newer := later.get(link.source)) is None or link.quoted is None:
            continue
        begins, ends, old_begins, old_ends = link.quoted
        gone = clean(entries[link.target].user_text[old_begins:old_ends])
        words = shorten(clean(newer.user_text[begins:ends]), LONGEST)
        for fact in by_line.get(link.target, ()):
            if fact.words in gone or gone in fact.words:
                told = (fact.of, FactKind.TOLD, words, newer.id, newer.user_id, newer.timestamp)
                replaced[fact] = Fact(*told)
    return replaced


def _is_corrected(viewpoint: Viewpoint, entry: MemoryEntry) -> bool:
    known = {entry.id: entry}
    return entry.override == 0.0 and bool(newer_forms(viewpoint.agent_id, viewpoint.store, known, EVERYTHING))


async def _spoken_of(viewpoint: Viewpoint, name: str) -> list[PersonCardView]:
    """The card of somebody who is only talked about: the lines that name them, as they were told.

    A name in small letters must have a capital letter somewhere, or it may be any word.
    """
    if not 0 < len(name) <= LONGEST_SHOWN or name.casefold() in STOP_WORDS:
        return []
    written, is_name = name[:1].upper() + name[1:], not name[:1].islower()
    letter = rf"[^\W{UNSPACED}]"  # a name has no space beside it in scripts without them
    named = re.compile(rf"(?<!{letter}){re.escape(name)}(?!{letter})", re.I)
    found, private = list[Fact](), dict[int, bool]()
    async for entry in viewpoint.read():
        text = clean(uncalled(entry.user_text, viewpoint.persona))
        match = named.search(text)
        if not match or entry.kind not in SPOKEN or text.endswith("?") or _is_corrected(viewpoint, entry):
            continue
        is_name |= match[0][0].isupper()
        told = (written, FactKind.TOLD, shorten(text, LONGEST), entry.id, entry.user_id, entry.timestamp)
        found.append(Fact(*told, worth=entry.parts.significance))
        private |= {entry.id: entry.confided} if entry.private else {}
    cards = person_cards(found[-SPOKEN_OF:] if is_name else (), {})
    return [_card(viewpoint, card, None, private, {}) for card in cards]


def _made_of(viewpoint: Viewpoint, ids: Sequence[int]) -> tuple[dict[int, int], dict[int, int]]:
    """Of understood facts by id, the line that tells each, and the fact that has replaced it."""
    lines, replaced = dict[int, int](), dict[int, int]()
    for at in range(0, len(ids), PAGE):
        for link in viewpoint.store.links_of(viewpoint.agent_id, ids[at : at + PAGE]):
            if link.type is LinkType.UNDERSTOOD:
                lines[link.source] = link.target
            elif link.type is LinkType.REPLACED:
                replaced[link.target] = link.source
    return lines, replaced


@dataclass(slots=True)
class _Heard:
    """What one person said: the first line, the latest ones, how many, and what they felt like.

    Attributes:
        felt: the sum of the affects, each weighted with the importance of its line; weight: the sum of those.
    """

    first: MemoryEntry
    latest: deque[MemoryEntry] = field(default_factory=lambda: deque(maxlen=PLANS))
    lines: int = 0
    felt: tuple[float, ...] = (0.0,) * 5
    weight: float = 0.0

    def add(self, entry: MemoryEntry, weight: float) -> None:
        self.latest.append(entry)
        self.lines += 1
        if entry.affect is not None:
            self.felt = tuple(a + weight * b for a, b in zip(self.felt, entry.affect.as_list(), strict=True))
            self.weight += weight


def _acquaintance(heard: _Heard, viewpoint: Viewpoint) -> AcquaintanceView:
    met, last = heard.first.timestamp, heard.latest[-1].timestamp
    felt = Affect.of([part / heard.weight for part in heard.felt]) if heard.weight else None
    age, made = viewpoint.since(last), relationship_with(viewpoint, heard.first.user_id)
    relationship = None if made is None else made[1]
    return AcquaintanceView(heard.lines, met, iso(met), last, iso(last), age, feeling(felt), relationship)


def _plans(viewpoint: Viewpoint, heard: _Heard, understood: Mapping[int, Due]) -> Iterator[PlanView]:
    now, told = viewpoint.now, [entry for entry in heard.latest if entry.in_person]
    for entry, due in open_plans(told, now, understood):
        words = shorten(entry.user_text, LONGEST)
        yield PlanView(words, entry.id, due.day, iso(due.day), due.over - now, entry.private, entry.confided)


def _names(viewpoint: Viewpoint) -> dict[str, str]:
    """Name → id, for finding people in lines. A name that several have is left out.

    For a player these are its own name and those that everybody may know; any other name that is found in its
    own lines would tell who else there is.
    """
    caller = viewpoint.caller
    shown: Mapping[str, str] = viewpoint.names
    if not caller.sees_all:
        open_to_all = (*viewpoint.characters, caller.user_id)
        shown = {one: viewpoint.names[one] for one in open_to_all if one in viewpoint.names}
    called = [(clean(name).casefold(), one) for one, name in shown.items()]
    counts = Counter(name for name, _ in called)
    clear = (pair for pair in called if counts[pair[0]] == 1 and pair[0] not in STOP_WORDS)
    return {name: one for name, one in clear if len(name) > 1}


def _between(
    viewpoint: Viewpoint, one: PersonCardView, other: PersonCardView, tellers: Mapping[int, str]
) -> PersonCardView:
    """How two people stand to each other: what is on the card of either and names the other, or was told by
    the other and is of kind between, kin or told. A "sister" names nobody: she may be anybody's.
    `tellers` has the id of who told a memory."""

    def named(fact: FactView, person: PersonCardView) -> bool:
        names = (name for name in (person.name, *person.also) if "'s " not in name)
        return any(re.search(rf"\b{re.escape(name)}\b", fact.words, re.I) for name in names)

    def bears(fact: FactView, person: PersonCardView) -> bool:
        return named(fact, person) or (
            fact.kind in _OF_PAIRS and person.of in map(tellers.get, fact.evidence)
        )

    def of_both(facts: Callable[[PersonCardView], Iterable[FactView]]) -> tuple[FactView, ...]:
        found = [fact for fact in facts(one) if bears(fact, other)]
        found += [fact for fact in facts(other) if bears(fact, one)]
        return tuple(
            sorted(dict.fromkeys(found), key=lambda fact: (fact.kind not in _OF_PAIRS, -fact.timestamp))
        )

    held, gone = of_both(lambda card: card.facts), of_both(lambda card: card.superseded)
    names = f"{one.name} and {other.name}"
    if one.of == other.of or not (held or gone):
        raise NotFound(f"{viewpoint.name} knows of nothing between {names}.")
    return PersonCardView(f"{one.of} and {other.of}", names, (), (), None, (), held, gone)


def _named(viewpoint: Viewpoint, views: list[PersonCardView], person: str) -> PersonCardView | None:
    wanted = clean(person).casefold()
    if wanted == "me":
        wanted = viewpoint.caller.user_id.casefold()
    meant = (card for card in views if wanted in map(str.casefold, (card.of, card.name, *card.also)))
    return next(meant, None)


def _meant(viewpoint: Viewpoint, views: list[PersonCardView], person: str) -> PersonCardView:
    if (found := _named(viewpoint, views, person)) is not None:
        return found
    wanted = clean(person).casefold()
    shown = [shorten(card.name, LONGEST_SHOWN) for card in views if card.facts or card.superseded]
    names = {name.casefold(): name for name in shown}
    near = difflib.get_close_matches(wanted[:LONGEST_SHOWN], names, 1, 0.6)
    some = ", ".join(shown[:10])
    known = f"it knows something about {some}." if some else "nobody has told it anything about anybody yet."
    hint = f"did you mean {names[near[0]]}?" if near else known
    raise NotFound(f"{viewpoint.name} knows nothing about {shorten(clean(person), LONGEST_SHOWN)}; {hint}")


def _card(
    viewpoint: Viewpoint,
    card: PersonCard,
    heard: _Heard | None,
    private: Mapping[int, bool],
    due: Mapping[int, Due],
) -> PersonCardView:
    def seen(one: KnownFact) -> FactView:
        fact = one.fullest
        newer = () if one.superseded_by is None else (one.superseded_by.entry_id,)
        confided = [private[number] for number in (*one.evidence, *newer) if number in private]
        return FactView(
            kind=fact.kind.value,
            words=clean(fact.words),
            told_by=viewpoint.called(fact.told_by),
            timestamp=fact.timestamp,
            when=iso(fact.timestamp),
            age=viewpoint.since(fact.timestamp),
            evidence=one.evidence,
            superseded_by="" if one.superseded_by is None else clean(one.superseded_by.words),
            superseded_evidence=newer,
            private=bool(confided),
            confided=any(confided),
        )

    return PersonCardView(
        of=card.of,
        name=_called(card.of, viewpoint),
        also=tuple(_called(one, viewpoint) for one in card.relations),
        also_evidence=card.named_in,
        acquaintance=None if heard is None else _acquaintance(heard, viewpoint),
        plans=() if heard is None else tuple(_plans(viewpoint, heard, due)),
        facts=tuple(map(seen, card.facts)),
        superseded=tuple(map(seen, card.superseded)),
    )


def _called(of: str, viewpoint: Viewpoint) -> str:
    """ "user_marta" is "Marta", "user_marta's sister" is "Marta's sister", "user_marta's Ruth" is "Ruth"."""
    whose, apart, who = of.rpartition("'s ")
    if not apart:
        name = viewpoint.called(of)
        return name[:1].upper() + name[1:]
    return who if who[:1].isupper() else f"{_called(whose, viewpoint)}'s {who}"
