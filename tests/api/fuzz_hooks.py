"""What schemathesis has to know of us: agents that are there, and what no other player may ever be told."""

from __future__ import annotations

from typing import Any

import schemathesis

from api.command_lines import MOST_WAIT

CANARY = "zebrafinch"
"""A word that only one player told."""
AGENTS = ["servnak", "phi", "nobody"]
ENTRIES = 60
"""Memories are asked for up to this number; further ones are hardly there."""


@schemathesis.hook
def before_load_schema(context: Any, raw_schema: dict[str, Any]) -> None:
    """Ask mostly for what is there: what is not is refused in one and the same line."""
    for methods in raw_schema["paths"].values():
        for route in methods.values():
            for parameter in route.get("parameters", []):
                if parameter["in"] == "path" and parameter["name"] == "agent":
                    parameter["schema"]["enum"] = AGENTS
                if parameter["in"] == "path" and parameter["name"] == "entry":
                    parameter["schema"]["maximum"] = ENTRIES


@schemathesis.hook
def filter_path_parameters(context: Any, path_parameters: Any) -> bool:
    """The beginning of a name is a name; so of what is none, only what can be the beginning of none."""
    name = str((path_parameters or {}).get("agent", AGENTS[0]))
    return name in AGENTS or not any(character.isalpha() for character in name)


@schemathesis.hook
def map_body(context: Any, body: Any) -> Any:
    """Nobody waits long for something to be heard."""
    wait = body.get("wait") if isinstance(body, dict) else None
    if isinstance(wait, int | float) and not isinstance(wait, bool) and 0 < wait <= MOST_WAIT:
        return body | {"wait": 0.01}
    return body


@schemathesis.check
def no_data_of_another_player(context: Any, response: Any, case: Any) -> None:
    """Nobody but who told it and who may read everything meets the word."""
    if CANARY in response.text and CANARY not in _sent(case):
        raise AssertionError(f"{case.method} {case.path} told what another player said")


def _sent(case: Any) -> str:
    return f"{case.path_parameters} {case.query} {case.headers} {case.body}"
