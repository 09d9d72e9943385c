"""`@why` and `@transistors` as they are typed."""

import re
from dataclasses import replace

import pytest

from commands.memory_view import flow_rows
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.drawing.screen import render
from noodlings.inspect.views import FlowEntryView
from noodlings.store.memory import MemoryStore
from noodlings.values.caller import Caller, Role
from noodlings.values.percept import Percept
from tests.commands.conftest import Player
from tests.llm.server import chat, serving

AFRAID = "say Phi, my boss screams at me, I am so scared that I will lose my job"
HOSTILE = "say Phi, [bold]wait[/bold] \x1b[31mred\x1b[0m \u202e" + "x" * 300


@pytest.fixture
async def talk(player):
    """Somebody who was frightened twice in front of Phi."""
    await player.type("say Phi, my father-in-law shouted at me, I am terrified of him", 3_600)
    await player.type(AFRAID, 3_600)
    return player


async def test_the_last_turn_is_told_from_top_to_bottom(talk):
    reply = await talk.type("@why phi")
    data = reply.data
    lines = reply.render(80).split("\n")
    text = " ".join(" ".join(lines).split())
    assert lines[0].startswith("Phi · why   ")
    assert data["turn"]["percept"]["text"] in text
    assert data["turn"]["response"] in text  # whole, however long
    assert data["thought"] in text
    assert "because: addressed offline voice" in text
    assert "felt (words)" in text
    assert "importance" in text
    assert "recent" in text
    for transistor in ("affect", "goal", "memory", "subconscious", "ego"):
        assert any(line.strip().startswith(transistor) for line in lines)
    assert "read: fear" in text
    assert "think" in lines[-1] or "think" in lines[-2]


def test_memories_that_were_used_come_first_then_by_reason_and_score():
    def one(number, score, *why, used=False):
        return FlowEntryView(number, False, why, score, dict.fromkeys(why, score), used, None)

    recalled = (
        one(1, 1.0, "recent"),
        one(2, 0.2, "recent", "important"),
        one(3, 0.4, "recent", "lexical", "semantic", used=True),
        one(4, 0.9, "important"),
        one(5, 0.8, "lexical"),
    )
    shown = render(flow_rows(recalled), 80)
    assert re.findall(r"^[ ▸]+(\d) ", shown, re.MULTILINE) == ["3", "5", "4", "2", "1"]
    assert re.findall("lexical|semantic|recent", shown)[:3] == ["lexical", "semantic", "recent"]


async def test_an_earlier_turn_is_told_by_its_number(talk):
    first, second = [(await talk.type(f"@why phi {back}")).data["turn"]["percept"]["text"] for back in (1, 2)]
    assert "boss" in first
    assert "father-in-law" in second
    assert "that many turns" in (await talk.read("@why phi 99"))[-1]


async def test_a_turn_is_found_by_its_memory(talk):
    number = (await talk.type("@why phi 2")).data["turn"]["percept"]["id"]
    assert "father-in-law" in " ".join(await talk.read(f"@why phi --id {number}"))


async def test_silence_is_told_when_it_is_asked_for(talk):
    echo = Percept("user_caity", "the talk goes on", talk.clock.now(), depth=3)
    await talk.society.perceive("phi", echo)
    silent = (await talk.type("@why phi --silent")).data["turn"]
    assert silent["response"] is None
    assert "(kept silent)" in " ".join(await talk.read("@why phi --silent"))


@pytest.mark.parametrize("line", ["@why phi 0", "@why phi -1", "@why phi x", "@why phi 1.5", "@why phi ²"])
async def test_what_is_no_number_of_a_turn_is_said_in_words(talk, line):
    reply = await talk.type(line)
    assert reply.error
    assert "\n" not in reply.render(200).strip()


async def test_whoever_has_said_nothing_has_nothing_to_explain(player):
    assert "It has said nothing yet." in (await player.read("@why maren"))[-1]
    reply = await player.type("@why nobody")
    assert reply.error
    assert "There is no character nobody" in reply.render()


@pytest.mark.slow
@pytest.mark.parametrize("width", [40, 80, 200])
async def test_it_fits_and_nothing_said_takes_hold_of_the_terminal(talk, width):
    await talk.type(HOSTILE, 3_600)
    for line in ("@why phi", "@why phi 2", "@transistors phi"):
        await talk.read(line, width)  # which asserts it
    shown = " ".join(await talk.read("@why phi", width))
    assert "[bold]wait[/bold]" in " ".join(shown.split())
    assert "\x1b" not in shown


