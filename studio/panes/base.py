"""What all panes have in common: a pane says what it shows, and draws the results.

A pane never holds a source. The application runs its `queries()` when it comes into view, when another agent
is chosen, and after each turn of the agent. It hands all results to `receive` at once, and those of queries
that the pane asked in between (`ask`) one by one. Out-of-date results never arrive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from textual.containers import Vertical
from textual.message import Message

from noodlings.errors import NoodlingsError
from noodlings.inspect.questions import Question, V
from studio.source import ActionRequest, SourceEvent
from studio.widgets.inputs import LineInput
from studio.widgets.lines import StatusLine
from studio.widgets.marks import Drawing

if TYPE_CHECKING:
    from noodlings.inspect.mood import ObserveView

WIDE = 104
"""Cells from which the parts of a pane stand side by side; it then has the class "-wide"."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question about the chosen agent.

    Attributes:
        arguments: see `noodlings.inspect.questions`.
        key: of the result, "" for the name of the question. A later query with the same key replaces one
            that is still running.
    """

    question: Question[Any]
    arguments: dict[str, Any] = field(default_factory=dict)
    key: str = ""

    @property
    def result_key(self) -> str:
        return self.key or self.question.name


class Results(dict[str, Any]):
    """Views, or the errors of queries that failed, by the keys of the queries."""

    def find(self, question: Question[V], key: str = "") -> V | NoodlingsError | None:
        """One result; None if it was not asked for."""
        found: V | NoodlingsError | None = self.get(key or question.name)
        return found

    def view(self, question: Question[V]) -> V:
        """One result that was asked for and did not fail."""
        view: V = self[question.name]
        return view

    @property
    def failure(self) -> NoodlingsError | None:
        """The first failure."""
        return next((result for result in self.values() if isinstance(result, NoodlingsError)), None)


class Pane(Vertical):
    """A pane with a status line. `TITLE` is its tab; its help shows `ABOUT`, its keys and `LABELS`."""

    TITLE: ClassVar[str]
    ABOUT: ClassVar[str]
    LABELS: ClassVar[str] = ""

    @dataclass
    class QueriesRequested(Message):
        """The pane needs more data."""

        pane: Pane
        queries: Sequence[Query]

    @dataclass
    class ActionRequested(Message):
        """The user asked for an action."""

        pane: Pane
        request: ActionRequest

    @dataclass
    class NoteRequested(Message):
        """The user asked for the note of a memory."""

        entry: int

    def queries(self) -> Sequence[Query]:
        """What the pane shows now."""
        raise NotImplementedError

    def receive(self, results: Results) -> None:
        """Draw the results, or say why there are none."""
        if results.failure:
            self.show_failure(results.failure)
        else:
            self.update_from(results)

    def update_from(self, results: Results) -> None:
        """Draw results, none of which failed."""
        raise NotImplementedError

    def show_status(self, text: str, warning: bool = False) -> None:
        self.query_one(StatusLine).show(text, warning)

    def show_failure(self, failure: NoodlingsError) -> None:
        self.show_status(str(failure), warning=True)

    def focus_first(self) -> None:
        """Focus the first part that can take the keys."""
        first = next((widget for widget in self.query("*") if widget.focusable), None)
        if first is not None:
            first.focus(scroll_visible=False)

    def source_changed(self, event: SourceEvent) -> None:
        """Something happened to the chosen agent, or the source is back. Every pane is told."""

    def mind_observed(self, mind: ObserveView) -> None:
        """The state of any agent's mind after a turn. Every pane is told."""

    def request_succeeded(self, request: ActionRequest) -> None:
        """What this pane requested is done."""

    def request_failed(self, error: NoodlingsError) -> None:
        """What this pane requested last was refused. The user is told in any case."""

    def clear(self) -> None:
        """Remove everything about the agent before, because another one was chosen."""
        for drawing in self.query(Drawing):
            drawing.show(None)
        self.show_status("")

    def on_resize(self) -> None:
        self.set_class(self.size.width >= WIDE, "-wide")

    def ask(self, *queries: Query) -> None:
        """Ask for more data now."""
        self.post_message(self.QueriesRequested(self, queries))

    def action_type(self) -> None:
        """Let the next keys go into the pane's line."""
        self.query_one(LineInput).start()

    def perform(self, request: ActionRequest) -> None:
        self.post_message(self.ActionRequested(self, request))
