"""The conversation with an agent, and which answer is chosen: the same one in every pane that shows one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from noodlings.errors import NoodlingsError
from noodlings.inspect import questions
from noodlings.inspect.questions import Question
from noodlings.values.memory import Order
from studio.panes.base import Pane, Query, Results

if TYPE_CHECKING:
    from noodlings.inspect.views import EntriesView, EntryView
    from noodlings.inspect.why import WhyView

PAGE = 60
"""Lines that are read at a time."""
LINES, TURN = "conversation", "chosen turn"
"""Keys of the results."""


class Conversation:
    """The latest lines that an agent heard, and the one whose answer is chosen.

    Attributes:
        name: of the agent.
        lines: oldest first, with the answers to them.
        total: how many lines the user may read.
        at: memory of the chosen line; None to follow the last one that was answered.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.name = ""
        self.lines: Sequence[EntryView] = ()
        self.total = 0
        self.at: int | None = None
        self._limit = PAGE

    def queries(self) -> list[Query]:
        """The lines, and all about the chosen turn."""
        page = {"order": str(Order.WHEN), "falling": True, "everything": True, "limit": self._limit}
        question: Question[WhyView] = questions.WHY if self.at is None else questions.TURN
        which = {"back": 1} if self.at is None else {"entry_id": self.at}
        return [Query(questions.BROWSE, page, LINES), Query(question, which, TURN)]

    def take(self, read: EntriesView) -> None:
        """Take lines that were read, the latest first."""
        self.name, self.lines, self.total = read.name, read.entries[::-1], read.total

    @property
    def answered(self) -> list[int]:
        """Memories of the lines that were answered, oldest first."""
        return [line.id for line in self.lines if line.response]

    @property
    def chosen(self) -> int | None:
        """Memory of the chosen line; None if nothing was answered yet."""
        return self.at if self.at is not None else next(reversed(self.answered), None)

    @property
    def more(self) -> bool:
        """Whether there are earlier lines."""
        return self.total > len(self.lines)

    def read_more(self) -> None:
        """Include earlier lines in the queries from now on."""
        self._limit += PAGE

    def choose(self, line: int) -> None:
        """Choose a line. Choosing the last answer means to follow each new one."""
        self.at = None if line == next(reversed(self.answered), None) else line

    def neighbour(self, step: int) -> int | None:
        """Memory of the answered line before (−1) or after (1) the chosen one, if it was read."""
        here = self.chosen
        others = [] if here is None else [at for at in self.answered if (at - here) * step > 0]
        return (others[0] if step > 0 else others[-1]) if others else None

    @property
    def position(self) -> str:
        """Which answer is chosen, in words."""
        if not self.answered:
            return ""
        later = sum(1 for at in self.answered if self.chosen is not None and at > self.chosen)
        return f"{later} before the last answer" if later else "the last answer"


class ConversationPane(Pane):
    """A pane that shows an answer. The workspace gives all of them the same `conversation`."""

    conversation: Conversation
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("comma", "answer(-1)", "Previous answer", key_display=","),
        Binding("full_stop", "answer(1)", "Next answer", key_display=".", show=False),
    ]

    def on_mount(self) -> None:
        self._going_back = False  # waiting for earlier lines, to choose the answer before

    def receive(self, results: Results) -> None:
        """Failures are left to `update_from`, which calls `find_turn`."""
        self.update_from(results)

    def find_turn(self, results: Results) -> WhyView | NoodlingsError | None:
        """The chosen turn, if it is among the results. Also takes the lines that are among them."""
        talk = self.conversation
        lines, why = results.find(questions.BROWSE, LINES), results.find(questions.TURN, TURN)
        if isinstance(lines, NoodlingsError):
            return lines
        if lines is not None:
            talk.take(lines)
            if self._going_back:
                self._going_back = False
                self.action_answer(-1)
        if isinstance(why, NoodlingsError):
            if talk.at is None or talk.at in (line.id for line in talk.lines):
                return why
            talk.at = None  # it was forgotten
            self.ask(*talk.queries())
            return None
        if why is None:
            return None
        percept = why.turn.percept if why.turn else None
        if talk.chosen is None or (percept and percept.id == talk.chosen):
            return why
        self.ask(Query(questions.TURN, {"entry_id": talk.chosen}, TURN))  # this is another turn
        return None

    def choose_line(self, line: int) -> None:
        if line != self.conversation.chosen:
            self.conversation.choose(line)
            self.ask(self.conversation.queries()[1])

    def action_answer(self, step: int) -> None:
        found = self.conversation.neighbour(step)
        if found is not None:
            self.choose_line(found)
        elif step < 0 and self.conversation.more:
            self._going_back = True
            self.conversation.read_more()
            self.ask(*self.conversation.queries())
        elif self.conversation.lines:
            self.notify(f"There is no answer {'before' if step < 0 else 'after'} this one.")
