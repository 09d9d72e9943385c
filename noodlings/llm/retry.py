"""A call whose answer may be refused: the model is told once what was wrong with it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from noodlings.errors import LLMError
from noodlings.llm.call import Message, ModelAnswer, ModelCall
from noodlings.llm.gateway import Gateway
from noodlings.llm.guard import Refused
from noodlings.llm.prompting import filled
from noodlings.llm.sentences import SentenceStream
from noodlings.ports import Allowance


async def ask_twice(
    gateway: Gateway,
    call: ModelCall,
    read: Callable[[ModelAnswer], str],
    allowance: Allowance,
    stream: SentenceStream | None = None,
) -> str:
    """What `read` makes of the answer, or of a second one if it raises `Refused` and time is left.

    There is no second call if the `stream` has said something of the first answer.

    Raises:
        LLMError: there is no usable answer in time.
    """
    refusals: list[Refused] = []

    def noted(answer: ModelAnswer) -> str:
        try:
            return read(answer)
        except Refused as refused:
            refusals.append(refused)
            raise

    flows = stream.hear if stream else None
    try:
        return await gateway.ask(call, noted, allowance, flows)
    except LLMError:
        if (stream and stream.spoken) or not refusals or time.monotonic() >= allowance.until:
            raise
    return await gateway.ask(_told(call, refusals[0]), read, allowance, flows)


def _told(call: ModelCall, refused: Refused) -> ModelCall:
    """The same call, with the reason of the refusal at the end of its last message."""
    *before, last = call.prompt
    words = filled("retry", reason=str(refused), advice=refused.advice)
    return replace(call, prompt=(*before, Message(last.role, f"{last.content}\n\n{words}")))
