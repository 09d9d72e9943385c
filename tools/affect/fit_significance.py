"""Make `noodlings/affect/significance.npz`: the networks that say how far a line is worth keeping.

    OPENBLAS_NUM_THREADS=1 python tools/affect/fit_significance.py [EVALUATION …]

It learns from `lines.tsv` alone, lines of our own with a rating. It prints how well each network tells what
is worth keeping, by five-fold cross-validation, and writes nothing but weights. It refuses to fit as long as
one of the lines comes near (`near.py`) a text of the evaluation files that it is given.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from near import TOO_ALIKE, nearest, texts_of
from network import Shape, folded, train
from sentences import read_lines

from noodlings.affect.network import Array, Network
from noodlings.affect.significance import WEIGHTS
from noodlings.affect.words import read
from noodlings.embed.minilm import MiniLM
from noodlings.lab.evaluate.affect import auc
from noodlings.text import clean

HERE = Path(__file__).parent
TARGET = HERE.parents[1] / "noodlings" / "affect" / WEIGHTS

SEED, FOLDS = 20_261, 5
WORTH_KEEPING = 0.5
"""Rating from which a line counts as worth keeping, where that is measured."""
SHAPES = {
    "words": Shape(units=16, members=4, decay=0.5, drop_inputs=0.0, drop_hidden=0.1),
    "meaning": Shape(units=32, members=4, decay=2.0, drop_inputs=0.2, drop_hidden=0.4),
}


def fitted(name: str, features: Array, vectors: Array, ratings: Array, error: float) -> Network:
    """One network, of several members folded together."""
    centre, scale = features.mean(axis=0), features.std(axis=0) + np.float32(1e-3)
    zero = np.zeros(0, dtype=np.float32)
    raw = Network(centre, scale, zero, zero, zero, zero, zero, np.float32(error))
    inputs = raw.inputs(features, vectors if name == "meaning" else None)
    mean, spread = ratings.mean(), ratings.std()
    targets = ((ratings - mean) / spread)[:, None]
    shape = SHAPES[name]
    members = [train(inputs, targets, np.ones_like(targets), shape, SEED + i) for i in range(shape.members)]
    hidden, hidden_bias, output, bias, skip = folded(members)
    return Network(
        centre,
        scale,
        hidden,
        hidden_bias,
        output * spread,
        skip * spread,
        bias * spread + mean,
        np.float32(error),
    )


def rated(name: str, network: Network, features: Array, vectors: Array) -> Array:
    """What a network makes of lines, shape (n,)."""
    return np.asarray(network(network.inputs(features, vectors if name == "meaning" else None))[:, 0])


def main() -> None:
    """Measure, fit, write."""
    lines = read_lines(HERE / "lines.tsv")
    texts = [clean(line.text) for line in lines]
    measured = [text for file in sys.argv[1:] for text in texts_of(Path(file))]
    near = zip(lines, nearest(texts, measured), strict=True)
    if refused := [f"line {line.line}: {line.text!r}" for line, (alike, _) in near if alike >= TOO_ALIKE]:
        sys.exit("\n".join([*refused, f"nothing is fitted: these {len(refused)} come near what is measured"]))
    embedder = MiniLM()
    vectors = embedder.embed(texts)
    features = np.array([read(text).features() for text in texts])
    ratings = np.array([line.significance for line in lines], np.float32)
    fold = np.random.default_rng(SEED).integers(FOLDS, size=len(lines))
    arrays: dict[str, Any] = {}
    figures = {}
    for name in SHAPES:
        guessed = np.zeros_like(ratings)
        for part in range(FOLDS):
            others = fold != part
            network = fitted(name, features[others], vectors[others], ratings[others], 0.0)
            guessed[~others] = rated(name, network, features[~others], vectors[~others])
        error = float(np.sqrt(np.mean((guessed - ratings) ** 2)))
        figures[name] = {"AUC, cross-validated": auc(guessed, ratings >= WORTH_KEEPING), "error": error}
        network = fitted(name, features, vectors, ratings, error)
        for field in Network.__dataclass_fields__:
            arrays[f"{name}/{field}"] = np.float16(getattr(network, field))
    provenance = {
        "script": "tools/affect/fit_significance.py",
        "seed": SEED,
        "vectors of": embedder.name,
        "figures": figures,
        "data": [
            {
                "name": "tools/affect/lines.tsv, written for noodlings",
                "licence": "MIT",
                "rows": len(lines),
                "used for": "significance",
            }
        ],
    }
    print(json.dumps(figures, indent=2))
    arrays["provenance"] = np.frombuffer(json.dumps(provenance).encode(), dtype=np.uint8)
    np.savez_compressed(TARGET, **arrays)
    print(f"wrote {TARGET}, {TARGET.stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    main()
