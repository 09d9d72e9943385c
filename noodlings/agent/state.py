"""An agent's stored state, everything it is beside its memories: its shape, and how it is read.

A state may come out of a file that somebody wrote by hand, so whatever is wrong in it is refused in words
before anything is built of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from noodlings.affect.game import GameFeeling
from noodlings.affect.mood import Mood
from noodlings.agent.recipes import plain_persona
from noodlings.errors import UserError
from noodlings.mind.appetites import Appetites
from noodlings.mind.mind import MindState
from noodlings.ports import OwnLine
from noodlings.validation import explain
from noodlings.values.affect import NEUTRAL, Affect
from noodlings.values.audience import Audience

STATE_VERSION = 1


class StoredFeelings(BaseModel):
    """The three parts of `Feelings.as_dict`; each knows its own version."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    mood: dict[str, Any]
    game: dict[str, Any]
    appetites: dict[str, Any]


def _known_line(line: Any) -> Any:
    """A mere string is a line from before it was noted who heard it: then nobody may learn of it."""
    return {"text": line, "heard_by": [], "confined": True} if isinstance(line, str) else line


class StoredLine(BaseModel):
    """An own line, who heard it, and whether nobody else may learn of it; see `OwnLine`."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    text: str
    heard_by: list[str]
    confined: bool


class StoredState(BaseModel):
    """The keys of a state.

    Attributes:
        step: how many percepts the agent took in.
        said: its own latest lines, oldest first.
        last_spoke: when it last said something, world time, or None.
        affect: what it felt about the latest percept, five numbers.
        feelings: see `Feelings.as_dict`.
        mind: see `MindState.as_dict`.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    version: Literal[1]
    step: Annotated[int, Field(ge=0, le=2**53)]
    said: list[Annotated[StoredLine, BeforeValidator(_known_line)]]
    last_spoke: float | None
    affect: list[float]
    feelings: StoredFeelings
    mind: dict[str, Any]


def stored_line(line: OwnLine) -> dict[str, Any]:
    """An own line as it is stored."""
    return {
        "text": line.text,
        "heard_by": sorted(line.audience.witnesses),
        "confined": line.audience.confined,
    }


def own_line(stored: StoredLine) -> OwnLine:
    """The line that was stored."""
    return OwnLine(stored.text, Audience(frozenset(stored.heard_by), stored.confined))


def read_state(data: Mapping[str, Any]) -> StoredState:
    """The state in stored data. Raises `UserError` when a key is wrong, missing or unknown."""
    try:
        return StoredState.model_validate(data)
    except ValidationError as error:
        raise UserError(f"a stored state is damaged: {explain(error, StoredState, quoted=False)}") from None


def check_state(data: Mapping[str, Any]) -> None:
    """Raise `UserError` unless an agent can be restored from this data, to the last number."""
    state = read_state(data)
    Affect.of(state.affect)
    Mood.from_dict(state.feelings.mood, NEUTRAL)
    GameFeeling.from_dict(state.feelings.game)
    Appetites.from_dict(state.feelings.appetites, plain_persona("somebody"))
    MindState.from_dict(state.mind)


def readable_state(data: Mapping[str, Any]) -> dict[str, Any]:
    """The same state with every number in it written as a number, so that a person can read them.

    An agent can be restored from it just as well. Raises `UserError` as `check_state` does.
    """
    check_state(data)
    return {**data, "mind": MindState.from_dict(data["mind"]).as_dict(np.ndarray.tolist)}
