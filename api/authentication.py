"""Who asks, and what they may: tokens by role become callers.

    admin    everything
    world    acts for whoever it names (`Noodlings-User`, or `user_id` in a body), with that user's rights
    viewer   reads everything, changes nothing
    player   reads and changes what it shared with an agent itself; what that is decides `noodlings.inspect`

Whoever a world or a player's token names is a user of that world: never somebody who comes in by a password
of their own, or sits at the machine, unless an admin said that the two are one (`noodlings account join`).

Without any token configured every caller is admin: then the server listens on this machine alone. A web page
in a browser on this machine is not let in by that, see `api.gate`.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from http import HTTPStatus

from api.problem import RefusedRequest
from noodlings.agent.society import Society
from noodlings.config import ApiToken
from noodlings.errors import Forbidden, UserError
from noodlings.text import clean, folded, shorten
from noodlings.values.caller import Caller, Role, is_reserved_id, shown_name, user_id_of

USER_HEADER = "Noodlings-User"
MAX_ID = 80
"""Characters of a user's id."""

_HASHED = "sha256:"


@dataclass(frozen=True, slots=True)
class AccessToken:
    """What a token lets one do.

    Attributes:
        role: see above.
        user_id: of a player; else "".
        key: by which it is counted and found in the audit log: the beginning of the token's hash.
        taken: whether a user's id is somebody else's, who came by another door.
        character: whether a user's id is a character's: in the rooms of another server it speaks to others.
    """

    role: Role
    user_id: str = ""
    key: str = "loopback"
    taken: Callable[[str], bool] = field(default=is_reserved_id, compare=False, repr=False)
    character: Callable[[str], bool] = field(default=lambda user_id: False, compare=False, repr=False)

    def reader(self, user: str = "") -> Caller:
        """Whoever reads, on behalf of `user` where one is named.

        Raises:
            Forbidden: it may not read on behalf of others, or not of this one.
        """
        if self.role is Role.PLAYER:
            return self._player(user)
        if not user:
            return Caller(f"api_{self.role}", self.role.value, self.role)
        named = self._named(user)
        if self.role is Role.WORLD and self.character(named):
            raise Forbidden(
                f"{named} is a character: a world may speak as it, but not read or change memories"
            )
        role = Role.PLAYER if self.role is Role.WORLD else self.role
        return Caller(named, shown_name(named, {}), role)

    def actor(self, user: str, name: str = "") -> Caller:
        """Whoever acts as `user`: a world with the rights of that user.

        Raises:
            Forbidden: it may change nothing, or act as nobody but itself.
        """
        if self.role is Role.VIEWER:
            raise Forbidden("a viewer token can only read; use a token with another role to change anything")
        if self.role is Role.PLAYER:
            return self._player(user)
        if not user:
            if self.role is Role.ADMIN:
                return self.reader()
            raise UserError(f"say who this world token acts for: send {USER_HEADER} or user_id")
        named = self._named(user)
        role = Role.PLAYER if self.role is Role.WORLD else self.role
        return Caller(named, clean(name) or shown_name(named, {}), role)

    def require(self, *roles: Role, to: str) -> None:
        """Raise `Forbidden` unless it has one of the roles; `to` finishes "… may not"."""
        if self.role not in roles:
            raise Forbidden(f"a {self.role} token may not {to}; ask an admin for a token with another role")

    def _player(self, user: str) -> Caller:
        if user and user != self.user_id:
            raise Forbidden(f"a player token speaks and reads for {self.user_id} only; leave user_id out")
        return Caller(self._its_own(self.user_id), shown_name(self.user_id, {}), Role.PLAYER)

    def _named(self, user: str) -> str:
        named = _user_id(user)
        return self._its_own(named) if self.role is Role.WORLD else named

    def _its_own(self, user_id: str) -> str:
        if user_id in _NAMELESS or self.taken(user_id):
            raise Forbidden(f"{user_id} signs in another way; an admin can use noodlings account join")
        return user_id


_NAMELESS = frozenset(f"api_{role}" for role in Role)
"""Whoever acts with a token and names nobody."""

OWNER = AccessToken(Role.ADMIN)
"""Whoever asks on this machine, where no tokens are configured."""


class Authenticator:
    """Knows the tokens, as hashes.

    Args:
        tokens: see `noodlings.config.ApiToken`; without any, everybody is the owner.
        taken: whether a user's id is an account's, see `Society.has_account`.
        character: whether it is a character's.
        player: the id of whoever plays at the machine: a token may be given to them, and no world names them.
        account_of: the user whose account has a name, see `Society.account_of`.
    """

    def __init__(
        self,
        tokens: Sequence[ApiToken],
        taken: Callable[[str], bool] = is_reserved_id,
        player: str = "",
        character: Callable[[str], bool] = lambda user_id: False,
        account_of: Callable[[str], str] = lambda name: "",
    ) -> None:
        self._account_of = account_of
        self._token_names = {
            (folded(word), token.user)
            for token in tokens
            if token.user
            for word in (token.user, shown_name(token.user, {}))
        }

        def for_world(user_id: str) -> bool:
            return user_id == player or taken(user_id)

        self._passes = [
            (
                digest,
                AccessToken(
                    role, token.user, digest[:12], for_world if role is Role.WORLD else taken, character
                ),
            )
            for token in tokens
            for role in [Role(token.role)]
            for digest in [_digest(token.token.get_secret_value())]
        ]

    @classmethod
    def of(cls, society: Society) -> Authenticator:
        """Who may ask a society."""
        settings = society.settings
        player = user_id_of(settings.world.player)
        return cls(
            settings.api.tokens,
            society.has_account,
            player,
            society.personas.__contains__,
            society.account_of,
        )

    @property
    def open(self) -> bool:
        """Whether there are no tokens, so that everybody is the owner."""
        return not self._passes

    def require_own_name(self, caller: Caller) -> None:
        """Raise `Forbidden` where a user's name or id is what the owner of an account or a token is called.

        Others would take the one for the other, whether or not the owner is there.
        """
        for word in (caller.name, caller.user_id):
            called = folded(word)
            owners = {user for name, user in self._token_names if name == called}
            owners |= {self._account_of(called)} - {""}
            if owners and caller.user_id not in owners:
                raise Forbidden(
                    f"{shorten(clean(word), 30)} is somebody else's name here; choose another, or ask an "
                    "admin to join the two"
                )

    def admit(self, authorization: str | None) -> AccessToken:
        """The rights of an `Authorization: Bearer …` header.

        Every token is compared, in constant time, so that time tells nothing of how near a guess came.

        Raises:
            Refused: 401, there is no token or a wrong one.
        """
        if self.open:
            return OWNER
        scheme, _, secret = (authorization or "").partition(" ")
        given = sha256(secret.strip().encode("utf-8", "replace")).hexdigest()
        found = [held for digest, held in self._passes if hmac.compare_digest(digest, given)]
        if scheme.lower() != "bearer" or not found:
            raise RefusedRequest(
                HTTPStatus.UNAUTHORIZED,
                "A valid token is needed: send the header Authorization: Bearer TOKEN.",
                {"WWW-Authenticate": 'Bearer realm="noodlings"'},
            )
        return found[0]


def _digest(secret: str) -> str:
    """A configured token as its hash, which it may be already."""
    if secret.startswith(_HASHED):
        return secret.removeprefix(_HASHED)
    return sha256(secret.encode("utf-8", "replace")).hexdigest()


def _user_id(user: str) -> str:
    named = clean(user)
    if not named or len(named) > MAX_ID or named != user:
        raise UserError(f"a user id must be one printable line of 1 to {MAX_ID} characters")
    return named
