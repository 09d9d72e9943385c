"""Whether the server lives, its figures, and what the caller's token permits.

Whether it lives, is ready, and what speaks is open to everybody, without name, address or reason.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Literal

from fastapi import Request, Response
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from pydantic import BaseModel, Field

from api import examples
from api.answers import documented
from api.parts import Held, Reader, parts_of, topic_router
from api.problem import RESPONSES, RefusedRequest
from noodlings.values.caller import Role
from noodlings.values.model_status import ModelState

probes = topic_router(tags=["server"])


class Health(BaseModel):
    """It answers, so it lives."""

    status: Literal["ok"] = "ok"


@probes.get("/health", responses={200: {"content": {"application/json": {"example": {"status": "ok"}}}}})
async def health() -> Health:
    """Whether the server answers at all."""
    return Health()


class Readiness(Health):
    """It takes requests."""

    model: ModelState = Field(
        description="Whether the language model answers. It is ready without: then the offline voice speaks."
    )


@probes.get(
    "/ready",
    responses=RESPONSES
    | {200: {"content": {"application/json": {"example": {"status": "ok", "model": "answers"}}}}},
)
async def ready(request: Request) -> Readiness:
    """Whether models are loaded and requests are taken; before that, and when it stops, 503.

    A language model that does not answer is no reason to send requests elsewhere: that is only told.
    """
    if not parts_of(request).ready():
        raise RefusedRequest(
            HTTPStatus.SERVICE_UNAVAILABLE, "Models are being loaded, or the server is stopping."
        )
    return Readiness(model=parts_of(request).society.model_status.state)


figures = topic_router()


@figures.get(
    "/metrics",
    tags=["server"],
    summary="Figures for Prometheus",
    response_class=Response,
    responses=RESPONSES
    | {
        200: {
            "description": "The text format of Prometheus.",
            "content": {
                "text/plain": {
                    "schema": {"type": "string"},
                    "example": 'noodlings_turns_total{agent="servnak",outcome="offline"} 12.0\n',
                }
            },
        }
    },
)
async def metrics(request: Request, held: Held) -> Response:
    """Turns, how long each step took, calls of a model, sizes of streams, queues. For an admin."""
    held.require(Role.ADMIN, to="read the figures of the server")
    return Response(parts_of(request).metrics.text(), media_type=CONTENT_TYPE_PLAIN_0_0_4)


router = topic_router("/api", tags=["server"])


class TokenRights(BaseModel):
    """Who asks, and what they may; the table is in docs/api.md."""

    role: Literal["admin", "world", "viewer", "player"]
    user: str = Field(description="Whose history alone is read: a player's own id, or whom a world names.")
    reads: Literal["everything", "own", "figures"] = Field(
        description="Everything; what this user told or did; or figures without words."
    )
    speaks: Literal["anybody", "itself", "nobody"] = Field(
        description="As whom it says something and types commands."
    )
    forgets: Literal["anything", "own", "nothing"] = Field(
        description="What it may have forgotten: own is what the user told for whom it asks."
    )
    corrects: bool = Field(description="It pins, weighs and links memories, and takes corrections back.")
    events: bool = Field(description="It lets a game's events happen.")
    creates: bool = Field(description="It lets characters come to life, and reads the server's figures.")
    tokens: bool = Field(description="There are tokens; without any, everybody on this machine is admin.")


@router.get("/whoami", responses=documented(TokenRights, examples.RIGHTS))
async def whoami(request: Request, held: Held, caller: Reader) -> TokenRights:
    """Who asks, and what they may do here."""
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
