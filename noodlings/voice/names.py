"""Names in talk: how somebody is called, and a line without the name of whoever it was said to."""

from __future__ import annotations

import re
from functools import lru_cache

from noodlings.ports import Utterance
from noodlings.values.persona import Persona

# After these a name at the end is not a call but a part of what is said: "good kitty", "I see the robot".
_BELONGING = frozenset(
    {"good", "bad", "sweet", "clever", "stupid", "silly", "naughty", "little", "poor", "old", "dear"}
    | {
        "the",
        "a",
        "an",
        "my",
        "your",
        "this",
        "that",
        "of",
        "with",
        "to",
        "and",
        "is",
        "are",
        "about",
        "like",
    }
)
_PREFIX = re.compile(r"^(?:user|agent|player|npc)_", re.I)


def shown(user_id: str, utterance: Utterance) -> str:
    """The name of somebody who is mentioned: as the world shows it, else made from the id."""
    if user_id == utterance.percept.user_id and utterance.speaker:
        return proper(utterance.speaker)
    return proper(utterance.names.get(user_id) or plain_name(user_id))


def plain_name(user_id: str) -> str:
    """ "agent_fred_rogers" is "Fred Rogers"."""
    words = re.split(r"[_\s]+", _PREFIX.sub("", user_id.strip()))
    return " ".join(word[:1].upper() + word[1:] for word in words if word) or "somebody"


def proper(name: str) -> str:
    """A name that was typed in lower case, with its capital."""
    return name[:1].upper() + name[1:] if name.islower() else name


def without_names(text: str, persona: Persona) -> str:
    """The line without the name it was addressed to, at its beginning or its end."""
    at_start, at_end = _vocatives(persona.name, persona.aliases)
    bare = at_start.sub("", text, count=1)
    called = at_end.search(bare)
    if called and _last_word(bare[: called.start()]) not in _BELONGING:
        bare = bare[: called.start()] + called.group(1)
    bare = bare.strip()
    return bare if any(map(str.isalnum, bare)) else text


def called_other(text: str, utterance: Utterance) -> tuple[str, str]:
    """Whose name a line begins with ("Maren, look"), and the rest of it; else "" and the line."""
    name, comma, rest = text.partition(",")
    shown_names = {shown_name.casefold(): shown_name for shown_name in utterance.names.values()}
    other = shown_names.get(name.strip().casefold(), "") if comma else ""
    return (proper(other), rest.strip()) if other and rest.strip() else ("", text)


def _last_word(text: str) -> str:
    return (text.split() or [""])[-1].lower()


def self_as_me(text: str, persona: Persona) -> str:
    """What was done to the one who tells it: "hugs Phi" as "hugs me"."""
    return re.sub(rf"\b(?:{_alternatives(persona.name, persona.aliases)})\b", "me", text, flags=re.I)


def _alternatives(name: str, aliases: tuple[str, ...]) -> str:
    return "|".join(re.escape(n) for n in sorted({name, *aliases}, key=lambda n: (-len(n), n)))


@lru_cache(maxsize=256)
def _vocatives(name: str, aliases: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    names = _alternatives(name, aliases)
    # "Phi, look" and "hey Phi look", but not "Phi is small", which is said about Phi.
    start = rf"^(?:@?(?:{names})\s*[,:;!.…—-]+\s*|(?P<hey>hey|oh|dear)\s+@?(?:{names})\b[,:;!.…—-]*\s*)"
    return re.compile(start, re.I), re.compile(rf",?\s+@?(?:{names})\s*([.!?…]*)\s*$", re.I)
