"""How far a line answers a question, with which of its words, and how far a remark touches on it.

Likeness of meaning cannot tell an answer from a line on the same matter: who bought the cart is as near to
"what did she pay for it?" as what was paid. So the upper four layers of MiniLM were trained on questions with
lines that answer them and lines that do not, on what a larger model says of these, and on remarks in the same
way (`tools/answers`). They read the states of the second layer of both texts together, the line last.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from noodlings.embed.session import shipped_session

MODEL = "answers.onnx"
STATES = "layer_norm_4"
"""The output of MiniLM's second layer, by its name in the model."""

SHARPENED = 1.4
"""What the logit of an answer is multiplied with: learning from a larger model draws it to the middle."""
QUESTION, LINE, REMARK = 0, 1, 2
"""What a text is read as."""

States = npt.NDArray[np.float32]


def read_together(said: States, line: States, asks: bool) -> tuple[float, States]:
    """How likely the line answers a question or is touched on by a remark, 0…1, and how likely each token of
    it is told as the answer.

    Args:
        said, line: the states of their tokens in MiniLM's second layer, (tokens, 384).
        asks: whether it is a question.

    Raises:
        NoodlingsError: the model cannot be run.
    """
    states = np.concatenate([said, line])[None]
    read_as = np.array([QUESTION if asks else REMARK, LINE], dtype=np.int64)
    parts = np.repeat(read_as, [len(said), len(line)])[None]
    session = shipped_session(MODEL, "reading answers")
    answers, told = session.run(["answers", "told"], {"states": states, "parts": parts})
    logit = answers[0] * SHARPENED if asks else answers[0]
    return float(_probability(logit)), _probability(told[0, len(said) :])


def _probability(logits: States) -> States:
    return np.asarray(1.0 / (1.0 + np.exp(-logits)), dtype=np.float32)
