"""What the clients talk to and the nemeses disturb: one process over SQLite, or several over PostgreSQL."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import yaml

from benchmarks.histories.database import SOCKET, Database, Way, url_at
from benchmarks.histories.disk import Disk
from benchmarks.histories.served import READY_SECONDS, Refused, Served, environment, run, workers_of

AGENTS = ("bremer", "isolde", "corvin", "mathilde")


class Cluster(Protocol):
    """Processes that serve one world.

    Attributes:
        count: how many.
        addresses: where they listen; these stay.
        data, environment: with these, `noodlings` on the command line is about this world.
    """

    data: Path
    environment: dict[str, str]

    @property
    def count(self) -> int: ...

    @property
    def addresses(self) -> Sequence[str]: ...

    async def start(self) -> None:
        """Start everything. Raises `Refused`."""

    async def start_one(self, node: int) -> None:
        """Start a process that was killed. Raises `Refused`."""

    def kill(self, node: int) -> None:
        """End a process at once."""

    def pause(self, node: int) -> None:
        """Let a process stand still."""

    def resume(self, node: int) -> None:
        """Let it go on."""

    async def stop(self) -> int:
        """Let everything end in order; the database can still be read. Returns an exit code."""

    def close(self) -> None:
        """End what is left, and let go of what was taken for it."""


class OneProcess:
    """One process with a data folder, on a small disk of its own where the nemesis needs one.

    Args:
        folder: for everything of this run.
        disk: whether to make a disk for the data folder.
        clock: whether the clock can be moved.
    """

    count = 1

    def __init__(self, folder: Path, *, disk: bool = False, clock: bool = False) -> None:
        self.data = folder / "data"
        self.data.mkdir()
        self.disk = Disk(folder / "disk.img", self.data) if disk else None
        self.environment = environment()
        write_recipes(self.data)
        moved = folder / "clock" if clock else None
        self.served = Served(self.data, free_port(), folder / "serve.log", self.environment, moved)
        self.addresses = [self.served.url]

    async def start(self) -> None:
        await self.served.start()

    async def start_one(self, node: int) -> None:
        await self.served.start()

    def kill(self, node: int) -> None:
        self.served.kill()

    def pause(self, node: int) -> None:
        self.served.pause()

    def resume(self, node: int) -> None:
        self.served.resume()

    def jump(self, node: int, seconds: float) -> None:
        """Let its clock be wrong by so many seconds."""
        self.served.jump(seconds)

    async def stop(self) -> int:
        return await self.served.stop()

    def close(self) -> None:
        self.served.kill()
        if self.disk is not None:
            self.disk.close()


class Supervised:
    """`noodlings serve --workers`: several processes behind one address, replaced when they die.

    Args:
        folder: for everything of this run.
        count: how many workers.
    """

    def __init__(self, folder: Path, count: int = 3) -> None:
        self.count = count
        self.database = Database(folder / "postgres")
        self.data = folder / "data"
        self.data.mkdir()
        write_recipes(self.data)
        self.environment = environment(NOODLINGS_STORE__URL=url_at(self.database.folder))
        self._log = folder / "serve.log"
        more = ("--workers", str(count))
        self._served = Served(self.data, free_port(), self._log, self.environment, more=more)
        self._paused: dict[int, int] = {}
        self.addresses = [self._served.url]

    async def start(self) -> None:
        await self._served.start()

    async def start_one(self, node: int) -> None:
        """Wait until the supervisor has replaced it. Raises `Refused`."""
        latest = time.monotonic() + READY_SECONDS
        while len(self._workers()) < self.count:
            if time.monotonic() > latest:
                raise Refused(f"a dead worker was not replaced within {READY_SECONDS:g} s")
            await asyncio.sleep(0.1)

    def kill(self, node: int) -> None:
        os.kill(self._workers()[node], signal.SIGKILL)

    def pause(self, node: int) -> None:
        self._paused[node] = self._workers()[node]
        os.kill(self._paused[node], signal.SIGSTOP)

    def resume(self, node: int) -> None:
        os.kill(self._paused.pop(node), signal.SIGCONT)

    async def stop(self) -> int:
        code = await self._served.stop()
        ended = re.findall(r"worker \d+ ended with (?!-9;)(-?\d+);", self._log.read_text("utf-8"))
        return int(ended[0]) if ended else code

    def close(self) -> None:
        left = self._workers()
        self._served.kill()
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.database.close()

    def _workers(self) -> list[int]:
        """The processes that serve, oldest first; none of the supervisor's other children."""
        try:
            pid = self._served.pid
        except ProcessLookupError:
            return []
        return workers_of(pid)


class Machines:
    """Several `noodlings serve --workers 1` with one database, as on several machines.

    Each has a data folder, a clock and a way to the database of its own.

    Args:
        folder: for everything of this run.
        count: how many machines.
        clock: whether their clocks can be moved.
    """

    def __init__(self, folder: Path, count: int = 3, *, clock: bool = False) -> None:
        self.count = count
        self.database = Database(folder / "postgres")
        self.ways = [Way(free_port(), self.database.folder / SOCKET) for _ in range(count)]
        self._nodes: list[Served] = []
        for number, way in enumerate(self.ways):
            data = folder / f"data{number}"
            data.mkdir()
            write_recipes(data)
            moved = folder / f"clock{number}" if clock else None
            log = folder / f"serve{number}.log"
            through = environment(NOODLINGS_STORE__URL=url_at("127.0.0.1", way.port))
            self._nodes.append(Served(data, free_port(), log, through, moved, ("--workers", "1")))
        self.data = folder / "data0"
        self.environment = environment(NOODLINGS_STORE__URL=url_at(self.database.folder))
        self.addresses = [node.url for node in self._nodes]

    async def start(self) -> None:
        for way in self.ways:
            await way.open()
        for node in self._nodes:  # the first makes the tables
            await node.start()

    async def start_one(self, node: int) -> None:
        await self._nodes[node].start()

    def kill(self, node: int) -> None:
        self._nodes[node].kill()

    def pause(self, node: int) -> None:
        self._nodes[node].pause()

    def resume(self, node: int) -> None:
        self._nodes[node].resume()

    def jump(self, node: int, seconds: float) -> None:
        """Let the clock of a machine be wrong by so many seconds."""
        self._nodes[node].jump(seconds)

    async def stop(self) -> int:
        return max(await asyncio.gather(*(node.stop() for node in self._nodes)), key=abs)

    def close(self) -> None:
        for node in self._nodes:
            node.kill()
        for way in self.ways:
            way.close()
        self.database.close()


def exported(data: Path, environment: dict[str, str]) -> str:
    """What `noodlings export` writes. Raises `RuntimeError` with its words."""
    done = run("export", "-", "--data", data, environment=environment)
    if done.returncode or "left out" in done.stderr:
        raise RuntimeError(f"the export ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def write_recipes(data: Path) -> None:
    """Characters of no particular kind."""
    (data / "recipes").mkdir(exist_ok=True)
    for agent in AGENTS:
        name = agent.capitalize()
        recipe = {
            "name": name,
            "species": "villager",
            "description": f"{name} lives by the harbour.",
            "identity": f"You are {name}, who lives by the harbour.",
        }
        (data / "recipes" / f"{agent}.yaml").write_text(yaml.safe_dump(recipe), encoding="utf-8")


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as bound:
        port: int = bound.getsockname()[1]
        return port


def may_mount() -> bool:
    """Whether a small disk can be made."""
    return hasattr(os, "geteuid") and os.geteuid() == 0 and Path("/dev/loop-control").exists()
