"""What an endpoint answers that is no success: its status, and what it says of it, as far as that is read.

The `openai` library reads such an answer to its end, however long it is; here it is cut before that.
"""

from __future__ import annotations

import json
import math
from typing import Any

LARGEST_REFUSAL = 20_000
"""Bytes; of a larger one no more is read, and what it says is lost."""


class Refused(Exception):
    """A status other than success.

    Attributes:
        status: of HTTP, 300…599.
        message: what the server says, raw; "" for nothing of the usual shape.
        param: the parameter of the call that it is about, or "".
        wait: seconds the server asks to be left alone for, ≥ 0.
    """

    def __init__(self, status: int, body: bytes = b"", retry_after: str = "") -> None:
        super().__init__(status)
        self.status = status
        self.wait = _seconds(retry_after)
        self.message, self.param = _said(body)


async def refuse(response: Any) -> None:
    """A hook of the HTTP client for each answer that begins. Raises `Refused` for what is no success."""
    if response.is_success:
        return
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > LARGEST_REFUSAL:
            break
    raise Refused(response.status_code, bytes(body), response.headers.get("retry-after", ""))


def _said(body: bytes) -> tuple[str, str]:
    """Message and parameter in an error as OpenAI sends it, or with the message alone as others do."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return "", ""
    error = found.get("error", found) if isinstance(found, dict) else None
    if isinstance(error, dict):
        return str(error.get("message") or error.get("detail") or ""), str(error.get("param") or "")
    return (error, "") if isinstance(error, str) else ("", "")


def _seconds(retry_after: str) -> float:
    """How long a server asks to wait; 0 where it names a date, or nothing of use."""
    try:
        seconds = float(retry_after)
    except ValueError:
        return 0.0
    return seconds if 0.0 <= seconds < math.inf else 0.0
