"""A telnet client that reads and writes lines: options are refused, colours taken out, every wait ends."""

from __future__ import annotations

import re
import select
import socket
import time

_COMMANDS = re.compile(rb"\xff\xfa.*?\xff\xf0|\xff[\xfb-\xfe].|\xff[\xf0-\xf9]", re.DOTALL)
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Telnet:
    """Somebody at a terminal.

    Args:
        port: on this machine.
        name: of whoever types, for what went wrong.
    """

    def __init__(self, port: int, name: str) -> None:
        self.name = name
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self._raw = b""
        self._read = 0

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def send(self, line: str) -> None:
        """Type a line."""
        self._read = len(self.seen())
        self._socket.sendall(line.encode() + b"\r\n")

    def seen(self) -> str:
        """Everything that was shown so far."""
        while select.select([self._socket], [], [], 0)[0]:
            came = self._socket.recv(65_536)
            if not came:
                break
            self._raw += came
        text = _COMMANDS.sub(b"", self._raw).decode("utf-8", "replace")
        return _COLOURS.sub("", text).replace("\r", "")

    def expect(self, pattern: str, seconds: float = 15.0) -> str:
        """Wait for something since the last line typed, or since what was last expected. All up to its end.

        Raises:
            AssertionError: it did not come.
        """
        until = time.monotonic() + seconds
        while True:
            since = self.seen()[self._read :]
            found = re.search(pattern, since, re.DOTALL)
            if found:
                self._read += found.end()
                return since[: found.end()]
            left = until - time.monotonic()
            assert left > 0, f"{self.name} waited for {pattern!r}; shown was:\n{since}"
            select.select([self._socket], [], [], left)

    def ask(self, line: str, pattern: str, seconds: float = 15.0) -> str:
        """Type a line and wait for what it leads to."""
        self.send(line)
        return self.expect(pattern, seconds)
