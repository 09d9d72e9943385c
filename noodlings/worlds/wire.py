"""What a visit asks of the way to one person's program, whatever protocol it speaks."""

from __future__ import annotations

from typing import Protocol


class Wire(Protocol):
    """The way to one person's program. Text goes with "\\n" between lines, and may hold ANSI colours."""

    @property
    def address(self) -> str: ...

    @property
    def columns(self) -> int: ...

    @property
    def colour(self) -> bool: ...

    async def read_line(self) -> str | None:
        """The next line that was typed; None when the person is gone."""

    def send(self, text: str) -> None:
        """Write text and a line break. Returns at once; whoever does not read is let go."""

    def hide(self, hidden: bool) -> None:
        """Whether what is typed is a secret."""

    def enter(self) -> bool:
        """The person has come in, and makes room for nobody; False where there is no room to come in."""

    async def close(self) -> None:
        """Send what is waiting, for a moment, and let go."""
