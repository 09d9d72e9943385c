"""The chain: a thought goes through all transistors of a character, and what each made of it is kept.

Two ways. Fused: every transistor that can be heard through a lens hands one over, and a voice takes them all
in at once; the others follow one by one. Serial: one after the other. Whatever goes wrong in one of them
leaves the thought as it was and is told by name, never in the world.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import NamedTuple

from noodlings.errors import LLMError
from noodlings.text import MAX_LINE, clean, shorten
from noodlings.transistors.base import CognitiveTransistor, ThoughtState, through
from noodlings.values.lens import Lens
from noodlings.values.trace import Modulation

log = logging.getLogger(__name__)

OFFLINE = "offline"


class Lenses(NamedTuple):
    """What the transistors hand to one call of a voice: their lenses, the record of each, what failed."""

    lenses: tuple[Lens, ...]
    modulations: tuple[Modulation, ...]
    degraded: tuple[str, ...]


class Coloured(NamedTuple):
    """A thought that went through transistors: its words, the record and lens of each, what failed."""

    text: str
    modulations: tuple[Modulation, ...]
    degraded: tuple[str, ...]
    lenses: tuple[Lens, ...]


class Chain:
    """The transistors of one character, in order."""

    def __init__(self, transistors: Sequence[CognitiveTransistor]) -> None:
        self.transistors = tuple(transistors)

    def lenses(self, state: ThoughtState) -> Lenses:
        """For fused: each lens once. Transistors that go their own way are not in it; see `own_way`."""
        lenses: list[Lens] = []
        modulations: list[Modulation] = []
        degraded: list[str] = []
        for transistor in self.transistors:
            if not transistor.by_lens:
                continue
            lens, how = None, "passed" if transistor.gain else "off"
            if transistor.gain:
                try:
                    lens = transistor.lens(state)
                except Exception as error:  # noqa: BLE001 -- a user's own code: whatever it does stays in here
                    how = _note_failure(transistor, error, degraded)
            if lens is not None:
                lenses.append(lens)
                how = "fused"
            modulations.append(_modulation(transistor, "", "", how, lens))
        return Lenses(tuple(lenses), tuple(modulations), tuple(degraded))

    async def own_way(self, thought: str, state: ThoughtState) -> Coloured:
        """After a fused call: the thought through those transistors that use no lens, one by one."""
        return await _run([t for t in self.transistors if not t.by_lens], thought, state)

    async def serial(self, thought: str, state: ThoughtState) -> Coloured:
        """The thought through all transistors, one by one."""
        return await _run(self.transistors, thought, state)


async def _run(transistors: Sequence[CognitiveTransistor], thought: str, state: ThoughtState) -> Coloured:
    modulations: list[Modulation] = []
    degraded: list[str] = []
    lenses: list[Lens] = []
    for transistor in transistors:
        before = thought
        lens, how = None, "off"
        if transistor.gain:
            try:
                lens, thought = await _step(transistor, before, state)
                how = _how(state) if thought != before else "passed"
            except Exception as error:  # noqa: BLE001 -- a user's own code: whatever it does stays in here
                thought, how = before, _note_failure(transistor, error, degraded)
        modulations.append(_modulation(transistor, before, thought, how, lens))
        if lens is not None:
            lenses.append(lens)
    return Coloured(thought, tuple(modulations), tuple(degraded), tuple(lenses))


async def _step(
    transistor: CognitiveTransistor, thought: str, state: ThoughtState
) -> tuple[Lens | None, str]:
    """The lens, where there is one, and the thought after it. Raises whatever the transistor does."""
    if transistor.by_lens:
        lens = transistor.lens(state)
        return lens, thought if lens is None else _sayable(await through(lens, thought, state))
    left = max(state["allowance"].until - time.monotonic(), 0.0)
    try:
        async with asyncio.timeout(left if left < 1e9 else None):  # of code that we do not know
            return None, _sayable(await transistor.modulate(thought, state))
    except TimeoutError:
        raise LLMError("it was not ready in time") from None


def _sayable(made: object) -> str:
    if not isinstance(made, str):
        raise LLMError(f"it gave {type(made).__name__} instead of text")
    line = shorten(clean(made), MAX_LINE)
    if not line:
        raise LLMError("it gave no words")
    return line


def _how(state: ThoughtState) -> str:
    return OFFLINE if state["voice"].name == OFFLINE else "serial"


def _note_failure(transistor: CognitiveTransistor, error: Exception, degraded: list[str]) -> str:
    """Tell by name what failed; our own errors are in words already, of others the kind is told too."""
    reason = clean(str(error)) if isinstance(error, LLMError) else clean(f"{type(error).__name__}: {error}")
    degraded.append(f"transistor {transistor.name}: {reason}")
    log.warning("the thought stays as it was, for the transistor %s failed: %s", transistor.name, reason)
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
