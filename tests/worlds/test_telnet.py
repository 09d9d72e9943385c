import asyncio
import random
import re
import shutil
import socket
import ssl

import pytest
import telnetlib3

from noodlings.connections import MOST_UNREAD, READ_AT_ONCE, Connections, Place
from noodlings.errors import UserError
from noodlings.worlds import wire
from noodlings.worlds.login_guard import Timer
from noodlings.worlds.telnet import (
    DO,
    DONT,
    ECHO,
    IAC,
    MOST_WITHOUT_A_LINE,
    OPENING,
    SB,
    TERMINAL_TYPE,
    WILL,
    WINDOW_SIZE,
    WONT,
    TelnetWire,
    telnet_port,
)
from tests.api.serving import certified
from tests.worlds.mush import PASSWORD, Mush, client, telnet

pytestmark = pytest.mark.slow

PEOPLE = 50
LINES = 12


@pytest.fixture
async def mush(tmp_path):
    made = Mush(tmp_path, Timer(), lines_per_second=10_000)
    for name in ("Caity", "Ben"):
        made.accounts.create(name, PASSWORD)
    return made


async def test_fifty_people_hear_every_line_of_everybody_in_order(mush):
    names = [f"Guest-{number}" for number in range(PEOPLE)]
    for name in names:
        mush.accounts.create(name, PASSWORD)

    async def talk(port, name, everybody_in, all_said):
        async with client(port, name) as one:
            await everybody_in.wait()
            for number in range(LINES):
                one.send(f"say {number} ünï 🐕 from {name}")
            said = []
            while len(said) < PEOPLE * LINES:
                line = await one.sees("🐕")
                said.append(re.fullmatch(r'(\S+) says?, "(\d+) ünï 🐕 from (\S+)"', line).groups())
            await all_said.wait()
            return said

    everybody_in, all_said = asyncio.Barrier(PEOPLE), asyncio.Barrier(PEOPLE)
    async with telnet(mush) as port:
        heard = await asyncio.gather(*(talk(port, name, everybody_in, all_said) for name in names))
    for name, said in zip(names, heard, strict=True):
        for speaker in names:
            shown = "You" if speaker == name else speaker
            numbers = [int(number) for who, number, whose in said if (who, whose) == (shown, speaker)]
            assert numbers == list(range(LINES))


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate with")
async def test_a_handshake_that_nobody_goes_on_with_does_not_hold_up_the_end(mush, tmp_path):
    _, certificate, _, key = certified(tmp_path)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate, key)
    trusted = ssl.create_default_context(cafile=certificate)
    async with asyncio.timeout(wire.HANDSHAKE_SECONDS - 2):
        port = telnet_port("127.0.0.1", 0, mush.visitors.receive, Connections(100), tls)
        async with port as (host, number):
            _, silent = await asyncio.open_connection(host, number)
            reader, guest = await asyncio.open_connection(
                host, number, ssl=trusted, server_hostname="localhost"
            )
            await reader.readuntil(b"Welcome")  # the silent one was there before
            await mush.visitors.close()
    for writer in (silent, guest):
        writer.close()
        await writer.wait_closed()


async def test_options_are_negotiated_with_a_client_that_can(mush):
    async with telnet(mush) as port:
        reader, writer = await telnetlib3.open_connection(
            "127.0.0.1", port, term="xterm", cols=100, rows=30, encoding="utf8", force_binary=True
        )
        writer.write(f"connect Caity {PASSWORD}\r\n")
        seen = ""
        async with asyncio.timeout(20):
            while "Here:" not in seen:
                seen += await reader.read(1_000)
            writer.write("wide\r\n")
            while "x" * 100 not in seen:
                seen += await reader.read(1_000)
            writer.write("say ünï 🐕\r\n")
            while 'ünï 🐕"' not in seen:
                seen += await reader.read(1_000)
        assert "x" * 101 not in seen
        assert "\x1b[" in seen
        writer.close()


async def test_a_password_is_not_shown_while_it_is_typed(mush):
    async with telnet(mush) as port, client(port) as one:
        one.send("connect Caity")
        async with asyncio.timeout(20):
            before = await one.reader.readuntil(b"Password:\r\n")
            assert before.endswith(bytes([IAC, WILL, ECHO]) + b"Password:\r\n")
            one.writer.write(bytes([IAC, DO, ECHO]) + PASSWORD.encode() + b"\r\x00")
            after = await one.reader.readuntil(b"Here:")
        assert bytes([IAC, WONT, ECHO]) in after
        assert PASSWORD.encode() not in before + after


async def test_every_line_ends_in_cr_lf_and_nothing_else_is_sent(mush):
    async with telnet(mush) as port, client(port, "Caity") as one:
        one.send("say hello")
        await one.sees("hello")
        one.send("quit")
        rest = await one.hangs_up()
        assert rest == b"Here: Caity\r\n"


