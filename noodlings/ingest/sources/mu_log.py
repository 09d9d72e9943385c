"""A plain log of a MUD or MUSH, as a client writes it.

    [2003-05-01 21:14] Caity says, "hi"        <Public> Bob: anyone there?
    --- Thursday, May 1, 2003 ---              Bob pages: come to the well
    [21:15] Bob grins at Caity.                Bob has arrived.

Times are optional and taken as UTC; dates may stand on each line or in a heading for each day. A time in any
other form is not read, but known by what many lines of the file begin with. Any other line is an action if it
begins with the name of somebody who spoke before or with a capital letter, and an event otherwise. Pages,
tells and whispers stay private, and so does any line that might be one: servers word them in many ways. The
lines that continue a private one are as private as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from pathlib import Path

from noodlings.ingest.lines import LineIds, lines_of
from noodlings.ingest.moments import BEGINNING, LETTERS, LONGEST_TIME, STAMP, TIME, ZONE
from noodlings.ingest.record import Item, SourceProblem, SourceRecord
from noodlings.ingest.wording import ARROW, CASED_NAME, NAME, WORD, is_openly_worded, without_address
from noodlings.text import clean
from noodlings.values.percept import Kind

_HALF_A_DAY = 12
KNOWN_NAMES = 2_000
"""How many names of speakers are remembered."""

_AMOUNT = re.compile(r"\d+(?:/\d+|(?:,\d+)+)")
"""What may be a date, but is none behind words: "You have 100/100 hp"."""
_PART = re.compile(rf"(?P<time>{TIME})|(?P<number>\d+)|(?P<zone>{ZONE})|(?P<word>[^\W\d_]+)|.")
_PARTS = {"time": TIME, "number": r"\d+", "zone": ZONE, "word": LETTERS}
_SAMPLE, _ENOUGH, _STEADY = 5_000, 20, 5
"""How many lines of a file show the form of its times; at least one in so many begins with it, as messages
may be long; at most one in so many of these has other words there than the one before."""
_OTHER = "other"
"""Stands for the bracket of a time that is not read."""
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
_PRONOUN = re.compile(r"(?:^| )(?:He|She|It|They|We|I)$")
"""Servers show names, so "He says" below a page is in what somebody wrote. "He Ping" is a name."""
_SAYS = re.compile(
    rf"^(?P<name>{NAME}) (?:says?|asks?|exclaims?|shouts?|yells?|whispers?|mutters?|murmurs?)"
    r"(?: \w{2,20}ly)?(?: to [^\",:]{1,40})?[,:]? [\"“'‘](?P<words>.+?)[\"”'’]?$"
)
_COLON = re.compile(rf"^(?i:from )?(?!(?i:to) )(?P<name>{CASED_NAME}): (?P<words>.+)$")
_PAGE = re.compile(
    rf"^(?P<name>{NAME}) (?:pages?|tells?|texts?|whispers?|[DIP]Ms?|to|{ARROW})"
    rf"(?: (?:to )?(?:\([^)]*\)|[{WORD}, ]+?))?(?:: |,? [\"“'‘])(?P<words>.+?)[\"”'’]?$"
)
_AFAR = re.compile(rf"^From afar,? (?:\(to [^)]*\) |to [^:]*: )?(?P<name>{CASED_NAME}) (?P<words>.+)$")
_SENSED = re.compile(
    rf"^(?:You sense(?::| that)? |{NAME} senses(?:: |,? [\"“'‘]))"
    rf"(?P<name>{CASED_NAME}) (?P<words>.+?)[\"”'’]?$"
)
"""A pose that is whispered."""
_MARKED = re.compile(r"^[*>›-](?P<name>(?=\S*?[^\W\d_])[^\s\d*<>‹›-][^\s*<>‹›]{0,40})[*<‹-] ")
"""A nick as clients for IRC begin a private message with it, *bob* or >bob<, or an action: *waves*."""
_DONE = re.compile(r"[a-z'’]+(?:s|ed|ing)", re.IGNORECASE)
"""What looks like a verb of such an action."""
_NOBODY = frozenset({"From", "Long", "To"})
"""Words that may begin a line but are not names."""
_COMES = re.compile(
    rf"^(?P<name>{NAME}) (?P<words>(?:has|have) (?P<how>arrived|connected|left|disconnected).*)$"
)
_POSE = re.compile(rf"^[^\W\da-z_][{WORD}.'’-]* .")
_HEADER = re.compile(
    r"^[^\w(\[<]*(?:(?:message|mail|msg)\b.{0,40}\b|\d+\W+)?(?:from|to|cc|subject) ?:", re.IGNORECASE
)
"""The header of a mail, as several servers have it."""
_ABOVE_WORDS = re.compile(
    r"^\W*mail\W*$|^[^:\"“]{0,80}@mail\b"
    r"|^(?!.*[.!]$)[^:\"“]{0,80}\bmail\b.{0,80}\b(?:from|to|by)\b|:$",
    re.IGNORECASE,
)
"""Any other private line whose words are in the lines below it. That there is mail from somebody, said in a
sentence, is none."""
_FIELDS = frozenset({"date", "folder", "message", "re", "sent", "status", "subject", "time", "to"})
"""Words before the colons in such a header."""
_CLOSED = re.compile(r"(?<!\w)[\"“][^\"“”]*[\"”]")
_OPENED = re.compile(r"(?<!\w)[\"“]")
# In a name or word it is an apostrophe, and so it may be after an s.
_OPENED_SINGLE = re.compile(r"^(?:[^:\"“']|(?<=\w)'(?=\w))* '(?!.*(?<![s\s])'(?!\w))")
_CLOSED_SINGLE = re.compile(r"(?<![s\s])’(?!\w)")
_INCHES = re.compile(r"(?<=\d)[\"”](?= [^\W\d_])")
_MARK, _OPENING_MARK = re.compile(r"[\"“”]"), re.compile(r"(?<!\w)[\"“](?=\S{0,5}\w)")
_A_DAY, _SOON = 24 * 60, 1
"""Minutes: of a day, and in which the lines of one private message have their times."""


@dataclass(slots=True)
class _Private:
    """A private line that later lines may continue.

    Attributes:
        who: the speaker.
        bracket: what its time begins with, perhaps ""; `_OTHER` for one that is not read, None without
            a time.
        minute: of the day.
        below: whether its words are in the lines below it.
        marked: whether it is known by its words, and not only taken for one in doubt.
        quote: the quotation marks that are not closed yet, or "".
    """

    who: str
    bracket: str | None
    minute: int
    below: bool
    marked: bool
    quote: str

    @property
    def unfinished(self) -> bool:
        return self.below or self.quote != ""


class MuLog:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._source = f"mush:{path.name}"
        self._day: date | None = None
        self._latest = time.min
        self._names: dict[str, None] = {}
        self._private: _Private | None = None
        self._has_times = False

    def records(self) -> Iterator[Item]:
        """Its lines without the headings. Raises `UserError` if the file cannot be read."""
        ids, form = LineIds(), _form_of_times(self._path)
        for item in lines_of(self._path):
            if not isinstance(item, tuple):
                yield item
                continue
            number, line, wraps = item[0], clean(item[1]), item[1][:1].isspace()
            stamp, other = STAMP.match(line), form.match(line, 0, LONGEST_TIME) if form else None
            bracket = stamp["bracket"] if stamp else _OTHER if other else None
            try:
                moment, told = self._moment(line)
            except ValueError:
                yield SourceProblem(number, f"it begins with an impossible time: {line[:40]!r}")
                # It may be private, and go on in the next line.
                self._read(line[stamp.end() :].strip() if stamp else line, bracket, wraps)
                continue
            if stamp is None and not told:  # the heading of a day
                continue
            # Its id stays what it was while such times were taken for words: a log may be taken in anew.
            known_by = told
            if other and other.end() > len(line) - len(told):
                told = line[other.end() :].strip()
            place, who, words, kind = self._read(told, bracket, wraps)
            if told:
                yield SourceRecord(
                    self._source, ids.of(moment, known_by), words, who, moment, kind, place, line=number
                )

    def _read(self, line: str, bracket: str | None, wraps: bool) -> tuple[str, str, str, Kind]:
        """Place, speaker, words and kind of a line, which may continue a private one."""
        private = self._private
        self._has_times |= bracket is not None
        if not line:  # some clients write the time of a blank line, too
            return "", "", "", Kind.EVENT
        if private is not None and self._continues(private, line, bracket, wraps):
            if private.quote:
                private.quote = _still_open(private.quote, line)
            return "", private.who, line, Kind.WHISPER
        place, who, words, kind, marked = self._told(line)
        self._private = None
        if kind is Kind.WHISPER:
            below = bool(_HEADER.match(line) or _ABOVE_WORDS.search(line))
            below |= private is not None and private.unfinished
            self._private = _Private(who, bracket, self._minute, below, marked, _unclosed(line))
        return place, who, words, kind

    def _continues(self, private: _Private, line: str, bracket: str | None, wraps: bool) -> bool:
        """Whether a line belongs to the private one before it. When in doubt, it does."""
        if bracket is not None and private.bracket in (None, bracket):
            soon = (self._minute - private.minute) % _A_DAY <= _SOON
            return private.unfinished and soon and not self._begins(line)
        # Where lines have times, one without continues another, and one that begins with another time may.
        read = _OTHER not in (private.bracket, bracket)
        if wraps or (private.bracket is not None and (bracket is None or read)):
            return True
        maybe = private.unfinished or self._has_times or line[:1].islower()
        # Who speaks here for the first time may be none: "Password: hunter2".
        maybe |= private.marked and self._heard(line)[1] not in self._names
        return maybe and not self._begins(line)

    def _begins(self, line: str) -> bool:
        """Whether a line can hardly be the rest of what somebody wrote in the lines before it."""
        channel = _CHANNEL.match(line)
        if channel and channel["open"] == "<":
            return True
        line = channel["rest"] if channel else line
        says, comes = _SAYS.match(line), _COMES.match(line)
        name = says["name"] if says else ""
        if name in self._names or (name and not name[0].islower() and not _PRONOUN.search(name)):
            return True
        if comes and comes["words"].count(" ") == 1:  # "has arrived.", and nothing more
            return not _PRONOUN.search(comes["name"])
        name, _, words = line.partition(": ")
        known = bool(words) and name in self._names and name.casefold() not in _FIELDS
        return known or (_PAGE.match(line) is not None and without_address(line)[1])

    def _moment(self, line: str) -> tuple[float | None, str]:
        """The time of a line, and the rest of it ("" for the heading of a day). Raises `ValueError`."""
        stamp = STAMP.match(line)
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

    @property
    def _minute(self) -> int:
        return 60 * self._latest.hour + self._latest.minute

    def _told(self, line: str) -> tuple[str, str, str, Kind, bool]:
        """Place, speaker, words and kind of a line, and whether its words mark it as private."""
        line, marked = without_address(line)
        marked |= _HEADER.match(line) is not None or self._is_from_a_nick(line)
        private = marked or not is_openly_worded(line)
        place, who, words, kind = self._heard(line)
        if who and kind is not Kind.EMOTE and not _PRONOUN.search(who):
            self._names[who] = None
            if len(self._names) > KNOWN_NAMES:
                del self._names[next(iter(self._names))]
        return place, who, words, Kind.WHISPER if private else kind, marked

    def _is_from_a_nick(self, line: str) -> bool:
        """Whether a name in marks begins a line, and not an action: "*bob* hi" rather than "*waves* hi"."""
        marked = _MARKED.match(line)
        if marked is None:
            return False
        nick = marked["name"].casefold()
        return not _DONE.fullmatch(nick) or nick in map(str.casefold, self._names)

    def _heard(self, line: str) -> tuple[str, str, str, Kind]:
        """Place, speaker, words and kind of a line, as if it were public."""
        if channel := _CHANNEL.match(line):
            rest = channel["rest"]
            nick, _, host = channel["channel"].partition("(")
            if "@" in host:  # [bob(~bob@host)] hi
                return "", nick, rest, Kind.SAY
            inner = self._said(rest) or self._posed(rest)
            if inner is not None:
                return channel["channel"], *inner
            who = channel["channel"].removeprefix("From ").partition(" to ")[0]
            return "", who, rest, Kind.SAY  # <Bob> hi
        return "", *(self._said(line) or self._posed(line) or ("", line, Kind.EVENT))

    def _said(self, line: str) -> tuple[str, str, Kind] | None:
        """Speaker, words and kind of something said or paged, or of an arrival or departure."""
        for form in (_PAGE, _AFAR, _SENSED, _SAYS, _COLON):
            if found := form.match(line):
                return found["name"], found["words"], Kind.SAY
        if comes := _COMES.match(line):
            arrived = comes["how"] in ("arrived", "connected")
            return comes["name"], comes["words"], Kind.ARRIVE if arrived else Kind.LEAVE
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


def _form_of_times(path: Path) -> re.Pattern[str] | None:
    """A pattern for what many of the first lines of a file begin with, if that may be a time, or None.

    Raises `UserError` if the file cannot be read.
    """
    lines, shapes, changes = 0, Counter[str](), Counter[str]()
    words: dict[str, list[str]] = {}
    for item in islice(lines_of(path), _SAMPLE):
        if isinstance(item, tuple):
            lines += 1
            if beginning := BEGINNING.match(clean(item[1][:_LONGEST_HEADING])[:LONGEST_TIME]):
                parts = list(_PART.finditer(beginning[0].rstrip()))
                now = [part[0] for part in parts if part["word"]]
                latest = next((part[0] for part in reversed(parts) if part["time"]), "")
                if now and _AMOUNT.fullmatch(latest) and beginning[0][0] not in "[({<":
                    continue
                shape = "".join(_PARTS.get(part.lastgroup or "", re.escape(part[0])) for part in parts)
                shapes[shape] += 1
                changes[shape] += words.get(shape, now) != now
                words[shape] = now
    # Days and months change seldom; words that change often are names, or what was said.
    enough = max(2, min(3, lines / _STEADY), lines / _ENOUGH)
    usual = [one for one, count in shapes.items() if count >= enough and changes[one] * _STEADY <= count]
    usual.sort(key=len, reverse=True)
    return re.compile(rf"(?:{'|'.join(usual)})(?:(?<=[\])}}>])|(?!\S))") if usual else None


def _unclosed(line: str) -> str:
    """The quotation marks in a line that are not closed there, or ""."""
    if (surplus := _surplus(line)) > 0:
        return '"' * surplus
    line = _INCHES.sub("", line)
    if surplus and _OPENED.search(_CLOSED.sub("", line)):
        return '"'
    _, opened, rest = line.rpartition(" ‘")
    if opened and _still_open("'", rest) and not _CLOSED_SINGLE.search(rest):
        return "'"
    return "'" if _OPENED_SINGLE.match(line) else ""


def _still_open(quote: str, line: str) -> str:
    """What is left of quotation marks that were opened before a line, with those that are opened in it."""
    if quote == "'":
        return "" if line.rstrip(" .,!?").endswith(("'", "’")) else quote
    return '"' * (len(quote) + _surplus(line))


def _surplus(line: str) -> int:
    """How many more quotation marks are opened in a line than closed; inches count for nothing."""
    line = _INCHES.sub("", line)
    return 2 * len(_OPENING_MARK.findall(line)) - len(_MARK.findall(line))


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
