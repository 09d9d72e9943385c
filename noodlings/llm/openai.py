"""The voice of a language model: one chat call for a reply.

The rule it keeps: within its deadline it says something fit to be said, or raises an `LLMError`; then another
voice can speak.
"""

from __future__ import annotations

from typing import Any

from noodlings.config import LLMSettings
from noodlings.llm.answer import content, sayable, tokens_used
from noodlings.llm.chat import Chat
from noodlings.llm.prompts import reply_prompt
from noodlings.ports import Allowance, Speech, Utterance

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
        self._settings = settings
        self._chat = Chat(settings)

    async def speak(self, utterance: Utterance, allowance: Allowance) -> Speech:
        """The model's reply. Raises `LLMError` when there is none that can be said, or not in time."""

        def said(answer: Any) -> Speech:
            allowance.tokens += tokens_used(answer)
            return Speech(sayable(content(answer), utterance.persona))

        allowance.calls += 1
        return await self._chat.ask(
            reply_prompt(utterance),
            said,
            seconds=self._settings.timeout_seconds,
            max_tokens=min(self._settings.max_tokens, utterance.persona.max_tokens),
            temperature=TEMPERATURE,
            seed=utterance.seed,
        )

    async def close(self) -> None:
        """Let go of open connections."""
        await self._chat.close()
