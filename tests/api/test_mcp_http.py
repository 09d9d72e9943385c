"""`noodlings mcp --http`: a real server on a real socket, rights by token, and who is not let in at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from httpx2 import ASGITransport, AsyncClient
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from api.mcp.http import PATH, make_app
from noodlings.app import build
from noodlings.cli.mcp import mcp
from noodlings.errors import UserError
from noodlings.store.memory import MemoryStore
from tests.api.mcp_clients import (
    ROOT,
    done,
    over_http,
    refused,
    said,
    served,
    settings_of,
    texts,
)

pytestmark = pytest.mark.slow

CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "get_mood", "arguments": {"agent": "phi"}},
}
ACCEPTED = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with a token for each role."""
    with served(tmp_path_factory.mktemp("guarded")) as address:
        yield address


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_each_tool_does_what_it_says(url: str, mode: str) -> None:
    async with over_http(url, "admin", mode=mode) as client:
        assert len((await client.list_tools()).tools) == 9
        stored = await done(client, "store_memory", agent="maren", content="My xylophone was stolen")
        entry = stored.structured_content["turn"]["percept"]["id"]
        found = await done(client, "search_memories", agent="maren", query="xylophone")
        assert texts(found) == ["My xylophone was stolen"]
        context = await done(client, "get_memory_context", agent="maren", query="xylophone")
        assert "My xylophone was stolen" in said(context)
        assert (await done(client, "get_memory_stats", agent="maren")).structured_content["working"] == 1
        assert "Maren feels" in said(await done(client, "get_mood", agent="maren"))
        assert "My xylophone was stolen" in said(await done(client, "get_journal", agent="maren"))
        assert "nothing about anybody" in said(await done(client, "get_people", agent="maren"))
        commits = await done(client, "ask_chronicle", agent="maren", query="xylophone")
        assert commits.structured_content["commits"] == []
        await done(client, "forget_memory", agent="maren", memory_id=entry)
        assert texts(await done(client, "search_memories", agent="maren", query="xylophone")) == []


async def test_who_may_do_what(url: str) -> None:
    """Caity and Toad each told Phi something; everybody tries everything on it."""
    entries = {}
    for who, text in (("caity", "My boat is red"), ("toad", "My boat is a secret")):
        async with over_http(url, who) as client:
            stored = await done(client, "store_memory", agent="phi", content=text)
            entries[who] = stored.structured_content["turn"]["percept"]["id"]
            assert stored.structured_content["turn"]["percept"]["user"] == f"user_{who}"
    everything, hers = {"My boat is red", "My boat is a secret"}, {"My boat is red"}
    sights = {
        ("admin", ""): everything,
        ("viewer", ""): everything,
        ("world", ""): set(),
        ("world", "user_caity"): hers,
        ("caity", ""): hers,
        ("caity", "user_caity"): hers,
    }
    for (who, user), seen in sights.items():
        async with over_http(url, who, user) as client:
            found = await done(client, "search_memories", agent="phi", query="boat")
            assert set(texts(found)) == seen, (who, user)
            context = await done(client, "get_memory_context", agent="phi", query="boat", focus_level=5)
            assert ("secret" in str(context)) == ("My boat is a secret" in seen)
            await done(client, "get_memory_stats", agent="phi")
            await done(client, "get_mood", agent="phi")

    async with over_http(url, "viewer") as viewer:
        assert "can only read" in await refused(viewer, "store_memory", agent="phi", content="x")
        assert "can only read" in await refused(viewer, "forget_memory", agent="phi", memory_id=1)
    async with over_http(url, "caity") as caity:
        theirs = await refused(caity, "forget_memory", agent="phi", memory_id=entries["toad"])
        nobodys = await refused(caity, "forget_memory", agent="phi", memory_id=9_999)
        assert theirs.replace(str(entries["toad"]), "9999") == nobodys
        await refused(caity, "forget_memory", agent="phi", user_id="user_toad")
        await refused(caity, "store_memory", agent="phi", content="x", user_id="user_toad")
    async with over_http(url, "world") as world:
        assert "acts for" in await refused(world, "store_memory", agent="phi", content="x")
        stored = await done(world, "store_memory", agent="phi", content="I am new", user_id="user_new")
        assert stored.structured_content["turn"]["percept"]["user"] == "user_new"
    async with over_http(url, "world", "user_caity") as world:
        for whom in ("user_toad", "user_new", " user_caity"):
            assert await refused(world, "store_memory", agent="phi", content="It was me", user_id=whom)
        stored = await done(world, "store_memory", agent="phi", content="It is me", user_id="user_caity")
        assert stored.structured_content["turn"]["percept"]["user"] == "user_caity"
        await refused(world, "forget_memory", agent="phi", memory_id=entries["toad"])
        await done(world, "forget_memory", agent="phi", memory_id=entries["caity"])
    async with over_http(url, "admin", "user_caity") as admin:
        asked = {"agent": "phi", "content": "It was me", "user_id": "user_toad"}
        assert "leave user_id out" in await refused(admin, "store_memory", **asked)
    async with over_http(url, "toad") as toad:
        gone = await done(toad, "forget_memory", agent="phi", user_id="me")
        assert gone.structured_content["forgotten"] == 1


