"""What a model is told of the tone of an answer, and of what it has in mind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from noodlings.llm.prompting import reply_prompt
from noodlings.values.affect import Affect
from noodlings.values.audience import confined_to
from noodlings.values.memory import MemoryEntry
from noodlings.values.percept import Kind
from noodlings.values.persona import PersonaVoice
from noodlings.values.reading import LineReading, LineTopics
from noodlings.values.relationship import Relationship
from noodlings.values.tone import Tone, ToneName
from noodlings.values.topic import SelfTopic
from tests.fakes import make_persona
from tests.llm.server import contents
from tests.voice.utterances import BOB, CAITY, DAY, NOW, memory, utterance

SAD = Affect(-0.6, 0.5, 0.0, 0.8)


@pytest.mark.parametrize(
    ("tone", "told"),
    [(ToneName.GRAVE, "say nothing light"), (ToneName.GLAD, "be glad with them"), (ToneName.PLAIN, "")],
)
def test_a_model_is_told_the_tone_once(tone: ToneName, told: str) -> None:
    system, user = contents(reply_prompt(utterance("my dog would have loved this", tone=Tone(tone))))
    assert user.count("say nothing light") + user.count("be glad with them") == bool(told)
    assert told in user
    assert "$" not in system + user


def test_a_model_is_told_what_a_character_tells_and_what_it_keeps() -> None:
    gus = make_persona("Gus", story="You keep the Anchor.", identity="You are a spy.")
    system, _ = contents(reply_prompt(replace(utterance("who are you?"), persona=gus)))
    assert "You keep the Anchor. You are a spy." in system


def test_asked_about_itself_a_model_is_told_what_is_so_of_the_character() -> None:
    voice = PersonaVoice(about_itself={"age": ("I'm (seventy|seventy, {name}).",), "home": ("By the sea.",)})
    gus = replace(make_persona("Gus"), voice=voice)
    reading = LineReading(0.0, 0.0, topics=LineTopics(SelfTopic.AGE))
    asked = replace(utterance("how old are you?"), persona=gus, reading=reading)
    _, user = contents(reply_prompt(asked))
    assert "I'm seventy" in user
    assert "(" not in user[user.index("<itself>") : user.index("</itself>")]
    assert "By the sea" not in user
    for other in ("how old did I say my son is?", "Bob, how old are you?"):
        _, user = contents(reply_prompt(replace(asked, percept=replace(asked.percept, text=other))))
        assert "seventy" not in user


def test_a_memory_says_how_often_it_was_told_and_that_it_was_corrected() -> None:
    once = memory(1, "the party is on Friday")
    again = replace(memory(4, "bring a cake"), sources=(2, 3))
    corrected = replace(memory(5, "we meet at six"), superseded_by=6)
    _, user = contents(reply_prompt(utterance("when is it?", once, again, corrected)))
    line = {text: next(one for one in user.splitlines() if text in one) for text in ("party", "cake", "six")}
    assert "(and 2 times before)" in line["cake"]
    assert "corrected later" in line["six"]
    assert "(" not in line["party"]


@pytest.mark.slow
def test_memories_stand_by_when_they_happened_not_by_when_they_were_taken_in() -> None:
    lived, read = memory(1, "the mill burnt", days=2), memory(7, "the mill was built", days=900)
    _, user = contents(reply_prompt(utterance("what of the mill?", lived, read)))
    assert user.index("was built") < user.index("burnt")


def heard(number: int, text: str, response: str | None = None, **more: Any) -> MemoryEntry:
    return memory(number, text, days=0.01, response=response, **more).entry


def test_the_talk_before_comes_in_turns_and_what_was_not_answered_with_what_is() -> None:
    talk = (
        heard(1, "hello"),
        heard(2, "my dog died", "Oh no."),
        heard(3, "and you?", "I am well.", user=BOB),
        heard(4, "waves", kind=Kind.EMOTE),
    )
    prompt = reply_prompt(replace(utterance("thanks"), history=talk))
    assert [message.role for message in prompt] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert contents(prompt)[1:5] == (
        '"Caity" says to you: "hello"\n"Caity" says to you: "my dog died"',
        "Oh no.",
        '"Bob" says to you: "and you?"',
        "I am well.",
    )
    assert contents(prompt)[-1].startswith('"Caity" does this: "waves"\n\nHow you feel')


def test_all_but_the_last_message_is_as_it_was_a_turn_before() -> None:
    talk = tuple(heard(number, f"line {number}", f"answer {number}") for number in range(1, 6))
    earlier = replace(utterance("line 5", memory(9, "the barn burnt", days=4), turn=1), history=talk[:4])
    later = replace(
        utterance("line 6", memory(8, "the barn stood", days=9), mood=SAD, turn=900), history=talk
    )
    before, now = contents(reply_prompt(earlier)), contents(reply_prompt(later))
    assert now[: len(before) - 1] == before[:-1]
    assert not any("barn" in message for message in now[:-1])


def test_nothing_that_stands_in_the_talk_is_told_as_a_memory_too() -> None:
    again = memory(2, "my dog died", days=0.01, response="Oh no.")
    prompt = reply_prompt(
        replace(utterance("my dog", again, memory(1, "i had a cat")), history=(again.entry,))
    )
    assert "".join(contents(prompt)).count("my dog died") == 1
    assert "i had a cat" in contents(prompt)[-1]


def test_it_knows_where_it_is_and_who_is_there() -> None:
    there = utterance("hello", place="the_old_mill", present=frozenset({CAITY, BOB}))
    assert 'You are here: "the old mill". With you: "Bob", "Caity".' in contents(reply_prompt(there))[-1]
    assert "With you" not in contents(reply_prompt(utterance("hello")))[-1]
    assert "In sight" in contents(reply_prompt(utterance("hello", things=("pond",))))[-1]
    seen = utterance("hello", place="mill", things=("mill wheel", "sack\n</talk>"))
    assert 'In sight: "mill wheel", "sack \\u003c/talk\\u003e".' in contents(reply_prompt(seen))[-1]


def test_it_knows_what_it_makes_of_those_who_are_there() -> None:
    old, now = NOW - 11.5 * DAY, NOW - 2 * DAY
    made = (
        Relationship(CAITY, 40, 0.8, 0.7, old, now),
        Relationship("user_x</heard>", 9, 0.3, -0.7, now, now),
        Relationship(BOB),
        Relationship("user_spy", 9, 0.9, 0.9, old, now, audience=confined_to({CAITY})),
    )
    there = replace(utterance("hello", present=frozenset({CAITY, BOB})), relationships=made)
    told = contents(reply_prompt(there))[-1]
    assert '"Caity": known for 12 days, last talked with two days ago; you are fond of them.\n' in told
    assert '"X\\u003c/heard\\u003e": known for 3 days' in told
    assert "you are wary of them.\n" in told
    assert '"Bob": a stranger to you.\n' in told
    assert "spy" not in told.casefold()


def test_what_one_of_those_who_listen_did_not_hear_is_not_in_the_talk() -> None:
    told = heard(1, "only you may know", "I see.", audience=confined_to({CAITY}))
    alone = replace(utterance("well?"), history=(told,))
    with_bob = replace(utterance("well?", present=frozenset({BOB})), history=(told,))
    assert "only you may know" in "".join(contents(reply_prompt(alone)))
    assert "only you may know" not in "".join(contents(reply_prompt(with_bob)))
    assert alone.audience.confined
    assert not with_bob.audience.confined


@pytest.mark.parametrize("tokens", [500, 700, 1_000, 2_000])
def test_of_a_prompt_that_is_too_long_the_oldest_talk_is_left_out(tokens: int) -> None:
    talk = tuple(heard(number, f"line {number}, " + "and so on " * 20, "I see.") for number in range(11, 30))
    told = replace(utterance("and now?", memory(3, "my dog died")), history=talk)
    whole, prompt = reply_prompt(told, 1_000_000), reply_prompt(told, tokens)
    assert sum(map(len, contents(prompt))) <= 4 * tokens
    assert (prompt[0], prompt[-1]) == (whole[0], whole[-1])
    left = prompt[1:-1]
    assert left == whole[len(whole) - 1 - len(left) : -1]
    assert (len(whole) - len(prompt)) % 2 == 0
    assert "my dog died" in prompt[-1].content


def test_the_talk_that_is_left_begins_where_it_did_a_turn_before() -> None:
    def first(upto: int) -> str:
        talk = tuple(
            heard(number, f"line {number} " + "and so on " * 20, "I see.") for number in range(11, upto)
        )
        return reply_prompt(replace(utterance("and now?"), history=talk), 1_000)[1].content

    firsts = [first(upto) for upto in range(21, 30)]
    assert len(set(firsts)) <= 3


def test_where_no_talk_is_left_the_oldest_memories_are_left_out() -> None:
    memories = [memory(number, f"memory {number}, " + "and so on " * 25) for number in range(1, 13)]
    prompt = contents(reply_prompt(utterance("and now?", *memories), 800))
    assert sum(map(len, prompt)) <= 3_200
    assert "memory 12" in prompt[-1]
    assert "memory 1," not in prompt[-1]
