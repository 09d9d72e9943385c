"""Whether the server lives, and whether it is ready; open to everybody, and silent about everything else."""

from __future__ import annotations

from http import HTTPStatus
from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel

from api.parts import parts_of
from api.problem import RESPONSES, Refused

router = APIRouter(tags=["server"])


class Health(BaseModel):
    """It answers, so it lives."""

    status: Literal["ok"] = "ok"


@router.get("/health", responses={200: {"content": {"application/json": {"example": {"status": "ok"}}}}})
async def health() -> Health:
    """Whether the server answers at all."""
    return Health()


@router.get(
    "/ready", responses=RESPONSES | {200: {"content": {"application/json": {"example": {"status": "ok"}}}}}
)
async def ready(request: Request) -> Health:
    """Whether models are loaded and requests are taken; before that, and when it stops, 503."""
    if not parts_of(request).ready():
        raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "Models are being loaded, or the server is stopping.")
    return Health()
