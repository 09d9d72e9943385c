"""`noodlings reflect` in this process: against a real server, with a model that fails, and without one."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.store.lock import writer_lock
from noodlings.values.affect import Affect
from noodlings.values.percept import Percept
from tests.cli.test_data import played
from tests.llm.server import Answer, Server, chat, serving
from tests.program import Program, ran

LINE = "my insulin has to be sorted out before I come"
FACT = {"line": 1, "about": "speaker", "kind": "health", "quote": "my insulin", "replaces": 0}
NOTED = json.dumps({"facts": [FACT | {"fact": "The traveller is diabetic."}]})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which somebody told something, before there was a model."""
    played(tmp_path, f"say servnak, {LINE}", f"say servnak, {LINE[3:]}!")
    return tmp_path


@contextmanager
def model(answer: Any) -> Iterator[Server]:
    """A server on a thread of its own, as the program has its own loop."""
    ready, done = threading.Event(), threading.Event()
    found: list[Server] = []

    async def serve() -> None:
        async with serving(answer) as server:
            found.append(server)
            ready.set()
            await asyncio.to_thread(done.wait)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    ready.wait(10)
    try:
        yield found[0]
    finally:
        done.set()
        thread.join(10)


def at(server: Server | None) -> dict[str, str]:
    if server is None:
        return {}
    return {"NOODLINGS_LLM__BASE_URL": f"http://127.0.0.1:{server.port}/v1", "NOODLINGS_LLM__MODEL": "m"}


@pytest.mark.slow
def test_what_was_told_before_there_was_a_model_is_read_once(folder: Path) -> None:
    counted = ran("reflect", "--dry-run", "--json", "--data", folder, environment={})
    unread = json.loads(counted.stdout)["unread"]
    assert unread["SERVNAK"] >= 1
    # Without a model, nothing of it would be read.
    assert b"to read" not in ran("reflect", "--dry-run", "--data", folder, environment={}).stdout
    with model(chat(NOTED)) as server:
        first = ran("reflect", "servnak", "--data", folder, environment=at(server))
        assert first.returncode == 0, first.stderr
        assert f"{unread['SERVNAK']} lines read" in first.stdout.decode()
        asked = len(server.asked)
        again = ran("reflect", "servnak", "--data", folder, environment=at(server))
        # What the model understood are memories, too.
        assert (again.stdout.decode(), len(server.asked)) == ("There is nothing new to go over.\n", asked)
    shown = ran("export", "--data", folder, environment={})
    assert "The traveller is diabetic." in shown.stdout.decode()
    counted = ran("reflect", "servnak", "--dry-run", "--data", folder, environment={})
    assert counted.stdout.decode() == "There is nothing new to go over.\n"


@pytest.mark.slow
def test_a_model_that_fails_loses_nothing_and_the_command_says_so(folder: Path) -> None:
    with model(Answer(b"", 401)) as server:
        failed = ran("reflect", "--data", folder, environment=at(server))
    assert failed.returncode == 2
    assert b"run it again to continue" in failed.stderr
    assert b"Traceback" not in failed.stderr
    counted = ran("reflect", "--dry-run", "--json", "--data", folder, environment={})
    assert json.loads(counted.stdout)["unread"]["SERVNAK"] >= 1


@pytest.mark.slow
def test_without_a_model_it_links_what_contradicts(tmp_path: Path) -> None:
    played(tmp_path, "say servnak, I have a goat called Bill", "say servnak, I don't have a goat any more")
    would = ran("reflect", "--dry-run", "--json", "--data", tmp_path, environment={})
    night = json.loads(would.stdout)["nights"]["SERVNAK"]
    assert (night["contradictions"], night["causes"]) == (1, 0)
    told = ran("reflect", "servnak", "--data", tmp_path, environment={}).stdout.decode()
    done = "1 contradiction linked, 1 memory weighs otherwise now"
    assert told == f"SERVNAK: {night['done']} new memories, {done}\n"
    whole = ran("export", "--data", tmp_path, environment={}).stdout
    exported = [json.loads(line) for line in whole.splitlines()]
    (link,) = [line for line in exported if line.get("kind") == "contradicts"]
    later = next(
        line
        for line in exported
        if line.get("type") == "entry" and (line["agent"], line["id"]) == (link["agent"], link["source"])
    )
    assert later["user_text"][slice(*link["quoted"][:2])].endswith("I don't have a goat any more")
    copy = tmp_path / "copy"
    (tmp_path / "export.jsonl").write_bytes(whole)
    assert ran("import", tmp_path / "export.jsonl", "--data", copy, environment={}).returncode == 0
    assert ran("export", "--data", copy, environment={}).stdout == whole


