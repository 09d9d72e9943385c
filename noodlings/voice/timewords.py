"""Words such as "yesterday" meant the day before something was said, not the day before it is repeated.

A past one is dropped where the sentence is whole without it, else told from then ("the day before"); a
future one is told from then and its verb put in the past: "my exam is tomorrow" becomes "my exam was the
next day". While the day is still the same one, they stay.
"""

from __future__ import annotations

import re

from noodlings.voice.reflect import to_past

SAME_DAY = 10 * 3_600.0
"""So long "tomorrow" and "tonight" are still what they were."""

_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_SPAN = r"(?:minute|hour|day|week|month|year)s?"
_COUNT = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|a few|a couple of|some|\d+)"

# What is over, and how it is told from then.
_PAST = (
    (re.compile(rf"\b({_COUNT} {_SPAN}) ago\b", re.I), r"\1 earlier"),
    (re.compile(r"\bthe day before yesterday\b", re.I), "two days earlier"),
    (re.compile(r"\byesterday (morning|afternoon|evening)\b", re.I), r"the \1 before"),
    (re.compile(r"\byesterday\b", re.I), "the day before"),
    (re.compile(r"\blast (night)\b", re.I), r"the \1 before"),
    (
        re.compile(rf"\b(?:on )?last (week|month|year|summer|winter|spring|autumn|fall|{_DAY})\b", re.I),
        r"the \1 before",
    ),
    (re.compile(r"\b(?:just now|a moment ago|earlier today)\b", re.I), "just then"),
)
# What was going on: dropping it puts the verb in the past.
_PRESENT = (
    (re.compile(r"\bthis (morning|afternoon|evening|week|month|year)\b", re.I), r"that \1"),
    (re.compile(r"\btoday\b", re.I), "that day"),
    (re.compile(r"\b(?:right now|at the moment|now)\b", re.I), "then"),
)
# What was still to come: never dropped.
_FUTURE = (
    (re.compile(r"\bthe day after tomorrow\b", re.I), "two days later"),
    (re.compile(r"\btomorrow (morning|afternoon|evening|night)\b", re.I), r"the next \1"),
    (re.compile(r"\btomorrow\b", re.I), "the next day"),
    (re.compile(r"\btonight\b", re.I), "that night"),
    (
        re.compile(rf"\b(?:on )?next (week|month|year|summer|winter|spring|autumn|fall|{_DAY})\b", re.I),
        r"the \1 after",
    ),
    (re.compile(rf"\bin ({_COUNT} {_SPAN})(?=[.,;!]|$)", re.I), r"\1 later"),
)
_LOOKS_BACK = re.compile(r"(?:n['’]t|\b(?:not|never|first|best|worst|did))\b.*\bin\b", re.I)
_NEEDS_A_TIME = re.compile(
    r"\b(?:is|was|are|were|am|be|been|until|till|since|by|from|for|of|like|than|before|after|and|or|not|"
    r"only|even|happened|did|it)$|['’]s$",
    re.I,
)
_ENDS = re.compile(r"\s*(?:[,.;!]|(?:and|but|because|so|when|while|after|before)\b)", re.I)


def told_later(text: str, seconds: float, keep_past: bool = False) -> str:
    """A statement, already turned, as it is true `seconds` after it was made.

    Args:
        keep_past: tell past times from then instead of dropping them (somebody asks when).
    """
    if seconds < SAME_DAY:
        return text if keep_past else _each(_PAST, text, False)
    text = _each(_PAST, text, keep_past)
    # "I haven't slept in two days" looks back.
    future = _FUTURE[:-1] if _LOOKS_BACK.search(text) else _FUTURE
    later = _each(future, _each(_PRESENT, text, False), True)
    return to_past(later) if later != text else text


def _each(rules: tuple[tuple[re.Pattern[str], str], ...], text: str, keep: bool) -> str:
    for pattern, from_then in rules:
        found = pattern.search(text)
        if found is None:
            continue
        before, after = text[: found.start()].rstrip(" ,"), text[found.end() :]
        at_an_end = not before or not after.strip() or _ENDS.match(after) is not None
        if not keep and at_an_end and not _NEEDS_A_TIME.search(before):
            text = before + after if before else after.lstrip(" ,")
        else:
            text = text[: found.start()] + found.expand(from_then) + after
    return text
