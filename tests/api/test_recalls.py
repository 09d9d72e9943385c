"""What somebody confides changes no figure of what others told, though it brings their memories to mind."""

from __future__ import annotations

from typing import Any

import pytest

from commands import registry
from commands.registry import CommandContext
from noodlings.memory.importance import DAY
from noodlings.values.caller import Caller
from tests.api.conftest import Site

AGENT = "/api/agents/phi"
CAITY = Caller("user_caity", "caity")
BAIT = ("my aunt keeps bees behind the old mill", "the harbour master is called Ruth")


async def figures(site: Site, who: str) -> list[dict[str, Any]]:
    """What one caller sees of the bait: the memories in two orders and in search, links, and what was
    passed over; ages aside."""

    async def seen(path: str, **asked: Any) -> Any:
        answer = await site.get(f"{AGENT}/{path}", who, params=asked)
        assert answer.status_code == 200, answer.text
        return answer.json()

    own = {"user_id": "user_caity"}
    browsed = [await seen("memory/browse", order=order, limit=50) for order in ("strength", "importance")]
    listed = [(await seen("memory/by-user", **own))["entries"], *(page["entries"] for page in browsed)]
    linked = [await seen(f"memory/entries/{one['id']}/links") for one in listed[0]]
    found = (await seen("recall", query="who keeps bees and who is the harbour master?", **own))["memories"]
    passed = (await seen("memory/last-retrieval"))["left_out"] if who == "caity" else []
    entries = [one for page in listed for one in page if one["user"] == "user_caity"]
    every = [*entries, *linked, *(one["entry"] for one in linked), *found, *(one["entry"] for one in found)]
    every += [*passed, *(one["entry"] for one in passed)]
    return [{name: value for name, value in one.items() if name not in ("age", "entry")} for one in every]


async def typed(site: Site, line: str) -> str:
    reply = await registry.dispatch(line, CommandContext(CAITY, site.society, site.parts.inspector))
    return reply.render()


@pytest.mark.slow
async def test_a_player_does_not_see_that_others_brought_its_memories_to_mind(guarded: Site) -> None:
    told = [await guarded.tell(text, agent="phi", present=["user_toad"]) for text in BAIT]
    guarded.clock.advance(400 * DAY)  # a recall would make them stronger by a step
    lines = [f"@links phi --id {number}" for number in told]
    before, before_all = await figures(guarded, "caity"), await figures(guarded, "admin")
    shown = [await typed(guarded, line) for line in lines]
    for text in ("who is the harbour master?", "who keeps bees behind the old mill?"):
        await guarded.tell(text, "user_toad", "phi", kind="whisper")
    after_all = await figures(guarded, "admin")
    links = await guarded.get(f"{AGENT}/memory/entries/{told[0]}/links", "admin")
    assert links.json()["linked"]
    assert links.json()["entry"]["recall_count"] > 0
    assert links.json()["entry"]["strength"] > before_all[0]["strength"]
    assert after_all != before_all
    guarded.clock.set(guarded.clock.now() - 120.0)
    assert await figures(guarded, "caity") == before
    assert [await typed(guarded, line) for line in lines] == shown
