"""Facts about people in what was said: who they are, where they live, what they like, fear, plan and promise.

A line is split into clauses. For each the subject is found ("I", "my sister Ruth", "she" if only one woman
was mentioned, or somebody who is known by name), and by the patterns of `facts.yaml` what it tells about
them. There is no grammar of English behind it: what is said plainly is found, what has to be inferred is not.
What is imagined, played, quoted, asked or denied tells nothing, and if the subject is not clear, the clause
is left out: a card with a gap is better than one with something wrong.

A line of which no pattern knows anything about a person may itself be a fact about them, of kind `TOLD`: it
says nothing but what it says. Where a model read the line (`MemoryEntry.tells`), it must be sure that the
line tells something about the speaker, or about the only other person whom a clause of it is about; and what
a pattern found about the speaker is left out if the model doubts it. Elsewhere the line must be worth
keeping, and about the speaker or somebody known.

A fact keeps the words it was told in, and refers to the memory that is its evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from itertools import islice
from typing import Any

from noodlings.recall.cues import CLAUSES
from noodlings.text import shorten
from noodlings.validation import yaml_of
from noodlings.values.fact import ABOUT, FACT_KIND, SPEAKER, FactKind, Tells
from noodlings.values.memory import MemoryEntry, given, written_by
from noodlings.values.percept import SPOKEN, Kind

LONGEST = 160
"""Characters of a fact; a longer sentence is cut."""
LONGEST_CLAUSE = 200
"""Characters of a clause that is read; what is said plainly is shorter."""
LONGEST_NAME = 40
MOST = 12
"""Facts of one line, and people in one clause."""
FRAGMENT = 5
"""Words of a fragment that is about the speaker: "asthma, since I was six"."""

SURE, DOUBTED = 0.7, 0.2
"""How likely a line tells something, where a model is sure of it, and where it doubts what a pattern sees."""
MATTERS, MATTERS_ANYHOW = 0.4, 0.6
"""Least significance of a line that is kept as it was told, and of one that begins with somebody unknown."""


@dataclass(frozen=True, slots=True)
class Relative:
    """Somebody who is known by whose they are.

    Attributes:
        key: by which facts are about them: "user_marta's older sister", or with a name "user_marta's Ruth".
        relation: "user_marta's older sister", with or without a name.
        name: as it was told, "" where it was not.
    """

    key: str
    relation: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that was told about somebody.

    Attributes:
        of: whom it is about: the id of a user or an agent, or the key of a `Relative`.
        words: the sentence it was told in, one line of at most `LONGEST` characters.
        entry_id: the memory that is the evidence.
        told_by: the id of who told it.
        timestamp: when it was told, world time in seconds.
        relative: of kind `KIN`, who it is; None of every other kind.
        worth: of kind `TOLD`, how likely it tells something where a model read it, else how far its words are
            worth keeping, 0…1; 0 of every other kind.
    """

    of: str
    kind: FactKind
    words: str
    entry_id: int
    told_by: str
    timestamp: float
    relative: Relative | None = None
    worth: float = 0.0


_ASIDE = re.compile(r"\*[^*]*\*|\([^()]*\)|\[[^\][]*\]|[\"“][^\"“”]*[\"”]|(?<!\w)['‘][^'‘’]*[,.!?]['’]")
"""Gestures, remarks and quotations, which are ignored."""
_SENTENCE = re.compile(r"(?:[^.!?…;]|\.(?=\S))+[.!?…;]*")
_WORD = re.compile(r"[\w'/&-]+")
_MAY = re.compile(r"\b(?:in|of|by|on the \d{1,2}\w*|\d{1,2}(?:st|nd|rd|th)?) May\b")
_I = re.compile(r"(?:i|we)(?P<rest>(?:'m|'re|'ve|'ll|'d)?\s.*)")
_PRONOUN = re.compile(r"(?P<who>he|she)(?P<rest>(?:'s|'ve|'ll|'d)?\s.*)")
_CONTRACTED = (
    ("'m ", "am "), ("'re ", "are "), ("'ve ", "have "), ("'ll ", "will "), ("'d ", "had "), ("'s ", "is ")
)  # fmt: skip
_OWN = re.compile(r"\b(?:i|my|me|mine|we|our|us|myself)\b")
_REMARK = re.compile(
    r"\b(?:i|we)(?:'ve| have|'m| am)? (?:mean|regret|suppose|guess|think|believe|understand|hear|heard|fear"
    r"|reckon|bet|see|know|knew|hope|swear|say|said|told|wonder|serious|sure|admire)\b"
)
"""The speaker in a line about somebody else."""
_SOMEBODY = re.compile(
    r"(?:he|she|they|his|her|their|he's|she's|they're|him|them|the|a|an|this|that|these|those|some|there|old|poor"
    r"|new|young|every\w*|no|nobody|people|all|any\w*|some\w+|my|our)\b"
)
"""How a clause begins whose subject nobody knows."""
_CALLED_OUT = re.compile(
    r"(?:i|i'm|i've|i'll|i'd|we|we're|we've|my|our|a|an|the|you|your|please|what|do|did|can)\b"
)
"""What follows a name that only calls somebody: "Bob my sister is here"."""
_DENIES = re.compile(
    r"(?:\w+n't|(?:am|is|are|was|were|do|does|did|have|has|had|will|can) not|never|not|no longer|hardly)\b"
    r"|(?:have|has|had|got|have got|has got|with) (?:no|never)\b"
)
_NOT_MINE = re.compile(r"\b(?:not|isn't|aren't|wasn't|no|never had) (?:even )?(?:my|our)\b")
_IS_VERB = re.compile(r"(?:'s|,? (?:is|was|has|will|can|can't|isn't|won't|lives|works))\b")


