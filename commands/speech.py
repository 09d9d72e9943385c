"""When a bare line is speech: in a room, whatever is no command and does not look like one.

A typing error must never say aloud what was meant for one person or for nobody. So a doubtful line is refused
with a hint, and `say` in front of it has it said.

1. A line that begins with a command, an alias or an unambiguous beginning of it is that command, and the name
   of an exit alone walks there. This is not so for everyday words that only begin a command's name ("no",
   "so", "we"), and for `who` with words behind it.
2. These are never said: a line that begins with a sign other than ' ( or …, one with = or a --flag in it, a
   first word that is nearly a command, a login, `more` alone, and "tell phi", "why phi" and the like, which
   are commands elsewhere or with an @. A misspelt login or "tell phi" is not said either.
3. Everything else is said to the room, and addressed to whoever it names: "servnak, hello".
"""

from __future__ import annotations

import difflib
import re
import string
import unicodedata
from collections.abc import Container
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from noodlings.worlds.rooms import World

_EVERYDAY = (
    "no nor so we do he not done don easy eat ease ears quite quiet quiz went wet looks looked lock loop "
    "hell held helped helps heal heap exist exists edit shout dawn logic lingo "
    "creature creative connected connection"
)
EVERYDAY = frozenset(_EVERYDAY.split())
"""Words with which talk begins, although they begin a command's name or are nearly one."""

_NEARLY = ["whisper", "look", "help", "quit", "exit", "emote", "north", "south", "east", "west", "down"]
"""Commands whose misspelling is not said; of the others, saying it does no harm."""
_LOGIN = ["connect", "create", "login"]
_NO_NAME = frozenset(["a", "an", "and", "as", "at", "in", "is", "of", "on", "the", "to", "was", "with"])
"""Words that never are the name behind a login."""
_TO_ONE = ["tell", "page", "msg", "message", "reply", "t", "p", "dm", "pm", "w", "wh"]
"""What a whisper is called in other worlds, if somebody's name follows."""
_ALONE = frozenset(["inventory", "inv", "score", "equipment"])
_NOT_HERE = frozenset(["examine", "wield", "ooc"])
"""Commands of other worlds that do not exist here. `_ALONE` are commands only if nothing follows, …"""
_HANDLING = frozenset(["get", "take", "drop", "give", "put", "wear", "open", "push", "pull"])
"""… and these only if somebody or something that can be handled is named after them."""
_SIGNS = frozenset(string.punctuation) - frozenset("'(")
_FLAG = re.compile(r"(?<!\S)--[a-zA-Z]")
_MARKS = string.punctuation + "“”„‘’‚«»‹›"


def may_be_talk(line: str) -> bool:
    """Whether a clean, non-empty line is not written like a command, whatever its words are."""
    line = unicodedata.normalize("NFKC", line)
    signed = line[0] in _SIGNS and not line.startswith("..")
    return not (signed or "=" in line or _FLAG.search(line))


def why_withheld(line: str, commands: Container[str], world: World) -> str | None:
    """Why a clean, non-empty line that is no command is not said: a sentence, or "" if the reason is plain.

    None if it is said. What is meant for somebody is withheld wherever in the `world` they are.

    Args:
        commands: the names of all commands.
    """
    first, _, rest = unicodedata.normalize("NFKC", line).partition(" ")
    word = first.lower()
    plain = word.strip(_MARKS)
    behind = rest.lower().split()
    login = _is_nearly(plain, _LOGIN, 0.8 if len(behind) == 2 else 0.9)  # with a name and a password, or more
    cut = len(behind) == 2 and len(plain) > 1 and any(one.startswith(plain) for one in _LOGIN)
    talk = plain in EVERYDAY or word.endswith(",") or not _NO_NAME.isdisjoint(behind[:1])
    if plain in _LOGIN or ((login or cut) and not talk):
        return "You are already in the world, and a password should not be heard."
    to = rest.partition(" ")[0].partition("=")[0].casefold().strip(_MARKS)
    whispered = plain in _TO_ONE or _is_nearly(plain, [one for one in _TO_ONE if len(one) > 2], 0.75)
    if whispered and _names_one(to, world):
        return f"To tell {to} alone, type: whisper {to} = TEXT."
    if not may_be_talk(line):
        return ""
    nearly = _NEARLY if word.isalpha() else ["whisper"]  # "look, I …" is talk, "whisper: …" may be none
    if any(word[0] == near[0] for near in difflib.get_close_matches(word, nearly, cutoff=0.75)):
        return None if word in EVERYDAY else ""
    if word == "more" and not rest:
        return "To see the next page of a list, repeat its command with the --page that it names."
    if word == "q":
        return "To leave, type quit."
    handled = word in _HANDLING and _is_handled(rest, world)
    if word in _NOT_HERE or handled or (word in _ALONE and not rest):
        return f"There is no command {word} here; to do something, pose it: emote ACTION."
    if f"@{word}" in commands and _names_one(to, world):
        return f"Did you mean @{word} {to}?"
    return None


def _is_nearly(word: str, known: list[str], cutoff: float) -> bool:
    """Whether a word is like one of these with the same first letter, or has the letters of one."""
    near = difflib.get_close_matches(word, known, cutoff=cutoff)
    return any(word[0] == one[0] for one in near) or sorted(word) in map(sorted, known)


def _is_handled(rest: str, world: World) -> bool:
    """Whether these few words begin with somebody's name or end with a thing: "phi fish", "a ledger"."""
    words = [word.strip(string.punctuation) for word in rest.casefold().split()]
    if not 1 <= len(words) <= 4:
        return False
    things = {
        word
        for room in world.places.rooms.values()
        for thing in room.things
        for word in (thing.name, *thing.also)
    }
    return _names_one(words[0], world) or words[-1] in {word.casefold() for word in things}


def _names_one(word: str, world: World) -> bool:
    parts = (part for being, _ in world.who() for name in being.names for part in name.split())
    return len(word) > 2 and any(part.startswith(word) for part in parts)
