"""Hosts that nobody here wrote: each keeps its list in its own way, also with a memory in it."""

from __future__ import annotations

import asyncio
import difflib
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

from noodlings.bridge.list_wrapper import MemoryListWrapper
from noodlings.memory.change_journal import ChangeJournal
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.store.memory import MemoryStore
from noodlings.store.sql import SqlStore
from tests.bridge.hosts import unmarked
from tests.memory.entries import texts

OUTSIDER = """
import dataclasses, json, os, queue, threading
from typing import Any, Optional


@dataclasses.dataclass
class Innkeeper:
    name: str
    dump: str
    log: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    limit: int = 50
    turn: int = 0

    def __post_init__(self) -> None:
        self.inbox: queue.Queue[Optional[tuple]] = queue.Queue()
        if os.path.exists(self.dump):
            with open(self.dump) as file:
                self.log = json.load(file)["log"]
        self.worker = threading.Thread(target=self._run, daemon=True)
        self.worker.start()

    def told(self, who: str, words: str, feels: Any = ()) -> None:
        self.inbox.put((who, words, feels))

    def _run(self) -> None:
        while (item := self.inbox.get()) is not None:
            who, words, feels = item
            self.turn += 1
            self.log.append({"user": who, "text": words, "affect": list(feels), "timestamp": self.turn})
            if words.endswith("?"):
                self.log += [{"user": self.name, "text": "Hm.", "mine": True, "timestamp": self.turn}]
            self.log = [row for row in self.log if row["text"]][-self.limit:]
            with open(self.dump, "w") as file:
                json.dump(dataclasses.asdict(self), file)

    def prompt(self) -> str:
        return "\\n".join(f"{row['user']}: {row['text']}" for row in self.log[-4:])

    def close(self) -> None:
        self.inbox.put(None)
        self.worker.join()
"""
CHANGED = {
    "import dataclasses, json, os, queue, threading": (
        "import dataclasses, json, os, queue, threading; from noodlings import MemoryListWrapper"
    ),
    "    log: list[dict[str, Any]] = dataclasses.field(default_factory=list)": (
        "    log: list[dict[str, Any]] = MemoryListWrapper.attribute()"
    ),
}
GRIEF = [-0.8, 0.5, 0.1, 0.8, 0.0]


def innkeeper(changed: bool) -> Callable[..., Any]:
    lines = [CHANGED.get(line, line) if changed else line for line in OUTSIDER.splitlines()]
    module: dict[str, Any] = {"__name__": "outsider"}
    exec(compile("\n".join(lines), "outsider", "exec", dont_inherit=True), module)
    made: Callable[..., Any] = module["Innkeeper"]
    return made


def an_evening(make: Callable[..., Any], dump: Path) -> Any:
    """Told of the dog, then of nothing for long; closed and opened again in between."""
    host = make("bo", str(dump))
    host.told("caity", "My dog died", GRIEF)
    for number in range(60):
        host.told("micha", f"Ale number {number}, please?")
    host.close()
    host = make("bo", str(dump))
    host.told("micha", "And one more")
    host.close()
    return host


def test_an_outsiders_host_of_forty_lines_changes_in_two() -> None:
    old = OUTSIDER.strip().splitlines()
    new = [CHANGED.get(line, line) for line in old]
    assert len([line for line in old if line.strip()]) <= 40
    assert len([line for line in difflib.ndiff(old, new) if line.startswith("+ ")]) == 2


@pytest.mark.slow
def test_the_outsiders_host_does_all_that_it_did(tmp_path: Path) -> None:
    before = an_evening(innkeeper(changed=False), tmp_path / "before.json")
    after = an_evening(innkeeper(changed=True), tmp_path / "after.json")
    assert after.prompt() == before.prompt()
    assert unmarked(after.log) == before.log
    written = [json.loads((tmp_path / name).read_text()) for name in ("before.json", "after.json")]
    written[1]["log"] = unmarked(written[1]["log"])
    assert written[1] == written[0] | {"dump": after.dump}
    assert unmarked(asdict(after)["log"]) == before.log
    assert unmarked(replace(after, turn=5).log) == before.log


