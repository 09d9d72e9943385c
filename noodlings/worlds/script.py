"""Lines typed into a world by a script: they are dispatched one by one, as a person's are.

A script is deterministic: after each line it waits until every mind is done, so the same lines give the same
session. Nothing here loads what a prompt needs (`noodlings.worlds.terminal`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import BinaryIO, Protocol

from rich.console import RenderableType

from noodlings.drawing.screen import Screen

LONGEST_LINE = 1_000_000
"""Bytes of one line of a script; the rest of a longer one is let go."""


class CommandAnswer(Protocol):
    """What a line was answered with: something to see, and whether the player wants to go."""

    @property
    def view(self) -> RenderableType: ...

    @property
    def leave(self) -> bool: ...


Dispatch = Callable[[str], Awaitable[CommandAnswer]]
Complete = Callable[[str], Iterable[str]]
"""The line up to the cursor → what its last word may become."""


async def follow(
    lines: Iterable[str], dispatch: Dispatch, settle: Callable[[], Awaitable[None]], screen: Screen
) -> None:
    """Play a script to its end, or until a line leaves. Nothing is echoed.

    Args:
        lines: as typed.
        dispatch: runs a line.
        settle: waits until every mind is done with what a line caused.
        screen: where answers go.
    """
    for line in lines:
        answer = await dispatch(line)
        screen.show(answer.view)
        await settle()
        if answer.leave:
            break


def read_lines(stream: BinaryIO) -> Iterator[str]:
    """The lines of a byte stream; what is not UTF-8 becomes the replacement character.

    Reading blocks: between two lines of a script every mind is at rest, and nothing waits for the loop.
    """
    while line := stream.readline(LONGEST_LINE):
        rest = line
        while len(rest) == LONGEST_LINE and not rest.endswith(b"\n"):
            rest = stream.readline(LONGEST_LINE)
        yield line.decode("utf-8", "replace").rstrip("\r\n")
