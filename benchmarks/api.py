"""The API under load, on loopback: does anything get lost, out of order, slow or fat?

    python benchmarks/api.py [--quick] [--json]

A real server in a process of its own with 20 characters; 200 readers of the live stream, each of one of
them, 20 of them slow; 32 writers, each a percept a second; and one more process that asks for views and
takes the time. Then everything is counted. Writers, readers and server share the cores of one machine.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import multiprocessing
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from httpx2 import AsyncClient, Limits
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.api.serving import environment

AGENTS, READERS, SLOW, WRITERS = 20, 200, 20, 32
SECONDS = 60.0
ASKED_A_SECOND = 20
VIEWS = (
    "memory/stats",
    "memory/working",
    "memory/episodic",
    "memory/by-affect",
    "memory/last-retrieval",
    "why",
)
SLOW_SECONDS = 1.0
"""So long a slow reader takes over each message."""

LINES = (
    "My dog died yesterday and I miss him so much.",
    "I won the race! Nobody believed I could do it.",
    "Do you remember what I told you about the lighthouse?",
    "It is raining again. I like the sound of it.",
    "I am afraid of what lives in the well.",
)


@dataclass
class Seen:
    """What the readers saw.

    Attributes:
        turns: agent → entries of finished turns as one fast reader saw them, in order.
        messages: how many in all; lost: how many the slow ones were told of.
    """

    turns: dict[str, list[int]] = field(default_factory=dict)
    messages: int = 0
    lost: int = 0
    closed: int = 0


def recipe(number: int) -> dict[str, Any]:
    """A character of no particular kind."""
    name = f"Walker {number}"
    return {
        "name": name,
        "species": "walker",
        "description": f"{name} walks.",
        "identity": f"You are {name}.",
    }


def agent(number: int) -> str:
    """The id of a character."""
    return f"walker_{number % AGENTS}"


async def read(url: str, number: int, seen: Seen, first: bool) -> None:
    """Look on at one agent until the connection is closed."""
    slow = number < SLOW
    host, port = url.removeprefix("http://").split(":")
    sock = socket.socket()
    if slow:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    sock.connect((host, int(port)))
    sock.setblocking(False)
    where = f"ws://{host}:{port}/api/live?agent={agent(number)}"
    turns = seen.turns.setdefault(agent(number), []) if first else None
    async with connect(
        where, sock=sock, max_size=None, max_queue=(4 if slow else 64), compression=None, ping_interval=None
    ) as stream:
        try:
            async for message in stream:
                seen.messages += 1
                if message.startswith('{"type":"lost"'):
                    seen.lost += json.loads(message)["count"]
                elif turns is not None and message.startswith('{"type":"turn"'):
                    turns.append(json.loads(message)["entry"])
                if slow:
                    await asyncio.sleep(SLOW_SECONDS)
        except ConnectionClosed:
            seen.closed += 1


async def write(
    client: AsyncClient, number: int, until: float, took: list[float], sent: dict[str, int]
) -> None:
    """A percept a second, each once, in order."""
    begin = time.monotonic() + number / WRITERS
    turn = 0
    while True:
        due = begin + turn
        if due >= until:
            return
        await asyncio.sleep(max(due - time.monotonic(), 0.0))
        body = {
            "user_id": f"user_{number}",
            # Nobody says what another one says: else one vector would do for several.
            "text": f"{LINES[(turn + number) % len(LINES)]} I am number {number}. ({turn})",
            "idempotency_key": f"{number}-{turn}",
        }
        began = time.monotonic()
        answer = await client.post(f"/api/agents/{agent(number)}/perceive", json=body)
        answer.raise_for_status()
        took.append(time.monotonic() - began)
        sent[agent(number)] = sent.get(agent(number), 0) + 1
        turn += 1


def probe(url: str, seconds: float, results: Connection) -> None:
    """Ask for views at a steady rate, and take the time of each."""
    host, port = url.removeprefix("http://").split(":")
    client = http.client.HTTPConnection(host, int(port))
    took: list[float] = []
    begin = time.monotonic()
    at = 0
    while (due := begin + at / ASKED_A_SECOND) < begin + seconds:
        time.sleep(max(due - time.monotonic(), 0.0))
        began = time.monotonic()
        client.request("GET", f"/api/agents/{agent(at)}/{VIEWS[at % len(VIEWS)]}")
        answer = client.getresponse()
        answer.read()
        took.append(time.monotonic() - began)
        if answer.status != 200:
            raise SystemExit(f"{VIEWS[at % len(VIEWS)]}: {answer.status}")
        at += 1
    results.send(took)


def resident(pid: int) -> float:
    """Resident memory of a process in MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1_024
    raise SystemExit("the server is gone")


