"""The feeling words: which a text holds, how strongly, and whether they are denied.

The words, their weights and the form of the file are in `feeling_words.txt`. The rule it keeps: a word under
a negation ("not sad", "never felt lonely") is denied, not felt, and never both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

FEELINGS = ("fear", "sorrow", "boredom", "stirred", "calm")
"""What there are words for; the last two are the directions of arousal."""

_CLAUSE_END = frozenset(".,;:!?")
# Beside these, whatever ends in "n't"; the last two lines are how people write that in haste.
# fmt: off
_NEGATIONS = frozenset((
    "not", "no", "never", "nor", "neither", "nobody", "nothing", "none", "without", "hardly", "barely",
    "cannot", "cant", "dont", "doesnt", "didnt", "isnt", "wasnt", "arent", "werent", "wont", "wouldnt",
    "couldnt", "shouldnt", "havent", "hasnt", "hadnt", "aint",
))
# fmt: on
_NEGATION_REACH = 3
"""How many words before a feeling word a negation may stand, as in VADER."""
# "not only sad", "can't stop crying": a negation before these denies nothing.
_DENIES_NOTHING = frozenset(("only", "just", "merely", "simply", "stop", "help"))
_STRONGER = frozenset(
    ("very", "so", "really", "extremely", "utterly", "terribly", "deeply", "absolutely", "such")
)
_WEAKER = frozenset(("slightly", "bit", "little", "somewhat", "rather", "kinda", "sorta", "mildly", "almost"))


def feelings_in(tokens: Sequence[str]) -> tuple[dict[str, float], dict[str, float]]:
    """How much of each feeling the words hold, felt and denied, 0…1.

    Each word closes its part of the gap to 1.

    Args:
        tokens: words, emoticons and marks in lower case, in order; the marks end clauses.
    """
    felt_gap = dict.fromkeys(FEELINGS, 1.0)
    denied_gap = dict.fromkeys(FEELINGS, 1.0)
    at = 0
    while at < len(tokens):
        length, weights = _entry_at(tokens, at)
        before = _words_before(tokens, at)
        gap = denied_gap if _negated(before) else felt_gap
        for feeling, weight in weights.items():
            gap[feeling] *= 1.0 - min(weight * _emphasis(before), 1.0)
        at += length
    return {k: 1.0 - v for k, v in felt_gap.items()}, {k: 1.0 - v for k, v in denied_gap.items()}


def _entry_at(tokens: Sequence[str], at: int) -> tuple[int, Mapping[str, float]]:
    """The longest entry that begins here: how many words it takes, and the weight of each feeling."""
    lexicon = _lexicon()
    for length in range(min(lexicon.longest, len(tokens) - at), 0, -1):
        weights = lexicon.exact.get("_".join(tokens[at : at + length]))
        if weights is not None:
            return length, weights
    word = tokens[at]
    for end in range(len(word), 2, -1):
        weights = lexicon.beginnings.get(word[:end])
        if weights is not None:
            return 1, weights
    return 1, {}


def _words_before(tokens: Sequence[str], at: int) -> list[str]:
    """The words of the same clause just before, nearest first."""
    found: list[str] = []
    for word in reversed(tokens[max(at - _NEGATION_REACH, 0) : at]):
        if word[0] in _CLAUSE_END or word == "but":
            break
        found.append(word)
    return found


def _negated(before: Sequence[str]) -> bool:
    nearer = ""
    for word in before:
        if word in _NEGATIONS or word.endswith("n't"):
            return nearer not in _DENIES_NOTHING
        nearer = word
    return False


def _emphasis(before: Sequence[str]) -> float:
    if any(word in _WEAKER for word in before[:2]):
        return 0.6
    return 1.25 if any(word in _STRONGER for word in before[:2]) else 1.0


@dataclass(frozen=True, slots=True)
class _Lexicon:
    exact: Mapping[str, Mapping[str, float]]
    beginnings: Mapping[str, Mapping[str, float]]
    longest: int
    """Words in the longest phrase."""


@cache
def _lexicon() -> _Lexicon:
    exact: dict[str, dict[str, float]] = {}
    beginnings: dict[str, dict[str, float]] = {}
    for line in (resources.files("noodlings.affect") / "feeling_words.txt").read_text("utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        head, _, entries = line.partition(": ")
        feeling, weight = head.split()
        for entry in entries.split():
            table = beginnings if entry.endswith("*") else exact
            table.setdefault(entry.rstrip("*"), {})[feeling] = float(weight)
    return _Lexicon(exact, beginnings, max(entry.count("_") for entry in exact) + 1)
