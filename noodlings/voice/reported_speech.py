"""A memory put into words, as in "you told me your dog died", "Caity asked me to feed the cat".

An emote is told as well ("you hugged me"). Only what was really said is claimed. What cannot be turned into
reported speech is quoted.

Words such as "yesterday" are relative to the day on which something was said. A past one is dropped where the
sentence is whole without it, and otherwise told from then ("the day before"). A future one is told from then
with its verb in the past: "my exam is tomorrow" becomes "my exam was the next day". On the same day they
stay.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from noodlings.ports import Utterance
from noodlings.text import goes_on, phrases, shorten
from noodlings.values.memory import MemoryEntry, hearsay, title_of, written_by
from noodlings.values.percept import NOT_LIVED, SPOKEN, Kind
from noodlings.voice.pronouns import lower_first, to_past, turn
from noodlings.voice.question import AnswerType, answer_type, only_asks
from noodlings.voice.statement import begins_with_name, is_clause
from noodlings.voice.words import (
    ago,
    bare_of,
    called_other,
    past_of,
    self_as_me,
    shown,
    spoken_words,
    tokens,
    topic_stems,
    without_names,
    words_for,
)

SAME_DAY = 10 * 3_600.0
"""Seconds for which "tomorrow" and "tonight" stay as they are."""

_SPAN = r"(?:minute|hour|day|week|month|year)s?"
_COUNT = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|a few|a couple of|some|\d+)"
_UNIT = r"(week|month|year|summer|winter|spring|autumn|fall|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"

_TimeRules = tuple[tuple[re.Pattern[str], str], ...]


def _rules(*rules: tuple[str, str]) -> _TimeRules:
    """Words of time, and how they are told from then."""
    return tuple((re.compile(rf"\b{words}", re.I), from_then) for words, from_then in rules)


_PAST = _rules(
    (rf"({_COUNT} {_SPAN}) ago\b", r"\1 earlier"),
    (r"the day before yesterday\b", "two days earlier"),
    (r"yesterday (morning|afternoon|evening)\b", r"the \1 before"),
    (r"yesterday\b", "the day before"),
    (r"last (night)\b", r"the \1 before"),
    (rf"(?:on )?last {_UNIT}\b", r"the \1 before"),
    (r"(?:just now|a moment ago|earlier today)\b", "just then"),
)
# What was going on: dropping it puts the verb in the past.
_PRESENT = _rules(
    (r"this (morning|afternoon|evening|week|month|year)\b", r"that \1"),
    (r"today\b", "that day"),
    (r"(?:right now|at the moment|now)\b", "then"),
)
# What was still to come: never dropped.
_FUTURE = _rules(
    (r"the day after tomorrow\b", "two days later"),
    (r"tomorrow (morning|afternoon|evening|night)\b", r"the next \1"),
    (r"tomorrow\b", "the next day"),
    (r"tonight\b", "that night"),
    (rf"(?:on )?next {_UNIT}\b", r"the \1 after"),
    (rf"in ({_COUNT} {_SPAN})(?=[.,;!]|$)", r"\1 later"),
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
        return text if keep_past else _apply(_PAST, text, False)
    text = _apply(_PAST, text, keep_past)
    # "I haven't slept in two days" looks back.
    future = _FUTURE[:-1] if _LOOKS_BACK.search(text) else _FUTURE
    later = _apply(future, _apply(_PRESENT, text, False), True)
    return to_past(later) if later != text else text


def _apply(rules: _TimeRules, text: str, keep: bool) -> str:
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


LONGEST_CLAUSE = 18
"""Words of a reported clause; a longer one is cut or quoted."""
LEAST_SENTENCE = 4
"""Words of a sentence that may stand for the whole line."""
LONGEST_QUOTE = 120
"""Characters of a quotation."""
LONGEST_PASSAGE = 260
"""Characters of a quotation of several phrases."""
SHORT = 120
"""Characters of a line that is quoted whole."""
LONGEST_ANSWER = 140
"""Characters of a quotation about the words that answer."""
TELLS = 0.2
"""What it adds to the likeness of a phrase that it tells what is asked for."""
GOES_WITH, LEADS_TO = 0.3, 0.5
"""Shares of the likeness of the best phrase from which the next sentence, and the last one, come too."""
_ENDS_SENTENCE = (".", "!", "?", "…")

_FILLERS = re.compile(
    r"^(?:(?:well|oh|so|ah|um|uh|hey|hi|hello|yes|no|okay|ok|look|listen|guess what|by the way|btw|anyway|"
    r"actually|you know(?: what)?|please|and|but|did you know(?: that)?|honestly|sadly|also)\b[\s,:!.…-]*)+",
    re.I,
)
_KEEP = re.compile(
    r"^(?:please\s+)?(?:(?:always\s+)?remember(?:\s+this)?|don['’]?t forget|never forget|keep in mind)"
    r"(?:\s+that\b)?[\s:,-]*",
    re.I,
)
_TELL_YOU = re.compile(
    r"^i (?:just )?(?:want(?:ed)? to|have to|must|should|need to|wish to)? ?tell you(?: that)? |"
    r"^(?:i think|i guess|i suppose|i must say)(?: that)? (?=i\b|my\b)|"
    r"^i (?:already |once |just )?told you (?:that )?(?=(?:i|my|he|his|she|her|it|we|our|they|their|the)\b)",
    re.I,
)
# What is said for politeness, and is no news afterwards.
_TAIL = re.compile(
    r"(?:[,.!]\s*(?:thanks|thank you|please|ok|okay|bye(?: bye)?|goodbye|good ?night|see (?:you|ya)(?: \w+)?)"
    r"|(?<![\s,.!])[\s,.!]++(?:lol|haha|by the way|btw|anyway|tbh))[\s.!]*$",
    re.I,
)
_CALLS = re.compile(r"\w+,")
_LEAVES = re.compile(
    r"^i (?:have to|have got to|got to|gotta|must|should|need to) (?:go|leave|run|sleep)\b", re.I
)
_POLITE = ("common", "greeting", "farewell", "thanks", "apology", "short", "padding")
_PROPOSES = re.compile(r"\bwe (?:should|could|can|must|need|ought)\b|\blet['’]?s\b", re.I)
_YOU = re.compile(r"\b(?:you|your|yours|yourself|u)\b", re.I)
# Forms that nothing turns: "I tell thee" is quoted.
_ARCHAIC = re.compile(r"\b(?:thee|thou|thy|thine|ye)\b", re.I)
_CUTS = re.compile(r"(?:, | and | but | because | so | which | who | while | when | although )", re.I)
# Whom "you" means in what is done: the one to whom it is done, who tells of it now.
_TOWARD_ME = {"you": "me", "your": "my", "yours": "mine", "yourself": "myself"}
_OWNERS = re.compile(r"\b(?:his|her|their|my|yourself|yours|your|you)\b", re.I)


@dataclass(frozen=True, slots=True)
class ReportedSpeech:
    """A memory as it can be said.

    Attributes:
        clause: a whole clause in lower case without its full stop, "you told me your dog died".
        when: "three days ago", or "" for just now.
        quoted: whether the words are quoted.
        sure: whether they are likely to be what was asked for.
    """

    entry: MemoryEntry
    clause: str
    when: str
    quoted: bool = False
    sure: bool = True

    @property
    def dated(self) -> str:
        """The clause with its age in front, where it has one."""
        return f"{self.when} {self.clause}" if self.when else self.clause


def report(
    entry: MemoryEntry,
    utterance: Utterance,
    wanted: frozenset[str],
    when: bool = False,
    whole: bool = False,
    alike: Sequence[tuple[str, float]] = (),
) -> ReportedSpeech | None:
    """Put an entry into words for the person who is answered, or None where there is nothing to repeat.

    What was read is told with its source, what is known as it is.

    Args:
        wanted: stems; of a long entry the sentence with most of them is taken.
        when: somebody asks for the time, so time words are told from then instead of dropped.
        whole: it came to mind by its meaning. Where no word tells which of several sentences is meant, a
            longer passage is quoted.
        alike: see `Recalled.phrases`. Where another phrase is more like the question, that one is quoted.
    """
    kind = answer_type(utterance.percept.text)
    if entry.kind in NOT_LIVED:
        told = _passage(entry.user_text, wanted, kind, alike)
        read = entry.kind is Kind.READ
        return ReportedSpeech(
            entry, f"I read in “{title_of(entry)}”: “{told}”" if read else told, "", quoted=read
        )
    to_speaker = entry.user_id == utterance.percept.user_id
    who = "you" if to_speaker else shown(entry.user_id, utterance)
    age = max(utterance.percept.timestamp - entry.timestamp, 0.0)
    other, text = called_other(without_names(entry.user_text, utterance.persona), utterance)
    clause = ""
    if entry.kind in SPOKEN:
        spoken = spoken_words(text)
        said = _sentence(spoken, wanted)
        words, told = len(tokens(spoken)), statement(said)
        long = words > LONGEST_CLAUSE
        scrap = len(tokens(said)) < LEAST_SENTENCE <= words and (long or not told)
        nearest = max(alike, key=lambda phrase: phrase[1])[0] if alike and long else said
        elsewhere = nearest not in said and said not in nearest
        if scrap or elsewhere or (whole and long and not (told and wanted & topic_stems(tokens(said)))):
            clause = f"{who} said “{_passage(spoken, wanted, kind, alike)}”"
        else:
            clause = _speech_clause(_SpeechContext(who, other or "me", to_speaker, age, when), said)
    elif entry.kind is Kind.EMOTE:
        clause = _emote_clause(who, self_as_me(entry.user_text, utterance.persona), to_speaker)
    elif written_by(entry):
        clause = f"I know this of {'you' if to_speaker else who}: “{_quoted(text)}”"
    elif entry.kind is Kind.EVENT and text:
        clause = f"I noticed this: “{_quoted(text)}”"
    return ReportedSpeech(entry, clause, ago(age), quoted="“" in clause) if clause else None


def quotation(entry: MemoryEntry, words: str, utterance: Utterance, sure: bool) -> ReportedSpeech:
    """Words of an entry that answer, as far as there is room with what stands about them, and who said them;
    `sure` as in `ReportedSpeech`."""
    to_speaker = entry.user_id == utterance.percept.user_id
    who = "you" if to_speaker else shown(entry.user_id, utterance)
    age = ago(max(utterance.percept.timestamp - entry.timestamp, 0.0))
    text = spoken_words(without_names(entry.user_text, utterance.persona))
    quote = _quoted(_with_neighbours(text, words), LONGEST_ANSWER)
    return ReportedSpeech(entry, f"{who} said “{quote}”", age, quoted=True, sure=sure)


def with_sources(told: ReportedSpeech, utterance: Utterance) -> ReportedSpeech:
    """The same with its sources: "Maren told me …, and had it from Phi, who had it from Bob"."""
    chains = [
        ", who had it from ".join(_source(one, utterance) for one in reversed(chain))
        for chain in hearsay(told.entry)
    ]
    if not chains:
        return told
    return replace(told, clause=f"{told.clause}, and had it from {', and from '.join(chains)}")


def _source(user_id: str, utterance: Utterance) -> str:
    if user_id in utterance.persona.own_ids:
        return "me"
    return "you" if user_id == utterance.percept.user_id else shown(user_id, utterance)


def statement(text: str, to_speaker: bool = True) -> str:
    """A line as a clause turned to its hearer, "you lost your key"; "" for no clean statement."""
    text = _TELL_YOU.sub("", _FILLERS.sub("", text)).strip(" .!…,;:-")
    words, named = tokens(text), begins_with_name(text)
    # Whom "we" means in a proposal only the one who makes it knows.
    if (
        _PROPOSES.search(text)
        or _ARCHAIC.search(text)
        or (named and _CALLS.match(text))
        or text.endswith("?")
        or not is_clause(words, named)
        or len(words) > LONGEST_CLAUSE
        or '"' in text
    ):
        return ""
    turned = turn(text, to_speaker)
    return turned if named else lower_first(turned)


@dataclass(frozen=True, slots=True)
class _SpeechContext:
    """Who said it to whom ("me" or a name), and how it is to be told."""

    who: str
    listener: str
    to_speaker: bool
    age: float
    when: bool


def _speech_clause(by: _SpeechContext, text: str) -> str:
    greets = (tokens(text) or [""])[0] in words_for("greeting")
    text = _TAIL.sub("", _KEEP.sub("", _FILLERS.sub("", text)).strip())
    if _LEAVES.match(text):
        return ""
    # "You" in a line to somebody else is neither of the two who talk about it now.
    turnable = by.listener == "me" or not _YOU.search(text)
    if turnable and (clause := statement(_shortened(text), by.to_speaker)):
        return f"{by.who} told {by.listener} {told_later(clause, by.age, by.when)}"
    if turnable and (wish := _wish(text, by.to_speaker)):
        return f"{by.who} asked {by.listener} to {wish}"
    if _is_polite(text) or (greets and len(tokens(text)) < 3):
        return ""
    quote = _quoted(text)
    verb = f"asked {by.listener}" if text.endswith("?") else "said"
    toward = "" if by.listener == "me" or text.endswith("?") else f" to {by.listener}"
    return f"{by.who} {verb} “{quote}”{toward}" if any(map(str.isalnum, quote)) else ""


def _is_polite(text: str) -> bool:
    """Whether nothing was told at all: "hello again", "thank you"."""
    words = tokens(text)
    polite = all(word == "night" or any(word in words_for(name) for name in _POLITE) for word in words)
    return polite and not is_clause(words) and not text.endswith("?")


def _wish(text: str, to_speaker: bool) -> str:
    """What somebody asked for, "feed your cat"; "" for no request."""
    words = tokens(text)
    asks = 1 < len(words) <= LONGEST_CLAUSE and words[0] in words_for("imperative") and "?" not in text
    return turn(lower_first(text.strip(" .!…")), to_speaker) if asks else ""


def _emote_clause(who: str, text: str, to_speaker: bool) -> str:
    verb, _, rest = text.partition(" ")
    past = _past_of(verb.lower())
    if not past or len(text) > LONGEST_QUOTE or '"' in text:
        return ""
    if past == "was" and who == "you":
        past = "were"
    whose = dict.fromkeys(("his", "her", "their", "my"), "your" if to_speaker else "their") | _TOWARD_ME
    rest = _OWNERS.sub(lambda found: whose[found.group().lower()], rest)
    return f"{who} {past} {rest}".strip(" .!…")


def _past_of(verb: str) -> str:
    """The past of a verb in the third person: "hugs", "carries", "is"."""
    if verb in ("is", "has"):
        return {"is": "was", "has": "had"}[verb]
    return past_of(base) if (base := bare_of(verb)) else ""


def _sentence(text: str, wanted: frozenset[str]) -> str:
    """The sentence that tells something and has most of the wanted stems."""
    sentences: list[str] = [s.strip() for s in phrases(text) if tokens(_FILLERS.sub("", s))]
    return max(sentences, default=text, key=lambda sentence: _sentence_rank(sentence, wanted))


def _passage(
    text: str, wanted: frozenset[str], kind: AnswerType | None, alike: Sequence[tuple[str, float]]
) -> str:
    """The phrase that is most like the question, and as many of those about it as fit and belong to it.

    Args:
        wanted: stems, by which phrases are compared where their likeness is not known.
        kind: of the answer; a phrase that tells it comes first.
        alike: see `Recalled.phrases`.
    """
    known, parts = dict(alike), phrases(text)
    if len(text) <= SHORT or not parts:
        return _quoted(text, LONGEST_PASSAGE)
    shared = [len(topic_stems(tokens(part)) & wanted) for part in parts]
    weights = [
        known.get(part.strip(), 0.1 * words) + TELLS * (kind is not None and kind.told_by(part))
        for part, words in zip(parts, shared, strict=True)
    ]
    first = last = max(range(len(parts)), key=weights.__getitem__)
    most = weights[first]

    def fits(start: int, end: int) -> bool:
        return 0 <= start <= end < len(parts) and len("".join(parts[start : end + 1])) <= LONGEST_PASSAGE

    while True:
        unfinished = not parts[last].rstrip().endswith(_ENDS_SENTENCE)
        if fits(first, last + 1) and (unfinished or weights[last + 1] >= GOES_WITH * most):
            last += 1
        elif fits(first - 1, last) and (goes_on(parts[first]) or weights[first - 1] >= LEADS_TO * most):
            first -= 1
        else:
            return _quoted("".join(parts[first : last + 1]).strip(), LONGEST_PASSAGE)


def _with_neighbours(text: str, words: str) -> str:
    """Some of the words of a text with the phrases about them, as many as fit, first those that follow."""
    bare = words.strip("… ")
    begin = text.find(bare)
    if begin < 0 or len(text) <= LONGEST_ANSWER:
        return words if begin < 0 else text
    ends = list(accumulate(map(len, parts := phrases(text))))
    first = bisect_right(ends, begin)
    last = min(bisect_left(ends, begin + len(bare)), len(parts) - 1)
    while True:
        if last + 1 < len(parts) and len("".join(parts[first : last + 2])) <= LONGEST_ANSWER:
            last += 1
        elif first > 0 and len("".join(parts[first - 1 : last + 1])) <= LONGEST_ANSWER:
            first -= 1
        else:
            chosen = "".join(parts[first : last + 1]).strip()
            return chosen if bare in chosen and len(chosen) <= LONGEST_ANSWER else words


def _sentence_rank(sentence: str, wanted: frozenset[str]) -> tuple[bool, int, bool, bool, bool]:
    words = tokens(_FILLERS.sub("", sentence))
    leans = words[:1] == ["that's"] or goes_on(" ".join(words))
    shared = len(topic_stems(words) & wanted)
    return not only_asks(sentence), shared, bool(statement(sentence)), not leans, len(words) > 3


def _shortened(text: str) -> str:
    if len(tokens(text)) <= LONGEST_CLAUSE:
        return text
    for cut in _CUTS.finditer(text):
        if 5 <= len(tokens(text[: cut.start()])) <= LONGEST_CLAUSE:
            return text[: cut.start()]
    return text


def _quoted(text: str, longest: int = LONGEST_QUOTE) -> str:
    return shorten(text.replace("“", "").replace("”", "").replace('"', "").rstrip(" .,;:"), longest)
