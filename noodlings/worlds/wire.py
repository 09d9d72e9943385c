"""The connection to one person's program, whatever protocol it speaks, and lines from its bytes.

A line may come with any line ending, with keys that erase, and with UTF-8 split anywhere. What is held is
bounded: the rest of a line that is too long is dropped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Protocol


class PlayerWire(Protocol):
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


HANDSHAKE_SECONDS = 10.0
"""From a connection to the end of its handshake."""
LONGEST = 64_000
"""Bytes of one line."""

_ENDS = re.compile(rb"\r\n|\r\x00|\r|\n")
_ERASING = re.compile(rb"[\x08\x7f\x15]")


@dataclass(slots=True)
class LineAssembler:
    """What was typed so far on a line that is not finished."""

    _begun: bytearray = field(default_factory=bytearray)
    _after_return: bool = False

    def feed(self, text: bytes) -> list[str]:
        """The lines that end in this text, without their ends; what is not UTF-8 becomes U+FFFD.

        CR LF, CR NUL, CR and LF end a line, also when the two bytes come apart.
        """
        if self._after_return and text:
            self._after_return = False
            text = text[1:] if text[:1] in (b"\n", b"\x00") else text
        if text:
            self._after_return = text.endswith(b"\r")
        *ended, begun = _ENDS.split(text)
        lines = []
        for piece in ended:
            self._add(piece)
            lines.append(_edited(bytes(self._begun)).decode("utf-8", "replace"))
            self._begun.clear()
        self._add(begun)
        return lines

    def _add(self, piece: bytes) -> None:
        self._begun += piece[: max(LONGEST - len(self._begun), 0)]


def _edited(line: bytes) -> bytes:
    """The line as it stands after backspaces (one character each) and Ctrl-U (all of it)."""
    if not _ERASING.search(line):
        return line
    left = bytearray()
    for byte in line:
        if byte == 0x15:
            left.clear()
        elif byte not in (0x08, 0x7F):
            left.append(byte)
        elif left:
            while len(left) > 1 and left[-1] & 0xC0 == 0x80:  # the later bytes of a character
                left.pop()
            left.pop()
    return bytes(left)
