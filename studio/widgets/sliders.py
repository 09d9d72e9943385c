"""Numbers that are set with keys or the pointer: a name, a line with a knob, and the number in each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from noodlings.drawing.marks import ACCENT, LOUD, QUIET, number
from studio.widgets.marks import signed_number

STEP = 0.1
NAME_WIDTH = 12
NUMBER_WIDTH = 6


@dataclass(frozen=True, slots=True)
class Slider:
    """One number, between `low` and 1."""

    name: str
    low: float = 0.0


class Sliders(Widget, can_focus=True):
    """Sliders below one another, one of them chosen. They start at their lowest values."""

    DEFAULT_CSS = "Sliders { height: auto; }  Sliders:focus { background: $surface; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "choose(-1)", "Choose a slider", key_display="up down", show=False),
        Binding("down", "choose(1)", show=False),
        Binding("left", "push(-1)", "Move it", key_display="left right", show=False),
        Binding("right", "push(1)", show=False),
    ]
    chosen: reactive[int] = reactive(0)

    class Changed(Message):
        """The user set a number."""

    def __init__(self, sliders: Sequence[Slider]) -> None:
        super().__init__()
        self._sliders = sliders
        self._values = [slider.low for slider in sliders]
        self._dragging = False

    @property
    def values(self) -> Sequence[float]:
        return tuple(self._values)

    def set_values(self, values: Sequence[float]) -> None:
        """Set all numbers without a message."""
        self._values = list(values)
        self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._sliders)

    def action_choose(self, by: int) -> None:
        self.chosen = (self.chosen + by) % len(self._sliders)

    def action_push(self, by: int) -> None:
        self._set(self.chosen, round(self._values[self.chosen] + by * STEP, 3))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if event.y < len(self._sliders):
            self.chosen, self._dragging = event.y, True
            self.capture_mouse()
            self._set_at_pointer(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._dragging:
            self._set_at_pointer(event.x)

    def on_mouse_up(self) -> None:
        self._dragging = False
        self.release_mouse()

    def render(self) -> Text:
        return Text("\n").join([self._row(at) for at in range(len(self._sliders))])

    @property
    def _room(self) -> int:
        return max(self.size.width - NAME_WIDTH - NUMBER_WIDTH - 3, 3)

    def _row(self, at: int) -> Text:
        slider, value = self._sliders[at], self._values[at]
        knob = round((value - slider.low) / (1.0 - slider.low) * (self._room - 1))
        here = at == self.chosen and self.has_focus
        figure = signed_number(value) if slider.low < 0 else number(value)
        return Text.assemble(
            ("▸ " if here else "  ", LOUD),
            (slider.name.ljust(NAME_WIDTH), LOUD if here else QUIET),
            ("━" * knob, ACCENT),
            ("◆", LOUD),
            ("─" * (self._room - 1 - knob), QUIET),
            (figure.rjust(NUMBER_WIDTH), LOUD),
        )

    def _set_at_pointer(self, x: int) -> None:
        slider = self._sliders[self.chosen]
        share = min(max((x - 2 - NAME_WIDTH) / (self._room - 1), 0.0), 1.0)
        self._set(self.chosen, round(slider.low + share * (1.0 - slider.low), 2))

    def _set(self, at: int, value: float) -> None:
        value = min(max(value, self._sliders[at].low), 1.0)
        if value != self._values[at]:
            self._values[at] = value
            self.refresh()
            self.post_message(self.Changed())
