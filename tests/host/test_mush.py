"""People in the rooms of a real server: what it keeps over a restart, and how it stops."""

from __future__ import annotations

import json
import re
import shutil
import socket
import ssl
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest
from websockets.sync.client import connect

from noodlings.app import build
from noodlings.config import Settings
from noodlings.host.server import known
from noodlings.values.percept import Percept
from tests.api.serving import ROOT, certified, environment, free_port, served
from tests.program import ran

pytestmark = pytest.mark.slow

PASSWORD = "correct horse"


class Person:
    """Somebody at a telnet client."""

    def __init__(self, port: int, tls: ssl.SSLContext | None = None) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_hostname="localhost")
        self.seen = b""
        self.passed = b""

    def __enter__(self) -> Person:
        return self

    def __exit__(self, *why: object) -> None:
        self.socket.close()

    def types(self, line: str) -> None:
        self.socket.sendall(f"{line}\r\n".encode())

    def sees(self, wanted: str) -> None:
        """Read on until this was seen."""
        while wanted.encode() not in self.seen:
            received = self.socket.recv(4_096)
            assert received, f"hung up before {wanted!r}: {self.seen!r}"
            self.seen += received
        before, found, self.seen = self.seen.partition(wanted.encode())
        self.passed += before + found

    def reads_to_the_end(self) -> str:
        while received := self.socket.recv(4_096):
            self.seen += received
        return self.seen.decode()


def test_accounts_and_places_outlive_the_server_and_an_admin_is_made_on_the_machine(tmp_path: Path):
    port = free_port()
    with served(tmp_path, NOODLINGS_MUSH__PORT=str(port)) as server, Person(port) as caity:
        caity.types(f"create Caity {PASSWORD}")
        caity.sees("The Workshop")
        caity.types("good evening, everybody")
        caity.sees('You say, "good evening, everybody"')
        caity.types("connect Caity correct")
        caity.sees("already in the world")
        caity.types("@derez phi")
        caity.sees("Only an admin")
        caity.types("north")
        caity.sees("The Walled Garden")
        done = subprocess.run(
            [sys.executable, "-m", "noodlings", "account", "role", "caity", "admin", "--data", str(tmp_path)],
            env=environment(),
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        )
        assert done.stdout == "Caity will be admin from the next connection\n"
        assert server.stop() == 0
        assert caity.reads_to_the_end().endswith("The world is shutting down. Everything is kept.\r\n")
    assert PASSWORD not in (tmp_path / "noodlings.log").read_text(encoding="utf-8")
    audit = (tmp_path / "audit.log").read_text(encoding="utf-8")
    facts = [json.loads(line) for line in audit.splitlines()]
    assert [(one["role"], one["user"], one["address"], one["path"]) for one in facts] == [
        ("player", "account:caity", "127.0.0.1", "create")
    ]
    assert PASSWORD not in audit
    with served(tmp_path, NOODLINGS_MUSH__PORT=str(port)), Person(port) as caity:
        caity.types("connect caity not-this-one")
        caity.sees("do not match")
        caity.types(f"connect caity {PASSWORD}")
        caity.sees("The Walled Garden")
        caity.types("@derez phi")
        caity.sees("has left the rooms")


def test_what_was_between_those_who_were_there_is_told_to_nobody_who_comes_later(tmp_path: Path):
    port = free_port()
    with served(tmp_path, NOODLINGS_MUSH__PORT=str(port)):
        with Person(port) as dora:
            dora.types(f"create Dora {PASSWORD}")
            dora.sees("The Workshop")
            dora.types("servnak, between us, my uncle Barnabas hid the crown in the old well")
            dora.sees("SERVNAK")
            for name in ("servnak", "phi"):  # whoever answers this has remembered what was said before it
                dora.types(f"whisper {name} = good evening")
                dora.sees("whispers to you")
            dora.types("quit")
            dora.reads_to_the_end()
        with Person(port) as mallory:
            mallory.types(f"create Mallory {PASSWORD}")
            mallory.sees("The Workshop")
            for name in ("servnak", "phi"):
                for question in ("what did Dora say about her uncle?", "who hid something in the well?"):
                    mallory.types(f"whisper {name} = {question}")
                    mallory.sees("whispers to you")
            mallory.types("quit")
            seen = str(mallory.passed) + mallory.reads_to_the_end()
    assert "Barnabas" not in seen
    assert "crown" not in seen.casefold()


