"""Text → affect against people: how well our own appraisal agrees with how texts were rated or labelled.

Files are CSV with a header. With columns V, A and text, ratings on 1…5 with 3 for neutral (as in EmoBank):
Pearson's r and the mean absolute error on that same scale. With columns label and text (joy, fear, anger,
sadness, …): how well our fear and our sorrow tell the texts of their label from all others.

The weights that come with noodlings were fitted on nine tenths of EmoBank's training split (`held_back` tells
the other tenth). Measured on that same file the figures flatter, so the cross-validated ones, which are
stored with the weights, are shown beside them.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt
from rich.console import Group
from rich.table import Table
from rich.text import Text

from noodlings.affect.appraisal import Appraiser, rated, shipped
from noodlings.embed.queue import understood_by
from noodlings.errors import UserError
from noodlings.ports import Embedder
from noodlings.text import clean

LABELS = {
    "fear": frozenset(("fear", "afraid", "scared", "anxiety", "nervousness", "terror")),
    "sorrow": frozenset(("sorrow", "sadness", "sad", "grief")),
}
"""Feeling → labels, in lower case, whose texts should have more of it than all others."""

Numbers = npt.NDArray[np.floating[Any]]


def evaluate(
    file: Path, embedder: Embedder | None, progress: Callable[[], None] = lambda: None
) -> dict[str, Any]:
    """The figures of a file, by the words alone or with an embedder; `progress` is called after each text.

    Returns:
        `valence` and `arousal`, each {r, mae, n} with the error on 1…5; or `auc` with `fear` and `sorrow`,
        0…1, None if no text has such a label; and embedder. r is None if it is undefined.

    Raises:
        UserError: the file cannot be read, lacks columns or rows, or a rating is not within 1…5.
        NoodlingsError: the embedder cannot be used, or the weights do not know its vectors.
    """
    known = shipped().provenance["vectors of"]
    if embedder is not None and embedder.name != known:
        raise UserError(f"our appraisal understands the vectors of {known}, not those of {embedder.name}")
    rows = _rows(file)
    has_ratings = {"V", "A", "text"} <= rows[0].keys()
    if not has_ratings and not {"label", "text"} <= rows[0].keys():
        raise UserError(f"{file} has the columns {', '.join(rows[0])}: it needs V, A, text or label, text")
    expected = _ratings(file, rows) if has_ratings else np.zeros((0, 2))
    felt = _felt([row["text"] for row in rows], embedder, progress)
    figures = _agreement(felt, expected) if has_ratings else {"auc": _separation(felt, rows, file)}
    return {**figures, "embedder": "none" if embedder is None else embedder.name}


def held_back(text: str) -> bool:
    """Whether a row of EmoBank belongs to the tenth that the shipped weights were never fitted on.

    The words decide, so that fitting and measuring choose the same rows in any order.
    """
    return crc32(clean(text).encode()) % 10 == 0


def pearson(x: Numbers, y: Numbers) -> float | None:
    """Pearson's r; None if one of the two does not vary."""
    if len(x) < 2 or x.std() == 0 or y.std() == 0:
        return None
    return round(float(np.corrcoef(x, y)[0, 1]), 6)


def auc(scores: Numbers, positive: npt.NDArray[np.bool_]) -> float | None:
    """The chance that a positive scores above a negative, ties count half; None if one of them is missing.

    This is the rank sum of Mann and Whitney.
    """
    hits, misses = int(positive.sum()), int((~positive).sum())
    if not hits or not misses:
        return None
    values, place = np.unique(scores, return_inverse=True)
    upto = np.cumsum(np.bincount(place, minlength=len(values)))
    ranks = upto - (np.bincount(place) - 1) / 2  # 1-based, the mean of those that tie
    return round(float((ranks[place][positive].sum() - hits * (hits + 1) / 2) / (hits * misses)), 6)


def view(figures: dict[str, Any]) -> Group:
    auc_only = "auc" in figures
    table = Table(title=f"text → affect, embedder: {figures['embedder']}")
    for column in ("feeling", "AUC") if auc_only else ("axis", "r", "mean error, on 1…5", "n"):
        table.add_column(column, justify="left" if column in ("feeling", "axis") else "right")
    if auc_only:
        for feeling, value in figures["auc"].items():
            table.add_row(feeling, _shown(value))
        return Group(table, Text("AUC: the chance that a text of the label has more of it than another."))
    for axis in ("valence", "arousal"):
        part = figures[axis]
        table.add_row(axis, _shown(part["r"]), _shown(part["mae"]), str(part["n"]))
    name = "words" if figures["embedder"] == "none" else "layers"
    known = shipped().provenance["figures"][name]["cross-validated r"]
    caution = (
        "The weights were fitted on EmoBank's training split; measured on that file itself, r flatters. "
        f"There, by cross-validation: valence {known['valence']:.2f}, arousal {known['arousal']:.2f}."
    )
    return Group(table, Text(caution))


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def _rows(file: Path) -> list[dict[str, str]]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            rows = list(csv.DictReader(lines, strict=True, restval=""))
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise UserError(f"{file} is not a CSV file in UTF-8: {error}") from error
    if len(rows) < 2:
        raise UserError(f"{file} holds {len(rows)} rows below its header, but at least two are needed")
    return rows


def _ratings(file: Path, rows: Sequence[dict[str, str]]) -> Numbers:
    """V and A of every row, shape (n, 2)."""
    ratings = np.empty((len(rows), 2))
    for number, row in enumerate(rows):
        try:
            ratings[number] = [float(row["V"]), float(row["A"])]
        except ValueError:
            ratings[number] = np.nan
        if not ((ratings[number] >= 1) & (ratings[number] <= 5)).all():
            raise UserError(f"{file}, row {number + 1}: V and A must be numbers from 1 to 5")
    return ratings


def _felt(texts: Sequence[str], embedder: Embedder | None, progress: Callable[[], None]) -> Numbers:
    """Our own affect for each text, shape (n, 5)."""
    appraiser = Appraiser()
    felt = np.empty((len(texts), 5))
    for number, text in enumerate(map(clean, texts)):
        understood = None if embedder is None else understood_by(embedder, [text])[0]
        felt[number] = appraiser.appraise(text, understood=understood).affect.array()
        progress()
    return felt


def _agreement(felt: Numbers, ratings: Numbers) -> dict[str, Any]:
    """Our ratings, on the scale of the raters, against theirs."""
    ours = 3.0 + rated(felt)[:, :2]
    figures = {}
    for axis, values, theirs in zip(("valence", "arousal"), ours.T, ratings.T, strict=True):
        error = round(float(np.abs(values - theirs).mean()), 6)
        figures[axis] = {"r": pearson(values, theirs), "mae": error, "n": len(theirs)}
    return figures


def _separation(felt: Numbers, rows: Sequence[dict[str, str]], file: Path) -> dict[str, float | None]:
    labels = [row["label"].strip().casefold() for row in rows]
    axis = {"fear": 2, "sorrow": 3}
    figures = {
        feeling: auc(felt[:, axis[feeling]], np.array([label in names for label in labels]))
        for feeling, names in LABELS.items()
    }
    if all(value is None for value in figures.values()):
        known = ", ".join(sorted(LABELS["fear"] | LABELS["sorrow"]))
        raise UserError(f"{file} needs at least two labels, one of which is a feeling it knows: {known}")
    return figures
