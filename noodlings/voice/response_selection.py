"""Which of a character's phrases answers what it is told, or asked where no memory answers, as readers would
choose (`tools/lines/replies.py`).

A line and a phrase each have an embedding, and their product says how well the phrase answers the line;
besides, some kinds of phrases go better with the act and the tone of the line than others. The kind of a
phrase is the act or topic under which a recipe has it; a question is answered by other kinds than what
somebody tells. A phrase that was not learnt from, such as one of a
host's own recipe, counts as an average one of its kind.
"""

from __future__ import annotations

import zlib
from collections.abc import Container, Sequence, Set
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

import numpy as np
import numpy.typing as npt

from noodlings.values.persona import PersonaVoice
from noodlings.values.tone import ToneName
from noodlings.values.wording import DialogueAct

Floats = npt.NDArray[np.float32]
Sources = tuple[tuple[str, tuple[str, ...]], ...]

RESPONSES = "responses.npz"
TOPIC, ITSELF = "topic.", "itself."
"""Before the name of a kind that is a topic of what is told, and of what is asked about the character itself:
an act may have the same name."""
ASKED = frozenset({
    DialogueAct.QUESTION, DialogueAct.FORGOTTEN, DialogueAct.PERSONAL, DialogueAct.YES_OR_NO,
    DialogueAct.ADVICE, DialogueAct.REQUEST, DialogueAct.AVAILABILITY, DialogueAct.PERMISSION,
})  # fmt: skip
"""Acts of questions."""
_ANSWERS_BOTH = frozenset({
    DialogueAct.REMARK, DialogueAct.TEASING, DialogueAct.PRAISE,
})  # fmt: skip
"""Acts whose phrases answer questions, too: "a fine day, don't you think?"."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A phrase that may answer a line.

    Attributes:
        kind: the value of a `DialogueAct`, or that of a `ToldTopic` after `TOPIC`, or of a `SelfTopic` after
            `ITSELF`.
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
        all: the phrases, those of the character first.
        own: how many these are.
        embeddings: of each, (candidates, dimensions + 1); the last number is its bias.
        kinds: where the kind of each stands in `ResponseModel.kind_index`, (candidates,).
    """

    all: tuple[Candidate, ...]
    own: int
    embeddings: Floats
    kinds: npt.NDArray[np.intp]


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


def phrases_of(voice: PersonaVoice) -> Sources:
    """The phrases of a recipe by their kinds."""
    return (
        *voice.lines.items(),
        *((f"{TOPIC}{topic}", phrases) for topic, phrases in voice.on_topics.items()),
        *((f"{ITSELF}{topic}", phrases) for topic, phrases in voice.about_itself.items()),
    )


def candidates_of(sources: Sources, kinds: Container[str]) -> list[Candidate]:
    """The phrases of these kinds."""
    every = (Candidate(kind, source) for kind, found in sources if kind in kinds for source in found)
    return list(dict.fromkeys(every))


def answers_question(kind: str) -> bool:
    """Whether phrases of a kind answer questions."""
    return kind.startswith(ITSELF) or kind in ASKED or kind in _ANSWERS_BOTH


def answers_what_is_told(kind: str) -> bool:
    """Whether phrases of a kind answer what somebody tells."""
    return not kind.startswith(ITSELF) and kind not in ASKED


def own_and_shared(own: Sources, shared: Sources, kinds: Set[str]) -> tuple[list[Candidate], list[Candidate]]:
    """A character's own phrases of these kinds, and the shared ones, which do not hold on a topic on which it
    speaks of itself."""
    theirs = candidates_of(own, kinds)
    spoken_of = {one.kind for one in theirs if one.kind.startswith(ITSELF)}
    return theirs, candidates_of(shared, kinds - spoken_of)


def candidates(voice: PersonaVoice, shared: PersonaVoice, *, asks: bool) -> Candidates:
    """The phrases with which a character may answer a question, or what it is told; made once for each
    recipe, as there are hundreds.

    Args:
        shared: what all characters say; see `own_and_shared`.
    """
    return _candidates(phrases_of(voice), phrases_of(shared), asks)


@lru_cache(maxsize=256)
def _candidates(own: Sources, shared: Sources, asks: bool) -> Candidates:
    model, may_answer = response_model(), answers_question if asks else answers_what_is_told
    theirs, more = own_and_shared(own, shared, set(filter(may_answer, model.kind_index)))
    found = (*theirs, *more)
    kinds = np.array([model.kind_index[one.kind] for one in found], np.intp)
    embeddings = model.kind_means[kinds]
    for row, one in zip(embeddings, found, strict=True):
        row[:] = model.embeddings.get(one.key, row)
    return Candidates(found, len(theirs), embeddings, kinds)


def is_learnt(act: DialogueAct) -> bool:
    """Whether readers chose phrases for lines or questions of this act."""
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
