"""The chain: order, what is kept of each step, and that nothing in one transistor harms the thought."""

import asyncio
import time
from dataclasses import replace

import pytest

from noodlings.errors import LLMError, UserError
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.ports import Allowance
from noodlings.transistors.base import CognitiveTransistor
from noodlings.transistors.builtin import AffectTransistor, MemoryTransistor
from noodlings.transistors.chain import Chain
from tests.transistors.states import SAD, make_state, remembered


class ScriptedVoice:
    """A `Voice` that only modulates: it appends the name of the lens, or raises what it was given."""

    name = "llm"

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    async def modulate(self, thought, lens, utterance, allowance):
        if self.error:
            raise self.error
        return f"{thought} <{lens.transistor}>"


class Bright(CognitiveTransistor):
    """By lens."""

    name = "bright"

    def lens(self, state):
        return self.seen("Brighter.", phrases=("How bright it is.",))


class Loud(CognitiveTransistor):
    """In its own way, as the seed has it."""

    name = "loud"

    async def modulate(self, thought, state):
        return thought.upper()


def own(name, made):
    """A transistor that goes its own way: what it makes is a text, or an error that is raised."""

    class Own(CognitiveTransistor):
        async def modulate(self, thought, state):
            if isinstance(made, BaseException):
                raise made
            return made

    transistor = Own()
    transistor.name = name
    return transistor


async def test_serial_keeps_before_and_after_of_each_in_order():
    text, modulations, degraded, _ = await Chain([Bright(), Loud(), Bright(0.0)]).serial(
        "a thought", make_state(voice=ScriptedVoice())
    )
    assert text == "A THOUGHT <BRIGHT>"
    assert [(m.transistor, m.how, m.before, m.after) for m in modulations] == [
        ("bright", "serial", "a thought", "a thought <bright>"),
        ("loud", "serial", "a thought <bright>", "A THOUGHT <BRIGHT>"),
        ("bright", "off", "A THOUGHT <BRIGHT>", "A THOUGHT <BRIGHT>"),
    ]
    assert degraded == ()


async def test_the_offline_voice_says_so_and_what_was_read_is_by_id():
    memory = HierarchicalMemory(surprise_threshold=0.0)
    dog = remembered(memory, "my dog died")
    done = await Chain([MemoryTransistor()]).serial("Yes.", make_state(affect=SAD, memory=memory))
    [made] = done.modulations
    assert made.how == "offline"
    assert made.entries == (dog,)
    assert made.lens
    assert "my dog died" not in (made.lens + "".join(made.read))
    assert "your dog died" in done.text


async def test_nothing_to_add_is_passed():
    done = await Chain([AffectTransistor()]).serial("Yes.", make_state())
    assert done.text == "Yes."
    assert [made.how for made in done.modulations] == ["passed"]


async def test_a_model_that_fails_leaves_the_thought_and_is_named():
    state = make_state(voice=ScriptedVoice(LLMError("the model at x did not answer within 2 s")))
    text, modulations, degraded, _ = await Chain([Bright(), Loud()]).serial("a thought", state)
    assert text == "A THOUGHT"
    assert [made.how for made in modulations] == ["failed", "serial"]
    assert degraded == ("transistor bright: the model at x did not answer within 2 s",)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (ZeroDivisionError("by nought"), "ZeroDivisionError: by nought"),
        (KeyError("\x1b[31mred"), "KeyError: "),
        (42, "it gave int instead of text"),
        ("  \n ", "it gave no words"),
    ],
)
async def test_whatever_a_users_own_does_stays_in_it(made, words):
    text, modulations, degraded, _ = await Chain([own("odd", made), Loud()]).serial("a thought", make_state())
    assert text == "A THOUGHT"
    assert [m.how for m in modulations] == ["failed", "offline"]
    assert degraded[0].startswith(f"transistor odd: {words}")
    assert "\x1b" not in degraded[0]


async def test_what_a_users_own_makes_is_one_printable_line():
    text, *_ = await Chain([own("odd", "two\nlines\x1b[31m " + "x" * 9_999)]).serial("a", make_state())
    assert text.startswith("two lines xxx")
    assert len(text) == 4_000


async def test_one_that_never_ends_is_left_when_time_is_over():
    class Slow(CognitiveTransistor):
        name = "slow"

        async def modulate(self, thought, state):
            await asyncio.Event().wait()

    state = make_state(allowance=Allowance(until=time.monotonic() + 0.05))
    text, _, degraded, _ = await Chain([Slow()]).serial("a thought", state)
    assert text == "a thought"
    assert degraded == ("transistor slow: it was not ready in time",)


async def test_a_turn_that_is_cancelled_is_cancelled():
    with pytest.raises(asyncio.CancelledError):
        await Chain([own("odd", asyncio.CancelledError())]).serial("a thought", make_state())


async def test_fused_each_lens_once_and_the_others_afterwards():
    chain = Chain([Bright(), Loud(), AffectTransistor(), Bright(0.0)])
    state = make_state()
    _, modulations, degraded, lenses = await chain.lenses(state)
    assert [lens.transistor for lens in lenses] == ["bright"]
    assert [(m.transistor, m.how, m.before) for m in modulations] == [
        ("bright", "fused", ""),
        ("affect", "passed", ""),
        ("bright", "off", ""),
    ]
    assert degraded == ()
    rest = await chain.own_way("said", state)
    assert (rest.text, [m.transistor for m in rest.modulations]) == ("SAID", ["loud"])


async def test_a_lens_that_fails_is_named_and_the_others_are_handed_on():
    class Broken(Bright):
        name = "broken"

        def lens(self, state):
            raise RuntimeError("glass")

    _, modulations, degraded, lenses = await Chain([Broken(), Bright()]).lenses(make_state())
    assert [lens.transistor for lens in lenses] == ["bright"]
    assert [made.how for made in modulations] == ["failed", "fused"]
    assert degraded == ("transistor broken: RuntimeError: glass",)


async def test_the_offline_voice_takes_in_lenses_at_once_too():
    state = make_state()
    lenses = (await Chain([Bright()]).lenses(state)).lenses
    plain = await state["voice"].speak(state["utterance"], Allowance())
    coloured = await state["voice"].speak(replace(state["utterance"], lenses=lenses), Allowance())
    assert "How bright it is." not in plain.text
    assert "How bright it is." in coloured.text


@pytest.mark.parametrize("gain", [-0.1, 1.1, float("nan")])
def test_a_gain_out_of_range_is_refused(gain):
    with pytest.raises(UserError, match="between 0 and 1"):
        Bright(gain)


def test_one_that_does_nothing_is_refused():
    class Idle(CognitiveTransistor):
        name = "idle"

    with pytest.raises(UserError, match="define lens or modulate"):
        Idle()
