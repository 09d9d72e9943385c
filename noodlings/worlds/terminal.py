"""The terminal of a player: a prompt, and characters who speak above it.

It knows no commands; it is given a `dispatch` function.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any

from prompt_toolkit import ANSI, PromptSession, print_formatted_text
from prompt_toolkit.application import Application
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import Layout, Window
from prompt_toolkit.layout.controls import FormattedTextControl
from prompt_toolkit.patch_stdout import patch_stdout
from rich.console import RenderableType
from rich.text import Text

from noodlings.drawing.screen import Screen
from noodlings.worlds.script import Complete, Dispatch

log = logging.getLogger(__name__)


def above_prompt(text: str) -> None:
    """Write rendered text above the prompt, or below everything if there is no prompt."""
    print_formatted_text(ANSI(text))


class TerminalSession:
    """A player at a prompt, with characters who speak above it.

    Earlier lines are kept in memory, for the arrow keys, and nowhere else: what was typed may be in
    confidence, personal, or refused.

    Args:
        complete: for the tab key.
        live: lets one character do something of its own accord.
        idle_seconds: how often, in real seconds; 0 is never.
        screen: for answers; it writes with `above_prompt`.
    """

    def __init__(
        self,
        dispatch: Dispatch,
        complete: Complete,
        live: Callable[[], Awaitable[object]],
        idle_seconds: float,
        screen: Screen,
    ) -> None:
        self._dispatch = dispatch
        self._live = live
        self._idle_seconds = idle_seconds
        self._screen = screen
        self._session: PromptSession[str] = PromptSession(
            completer=_TabCompleter(complete), complete_while_typing=False, key_bindings=_without_mouse()
        )

    async def run(self) -> None:
        """Run until the player leaves: by a command, Ctrl-D, or Ctrl-C twice on an empty line."""
        # Else prompt_toolkit would show a traceback and wait for a key, in the middle of the world.
        asyncio.get_running_loop().set_exception_handler(_log_quietly)
        with patch_stdout(raw=True):
            living = asyncio.create_task(self._keep_living(), name="idle life")
            typed = ""
            try:
                while (line := await self._ask(typed)) is not None:
                    answer = await self._dispatch(line)
                    typed = await self._show(answer.view)
                    if answer.leave:
                        return
            finally:
                living.cancel()
                with suppress(asyncio.CancelledError):
                    await living

    async def _ask(self, typed: str) -> str | None:
        """The next line, None when the player leaves. It begins with what was `typed` below a page."""
        interrupted = False
        while True:
            try:
                return await self._session.prompt_async("> ", default=typed, set_exception_handler=False)
            except EOFError:
                return None
            except KeyboardInterrupt:
                if interrupted:
                    return None
                interrupted, typed = True, ""
                self._screen.show(Text("(Press Ctrl-C again to leave)", style="dim"))

    async def _show(self, view: RenderableType) -> str:
        """Write an answer, in pages if it is longer than the window.

        Returns what was typed instead of a key to read on: the beginning of the next line.
        """
        pages = self._screen.pages(self._screen.text(view))
        if pages == [""]:
            return ""
        self._screen.hold()
        try:
            for number, page in enumerate(pages, 1):
                self._screen.write(page)
                if number < len(pages) and (typed := await _more(number, len(pages))) is not None:
                    return typed
        finally:
            self._screen.release()
        return ""

    async def _keep_living(self) -> None:
        """Let characters act between messages; errors are logged and end nothing."""
        while self._idle_seconds > 0:
            await asyncio.sleep(self._idle_seconds)
            try:
                await self._live()
            except Exception:
                log.exception("nobody could do anything of their own accord")


class _TabCompleter(Completer):
    def __init__(self, complete: Complete) -> None:
        self._complete = complete

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        line = document.text_before_cursor
        word = line[line.rfind(" ") + 1 :]
        for candidate in self._complete(line):
            yield Completion(candidate, start_position=-len(word))


async def _more(page: int, pages: int) -> str | None:
    """Wait for a key below a page. Returns None to read on, else the beginning of the next line."""
    keys = KeyBindings()

    @keys.add("q")
    @keys.add("Q")
    @keys.add("c-c")
    @keys.add("c-d")
    def stop(event: KeyPressEvent) -> None:
        event.app.exit(result="")

    @keys.add(Keys.Any)
    def type_on(event: KeyPressEvent) -> None:
        event.app.exit(result=event.data if event.data.isprintable() else None)

    @keys.add(" ")
    @keys.add("enter")
    def go_on(event: KeyPressEvent) -> None:
        event.app.exit(result=None)

    below = f"-- more, {page} of {pages}: space continues, q stops --"
    window = Window(FormattedTextControl([("reverse", below)]), height=1)
    application: Application[str | None] = Application(
        Layout(window), key_bindings=keys, erase_when_done=True
    )
    return await application.run_async(set_exception_handler=False)


def _without_mouse() -> KeyBindings:
    """Bindings that drop mouse events: they are not enabled, so it was a pasted escape code ("ESC[31m")."""
    keys = KeyBindings()

    @keys.add(Keys.Vt100MouseEvent)
    def drop(event: KeyPressEvent) -> None:
        pass

    return keys


def _log_quietly(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    log.error("at the prompt: %s", context.get("message"), exc_info=context.get("exception"))
