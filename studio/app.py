"""The studio application: its keys, and the only code that asks the source.

Results that are out of date are dropped. Errors are shown as text, and what was drawn before stays. Nothing
that a source says is taken as markup.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar

from rich.terminal_theme import TerminalTheme
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Footer

from noodlings.errors import NoodlingsError
from noodlings.inspect import questions
from noodlings.inspect.questions import Question, V
from studio.dialogs import Confirm, Help, Note, bindings_of, key_names, named_bindings
from studio.panes import PANE_KEYS, PANES
from studio.panes.base import Pane, Query, Results
from studio.panes.talk import Talk
from studio.source import DISCONNECTED, RECONNECTED, ActionRequest, Source, SourceEvent, Unreachable
from studio.theme import THEMES, terminal_theme
from studio.widgets.lines import Banner
from studio.workspace import Workspace

MIN_REFRESH_SECONDS = 0.2
"""Between two refreshes, however much happens."""
MAX_REFRESH_SECONDS = 10.0
"""Between two refreshes though nothing happens: moods wear off and memories grow old without an event."""


class Studio(App[None]):
    """The studio over one source, which it closes in the end.

    Args:
        agent: id of the agent to choose first, or "" for the first one.
    """

    TITLE = "noodlings studio"
    CSS = """
    * { scrollbar-background: $background; scrollbar-background-hover: $background;
        scrollbar-background-active: $background; scrollbar-color: $primary 50%; }
    Toast { max-width: 60; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("n", "next_agent(1)", "Next agent"),
        Binding("N", "next_agent(-1)", "Previous agent", show=False),
        Binding("right_square_bracket", "next_pane(1)", "Next pane", key_display="]"),
        Binding("left_square_bracket", "next_pane(-1)", "Previous pane", key_display="[", show=False),
        Binding("t", "next_theme", "Next colours", show=False),
        Binding("r", "refresh_all", "Refresh", show=False),
        Binding("f12", "snapshot", "Save a picture (SVG)", show=False),
        Binding("q", "quit", "Quit"),
        *(
            Binding(key, f"pane({at})", pane.TITLE, show=False)
            for at, (key, pane) in enumerate(zip(PANE_KEYS, PANES, strict=True))
        ),
    ]

    def __init__(self, source: Source, agent: str = "") -> None:
        super().__init__()
        self._source = source
        self._workspace = Workspace(Banner(source.label, source.changeable), agent)
        self._changed = asyncio.Event()
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = THEMES[0].name

    def compose(self) -> ComposeResult:
        yield self._workspace
        yield Footer(show_command_palette=False)

    @property
    def ansi_theme(self) -> TerminalTheme:
        """The shades of the sixteen terminal colours in the current theme."""
        return terminal_theme(self.current_theme.name)

    @property
    def pane(self) -> Pane:
        """The pane in view."""
        return self._workspace.pane

    def on_mount(self) -> None:
        self._workspace.banner.message = "loading …"
        if not self._source.changeable:
            self.query_one(Talk).only_read()
        self.run_worker(self._keep_fresh(), group="fresh")
        self.run_worker(self._listen(), group="listen")
        self._changed.set()
        self.pane.focus_first()

    async def on_unmount(self) -> None:
        await self._source.close()

    # -- reading

    async def _keep_fresh(self) -> None:
        """Read everything in view again whenever something has changed, and every few seconds."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(MAX_REFRESH_SECONDS):
                    await self._changed.wait()
            changed = self._changed.is_set()
            self._changed.clear()
            await self._read(minds=changed)
            await asyncio.sleep(MIN_REFRESH_SECONDS)

    async def _read(self, minds: bool) -> None:
        """Read the agents, the pane in view, and if something has happened the minds."""
        workspace = self._workspace
        agents = await self._answer(questions.AGENTS)
        if workspace.closing:
            return
        workspace.banner.message = ""
        if isinstance(agents, NoodlingsError):
            workspace.show_error(str(agents), refused=not isinstance(agents, Unreachable))
            return
        workspace.banner.show_model(agents.model)
        workspace.update_from(agents.agents)
        if workspace.agent:
            await self._update(workspace.pane, workspace.pane.queries())
        for view in agents.agents if minds else ():
            mind = await self._answer(questions.OBSERVE, view.id)
            if workspace.closing:
                return
            if not isinstance(mind, NoodlingsError):
                workspace.update_mind(mind)

    async def _update(self, pane: Pane, queries: Sequence[Query]) -> None:
        """Run queries and give a pane the results, unless another agent was chosen meanwhile."""
        workspace, agent = self._workspace, self._workspace.agent
        results = Results()
        for query in queries:
            results[query.result_key] = await self._answer(query.question, agent, **query.arguments)
        if agent == workspace.agent and not workspace.closing:
            pane.receive(results)
            if not results.failure:
                workspace.mark_updated(pane)

    async def _answer(self, question: Question[V], agent: str = "", **arguments: Any) -> V | NoodlingsError:
        try:
            return await self._source.ask(question, agent, **arguments)
        except NoodlingsError as error:
            return error

    async def _listen(self) -> None:
        async for event in self._source.events():
            if not self._workspace.closing:
                self._handle(event)

    def _handle(self, event: SourceEvent) -> None:
        workspace, reconnected = self._workspace, event.step == RECONNECTED
        if event.step == DISCONNECTED:
            workspace.banner.disconnected = True
            if not workspace.banner.refused:  # which says more
                workspace.show_error(f"The connection was lost: {event.reason}")
            return
        if reconnected:
            workspace.banner.disconnected = False
        self._changed.set()
        if event.agent == workspace.agent or reconnected:
            for pane in workspace.panes:
                pane.source_changed(event)

    def on_pane_queries_requested(self, event: Pane.QueriesRequested) -> None:
        if not self._workspace.closing:
            for query in event.queries:
                self._update_soon(event.pane, [query], f"{event.pane.id}/{query.result_key}")

    def on_workspace_selection_changed(self) -> None:
        if self._workspace.agent:
            self._update_soon(self.pane, self.pane.queries(), str(self.pane.id))

    def _update_soon(self, pane: Pane, queries: Sequence[Query], group: str) -> None:
        """Run queries in the background, in place of those of the same group that are still running."""
        # Not a coroutine object: one that is cancelled before it starts would never be awaited.
        update: Callable[[], Awaitable[None]] = partial(self._update, pane, queries)
        self.run_worker(update, group=group, exclusive=True)

    # -- acting

    def on_pane_action_requested(self, event: Pane.ActionRequested) -> None:
        acting = self._act(event.pane, event.request, self._workspace.agent)
        self.run_worker(acting, group="actions")

    async def _act(self, pane: Pane, request: ActionRequest, agent: str) -> None:
        if request.confirmation and not await self.push_screen_wait(Confirm(request.confirmation)):
            return
        try:
            await self._source.act(request.action, agent, **request.arguments)
        except NoodlingsError as error:
            pane.request_failed(error)
            self._notify_error(error)
            return
        if self._workspace.closing:
            return
        pane.request_succeeded(request)
        if request.success:
            self.notify(request.success, markup=False)
        self._changed.set()

    def on_pane_note_requested(self, event: Pane.NoteRequested) -> None:
        self.run_worker(self._open_note(self._workspace.agent, event.entry), group="actions")

    async def _open_note(self, agent: str, entry: int) -> None:
        try:
            note = await self._source.note(agent, entry)
        except NoodlingsError as error:
            self._notify_error(error)
        else:
            self.push_screen(Note(note))

    def _notify_error(self, error: NoodlingsError) -> None:
        self.notify(str(error), severity="error", markup=False)

    # -- other keys

    def action_pane(self, index: int) -> None:
        self._workspace.show_pane(index)

    def action_next_pane(self, step: int) -> None:
        self._workspace.show_next_pane(step)

    def action_next_agent(self, step: int) -> None:
        self._workspace.agent_list.step(step)

    def action_refresh_all(self) -> None:
        self._changed.set()

    def action_help(self) -> None:
        self.push_screen(Help(self.pane, self.BINDINGS))

    def action_next_theme(self) -> None:
        names = [theme.name for theme in THEMES]
        self.theme = names[(names.index(self.theme) + 1) % len(names)]

    def action_snapshot(self) -> None:
        """Save the screen as an SVG picture in the current folder."""
        self.deliver_screenshot(path=".")

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The commands of the palette: panes, agents, colours, and what every key does."""
        panes, agents = self._workspace.panes, self._workspace.agent_list
        for at, pane in enumerate(panes):
            yield SystemCommand(
                f"Show {pane.TITLE}", pane.ABOUT.split(". ")[0], partial(self.action_pane, at)
            )
        for agent in agents.ids:
            name = agents.name_of(agent).replace("[", r"\[")  # the palette reads markup
            yield SystemCommand(f"Look at {name}", "", partial(agents.choose, agent))
        for theme in THEMES:
            yield SystemCommand(f"Colours: {theme.name}", "", partial(setattr, self, "theme", theme.name))
        known: set[str] = set()
        owners: tuple[Studio | Pane, ...] = (self, self.pane, *panes)
        for owner in owners:
            where = f" in {owner.TITLE}" if isinstance(owner, Pane) else ""
            for binding in named_bindings(bindings_of(type(owner))):
                if binding.description not in known:
                    known.add(binding.description)
                    run = partial(self._run_action_of, owner, binding.action)
                    yield SystemCommand(binding.description, f"{key_names(binding)}{where}", run)

    def _run_action_of(self, owner: Studio | Pane, action: str) -> None:
        """Run an action of the application, or of a pane, which is shown first."""
        if isinstance(owner, Pane) and owner is not self.pane:
            self.action_pane(self._workspace.panes.index(owner))
        self.call_later(owner.run_action, action)
