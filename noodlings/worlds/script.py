"""Plays a script: its lines are dispatched one by one, as if a player typed them.

It waits after each line until every mind has finished, so the same lines give the same session. Unlike
`noodlings.worlds.terminal`, it does not load what a prompt needs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import BinaryIO, Protocol

from rich.console import RenderableType

from noodlings.drawing.screen import Screen

LONGEST_LINE = 1_000_000
"""Bytes of one line of a script; the rest of a longer one is dropped."""


class CommandAnswer(Protocol):
    """The answer to a line: something to see, and whether the player leaves."""

    @property
    def view(self) -> RenderableType: ...

    @property
    def leave(self) -> bool: ...


Dispatch = Callable[[str], Awaitable[CommandAnswer]]
Complete = Callable[[str], Iterable[str]]
"""The line up to the cursor → completions of its last word."""


async def follow(
    lines: Iterable[str], dispatch: Dispatch, settle: Callable[[], Awaitable[None]], screen: Screen
) -> None:
    """Play a script until its end, or until the player leaves. The lines are not shown.

    `settle` waits until every mind has finished with what a line caused.
    """
    for line in lines:
        answer = await dispatch(line)
        screen.show(answer.view)
        await settle()
        if answer.leave:
            break


def read_lines(stream: BinaryIO) -> Iterator[str]:
    """The lines of a byte stream; what is not UTF-8 becomes the replacement character.

    Reading may block: between two lines every mind is at rest, and nothing waits for the event loop.
    """
    while line := stream.readline(LONGEST_LINE):
        rest = line
        while len(rest) == LONGEST_LINE and not rest.endswith(b"\n"):
            rest = stream.readline(LONGEST_LINE)
        yield line.decode("utf-8", "replace").rstrip("\r\n")
