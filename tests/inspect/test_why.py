"""One turn from end to end, as each caller may know of it."""

import json
from dataclasses import replace

import pytest

from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.errors import NotFound, UserError
from noodlings.inspect.inspector import Inspector
from noodlings.ports import Changes
from noodlings.store.memory import MemoryStore
from noodlings.values.affect import NEUTRAL, Affect
from noodlings.values.caller import Caller, Role
from noodlings.values.memory import ImportanceParts, Symbol
from noodlings.values.percept import Kind, Percept
from noodlings.values.tone import Tone, ToneName, ToneSource
from noodlings.values.trace import Modulation, RecalledTrace, Trace
from tests.fakes import FakeAgent, FakeSociety
from tests.memory.entries import ANXIOUS, an_entry

ADMIN = Caller("user_root", "root", Role.ADMIN)
VIEWER = Caller("user_eve", "eve", Role.VIEWER)
ANN = Caller("user_ann", "ann")
BOB = Caller("user_bob", "bob")
SECRET = "bobs cellar is flooded"
AFRAID = Affect(-0.8, 0.9, 0.9, 0.1, 0.0)


def a_trace(entry_id, **changes):
    """A turn of Phi in which nothing came to mind."""
    fields = {
        "agent_id": "phi",
        "entry_id": entry_id,
        "timestamp": float(entry_id),
        "affect": ANXIOUS,
        "appraised_by": "words",
        "mood": NEUTRAL,
        "surprise": 0.25,
        "importance": 0.5,
        "parts": ImportanceParts(surprise=0.25),
        "thought": "mew.",
        "response": "mew.",
        "voice": "offline",
        "decision": "addressed",
        "milliseconds": {"appraise": 1.0, "think": 2.0},
    }
    return Trace(**(fields | changes))


def made(transistor, before, after, **changes):
    """What a transistor at full gain made."""
    return Modulation(transistor, 1.0, before, after, "offline", "be brief", **changes)


def an_inspector(entries, traces, symbols=()):
    society = FakeSociety(store=MemoryStore())
    agent = society.add(FakeAgent())
    agent.gains = {"affect": 1.0, "memory": 0.5}
    society.store.commit(Changes("phi", added=tuple(entries)))
    for trace in traces:
        society.store.commit(Changes("phi", trace=trace))
    agent.subconscious.restore(symbols)
    society.clock.set(1_000.0)
    return Inspector(society)


def everything(view):
    return json.dumps(view.as_dict(), allow_nan=False)


HEARD = (
    an_entry(1, user_id="user_bob", user_text=SECRET),
    an_entry(2, user_id="user_ann", user_text="I like ducks"),
    an_entry(3, user_id="user_ann", user_text="what about cellars?"),
)


def test_a_turn_is_told_from_end_to_end():
    trace = a_trace(
        3,
        recalled=(RecalledTrace(2, ("recent",), 0.5, {"recent": 0.5}, used=True),),
        modulations=(made("affect", "mew.", "mew mew.", read=("fear",), entries=(2,)),),
        response="mew mew.",
        calls=2,
        tokens=70,
        degraded=("judged by words only: no model",),
    )
    view = an_inspector(HEARD, [trace]).why(ADMIN, "phi")
    assert (view.agent, view.name, view.back, view.thought) == ("phi", "Phi", 1, "mew.")
    assert (view.turn.percept.text, view.turn.response) == ("what about cellars?", "mew mew.")
    assert view.turn.degraded == ("judged by words only: no model",)
    assert (view.affect.affect, view.appraised_by) == (ANXIOUS, "words")
    assert (view.surprise, view.importance, view.parts.surprise) == (0.25, 0.5, 0.25)
    (recalled,) = view.recalled
    assert (recalled.id, recalled.why, recalled.score, recalled.used) == (2, ("recent",), 0.5, True)
    (modulation,) = view.modulations
    assert (modulation.before, modulation.after, modulation.read) == ("mew.", "mew mew.", ("fear",))
    assert (modulation.entries, modulation.hidden) == ((2,), 0)
    assert [(step.step, step.milliseconds) for step in view.steps] == [("appraise", 1.0), ("think", 2.0)]
    assert (view.calls, view.tokens, view.hidden) == (2, 70, 0)
    assert json.loads(everything(view)) == view.as_dict()