def lived(folder: Path, days: int, *names: str) -> None:
    """Some days of talk, long ago, of which each has something worth telling."""
    asyncio.run(_lived(folder, days, names or ("servnak",)))


async def _lived(folder: Path, days: int, names: tuple[str, ...]) -> None:
    clock = ManualClock(1_000_000.0)
    with closing(
        build(Settings(store={"path": str(folder)}, embedding={"model": "none"}), clock=clock)
    ) as them:
        for number in range(days):
            clock.advance(86_400.0)
            felt = Affect(-0.7, 0.6, 0.1, 0.9, 0.1)
            said = Percept("user_ann", f"brother{number} died", clock.now(), addressed=True, affect=felt)
            for name in names:
                await them.perceive(name, said)
        await them.rest(2.0)


def wording(asked: dict[str, Any]) -> Answer:
    """A model that words every first line, and reads no facts."""
    if "<day>" not in asked["messages"][1]["content"]:
        return chat('{"facts": []}')
    (brother,) = set(re.findall(r"brother\d+", asked["messages"][1]["content"]))
    said = {"lines": [1], "sentence": f"I mourn {brother}, who died."}
    return chat(json.dumps({"sentences": [said]}))


@pytest.mark.slow
def test_days_before_there_was_a_model_get_a_journal_once_and_it_can_be_moved(tmp_path: Path) -> None:
    folder = tmp_path / "lived"
    lived(folder, 3)
    assert b"journal" not in ran("reflect", "--dry-run", "--data", folder, environment={}).stdout
    with model(wording) as server:
        would = ran("reflect", "--dry-run", "--data", folder, environment=at(server))
        assert b"3 days of the journal for a model to word" in would.stdout
        done = ran("reflect", "servnak", "--data", folder, environment=at(server))
        assert (done.returncode, b"3 days of the journal worded" in done.stdout) == (0, True)
        asked = len(server.asked)
        again = ran("reflect", "servnak", "--data", folder, environment=at(server))
        assert (again.stdout.decode(), len(server.asked)) == ("There is nothing new to go over.\n", asked)
    whole = ran("export", "--data", folder, environment={}).stdout
    assert whole.count(b'"kind": "journal"') == 3
    (tmp_path / "export.jsonl").write_bytes(whole)
    copy = tmp_path / "copy"
    assert ran("import", tmp_path / "export.jsonl", "--data", copy, environment={}).returncode == 0
    assert ran("export", "--data", copy, environment={}).stdout == whole
    typed = ran("play", "--data", copy, environment={}, input=b"@journal servnak\n")
    assert "I MOURN BROTHER2, WHO DIED. [3]" in " ".join(typed.stdout.decode().split())


@pytest.mark.slow
def test_a_model_that_fails_at_a_journal_says_how_far_it_is_and_holds_up_nobody_else(tmp_path: Path) -> None:
    lived(tmp_path, 3, "phi", "servnak")
    calls = 0

    def answer(asked: dict[str, Any]) -> Answer:
        nonlocal calls
        calls += "<day>" in asked["messages"][1]["content"]
        return Answer(b"", 401) if calls in (2, 3) else wording(asked)

    with model(answer) as server:
        failed = ran("reflect", "--data", tmp_path, environment=at(server))
    assert failed.returncode == 2
    assert b"the journal of Phi is written for 1 day; run it again to continue" in failed.stderr
    whole = ran("export", "--data", tmp_path, environment={}).stdout
    assert whole.count(b'"kind": "journal"') == 1 + 3


