"""One client who is nobody opens more connections than there are descriptors: the server serves on."""

from __future__ import annotations

import asyncio
import json
import resource
import shutil
import socket
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import uvicorn
from httpx2 import Client, HTTPTransport
from starlette.types import Receive, Scope, Send
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from api import protocol
from api.run import OrderlyServer
from noodlings import frames
from noodlings.connections import Connections
from tests.api.conftest import TOKENS
from tests.api.serving import Server, certified, free_port, served
from tests.thorough import THOROUGH

pytestmark = pytest.mark.slow

CROWD, DESCRIPTORS = (1_500, 1_024) if THOROUGH else (400, 256)
"""More come than there is room for. A server has as many descriptors as a system gives, or fewer."""
WITHIN = 2.0
"""Seconds within which everybody else is answered, on a machine that does nothing else meanwhile."""
TRIES = 5
"""So often it is tried where the machine does other things as well; a crowd that blocks blocks each time."""

HALF_HEADERS = b"GET /api/agents HTTP/1.1\r\nHost: 127.0.0.1\r\nX-More: "
HALF_BODY = (
    b"POST /api/agents/servnak/perceive HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b'Content-Length: 50000\r\n\r\n{"text": "'
)
WHOLE = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
HALF_UPGRADE = (
    b"GET /api/live HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\n"
)
ADMIN = {"Authorization": f"Bearer {TOKENS['admin']['token']}"}


@contextmanager
def descriptors(soft: int) -> Iterator[None]:
    """So many descriptors for this process, and for those it starts meanwhile."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@contextmanager
def limited(
    folder: Path, tokens: bool = True, limit: int = DESCRIPTORS, words: tuple[str, ...] = (), **changes: str
) -> Iterator[Server]:
    """A server with few descriptors; this process has enough for a crowd."""
    with ExitStack() as stack:
        with descriptors(limit):
            server = stack.enter_context(
                served(folder, *words, tokens=list(TOKENS.values()) if tokens else None, **changes)
            )
        stack.enter_context(descriptors(2 * CROWD + 500))
        yield server


@contextmanager
def crowd(port: int, first: bytes, count: int = CROWD) -> Iterator[list[socket.socket]]:
    """So many connections of one address that each say this much and no more."""
    with ExitStack() as stack:
        made = []
        for _ in range(count):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
            with suppress(OSError):  # displaced already
                one.sendall(first)
            made.append(one)
        yield made


def port_of(server: Server) -> int:
    port = urlsplit(server.url).port
    assert port is not None
    return port


def live_url(server: Server) -> str:
    return f"{server.url.replace('http', 'ws', 1)}/api/live"


def authorised(who: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {TOKENS[who]['token']}"}


def answered(server: Server, source: str, path: str, **headers: str) -> float:
    """Seconds until a newcomer from an address has an answer, which must be 200."""
    with Client(
        base_url=server.url,
        transport=HTTPTransport(local_address=source, verify=False),
        timeout=30,
        headers=headers,
    ) as client:
        began = time.monotonic()
        answer = client.get(path)
        taken = time.monotonic() - began
        assert answer.status_code == 200, answer.text
    return taken


def everybody_is_answered(server: Server) -> None:
    for source in ("127.0.0.1", "127.0.0.2"):
        for path, headers in (("/health", {}), ("/api/agents", ADMIN)):
            assert any(answered(server, source, path, **headers) < WITHIN for _ in range(TRIES)), (
                source,
                path,
            )


def flood(one: socket.socket, what: bytes, count: int) -> None:
    for _ in range(count):  # each has the whole time that the socket may wait
        one.sendall(what)


def ended(one: socket.socket, seconds: float) -> bytes:
    """What comes until the other side ends it, which has to be within so many seconds."""
    one.settimeout(seconds)
    received = b""
    with suppress(ConnectionResetError):
        while part := one.recv(65_536):
            received += part
    return received


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """With tokens and few descriptors, for all who only want to get an answer."""
    with limited(tmp_path_factory.mktemp("guarded")) as server:
        yield server


@pytest.fixture(scope="module")
def unguarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Without tokens, where a crowd and everybody else at its address have one rate: here it is no matter."""
    often = {"NOODLINGS_API__REQUESTS_PER_SECOND": "1000000"}
    with limited(tmp_path_factory.mktemp("unguarded"), False, **often) as server:
        yield server


