"""Which transistors a character has: the five, and those its recipe names beside them.

A recipe is data and runs nothing. It may name a transistor, which is a file `NAME.py` in a folder of the one
who runs the world, with one `CognitiveTransistor` in it; only what a recipe names is run.
"""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from noodlings.errors import UserError
from noodlings.explain import nearest
from noodlings.text import clean
from noodlings.transistors.affect import AffectTransistor
from noodlings.transistors.base import CognitiveTransistor
from noodlings.transistors.chain import Chain
from noodlings.transistors.ego import EgoTransistor
from noodlings.transistors.goal import GoalTransistor
from noodlings.transistors.memory import MemoryTransistor
from noodlings.transistors.subconscious import SubconsciousTransistor
from noodlings.values.persona import TRANSISTORS, Persona

FOLDER_NAME = "transistors"
"""The folder of a user's own, in the data folder."""

DEFAULT_GAIN = 0.4
"""The gain of each of the five that a recipe does not mention."""

_THE_FIVE: dict[str, type[CognitiveTransistor]] = {
    cls.name: cls
    for cls in (
        AffectTransistor,
        GoalTransistor,
        MemoryTransistor,
        SubconsciousTransistor,
        EgoTransistor,
    )
}


def load_chain(persona: Persona, folder: Path) -> Chain:
    """The chain of a character: affect, goal, memory, subconscious, ego, then its own as the recipe has them.

    Args:
        persona: its `transistors` name gains.
        folder: where a user's own transistors are; it need not exist while nobody names one.

    Raises:
        UserError: a transistor that is named does not exist, cannot be run, or is none.
    """
    gains = persona.transistors
    five = [cls(gains.get(name, DEFAULT_GAIN)) for name, cls in _THE_FIVE.items()]
    own = [_own(name, gain, folder, persona) for name, gain in gains.items() if name not in _THE_FIVE]
    return Chain([*five, *own])


def _own(name: str, gain: float, folder: Path, persona: Persona) -> CognitiveTransistor:
    path = folder / f"{name}.py"
    if not path.is_file():
        raise UserError(
            f"the recipe of {persona.name} names a transistor {name}, and there is no {path}"
            f"{nearest(name, TRANSISTORS)}"
        )
    made = _only_class(_run(path, name), path)(gain)
    made.name = name
    return made


def _run(path: Path, name: str) -> ModuleType:
    label = f"noodlings_own_transistor_{name}"
    spec = spec_from_file_location(label, path)
    if spec is None or spec.loader is None:
        raise UserError(f"the transistor {path} cannot be run as Python")
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
            f"noodlings.transistors.base.CognitiveTransistor; it holds {names}"
        )
    return found[0]
