"""A running server as a source: it answers as a folder does, and is found again when it was gone."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import pty
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from noodlings.config import load_settings
from noodlings.errors import Forbidden, NoodlingsError, NotFound, UserError
from noodlings.host.studio import local_source
from noodlings.inspect import questions
from noodlings.inspect.feed import TurnEventView
from noodlings.inspect.questions import QUESTIONS, Question
from studio.app import Studio
from studio.panes.talk import Talk
from studio.remote import RemoteSource, _parse_event
from studio.source import DISCONNECTED, RECONNECTED, Action, SourceEvent, Unreachable
from tests.api.serving import ROOT, Server, environment, served
from tests.studio.village import screen_of, until

pytestmark = pytest.mark.slow

TOKENS = [
    {"role": "admin", "token": "the-token-of-the-admin"},
    {"role": "viewer", "token": "the-token-of-a-viewer"},
]
PLAYER = {"role": "player", "token": "the-token-of-a-player", "user": "user_caity"}
# Every question with arguments as the panes give them; entry 1 is there.
ASKED: list[tuple[Question[Any], dict[str, Any]]] = [
    (questions.STATS, {}),
    (questions.WORKING, {}),
    (questions.WORKING, {"limit": 2}),
    (questions.AFFECT_GROUPS, {"limit": 1}),
    (questions.ALIKE, {"affect": [-0.5, 0.5, 0.1, 0.9, 0.0], "limit": 10}),
    (questions.FLOW, {}),
    (questions.SYMBOLS, {"similar": False}),
    (questions.WHY, {"back": 1}),
    (questions.TURN, {"entry_id": 1}),
    (questions.PROMPT, {"entry_id": 1}),
    (questions.TRANSISTORS, {}),
    (questions.LINKS, {"entry_id": 1}),
    (questions.MOOD, {}),
    (questions.OBSERVE, {}),
    (questions.BROWSE, {"order": "importance", "falling": True, "containing": "dog", "everything": False}),
    (questions.RECALL, {"query": "dog", "limit": 3, "mood": [-0.5, 0.5, 0, 0.9, 0], "emotion_weight": 0.4}),
    (questions.CHRONICLE, {"query": "why is the dog dead?"}),
    (questions.ARCHIVE, {}),
    (questions.AGENT, {}),
    (questions.EPISODIC, {"min_importance": 0.1, "who": "user_caity"}),
    (questions.IMPORTANT, {}),
    (questions.BY_USER, {"who": "user_caity"}),
    (questions.FOCUS, {"level": 2, "query": "dog"}),
    (questions.PEOPLE, {}),
    (questions.PEOPLE, {"person": "user_caity"}),
    (questions.PROFILE, {}),
    (questions.JOURNAL, {"limit": 2}),
]


def told(server: Server, text: str, agent: str = "phi") -> int:
    """Let an agent hear something, as whoever started the server; its number."""
    answer = server.client.post(f"/api/agents/{agent}/perceive", json={"user_id": "user_caity", "text": text})
    assert answer.status_code == 200, answer.text
    return int(answer.json()["turn"]["percept"]["id"])


async def test_every_question_is_answered_as_over_the_folder_itself(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        told(server, "My dog died yesterday")
        told(server, "do you remember my dog?")
        remote = RemoteSource(server.url)
        local = local_source(load_settings(None, store={"path": str(tmp_path)}, embedding={"model": "none"}))
        try:
            for question, how in [(questions.AGENTS, {}), *ASKED]:
                agent = "" if question is questions.AGENTS else "phi"
                for _ in range(10):
                    views = [await source.ask(question, agent, **how) for source in (remote, local)]
                    answers = [view.as_dict() for view in views]
                    if same(*map(_essence, answers)):
                        break
                    await local.close()  # the server goes on in the background: to be read anew
                else:
                    raise AssertionError((question, *answers))
                assert _essence(answers[0])
            assert {question for question, _ in ASKED} | {questions.AGENTS} == set(QUESTIONS.values())
        finally:
            await remote.close()
            await local.close()


def _essence(answer: dict[str, Any]) -> Any:
    """Of a search what was found: a live index and one that was just read may score by a hair apart. Of an
    archive how much there is: a folder loads it when it is first searched."""
    if "memories" in answer:
        return {hit["entry"]["id"] for hit in answer["memories"]}
    return answer["perceived"] if "parked" in answer else answer


def same(one: Any, other: Any) -> bool:
    """Whether two answers say the same; ages and what wears off with time may differ by a little."""
    if isinstance(one, dict):
        kept = [key for key in one if not key.endswith("age")]
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in kept)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == pytest.approx(other, abs=0.02)) if isinstance(one, float) else bool(one == other)


async def test_deeds_reach_the_memory(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        remote = RemoteSource(server.url, user="user_ines")
        try:
            said = await remote.act(Action.SAY, "phi", text="hello from Ines")
            entry = said["turn"]["percept"]["id"]
            assert said["turn"]["percept"]["user"] == "user_ines"
            assert (await remote.act(Action.PIN, "phi", entry=entry, pinned=True))["pinned"]
            assert not (await remote.act(Action.PIN, "phi", entry=entry, pinned=False))["pinned"]
            assert (await remote.act(Action.IMPORTANCE, "phi", entry=entry, value=0.9))["importance"] == 0.9
            assert (await remote.act(Action.IMPORTANCE, "phi", entry=entry, value=None))["importance"] < 0.9
            assert (await remote.act(Action.FORGET, "phi", entry=entry))["forgotten"] == 1
            with pytest.raises(NotFound):
                await remote.ask(questions.LINKS, "phi", entry_id=entry)
        finally:
            await remote.close()


async def test_a_note_is_read_where_the_server_is(tmp_path: Path) -> None:
    with served(tmp_path, tokens=[*TOKENS, PLAYER]) as server:
        admin, player = (
            RemoteSource(server.url, TOKENS[0]["token"]),
            RemoteSource(server.url, PLAYER["token"]),
        )
        try:
            turn = await player.act(Action.SAY, "phi", text="My dog died yesterday and I cannot stop crying")
            entry = turn["turn"]["percept"]["id"]
            await _until(lambda: bool(list(tmp_path.rglob("*memory_*.md"))))  # in the background
            assert "My dog died yesterday" in await admin.note("phi", entry)
            with pytest.raises(NotFound, match="no memory 99"):
                await admin.note("phi", 99)
            with pytest.raises(Forbidden):
                await player.note("phi", entry)
        finally:
            await admin.close()
            await player.close()


async def test_what_a_token_does_not_allow_is_said_in_words(tmp_path: Path) -> None:
    with served(tmp_path, tokens=TOKENS) as server:
        for token, words in (("", "--token"), ("wrong-token-wrong-token", "--token")):
            stranger = RemoteSource(server.url, token)
            with pytest.raises(Forbidden, match=words):
                await stranger.ask(questions.AGENTS)
            await stranger.close()
        viewer = RemoteSource(server.url, TOKENS[1]["token"])
        try:
            assert (await viewer.ask(questions.AGENTS)).agents
            with pytest.raises(Forbidden, match="a viewer"):
                await viewer.act(Action.SAY, "phi", text="hello")
            with pytest.raises(NotFound, match="nobody"):
                await viewer.ask(questions.STATS, "nobody/../phi")
            with pytest.raises(UserError):
                await viewer.ask(questions.BROWSE, "phi", order="colour")
        finally:
            await viewer.close()


def test_what_waiting_does_not_change_is_said_before_there_is_a_screen(tmp_path: Path) -> None:
    RemoteSource("http://127.0.0.1:9").connect()  # it may come back
    with served(tmp_path, tokens=TOKENS) as server:
        RemoteSource(server.url, TOKENS[1]["token"]).connect()
        with pytest.raises(
            Forbidden, match=r"Authorization: Bearer TOKEN\. Pass it with --token or NOODLINGS_TOKEN\."
        ):
            RemoteSource(server.url).connect()
        run = [sys.executable, "-m", "noodlings", "studio", "--url", server.url]
        screen, terminal = pty.openpty()  # on which nothing is drawn
        refused = subprocess.run(
            [*run, "--token", "wrong-token-wrong-token"],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            cwd=ROOT,
            env=environment(),
            timeout=60,
            check=False,
        )
        said = os.read(screen, 10_000).decode()
        os.close(terminal)
        os.close(screen)
        assert refused.returncode == 2
        assert said.startswith(
            "noodlings: A valid token is needed: send the header Authorization: Bearer TOKEN"
        )
        alone = subprocess.run(
            run,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=ROOT,
            env=environment(),
            text=True,
            timeout=60,
            check=False,
        )
        assert (alone.returncode, alone.stdout) == (2, "")
        assert "needs a terminal" in alone.stderr


async def test_a_server_that_is_not_there_or_is_another_one() -> None:
    nowhere = RemoteSource("http://127.0.0.1:9")
    with pytest.raises(Unreachable, match="does not answer"):
        await nowhere.ask(questions.AGENTS)
    await nowhere.close()


@pytest.mark.parametrize(
    ("body", "header"), [("hello", ""), ("hello", "Content-Encoding: gzip"), ("[" * 100_000, "")]
)
async def test_an_answer_of_another_server_is_refused_in_words(body: str, header: str) -> None:
    async with answering(body, header) as url:
        source = RemoteSource(url)
        with pytest.raises(NoodlingsError, match="not as noodlings serve does"):
            await source.ask(questions.AGENTS)
        with pytest.raises(NoodlingsError, match="not as noodlings serve does"):
            await asyncio.to_thread(source.connect)
        await source.close()


@pytest.mark.parametrize("body", ['{"text": "x"}', '{"markdown": 7}', '{"markdown": null}'])
async def test_a_note_without_text_is_refused_in_words(body: str) -> None:
    async with answering(body) as url:
        source = RemoteSource(url)
        with pytest.raises(NoodlingsError, match="not as noodlings serve does"):
            await source.note("phi", 1)
        await source.close()


async def test_an_answer_that_is_not_understood_is_said_on_the_screen() -> None:
    async with answering('{"agents": [{"id": "phi"}]}') as url:
        app = Studio(RemoteSource(url), "phi")
        async with app.run_test(size=(160, 30)) as pilot:
            await until(pilot, lambda: "agents.0.name: Field required" in screen_of(app))


@pytest.mark.parametrize(
    "message",
    ["no JSON", "[" * 100_000, "[1]", "{}", '{"type": "turn", "agent": "phi", "step": "turn", "entry": 1}'],
)
async def test_a_message_that_is_not_understood_is_refused_in_words(message: str) -> None:
    with pytest.raises(NoodlingsError, match="noodlings"):
        await _parse_event(message)


async def test_a_message_of_a_newer_server_is_understood() -> None:
    told = {"agent": "phi", "name": "Phi", "entry": 1, "step": "dream", "turn": None, "more": 1}
    sign = await _parse_event(json.dumps({"type": "step"} | told))
    assert sign is not None
    assert sign.turn_event == TurnEventView("phi", "Phi", 1, "dream", None)


@contextlib.asynccontextmanager
async def answering(body: str, header: str = "") -> AsyncIterator[str]:
    """A server that says the same whatever it is asked; its address."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = ["HTTP/1.1 200 OK", f"Content-Length: {len(body)}", "Connection: close", header or "X: y"]
        writer.write("\r\n".join([*head, "", body]).encode())
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as other:
        yield f"http://127.0.0.1:{other.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1:8765", "ftp://host", "http://", "http://a:b@host", "http://host/?x", "http://[x"]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(UserError, match="not the address"):
        RemoteSource(url)


