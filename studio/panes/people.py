"""The people that an agent knows, or its journal: each line with the memories that it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import OptionList, Static

from noodlings.drawing.marks import LOUD, QUIET, ago, feeling_style, words
from noodlings.errors import NoodlingsError
from noodlings.inspect import questions
from noodlings.text import clean
from studio.panes.base import Query, Results
from studio.panes.entry_text import hidden_note, short_age
from studio.panes.memory_pane import MemoryPane
from studio.source import Action, ActionRequest
from studio.widgets.lines import StatusLine
from studio.widgets.marks import folded, named_row
from studio.widgets.rows import Rows
from studio.widgets.table import Column, Table

if TYPE_CHECKING:
    from noodlings.inspect.journal import JournalDayView, JournalView
    from noodlings.inspect.links import LinksView
    from noodlings.inspect.people import FactView, PeopleView, PersonCardView, PlanView
    from noodlings.inspect.relationships import ProfileView, RelationshipView

DAYS = 14
"""Days of the journal that are read at first, and added when the cursor comes to the last one."""
REST = 9
"""How many times as long as reading took the pane waits before it reads again: cards of a long memory take
seconds."""
PEOPLE_COLUMNS = (
    Column("", "who", 10, max_width=24),
    Column("", "it is", 21),
    Column("", "talked", 6, "right", min_table_width=48),
    Column("", "facts", 5, "right", min_table_width=66),
    Column("", "ahead or due", None),
)
DAY_COLUMNS = (
    Column("", "day", 14),
    Column("", "memories", 8, "right", min_table_width=40),
    Column("", "what it tells", None),
)
_REGARD = {"fond of them": "joy", "glad of their company": "joy", "wary of them": "anger"}
"""What it is to somebody → the feeling in whose colour that is drawn."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line about a person or a day.

    Attributes:
        name: what sort of line it is, "" for a sentence of the journal.
        note: what stands behind it, quietly, after the memories.
        evidence: ids of the memories that it rests on.
    """

    name: str
    text: Text
    note: str
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Subject:
    """A person or a day: its row, what stands above its lines, and these."""

    key: str
    cells: tuple[Text, ...]
    title: Text
    lines: tuple[Line, ...]


class People(MemoryPane):
    """A table of people or days, the lines about the one under the cursor, and a memory behind one."""

    TITLE = "People"
    ABOUT: ClassVar[str] = (
        "The people that the agent knows, what it makes of them, and below, what it was told about the one "
        "under the cursor: open plans first, what was superseded last. Press j for its journal, day by "
        "day. Every line ends with the memories that it rests on; the first of them is shown in full, and "
        "left and right lead to the others."
    )
    DEFAULT_CSS = """
    People Table { height: 34%; min-height: 4; }
    People #about { padding: 0 1; max-height: 4; border-top: solid $panel; }
    People #lines { height: 1fr; min-height: 3; }
    People Detail { height: 32%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "journal", "Journal or people"),
        Binding("left", "evidence(-1)", "Other memories behind a line", key_display="left right", show=False),
        Binding("right", "evidence(1)", show=False),
    ]

    def compose_main(self) -> ComposeResult:
        yield Table(PEOPLE_COLUMNS, id="people")
        yield Table(DAY_COLUMNS, id="days")
        yield Static(id="about", markup=False)
        yield Rows(id="lines")
        yield StatusLine()

    def on_mount(self) -> None:
        self._journal = False
        self._show_table()
        self._forget_answers()

    def _forget_answers(self) -> None:
        self._views, self._failed = Results(), Results()
        self._days = DAYS
        self._awaited = set[str]()
        self._asked = 0.0
        self._next = 0.0
        self._subjects: Sequence[Subject] = ()
        self._chosen = ""  # key of the subject whose lines are drawn
        self._lines: Sequence[Line] = ()  # as they are drawn: the cursor may be ahead
        self._at = 0  # which of the memories behind the line is shown

    @property
    def table(self) -> Table:
        return self.query_one("#days" if self._journal else "#people", Table)

    @property
    def _rows(self) -> Rows:
        return self.query_one("#lines", Rows)

    # -- reading

    def queries(self) -> Sequence[Query]:
        """None: what takes long is asked apart (`ask`), so that nothing else has to wait for it."""
        return ()

    def receive(self, results: Results) -> None:
        if questions.LINKS.name in results:
            super().receive(results)
            return
        for key, result in results.items():
            self._failed.pop(key, None)
            (self._failed if isinstance(result, NoodlingsError) else self._views)[key] = result
        if results:
            self._awaited -= results.keys()
            self._next = (now := monotonic()) + REST * (now - self._asked)
            self._draw()
        else:
            self._read()

    def _read(self, at_once: bool = False) -> None:
        if not at_once and (self._awaited or monotonic() < self._next):
            return
        if self._journal:
            queries = [Query(questions.JOURNAL, {"limit": self._days})]
        else:
            queries = [Query(questions.PROFILE), Query(questions.PEOPLE)]
        self._awaited = {query.result_key for query in queries}
        self._asked = monotonic()
        self._show_status()
        self.ask(*queries)

    def clear(self) -> None:
        super().clear()
        self._forget_answers()
        self._rows.show({})
        self.query_one("#about", Static).update("")

    def request_succeeded(self, request: ActionRequest) -> None:
        super().request_succeeded(request)
        if request.action is Action.FORGET:
            self._read(at_once=True)

    # -- drawing

    def _show_table(self) -> None:
        self.query_one("#people").display = not self._journal
        self.query_one("#days").display = self._journal

    @on(Rows.Resized)
    def _draw(self) -> None:
        """Draw what is known. The cursor stays on its person or day, and on its line."""
        journal: JournalView | None = self._views.get(questions.JOURNAL.name)
        days = map(_day, journal.days) if journal else ()
        self._subjects = list(days if self._journal else _people(self._views))
        keys = [subject.key for subject in self._subjects]
        self.table.show([subject.cells for subject in self._subjects])
        if self._chosen in keys:
            self.table.cursor = keys.index(self._chosen)
        self._draw_lines()

    def _draw_lines(self) -> None:
        subject = self._subjects[self.table.cursor] if self._subjects else None
        self._chosen = subject.key if subject else ""
        self.query_one("#about", Static).update(subject.title if subject else "")
        room = self._rows.room
        lines = {
            f"{self._chosen} {line.name} {line.text.plain}": line
            for line in (subject.lines if subject else ())
        }
        self._lines = tuple(lines.values())
        self._rows.show({key: _row(line, room) for key, line in lines.items()})
        self._show_evidence()

    def _evidence(self) -> tuple[int, ...]:
        """The memories behind the highlighted line."""
        at = self._rows.highlighted
        return () if at is None else self._lines[at].evidence

    def _show_evidence(self) -> None:
        """Show a memory behind the highlighted line in full, unless a link was followed to another one."""
        evidence = self._evidence()
        self._at = min(self._at, max(len(evidence) - 1, 0))
        if not evidence:
            self.go_to(None)
        else:
            self.ask_links(self._followed or evidence[self._at])
        self._show_status()

    def _take_links(self, links: LinksView | NoodlingsError) -> None:
        if isinstance(links, NoodlingsError):  # it may be forgotten: then nothing of it stays on the screen
            self.detail.show(None)
        super()._take_links(links)

    def _show_status(self) -> None:
        view = self._views.get((questions.JOURNAL if self._journal else questions.PEOPLE).name)
        hidden = hidden_note(view.hidden) if view else ""
        count, evidence = len(self._subjects), self._evidence()
        if (failure := self._failed.failure) is not None:
            self.show_failure(failure)
        elif not count and (self._awaited or not self._views):
            self.show_status("reading …")
        elif not count:
            nothing = "Nothing worth telling has happened yet" if self._journal else "It knows nobody yet"
            self.show_status(f"{nothing}{hidden}.")
        else:
            listed = _count(count, "person", "people")
            if self._journal and view:
                listed = f"{_count(count, 'day')}, the latest first{' …' if view.more else ''}"
            behind = f" · memory {self._at + 1} of {len(evidence)}, ← →" if len(evidence) > 1 else ""
            self.show_status(f"{listed}{hidden}{behind}")

    # -- keys

    @on(Table.Moved)
    def moved(self, event: Table.Moved) -> None:
        event.prevent_default()  # what is done with a table of memories
        self._at, self._followed = 0, None
        self._draw_lines()
        journal = self._views.get(questions.JOURNAL.name) if self._journal else None
        if journal is not None and journal.more and self.table.cursor == self.table.count - 1:
            self._days = min(self._days + DAYS, questions.ALL)
            self._read(at_once=True)

    @on(Table.Chosen)
    def chosen(self, event: Table.Chosen) -> None:
        event.prevent_default()
        self._rows.focus()

    @on(OptionList.OptionHighlighted, "#lines")
    def highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._at, self._followed = 0, None
        self._show_evidence()

    @on(OptionList.OptionSelected, "#lines")
    def opened(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.detail.focus()

    def action_evidence(self, by: int) -> None:
        if evidence := self._evidence():
            self._at, self._followed = (self._at + by) % len(evidence), None
            self._show_evidence()

    def action_journal(self) -> None:
        self._journal = not self._journal
        self._at, self._followed, self._chosen = 0, None, ""
        self._show_table()
        self._draw()
        self.table.focus()
        self._read(at_once=True)

    def action_back(self) -> None:
        if self._followed is None and self.detail.has_focus:
            self._rows.focus()
        else:
            super().action_back()

    def focus_first(self) -> None:
        self.table.focus()


def _people(views: Results) -> Iterator[Subject]:
    """Whom it makes something of, the strongest first; then others that it was told about."""
    profile: ProfileView | None = views.get(questions.PROFILE.name)
    people: PeopleView | None = views.get(questions.PEOPLE.name)
    relationships = {one.of: one for one in profile.relationships} if profile else {}
    cards = {card.of: card for card in people.people} if people else {}
    for of in (*relationships, *(of for of in cards if of not in relationships)):
        yield _person(of, relationships.get(of), cards.get(of))


def _person(of: str, relationship: RelationshipView | None, card: PersonCardView | None) -> Subject:
    known = card.acquaintance if card else None
    name = card.name if card else relationship.name if relationship else of
    met = known or relationship
    plans = card.plans if card else ()
    title = Text(", ").join(
        [Text(clean(name), LOUD), *(Text(clean(one)) for one in (card.also if card else ()))]
    )
    if met:
        first, feels = (f"met on {known.met_when[:10]}, ", f", in all {known.feeling}") if known else ("", "")
        title.append(f"\n{first}last talk {ago(met.last_age)}, {_count(met.lines, 'line')}{feels}", QUIET)
    lines = [_relationship_line(relationship)] if relationship else []
    lines += map(_plan_line, plans)
    lines += (_fact_line(fact, name) for fact in (*card.facts, *card.superseded)) if card else ()
    cells = (
        words(name, LOUD),
        _regard(relationship.words, " with them") if relationship else Text("—", QUIET),
        Text(short_age(met.last_age) if met else "", QUIET),
        Text(f"{len(card.facts):,}" if card and card.facts else "", QUIET),
        Text("; ").join([Text.assemble((f"{plan.state} ", LOUD), words(plan.words)) for plan in plans]),
    )
    return Subject(of, cells, title, tuple(lines))


def _regard(made: str, without: str = "") -> Text:
    """What it is to somebody, if need be without the last words."""
    return words(made.removesuffix(without), feeling_style(_REGARD.get(made, "")))


def _relationship_line(made: RelationshipView) -> Line:
    weighs = f", {_count(made.pleasant, 'line')} for, {made.unpleasant:,} against" if made.evidence else ""
    return Line("it is", _regard(made.words).append(weighs, QUIET), "", made.evidence)


def _plan_line(plan: PlanView) -> Line:
    note = ", ".join(filter(None, (f"for {plan.when[:10]}", "private" if plan.private else "")))
    return Line(plan.state, Text(clean(plan.words), LOUD), note, (plan.evidence,))


def _fact_line(fact: FactView, about: str) -> Line:
    """What was superseded is struck through, before what replaced it. Who told it is said of others."""
    text = Text(clean(fact.words))
    if fact.superseded_by:
        text = Text.assemble((text.plain, f"strike {QUIET}"), f" → {clean(fact.superseded_by)}")
    by = "" if fact.told_by.casefold() == about.casefold() else f"by {fact.told_by}"
    note = ", ".join(filter(None, (by, ago(fact.age), "private" if fact.private else "")))
    return Line(fact.kind, text, note, (*fact.evidence, *fact.superseded_evidence))


def _day(day: JournalDayView) -> Subject:
    weekday = f"{date.fromisoformat(day.day):%a}"
    lines = [
        Line("", Text(clean(one.text)), "private" if one.private else "", one.evidence)
        for one in day.sentences
    ]
    told = [one.text for one in day.sentences]
    told = told[1:] or told or ["nothing worth telling"]  # the first one says whom it met
    cells = (
        Text.assemble((day.day, LOUD), f" {weekday}"),
        Text(f"{day.perceived:,}", QUIET),
        words(" ".join(told)),
    )
    title = Text.assemble(
        (day.day, LOUD), (f" {weekday}, {_count(day.perceived, 'memory', 'memories')}", QUIET)
    )
    return Subject(day.day, cells, title, tuple(lines))


def _row(line: Line, width: int) -> Text:
    """The line as it wraps, with its name before it and its memories behind it."""
    behind = " ".join(f"#{entry}" for entry in line.evidence)
    note = " · ".join(filter(None, (behind, clean(line.note))))
    text = Text.assemble(line.text, "  " if note else "", (note, QUIET))
    return named_row(line.name, text, width) if line.name else folded(text, width)


def _count(count: int, one: str, several: str = "") -> str:
    return f"one {one}" if count == 1 else f"{count:,} {several or f'{one}s'}"
