"""The texts of a character card, turned into the texts of a recipe.

They are written for a prompt: `{{char}}` and `{{user}}` stand for the two who talk. Actions stand in
asterisks or, as in a novel, outside of quotation marks. No text is refused here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from noodlings.agent.recipe_form import LONGEST_IDENTITY
from noodlings.text import clean, shorten
from noodlings.values.acting import ACT

LONGEST_DESCRIPTION = 400
LONGEST_GREETING = 300
LONGEST_ACT = 150
LONGEST_EXAMPLE = 300
MOST_EXAMPLES = 24
MOST_PHRASES = 16
"""Gestures, and mannerisms, taken from example lines."""

_COMMENT = re.compile(r"\{\{\s*//.*?\}\}", re.DOTALL)
_CHARACTER = re.compile(r"\{\{\s*char\s*\}\}|<(?:char|bot)>", re.IGNORECASE)
_USER = re.compile(r"\{\{\s*user\s*\}\}|<user>", re.IGNORECASE)
_OF_USER = re.compile(rf"(?:{_USER.pattern})['’]s\b", re.IGNORECASE)
_MACRO = re.compile(r"\{\{[^{}]*\}\}")
_BLOCK = re.compile(r"<START>", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“]([^\"“”]*)[\"”]")
_SENTENCE = re.compile(r"[^.!?…]+[.!?…]*[\"”)]*\s*")
_THIRD_PERSON = re.compile(r"(?!(?:his|its|this|always|perhaps|as|is|was|yes)\b)[a-z]+s\b")
_USER_MARK = "\ue000"
"""Stands for the user while a text becomes a phrase."""


def filled(text: str, called: str, user: str = "you", of_user: str = "your") -> str:
    """One line with names in place of the macros for them, and without other macros."""
    text = _CHARACTER.sub(lambda found: called, _COMMENT.sub(" ", text))
    text = _USER.sub(lambda found: user, _OF_USER.sub(lambda found: of_user, text))
    return clean(_MACRO.sub(" ", text))


def identity(texts: Mapping[str, str], called: str) -> str:
    """The identity for a model: description, personality and scenario, at most `LONGEST_IDENTITY` characters.

    It has no angle brackets, so that no text can look like a tag of a prompt.
    """
    parts = [f"You are {called}."]
    for label, key in (("", "description"), ("Personality: ", "personality"), ("Scenario: ", "scenario")):
        if told := filled(texts[key], called, "the visitor", "the visitor's"):
            parts.append(
                f"{label}{told}" if told.endswith((".", "!", "?", '"', "”", "*")) else f"{label}{told}."
            )
    return shorten(clean(" ".join(parts).replace("<", " ").replace(">", " ")), LONGEST_IDENTITY)


def look(description: str, called: str) -> str:
    """The first sentences of a description, "" where there is none."""
    told = filled(description, called)
    return _sentences(told, LONGEST_DESCRIPTION) or shorten(told, LONGEST_DESCRIPTION)


def greeting(first_message: str, called: str) -> str:
    """The greeting as a phrase of a recipe: an action first, then what is said; "" for nothing."""
    room, parts, acted = LONGEST_GREETING, list[str](), False
    for is_act, text in _segments(filled(first_message, called, _USER_MARK, f"{_USER_MARK}'s")):
        if is_act:
            act = "" if acted else _sentences(text, LONGEST_ACT) or shorten(text, LONGEST_ACT)
            acted, taken = True, f"*{act.rstrip('.')}*" if act else ""
        else:
            taken = _sentences(text, room) or ("" if parts else shorten(text, room))
        if taken:
            parts.append(taken)
            room -= len(taken)
        if not is_act and taken != text:
            break
    return phrase(" ".join(parts))


def examples(text: str, name: str, called: str) -> Iterator[str]:
    """The lines of the character in its example talks, each as one line."""
    names = "|".join(re.escape(one) for one in dict.fromkeys((name, called)))
    mine = rf"\{{\{{\s*char\s*\}}\}}|<(?:char|bot)>|{names}"
    others = rf"{_USER.pattern}|you"
    speaker = re.compile(rf"^[ \t]*(?:({mine})|{others})[ \t]*:", re.IGNORECASE | re.MULTILINE)
    for block in _BLOCK.split(text):
        turns = list(speaker.finditer(block))
        if not turns:
            yield from filter(None, [filled(block, called)])
        ends = [*(turn.start() for turn in turns[1:]), len(block)]
        for turn, end in zip(turns, ends, strict=bool(turns)):
            if turn[1] and (line := filled(block[turn.end() : end], called)):
                yield line


def gestures(texts: Iterable[str], called: str) -> list[str]:
    """Short actions in example lines, as gestures of a recipe: third person, without the name."""
    found = []
    for is_act, text in (part for line in texts for part in _segments(line)):
        act = text.removeprefix(f"{called} ").rstrip(".!… ")
        act = act[:1].lower() + act[1:]
        if is_act and len(act) <= 60 and _THIRD_PERSON.match(act):
            found.append(phrase(act))
    return list(dict.fromkeys(found))[:MOST_PHRASES]


def mannerisms(lines: Iterable[str]) -> list[str]:
    """Short sentences of example lines, other than questions, as mannerisms of a recipe."""
    found = []
    for is_act, text in (part for line in lines for part in _segments(line)):
        if not is_act:
            found += [sentence for sentence in map(clean, _SENTENCE.findall(text)) if _stands_alone(sentence)]
    return list(dict.fromkeys(map(phrase, found)))[:MOST_PHRASES]


def _stands_alone(sentence: str) -> bool:
    return 3 <= len(sentence.split()) <= 14 and sentence.endswith((".", "!"))


def phrase(text: str) -> str:
    """A text as a phrase with the same words: the marks of phrases are replaced."""
    text = text.replace("|", "/").replace("{", "(").replace("}", ")")
    depth = 0
    for mark in re.findall(r"[()]", text):
        depth += 1 if mark == "(" else -1
        if depth < 0:
            break
    if depth:
        text = text.replace("(", "").replace(")", "")
    return clean(text).replace(_USER_MARK, "{name}")


def _segments(line: str) -> Iterator[tuple[bool, str]]:
    """What is done (True) and said (False) in order, without asterisks and quotation marks."""
    if "*" not in line and _QUOTED.search(line):  # as in a novel: what is not in quotation marks is told
        line = "".join(
            piece if at % 2 else (f"*{piece.strip()}*" if any(map(str.isalnum, piece)) else " ")
            for at, piece in enumerate(_QUOTED.split(line))
        )
    for at, piece in enumerate(ACT.split(line)):
        text = clean(piece if at % 2 else _QUOTED.sub(r"\1", piece).replace("*", ""))
        if any(map(str.isalnum, text)):
            yield bool(at % 2), text


def _sentences(text: str, room: int) -> str:
    """As many whole sentences of a text as fit; "" where the first is too long."""
    taken = ""
    for sentence in _SENTENCE.findall(text):
        if len(taken) + len(sentence.rstrip()) > room:
            break
        taken += sentence
    return taken.strip()
