"""How long it takes until a program is there: help, the first line of `play`, the first answer of `serve`.

Each is started as a process of its own and ended when it has said something. What stands there is the least
of several rounds, in seconds of the processor and of the clock, and the former beside that of a bare
`python -c pass` in the same rounds. Modules are compiled beforehand, as those of an installed program are.
It ends with 1 where a limit is missed; that says something on a quiet machine alone.

    python benchmarks/start.py [--quick] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from measured import Measured, table
from rich.console import Console

ROOT = Path(__file__).parents[1]
NOODLINGS = ("-m", "noodlings")
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    },
}


class Seconds(NamedTuple):
    """Of the processor, and of the clock on the wall."""

    processor: float
    wall: float


def until_end(process: subprocess.Popen[bytes]) -> None:
    """It does what it does and ends."""
    assert process.stdout is not None
    process.stdout.read()


def until_line(process: subprocess.Popen[bytes]) -> None:
    """It says something."""
    assert process.stdout is not None
    if not process.stdout.readline():
        raise SystemExit(f"{process.args} said nothing")


def until_greeted(process: subprocess.Popen[bytes]) -> None:
    """It answers a client that speaks the Model Context Protocol."""
    assert process.stdin is not None
    process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    process.stdin.flush()
    until_line(process)


def until_healthy(port: int) -> Callable[[subprocess.Popen[bytes]], None]:
    """It answers `GET /health`; a connection waits from the moment that the port is open."""

    def wait(process: subprocess.Popen[bytes]) -> None:
        latest = time.perf_counter() + 60.0
        while time.perf_counter() < latest:
            try:
                connection = socket.create_connection(("127.0.0.1", port))
            except ConnectionRefusedError:
                time.sleep(0.002)
                continue
            with connection:
                connection.sendall(f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
                if connection.recv(100).startswith(b"HTTP/1.1 200"):
                    return
        raise SystemExit(f"{process.args} does not answer")

    return wait


def once(words: tuple[str, ...], wait: Callable[[subprocess.Popen[bytes]], None]) -> Seconds:
    """Start a program, wait, and end it; what it used until then."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NOODLINGS_")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPATH"] = str(ROOT)
    pipe = subprocess.PIPE
    began = time.perf_counter()
    with subprocess.Popen((sys.executable, *words), stdin=pipe, stdout=pipe, env=environment) as process:
        wait(process)
        wall = time.perf_counter() - began
        os.kill(process.pid, signal.SIGKILL)  # Popen would reap it first, and what it used would be lost
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return Seconds(used.ru_utime + used.ru_stime, wall)


def used_folder(folder: Path, lines: int) -> Path:
    """A data folder in which somebody talked with a character."""
    talk = folder / "talk.jsonl"
    said = ((60.0 * i, f"user_{i % 7}", f"My dog found {i} sticks today.") for i in range(lines))
    as_json = (json.dumps(dict(zip(("timestamp", "user", "text"), one, strict=True))) for one in said)
    talk.write_text("\n".join(as_json), encoding="utf-8")
    once((*NOODLINGS, "replay", str(talk), "--agent", "phi", "--data", str(folder / "used")), until_end)
    return folder / "used"


def measure(folder: Path, rounds: int, lines: int) -> list[Measured]:
    """All programs take turns, so that whatever else the machine does falls on all of them."""
    with socket.create_server(("127.0.0.1", 0)) as bound:
        port = bound.getsockname()[1]
    fresh, used = folder / "fresh", used_folder(folder, lines)
    serve, healthy = (*NOODLINGS, "serve", "--port", str(port), "--data"), until_healthy(port)
    programs = {
        "python -c pass": (("-c", "pass"), until_end, None),
        "import noodlings": (("-c", "import noodlings"), until_end, 0.1),
        "noodlings --help": ((*NOODLINGS, "--help"), until_line, 0.3),
        "noodlings play, fresh folder": ((*NOODLINGS, "play", "--data", f"{fresh}-play#"), until_line, 1.5),
        f"noodlings play, {lines:,} lines kept": ((*NOODLINGS, "play", "--data", str(used)), until_line, 1.5),
        "noodlings serve, fresh folder": ((*serve, f"{fresh}-serve#"), healthy, 1.5),
        f"noodlings serve, {lines:,} lines kept": ((*serve, str(used)), healthy, 1.5),
        "noodlings mcp": ((*NOODLINGS, "mcp", "--data", str(used)), until_greeted, None),
    }
    taken: dict[str, list[Seconds]] = {name: [] for name in programs}
    for number in range(rounds + 1):
        for name, (words, wait, _) in programs.items():
            taken[name].append(once(tuple(word.replace("#", str(number)) for word in words), wait))
    least = {name: Seconds(*map(min, zip(*all_of[1:], strict=True))) for name, all_of in taken.items()}
    bare = least["python -c pass"].processor
    rows = []
    for name, (_, _, limit) in programs.items():
        took = least[name]
        rows.append(
            Measured(
                name,
                0,
                "s",
                took.processor,
                beside={"the clock": took.wall, "python -c pass": bare},
                must="" if limit is None else f"≤ {limit:g} s, both",
                holds=None if limit is None else max(took) <= limit,
            )
        )
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="3 rounds, and 100 lines kept")
    parser.add_argument("--json", action="store_true", help="one line of JSON instead of the table")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="noodlings-start-") as name:
        rows = measure(Path(name), *((3, 100) if arguments.quick else (10, 1_000)))
    if arguments.json:
        print(json.dumps([asdict(row) for row in rows]))
    else:
        Console().print(table("until a program is there, of the processor", rows))
    sys.exit(any(row.holds is False for row in rows))


if __name__ == "__main__":
    main()
