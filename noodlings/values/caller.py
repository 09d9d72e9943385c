"""Who asks: identity and rights of whoever types a command or calls an endpoint."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from enum import StrEnum

from noodlings.errors import Forbidden

_PREFIX = "user_"
"""What the id of a player begins with, as a world, a token or the settings name it."""
_ACCOUNT = "account:"
"""What the id of an account begins with: nobody has one but whoever knows the account's password."""


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


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks.

    Attributes:
        user_id: as in percepts and memory entries ("user_caity").
        name: as shown ("caity").
        role: what it may do.
    """

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


def shown_name(user_id: str, names: dict[str, str]) -> str:
    """How a user is called: the known name, else the id without its prefix ("user_caity" is "caity")."""
    return names.get(user_id) or user_id.removeprefix(_ACCOUNT).removeprefix(_PREFIX) or user_id


def user_id_of(name: str) -> str:
    """The id of whoever is called so: "Caity May" is "user_caity_may"; what is an id already stays one."""
    plain = name.casefold().replace(" ", "_")
    return plain if plain.startswith((_PREFIX, _ACCOUNT)) else f"{_PREFIX}{plain}"


def account_id_of(name: str) -> str:
    """The id of a new account of this name, which is none that a world or a token may say."""
    return f"{_ACCOUNT}{name}"


def is_account_id(user_id: str) -> bool:
    """Whether an id is an account's, or could be taken for one."""
    return unicodedata.normalize("NFKC", user_id).casefold().startswith(_ACCOUNT)