@pytest.mark.parametrize("which", ["guarded", "unguarded"])
@pytest.mark.parametrize(
    "first",
    [b"", HALF_HEADERS, HALF_BODY, WHOLE, HALF_UPGRADE],
    ids=["silent", "half headers", "half body", "idle after an answer", "half upgrade"],
)
def test_a_crowd_larger_than_the_descriptors_keeps_nobody_out(
    request: pytest.FixtureRequest, first: bytes, which: str
):
    server: Server = request.getfixturevalue(which)
    with crowd(port_of(server), first):
        everybody_is_answered(server)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate with")
def test_a_crowd_that_never_finishes_its_handshake_keeps_nobody_out(tmp_path: Path):
    with (
        limited(tmp_path / "data", words=certified(tmp_path)) as server,
        crowd(port_of(server), b"\x16\x03\x01"),
    ):
        everybody_is_answered(server)


@pytest.mark.parametrize("opcode", [0x81, 0x82, 0x89, 0x8A], ids=["text", "bytes", "pings", "pongs"])
def test_a_live_stream_that_is_sent_more_frames_than_anybody_needs_ends(unguarded: Server, opcode: int):
    with socket.create_connection(("127.0.0.1", port_of(unguarded)), timeout=20) as one:
        one.sendall(HALF_UPGRADE + b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
        received = b""
        while b"snapshot" not in received:
            received += one.recv(65_536)
        with suppress(OSError):  # it may have ended before everything is sent
            one.sendall((bytes((opcode, 0x80)) + bytes(4)) * 40_000)
        received = ended(one, 20)
    assert b"\x03\xf0more than" in received
    assert received.count(b"\x8a\x00") <= frames.AT_ONCE + frames.PIECE // 6 + 1


def test_headers_that_drip_are_no_sign_of_life(guarded: Server):
    with crowd(port_of(guarded), HALF_HEADERS) as dripping:
        for _ in range(3):
            for one in dripping:
                with suppress(OSError):  # displaced
                    one.send(b"x")
            everybody_is_answered(guarded)


def test_who_is_in_stays_in_and_a_crowd_at_every_door_is_displaced(tmp_path: Path):
    """Over all ports: a live stream, somebody in the rooms and a kept connection outlast the crowds."""
    with ExitStack() as stack:
        door, page = free_port(), free_port()
        ports = {"NOODLINGS_MUSH__PORT": str(door), "NOODLINGS_MUSH__WEBSOCKET_PORT": str(page)}
        server = stack.enter_context(limited(tmp_path, **ports))
        caity = stack.enter_context(socket.create_connection(("127.0.0.1", door), 20, ("127.0.0.2", 0)))
        caity.sendall(b"create Dora correct-horse\r\n")
        hear(caity, b"SERVNAK")
        hear(caity, b"Workshop")
        live = stack.enter_context(
            connect(
                f"{server.url.replace('http', 'ws', 1)}/api/live", additional_headers=ADMIN, max_size=None
            )
        )
        assert json.loads(live.recv(timeout=20))["type"] == "snapshot"
        kept = stack.enter_context(socket.create_connection(("127.0.0.1", port_of(server)), timeout=20))
        authorised = WHOLE.replace(
            b"\r\n\r\n", f"\r\nAuthorization: {ADMIN['Authorization']}\r\n\r\n".encode()
        )
        kept.sendall(authorised)
        hear(kept, b'"ok"')
        for port, first in (
            (page, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"),
            (door, b""),
            (port_of(server), HALF_BODY),
        ):
            stack.enter_context(crowd(port, first, CROWD // 2))
            everybody_is_answered(server)
            newcomer = stack.enter_context(socket.create_connection(("127.0.0.1", door), timeout=20))
            hear(newcomer, b"create NAME PASSWORD")
        kept.sendall(authorised)
        hear(kept, b'"ok"')
        caity.sendall(b"say still here\r\n")
        hear(caity, b"still here")
        assert json.loads(live.recv(timeout=20))["type"]


def test_a_crowd_displaces_its_own_and_nobody_who_came_another_way(tmp_path: Path):
    """Whoever types a password at the door waits longer than any of a crowd that comes fast."""
    door = free_port()
    with limited(tmp_path, limit=256, NOODLINGS_MUSH__PORT=str(door)) as server, ExitStack() as stack:
        people = [
            stack.enter_context(socket.create_connection(("127.0.0.1", door), 20, (source, 0)))
            for source in ("127.0.0.1", "127.0.0.2")
        ]
        for one in people:
            hear(one, b"create NAME PASSWORD")
        with crowd(port_of(server), b"", 600):
            answered(server, "127.0.0.3", "/health")
            for one in people:
                one.sendall(b"how?\r\n")
                hear(one, b"create NAME PASSWORD")


def test_who_is_displaced_at_the_door_leaves_no_traceback(tmp_path: Path):
    door = free_port()
    with limited(tmp_path, limit=256, NOODLINGS_MUSH__PORT=str(door)) as server:
        with crowd(door, b"", 100) as displaced, crowd(port_of(server), b"", 200):
            answered(server, "127.0.0.3", "/health")
            assert ended(displaced[0], 20)
        assert server.stop() == 0
        assert "Traceback" not in server.output.rest() + (tmp_path / "noodlings.log").read_text()


def test_one_token_takes_its_share_of_the_connections_alone(tmp_path: Path):
    with limited(tmp_path, limit=128) as server, ExitStack() as stack:

        def come_in(who: str, count: int) -> list[ClientConnection]:
            return [
                stack.enter_context(
                    connect(live_url(server), additional_headers=authorised(who), max_size=None)
                )
                for _ in range(count)
            ]

        def asked(who: str) -> int:
            return server.client.get("/api/agents", headers=authorised(who)).status_code

        streams = come_in("caity", 12)  # an eighth of 96
        with pytest.raises(InvalidStatus) as refused:
            come_in("caity", 1)
        assert refused.value.response.status_code == 429
        assert b"This token" in (refused.value.response.body or b"")
        answer = server.client.get("/api/agents", headers=authorised("caity"))
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
        assert [asked(who) for who in ("toad", "viewer", "world", "admin")] == [200] * 4
        come_in("toad", 12)
        come_in("world", 48)
        assert (asked("viewer"), asked("admin")) == (503, 200)  # an eighth is for admins
        streams[0].close()
        assert answered(server, "127.0.0.1", "/api/agents", **authorised("caity")) < WITHIN


def test_where_everybody_is_busy_one_more_is_refused_in_words(tmp_path: Path):
    with limited(tmp_path, limit=128) as server, ExitStack() as stack:
        url = f"{server.url.replace('http', 'ws', 1)}/api/live"

        def come_in() -> ClientConnection:
            return stack.enter_context(connect(url, additional_headers=ADMIN, max_size=None))

        streams = [come_in() for _ in range(80)]
        with pytest.raises(InvalidStatus):
            deque(come_in() for _ in range(16))
        refused = server.client.get("/api/agents", headers=ADMIN)
        assert refused.status_code == 503
        assert refused.headers["retry-after"]
        assert "busy" in refused.json()["detail"]
        assert server.client.get("/health").status_code == 200
        streams[0].close()
        assert answered(server, "127.0.0.1", "/api/agents", **ADMIN) < WITHIN


def test_who_pings_the_live_stream_and_never_reads_is_put_out(guarded: Server):
    upgrade = HALF_UPGRADE + (
        b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        b"Authorization: Bearer %s\r\n\r\n" % TOKENS["caity"]["token"].encode()
    )
    ping = b"\x89\xfd" + bytes(4) + b"x" * 125
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        one.connect(("127.0.0.1", port_of(guarded)))
        one.sendall(upgrade)
        hear(one, b"snapshot")
        one.settimeout(20)
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            flood(one, ping * 500, 300)
        assert guarded.client.get("/health").status_code == 200


def test_what_is_sent_to_the_live_stream_is_not_looked_at(tmp_path: Path):
    with served(tmp_path, tokens=list(TOKENS.values())) as server:
        with connect(live_url(server), additional_headers=ADMIN, max_size=None) as live:
            assert json.loads(live.recv(timeout=20))["type"] == "snapshot"
            live.send(b"\xff\xfe", text=True)
            live.ping().wait(20)
            told = {"text": "Hello", "user_id": "user_caity"}
            server.client.post("/api/agents/servnak/perceive", json=told, headers=ADMIN).raise_for_status()
            assert json.loads(live.recv(timeout=20))["type"] in ("step", "turn")
        assert server.stop() == 0
        assert "Traceback" not in server.output.rest() + (tmp_path / "noodlings.log").read_text()


def test_a_length_said_in_two_ways_is_refused_whole(unguarded: Server):
    smuggled = (
        b"POST /api/agents/servnak/perceive HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 6\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + WHOLE
    )
    for request in (smuggled, smuggled.replace(b"POST", b"OPTIONS")):
        with socket.create_connection(("127.0.0.1", port_of(unguarded)), timeout=20) as one:
            one.sendall(request)
            received = ended(one, 20)
        assert received.startswith(b"HTTP/1.1 400 "), received
        assert received.count(b"HTTP/1.1 ") == 1
        assert b"Transfer-Encoding" in received


def test_every_answer_is_what_it_says_kept_by_nobody_and_in_no_frame(unguarded: Server):
    for path in ("/health", "/docs", "/nowhere", "/api/agents", "/api/agents/servnak/memory/working"):
        headers = unguarded.client.get(path).headers
        assert headers.get_list("cache-control") == ["no-store"], path
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]


@pytest.mark.parametrize("first", [HALF_HEADERS, HALF_BODY], ids=["headers", "body"])
async def test_a_byte_now_and_then_earns_no_more_time(monkeypatch: pytest.MonkeyPatch, first: bytes):
    monkeypatch.setattr(protocol, "HEADERS_SECONDS", 0.5)
    monkeypatch.setattr(protocol, "BODY_SECONDS", 0.5)
    async with small_server(Connections(8)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(first)
        received = b""
        async with asyncio.timeout(20):
            while not received:  # nothing more is sent behind the answer, which that would undo
                writer.write(b"x")
                with suppress(TimeoutError):
                    received = await asyncio.wait_for(reader.read(10_000), 0.05)
            received += await reader.read()
        writer.close()
        assert received.startswith(b"HTTP/1.1 408 ")
        assert json.loads(received.partition(b"\r\n\r\n")[2])["status"] == 408


async def test_who_takes_no_answer_is_let_go(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(protocol, "TAKE_SECONDS", 0.5)
    connections = Watched(8)
    async with small_server(connections, b"x" * 20_000_000) as port:
        with socket.create_connection(("127.0.0.1", port), timeout=20) as one:
            one.sendall(WHOLE)
            await asyncio.wait_for(connections.one_is_gone.wait(), 20)
            assert len(ended(one, 20)) < 20_000_000


class Watched(Connections):
    """Tells when a descriptor is free again."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.one_is_gone = asyncio.Event()

    def gone(self, number: int) -> None:
        super().gone(number)
        self.one_is_gone.set()


@asynccontextmanager
async def small_server(connections: Connections, answer: bytes = b"ok") -> AsyncIterator[int]:
    """An application that reads a whole request and answers, over connections as they are served."""

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            more = message.get("more_body", False)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": answer})

    bound = connections.listen("127.0.0.1", 0, "")
    config = uvicorn.Config(application, http=protocol.timed(connections), lifespan="off", log_config=None)
    server = OrderlyServer(config)
    serving = asyncio.create_task(server.serve([bound]))
    try:
        yield bound.getsockname()[1]
    finally:
        server.should_exit = server.force_exit = True
        await serving


def hear(one: socket.socket, wanted: bytes) -> None:
    """Read until this came."""
    received = b""
    while wanted not in received:
        part = one.recv(65_536)
        assert part, received
        received += part
