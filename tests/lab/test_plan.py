"""The plan: what comes from outside depends on scenario and seed, and on nothing else."""

from __future__ import annotations

from collections import Counter
from typing import Any

from noodlings.lab.scenario import WORLD, Scenario, Stimulus, plan


def planned(ticks: int = 1, seed: int = 1, **content: Any) -> list[Stimulus]:
    scenario = Scenario.model_validate({"version": 1, "agents": {"a": None, "b": None, "c": None}} | content)
    names = {agent: agent.upper() for agent in scenario.ids}
    return list(plan(scenario, ticks, seed, names))


def test_two_meet_and_one_speaks() -> None:
    stimuli = planned(500, meetings=[{"says": ["Hi {name}, (one|two)."], "draws": 2, "about": "x"}])
    assert len(stimuli) == 1_000
    assert all(one.agent != one.user_id for one in stimuli)
    assert {one.text for one in stimuli if one.agent == "b"} == {"Hi B, one.", "Hi B, two."}
    pairs = Counter((one.user_id, one.agent) for one in stimuli)
    assert len(pairs) == 6
    assert all(120 < count < 220 for count in pairs.values())


def test_chance_ticks_and_who() -> None:
    (meeting,) = [{"says": ["x"], "chance": 0.25, "who": ["a", "b"], "ticks": [100, 899]}]
    stimuli = planned(1_000, meetings=[meeting])
    assert 150 < len(stimuli) < 250
    assert {one.agent for one in stimuli} == {"a", "b"}
    assert min(one.tick for one in stimuli) >= 100
    assert max(one.tick for one in stimuli) <= 899
    assert planned(100, meetings=[meeting | {"chance": 0.0, "ticks": None}]) == []


def test_everybody_sees_the_same_event() -> None:
    stimuli = planned(20, events=[{"text": ["It (rains|snows|hails)."], "at": [3, 5]}])
    assert [(one.tick, one.agent, one.user_id) for one in stimuli] == [
        (tick, agent, WORLD) for tick in (3, 5) for agent in ("a", "b", "c")
    ]
    assert len({one.text for one in stimuli[:3]}) == 1


def test_some_see_it() -> None:
    seen = Counter(one.agent for one in planned(300, events=[{"text": ["x"], "witnesses": 2}]))
    assert sum(seen.values()) == 600
    assert all(150 < count < 250 for count in seen.values())
    assert [one.agent for one in planned(events=[{"text": ["x"], "witnesses": ["c", "a"]}])] == ["c", "a"]
    assert len(planned(events=[{"text": ["x"], "witnesses": 9}])) == 3


def test_a_game_event_has_a_name_and_facts() -> None:
    (one,) = planned(events=[{"game": "item_pickup", "data": {"item": "diamond"}, "witnesses": ["b"]}])
    assert (one.game, one.data, one.text) == ("item_pickup", {"item": "diamond"}, "")


def test_seeds_differ_and_repeat_and_longer_plans_begin_alike() -> None:
    content: dict[str, Any] = {
        "meetings": [{"says": ["(a|b|c|d)"], "chance": 0.5}],
        "events": [{"text": ["(e|f)"], "chance": 0.5, "witnesses": 1}],
    }
    assert planned(50, seed=1, **content) == planned(50, seed=1, **content)
    assert planned(50, seed=1, **content) != planned(50, seed=2, **content)
    short = planned(20, seed=1, **content)
    assert planned(50, seed=1, **content)[: len(short)] == short
