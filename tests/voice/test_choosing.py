"""What a line asks for in so many words, and what it does not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.ports import Allowance, Utterance
from noodlings.values.action import Action, OfferedAction, ParameterSchema, ParametersSchema
from noodlings.values.affect import NEUTRAL, Affect
from noodlings.values.memory import Recalled
from noodlings.values.percept import Kind, Percept
from noodlings.voice.choosing import UNWILLING, RuleChooser
from tests.fakes import make_persona
from tests.store.records import an_entry
from tests.values.test_action import offers

AFRAID = Affect(-0.5, 0.9, 0.8)
ANGRY = Affect(-0.7, 0.9)


def taking(
    name: str, *words: str, required: tuple[str, ...] = (), **parameters: ParameterSchema
) -> OfferedAction:
    return OfferedAction(name, parameters=ParametersSchema(parameters, required), words=words)


OFFERED = (
    OfferedAction("follow", words=("come along", "folge mir")),
    taking(
        "give",
        "hand over",
        required=("item",),
        item=ParameterSchema("string", enum=("lantern", "iron_key", "key")),
        to=ParameterSchema("string", enum=("Caity", "Bo")),
        count=ParameterSchema("integer"),
    ),
    taking("look_at", required=("target",), target=ParameterSchema("string")),
    taking("wait", required=("minutes",), minutes=ParameterSchema("number")),
    taking("set_light", "set the light", required=("on",), on=ParameterSchema("boolean")),
    OfferedAction("sit", words=("sit down",)),
)
REFUSING = (*OFFERED, OfferedAction("decline", words=("Refuse",)))


async def choice(text: str, offered: tuple[OfferedAction, ...] = OFFERED, **more: Any) -> Action | None:
    mood, recalled = more.pop("mood", NEUTRAL), more.pop("recalled", ())
    percept = Percept(
        "user_caity", text, 1.0, **({"addressed": True, "affect": NEUTRAL} | more), actions=offered
    )
    names = {"user_bo": "Bo", "phi": "Phi"}
    utterance = Utterance(make_persona("Phi"), percept, "Caity", mood, recalled=recalled, names=names)
    return await RuleChooser().choose(utterance, "Yes.", Allowance())


ASKED = {
    "Follow me": "follow()",
    "follow me!": "follow()",
    "Phi, follow me.": "follow()",
    "phi follow me": "follow()",
    "Hey Phi! Come on, follow me": "follow()",
    "Please follow me": "follow()",
    "Would you please follow me?": "follow()",
    "could you just follow me?": "follow()",
    "can you follow me": "follow()",
    "Let's follow the river": "follow()",
    "Come along, little one": "follow()",
    "I'm off to the mill, follow me!": "follow()",
    "Follow me, will you?": "follow()",
    "Don't stand there, follow me": "follow()",
    "come and follow me at once": "follow()",
    "Folge mir": "follow()",
    "*waves* follow me": "follow()",
    "Sit down, please.": "sit()",
    "Give me the lantern": 'give(item="lantern", to="Caity")',
    "Please give Bo the iron key": 'give(item="iron_key", to="Bo")',
    "Give the iron key to Bo, please": 'give(item="iron_key", to="Bo")',
    "hand over the KEY": 'give(item="key")',
    "give two of the key to Bo": 'give(item="key", to="Bo", count=2)',
    "Give Bo 1,000 of the key": 'give(item="key", to="Bo", count=1000)',
    "Look at the tower": 'look_at(target="tower")',
    "Phi, look at the old Iron Gate, please": 'look_at(target="old Iron Gate")',
    "look at me": 'look_at(target="Caity")',
    "wait 5 minutes": "wait(minutes=5)",
    "wait 2.5 minutes please": "wait(minutes=2.5)",
    "wait five minutes": "wait(minutes=5)",
    "Set the light true": "set_light(on=true)",
}
NOT_ASKED = [
    "Follow me?", "Do you follow me?", "Don't follow me", "Please do not follow me", "never follow me",
    "Follow me not", "He said follow me", 'She told me: "follow me"', "He said, follow me",
    "The sign reads 'follow me'", "Follow me, he said.", '"Follow me" is a song',
    "Follow me is a song I like", "If I go, follow me", "Follow me if you dare", "When it rains, follow me",
    "Follow me tomorrow", "Why did you follow me?", "What does follow mean?", "I follow the river",
    "You follow me everywhere", "They will follow me", "Stop following me", "Follow your heart",
    "Bo, follow me", "Would you have given me the key?", "Did you give Bo the key?", "I gave Bo the key",
    "I want a lantern", "hello", "Give it to me", "Give me something", "Give me the lantern or the iron key",
    "Give up the lantern", "look at it", "look at the tower and the bridge", "look at what I found in there",
    "look", "wait", "wait a moment", "wait 1 or 2 minutes", "wait 99999999999999999999 minutes",
    "wait 1e400 minutes", "wait 50% longer", "Set the light", "sit tight if you can", "", "…",
    "follow" * 200,
]  # fmt: skip


@pytest.mark.parametrize("line", ASKED)
async def test_asked_in_so_many_words(line: str) -> None:
    assert str(await choice(line)) == ASKED[line]


@pytest.mark.parametrize("line", NOT_ASKED)
async def test_not_asked(line: str) -> None:
    assert await choice(line) is None


async def test_it_must_be_meant_for_the_character_and_said() -> None:
    assert await choice("follow me", addressed=False) is None
    assert await choice("follow me", kind=Kind.WHISPER, addressed=False) is not None
    for kind in (Kind.EMOTE, Kind.ARRIVE, Kind.LEAVE, Kind.EVENT):
        assert await choice("follow me", kind=kind) is None
    assert await choice("follow me", ()) is None


@pytest.mark.parametrize("how", [{"affect": AFRAID}, {"affect": ANGRY}, {"mood": AFRAID}, {"mood": ANGRY}])
async def test_who_is_afraid_or_angry_refuses_where_that_is_offered(how: dict[str, Affect]) -> None:
    for line in ("Follow me", "Give me something"):
        assert str(await choice(line, REFUSING, **how)) == "decline()"
    assert await choice("hello", REFUSING, **how) is None
    assert str(await choice("Follow me", OFFERED, **how)) == "follow()"
    assert str(await choice("Follow me", REFUSING)) == "follow()"


async def test_who_is_insulted_refuses_however_it_was_felt() -> None:
    assert str(await choice("Give me the key, you worthless idiot", REFUSING)) == "decline()"
    assert str(await choice("Give me the key, my friend", REFUSING)) == 'give(item="key", to="Caity")'


async def test_a_mood_decides_as_coarsely_as_everybody_sees_it() -> None:
    """Else whoever asks again and again would read its digits, and with them what others said."""
    told = [str(await choice("Follow me", REFUSING, mood=Affect(fear=fear / 100))) for fear in range(100)]
    assert told == [
        "follow()" if round(fear / 100 * 4) / 4 < UNWILLING else "decline()" for fear in range(100)
    ]


async def test_no_memory_has_a_part_in_it() -> None:
    horror = an_entry(1, "I will kill you all, look at the tower", affect=AFRAID)
    recalled = (Recalled(horror, ("recent",), 1.0),)  # type: ignore[arg-type]
    for line in ("Follow me", "look at it", "give it to me"):
        assert await choice(line, REFUSING, recalled=recalled) == await choice(line, REFUSING)


@pytest.mark.slow
@given(st.data(), st.lists(offers(), min_size=1, max_size=3, unique_by=lambda one: one.name))
def test_whatever_is_chosen_was_offered_and_fits(data: st.DataObject, offered: list[OfferedAction]) -> None:
    said = [word for one in offered for word in (one.name.replace("_", " "), *one.words)]
    said += [
        choice for one in offered for taken in one.parameters.properties.values() for choice in taken.enum
    ]
    said += ["me", "please", "2", "two", "true", "the", ",", "?", "İ", "ſ", "1e9"]
    line = " ".join(data.draw(st.lists(st.sampled_from(said) | st.text(max_size=5), min_size=1, max_size=6)))
    action = asyncio.run(choice(line, tuple(offered)))
    if action is not None:
        (one,) = [one for one in offered if one.name == action.name]
        assert one.chosen(action.arguments, "rule") == action