async def test_steps_come_as_they_happen_and_a_killed_server_is_found_again(tmp_path: Path) -> None:
    signs: list[SourceEvent] = []
    with served(tmp_path) as server:
        port = server.url.rpartition(":")[2]
        remote = RemoteSource(server.url)

        async def listen() -> None:
            async for sign in remote.events():
                signs.append(sign)  # noqa: PERF401 — the other side looks at it meanwhile

        listening = asyncio.create_task(listen())
        try:
            await _until(lambda: bool(signs))  # the snapshot
            await remote.act(Action.SAY, "phi", text="My dog died yesterday")
            await _until(lambda: any(sign.turn_event and sign.turn_event.turn for sign in signs))
            steps = [sign.step for sign in signs if sign.agent == "phi"]
            assert steps[0] == "perceived"
            assert {"recall", "turn"} < set(steps)
            server.process.kill()
            await _until(lambda: signs[-1].step == DISCONNECTED)
            assert sum(sign.step == DISCONNECTED for sign in signs) == 1
            with served(tmp_path, "--port", port):
                await _until(lambda: any(sign.step == RECONNECTED for sign in signs))
                assert (await remote.ask(questions.STATS, "phi")).perceived == 1
        finally:
            listening.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await listening
            await remote.close()


async def test_the_studio_says_that_it_reconnects_and_recovers(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        port = server.url.rpartition(":")[2]
        app = Studio(RemoteSource(server.url), "phi")
        async with app.run_test(size=(100, 30)) as pilot:
            await until(pilot, lambda: "● live" in screen_of(app) and "heard nothing" in screen_of(app))
            await asyncio.to_thread(told, server, "My dog died yesterday")
            await until(pilot, lambda: "My dog died" in screen_of(app))
            await asyncio.to_thread(told, server, "hello")
            await until(pilot, lambda: len(app.query_one(Talk).conversation.answered) == 2)
            await pilot.press("comma")
            await until(pilot, lambda: "1 before the last answer" in screen_of(app))
            server.process.kill()
            await until(pilot, lambda: "reconnecting" in screen_of(app))
            assert "My dog died" in screen_of(app)
            with served(tmp_path, "--port", port) as again:
                await until(pilot, lambda: "● live" in screen_of(app), tries=1_500)
                await asyncio.to_thread(told, again, "hello again")
                await until(pilot, lambda: "2 before the last answer" in screen_of(app))
                await pilot.press("full_stop", "full_stop")
                await until(pilot, lambda: "the last answer" in screen_of(app))


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110 — what is waited for is in another process
            await asyncio.sleep(0.02)
