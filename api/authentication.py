"""Who is asking and what they may do: tokens, by role, become callers.

    admin    everything
    world    acts for the user it names (`Noodlings-User`, or `user_id` in a body), with that user's rights
    viewer   reads everything, changes nothing
    player   reads and changes what it shared with an agent itself, as `noodlings.inspect` decides

The user that a world or a player token names belongs to that world. It is never the owner of an account or
the player at this machine, unless an admin joined the two (`noodlings account join`).

If no token is configured, every caller is an admin, and the server only listens on this machine. `api.gate`
still keeps out web pages that are open in a browser on this machine.
"""

from __future__ import annotations

import hmac
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from urllib.parse import unquote

from api.problem import RefusedRequest
from noodlings.agent.society import Society
from noodlings.config import ApiToken, tokens_in
from noodlings.errors import Forbidden, UserError
from noodlings.text import clean, folded, shorten
from noodlings.values.caller import API_PREFIX, Caller, Role, display_name, is_reserved_id, user_id_of
from noodlings.values.memory import CLIENT_WORLD
from noodlings.values.percept import Percept

USER_HEADER = "Noodlings-User"
MAX_ID = 80
"""Characters of a user's id."""

log = logging.getLogger(__name__)


def named_user(header: str) -> str:
    """The id in a header `Noodlings-User`, where what is not ASCII is percent-encoded."""
    return unquote(header)


@dataclass(frozen=True, slots=True)
class AccessToken:
    """What a token permits.

    Attributes:
        user_id: of a player; otherwise "".
        key: identifies the token for the rate limit and in the audit log: the beginning of its hash.
        taken: whether a user id belongs to somebody who signs in another way.
        character: the id of the character that a user id stands for, or "". On another server, characters
            speak to each other.
        digest: the hash of the token.
        expires: when it does, in seconds since 1970-01-01 UTC, or None.
    """

    role: Role
    user_id: str = ""
    key: str = "loopback"
    taken: Callable[[str], bool] = field(default=is_reserved_id, compare=False, repr=False)
    character: Callable[[str], str] = field(default=lambda user_id: "", compare=False, repr=False)
    digest: str = field(default="", repr=False)
    expires: float | None = field(default=None, compare=False)

    def reader(self, user: str = "") -> Caller:
        """The caller that reads, on behalf of `user` if given.

        Raises:
            Forbidden: it may not read on behalf of others, or not of this user.
        """
        if self.role is Role.PLAYER:
            return self._player(user)
        if not user:
            return Caller(f"{API_PREFIX}{self.role}", self.role.value, self.role)
        caller = self._named(user)
        if self.role is Role.WORLD and self.character(caller.user_id):
            raise Forbidden(
                f"{caller.user_id} is a character: a world may speak as it, but not read or change memories"
            )
        return caller

    def actor(self, user: str, name: str = "") -> Caller:
        """The caller that acts as `user`; a world has the rights of that user.

        Raises:
            Forbidden: it may not change anything, or only act as itself.
        """
        if self.role is Role.VIEWER:
            raise Forbidden("a viewer token can only read; use a token with another role to change anything")
        if self.role is Role.PLAYER:
            return self._player(user)
        if not user:
            if self.role is Role.ADMIN:
                return self.reader()
            raise UserError(f"say who this world token acts for: send {USER_HEADER} or user_id")
        return self._named(user, clean(name))

    def sent(self, percept: Percept) -> Percept:
        """The percept, with the world that sends it: it hears the answer, also what a character is told."""
        if self.role is not Role.WORLD:
            return percept
        world = f"{API_PREFIX}{self.role}"
        overheard_by = world if self.character(percept.user_id) else ""
        return replace(percept, data=percept.data | {CLIENT_WORLD: world}, overheard_by=overheard_by)

    def require(self, *roles: Role, to: str) -> None:
        """Raise `Forbidden` unless it has one of these roles; `to` completes "may not"."""
        if self.role not in roles:
            raise Forbidden(f"a {self.role} token may not {to}; ask an admin for a token with another role")

    def _player(self, user: str) -> Caller:
        if user and user != self.user_id:
            raise Forbidden(f"a player token speaks and reads for {self.user_id} only; leave user_id out")
        if self.character(self.user_id):
            # An audience is a set of ids: with the same one, a player would hear what the character heard.
            raise Forbidden(f"{self.user_id} is a character's id; an admin must give this token another user")
        return Caller(self._its_own(self.user_id), display_name(self.user_id, {}), Role.PLAYER)

    def _named(self, user: str, name: str = "") -> Caller:
        user_id, role = checked_id(user), self.role
        user_id = self.character(user_id) or user_id
        if role is Role.WORLD:
            user_id, role = self._its_own(user_id), Role.PLAYER
        return Caller(user_id, name or display_name(user_id, {}), role)

    def _its_own(self, user_id: str) -> str:
        if user_id in _NAMELESS or self.taken(user_id):
            raise Forbidden(f"{user_id} signs in another way; an admin can use noodlings account join")
        return user_id


