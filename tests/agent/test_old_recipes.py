"""Recipes of the older form load unchanged, and those they are of live in the rooms as they should."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from commands.registry import CommandContext, registry
from noodlings.agent.decision import decide
from noodlings.agent.recipe_form import unused
from noodlings.agent.recipes import load_recipe
from noodlings.host.server import banner
from noodlings.host.visit import rooms_of
from noodlings.inspect.inspector import Inspector
from noodlings.values.affect import Affect
from noodlings.values.caller import Caller, Role
from noodlings.values.percept import Kind, Percept
from noodlings.values.persona import COOL_DOWN, TRAITS
from noodlings.worlds.beings import split_gestures
from tests.agent.played import LINES, played, society_of
from tests.llm.server import chat, serving

FOLDER = Path(__file__).parent / "old_recipes"
FILES = sorted(FOLDER.glob("*.yaml"))
NONVERBAL = {"goose", "mittens", "shade"}
HONKERS = {"goose": ("honk",), "honker": ("honk",), "mittens": ("mew", "purr")}


def recipe(name: str):
    return load_recipe(FOLDER / f"{name}.yaml")


def test_there_are_ten_in_all_their_variants() -> None:
    assert len(FILES) == 10


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
async def test_each_lives_in_the_rooms_for_twenty_lines(tmp_path: Path, file: Path) -> None:
    society = society_of(tmp_path, [file])
    assert society.skipped_recipes == ()
    seen = await played(society, file.stem)
    society.close()
    persona = society.personas[file.stem]
    assert len(seen) >= len(LINES)
    assert {line.name for line in seen} == {persona.name}
    shown = [line.view("user_caity").plain for line in seen]
    assert not [line for line in shown if "Traceback" in line or "loses the thread" in line or "{" in line]
    assert len(set(shown)) == len(shown), "it repeats itself"
    answers = seen[-len(LINES) :]
    if file.stem in NONVERBAL:
        assert {line.kind for line in seen} == {Kind.EMOTE}
        assert not [line for line in seen if re.search(r'["“”*]', line.text)]
    else:
        assert {line.kind for line in answers} == {Kind.SAY}
    for line in answers if file.stem in HONKERS else ():
        assert any(sound in f"{line.text} {line.manner}" for sound in HONKERS[file.stem])


async def test_a_nonverbal_one_never_says_a_word_in_a_whisper_either(tmp_path: Path) -> None:
    society = society_of(tmp_path, [FOLDER / "goose.yaml"])
    world, mine, others = rooms_of(society), [], []
    world.enter("user_caity", "Caity", mine.append)
    world.enter("user_bob", "Bob", others.append)
    world.whisper("user_caity", "goose", "what is your name?")
    await world.settle()
    await world.close()
    society.close()
    (answer,) = [line for line in mine if line.actor == "goose" and line.kind is Kind.WHISPER]
    shown = answer.view("user_caity").plain
    assert shown.startswith("Mr. Goose ")
    assert shown.endswith(", for you alone to see.")
    assert "whispers" not in shown
    (overheard,) = [line for line in others if line.actor == "goose" and line.kind is Kind.WHISPER]
    assert overheard.view("user_bob").plain == "Mr. Goose makes a sign to Caity."


def test_one_with_everything() -> None:
    callie = recipe("callie")
    assert callie.identity.startswith("You are Callie, who builds kites and forgets to eat. You speak fast")
    assert (callie.max_tokens, callie.temperature, callie.response_cooldown) == (180, 0.85, 12.5)
    assert callie.personality["openness"] == 0.9
    assert callie.appetites["curiosity"] == 0.9, "what the appetites say counts, not the trait"
    assert callie.moodiness == 1.0
    assert callie.verbal
    assert callie.extra["conscience"]["refusals"] == ["insults", "secrets of others"]
    assert callie.extra["llm"] == {"provider": "lmstudio", "model": "qwen2.5-14b-instruct"}
    assert set(unused(callie.extra)) == {
        "enlightenment", "age", "pronoun", "llm", "conscience", "admin_flags",
        "personality.impulsivity", "personality.vanity", "constraints.enforce_action_format",
    }  # fmt: skip


def test_traits_that_have_become_something_else() -> None:
    assert recipe("mittens").appetites["curiosity"] == 1.0
    assert recipe("honker").moodiness == 0.4
    assert recipe("unit_seven").moodiness == 0.2
    assert recipe("goose").moodiness == 1.0


def test_numbers_that_stand_in_quotation_marks() -> None:
    clerk = recipe("strings")
    assert [clerk.personality[trait] for trait in TRAITS] == [0.2, 0.9, 0.1, 0.5, 1.0]
    assert (clerk.appetites["autonomy"], clerk.appetites["curiosity"]) == (1.0, 0.0)
    assert (clerk.max_tokens, clerk.temperature, clerk.response_cooldown) == (90, 0.5, 45.0)


def test_sections_within_sections() -> None:
    agnes = recipe("nested")
    assert (agnes.name, agnes.personality["extraversion"], agnes.appetites["social_bond"]) == (
        "Sister Agnes",
        0.8,
        0.9,
    )
    assert agnes.appetites["curiosity"] == 0.9
    assert agnes.extra == {"version": 2, "personality": {"extended": {"vanity": 0.3}}}


def test_empty_and_missing_sections() -> None:
    moth = recipe("sparse")
    assert (moth.species, moth.max_tokens, moth.temperature) == ("person", 200, None)
    assert moth.response_cooldown == COOL_DOWN
    assert set(moth.personality.values()) == set(moth.appetites.values()) == {0.5}
    assert moth.extra == {}


def test_unknown_keys_are_kept_and_listed() -> None:
    tam = recipe("unknown_keys")
    assert tam.extra["spawn"] == {"room": "#12", "respawn_seconds": 300}
    assert tam.extra["born"] == "1961-04-02"
    assert "persnality (did you mean personality?)" in unused(tam.extra)


def test_noises_are_found_unless_the_recipe_says_which(tmp_path: Path) -> None:
    def sounds(text: str, mode: str = "nonverbal", more: str = "") -> tuple[str, ...]:
        path = tmp_path / "ada.yaml"
        path.write_text(f"name: Ada\nlanguage_mode: {mode}\nidentity_prompt: {text}\n{more}")
        return load_recipe(path).voice.sounds

    assert sounds("You honk.") == sounds("HONK HONK") == sounds("Only honking") == ("honk",)
    assert sounds("You sit.") == ()
    assert sounds("You honk.", more="voice: {sounds: [toot toot]}") == ("toot toot",)
    assert sounds("You honk.", more="voice: {sounds: []}") == ()
    assert sounds("You honk when you laugh.", "verbal") == ()
    assert sounds("You honk in every line.", "verbal") == ("honk",)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "shown", "degraded"),
    [
        ("Honk! *flaps both wings* Good day to you.", "flaps both wings, .*honk.*", False),
        ("*bows and says “good day” HONK*", "bows and says HONK", False),
        ("Good day to you, I speak now.", ".*honk.*", True),
    ],
)
async def test_what_a_model_says_is_not_said_by_who_does_not_speak(
    tmp_path: Path, said: str, shown: str, degraded: bool
) -> None:
    async with serving(lambda asked: chat(said)) as server:
        society = society_of(tmp_path, [FOLDER / "goose.yaml"], server.settings())
        trace = await society.perceive("goose", Percept("user_caity", "hello", 1_000_000.0, addressed=True))
        await society.rest(5.0)
        society.close()
    assert trace.voice == "llm"
    assert trace.response is not None
    words, acts = split_gestures(trace.response, "Mr. Goose")
    assert (words, bool(re.fullmatch(shown, acts))) == ("", True), trace.response
    assert any("never speaks" in why for why in trace.degraded) is degraded
    asked = server.asked[0]
    assert asked["temperature"] == 0.9
    assert asked["max_tokens"] == 60
    assert "Mr. Goose does not speak: not a word" in asked["messages"][0]["content"]


def test_a_cool_down_keeps_from_butting_in_and_from_nothing_else() -> None:
    robot = recipe("unit_seven")

    def speaks(after: float, addressed: bool) -> bool:
        percept = Percept("user_caity", "hm", 1_000.0 + after, addressed=addressed)
        afraid = Affect(-1.0, 1.0, 1.0, 1.0, 0.0)
        return any(
            decide(percept, robot, afraid, 1.0, 1_000.0, random.Random(seed)).speak for seed in range(50)
        )

    assert not speaks(89.0, addressed=False)
    assert speaks(90.0, addressed=False)
    assert speaks(0.0, addressed=True)


async def test_the_flags_of_an_admin_give_nobody_a_right(tmp_path: Path) -> None:
    society = society_of(tmp_path, [FOLDER / "callie.yaml"])
    assert society.personas["callie"].extra["admin_flags"]["is_wizard"] is True
    for who in ("user_bob", "callie"):
        context = CommandContext(Caller(who, who, Role.PLAYER), society, Inspector(society))
        reply = await registry.dispatch("@event callie dawn", context)
        assert reply.error
        assert "admin" in reply.data["error"]
    society.close()


async def test_the_world_starts_without_a_bad_file_and_says_which(tmp_path: Path, caplog) -> None:
    bad = tmp_path / "bad" / "gus.yaml"
    bad.parent.mkdir()
    bad.write_text("name: Gus\npersonality: {openness: very}\n")
    with caplog.at_level("INFO"):
        society = society_of(tmp_path / "data", [FOLDER / "callie.yaml", bad])
    (why,) = society.skipped_recipes
    assert re.search(r"recipe .*gus\.yaml: personality\.openness: .*a valid number", why)
    assert "gus" not in society.personas
    assert "callie" in society.personas
    assert f"skipped: {why}" in caplog.text
    assert f"Skipped: {why}" in banner(society.settings, society, "here")
    assert "the recipe of callie has keys that nothing uses: enlightenment, age" in caplog.text
    society.close()
