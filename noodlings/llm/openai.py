"""The voice of a language model: one call for a reply, or one for each lens a thought is seen through.

Within its deadline it returns something fit to be said or raises an `LLMError`, so that another voice can
speak. An answer becomes one printable line in the character's own voice, or it is refused.
"""

from __future__ import annotations

import re

from noodlings.errors import LLMError
from noodlings.llm.call import ModelAnswer, ModelCall, Task
from noodlings.llm.gateway import Gateway
from noodlings.llm.prompts import modulate_prompt, reply_prompt
from noodlings.ports import Allowance, Speech, Utterance
from noodlings.text import clean, shorten
from noodlings.values.lens import Lens
from noodlings.values.persona import Persona

LONGEST_REPLY = 1_000
"""Characters of a reply; a longer one is cut after a sentence."""

LONGEST_ANSWER = 20_000
"""Characters of any answer; what comes after is not looked at, for that takes time and is no use."""

_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?(?:heard|thought|memory|said|read|images|game|examples)>")
_SENTENCE_END = re.compile(r"[.!?…][\"”')*]*(?=\s|$)")
_QUOTES = {'"': '"', "“": "”", "«": "»"}


def without_thinking(text: str) -> str:
    """An answer without what a model thought aloud before it, up to `LONGEST_ANSWER`."""
    return _THINKING.sub(" ", text)[:LONGEST_ANSWER]


def sayable(text: str, persona: Persona, *, whole: bool = True) -> str:
    """The reply without thinking aloud, control characters, tags of a prompt, its name and quotes around it.

    Args:
        text: what the model answered.
        persona: who says it.
        whole: whether the answer came to its own end; else what stands after its last sentence is left out.

    Raises:
        LLMError: nothing is left that could be said.
    """
    line: str = clean(_TAG.sub(" ", without_thinking(text)))
    name = re.compile(rf"^\W*{_names(persona)}\W*(?:says|said)?\W*?:\s*", re.IGNORECASE)
    line = _unquoted(name.sub("", line, count=1))
    if not any(c.isalnum() for c in line):
        raise LLMError("its answer has no words in it")
    return line if whole and len(line) <= LONGEST_REPLY else _cut(line)


def _names(persona: Persona) -> str:
    return f"(?:{'|'.join(re.escape(name) for name in (persona.name, *persona.aliases))})"


def _unquoted(line: str) -> str:
    close = _QUOTES.get(line[:1])
    inner = line[1:-1]
    wrapped = close is not None and len(line) > 1 and line.endswith(close) and close not in inner
    return inner.strip() if wrapped else line


def _cut(line: str) -> str:
    """The whole sentences of a line, as many as there is room for."""
    ends = [end.end() for end in _SENTENCE_END.finditer(line, 0, LONGEST_REPLY)]
    return line[: ends[-1]] if ends else shorten(line, LONGEST_REPLY)


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

    async def speak(self, utterance: Utterance, allowance: Allowance) -> Speech:
        """The model's reply. Raises `LLMError` when there is none that can be said, or not in time."""
        call = ModelCall(
            Task.REPLY,
            reply_prompt(utterance),
            _temperature(utterance.persona, REPLY_TEMPERATURE),
            tokens=utterance.persona.max_tokens,
            seed=utterance.seed,
        )
        return Speech(await self._said(call, utterance, allowance))

    async def modulate(self, thought: str, lens: Lens, utterance: Utterance, allowance: Allowance) -> str:
        """The thought through one lens. Raises `LLMError` when it cannot be said, or not in time."""
        call = ModelCall(
            Task.MODULATE,
            modulate_prompt(thought, lens, utterance),
            _temperature(utterance.persona, MODULATE_TEMPERATURE),
            tokens=utterance.persona.max_tokens,
            seed=utterance.seed,
        )
        return await self._said(call, utterance, allowance)

    async def _said(self, call: ModelCall, utterance: Utterance, allowance: Allowance) -> str:
        def read(answer: ModelAnswer) -> str:
            return sayable(answer.text, utterance.persona, whole=answer.whole)

        return await self._gateway.ask(call, read, allowance)
