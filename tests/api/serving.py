"""A real `noodlings serve` in a process of its own, on a port that is free."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import IO, Any

from httpx2 import Client

from tests.program import Program

ROOT = Path(__file__).parents[2]
STARTS = 60.0
"""Seconds within which a server says that it serves, however busy the machine is."""
_PORTS = random.Random(os.getpid()).sample(range(10_000, 32_000), 22_000)


def free_port() -> int:
    """A port that nobody listens on, and that the system gives to no client meanwhile (those are above)."""
    while True:
        with suppress(OSError), socket.create_server(("127.0.0.1", port := _PORTS.pop())):
            return port


def environment(**changes: str) -> dict[str, str]:
    """Ours, without settings of whoever runs the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NOODLINGS_")}
    ours = {"PYTHONPATH": str(ROOT), "NOODLINGS_CONFIG": str(ROOT / "config.yaml")}
    return kept | ours | {"NOODLINGS_EMBEDDING__MODEL": "none", "PYTHONUNBUFFERED": "1"} | changes


def command(folder: Path, *words: str) -> list[str]:
    """The command line of a server over a folder."""
    return [sys.executable, "-m", "noodlings", "serve", "--port", "0", "--data", str(folder), *words]


class Output:
    """What a process says, read all the while: where nobody reads, a pipe fills and its writer waits."""

    def __init__(self, pipe: IO[str]) -> None:
        self._pipe = pipe
        self._lines: Queue[str] = Queue()
        self._reader = Thread(target=self._read, name="output", daemon=True)
        self._reader.start()

    def line(self) -> str:
        """The next line, "" after the last one. Raises `queue.Empty` where there is none for long."""
        return self._lines.get(timeout=STARTS)

    def rest(self) -> str:
        """Everything from here to the end; the process has to come to it."""
        lines = []
        while line := self.line():
            lines.append(line)
        return "".join(lines)

    def close(self) -> None:
        """Stop reading; the process has ended."""
        self._reader.join(STARTS)
        self._pipe.close()

    def _read(self) -> None:
        for line in self._pipe:
            self._lines.put(line)
        self._lines.put("")


@dataclass
class Server:
    """A running server.

    Attributes:
        url: where, without a slash at the end.
        said: what it said when it began; `output` is what it says after that.
    """

    process: Program
    url: str
    said: list[str]
    output: Output
    client: Client

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """End it; the exit code."""
        self.process.send_signal(number)
        return self.process.wait(60)


def certified(folder: Path) -> tuple[str, ...]:
    """The options of a server with a certificate that is made there."""
    certificate, key = folder / "c.pem", folder / "k.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
         "-days", "1", "-subj", "/CN=localhost"],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return "--certificate", str(certificate), "--key", str(key)


@contextmanager
def served(
    folder: Path, *words: str, tokens: list[dict[str, Any]] | None = None, **changes: str
) -> Iterator[Server]:
    """A server for as long as the block lasts."""
    if tokens:
        changes["NOODLINGS_API__TOKENS"] = json.dumps(tokens)
    process = Program(command(folder, *words)[3:], environment(**changes))
    output = Output(process.said)
    try:
        said = _said(output)
        url = said[0].split()[2]
        # Over TLS it shows a certificate that it made itself.
        with Client(base_url=url, verify=False, timeout=30) as client:
            yield Server(process, url, said, output, client)
    finally:
        _ended(process)
        process.typed.close()
        output.close()


def _said(output: Output) -> list[str]:
    """The lines with which a server begins."""
    said: list[str] = []
    try:
        while not (said and said[-1].startswith("Press Ctrl-C")) and (line := output.line()):
            said.append(line.rstrip("\n"))
    except Empty:
        said.append(f"and nothing more for {STARTS:g} s")
    if not (said and said[-1].startswith("Press Ctrl-C")):
        raise AssertionError("\n".join(said))
    return said


def _ended(process: Program) -> None:
    """End it in order, or else by force."""
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(30)
        raise
