"""The banner at the top, and lines for status and errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.reactive import reactive
from textual.widget import Widget

from noodlings.drawing.marks import LOUD, QUIET, cut, words
from noodlings.values.model_status import ModelState

if TYPE_CHECKING:
    from noodlings.inspect.views import ModelView


class StatusLine(Widget):
    """One line, cut where it is too long. A warning takes as many lines as it needs."""

    DEFAULT_CSS = "StatusLine { height: auto; max-height: 6; padding: 0 1; }"

    def __init__(self, text: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._text = words(text, QUIET)
        self._warning = False

    def show(self, text: str, warning: bool = False) -> None:
        self._text = words(f"! {text}", "yellow") if warning else words(text, QUIET)
        self._text.no_wrap = not warning
        self.refresh(layout=warning or self._warning)
        self._warning = warning

    def render(self) -> Text:
        return self._text if self._warning else cut(self._text, max(self.size.width, 1))


_SHOWN_BY_NAME = (ModelState.OFFLINE, ModelState.UNKNOWN)
_TROUBLE = (ModelState.REFUSES, ModelState.SILENT, ModelState.UNKNOWN)


class Banner(Widget):
    """The first line: the chosen agent, where the agents are, and the state of the connection.

    Args:
        label: where the agents are.
        changeable: whether anything can be changed there.
    """

    DEFAULT_CSS = "Banner { height: 1; background: $panel; padding: 0 1; }"
    disconnected: reactive[bool] = reactive(False)
    refused: reactive[bool] = reactive(False)
    agent_name: reactive[str] = reactive("")
    message: reactive[str] = reactive("")
    """Shown in place of the label."""

    def __init__(self, label: str, changeable: bool) -> None:
        super().__init__()
        self._label = label
        self._changeable = changeable
        self._model = Text()

    def show_model(self, model: ModelView | None) -> None:
        """Show the state of the language model."""
        if model is not None and model.state:
            name = model.state if model.state in _SHOWN_BY_NAME else f"model {model.state}"
            self._model = words(f"{name} ·", "yellow" if model.state in _TROUBLE else QUIET).append(" ")
            self.refresh()

    def render(self) -> Text:
        if self.refused:
            state = Text("✕ refused", style="red bold")
        elif self.disconnected:
            state = Text("↻ reconnecting", style="yellow bold")
        elif self._changeable:
            state = Text.assemble(self._model, ("● live", "green"))
        else:
            state = Text("read-only", style=QUIET)
        left = Text.assemble(("noodlings", LOUD), (" studio", QUIET))
        if self.agent_name:
            left.append(" · ", style=QUIET).append_text(words(self.agent_name, LOUD))
        middle = words(self.message or self._label, "yellow" if self.message else QUIET)
        room = max(self.size.width - left.cell_len - state.cell_len - 4, 0)
        shown = cut(middle, room) if room > 3 else Text()
        gap = max(self.size.width - left.cell_len - shown.cell_len - state.cell_len - 2, 1)
        return Text.assemble(left, " " * gap, shown, "  ", state)