_NAMELESS = frozenset(f"{API_PREFIX}{role}" for role in Role)
"""User ids of tokens that name no user."""

OWNER = AccessToken(Role.ADMIN)
"""What every caller holds if no tokens are configured."""


class Authenticator:
    """Knows the tokens, as hashes: those of the settings, and those of a file that is read again whenever it
    has changed. Without any, and without a file, every caller is the owner.

    Args:
        now: seconds since 1970-01-01 UTC.

    Raises:
        UserError: the file cannot be used.
    """

    def __init__(self, society: Society, now: Callable[[], float] = time.time) -> None:
        self._society, self._now = society, now
        self._player = user_id_of(society.settings.world.player)
        api = society.settings.api
        self._configured, self._file = api.tokens, api.token_file
        self._file_state: tuple[int, ...] | None = None
        if self._file is not None:
            tokens_in(self._file)  # report errors before anybody is served
        self._known = self._all_known(())

    def by_key(self, key: str) -> AccessToken:
        """The valid token with this key. Raises `RefusedRequest` (401) when there is none."""
        known = [OWNER] if self.open else self._current()
        found = [access for access in known if access.key == key]
        if not found:
            raise RefusedRequest(HTTPStatus.UNAUTHORIZED, "The token has expired or was taken back.")
        return found[0]

    @property
    def open(self) -> bool:
        """Whether no tokens are configured, so that every caller is the owner.

        With an empty token file, nobody is admitted.
        """
        return not self._configured and self._file is None

    def holds(self, held: AccessToken) -> bool:
        """Whether an admitted token is still valid: it has not expired or been revoked."""
        return self.open or held in self._current()

    def _current(self) -> list[AccessToken]:
        """The tokens that have not expired; reads the file again if it has changed."""
        if self._file is not None and (state := _state_of(self._file)) != self._file_state:
            more = tuple[ApiToken, ...]()
            try:
                more = tokens_in(self._file)
            except UserError as error:
                log.error("none of the tokens in api.tokens_file is valid until it is mended: %s", error)
            # The state comes last: whatever else goes wrong above, nobody is admitted by tokens of before.
            self._known, self._file_state = self._all_known(more), state
        now = self._now()
        return [one for one in self._known if one.expires is None or now < one.expires]

    def _all_known(self, more: Sequence[ApiToken]) -> list[AccessToken]:
        known, character = [], self._society.character_of
        for token in (*self._configured, *more):
            role, digest = Role(token.role), token.digest
            expires = token.expires.timestamp() if token.expires else None
            taken = self._taken_for_world if role is Role.WORLD else self._society.has_account
            known.append(AccessToken(role, token.user, digest[:12], taken, character, digest, expires))
        return known

    def _taken_for_world(self, user_id: str) -> bool:
        """The player at this machine may have a token, but no world may name it."""
        return user_id == self._player or self._society.has_account(user_id)

    def require_own_name(self, caller: Caller) -> None:
        """Raise `Forbidden` if the caller uses the name or id of somebody else's account or token.

        Others would mistake one for the other, whether or not the owner is there.
        """
        self._current()
        users = {one.user_id for one in self._known} - {""}  # expired tokens keep their names
        for word in (caller.name, caller.user_id):
            called = folded(word)
            owners = {user for user in users if called in (folded(user), folded(display_name(user, {})))}
            owners |= {self._society.account_of(called)} - {""}
            if owners and caller.user_id not in owners:
                raise Forbidden(
                    f"{shorten(clean(word), 30)} is somebody else's name here; choose another, or ask an "
                    "admin to join the two"
                )

    def admit(self, authorization: str | None) -> AccessToken:
        """What an `Authorization: Bearer …` header permits.

        Every token is compared in constant time, so that timing does not help to guess one.

        Raises:
            RefusedRequest: 401, the token is missing or wrong.
        """
        if self.open:
            return OWNER
        scheme, _, secret = (authorization or "").partition(" ")
        given = sha256(secret.strip().encode("utf-8", "replace")).hexdigest()
        found = [one for one in self._current() if hmac.compare_digest(one.digest, given)]
        if scheme.lower() != "bearer" or not found:
            raise RefusedRequest(
                HTTPStatus.UNAUTHORIZED,
                "A valid token is needed: send the header Authorization: Bearer TOKEN.",
                {"WWW-Authenticate": 'Bearer realm="noodlings"'},
            )
        return found[0]


def _state_of(file: Path) -> tuple[int, ...] | None:
    """Distinguishes versions of a file; None if it does not exist."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def checked_id(user: str) -> str:
    """A user id as it is. Raises `UserError` if anything in it cannot be seen or it is too long."""
    named = clean(user)
    if not named or len(named) > MAX_ID or named != user:
        raise UserError(f"a user id must be one printable line of 1 to {MAX_ID} characters")
    return named