@dataclass(frozen=True, slots=True)
class _Lexicon:
    """`facts.yaml`, ready for use.

    Attributes:
        chat: chat spelling → usual spelling.
        imagined: a sentence with this tells nothing; unreal: the same for a clause.
        opener: words before the subject that only tell when.
        elided: the beginning of a clause without a subject.
        relative: "my older sister", with groups `whose`, `described` and `kin`.
        family: kin who are family or pets; the others are friends and neighbours.
        everybody: kin whom everybody has, so that they tell something only with a name.
        no_name: words after "my sister" that are not a name.
        genders: kin → "he" or "she".
    """

    chat: Mapping[str, str]
    imagined: re.Pattern[str]
    unreal: re.Pattern[str]
    rules: Mapping[FactKind, re.Pattern[str]]
    opener: re.Pattern[str]
    elided: re.Pattern[str]
    relative: re.Pattern[str]
    family: frozenset[str]
    everybody: frozenset[str]
    no_name: frozenset[str]
    genders: Mapping[str, str]


@cache
def _lexicon() -> _Lexicon:
    data: dict[str, Any] = yaml_of(resources.files(__package__) / "facts.yaml")
    words = {name: listed.split() for name, listed in data["lists"].items()}
    lists = {
        name: "|".join(re.escape(word.replace("+", " ")) for word in sorted(listed, key=len)[::-1])
        for name, listed in words.items()
    }
    lists["soon"] = _filled(" ".join(data["soon"].split()), lists)

    def either(patterns: Iterable[str]) -> re.Pattern[str]:
        return re.compile("|".join(_filled(one, lists) for one in patterns))

    return _Lexicon(
        chat=data["chat"],
        imagined=either(data["imagined"]),
        unreal=either(data["unreal"]),
        rules={FactKind(kind): either(patterns) for kind, patterns in data["rules"].items()},
        opener=re.compile(rf"(?:(?:{lists['openers']}|{_filled(data['before'], lists)})\b[\s,:!.…-]*)+"),
        elided=re.compile(rf"(?:{lists['elided']})\b"),
        relative=re.compile(
            rf"\b(?P<whose>my|our) (?P<described>(?:(?:{lists['described']})[ -]){{0,3}})"
            rf"(?P<kin>{lists['kin']}|{lists['pets']}|{lists['others']})\b"
        ),
        family=frozenset(words["kin"] + words["pets"]) - {"ex"},
        everybody=frozenset(words["everybody"]),
        no_name=frozenset(words["no_name"]),
        genders={kin: who for who in ("he", "she") for kin in words[who]},
    )


def _filled(pattern: str, lists: Mapping[str, str]) -> str:
    return re.sub(r"\{([a-z_]+)\}", lambda found: f"(?:{lists[found[1]]})", pattern)


def facts(entry: MemoryEntry, names: Mapping[str, str], before: Sequence[MemoryEntry] = ()) -> list[Fact]:
    """What a memory tells about people, each thing once; nothing unless it was said, understood or written.

    Args:
        names: how people are called, in lower case → by what facts are about them.
        before: what the same speaker said just before, oldest first.
    """
    if by := written_by(entry):
        words = shorten(entry.user_text, LONGEST)
        return [Fact(entry.user_id, FactKind.KNOWN, words, entry.id, by, entry.timestamp)]
    reading = _Reading(entry, names)
    if entry.kind is Kind.FACT:
        return list(reading.understood())
    if entry.kind not in SPOKEN or not entry.user_text:  # which is withheld where it is sealed
        return []
    for earlier in before:
        reading.mention(folded(earlier.user_text), earlier.user_text)
    found = list(dict.fromkeys(reading.facts()))
    if entry.tells is None:
        return found[:MOST] or list(reading.told())
    return list(reading.as_read(found, entry.tells))[:MOST]


