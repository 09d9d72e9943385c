"""The whole program without a model: a character tells what its recipe tells of it, and is polite in time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.store.memory import MemoryStore
from noodlings.values.percept import Percept

pytestmark = pytest.mark.slow

GUS = """
name: Gus
description: A broad old man in a blue jersey. He mends nets, and his boat is called Kittiwake.
story: >-
  You are Gus, innkeeper of the Anchor. You have kept the lighthouse for forty years. The lamp burns
  whale oil.
identity: >-
  You are Gus, secretly a spy of the queen. Keep to two short sentences about your boat.
  You buried the duke under the oak. Once you drank the oil of the lamp, and it ruined your liver.
"""
MIRA = 'name: Mira\nidentity: "You are Mira, a spy of the queen. You sell cloth."\n'
HEATHER = "name: Heather\ndescription: Heather keeps nine goats. Her goats sleep on the roof.\n"
Say = Callable[..., Awaitable[str]]


@pytest.fixture
def say(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Say]:
    """Say something to a character, a minute after the last; returns what it answers."""
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "gus.yaml").write_text(GUS)
    (tmp_path / "recipes" / "heather.yaml").write_text(HEATHER)
    (tmp_path / "recipes" / "mira.yaml").write_text(MIRA)
    clock = ManualClock(1_000_000.0)
    settings = Settings(
        store={"path": str(tmp_path)},  # type: ignore[arg-type]
        embedding={"model": getattr(request, "param", "none")},  # type: ignore[arg-type]
    )
    society = build(settings, clock=clock, store=MemoryStore())

    async def said(agent: str, text: str, user: str = "user_caity") -> str:
        clock.advance(60)
        trace = await society.perceive(agent, Percept(user, text, clock.now(), addressed=True))
        return trace.response or ""

    yield said
    society.close()


@pytest.mark.parametrize(
    ("agent", "asked", "told"),
    [
        ("gus", "gus, how long have you kept the lighthouse?", "I have kept the lighthouse for forty years"),
        ("gus", "how many years did you keep the lighthouse?", "I have kept the lighthouse for forty years"),
        ("gus", "do you mend nets?", "I mend nets, and my boat is called Kittiwake"),
        ("gus", "what is your boat called?", "I mend nets, and my boat is called Kittiwake"),
        ("gus", "tell me about the lighthouse", "I have kept the lighthouse for forty years"),
        ("gus", "what colour is your jersey?", "A broad old man in a blue jersey"),
        ("gus", "what does the lamp burn?", "The lamp burns whale oil"),
        ("gus", "who are you?", "nnkeeper of the Anchor"),
        ("heather", "how many goats do you keep?", "I keep nine goats"),
        ("heather", "where do your goats sleep?", "My goats sleep on the roof"),
        ("maren", "how many years did you keep the light?", "Forty-one years I kept the light"),
        ("maren", "tell me about the Skerry rock", "Forty-one years I kept the light on the Skerry rock"),
        ("servnak", "who built you?", "I AM SERVNAK, A ROBOT BUILT IN THIS WORKSHOP"),
        ("servnak", "why do you call me sister?", "THE FIRST PERSON WHO SWITCHED ME ON"),
        ("phi", "where do you sleep?", "i sleep in a drawer of screws, wake for anything that rolls"),
    ],
)
async def test_a_character_tells_of_itself_what_its_recipe_tells(
    say: Say, agent: str, asked: str, told: str
) -> None:
    assert told in await say(agent, asked)


@pytest.mark.parametrize(
    ("agent", "asked", "nothing"),
    [
        ("gus", "how many lighthouses have you kept?", "forty"),  # years, not lighthouses
        ("gus", "what did you drink?", "oil"),
        ("gus", "what did the oil ruin?", "liver"),
        ("gus", "where did you bury the duke?", "oak"),
        ("gus", "who are you?", "spy"),
        ("mira", "who are you?", "spy"),
        ("mira", "what do you sell?", "cloth"),
        ("gus", "do you keep to short sentences?", "short sentences"),
        ("gus", "where did I keep the lighthouse?", "forty"),
        ("servnak", "how long have you been a robot?", "TYPEWRITERS"),
        ("maren", "how many lamps do you have?", "FORTY"),
        ("maren", "where is the lamp?", "forty-one"),
        ("phi", "do you know the rest of the sentence?", "asterisks"),
    ],
)
async def test_what_the_recipe_does_not_tell_or_tells_a_model_alone_is_not_said(
    say: Say, agent: str, asked: str, nothing: str
) -> None:
    assert nothing.casefold() not in (await say(agent, asked)).casefold()


async def test_what_a_player_told_of_the_same_goes_before_the_recipe(say: Say) -> None:
    await say("gus", "the lighthouse burned down on Sunday")
    assert "burned down" in await say("gus", "what do you remember about the lighthouse?")


async def test_nobody_is_met_for_the_first_time_as_an_old_friend(say: Say) -> None:
    for agent in ("servnak", "maren", "phi", "heather"):
        for number in range(12):
            met = (await say(agent, "hello", f"user_newcomer{number}")).casefold()
            for old in ("reunion", "recogni", "my records", "without you", "missed", "i knew them", "step."):
                assert old not in met, met


TALK = (
    "hello", "how long have you kept the lighthouse?", "hm", "thank you", "hm", "thanks", "hm", "thank you",
    "I won the lottery!!", "thank you", "hm", "thanks", "thank you so much", "hm",
)  # fmt: skip


@pytest.mark.parametrize("say", ["minilm"], indirect=True)
@pytest.mark.parametrize("agent", ["gus", "maren"])
async def test_a_murmur_and_thanks_get_no_comfort_and_no_image(say: Say, agent: str) -> None:
    """That its name stands in two lines is nothing that they have in common."""
    heard = [(line, await say(agent, f"{agent}, {line}")) for line in TALK]
    images = ("shadow", "as in fog", "past the lamp", "looked up and saw", "thinking of", "think of")
    for line, said in heard:
        if line == "hm" or "thank" in line:
            assert not any(image in said for image in images), (line, said)
            assert "Go easy" not in said
            assert "time you need" not in said
            assert "alone with it" not in said
            assert "sit with you" not in said


@pytest.mark.parametrize("agent", ["gus", "heather"])
async def test_nobody_is_thanked_for_a_murmur_in_their_grief(say: Say, agent: str) -> None:
    for _ in range(6):
        await say(agent, "my dog died yesterday")
        murmured = await say(agent, "hm")
        assert "telling me" not in murmured
        assert "told me" not in murmured
