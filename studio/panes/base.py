"""What every pane is: a part of the screen that names what it shows, and draws what it is handed.

A pane never holds a source. It is asked for its `asks()` when it comes into sight, when another agent is
chosen, and after each turn of the agent. The answers reach `update_from`, all at once or, for what the pane
wanted in between (`Wants`), one by one. The answer to a question that is out of date never arrives.

A pane of memories has one of them selected, which is shown in full and can be changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message

from noodlings.errors import NoodlingsError
from noodlings.inspect import questions
from noodlings.inspect.questions import Question, V
from noodlings.text import shorten
from studio.dialogs import Prompt
from studio.panes.detail import Detail
from studio.source import Action, Deed, Refused, Sign

if TYPE_CHECKING:
    from noodlings.inspect.mood import ObserveView
    from noodlings.inspect.views import EntryView


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


ROOMY = 104
"""Cells from which the memory in full stands beside the others, not below them."""


class MemoryPane(Pane):
    """A pane with a `Detail` in it."""

    DEFAULT_CSS = """
    MemoryPane > #split { height: 1fr; layout: vertical; }
    MemoryPane #main-part { height: 1fr; width: 1fr; }
    MemoryPane Detail { height: 42%; }
    MemoryPane.-roomy > #split { layout: horizontal; }
    MemoryPane.-roomy Detail { height: 1fr; width: 42%; border-top: none; border-left: solid $panel; }
    MemoryPane.-roomy Detail:focus { border-top: none; border-left: solid $primary; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "pin", "Pin", show=False),
        Binding("i", "importance", "Set importance", show=False),
        Binding("x,delete", "forget", "Forget (asks first)", show=False),
        Binding("o", "note", "Open its note", show=False),
        Binding("escape", "back", "Back from a link, or to the others", show=False),
    ]

    def on_mount(self) -> None:
        """No memory is in sight."""
        self._chosen: EntryView | None = None
        self._followed: int | None = None
        self._wanted: int | None = None

    @property
    def detail(self) -> Detail:
        """The memory in full."""
        return self.query_one(Detail)

    def on_resize(self) -> None:
        """Beside or below."""
        self.set_class(self.size.width >= ROOMY, "-roomy")

    @property
    def chosen_entry(self) -> EntryView | None:
        """The chosen memory."""
        return self._chosen

    @property
    def following(self) -> bool:
        """Whether a link was followed: then another memory is shown in full than the chosen one."""
        return self._followed is not None

    def choose(self, entry: EntryView | None) -> None:
        """Show this memory in full: whoever looks has moved to it."""
        self._followed = None
        self.select(entry)

    def select(self, entry: EntryView | None) -> None:
        """This memory is the chosen one, as it is now; shown in full unless a link of it was followed."""
        self._chosen = entry
        if self._followed is not None:
            self.want_links(self._followed)
            return
        self.detail.show(entry)
        if entry is None:
            self._wanted = None
        elif entry.id != self._wanted:
            self.want_links(entry.id)

    def leave(self) -> None:
        """Go back to the chosen memory from where links led."""
        if self.following:
            self.choose(self._chosen)

    def want_links(self, entry_id: int) -> None:
        """Find out where the links of a memory lead."""
        self._wanted = entry_id
        self.want(Ask(questions.LINKS, {"entry_id": entry_id}))

    def take_links(self, answers: Answers) -> None:
        """Links that were asked for, and the memory they belong to as it is now."""
        links = answers.find(questions.LINKS)
        if links is None or self._wanted is None:
            return
        if isinstance(links, Refused):
            self._wanted = None  # it is asked again when the others are read again
        elif links.entry.id != self._wanted:
            return
        elif self._followed is None:
            self._chosen = links.entry
            self.detail.show(self._chosen)
        else:
            self.detail.show(links.entry, away_from=self._chosen)
        self.detail.show_links(links)

    def clear(self) -> None:
        """No memory is in sight."""
        self._chosen = self._followed = self._wanted = None
        self.detail.show(None)

    def done(self, deed: Deed) -> None:
        """A memory that was followed to and is forgotten now is left."""
        if deed.action is Action.FORGET and deed.how["entry"] == self._followed:
            self.leave()

    @on(Detail.Follows)
    def follow(self, event: Detail.Follows) -> None:
        """Go where a link leads; there one stays until one goes back or moves on."""
        event.stop()
        back = self._chosen is not None and event.entry == self._chosen.id
        self._followed = None if back else event.entry
        self.want_links(event.entry)

    def action_back(self) -> None:
        """From where links led back to the chosen memory; from there to all of them."""
        if self.following:
            self.leave()
        else:
            self.focus_first()

    def action_pin(self) -> None:
        """Hold the memory in episodic memory, or let it go again."""
        entry = self.detail.entry
        if entry is not None:
            pinned = not entry.pinned
            done = f"Memory {entry.id} is {'pinned' if pinned else 'no longer pinned'}."
            self.do(Deed(Action.PIN, {"entry": entry.id, "pinned": pinned}, done=done))

    def action_importance(self) -> None:
        """Set the importance of the memory by hand."""
        entry = self.detail.entry
        if entry is None:
            return

        def answered(value: str | None) -> None:
            if value is not None:
                how = {"entry": entry.id, "value": float(value) if value else None}
                self.do(Deed(Action.IMPORTANCE, how, done=f"The importance of memory {entry.id} is set."))

        question = f"Importance of memory {entry.id}, 0 to 1; empty for what it was at encoding."
        self.app.push_screen(Prompt(question, f"{entry.importance:.2f}"), answered)

    def action_forget(self) -> None:
        """Have the memory forgotten for good."""
        entry = self.detail.entry
        if entry is not None:
            question = (
                f"Forget memory {entry.id}, “{shorten(entry.text, 80)}”, with everything that was made "
                "of it? This cannot be taken back."
            )
            done = f"Memory {entry.id} is forgotten."
            self.do(Deed(Action.FORGET, {"entry": entry.id}, question, done))

    def action_note(self) -> None:
        """Open the note of the memory."""
        if self.detail.entry is not None:
            self.post_message(self.Opens(self.detail.entry.id))
