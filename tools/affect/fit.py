"""Make `noodlings/affect/weights.npz`: the networks that read affect from words and from what MiniLM holds.

    OPENBLAS_NUM_THREADS=1 python tools/affect/fit.py EMOBANK.csv [EVALUATION …]

Valence and arousal are learnt from EmoBank (Buechel and Hahn, EACL 2017, CC BY-SA 4.0; a file with columns
V, A, D on 1…5 and text) and a little from our own sentences; fear, sorrow and boredom from our own
sentences, with the pleasant and neutral rows of EmoBank as examples of none of them. The network over
MiniLM's layers learns valence from `lines.tsv` as well, lines as players say them, and what to look for
among the tokens; that is written to `noodlings/embed/queries.npz`. A tenth of EmoBank is held back: no
weight that is written has seen it. Printed is what each network reaches by five-fold cross-validation on
the other rows, and what the one that is written reaches on that tenth. Only weights are written.

It refuses to fit as long as one of our sentences or lines comes near (`near.py`) any of EmoBank's, or a
text of the evaluation files it is given. Rows of EmoBank that come near these or the tenth are left out.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from near import TOO_ALIKE, nearest, texts_of
from network import Shape, folded, queries, seen, train
from sentences import RatedLine, Sentence, read_lines, read_sentences

from noodlings.affect.appraisal import WEIGHTS, Network, felt
from noodlings.affect.words import read
from noodlings.embed.minilm import LAYERS, LOOKED_AT, QUERIES, MiniLM
from noodlings.lab.evaluate.affect import auc, held_back, pearson
from noodlings.text import clean
from noodlings.values.affect import REST

Array = npt.NDArray[np.float32]

HERE = Path(__file__).parent
TESTS = HERE.parents[1] / "tests" / "affect"
TARGET = HERE.parents[1] / "noodlings" / "affect" / WEIGHTS
QUERIES_TARGET = HERE.parents[1] / "noodlings" / "embed" / QUERIES

SEED, FOLDS = 20_251, 5
TOO_NEAR = 0.7
"""Cosine to any sentence of our test sets from which on one of ours is left out."""
UNITS = np.array([0.35, 0.26, 0.25, 0.25, 0.25], dtype=np.float32)
"""The spread of each target: errors are counted in these."""
USUAL = np.array([0.0, 0.04, 0.05, 0.05, 0.03], dtype=np.float32)
"""About the mean of each target."""
PLEASANT = 2.95
"""From this valence (EmoBank) on there is no fear, sorrow or boredom to speak of."""
TRUST_IN_NONE = {"words": 0.5, "meaning": 0.2, "layers": 0.2}
"""How much these rows weigh. Words alone must not guess at a grief that is told without them."""
TRUST_IN_OUR_VALENCE = 0.3
UTMOST = 1.0
"""A line rated as pleasant as can be lies so far from rest on EmoBank's scale. At 1.5 plain ones are felt."""
CLEAR = 0.4
"""Rating from which on a line of ours counts as pleasant or unpleasant, where that is measured."""

SHAPES = {
    "words": Shape(units=32, members=4, decay=0.5, drop_inputs=0.0, drop_hidden=0.1),
    "meaning": Shape(units=64, members=4, decay=2.0, drop_inputs=0.2, drop_hidden=0.4),
    "layers": Shape(units=64, members=2, decay=2.0, drop_inputs=0.2, drop_hidden=0.4),
}


@dataclass(frozen=True, slots=True)
class Data:
    """Rows: features (n, f), vectors (n, 384), means of the layers (n, 3 · 384), states of the tokens that
    are looked at (n of shape (tokens, 384)), targets and their weights (n, 5), groups (n,)."""

    features: Array
    vectors: Array
    means: Array
    states: npt.NDArray[np.object_]
    targets: Array
    weights: Array
    groups: npt.NDArray[np.int64]

    def rows(self, chosen: npt.NDArray[np.bool_]) -> Data:
        """Some of the rows."""
        return Data(*(part[chosen] for part in self.parts()))

    def parts(self) -> tuple[npt.NDArray[Any], ...]:
        """The arrays in their order."""
        return tuple(getattr(self, field) for field in self.__dataclass_fields__)

    def __len__(self) -> int:
        return len(self.targets)


