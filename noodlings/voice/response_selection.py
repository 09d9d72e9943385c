"""Which of a character's phrases answers what it is told, as readers would choose (`tools/lines/replies.py`).

A line and a phrase each have an embedding, and their product says how well the phrase answers the line;
besides, some kinds of phrases go better with the act and the tone of the line than others. The kind of a
phrase is the act or topic under which a recipe has it. A phrase that was not learnt from, such as one of a
host's own recipe, counts as an average one of its kind.
"""

from __future__ import annotations

import zlib
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

import numpy as np
import numpy.typing as npt

from noodlings.values.persona import PersonaVoice
from noodlings.values.tone import ToneName
from noodlings.values.wording import DialogueAct

Floats = npt.NDArray[np.float32]
Sources = Iterable[tuple[str, tuple[str, ...]]]

RESPONSES = "responses.npz"
TOPIC = "topic."
"""Before the name of a kind that is a topic: an act may have the same name."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A phrase that may answer a line.

    Attributes:
        kind: the value of a `DialogueAct`, or that of a `ToldTopic` after `TOPIC`.
        source: the phrase as it stands in the recipe.
    """

    kind: str
    source: str

    @property
    def key(self) -> int:
        return zlib.crc32(f"{self.kind}\n{self.source}".encode())


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The phrases that may answer a line.

    Attributes:
        all: the phrases.
        embeddings: of each, (candidates, dimensions + 1); the last number is its bias.
        kinds: where the kind of each stands in `ResponseModel.kind_index`, (candidates,).
    """

    all: tuple[Candidate, ...]
    embeddings: Floats
    kinds: npt.NDArray[np.intp]

    def __add__(self, more: Candidates) -> Candidates:
        embeddings = np.concatenate([self.embeddings, more.embeddings])
        return Candidates((*self.all, *more.all), embeddings, np.concatenate([self.kinds, more.kinds]))


@dataclass(frozen=True, slots=True, eq=False)
class ResponseModel:
    """What was learnt of phrases.

    Attributes:
        kind_index: where each kind stands in the arrays.
        embeddings: of each phrase, by its key; as in `Candidates`.
        kind_means: the mean embedding of each kind, (kinds, dimensions + 1).
        kind_priors: how well each kind goes with an act and a tone, as a logit, (kinds,).
    """

    kind_index: dict[str, int]
    embeddings: dict[int, Floats]
    kind_means: Floats
    kind_priors: dict[tuple[str, str], Floats]


@cache
def response_model() -> ResponseModel:
    with (resources.files("noodlings.voice") / RESPONSES).open("rb") as file, np.load(file) as arrays:
        kinds = {kind: place for place, kind in enumerate(arrays["kinds"].tolist())}
        embeddings = arrays["embeddings"].astype(np.float32)
        by_key = dict(zip(arrays["keys"].tolist(), embeddings, strict=True))
        kind_means = arrays["kind_means"].astype(np.float32)
        tables = zip(arrays["acts"].tolist(), arrays["kind_priors"].astype(np.float32), strict=True)
    priors = {
        (act, tone.value): of for act, table in tables for tone, of in zip(ToneName, table, strict=True)
    }
    return ResponseModel(kinds, by_key, kind_means, priors)


def candidates_of(lines: Sources, on_topics: Sources, kinds: Container[str]) -> list[Candidate]:
    """The phrases of these kinds among the lines and topics of a recipe."""
    found = (*lines, *((f"{TOPIC}{topic}", sources) for topic, sources in on_topics))
    every = (Candidate(kind, source) for kind, sources in found if kind in kinds for source in sources)
    return list(dict.fromkeys(every))


def candidates(voice: PersonaVoice) -> Candidates:
    """What a recipe has to say; made once for each, as there are hundreds."""
    return _candidates(tuple(voice.lines.items()), tuple(voice.on_topics.items()))


@lru_cache(maxsize=256)
def _candidates(lines: Sources, on_topics: Sources) -> Candidates:
    model = response_model()
    found = tuple(candidates_of(lines, on_topics, model.kind_index))
    kinds = np.array([model.kind_index[one.kind] for one in found], np.intp)
    embeddings = model.kind_means[kinds]
    for row, one in zip(embeddings, found, strict=True):
        row[:] = model.embeddings.get(one.key, row)
    return Candidates(found, embeddings, kinds)


def is_learnt(act: DialogueAct) -> bool:
    """Whether readers chose phrases for lines of this act."""
    return (act.value, ToneName.PLAIN.value) in response_model().kind_priors


def scores(
    among: Candidates, response_embedding: Sequence[float], act: DialogueAct, tone: ToneName
) -> Floats:
    """How well each phrase answers a line, as a logit, (candidates,).

    Args:
        response_embedding: see `LineReading.response_embedding`.
        act: one that `is_learnt`.
    """
    prior = response_model().kind_priors[act.value, tone.value]
    return among.embeddings @ np.array([*response_embedding, 1.0], np.float32) + prior[among.kinds]


def kind_probabilities(among: Candidates, score: Floats) -> Floats:
    """How likely a reader would choose a phrase of each kind, 0…1, given the score of each, (kinds,)."""
    raised = np.exp(score - score.max())
    kinds = len(response_model().kind_index)
    return np.bincount(among.kinds, raised / raised.sum(), kinds).astype(np.float32)
