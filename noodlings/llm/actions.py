"""Which action goes with an answer, by a language model: one more call, when the words are said.

The rule it keeps: one of the actions that were offered, with arguments that fit; or none; or an `LLMError`.
Nothing that does not fit is bent until it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from noodlings.errors import LLMError, UserError
from noodlings.llm.call import ModelCall, Task
from noodlings.llm.gateway import Gateway
from noodlings.llm.guard import json_object
from noodlings.llm.prompting import action_prompt
from noodlings.ports import Allowance, Utterance
from noodlings.values.action import NONE, Action, OfferedAction

BY_MODEL = "llm"


class LLMChooser:
    """The port `ActionChooser` over a model."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def choose(self, utterance: Utterance, response: str, allowance: Allowance) -> Action | None:
        """The model's choice. Raises `LLMError` when it gives none that will do, or not in time."""
        offered = utterance.percept.actions
        call = ModelCall(
            Task.ACTION,
            action_prompt(utterance, response),
            temperature=0.0,
            seed=utterance.seed,
            format=response_format(offered),
        )
        return await self._gateway.ask(call, lambda answer: action_in(answer.text, offered), allowance)


def response_format(offered: Sequence[OfferedAction]) -> dict[str, Any]:
    """The `response_format` in which every answer is a choice.

    As strict endpoints want it, every property is required; one that may be left out may be null.
    """
    nothing = _object({"name": {"type": "string", "enum": [NONE]}, "arguments": _object({})})
    choices = [nothing, *map(_choice, offered)]
    schema = _object({"action": {"anyOf": choices}})
    return {"type": "json_schema", "json_schema": {"name": "action", "strict": True, "schema": schema}}


def _choice(action: OfferedAction) -> dict[str, Any]:
    arguments = dict(action.schema["properties"])
    for name in arguments.keys() - set(action.schema["required"]):
        given = arguments[name]
        more = {"enum": [*given["enum"], None]} if "enum" in given else {}
        arguments[name] = given | {"type": [given["type"], "null"]} | more
    return _object({"name": {"type": "string", "enum": [action.name]}, "arguments": _object(arguments)})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def action_in(text: str, offered: Sequence[OfferedAction]) -> Action | None:
    """The action in a model's answer, None where it chose none.

    Raises:
        LLMError: there is no choice in it, or of something that was not offered or does not fit.
    """
    choice = json_object(text, "its choice of an action").get("action")
    choice = choice if isinstance(choice, dict) else {}
    name, arguments = choice.get("name"), choice.get("arguments")
    if name == NONE:
        return None
    chosen = next((action for action in offered if action.name == name), None)
    if chosen is None or not isinstance(arguments, dict):
        raise LLMError("it chose an action that was not offered")
    try:
        return chosen.chosen({key: value for key, value in arguments.items() if value is not None}, BY_MODEL)
    except UserError as error:
        raise LLMError(f"its action is not usable: {error}") from None
