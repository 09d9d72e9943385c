"""Which action goes with an answer, chosen by a language model in one more call, after the words are said.

The result is an offered action with valid arguments, or none, or an `LLMError`; an invalid choice is never
repaired.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from noodlings.errors import LLMError, UserError
from noodlings.llm.call import ModelCall, Task, answer_format, strict_object
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
        """The model's choice. Raises `LLMError` if there is no valid one in time."""
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
    """The `response_format` in which every answer is a choice. An optional argument may be null."""
    return answer_format("action", {"action": {"anyOf": [_choice(NONE, {}), *map(_offer, offered)]}})


def _offer(action: OfferedAction) -> dict[str, Any]:
    arguments = dict(action.schema["properties"])
    for name in arguments.keys() - set(action.schema["required"]):
        given = arguments[name]
        more = {"enum": [*given["enum"], None]} if "enum" in given else {}
        arguments[name] = given | {"type": [given["type"], "null"]} | more
    return _choice(action.name, arguments)


def _choice(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return strict_object({"name": {"type": "string", "enum": [name]}, "arguments": strict_object(arguments)})


def action_in(text: str, offered: Sequence[OfferedAction]) -> Action | None:
    """The action in a model's answer, None if it chose none. Raises `LLMError` for an invalid choice."""
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
