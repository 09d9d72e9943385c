"""What a line is about, as a noun phrase that can be said back to whoever said it.

"my dog would have liked this" is about "your dog", "I bought a red kite" about "the red kite". Found without
a grammar of English: from a determiner over adjectives to the first word that can be a noun. Where that is
not clear there is no topic; a reply without one is better than one that is wrong.
"""

from __future__ import annotations

import re

from noodlings.voice.lexicon import words_for

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
