"""Who calls a tool, and what the tool can reach: the rights are those of the API, over any transport."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Concatenate, ParamSpec, TypeVar

from api.authentication import USER_HEADER, AccessToken
from api.problem import RefusedRequest
from api.turns import Turns
from noodlings.agent.society import Society
from noodlings.errors import UserError
from noodlings.inspect.inspector import Inspector
from noodlings.text import clean
from noodlings.values.caller import Caller, Role

READ_ONLY = "Memories can only be read from here, not changed: {}."


@dataclass(frozen=True, slots=True)
class Asker:
    """Whoever calls a tool.

    Attributes:
        user: the id it reads and acts as if a call names nobody; "" for itself.
        pinned: even an admin's call may not name anybody else, because the request says who it acts for.
            Calls of others never may: a model fills them in, and does not decide for whom it speaks.
    """

    held: AccessToken
    user: str = ""
    pinned: bool = False

    def reader(self) -> Caller:
        return self.held.reader(self.user)

    def actor(self, user: str = "") -> Caller:
        """The caller that acts as `user`, if given. Raises `UserError` if it must act as somebody else."""
        caller = self.held.actor(user or self.user)
        settled = self.user and (self.pinned or self.held.role is not Role.ADMIN)
        if settled and caller.user_id != self.user:
            raise UserError(f"this client acts for {self.user} ({USER_HEADER}); leave user_id out")
        return caller


@dataclass(frozen=True, slots=True)
class Access:
    """What a call can reach.

    Attributes:
        opened: gives the society for one call. It is always the same one, or, while another process writes
            to the data folder, what is stored by then.
        turns: None if nothing can be changed.
        busy: why nothing can be changed, or "".
        agent: the id of the default character, or "".
    """

    asker: Asker
    opened: Callable[[], AbstractContextManager[Society]]
    turns: Turns | None = None
    busy: str = ""
    agent: str = ""


P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool, about the character `agent` (its id) of a society."""

    society: Society
    access: Access
    agent: str

    def ask(
        self, question: Callable[Concatenate[Inspector, Caller, str, P], T], *args: P.args, **named: P.kwargs
    ) -> T:
        """The answer to a question about the character, a method of `Inspector`."""
        return question(Inspector(self.society), self.access.asker.reader(), self.agent, *args, **named)

    def turns(self) -> Turns:
        """What takes in percepts. Raises `RefusedRequest` (503) if nothing can be changed from here."""
        if self.access.turns is None:
            raise RefusedRequest(HTTPStatus.SERVICE_UNAVAILABLE, READ_ONLY.format(self.access.busy))
        return self.access.turns


def agent_of(society: Society, access: Access, named: str) -> str:
    """The id of the named character, or of the default one.

    Raises:
        UserError: none is named, and there are several.
        NotFound: no character has this name.
    """
    name = clean(named) or default_agent(society, access)
    if not name:
        raise UserError(f"Set agent to the character you mean: {names(society)}.")
    return society.find(name).id


def default_agent(society: Society, access: Access) -> str:
    """The id of the character that a call without a name is about, or "" if there are several."""
    alone = next(iter(society.personas)) if len(society.personas) == 1 else ""
    return access.agent or alone


def names(society: Society) -> str:
    """The names of the characters, at most twenty."""
    known = sorted((clean(persona.name) for persona in society.personas.values()), key=str.casefold)
    return ", ".join(known[:20]) + (f" and {len(known) - 20} more" if len(known) > 20 else "")
