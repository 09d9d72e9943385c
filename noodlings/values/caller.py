"""Who asks: identity and rights of whoever types a command or calls an endpoint."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from noodlings.errors import Forbidden
from noodlings.text import cached_by_text

USER_PREFIX = "user_"
"""Prefix of the id of a player, as a world, a token or the settings name it."""
API_PREFIX = "api_"
"""Prefix of the id of whoever acts by a token for nobody else, such as a world."""
NO_CHARACTERS = (USER_PREFIX, API_PREFIX)
"""How ids begin that no character may have: an audience is a set of ids, so each would learn what the other
does."""
_AGENT = "agent_"
"""Prefix of the id of a character in old worlds."""
_ACCOUNT = "account:"
"""Prefix of the id of an account, which only its password gives."""
_PAST = "past:"
"""Prefix of the id of somebody who is only known from a source, such as a log: see `past_id_of`."""
_WORD = re.compile(r"[^\W_]+")
_DRAWN = re.compile(r"(.)\1+")


class Role(StrEnum):
    """What a caller may do."""

    ADMIN = "admin"
    """Everything: whoever owns the data folder."""
    WORLD = "world"
    """A game server: sends percepts and events, reads replies."""
    VIEWER = "viewer"
    """Reads everything, changes nothing."""
    PLAYER = "player"
    """Sees and changes only what it shared with an agent."""


def as_character_id(one: str) -> str:
    """An id as it is compared with those of characters: "agent_Phi" stands for "phi"."""
    return one.casefold().removeprefix(_AGENT)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: a `user_id` such as "user_caity", a shown `name` such as "caity", and a role."""

    user_id: str
    name: str
    role: Role = Role.PLAYER

    @property
    def sees_all(self) -> bool:
        """Whether every memory of every agent may be read."""
        return self.role in (Role.ADMIN, Role.VIEWER)

    @property
    def only_user(self) -> str | None:
        """The one user whose shared history may be read, or None when there is no such limit."""
        return None if self.sees_all else self.user_id

    def require_admin(self, what: str) -> None:
        """Raise `Forbidden` unless this is an admin; `what` finishes the sentence "only an admin may …"."""
        if self.role is not Role.ADMIN:
            raise Forbidden(f"only an admin may {what}")


class Names(dict[str, str]):
    """User id → shown name of everybody who is known. There may be thousands, so they are indexed by word."""

    def __init__(self, names: Mapping[str, str] = MappingProxyType({})) -> None:
        super().__init__()
        self._by_word: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for user_id, name in names.items():
            self[user_id] = name

    def __setitem__(self, user_id: str, name: str) -> None:
        for word in _words(self.get(user_id, "")):
            self._by_word[word].pop(user_id, None)
        super().__setitem__(user_id, name)
        if words := _words(name):  # by the rarest word: "17" of "Guard 17", if there are many guards
            self._by_word[min(sorted(words), key=lambda word: len(self._by_word[word]))][user_id] = None

    def __delitem__(self, user_id: str) -> None:
        for word in _words(self[user_id]):
            self._by_word[word].pop(user_id, None)
        super().__delitem__(user_id)

    def among(self, user_ids: Iterable[str], texts: Iterable[str]) -> dict[str, str]:
        """The names of these users, and of all who may be meant by a word in one of the texts."""
        words = frozenset[str]().union(*map(_words, texts))
        meant = {user_id for word in words for user_id in self._by_word.get(word, ())}
        return {user_id: self[user_id] for user_id in sorted(meant.union(user_ids)) if user_id in self}


@cached_by_text(maxsize=256)
def _words(text: str) -> frozenset[str]:
    """The words of a text, folded to find names: "Mareeen's" holds "maren"."""
    return frozenset(_DRAWN.sub(r"\1", word) for word in _WORD.findall(text.casefold()))


def display_name(user_id: str, names: Mapping[str, str]) -> str:
    """The known name of a user, else the id without its prefix ("user_caity" is "caity")."""
    plain = user_id.removeprefix(_ACCOUNT).removeprefix(_PAST).removeprefix(USER_PREFIX)
    return names.get(user_id) or plain or user_id


def user_id_of(name: str) -> str:
    """The id for a name: "Caity May" is "user_caity_may"; an id stays as it is."""
    plain = name.casefold().replace(" ", "_")
    return plain if plain.startswith((USER_PREFIX, _ACCOUNT, _PAST)) else f"{USER_PREFIX}{plain}"


def account_id_of(name: str) -> str:
    """The id of a new account of this name, which no world or token may use."""
    return f"{_ACCOUNT}{name}"


def is_account_id(user_id: str) -> bool:
    """Whether an id is an account's, or could be mistaken for one."""
    return unicodedata.normalize("NFKC", user_id).casefold().startswith(_ACCOUNT)


def past_id_of(name: str) -> str:
    """The id for a name in a source. A name proves nothing, so it is not the id of anybody who can log in."""
    return f"{_PAST}{unicodedata.normalize('NFKC', name).casefold().replace(' ', '_')}"


def is_past_id(user_id: str) -> bool:
    """Whether an id is one of the past, see `past_id_of`."""
    return user_id.startswith(_PAST)


def is_reserved_id(user_id: str) -> bool:
    """Whether no world or token may use an id: an account's, or one of the past."""
    folded = unicodedata.normalize("NFKC", user_id).casefold()
    return folded.startswith((_ACCOUNT, _PAST))
