"""Whether words make a statement, and what a line is about, as a noun phrase that can be said back.

"my knee hurts" is a statement, "a bed" and "the book I read" are not. "my dog would have liked this" is about
"your dog", "I bought a red kite" about "the red kite".

There is no grammar of English behind either, only where a finite verb can stand, and a walk from a determiner
over adjectives to the first word that can be a noun. What is not clearly a statement is none, and where the
topic is not clear there is none: a reply without a topic is better than one with the wrong topic.
"""

from __future__ import annotations

import re

from noodlings.voice.words import bases, is_past, third_of, tokens, words_for

_CONTRACTED = ("'m", "'re", "'ve", "'ll", "'d", "n't")


def is_clause(words: list[str], named: bool = False) -> bool:
    """Whether words (in lower case) read as a statement that "you told me …" can stand before.

    Args:
        named: the first word was written as a name, with its capital.
    """
    if len(words) < 2 or words[0] in words_for("asks_or_leans"):
        return False
    if _begins_with_pronoun(words[0]):
        return _contracted(words[0]) or _verb_follows(words, 1)
    if words[0] in words_for("determiners"):
        return _says_of_noun(words, 1)
    if words[0] in words_for("before_subject"):
        return is_clause(words[1:], named=False)
    if words[0] in words_for("openers"):
        return any(map(_clearly_finite, words[1:]))
    return named and words[0] not in words_for("verbs") and _verb_follows(words, 1)


def begins_with_name(text: str) -> bool:
    """Whether the first word has a capital that is not only that of a sentence's beginning."""
    first = (tokens(text) or [""])[0]
    lists = ("openers", "common", "verbs", "adjectives", "imperative", "adverbs")
    at = next((at for at, letter in enumerate(text) if letter.isalpha()), 0)
    known = any(first.removesuffix("'s") in words_for(name) for name in lists)
    verb = is_past(first) or first.endswith("ing") or third_of(first)
    return text[at : at + 1].isupper() and not known and not verb


def _begins_with_pronoun(word: str) -> bool:
    # "this" and "one" may as well stand before a noun; what follows tells.
    return word.split("'")[0] in words_for("subjects") and word not in words_for("determiners")


def _contracted(word: str) -> bool:
    return word.endswith(_CONTRACTED) or (word.endswith("'s") and word != "let's")


def _verb_follows(words: list[str], at: int) -> bool:
    while at < len(words) and (
        words[at] in words_for("adverbs") or words[at] in ("all", "both", "not", "too")
    ):
        at += 1
    return at < len(words) and (
        _clearly_finite(words[at]) or words[at] in bases() or bool(third_of(words[at]))
    )


def _clearly_finite(word: str) -> bool:
    return word in words_for("finite") or word.endswith("n't") or is_past(word)


def _says_of_noun(words: list[str], at: int) -> bool:
    """Whether a finite verb says something of the noun that stands from place `at` on."""
    if (
        words[0] in words_for("subjects")
        and _verb_follows(words, 1)
        and words[1] not in words_for("adjectives")
    ):
        return True  # "this is it", "those were the days"
    inner = 0  # verbs that belong to what is only said of the noun: "the book I read"
    for place in range(at, len(words)):
        word, before = words[place], words[place - 1]
        if word in words_for("relative") and place > at:
            inner += 1
        elif (
            place == at
            or before in words_for("determiners")
            or (before in words_for("adjectives") and place == at + 1)
        ):
            if word in words_for("finite") and before not in words_for("determiners"):
                return inner == 0
        elif _is_verb(words, place):
            if not inner:
                return True
            inner -= 1
        elif _contracted(word) and not word.endswith("'s"):
            inner -= 1 if word.split("'")[0] in words_for("relative") else 0
    return False


def _is_verb(words: list[str], place: int) -> bool:
    word, before = words[place], words[place - 1]
    after = words[place + 1] if place + 1 < len(words) else ""
    if word in words_for("finite") or word.endswith("n't"):
        return True
    if before in words_for("links") or (
        word in words_for("said_of_noun") and (word in ("called", "named") or after in words_for("links"))
    ):
        return False
    if before in words_for("relative"):
        return is_past(word) or word in bases() or bool(third_of(word))
    plural = before in words_for("plural") or (before.endswith("s") and not before.endswith(("ss", "'s")))
    return is_past(word) or (bool(third_of(word)) and not plural) or (word in bases() and plural)


_PHRASE_PIECES = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|[^\w\s]|\d+")
_OWN = {"my": "your", "our": "your", "his": "his", "her": "her", "their": "their"}
_PLAIN = frozenset({"a", "an", "the", "this", "that", "these", "those", "some"})


def find_topic(text: str) -> str:
    """The first noun phrase worth coming back to, turned toward the speaker; "" where there is none.

    What is somebody's own ("my sister") goes before what is not ("the weather").
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
    while at < len(words) and words[at] in words_for("adjectives"):
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
    return (
        len(word) > 2
        and word[0].isalpha()
        and not any(word.removesuffix("'s") in words_for(name) for name in lists)
    )


def _follows_noun(word: str) -> bool:
    """Whether it can be the second half of a compound, rather than a verb or what the first half is."""
    listed = word in words_for("adjectives")
    return _can_be_noun(word) and not listed and not word.endswith(("ed", "s", "ing", "ly"))


def _closes(words: list[str], at: int) -> bool:
    return at >= len(words) or not words[at][0].isalpha() or words[at] in words_for("common")
