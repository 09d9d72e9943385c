"""Corrections in a talk: of two lines on the same matter the later one holds.

A correction says that it is one ("I read it wrong", "scratch that", "it's Leeds now"). It corrects the
earlier line that is most like it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from noodlings.recall.cues import WEEKDAYS
from noodlings.recall.lexical import stems
from noodlings.values.memory import MemoryEntry, Recalled

ALIKE = 0.25
"""Likeness from which a correction corrects an earlier line of the same person."""
ALIKE_OF_OTHERS = 0.45
"""The same for a line of somebody else."""

_CORRECTS = re.compile(
    r"\b(?:actually|after all|no longer|any ?more|instead|correction|mistaken|by mistake|misread|mea culpa"
    r"|changed (?:my|his|her|their|our|its|the)|(?:i (?:was|am)|i'm) wrong|(?:got|read|reading) .{1,30} wrong"
    r"|correct(?:ing)? myself|told (?:you|ye|him|her|them) wrong"
    r"|i (?:lied|was lying|made (?:that|it) up)"
    r"|(?:scratch|scrap|disregard|ignore|forget) (?:that|what|my|all)|not the (?:other|old)|update"
    r"|(?:bumped|moved|changed|shifted) (?:it |me |us )?(?:back |forward )?to|postponed|brought forward"
    r"|put (?:off|back) (?:to|till|until)|called off|cancel+ed|make that|turns? out|rub (?:it|that) out"
    r"|(?:it|he|she|they|that)(?:'s| is| are|'re) .{0,40}\bnow|now (?:it|he|she|they|that)(?:'s| is|'re)"
    r"|now i(?:'m| am)|strike that|my bad|on second thoughts?|stand corrected)\b"
    r"|^(?:no|nope|wait|oops|sorry|hang on|hold on)[,. ]",
    re.IGNORECASE,
)

_NUMBER = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_ORDINAL = r"(?:first|second|third|(?:four|fif|six|seven|eigh|nin)th)"
_TIME = (
    rf"(?:(?:{'|'.join(WEEKDAYS)})s?|january|february|april|june|july|august|september|october|november|december"
    rf"|in may|tomorrow|tonight|noon|midnight|next week|the weekend|(?:at|till|until) (?:\d{{1,2}}|{_NUMBER})"
    rf"|half (?:past )?(?:{_NUMBER})|quarter (?:to|past) (?:{_NUMBER})"
    r"|\d{1,2}(?:[:.]\d\d)?(?: ?[ap]m| o'clock)|(?:the )?\d{1,2}(?:st|nd|rd|th)"
    rf"|(?:twenty|thirty)-{_ORDINAL}|the (?:\w+teen|ten|twentie|thirtie)th|the {_ORDINAL}(?! \w))"
)
_A_TIME = re.compile(rf"\b{_TIME}\b", re.I)
_TO_A_TIME = re.compile(
    r"\b(?:put|pushed|moved|shifted|bumped|brought|changed|rescheduled|postponed|gone)(?: [\w'-]+){0,4}?"
    rf" (?:to|till|until|for) (?:the )?{_TIME}\b|\bnot (?:on |in |at )?{_TIME}\b|\b{_TIME} (?:now|instead)\b",
    re.I,
)
"""That something is at another time: "they've put it off to Friday", "the ninth now", "June, not May"."""
_BECAME = re.compile(r"\b(?:he|she|they)(?:'s| is|'re| are)\b.{0,40}\bnow\b|\bnow (?:he|she|they)\b", re.I)
_HOLDS = re.compile(
    r"\b(?:am|is|are|has|have|lives?|works?|stays?|goes|likes?|wants?|will)\b|'(?:m|re|ll|s)\b|ing\b", re.I
)
"""What somebody is now may end what they were, but not what happened to them: "she fell", "she's ill now"."""
_ANYTHING = re.compile("")


def corrects(text: str) -> bool:
    """Whether a line says that it corrects something."""
    return _ended_by(text) is not None


def _ended_by(text: str) -> re.Pattern[str] | None:
    """What an earlier line must hold for this one to correct it; None if it corrects nothing.

    What somebody is now may end what they are, and another time what has one.
    """
    told = text.replace("’", "'")
    if _TO_A_TIME.search(told):
        return _A_TIME
    if not _CORRECTS.search(told):
        return None
    return _HOLDS if _BECAME.search(told) else _ANYTHING


def superseded(
    entries: Sequence[MemoryEntry], likeness: Callable[[int, int], float | None]
) -> dict[int, int]:
    """Ids of what was corrected → ids of the corrections.

    Args:
        entries: that came up together, in any order, some perhaps more than once.
        likeness: in meaning of two entries by id, −1…1; None where unknown, then shared words decide.
    """
    found: dict[int, int] = {}
    # What a source tells has its own time, whenever it was taken in.
    lived = not any(entry.source for entry in entries)
    once = {entry.id: entry for entry in entries}
    in_order = sorted(once.values(), key=lambda entry: (0.0 if lived else entry.timestamp, entry.id))
    for at, later in enumerate(in_order):
        ended = None if "?" in later.user_text else _ended_by(later.user_text)
        if ended is None:
            continue
        earlier_lines = [one for one in in_order[:at] if ended.search(one.user_text)]
        alike = [(_excess(likeness(later.id, one.id), later, one), one.id) for one in earlier_lines]
        most, earlier = max(alike, default=(0.0, 0))
        if most > 0.0:
            found[earlier] = later.id
    return found


def _excess(likeness: float | None, later: MemoryEntry, earlier: MemoryEntry) -> float:
    """By how much two lines are more alike than is needed for one to correct the other."""
    if "?" in earlier.user_text:
        return -1.0
    if likeness is None:
        both = set(stems(later.user_text)), set(stems(earlier.user_text))
        likeness = len(both[0] & both[1]) / max(min(map(len, both)), 1)
    return likeness - (ALIKE if later.user_id == earlier.user_id else ALIKE_OF_OTHERS)


def marked(found: Sequence[Recalled], corrections: Mapping[int, int]) -> list[Recalled]:
    """The same, each marked with what it corrects and what corrects it."""
    if not corrections:
        return list(found)
    return [
        replace(
            one,
            supersedes=tuple(sorted(old for old, new in corrections.items() if new == one.entry.id)),
            superseded_by=corrections.get(one.entry.id),
        )
        for one in found
    ]
