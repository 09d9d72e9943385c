"""Text → affect by a language model: one call for five numbers.

A model understands irony and what a piece of news means, which words and vectors do not show. It only refines
an affect: a percept is felt and kept before a model is asked. The result is five finite numbers or an
`LLMError`; nothing is guessed.
"""

from __future__ import annotations

from typing import Any

from noodlings.errors import LLMError
from noodlings.llm.call import ModelCall, Task, answer_format
from noodlings.llm.gateway import Gateway
from noodlings.llm.guard import json_object
from noodlings.llm.prompting import appraisal_prompt
from noodlings.ports import Allowance
from noodlings.values.affect import AXES, Affect

OVERSHOOT = 1.0
"""How far beyond its axis a number is still clamped; further out it must be on another scale."""

_LOWEST = {axis: -1.0 if axis == "valence" else 0.0 for axis in AXES}
_FORMAT = answer_format("affect", {axis: {"type": "number"} for axis in AXES})


class LLMAppraiser:
    """The port `FeelingModel` over a model."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def appraise(self, text: str, addressed: bool, allowance: Allowance) -> Affect:
        """What is felt about a text. Raises `LLMError` if the model does not say so in time."""
        call = ModelCall(Task.APPRAISE, appraisal_prompt(text, addressed), temperature=0.0, format=_FORMAT)
        return await self._gateway.ask(call, lambda answer: affect_in(answer.text), allowance)


def affect_in(text: str) -> Affect:
    """The affect in a model's answer: a JSON object with a number for each axis, whatever stands around it.

    Raises:
        LLMError: there is none, or the number of an axis is missing or more than `OVERSHOOT` out of range.
    """
    found = json_object(text, "its appraisal")
    return Affect.of([_number(found, axis) for axis in AXES])


def _number(found: dict[str, Any], axis: str) -> float:
    value = found.get(axis)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise LLMError(f"its appraisal has no number for {axis}")
    if not _LOWEST[axis] - OVERSHOOT <= value <= 1.0 + OVERSHOOT:  # NaN fails every comparison
        raise LLMError(f"its appraisal is out of range: {axis} {value!r:.20}")
    return float(value)
