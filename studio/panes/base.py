"""What every pane is: a part of the screen that names what it shows, and draws what it is handed.

A pane never holds a source. It is asked for its `asks()` when it comes into sight, when another agent is
chosen, and after each turn of the agent. The answers reach `update_from`, all at once or, for what the pane
wanted in between (`Wants`), one by one. The answer to a question that is out of date never arrives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from textual.containers import Vertical
from textual.message import Message

from noodlings.errors import NoodlingsError
from noodlings.inspect.questions import Question, V
from studio.source import Deed, Refused, Sign

if TYPE_CHECKING:
    from noodlings.inspect.mood import ObserveView


@dataclass(frozen=True, slots=True)
class Ask:
    """One question of a pane about the agent that is looked at.

    Attributes:
        question, how: see `noodlings.inspect.questions`.
        key: under which the answer comes, "" for the name of the question; a later ask of the same key
            replaces one still under way.
    """

    question: Question[Any]
    how: dict[str, Any] = field(default_factory=dict)
    key: str = ""


class Answers(dict[str, Any]):
    """What was answered, or refused, by the keys of the asks."""

    def find(self, question: Question[V], key: str = "") -> V | Refused | None:
        """One answer; None where that was not asked."""
        found: V | Refused | None = self.get(key or question.name)
        return found

    def view(self, question: Question[V]) -> V:
        """One answer that was asked, and not refused."""
        view: V = self[question.name]
        return view

    @property
    def refused(self) -> str:
        """Why something is not answered; "" where everything is."""
        return next((answer.words for answer in self.values() if isinstance(answer, Refused)), "")


class Pane(Vertical):
    """A pane. `TITLE` is its tab, `ABOUT` what its help says (its own keys and `LABELS` follow)."""

    TITLE: ClassVar[str]
    ABOUT: ClassVar[str]
    LABELS: ClassVar[str] = ""

    class Wants(Message):
        """This pane wants to know something more."""

        def __init__(self, pane: Pane, asks: Sequence[Ask]) -> None:
            super().__init__()
            self.pane = pane
            self.asks = asks

    class Does(Message):
        """Whoever sits before this pane wants something done."""

        def __init__(self, pane: Pane, deed: Deed) -> None:
            super().__init__()
            self.pane = pane
            self.deed = deed

    class Opens(Message):
        """The note of a memory is to be opened."""

        def __init__(self, entry: int) -> None:
            super().__init__()
            self.entry = entry

    def asks(self) -> Sequence[Ask]:
        """What it shows now."""
        raise NotImplementedError

    def update_from(self, answers: Answers) -> None:
        """Draw what was answered."""
        raise NotImplementedError

    def focus_first(self) -> None:
        """Take the keys: the first part that can."""
        first = next((widget for widget in self.query("*") if widget.focusable), None)
        if first is not None:
            first.focus(scroll_visible=False)

    def happened(self, sign: Sign) -> None:
        """Something happened to the agent that is looked at, or the source is found again.

        Told to every pane, in sight or not.
        """

    def observed(self, mind: ObserveView) -> None:
        """The state of any agent's mind; told after each turn."""

    def done(self, deed: Deed) -> None:
        """What it wanted done is done."""

    def refused(self, error: NoodlingsError) -> None:
        """What it wanted done last was not done; the words are told anyway."""

    def clear(self) -> None:
        """Another agent is looked at: nothing of the one before may stay on the screen."""

    def want(self, *asks: Ask) -> None:
        """Ask for more now."""
        self.post_message(self.Wants(self, asks))

    def do(self, deed: Deed) -> None:
        """Have something done."""
        self.post_message(self.Does(self, deed))
