"""A world offers actions with a percept, and is told which goes with the answer, as docs/api.md says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

from noodlings.store.memory import MemoryStore
from tests.api.conftest import TOKENS, MakeSite, Site
from tests.api.mcp_clients import ROOT
from tests.api.serving import served
from tests.llm.server import Answer, chat, serving

PATH = "/api/agents/servnak/perceive"
GIVE = {
    "name": "give",
    "parameters": {
        "type": "object",
        "properties": {"item": {"type": "string", "enum": ["lantern", "key"]}, "count": {"type": "integer"}},
        "required": ["item"],
    },
}
FOLLOW = {"name": "follow", "words": ["come along"]}
ASKED = {"user_id": "user_caity", "text": "Please give me the lantern", "actions": [FOLLOW, GIVE]}
GIVEN = {"name": "give", "arguments": {"item": "lantern"}, "by": "rule"}


async def perceived(site: Site, who: str = "", **more: Any) -> dict[str, Any]:
    site.clock.advance(60.0)
    answer = await site.post(PATH, ASKED | more, who)
    assert answer.status_code == 200, answer.text
    view: dict[str, Any] = answer.json()
    return view


async def test_what_is_chosen_is_in_the_answer_and_wherever_the_turn_is_shown(site: Site) -> None:
    view = await perceived(site)
    assert view["turn"]["action"] == GIVEN
    assert view["turn"]["response"]
    assert (await site.get("/api/agents/servnak/turns/1")).json()["turn"]["action"] == GIVEN
    asked = await site.post("/api/commands", {"line": "@why servnak", "rooms": False})
    assert 'does give(item="lantern") chosen by rule' in " ".join(asked.json()["text"].split())
    entry = site.society.find("servnak").entry(1)
    assert "actions" not in str(entry)
    assert (await perceived(site, text="I like the lantern"))["turn"]["action"] is None
    assert (await perceived(site, actions=[]))["turn"]["action"] is None


async def test_a_player_offers_nothing_and_sees_its_own_turns_alone(guarded: Site) -> None:
    for who in ("admin", "world"):
        assert (await perceived(guarded, who))["turn"]["action"] == GIVEN
    for who, status in (("caity", 403), ("viewer", 403), ("", 401)):
        assert (await guarded.post(PATH, ASKED, who)).status_code == status
    refused = await guarded.post(PATH, ASKED, "caity")
    assert "a player token may not offer actions" in refused.json()["detail"]
    turn = "/api/agents/servnak/turns/1"
    assert (await guarded.get(turn, "caity")).json()["turn"]["action"] == GIVEN
    assert (await guarded.get(turn, "toad")).status_code == 404
    assert "lantern" not in (await guarded.get("/api/agents/servnak/why", "toad")).text


@pytest.mark.parametrize(
    ("actions", "where"),
    [
        ("follow", "body.actions"),
        ([7], "body.actions.0"),
        ([{}], "body.actions.0.name"),
        ([{"name": "a", "word": "b"}], "body.actions.0.word"),
        ([{"name": "a", "parameters": {"type": "array"}}], "body.actions.0.parameters.type"),
        ([{"name": "a", "parameters": {"properties": {"x": {"type": "object"}}}}], "properties.x.type"),
        ([{"name": "a", "parameters": {"properties": {"x": {}}}}], "properties.x.type"),
        ([{"name": "a", "parameters": {"additionalProperties": True}}], "additionalProperties"),
        ([{"name": "a", "words": [1]}], "body.actions.0.words.0"),
        ([{"name": "a", "parameters": {"required": ["x"]}}], "requires 'x'"),
        ([{"name": "none"}], "'none' is not a valid name"),
        ([{"name": "\x1b[2J"}], "is not a valid name"),
        ([{"name": "a"}, {"name": "A"}], "a different name"),
        ([{"name": f"a{number}"} for number in range(21)], "at most 20"),
        ([{"name": f"a{n}", "description": "x" * 200, "words": ["y" * 60] * 4} for n in range(20)], "8,000"),
        ([{"name": "a", "description": "x" * 201}], "up to 200"),
    ],
)
async def test_what_will_not_do_is_refused_in_words_and_nothing_is_kept(
    site: Site, actions: Any, where: str
) -> None:
    answer = await site.post(PATH, ASKED | {"actions": actions})
    assert answer.status_code == 422, answer.text
    assert where in answer.json()["detail"]
    assert site.society.find("servnak").memory.stats().perceived == 0


async def test_a_key_that_comes_with_another_offer_was_used_for_something_else(site: Site) -> None:
    headers = {"Idempotency-Key": "1"}
    first = await site.post(PATH, ASKED, headers=headers)
    again = await site.post(PATH, ASKED, headers=headers)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json() == first.json()
    assert (await site.post(PATH, ASKED | {"actions": [FOLLOW]}, headers=headers)).status_code == 422


async def test_a_key_of_before_there_were_actions_is_known(make_site: MakeSite) -> None:
    """What was sent without any has the fingerprint that it always had."""
    store, body = MemoryStore(), {"user_id": "user_caity", "text": "hello", "idempotency_key": "k"}
    await make_site(store=store).post(PATH, body)
    (entry,) = store.archive("servnak")
    assert entry.extra["data"]["client_body"] == "965b367612147ae459f32d6b7c71bee4"
    again = await make_site(store=store).post(PATH, body)
    assert again.headers["Idempotency-Replayed"] == "true"


async def test_what_was_forgotten_leaves_no_action(site: Site) -> None:
    await perceived(site)
    await perceived(site, text="my lantern went out")
    assert (await site.ask("DELETE", "/api/agents/servnak/memory/entries/1")).status_code == 200
    assert "give" not in (await site.get("/api/agents/servnak/why?silent=true&back=1")).text


async def test_the_example_of_the_page_is_answered_as_it_says(site: Site) -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8").split("\n## Actions\n")[1].split("\n## ")[0]
    sent, chosen = map(json.loads, re.findall(r"```json\n(.*?)```", page, re.S))
    answer = await site.post(PATH, sent)
    assert answer.json()["turn"]["action"] == chosen


@pytest.mark.slow
async def test_a_real_server_tells_it_on_every_way_and_after_a_start_anew(tmp_path: Path) -> None:
    choice = json.dumps({"action": {"name": "give", "arguments": {"item": "key", "count": 2}}})
    chosen = {"name": "give", "arguments": {"item": "key", "count": 2}, "by": "llm"}

    def answer(asked: dict[str, Any]) -> Answer:
        return chat(choice if "response_format" in asked else "Here, take these.")

    import asyncio

    async with serving(answer) as model:
        where = {
            "NOODLINGS_LLM__BASE_URL": f"http://127.0.0.1:{model.port}/v1",
            "NOODLINGS_LLM__MODEL": "m",
        }
        await asyncio.to_thread(_told_and_kept, tmp_path, where, chosen)


def _told_and_kept(folder: Path, where: dict[str, str], chosen: dict[str, Any]) -> None:
    world, viewer = ({"Authorization": f"Bearer {TOKENS[who]['token']}"} for who in ("world", "viewer"))
    tokens = list(TOKENS.values())
    with served(folder, tokens=tokens, **where) as server:
        url = f"{server.url.replace('http', 'ws', 1)}/api/live?agent=servnak"
        with connect(url, additional_headers=viewer) as live:
            first = server.client.post(PATH, json=ASKED, headers=world | {"Idempotency-Key": "k"})
            assert first.json()["turn"]["action"] == chosen
            seen: list[dict[str, Any]] = []
            while not seen or seen[-1]["type"] != "turn":
                seen.append(json.loads(live.recv(30)))
        assert seen[-1]["turn"]["turn"]["action"] == chosen
        assert "speech" in {one["type"] for one in seen}
        assert server.stop() == 0
    with served(folder, tokens=tokens) as server:
        again = server.client.post(PATH, json=ASKED, headers=world | {"Idempotency-Key": "k"})
        assert again.headers["Idempotency-Replayed"] == "true"
        assert again.json()["turn"]["action"] == chosen
