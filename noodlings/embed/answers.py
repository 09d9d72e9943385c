"""How far a line answers a question, and with which of its words.

Likeness of meaning cannot tell an answer from a line on the same matter: who bought the cart is as near to
"what did she pay for it?" as what was paid. So the upper four layers of MiniLM were trained on questions with
lines that answer them and lines that do not (`tools/answers`). They read the states of the second layer of
both texts together, the question first.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from noodlings.embed.session import load_session

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

MODEL = "answers.onnx"
STATES = "layer_norm_4"
"""The output of MiniLM's second layer, by its name in the model."""

States = npt.NDArray[np.float32]


def read_together(question: States, line: States) -> tuple[float, States]:
    """How likely the line answers the question, 0…1, and how likely each token of it is told as the answer.

    Args:
        question, line: the states of their tokens in MiniLM's second layer, (tokens, 384).

    Raises:
        NoodlingsError: the model cannot be run.
    """
    states = np.concatenate([question, line])[None]
    parts = np.repeat(np.array([0, 1], dtype=np.int64), [len(question), len(line)])[None]
    answers, told = _session().run(["answers", "told"], {"states": states, "parts": parts})
    return float(_probability(answers[0])), _probability(told[0, len(question) :])


def _probability(logits: States) -> States:
    return np.asarray(1.0 / (1.0 + np.exp(-logits)), dtype=np.float32)


@cache
def _session() -> InferenceSession:
    return load_session((resources.files("noodlings.embed") / MODEL).read_bytes(), "reading answers")