async def test_a_user_is_named_as_to_the_rest_of_the_api(url: str) -> None:
    async with over_http(url, "world", quote("user_zoë")) as world:
        stored = await done(world, "store_memory", agent="phi", content="I am new here")
        assert stored.structured_content["turn"]["percept"]["user"] == "user_zoë"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer the-token-of-nobody-at-all"}, 401),
        ({"Authorization": "Basic dGhlLXRva2Vu"}, 401),
        ({"Authorization": "Bearer the-token-of-player-caity", "Noodlings-User": "user_toad"}, 403),
        ({"Authorization": "Bearer the-token-of-the-admin", "Noodlings-User": "x" * 200}, 400),
        ({"Authorization": "Bearer the-token-of-the-admin", "Noodlings-User": ""}, 400),
        ({"Authorization": "Bearer the-token-of-the-admin", "Origin": "https://elsewhere.example"}, 403),
        ({"Authorization": "Bearer the-token-of-the-admin"}, 200),
    ],
)
async def test_who_is_let_in(url: str, headers: dict[str, str], status: int) -> None:
    async with AsyncClient(headers=ACCEPTED | headers) as http:
        answer = await http.post(url, json=CALL)
    assert answer.status_code == status, answer.text
    if status != 200:
        assert answer.headers["content-type"] == "application/problem+json"
    if status == 401:
        assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_hostile_requests_are_refused_and_harm_nobody(url: str) -> None:
    headers = ACCEPTED | {
        "Authorization": "Bearer the-token-of-the-admin",
        "Content-Type": "application/json",
    }
    async with AsyncClient(headers=headers) as http:
        for body, statuses in (
            (b"no json", (400,)),
            (b"[" * 5_000, (400,)),
            (b'{"jsonrpc": "2.0"}', (400,)),
            (b'{"a": "' + b"x" * 200_000 + b'"}', (413,)),
        ):
            answer = await http.post(url, content=body)
            assert answer.status_code in statuses, answer.text
            assert "Traceback" not in answer.text
        assert (await http.get(url)).status_code == 405
        assert (await http.delete(url)).status_code == 405
        assert (await http.post(url.replace("/mcp", "/"), json=CALL)).status_code == 404
        answer = await http.post(url, json=CALL)
        assert answer.json()["result"]["isError"] is False


async def test_without_tokens_this_machine_alone_is_let_in(tmp_path: Path) -> None:
    society = build(settings_of(tmp_path), store=MemoryStore())
    app = make_app(society, "phi")
    url = f"http://127.0.0.1{PATH}"
    async with (
        app.router.lifespan_context(app),
        AsyncClient(transport=ASGITransport(app), headers=ACCEPTED) as http,
    ):
        async with Client(streamable_http_client(url, http_client=http)) as client:
            assert "Phi feels" in said(await done(client, "get_mood"))
        answer = await http.post(url, json=CALL, headers={"Host": "attacker.example"})
        assert answer.status_code == 403
    society.close()


@pytest.mark.parametrize(
    ("more", "why"),
    [({"host": "0.0.0.0"}, "no tokens are configured"), ({"user": "caity"}, "a token says who asks")],
)
def test_what_it_refuses_to_start_with(tmp_path: Path, more: dict[str, str], why: str) -> None:
    with pytest.raises(UserError, match=why):
        mcp(http=True, port=0, data=tmp_path, config=ROOT / "config.yaml", **more)
    assert not list(tmp_path.iterdir())