def emobank(path: Path, evaluations: list[str], embedder: MiniLM) -> tuple[Data, Data]:
    """The human ratings, as distances from the middle of the scale: to learn from, and held back."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    texts = [clean(row["text"]) for row in rows]
    held = np.array([held_back(text) for text in texts])
    measured = evaluations + [text for text, back in zip(texts, held, strict=True) if back]
    near = np.array([alike >= TOO_ALIKE for alike, _ in nearest(texts, measured)])
    print(f"EmoBank: {held.sum()} rows held back, {(near & ~held).sum()} left out: near what is measured")
    valence = np.array([float(row["V"]) for row in rows])
    arousal = np.array([float(row["A"]) for row in rows])
    none = np.zeros((len(rows), 3))
    targets = np.column_stack([valence - 3, arousal - 3, none])
    weights = np.ones_like(targets)
    weights[:, 2:] = (valence >= PLEASANT)[:, None]
    data = _data(texts, embedder, targets, weights, np.arange(len(rows)))
    return data.rows(~held & ~near), data.rows(held)


def ours(sentences: list[Sentence], embedder: MiniLM) -> Data:
    """Our own sentences, without those that come near one of our test sets."""
    texts = [sentence.text for sentence in sentences]
    targets = (np.array([sentence.affect for sentence in sentences]) - REST) / (1.0, 0.5, 1.0, 1.0, 1.0)
    weights = np.ones_like(targets)
    weights[:, :2] = TRUST_IN_OUR_VALENCE
    data = _data(texts, embedder, targets, weights, np.array([sentence.line for sentence in sentences]))
    near = (data.vectors @ embedder.embed(_test_texts()).T).max(axis=1) >= TOO_NEAR
    print(f"our sentences: {len(near)}, of which {near.sum()} are left out for lying near a test sentence")
    return data.rows(~near)


def rated(lines: list[RatedLine], embedder: MiniLM) -> Data:
    """Our own lines that have a valence, and nothing but that."""
    targets = np.zeros((len(lines), 5))
    targets[:, 0] = [UTMOST * (line.valence or 0.0) for line in lines]
    weights = np.zeros_like(targets)
    weights[:, 0] = TRUST_IN_OUR_VALENCE
    return _data([clean(line.text) for line in lines], embedder, targets, weights, np.arange(len(lines)))


def refuse_what_comes_near(
    sentences: list[Sentence] | list[RatedLine], measured: list[str], file: str
) -> None:
    """Ends the program, with every pair, where one of our sentences comes near a text that is measured."""
    found = nearest([sentence.text for sentence in sentences], measured)
    near = [
        f"line {sentence.line}: {sentence.text!r} comes near {measured[place]!r} ({alike:.2f})"
        for sentence, (alike, place) in zip(sentences, found, strict=True)
        if alike >= TOO_ALIKE
    ]
    if near:
        sys.exit("\n".join([*near, f"nothing is fitted: rewrite these {len(near)} in {file}"]))


def _test_texts() -> list[str]:
    texts = []
    for path in sorted(TESTS.glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            texts += [row["text"] for row in csv.DictReader(file)]
    return texts


def _data(texts: list[str], embedder: MiniLM, targets: Any, weights: Any, groups: Any) -> Data:
    features = np.array([read(text).features() for text in texts])
    means = np.zeros((len(texts), len(LAYERS) * embedder.dimensions), dtype=np.float32)
    states = np.empty(len(texts), dtype=object)
    for batch, hidden, mask in embedder.states(texts, LAYERS):
        for row, text in enumerate(batch):
            layers = [layer[row, : mask[row].sum()] for layer in hidden]
            means[text] = np.concatenate([layer.mean(axis=0) for layer in layers])
            states[text] = layers[LOOKED_AT].astype(np.float16)
    vectors = embedder.embed(texts)
    return Data(features, vectors, means, states, np.float32(targets), np.float32(weights), groups)


def joined(name: str, theirs: Data, own: Data, lines: Data) -> Data:
    """What a network learns from: EmoBank, its rows without feeling weighed for this network, and ours."""
    weights = theirs.weights * np.float32((1.0, 1.0, *[TRUST_IN_NONE[name]] * 3))
    sets = [replace(theirs, weights=weights), own, *([lines] if name == "layers" else [])]
    return Data(*(np.concatenate(parts) for parts in zip(*(data.parts() for data in sets), strict=True)))


def looked_for(data: Data) -> Array:
    """What to look for among the tokens, (384, queries): learnt beside what the layers hold on average."""
    beside = np.concatenate([data.features, data.means], axis=1)
    inputs = _standard(beside).inputs(beside, None)
    return queries(data.states, inputs, (data.targets - USUAL) / UNITS, data.weights, SHAPES["layers"], SEED)


def _standard(features: Array, error: float = 0.0) -> Network:
    """A network that so far only knows how its features are spread."""
    centre, scale = features.mean(axis=0), features.std(axis=0) + np.float32(1e-3)
    zero = np.zeros(0, dtype=np.float32)
    return Network(centre, scale, zero, zero, zero, zero, zero, np.float32(error))


def given(name: str, data: Data, looking: Array | None) -> tuple[Array, Array | None]:
    """What a network takes: features, which with the layers are many, and vectors or None."""
    if looking is None:
        return data.features, data.vectors if name == "meaning" else None
    return np.concatenate([data.features, data.means, seen(data.states, looking)], axis=1), None


def fitted(name: str, data: Data, error: float) -> tuple[Network, Array | None]:
    """One network, of several members folded together, and what it looks for among the tokens, if it does."""
    looking = looked_for(data) if name == "layers" else None
    features, vectors = given(name, data, looking)
    raw = _standard(features, error)
    inputs = raw.inputs(features, vectors)
    targets = (data.targets - USUAL) / UNITS
    shape = SHAPES[name]
    members = [train(inputs, targets, data.weights, shape, SEED + i) for i in range(shape.members)]
    hidden, hidden_bias, output, bias, skip = folded(members)
    network = replace(
        raw,
        hidden=hidden,
        hidden_bias=hidden_bias,
        output=output * UNITS,
        skip=skip * UNITS,
        bias=bias * UNITS + USUAL,
    )
    return network, looking


def predicted(name: str, fit: tuple[Network, Array | None], data: Data) -> Array:
    """Distances from rest, shape (n, 5)."""
    network, looking = fit
    return network(network.inputs(*given(name, data, looking)))


def measure(name: str, theirs: Data, own: Data, lines: Data) -> tuple[dict[str, Any], float, float]:
    """Cross-validated figures, the root mean square error of the valence, and the median valence of lines
    that were rated as neither pleasant nor unpleasant, on what is learnt from.

    Sentences of one template are always on the same side.
    """
    random = np.random.default_rng(SEED)
    fold_of_row = random.integers(FOLDS, size=len(theirs))
    fold_of_line = random.integers(FOLDS, size=own.groups.max() + 1)[own.groups]
    folds = (fold_of_row, fold_of_line, random.integers(FOLDS, size=len(lines)))
    sets = (theirs, own, lines)
    at_theirs, at_own, at_lines = found = [np.zeros_like(data.targets) for data in sets]
    for fold in range(FOLDS):
        learnt = [data.rows(of != fold) for data, of in zip(sets, folds, strict=True)]
        fit = fitted(name, joined(name, *learnt), 0.0)
        for at, data, of in zip(found, sets, folds, strict=True):
            at[of == fold] = predicted(name, fit, data.rows(of == fold))
    clear = np.abs(lines.targets[:, 0]) >= CLEAR * UTMOST
    figures = {
        "cross-validated r": agreement(at_theirs, theirs),
        "AUC on our own sentences, cross-validated": {
            "fear": auc(at_own[:, 2], own.targets[:, 2] >= 0.5),
            "sorrow": auc(at_own[:, 3], own.targets[:, 3] >= 0.5),
            "boredom": auc(at_own[:, 4], own.targets[:, 4] >= 0.5),
        },
        "AUC of the sign on our own lines, cross-validated": auc(
            at_lines[clear, 0], lines.targets[clear, 0] > 0
        ),
    }
    plain = float(np.median(at_lines[lines.targets[:, 0] == 0, 0]))
    _print_how_felt(at_lines[:, 0] - plain, lines.targets[:, 0] / UTMOST)
    quiet = (own.targets[:, 2:] == 0).all(axis=1)
    for what, rows in (("nothing", quiet), ("something", ~quiet)):
        print(f"  {what} felt: {np.round(np.percentile(at_own[rows], (10, 50, 90), axis=0), 2).tolist()}")
    squares = [np.mean((p[:, 0] - d.targets[:, 0]) ** 2) for p, d in ((at_theirs, theirs), (at_own, own))]
    error = float(np.sqrt(np.mean(squares)))
    _print_how_sure(at_theirs[:, 0], theirs.targets[:, 0], error)
    return figures, error, plain


def agreement(predicted: Array, data: Data) -> dict[str, float | None]:
    """Pearson's r with the ratings."""
    axes = ("valence", "arousal")
    return {axis: pearson(predicted[:, i], data.targets[:, i]) for i, axis in enumerate(axes)}


