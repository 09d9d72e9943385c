"""Several workers share a database: percepts reach the owner of their agent, and a dead worker is replaced.

Each worker here has a port and a folder of its own, as it has on a machine of its own.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from websockets.sync.client import connect

from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.config import EmbeddingSettings, Settings, StoreSettings
from noodlings.connections import Connections
from noodlings.errors import UserError
from noodlings.host.server import Serving, _rooms_open
from noodlings.host.visit import opened, rooms_of
from noodlings.host.workers import Worker, worker_of
from noodlings.ports import ROOMS
from noodlings.store.outbox import ForwardedRequest
from noodlings.store.sharing import Sharing
from noodlings.store.sql import SqlStore
from noodlings.values.percept import Percept
from noodlings.worlds.rooms import Scrollback
from tests.api.serving import ROOT, Server, environment, served
from tests.postgres import NewDatabase, PostgresServer
from tests.program import ran

pytest.importorskip("psycopg")
pytestmark = pytest.mark.slow

TAKEN_OVER = 10.0
"""Seconds within which another worker serves the agents of a dead one."""
PAUSE = 0.05
"""Seconds before one looks again: without them, who is waited for would have one processor less."""


@pytest.fixture
def url(new_database: NewDatabase) -> str:
    return new_database()


@pytest.fixture
def started(url: str, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts another worker."""
    with ExitStack() as stack:
        folders = iter(range(10))

        def start(**changes: str) -> Server:
            folder = tmp_path / str(next(folders))
            often = {"NOODLINGS_API__REQUESTS_PER_SECOND": "100000"}  # tests ask until something has changed
            sharing = served(folder, "--workers", "1", NOODLINGS_STORE__URL=url, **(often | changes))
            return stack.enter_context(sharing)

        yield start


def tell(server: Server, text: str, agent: str = "phi", key: str = "", user: str = "user_caity") -> Any:
    """Say something to an agent; the answer."""
    headers = {"Idempotency-Key": key} if key else {}
    body = {"text": text, "user_id": user, "name": user.removeprefix("user_").capitalize()}
    return server.client.post(f"/api/agents/{agent}/perceive", json=body, headers=headers)


def entries(server: Server, agent: str = "phi") -> list[dict[str, Any]]:
    """All that an agent was told, the oldest first."""
    asked = "order=when&falling=false&everything=true&limit=100"
    found = server.client.get(f"/api/agents/{agent}/memory/browse?{asked}").json()
    return [entry for entry in found["entries"] if entry["kind"] == "say"]


def heard(server: Server, agent: str = "phi") -> list[str]:
    """The words of it."""
    return [entry["text"] for entry in entries(server, agent)]


def test_whoever_hears_it_the_same_character_remembers(started: Callable[..., Server]):
    a, b = started(), started()
    said = [f"line {number}" for number in range(8)]
    for number, line in enumerate(said):
        assert tell((a, b)[number % 2], line).status_code == 200
    assert heard(a) == heard(b) == said


def test_a_turn_that_is_sent_to_two_workers_happens_once(started: Callable[..., Server]):
    a, b = started(), started()
    first = tell(a, "My dog died yesterday.", key="one")
    again = tell(b, "My dog died yesterday.", key="one")
    assert (first.status_code, again.status_code) == (200, 200)
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert again.json()["turn"]["response"] == first.json()["turn"]["response"]
    assert heard(a) == ["My dog died yesterday."]


def test_what_a_killed_worker_had_is_served_by_another(started: Callable[..., Server]):
    a, b = started(), started()
    for number in range(3):
        assert tell(a, f"line {number}").status_code == 200
    a.stop(signal.SIGKILL)
    answer = tell(b, "line 3")
    assert answer.status_code == 200
    assert answer.elapsed.total_seconds() < TAKEN_OVER
    assert heard(b) == [f"line {number}" for number in range(4)]
    assert b.client.post("/api/commands", json={"line": "look", "user_id": "user_caity"}).status_code == 200


