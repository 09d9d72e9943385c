"""Cues: what a question says beside its subject: who spoke, when, and what is not meant.

"When did Caity adopt Pugsley, rather than Fluffy?" is looked for as "When did I adopt Pugsley", in what Caity
said, and lines that hold a time come first. Memories are told by whoever they happened to, so names of people
who speak become "I" before the question is compared with what was said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from noodlings.recall.dates import NamedDate, named_dates
from noodlings.recall.people import People
from noodlings.recall.words import stems

_ASKS_WHEN = re.compile(
    r"\b(?:when|(?:what|which) (?:year|month|week|day|date|time)|how long ago)\b"
    r"(?! (?:i|you|we|they|he|she|it)\b)",
    re.I,
)
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|myself)\b", re.I)
_POSSESSIVE = re.compile(r"['’`]s\b", re.I)

# What is named only to be set aside. "Not" alone is no such sign: "why did you not come" asks for just that.
_SET_ASIDE = re.compile(
    r"(?:[,;:—–-]\s*|\s)(?:rather than|instead of|as opposed to|and not|but not|not just|not merely)\s.*"
    r"|[,;:—–-]\s*not\s.*",
    re.I | re.DOTALL,
)
_ENOUGH = 2
"""Words that must be left when something is set aside, or the whole question is looked for."""

# "March" is always taken for the month, "may" only where it is clear.
_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|recently|since|now|soon|days?|weeks?|weekend|months?"
    r"|years?|morning|evening|night|(?:mon|tues|wednes|thurs|fri|satur|sun)day|summer|winter|spring|fall|autumn"
    r"|birthday|(?:19|20)\d\d|january|february|march|april|june|july|august|september|october|november"
    r"|december|(?-i:May)|may(?= \d))\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Cues:
    """A question, read.

    Attributes:
        words: stems to look for, without the names of speakers and what is set aside.
        wording: the question as it is to be embedded.
        speakers: ids of those who are named and speak.
        dates: days, months and years that are named.
        asks_when: whether a time is asked for.
    """

    words: tuple[str, ...]
    wording: str
    speakers: frozenset[str]
    dates: tuple[NamedDate, ...]
    asks_when: bool


def read(query: str, people: People, asker: str | None = None, only: str | None = None) -> Cues:
    """The cues of a question.

    Args:
        people: who may be named.
        asker: id of whoever asks: "I" and "my" are theirs.
        only: the one user of those people who is taken for one; None for all.
    """
    wanted = _without_what_is_set_aside(query)
    mentions = people.mentions(wanted, only)
    speakers = {mention.user_id for mention in mentions}
    if asker is not None and _FIRST_PERSON.search(wanted):
        speakers.add(asker)
    told, bare = [], []
    at = 0
    for mention in mentions:
        if mention.start < at:
            continue  # two people of one name
        possessive = _POSSESSIVE.match(wanted, mention.end)
        before = wanted[at : mention.start]
        told += [before, "my" if possessive else "I"]
        bare.append(before)
        at = possessive.end() if possessive else mention.end
    told.append(wanted[at:])
    bare.append(wanted[at:])
    return Cues(
        words=tuple(stems(" ".join(bare))),
        wording="".join(told),
        speakers=frozenset(speakers),
        dates=tuple(named_dates(wanted)),
        asks_when=_ASKS_WHEN.search(wanted) is not None,
    )


def holds_time(text: str) -> bool:
    """Whether a text says when: "last week", "in June", "2023"."""
    return _TIME.search(text) is not None


def _without_what_is_set_aside(query: str) -> str:
    found = _SET_ASIDE.search(query)
    if found is None or len(stems(query[: found.start()])) < _ENOUGH:
        return query
    return query[: found.start()]
