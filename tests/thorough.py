"""How much of what could be tried is tried: with `TEST_PROFILE=thorough` all of it, else a part."""

from __future__ import annotations

import os

THOROUGH = os.environ.get("TEST_PROFILE") == "thorough"


def examples(number: int, share: int = 4) -> int:
    """So many examples of a property where there is time for them; else one in `share`, at least 5."""
    return number if THOROUGH else max(5, number // share)
