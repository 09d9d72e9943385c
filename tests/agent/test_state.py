"""A stored state is read whole and right, or refused in words."""

import json
from copy import deepcopy
from dataclasses import replace

import pytest
from pydantic import ValidationError

from noodlings.agent.state import Feelings, check_state, readable_state
from noodlings.errors import UserError
from noodlings.portable.lines import AgentLine
from noodlings.ports import AgentRecord, AgentState
from noodlings.values.affect import Affect
from noodlings.values.percept import Percept
from tests.voice.utterances import PERSONAS


@pytest.fixture
async def data(make_agent, clock):
    """The state of somebody who has heard a few things."""
    agent = make_agent()
    for number in range(5):
        clock.advance(60)
        await agent.perceive(Percept("user_caity", f"thing {number}", clock.now(), addressed=True))
    return json.loads(json.dumps(agent.state().data))


async def test_a_state_that_was_stored_is_right(data):
    check_state(data)


async def test_what_is_made_of_the_utmost_numbers_can_be_kept_again(data, make_agent, clock):
    data["mind"] |= {"readout": [[1e6, -1e6, 1e6, -1e6, 1e6]] * 46, "errors": [1e100] * 5}
    check_state(data)
    again = make_agent("Twin")
    again.restore(AgentRecord(AgentState("twin", data)))
    for text in ("I love you!", "my cat died", "hm"):
        clock.advance(60)
        await again.perceive(Percept("user_caity", text, clock.now(), addressed=True))
        check_state(json.loads(json.dumps(again.state().data)))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"step": 2**52 + 1}, "counts to more than"),
        ({"related": 2**52 + 1}, "counts to more than"),
        ({"read": [[0, 2**52 + 1]]}, "counts to more than"),
        ({"read": [[2 * number, 2 * number + 1] for number in range(10_001)]}, "at most 10,000"),
        ({"said": [{"text": "hm", "heard_by": [], "confined": False}] * 51}, "said has 51 entries"),
        ({"said": [{"text": "hm" * 200_000, "heard_by": [], "confined": False}]}, "a line of said has more"),
    ],
)
async def test_what_could_not_go_on_is_not_imported(data, changed, words):
    agent = {"type": "agent", "id": "twin", "last_id": 5, "state": data}
    assert AgentLine.model_validate(agent).value().state == data
    check_state(data | changed)
    with pytest.raises(ValidationError, match=words):
        AgentLine.model_validate(agent | {"state": data | changed})


def test_a_restart_moves_nobody_more_than_before():
    stoic = replace(PERSONAS["phi"], moodiness=0.2)
    before = Feelings.of(stoic, 0.0)
    after = Feelings.from_dict(json.loads(json.dumps(before.as_dict())), stoic)
    insult = Affect(-0.7, 0.75, 0.1, 0.1, 0.0)
    assert after.pushed(insult, 60.0).mood == before.pushed(insult, 60.0).mood


async def test_a_readable_state_is_the_same_state_in_plain_numbers(data, make_agent):
    readable = json.loads(json.dumps(readable_state(data)))
    packed = data["mind"]
    assert isinstance(packed["readout"], str)
    assert len(readable["mind"]["readout"]) == 46
    assert len(readable["mind"]["familiar"]["vectors"]) == 5
    again = make_agent("Twin")
    again.restore(AgentRecord(AgentState("twin", readable)))
    assert again.state().data == data
    assert readable_state(readable) == readable


WRONG = [
    (("version",), 2),
    (("version",), ...),
    (("step",), "3"),
    (("step",), -1),
    (("said",), "hello"),
    (("said",), [1]),
    (("last_spoke",), "now"),
    (("last_spoke",), float("inf")),
    (("affect",), [0.0]),
    (("affect",), [10**400] * 5),
    (("affect",), ["x"] * 5),
    (("feelings",), None),
    (("feelings", "mood"), {}),
    (("feelings", "mood", "at"), "x"),
    (("feelings", "mood", "at"), 10**400),
    (("feelings", "mood", "current"), [10**400] * 5),
    (("feelings", "game"), {}),
    (("feelings", "appetites"), {}),
    (("mind",), {}),
    (("mind", "version"), 9),
    (("mind", "readout"), "AAAA"),
    (("mind", "readout"), [[0.0] * 5] * 45),
    (("mind", "readout"), [[1e400] * 5] * 46),
    (("mind", "readout"), [[2e6] * 5] * 46),
    (("mind", "state"), [[0.0], [0.0, 1.0]]),
    (("mind", "state"), [10**400] * 40),
    (("mind", "familiar"), None),
    (("mind", "familiar", "vectors"), [[1e300] * 128] * 5),
    (("mind", "familiar", "times"), [None] * 5),
    (("mind", "familiar", "exactness"), 2.0),
    (("surplus",), 1),
]


@pytest.mark.parametrize(("path", "value"), WRONG)
async def test_a_wrong_state_is_refused_in_words(data, path, value):
    wrong = deepcopy(data)
    *parents, last = path
    place = wrong
    for name in parents:
        place = place[name]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    with pytest.raises(UserError) as refused:
        check_state(wrong)
    assert len(str(refused.value)) < 1_000
    with pytest.raises(UserError):
        readable_state(wrong)
