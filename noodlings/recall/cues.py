"""Cues: what a question says besides its subject, namely who spoke, when, and what is not meant.

"When did Caity adopt Pugsley, rather than Fluffy?" is searched as "When did I adopt Pugsley" in what Caity
said, and lines with a time are preferred. People tell their own memories, so their names become "I" before
the question is compared with what was said. Dates in a question become spans of world time (UTC).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from noodlings.recall.lexical import stems
from noodlings.stemming import STOP_WORDS

_PREFIX = re.compile(r"^(?:user|agent|player|npc)_", re.I)
_TOKEN = re.compile(r"\w+(?:-\w+)*")


@dataclass(frozen=True, slots=True)
class Mention:
    """A person who is named in a text, from character `start` up to `end`."""

    user_id: str
    start: int
    end: int


class PeopleIndex:
    """Ids and their names; `met` are those that are known by their id, in order."""

    def __init__(self) -> None:
        self.met: dict[str, None] = {}
        self._known: set[tuple[str, str]] = set()
        self._by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}

    def meet(self, user_id: str) -> None:
        """Add somebody by their id alone: "agent_fred_rogers" is called "fred rogers", or "fred"."""
        if user_id in self.met:
            return
        self.met[user_id] = None
        name = _PREFIX.sub("", user_id).replace("_", " ")
        self.name(user_id, name)
        self.name(user_id, name.split(" ")[0])

    def name(self, user_id: str, name: str) -> None:
        """Add a name for somebody, in any case. A name without a letter or digit is ignored."""
        words = tuple(_TOKEN.findall(name.casefold()))
        if not words or (user_id, " ".join(words)) in self._known:
            return
        self._known.add((user_id, " ".join(words)))
        called = self._by_first.setdefault(words[0], [])
        called.append((words, user_id))
        called.sort(key=lambda entry: -len(entry[0]))

    def mentions(self, text: str, only: str | None = None) -> list[Mention]:
        """Everybody who is named in a text, in order; the longest name at each place.

        A name that is also a stop word ("Will") only counts with a capital and after the first word.

        Args:
            only: the only user whose names count; None for everybody's.
        """
        tokens = [(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(text)]
        found: list[Mention] = []
        at = 0
        while at < len(tokens):
            length = 0
            for words, user_id in self._by_first.get(tokens[at][0].casefold(), ()):
                if only not in (None, user_id):
                    continue
                if length and len(words) != length:
                    break
                here = tokens[at : at + len(words)]
                if tuple(token.casefold() for token, _, _ in here) != words:
                    continue
                if words[0] in STOP_WORDS and (at == 0 or not here[0][0][0].isupper()):
                    continue
                length = len(words)
                found.append(Mention(user_id, here[0][1], here[-1][2]))
            at += length or 1
        return found


DAY, WEEK_AFTER, MONTH, YEAR = 1.0, 0.5, 1.0, 0.3
"""How much a memory counts that is of the named day, of the seven days after it (when it is told), of the
named month, of the named year: the wider, the less it says."""

_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_NAMES = "|".join(_MONTHS)
_WRITTEN = re.compile(
    rf"\b(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?)?(?P<month>{_NAMES})\b"
    r"(?:\s+(?P<after>\d{1,2})(?:st|nd|rd|th)?\b(?!\d))?(?:,?\s*(?:of\s+)?(?P<year>\d{4})\b)?",
    re.I,
)
_ISO = re.compile(r"\b(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})\b")
_YEAR = re.compile(r"\b(?:19|20|21)\d\d\b")
_MOST_YEARS = 50
_CALENDAR_BEGINS = datetime(1, 1, 1, tzinfo=UTC)
_CALENDAR_ENDS = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A date; the day, the month (1–12) and the year may each be missing."""

    day: int | None
    month: int | None
    year: int | None


@dataclass(frozen=True, slots=True)
class Span:
    """World time from `start` up to `end` (seconds, `end` excluded), and how much being in it counts, 0…1."""

    start: float
    end: float
    weight: float


def named_dates(text: str) -> list[NamedDate]:
    """The dates a text names: "4 February, 2023", "in May", "2023-05-08", "since 2021".

    A bare "may" is a verb, unless it has a capital and is not the first word.
    """
    found = [NamedDate(int(m["day"]), int(m["month"]), int(m["year"])) for m in _ISO.finditer(text)]
    for m in _WRITTEN.finditer(text):
        day = m["day"] or m["after"]
        month = m["month"]
        if month.casefold() == "may" and not (day or m["year"] or (month == "May" and m.start() > 0)):
            continue
        found.append(
            NamedDate(
                int(day) if day else None,
                _MONTHS.index(month.casefold()) + 1,
                int(m["year"]) if m["year"] else None,
            )
        )
    return found or [NamedDate(None, None, int(m.group())) for m in _YEAR.finditer(text)]