@pytest.mark.slow
def test_killed_at_any_day_of_the_journal_and_run_again_it_ends_as_if_it_had_run_once(
    tmp_path: Path,
) -> None:
    past, calls, last, born = tmp_path / "past", 0, 0, SimpleQueue[int]()
    lived(past, 3)

    def answer(asked: dict[str, Any]) -> Answer:
        nonlocal calls
        calls += 1
        if calls == last:
            os.kill(born.get(), signal.SIGKILL)
        return wording(asked)

    def reflected(name: str, kill_at: int) -> tuple[int, bytes]:
        nonlocal calls, last, born
        folder = tmp_path / name
        shutil.copytree(past, folder)
        calls, last, born = 0, kill_at, SimpleQueue()
        environment = {"PATH": os.environ["PATH"], "NOODLINGS_EMBEDDING__MODEL": "none", **at(server)}
        for _ in range(2 if kill_at else 1):
            with Program(["reflect", "servnak", "--data", str(folder)], environment, apart=True) as process:
                born.put(process.pid)
                ended = process.ended()
        assert ended.returncode == 0, ended.stderr
        whole = ran("export", "--data", folder, environment={}).stdout
        # Up to where lines were read for facts, which sentences of the journal are passed over in.
        return calls, re.sub(rb'"read": [^a-z]+', b"", whole)

    with model(answer) as server:
        whole, once = reflected("once", 0)
        assert once.count(b'"kind": "journal"') == 3
        for moment in range(1, whole + 1):
            _, again = reflected(f"killed-{moment}", moment)
            assert again == once


@pytest.mark.slow
def test_beside_a_running_server_it_changes_nothing(folder: Path) -> None:
    with model(chat(NOTED)) as server, writer_lock(folder):
        refused = ran("reflect", "--data", folder, environment=at(server))
        assert (refused.returncode, server.asked) == (3, [])


@pytest.mark.slow
def test_killed_at_any_call_and_run_again_it_ends_as_if_it_had_run_once(tmp_path: Path) -> None:
    past = tmp_path / "past"
    tellings = [
        f"say servnak, my brother number {number} died in the war, and I cried" for number in range(30)
    ]
    played(past, *tellings)
    calls, last, born = 0, [0], SimpleQueue[int]()

    def answer(asked: dict[str, Any]) -> Answer:
        nonlocal calls
        calls += 1
        if calls == last[0]:
            os.kill(born.get(), signal.SIGKILL)
        quotes = re.findall(
            r"brother number \d+ died", asked["messages"][1]["content"].partition("<heard>")[2]
        )
        facts = [
            {
                "line": number,
                "about": "speaker",
                "kind": "event",
                "quote": quote,
                "fact": f"A {quote}.",
                "replaces": 0,
            }
            for number, quote in enumerate(quotes, 1)
        ]
        return chat(json.dumps({"facts": facts}))

    def reflected(name: str, kill_at: int) -> tuple[int, bytes]:
        nonlocal calls, born
        folder = tmp_path / name
        shutil.copytree(past, folder)
        calls, last[0], born = 0, kill_at, SimpleQueue()
        environment = {"PATH": os.environ["PATH"], "NOODLINGS_EMBEDDING__MODEL": "none", **at(server)}
        for _ in range(1 if not kill_at else 2):
            with Program(["reflect", "servnak", "--data", str(folder)], environment, apart=True) as process:
                born.put(process.pid)
                ended = process.ended()
        assert ended.returncode == 0, ended.stderr
        return calls, ran("export", "--data", folder, environment={}).stdout

    with model(answer) as server:
        whole, once = reflected("once", 0)
        assert whole > 3
        assert once.count(b'"kind": "fact"') > 20
        for moment in range(1, whole + 1):
            _, again = reflected(f"killed-{moment}", moment)
            assert again == once
