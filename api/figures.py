"""The figures of a server, for Prometheus to fetch."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from api.parts import Held, parts_of
from api.problem import RESPONSES
from noodlings.values.caller import Role

router = APIRouter()


@router.get(
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
