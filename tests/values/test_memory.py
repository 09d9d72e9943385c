"""What a link cannot be."""

import math

import pytest

from noodlings.errors import UserError
from noodlings.values.memory import Link, LinkType


@pytest.mark.parametrize("strength", [-0.01, 1.01, math.nan, math.inf])
def test_a_strength_lies_between_0_and_1(strength):
    with pytest.raises(UserError, match="between 0 and 1"):
        Link(2, 1, LinkType.RECALLED, strength, 0.0)


def test_nothing_is_linked_with_itself():
    with pytest.raises(UserError, match="to itself"):
        Link(2, 2, LinkType.BY_HAND, 1.0, 0.0)
