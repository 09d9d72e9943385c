"""Who calls a tool, and what the tool can reach: rights are those of the API, whatever the transport."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from http import HTTPStatus

from api.authentication import USER_HEADER, AccessToken
from api.problem import RefusedRequest
from api.turns import Turns
from noodlings.agent.society import Society
from noodlings.errors import UserError
from noodlings.inspect.inspector import Inspector
from noodlings.text import clean
from noodlings.values.caller import Caller, Role

DENIED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
"""What is in the audit log also where nothing was to be changed."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Whoever calls a tool.

    Attributes:
        held: what it may do.
        user: as whom it reads and acts where a call names nobody, an id; "" for itself.
        pinned: an admin's call may name nobody else either, because the request says who that is. Nobody
            else's ever may: a model fills a call in, and does not decide for whom it speaks.
    """

    held: AccessToken
    user: str = ""
    pinned: bool = False

    def reader(self) -> Caller:
        """Whoever reads. Raises `Forbidden`, see `AccessToken.reader`."""
        return self.held.reader(self.user)

    def actor(self, user: str = "") -> Caller:
        """Whoever changes something, as `user` where one is named.

        Raises:
            Forbidden: see `AccessToken.actor`.
            UserError: it is settled already who that is, and this is somebody else.
        """
        caller = self.held.actor(user or self.user)
        settled = self.user and (self.pinned or self.held.role is not Role.ADMIN)
        if settled and caller.user_id != self.user:
            raise UserError(f"this client acts for {self.user} ({USER_HEADER}); leave user_id out")
        return caller


@dataclass(frozen=True, slots=True)
class Access:
    """What a call can reach.

    Attributes:
        asker: who calls.
        opened: gives the society for the time of one call: always the same one, or, where another process
            writes, what is stored by then.
        turns: takes in percepts; None where nothing can be changed.
        busy: why nothing can be changed, or "".
        agent: the character that is meant where a call names none, or "".
    """

    asker: Asker
    opened: Callable[[], AbstractContextManager[Society]]
    turns: Turns | None = None
    busy: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool, and the society it is about."""

    society: Society
    access: Access

    @property
    def inspector(self) -> Inspector:
        """Reads the society."""
        return Inspector(self.society)

    def reader(self) -> Caller:
        """Whoever reads."""
        return self.access.asker.reader()

    def actor(self, user: str = "") -> Caller:
        """Whoever changes something."""
        return self.access.asker.actor(user)

    def turns(self) -> Turns:
        """The way in for percepts, and leave to change anything.

        Raises:
            Refused: 503, another process writes, so nothing can be changed from here.
        """
        if self.access.turns is None:
            why = f"Memories can only be read from here, not changed: {self.access.busy}."
            raise RefusedRequest(HTTPStatus.SERVICE_UNAVAILABLE, why)
        return self.access.turns

    def agent(self, named: str) -> str:
        """The id of the character that is meant.

        Raises:
            UserError: none is named, and there are several.
            NotFound: nobody is called that.
        """
        name = clean(named) or default_agent(self.society, self.access)
        if not name:
            raise UserError(f"Set agent to the character you mean: {names(self.society)}.")
        return self.society.find(name).id


def default_agent(society: Society, access: Access) -> str:
    """The character that is meant where none is named: as it was settled, or the only one; else ""."""
    alone = next(iter(society.personas)) if len(society.personas) == 1 else ""
    return access.agent or alone


def names(society: Society) -> str:
    """The characters that there are, the first twenty of them."""
    known = sorted((clean(persona.name) for persona in society.personas.values()), key=str.casefold)
    return ", ".join(known[:20]) + (f" and {len(known) - 20} more" if len(known) > 20 else "")
