"""Cues: what a question says besides its subject, namely who spoke, when, and what is not meant.

"When did Caity adopt Pugsley, rather than Fluffy?" is searched as "When did I adopt Pugsley" in what Caity
said, and lines with a time are preferred. People tell their own memories, so their names become "I" before
the question is compared with what was said. Dates in a question become spans of world time (UTC). So do days
in the past ("on Saturday"), which are read in the same way from what was said (`day_happened`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import MAXYEAR, UTC, datetime, timedelta

from noodlings.clock import calendar_time
from noodlings.recall.lexical import stems
from noodlings.stemming import STOP_WORDS
from noodlings.values.circumstances import DAY_SECONDS

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
"""How much a memory counts that is of the named day, of the seven days after it (when it is told; where it is
given when it happened, that alone counts), of the named month, of the named year: the wider, the less."""

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
        years = list(range(calendar_time(first).year, calendar_time(last).year + 1))[-_MOST_YEARS:]
    for year in years:
        if year >= MAXYEAR:
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


WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
NUMBERS = {
    word: number
    for number, words in enumerate(
        ("a an one", "two couple", "three few", "four", "five", "six", "seven", "eight", "nine", "ten"), 1
    )
    for word in words.split()
}
CLAUSES = re.compile(
    r",\s+|\s+[-–—]+\s+|:\s+|\s+\b(?:and|but|so|because|although|though|while|since|whereas|which|who|when)\b\s+"
)
"""What stands between the clauses of a sentence."""
_DID = (
    r"(?:went|died|said|told|came|saw|took|made|bought|lost|won|met|read|slept|felt|ate|found|gave|left|fell"
    r"|broke|began|brought|caught|drove|flew|paid|ran|sent|sold|spent|stole)"
)
_PAST = re.compile(rf"\b(?:was|were|had|did|{_DID}|(?!need)\w{{3,}}ed)\b")
_HAS = re.compile(rf"(?:'s|'ve|\b(?:has|have)) (?:(?:just|finally|already|only) )?(?={_DID}\b)")
"""Before what has happened: "he's found a job"."""
_TO_COME = re.compile(
    r"\b(?:will|shall|going to|gonna|have to|has to|need to|must|got to|been (?:moved|put|brought|postponed)"
    r"|gets?|is|are|am|comes?|starts?)\b|'(?:ll|s|m|re)\b"
)
_SENTENCE = re.compile(r"[^.!?…;]+[.!?…;]*")
_QUOTED = re.compile(r"[\"“][^\"“”]*[\"”]")
_DAYS_OF = {"day": 1, "week": 7, "fortnight": 14}
_DAYS_BACK = {"the day before yesterday": 2, "yesterday": 1, "last night": 1, "this morning": 0}
_COUNTS = "|".join(word for word in NUMBERS if word not in ("few", "couple"))
_NAMED_DAY = re.compile(
    rf"\b(?:(?P<back>{'|'.join(_DAYS_BACK)})(?!')|(?P<last>last|on) (?P<weekday>{'|'.join(WEEKDAYS)})"
    rf"|(?<!-)(?<!ty )(?<!or )(?P<count>{_COUNTS}|\d{{1,3}}) (?P<unit>{'|'.join(_DAYS_OF)})s? ago)\b"
)
_LIMIT = re.compile(
    r"\b(?:since|until|till|than|from|by|(?<!the day )before|after|ago(?= yesterday)|every|each)"
    rf"(?: (?:the|of|on|last|this|night|morning|yesterday|ago|days?|weeks?|\d{{1,4}}(?:st|nd|rd|th)?|{_NAMES}"
    rf"|{'|'.join(WEEKDAYS)}|{'|'.join(NUMBERS)})\b)+"
)
"""A day that is no more than a limit: "since last Friday", "before the 2nd of March"."""
_INTENDED = re.compile(
    r"\b(?:agreed|arranged|asked|booked|decided|due|had to|hoped|intended|invited|meant|offered|planned"
    r"|promised|supposed|wanted)\b"
)
"""Of which the day may be to come: "I promised to come on Friday"."""
_ASKS = re.compile(r"\b(?:what|wh[oy]|whom|whose|where|when|which|how|did)\b|^(?:was|were|had|has|have)\b")
_ANYTHING = frozenset(stems("happened event news anything something everything special do go say tell talk"))
"""Stems of what asks about anything: "what happened?"."""
_READ = 400
"""Characters that are read for a day."""
_BARE = 4
"""Words of a clause that may be a day alone: "on Friday, we went sailing"."""


def until_weekday(weekday: int, today: int) -> int:
    """Days until the next such weekday, 1…7; both from 0, Monday, on."""
    return (weekday - today - 1) % 7 + 1


def is_past(said: str) -> bool:
    """Whether a clause in small letters tells what happened, and nothing that is or will be."""
    said = _HAS.sub(" ", said)
    return _PAST.search(said) is not None and _TO_COME.search(said) is None


def day_happened(text: str, told: float, asked: bool = False) -> float | None:
    """The day on which something happened by its words, as its beginning in world time.

    "Yesterday", "last night", "last Friday" and "two days ago" name one, "on Friday" and "on 2 March" do in a
    clause about the past. None where no day is named, or several are.

    Args:
        told: when it was said, world time.
        asked: whether it is a question to the memory, which must be about the past ("how are you this
            morning?" is not); questions in what was said do not count, as they do not tell when it happened.
    """
    said = _QUOTED.sub(" ", text[:_READ].casefold().replace("’", "'"))
    days = set(_days_named(_asking(said) if asked else said, told, asked))
    return days.pop() if len(days) == 1 else None


def _asking(said: str) -> str:
    """Without what only tells something: of "I fell yesterday. What is my dog called?" the question."""
    parts = re.split(r"(?<=[.!?…,;:])\s+", said)
    return " ".join(part for part in parts if _ASKS.search(part) or not is_past(part))


def _days_named(text: str, told: float, asked: bool) -> Iterator[float]:
    today = told // DAY_SECONDS * DAY_SECONDS
    weekday = int(today // DAY_SECONDS + 3) % 7  # 1970 began on a Thursday
    for sentence in _SENTENCE.findall(_LIMIT.sub(" ", text)):
        if sentence.endswith("?") and not asked:
            continue
        clauses, ends = CLAUSES.split(sentence), [end.start() for end in CLAUSES.finditer(sentence)]
        for found in _NAMED_DAY.finditer(sentence):
            sure = not asked and found["last"] != "on"
            if not (sure or _tells_past(clauses, bisect_right(ends, found.start()))):
                continue
            if found["back"]:
                back = _DAYS_BACK[found["back"]]
            elif found["weekday"]:
                back = until_weekday(weekday, WEEKDAYS.index(found["weekday"]))
            else:
                back = (NUMBERS.get(found["count"]) or int(found["count"])) * _DAYS_OF[found["unit"]]
            yield today - back * DAY_SECONDS
        for at, clause in enumerate(clauses):
            for date in named_dates(clause):
                if date.day is not None and _tells_past(clauses, at):
                    near = spans(date, told - 366 * DAY_SECONDS, told)
                    yield from [one.start for one in near if one.weight == DAY and one.start <= told][-1:]


def _tells_past(clauses: list[str], at: int) -> bool:
    """Whether a clause does, with those beside it where it may be no more than a day."""
    bare = len(clauses[at].split()) <= _BARE
    said = " ".join(clauses[max(at - 1, 0) : at + 2]) if bare else clauses[at]
    return is_past(said) and _INTENDED.search(said) is None


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
        day: the day in the past that is asked about in words such as "on Saturday"; None for none.
        only_day: whether nothing but a day is asked about: "what happened on 2 March?".
    """

    words: tuple[str, ...]
    wording: str
    speakers: frozenset[str]
    dates: tuple[NamedDate, ...]
    asks_when: bool
    day: Span | None = None
    only_day: bool = False


def read(
    query: str,
    people: PeopleIndex,
    asker: str | None = None,
    only: str | None = None,
    sets_aside: bool = True,
    now: float | None = None,
) -> Cues:
    """The cues of a question.

    Args:
        people: who may be named.
        asker: id of whoever asks: "I" and "my" are theirs.
        only: see `PeopleIndex.mentions`.
        sets_aside: whether what is named only to be excluded is left out.
        now: world time from which "on Saturday" is counted back; without it such a day is not looked for.
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
    day, dates = None if now is None else day_happened(wanted, now, asked=True), tuple(named_dates(wanted))
    rest = " ".join(bare)
    around = set(stems(_ISO.sub(" ", _WRITTEN.sub(" ", _NAMED_DAY.sub(" ", rest.casefold())))))
    return Cues(
        words=tuple(stems(rest)),
        wording="".join(told),
        speakers=frozenset(speakers),
        dates=dates,
        asks_when=_ASKS_WHEN.search(wanted) is not None,
        day=None if day is None else Span(day, day + DAY_SECONDS, DAY),
        only_day=(day is not None or any(date.day is not None for date in dates)) and around <= _ANYTHING,
    )


def holds_time(text: str, words: Collection[str]) -> bool:
    """Whether a text, with its words in lower case, says when: "last week", "in June", "2023"."""
    return not _TIMES.isdisjoint(words) or ("may" in words and _MAY.search(text) is not None)


def _without_what_is_set_aside(query: str) -> str:
    found = _SET_ASIDE.search(query)
    if found is None or len(stems(query[: found.start()])) < _ENOUGH:
        return query
    return query[: found.start()]
