"""A plain log of a MUD or MUSH, as a client writes it.

    [2003-05-01 21:14] Caity says, "hi"        <Public> Bob: anyone there?
    --- Thursday, May 1, 2003 ---              Bob pages: come to the well
    [21:15] Bob grins at Caity.                Bob has arrived.

Times are optional and taken as UTC; dates may stand on each line or in a heading for each day. Any other
line is an action if it begins with the name of somebody who spoke before or with a capital letter, and an
event otherwise. Pages, tells and whispers stay private, and so does any line that might be one: servers word
them in many ways.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

from noodlings.ingest.lines import LineIds, lines_of
from noodlings.ingest.record import Item, SourceProblem, SourceRecord
from noodlings.ingest.wording import ARROW, CASED_NAME, NAME, WORD, without_address
from noodlings.text import clean
from noodlings.values.percept import Kind

_HALF_A_DAY = 12
KNOWN_NAMES = 2_000
"""How many names of speakers are remembered."""

_STAMP = re.compile(
    r"^[\[(<]?(?:(?P<date>\d{4}[-/.]\d{1,2}[-/.]\d{1,2})[ T@,]*)?"
    r"(?P<time>\d{1,2}:\d{2}(?::\d{2})?)(?:\.\d+)?Z?"
    r"[\])>]?(?:\s+|$)(?:[-|]\s)?"
)
_HEADING = re.compile(
    r"^(?:\W*|.*?\b(?:log|session|day|date)\b.*?)"
    r"(?:(?P<iso>\d{4}[-/.]\d{1,2}[-/.]\d{1,2})"
    r"|(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*[, ]+)?(?:(?P<day1>\d{1,2})\.? (?P<month1>[A-Za-z]{3,9})"
    r"|(?P<month2>[A-Za-z]{3,9}) (?P<day2>\d{1,2})(?:st|nd|rd|th)?),?"
    r"(?: \d{1,2}:\d{2}:\d{2})? (?P<year>\d{4}))\W*$",
    re.IGNORECASE,
)
_LONGEST_HEADING = 200
"""Characters; looking for a date anywhere in a line takes time by the square of its length."""
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CHANNEL = re.compile(r"^(?P<open>[<\[])(?P<channel>[^<>\[\]]{1,40})[>\]]\s+(?P<rest>.+)$")
_SAYS = re.compile(
    rf"^(?P<name>{NAME}) (?:says?|asks?|exclaims?|shouts?|yells?|whispers?|mutters?|murmurs?)"
    r"(?: to [^\",:]{1,40})?[,:]? [\"“'](?P<words>.+?)[\"”']?$"
)
_COLON = re.compile(rf"^(?i:from )?(?!(?i:to) )(?P<name>{CASED_NAME}): (?P<words>.+)$")
_PAGE = re.compile(
    rf"^(?P<name>{NAME}) (?:pages?|tells?|whispers?|[DI]Ms?|to|{ARROW})"
    rf"(?: (?:to )?(?:\([^)]*\)|[{WORD}, ]+?))?(?:: |,? [\"“'])(?P<words>.+?)[\"”']?$"
)
_AFAR = re.compile(rf"^From afar,? (?:\(to [^)]*\) |to [^:]*: )?(?P<name>{CASED_NAME}) (?P<words>.+)$")
_NOBODY = frozenset({"From", "Long", "To"})
"""Words that may begin a line but are not names."""
_COMES = re.compile(
    rf"^(?P<name>{NAME}) (?P<words>(?:has|have) (?P<how>arrived|connected|left|disconnected).*)$"
)
_POSE = re.compile(rf"^[^\W\da-z_][{WORD}.'’-]* .")


class MuLog:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._source = f"mush:{path.name}"
        self._day: date | None = None
        self._latest = time.min
        self._names: dict[str, None] = {}

    def records(self) -> Iterator[Item]:
        """Its lines without the headings. Raises `UserError` if the file cannot be read."""
        ids, private = LineIds(), False
        for item in lines_of(self._path):
            if not isinstance(item, tuple):
                yield item
                continue
            number, line, wraps = item[0], clean(item[1]), item[1][:1].isspace()
            try:
                moment, told = self._moment(line)
            except ValueError:
                yield SourceProblem(number, f"it begins with an impossible time: {line[:40]!r}")
                continue
            if not told:
                continue
            place, who, words, kind = self._told(told)
            if wraps and line == told and private:  # the rest of a private line that was too wide
                kind = Kind.WHISPER
            private = kind is Kind.WHISPER
            yield SourceRecord(
                self._source, ids.of(moment, told), words, who, moment, kind, place, line=number
            )

    def _moment(self, line: str) -> tuple[float | None, str]:
        """The time of a line, and the rest of it ("" for the heading of a day). Raises `ValueError`."""
        stamp = _STAMP.match(line)
        if stamp is None:
            day = _day_in(line)
            if day is None:
                return self._at(self._latest), line
            self._day, self._latest = day, time.min
            return None, ""
        hour, minute, second = map(int, f"{stamp['time']}:00".split(":")[:3])
        at = time(hour, minute, second)
        if stamp["date"]:
            self._day = _iso(stamp["date"])
        elif self._day is not None and at < self._latest and self._latest.hour - at.hour > _HALF_A_DAY:
            self._day += timedelta(days=1)  # past midnight
        self._latest = at
        return self._at(at), line[stamp.end() :].strip()

    def _at(self, at: time) -> float | None:
        """World time of this time on the day of the log; None where the day is not known."""
        return None if self._day is None else datetime.combine(self._day, at, UTC).timestamp()

    def _told(self, line: str) -> tuple[str, str, str, Kind]:
        """Place, speaker, words and kind of a line."""
        line, private = without_address(line)
        place, who, words, kind = self._heard(line)
        return place, who, words, Kind.WHISPER if private else kind

    def _heard(self, line: str) -> tuple[str, str, str, Kind]:
        """Place, speaker, words and kind of a line, as if it were public."""
        channel = _CHANNEL.match(line)
        if channel:
            rest = channel["rest"]
            inner = self._said(rest) or self._posed(rest)
            if inner is not None:
                return channel["channel"], *inner
            who = channel["channel"].removeprefix("From ").partition(" to ")[0]
            return "", who, rest, Kind.SAY  # <Bob> hi
        return "", *(self._said(line) or self._posed(line) or ("", line, Kind.EVENT))

    def _said(self, line: str) -> tuple[str, str, Kind] | None:
        """Speaker, words and kind of something said or paged, or of an arrival or departure."""
        for form in (_PAGE, _AFAR, _SAYS, _COLON):
            found = form.match(line)
            if found:
                return self._known(found["name"]), found["words"], Kind.SAY
        comes = _COMES.match(line)
        if comes:
            arrived = comes["how"] in ("arrived", "connected")
            return self._known(comes["name"]), comes["words"], Kind.ARRIVE if arrived else Kind.LEAVE
        name, _, words = line.partition(": ")
        return (name, words, Kind.SAY) if words and name in self._names else None

    def _posed(self, line: str) -> tuple[str, str, Kind] | None:
        """Name, words and kind of an action."""
        if not _POSE.match(line) or line.split(maxsplit=1)[0] in _NOBODY:
            return None
        words = line.split()
        starts = (" ".join(words[:count]).removesuffix("'s").removesuffix("’s") for count in (3, 2, 1))
        *longer, first = starts
        name = next((start for start in longer if start in self._names), first)
        return name, line[len(name) :].strip(), Kind.EMOTE

    def _known(self, name: str) -> str:
        self._names[name] = None
        if len(self._names) > KNOWN_NAMES:
            del self._names[next(iter(self._names))]
        return name


def _iso(text: str) -> date:
    return date(*map(int, re.split(r"[-/.]", text)))


def _day_in(line: str) -> date | None:
    """The date of a line that is a heading for a day, or None."""
    found = _HEADING.match(line) if len(line) <= _LONGEST_HEADING else None
    if found is None:
        return None
    try:
        if found["iso"]:
            return _iso(found["iso"])
        month = _MONTHS.index((found["month1"] or found["month2"])[:3].casefold()) + 1
        return date(int(found["year"]), month, int(found["day1"] or found["day2"]))
    except ValueError:
        return None