def test_a_worker_that_stood_still_writes_nothing_of_its_own(started: Callable[..., Server]):
    a, b = started(), started()
    assert tell(a, "line 0").status_code == 200
    a.process.send_signal(signal.SIGSTOP)
    try:
        assert tell(b, "line 1").status_code == 200
    finally:
        a.process.send_signal(signal.SIGCONT)
    assert tell(b, "line 2").status_code == 200
    late = tell(a, "line 3", key="late")
    if late.status_code == 503:  # it learns of it only now
        assert late.headers["retry-after"] == "1"
        late = tell(a, "line 3", key="late")
    assert late.status_code == 200
    assert heard(a) == heard(b) == [f"line {number}" for number in range(4)]


def test_after_a_pause_characters_are_handed_over_and_the_rooms_come_back(started: Callable[..., Server]):
    a, b = started(), started()

    def typed(server: Server, user: str, line: str) -> Any:
        return server.client.post("/api/commands", json={"line": line, "user_id": user})

    assert typed(a, "user_caity", "look").status_code == 200
    assert tell(a, "line 0", "maren").status_code == 200
    a.process.send_signal(signal.SIGSTOP)
    try:
        assert typed(b, "user_bob", "look").status_code == 200  # the rooms are there by now
    finally:
        a.process.send_signal(signal.SIGCONT)
    until = time.monotonic() + TAKEN_OVER
    while tell(a, "line 1", "servnak").status_code != 200 and time.monotonic() < until:
        time.sleep(PAUSE)  # it learns of it only now
    asked = {"model": "maren", "stream": True, "messages": [{"role": "user", "content": "line 2"}]}
    b.client.post("/v1/chat/completions", json=asked)
    assert heard(b, "maren") == ["line 0", "line 2"]
    b.stop(signal.SIGTERM)
    assert typed(a, "user_eve", "look").status_code == 200


def test_a_stream_shows_what_happens_at_another_worker(started: Callable[..., Server]):
    a, b = started(), started()
    assert tell(a, "line 0").status_code == 200
    with connect(b.url.replace("http", "ws") + "/api/live", close_timeout=0.1) as stream:
        assert tell(a, "line 1").status_code == 200
        while True:  # the first line may be told only now
            message = stream.recv(timeout=20)
            if json.loads(message)["type"] == "turn" and "line 1" in str(message):
                break


def test_a_stream_shows_nothing_that_was_forgotten_at_another_worker(started: Callable[..., Server]):
    a, b = started(), started()
    assert tell(a, "I like quince tea.").status_code == 200
    assert tell(a, "The zzheliotrope is under the stone.").status_code == 200
    live = b.url.replace("http", "ws") + "/api/live"
    with connect(live, close_timeout=0.1) as stream:
        assert tell(a, "Is it raining?").status_code == 200
        seen = [json.loads(stream.recv(timeout=20))]
        while seen[-1]["type"] != "turn":
            seen.append(json.loads(stream.recv(timeout=20)))
        (id_,) = [one["id"] for one in entries(a) if "zzheliotrope" in one["text"]]
        assert a.client.delete(f"/api/agents/phi/memory/entries/{id_}").status_code == 200
        assert "zzheliotrope" not in b.client.get("/api/agents/phi/why").text
        assert heard(b) == ["I like quince tea.", "Is it raining?"]


def test_a_character_that_forgot_at_another_worker_lives_on_when_it_changes_hands(
    started: Callable[..., Server],
):
    a, b = started(), started()
    assert tell(b, "I like the sea.").status_code == 200
    assert heard(a) == ["I like the sea."]  # it has a copy
    assert b.client.delete("/api/agents/phi/memory/entries?user_id=user_caity").status_code == 200
    until = time.monotonic() + TAKEN_OVER
    while heard(a) and time.monotonic() < until:
        time.sleep(PAUSE)  # it is told of it in a moment
    b.stop(signal.SIGTERM)
    assert tell(a, "Hello Phi!").status_code == 200
    assert heard(a) == ["Hello Phi!"]


