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
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path

from api.problem import RefusedRequest
from noodlings.agent.society import Society
from noodlings.config import ApiToken, ApiTokens
from noodlings.errors import Forbidden, UserError
from noodlings.text import clean, folded, shorten
from noodlings.validation import read_table
from noodlings.values.caller import Caller, Role, is_reserved_id, shown_name, user_id_of

USER_HEADER = "Noodlings-User"
MAX_ID = 80
"""Characters of a user's id."""

_HASHED = "sha256:"

log = logging.getLogger(__name__)


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


@dataclass(frozen=True, slots=True)
class _Pass:
    """A token by its hash, what it lets one do, and when it ends (seconds since 1970-01-01 UTC)."""

    digest: str
    access: AccessToken
    expires: float | None


class Authenticator:
    """Knows the tokens, as hashes.

    Args:
        tokens: see `noodlings.config.ApiToken`; without any, everybody is the owner.
        taken: whether a user's id is an account's, see `Society.has_account`.
        character: whether it is a character's.
        player: the id of whoever plays at the machine: a token may be given to them, and no world names them.
        account_of: the user whose account has a name, see `Society.account_of`.
        file: more tokens (`noodlings.config.ApiTokens`), read again whenever it has changed.
        now: the time by which tokens expire, seconds since 1970-01-01 UTC.

    Raises:
        UserError: there is something wrong with the file.
    """

    def __init__(
        self,
        tokens: Sequence[ApiToken],
        taken: Callable[[str], bool] = is_reserved_id,
        player: str = "",
        character: Callable[[str], bool] = lambda user_id: False,
        account_of: Callable[[str], str] = lambda name: "",
        file: Path | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._account_of = account_of
        self._now = now
        self._configured = tuple(tokens)
        self._file = file
        self._file_state: tuple[int, int, int] | None = None

        def for_world(user_id: str) -> bool:
            return user_id == player or taken(user_id)

        def access(token: ApiToken, digest: str) -> AccessToken:
            role = Role(token.role)
            return AccessToken(
                role, token.user, digest[:12], for_world if role is Role.WORLD else taken, character
            )

        self._access = access
        if file is not None:
            read_table(file, ApiTokens)  # what is wrong with it is said before anybody is served
        self._passes = self._all_passes(())

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
            settings.api.token_file,
        )

    @property
    def open(self) -> bool:
        """Whether no tokens are configured, so that everybody is the owner.

        A file of tokens that is emptied later opens nothing: then nobody is let in by it.
        """
        return not self._configured and self._file is None

    def holds(self, held: AccessToken) -> bool:
        """Whether what was admitted would still be admitted now: it did not expire and was not taken back."""
        return self.open or any(one.access == held for one in self._current())

    def _current(self) -> list[_Pass]:
        """Those that have not expired, after another look at the file."""
        if self._file is not None and (state := _state_of(self._file)) != self._file_state:
            try:
                self._passes = self._all_passes(read_table(self._file, ApiTokens).tokens)
            except UserError as error:
                log.error("none of the tokens in api.tokens_file is valid until it is mended: %s", error)
                self._passes = self._all_passes(())
            self._file_state = state
        now = self._now()
        return [one for one in self._passes if one.expires is None or now < one.expires]

    def _all_passes(self, more: Sequence[ApiToken]) -> list[_Pass]:
        return [
            _Pass(digest, self._access(token, digest), token.expires.timestamp() if token.expires else None)
            for token in (*self._configured, *more)
            for digest in [_digest(token.token.get_secret_value())]
        ]

    def require_own_name(self, caller: Caller) -> None:
        """Raise `Forbidden` where a user's name or id is what the owner of an account or a token is called.

        Others would take the one for the other, whether or not the owner is there.
        """
        self._current()
        users = {one.access.user_id for one in self._passes} - {""}  # what expired keeps its name
        for word in (caller.name, caller.user_id):
            called = folded(word)
            owners = {user for user in users if called in (folded(user), folded(shown_name(user, {})))}
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
        found = [one.access for one in self._current() if hmac.compare_digest(one.digest, given)]
        if scheme.lower() != "bearer" or not found:
            raise RefusedRequest(
                HTTPStatus.UNAUTHORIZED,
                "A valid token is needed: send the header Authorization: Bearer TOKEN.",
                {"WWW-Authenticate": 'Bearer realm="noodlings"'},
            )
        return found[0]


def _state_of(file: Path) -> tuple[int, int, int] | None:
    """Tells one state of a file from another; None where there is none."""
    try:
        there = file.stat()
    except OSError:
        return None
    return there.st_mtime_ns, there.st_size, there.st_ino


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
