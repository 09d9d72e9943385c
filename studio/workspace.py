"""Everything on the screen: the banner, the agents on the left, and the panes under their tabs.

The workspace knows the chosen agent and pane. It never asks anything: it is given what was read, and sends
`SelectionChanged` when something else comes into view.
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
from studio.widgets.agents import AgentList
from studio.widgets.lines import Banner, StatusLine
from studio.widgets.tab_bar import TabBar

if TYPE_CHECKING:
    from noodlings.inspect.mood import ObserveView
    from noodlings.inspect.views import AgentView

ROOM_FOR_AGENTS = 64
"""Cells from which the agents stand beside the panes."""


class Workspace(Vertical):
    """One agent, seen in one of the panes.

    Args:
        agent: id of the agent to choose first, or "" for the first one there is.

    Attributes:
        agent: id of the chosen agent, "" before any is known.
    """

    DEFAULT_CSS = """
    Workspace #main { width: 1fr; }
    Workspace #notice { max-height: 8; background: $surface; }
    Workspace ContentSwitcher { height: 1fr; }
    """

    class SelectionChanged(Message):
        """Another agent or another pane is in view."""

    def __init__(self, banner: Banner, agent: str = "") -> None:
        super().__init__()
        self.agent = agent
        self.banner = banner
        self.agent_list = AgentList()
        self.panes: Sequence[Pane] = [
            pane(id=f"pane-{pane.TITLE.lower().replace(' ', '-')}") for pane in PANES
        ]
        self._conversation = Conversation()
        for pane in self.panes:
            if isinstance(pane, ConversationPane):
                pane.conversation = self._conversation
        self._tabs = TabBar([pane.TITLE for pane in self.panes])
        self._notice = StatusLine(id="notice")
        self._notice.display = False
        self._error = ""
        self._updated: dict[Pane, datetime] = {}

    def on_resize(self) -> None:
        # Not a breakpoint of textual, for which every widget is styled once more at the start.
        self.agent_list.display = self.size.width >= ROOM_FOR_AGENTS

    def compose(self) -> ComposeResult:
        yield self.banner
        with Horizontal():
            yield self.agent_list
            with Vertical(id="main"):
                yield self._tabs
                yield self._notice
                with ContentSwitcher(initial=self.panes[0].id):
                    yield from self.panes

    @property
    def pane(self) -> Pane:
        """The pane in view."""
        return self.panes[self._tabs.chosen]

    @property
    def closing(self) -> bool:
        """Whether parts of the screen are gone already, while results may still arrive."""
        return not (self.is_attached and self.app.is_running)

    # -- what was read

    def update_from(self, agents: Sequence[AgentView]) -> None:
        """Show all agents; the chosen one stays chosen."""
        self.banner.refused = False
        self._error = ""
        self._notice.display = False
        first = not self.agent_list.ids
        self.agent_list.update_from(agents)
        if self.agent not in self.agent_list.ids:
            self.agent = self.agent_list.chosen
        elif first:  # later, the list may already be ahead by a key
            self.agent_list.choose(self.agent)
        self.banner.agent_name = self.agent_list.name_of(self.agent)

    def update_mind(self, mind: ObserveView) -> None:
        """Show the state of one agent's mind."""
        self.agent_list.update_surprises(mind.agent, mind.surprises)
        for pane in self.panes:
            pane.mind_observed(mind)

    def mark_updated(self, pane: Pane) -> None:
        """Remember that a pane is up to date now."""
        self._updated[pane] = datetime.now().astimezone()

    def show_error(self, message: str, refused: bool = False) -> None:
        """Say why nothing can be read, and how old is what is shown.

        Args:
            refused: waiting would not help.
        """
        self.banner.refused = refused
        self._error = message if message.endswith((".", "…", "!")) else f"{message}."
        self._update_notice()

    def _update_notice(self) -> None:
        if self._error:
            since = self._updated.get(self.pane)
            age = f"{self.pane.TITLE} is as of {since:%H:%M:%S}." if since else "Nothing has been read yet."
            self._notice.show(f"{self._error} {age}", warning=True)
            self._notice.display = True

    # -- choosing

    def show_pane(self, index: int) -> None:
        self._tabs.chosen = index
        self.query_one(ContentSwitcher).current = self.panes[index].id
        self.pane.focus_first()
        self._update_notice()
        self.post_message(self.SelectionChanged())

    def show_next_pane(self, step: int) -> None:
        self.show_pane((self._tabs.chosen + step) % len(self.panes))

    def on_tab_bar_chosen(self, event: TabBar.Chosen) -> None:
        event.stop()
        self.show_pane(event.index)

    def on_agent_list_chosen(self, event: AgentList.Chosen) -> None:
        event.stop()
        if self.closing or self.agent_list.chosen == self.agent:
            return
        self.agent = self.agent_list.chosen
        self.banner.agent_name = self.agent_list.name_of(self.agent)
        self._conversation.clear()
        for pane in self.panes:
            pane.clear()
        self._updated = {}
        self._update_notice()
        self.post_message(self.SelectionChanged())
