"""What is remembered about a question, of one user and without what has nothing to do with it; and links."""

from __future__ import annotations

import asyncio
import itertools
from contextlib import nullcontext
from typing import Any

import pytest

from api.authentication import AccessToken
from api.mcp.access import Access, Asker
from api.mcp.tools import call
from commands import registry
from commands.registry import CommandContext
from noodlings.recall.focus import FLOOR
from noodlings.values.caller import Caller, Role
from noodlings.values.percept import Percept
from tests.api.conftest import MakeSite, Site

CAITY = Caller("user_caity", "caity")
ADMIN = Caller("user_root", "root", Role.ADMIN)
FOCUS = "/api/agents/phi/focus"


async def told(site: Site, text: str, user: str = "user_caity") -> int:
    """Phi overhears a line half an hour after the one before it: no talk, so nothing follows anything."""
    site.clock.advance(1_800.0)
    return (await site.society.perceive("phi", Percept(user, text, site.clock.now()))).entry_id


async def typed(site: Site, line: str, caller: Caller = ADMIN) -> dict[str, Any]:
    reply = await registry.dispatch(line, CommandContext(caller, site.society, site.parts.inspector))
    assert isinstance(reply.data, dict)
    return reply.data


async def by_mcp(site: Site, role: Role = Role.ADMIN, **arguments: Any) -> Any:
    held = AccessToken(role, user_id="user_caity") if role is Role.PLAYER else AccessToken(role)
    access = Access(Asker(held), lambda: nullcontext(site.society), agent="phi")
    return await call("get_memory_context", access, arguments)


def users(view: Any) -> set[str]:
    return {one["entry"]["user"] for one in view["memories"]}


async def test_a_context_of_one_user_holds_what_that_user_said(site: Site) -> None:
    for user in ("user_caity", "user_toad", "user_caity"):
        await told(site, "the red boat", user)
    everybody = (await site.get(FOCUS, params={"query": "boat", "level": 4})).json()
    assert users(everybody) == {"user_caity", "user_toad"}
    asked = {"query": "boat", "level": 4, "user_id": "user_toad"}
    by_rest = (await site.get(FOCUS, params=asked)).json()
    assert users(by_rest) == {"user_toad"}
    assert len(by_rest["context"]) == 1
    assert await typed(site, '@focus phi 4 "boat" --user user_toad') == by_rest
    answer = await by_mcp(site, query="boat", focus_level=4, user_id="user_toad")
    assert answer.structured_content == by_rest


async def test_a_link_leads_to_nobody_else_either(site: Site) -> None:
    boat, rain = await told(site, "the red boat"), await told(site, "it rains", "user_toad")
    await typed(site, f"@link phi --from {boat} --to {rain}")
    asked = {"query": "boat", "level": 5}
    assert users((await site.get(FOCUS, params=asked)).json()) == {"user_caity", "user_toad"}
    own = (await site.get(FOCUS, params=asked | {"user_id": "user_caity"})).json()
    assert users(own) == {"user_caity"}


async def test_a_player_may_name_itself_and_nobody_else(guarded: Site) -> None:
    for user in ("user_caity", "user_toad"):
        await told(guarded, "the red boat", user)
    asked = {"query": "boat", "level": 4}
    for own in ("", "me", "user_caity"):
        view = (await guarded.get(FOCUS, "caity", params=asked | {"user_id": own})).json()
        assert users(view) == {"user_caity"}
    assert (await guarded.get(FOCUS, "caity", params=asked | {"user_id": "user_toad"})).status_code == 403
    assert "yourself" in (await typed(guarded, "@focus phi 4 boat --user user_toad", CAITY))["error"]
    refused = await by_mcp(guarded, Role.PLAYER, query="boat", user_id="user_toad")
    assert refused.is_error


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("@focus phi 4 boat --user", "needs a value"),
        ("@focus phi 4 boat --usr me", "did you mean --user?"),
        ("@focus phi 4 --user me", "for what"),
        ("@focus phi 4 boat --user nobody", "does not know anybody called nobody"),
    ],
)
async def test_what_is_typed_wrong_is_said(site: Site, line: str, why: str) -> None:
    await told(site, "the red boat")
    assert why in (await typed(site, line))["error"]


IDLE = [
    "lol",
    "nice weather today",
    "I had soup for lunch",
    "the bus was late again",
    "the printer is out of paper",
    "this chair is comfortable",
    "I like the colour blue",
    "somebody left the window open",
    "the kettle is boiling",
]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["minilm", "none"])
async def test_nine_fillers_do_not_come_along(make_site: MakeSite, model: str) -> None:
    site = make_site(sections={"embedding": {"model": model}})
    await told(site, "My dog Max died yesterday")
    for text in IDLE:
        await told(site, text)
    for _ in range(100):
        if not site.society.find("phi").archive.state().pending:
            break
        await asyncio.sleep(0.1)
    for question in ("what happened to Max", "what did I say about my dog"):
        found = (await site.get("/api/agents/phi/recall", params={"query": question})).json()
        assert found["by_meaning"] is (model == "minilm")
        view = (await site.get(FOCUS, params={"query": question})).json()
        assert [one["entry"]["text"] for one in view["memories"]] == ["My dog Max died yesterday"]
        assert view["memories"][0]["score"] > (FLOOR if found["by_meaning"] else FLOOR / 3)
    assert (await site.get(FOCUS, params={"query": "zebras in space"})).json()["memories"] == []


async def test_links_are_followed_as_deep_as_is_asked(site: Site) -> None:
    ids = [await told(site, f"line {number}") for number in range(5)]
    for here, there in itertools.pairwise(ids):
        await typed(site, f"@link phi --from {here} --to {there}")
    path = f"/api/agents/phi/memory/entries/{ids[0]}/links"
    for depth in (1, 2, 3):
        view = (await site.get(path, params={"depth": depth})).json()
        assert [(one["entry"]["id"], one["depth"]) for one in view["linked"]] == [
            (ids[step], step) for step in range(1, depth + 1)
        ]
        assert await typed(site, f"@links phi --id {ids[0]} --depth {depth}") == view
    assert (await site.get(path)).json() == (await site.get(path, params={"depth": 2})).json()
    assert await typed(site, f"@links phi --id {ids[0]}") == (await site.get(path)).json()


@pytest.mark.parametrize("depth", [0, 4, "deep"])
async def test_no_other_depth_is_taken(site: Site, depth: object) -> None:
    number = await told(site, "a line")
    answer = await site.get(f"/api/agents/phi/memory/entries/{number}/links", params={"depth": depth})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["where"] == "query.depth"
    assert (
        "a whole number from 1 to 3"
        in (await typed(site, f"@links phi --id {number} --depth {depth}"))["error"]
    )
