"""The voice of a language model: one call for a reply, or one for each lens a thought is seen through.

The rule it keeps: within its deadline it says something fit to be said, or raises an `LLMError`; then another
voice can speak.
"""

from __future__ import annotations

from noodlings.llm.answer import sayable
from noodlings.llm.call import Answer, Call, Task
from noodlings.llm.gateway import Gateway
from noodlings.llm.prompts import modulate_prompt, reply_prompt
from noodlings.ports import Allowance, Speech, Utterance
from noodlings.values.trace import Lens

REPLY_TEMPERATURE = 0.8
MODULATE_TEMPERATURE = 0.7


class OpenAIVoice:
    """The port `Voice` over a model."""

    name = "llm"

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def speak(self, utterance: Utterance, allowance: Allowance) -> Speech:
        """The model's reply. Raises `LLMError` when there is none that can be said, or not in time."""
        call = Call(
            Task.REPLY,
            reply_prompt(utterance),
            REPLY_TEMPERATURE,
            tokens=utterance.persona.max_tokens,
            seed=utterance.seed,
        )
        return Speech(await self._said(call, utterance, allowance))

    async def modulate(self, thought: str, lens: Lens, utterance: Utterance, allowance: Allowance) -> str:
        """The thought through one lens. Raises `LLMError` when it cannot be said, or not in time."""
        call = Call(
            Task.MODULATE,
            modulate_prompt(thought, lens, utterance),
            MODULATE_TEMPERATURE,
            tokens=utterance.persona.max_tokens,
            seed=utterance.seed,
        )
        return await self._said(call, utterance, allowance)

    async def _said(self, call: Call, utterance: Utterance, allowance: Allowance) -> str:
        def read(answer: Answer) -> str:
            return sayable(answer.text, utterance.persona, whole=answer.whole)

        return await self._gateway.ask(call, read, allowance)