def test_what_everybody_forgot_is_shown_to_nobody_who_comes_later(tmp_path: Path):
    port = free_port()
    with served(tmp_path, NOODLINGS_MUSH__PORT=str(port)) as server:
        with Person(port) as ben:
            ben.types(f"create Ben {PASSWORD}")
            ben.sees("The Workshop")
            ben.types("quit")
            ben.reads_to_the_end()
        with Person(port) as ada:
            ada.types(f"create Ada {PASSWORD}")
            ada.sees("The Workshop")
            ada.types("say The key to the barn is zebrafinch")
            ada.sees("zebrafinch")
            for name in ("servnak", "phi"):
                ada.types(f"whisper {name} = good evening")
                ada.sees("whispers to you")
            ada.types("@forget servnak --user me --yes")
            ada.sees("SERVNAK has forgotten")
            ada.types("quit")
            ada.reads_to_the_end()
        server.client.delete("/api/agents/phi/memory/entries?user_id=account:ada").raise_for_status()
        with Person(port) as ben:
            ben.types(f"connect Ben {PASSWORD}")
            ben.sees("The Workshop")
            ben.types("quit")
            assert "zebrafinch" not in str(ben.passed) + ben.reads_to_the_end()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate with")
def test_both_ports_speak_tls_and_nothing_else(tmp_path: Path):
    ports = free_port(), free_port()
    certificate = certified(tmp_path)
    trusted = ssl.create_default_context(cafile=certificate[1])
    changes = {
        "NOODLINGS_MUSH__PORT": str(ports[0]),
        "NOODLINGS_MUSH__WEBSOCKET_PORT": str(ports[1]),
        "NOODLINGS_MUSH__TLS": "true",
    }
    with served(tmp_path / "data", *certificate, **changes) as server:
        assert "by telnet over TLS" in server.output.line()
        assert f"wss://127.0.0.1:{ports[1]}" in server.output.line()
        with Person(ports[0], trusted) as caity:
            caity.types(f"create Caity {PASSWORD}")
            caity.sees("The Workshop")
            with connect(f"wss://localhost:{ports[1]}", ssl=trusted, close_timeout=1) as ben:
                ben.send(f"create Ben {PASSWORD}")
                caity.sees("Ben")
                caity.types("good evening, ünï")
                while "ünï" not in str(ben.recv(timeout=20)):
                    pass
            with Person(ports[0]) as plain, suppress(ConnectionResetError):
                plain.types(f"connect Caity {PASSWORD}")
                assert "Workshop" not in plain.socket.recv(4_096).decode("utf-8", "replace")
            assert server.stop() == 0
            assert "shutting down" in caity.reads_to_the_end()


def test_without_a_certificate_there_is_no_tls(tmp_path: Path):
    done = ran("serve", "--port", "0", "--data", tmp_path, environment=environment(NOODLINGS_MUSH__TLS="1"))
    assert done.returncode == 2
    assert b"mush.tls needs a certificate" in done.stderr


def test_without_a_setting_there_is_no_port(tmp_path: Path):
    with served(tmp_path) as server:
        server.stop()
        assert not re.search("telnet|WebSocket", "\n".join(server.said))


async def test_names_that_characters_know_are_known(tmp_path: Path):
    settings = Settings(
        store={"path": str(tmp_path)},  # type: ignore[arg-type]
        embedding={"model": "none"},  # type: ignore[arg-type]
        api={"tokens": [{"role": "player", "token": "the-token-of-emil", "user": "user_emil"}]},  # type: ignore[arg-type]
    )
    with closing(build(settings)) as society:
        await society.perceive("phi", Percept("user_caity", "hello", 1_000_000.0))
        imported = Percept("account:zoe", "hello", 1_000_000.0)  # of an account of another server
        await society.perceive("phi", imported)
        society.introduce("user_ben", "Ben")
        society.introduce("steve-1b9d6bcd", "Steve")
        society.introduce("account:flo", "Florence")
        player = settings.world.player.title()
        for name in ("Caity", "ben", "PHI", "Servnak", player, "Emil", "STEVE", "Flo", "Zoe"):
            assert known(society, name), name
        assert not known(society, "Dora")
        await society.rest(5)
