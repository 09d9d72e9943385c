"""Answers: a view as JSON, the same data that commands give with theirs; tags; where the next page is."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from hashlib import sha256
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response
from fastapi.responses import JSONResponse

from api.problem import RESPONSES
from noodlings.errors import UserError
from noodlings.inspect.questions import Question
from noodlings.inspect.views import EntriesView, EntryView, View

LATE_MODEL = "late_model"
"""Where a documented answer has its model until `api.server` makes the schema of it."""
_PASSING = ("age", "strength")
"""What changes while nothing happens; a tag does not look at it."""


def shown(view: View, status: int = 200) -> Response:
    """A view as JSON."""
    return JSONResponse(view.as_dict(), status)


def tagged(request: Request, view: View) -> Response:
    """A view as JSON with a weak tag, or 304 where the client has it: nothing but ages differs."""
    data = view.as_dict()
    tag = _tag(data)
    asked = [one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")]
    headers = {"ETag": f"W/{tag}"}
    if tag in asked or "*" in asked:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return JSONResponse(data, headers=headers)


Page = Callable[[int | None, int], EntriesView]
"""Limit and offset → that page, as the inspector gives it."""
Order = Callable[[EntryView], tuple[float, ...]]
"""What the pages are sorted by, rising from the first of the first page to the last of the last."""


def latest_first(entry: EntryView) -> tuple[float, ...]:
    """The order of pages that count from the latest."""
    return (-float(entry.id),)


def by_importance(entry: EntryView) -> tuple[float, ...]:
    """The order of pages that begin with the most important."""
    return (-entry.importance, -float(entry.id))


def paged(request: Request, page: Page, order: Order, limit: int, cursor: str) -> Response:
    """One page, tagged; a `Link` header leads to the next one.

    A cursor names the last memory of the page before by its place in the order, so nothing comes twice and
    nothing is left out when memories come in between two pages.

    Raises:
        UserError: it is no cursor of ours.
    """
    offset = 0
    if cursor:
        last = _read(cursor)
        offset = sum(order(entry) <= last for entry in page(None, 0).entries)
    view = page(limit, offset)
    answer = tagged(request, view)
    if view.entries and offset + len(view.entries) < view.total:
        last = max(map(order, view.entries))
        following = request.url.include_query_params(cursor=_written(last))
        answer.headers["Link"] = f'<{following.path}?{following.query}>; rel="next"'
    return answer


def documented(model: type[Any], status: int = 200) -> dict[int | str, Any]:
    """What a route answers, for its documentation."""
    return RESPONSES | {status: {"description": "Success.", LATE_MODEL: model}}


def route(question: Question[Any], *tags: str, tagged: bool = False) -> dict[str, Any]:
    """Path and documentation of the route that answers a question; `tagged`: with a tag."""
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


def _written(place: tuple[float, ...]) -> str:
    return urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def _read(cursor: str) -> tuple[float, ...]:
    try:
        place = json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        return tuple(float(number) for number in place)
    except (ValueError, TypeError, OverflowError):
        raise UserError("This is not a cursor; copy it from the Link header, or leave it out.") from None
