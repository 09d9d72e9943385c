import asyncio
import logging

import pytest

from noodlings.errors import StoreError
from noodlings.values.percept import Percept
from noodlings.worlds.minds import Minds
from tests.fakes import ScriptedMinds


def percept(text: str) -> Percept:
    return Percept("user_caity", text, 0.0)


async def test_percepts_are_taken_in_at_once_and_in_order_while_an_answer_hangs():
    taken_in, answered, gate = [], [], asyncio.Event()
    scripted, speaking = ScriptedMinds(), asyncio.Lock()

    async def perceive(agent_id, heard):
        taken_in.append(heard.text)
        async with speaking:
            await gate.wait()
        return await scripted.perceive(agent_id, heard)

    minds = Minds(perceive, lambda agent_id, heard, trace: answered.append(heard.text))
    numbers = [str(number) for number in range(10)]
    for number in numbers:
        assert minds.hand("phi", percept(number))
    await asyncio.sleep(0)
    assert taken_in == numbers
    assert answered == []
    gate.set()
    await minds.settle()
    assert answered == numbers


async def test_a_slow_mind_holds_up_nobody_else():
    gate, scripted, done = asyncio.Event(), ScriptedMinds(), asyncio.Event()

    async def perceive(agent_id, heard):
        if agent_id == "slow":
            await gate.wait()
        return await scripted.perceive(agent_id, heard)

    minds = Minds(perceive, lambda agent_id, *turn: done.set() if agent_id == "quick" else None)
    minds.hand("slow", percept("a"))
    minds.hand("quick", percept("b"))
    await done.wait()
    await asyncio.sleep(0)
    assert scripted.texts("quick") == ["b"]
    assert scripted.texts("slow") == []
    assert minds.busy("slow")
    assert not minds.busy("quick")
    gate.set()
    await minds.settle()
    assert scripted.texts("slow") == ["a"]
    await minds.close()


async def test_what_does_not_fit_is_dropped_and_logged(caplog, monkeypatch):
    monkeypatch.setattr("noodlings.worlds.minds.CAPACITY", 2)
    scripted = ScriptedMinds()
    minds = Minds(scripted.perceive, lambda *turn: None)
    with caplog.at_level(logging.WARNING):
        assert [minds.hand("phi", percept(str(number))) for number in range(4)] == [True, True, False, False]
    assert [record.getMessage() for record in caplog.records] == [  # without the words, which may be secret
        "phi cannot keep up: dropped say from user_caity"
    ] * 2
    await minds.settle()
    assert scripted.texts("phi") == ["0", "1"]
    await minds.close()


async def test_settle_waits_for_what_followed_too():
    scripted, heard_of = ScriptedMinds(), []

    def done(agent_id, heard, trace):
        heard_of.append((agent_id, heard.text))
        if heard.text != "...":
            minds.hand("toad" if agent_id == "phi" else "phi", percept(heard.text + "."))

    minds = Minds(scripted.perceive, done)
    minds.hand("phi", percept(""))
    await minds.settle()
    assert heard_of == [("phi", ""), ("toad", "."), ("phi", ".."), ("toad", "...")]
    await minds.close()


@pytest.mark.parametrize("error", [StoreError("the disk is full"), ZeroDivisionError()])
async def test_a_mind_survives_what_goes_wrong_in_it(caplog, error):
    scripted, traces = ScriptedMinds(), []

    async def perceive(agent_id, heard):
        if heard.text == "bad":
            raise error
        return await scripted.perceive(agent_id, heard)

    minds = Minds(perceive, lambda agent_id, heard, trace: traces.append(trace))
    minds.hand("phi", percept("bad"))
    minds.hand("phi", percept("good"))
    await minds.settle()
    assert scripted.texts("phi") == ["good"]
    assert traces[0] is None
    assert traces[1] is not None
    assert "phi lost a turn with user_caity" in caplog.text
    await minds.close()


async def test_a_listener_that_fails_does_not_end_the_mind(caplog):
    scripted = ScriptedMinds()

    def done(*turn):
        raise BrokenPipeError

    minds = Minds(scripted.perceive, done)
    minds.hand("phi", percept("a"))
    minds.hand("phi", percept("b"))
    await minds.settle()
    assert scripted.texts("phi") == ["a", "b"]
    assert "nobody learnt" in caplog.text
    await minds.close()


async def test_closing_says_what_was_left_unheard(caplog):
    gate = asyncio.Event()

    async def perceive(agent_id, heard):
        await gate.wait()

    minds = Minds(perceive, lambda *turn: None)
    minds.hand("phi", percept("a"))
    await asyncio.sleep(0)
    minds.hand("phi", percept("b"))
    await minds.close()
    assert "phi leaves 2 turns unfinished" in caplog.text
    await minds.settle()
