"""The word lists of the offline voice, and how a line is cut into words.

The lists live in `lexicon.yaml`; a plus sign there joins the words of a phrase.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources
from typing import Any

import snowballstemmer
import yaml

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_GESTURE = re.compile(r"\*[^*]+\*")
_I = re.compile(r"\bi\b")
SHOUT = 3
"""Words in capitals from which on it is the manner of whoever speaks; fewer may be a name, or a cry."""
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_stemmer = snowballstemmer.stemmer("english")

# Chat spelling that would otherwise hide the person who speaks.
_CHAT = {
    "im": "i'm",
    "ive": "i've",
    "dont": "don't",
    "didnt": "didn't",
    "cant": "can't",
    "isnt": "isn't",
    "wasnt": "wasn't",
    "youre": "you're",
    "u": "you",
    "ur": "your",
    "whats": "what's",
    "wat": "what",
    "r": "are",
    "teh": "the",
    "iz": "is",
    "ded": "dead",
    "pls": "please",
    "plz": "please",
}


def load_yaml(name: str) -> Any:
    """A data file of this package."""
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    return yaml.load(text, Loader=_Loader)  # noqa: S506 -- a safe loader, in C where there is one


@lru_cache(maxsize=1)
def _lists() -> dict[str, frozenset[str]]:
    return {name: frozenset(str(words).split()) for name, words in load_yaml("lexicon.yaml").items()}


def words_for(name: str) -> frozenset[str]:
    """One list, by its name in the file."""
    return _lists()[name]


@lru_cache(maxsize=64)
def phrases_for(name: str) -> tuple[str, ...]:
    """One list of phrases, each with spaces around, to be found in `spaced`; empty where there is none."""
    return tuple(f" {phrase.replace('+', ' ')} " for phrase in sorted(_lists().get(name, ())))


def tokens(text: str) -> list[str]:
    """The words of a line in lower case, straight apostrophes, chat spelling undone."""
    return list(_tokens(text))


@lru_cache(maxsize=4096)
def _tokens(text: str) -> tuple[str, ...]:
    """The same; one line is taken apart again and again while it is in mind."""
    found = (word.replace("’", "'").lower() for word in _WORD.findall(text))
    return tuple(_CHAT.get(word, word) for word in found)


def spoken_words(text: str) -> str:
    """What is said of a line: without the gestures in asterisks, and not shouted as a whole.

    A line that is nothing but a gesture stays as it is.
    """
    said = _GESTURE.sub(" ", text)
    said = " ".join((said if any(map(str.isalnum, said)) else text).split())
    return said if any(map(str.islower, said)) or len(said.split()) < SHOUT else _I.sub("I", said.lower())


def spaced(words: list[str]) -> str:
    """Words with single spaces between and around, so that phrases can be found by `in`."""
    return f" {' '.join(words)} "


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """The stem of an English word in lower case: "dogs" and "dog's" are "dog", "lost" is "lose"."""
    word = word.removesuffix("'s")
    return str(_stemmer.stemWord(_bases().get(word, word)))


@lru_cache(maxsize=1)
def _bases() -> dict[str, str]:
    """Base by irregular past, where that is no other word as well."""
    pairs = (pair.split() for pair in phrases_for("irregular"))
    return {past: base for base, past in pairs if past not in words_for("other_word_as_well")}


def topic_stems(words: list[str]) -> frozenset[str]:
    """Stems of the words that carry a topic."""
    common = words_for("common")
    return frozenset(stem(word) for word in words if word not in common and len(word) > 1)
