"""`@event`: what a game does to a character, tried by hand."""

import asyncio
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commands import registry
from commands.help import completions
from commands.registry import CommandContext
from noodlings.agent import decision
from noodlings.inspect.inspector import Inspector
from noodlings.values.caller import Caller, Role
from noodlings.values.percept import Kind
from noodlings.values.persona import COOL_DOWN
from tests.thorough import examples


async def test_it_shows_what_happened_to_the_mood_and_what_a_voice_is_told(player):
    shown = await player.read("@event servnak health_critical hp=3 food=14 biome=minecraft:swamp")
    assert shown[0] == "SERVNAK · close call — HP dropped to 3"
    text = "\n".join(shown)
    assert re.search(r"in the game +chill → nervous\n", text)
    assert "chill again in 5 min" in text
    assert re.search(r"mood +\w+ → \w+\n", text)
    assert re.search(r"just felt +(anxious|afraid)\n", text)
    assert "[GAME STATE] Mood:nervous | HP:3/20 | Food:14/20 | Biome:swamp" in text
    assert "- just now: close call — HP dropped to 3" in text
    assert player.society.agents["servnak"].named_mood == "nervous"


async def test_the_data_hold_both_sides_of_the_change(player):
    data = (await player.type("@event servnak creeper_nearby")).data
    assert (data["agent"], data["event"], data["text"]) == ("servnak", "creeper_nearby", "creeper nearby")
    assert data["in_rules"] is True
    assert (data["before"]["named"], data["after"]["named"]) == ("chill", "nervous")
    assert data["after"]["mood"]["affect"]["fear"] > data["before"]["mood"]["affect"]["fear"]
    (entry,) = player.society.store.entries("servnak", [data["entry"]]).values()
    assert (entry.kind, entry.user_id, entry.user_text) == (Kind.EVENT, "game", "creeper nearby")


@pytest.mark.parametrize(
    ("facts", "kept"),
    [
        ("hp=3", {"hp": 3}),
        ("hp=-2.5 max_hp=40", {"hp": -2.5, "max_hp": 40}),
        ('cause="a long fall"', {"cause": "a long fall"}),
        ("cause=a=b", {"cause": "a=b"}),
        ("raining=true cold=False", {"raining": True, "cold": False}),
        ("biome=", {"biome": None}),
        ("hp=nan", {"hp": "nan"}),
        ("item=3_swords", {"item": "3_swords"}),
    ],
)
async def test_facts_are_read_as_what_they_are(player, facts, kept):
    data = (await player.type(f"@event servnak something {facts}")).data
    (entry,) = player.society.store.entries("servnak", [data["entry"]]).values()
    assert entry.extra["data"] == {"event": "something", **kept}


async def test_an_event_without_a_rule_is_perceived_and_says_so(player):
    reply = await player.type("@event servnak creper_nearby")
    assert not reply.error
    assert reply.data["in_rules"] is False
    assert reply.data["before"]["mood"] == reply.data["after"]["mood"]
    text = reply.render(200)
    assert "The mood did not change: there is no rule for creper_nearby; did you mean creeper_nearby?" in text
    dirt = (await player.type("@event servnak item_pickup item=dirt")).render(200)
    assert "the rule for item_pickup does not apply to these facts" in dirt


@pytest.mark.slow
async def test_what_it_says_is_heard_in_its_room_or_told(player, monkeypatch):
    monkeypatch.setitem(decision._WILLINGNESS, Kind.EVENT, 9.0)
    player.heard.clear()
    here = (await player.type("@event servnak dawn", after=COOL_DOWN)).render(200)
    assert [line for line in player.heard if line.startswith("SERVNAK ")]
    assert "says" not in here
    await player.type("go north")
    player.heard.clear()
    away = await player.type("@event servnak dawn", after=COOL_DOWN)
    assert f'SERVNAK says, "{away.data["response"]}"' in away.render(10_000)
    assert not [line for line in player.heard if line.startswith("SERVNAK ")]


async def test_it_works_where_there_are_no_rooms(quiet_society):
    society, _ = quiet_society
    context = CommandContext(Caller("user_root", "root", Role.ADMIN), society, Inspector(society))
    reply = await registry.dispatch("@event phi dawn", context)
    assert not reply.error
    assert society.agents["phi"].named_mood == "hyped"


@pytest.mark.parametrize("role", [Role.PLAYER, Role.VIEWER, Role.WORLD])
async def test_only_an_admin_may(player, role):
    player.context.caller = Caller("user_caity", "caity", role)
    reply = await player.type("@event servnak dawn")
    assert reply.error
    assert "Only an admin" in reply.data["error"]
    assert player.society.agents["servnak"].named_mood == "chill"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("@event", "Which character? Type it like this: @event NAME EVENT"),
        ("@event hp=3", "Which character?"),
        ("@event servnak", "Which event? The rules know creeper_nearby, health_critical"),
        ("@event servnack dawn", "did you mean SERVNAK"),
        ("@event servnak hp 3", "'3' is one word too many. Type it like this"),
        ("@event servnak dawn hp=3 hp=4", "The fact hp is given twice"),
        ("@event servnak dawn =3", "The name of a fact"),
        ("@event servnak dawn event=dusk", "must not be called event"),
        (f"@event servnak {'x' * 61}", "1 to 60 characters"),
        (f"@event servnak dawn cause={'x' * 501}", "at most 500"),
        ("@event servnak dawn hp=99999999999999999999", "up to 2^53"),
    ],
)
async def test_refusals_say_what_would_work_and_nothing_happens(player, line, complaint):
    reply = await player.type(line)
    assert reply.error
    assert complaint in reply.data["error"]
    assert not player.society.agents["servnak"].game.began


async def test_help_and_the_tab_key_know_it(player):
    shown = (await player.type("@event servnak --help")).render(80).split("\n")
    assert shown[0] == "@event NAME EVENT [KEY=VALUE …]"
    assert any("@event servnak creeper_nearby" in line for line in shown)
    assert completions(player.context, "@event servnak cree") == ["creeper_nearby"]
    assert completions(player.context, "@event serv") == ["servnak"]


@pytest.mark.slow
@given(st.text(max_size=60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(50))
def test_whatever_is_typed_is_answered(quiet_society, arguments):
    society, _ = quiet_society
    context = CommandContext(Caller("user_root", "root", Role.ADMIN), society, Inspector(society))
    reply = asyncio.run(registry.dispatch(f"@event phi {arguments}", context))
    assert "Something went wrong" not in reply.render(200)
