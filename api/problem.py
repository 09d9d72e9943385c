"""All errors in one form: `application/problem+json` (RFC 9457).

Under `CHAT` it is OpenAI's form, which chat clients know. Our own errors are told in their own words; the
details of all others are only in the log.
"""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from noodlings.errors import Busy, Forbidden, LLMError, NoodlingsError, NotFound, StoreError, UserError, told
from noodlings.text import clean, shorten

MEDIA_TYPE = "application/problem+json"
CHAT = "/v1/"
"""The beginning of all paths for chat clients, see `api.chat`."""
NO_STORE = "no-store"
"""The `Cache-Control` of every answer except the files of the page."""
BROKE = "Something went wrong on the server; the details are in its log."
_LONGEST = 500
"""The most characters of what is wrong with one value."""

log = logging.getLogger(__name__)


class InvalidField(BaseModel):
    """One part of a request that is wrong."""

    where: str = Field(description="Where it is, such as query.limit or body.text.")
    what: str = Field(description="What is wrong with it.")


class Problem(BaseModel):
    """An error, in the form of RFC 9457."""

    type: str = Field(description="Always about:blank; the status tells the kind of problem.")
    title: str = Field(description="The HTTP status in words.")
    status: int = Field(description="The HTTP status.", ge=400, le=599)
    detail: str = Field(description="What was wrong, and what to do instead.")
    errors: list[InvalidField] = Field(default=[], description="Every part of the request that is wrong.")


class RefusedRequest(NoodlingsError):
    """A request that is refused with this status and these headers."""

    def __init__(self, status: HTTPStatus, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.headers = headers or {}


class Conflict(UserError):
    """What is to be created already exists."""


_STATUS: tuple[tuple[type[NoodlingsError], HTTPStatus], ...] = (
    (Forbidden, HTTPStatus.FORBIDDEN),
    (NotFound, HTTPStatus.NOT_FOUND),
    (Conflict, HTTPStatus.CONFLICT),
    (Busy, HTTPStatus.TOO_MANY_REQUESTS),
    (UserError, HTTPStatus.BAD_REQUEST),
    (StoreError, HTTPStatus.SERVICE_UNAVAILABLE),
    (LLMError, HTTPStatus.SERVICE_UNAVAILABLE),
)

_LATER = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
"""Asked again in a moment, the same may be answered."""

_EXAMPLE = {
    "type": "about:blank",
    "title": "Not Found",
    "status": 404,
    "detail": "There is no character servank; did you mean SERVNAK?",
    "errors": [],
}
RESPONSES: dict[int | str, dict[str, Any]] = {
    "4XX": {
        "description": "Refused; the body says why, and what to do instead.",
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}, "example": _EXAMPLE}},
    },
    "503": {
        "description": "The store cannot be read or written right now.",
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    },
}
"""Documentation of the errors of every route."""

_CODES = {
    HTTPStatus.UNAUTHORIZED: "invalid_api_key",
    HTTPStatus.FORBIDDEN: "permission_denied",
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_exceeded",
}


def chat_problem(status: int, detail: str, param: str = "", code: str = "") -> dict[str, Any]:
    """An error in OpenAI's form: `param` is the part of the request it is about, `code` a name for it."""
    kind = "server_error" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else "invalid_request_error"
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        kind = "rate_limit_error"
    named = code or _CODES.get(HTTPStatus(status))
    return {"error": {"message": clean(detail), "type": kind, "param": param or None, "code": named}}


def problem(
    status: int,
    detail: str,
    errors: tuple[InvalidField, ...] = (),
    headers: dict[str, str] | None = None,
    *,
    path: str = "",
    code: str = "",
) -> JSONResponse:
    """An error as an answer. If `path` is for chat clients, it is in their form, with `code` as its name."""
    again = {"Retry-After": "1"} if status in _LATER else {}
    headers = {"Cache-Control": NO_STORE} | again | (headers or {})
    if path.startswith(CHAT):
        if errors:  # chat clients do not know 422
            status = HTTPStatus.BAD_REQUEST
        param = "model" if code else errors[0].where.removeprefix("body.") if errors else ""
        return JSONResponse(chat_problem(status, detail, param, code), status, headers)
    body = Problem(
        type="about:blank",
        title=HTTPStatus(status).phrase,
        status=status,
        detail=clean(detail),
        errors=list(errors),
    )
    return JSONResponse(body.model_dump(), status, headers, MEDIA_TYPE)


def status_of(error: NoodlingsError) -> HTTPStatus:
    if isinstance(error, RefusedRequest):
        return error.status
    return next((status for kind, status in _STATUS if isinstance(error, kind)), HTTPStatus.BAD_REQUEST)


def refusal(error: NoodlingsError, path: str = "") -> JSONResponse:
    """One of our own errors as an answer; `path` as of `problem`."""
    headers = error.headers if isinstance(error, RefusedRequest) else None
    code = "model_not_found" if isinstance(error, NotFound) else ""
    return problem(status_of(error), told(error), headers=headers, path=path, code=code)


def handle_errors(app: FastAPI) -> None:
    """Answer everything raised in `app` as a problem."""
    app.exception_handler(NoodlingsError)(_ours)
    app.exception_handler(RequestValidationError)(_invalid)
    app.exception_handler(HTTPException)(_of_framework)
    app.exception_handler(Exception)(_unforeseen)


async def _ours(request: Request, error: NoodlingsError) -> JSONResponse:
    if isinstance(error, (StoreError, LLMError)):
        log.error(
            "%s %s: %s", shorten(request.method, 20), getattr(request.scope.get("route"), "path", "-"), error
        )
    return refusal(error, request.url.path)


async def _invalid(request: Request, error: RequestValidationError) -> JSONResponse:
    found = tuple(
        InvalidField(
            where=shorten(clean(".".join(map(str, one["loc"]))), 200),
            what=shorten(clean(_wrong(one)), _LONGEST),
        )
        for one in error.errors()[:20]
    )
    detail = "; ".join(f"{one.where}: {one.what}" for one in found)
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail, found, path=request.url.path)


def _wrong(found: dict[str, Any]) -> str:
    """What is wrong with a value, to follow its name in a sentence."""
    said = {
        "Field required": "is missing",
        "Extra inputs are not permitted": "is not known here; see /docs",
        "JSON decode error": f"is where the JSON breaks off: {found.get('ctx', {}).get('error')}",
    }
    message: str = said.get(found["msg"], found["msg"])
    if found["type"] == "model_attributes_type":
        message = "should be a JSON object, sent with Content-Type: application/json"
    return message.removeprefix("Input ").removeprefix("Value error, ")


async def _of_framework(request: Request, error: HTTPException) -> JSONResponse:
    details = {
        HTTPStatus.NOT_FOUND: f"There is nothing at {shorten(request.url.path, 100)}; see /docs.",
        HTTPStatus.METHOD_NOT_ALLOWED: f"{shorten(request.method, 20)} is not allowed here; see /docs.",
    }
    detail = details.get(HTTPStatus(error.status_code), str(error.detail))
    return problem(error.status_code, detail, headers=dict(error.headers or {}), path=request.url.path)


async def _unforeseen(request: Request, error: Exception) -> JSONResponse:
    # Starlette raises it again after this answer, and the server logs it with its traceback.
    asked = shorten(request.method, 20), shorten(clean(request.url.path), 200)
    log.error("%s %s broke: %s", *asked, type(error).__name__)
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, BROKE, path=request.url.path)
