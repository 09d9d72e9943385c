"""The chain: which transistors a character has, and how a thought goes through all of them.

Fused: every transistor that has a lens hands it over, and a voice takes all lenses in one call; the others
follow one by one. Serial: one after the other. A transistor that fails leaves the thought as it was, and is
reported by name, never in the world.

A character has the five built-in transistors, and those that its recipe names. A recipe is data and runs
nothing. The transistor it names is a file `NAME.py` with one `CognitiveTransistor` in a folder of the world's
owner.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from noodlings.errors import LLMError, UserError
from noodlings.text import MAX_LINE, clean, shorten
from noodlings.transistors.base import CognitiveTransistor, ThoughtState, through
from noodlings.transistors.builtin import (
    AffectTransistor,
    EgoTransistor,
    GoalTransistor,
    MemoryTransistor,
    SubconsciousTransistor,
)
from noodlings.validation import nearest
from noodlings.values.lens import Lens
from noodlings.values.persona import ID, TRANSISTORS, Persona
from noodlings.values.trace import Modulation

log = logging.getLogger(__name__)

OFFLINE = "offline"


class Coloured(NamedTuple):
    """A thought after transistors ("" for lenses alone), the record and lens of each, and what failed."""

    text: str
    modulations: tuple[Modulation, ...]
    degraded: tuple[str, ...]
    lenses: tuple[Lens, ...]


class Chain:
    """The transistors of one character, in order."""

    def __init__(self, transistors: Sequence[CognitiveTransistor]) -> None:
        self.transistors = tuple(transistors)

    async def lenses(self, state: ThoughtState) -> Coloured:
        """The lenses for a fused call; for transistors without one see `own_way`."""
        return await _run([t for t in self.transistors if t.by_lens], "", state, fused=True)

    @property
    def changes_words(self) -> bool:
        """Whether `own_way` may change the words of a fused call."""
        return any(transistor.gain and not transistor.by_lens for transistor in self.transistors)

    async def own_way(self, thought: str, state: ThoughtState) -> Coloured:
        """The thought, after a fused call, through the transistors that use no lens."""
        return await _run([t for t in self.transistors if not t.by_lens], thought, state)

    async def serial(self, thought: str, state: ThoughtState) -> Coloured:
        """The thought through all transistors, one by one."""
        return await _run(self.transistors, thought, state)


async def _run(
    transistors: Sequence[CognitiveTransistor], thought: str, state: ThoughtState, fused: bool = False
) -> Coloured:
    """The thought through these transistors, one by one; `fused` takes their lenses and no words."""
    modulations: list[Modulation] = []
    degraded: list[str] = []
    lenses: list[Lens] = []
    made_by = "fused" if fused else OFFLINE if state["voice"].name == OFFLINE else "serial"
    for transistor in transistors:
        before, lens, how = thought, None, "off"
        if transistor.gain:
            try:
                if fused:
                    lens = transistor.lens(state)
                else:
                    lens, thought = await _step(transistor, before, state)
                shows = lens is not None if fused else thought != before
                how = made_by if shows else "passed"
            except Exception as error:  # noqa: BLE001 -- a user's own code: whatever it does stays in here
                thought, how = before, _note_failure(transistor, error, degraded)
        modulations.append(_modulation(transistor, before, thought, how, lens))
        if lens is not None:
            lenses.append(lens)
    return Coloured(thought, tuple(modulations), tuple(degraded), tuple(lenses))


async def _step(
    transistor: CognitiveTransistor, thought: str, state: ThoughtState
) -> tuple[Lens | None, str]:
    """The lens, if there is one, and the thought after it. Raises whatever the transistor raises."""
    if transistor.by_lens:
        lens = transistor.lens(state)
        return lens, thought if lens is None else _checked_line(await through(lens, thought, state))
    left = max(state["allowance"].until - time.monotonic(), 0.0)
    try:
        async with asyncio.timeout(left if left < 1e9 else None):  # of code that we do not know
            return None, _checked_line(await transistor.modulate(thought, state))
    except TimeoutError:
        raise LLMError("it was not ready in time") from None


def _checked_line(made: object) -> str:
    if not isinstance(made, str):
        raise LLMError(f"it gave {type(made).__name__} instead of text")
    line = shorten(clean(made), MAX_LINE)
    if not line:
        raise LLMError("it gave no words")
    return line


def _note_failure(transistor: CognitiveTransistor, error: Exception, degraded: list[str]) -> str:
    """Report what failed by name, with the type of an error that is not ours."""
    reason = clean(str(error)) if isinstance(error, LLMError) else clean(f"{type(error).__name__}: {error}")
    degraded.append(f"transistor {transistor.name}: {reason}")
    log.warning("the transistor %s failed, so the thought is left unchanged: %s", transistor.name, reason)
    return "failed"


def _modulation(
    transistor: CognitiveTransistor, before: str, after: str, how: str, lens: Lens | None
) -> Modulation:
    if lens is None:
        return Modulation(transistor.name, transistor.gain, before, after, how)
    return Modulation(
        transistor.name,
        transistor.gain,
        before,
        after,
        how,
        lens.direction,
        tuple(dict.fromkeys(filter(None, (lens.cue, *lens.notes)))),
        tuple(entry.id for entry in lens.entries),
        tuple(symbol.id for symbol in lens.symbols),
    )


FOLDER_NAME = "transistors"
"""The folder of a user's own transistors, in the data folder."""

