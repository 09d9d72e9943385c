"""The voice of a language model behind an OpenAI-compatible endpoint: one chat call for a reply.

Whatever goes wrong there becomes an `LLMError` that names the endpoint and never the key, within the
deadline; so another voice can speak. The library is imported with the first call.
"""

from __future__ import annotations

import asyncio
import json
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from noodlings.config import LLMSettings
from noodlings.endpoint import NO_KEY, address, refusal
from noodlings.errors import LLMError
from noodlings.llm.answer import content, sayable, tokens_used
from noodlings.llm.prompts import reply_prompt
from noodlings.ports import Speech, Utterance

if TYPE_CHECKING:
    from openai import AsyncOpenAI

LARGEST_ANSWER = 1_000_000
"""Bytes; of a larger answer no more is read."""
RETRIES = 1
"""How often a call that failed on its way is made again, within the same deadline."""
TEMPERATURE = 0.8


class OpenAIVoice:
    """The port `Voice` over a model.

    Args:
        settings: endpoint, model, key, deadline of a whole reply in seconds, and the longest reply in tokens
            (a recipe may say less).

    Raises:
        UserError: the endpoint is no web address.
    """

    name = "llm"

    def __init__(self, settings: LLMSettings) -> None:
        self._endpoint = f"the model at {address(settings.base_url, 'llm.base_url')}"
        self._settings = settings
        self._key = settings.api_key.get_secret_value()
        self._client: AsyncOpenAI | None = None

    async def speak(self, utterance: Utterance) -> Speech:
        """The model's reply. Raises `LLMError` when there is none that can be said, or not in time."""
        try:
            async with asyncio.timeout(self._settings.timeout_seconds):
                answer = await self._ask(utterance)
            text = sayable(content(answer), utterance.persona)
        except TimeoutError:
            raise LLMError(
                f"{self._endpoint} gave no answer in {self._settings.timeout_seconds:g} s"
            ) from None
        except LLMError as error:
            raise LLMError(f"{self._endpoint}: {error}") from None
        return Speech(text, calls=1, tokens=tokens_used(answer))

    async def close(self) -> None:
        """Let go of open connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _ask(self, utterance: Utterance) -> Any:
        """The answer of the endpoint, parsed from JSON, whatever that is."""
        openai = await asyncio.to_thread(import_module, "openai")  # a second, the first time
        system, user = reply_prompt(utterance)
        body = bytearray()
        try:
            call = self._connection(openai).chat.completions.with_streaming_response.create(
                model=self._settings.model,
                messages=[{"role": "system", "content": system}, {"role": "user", "content": user}],
                max_tokens=min(self._settings.max_tokens, utterance.persona.max_tokens),
                temperature=TEMPERATURE,
                seed=utterance.seed,
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
        except openai.APIStatusError as error:
            raise LLMError(refusal(error.status_code, error.message, self._key)) from None
        except openai.APIConnectionError:
            raise LLMError("it cannot be reached") from None
        except Exception as error:  # noqa: BLE001 -- the library lets errors of its transport through as they are
            raise LLMError(f"the answer broke off ({type(error).__name__})") from None
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
