"""Another answer to what is kept: it takes the place of the old one everywhere, and nothing else moves."""

from __future__ import annotations

import pytest

from noodlings.ports import Speech
from noodlings.values.memory import LinkType
from noodlings.values.percept import Percept

CAITY, TOAD = "user_caity", "user_toad"


class Numbered:
    """A model whose answers are numbered, and who keeps what it was given."""

    name = "llm"

    def __init__(self):
        self.heard = []

    async def speak(self, utterance, allowance):
        self.heard.append(utterance)
        return Speech(f"The zarn{len(self.heard)} is nothing to worry about.")


@pytest.fixture
def hear(clock):
    async def hear(agent, text, user=CAITY, **more):
        clock.advance(60.0)
        present = frozenset({user})
        return await agent.perceive(Percept(user, text, clock.now(), addressed=True, present=present), **more)

    return hear


async def test_it_takes_the_place_of_the_old_one_and_the_percept_stays(make_agent, store, hear, clock):
    agent = make_agent(voice=Numbered())
    first = await hear(agent, "My dog died yesterday")
    await hear(agent, "and hello from me", TOAD)
    before, felt, steps = agent.entry(1), agent.mood, agent.state().data["step"]
    clock.advance(30.0)
    felt = agent.mood
    said = []
    again = await agent.answer_again(first.entry_id, said.append)
    assert again is not None
    assert again.response == "The zarn3 is nothing to worry about." == " ".join(said)
    entry = agent.entry(1)
    assert entry.response == store.entries("phi", [1])[1].response
    assert (entry.response, entry.user_text) == (again.response, before.user_text)
    assert (entry.affect, entry.surprise, entry.importance, entry.timestamp) == (
        before.affect, before.surprise, before.importance, before.timestamp,
    )  # fmt: skip
    assert (agent.mood, agent.state().data["step"], agent.memory.stats().perceived) == (felt, steps, 2)
    assert store.traces("phi", 1, before=2) == [again]
    kept = str([store.load("phi"), store.traces("phi", 9)])
    assert "zarn1" not in kept
    assert "zarn2" in kept  # the other user's answer
    assert "zarn3" in kept


async def test_the_offline_voice_says_something_else_and_is_not_heard_repeating_itself(make_agent, hear):
    agent = make_agent()
    first = await hear(agent, "My dog died yesterday")
    answers = [first.response]
    for _ in range(3):
        trace = await agent.answer_again(1)
        assert trace.response != answers[-1]
        answers.append(trace.response)
        assert [line["text"] for line in agent.state().data["said"]] == [trace.response]


async def test_links_are_those_of_the_new_answer_and_nothing_is_reinforced_twice(make_agent, store, hear):
    agent = make_agent()
    await hear(agent, "My dog Rex died yesterday")
    trace = await hear(agent, "do you remember my dog?")
    used = {found.entry_id for found in trace.recalled if found.used}
    assert used == {1}
    recalls = agent.entry(1).recall_count
    for _ in range(3):
        await agent.answer_again(trace.entry_id)
    links = [link for link in store.links_of("phi", [2]) if link.type is LinkType.RECALLED]
    latest = store.traces("phi")[0]
    assert {link.target for link in links} == {found.entry_id for found in latest.recalled if found.used}
    assert agent.entry(1).recall_count == recalls


async def test_it_is_found_by_its_own_words_and_no_more_by_those_of_the_old_one(
    make_agent, make_archive, hear
):
    archive = make_archive()
    agent = make_agent(voice=Numbered(), archive=archive)
    await hear(agent, "hello there")
    assert [hit.entry_id for hit in await archive.search("zarn1")] == [1]
    await agent.answer_again(1)
    assert await archive.search("zarn1") == []
    assert [hit.entry_id for hit in await archive.search("zarn2")] == [1]


async def test_after_a_restart_it_is_as_it_was(make_agent, hear):
    agent = make_agent(voice=Numbered())
    await hear(agent, "My dog died yesterday")
    trace = await make_agent().answer_again(1)  # woken anew
    assert make_agent().entry(1).response == trace.response


async def test_of_what_was_forgotten_nothing_is_answered(make_agent, hear, clock):
    agent = make_agent()
    await hear(agent, "My dog died yesterday")
    agent.forget([1], CAITY, clock.now())
    assert await agent.answer_again(1) is None
    assert await agent.answer_again(7) is None


async def test_a_list_answers_again_too(make_agent, hear, store):
    agent = make_agent(plain=True)
    first = await hear(agent, "My dog died yesterday")
    trace = await agent.answer_again(1)
    assert trace.response != first.response
    assert store.entries("phi", [1])[1].response == trace.response


async def test_talk_of_before_is_told_to_a_model_and_kept_nowhere(make_agent, hear, store):
    voice = Numbered()
    agent = make_agent(voice=voice)
    await hear(agent, "hello")
    told = agent.entry(1)
    other = make_agent("Ada", voice=voice)
    await hear(other, "as I said", earlier=(told,))
    assert told in voice.heard[-1].history
    assert [entry.user_text for entry in store.load("ada").working] == ["as I said"]
    await hear(other, "as I said", TOAD, earlier=(told,))  # not for others, whoever hands it over
    assert told not in voice.heard[-1].history
