"""What lies before whoever looks: the banner, everybody at the left, the panes under their names.

It knows who is looked at and which pane is in sight. It asks nobody anything: it is handed what others found
out, and says in `Turned` that something else is in sight now.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import ContentSwitcher

from studio.panes import PANES
from studio.panes.base import Pane
from studio.panes.conversation import Conversation, ConversationPane
from studio.widgets.agents import Agents
from studio.widgets.lines import Banner, Notice
from studio.widgets.tab_bar import TabBar

if TYPE_CHECKING:
    from noodlings.inspect.mood import ObserveView
    from noodlings.inspect.views import AgentView


class Desk(Vertical):
    """One agent, seen in one of the panes.

    Args:
        banner: the first line.
        agent: whom to look at first: an id, or "" for the first one there is.

    Attributes:
        agent: id of whoever is looked at, "" before anybody is known.
        banner, column, panes: its parts.
    """

    DEFAULT_CSS = """
    Desk #main { width: 1fr; }
    Desk ContentSwitcher { height: 1fr; }
    """

    class Turned(Message):
        """Another agent or another pane is in sight."""

    def __init__(self, banner: Banner, agent: str = "") -> None:
        super().__init__()
        self.agent = agent
        self.banner = banner
        self.column = Agents()
        self.panes: Sequence[Pane] = [
            pane(id=f"pane-{pane.TITLE.lower().replace(' ', '-')}") for pane in PANES
        ]
        self._conversation = Conversation()
        for one in self.panes:
            if isinstance(one, ConversationPane):
                one.conversation = self._conversation
        self._tabs = TabBar([pane.TITLE for pane in self.panes])
        self._notice = Notice()
        self._trouble = ""
        self._drawn: dict[Pane, datetime] = {}

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield self.banner
        with Horizontal():
            yield self.column
            with Vertical(id="main"):
                yield self._tabs
                yield self._notice
                with ContentSwitcher(initial=self.panes[0].id):
                    yield from self.panes

    @property
    def pane(self) -> Pane:
        """The pane in sight."""
        return self.panes[self._tabs.chosen]

    @property
    def gone(self) -> bool:
        """Whether one is leaving: parts of the screen are gone, while answers are still on their way."""
        return not (self.is_attached and self.app.is_running)

    # -- what others found out

    def update_from(self, agents: Sequence[AgentView]) -> None:
        """Everybody; whoever was looked at still is."""
        self.banner.refused = False
        self._trouble = ""
        self._notice.say("")
        first = not self.column.ids
        self.column.update_from(agents)
        if self.agent not in self.column.ids:
            self._look_at(self.column.chosen)
        elif first:  # later the column may be a key ahead
            self.column.choose(self.agent)
        self.banner.look_at(self.column.name_of(self.agent))

    def observed(self, mind: ObserveView) -> None:
        """The state of one agent's mind."""
        self.column.update_surprises(mind.agent, mind.surprises)
        for pane in self.panes:
            pane.observed(mind)

    def drawn(self, pane: Pane) -> None:
        """A pane shows what is so now."""
        self._drawn[pane] = datetime.now().astimezone()

    def trouble(self, why: str, refused: bool = False) -> None:
        """Nothing can be read: say why, and of when what is shown is.

        Args:
            refused: waiting does not change it.
        """
        self.banner.refused = refused
        self._trouble = why if why.endswith((".", "…", "!")) else f"{why}."
        self._tell_trouble()

    def _tell_trouble(self) -> None:
        if self._trouble:
            since = self._drawn.get(self.pane)
            shown = f"{self.pane.TITLE} is as of {since:%H:%M:%S}." if since else "Nothing has been read yet."
            self._notice.say(f"{self._trouble} {shown}")

    # -- choosing

    def show_pane(self, index: int) -> None:
        """Show a pane by its number."""
        self._tabs.chosen = index
        self.query_one(ContentSwitcher).current = self.panes[index].id
        self.pane.focus_first()
        self._tell_trouble()
        self.post_message(self.Turned())

    def show_next_pane(self, step: int) -> None:
        """Show the pane beside this one."""
        self.show_pane((self._tabs.chosen + step) % len(self.panes))

    def on_agents_chosen(self, event: Agents.Chosen) -> None:
        """Look at another agent."""
        event.stop()
        if self.gone or self.column.chosen == self.agent:
            return
        self._look_at(self.column.chosen)
        self._conversation.clear()
        for pane in self.panes:
            pane.clear()
        self._drawn = {}
        self._tell_trouble()
        self.post_message(self.Turned())

    def on_tab_bar_chosen(self, event: TabBar.Chosen) -> None:
        """Show another pane."""
        event.stop()
        self.show_pane(event.index)

    def _look_at(self, agent: str) -> None:
        self.agent = agent
        self.banner.look_at(self.column.name_of(agent))