def sentences(text: str) -> Iterator[tuple[int, int, str]]:
    """Each sentence without gestures, remarks and quotations, and where it begins and ends in the text."""
    for part in _SENTENCE.finditer(_ASIDE.sub(lambda found: " " * len(found[0]), text)):
        if sentence := " ".join(part[0].split()):
            begins = part.start() + len(part[0]) - len(part[0].lstrip())
            yield begins, part.start() + len(part[0].rstrip()), sentence


def is_imagined(sentence: str, clause: str) -> bool:
    """Whether a clause of a sentence, or the whole of it, tells of what is imagined, played or quoted."""
    lexicon = _lexicon()
    imagined = lexicon.imagined.search(folded(sentence)) is not None
    return imagined or lexicon.unreal.search(folded(clause)) is not None


class _Reading:
    """One line as it is read, clause by clause.

    Attributes:
        asserts: whether a sentence of it is neither imagined, asked nor played.
        mentioned: who was, other than the speaker → "he", "she" or "" for not known.
        telling: the clauses that say that something is so, each with whom it is about, "" for nobody known.
    """

    def __init__(self, entry: MemoryEntry, names: Mapping[str, str]) -> None:
        self.entry, self.names, self.lexicon = entry, names, _lexicon()
        self.asserts = False
        self.mentioned: dict[str, str] = {}
        self.telling: list[tuple[str, str]] = []

    def facts(self) -> Iterator[Fact]:
        text = self.entry.user_text
        read = _ASIDE.sub(lambda found: " " * len(found[0]), text)
        for part in _SENTENCE.finditer(read):
            words = shorten(" ".join(text[part.start() : part.end()].split()), LONGEST)
            sentence = " ".join(part[0].split())
            plain = folded(sentence)
            imagined = self.lexicon.imagined.search(plain) is not None
            asked = sentence.endswith("?")
            if not imagined and not _NOT_MINE.search(plain):
                # "Would my brother Amir like that?" tells of a brother; "does my brother like that?" may be a
                # riddle.
                relatives = self._relatives(plain, sentence, words)
                yield from (fact for fact in relatives if not asked or (fact.relative and fact.relative.name))
            if imagined or asked:
                self.mention(plain, sentence)
                continue
            subject = self.entry.user_id
            # Of "'I am a widow,' the play begins" only what somebody plays is about anybody.
            self.asserts |= bool(sentence) and (read == text or _OWN.search(plain) is not None)
            for clause in CLAUSES.split(plain):
                if len(clause) <= LONGEST_CLAUSE:
                    of, told = self._told(clause, subject, sentence)
                    yield from (self._fact(of, kind, words) for kind in told)
                    subject = of
                self.mention(clause, sentence)

    def understood(self) -> Iterator[Fact]:
        """The fact that a model understood, where its data says about whom it is and of what kind."""
        about, kind = given(self.entry, ABOUT), given(self.entry, FACT_KIND)
        if not isinstance(about, str) or not isinstance(kind, str) or kind not in set(FactKind):
            return
        words = shorten(self.entry.user_text, LONGEST)
        plain = folded(about)
        known = self.entry.user_id if about == SPEAKER else self.names.get(plain)
        found = self.lexicon.relative.match(plain) or self.lexicon.relative.match(f"my {plain}")
        if known is not None:
            yield self._fact(known, FactKind(kind), words)
        elif found is not None:
            relative, end = self._relative(found, found.string, about)
            if self._owns(found.string[end:]):
                return
            of_speaker = kind == FactKind.KIN
            of = self.entry.user_id if of_speaker else relative.key
            yield self._fact(of, FactKind(kind), words, relative if of_speaker else None)
        elif _FULL_NAME.fullmatch(about) and len(about) <= LONGEST_NAME:
            yield self._fact(f"{self.entry.user_id}'s {about}", FactKind(kind), words)

    def told(self) -> Iterator[Fact]:
        """After `facts` found none: the line itself, if it is worth keeping and about somebody known."""
        user, worth = self.entry.user_id, self.entry.parts.significance
        about = [of or (user if _OWN.search(_REMARK.sub("", clause)) else "") for of, clause in self.telling]
        known = next(filter(None, about), "")
        if not known:
            return
        first, clause = self.telling[0]
        named = first and not self.lexicon.relative.match(clause)
        of = first if named else user if user in about else known
        least = MATTERS_ANYHOW if not first and _SOMEBODY.match(clause) else MATTERS
        if worth >= least:
            yield self._line(of, worth)

    def as_read(self, found: Sequence[Fact], tells: Tells) -> Iterator[Fact]:
        """What `facts` found, as far as a model does not doubt it, and the line itself about whomever else it
        is sure to tell of."""
        user, doubted = self.entry.user_id, tells.of_speaker < DOUBTED
        kept = [one for one in found if not doubted or one.of != user or one.kind is FactKind.KIN]
        yield from kept
        if not self.asserts:
            return
        known = {fact.of for fact in kept}
        if tells.of_speaker >= SURE and user not in known:
            yield self._line(user, tells.of_speaker)
        unknown = any(not of and _SOMEBODY.match(clause) for of, clause in self.telling)
        others = {of for of, _ in self.telling} - {user, ""}
        if tells.of_other >= SURE and len(others) == 1 and not unknown:
            yield from (self._line(other, tells.of_other) for other in others - known)

    def mention(self, plain: str, original: str) -> None:
        """Note who is named."""
        for found in islice(self.lexicon.relative.finditer(plain), MOST):
            relative, _ = self._relative(found, plain, original)
            self.mentioned[relative.key] = self.lexicon.genders.get(found["kin"], "")
        for word in _WORD.findall(plain):
            if known := self.names.get(word.removesuffix("'s")):
                self.mentioned.setdefault(known, "")

    def _told(self, clause: str, before: str, original: str) -> tuple[str, list[FactKind]]:
        """Whom a clause is about, "" for nobody who is known, and what it tells of them."""
        opener = self.lexicon.opener.match(clause)
        bare = clause[opener.end() :] if opener else clause
        of, told = self._subject(bare, before, original)
        if self.lexicon.unreal.search(bare):
            return of, []
        remark = of == self.entry.user_id and _REMARK.match(bare)
        self.telling.append(("" if remark else of, bare))
        if not of:
            return of, []
        if opener:
            told = f"{told} {opener[0]}"  # "tomorrow" may stand before the subject
        kinds = [kind for kind, pattern in self.lexicon.rules.items() if pattern.search(told)]
        if _DENIES.match(told):
            kinds = [kind for kind in kinds if kind in _DENIED]
        if self.lexicon.relative.search(told) or _SOMEBODY_ELSES.search(told):
            kinds = [kind for kind in kinds if kind not in _PERSONAL]
        return of, _chosen(kinds)

    def _subject(self, bare: str, before: str, original: str) -> tuple[str, str]:
        """Whom a clause is about, "" for nobody who is known, and what it says of them."""
        if found := _I.match(bare):
            return self.entry.user_id, _predicate(found["rest"])
        if found := self.lexicon.relative.match(bare):
            relative, end = self._relative(found, bare, original)
            return ("", "") if self._owns(bare[end:]) else (relative.key, _predicate(bare[end:]))
        if found := _PRONOUN.match(bare):
            fitting = [key for key, gender in self.mentioned.items() if gender in ("", found["who"])]
            return (fitting[0], _predicate(found["rest"])) if len(fitting) == 1 else ("", "")
        words = bare.split(" ", 2)
        for count in (2, 1):
            name, rest = " ".join(words[:count]), " ".join(words[count:])
            for called in (name, name.removesuffix("'s")):
                if rest and called in self.names and _CALLED_OUT.match(rest):
                    return self._subject(rest, before, original)
                if rest and called in self.names and not self._owns(f"{name[len(called) :]} {rest}"):
                    return self.names[called], _predicate(f"{name[len(called) :]} {rest}".lstrip())
        if words[0] in ("my", "our") and any(rule.match(bare) for rule in self.lexicon.rules.values()):
            return self.entry.user_id, bare  # "my shift", "my knee": what is said is about that
        if len(bare.split()) <= FRAGMENT and self.lexicon.rules[FactKind.HEALTH].match(bare):
            return self.entry.user_id, bare
        return (before, bare) if self.lexicon.elided.match(bare) else ("", "")

    def _owns(self, rest: str) -> bool:
        """Whether what follows makes it somebody else: "my sister" of "my sister's husband"."""
        after = rest.removeprefix("'s ")
        return after != rest and self.lexicon.relative.match(f"my {after}") is not None

    def _relatives(self, plain: str, original: str, words: str) -> Iterator[Fact]:
        """That somebody has a sister, and how she is called."""
        for found in islice(self.lexicon.relative.finditer(plain), MOST):
            relative, end = self._relative(found, plain, original)
            telling = found["kin"] not in self.lexicon.everybody or relative.name
            if found["kin"] in self.lexicon.family and telling and not self._owns(plain[end:]):
                yield self._fact(self.entry.user_id, FactKind.KIN, words, relative)

    def _relative(self, found: re.Match[str], plain: str, original: str) -> tuple[Relative, int]:
        """Who is meant, and where that ends in the clause."""
        owner = self.entry.user_id
        relation = f"{owner}'s {found['described'].replace('-', ' ')}{found['kin']}"
        called = _CALLED.match(plain, found.end())
        name = self._as_written(called[1], plain[called.end() :], original) if called else ""
        if called is None or not name:
            return Relative(relation, relation), found.end()
        return Relative(f"{owner}'s {name}", relation, name), called.end()

    def _as_written(self, word: str, rest: str, original: str) -> str:
        """A name as it was written, "" where a word is none; one that is typed small needs a verb behind."""
        if not 1 < len(word) <= LONGEST_NAME:
            return ""
        written = re.search(rf"\b{re.escape(word)}\b", original, re.I)
        if written is not None and written[0][0].isupper() and not written[0].isupper():
            return written[0]
        small = not any(map(str.isupper, original[1:])) and _IS_VERB.match(rest) is not None
        no_name = word in self.lexicon.no_name or word.endswith(("ing", "ed", "ly", "s"))
        return word.capitalize() if small and not no_name else ""

    def _line(self, of: str, worth: float) -> Fact:
        return replace(self._fact(of, FactKind.TOLD, shorten(self.entry.user_text, LONGEST)), worth=worth)

    def _fact(self, of: str, kind: FactKind, words: str, relative: Relative | None = None) -> Fact:
        entry = self.entry
        return Fact(of, kind, words, entry.id, entry.user_id, entry.timestamp, relative)


