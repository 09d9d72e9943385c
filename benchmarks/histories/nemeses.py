"""What disturbs a cluster, and puts it right again.

A nemesis is a coroutine function of one disturbance. It notes what it does in the history, and when it
returns everything is as it should be.
"""

from __future__ import annotations

import asyncio
import random
import resource
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from httpx2 import AsyncClient

from benchmarks.histories.checker import Fault, read_export
from benchmarks.histories.cluster import (
    AGENTS,
    Cluster,
    Machines,
    OneProcess,
    Supervised,
    exported,
    free_port,
)
from benchmarks.histories.damage import (
    DAMAGED,
    SOUND,
    cut_log,
    differences,
    empty_log,
    gaps,
    tear_logged_page,
    tear_page,
    wrongly_served,
)
from benchmarks.histories.history import NEMESIS, History
from benchmarks.histories.served import Refused, Served, run


@dataclass(slots=True)
class Disturbance:
    """What a nemesis is given.

    Attributes:
        folder: of this run, for what it needs.
        faults: it adds what it finds by itself.
        count: how often something was disturbed.
    """

    cluster: Cluster
    history: History
    chance: random.Random
    folder: Path
    faults: list[Fault] = field(default_factory=list)
    count: int = 0

    def note(self, what: str, node: int = 0) -> None:
        """Write down what is done."""
        self.history.note(NEMESIS, "info", node=node, what=what)

    def node(self) -> int:
        """One of the processes."""
        return self.chance.randrange(self.cluster.count)

    async def for_a_while(self, least: float = 0.5, most: float = 3.0) -> None:
        """Let things be as they are."""
        await asyncio.sleep(self.chance.uniform(least, most))


Nemesis = Callable[[Disturbance], Awaitable[None]]


async def kill(given: Disturbance) -> None:
    """kill -9, and started again."""
    node = given.node()
    given.note("kill", node)
    given.cluster.kill(node)
    await given.for_a_while(0.0, 1.0)
    given.note("start", node)
    await given.cluster.start_one(node)


async def pause(given: Disturbance) -> None:
    """SIGSTOP, at times for longer than a lease, and SIGCONT."""
    node = given.node()
    given.note("pause", node)
    given.cluster.pause(node)
    await given.for_a_while(*AWAY)
    given.note("resume", node)
    given.cluster.resume(node)


async def clock(given: Disturbance) -> None:
    """The clock of one process jumps, by up to a day in either direction."""
    assert isinstance(given.cluster, OneProcess | Machines)
    node, seconds = given.node(), given.chance.choice((-1, 1)) * 10 ** given.chance.uniform(0.0, 4.9)
    given.note(f"clock {seconds:+.0f} s", node)
    given.cluster.jump(node, seconds)
    await given.for_a_while(1.5)
    if given.chance.random() < 0.5:
        given.note("clock right", node)
        given.cluster.jump(node, 0.0)


async def full(given: Disturbance) -> None:
    """The disk is full, at times when the process starts, too."""
    one = _one(given)
    assert one.disk is not None
    given.note("disk full")
    one.disk.fill()
    await _restarted_at_times(given, one)
    given.note("disk free")
    one.disk.free()
    await _started(one)


async def read_only(given: Disturbance) -> None:
    """Nothing can be written: by order, or because the kernel gave the disk up."""
    one = _one(given)
    assert one.disk is not None
    if given.chance.random() < 0.5:
        given.note("disk immutable")
        one.disk.make_immutable()
        await _restarted_at_times(given, one)
        given.note("disk mutable")
        one.disk.make_mutable()
        await _started(one)
        return
    given.note("disk broken")
    one.disk.break_down()
    await _restarted_at_times(given, one)
    one.served.kill()
    given.note("disk repaired")
    one.disk.repair()
    await one.start()


