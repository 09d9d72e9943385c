"""Numbers that are set by keys or by pointing: one row each, a name, a line with a knob, and the number."""

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

from noodlings.drawing.marks import ACCENT, LOUD, QUIET

STEP = 0.1
NAMES = 12
NUMBERS = 6
KNOB, LINE, PASSED = "◆", "─", "━"


@dataclass(frozen=True, slots=True)
class Slider:
    """One number and its range."""

    name: str
    low: float = 0.0
    high: float = 1.0


class Sliders(Widget, can_focus=True):
    """Sliders below one another, one of them chosen.

    Args:
        sliders: at least one; they begin at their lowest.
    """

    DEFAULT_CSS = "Sliders { height: auto; }  Sliders:focus { background: $surface; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "choose(-1)", "Choose a slider", key_display="up down", show=False),
        Binding("down", "choose(1)", show=False),
        Binding("left", "push(-1)", "Move it", key_display="left right", show=False),
        Binding("right", "push(1)", show=False),
    ]
    chosen: reactive[int] = reactive(0)

    class Changed(Message):
        """Somebody set a number; these are all of them now."""

        def __init__(self, values: Sequence[float]) -> None:
            super().__init__()
            self.values = values

    def __init__(self, sliders: Sequence[Slider]) -> None:
        super().__init__()
        self._sliders = sliders
        self._values = [slider.low for slider in sliders]
        self._held = False

    @property
    def values(self) -> Sequence[float]:
        """All of them, in order."""
        return tuple(self._values)

    def put(self, values: Sequence[float]) -> None:
        """Other numbers, without telling anybody."""
        self._values = list(values)
        self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """A line each."""
        return len(self._sliders)

    def action_choose(self, by: int) -> None:
        """The slider above or below."""
        self.chosen = (self.chosen + by) % len(self._sliders)

    def action_push(self, by: int) -> None:
        """A tenth further, or back."""
        self._set(self.chosen, round(self._values[self.chosen] + by * STEP, 3))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take the knob there."""
        if event.y < len(self._sliders):
            self.chosen, self._held = event.y, True
            self.capture_mouse()
            self._point(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """It goes along."""
        if self._held:
            self._point(event.x)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Let it go."""
        self._held = False
        self.release_mouse()

    def render(self) -> Text:
        """The rows."""
        return Text("\n").join([self._row(at) for at in range(len(self._sliders))])

    @property
    def _room(self) -> int:
        return max(self.size.width - NAMES - NUMBERS - 3, 3)

    def _row(self, at: int) -> Text:
        slider, value = self._sliders[at], self._values[at]
        knob = round((value - slider.low) / (slider.high - slider.low) * (self._room - 1))
        here = at == self.chosen and self.has_focus
        signed = slider.low < 0
        figure = (f"{value:+.2f}" if signed else f"{value:.2f}").replace("-", "−")
        return Text.assemble(
            ("▸ " if here else "  ", LOUD),
            (slider.name.ljust(NAMES), LOUD if here else QUIET),
            (PASSED * knob, ACCENT),
            (KNOB, LOUD),
            (LINE * (self._room - 1 - knob), QUIET),
            (figure.rjust(NUMBERS), LOUD),
        )

    def _point(self, x: int) -> None:
        slider = self._sliders[self.chosen]
        share = min(max((x - 2 - NAMES) / (self._room - 1), 0.0), 1.0)
        self._set(self.chosen, round(slider.low + share * (slider.high - slider.low), 2))

    def _set(self, at: int, value: float) -> None:
        slider = self._sliders[at]
        value = min(max(value, slider.low), slider.high)
        if value != self._values[at]:
            self._values[at] = value
            self.refresh()
            self.post_message(self.Changed(self.values))
