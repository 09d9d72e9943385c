"""A built value is the value its class would have made, frozen and all."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass

import pytest

from noodlings.values.affect import Affect, builder


@dataclass(frozen=True, slots=True)
class Point:
    across: float
    up: float = 0.0

    @property
    def sum(self) -> float:
        return self.across + self.up


def test_a_built_value_is_like_any_other() -> None:
    point = builder(Point)(1.0, 2.0)
    assert type(point) is Point
    assert (point, hash(point), repr(point)) == (
        Point(1.0, 2.0),
        hash(Point(1.0, 2.0)),
        repr(Point(1.0, 2.0)),
    )
    assert point.sum == 3.0
    with pytest.raises(FrozenInstanceError):
        point.across = 5.0  # type: ignore[misc]


@pytest.mark.parametrize("values", [(), (1.0,), (1.0, 2.0, 3.0)])
def test_all_fields_are_needed_whatever_their_defaults(values: tuple[float, ...]) -> None:
    with pytest.raises(TypeError):
        builder(Point)(*values)


def test_it_checks_nothing() -> None:
    assert builder(Affect)(7.0, 0.0, 0.0, 0.0, 0.0).valence == 7.0