def holding(word: str, folder: Path) -> set[str]:
    """The folders of the machines in which a word is."""
    found = set[str]()
    for above, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):  # it is removed just now
                if word in Path(above, name).read_text("utf-8"):
                    found.add(Path(above).relative_to(folder).parts[0])
    return found


def held(word: str, folder: Path, folders: set[str]) -> bool:
    """Whether it is in these alone, by now or in a moment."""
    until = time.monotonic() + TAKEN_OVER
    while holding(word, folder) != folders and time.monotonic() < until:
        time.sleep(PAUSE)
    return holding(word, folder) == folders


def test_what_is_forgotten_at_one_machine_is_in_no_note_of_another(
    started: Callable[..., Server], url: str, tmp_path: Path
):
    quiet = {"NOODLINGS_LOG__LEVEL": "warning"}
    a, b = started(**quiet), started(**quiet)
    for agent in ("phi", "maren"):
        assert tell(a, f"My dog zz{agent} died yesterday, I am so sad.", agent).status_code == 200
        assert held(f"zz{agent}", tmp_path, {"0"})

    def forgotten_at_b(agent: str) -> None:
        asked = {"model": agent, "stream": True, "messages": [{"role": "user", "content": "Hello!"}]}
        b.client.post("/v1/chat/completions", json=asked)  # it is handed over
        gone = b.client.delete(f"/api/agents/{agent}/memory/entries?user_id=user_caity")
        assert gone.status_code == 200, gone.text

    forgotten_at_b("phi")
    assert held("zzphi", tmp_path, set())
    a.stop(signal.SIGKILL)
    forgotten_at_b("maren")
    assert holding("zzmaren", tmp_path) == {"0"}
    with served(tmp_path / "0", "--workers", "1", NOODLINGS_STORE__URL=url, **quiet):
        assert held("zzmaren", tmp_path, set())


def test_who_is_deleted_at_one_machine_is_in_no_log_of_another(
    started: Callable[..., Server], tmp_path: Path
):
    started()
    b = started()
    assert tell(b, "My dog zzrex died yesterday, I am so sad.").status_code == 200
    assert tell(b, "I like the sea.", user="user_bob").status_code == 200
    assert held("zzrex", tmp_path, {"1"})
    log = tmp_path / "1" / "noodlings.log"
    assert "user_caity" in log.read_text("utf-8")
    done = b.client.delete(  # the worker with the rooms does it
        "/api/persons/user_caity?yes=true"
    )
    assert done.status_code == 200, done.text
    for word in ("user_caity", "zzrex"):
        assert held(word, tmp_path, set())
    assert "user_bob" in log.read_text("utf-8")


def test_keys_of_who_was_deleted_are_forgotten_by_all(started: Callable[..., Server]):
    _, b = started(), started()
    asked = {"model": "phi", "stream": True, "messages": [{"role": "user", "content": "I like the sea."}]}
    sent = {"json": asked | {"user": "user_caity"}, "headers": {"Idempotency-Key": "one"}}
    assert b.client.post("/v1/chat/completions", **sent).status_code == 200  # a stream is answered here
    done = b.client.delete("/api/persons/user_caity?yes=true")  # and this by the worker with the rooms
    assert done.status_code == 200, done.text
    assert heard(b) == []
    assert b.client.post("/v1/chat/completions", **sent).status_code == 200
    assert heard(b) == ["I like the sea."]


