"""A real `noodlings serve` in a process of its own, on a port that is free."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from httpx2 import Client

ROOT = Path(__file__).parents[2]


def environment(**changes: str) -> dict[str, str]:
    """Ours, without settings of whoever runs the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NOODLINGS_")}
    ours = {"PYTHONPATH": str(ROOT), "NOODLINGS_CONFIG": str(ROOT / "config.yaml")}
    return kept | ours | {"NOODLINGS_EMBEDDING__MODEL": "none", "PYTHONUNBUFFERED": "1"} | changes


def command(folder: Path, *words: str) -> list[str]:
    """The command line of a server over a folder."""
    return [sys.executable, "-m", "noodlings", "serve", "--port", "0", "--data", str(folder), *words]


@dataclass
class Server:
    """A running server.

    Attributes:
        url: where, without a slash at the end.
        said: what it said when it began.
    """

    process: subprocess.Popen[str]
    url: str
    said: list[str]
    client: Client

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """End it; the exit code."""
        self.process.send_signal(number)
        return self.process.wait(30)


@contextmanager
def served(
    folder: Path, *words: str, tokens: list[dict[str, Any]] | None = None, **changes: str
) -> Iterator[Server]:
    """A server for as long as the block lasts."""
    if tokens:
        changes["NOODLINGS_API__TOKENS"] = json.dumps(tokens)
    process = subprocess.Popen(
        command(folder, *words),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
        env=environment(**changes),
    )
    assert process.stdout is not None
    said = [process.stdout.readline().rstrip("\n") for _ in range(4)]
    if process.poll() is not None or not said[0].startswith("noodlings serves "):
        process.kill()
        raise AssertionError("\n".join(said))
    url = said[0].split()[2]
    # Over TLS it shows a certificate that it made itself.
    with Client(base_url=url, verify=False, timeout=30) as client:
        try:
            yield Server(process, url, said, client)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(30)
            process.stdout.close()