def spans(date: NamedDate, first: float, last: float) -> Iterator[Span]:
    """The spans of a date, among memories from `first` to `last`; without a year, in each year of them."""
    if date.year is not None:
        years = [date.year]
    else:
        years = list(range(_moment(first).year, _moment(last).year + 1))[-_MOST_YEARS:]
    for year in years:
        if year >= _CALENDAR_ENDS.year:
            continue
        try:
            start = datetime(year, date.month or 1, date.day or 1, tzinfo=UTC)
        except ValueError:
            continue  # no such day in this year
        if date.month is None:
            yield Span(start.timestamp(), start.replace(year=year + 1).timestamp(), YEAR)
        elif date.day is None:
            end = (start + timedelta(days=31)).replace(day=1)
            yield Span(start.timestamp(), end.timestamp(), MONTH)
        else:
            next_day = (start + timedelta(days=1)).timestamp()
            yield Span(start.timestamp(), next_day, DAY)
            yield Span(next_day, (start + timedelta(days=8)).timestamp(), WEEK_AFTER)


def _moment(timestamp: float) -> datetime:
    """A world time as a date; beyond the calendar, its first or last."""
    within = min(max(timestamp, _CALENDAR_BEGINS.timestamp()), _CALENDAR_ENDS.timestamp())
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=within)


_ASKS_WHEN = re.compile(
    r"\b(?:when|(?:what|which) (?:year|month|week|day|date|time)|how long ago)\b"
    r"(?! (?:i|you|we|they|he|she|it)\b)",
    re.I,
)
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|myself)\b", re.I)
_POSSESSIVE = re.compile(r"['’`]s\b", re.I)

# What is named only to be excluded. "Not" alone does not exclude: "why did you not come" asks for just that.
_SET_ASIDE = re.compile(
    r"(?:[,;:—–-]\s*|\s)(?:rather than|instead of|as opposed to|and not|but not|not just|not merely)\s.*"
    r"|[,;:—–-]\s*not\s.*",
    re.I | re.DOTALL,
)
_ENOUGH = 2
"""Words that must be left when something is excluded, or the whole question is used."""

# "March" is always taken for the month, "may" only where it is clear.
_TIME_WORDS = (
    "yesterday|today|tonight|tomorrow|ago|last|next|recently|since|now|soon|day|days|week|weeks|weekend|month"
    "|months|year|years|morning|evening|night|monday|tuesday|wednesday|thursday|friday|saturday|sunday|summer"
    "|winter|spring|fall|autumn|birthday|january|february|march|april|june|july|august|september|october"
    "|november|december"
)
_TIMES = frozenset([*_TIME_WORDS.split("|"), *(f"{year}" for year in range(1900, 2100))])
_MAY = re.compile(r"\b(?:May|may(?= \d))\b")


@dataclass(frozen=True, slots=True)
class Cues:
    """What a question asks for.

    Attributes:
        words: stems to look for, without the names of speakers and what is set aside.
        wording: the question as it is to be embedded.
        speakers: ids of those who are named.
        asks_when: whether a time is asked for.
    """

    words: tuple[str, ...]
    wording: str
    speakers: frozenset[str]
    dates: tuple[NamedDate, ...]
    asks_when: bool


def read(
    query: str,
    people: PeopleIndex,
    asker: str | None = None,
    only: str | None = None,
    sets_aside: bool = True,
) -> Cues:
    """The cues of a question.

    Args:
        people: who may be named.
        asker: id of whoever asks: "I" and "my" are theirs.
        only: see `PeopleIndex.mentions`.
        sets_aside: whether what is named only to be excluded is left out.
    """
    wanted = _without_what_is_set_aside(query) if sets_aside else query
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


def holds_time(text: str, words: Collection[str]) -> bool:
    """Whether a text, with its words in lower case, says when: "last week", "in June", "2023"."""
    return not _TIMES.isdisjoint(words) or ("may" in words and _MAY.search(text) is not None)


def _without_what_is_set_aside(query: str) -> str:
    found = _SET_ASIDE.search(query)
    if found is None or len(stems(query[: found.start()])) < _ENOUGH:
        return query
    return query[: found.start()]
