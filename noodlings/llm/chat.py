"""One chat call to a model behind an OpenAI-compatible endpoint: LM Studio, Ollama, vLLM, OpenAI.

Whatever goes wrong there becomes an `LLMError` that names the endpoint and never the key, within the
deadline; so something else can take the model's place. The library is imported with the first call.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from noodlings.config import LLMSettings
from noodlings.endpoint import NO_KEY, address, failure
from noodlings.errors import LLMError

if TYPE_CHECKING:
    from openai import AsyncOpenAI

LARGEST_ANSWER = 1_000_000
"""Bytes; of a larger answer no more is read."""
RETRIES = 1
"""How often a call that failed on its way is made again, within the same deadline."""

T = TypeVar("T")


class Chat:
    """A model at an endpoint.

    Args:
        settings: endpoint, model and key.

    Raises:
        UserError: the endpoint is no web address.
    """

    def __init__(self, settings: LLMSettings) -> None:
        self._endpoint = f"the model at {address(settings.base_url, 'llm.base_url')}"
        self._settings = settings
        self._key = settings.api_key.get_secret_value()
        self._client: AsyncOpenAI | None = None

    async def ask(
        self, prompt: tuple[str, str], read: Callable[[Any], T], *, seconds: float, **wanted: Any
    ) -> T:
        """What `read` makes of the model's answer.

        Args:
            prompt: the system's message and the user's.
            read: from the answer as parsed from JSON, whatever that is; raises `LLMError` when it is no use.
            seconds: the deadline, retries included.
            wanted: further parameters of the call, as the endpoint names them.

        Raises:
            LLMError: there is no answer of any use, or not in time.
        """
        try:
            async with asyncio.timeout(seconds):
                answer = await self._answer(prompt, wanted)
            return read(answer)
        except TimeoutError:
            raise LLMError(f"{self._endpoint} gave no answer in {seconds:g} s") from None
        except LLMError as error:
            raise LLMError(f"{self._endpoint}: {error}") from None

    async def close(self) -> None:
        """Let go of open connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _answer(self, prompt: tuple[str, str], wanted: dict[str, Any]) -> Any:
        """The answer of the endpoint, parsed from JSON, whatever that is."""
        openai = await asyncio.to_thread(import_module, "openai")  # a second, the first time
        system, user = prompt
        body = bytearray()
        try:
            call = self._connection(openai).chat.completions.with_streaming_response.create(
                model=self._settings.model,
                messages=[{"role": "system", "content": system}, {"role": "user", "content": user}],
                **wanted,
            )
            async with call as response:
                async for piece in response.iter_bytes():
                    body += piece
                    if len(body) > LARGEST_ANSWER:
                        raise LLMError(f"it answered more than {LARGEST_ANSWER:,} bytes")
        except LLMError:
            raise
        except openai.APITimeoutError:
            raise TimeoutError from None
        except Exception as error:  # noqa: BLE001 -- the library lets errors of its transport through as they are
            raise LLMError(failure(error, openai, self._key)) from None
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise LLMError("its answer is no JSON") from None

    def _connection(self, library: ModuleType) -> AsyncOpenAI:
        """The client, made with the first call: from then on its connections are kept open."""
        if self._client is None:
            self._client = library.AsyncOpenAI(
                base_url=self._settings.base_url,
                api_key=self._key or NO_KEY,
                timeout=self._settings.timeout_seconds,
                max_retries=RETRIES,
            )
        return self._client
