"""The checker of histories finds each fault that is planted, and nothing in what really happened."""

from __future__ import annotations

import asyncio
import io
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from benchmarks.histories.checker import Kept, check, read_export
from benchmarks.histories.history import NEMESIS, History, Operation, read_history
from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.portable.export import export
from noodlings.store.transfer import snapshot
from noodlings.values.percept import Percept
from noodlings.values.trace import Trace

AGENTS = ("phi", "maren")
LINES = ("The boat came in.", "I like the rain.", "Do you remember the boat?")


def opened(folder: Path, now: float = 1.7e9) -> Society:
    settings = Settings(
        store={"path": str(folder)},
        embedding={"model": "none"},
        notes={"enabled": False},
        thought={"ruminate": False},
    )
    return build(settings, clock=ManualClock(now))


async def say(society: Society, history: History, name: str, agent: str, user: str) -> Trace:
    """One percept, acknowledged."""
    facts = {"percept": name, "agent": agent, "user": user, "keyed": True}
    facts["text"] = text = f"{LINES[len(history.operations) // 2 % len(LINES)]} This is {name}."
    history.note(user, "invoke", **facts)
    trace = await perceive(society, agent, user, text)
    history.note(user, "ok", **facts, status=200, entry=trace.entry_id, response=trace.response)
    return trace


async def perceive(society: Society, agent: str, user: str, text: str) -> Trace:
    society.clock.advance(2.0)  # type: ignore[attr-defined]
    return await society.perceive(agent, Percept(user, text, society.clock.now(), addressed=True))


def kept_in(folder: Path) -> dict[str, Kept]:
    """What an export of a folder says."""
    lines = io.StringIO()
    with snapshot(folder) as kept:
        export(kept, kept.agents(), lines.write)
    return read_export(lines.getvalue().splitlines())


