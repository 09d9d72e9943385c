"""The studio in a browser: only this machine's own pages come in, and all its processes end with it."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from httpx2 import Client, HTTPTransport
from websockets.sync.client import connect

from noodlings.errors import UserError
from noodlings.ports import AgentState, Changes
from noodlings.store.sql import SqlStore
from studio import web
from tests.api.serving import ROOT, environment

pytestmark = pytest.mark.slow

pytest.importorskip("textual_serve")


@pytest.fixture
def port() -> int:
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture
def process(port: int) -> Iterator[subprocess.Popen[str]]:
    """`noodlings studio --web` over a server that is not there; the studio then says so."""
    with serving(port, "--url", "http://127.0.0.1:9") as process:
        yield process


@contextmanager
def serving(port: int, *words: str) -> Iterator[subprocess.Popen[str]]:
    """`noodlings studio --web`, once it listens."""
    process = subprocess.Popen(
        [sys.executable, "-m", "noodlings", "studio", "--web", "--port", str(port), *words],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment(NOODLINGS_TOKEN="a-secret-that-nobody-sees"),
    )
    assert process.stdout is not None
    try:
        assert f"http://127.0.0.1:{port}" in process.stdout.readline()
        with Client(transport=HTTPTransport(retries=10)) as client:  # it listens a moment later
            assert client.get(f"http://127.0.0.1:{port}/").status_code == 200
        yield process
    finally:
        process.kill()
        process.wait(10)
        process.stdout.close()


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="looks at processes as Linux shows them")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_no_process_is_left_however_it_ends(
    process: subprocess.Popen[str], port: int, number: signal.Signals
) -> None:
    with connect(f"ws://127.0.0.1:{port}/ws?width=100&height=30") as page:
        assert page.recv(timeout=30)
        group = _children(process.pid)
        assert len(group) >= 2  # what serves, and the studio of this page
        process.send_signal(number)
        code = process.wait(10)
        assert code == (-signal.SIGKILL if number is signal.SIGKILL else 0)
        _wait_until_gone(group)


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="looks at processes as Linux shows them")
def test_nothing_goes_on_reading_a_folder_when_a_page_or_all_is_closed(tmp_path: Path, port: int) -> None:
    with closing(SqlStore(tmp_path)) as store:
        store.commit(Changes("phi", state=AgentState("phi")))
    with serving(port, "--data", str(tmp_path)) as process:
        address = f"ws://127.0.0.1:{port}/ws?width=100&height=30"
        with connect(address) as page:
            assert page.recv(timeout=30)
            (server,) = _children_of(process.pid)
            page_and_reader = _children(server)
            assert len(page_and_reader) >= 2
        _wait_until_gone(page_and_reader)
        with connect(address) as page:
            assert page.recv(timeout=30)
            group = _children(process.pid)
            assert len(group) >= 3
            process.send_signal(signal.SIGTERM)
            assert process.wait(10) == 0
        _wait_until_gone(group)


def test_other_pages_and_other_names_are_kept_out(process: subprocess.Popen[str], port: int) -> None:
    with Client(base_url=f"http://127.0.0.1:{port}") as client:
        assert client.get("/").status_code == 200
        assert client.get("/", headers={"Host": f"localhost:{port}"}).status_code == 200
        assert client.get("/", headers={"Host": "evil.example"}).status_code == 403
        assert client.get("/ws", headers={"Origin": "http://evil.example"}).status_code == 403
        assert client.get("/ws", headers={"Origin": "null"}).status_code == 403


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="looks at processes as Linux shows them")
def test_a_token_is_in_no_command_line(process: subprocess.Popen[str], port: int) -> None:
    with connect(f"ws://127.0.0.1:{port}/ws?width=100&height=30") as page:
        assert page.recv(timeout=30)
        for pid in [process.pid, *_children(process.pid)]:
            assert b"a-secret" not in Path(f"/proc/{pid}/cmdline").read_bytes()


def test_a_page_fetches_nothing_from_elsewhere(process: subprocess.Popen[str], port: int) -> None:
    with Client(base_url=f"http://127.0.0.1:{port}") as client:
        for path in ("/", "/static/css/xterm.css", "/nothing"):
            policy = client.get(path).headers["Content-Security-Policy"]
            rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
            assert rules["default-src"].startswith("'self'")
            named = {word for words in rules.values() for word in words.split() if "//" in word}
            assert {urlsplit(word).netloc for word in named} == {f"127.0.0.1:{port}", f"localhost:{port}"}


def test_without_the_package_it_says_which_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"pip install '\.\[web\]' in the folder"):
        web.serve(["true"], 1, {})


def test_a_port_that_is_taken_is_said_in_words(port: int) -> None:
    with closing(socket.socket()) as somebody:
        somebody.bind(("127.0.0.1", port))
        somebody.listen()
        with pytest.raises(
            UserError, match=rf"{port} cannot be listened at: Address already in use; see --port"
        ):
            web.serve(["true"], port, {})


def _children(pid: int) -> list[int]:
    """All below a process."""
    found = _children_of(pid)
    return found + [below for child in found for below in _children(child)]


def _children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _wait_until_gone(pids: list[int]) -> None:
    for _ in range(100):
        left = [pid for pid in pids if _alive(pid)]
        if not left:
            return
        signal.sigtimedwait([], 0.1)
    raise AssertionError(f"left: {left}")


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
