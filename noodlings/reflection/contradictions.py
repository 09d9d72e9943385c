"""Contradictions: two lines of one person that cannot both hold, told by patterns.

A clause is read as a claim: the stems that carry it, whether it denies them, and whether it is of the past.
What is denied contradicts what claims at least the same stems: "I don't have a dog" contradicts "I have a dog
called Pickle", but "I don't like tea with milk" does not contradict "I like tea". Another value contradicts
the first in what has only one, such as an age, a home or a time. A line that admits that something was wrong
contradicts the earlier line that is most like it.

A change counts as well: the later line holds. What is imagined, asked or left open claims nothing.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from noodlings.recall.cues import CLAUSES
from noodlings.recall.lexical import stems
from noodlings.reflection.facts import folded, is_imagined, sentences

MOST_EXTRA = 6
"""Stems that a claim may have beside those that are denied."""
SHARED = 2
"""Stems that two claims about one matter share, where one of them has another beside."""
RARE = 3
"""Lines of a person in which a stem that they rarely use stands."""
ALIKE = 1.0
"""How many rare stems a correction has in common with what it corrects."""
MOST, MOST_COMPARED, MOST_LINES = 3, 100, 1_000
"""Lines that one line contradicts, lines with the same stem that it is compared with, and lines of a person
that are looked at."""
MOST_CLAIMS = 12
"""Claims of one line that are compared: each is, with each of every other line."""
LONGEST, LONGEST_LINE = 200, 1_000
"""Characters of a clause, and of a line, that are read."""

Span = tuple[int, int]
"""Where words begin and end in a text."""
Shown = tuple[int, int, Span, Span]
"""Two lines, by id, of which one says something about the other, and the words of each that show it."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a clause claims.

    Attributes:
        stems: that carry it, without the value; "I", "my" and a few verbs are among them.
        denied: whether it says that this is not so.
        past: whether it is about what was.
        value: of what has one: a number, a weekday, a place; else "".
        ended: whether it says that something has come to an end, whatever the verb was.
        changes: whether it says that this was different before.
        words: the sentence that tells it.
    """

    stems: frozenset[str]
    denied: bool
    past: bool
    value: str
    ended: bool
    changes: bool
    words: Span


_REWRITTEN = tuple(
    (re.compile(pattern), into)
    for pattern, into in (
        (r"(?<![, ])[, ]++(?:is|are|do|does|was|did|have|can|wo)n't (?:it|they|you|we|he|she|i)$", ""),
        (r"^(?:it )?turns out (?:that )?", ""),
        (r"\bcan't\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"n't\b", " not"),
        (r"\b(?:i|we) (?:used to)\b", "i formerly"),
        (r"(?:can not|could not) (?:stand|bear|abide)|\b(?:hate|dislike|detest|loathe)[sd]?\b", "not like"),
        (
            r"\b(?:love|adore|enjoy)(?:s|d|ed)?\b|(?: am| is|'m|'s) (?:so |really )?(?:fond of|mad about)",
            " like",
        ),
        (r"^(.+) (?:bores?|annoys?|disgusts?) me\b", r"i not like \1"),
        (r"^(?!my)(.+) is my favou?rite\b.*", r"i like \1"),
        (r"\b(?:scared|frightened|terrified)\b", "afraid"),
        (r"\b(?:am|is|are|got|be|been|'m|'s) (?:single|divorced)\b", " not couple"),
        (r"\b(?:(?:broke|split|broken) up|broke it off)\b", " not couple"),
        (
            r"\b(?:am|is|are|got|be|been|getting|'m|'s) (?:engaged|married|together)(?: (?:to|with))?\b",
            " couple",
        ),
        (r"\b(?:no longer|never)\b", "not"),
        (r"\b(?:have got|had got|has got|'ve got|got)(?= (?:a|an|no|the|my|some|two|\d+)\b)", " have"),
        (r"(?:\b(?:have|has|had)|'ve) (?=(?:not )? *(?:couple|been|\w+(?:ed|en))\b)", " "),
    )
)
"""Ways to say the same → one of them."""
_NOT = re.compile(r"\b(?:not|no|hardly|neither)\b")
_DENIES = re.compile(
    r"\b(?:do|does|did|am|is|are|was|were|has|have|had|can|could|will|i|'m|'s|'re|'ve) (?:\w+ )?(?:not|no)\b"
    r"|\bi \w+ no\b|not (?:like|couple)\b"
)
_DROPPED = frozenset(
    """
    really very so now just still always ever today anymore actually honestly lot much days all finally
    already again even only quite too last week month year yesterday tonight currently longer little bit
    absolutely obviously personally time
    """.split()  # noqa: SIM905 -- readable as it is
)
_KEPT = {
    **dict.fromkeys(("i", "we"), "i"),
    **dict.fromkeys(("me", "us"), "me"),
    **dict.fromkeys(("can", "could"), "can"),
    **dict.fromkeys(("my", "our"), "my"),
    **dict.fromkeys(("am", "is", "are", "was", "were", "be", "been", "'s", "'m", "'re"), "be"),
    **dict.fromkeys(("have", "has", "had", "'ve"), "have"),
    **{word: word for word in ("his", "her", "their", "your", "like", "couple")},
}
"""Words that search leaves out, but that claims differ in."""
_FRAME = frozenset({"i", "me", "my", "be", "can", "have", "like", "his", "her", "their", "your"})
"""Those that claim nothing without others."""
_STATES = frozenset({"i", "my", "be", "like"})
_VAGUE = _FRAME | frozenset(
    stems("know say mean think care see want make talk good bad fine ok sure get go come do give keep try")
)
"""And those of which a denial says too little."""
WHEN = frozenset(
    stems("today yesterday tomorrow tonight morning evening night day week month year last time")
)
"""Stems that say when, in which no two lines are alike."""
_NUMBERS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety noon midnight"
)
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
_VALUE = re.compile(
    rf"\b(?:\d[\d.:]*|{'|'.join((*_NUMBERS.split(), *_WEEKDAYS.split()))})(?:pm|am|th|st|nd|rd)?\b"
)
_WEEKDAY = re.compile("|".join(_WEEKDAYS.split()))
_TOKEN = re.compile(r"'(?:s|m|re|ve)\b|[^\W_]+")
_AGE = re.compile(
    r"^i(?:'m| am| turned| just turned| have turned)(?: just)? (?P<value>\d{1,3}|\w+)"
    r"(?: years old| now| yesterday| today)*$"
)
_HOME = re.compile(
    r"^(?:i|we)(?:'m|'ve| am| are| have)?(?: just| now| recently)? (?:live|living|moved|moving|am staying)"
    r"(?: back| over| now)? (?:in|on|at|near|above|by|to|into) (?P<value>.{3,60})"
)
_MOVED = re.compile(r"^(?:just |finally )?moved (?:in|to|into) (?P<value>.{3,60})")
_BORN = re.compile(r"^(?:i|we) (?:was|were) born in (?P<value>[\w ]{3,30})$")
_FAVOURITE = re.compile(r"^my favou?rite (?P<what>\w+) is (?:the |a )?(?P<value>[\w ]{2,30})$")
_ENDED = re.compile(
    r"^(?:i|we)(?:'ve| have)?(?: just| finally)?"
    r" (?:quit|stopped(?: to)?|gave up|given up|dropped out of|sold|got rid of)"
    r" (?:(?:my|the|our|an?|old|new) )*(?P<what>\w+)"
)
_OFF = re.compile(
    r"^(?:the |my |our )?(?P<what>[\w' ]{3,40}?)"
    r" (?:fell through|isn't happening|(?:is|was) off|(?:is|was|got|has been) (?:cancell?ed|called off))\b"
)
_OWN = re.compile(
    r"\bmy (?!late|dead|old|ex|former|own\b)(?:(?:older|younger|big|little|new) )?(?P<what>[^\W\d_]{3,})"
)
_UNCLEAR = re.compile(
    r"^(?:he|she|they|it|this|that|these|those|there|you|which|who|is|are|was|do|don't|isn't|aren't)(?:'|\b)"
    r"|\b(?:dreams?|dreamt|nobody|nothing|none|would|wouldn't|want you|unless|without)\b"
    r"|\blike (?:that|this|you|a|an)\b"
)
"""Clauses whose subject nobody knows, or that leave open what is so."""
_PAST = re.compile(
    r"\b(?:was|were|had|did|didn't|formerly|used to|ago|went|said|told|came|saw|took|made|bought|lost|won|met"
    r"|slept|felt|ate|(?!need|bored|called|named)\w{3,}ed)\b"
)
_PRESENT = re.compile(
    r"\b(?:am|is|are|will|got|gets?|now|do|does|don't|doesn't|isn't|aren't)\b|'(?:m|re|ll|s)\b"
)
_CHANGES = re.compile(
    r"\b(?:now|these days|any ?more|no longer|instead|moved|after all|this time|turns out|finally|from now on"
    r"|changed)\b"
)
_CORRECTS = re.compile(
    r"\b(?:(?:i|was) l(?:ied|ying)|correct (?:myself|that)|told (?:you|him|her|them) wrong|my mistake"
    r"|mistaken|scratch that|(?:moved|postponed|changed) (?:it|the)\b|called off|fell through)"
)
_NEVER = re.compile(r"(?:have|has|'ve|'s|had) never\b|\bnever (?:was|were|had)\b")
_DEPENDS = re.compile(r"\b(?:when(?:ever)?|while|until|if)\b", re.I)
"""A denial that holds only at times denies nothing."""
_AND_I = re.compile(r"(?<=[\w']) and i\b")
_OBJECT = re.compile(r"\b(?:it|them|him|her|that|those)$")


def claims(text: str) -> list[Claim]:
    """What a line claims, clause by clause."""
    found = list[Claim]()
    before = frozenset[str]()  # what "it" may stand for
    for begins, ends, sentence in sentences(text):
        if sentence.endswith("?"):
            before = frozenset(stems(sentence))
            continue
        depends = _DEPENDS.search(sentence) is not None
        for at, clause in enumerate(CLAUSES.split(_AND_I.sub(" i", folded(sentence)))):
            if len(clause) <= LONGEST:
                told = list(_claims(clause, before, (begins, ends), at == 0))
                if told and not is_imagined(sentence, clause):
                    found += [one for one in told if not (one.denied and depends)]
            before = frozenset(stems(clause))
    return found


def _claims(clause: str, before: frozenset[str], words: Span, begins: bool) -> Iterator[Claim]:
    past = _PAST.search(clause) is not None and _PRESENT.search(clause) is None
    ever = _NEVER.search(clause) is not None
    changes = _CHANGES.search(clause) is not None
    for found in _OWN.finditer(clause):
        yield Claim(frozenset({"i", "have", *stems(found["what"])}), False, past, "", False, changes, words)
    for pattern, key in ((_AGE, "age"), (_BORN, "born"), (_HOME, "home"), (_MOVED, "home"), (_FAVOURITE, "")):
        valued = pattern.match(clause) if begins or pattern is not _MOVED else None
        if valued is not None and (key != "age" or _VALUE.fullmatch(valued["value"])):
            what = frozenset({f"#{key or valued['what']}"})
            value = " ".join(stems(valued["value"])) or valued["value"]
            yield Claim(what, False, False, value, False, changes, words)
            return
    if ended := _ENDED.match(clause) or _OFF.match(clause):
        gone = frozenset(stems(ended["what"])) - _DROPPED
        if gone:
            yield Claim(gone, True, False, "", True, True, words)
    if _UNCLEAR.search(clause):
        return
    plain = clause
    for pattern, into in _REWRITTEN:
        plain = pattern.sub(into, plain)
    plain = " ".join(plain.split())
    denials = len(_NOT.findall(plain))
    if denials > 1:
        return
    valued = None if denials else _VALUE.search(plain)
    value = "" if valued is None else valued[0]
    carried = _carrying(_VALUE.sub(" ", plain) if value else plain)
    content, object_before = carried - (_VAGUE if denials else _FRAME), _OBJECT.search(clause) is not None
    if len(carried) < 2 or not (content or object_before):
        return
    if denials and (("i" not in carried and len(content) < SHARED) or not _DENIES.search(plain)):
        return
    each = [carried]
    if object_before and before:
        each = [carried | {one} for one in sorted(before)]
    elif denials and "have" in carried and " or " in plain:
        each = [frozenset({"have", *carried & {"i"}, one}) for one in sorted(carried - _FRAME)]
    for some in each:
        yield Claim(some, denials == 1, past or ever, value, False, changes, words)


def _carrying(plain: str) -> frozenset[str]:
    """The stems of a clause, without what only says how much or when."""
    kept = set[str]()
    for token in _TOKEN.findall(plain):
        if token in _KEPT:
            kept.add(_KEPT[token])
        elif token not in _DROPPED:
            kept.update(stems(token))
    return frozenset(kept)


def contradict(earlier: Claim, later: Claim) -> bool:
    """Whether two claims of one person cannot both hold."""
    if earlier.denied != later.denied:
        denial, claim = (earlier, later) if earlier.denied else (later, earlier)
        if denial.ended:
            holds = not claim.past and not claim.value and not claim.stems.isdisjoint(_STATES)
            return denial is later and holds and denial.stems <= claim.stems
        if (claim.past and not denial.past) or "can" in denial.stems ^ claim.stems:
            return False
        return denial.stems <= claim.stems and len(claim.stems - denial.stems) <= MOST_EXTRA
    if not earlier.value or not later.value or earlier.denied or earlier.value == later.value:
        return False
    if earlier.past or later.past or not _same_matter(earlier.stems, later.stems):
        return False
    if earlier.stems == {"#home"}:
        return later.changes
    return later.changes or not _WEEKDAY.search(later.value)


def _same_matter(one: frozenset[str], other: frozenset[str]) -> bool:
    fewer, more = sorted((one, other), key=len)
    return fewer == more or (len(fewer - _FRAME) >= SHARED and fewer <= more and len(more - fewer) <= 1)


def lexical_stems(text: str) -> frozenset[str]:
    """The stems of a text, in the usual spelling."""
    return frozenset(stems(folded(text)))


@dataclass(frozen=True, slots=True)
class ReadLine:
    """A line of a person as it is compared with others; `stems` are those of all of it."""

    entry_id: int
    text: str
    claims: tuple[Claim, ...]
    stems: frozenset[str]

    @classmethod
    def of(cls, entry_id: int, text: str) -> ReadLine:
        read = text[:LONGEST_LINE]
        return cls(entry_id, read, tuple(claims(read)[:MOST_CLAIMS]), lexical_stems(read))

    @property
    def carried(self) -> frozenset[str]:
        """The stems by which it is found."""
        return self.stems.union(*(claim.stems - _FRAME for claim in self.claims))


class LinesOfPerson:
    """The latest lines that one person told, to be compared with what they tell next."""

    def __init__(self) -> None:
        self._lines: deque[ReadLine] = deque()
        self._by_stem: dict[str, deque[ReadLine]] = {}

    def add(self, line: ReadLine) -> None:
        """Add the next line; the first of more than `MOST_LINES` goes."""
        self._lines.append(line)
        for stem in line.carried:
            self._by_stem.setdefault(stem, deque()).append(line)
        if len(self._lines) > MOST_LINES:
            for stem in self._lines.popleft().carried:
                self._by_stem[stem].popleft()

    def contradicted(self, later: ReadLine) -> list[Shown]:
        """What a later line contradicts, the latest first."""
        found = list[Shown]()
        keys = {stem for claim in later.claims for stem in claim.stems - _FRAME}
        for old in self._with(keys):
            pairs = ((new, one) for new in later.claims for one in old.claims if contradict(one, new))
            if pair := next(pairs, None):
                found.append((later.entry_id, old.entry_id, pair[0].words, pair[1].words))
        if not found and _CORRECTS.search(folded(later.text)):
            likeness, most_alike = self.most_alike(later.stems - WHEN)
            if most_alike is not None and likeness >= ALIKE:
                whole = (0, len(later.text)), (0, len(most_alike.text))
                found.append((later.entry_id, most_alike.entry_id, *whole))
        return found[:MOST]

    def most_alike(self, wanted: frozenset[str]) -> tuple[float, ReadLine | None]:
        """The line that has most of these stems, the latest of several, and how many rare ones it has."""
        shared = {
            one.entry_id: (sum(self._weight(stem) for stem in one.stems & wanted), one)
            for one in self._with(wanted)
            if not one.text.rstrip().endswith("?")
        }
        number = max(shared, key=lambda number: (shared[number][0], number), default=None)
        return (0.0, None) if number is None else shared[number]

    def _with(self, stems: Iterable[str]) -> list[ReadLine]:
        """The lines with one of these stems, the latest first."""
        lines = {
            one.entry_id: one
            for stem in stems
            for one in islice(reversed(self._by_stem.get(stem, ())), MOST_COMPARED)
        }
        return [lines[number] for number in sorted(lines, reverse=True)]

    def _weight(self, stem: str) -> float:
        """How much it says that two lines share a stem, 1 for one that this person rarely uses."""
        return 1.0 / max(1.0, len(self._by_stem.get(stem, ())) / RARE)
