"""The server: all routes over one society, behind the gate, with every request recorded."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from http import HTTPStatus
from typing import TYPE_CHECKING

from fastapi import Depends, FastAPI
from fastapi.middleware.cors import CORSMiddleware
from fastapi.routing import APIRoute
from fastapi.utils import create_model_field
from fastapi_offline import FastAPIOffline
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api import (
    agents,
    chat,
    command_lines,
    corrections,
    frontend,
    live,
    memory,
    perceive,
    persons,
    recipes,
    status,
)
from api.answers import LATE_MODEL
from api.audit import DENIED, note
from api.authentication import OWNER, USER_HEADER, Authenticator
from api.client_talk import ClientTalks
from api.command_lines import PeopleOnline
from api.described import describe
from api.forwarding import ELSEWHERE, Forwarding
from api.gate import CHANGING, Gate
from api.metrics import Metrics
from api.parts import ServerParts, require_known_parameters
from api.problem import NO_STORE, Problem, handle_errors
from api.turns import Turns
from noodlings import __version__
from noodlings.inspect.feed import Feed
from noodlings.inspect.inspector import Inspector
from noodlings.text import shorten

if TYPE_CHECKING:
    from noodlings.agent.society import Society
    from noodlings.worlds.rooms import World

_METHOD = 20
"""The most characters of a method in logs: a client may send any word, however long."""

_METHODS = frozenset({"GET", "HEAD", "OPTIONS", *CHANGING})
"""Those that are told apart in metrics."""

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]

log = logging.getLogger(__name__)


def make_parts(society: Society, world: World, ready: Callable[[], bool] = lambda: True) -> ServerParts:
    """The parts of a server over a society and its rooms. Use within a running event loop."""
    inspector, turns = Inspector(society), Turns(society)
    feed = Feed(society, society.settings.live.queue)
    return ServerParts(
        society=society,
        inspector=inspector,
        authenticator=Authenticator(society),
        turns=turns,
        people=PeopleOnline(society, inspector, world),
        feed=feed,
        metrics=Metrics(society, feed, lambda: turns.unfinished),
        ready=ready,
    )


def make_app(parts: ServerParts, lifespan: Lifespan | None = None) -> FastAPI:
    """The ASGI application."""
    settings = parts.society.settings.api
    app = FastAPIOffline(  # the page under /docs fetches nothing from anywhere else
        docs_url="/docs",
        redoc_url=None,
        title="noodlings",
        version=__version__,
        description="Characters who remember what matters to them. How to use it: docs/api.md.",
        lifespan=lifespan,
        redirect_slashes=False,
        dependencies=[Depends(require_known_parameters)],
    )
    app.state.parts = parts
    app.state.messages = live.MessageCache()
    app.state.talks = ClientTalks(parts.society)
    topics = (agents, memory, corrections, persons, perceive, command_lines, recipes, live, status, chat)
    for topic in topics:
        app.router.routes += topic.router.routes
    app.router.routes += frontend.router().routes
    handle_errors(app)
    _with_late_schemas(app)
    app.add_middleware(Forwarding, parts=parts)
    ownership = parts.society.ownership
    app.add_middleware(Gate, authenticator=parts.authenticator, settings=settings, ownership=ownership)
    app.add_middleware(RequestRecorder, metrics=parts.metrics)
    if settings.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.origins,
            allow_methods=["GET", *CHANGING],
            allow_headers=["Authorization", "Content-Type", "Idempotency-Key", USER_HEADER],
            expose_headers=["ETag", "Link"],
        )
    return app


class RequestRecorder:
    """Counts and logs every request; notes each change and each denial in the audit log."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 500
        request = secrets.token_hex(4)
        scope.setdefault("state", {})
        began = time.perf_counter()

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = [*message["headers"], (b"x-request-id", request.encode())]
                if not any(name.lower() == b"cache-control" for name, _ in headers):
                    headers.append((b"cache-control", NO_STORE.encode()))
                message["headers"] = headers
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            seconds = time.perf_counter() - began
            route = getattr(scope.get("route"), "path", "")
            if ELSEWHERE not in scope["state"]:
                # Whoever makes up methods must not fill the metrics, which keep each for ever.
                method = scope["method"] if scope["method"] in _METHODS else "other"
                self._metrics.request(method, route, status, seconds)
            self._write(scope, request, route, status, seconds)

    def _write(self, scope: Scope, request: str, route: str, status: int, seconds: float) -> None:
        state = scope["state"]
        turn = state.get("turn", "")
        log.info(
            "request=%s method=%s route=%s status=%d ms=%.1f turn=%s",
            request, shorten(scope["method"], _METHOD), route or "-", status, seconds * 1e3, turn or "-",
        )  # fmt: skip
        if ELSEWHERE in state or (scope["method"] not in CHANGING and status not in DENIED):
            return
        held, caller = state.get("held"), state.get("caller")
        note(
            request=request,
            token=(held or OWNER).key if status != HTTPStatus.UNAUTHORIZED else "",
            role=held.role.value if held else "",
            user=caller.user_id if caller else "",
            address=str((scope.get("client") or ("",))[0]),
            method=scope["method"],
            path=state.get("path", scope["path"]),
            what=state.get("what", ""),
            turn=turn,
            status=status,
        )


def _with_late_schemas(app: FastAPI) -> None:
    """Make the schemas that only the documentation needs when it is asked for, so that the start is quicker.

    Every route refers to the schema of problems, which FastAPI does not find by itself.
    """
    made = app.openapi

    def openapi() -> dict[str, object]:
        known = app.openapi_schema is not None
        for route in app.routes:
            if isinstance(route, APIRoute):
                for code, said in route.responses.items():
                    if model := said.pop(LATE_MODEL, None):
                        name = f"Response_{code}_{route.unique_id}"
                        route.response_fields[code] = create_model_field(name, model, mode="serialization")
        schema = made()
        if not known:
            problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas = schema.setdefault("components", {}).setdefault("schemas", {})
            schemas |= problem.pop("$defs", {}) | {"Problem": problem}
            describe(schema)
        return schema

    app.openapi = openapi  # type: ignore[method-assign]
