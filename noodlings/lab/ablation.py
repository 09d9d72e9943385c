"""Ablations: parts of a mind that can be left out, to see what they are good for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from noodlings.config import Settings, load_settings
from noodlings.errors import UserError
from noodlings.memory.likeness import DEFAULT_METRIC, METRICS
from noodlings.validation import nearest
from noodlings.values.persona import TRANSISTORS, Persona

PARTS = {
    "streams": "a plain list in place of working and episodic memory",
    "transistors": "no thought is coloured",
    "mood": "nothing that is felt moves the mood",
    "feeling": "nothing comes to mind for its feeling; the latest take those places",
}
_METRIC = "metric="


@dataclass(frozen=True, slots=True)
class Ablation:
    """What is left out.

    Attributes:
        without: names of `PARTS`, sorted.
        metric: how likeness of feeling is measured, see `noodlings.memory.likeness.METRICS`.

    Raises:
        UserError: there is no such part, or no such metric.
    """

    without: tuple[str, ...] = ()
    metric: str = DEFAULT_METRIC

    def __post_init__(self) -> None:
        for part in self.without:
            if part not in PARTS:
                raise UserError(f"nothing is called {part:.40}{nearest(part, [*PARTS, f'{_METRIC}…'])}")
        if self.metric not in METRICS:
            raise UserError(f"there is no metric {self.metric:.40}{nearest(self.metric, METRICS)}")

    @classmethod
    def of(cls, names: Iterable[str]) -> Ablation:
        """Of names of parts, and `metric=NAME`, as a command line has them; doubles count once."""
        words = [name.strip() for name in names if name.strip()]
        metrics = [word.removeprefix(_METRIC) for word in words if word.startswith(_METRIC)]
        parts = sorted({word for word in words if not word.startswith(_METRIC)})
        return cls(tuple(parts), metrics[-1] if metrics else DEFAULT_METRIC)

    def __str__(self) -> str:
        """As on a command line: "mood metric=cosine"; "" for nothing."""
        metric = () if self.metric == DEFAULT_METRIC else (f"{_METRIC}{self.metric}",)
        return " ".join((*self.without, *metric))

    def settings(self, folder: Path, seed: int, embedding: str, config: Path | None = None) -> Settings:
        """The settings of a simulation.

        Args:
            folder: of the scenario. It takes the place of a data folder, and nothing is written.
            seed: of the agents' own chances.
            embedding: "none" or "minilm".
            config: a file of settings, see `noodlings.config.config_file`.
        """
        overrides: dict[str, Any] = {
            "memory": {"affect_metric": self.metric, "use_hierarchical": "streams" not in self.without},
            "embedding": {"model": embedding},
            "llm": {"base_url": "", "appraise": False},
            "store": {"path": str(folder)},
            "world": {"seed": seed},
        }
        if "feeling" in self.without:
            slots = load_settings(config, **overrides).context
            overrides["context"] = {"working": slots.working + slots.affect_similar, "affect_similar": 0}
        return load_settings(config, **overrides)

    def persona(self, persona: Persona) -> Persona:
        """Somebody without what is left out."""
        if "transistors" in self.without:
            persona = replace(persona, transistors=dict.fromkeys((*TRANSISTORS, *persona.transistors), 0.0))
        return replace(persona, moodiness=0.0) if "mood" in self.without else persona
