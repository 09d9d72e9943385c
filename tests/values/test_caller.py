"""Names of everybody who is known: who is forgotten is found by none."""

from __future__ import annotations

from noodlings.values.audience import Audience
from noodlings.values.caller import Names


def test_a_name_that_is_deleted_is_meant_by_no_word() -> None:
    names = Names({"user_ann": "Ann May", "user_bob": "Bob May"})
    del names["user_ann"]
    assert names.among((), ["Ann May and Bob"]) == {"user_bob": "Bob May"}
    assert list(names) == ["user_bob"]


def test_an_audience_without_its_only_witness_is_nobody() -> None:
    kept = Audience(frozenset({"user_ann", "phi"}), confined=True).without({"user_ann"})
    assert kept == Audience(frozenset({"phi"}), confined=True)
