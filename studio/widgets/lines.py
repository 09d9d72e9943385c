"""Single lines of text: the banner at the top, notices in full, and quiet remarks.

The banner says what this is, which agent is shown, where it comes from, and whether that source is reachable.
A notice is what one has to know before believing what is shown, in as many lines as it takes. A remark stands
beside what matters: how much there is and how it is sorted; and, in full, what went wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Static

from noodlings.drawing.marks import LOUD, QUIET, cut, words
from noodlings.text import clean
from noodlings.values.model_status import ModelState

if TYPE_CHECKING:
    from noodlings.inspect.views import ModelView


class Notice(Static):
    """Words over a pane; nothing, and no line, where there is nothing to know."""

    DEFAULT_CSS = (
        "Notice { height: auto; max-height: 8; padding: 0 1; background: $surface; color: $warning; }"
    )

    def __init__(self) -> None:
        super().__init__(markup=False)
        self.display = False

    def say(self, words: str) -> None:
        """Something else from now on; "" for nothing."""
        self.display = bool(words)
        self.update(Text(f"! {clean(words)}") if words else Text())


class Remark(Widget):
    """A line, cut where it is too long; a warning takes as many lines as it needs."""

    DEFAULT_CSS = "Remark { height: auto; max-height: 6; padding: 0 1; }"

    def __init__(self, text: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._text = words(text, QUIET)
        self._warning = False

    def say(self, text: str, warning: bool = False) -> None:
        """Something else from now on; a warning is marked as one."""
        self._text = words(f"! {text}", "yellow") if warning else words(text, QUIET)
        self._text.no_wrap = not warning
        self.refresh(layout=warning or self._warning)
        self._warning = warning

    def render(self) -> Text:
        """The line, or the lines."""
        return self._text if self._warning else cut(self._text, max(self.size.width, 1))


_BY_NAME = (ModelState.OFFLINE, ModelState.UNKNOWN)
_TROUBLE = (ModelState.REFUSES, ModelState.SILENT, ModelState.UNKNOWN)


class Banner(Widget):
    """One line. What is said in it stays until something else is.

    Args:
        label: where the agents are.
        changeable: whether anything can be changed there.
    """

    DEFAULT_CSS = "Banner { height: 1; background: $panel; padding: 0 1; }"
    lost: reactive[bool] = reactive(False)
    refused: reactive[bool] = reactive(False)

    def __init__(self, label: str, changeable: bool) -> None:
        super().__init__()
        self._label = label
        self._changeable = changeable
        self._name = ""
        self._said = ""
        self._model = Text()

    def look_at(self, name: str) -> None:
        """Who is looked at."""
        self._name = name
        self.refresh()

    def say(self, what: str) -> None:
        """Something that one should know, "" for nothing."""
        self._said = what
        self.refresh()

    def speaks(self, model: ModelView | None) -> None:
        """How things stand with the language model."""
        if model is not None and model.state:
            named = model.state if model.state in _BY_NAME else f"model {model.state}"
            self._model = words(f"{named} ·", "yellow" if model.state in _TROUBLE else QUIET)
            self.refresh()

    def render(self) -> Text:
        """Name at the left, state at the right, in as many cells as there are."""
        if self.refused:
            state = Text("✕ refused", style="red bold")
        elif self.lost:
            state = Text("↻ reconnecting", style="yellow bold")
        elif self._changeable:
            state = Text.assemble(self._model, " " if self._model else "", ("● live", "green"))
        else:
            state = Text("read-only", style=QUIET)
        left = Text.assemble(("noodlings", LOUD), (" studio", QUIET))
        if self._name:
            left.append(" · ", style=QUIET).append_text(words(self._name, LOUD))
        middle = words(self._said or self._label, "yellow" if self._said else QUIET)
        room = max(self.size.width - left.cell_len - state.cell_len - 4, 0)
        shown = cut(middle, room) if room > 3 else Text()
        gap = max(self.size.width - left.cell_len - shown.cell_len - state.cell_len - 2, 1)
        return Text.assemble(left, " " * gap, shown, "  ", state)
