"""A pane of memories: one of them is selected, shown in full, and can be changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType

from noodlings.inspect import questions
from noodlings.text import shorten
from studio.dialogs import Prompt
from studio.panes.base import Answers, Ask, Pane
from studio.panes.detail import Detail
from studio.source import Action, Deed, Refused

if TYPE_CHECKING:
    from noodlings.inspect.views import EntryView


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
    LABELS: ClassVar[str] = (
        "Importance is fixed when something happens, from 0 to 1. It is made of surprise, intensity (how "
        "much was felt), salience (how much it touches who the agent is), addressed (said to it), "
        "answered, remember (it was asked to), and significance (how far the words are worth keeping). "
        "Strength is importance now: it fades with age, and grows with each recall. A number after # is "
        "that of a memory."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "pin", "Pin, or let go", show=False),
        Binding("i", "importance", "Set importance", show=False),
        Binding("x,delete", "forget", "Forget (asks first)", show=False),
        Binding("o", "note", "Open the note of the memory", show=False),
        Binding("escape", "back", "Back from a link, or to the list", show=False),
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
            done = f"Memory {entry.id} is {'now pinned' if pinned else 'no longer pinned'}."
            self.do(Deed(Action.PIN, {"entry": entry.id, "pinned": pinned}, done=done))

    def action_importance(self) -> None:
        """Set the importance of the memory by hand."""
        entry = self.detail.entry
        if entry is None:
            return

        def answered(value: str | None) -> None:
            if value is not None:
                how = {"entry": entry.id, "value": float(value) if value else None}
                self.do(
                    Deed(Action.IMPORTANCE, how, done=f"The importance of memory {entry.id} has been set.")
                )

        question = (
            f"Importance of memory {entry.id}, from 0 to 1. Leave it empty to restore the original value."
        )
        self.app.push_screen(Prompt(question, f"{entry.importance:.2f}"), answered)

    def action_forget(self) -> None:
        """Have the memory forgotten for good."""
        entry = self.detail.entry
        if entry is not None:
            question = (
                f"Forget memory {entry.id}, “{shorten(entry.text, 80)}”, and everything made from it? This "
                "cannot be undone."
            )
            done = f"Memory {entry.id} has been forgotten."
            self.do(Deed(Action.FORGET, {"entry": entry.id}, question, done))

    def action_note(self) -> None:
        """Open the note of the memory."""
        if self.detail.entry is not None:
            self.post_message(self.Opens(self.detail.entry.id))
