"""The voice of a language model: one call for a reply, or one for each lens a thought is seen through.

Within its deadline it returns something fit to be said or raises an `LLMError`, so that another voice can
speak. What of an answer may be said is up to the `guard`; where it refuses one, the model is asked once more.
"""

from __future__ import annotations

from noodlings.errors import LLMError
from noodlings.llm.call import ModelAnswer, ModelCall, Task
from noodlings.llm.gateway import Gateway
from noodlings.llm.guard import passed
from noodlings.llm.prompting import modulate_prompt, reply_prompt
from noodlings.llm.retry import ask_twice
from noodlings.llm.sentences import SentenceStream
from noodlings.ports import Allowance, Speech, Utterance
from noodlings.values.lens import Lens
from noodlings.values.persona import Persona

REPLY_TEMPERATURE = 0.8
MODULATE_TEMPERATURE = 0.7


def _temperature(persona: Persona, usual: float) -> float:
    """What the recipe says, else the usual one."""
    return usual if persona.temperature is None else persona.temperature


class OpenAIVoice:
    """The port `Voice` over a model."""

    name = "llm"

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._thinks_unmarked = False

    async def speak(self, utterance: Utterance, allowance: Allowance) -> Speech:
        """The model's reply, said sentence by sentence where `allowance.said` takes it so.

        Raises:
            LLMError: there is none that can be said, or not in time, and nothing was said of it.
        """
        call = ModelCall(
            Task.REPLY,
            reply_prompt(utterance, self._gateway.prompt_tokens),
            _temperature(utterance.persona, REPLY_TEMPERATURE),
            tokens=utterance.persona.max_tokens,
            seed=utterance.seed,
            sampling=utterance.persona.sampling,
            speaker=utterance.speaker,
        )
        if allowance.said is None or self._thinks_unmarked:
            return Speech(await self._said(call, utterance, allowance))
        stream = SentenceStream(utterance, allowance.said)
        try:
            return Speech(stream.reply(await self._said(call, utterance, allowance, stream)))
        except LLMError as error:
            if not stream.spoken:
                raise
            return Speech(stream.spoken, cut=str(error))

    async def modulate(self, thought: str, lens: Lens, utterance: Utterance, allowance: Allowance) -> str:
        """The thought through one lens. Raises `LLMError` when it cannot be said, or not in time."""
        call = ModelCall(
            Task.MODULATE,
            modulate_prompt(thought, lens, utterance),
            _temperature(utterance.persona, MODULATE_TEMPERATURE),
            tokens=utterance.persona.max_tokens,
            seed=utterance.seed,
            sampling=utterance.persona.sampling,
            speaker=utterance.speaker,
        )
        return await self._said(call, utterance, allowance)

    async def _said(
        self,
        call: ModelCall,
        utterance: Utterance,
        allowance: Allowance,
        stream: SentenceStream | None = None,
    ) -> str:
        def read(answer: ModelAnswer) -> str:
            # Only its end shows that such a model began by thinking aloud: its answers must be waited for.
            self._thinks_unmarked |= "</think>" in answer.text and "<think" not in answer.text
            return passed(answer.text, utterance, whole=answer.whole)

        return await ask_twice(self._gateway, call, read, allowance, stream)
