"""The transistors as a bridge calls them: a thought, and a dict with whatever the bridge knows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import noodlings
from noodlings import HierarchicalMemory, SubconsciousMemory
from noodlings.bridge.transistors import thought_state
from noodlings.errors import UserError
from tests.fakes import ScriptedSymbolist
from tests.memory.entries import ANXIOUS
from tests.transistors.states import make_state

ANXIETY = [-0.6, 0.8, 0.7, 0.1, 0.0]
THOUGHT = "I am fine. Do come in."
ALL = ["AffectTransistor", "GoalTransistor", "MemoryTransistor", "SubconsciousTransistor", "EgoTransistor"]


def transistor(name: str, **more: Any) -> Any:
    return getattr(noodlings, name)(**more)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    "state", [{}, {"affect": []}, {"affect": None}, {"affect": ANXIETY}, {"affect": np.array(ANXIETY)}]
)
async def test_a_feeling_or_nothing_is_enough(name: str, state: dict[str, Any]) -> None:
    made = await transistor(name).modulate(THOUGHT, state)
    assert "I am fine" in made


async def test_a_feeling_shows() -> None:
    made = await transistor("AffectTransistor").modulate(THOUGHT, {"affect": ANXIETY})
    assert made != THOUGHT
    assert await transistor("AffectTransistor").modulate(THOUGHT, {}) == THOUGHT
    assert await transistor("AffectTransistor", gain=0.0).modulate(THOUGHT, {"affect": ANXIETY}) == THOUGHT


async def test_a_memory_that_felt_alike_comes_along() -> None:
    hm = HierarchicalMemory()
    hm.add(1.0, 1, "user_caity", "I am worried about the presentation", ANXIETY, None, 0.9)
    made = await transistor("MemoryTransistor", hierarchical_memory=hm).modulate(THOUGHT, {"affect": ANXIETY})
    assert "worried about the presentation" in made


async def test_a_symbol_colours_without_being_told() -> None:
    symbols = SubconsciousMemory()
    llm = ScriptedSymbolist("A rooster enters, pecking at what was achieved")
    await symbols.encode_event("Father-in-law criticises", ANXIETY, 0.8, llm)
    made = await transistor("SubconsciousTransistor", symbolic_memory=symbols).modulate(
        THOUGHT, {"affect": ANXIETY}
    )
    assert "rooster" in made
    assert "Father" not in made


async def test_a_whole_state_is_taken_as_it_is() -> None:
    state = make_state("boo!", ANXIOUS)
    assert await transistor("AffectTransistor").modulate(THOUGHT, state) != THOUGHT


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"afect": ANXIETY}, "the state of a thought has no 'afect'; did you mean affect?"),
        ({"affect": [1.0]}, "affect must be five numbers"),
        ({"affect": [float("nan")] * 5}, "must be finite"),
        ({"surprise": 7}, "surprise is 7: it must lie between 0 and 1"),
        ({"phenomenal_state": [1.0] * 39}, "40 finite numbers"),
    ],
)
async def test_what_makes_no_sense_is_refused_in_words(state: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        await transistor("AffectTransistor").modulate(THOUGHT, state)


def test_forty_numbers_may_come_in_a_dict() -> None:
    parts = {"fast": [0.1] * 16, "medium": np.zeros((1, 16)), "slow": [[0.5] * 8]}
    state = thought_state({"affect": ANXIETY, "phenomenal_state": parts})
    assert state["phenomenal_state"] is not None
    assert state["phenomenal_state"].shape == (40,)
