"""What a line is when somebody says it: how it feels, how far it is worth keeping, what to answer, what a
kind listener hears in it, and what it tells of people.

A vector tells what a line is about, and not how good or bad that is: half of what people tell, they tell
without a word of feeling. So the upper four layers of MiniLM were trained on lines as people say them
(`tools/lines`). They read the states of the second layer.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from noodlings.embed.session import shipped_session
from noodlings.values.fact import Tells
from noodlings.values.reading import ACTS, FACT_KINDS, FINE_ACTS, LineReading
from noodlings.values.wording import DialogueAct

MODEL = "lines.onnx"
UTMOST = 0.85
"""What the model gives for lines that everybody would keep: a regression draws toward the middle."""


def read_line(states: npt.NDArray[np.float32]) -> LineReading:
    """What a line is.

    Args:
        states: of its tokens in MiniLM's second layer, (tokens, 384).

    Raises:
        NoodlingsError: the model cannot be run.
    """
    [read] = shipped_session(MODEL, "reading lines").run(["read"], {"states": states[None]})[0]
    valence, significance = (float(number) for number in read[:2])
    acts, fine_acts, facts = np.split(read[2:], np.cumsum([len(ACTS), len(FINE_ACTS)]))
    worth = max(0.0, min(significance / UTMOST, 1.0))
    return LineReading(
        max(-1.0, min(valence, 1.0)),
        worth,
        _probabilities(ACTS, acts),
        _probabilities(FINE_ACTS, fine_acts),
        Tells(_any_of(facts[: len(FACT_KINDS)]), _any_of(facts[len(FACT_KINDS) :])),
    )


def _any_of(facts: npt.NDArray[np.float32]) -> float:
    """How likely any of the facts is told, as if they were independent, 0…1."""
    return round(1.0 - float(np.prod(1.0 / (1.0 + np.exp(facts)))), 3)


def _probabilities(
    acts: tuple[DialogueAct, ...], logits: npt.NDArray[np.float32]
) -> tuple[tuple[DialogueAct, float], ...]:
    raised = np.exp(logits - logits.max())
    return tuple(zip(acts, (raised / raised.sum()).tolist(), strict=True))
