"""What a companion is told of a game's session: notable things outlast what happens again and again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from commands import registry
from commands.registry import CommandContext
from noodlings.affect.game import GameFeeling
from noodlings.affect.game_rules import shipped_rules
from noodlings.values.caller import Caller, Role
from tests.api.conftest import MakeSite, Site

OWN_RULES = """
version: 1
events:
  baby_born: { remember: { summary: "a {animal} was born" } }
  item_pickup: { remember: { summary: "{who} picked up {a item}" } }
  player_death: { remember: { summary: "died to {cause}" } }
  health_critical: { remember: { summary: "close call — HP dropped to {hp}" } }
  nearly_died: { remember: { summary: "close call — HP dropped to {hp}" } }
  told: { remember: { summary: "{line}" } }
"""
ONCE = [
    ("baby_born", {"animal": "foal"}),
    ("item_pickup", {"item": "diamond"}),
    ("player_death", {"cause": "lava"}),
]


async def happens(site: Site, event: str, **data: Any) -> None:
    site.clock.advance(60.0)
    answer = await site.post("/api/agents/phi/events", {"event": event, "data": data})
    assert answer.status_code == 200, answer.text


async def told(site: Site) -> list[str]:
    """The lines of [MEMORY], newest first, without their times."""
    game = (await site.get("/api/agents/phi/mood")).json()["game"]
    return [line.partition(": ")[2] for line in game if line.startswith("- ")]


@pytest.mark.parametrize("names", [("health_critical",), ("health_critical", "nearly_died")])
async def test_ten_close_calls_do_not_push_out_a_birth_a_diamond_and_a_death(
    make_site: MakeSite, tmp_path: Path, names: tuple[str, ...]
) -> None:
    (tmp_path / "game_events.yaml").write_text(OWN_RULES, "utf-8")
    site = make_site()
    for event, data in ONCE:
        await happens(site, event, **data)
    for hp in range(10, 0, -1):
        await happens(site, names[hp % len(names)], hp=hp)
    assert await told(site) == [
        "close call — HP dropped to 1",
        "close call — HP dropped to 2",
        "died to lava",
        "you picked up a diamond",
        "a foal was born",
    ]
    kept = [notable.summary for notable in site.society.find("phi").game.bank.events]
    assert len(kept) == 10
    assert kept[:4] == [
        "a foal was born",
        "you picked up a diamond",
        "died to lava",
        "close call — HP dropped to 7",
    ]


async def test_lines_of_nothing_but_facts_are_of_one_kind_by_the_name_of_the_event(
    make_site: MakeSite, tmp_path: Path
) -> None:
    (tmp_path / "game_events.yaml").write_text(OWN_RULES, "utf-8")
    site = make_site()
    await happens(site, "player_death", cause="lava")
    for number in range(12):
        await happens(site, "told", line=f"line {number}")
    assert await told(site) == ["line 11", "line 10", "line 9", "line 8", "died to lava"]


async def test_what_happened_twice_gives_way_to_what_happened_once(site: Site) -> None:
    await happens(site, "dawn")
    for item in ("diamond", "diamond_sword"):
        await happens(site, "item_pickup", item=item)
    for cause in ("lava", "a fall"):
        await happens(site, "player_death", cause=cause)
    await happens(site, "mob_killed", mob="creeper")
    await happens(site, "biome_change", biome="river")
    assert await told(site) == [
        "entered river biome",
        "killed a creeper",
        "died to a fall",
        "you picked up a diamond_sword",
        "survived the night",
    ]


async def test_a_new_session_begins_with_nothing_of_the_one_before(site: Site) -> None:
    await happens(site, "health_critical", hp=3, biome="swamp")
    assert (await site.get("/api/agents/phi/mood")).json()["named"] == "nervous"
    await happens(site, "session_start", hp=20)
    mood = (await site.get("/api/agents/phi/mood")).json()
    assert mood["game"] == ["[GAME STATE] Mood:chill | HP:20/20"]
    assert mood["named"] == "chill"
    await happens(site, "dawn")
    assert await told(site) == ["survived the night"]
    found = (await site.get("/api/agents/phi/recall", params={"query": "close call"})).json()["memories"]
    assert found[0]["entry"]["text"] == "close call — HP dropped to 3"


async def test_it_can_be_tried_by_hand(site: Site) -> None:
    await happens(site, "dawn")
    admin = CommandContext(Caller("user_root", "root", Role.ADMIN), site.society, site.parts.inspector)
    reply = await registry.dispatch("@event phi session_start", admin)
    assert reply.data["in_rules"]
    assert await told(site) == []


async def test_a_restart_of_the_server_is_no_new_session(make_site: MakeSite) -> None:
    site = make_site()
    await happens(site, "dawn")
    again = make_site(store=site.society.store)
    again.clock.set(site.clock.now())
    assert await told(again) == ["survived the night"]


def test_what_was_kept_before_kinds_were_noted_is_still_read() -> None:
    feeling, _ = GameFeeling().after(shipped_rules(), "dawn", {}, 0.0)
    stored = feeling.as_dict()
    for notable in stored["events"]:
        del notable["kind"]
    assert [notable.summary for notable in GameFeeling.from_dict(stored).bank.events] == [
        "survived the night"
    ]