def processor(pid: int) -> float:
    """Processor seconds of a process so far, of all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def memory(pid: int, until: float, samples: list[float]) -> None:
    """Resident memory, once a second."""
    while time.monotonic() < until:
        samples.append(resident(pid))
        await asyncio.sleep(1.0)


async def load(url: str, pid: int, seconds: float) -> dict[str, Any]:
    """Everything at once; the figures."""
    seen, sent, took, samples = Seen(), dict[str, int](), list[float](), list[float]()
    async with AsyncClient(base_url=url, timeout=60, limits=Limits(max_connections=WRITERS)) as client:
        for number in range(AGENTS):
            (await client.post(f"/api/recipes/{agent(number)}", json=recipe(number))).raise_for_status()
            hello = {"user_id": "user_host", "text": "good morning"}
            (await client.post(f"/api/agents/{agent(number)}/perceive", json=hello)).raise_for_status()
        readers = [
            asyncio.create_task(read(url, number, seen, SLOW <= number < SLOW + AGENTS))
            for number in range(READERS)
        ]
        await asyncio.sleep(3.0)
        began, used = time.monotonic(), processor(pid)
        until = began + seconds
        mine, theirs = multiprocessing.Pipe(duplex=False)
        prober = multiprocessing.get_context("spawn").Process(target=probe, args=(url, seconds - 3.0, theirs))
        prober.start()
        theirs.close()  # so that a prober that failed is no prober that takes long
        await asyncio.gather(
            *(write(client, number, until, took, sent) for number in range(WRITERS)),
            memory(pid, until, samples),
        )
        share = (processor(pid) - used) / (time.monotonic() - began)
        asked = await asyncio.to_thread(mine.recv)
        await asyncio.to_thread(prober.join)
        await asyncio.sleep(2.0)
        lost, out_of_order = await count(client, sent)
        metrics = (await client.get("/metrics")).text
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)
    missed = sum(len(seen.turns[agent(n)]) != sent[agent(n)] for n in range(AGENTS))
    shuffled = sum(turns != sorted(turns) for turns in seen.turns.values())
    settled = samples[len(samples) // 3 :]
    return {
        "percepts": sum(sent.values()),
        "lost turns": lost,
        "agents with turns out of order": out_of_order,
        "streams that missed a turn": missed,
        "streams out of order": shuffled,
        "messages read": seen.messages,
        "messages lost by slow readers, and told": seen.lost,
        "readers cut off": seen.closed,
        "events lost by the server's count": metric(metrics, "noodlings_live_lost"),
        "write p50 ms": ms(took, 50),
        "write p95 ms": ms(took, 95),
        "read p50 ms": ms(asked, 50),
        "read p95 ms": ms(asked, 95),
        "reads": len(asked),
        "share of one processor %": round(100.0 * share, 1),
        "load of the machine": os.getloadavg()[0],
        "memory after a third MB": round(settled[0], 1),
        "memory at the end MB": round(statistics.median(settled[-5:]), 1),
    }


async def count(client: AsyncClient, sent: dict[str, int]) -> tuple[int, int]:
    """How many percepts are missing or unanswered, and for how many agents the order is wrong."""
    lost = out_of_order = 0
    for name, expected in sent.items():
        entries: list[dict[str, Any]] = []
        while page := (await browse(client, name, len(entries))):
            entries += page
        told = [entry for entry in entries if entry["user"] != "user_host" and entry["response"]]
        lost += expected - len(told)
        by_writer: dict[str, list[int]] = {}
        for entry in told:
            by_writer.setdefault(entry["user"], []).append(int(entry["text"].rpartition("(")[2][:-1]))
        out_of_order += any(turns != sorted(turns) for turns in by_writer.values())
    return lost, out_of_order


async def browse(client: AsyncClient, name: str, offset: int) -> list[dict[str, Any]]:
    """A page of everything that an agent perceived, oldest first."""
    asked = {"everything": True, "order": "when", "falling": False, "limit": 500, "offset": offset}
    answer = await client.get(f"/api/agents/{name}/memory/browse", params=asked)
    answer.raise_for_status()
    entries: list[dict[str, Any]] = answer.json()["entries"]
    return entries


def metric(text: str, name: str) -> float:
    """A figure without labels."""
    return next(float(line.split()[1]) for line in text.splitlines() if line.startswith(f"{name} "))


def ms(values: list[float], percentile: int) -> float:
    """A percentile in milliseconds."""
    return round(statistics.quantiles(values, n=100)[percentile - 1] * 1e3, 1)


def main() -> None:
    """Start the server, load it, and print the table."""
    seconds = 10.0 if "--quick" in sys.argv else SECONDS
    with tempfile.TemporaryDirectory(prefix="noodlings-bench-") as folder:
        server = subprocess.Popen(
            [sys.executable, "-m", "noodlings", "serve", "--port", "0", "--data", folder],
            stdout=subprocess.PIPE,
            text=True,
            env=environment(
                NOODLINGS_API__REQUESTS_PER_SECOND="100000",
                NOODLINGS_WORLD__IDLE_SECONDS="0",
                NOODLINGS_EMBEDDING__MODEL="minilm",
                NOODLINGS_LOG__LEVEL="warning",
            ),
        )
        assert server.stdout is not None
        try:
            url = server.stdout.readline().split()[2]
            figures = asyncio.run(load(url, server.pid, seconds))
        finally:
            server.terminate()
            server.wait(60)
    if "--json" in sys.argv:
        print(json.dumps(figures))
        return
    print(f"{READERS} readers ({SLOW} slow), {WRITERS} writers, {AGENTS} agents, {seconds:.0f} s\n")
    for name, value in figures.items():
        print(f"{name:<42} {value:>10,}")


if __name__ == "__main__":
    main()