@pytest.mark.slow
def test_the_outsiders_host_remembers_what_its_list_lost(tmp_path: Path) -> None:
    make = innkeeper(changed=True)
    host = make("bo", str(tmp_path / "dump.json"))
    host.told("caity", "My dog died", GRIEF)
    for number in range(200):
        host.told("micha", f"Ale number {number}, please?")
    host.close()
    assert "My dog died" not in host.prompt()
    assert "My dog died" in texts(host.log.hm.get_context_for_response("caity", GRIEF))
    host.log.save(tmp_path / "bo.db")

    again = make("bo", str(tmp_path / "dump.json"))
    assert again.log.hm.stats().perceived == 401
    assert again.log.load(tmp_path / "bo.db") == 51
    again.told("caity", "Ale for me too")
    again.close()
    assert "My dog died" in texts(again.log.hm.get_context_for_response("caity", GRIEF))
    assert again.log.hm.stats().perceived == 402


# -- hosts of the first kind, in every combination


class Bridge:
    conversation_context: Any = MemoryListWrapper.attribute()

    def perceive(self, user: str, text: str, affect: Any) -> str:
        self.conversation_context.append(
            {"user": user, "text": text, "affect": affect, "surprise": 0.2, "timestamp": self.at()}
        )
        if len(self.conversation_context) > 500:
            self.conversation_context = self.conversation_context[-500:]
        return " | ".join(row["text"] for row in self.conversation_context[-2:])

    def at(self) -> float:
        return 1_000.0 + len(self.conversation_context)


class Patient(Bridge):
    """The same in an event loop, where others come in between."""

    async def hear(self, user: str, text: str, affect: Any) -> str:
        await asyncio.sleep(0)
        return self.perceive(user, text, affect)


ARRAYS: dict[str, Callable[[list[float]], Any]] = {
    "lists": list,
    "numpy": np.array,
    "mlx": mx.array,
    "mlx rows": lambda numbers: mx.array([numbers]),
}


def stores(kind: str, folder: Path) -> Any:
    return {"no store": lambda: None, "memory": MemoryStore, "disk": lambda: SqlStore(folder)}[kind]()


@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize("store", ["no store", "memory", "disk"])
@pytest.mark.parametrize("way", ["sync", "async", "thread"])
def test_a_bridge_in_every_combination(array: str, store: str, way: str, tmp_path: Path) -> None:
    journal = ChangeJournal()

    class Host(Patient):
        conversation_context = MemoryListWrapper.attribute(lambda: HierarchicalMemory(journal=journal))

    host, kept = Host(), stores(store, tmp_path)
    grief, calm = (ARRAYS[array](numbers) for numbers in (GRIEF, [0.1, 0.5, 0.0, 0.0, 0.0]))
    lines = [("caity", "My dog died", grief), *[("micha", f"line {n}", calm) for n in range(40)]]
    if way == "sync":
        said = [host.perceive(*line) for line in lines]
    elif way == "async":
        said = asyncio.run(_each(host.hear, lines))
    else:
        said = asyncio.run(_each(lambda *line: asyncio.to_thread(host.perceive, *line), lines))
    assert said[-1] == "line 38 | line 39"
    assert len(host.conversation_context) == 41
    hm = host.conversation_context.hm
    assert len(hm.retrieve_working()) == 20
    assert texts(hm.retrieve_by_affect_similarity(grief)) == ["My dog died"]
    if kept is None:
        return
    with hm.lock:
        kept.commit(journal.changes("servnak"))
        journal.clear()
    record = kept.load("servnak")
    kept.close()
    assert record.perceived == 41
    again = MemoryListWrapper()
    again.hm.restore(record.working, record.episodic, record.perceived, record.consolidated, record.last_id)
    assert [row["text"] for row in again] == [row["text"] for row in host.conversation_context[-20:]]
    assert texts(again.hm.retrieve_episodic()) == texts(hm.retrieve_episodic()) == ["My dog died"]


async def _each(hear: Callable[..., Any], lines: list[Any]) -> list[str]:
    return [await hear(*line) for line in lines]


def test_many_tasks_share_one_list() -> None:
    host = Patient()

    async def talk(user: str) -> None:
        for number in range(10):
            await host.hear(user, f"{user} {number}", [])

    async def all_of_them() -> None:
        await asyncio.gather(*(talk(f"user_{number}") for number in range(8)))

    asyncio.run(all_of_them())
    assert host.conversation_context.hm.stats().perceived == 80
    assert len(host.conversation_context) == 80


def test_rows_make_a_list_as_they_do_elsewhere() -> None:
    rows = [{"text": "a"}, {"text": "b"}]
    context = MemoryListWrapper(iter(rows))
    assert context == rows
    assert context.hm.stats().perceived == 2