_FULL_NAME = re.compile(r"(?!(?:The|A|An|My|Our|His|Her|Their|Your) )[A-Z][^\W\d_]+(?: [A-Z][^\W\d_]+){0,2}")
_CALLED = re.compile(r"(?:,? (?:is )?(?:called|named))?,? ([^\W\d_][^\W\d_-]*)")
_DENIED = frozenset({FactKind.DISLIKES, FactKind.BETWEEN, FactKind.SKILL, FactKind.BELIEF})
"""What is told of somebody by a denial, too: "we are not speaking", "he can't swim"."""
_SOMEBODY_ELSES = re.compile(r"\b(?:his|her|their|your)\b")
_PERSONAL = frozenset({FactKind.HEALTH, FactKind.AGE, FactKind.TRADE, FactKind.FEAR, FactKind.NAME})
"""What is not told of the subject of a clause in which somebody else stands: "I heard my sister is ill"."""
_NOT_BESIDE = {
    FactKind.DISLIKES: {FactKind.LIKES, FactKind.BELIEF},
    FactKind.PROMISE: {FactKind.PLAN},
    FactKind.HEALTH: {FactKind.HAS, FactKind.TRADE, FactKind.EVENT},
    FactKind.FEAR: {FactKind.DISLIKES, FactKind.SKILL, FactKind.LIKES},
    FactKind.PLAN: {FactKind.HOME},
    FactKind.BETWEEN: {FactKind.EVENT},
}
"""Of one clause → what it is not as well: who is afraid of dogs does not dislike them beside that."""


def _chosen(kinds: Sequence[FactKind]) -> list[FactKind]:
    out = {other for kind in kinds for other in _NOT_BESIDE.get(kind, ())}
    return [kind for kind in kinds if kind not in out]


def folded(text: str) -> str:
    """In small letters, with straight apostrophes and without chat spelling; May, the month, is "in_may"."""
    chat = _lexicon().chat
    folded = _MAY.sub("in_may", text.replace("’", "'")).casefold().strip(" .!?…;,")
    return _WORD.sub(lambda found: chat.get(found[0], found[0]), folded)


def _predicate(rest: str) -> str:
    """What is said of a subject, with its verb written out."""
    told = rest.lstrip(" ,")
    for short, long in _CONTRACTED:
        if told.startswith(short):
            return long + told[len(short) :]
    return told
