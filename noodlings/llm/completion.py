"""What an OpenAI-compatible endpoint sends, taken apart: whole chat completions, and the pieces of a stream.

Nothing about its shape is taken for granted; what is no completion is a `CallFailed` that says so.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from noodlings.llm.call import Answer, CallFailed
from noodlings.llm.endpoint import clean_words

DONE = "[DONE]"
"""The data of the last event of a stream."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What one event of a stream brings: text, perhaps the end, perhaps what it cost in tokens."""

    text: str = ""
    end: str = ""
    usage: int = 0


def completion(body: bytes | bytearray, key: str) -> tuple[Answer, int]:
    """The answer in a body, and the tokens it cost as far as the server says so."""
    found = _parsed(body, "its answer is no JSON", key)
    try:
        choice = found["choices"][0]
        text, end = choice["message"]["content"], choice.get("finish_reason")
    except (TypeError, KeyError, IndexError, AttributeError):
        raise CallFailed("it answered something that is no chat completion") from None
    if not isinstance(text, str):
        raise CallFailed("it answered without any text", ailing=False)
    return Answer(text, end != "length"), _usage(found)


def piece(data: str, key: str) -> Piece:
    """The piece in the data of an event."""
    found = _parsed(data, "its stream is no JSON", key)
    try:
        choices = found.get("choices") or [{}]
        text = (choices[0].get("delta") or {}).get("content") or ""
        end = choices[0].get("finish_reason") or ""
    except (TypeError, KeyError, IndexError, AttributeError):
        text = None
    if not isinstance(text, str):
        raise CallFailed("its stream is no chat completion")
    return Piece(text, str(end), _usage(found))


def _parsed(text: bytes | bytearray | str, otherwise: str, key: str) -> Any:
    """JSON, whatever it is; an error that the server sends in place of an answer is raised."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise CallFailed(otherwise) from None
    error = found.get("error") if isinstance(found, dict) else None
    if error:
        said = error.get("message") if isinstance(error, dict) else error
        raise CallFailed(f"it answered with an error: {clean_words(str(said), key)}")
    return found


def _usage(found: Any) -> int:
    usage = found.get("usage") if isinstance(found, dict) else None
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    return total if isinstance(total, int) and not isinstance(total, bool) and 0 < total < 10**9 else 0