def test_turns_are_counted_back_with_or_without_silence():
    traces = [a_trace(1), a_trace(2, response=None, thought="", decision="its own"), a_trace(3)]
    inspector = an_inspector(HEARD, traces)
    spoken = [inspector.why(ADMIN, "phi", back).turn for back in (1, 2, 3)]
    assert [turn.percept.id if turn else None for turn in spoken] == [3, 1, None]
    silent = [inspector.why(ADMIN, "phi", back, silent=True).turn.percept.id for back in (1, 2, 3)]
    assert silent == [3, 2, 1]
    for back in (0, -1):
        with pytest.raises(UserError, match="the last turn is 1"):
            inspector.why(ADMIN, "phi", back)


def test_a_turn_is_found_by_its_memory():
    inspector = an_inspector(HEARD, [a_trace(1), a_trace(3)])
    assert inspector.turn(ADMIN, "phi", 3).turn.response == "mew."
    untraced = inspector.turn(ADMIN, "phi", 2)
    assert (untraced.turn.percept.text, untraced.turn.voice, untraced.steps) == ("I like ducks", "", ())
    refused = set()
    for number in (1, 99):
        with pytest.raises(NotFound) as error:
            inspector.turn(ANN, "phi", number)
        refused.add(str(error.value).replace(str(number), "N"))
    assert len(refused) == 1  # ids tell nobody anything


def test_a_player_is_told_of_turns_with_itself_alone():
    inspector = an_inspector(HEARD, [a_trace(1), a_trace(3)])
    assert inspector.why(ANN, "phi").turn.percept.id == 3
    assert inspector.why(ANN, "phi", 2).turn is None
    assert inspector.why(BOB, "phi").turn.percept.id == 1
    assert inspector.why(VIEWER, "phi", 2).turn.percept.id == 1


TELLING = (
    # What the thought was made of, before any transistor.
    a_trace(
        3,
        thought=SECRET,
        recalled=(RecalledTrace(1, ("important",), 0.9, used=True),),
        modulations=(made("affect", SECRET, f"{SECRET}!", read=("fear",)), made("ego", f"{SECRET}!", "mew.")),
    ),
    # A model was handed it, and cannot be asked what it took.
    a_trace(3, thought=SECRET, voice="llm", recalled=(RecalledTrace(1, ("important",), 0.9),)),
    # A transistor read it, and those after it hold it.
    a_trace(
        3,
        modulations=(
            made("memory", "mew.", f"mew. {SECRET}", entries=(1,), read=(SECRET,)),
            made("ego", f"mew. {SECRET}", f"mew. {SECRET}!"),
        ),
    ),
    # So did one that saw the image made of it.
    a_trace(3, modulations=(made("subconscious", "mew.", f"mew. {SECRET}", symbols=(7,)),)),
    # Or an image that has faded, of which nobody knows any more whose it was.
    a_trace(3, modulations=(made("subconscious", "mew.", f"mew. {SECRET}", symbols=(8,)),)),
    # Or something that was forgotten.
    a_trace(3, modulations=(made("memory", "mew.", f"mew. {SECRET}", entries=(77,)),)),
)
OF_BOB = Symbol(7, 1, 1.0, SECRET, "wet stairs", ANXIOUS, 0.8, 0.5, "images")


@pytest.mark.parametrize("trace", TELLING)
def test_no_word_of_others_reaches_a_player_by_an_answer(trace):
    inspector = an_inspector(HEARD, [trace], [OF_BOB])
    for view in (
        inspector.why(ANN, "phi"),
        inspector.turn(ANN, "phi", 3),
        inspector.transistors(ANN, "phi"),
    ):
        assert "cellar is" not in everything(view)
    assert inspector.why(ANN, "phi").turn.response == "mew."  # it was said to her
    assert "cellar is" in everything(inspector.why(ADMIN, "phi"))


def test_what_a_player_said_itself_is_told_with_what_was_made_of_it():
    trace = a_trace(
        3,
        thought="ducks!",
        recalled=(RecalledTrace(1, ("recent",), 0.1), RecalledTrace(2, ("recent",), 0.2, used=True)),
        modulations=(
            made("memory", "ducks!", "ducks! wet.", entries=(2,)),
            made("ego", "ducks! wet.", "ducks"),
        ),
    )
    view = an_inspector(HEARD, [trace]).why(ANN, "phi")
    assert (view.thought, view.hidden) == ("ducks!", 1)
    assert [(one.before, one.after) for one in view.modulations] == [
        ("ducks!", "ducks! wet."),
        ("ducks! wet.", "ducks"),
    ]


