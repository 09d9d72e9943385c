"""Whether words make a statement, and what a line is about, as a noun phrase that can be said back.

"my knee hurts" is a statement, "a bed" and "the book I read" are not. "my dog would have liked this" is about
"your dog", "I bought a red kite" about "the red kite".

This is no grammar: it only knows where a finite verb can stand, and walks from a determiner over adjectives
to the first possible noun. Where that is not clear there is no statement and no topic.
"""

from __future__ import annotations

import re
from itertools import takewhile

from noodlings.voice.words import bases, is_past, listed, third_of, tokens, words_for

_CONTRACTED = ("'m", "'re", "'ve", "'ll", "'d", "n't")


def is_clause(words: list[str], named: bool = False) -> bool:
    """Whether words (in lower case) are a statement that can follow "you told me".

    Args:
        named: the first word was written as a name, with a capital.
    """
    leading = len([*takewhile(words_for("before_subject").__contains__, words)])  # a thousand times "not"
    words, named = words[leading:], named and not leading
    first = (words or [""])[0]
    if len(words) < 2 or listed(first, "asks_or_leans"):
        return False
    if listed(first, "determiners"):  # "this" and "one" may stand before a noun or for one
        stands_for_noun = listed(first, "subjects") and not listed(words[1], "adjectives")
        return (stands_for_noun and _verb_follows(words)) or _says_of_noun(words)
    if listed(first.split("'")[0], "subjects"):
        return first.endswith((*_CONTRACTED, "'s")) or _verb_follows(words)
    if listed(first, "openers"):
        return any(map(_is_finite, words[1:]))
    return named and not listed(first, "verbs") and _verb_follows(words)


def begins_with_name(text: str) -> bool:
    """Whether the first word has a capital for another reason than beginning a sentence."""
    first = (tokens(text) or [""])[0]
    capital = next((letter for letter in text if letter.isalpha()), "").isupper()
    lists = ("openers", "common", "verbs", "adjectives", "imperative", "adverbs")
    known = listed(first.removesuffix("'s"), *lists)
    return capital and not (known or first.endswith("ing") or is_past(first) or third_of(first))


def _verb_follows(words: list[str]) -> bool:
    """Whether the word after the first is a verb, adverbs aside."""
    word = next((word for word in words[1:] if not listed(word, "adverbs")), "")
    return _is_finite(word) or word in bases() or bool(third_of(word))


def _is_finite(word: str) -> bool:
    return listed(word, "finite") or word.endswith("n't") or is_past(word)


def _says_of_noun(words: list[str]) -> bool:
    """Whether a finite verb follows the noun after the determiner at the beginning."""
    inner = 0  # verbs that belong to what is only said of the noun: "the book I read"
    for place in range(1, len(words)):
        word, before = words[place], words[place - 1]
        described = listed(before, "adjectives") and place == 2
        if place > 1 and listed(word.split("'")[0], "relative") and not word.endswith("'s"):
            inner += 1
        elif place == 1 or described or listed(before, "determiners"):
            if listed(word, "finite") and not listed(before, "determiners"):
                return inner == 0
        elif _is_verb(words, place):
            if not inner:
                return True
            inner -= 1
    return False


def _is_verb(words: list[str], place: int) -> bool:
    word, before, after = words[place], words[place - 1], "".join(words[place + 1 : place + 2])
    if listed(word, "finite") or word.endswith("n't"):
        return True
    said_of_noun = listed(word, "said_of_noun") and (word in ("called", "named") or listed(after, "links"))
    if said_of_noun or listed(before, "links"):
        return False
    relative = listed(before.split("'")[0], "relative")
    plural = listed(before, "plural") or (before.endswith("s") and not before.endswith(("ss", "'s")))
    bare, third = word in bases(), bool(third_of(word))
    return is_past(word) or (bare and (plural or relative)) or (third and not plural)


_PHRASE_PIECES = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|[^\w\s]|\d+")
_OWN = {"my": "your", "our": "your", "his": "his", "her": "her", "their": "their"}
_PLAIN = frozenset({"a", "an", "the", "this", "that", "these", "those", "some"})


def find_topic(text: str) -> str:
    """The first noun phrase worth coming back to, turned to the speaker; "" where there is none.

    What is the speaker's own ("my sister") goes before other things ("the weather").
    """
    pieces = _PHRASE_PIECES.findall(text)
    words = [piece.replace("’", "'").lower() for piece in pieces]
    plain = ""
    for at, word in enumerate(words):
        if word in _OWN or word in _PLAIN:
            phrase = _phrase(pieces, words, at + 1)
            if phrase and word in ("my", "our"):
                return f"your {phrase}"
            if phrase and not plain:
                plain = f"{_OWN.get(word, 'the')} {phrase}"
    return plain


def _phrase(pieces: list[str], words: list[str], at: int) -> str:
    """Adjectives and a noun from place `at` on, or ""."""
    start = at
    while at < len(words) and listed(words[at], "adjectives"):
        at += 1
    # An -ing word is a noun only where nothing else can be one: "the meeting", not "the kettle boiling".
    if at >= len(words) or at - start > 2 or not (_can_be_noun(words[at]) and not words[at].endswith("ly")):
        return ""
    end = at + 1
    if words[at].endswith("'s"):  # "my sister's wedding"
        if end >= len(words) or not _can_be_noun(words[end]):
            return ""
        end += 1
    elif end < len(words) and _follows_noun(words[end]) and _closes(words, end + 1):
        end += 1  # "my train ticket", when nothing follows that could make a verb of it
    return " ".join(pieces[start:end])


def _can_be_noun(word: str) -> bool:
    lists = ("no_topic", "common", "verbs", "adverbs")
    return len(word) > 2 and word[0].isalpha() and not listed(word.removesuffix("'s"), *lists)


def _follows_noun(word: str) -> bool:
    """Whether it can be the second half of a compound."""
    described = listed(word, "adjectives") or word.endswith(("ed", "s", "ing", "ly"))
    return _can_be_noun(word) and not described


def _closes(words: list[str], at: int) -> bool:
    return at >= len(words) or not words[at][0].isalpha() or listed(words[at], "common")
