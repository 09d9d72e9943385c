"""Whether the server is up and ready, its metrics, and what the caller's token permits.

Everybody may ask whether it is up and ready, so these answers give no names, addresses or reasons.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Literal

from fastapi import Request, Response
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from pydantic import BaseModel, Field

from api.answers import documented, documented_text
from api.parts import Held, Reader, parts_of, topic_router
from api.problem import RESPONSES, RefusedRequest
from noodlings.values.caller import Role
from noodlings.values.model_status import ModelState

router = topic_router(tags=["server"])


class Health(BaseModel):
    """The server is up."""

    status: Literal["ok"] = "ok"


@router.get("/health")
async def health() -> Health:
    """Whether the server is up."""
    return Health()


class Readiness(Health):
    """The server takes requests."""

    model: ModelState = Field(
        description="The state of the language model; without one, the offline voice speaks."
    )


@router.get("/ready", responses=RESPONSES)
async def ready(request: Request) -> Readiness:
    """Whether the server takes requests; 503 while it is starting or stopping.

    A language model that does not answer is only reported: the server is ready without it.
    """
    if not parts_of(request).ready():
        raise RefusedRequest(
            HTTPStatus.SERVICE_UNAVAILABLE, "The server is starting or stopping; try again in a moment."
        )
    return Readiness(model=parts_of(request).society.model_status.state)


@router.get(
    "/metrics",
    response_class=Response,
    responses=documented_text(
        "text/plain",
        "The Prometheus text format.",
        'noodlings_turns_total{agent="servnak",outcome="offline"} 12.0\n',
    ),
)
async def metrics(request: Request, held: Held) -> Response:
    """Metrics for Prometheus: turns, steps, calls to models, sizes of memories, queues.

    For admins.
    """
    held.require(Role.ADMIN, to="read the server's metrics")
    return Response(parts_of(request).metrics.text(), media_type=CONTENT_TYPE_PLAIN_0_0_4)


class TokenRights(BaseModel):
    """Who is asking, and what they may do; docs/api.md has the table."""

    role: Literal["admin", "world", "viewer", "player"]
    user: str = Field(description="The one user whose history may be read: a player, or whom a world names.")
    reads: Literal["everything", "own", "figures"] = Field(
        description="Everything, only what this user told or did, or only figures."
    )
    speaks: Literal["anybody", "itself", "nobody"] = Field(
        description="Who it may speak and type commands as."
    )
    forgets: Literal["anything", "own", "nothing"] = Field(
        description="What it may delete; own: what its user told."
    )
    corrects: bool = Field(description="Whether it may pin and link memories, set importance, and undo.")
    events: bool = Field(description="Whether it may report game events.")
    creates: bool = Field(description="Whether it may create characters and read the server's metrics.")
    tokens: bool = Field(description="Whether tokens are set. If not, everybody on this machine is admin.")


@router.get("/api/whoami", responses=documented(TokenRights))
async def whoami(request: Request, held: Held, caller: Reader) -> TokenRights:
    """Who you are to this server, and what you may do."""
    role = held.role
    admin, named = role is Role.ADMIN, caller.role is Role.PLAYER
    return TokenRights(
        role=role.value,
        user=caller.user_id if named else "",
        reads="everything" if caller.sees_all else "own" if named else "figures",
        speaks={Role.VIEWER: "nobody", Role.PLAYER: "itself"}.get(role, "anybody"),
        forgets={Role.ADMIN: "anything", Role.VIEWER: "nothing"}.get(role, "own"),
        corrects=admin,
        events=role in (Role.ADMIN, Role.WORLD),
        creates=admin,
        tokens=not parts_of(request).authenticator.open,
    )
