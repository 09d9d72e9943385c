"""What was said to an agent, and which answer is looked at: the same one in every pane that shows one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from noodlings.inspect import questions
from noodlings.inspect.questions import Question
from noodlings.values.memory import Order
from studio.panes.base import Answers, Ask, Pane
from studio.source import Refused

if TYPE_CHECKING:
    from noodlings.inspect.views import EntriesView, EntryView
    from noodlings.inspect.why import WhyView

PAGE = 60
"""Lines that are read in one go."""
LINES, TOLD = "conversation", "told"
"""Keys of the answers."""


class Conversation:
    """The latest lines that an agent heard, and the one whose answer is looked at.

    Attributes:
        name: of the agent.
        lines: oldest first, with the answers to them.
        total: how many there are of which one may know.
        at: memory of the line that is looked at; None for the last one that was answered, whichever that is.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Another agent is looked at."""
        self.name = ""
        self.lines: Sequence[EntryView] = ()
        self.total = 0
        self.at: int | None = None
        self._limit = PAGE

    def asks(self) -> list[Ask]:
        """The lines, and all that is known of the one that is looked at."""
        page = {"order": str(Order.WHEN), "falling": True, "everything": True, "limit": self._limit}
        question: Question[WhyView] = questions.WHY if self.at is None else questions.TURN
        which = {"back": 1} if self.at is None else {"entry_id": self.at}
        return [Ask(questions.BROWSE, page, LINES), Ask(question, which, TOLD)]

    def take(self, read: EntriesView) -> None:
        """Lines that were read, the latest first."""
        self.name, self.lines, self.total = read.name, read.entries[::-1], read.total

    @property
    def answered(self) -> list[int]:
        """Memories of the lines that were answered, oldest first."""
        return [line.id for line in self.lines if line.response]

    @property
    def chosen(self) -> int | None:
        """Memory of the line that is looked at; None where nothing was answered yet."""
        return self.at if self.at is not None else next(reversed(self.answered), None)

    @property
    def more(self) -> bool:
        """Whether there are earlier lines."""
        return self.total > len(self.lines)

    def read_more(self) -> None:
        """Ask for earlier lines, too, from now on."""
        self._limit += PAGE

    def look_at(self, line: int) -> None:
        """Look at another line; at the last answer one stays when another one comes."""
        self.at = None if line == next(reversed(self.answered), None) else line

    def beside(self, by: int) -> int | None:
        """Memory of the answered line before (−1) or after (1); None where there is none among those read."""
        here = self.chosen
        others = [] if here is None else [at for at in self.answered if (at - here) * by > 0]
        return (others[0] if by > 0 else others[-1]) if others else None

    @property
    def place(self) -> str:
        """Which answer is looked at, in words."""
        later = sum(1 for at in self.answered if self.chosen is not None and at > self.chosen)
        if not self.answered:
            return ""
        return f"{later} before the last answer" if later else "the last answer"


class ConversationPane(Pane):
    """A pane that shows an answer. `conversation` is handed to it by whoever makes all panes."""

    conversation: Conversation
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("comma", "answer(-1)", "Previous answer", key_display=","),
        Binding("full_stop", "answer(1)", "Next answer", key_display=".", show=False),
    ]

    def on_mount(self) -> None:
        """Nobody waits for earlier lines."""
        self._going_back = False

    def told_of(self, answers: Answers) -> WhyView | Refused | None:
        """The turn that is looked at, as far as it was asked for; the lines are taken on the way."""
        talk = self.conversation
        lines, told = answers.find(questions.BROWSE, LINES), answers.find(questions.TURN, TOLD)
        if isinstance(lines, Refused):
            return lines
        if lines is not None:
            talk.take(lines)
            if self._going_back:
                self._going_back = False
                self.action_answer(-1)
        if (
            isinstance(told, Refused)
            and talk.at is not None
            and talk.at not in (line.id for line in talk.lines)
        ):
            talk.at = None  # forgotten
            self.want(*talk.asks())
            return None
        if told is None or isinstance(told, Refused):
            return told
        percept = told.turn.percept if told.turn else None
        if talk.chosen is None or (percept and percept.id == talk.chosen):
            return told
        self.want(
            Ask(questions.TURN, {"entry_id": talk.chosen}, TOLD)
        )  # another one, or one that is forgotten
        return None

    def look_at(self, line: int) -> None:
        """Look at another line."""
        if line != self.conversation.chosen:
            self.conversation.look_at(line)
            self.want(self.conversation.asks()[1])

    def action_answer(self, by: int) -> None:
        """The answer before, or after."""
        found = self.conversation.beside(by)
        if found is not None:
            self.look_at(found)
        elif by < 0 and self.conversation.more:
            self._going_back = True
            self.conversation.read_more()
            self.want(*self.conversation.asks())
        elif self.conversation.lines:
            self.notify(f"There is no answer {'before' if by < 0 else 'after'} this one.")
