"""What a character knows of people: are the facts that it was told on its cards, and are they right?

The data: a YAML file with `characters`, `players` and `lines`; a line has `day`, `at` ("19:40"), `who`, `to`,
`present`, `say`, `secret`, and the `facts` that a careful listener would note: whom it is `of`, its `kind`
(`noodlings.reflection.facts.FactKind`), the earlier fact, if any, that it replaces (`instead_of`), repeats
(`same_as`) or is the consequence of (`because_of`), and for a plan the day on which it is `due`. Day 0 is
the date on which the file `begins`, by default an arbitrary one. The character to whom a line is said
perceives it.

A fact on a card is right if every line it came from tells a fact of that kind about that person. A line of
kind `told` claims no kind, so it counts only for the whole card: there, a line is right if it tells any fact
about that person, and a fact is found if its line is on the card of the right person, under whatever heading.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from rich.console import Group
from rich.table import Table
from rich.text import Text

from noodlings.agent.recipes import plain_persona
from noodlings.agent.society import Society
from noodlings.clock import ManualClock
from noodlings.inspect.inspector import Inspector
from noodlings.inspect.people import FactView, PersonCardView
from noodlings.lab.replay import BEGINNING
from noodlings.reflection.plans import Due, due_of
from noodlings.validation import read_table
from noodlings.values.caller import Caller, Role, user_id_of
from noodlings.values.fact import FactKind
from noodlings.values.memory import LinkType
from noodlings.values.percept import Kind, Percept

DAY = 86_400.0
_READER = Caller("user_reader", "reader", Role.VIEWER)


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class ToldFact(_Frozen):
    id: str
    of: str
    kind: FactKind
    instead_of: str = ""
    same_as: str = ""
    because_of: str = ""
    due: int | None = None


class ToldLine(_Frozen):
    day: int = Field(ge=0, le=10_000)
    at: str = Field(pattern=r"^\d{1,2}:\d\d$")
    who: str
    to: str
    say: str
    present: tuple[str, ...] = ()
    secret: bool = False
    facts: tuple[ToldFact, ...] = ()

    @property
    def seconds(self) -> float:
        """World time since the beginning."""
        hours, minutes = map(int, self.at.split(":"))
        return self.day * DAY + 3_600.0 * hours + 60.0 * minutes


class Weeks(_Frozen):
    """Some weeks among characters and players."""

    characters: tuple[str, ...]
    players: tuple[str, ...]
    lines: tuple[ToldLine, ...] = Field(min_length=1)
    begins: date | None = None

    @property
    def beginning(self) -> float:
        """World time at which day 0 begins."""
        if self.begins is None:
            return BEGINNING
        return datetime.combine(self.begins, time.min, UTC).timestamp()


@dataclass(frozen=True, slots=True)
class _Judged:
    """A fact on a card, the ids of the told facts behind it, and whether all of its evidence tells one."""

    seen: FactView
    told: frozenset[str]
    right: bool


def read_weeks(file: Path) -> Weeks:
    """The data in a file. Raises `UserError`."""
    return read_table(file, Weeks)


async def evaluate(
    society: Society, clock: ManualClock, weeks: Weeks, progress: Callable[[], None] = lambda: None
) -> dict[str, Any]:
    """The figures for an empty society that keeps nothing; `progress` is called after each line.

    Returns:
        told, on_cards: how many facts were told (without repetitions), and are on the cards;
        precision, recall;
        superseded_told: of found facts that the same character heard replaced, the share that is still told
            as true;
        current: of found facts that were not replaced, the share that is told as true;
        merged: of found pairs that say the same to one character, the share that became one fact;
        by_kind: told, found, right and wrong of each kind;
        whole: lines on cards; precision and recall of the whole cards; superseded_told of what they have;
        relations: of contradictions and of causes in what one character heard from one person how many there
            are, found by its night, and found where there is none;
        due: lines with a plan whose day was told, those of them in which a plan with a day was found, and
            those with the right day.
    """
    plans = list[tuple[ToldLine, Due | None]]()
    lines: dict[str, dict[int, ToldLine]] = {character: {} for character in weeks.characters}
    for player in weeks.players:
        society.introduce(user_id_of(player), player.capitalize())
    for line in weeks.lines:
        agent = society.agents.get(line.to) or society.create(plain_persona(line.to))
        clock.set(weeks.beginning + line.seconds)
        who = line.who if line.who in weeks.characters else user_id_of(line.who)
        kind = Kind.WHISPER if line.secret else Kind.SAY
        present = frozenset({who, *map(user_id_of, line.present)})
        said = Percept(who, line.say, clock.now(), kind, addressed=True, present=present)
        entry_id = (await agent.perceive(said)).entry_id
        lines[line.to][entry_id] = line
        if any(fact.due is not None for fact in line.facts) and (entry := agent.entry(entry_id)):
            plans.append((line, due_of(entry)))
        await agent.settle()
        progress()
    for character in lines:
        await society.agents[character].reflect()
    inspector = Inspector(society)
    cards = [
        (card, lines[character])
        for character in weeks.characters
        for card in (await inspector.people(_READER, character)).people
    ]
    judged = [
        _judged(card, fact, told)
        for card, told in cards
        for fact in (*card.facts, *card.superseded)
        if fact.kind != FactKind.TOLD
    ]
    relations = {
        "contradictions": _relations(society, lines, LinkType.CONTRADICTS, lambda fact: fact.instead_of),
        "causes": _relations(society, lines, LinkType.CAUSES, lambda fact: fact.because_of),
    }
    more = {"whole": _whole(weeks, cards), "due": _due(weeks, plans), "relations": relations}
    return _figures(weeks, judged) | more


def _relations(
    society: Society,
    lines: Mapping[str, Mapping[int, ToldLine]],
    kind: LinkType,
    other: Callable[[ToldFact], str],
) -> dict[str, int]:
    """How many pairs of lines are linked so, against those whose facts refer to each other by `other`."""
    wanted, found = set[tuple[str, int, int]](), set[tuple[str, int, int]]()
    for character, heard in lines.items():
        told_in = {fact.id: number for number, line in heard.items() for fact in line.facts}
        facts = {fact.id: fact for line in heard.values() for fact in line.facts}
        for number, line in heard.items():
            said = {one for fact in line.facts for one in (fact, facts.get(fact.same_as, fact))}
            earlier = {told_in[other(fact)] for fact in said if other(fact) in told_in}
            wanted.update((character, number, one) for one in earlier if heard[one].who == line.who)
        links = society.store.links_of(society.agents[character].id, list(heard))
        ends = (
            (max(one.source, one.target), min(one.source, one.target)) for one in links if one.type is kind
        )
        found.update((character, *pair) for pair in ends)
    return {"told": len(wanted), "found": len(found & wanted), "wrong": len(found - wanted)}


def _judged(card: PersonCardView, fact: FactView, lines: Mapping[int, ToldLine]) -> _Judged:
    told = [
        [one.id for one in _about(card, lines[number]) if one.kind.value == fact.kind]
        for number in fact.evidence
    ]
    return _Judged(fact, frozenset(one for ids in told for one in ids), all(told))


def _about(card: PersonCardView, line: ToldLine) -> list[ToldFact]:
    """The facts in a line about whom a card is of."""
    names = {_plain(name) for name in (card.of, card.name, *card.also)}
    return [fact for fact in line.facts if _plain(fact.of) in names]


def _whole(weeks: Weeks, cards: Sequence[tuple[PersonCardView, Mapping[int, ToldLine]]]) -> dict[str, Any]:
    shown = right = 0
    found, current = set[str](), set[str]()
    for card, lines in cards:
        holds = {number for fact in card.facts for number in fact.evidence}
        for number in holds | {number for fact in card.superseded for number in fact.evidence}:
            told = {fact.id for fact in _about(card, lines[number])}
            shown, right, found = shown + 1, right + bool(told), found | told
            current |= told if number in holds else set()
    facts = [fact for line in weeks.lines for fact in line.facts]
    wanted = [fact for fact in facts if not fact.same_as]
    replaced = _heard_replaced(weeks) & found
    return {
        "lines": shown,
        "precision": _share(right, shown),
        "recall": _share(sum(fact.id in found for fact in wanted), len(wanted)),
        "superseded_told": _share(len(replaced & current), len(replaced)),
    }


def _heard_replaced(weeks: Weeks) -> set[str]:
    """The facts that were told to a character who heard later, from anybody, that they no longer hold."""
    told = {fact.id: (fact.same_as or fact.id, line.to) for line in weeks.lines for fact in line.facts}
    replaced = {
        (told[fact.instead_of][0], line.to)
        for line in weeks.lines
        for fact in line.facts
        if fact.instead_of in told
    }
    return {number for number, one in told.items() if one in replaced}


def _plain(name: str) -> str:
    return name.casefold().replace("’", "'").removeprefix("user_")


def _figures(weeks: Weeks, judged: list[_Judged]) -> dict[str, Any]:
    told = {fact.id: fact for line in weeks.lines for fact in line.facts}
    heard_by = {fact.id: line.to for line in weeks.lines for fact in line.facts}
    found = {one for judgement in judged for one in judgement.told}
    current = {one for judgement in judged if not judgement.seen.superseded_by for one in judgement.told}
    replaced = _heard_replaced(weeks) & found
    held = found - replaced
    pairs = [
        {fact.id, fact.same_as}
        for fact in told.values()
        if {fact.id, fact.same_as} <= found and heard_by[fact.id] == heard_by[fact.same_as]
    ]
    merged = sum(any(pair <= judgement.told for judgement in judged) for pair in pairs)
    wanted = [fact for fact in told.values() if not fact.same_as]
    right = sum(judgement.right for judgement in judged)
    return {
        "told": len(wanted),
        "on_cards": len(judged),
        "precision": _share(right, len(judged)),
        "recall": _share(sum(fact.id in found for fact in wanted), len(wanted)),
        "superseded_told": _share(len(replaced & current), len(replaced)),
        "current": _share(len(held & current), len(held)),
        "merged": _share(merged, len(pairs)),
        "by_kind": {
            kind.value: _of_kind(kind, wanted, found, judged)
            for kind in FactKind
            if kind is not FactKind.TOLD
        },
    }


def _due(weeks: Weeks, plans: list[tuple[ToldLine, Due | None]]) -> dict[str, int]:
    days = [
        (due.day - weeks.beginning) // DAY in {fact.due for fact in line.facts}
        for line, due in plans
        if due is not None
    ]
    return {"told": len(plans), "found": len(days), "right": sum(days)}


def _of_kind(
    kind: FactKind, wanted: list[ToldFact], found: set[str], judged: list[_Judged]
) -> dict[str, int]:
    told = [fact for fact in wanted if fact.kind is kind]
    seen = [judgement for judgement in judged if judgement.seen.kind == kind.value]
    return {
        "told": len(told),
        "found": sum(fact.id in found for fact in told),
        "right": sum(judgement.right for judgement in seen),
        "wrong": sum(not judgement.right for judgement in seen),
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 6) if whole else None


def view(figures: dict[str, Any]) -> Group:
    table = Table(box=None, pad_edge=False)
    for name in ("kind", "told", "found", "right", "wrong"):
        table.add_column(name, justify="left" if name == "kind" else "right")
    for kind, counts in figures["by_kind"].items():
        table.add_row(kind, *(str(counts[name]) for name in ("told", "found", "right", "wrong")))
    names = {
        "precision": "right",
        "recall": "found",
        "superseded_told": "replaced and still told",
        "merged": "merged",
    }

    def shares(of: dict[str, Any]) -> str:
        given = ((name, of.get(key)) for key, name in names.items())
        return "  ".join(f"{name} {share:.2f}" for name, share in given if share is not None)

    whole = Text(f"whole cards: {figures['whole']['lines']} lines   {shares(figures['whole'])}")
    related = "   ".join(
        f"{name}: {{found}} of {{told}} found, {{wrong}} wrong".format(**counts)
        for name, counts in figures["relations"].items()
    )
    due = "of {told} plans with a day {found} found, {right} on that day".format(**figures["due"])
    told = Text(f"{figures['told']} facts told, {figures['on_cards']} on cards   {shares(figures)}")
    return Group(told, whole, Text(due), Text(related), table)
