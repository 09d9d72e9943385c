"""The application: the keys, and the one place where a source is asked, on behalf of what is in sight.

The rules: an answer that is out of date by then is never drawn; whatever goes wrong is said in words, and
what was drawn stays; nothing that a source tells is ever taken as markup.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
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
from studio.desk import Desk
from studio.dialogs import Confirm, Help, Note, bindings_of, keys_of, told_of
from studio.panes import PANES
from studio.panes.base import Answers, Ask, Pane
from studio.source import FOUND, LOST, Deed, Refused, Sign, Source, Unreachable
from studio.theme import THEMES, terminal_theme
from studio.widgets.lines import Banner

REST = 0.2
"""Seconds between two readings of everything in sight, however much happens."""
AGAIN = 10.0
"""Seconds after which it is read again though nothing happened: moods wear off and memories grow old, and no
sign tells of either."""


class Studio(App[None]):
    """The studio over one source, which it closes in the end.

    Args:
        source: what is looked at.
        agent: whom to look at first: an id, or "" for the first one.
    """

    TITLE = "noodlings studio"
    CSS = """
    * { scrollbar-background: $background; scrollbar-background-hover: $background;
        scrollbar-background-active: $background; scrollbar-color: $primary 50%; }
    .-narrow Agents { display: none; }
    Toast { max-width: 60; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (64, "-normal")]  # noqa: RUF012 — typed so by textual
    ENABLE_COMMAND_PALETTE = True
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
        *(Binding(str(at + 1)[-1], f"pane({at})", pane.TITLE, show=False) for at, pane in enumerate(PANES)),
    ]

    def __init__(self, source: Source, agent: str = "") -> None:
        super().__init__()
        self._source = source
        self._desk = Desk(Banner(source.label, source.changeable), agent)
        self._stale = asyncio.Event()
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = THEMES[0].name

    def compose(self) -> ComposeResult:
        """The desk, and the keys below it."""
        yield self._desk
        yield Footer(show_command_palette=False)

    @property
    def ansi_theme(self) -> TerminalTheme:
        """The shades of the sixteen colours in the theme of now."""
        return terminal_theme(self.current_theme)

    @property
    def pane(self) -> Pane:
        """The pane in sight."""
        return self._desk.pane

    def on_mount(self) -> None:
        """Begin to read, and to listen."""
        self._desk.banner.say("loading …")
        self.run_worker(self._keep_fresh(), group="fresh")
        self.run_worker(self._listen(), group="listen")
        self._stale.set()
        self.pane.focus_first()

    async def on_unmount(self) -> None:
        """Let go of the source."""
        await self._source.close()

    # -- reading

    async def _keep_fresh(self) -> None:
        """Read everything in sight anew whenever something has changed, one reading after the other."""
        while True:
            happened = await self._happens_within(AGAIN)
            self._stale.clear()
            await self._read(whole=happened)
            await asyncio.sleep(REST)

    async def _happens_within(self, seconds: float) -> bool:
        """Wait for a change, but not longer than that; whether there was one."""
        try:
            async with asyncio.timeout(seconds):
                return await self._stale.wait()
        except TimeoutError:
            return False

    async def _read(self, whole: bool) -> None:
        """Read the agents and the pane in sight; the whole with the minds, which turns alone change."""
        desk = self._desk
        try:
            agents = await self._source.ask(questions.AGENTS)
        except NoodlingsError as error:
            if not desk.gone:
                desk.banner.say("")
                desk.trouble(str(error), refused=not isinstance(error, Unreachable))
            return
        if desk.gone:
            return
        desk.banner.say("")
        desk.banner.speaks(agents.model)
        desk.update_from(agents.agents)
        if desk.agent:
            await self._show(desk.pane, desk.pane.asks())
        for view in agents.agents if whole else ():
            mind = await self._answer(questions.OBSERVE, view.id)
            if desk.gone:
                return
            if not isinstance(mind, Refused):
                desk.observed(mind)

    async def _show(self, pane: Pane, asks: Sequence[Ask]) -> None:
        """Hand a pane its answers, unless another agent is looked at by then."""
        agent = self._desk.agent
        answers = Answers()
        for ask in asks:
            answers[ask.key or ask.question.name] = await self._answer(ask.question, agent, **ask.how)
        if agent == self._desk.agent and not self._desk.gone:
            pane.update_from(answers)
            if not answers.refused:
                self._desk.drawn(pane)

    async def _answer(self, question: Question[V], agent: str = "", **how: Any) -> V | Refused:
        """An answer, or the words for why there is none."""
        try:
            return await self._source.ask(question, agent, **how)
        except NoodlingsError as error:
            return Refused(str(error))

    async def _listen(self) -> None:
        async for sign in self._source.happenings():
            self._heard(sign)

    def _heard(self, sign: Sign) -> None:
        if self._desk.gone:  # a sign that came while the screen was being taken down
            return
        if sign.step == LOST:
            self._desk.banner.lost = True
            if not self._desk.banner.refused:  # that says more
                self._desk.trouble(f"The connection was lost: {sign.why}")
            return
        if sign.step == FOUND:
            self._desk.banner.lost = False
        self._stale.set()
        if sign.agent == self._desk.agent or sign.step == FOUND:
            for pane in self._desk.panes:
                pane.happened(sign)

    def on_pane_wants(self, event: Pane.Wants) -> None:
        """Ask on behalf of a pane; of two asks of one key the later one counts."""
        if self._desk.gone:
            return
        for ask in event.asks:
            self._show_soon(event.pane, [ask], f"{event.pane.id}/{ask.key or ask.question.name}")

    def on_desk_turned(self, event: Desk.Turned) -> None:
        """Read what is in sight now."""
        if self._desk.agent:
            self._show_soon(self.pane, self.pane.asks(), f"{self.pane.id}")

    def _show_soon(self, pane: Pane, asks: Sequence[Ask], group: str) -> None:
        """Ask in the background; what is still under way of the same group is given up."""
        # Not a coroutine: one that is given up before it began would never be awaited.
        showing: Callable[[], Awaitable[None]] = partial(self._show, pane, asks)
        self.run_worker(showing, group=group, exclusive=True)

    # -- doing

    def on_pane_does(self, event: Pane.Does) -> None:
        """Do something, after asking where that is due."""
        deed = event.deed
        if not deed.question:
            self._do(deed, event.pane)
            return

        def answered(yes: bool | None) -> None:
            if yes:
                self._do(deed, event.pane)

        self.push_screen(Confirm(deed.question), answered)

    def _do(self, deed: Deed, pane: Pane) -> None:
        async def done() -> None:
            try:
                await self._source.act(deed.action, agent, **deed.how)
            except NoodlingsError as error:
                pane.refused(error)
                raise
            if desk.gone:
                return
            pane.done(deed)
            if deed.done:
                self.notify(deed.done, markup=False)
            self._stale.set()

        desk, agent = self._desk, self._desk.agent
        self._trying(done)

    def on_pane_opens(self, event: Pane.Opens) -> None:
        """Show the note of a memory."""

        async def opened() -> None:
            self.push_screen(Note(await self._source.note(agent, event.entry)))

        agent = self._desk.agent
        self._trying(opened)

    def _trying(self, doing: Callable[[], Awaitable[None]]) -> None:
        """Do something that may be refused, and say so where it is."""

        async def tried() -> None:
            try:
                await doing()
            except NoodlingsError as error:
                self.notify(str(error), severity="error", markup=False)

        self.run_worker(tried(), group="doing")

    # -- the rest of the keys

    def action_pane(self, index: int) -> None:
        """Show a pane by its number."""
        self._desk.show_pane(index)

    def action_next_pane(self, step: int) -> None:
        """Show the pane beside this one."""
        self._desk.show_next_pane(step)

    def action_next_agent(self, step: int) -> None:
        """Look at the agent beside this one."""
        self._desk.column.step(step)

    def action_refresh_all(self) -> None:
        """Read everything in sight anew."""
        self._stale.set()

    def action_help(self) -> None:
        """Tell what is in sight, and by which keys it is worked."""
        self.push_screen(Help(self.pane, self.BINDINGS))

    def action_next_theme(self) -> None:
        """The next set of colours."""
        names = [theme.name for theme in THEMES]
        at = names.index(self.theme) if self.theme in names else -1
        self.theme = names[(at + 1) % len(names)]

    def action_snapshot(self) -> None:
        """Keep what is in sight as an SVG picture, in the folder one is in."""
        self.deliver_screenshot(path=".")

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """What the command palette offers: panes, agents, colours, and what every key does, by its name."""
        panes, column = self._desk.panes, self._desk.column
        for at, pane in enumerate(panes):
            yield SystemCommand(
                f"Show {pane.TITLE}", pane.ABOUT.split(". ")[0], partial(self.action_pane, at)
            )
        for agent in column.ids:
            yield SystemCommand(f"Look at {column.name_of(agent)}", "", partial(column.choose, agent))
        for theme in THEMES:
            yield SystemCommand(f"Colours: {theme.name}", "", partial(setattr, self, "theme", theme.name))
        known: set[str] = set()
        owners: tuple[Studio | Pane, ...] = (self, self.pane, *panes)
        for owner in owners:
            where = f" in {owner.TITLE}" if isinstance(owner, Pane) else ""
            for binding in told_of(bindings_of(type(owner))):
                if binding.description not in known:
                    known.add(binding.description)
                    doing = partial(self._do_by_name, owner, binding.action)
                    yield SystemCommand(binding.description, f"{keys_of(binding)}{where}", doing)

    def _do_by_name(self, owner: Studio | Pane, action: str) -> None:
        """Do what a key of the application or of a pane does, and show that pane before."""
        if isinstance(owner, Pane) and owner is not self.pane:
            self.action_pane(self._desk.panes.index(owner))
        self.call_later(owner.run_action, action)