def test_what_is_refused_elsewhere_for_want_of_a_key_is_nowhere_on_the_disk(
    started: Callable[..., Server], postgres_server: PostgresServer, tmp_path: Path
):
    a, b = started(), started()
    assert tell(a, "The zzchicory is under the stone.").status_code == 200
    secret = {"text": "The zzmandragora is under the stone.", "user_id": "user_caity", "tier": 3}
    refused = b.client.post("/api/agents/phi/perceive", json=secret)
    assert refused.status_code == 400
    assert "Nothing of this was kept" in refused.json()["detail"]
    postgres_server.admin("CHECKPOINT")
    files = [path for folder in (postgres_server.folder, tmp_path) for path in folder.rglob("*")]
    kept = [path.read_bytes() for path in files if path.is_file()]
    assert any(b"zzchicory" in content for content in kept)
    assert not any(b"zzmandragora" in content for content in kept)


def wait_until_known(server: Server, agent: str) -> None:
    """A worker is told of an agent that another made in a moment."""
    until = time.monotonic() + TAKEN_OVER
    while server.client.get(f"/api/agents/{agent}").status_code == 404 and time.monotonic() < until:
        time.sleep(PAUSE)


def test_all_workers_share_rates_names_and_characters(started: Callable[..., Server]):
    a, b = started(), started()
    recipe = {"name": "Lotta", "species": "robot"}
    made = a.client.post("/api/recipes/lotta", json=recipe)
    assert made.status_code == 201, made.text
    wait_until_known(b, "lotta")
    assert tell(b, "hello Lotta", agent="lotta", user="user_zarnok").status_code == 200
    assert heard(a, "lotta") == ["hello Lotta"]


def test_a_worker_that_begins_knows_whom_another_made_and_nobody_spoke_to(
    started: Callable[..., Server],
) -> None:
    a = started()
    assert a.client.post("/api/recipes/lotta", json={"name": "Lotta", "species": "robot"}).status_code == 201
    b = started()
    wait_until_known(b, "lotta")
    assert tell(b, "hello Lotta", agent="lotta").status_code == 200


def test_requests_to_all_workers_count_together(started: Callable[..., Server]):
    limits = {"NOODLINGS_API__REQUESTS_PER_SECOND": "0.5"}
    a, b = started(**limits), started(**limits)
    taken = [server.client.get("/api/agents").status_code for server in (a, b)]  # also while it starts
    assert sorted(taken) == [200, 429]


def test_people_are_in_the_same_rooms_at_whichever_worker_they_type(started: Callable[..., Server]):
    a, b = started(), started()

    def typed(server: Server, user: str, line: str) -> str:
        answer = server.client.post("/api/commands", json={"line": line, "user_id": user})
        assert answer.status_code == 200, answer.text
        return answer.json()["text"]

    typed(a, "user_caity", "look")
    assert "caity" in typed(b, "user_bob", "look")
    typed(b, "user_bob", "say servnak, hello")
    assert tell(b, "line 0", agent="servnak").status_code == 200
    assert "hello" in " ".join(heard(a, "servnak"))


def test_a_command_changes_a_character_of_another_worker(started: Callable[..., Server]):
    a, b = started(), started()
    assert a.client.post("/api/commands", json={"line": "look", "user_id": "user_caity"}).status_code == 200
    assert tell(b, "my dog died", agent="maren").status_code == 200
    typed = b.client.post(
        "/api/commands", json={"line": "@forget maren --id 1 --yes", "user_id": "user_caity"}
    ).json()
    assert not typed["error"], typed
    assert heard(a, "maren") == heard(b, "maren") == []


async def test_a_worker_that_is_woken_just_as_it_stops_ends(url: str, tmp_path: Path):
    settings = Settings(store={"path": str(tmp_path), "url": url}, embedding={"model": "none"})

    async def answer(request: ForwardedRequest) -> None:
        raise AssertionError(request)

    async def pass_on(times: int) -> None:
        for _ in range(times):
            await asyncio.sleep(0)

    with opened(settings, worker=1) as society:
        worker = worker_of(society)
        assert worker is not None
        await worker.wait_for_rooms()
        for between in range(5):
            async with asyncio.timeout(30), worker.running(answer):
                keeping = asyncio.create_task(worker.keep_rooms())
                await pass_on(5)
                worker._hear(["left"])
                await pass_on(between)
                keeping.cancel()
            await asyncio.wait((keeping,), timeout=30)
            assert keeping.cancelled()


