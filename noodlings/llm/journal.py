"""The journal of a day, worded by a language model.

Every sentence cites the lines that it rests on. One that they do not bear is refused alone, and the others of
the answer stay: it cites nothing, or what it was not shown; it has a name, a number or a quotation that they
have not; it says less than a third in their words; it denies what they all say, or says what they all deny;
or it is no plain sentence. A line that shares no word with it is not among what it cites.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from noodlings.errors import LLMError
from noodlings.llm.call import ModelCall, Task, answer_format, strict_object
from noodlings.llm.facts import denies, folded_words, heard_in, names_in, numbered, objects_in
from noodlings.llm.gateway import Gateway
from noodlings.llm.guard import without_fragments
from noodlings.llm.prompting import journal_prompt
from noodlings.ports import Allowance, ToldDay
from noodlings.stemming import STOP_WORDS, stem
from noodlings.text import clean
from noodlings.values.page import Statement
from noodlings.voice.words import listed, words_for

LONGEST_SENTENCE = 300
"""Characters of a sentence."""
BORNE = 1 / 3
"""The part of what a sentence says that is at least in the words of what it cites."""
_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r"\"([^\"]*)\"|“([^”]*)”|«([^»]*)»|(?<!\w)['‘]([^'’]+(?:['’]\w[^'’]*)*)['’](?!\w)")
_OPENERS = ("openers", "determiners", "adjectives", "adverbs", "family")
"""Lists of words that begin a sentence in capitals and are no names."""
_VAGUE = frozenset({"one", "both", "few", "several", "none", "couple", "half"})
_TOLD_OR_FELT = """
    tell told say said hear heard talk talked speak spoke speaking mention mentioned ask asked word think
    thought know knew happen happened today day feel felt feeling heart mood mind mine sad sorrow sorrowful
    sorry grief grieve grieving happy glad joy joyful content pleased proud warm afraid fear scared anxious
    worry worried angry anger annoyed calm quiet bored lonely miss missed moved touched ache aches hope hoped
    hurt care wish like love
    """
"""Words for who told it, and for what the character felt about it: they are its own."""


class LLMJournalWriter:
    """The port `JournalWriter` over a model. An answer of which no sentence holds is no failure."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def write(self, told: ToldDay, allowance: Allowance) -> tuple[Statement, ...]:
        """See `JournalWriter.write`."""
        number = {"type": "integer", "enum": list(range(1, len(told.lines) + 1))}
        one = {"lines": {"type": "array", "items": number}, "sentence": {"type": "string"}}
        format = answer_format("journal", {"sentences": {"type": "array", "items": strict_object(one)}})
        call = ModelCall(Task.JOURNAL, journal_prompt(told), temperature=0.7, format=format)
        return sentences_in(await self._gateway.ask(call, lambda answer: answer.text, allowance), told)


def sentences_in(text: str, told: ToldDay) -> tuple[Statement, ...]:
    """The sentences of an answer that what they cite bears, as many as there are lines at most.

    Of an answer that was cut off, what is complete counts.
    """
    found = dict[str, Statement]()
    for one in objects_in(text):
        words, lines = one.get("sentence"), _cited(one.get("lines"), told.lines)
        if isinstance(words, str):
            counted = _stems(words) - _stems(" ".join(told.tellers))
            counted = counted - _stems(_TOLD_OR_FELT) or counted
            cited = [line for line in lines if not counted.isdisjoint(_stems(line.text))]
            if cited and _is_borne(words, counted, [line.text for line in cited], told.name):
                evidence = {number for line in cited for number in line.evidence}
                found.setdefault(words, Statement(words, tuple(sorted(evidence))))
    return tuple(found.values())[: len(told.lines)]


def _cited(numbers: Any, lines: Sequence[Statement]) -> list[Statement]:
    """The lines with these numbers; none if one of them is none of theirs."""
    cited = [numbered(one, lines) for one in numbers] if isinstance(numbers, list) else []
    return [] if None in cited else [line for line in cited if line is not None]


def _is_borne(words: str, counted: set[str], texts: Sequence[str], name: str) -> bool:
    """Whether lines bear a sentence.

    Args:
        counted: the stems of what it says. Who told it, that somebody did, and what the character felt about
            it do not count, unless there is nothing else.
    """
    whole = " ".join(texts)
    return (
        _is_plain(words)
        and _named(words) <= heard_in([name, whole])
        and _is_quoted(words, texts)
        and set(map(denies, texts)) != {not denies(words)}
        and len(counted & _stems(whole)) >= BORNE * len(counted)
    )


def _is_plain(words: str) -> bool:
    """Whether it is one printable line that a character might write, in ordinary letters, not too long."""
    if words != clean(words) or len(words) > LONGEST_SENTENCE or words.endswith("?"):
        return False
    if next(filter(str.isalpha, words), "").islower():
        return False  # where nothing is in capitals, a name cannot be told
    try:
        return without_fragments(words) == words
    except LLMError:
        return False


def _named(words: str) -> set[str]:
    """All names and numbers in a sentence, in small letters."""
    first = words.split(maxsplit=1)[0]
    rest = words.removeprefix(first) if listed(first.casefold().strip(",;:…"), *_OPENERS) else words
    return names_in(rest) | {*_WORD.findall(words.casefold())} & (words_for("numbers") - _VAGUE)


def _is_quoted(words: str, texts: Sequence[str]) -> bool:
    """Whether all that is quoted stands in one of the texts word for word, and every quotation is closed."""
    quoted = [folded_words("".join(found)) for found in _QUOTED.findall(words)]
    said = [f" {folded_words(text)} " for text in texts]
    closed = not set(_QUOTED.sub("", words)) & {*'"“”«»'}
    return closed and all(any(f" {one} " in text for text in said) for one in quoted)


def _stems(text: str) -> set[str]:
    return {stem(word) for word in _WORD.findall(text.casefold()) if word not in STOP_WORDS}
