"""The whole program over a real socket: it starts, refuses, streams, is killed, and stops in order."""

from __future__ import annotations

import asyncio
import gc
import json
import resource
import shutil
import signal
import socket
import subprocess
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
import uvicorn
from httpx2 import TransportError, get
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from api.run import OrderlyServer
from noodlings.connections import Connections
from noodlings.host.server import Address, _bound, _load
from tests.api.conftest import TOKENS
from tests.api.serving import ROOT, Output, Server, certified, command, environment, served
from tests.program import ran

pytestmark = pytest.mark.slow

SAID = {"user_id": "user_caity", "text": "My dog died yesterday", "idempotency_key": "one"}
PATH = "/api/agents/servnak/perceive"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory):
    with served(tmp_path_factory.mktemp("served"), NOODLINGS_LIVE__HEARTBEAT_SECONDS="0.2") as running:
        yield running


@pytest.fixture(scope="module")
def guarded_server(tmp_path_factory: pytest.TempPathFactory):
    with served(tmp_path_factory.mktemp("guarded"), tokens=list(TOKENS.values())) as running:
        yield running


def live(server: Server, query: str = "", **more) -> ClientConnection:
    url = f"{server.url.replace('http', 'ws', 1)}/api/live{query}"
    # What is not read at the end is not waited for.
    return connect(url, max_size=None, close_timeout=0.1, **more)


def messages(stream: ClientConnection, *kinds: str, count: int = 1) -> list[dict]:
    """The next messages of these kinds."""
    found: list[dict] = []
    while len(found) < count:
        message = json.loads(stream.recv(timeout=20))
        if message["type"] in kinds:
            found.append(message)
    return found


def refused(folder: Path, *words: str, **changes: str) -> str:
    """What it says when it does not come to serve anything."""
    arguments = ("serve", "--port", "0", "--data", folder, *words)
    done = ran(*arguments, environment=environment(**changes))
    assert done.returncode in (2, 3), done.stdout + done.stderr
    assert done.stdout == b""
    assert len(done.stderr.splitlines()) == 1
    return done.stderr.decode()


