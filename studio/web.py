"""The studio in a browser: each page that opens it gets a studio of its own, in a process of its own.

It listens on this machine alone, and only a page that it served itself may talk to it: whoever can, does what
whoever started it may do. All its processes end with it, however it ends.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from shlex import join
from types import FrameType
from urllib.parse import urlsplit

from noodlings.errors import UserError

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
LEAVE_SECONDS = 5.0
"""So long all its processes may take to end when they are told to."""


def serve(command: Sequence[str], port: int, variables: Mapping[str, str]) -> int:
    """Serve a studio in the browser until somebody ends it.

    Args:
        command: starts one studio.
        variables: of the environment, for what is not to be seen in a list of processes.

    Returns:
        What to exit with.

    Raises:
        UserError: what it needs is not installed, or somebody else listens there.
    """
    if find_spec("textual_serve") is None:
        raise UserError("the browser needs one package more: pip install '.[web]' in the folder of noodlings")
    _require_free(port)
    # A session of its own makes one group of all that it starts, which is ended as one.
    process = subprocess.Popen(  # noqa: S603 — ourselves
        [sys.executable, "-m", "studio.web", json.dumps([join(command), port])],
        stdin=subprocess.PIPE,
        start_new_session=True,
        env=os.environ | dict(variables),
    )

    def end(number: int, frame: FrameType | None) -> None:
        _end(process, signal.SIGTERM)
        impatient = threading.Timer(LEAVE_SECONDS, _end, (process, signal.SIGKILL))
        impatient.daemon = True
        impatient.start()

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        code = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _end(process, signal.SIGKILL)
    return 0 if code in (0, -signal.SIGTERM) else 1


def _require_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise UserError(f"{HOST}:{port} cannot be listened at: {error.strerror}; see --port") from None


def _end(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError):  # all of them are gone
        os.killpg(process.pid, number)


def content_policy(port: int) -> str:
    """What a page may fetch: from this machine alone, though textual-serve's names a font from elsewhere.

    Its page has scripts and styles within, and images as data. It is asked for by either of our names, and
    names the other one.
    """
    here = " ".join(["'self'", *(f"http://{name}:{port}" for name in NAMES)])
    streams = " ".join(f"ws://{name}:{port}" for name in NAMES)
    return "; ".join(
        [
            f"default-src {here}",
            f"script-src {here} 'unsafe-inline'",
            f"style-src {here} 'unsafe-inline'",
            f"img-src {here} data: blob:",
            f"font-src {here} data:",
            f"connect-src {here} {streams}",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        ]
    )


def _serve_here(command: str, port: int) -> None:
    """Serve in this process, which leads a group."""
    from aiohttp import web
    from aiohttp.typedefs import Handler
    from textual_serve.server import Server

    allowed = {f"{name}:{port}" for name in NAMES}
    policy = content_policy(port)

    @web.middleware
    async def only_own_pages(request: web.Request, handler: Handler) -> web.StreamResponse:
        origin = request.headers.get("Origin")
        if request.host not in allowed or (origin is not None and urlsplit(origin).netloc not in allowed):
            raise web.HTTPForbidden(text="Only pages of this machine may come here.")
        try:
            answer = await handler(request)
        except web.HTTPException as refusal:
            refusal.headers["Content-Security-Policy"] = policy
            raise
        if not answer.prepared:  # as the stream of a page is by now
            answer.headers["Content-Security-Policy"] = policy
        return answer

    class Web(Server):
        def initialize_logging(self) -> None:
            """What goes wrong is told by the studio itself."""

        def request_exit(self) -> None:
            """At once: nothing is to be kept, and the studios get the same signal."""
            os._exit(0)

        async def on_startup(self, app: web.Application) -> None:
            """Say where it is."""
            print(f"noodlings studio: {self.public_url}  (Ctrl-C ends it)", flush=True)  # noqa: T201

        async def _make_app(self) -> web.Application:
            app: web.Application = await super()._make_app()
            app.middlewares.append(only_own_pages)
            return app

    threading.Thread(target=_end_with_parent, daemon=True).start()
    Web(command, HOST, port, title="noodlings studio").serve()


def _end_with_parent() -> None:
    """Wait until whoever started this is gone, also where it was killed, and end the group."""
    while os.read(0, 1_024):  # not by `sys.stdin`, whose lock would be held to the end
        pass
    os.killpg(0, signal.SIGTERM)


if __name__ == "__main__":
    _serve_here(*json.loads(sys.argv[1]))