@contextmanager
def worker(url: str, folder: Path) -> Iterator[tuple[Society, Worker, Sharing]]:
    """A worker in this process."""
    settings = Settings(
        store=StoreSettings(url=SecretStr(url), path=str(folder)), embedding=EmbeddingSettings(model="none")
    )
    with closing(build(settings, shared=True)) as society:
        assert isinstance(society.store, SqlStore)
        sharing, ours = society.store.sharing, worker_of(society)
        assert sharing is not None
        assert ours is not None
        society.ownership = ours
        yield society, ours, sharing


async def test_what_a_later_owner_cannot_read_is_asked_again(url: str, tmp_path: Path):
    read: list[str] = []

    async def answer(request: ForwardedRequest) -> str:
        read.append(request.request)
        return "well"

    with worker(url, tmp_path / "a") as (_, _, owner), worker(url, tmp_path / "b") as (_, asker, _):
        owner.leases.claim("phi")
        async with asker.running(answer):
            asking = asyncio.create_task(asker.ask("phi", "how are you?", repeatable=False))
            await asyncio.sleep(0)
            with worker(url, tmp_path / "c") as (_, late, sharing):
                async with late.running(answer):
                    owner.leases.give("phi", sharing.leases.worker)
                    assert await asking == "well"
    assert read == ["how are you?"]


def refusals(society: Society, monkeypatch: pytest.MonkeyPatch) -> asyncio.Queue[list[str]]:
    """Whom a worker is told to refuse, each time that it is told."""
    told, refuse = asyncio.Queue[list[str]](), society.refused_elsewhere

    def hear(user_ids: Collection[str]) -> None:
        refuse(user_ids)
        told.put_nowait(list(user_ids))

    monkeypatch.setattr(society, "refused_elsewhere", hear)
    return told


async def no_answer(request: ForwardedRequest) -> str:
    raise AssertionError(request)


