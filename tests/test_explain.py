"""How a refusal goes on: with what was meant, where that is near, else with what there is."""

import pytest

from noodlings.errors import there_are
from noodlings.validation import nearest

SECTIONS = ["memories", "mood", "symbols", "percept", "gains", "persona", "thought", "working"]


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("symbol", "symbols"),
        ("smybols", "symbols"),
        ("memory", "memories"),
        ("gain", "gains"),
        ("mod", "mood"),
    ],
)
def test_what_is_near_was_meant(wrong: str, meant: str) -> None:
    assert nearest(wrong, SECTIONS) == f"; did you mean {meant}?"


@pytest.mark.parametrize("wrong", ["bogus", "", "x", "weather"])
def test_what_is_not_near_was_not(wrong: str) -> None:
    assert nearest(wrong, SECTIONS) == f"; use one of: {', '.join(sorted(SECTIONS))}"


def test_one_is_and_several_are() -> None:
    assert nearest("x", ["one"]) == "; use one of: one"
    assert nearest("x", []) == ""
    assert there_are(["Phi", "SERVNAK"]) == "there are Phi, SERVNAK"
