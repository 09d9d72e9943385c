"""One attempt at a call, over the client of the `openai` library: no retries, no deadline of its own.

Whatever goes wrong is a `CallFailed` in words that never hold the key. The library is loaded with the first
call. What is asked goes to the endpoint and nowhere else: redirects are not followed.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from noodlings.config import LLMSettings
from noodlings.llm.call import Answer, Call, CallFailed, Receipt
from noodlings.llm.completion import DONE, completion, piece
from noodlings.llm.endpoint import NO_KEY, failure, refusal
from noodlings.llm.refused import Refused, refuse
from noodlings.llm.sse import events

if TYPE_CHECKING:
    from openai import AsyncOpenAI

LARGEST_ANSWER = 4_000_000
"""Bytes; of a larger answer no more is read. A stream takes some 300 for each token."""
LINGER = 0.5
"""Seconds that a stream whose answer is complete may take to say what it cost, and to end."""

_USELESS = frozenset({401, 403})
"""Refusals of everything that is asked, beside those that may pass."""
SPARED = frozenset({"max_tokens", "temperature", "seed", "response_format", "stream_options"})
"""Parameters that a model may refuse by name, and is asked without from then on. In place of the first it is
told `max_completion_tokens`, as some of OpenAI's want."""


class Wire:
    """The connections to an endpoint.

    Args:
        settings: endpoint and key.
    """

    def __init__(self, settings: LLMSettings) -> None:
        self._base_url = settings.base_url
        self._key = settings.api_key.get_secret_value()
        self._client: AsyncOpenAI | None = None
        self._refused: defaultdict[str, set[str]] = defaultdict(set)

    async def send(
        self, call: Call, model: str, tokens: int, receipt: Receipt, heard: Callable[[], object]
    ) -> Answer:
        """The endpoint's answer.

        Args:
            model: its name there.
            tokens: the most there may be in the answer.
            receipt: gets what it costs, also when it fails.
            heard: called when the first word of a streamed call is there.

        Raises:
            CallFailed: there is no answer.
        """
        openai = await asyncio.to_thread(import_module, "openai")  # a second, the first time
        try:
            sending = self._connection(openai).chat.completions.with_streaming_response.create(
                **self._parameters(call, model, tokens)
            )
            async with sending as response:
                pieces = _limited(response.iter_bytes())
                kind = response.headers.get("content-type", "").lower()
                if kind.startswith("text/event-stream"):
                    return await self._streamed(pieces, receipt, heard)
                return await self._whole(pieces, receipt)
        except CallFailed:
            raise
        except Exception as error:  # noqa: BLE001 -- the library lets errors of its transport through as they are
            met = error if isinstance(error, Refused) else error.__cause__  # some versions wrap it
            if isinstance(met, Refused):
                receipt.refused = True
                raise self._refusal(met, model) from None
            lost = isinstance(error, openai.APIConnectionError)
            receipt.refused = lost
            raise CallFailed(failure(error, openai), passing=lost) from None

    async def close(self) -> None:
        """Let go of open connections. A second time it does nothing."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _whole(self, pieces: AsyncIterator[bytes], receipt: Receipt) -> Answer:
        body = bytearray()
        async for some in pieces:
            body += some
        answer, receipt.usage = completion(body, self._key)
        receipt.answered = len(answer.text)
        return answer

    async def _streamed(
        self, pieces: AsyncIterator[bytes], receipt: Receipt, heard: Callable[[], object]
    ) -> Answer:
        texts: list[str] = []
        end = ""
        try:
            async with asyncio.timeout(None) as patience:
                async for data in events(pieces):
                    if data.strip() == DONE:
                        end = end or "stop"
                    else:
                        part = piece(data, self._key)
                        receipt.usage = max(receipt.usage, part.usage)
                        receipt.answered += len(part.text)
                        texts.append(part.text)
                        end = end or part.end
                        if part.text:
                            heard()
                    if end and patience.when() is None:
                        patience.reschedule(asyncio.get_running_loop().time() + LINGER)
        except TimeoutError:
            pass  # the answer is complete, only the connection lingers
        if not end:
            raise CallFailed("its stream ended in the middle")
        return Answer("".join(texts), end != "length")

    def _refusal(self, met: Refused, model: str) -> CallFailed:
        words = refusal(met.status, met.message, self._key)
        refused = self._refused[model]
        if met.status == 400 and met.param in SPARED - refused:
            refused.add(met.param)
            return CallFailed(words, passing=True, ailing=False)
        passing = met.status == 429 or met.status >= 500
        return CallFailed(words, passing=passing, ailing=passing or met.status in _USELESS, wait=met.wait)

    def _parameters(self, call: Call, model: str, tokens: int) -> dict[str, Any]:
        """Of the call, as the endpoint names them, without those the model refused."""
        refused = self._refused[model]
        system, user = call.prompt
        wanted: dict[str, Any] = {
            "model": model,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
            "max_tokens": tokens,
            "temperature": call.temperature,
        }
        if "max_tokens" in refused:
            wanted["max_completion_tokens"] = tokens
        if call.seed is not None:
            wanted["seed"] = call.seed
        if call.format is not None:
            wanted["response_format"] = call.format
        if call.streamed:
            wanted |= {"stream": True, "stream_options": {"include_usage": True}}
        return {name: value for name, value in wanted.items() if name not in refused}

    def _connection(self, openai: ModuleType) -> AsyncOpenAI:
        """The client, made with the first call: from then on its connections are kept open."""
        if self._client is None:
            self._client = openai.AsyncOpenAI(
                base_url=self._base_url,
                api_key=self._key or NO_KEY,
                timeout=None,  # whoever sends has a deadline
                max_retries=0,
                http_client=openai.DefaultAsyncHttpxClient(
                    follow_redirects=False, event_hooks={"response": [refuse]}
                ),
            )
        return self._client


async def _limited(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The same, up to `LARGEST_ANSWER`."""
    size = 0
    async for some in pieces:
        size += len(some)
        if size > LARGEST_ANSWER:
            raise CallFailed(f"it answered more than {LARGEST_ANSWER:,} bytes")
        yield some
