"""What every pane is: a part of the screen that names what it shows, and draws what it is handed.

A pane never holds a source. It is asked for its `asks()` when it comes into sight, when another agent is
chosen, and after each turn of the agent; the answers reach `update_from`, all at once or, for what it wanted
in between (`Wants`), one by one. An answer to a question that is out of date by then never arrives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from textual.containers import Vertical
from textual.message import Message

from noodlings.errors import NoodlingsError
from studio.source import Answer, Deed, Question, Sign


@dataclass(frozen=True, slots=True)
class Ask:
    """One question of a pane about the agent that is looked at.

    Attributes:
        key: under which the answer comes; a later ask of the same key replaces one still under way.
        question, how: see `studio.source`.
    """

    key: str
    question: Question
    how: dict[str, Any] = field(default_factory=dict)


class Pane(Vertical):
    """A pane. `TITLE` is its tab, `ABOUT` what its help says (its own keys are added to that)."""

    TITLE: ClassVar[str]
    ABOUT: ClassVar[str]

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

    def update_from(self, answers: Mapping[str, Answer]) -> None:
        """Draw what was answered, by key. What was refused holds nothing but `error`, the words for it."""
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

    def observed(self, mind: Answer) -> None:
        """The state of any agent's mind, as in the answer to `Question.OBSERVE`; told after each turn."""

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