async def limit(given: Disturbance) -> None:
    """Files may not grow, or not be written at all (RLIMIT_FSIZE): writes end in their midst."""
    one = _one(given)
    sizes = [file.stat().st_size for file in one.data.iterdir() if file.is_file()]
    most = given.chance.choice([0, given.chance.randrange(1, max(sizes)), max(sizes) + 1_000])
    given.note(f"files of {most} bytes at most")
    resource.prlimit(one.served.pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
    await given.for_a_while()
    given.note("files of any size")
    resource.prlimit(one.served.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


async def torn(given: Disturbance) -> None:
    """kill -9, and a page or the log is torn in a copy; the world goes on with what was not damaged."""
    one = _one(given)
    given.note("kill")
    one.kill(0)
    whole, damaged = given.folder / "whole", given.folder / f"damaged{given.count}"
    shutil.copytree(one.data, whole)
    tear = given.chance.choice((cut_log, tear_logged_page, tear_page))
    if tear is tear_page:  # what is in the log, too, would be read from there
        empty_log(whole)
    shutil.copytree(whole, damaged)
    what = tear(damaged, given.chance)
    given.note(what or "nothing to tear")
    found = await _judge(given, one, whole, damaged, tear) if what else []
    given.faults += [Fault(fault.kind, fault.agent, f"{what}: {fault.what}") for fault in found]
    shutil.rmtree(whole)
    if not found:
        shutil.rmtree(damaged)
    given.note("start")
    await one.start()


async def second(given: Disturbance) -> None:
    """Another process is started with the same folder, while the first one serves, or stands still."""
    one = _one(given)
    paused = given.chance.random() < 0.5
    if paused:
        one.pause(0)
    given.note(f"a second process, the first {'stands still' if paused else 'serves'}")
    other = Served(one.data, free_port(), given.folder / "second.log", one.environment)
    try:
        await other.start()
    except Refused as error:
        given.note(f"refused: {error}")
        given.faults += without_words(str(error))
    else:
        given.faults.append(Fault("interleaved", "", "a second process serves the same folder"))
        other.kill()
    if paused:
        one.resume(0)


async def cut(given: Disturbance) -> None:
    """All connections to the database are cut."""
    given.note("connections cut")
    _shared(given).database.cut()
    await given.for_a_while(0.1, 1.0)


async def database(given: Disturbance) -> None:
    """The database crashes, is away for a while, and starts again."""
    of = _shared(given).database
    given.note("database crashes")
    await asyncio.to_thread(of.stop)
    await given.for_a_while(0.0, 4.0)
    given.note("database starts")
    await asyncio.to_thread(of.start)


async def partition(given: Disturbance) -> None:
    """Nothing passes between one machine and the database, at times for longer than a lease; then all."""
    node = given.node()
    assert isinstance(given.cluster, Machines)
    way = given.cluster.ways[node]
    given.note("partition", node)
    way.hold()
    await given.for_a_while(*AWAY)
    given.note("healed", node)
    way.pass_on()


PAGE = 500
LOG_FILE = "noodlings.log"
AWAY = (0.5, 9.0)
"""Seconds for which a process stands still or is cut off: longer than a client waits, or a lease lasts."""
CALM, CALM_OF_SEVERAL = (1.0, 3.0), (2.0, 6.0)
"""Seconds between two disturbances; several processes take a while to notice one."""
EVERYWHERE: dict[str, Nemesis] = {"kill": kill, "pause": pause, "clock": clock}
OF_ONE: dict[str, Nemesis] = {
    "second": second, "full": full, "read-only": read_only, "limit": limit, "torn": torn
}  # fmt: skip
OF_SEVERAL: dict[str, Nemesis] = {"cut": cut, "database": database, "partition": partition}
ON_DISK = frozenset({"full", "read-only"})


async def disturb(nemesis: Nemesis, given: Disturbance, seconds: float) -> None:
    """Disturb again and again for so many seconds; everything is right again when it returns."""
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    while True:
        await given.for_a_while(*(CALM if isinstance(given.cluster, OneProcess) else CALM_OF_SEVERAL))
        if loop.time() > until:
            return
        await nemesis(given)
        given.count += 1


async def _restarted_at_times(given: Disturbance, one: OneProcess) -> None:
    """While the disk is bad: nothing more, or a kill and a start, which may be refused in words."""
    await given.for_a_while()
    if given.chance.random() < 0.3:
        given.note("kill and start on the bad disk")
        one.kill(0)
        try:
            await one.start()
        except Refused as error:
            given.note(f"refused: {error}")
            given.faults += without_words(str(error))
        await given.for_a_while(0.5, 1.5)


async def _started(one: OneProcess) -> None:
    """Start it, where it is not running."""
    try:
        _ = one.served.pid
    except ProcessLookupError:
        await one.start()


async def _judge(
    given: Disturbance, one: OneProcess, whole: Path, damaged: Path, tear: Callable[..., str]
) -> list[Fault]:
    """What is silently wrong with a damaged copy."""
    told = await asyncio.to_thread(run, "check", "--data", damaged, environment=one.environment)
    said = told.stdout + told.stderr
    faults = without_words(said)
    given.note(f"check: {told.returncode} {said[:500]}")
    before = exported(whole, one.environment)
    if told.returncode and tear is not tear_page:
        faults.append(Fault("damaged", "", f"not repaired: {said[-300:]}"))
    elif not told.returncode:
        after = exported(damaged, one.environment)
        if tear is cut_log:
            faults += gaps(given.history.operations, read_export(after.splitlines()))
        else:
            faults += differences(before, after)
    (damaged / LOG_FILE).unlink()  # it tells of what was before
    served = Served(damaged, free_port(), given.folder / "damaged.log", one.environment)
    try:
        await served.start()
    except Refused as error:
        given.note(f"refused: {error}")
        return [*faults, *without_words(str(error))]
    try:
        seen = {agent: await _browsed(served.url, agent) for agent in AGENTS}
        words = await _checked(lambda: (damaged / LOG_FILE).read_text(encoding="utf-8"))
    finally:
        served.kill()
    if tear is not cut_log:
        faults += wrongly_served(read_export(before.splitlines()), seen, words)
    return faults


async def _checked(log: Callable[[], str]) -> str:
    """The log of a server, once it has checked the file or ten seconds have passed."""
    for _ in range(100):
        words = log()
        if SOUND in words or DAMAGED in words:
            break
        await asyncio.sleep(0.1)
    return words


async def _browsed(url: str, agent: str) -> dict[int, str] | None:
    """What is served of an agent: id → text. None where that is refused in words."""
    entries: dict[int, str] = {}
    asked: dict[str, str | int] = {"everything": "true", "order": "when", "falling": "false", "limit": PAGE}
    async with AsyncClient(base_url=url, timeout=30.0) as http:
        for offset in count(0, PAGE):
            where = f"/api/agents/{agent}/memory/browse"
            answer = await http.get(where, params=asked | {"offset": offset})
            if answer.status_code == 503:
                return None
            answer.raise_for_status()
            if not answer.json()["entries"]:
                break
            entries |= {entry["id"]: entry["text"] for entry in answer.json()["entries"]}
    return entries


def without_words(said: str) -> list[Fault]:
    """A fault where a program only shows where it failed."""
    return [Fault("error", "", f"no words, but {said[-300:]}")] if "Traceback" in said else []


def _one(given: Disturbance) -> OneProcess:
    assert isinstance(given.cluster, OneProcess)
    return given.cluster


def _shared(given: Disturbance) -> Supervised | Machines:
    assert isinstance(given.cluster, Supervised | Machines)
    return given.cluster