DEFAULT_GAIN = 0.4
"""The gain of a built-in transistor that a recipe does not mention."""

_THE_FIVE: dict[str, type[CognitiveTransistor]] = {
    cls.name: cls
    for cls in (AffectTransistor, GoalTransistor, MemoryTransistor, SubconsciousTransistor, EgoTransistor)
}


def load_chain(persona: Persona, folder: Path) -> Chain:
    """The chain of a character: the five, then its own in the order of the recipe.

    Args:
        folder: where a user's own transistors are; it need not exist while no recipe names one.

    Raises `UserError` when a named transistor does not exist, or cannot be run.
    """
    gains = persona.transistors
    five = [cls(gains.get(name, DEFAULT_GAIN)) for name, cls in _THE_FIVE.items()]
    own = [_own(name, gain, folder, persona) for name, gain in gains.items() if name not in _THE_FIVE]
    return Chain([*five, *own])


def _own(name: str, gain: float, folder: Path, persona: Persona) -> CognitiveTransistor:
    path = folder / f"{name}.py"
    if not ID.fullmatch(name) or not path.is_file():  # a name may not lead out of the folder
        raise UserError(
            f"the recipe of {persona.name} names a transistor {name}, but there is no {name}.py "
            f"in {folder}{nearest(name, TRANSISTORS)}"
        )
    made = _only_class(_run_file(path, name), path)(gain)
    made.name = name
    return made


def _run_file(path: Path, name: str) -> ModuleType:
    label = f"noodlings_own_transistor_{name}"
    spec = spec_from_file_location(label, path)
    if spec is None or spec.loader is None:
        raise UserError(f"the transistor {path} is not a Python file that can be run")
    module = module_from_spec(spec)
    sys.modules[label] = module  # dataclasses look their module up by name
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[label]
        raise UserError(
            f"the transistor {path} cannot be run: {clean(f'{type(error).__name__}: {error}')}"
        ) from error
    return module


def _only_class(module: ModuleType, path: Path) -> type[CognitiveTransistor]:
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, CognitiveTransistor)
        and value.__module__ == module.__name__
    ]
    if len(found) != 1:
        names = ", ".join(cls.__name__ for cls in found) or "none"
        raise UserError(
            f"the transistor {path} must hold one class that extends "
            f"noodlings.transistors.base.CognitiveTransistor, but holds {names}"
        )
    return found[0]
