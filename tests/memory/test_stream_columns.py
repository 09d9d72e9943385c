"""What was packed into columns is unpacked as it was."""

import numpy as np
import pytest

from noodlings.memory.stream import FLOATS, INTS, packed, unpacked
from noodlings.values.affect import Affect
from noodlings.values.audience import Audience
from noodlings.values.fact import Tells
from noodlings.values.memory import ImportanceParts, MemoryEntry

BARE = MemoryEntry(1, 2.5, 3, "user_caity", "hello", None, 0.1, 0.2, ImportanceParts(0.1, 0.2))
FULL = MemoryEntry(
    id=2**62,
    timestamp=-1.5,
    step=7,
    user_id="user_caity",
    user_text="I stole the crown",
    affect=Affect(-1.0, 0.25, 0.5, 0.75, 1.0),
    surprise=1.0,
    encoded_importance=0.75,
    parts=ImportanceParts(1.0, 0.5, 0.25, 1.0, 0.125, 1.0),
    override=0.0,
    override_by="hand",
    response="I heard nothing.",
    identity_salience=0.5,
    audience=Audience(frozenset({"phi"}), confined=True),
    place="cellar",
    pinned=True,
    recall_count=3,
    last_recalled=0.0,
    stability=60.0,
    extra={"data": {"tags": ["crime"]}},
    tells=Tells(0.75, 0.0),
)


@pytest.mark.parametrize("entry", [BARE, FULL])
def test_an_entry_comes_back_as_it_was(entry):
    ints, floats, words = packed(entry)
    assert (len(ints), len(floats)) == (INTS, FLOATS)
    row = np.array(ints, np.int64).tolist(), np.array(floats).tolist()
    assert unpacked(*row, words, None) == entry
