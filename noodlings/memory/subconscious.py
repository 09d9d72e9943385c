"""SubconsciousMemory: symbols of intense moments, which come back with the feeling they were made in.

Beside the facts in episodic memory, an intense moment leaves a symbol: a metaphor with the feeling of that
moment. It is retrieved by a similar feeling, never by words. Its rules:

- only an intense moment leaves a symbol, and no model is asked about a calm one;
- when there is no room, the least salient symbol fades, of equals the oldest. No model is asked for a symbol
  that would fade at once;
- a forgotten moment has no symbol, however late a model answers;
- an id is never given twice.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np

from noodlings.errors import LLMError, UserError
from noodlings.memory.change_journal import ChangeJournal
from noodlings.memory.encode import finite, read_affect, unit
from noodlings.memory.generated import GeneratingModel, symbolist_of
from noodlings.memory.likeness import DEFAULT_METRIC, Array, metric_of
from noodlings.ports import Allowance, Symbolist
from noodlings.text import clean, shorten
from noodlings.values.audience import OPEN, Audience, may_learn, within
from noodlings.values.memory import Symbol

log = logging.getLogger(__name__)

SYMBOL_INTENSITY = 0.5
"""The least intensity of a feeling with which a moment leaves a symbol."""

AVOIDED = 6
"""How many of the latest images are not made again."""

LONGEST = 240
"""Characters of an image."""


def symbol_salience(intensity: float, surprise: float) -> float:
    """How much a symbol counts, 0…1, from how intense its moment was and how surprising (each 0…1).

        1 − (1 − intensity)(1 − 0.5·surprise)

    Surprise closes up to half of the gap that the intensity leaves. By surprise alone a grief that was long
    expected would be the first to fade.
    """
    return 1.0 - (1.0 - intensity) * (1.0 - 0.5 * surprise)


class SubconsciousMemory:
    """The symbols of one agent.

    Args:
        capacity: how many symbols it holds, ≥ 1.
        affect_similarity_threshold: the least likeness of feeling with which a symbol comes back, 0…1.
        metric: how likeness of feeling is measured, see `noodlings.memory.likeness.METRICS`.
        journal: collects what a store has to keep; without one nothing is collected.

    Raises:
        UserError: one of them is out of range.
    """

    def __init__(
        self,
        capacity: int = 100,
        affect_similarity_threshold: float = 0.7,
        *,
        metric: str = DEFAULT_METRIC,
        journal: ChangeJournal | None = None,
    ) -> None:
        if capacity < 1:
            raise UserError(f"capacity is {capacity}: it must be at least 1")
        self.capacity = capacity
        self.threshold = unit(affect_similarity_threshold, "affect_similarity_threshold")
        self.metric = metric
        self._metric = metric_of(metric)
        self._journal = journal
        self._symbols: dict[int, Symbol] = {}
        self._features: Array | None = None
        self._last_id = 0
        self._forgotten: set[int] = set()

    def __len__(self) -> int:
        return len(self._symbols)

    # -- writing

    async def encode_event(
        self,
        event: str,
        affect: Any,
        surprise: float,
        llm: Symbolist | GeneratingModel,
        *,
        entry_id: int = 0,
        timestamp: float | None = None,
        audience: Audience | Callable[[], Audience] = OPEN,
        allowance: Allowance | None = None,
    ) -> Symbol | None:
        """Make a symbol of an intense moment.

        Args:
            event: what happened, in words.
            affect: what was felt: an `Affect`, five numbers (list, numpy or mlx array), or None.
            surprise: 0…1.
            llm: makes the image; a host's own model with a `generate(prompt, max_tokens)` will do.
            entry_id: the memory of that moment, 0 for none. Forgetting it removes the symbol.
            timestamp: world time of that moment; None for now, by the clock of this machine.
            audience: who may learn of that moment, and so of the symbol; or what tells it, as somebody may be
                parted from while the model thinks.
            allowance: what this may spend; unlimited by default.

        Returns:
            The symbol, or None if the moment was calm, less salient than all symbols of a full memory, or
            forgotten meanwhile. In the first two cases `llm` is not asked.

        Raises:
            LLMError: there is no image, or it is one of the latest again. Nothing has changed.
            UserError: a number is NaN, infinite or out of range.
        """
        felt, event = read_affect(affect), clean(event)
        surprise = unit(surprise, "surprise")
        timestamp = time.time() if timestamp is None else finite(timestamp, "timestamp")
        if felt is None or felt.intensity < SYMBOL_INTENSITY or not event:
            return None
        salience = symbol_salience(felt.intensity, surprise)
        if not self._has_place_for(salience, entry_id):
            return None
        may_learn = audience if callable(audience) else lambda: audience
        before = may_learn()
        # The symbolist sees only images that everybody who may learn of the new one may learn of too.
        latest = self.symbols[-AVOIDED:]
        shown = tuple(
            symbol.symbolic_encoding
            for symbol in latest
            if within(before, symbol.audience) and symbol.audience.tier <= before.tier
        )
        symbolist = symbolist_of(llm)
        image = await symbolist.imagine(event, felt, shown, allowance or Allowance())
        image = self._new_image(image, symbolist.name)
        if not self._has_place_for(salience, entry_id):  # others came while the model thought
            return None
        self._last_id += 1
        symbol = Symbol(
            self._last_id,
            entry_id,
            timestamp,
            event,
            image,
            felt,
            salience,
            surprise,
            symbolist.name,
            may_learn(),
        )
        self._add(symbol)
        return symbol

    def restore(self, symbols: Iterable[Symbol], last_id: int = 0) -> None:
        """Replace everything with what was stored of an agent. The journal does not record it.

        Args:
            symbols: in any order. If the capacity was lowered since, the most salient stay.
            last_id: the highest id that was ever given.
        """
        kept = sorted(symbols, key=_rank, reverse=True)
        self._last_id = max(self._last_id, last_id, *(symbol.id for symbol in kept), 0)
        newest_last = sorted(kept[: self.capacity], key=lambda symbol: symbol.id)
        self._symbols = {symbol.id: symbol for symbol in newest_last}
        self._features = None

    def forget(self, entry_ids: Iterable[int]) -> None:
        """Remove the symbols of these memories, here and in the journal, and never let them in again."""
        gone = frozenset(entry_ids)
        self._forgotten |= gone
        self._symbols = {key: symbol for key, symbol in self._symbols.items() if symbol.entry_id not in gone}
        self._features = None
        if self._journal is not None:
            for entry_id in gone:
                self._journal.forgotten(entry_id)

    def fade(self, entry_ids: Collection[int]) -> None:
        """Let the symbols of these memories fade; they stay in the archive."""
        for symbol in self.symbols:
            if symbol.entry_id in entry_ids:
                self._fade(symbol)

    # -- reading

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """All of them, oldest first."""
        return tuple(self._symbols.values())

    @property
    def latest_images(self) -> tuple[str, ...]:
        """The images that must not be made again now, the last one last."""
        return tuple(symbol.symbolic_encoding for symbol in self.symbols[-AVOIDED:])

    def retrieve_by_affect(
        self, current_affect: Any, top_k: int = 3, *, present: frozenset[str] | None = None
    ) -> list[Symbol]:
        """Up to `top_k` symbols that were made in a feeling like this one, most alike first.

        Args:
            current_affect: what is felt now, as in `encode_event`. With the default metric nothing is like a
                neutral feeling.
            top_k: ≥ 0.
            present: who will hear of them; symbols that one of these may not learn of are left out. None for
                no limit.

        Raises:
            UserError: `top_k` is negative, the affect no affect.
        """
        return [symbol for symbol, _ in self.recall_by_affect(current_affect, top_k, present=present)]

    def recall_by_affect(
        self, current_affect: Any, top_k: int = 3, *, present: frozenset[str] | None = None
    ) -> list[tuple[Symbol, float]]:
        """The same, each with its likeness, 0…1. Of equal likeness the newer comes first."""
        if top_k < 0:
            raise UserError(f"top_k is {top_k}: it must be at least 0")
        felt, symbols = read_affect(current_affect), self.symbols
        if felt is None or not symbols:
            return []
        if self._features is None:
            self._features = np.array([self._metric.features(symbol.affect) for symbol in symbols])
        likeness = self._metric.alike(self._features, felt).tolist()
        found = [
            (symbol, alike)
            for symbol, alike in zip(symbols, likeness, strict=True)
            if alike >= self.threshold
            and alike > 0.0
            and (present is None or may_learn(present, symbol.audience))
        ]
        found.sort(key=lambda pair: (-pair[1], -pair[0].id))
        return found[:top_k]

    def _has_place_for(self, salience: float, entry_id: int) -> bool:
        if entry_id in self._forgotten:
            return False
        return len(self) < self.capacity or salience >= self._least_salient().salience

    def _least_salient(self) -> Symbol:
        return min(self._symbols.values(), key=_rank)

    def _new_image(self, image: str, made_by: str) -> str:
        image = shorten(clean(image), LONGEST)
        if not image:
            raise LLMError(f"{made_by} made no image")
        if image.casefold() in {latest.casefold() for latest in self.latest_images}:
            raise LLMError(f"{made_by} repeated one of its latest images")
        return image

    def _fade(self, symbol: Symbol) -> None:
        del self._symbols[symbol.id]
        self._features = None
        if self._journal is not None:
            self._journal.faded(symbol.id)
        log.info("faded: symbol %d", symbol.id)

    def _add(self, symbol: Symbol) -> None:
        if len(self) == self.capacity:
            self._fade(self._least_salient())
        self._symbols[symbol.id] = symbol
        self._features = None
        if self._journal is not None:
            self._journal.symbolised(symbol)
        about = symbol.id, symbol.entry_id, symbol.salience, symbol.made_by
        log.info("symbol %d of memory %d (salience %.2f, made by %s)", *about)


def _rank(symbol: Symbol) -> tuple[float, int]:
    """The lowest fades first: the least salient, of equals the oldest."""
    return symbol.salience, symbol.id