def _print_how_felt(ours: Array, theirs: Array) -> None:
    """How strongly lines are felt, by how clear their rating is."""
    strength = felt(np.abs(np.column_stack([ours, np.zeros((len(ours), 4))])))[:, 0]
    small = np.abs(theirs) < CLEAR
    kinds = {
        "plain": theirs == 0,
        "small": small & (theirs != 0),
        "grave": theirs <= -CLEAR,
        "glad": theirs >= CLEAR,
    }
    for kind, rows in kinds.items():
        right = (np.sign(ours[rows]) == np.sign(theirs[rows])).mean()
        quartiles = np.round(np.percentile(strength[rows], (25, 50, 75, 90)), 2)
        print(f"  {kind} lines: sign right in {right:.2f}, valence felt: {quartiles}")


def chance_of_sign(valence: float, error: float) -> float:
    """How likely a valence that is off by about `error` has the right sign, 0.5…1: Φ(|valence| / error)."""
    return 0.5 * (1.0 + math.erf(abs(valence) / error / math.sqrt(2.0)))


def _print_how_sure(ours: Array, theirs: Array, error: float) -> None:
    """Where people took a side, how often the valence has their sign, by how sure the appraisal is of it."""
    sure = np.array([chance_of_sign(float(value), error) for value in ours])
    taken = theirs != 0
    for low, high in ((0.5, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 1.01)):
        rows = taken & (sure >= low) & (sure < high)
        right = (np.sign(ours[rows]) == np.sign(theirs[rows])).mean()
        print(f"  confidence {low:.1f} to {min(high, 1):.1f}: sign right in {right:.2f} of {rows.sum()}")


