"""The official MCP client in front of a real `noodlings mcp`, over standard input and output or a socket."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from threading import Timer
from typing import Any

from httpx2 import AsyncClient
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from noodlings.config import Settings

ROOT = Path(__file__).parent.parent.parent

TOKENS = {
    "admin": {"role": "admin", "token": "the-token-of-the-admin"},
    "world": {"role": "world", "token": "the-token-of-the-world"},
    "viewer": {"role": "viewer", "token": "the-token-of-a-viewer"},
    "caity": {"role": "player", "token": "the-token-of-player-caity", "user": "user_caity"},
    "toad": {"role": "player", "token": "the-token-of-player-toad", "user": "user_toad"},
}


def environment(**changes: str) -> dict[str, str]:
    """That of this process without settings of ours.

    Words alone are looked for, which starts sooner; and the log, which forgetting does not reach, is silent.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NOODLINGS_")}
    ours = {
        "PYTHONPATH": str(ROOT),
        "NOODLINGS_CONFIG": str(ROOT / "config.yaml"),
        "NOODLINGS_EMBEDDING__MODEL": "none",
        "NOODLINGS_LOG__LEVEL": "warning",
    }
    return kept | ours | changes


def settings_of(folder: Path) -> Settings:
    """The settings that the programs run here with."""
    return Settings(store={"path": str(folder)}, embedding={"model": "none"})  # type: ignore[arg-type]


def command(folder: Path, *more: str) -> list[str]:
    """How the program is started."""
    return [sys.executable, "-m", "noodlings", "mcp", "--data", str(folder), *more]


@asynccontextmanager
async def over_stdio(folder: Path, *more: str, **variables: str) -> AsyncIterator[Client]:
    """A client that started the server itself. What the server writes on standard error, we do too."""
    first, *arguments = command(folder, *more)
    started = StdioServerParameters(command=first, args=arguments, env=environment(**variables), cwd=ROOT)
    async with Client(stdio_client(started), mode="legacy") as client:
        yield client


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A server with `TOKENS` on a free port: its address. It must end well when it is asked to."""
    process = subprocess.Popen(
        command(folder, "--http", "--port", "0"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(NOODLINGS_API__TOKENS=json.dumps(list(TOKENS.values()))),
        cwd=ROOT,
        encoding="utf-8",
    )
    assert process.stdout is not None
    patience = Timer(300, process.kill)
    patience.start()
    try:
        line = process.stdout.readline()
        found = re.search(r"http://\S+/mcp", line)
        assert found, (line, process.communicate())
        yield found[0]
        process.terminate()
        _, complaints = process.communicate(timeout=20)
        assert (process.returncode, complaints) == (0, "")
    finally:
        patience.cancel()
        process.kill()
        process.communicate()


@asynccontextmanager
async def over_http(url: str, who: str = "", user: str = "", mode: str = "auto") -> AsyncIterator[Client]:
    """A client with somebody's token, on behalf of a user."""
    headers = {"Authorization": f"Bearer {TOKENS[who]['token']}"} if who else {}
    headers |= {"Noodlings-User": user} if user else {}
    async with (
        AsyncClient(headers=headers, timeout=20) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


async def done(client: Client, name: str, **arguments: Any) -> CallToolResult:
    """A call that must succeed."""
    result = await client.call_tool(name, arguments)
    assert isinstance(result, CallToolResult)
    assert not result.is_error, said(result)
    return result


async def refused(client: Client, name: str, **arguments: Any) -> str:
    """A call that must be refused, in one sentence."""
    result = await client.call_tool(name, arguments)
    assert isinstance(result, CallToolResult)
    assert result.is_error
    assert result.structured_content is None
    why = said(result)
    assert why.isprintable()
    assert "Traceback" not in why
    return why


def said(result: CallToolResult) -> str:
    """What there is to read of a result."""
    return "\n".join(block.text for block in result.content if block.type == "text")


def texts(result: CallToolResult) -> list[str]:
    """What was found by a search."""
    return [one["entry"]["text"] for one in result.structured_content["memories"]]