@pytest.mark.parametrize("seed", range(5))
async def test_hostile_bytes_harm_nobody(mush, seed):
    rng = random.Random(seed)
    nasty = [IAC, SB, WILL, WONT, DO, DONT, TERMINAL_TYPE, WINDOW_SIZE, 0, 8, 13, 10, 27, 127, 0xC3, 0xF0]
    async with telnet(mush) as port, client(port, "Caity") as caity:
        for in_the_world in (False, True):
            async with client(port, "Ben" if in_the_world else "") as hostile:
                hostile.writer.write(bytes(rng.choices(nasty, k=20_000)) + rng.randbytes(20_000))
                hostile.writer.write(
                    b"\r\nsay \x1b[2J\xff\xfb\x01\xff\xff\xff\xfa\x18\x00\x1b]0;x\x07\xff\xf0done\r\n"
                )
                hostile.writer.write_eof()
        caity.send("say still here 🐕")
        assert await caity.sees("still here") == 'You say, "still here 🐕"'


async def test_text_with_the_command_byte_in_it_commands_nobody(mush):
    async with telnet(mush) as port, client(port, "Caity") as caity, client(port, "Ben") as ben:
        ben.writer.write(b"say a\xff\xff\xfb\x01b\r\n")
        async with asyncio.timeout(20):
            heard = await caity.reader.readuntil(b'b"\r\n')
        assert bytes([IAC]) not in heard


async def test_who_does_not_read_is_let_go_and_holds_up_nobody(mush):
    mush.accounts.create("Deaf", PASSWORD)
    async with telnet(mush) as port, client(port, "Caity") as caity:
        deaf = socket.socket()
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)  # else the kernel reads megabytes for it
        deaf.connect(("127.0.0.1", port))
        reader, writer = await asyncio.open_connection(sock=deaf, limit=1)
        writer.write(f"connect Deaf {PASSWORD}\r\n".encode())
        await caity.sees("Deaf arrives")
        lines = 0
        async with asyncio.timeout(30):
            while "Deaf" in mush.here():
                caity.send(f"say {'é' * 3_900}")
                await caity.sees("You say")
                lines += 1
        assert lines * 3_900 > MOST_UNREAD
        assert not reader.at_eof()
        writer.close()


async def test_one_who_asks_and_asks_without_reading_is_not_read_on(mush):
    async with telnet(mush) as port, client(port, "Caity") as caity:
        _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1)
        flood = (bytes([IAC, DO, 6]) * 10_000 + b"\n") * 10

        async def ask_for_ever():
            while True:
                writer.write(flood)
                await writer.drain()

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(ask_for_ever(), 1)
        caity.send("say unmoved")
        await caity.sees("unmoved")
        writer.transport.abort()


async def test_a_port_that_is_taken_is_told(mush):
    async with telnet(mush) as port:
        with pytest.raises(UserError, match=f"Port {port} on"):
            async with telnet_port("127.0.0.1", port, mush.visitors.receive, Connections(8)):
                pass


async def test_who_hangs_up_has_left(mush):
    async with telnet(mush) as port, client(port, "Caity") as caity:
        async with client(port, "Ben") as ben:
            ben.send("say bye")
            await caity.sees("bye")
        await caity.sees("Ben leaves")
        assert mush.here() == ["Caity"]


class Writer:
    """What a wire writes to, of a client whose connection may be lost already."""

    def __init__(self, lost=False):
        self.written, self.lost, self.transport = b"", lost, self

    def get_extra_info(self, name):
        return None

    def get_write_buffer_size(self):
        return 0

    def is_closing(self):
        return self.lost

    def write(self, written):
        self.written += written

    async def drain(self):
        pass


def wire_that_received(received, writer):
    reader = asyncio.StreamReader()
    reader.feed_data(received)
    reader.feed_eof()
    return TelnetWire(reader, writer, Place(Connections(8), lambda: None))


@pytest.mark.parametrize("junk", [b"x", bytes([IAC, WILL, 85]), bytes([IAC, DO, 6]), bytes([IAC, IAC])])
async def test_whoever_sends_no_line_has_others_go_on_after_each_piece(junk):
    writer, pieces, turns = Writer(), 20, 0
    received = (junk * pieces * READ_AT_ONCE)[: pieces * READ_AT_ONCE - 2] + b"\r\n"
    reading = asyncio.create_task(wire_that_received(received, writer).read_line())
    while not reading.done():
        await asyncio.sleep(0)
        turns += 1
    assert turns >= pieces
    assert await reading is not None
    assert writer.max_size == READ_AT_ONCE


async def test_whoever_sends_no_line_for_too_long_is_told_and_disconnected(mush):
    async with telnet(mush) as port, client(port, "Caity") as caity, client(port) as endless:
        endless.writer.write(bytes([IAC, SB]) + b"x" * MOST_WITHOUT_A_LINE)
        assert b"No line ended in 128,000 bytes" in await endless.hangs_up()
        for _ in range(3):  # what was typed before a line does not count for the next
            caity.writer.write(b"x" * (MOST_WITHOUT_A_LINE // 2))
            caity.send("")
            await caity.sees("Here:")


async def test_a_client_that_is_gone_is_neither_answered_nor_read_on():
    writer = Writer(lost=True)
    wire_of_one_gone = wire_that_received(bytes([IAC, WILL, 85]) * READ_AT_ONCE + b"say boo\n", writer)
    assert await wire_of_one_gone.read_line() is None
    assert writer.written == OPENING


async def test_what_was_typed_before_the_connection_was_lost_still_counts():
    wire_of_one_gone = wire_that_received(bytes([IAC, WILL, 85]) + b"say bye\n", Writer(lost=True))
    assert await wire_of_one_gone.read_line() == "say bye"