def main() -> None:
    """Measure, fit, write."""
    embedder = MiniLM()
    source, *files = map(Path, sys.argv[1:])
    evaluations = [text for file in files for text in texts_of(file)]
    sentences = read_sentences(HERE / "sentences.txt", SEED)
    lines = [line for line in read_lines(HERE / "lines.tsv") if line.valence is not None]
    measured = texts_of(source) + evaluations
    refuse_what_comes_near(sentences, measured, "sentences.txt")
    refuse_what_comes_near(lines, measured, "lines.tsv")
    theirs, held = emobank(source, evaluations, embedder)
    own, told = ours(sentences, embedder), rated(lines, embedder)
    arrays: dict[str, Any] = {}
    figures: dict[str, Any] = {}
    for name, shape in SHAPES.items():
        figures[name], error, plain = measure(name, theirs, own, told)
        network, looking = fit = fitted(name, joined(name, theirs, own, told), error)
        network.bias[0] -= plain  # most of what is learnt from is prose, beside which plain talk looks sad
        figures[name]["held-out r"] = agreement(predicted(name, fit, held), held)
        print(
            name,
            shape,
            json.dumps(figures[name], indent=2),
            f"error of valence: {error:.3f}, plain: {plain:.3f}",
        )
        for field in Network.__dataclass_fields__:
            arrays[f"{name}/{field}"] = np.float16(getattr(network, field))
    assert looking is not None  # by the last of them, over the layers
    provenance = {
        "script": "tools/affect/fit.py",
        "seed": SEED,
        "vectors of": embedder.name,
        "figures": figures,
        "data": [
            {
                "name": "EmoBank (train, but for the tenth held back), Buechel and Hahn, EACL 2017, https://github.com/JULIELab/EmoBank",
                "licence": "CC BY-SA 4.0",
                "rows": len(theirs),
                "used for": "valence, arousal; its pleasant rows also for no fear, sorrow or boredom",
            },
            {
                "name": "tools/affect/sentences.txt, written for noodlings",
                "licence": "MIT",
                "rows": len(own),
                "used for": "fear, sorrow, boredom; a little for valence and arousal",
            },
            {
                "name": "tools/affect/lines.tsv, written for noodlings",
                "licence": "MIT",
                "rows": len(told),
                "used for": "valence by the layers",
            },
        ],
    }
    arrays["provenance"] = np.frombuffer(json.dumps(provenance).encode(), dtype=np.uint8)
    np.savez_compressed(TARGET, **arrays)
    np.savez_compressed(QUERIES_TARGET, queries=looking, provenance=arrays["provenance"])
    for file in (TARGET, QUERIES_TARGET):
        print(f"wrote {file}, {file.stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    main()
