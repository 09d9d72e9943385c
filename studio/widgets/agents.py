"""The left column: everybody, with mood, affect and surprise, and the chosen one's five axes below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from noodlings.drawing.marks import LOUD, QUIET, cut, feeling_text, number, words
from studio.widgets.marks import axis_bars, spark

if TYPE_CHECKING:
    from noodlings.inspect.views import AgentView

WIDTH = 24
"""Cells of the whole column, its border included."""
INNER = WIDTH - 2
"""Beside the border and a margin."""
ROW = INNER - 1
"""Beside the scrollbar, too."""
SURPRISE = "surprise "
HERE = "▸"
"""Before the name of whoever is looked at."""


class Agents(Vertical):
    """All agents, one of them chosen."""

    DEFAULT_CSS = f"""
    Agents {{ width: {WIDTH}; border-right: solid $panel; }}
    Agents OptionList {{ height: 1fr; border: none; padding: 0; background: transparent;
                         scrollbar-size-vertical: 1; }}
    Agents OptionList:focus {{ border: none; background: $surface; }}
    Agents OptionList > .option-list--option {{ padding: 0 0 0 1; }}
    Agents #axes {{ height: auto; padding: 0 0 0 1; border-top: solid $panel; }}
    """

    class Chosen(Message):
        """Another agent is to be looked at."""

        def __init__(self, agent: str) -> None:
            super().__init__()
            self.agent = agent

    def __init__(self) -> None:
        super().__init__()
        self._views: dict[str, AgentView] = {}
        self._surprises: dict[str, Sequence[float]] = {}
        self._order: list[str] = []

    def compose(self) -> ComposeResult:
        """The list, and the axes of the one that is chosen."""
        yield OptionList(markup=False)
        yield Static(id="axes", markup=False)

    def update_from(self, agents: Sequence[AgentView]) -> None:
        """Everybody."""
        self._views = {view.id: view for view in agents}
        listed = self.query_one(OptionList)
        if list(self._views) == self._order:
            for agent in self._order:
                listed.replace_option_prompt(agent, self._drawn(agent))
        else:
            self._order = list(self._views)
            chosen = self.chosen
            listed.clear_options()
            listed.add_options(Option(self._drawn(agent), agent) for agent in self._order)
            if self._order:
                listed.highlighted = self._order.index(chosen) if chosen in self._views else 0
        self._draw_axes()

    def update_surprises(self, agent: str, surprises: Sequence[float]) -> None:
        """How surprised an agent was in its latest turns, oldest first, 0…1."""
        self._surprises[agent] = surprises
        if agent in self._views:
            self.query_one(OptionList).replace_option_prompt(agent, self._drawn(agent))

    @property
    def chosen(self) -> str:
        """Id of the agent that is looked at, or ""."""
        option = self.query_one(OptionList).highlighted_option
        return "" if option is None else str(option.id)

    @property
    def ids(self) -> Sequence[str]:
        """Everybody, in order."""
        return self._order

    def name_of(self, agent: str) -> str:
        """How an agent is called, or "" for one that is not here."""
        return self._views[agent].name if agent in self._views else ""

    def step(self, by: int) -> None:
        """Look at the agent that is `by` places further down, round and round."""
        if self._order:
            at = self._order.index(self.chosen) if self.chosen in self._order else 0
            self.choose(self._order[(at + by) % len(self._order)])

    def choose(self, agent: str) -> None:
        """Look at another agent."""
        if agent in self._order:
            self.query_one(OptionList).highlighted = self._order.index(agent)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Moving to an agent chooses it."""
        event.stop()
        for agent in self._order:
            self.query_one(OptionList).replace_option_prompt(agent, self._drawn(agent))
        self._draw_axes()
        self.post_message(self.Chosen(str(event.option_id)))

    def _drawn(self, agent: str) -> Text:
        view, surprises = self._views[agent], self._surprises.get(agent, ())
        mood = view.mood
        latest = number(surprises[-1]) if surprises else "—"
        rows = [
            cut(Text.assemble(f"{HERE} " if agent == self.chosen else "", words(view.name, LOUD)), ROW),
            cut(Text.assemble(("mood ", QUIET), feeling_text(mood.feeling, mood.family)), ROW),
            cut(Text.assemble(("felt ", QUIET), feeling_text(view.affect.feeling, view.affect.family)), ROW),
            Text.assemble((SURPRISE, QUIET), spark(surprises, ROW - len(SURPRISE) - 5), latest.rjust(5)),
        ]
        return Text("\n").join(rows)

    def _draw_axes(self) -> None:
        view = self._views.get(self.chosen)
        axes = self.query_one("#axes", Static)
        if view is None:
            axes.update(Text("nobody is here yet" if self._order == [] else "", style=QUIET))
            return
        title = cut(Text.assemble(("mood  ", QUIET), words(view.mood.feeling)), INNER)
        axes.update(Text("\n").join([title, *axis_bars(view.mood.affect, INNER)]))