async def test_transistors_stand_with_their_gain_and_what_is_new_through_them(talk):
    reply = await talk.type("@transistors phi")
    assert [one["transistor"] for one in reply.data["transistors"]] == [
        *("affect", "goal", "memory", "subconscious", "ego")
    ]
    lines = reply.render(120).split("\n")
    assert "one after the other; no model is connected" in lines[0]
    assert any(line.split()[:3][-1] == "0.85" for line in lines if line.strip().startswith("affect"))
    last = next(one["last"] for one in reply.data["transistors"] if one["transistor"] == "affect")
    new = [word for word in last["after"].split() if word not in last["before"].split()]
    assert new
    assert new[0] in " ".join(lines)


async def test_who_has_not_spoken_shows_no_effect(player):
    assert sum("no effect yet" in line for line in await player.read("@transistors servnak")) == 5


async def test_a_player_is_told_of_its_own_talk_alone(quiet_society):
    society, clock = quiet_society
    owner = Player(society, clock)
    await owner.type(AFRAID)
    owner.world.leave("user_caity")
    await owner.world.settle()
    guest = Player(society, clock, Role.PLAYER, inside=False)
    guest.context = replace(guest.context, caller=Caller("user_dan", "dan"))
    shown = " ".join(" ".join(await guest.read("@why phi")).split())
    assert "It has answered you nothing yet; what it says to others is not yours to read." in shown
    assert "nothing yet" not in (await guest.read("@transistors phi"))[-1]
    assert "no effect yet in its talk with you" in " ".join(await guest.read("@transistors phi"))
    assert "No answer to you has drawn on a memory yet" in " ".join(await guest.read("@memories phi --flow"))
    assert "boss" not in str((await guest.type("@transistors phi")).data)
    await owner.world.close()


async def test_they_are_helped_with(player):
    for command in ("@why", "@transistors"):
        shown = (await player.type(f"help {command}")).render(80)
        assert f"{command} servnak" in shown


async def test_the_prompt_is_told_message_by_message_and_to_nobody_but_who_sees_all(tmp_path):
    async with serving(chat("mew, says the model.")) as server:
        settings = Settings(store={"path": str(tmp_path)}, embedding={"model": "none"}, llm=server.settings())
        clock = ManualClock(1_000_000.0)
        society = build(settings, clock=clock, store=MemoryStore())
        owner = Player(society, clock)
        assert "It has said nothing yet." in (await owner.read("@why maren --prompt"))[-1]
        await owner.type("whisper phi = where is the [bold]key[/bold]?", 60)
        asked = next(one["messages"] for one in server.asked if "[bold]key" in str(one))
        for width in (40, 80, 200):
            shown = " ".join(" ".join(await owner.read("@why phi --prompt", width)).split())
            assert shown.startswith("Phi · prompts of turn")
            assert "1 reply m about" in shown
            assert "(estimated)" in shown
            assert all(f" {one['role']} " in shown for one in asked)
        words = " ".join(" ".join(await owner.read("@why phi --prompt", 4_000)).split())
        for one in asked:
            for line in one["content"].split("\n"):
                assert " ".join(line.split()) in words
        assert "where is the [bold]key[/bold]?" in words
        guest = Player(society, clock, Role.PLAYER, inside=False)
        for line in ("@why phi --prompt", "@why maren --prompt", "@why phi 2 --prompt"):
            refused = await guest.type(line)
            assert refused.error
            assert "only an admin may see one" in refused.render()
        await owner.world.close()
        await society.rest(1.0)


@pytest.mark.slow
async def test_why_says_in_plain_words_that_the_model_did_not_speak(tmp_path):
    async with serving(chat("mew, says the model.")) as server:
        pass
    settings = Settings(store={"path": str(tmp_path)}, embedding={"model": "none"}, llm=server.settings())
    clock = ManualClock(1_000_000.0)
    society = build(settings, clock=clock, store=MemoryStore())
    owner, guest = Player(society, clock), Player(society, clock, Role.PLAYER, inside=False)
    await owner.type("whisper phi = hello there", 60)
    plain = "the offline voice spoke because the model did not"
    for line in ("@why phi", "@memories phi --flow"):
        shown = " ".join(" ".join(await owner.read(line)).split())
        assert f"{plain}: the model at http://127.0.0.1:{server.port}/v1: it cannot be reached" in shown
    shown = " ".join(" ".join(await owner.read("@why phi --prompt")).split())
    assert shown.count("it never reached a model") == 3
    assert shown.count("the same messages once more") == 2
    told = " ".join(" ".join(await guest.read("@why phi")).split())
    assert plain in told
    assert "127.0.0.1" not in told
    await owner.world.close()
    await society.rest(1.0)
