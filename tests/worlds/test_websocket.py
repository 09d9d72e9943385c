import asyncio
import gc
import socket
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import Frame

from noodlings import frames
from noodlings.connections import Connections
from noodlings.frames import FrameLimit
from noodlings.worlds import wire
from noodlings.worlds.login_guard import Timer
from noodlings.worlds.websocket import websocket_port
from tests.worlds.mush import PASSWORD, Mush

pytestmark = pytest.mark.slow

PAGE = "https://page.example"
UPGRADE = (
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
PING = b"\x89\xfd" + bytes(4) + b"x" * 125
PONG = b"\x8a\x7d" + b"x" * 125
BEGUN = b"\x01\x81" + bytes(4) + b"a"
"""A fragment with more to come."""


@pytest.fixture
async def mush(tmp_path):
    made = Mush(tmp_path, Timer(), lines_per_second=10_000)
    for name in ("Caity", "Ben"):
        made.accounts.create(name, PASSWORD)
    return made


@pytest.fixture
async def url(mush):
    connections = Connections(4_096)
    async with websocket_port("127.0.0.1", 0, mush.visitors.receive, [PAGE], connections) as (host, port):
        yield f"ws://{host}:{port}"
        await mush.visitors.close()
        await mush.world.settle()
        await mush.world.close()


async def sees(socket, wanted):
    async with asyncio.timeout(20):
        while wanted not in (message := await socket.recv()):
            pass
    return message


async def test_people_talk_and_a_message_is_a_line(mush, url):
    async with connect(url) as caity, connect(url, origin=PAGE) as ben:
        for one, name in ((caity, "Caity"), (ben, "Ben")):
            await one.send(f"connect {name} {PASSWORD}")
            await sees(one, "Here:")
        await ben.send("say ünï 🐕")
        assert await sees(caity, "🐕") == 'Ben says, "ünï 🐕"'
        await ben.send("quit")
        await sees(caity, "Ben leaves")
        with pytest.raises(ConnectionClosed):
            await sees(ben, "nothing more")


async def test_width_and_colours_are_those_of_the_address(url):
    async with connect(f"{url}/?colour=1&width=60") as caity:
        await caity.send(f"connect Caity {PASSWORD}")
        await caity.send("wide")
        assert await sees(caity, "xxx") == "x" * 60
        await caity.send("say hello")
        assert "\x1b[" in await sees(caity, "hello")


async def test_who_connects_and_says_nothing_does_not_hold_up_the_end(mush, monkeypatch):
    monkeypatch.setattr(wire, "GOODBYE_SECONDS", 0.5)
    async with asyncio.timeout(wire.HANDSHAKE_SECONDS - 2):
        port = websocket_port("127.0.0.1", 0, mush.visitors.receive, [PAGE], Connections(4_096))
        async with port as (host, number):
            _, silent = await asyncio.open_connection(host, number)
            async with connect(f"ws://{host}:{number}") as guest:  # the silent one was there before
                await sees(guest, "Welcome")
            await mush.visitors.close()
    silent.close()
    await silent.wait_closed()


@pytest.mark.parametrize(
    "query", ["?width=%00", "?width=-1&width=99999999999999", "?colour=&%ff=1", "?width=²"]
)
async def test_a_strange_address_is_no_matter(url, query):
    async with connect(f"{url}/{query}") as guest:
        await sees(guest, "Welcome")


async def test_pages_of_others_may_not_come(url):
    with pytest.raises(InvalidStatus, match="403"):
        await connect(url, origin="https://evil.example")


async def test_bytes_that_are_no_text_harm_nobody(mush, url):
    async with connect(url) as caity:
        await caity.send(b"\xff\xfe\x00")
        await caity.send(f"connect Caity {PASSWORD}".encode())
        await sees(caity, "Here:")
        await caity.send(b"say \xff\x1b[2J!")
        assert await sees(caity, "You say") == 'You say, "\ufffd!"'


async def test_at_the_end_everybody_is_told(mush, url):
    async with connect(url) as caity:
        await caity.send(f"connect Caity {PASSWORD}")
        await sees(caity, "Here:")
        closing = asyncio.create_task(mush.visitors.close())
        await sees(caity, "is shutting down")
        await closing
        assert mush.here() == []


async def test_who_pings_and_never_reads_is_let_go_before_any_name(url, monkeypatch):
    monkeypatch.setattr(frames, "AT_ONCE", 1_000_000)
    async with plain(url) as send:
        with pytest.raises(OSError, match=r"[Rr]eset|[Bb]roken"):
            await send(PING * 150_000)


async def test_empty_pieces_of_a_message_that_never_ends_are_not_kept(url, monkeypatch):
    monkeypatch.setattr(frames, "AT_ONCE", 1_000_000)

    def kept():
        return sum(type(one) is Frame for one in gc.get_objects())

    before = kept()
    async with plain(url) as send:
        await send(b"\x01\x80" + bytes(4) + (b"\x00\x80" + bytes(4)) * 20_000)
        await send(PING, until=PONG)
        assert kept() - before < 1_000


@pytest.mark.parametrize(
    "frame",
    [b"\x89\x80", b"\x8a\x80", b"\x00\x80", b"\x00\x81", b"\x81\x80"],
    ids=["pings", "pongs", "empty fragments", "fragments", "messages"],
)
async def test_more_frames_than_anybody_needs_end_the_connection(url, monkeypatch, frame):
    counted = []
    count = FrameLimit.count
    monkeypatch.setattr(FrameLimit, "count", lambda limit: counted.append(count(limit)))
    tiny = frame + bytes(4) + b"a" * (frame[1] & 1)
    async with plain(url) as send:
        with suppress(OSError):  # it may be gone before everything is sent
            await send((BEGUN if frame[0] == 0 else b"") + tiny * 40_000)
        with suppress(ConnectionResetError):
            assert b"\x03\xf0more than" in await send(b"", to_the_end=True)
    assert frames.AT_ONCE < len(counted) <= frames.AT_ONCE + frames.PIECE // len(tiny) + 1


async def test_a_page_may_send_a_paste_and_pings_beside_it(mush, url):
    async with connect(url) as caity:
        await caity.send(f"connect Caity {PASSWORD}")
        await sees(caity, "Here:")
        for number in range(50):
            await caity.send(f"say {number}")
            await caity.ping()
        await sees(caity, '"49"')


@asynccontextmanager
async def plain(url):
    """A client that does as it is told, and reads only until something that it waits for."""
    loop, where = asyncio.get_running_loop(), urlsplit(url)
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        one.setblocking(False)

        async def send(what, until=b"", to_the_end=False):
            received = b""
            async with asyncio.timeout(30):
                await loop.sock_sendall(one, what)
                while to_the_end or until not in received:
                    part = await loop.sock_recv(one, 65_536)
                    if to_the_end and not part:
                        break
                    received += part
            return received

        await loop.sock_connect(one, (where.hostname, where.port))
        await send(UPGRADE, until=b"Welcome")
        yield send
