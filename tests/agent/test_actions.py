"""An action is chosen when the words are said; what comes between leaves it undone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from noodlings.ports import Allowance, Speech, Utterance
from noodlings.values.action import Action, OfferedAction
from noodlings.values.percept import Kind, Percept

FOLLOW = (OfferedAction("follow"),)


class Model:
    """Speaks at once, and chooses when its `gate` lets it."""

    name = "llm"

    def __init__(self) -> None:
        self.asked, self.gate = asyncio.Event(), asyncio.Event()
        self.lines, self.times = ("As you like.",), 0

    async def speak(self, utterance: Utterance, allowance: Allowance) -> Speech:
        self.times += 1
        return Speech(self.lines[min(self.times, len(self.lines)) - 1])

    async def choose(self, utterance: Utterance, response: str, allowance: Allowance) -> Action | None:
        self.asked.set()
        await self.gate.wait()
        return FOLLOW[0].chosen({}, "llm")


@pytest.fixture
def seen() -> list[Any]:
    return []


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def agent(make_agent, model, seen):
    return make_agent(voice=model, action_model=model, watchers=[seen.append])


@pytest.fixture
def asked(agent, clock):
    """A turn in which an action is being chosen."""

    def begin(text: str = "Follow me", **changes: Any) -> asyncio.Task[Any]:
        clock.advance(60)
        percept = Percept("user_caity", text, clock.now(), **({"addressed": True} | changes))
        return asyncio.create_task(agent.perceive(percept))

    return begin


async def test_the_words_are_said_and_kept_before_it_is_chosen(agent, model, asked, seen, store) -> None:
    turn = asked(actions=FOLLOW)
    await model.asked.wait()
    assert "".join(event.said for event in seen) == "As you like."
    (kept,) = store.traces("phi")
    assert (kept.response, kept.action) == ("As you like.", None)
    after = await asyncio.wait_for(asked("And then?"), 30)  # nobody waits for it
    assert (after.response, after.action) == ("As you like.", None)
    turn.cancel()


async def test_what_was_chosen_is_kept_and_told(agent, model, asked, seen, store) -> None:
    model.gate.set()
    trace = await asked(actions=FOLLOW)
    assert str(trace.action) == "follow()"
    assert store.traces("phi") == [trace]
    assert seen[-1].trace == trace
    entry = store.entries("phi", [trace.entry_id])[trace.entry_id]
    assert "follow()" not in str(entry)
    assert "OfferedAction" not in str(entry)


@pytest.mark.parametrize(
    "between",
    [{"text": "no, stop!"}, {"text": "leaves", "kind": Kind.LEAVE, "addressed": False}],
)
async def test_what_is_overtaken_is_not_done(agent, model, asked, between) -> None:
    turn = asked(actions=FOLLOW)
    await model.asked.wait()
    await asked(**between)
    model.gate.set()
    trace = await turn
    assert (trace.response, trace.action) == ("As you like.", None)
    assert trace.degraded[0].startswith("no action: thought for so long that")


async def test_of_what_was_forgotten_meanwhile_nothing_is_done_or_kept(
    agent, model, asked, seen, store, clock
) -> None:
    turn = asked(actions=FOLLOW)
    await model.asked.wait()
    (kept,) = store.traces("phi")
    agent.forget([kept.entry_id], "user_caity", clock.now())
    model.gate.set()
    trace = await turn
    assert (trace.response, trace.action) == (None, None)
    assert store.traces("phi") == []
    assert all(event.trace.action is None for event in seen)


async def test_an_answer_that_was_taken_back_meanwhile_does_nothing(agent, model, asked, store) -> None:
    model.lines = ("As you like.", "On second thought, no.")
    turn = asked(actions=FOLLOW)
    await model.asked.wait()
    (kept,) = store.traces("phi")
    again = await agent.answer_again(kept.entry_id)
    model.gate.set()
    assert (await turn).action is None
    assert store.traces("phi") == [again]
    assert (again.response, again.action) == ("On second thought, no.", None)