def test_what_is_shown_cannot_take_hold_of_a_terminal():
    entries = [an_entry(1, user_id="user_ann", user_text="\x1b[31m[bold]hello[/bold]\x07\u202e")]
    hostile = "mew \x1b]0;mine\x07\u202e\r\nyou"
    trace = a_trace(1, thought=hostile, response=hostile, modulations=(made("affect", hostile, hostile),))
    text = everything(an_inspector(entries, [trace]).why(ANN, "phi"))
    for escaped in ("\\u001b", "\\u0007", "\\u202e", "\\r", "\\n"):
        assert escaped not in text


def test_transistors_are_told_with_their_gains_and_the_last_each_did():
    traces = [
        a_trace(1, modulations=(made("affect", "a", "b"), made("memory", "b", "c"))),
        a_trace(2, modulations=(made("affect", "d", "e"), Modulation("memory", 0.5, "e", "e"))),
    ]
    view = an_inspector(HEARD, traces).transistors(ADMIN, "phi")
    assert view.chain == "offline"
    assert [(one.transistor, one.gain, one.last.after, one.age) for one in view.transistors] == [
        ("affect", 1.0, "e", 998.0),
        ("memory", 0.5, "c", 999.0),
    ]
    silent = an_inspector(HEARD, []).transistors(ADMIN, "phi")
    assert [(one.last, one.age) for one in silent.transistors] == [(None, None)] * 2


@pytest.mark.parametrize("chain", ["fused", "serial"])
def test_how_the_chain_is_run_is_said_only_with_a_model(chain):
    inspector = an_inspector(HEARD, [])
    inspector._society.settings = Settings(
        thought={"chain": chain}, llm={"base_url": "http://127.0.0.1:9/v1", "model": "m"}
    )
    assert inspector.transistors(ANN, "phi").chain == chain
    inspector._society.settings = Settings(thought={"chain": chain})
    assert inspector.transistors(ANN, "phi").chain == "offline"


def test_what_an_answer_raised_is_made_of_an_answer():
    raised = an_entry(1, user_id="user_ann", override=0.6, override_by="response", response="mew.")
    inspector = an_inspector([raised], [a_trace(1)])
    percept = inspector.why(ADMIN, "phi").turn.percept
    assert (percept.importance, percept.override_by, percept.parts.answered) == (0.6, "response", 1.0)
    by_hand = an_inspector([replace(raised, override_by="hand")], [a_trace(1)])
    assert by_hand.why(ANN, "phi").turn.percept.parts.answered == 0.0


async def test_of_a_turn_that_was_forgotten_no_word_is_left():
    clock = ManualClock(1_000_000.0)
    settings = Settings(embedding={"model": "none"}, thought={"ruminate": False})
    society = build(settings, clock=clock, store=MemoryStore())
    inspector = Inspector(society)
    for line in (SECRET, "hello", "do you remember my flooded cellar?"):
        clock.advance(60)
        await society.perceive(
            "phi", Percept("user_ann", line, clock.now(), Kind.SAY, addressed=True, affect=AFRAID)
        )
    assert "flooded" in everything(inspector.why(ANN, "phi"))
    entries = [entry.id for entry in society.store.archive("phi") if "flooded" in entry.user_text]
    society.agents["phi"].forget(entries, "user_ann", clock.now())
    for caller in (ANN, ADMIN):
        for back in (1, 2, 3):
            assert "flooded" not in everything(inspector.why(caller, "phi", back, silent=True))
        assert "flooded" not in everything(inspector.transistors(caller, "phi"))
    society.close()


def test_the_tone_is_told_with_its_reason_and_what_memories_have_to_do_with_each_other() -> None:
    recalled = RecalledTrace(2, ("semantic",), 0.5, sources=(1,), supersedes=(1,), superseded_by=1)
    trace = a_trace(3, tone=Tone(ToneName.GRAVE, ToneSource.RECALLED, 1), recalled=(recalled,))
    inspector = an_inspector(HEARD, [trace])
    view = inspector.why(ADMIN, "phi")
    assert view.tone == Tone(ToneName.GRAVE, ToneSource.RECALLED, 1)
    (seen,) = view.recalled
    assert (seen.sources, seen.supersedes, seen.superseded_by) == ((1,), (1,), 1)
    theirs = inspector.why(ANN, "phi")  # memory 1 is Bob's: not even its id is told
    assert theirs.tone == Tone(ToneName.GRAVE, ToneSource.RECALLED)
    (seen,) = theirs.recalled
    assert (seen.sources, seen.supersedes, seen.superseded_by) == ((), (), None)