@dataclass(frozen=True, slots=True)
class World:
    """A folder, and its history."""

    folder: Path
    operations: tuple[Operation, ...]

    def faults(self) -> set[str]:
        return {fault.kind for fault in check(self.operations, kept_in(self.folder))}

    def planted(self, *statements: str) -> set[str]:
        """What is found when somebody has done this to the database."""
        with closing(sqlite3.connect(self.folder / "noodlings.db")) as database:
            database.execute("PRAGMA foreign_keys = ON")
            for statement in statements:
                assert database.execute(statement).rowcount > 0
            database.commit()
        return self.faults()

    def told(self, change: Callable[[Operation], Sequence[Operation]]) -> set[str]:
        """What is found when this had been the history."""
        operations = tuple(other for one in self.operations for other in change(one))
        return replace(self, operations=operations).faults()


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Two characters to whom two people spoke; the process was killed once."""
    folder = tmp_path_factory.mktemp("lived")
    history = History(folder / "history.jsonl")

    async def live(life: int) -> None:
        with closing(opened(folder, 1.7e9 + 100.0 * life)) as society:
            for number in range(6):
                user = f"c{number % 2}"
                for agent in AGENTS:
                    await say(society, history, f"{user}-{life}{number}-{agent}", agent, user)

    for life in range(2):
        asyncio.run(live(life))
        history.note(NEMESIS, "info", what="kill")
    history.close()
    told = read_history((folder / "history.jsonl").read_text("utf-8").splitlines())
    assert told == history.operations
    return World(folder, tuple(told))


@pytest.fixture
def world(lived: World, tmp_path: Path) -> World:
    """The same, to be spoilt."""
    shutil.copytree(lived.folder, tmp_path / "copy")
    return replace(lived, folder=tmp_path / "copy")


@pytest.mark.slow
def test_nothing_is_found_in_what_really_happened(world: World) -> None:
    assert world.faults() == set()


@pytest.mark.slow
def test_a_percept_whose_answer_never_came_may_be_there_or_not(world: World) -> None:
    """The connection was cut: a client does not know."""

    def cut(one: Operation) -> list[Operation]:
        unknown = one.type == "ok" and one.percept.startswith("c1")
        return [replace(one, type="info", status=0, entry=0, response=None) if unknown else one]

    assert world.told(cut) == set()
    last = world.operations[-3]
    never = replace(last, percept="c9-1", text="This is c9-1.")
    assert world.told(lambda one: [one, never] if one is last else [one]) == set()


def test_a_second_send_of_a_key_is_answered_as_the_first(world: World) -> None:
    def again(one: Operation) -> list[Operation]:
        return [one, replace(one, send=2)] if one.type in ("invoke", "ok") else [one]

    assert world.told(again) == set()


def test_an_acknowledged_percept_that_is_gone_is_lost(world: World) -> None:
    assert "lost" in world.planted("DELETE FROM entries WHERE agent_id = 'phi' AND id = 12")


@pytest.mark.slow
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET response = NULL WHERE agent_id = 'phi' AND id = 12",
        "DELETE FROM traces WHERE agent_id = 'phi' AND entry_id = 12",
    ],
)
def test_so_is_the_turn_that_was_answered(world: World, statement: str) -> None:
    assert "lost" in world.planted(statement)


@pytest.mark.slow
async def test_a_percept_that_was_perceived_again_is_there_twice(world: World) -> None:
    last = world.operations[-2]
    with closing(opened(world.folder, 1.7e9 + 200.0)) as society:
        await perceive(society, last.agent, last.user, last.text)
    assert world.faults() == {"twice"}


def test_two_answers_for_one_key_are_twice(world: World) -> None:
    first = world.operations[1]

    def also(one: Operation) -> list[Operation]:
        other = replace(one, send=2)
        return (
            [one, replace(other, type="invoke"), replace(other, entry=one.entry + 1)]
            if one is first
            else [one]
        )

    assert "twice" in world.told(also)


def test_what_was_sent_later_and_is_there_earlier_is_out_of_order(world: World) -> None:
    """The order of the two latest was turned round on the way."""
    of_phi = [one for one in world.operations if one.agent == "phi"]
    turned = dict(zip(of_phi[-4:], [*of_phi[-2:], *of_phi[-4:-2]], strict=True))
    assert world.told(lambda one: [turned.get(one, one)]) == {"order"}


@pytest.mark.slow
async def test_writes_of_two_owners_are_interleaved(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is kept from writing what he read before somebody else wrote."""
    monkeypatch.setattr("noodlings.store.database.writer_lock", nullcontext)
    with (
        closing(History(world.folder / "more.jsonl")) as history,
        closing(opened(world.folder, 1.7e9 + 200.0)) as one,
        closing(opened(world.folder, 1.7e9 + 200.0)) as other,
    ):
        await say(one, history, "c3-1", "phi", "c3")
        await say(other, history, "c3-2", "maren", "c3")  # each its own: that is nothing
        await say(one, history, "c3-3", "phi", "c3")
        apart = replace(world, operations=(*world.operations, *history.operations))
        assert apart.faults() == set()
        await say(one, history, "c3-4", "maren", "c3")
        other.agents["maren"].memory.last_id += 1  # as if it took its ids from the database
        await say(other, history, "c3-5", "maren", "c3")
        both = replace(world, operations=(*world.operations, *history.operations))
        assert "interleaved" in both.faults()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET step = step - 1 WHERE agent_id = 'phi' AND id = 12",
        "UPDATE entries SET surprise = 0.5 WHERE agent_id = 'phi' AND id = 12",
        "DELETE FROM links WHERE agent_id = 'phi' AND source_id = 12 AND type = 'followed'",
        "UPDATE agents SET state = json_set(state, '$.data.step', 11) WHERE agent_id = 'phi'",
        "UPDATE agents SET state = json_remove(state, '$.data.said[#-1]') WHERE agent_id = 'phi'",
    ],
)
def test_each_trace_of_a_stale_writer_is_seen(world: World, statement: str) -> None:
    """A number counted from an old one, a link or a state of somebody who had not read the last turn."""
    assert world.planted(statement) == {"interleaved"}


def test_an_id_that_was_answered_twice_is_reused(world: World) -> None:
    first = world.operations[1]
    other = replace(first, percept="c9-1", text="This is c9-1.")
    faults = world.told(lambda one: [one, replace(other, type="invoke"), other] if one is first else [one])
    assert "reused id" in faults


async def test_what_was_never_sent_or_refused_is_a_phantom(world: World) -> None:
    last = world.operations[-2]
    assert last.type == "ok"
    assert world.told(lambda one: [replace(one, type="fail", entry=0) if one is last else one]) == {"phantom"}
    with closing(opened(world.folder, 1.7e9 + 200.0)) as society:
        await perceive(society, "phi", "c9", "Nobody said this.")
    assert world.faults() == {"phantom"}


@pytest.mark.parametrize("status", [400, 409, 500])
def test_an_answer_without_a_reason_is_an_error(world: World, status: int) -> None:
    last = world.operations[-2]
    failed = [replace(last, type="info", status=status, what="Traceback")]
    assert world.told(lambda one: [one, *failed] if one is last else [one]) == {"error"}
