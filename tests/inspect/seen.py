"""A memory as it is seen."""

from __future__ import annotations

from noodlings.inspect.views import EntryView
from noodlings.values.affect import Affect
from noodlings.values.memory import ImportanceParts


def an_entry_view(number: int = 1) -> EntryView:
    return EntryView(
        id=number,
        user="user_caity",
        name="Caity",
        text=f"memory {number}",
        response="I see.",
        timestamp=1.7e9,
        when="2023-11-14T22:13:20Z",
        age=5.0,
        affect=Affect(0.1, 0.2, 0.3, 0.4, 0.5),
        feeling="sorrow",
        family="sorrow",
        surprise=0.25,
        importance=0.5,
        encoded_importance=0.5,
        override=None,
        override_by="",
        parts=ImportanceParts(),
        strength=0.75,
        kind="say",
        pinned=False,
        recall_count=3,
        private=False,
    )
