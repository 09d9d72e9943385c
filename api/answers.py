"""Answers as JSON, the same data that commands print with `--json`; entity tags; links to the next page."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from hashlib import sha256
from http import HTTPStatus
from typing import Any

from fastapi import Response
from fastapi.responses import JSONResponse
from pydantic import ConfigDict
from starlette.requests import HTTPConnection

from api.problem import RESPONSES
from noodlings.errors import UserError
from noodlings.inspect.questions import Question
from noodlings.inspect.views import EntriesView, EntryView, View, plain

LATE_MODEL = "late_model"
"""Key for the model of a documented answer, until `api.server` makes its schema."""
_PASSING = ("age", "strength")
"""Fields that change while nothing happens; an entity tag ignores them."""


def shown(answer: object, status: int = 200) -> Response:
    """A view, or another dataclass, as JSON."""
    return JSONResponse(plain(answer), status)


def tagged(request: HTTPConnection, view: View) -> Response:
    """A view as JSON with a weak entity tag, or 304 if the client already has all but the ages."""
    data = view.as_dict()
    tag = _tag(data)
    asked = [one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")]
    headers = {"ETag": f"W/{tag}"}
    if tag in asked or "*" in asked:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return JSONResponse(data, headers=headers)


Page = Callable[[int | None, int], EntriesView]
"""Limit and offset → that page."""
Order = Callable[[EntryView], tuple[float, ...]]
"""The sort key of a list; it rises from the first page to the last."""


def latest_first(entry: EntryView) -> tuple[float, ...]:
    return (-float(entry.id),)


def by_importance(entry: EntryView) -> tuple[float, ...]:
    return (-entry.importance, -float(entry.id))


def paged(request: HTTPConnection, page: Page, order: Order, limit: int, cursor: str) -> Response:
    """One page with an entity tag, and a `Link` header to the next page.

    A cursor holds the sort key of the last memory of the previous page, so no memory is repeated or left out
    when new ones arrive between two requests. Raises `UserError` for an invalid cursor.
    """
    offset = 0
    if cursor:
        last = _key_of(cursor)
        offset = sum(order(entry) <= last for entry in page(None, 0).entries)
    view = page(limit, offset)
    answer = tagged(request, view)
    if view.entries and offset + len(view.entries) < view.total:
        last = max(map(order, view.entries))
        following = request.url.include_query_params(cursor=_cursor_of(last))
        answer.headers["Link"] = f'<{following.path}?{following.query}>; rel="next"'
    return answer


def body_like(**example: Any) -> ConfigDict:
    """The `model_config` of a body: unknown fields are refused, and the documentation shows this example."""
    return ConfigDict(extra="forbid", json_schema_extra={"examples": [example]})


def documented(model: type[Any], status: int = 200) -> dict[int | str, Any]:
    """The documentation of what a route answers."""
    return RESPONSES | {status: {"description": "Success.", LATE_MODEL: model}}


def documented_text(media_type: str, description: str, example: str) -> dict[int | str, Any]:
    """The documentation of an answer that is not JSON."""
    content = {media_type: {"schema": {"type": "string"}, "example": example}}
    return RESPONSES | {200: {"description": description, "content": content}}


def route(question: Question[Any], *tags: str, tagged: bool = False) -> dict[str, Any]:
    """Path and documentation of the route that answers a question; `tagged`: with an entity tag."""
    responses = documented(question.kind())
    if tagged:
        tag = {"ETag": {"description": "A weak entity tag, for If-None-Match.", "schema": {"type": "string"}}}
        responses[200]["headers"] = tag
        responses[304] = {"description": "Not changed since that tag.", "headers": tag}
    return {"path": question.path, "tags": list(tags), "responses": responses}


def _tag(data: Any) -> str:
    lasting = json.dumps(_lasting(data), ensure_ascii=False, separators=(",", ":"))
    return f'"{sha256(lasting.encode()).hexdigest()[:24]}"'


def _lasting(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _lasting(value) for key, value in data.items() if key not in _PASSING}
    if isinstance(data, list):
        return [_lasting(value) for value in data]
    return data


def _cursor_of(key: tuple[float, ...]) -> str:
    return urlsafe_b64encode(json.dumps(key).encode()).decode().rstrip("=")


def _key_of(cursor: str) -> tuple[float, ...]:
    try:
        key = json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        return tuple(float(number) for number in key)
    except (ValueError, TypeError, OverflowError):
        raise UserError("This is not a cursor; copy it from the Link header, or leave it out.") from None
