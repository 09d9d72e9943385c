"""The left column: all agents with mood, feeling and surprise, and the five axes of the chosen one's mood."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import OptionList, Static

from noodlings.drawing.marks import LOUD, QUIET, cut, feeling_text, number, words
from studio.widgets.marks import axis_bars, spark
from studio.widgets.rows import Rows

if TYPE_CHECKING:
    from noodlings.inspect.views import AgentView

WIDTH = 24
"""Cells of the whole column, with its border."""
AXES_WIDTH = WIDTH - 2
"""Without the border and a margin."""
ROW_WIDTH = AXES_WIDTH - 1
"""Without the scrollbar, too."""
SURPRISE = "surprise "


class AgentList(Vertical):
    """All agents, one of them chosen."""

    DEFAULT_CSS = f"""
    AgentList {{ width: {WIDTH}; border-right: solid $panel; }}
    AgentList Rows {{ height: 1fr; }}
    AgentList Rows:focus {{ background: $surface; }}
    AgentList Rows > .option-list--option {{ padding: 0 0 0 1; }}
    AgentList #axes {{ height: auto; padding: 0 0 0 1; border-top: solid $panel; }}
    """

    class Chosen(Message):
        """The user chose another agent."""

    def __init__(self) -> None:
        super().__init__()
        self._views: dict[str, AgentView] = {}
        self._surprises: dict[str, Sequence[float]] = {}

    def compose(self) -> ComposeResult:
        yield Rows()
        yield Static(id="axes", markup=False)

    @property
    def _rows(self) -> Rows:
        return self.query_one(Rows)

    @property
    def ids(self) -> Sequence[str]:
        """Ids of all agents, in order."""
        return list(self._views)

    @property
    def chosen(self) -> str:
        """Id of the chosen agent, or ""."""
        option = self._rows.highlighted_option
        return "" if option is None else str(option.id)

    def name_of(self, agent: str) -> str:
        """The name of an agent, or "" for one that is not here."""
        return self._views[agent].name if agent in self._views else ""

    def update_from(self, agents: Sequence[AgentView]) -> None:
        self._views = {view.id: view for view in agents}
        self._draw()

    def update_surprises(self, agent: str, surprises: Sequence[float]) -> None:
        """Show how surprised an agent was in its latest turns, oldest first, 0…1."""
        self._surprises[agent] = surprises
        if agent in self._views:  # of many agents, not all are drawn again for each
            self._rows.replace_option_prompt(agent, self._text(agent))

    def step(self, by: int) -> None:
        """Choose the agent `by` places further down, wrapping around."""
        if ids := self.ids:
            at = ids.index(self.chosen) if self.chosen in ids else 0
            self.choose(ids[(at + by) % len(ids)])

    def choose(self, agent: str) -> None:
        if agent in self._views:
            self._rows.highlighted = self.ids.index(agent)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._draw()
        self.post_message(self.Chosen())

    def _draw(self) -> None:
        if self._rows.show(self._texts()):  # and chose another one
            self._rows.show(self._texts())
        self._draw_axes()

    def _texts(self) -> dict[str, Text]:
        return {agent: self._text(agent) for agent in self._views}

    def _text(self, agent: str) -> Text:
        view, surprises = self._views[agent], self._surprises.get(agent, ())
        mood, felt = view.mood, view.affect
        latest = number(surprises[-1]) if surprises else "—"
        line = spark(surprises, ROW_WIDTH - len(SURPRISE) - 5)
        rows = [
            cut(Text.assemble("▸ " if agent == self.chosen else "", words(view.name, LOUD)), ROW_WIDTH),
            cut(Text.assemble(("mood ", QUIET), feeling_text(mood)), ROW_WIDTH),
            cut(Text.assemble(("felt ", QUIET), feeling_text(felt)), ROW_WIDTH),
            Text.assemble((SURPRISE, QUIET), line, latest.rjust(5)),
        ]
        return Text("\n").join(rows)

    def _draw_axes(self) -> None:
        view = self._views.get(self.chosen)
        axes = self.query_one("#axes", Static)
        if view is None:
            axes.update(Text("" if self._views else "nobody is here yet", style=QUIET))
            return
        title = cut(Text.assemble(("mood  ", QUIET), words(view.mood.feeling)), AXES_WIDTH)
        axes.update(Text("\n").join([title, *axis_bars(view.mood.affect, AXES_WIDTH)]))