def test_a_retry_after_a_kill_says_that_the_turn_was_cut_off(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as model:
        model.settimeout(30)
        url = f"http://127.0.0.1:{model.getsockname()[1]}/v1"
        llm = {"NOODLINGS_LLM__BASE_URL": url, "NOODLINGS_LLM__MODEL": "m"}
        with served(tmp_path, **llm) as server:

            def tell() -> None:
                with suppress(TransportError):
                    server.client.post(PATH, json=SAID)

            telling = threading.Thread(target=tell)
            telling.start()
            call, _ = model.accept()
            while call.recv(4, socket.MSG_PEEK).startswith(b"GET"):  # it is asked for its models at start
                call.close()
                call, _ = model.accept()
            with call:
                call.settimeout(30)
                asked = b""
                while b"My dog died yesterday" not in asked:
                    asked += (more := call.recv(65_536))
                    assert more, asked
                server.stop(signal.SIGKILL)
            telling.join(30)
    with served(tmp_path) as server:
        again = server.client.post(PATH, json=SAID)
        turn = again.json()["turn"]
        assert (again.status_code, again.headers["idempotency-replayed"]) == (200, "true")
        assert (turn["percept"]["text"], turn["response"]) == ("My dog died yesterday", None)
        assert turn["decision"] == "cut off"
        assert "to get one, send it again with another key" in turn["degraded"][0]
        answered = server.client.post(PATH, json=SAID | {"idempotency_key": "two"}).json()
        assert answered["turn"]["response"]
        replayed = server.client.post(PATH, json=SAID | {"idempotency_key": "two"}).json()
        assert replayed["turn"]["response"] == answered["turn"]["response"]


def test_it_says_where_and_that_everybody_is_admin(server: Server):
    assert server.url.startswith("http://127.0.0.1:")
    assert server.said[1] == f"Documentation: {server.url}/docs"
    assert any("Maren, Phi, SERVNAK" in line for line in server.said)
    assert any("anyone on this machine can read and change everything" in line for line in server.said)
    # A terminal of 80 columns would break an address in two.
    assert all(len(line) <= 80 for line in server.said if "http" in line)
    assert server.client.get("/health").json() == {"status": "ok"}
    assert len(server.client.get("/api/agents").json()["agents"]) == 3


def test_it_does_not_listen_to_others_without_tokens(tmp_path: Path):
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org"):
        assert "no tokens are configured" in refused(tmp_path, "--host", host)
    assert not list(tmp_path.iterdir())


def test_a_port_that_is_taken_and_a_folder_that_is_taken(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert f"Port {port}" in refused(tmp_path, "--port", port)
    with served(tmp_path):
        assert "already in use by process" in refused(tmp_path)


def test_an_address_that_a_client_names_itself_is_not_believed(tmp_path: Path):
    """From this machine, too, it would be counted by any address, and by none for long."""
    with served(tmp_path, tokens=list(TOKENS.values())) as server:
        answer = server.client.get("/api/agents", headers={"X-Forwarded-For": "203.0.113.1"})
        assert answer.status_code == 401
    noted = [
        path.read_text(encoding="utf-8")
        for path in (*tmp_path.glob("audit.log"), tmp_path / "refused.log")
        if path.exists()
    ]
    assert [json.loads(line)["address"] for line in "".join(noted).splitlines()] == ["127.0.0.1"]


def test_a_certificate_needs_its_key(tmp_path: Path):
    assert "only work together" in refused(tmp_path, "--certificate", str(tmp_path / "none.pem"))
    both = ("--certificate", str(tmp_path / "none.pem"), "--key", str(tmp_path / "none.key"))
    assert "cannot be used" in refused(tmp_path, *both)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate with")
def test_over_tls(tmp_path: Path):
    with served(tmp_path / "d", *certified(tmp_path)) as server:
        assert server.url.startswith("https://")
        assert server.client.get("/health").status_code == 200
        began = time.monotonic()
        assert server.stop() == 0  # a connection that is kept alive does not keep the server alive
        assert server.output.rest().endswith("Stopped; everything is kept.\n")
        assert time.monotonic() - began < 20.0


def test_a_stream_begins_with_a_snapshot_and_tells_each_turn(server: Server):
    with live(server, "?agent=phi") as stream:
        (snapshot,) = messages(stream, "snapshot")
        assert [one["agent"]["id"] for one in snapshot["agents"]] == ["phi"]
        body = {"user_id": "user_caity", "text": "hello", "kind": "say"}
        answer = server.client.post("/api/agents/phi/perceive", json=body).json()
        server.client.post("/api/agents/maren/perceive", json=body)
        steps = messages(stream, "step")
        (turn,) = messages(stream, "turn")
        assert steps[0]["step"] == "perceived"
        assert turn["agent"] == "phi"
        assert turn["turn"]["recalled"] == answer["recalled"]
        for part in ("response", "voice", "mood"):
            assert turn["turn"]["turn"][part] == answer["turn"][part]
        assert messages(stream, "heartbeat")


def test_who_may_look_on(guarded_server: Server):
    for more in (
        {},
        {"additional_headers": {"Authorization": "Bearer wrong-token-entirely"}},
        {"subprotocols": ["noodlings", "bearer.wrong"]},
        {"additional_headers": {"Authorization": f"Bearer {TOKENS['admin']['token']}"}, "origin": "https://evil.example"},
    ):  # fmt: skip
        with pytest.raises((InvalidStatus, ConnectionClosed)):
            live(guarded_server, **more).recv(timeout=60)
    protocols = ["noodlings", f"bearer.{TOKENS['caity']['token']}"]
    client = guarded_server.client
    admin = {"Authorization": f"Bearer {TOKENS['admin']['token']}"}
    with live(guarded_server, "?agent=servnak", subprotocols=protocols) as stream:
        assert stream.subprotocol == "noodlings"
        messages(stream, "snapshot")
        for user, text in (("user_toad", "the zebrafinch"), ("user_caity", "good morning")):
            client.post(PATH, json={"user_id": user, "text": text}, headers=admin)
        seen = [json.loads(stream.recv(timeout=20))]
        while seen[-1]["type"] != "turn":
            seen.append(json.loads(stream.recv(timeout=20)))
    assert "zebrafinch" not in json.dumps(seen)
    assert seen[-1]["turn"]["turn"]["percept"]["text"] == "good morning"


def test_a_killed_server_has_perceived_it_once(tmp_path: Path):
    with served(tmp_path) as server:
        first = server.client.post(PATH, json=SAID).json()
        server.process.kill()
        server.process.wait(30)
    with served(tmp_path) as server:
        again = server.client.post(PATH, json=SAID)
        assert again.headers["idempotency-replayed"] == "true"
        for part in ("response", "voice", "decision"):
            assert again.json()["turn"][part] == first["turn"][part]
        assert server.client.get("/api/agents/servnak/memory/stats").json()["perceived"] == 1


async def test_a_connection_that_was_accepted_as_the_server_stopped_does_not_hold_it_up(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("api.run.LINGER_SECONDS", 0.01)
    server = OrderlyServer(uvicorn.Config(lambda: None, lifespan="off"))
    server.config.load()
    server.lifespan, server.servers = server.config.lifespan_class(server.config), []
    connections = server.server_state.connections

    class Late:
        def shutdown(self) -> None:
            connections.discard(self)  # type: ignore[arg-type]

    stopping = asyncio.create_task(server.shutdown())
    await asyncio.sleep(0)
    connections.add(Late())  # type: ignore[arg-type]
    await asyncio.wait_for(stopping, 20)
    assert not connections


async def test_a_tls_handshake_that_nobody_goes_on_with_does_not_hold_up_the_end():
    server = OrderlyServer(uvicorn.Config(lambda: None, lifespan="off"))
    server.config.load()
    server.lifespan = server.config.lifespan_class(server.config)

    class Listening:
        closed = False

        def close(self) -> None:
            self.closed = True

        async def wait_closed(self) -> None:
            """As that of asyncio from Python 3.12 on, which waits for connections under way, too."""
            await asyncio.Event().wait()

    listening = Listening()
    server.servers = [listening]  # type: ignore[list-item]
    await asyncio.wait_for(server.shutdown(), 20)
    assert listening.closed


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_is_under_way_is_finished(tmp_path: Path, number: signal.Signals):
    answers: list[int] = []

    def send(server: Server, at: int) -> None:
        body = {"user_id": f"user_{at}", "text": f"servnak, I am number {at}"}
        with suppress(TransportError):  # the server closed the door before it came to this one
            answers.append(server.client.post(PATH, json=body).status_code)

    with served(tmp_path) as server, live(server) as stream:
        messages(stream, "snapshot")
        senders = [threading.Thread(target=send, args=(server, at)) for at in range(20)]
        for sender in senders:
            sender.start()
        messages(stream, "step")  # the first is under way
        assert server.stop(number) == 0
        for sender in senders:
            sender.join(30)
        finished = answers.count(200)
        assert "Traceback" not in server.output.rest()
    log = (tmp_path / "noodlings.log").read_text(encoding="utf-8")
    assert "Traceback" not in log
    with served(tmp_path) as server:
        stats = server.client.get("/api/agents/servnak/memory/stats").json()
        assert stats["perceived"] >= finished >= 1
        turns = server.client.get("/api/agents/servnak/memory/working").json()["entries"]
        assert all(entry["response"] for entry in turns)


def used_by_children() -> float:
    """Seconds of processor time of the processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_it_starts_quickly(tmp_path: Path):
    began = used_by_children()
    with subprocess.Popen(
        command(tmp_path),
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment(NOODLINGS_EMBEDDING__MODEL="minilm"),
    ) as process:
        output = Output(process.stdout)
        assert get(f"{output.line().split()[2]}/health").status_code == 200
        process.terminate()
        assert "Traceback" not in output.rest()
        assert process.wait(30) == 0
    # 2 s are wanted, see docs/api.md; here it is processor time, and ending is in it as well.
    assert used_by_children() - began < 10.0


async def test_what_is_loaded_is_not_looked_through_for_garbage_again():
    """Else everybody waits for that, some hundred milliseconds each time."""
    serving = SimpleNamespace(society=SimpleNamespace(warm=lambda: None), loaded=False)
    try:
        await _load(serving)
        assert gc.get_freeze_count() > 1_000
    finally:
        gc.unfreeze()
    assert serving.loaded


def test_help_names_it():
    assert b"--certificate" in ran("serve", "--help", environment=environment()).stdout


def test_an_answer_does_not_wait_for_acknowledgements() -> None:
    """Else each answer over a kept connection takes 40 ms more."""
    with (
        closing(_bound(Address("127.0.0.1", 0), Connections(8))) as bound,
        socket.create_connection(bound.getsockname()),
    ):
        accepted, _ = bound.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_token_is_taken_back_while_the_server_runs(tmp_path: Path):
    file = tmp_path / "tokens.yaml"
    file.write_text(json.dumps({"tokens": [TOKENS["viewer"]]}))
    headers = {"Authorization": f"Bearer {TOKENS['viewer']['token']}"}
    changes = {"NOODLINGS_API__TOKENS_FILE": str(file), "NOODLINGS_LIVE__HEARTBEAT_SECONDS": "0.2"}
    with served(tmp_path / "data", **changes) as server:
        assert any("1 token configured" in line for line in server.said)
        with live(server, additional_headers=headers) as stream:
            messages(stream, "snapshot")
            assert server.client.get("/api/agents", headers=headers).status_code == 200
            file.write_text(json.dumps({"tokens": []}))
            assert server.client.get("/api/agents", headers=headers).status_code == 401
            with pytest.raises(ConnectionClosed, match="taken back"):
                messages(stream, "nothing that is ever sent")
        file.write_text(json.dumps({"tokens": [TOKENS["viewer"]]}))
        assert server.client.get("/api/agents", headers=headers).status_code == 200


def test_an_empty_file_of_tokens_does_not_open_a_public_address(tmp_path: Path):
    file = tmp_path / "tokens.yaml"
    file.write_text("tokens: []")
    said = refused(tmp_path, "--host", "0.0.0.0", NOODLINGS_API__TOKENS_FILE=str(file))
    assert "can be reached by others" in said
