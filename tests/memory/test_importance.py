"""Importance: a noisy-or, bounded, rising with each of its components."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.memory.importance import DEFAULT_WEIGHTS, importance
from noodlings.values.memory import ImportanceParts, ImportanceWeights

COMPONENTS = [field.name for field in fields(ImportanceParts)]

unit = st.floats(0, 1)
parts = st.builds(ImportanceParts, *[unit] * len(COMPONENTS))
weights = st.builds(ImportanceWeights, **dict.fromkeys(COMPONENTS, unit))


def test_nothing_matters_by_itself() -> None:
    assert importance(ImportanceParts()) == 0.0


@pytest.mark.parametrize("component", COMPONENTS)
def test_a_weight_is_what_its_component_alone_makes_of_a_moment(component: str) -> None:
    alone = ImportanceParts(**{component: 1.0})
    assert importance(alone) == pytest.approx(getattr(DEFAULT_WEIGHTS, component))
    assert importance(alone, ImportanceWeights(**{component: 0.37})) == pytest.approx(0.37)
    assert importance(alone, ImportanceWeights(**{component: 0.0})) == 0.0


def test_components_close_the_gap_independently() -> None:
    weigh = ImportanceWeights(surprise=0.5, intensity=0.8, salience=0.25, addressed=0.1, answered=0.2)
    moment = ImportanceParts(surprise=0.4, intensity=0.25, salience=1.0, addressed=1.0, answered=1.0)
    gap = (1 - 0.5 * 0.4) * (1 - 0.8 * 0.25**1.5) * (1 - 0.25) * (1 - 0.1) * (1 - 0.2)
    assert importance(moment, weigh) == pytest.approx(1 - gap)


def test_mild_feelings_matter_less_than_their_share_of_a_grief() -> None:
    grief, mild = importance(ImportanceParts(intensity=1.0)), importance(ImportanceParts(intensity=0.25))
    assert mild < grief / 4


@given(parts, weights)
def test_an_importance_lies_between_0_and_1(moment: ImportanceParts, weigh: ImportanceWeights) -> None:
    assert 0.0 <= importance(moment, weigh) <= 1.0


@given(parts, weights, st.sampled_from(COMPONENTS), unit)
def test_more_of_anything_never_matters_less(
    moment: ImportanceParts, weigh: ImportanceWeights, component: str, more: float
) -> None:
    raised = replace(moment, **{component: max(more, getattr(moment, component))})
    assert importance(raised, weigh) >= importance(moment, weigh)


@given(parts, st.sampled_from(COMPONENTS))
def test_no_component_is_left_out(moment: ImportanceParts, component: str) -> None:
    without = replace(moment, **{component: 0.0})
    fully = replace(moment, **{component: 1.0})
    assert importance(fully) >= importance(without)
    if importance(without) < 0.999:
        assert importance(fully) > importance(without)
