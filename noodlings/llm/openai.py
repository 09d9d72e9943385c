"""The voice of a language model: one call for a reply, or one for each lens of a thought.

Within its deadline it returns something fit to be said or raises an `LLMError`, so that another voice can
speak. The `guard` decides what may be said of an answer; if it refuses one of which nothing was said yet, the
model is asked once more.
"""

from __future__ import annotations

from noodlings.errors import LLMError
from noodlings.llm.call import ModelAnswer, ModelCall, Prompt, Refused, Task
from noodlings.llm.gateway import Gateway
from noodlings.llm.guard import passed
from noodlings.llm.prompting import modulate_prompt, reply_prompt
from noodlings.llm.sentences import SentenceStream
from noodlings.ports import Allowance, Speech, Utterance
from noodlings.values.lens import Lens

REPLY_TEMPERATURE = 0.8
MODULATE_TEMPERATURE = 0.7


def _call(task: Task, prompt: Prompt, utterance: Utterance, usual_temperature: float) -> ModelCall:
    persona = utterance.persona
    return ModelCall(
        task,
        prompt,
        usual_temperature if persona.temperature is None else persona.temperature,
        tokens=persona.max_tokens,
        seed=utterance.seed,
        sampling=persona.sampling,
        speaker=utterance.speaker,
    )


class OpenAIVoice:
    """The port `Voice` over a model."""

    name = "llm"

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._thinks_unmarked = False

    async def speak(self, utterance: Utterance, allowance: Allowance) -> Speech:
        """The model's reply, said sentence by sentence if `allowance.said` is set.

        Raises:
            LLMError: there is no reply in time that can be said, and no sentence of it was said.
        """
        prompt = reply_prompt(utterance, self._gateway.prompt_tokens)
        call = _call(Task.REPLY, prompt, utterance, REPLY_TEMPERATURE)
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
        """The thought through one lens. Raises `LLMError` if there is nothing in time that can be said."""
        prompt = modulate_prompt(thought, lens, utterance)
        return await self._said(
            _call(Task.MODULATE, prompt, utterance, MODULATE_TEMPERATURE), utterance, allowance
        )

    async def _said(
        self,
        call: ModelCall,
        utterance: Utterance,
        allowance: Allowance,
        stream: SentenceStream | None = None,
    ) -> str:
        def read(answer: ModelAnswer) -> str:
            # Only the end shows that such a model began by thinking aloud, so its answers are not streamed.
            self._thinks_unmarked |= "</think>" in answer.text and "<think" not in answer.text
            try:
                return passed(answer.text, utterance, whole=answer.whole)
            except Refused as refused:
                if stream and stream.spoken:
                    raise LLMError(str(refused)) from None
                raise

        return await self._gateway.ask(call, read, allowance, stream.hear if stream else None)