async def test_who_is_being_deleted_is_refused_by_all_also_what_waited_for_it(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with worker(url, tmp_path / "a") as (a, deleting, _), worker(url, tmp_path / "b") as (b, other, _):
        told = refusals(b, monkeypatch)
        percept = Percept("user_caity", "hello", b.clock.now())
        async with asyncio.timeout(60), deleting.running(no_answer), other.running(no_answer):
            assert await told.get() == []  # it begins to hear
            await a.take("phi")
            release = a.hold("phi")
            waiting = asyncio.create_task(b.perceive("phi", percept))
            await asyncio.sleep(0)
            with a.refusing(["user_caity"]):
                assert await told.get() == ["user_caity"]
                with pytest.raises(UserError, match="is being forgotten"):
                    await b.perceive("phi", percept)
                b.introduce("user_caity", "Caity")
            assert await told.get() == []
            release()
            with pytest.raises(UserError, match="is being forgotten"):
                await waiting
            assert "user_caity" not in b.names()
            await b.perceive("phi", percept)


async def test_whom_a_worker_refused_that_died_is_heard_when_another_has_the_rooms(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with worker(url, tmp_path / "b") as (b, heir, _):
        told = refusals(b, monkeypatch)
        async with asyncio.timeout(60), heir.running(no_answer):
            assert await told.get() == []
            with worker(url, tmp_path / "a") as (a, deleting, _), ExitStack() as deletion:
                async with deleting.running(no_answer):
                    await deleting.wait_for_rooms()
                    deletion.enter_context(a.refusing(["user_caity"]))
                    while await told.get() != ["user_caity"]:
                        pass
            await heir.wait_for_rooms()
            assert await told.get() == []


async def test_a_worker_that_begins_to_hear_is_told_whom_to_refuse(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with worker(url, tmp_path / "a") as (a, deleting, _), worker(url, tmp_path / "b") as (b, late, _):
        told, here = refusals(b, monkeypatch), refusals(a, monkeypatch)
        async with asyncio.timeout(60), deleting.running(no_answer):
            assert await here.get() == []
            with a.refusing(["user_caity"]):
                assert await here.get() == []  # it has told it
                async with late.running(no_answer):
                    while await told.get() != ["user_caity"]:
                        pass


async def test_what_was_said_in_rooms_that_were_lost_is_not_shown_again(url: str, tmp_path: Path):
    has_ports, cleared = asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def ports() -> AsyncIterator[list[str]]:
        has_ports.set()
        yield []

    class Watched(Scrollback):
        def clear(self) -> None:
            super().clear()
            cleared.set()

    with worker(url, tmp_path / "a") as (society, ours, sharing), worker(url, tmp_path / "b") as others:
        scrollback = Watched()
        world = rooms_of(society, shown=scrollback.note)
        serving = Serving(society, world, scrollback, Connections(10), worker=ours)
        async with asyncio.timeout(30), _rooms_open(serving, ports, lambda line: None):
            await has_ports.wait()
            world.enter("user_caity", "Caity", lambda line: None)
            room = world.room_of("user_caity")
            world.say("user_caity", "Hello!")
            await world.settle()
            assert scrollback.of(room, "user_caity")
            sharing.leases.give(ROOMS, others[2].leases.worker)
            await cleared.wait()
            assert not scrollback.of(room, "user_caity")
        await world.close()


@contextmanager
def supervised(folder: Path, url: str) -> Iterator[subprocess.Popen[str]]:
    """Two workers behind one port."""
    process = subprocess.Popen(
        [sys.executable, "-m", "noodlings", "serve", "--workers", "2", "--port", "0", "--data", folder],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment(NOODLINGS_STORE__URL=url),
        cwd=ROOT,
        encoding="utf-8",
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=30)


def children(pid: int) -> list[int]:
    """The workers of a supervisor, without what Python starts beside them."""
    listed = subprocess.run(
        ["ps", "-ww", "--ppid", str(pid), "-o", "pid=,args="], capture_output=True, text=True
    )
    lines = [line.split(maxsplit=1) for line in listed.stdout.splitlines()]
    return [int(number) for number, words in lines if "spawn_main" in words]


def test_a_worker_that_dies_is_replaced_and_all_end_together(url: str, tmp_path: Path):
    with supervised(tmp_path, url) as process:
        assert process.stdout is not None
        line = next(line for line in process.stdout if line.startswith("noodlings serves"))
        assert "http://127.0.0.1:" in line
        before = children(process.pid)
        assert len(before) == 2
        os.kill(before[0], signal.SIGKILL)
        line = next(line for line in process.stdout if "ended with" in line)
        assert "another one follows" in line
        while len(children(process.pid)) < 2:
            time.sleep(PAUSE)
        process.terminate()
        assert process.wait(60) == 0
        assert children(process.pid) == []


def test_what_keeps_a_worker_from_starting_is_said_once_and_ends_all(tmp_path: Path):
    alone = ran("serve", "--workers", "2", "--data", tmp_path, environment=environment())
    assert (alone.returncode, alone.stdout) == (2, b"")
    assert b"set store.url" in alone.stderr
    fast = environment(NOODLINGS_STORE__URL="postgresql+psycopg://u@h/d", NOODLINGS_WORLD__CLOCK_SPEED="60")
    assert b"world.clock_speed: 1" in ran("serve", "--workers", "1", environment=fast).stderr
    with supervised(tmp_path, "postgresql+psycopg://u@127.0.0.1:1/none") as process:
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 3
    assert said.count("cannot be reached") == 1
