"""`noodlings mcp` as a client starts it: a real process, asked by the official client and by broken ones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from threading import Timer

import pytest

from noodlings.cli.mcp import _asker
from noodlings.config import Settings
from noodlings.errors import UserError
from noodlings.host.visit import opened
from noodlings.values.percept import Percept
from tests.api.mcp_clients import (
    ROOT,
    command,
    done,
    environment,
    over_stdio,
    refused,
    said,
    settings_of,
    texts,
)

pytestmark = pytest.mark.slow

GREETING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


async def told(folder: Path, *lines: tuple[str, str]) -> None:
    """Let SERVNAK hear lines of users, and let go of the folder again."""
    with opened(settings_of(folder)) as society:
        for user, text in lines:
            percept = Percept(user, text, society.clock.now(), addressed=True)
            await society.perceive("servnak", percept)


def kept(folder: Path) -> list[str]:
    """What SERVNAK remembers."""
    with opened(settings_of(folder), read_only=True) as society:
        return [entry.user_text for entry in society.find("servnak").memory.retrieve_working()]


def holding(folder: Path, word: str) -> list[str]:
    """The files in which a word stands."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if word.encode() in path.read_bytes()]


def talked(
    folder: Path, lines: list[bytes], *more: str, answers: int, **variables: str
) -> tuple[list[str], int, str]:
    """Say all lines, and leave after so many answers. What was printed, the exit code, complaints."""
    process = subprocess.Popen(
        command(folder, *more),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(**variables),
        cwd=ROOT,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    printed: list[str] = []
    patience = Timer(60, process.kill)
    patience.start()
    try:
        process.stdin.write(b"\n".join(lines) + b"\n")
        process.stdin.flush()
        while sum("id" in json.loads(line) for line in printed) < answers:
            line = process.stdout.readline()
            assert line, (printed, process.stderr)
            printed.append(line.decode())
        rest, complaints = process.communicate(timeout=20)
        return printed + rest.decode().splitlines(), process.returncode, complaints.decode()
    finally:
        patience.cancel()
        process.kill()
        process.communicate()


async def test_each_tool_does_what_it_says(tmp_path: Path) -> None:
    async with over_stdio(tmp_path, "--agent", "serv") as client:
        assert client.server_info.name == "noodlings"
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == [
            "search_memories",
            "store_memory",
            "get_memory_context",
            "get_people",
            "get_journal",
            "ask_chronicle",
            "get_memory_stats",
            "forget_memory",
            "get_mood",
        ]

        stored = await done(client, "store_memory", content="My xylophone was stolen yesterday")
        assert "SERVNAK remembers it as #1" in said(stored)
        turn = stored.structured_content["turn"]
        assert turn["percept"]["user"] == "user_traveller"
        assert turn["response"] in said(stored)

        found = await done(client, "search_memories", query="xylophone", n_results=3)
        assert texts(found) == ["My xylophone was stolen yesterday"]
        assert "#1 [score" in said(found)
        context = await done(client, "get_memory_context", query="xylophone", focus_level=1)
        assert 'traveller said to SERVNAK: "My xylophone was stolen yesterday"' in said(context)
        stats = await done(client, "get_memory_stats")
        assert stats.structured_content["perceived"] == 1
        mood = await done(client, "get_mood")
        assert mood.structured_content["affect"]["affect"]["valence"] < 0.0
        other = await done(client, "get_memory_stats", agent="phi")
        assert (other.structured_content["name"], other.structured_content["perceived"]) == ("Phi", 0)

        assert holding(tmp_path, "xylophone")
        forgotten = await done(client, "forget_memory", memory_id=1)
        assert forgotten.structured_content["forgotten"] == 1
        assert texts(await done(client, "search_memories", query="xylophone")) == []
        assert "no memory 1" in await refused(client, "forget_memory", memory_id=1)
    assert holding(tmp_path, "xylophone") == []


async def test_a_player_sees_and_changes_its_own_alone(tmp_path: Path) -> None:
    await told(tmp_path, ("user_caity", "My boat is red"), ("user_toad", "My boat is a secret"))
    async with over_stdio(tmp_path, "--user", "Caity", "--agent", "servnak") as client:
        assert texts(await done(client, "search_memories", query="boat")) == ["My boat is red"]
        context = await done(client, "get_memory_context", query="boat", focus_level=5)
        assert "secret" not in said(context)
        assert "secret" not in json.dumps(context.structured_content)
        stored = await done(client, "store_memory", content="My boat sank")
        assert stored.structured_content["turn"]["percept"]["user"] == "user_caity"
        why = await refused(client, "store_memory", content="I am Toad", user_id="user_toad")
        assert "only; leave user_id out" in why
        assert "no memory 2" in await refused(client, "forget_memory", memory_id=2)
        assert "you told the character yourself" in await refused(
            client, "forget_memory", user_id="user_toad"
        )
        mine = await done(client, "forget_memory", user_id="me")
        assert mine.structured_content["forgotten"] == 2
    assert kept(tmp_path) == ["My boat is a secret"]
    audit = [json.loads(line) for line in (tmp_path / "audit.log").read_text().splitlines()]
    facts = [(line["path"], line["user"], line["status"]) for line in audit]
    assert facts == [
        ("store_memory", "user_caity", 200),
        ("store_memory", "user_caity", 403),
        ("forget_memory", "user_caity", 404),
        ("forget_memory", "user_caity", 403),
        ("forget_memory", "user_caity", 200),
    ]
    assert "boat" not in json.dumps(audit)


async def test_who_is_named_by_an_id_keeps_their_name(tmp_path: Path) -> None:
    for user in ("Caity", "user_caity"):
        async with over_stdio(tmp_path, "--user", user, "--agent", "servnak") as client:
            await done(client, "search_memories", query="boat")
    with opened(settings_of(tmp_path), read_only=True) as society:
        assert society.names()["user_caity"] == "Caity"


async def test_beside_a_writer_it_reads_what_is_new_and_changes_nothing(tmp_path: Path) -> None:
    with opened(settings_of(tmp_path)) as society:
        async with over_stdio(tmp_path, "--agent", "servnak") as client:
            tools = {tool.name: tool.description for tool in (await client.list_tools()).tools}
            assert "already in use by process" in tools["store_memory"]
            assert "already in use" not in tools["search_memories"]
            assert texts(await done(client, "search_memories", query="boat")) == []
            said_now = Percept("user_caity", "My boat is red", society.clock.now(), addressed=True)
            await society.perceive("servnak", said_now)
            assert texts(await done(client, "search_memories", query="boat")) == ["My boat is red"]
            for change in ({"content": "My boat sank"}, {"memory_id": 1}):
                tool = "store_memory" if "content" in change else "forget_memory"
                why = await refused(client, tool, **change)
                assert why.startswith("Memories can only be read from here, not changed")
        assert society.find("servnak").memory.stats().perceived == 1


def test_standard_output_belongs_to_the_protocol(tmp_path: Path) -> None:
    """Whatever comes in; and the process ends well when its input does."""

    def calling(number: int, arguments: str) -> bytes:
        params = f'{{"name": "search_memories", "arguments": {arguments}}}'
        return f'{{"jsonrpc": "2.0", "id": {number}, "method": "tools/call", "params": {params}}}'.encode()

    lines = [
        json.dumps(GREETING).encode(),
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        b"no json \x00\xff\x1b[31m",
        b"{" * 5_000,
        b'{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "\\u001b[31mno tool"}}',
        calling(3, '{"agent": "phi", "query": "x", "emotion_weight": NaN}'),
        calling(4, '{"agent": "phi", "query": "x", "n_results": 1e400}'),
        calling(5, json.dumps({"agent": "phi", "query": "x" * 200_000})),
        calling(6, json.dumps({"agent": "phi\x1b[31m\x00", "query": "\u202e\x07 boat"})),
        calling(9, '{"agent": "phi", "query": "half a \\ud800 character is no JSON"}'),
        calling(7, '["a list"]'),
        calling(8, json.dumps({"agent": "phi", "query": "boat"})),
    ]
    printed, code, complaints = talked(tmp_path, lines, answers=8)
    assert (code, complaints) == (0, "")
    answers = [json.loads(line) for line in printed]
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    by_id = {answer["id"]: answer for answer in answers if "id" in answer}
    assert by_id[1]["result"]["serverInfo"]["name"] == "noodlings"
    assert "There is no tool no tool. Tools: search_memories" in by_id[2]["error"]["message"]
    for number, word in ((3, "finite"), (4, "n_results"), (5, "1000 characters")):
        result = by_id[number]["result"]
        assert result["isError"]
        assert word in result["content"][0]["text"]
    assert "error" in by_id[7]
    assert all(by_id[number]["result"]["isError"] is False for number in (6, 8))
    assert "\x1b" not in "".join(printed)


def test_a_client_is_greeted_before_anything_heavy_is_loaded() -> None:
    heavy = {"numpy", "sqlalchemy", "fastapi", "onnxruntime", "prompt_toolkit", "noodlings.app"}
    code = f"import noodlings.cli.main, api.mcp.stdio, sys; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, env=environment(), cwd=ROOT
    )
    assert done.stdout.decode().strip() == "[]"


def test_a_client_may_leave_while_the_embedding_model_is_still_loaded(tmp_path: Path) -> None:
    greeting = [json.dumps(GREETING).encode()]
    _, code, complaints = talked(tmp_path, greeting, answers=1, NOODLINGS_EMBEDDING__MODEL="minilm")
    assert (code, complaints) == (0, "")


def test_a_character_that_is_not_there_is_said_on_the_way_out(tmp_path: Path) -> None:
    asked = [GREETING, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]
    lines = [json.dumps(line).encode() for line in asked]
    printed, code, complaints = talked(tmp_path, lines, "--agent", "servank", answers=2)
    why = "There is no character servank; did you mean SERVNAK?"
    assert (code, complaints) == (2, f"noodlings: {why}\n")
    assert why in json.loads(printed[1])["error"]["message"]


@pytest.mark.parametrize("nobody", ["", " ", "\u200b"])
def test_an_empty_name_does_not_make_somebody_the_owner(nobody: str) -> None:
    with pytest.raises(UserError, match="--user is empty"):
        _asker(Settings(), nobody)
