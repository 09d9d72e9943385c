"""Evidence recall over long conversations: does search find the evidence for an answer?

The data is in the shape of LoCoMo (Maharana et al., ACL 2024): a file is one conversation, an object with
`turns` (id, session, datetime, speaker, text, caption) and `questions` (question, category, evidence).
Questions of category 5 ask for what was never said, and are left out of the overall figures.

With `lived`, the agent itself answers the questions, too, after its archive was searched for all of them:
what counts is the evidence that it had in mind. Somebody who was not in the talk asks one question a day, in
the order of the file. Each is remembered with its answer, and may come to mind at the next.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Group
from rich.table import Table
from rich.text import Text

from noodlings.agent.society import Society
from noodlings.clock import ManualClock
from noodlings.errors import UserError
from noodlings.lab.evaluate.ingest import Listener
from noodlings.lab.evaluate.talk import MOST
from noodlings.recall.mood_congruence import DEFAULT_WEIGHT
from noodlings.recall.rank import DEFAULT_WEIGHTS
from noodlings.values.affect import Affect
from noodlings.values.audience import OPEN
from noodlings.values.percept import Percept

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
ADVERSARIAL = 5
CUTS = (5, 10, 20)
METRICS = (*(f"recall@{cut}" for cut in CUTS), "hit@10", "ndcg@10")
LIVED = ("in_mind", "all_in_mind", "things")
"""Of an answer: the share of the evidence in mind, whether that is all of it, and the number of things in
mind. With more than `MOST` things, nothing counts as in mind."""
TURN_SECONDS = 20.0
"""Between two turns; the data has one time for a whole session."""

_TURN_ID = re.compile(r"D:?(\d+):(\d+)")
_DATETIME = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class LocomoQuestion:
    """What is asked, and the positions of the turns that answer it."""

    text: str
    category: int
    evidence: frozenset[int]


@dataclass(frozen=True, slots=True)
class LocomoConversation:
    """One file. `dropped` counts evidence that names no turn; questions without evidence are left out."""

    percepts: tuple[Percept, ...]
    questions: tuple[LocomoQuestion, ...]
    dropped: int


async def evaluate(
    society: Society,
    clock: ManualClock,
    files: Sequence[Path],
    mood: Affect | None = None,
    progress: Callable[[], None] = lambda: None,
    lived: bool = False,
) -> dict[str, Any]:
    """The figures over all questions of all files; an agent of its own overhears each conversation.

    Args:
        society: an empty one that keeps nothing.
        mood: the mood of every search, None for none. An agent that is asked has its own.
        progress: called after each turn, and after each question to the search or to the agent.
        lived: the agent itself is asked, too.

    Returns:
        overall and by_category: `METRICS`, 0…1, and n, if lived also `LIVED`; latency_ms: p50 and p95 of a
        search without embedding; weights: those in force; dropped_evidence; embedder; mood.

    Raises:
        UserError: a file cannot be read, or no file has a question with evidence.
        NoodlingsError: there is an embedder, and it failed.
    """
    scores: list[tuple[int, dict[str, float]]] = []
    latencies: list[float] = []
    dropped = 0
    embedder = ""
    for number, file in enumerate(files, start=1):
        conversation = read_conversation(file)
        dropped += conversation.dropped
        listener = Listener(society, clock, f"listener_{number}")
        embedder = listener.embedder
        await listener.hear(conversation.percepts, progress)
        first = len(scores)
        for question in conversation.questions:
            vector = await listener.vector(question.text)
            found, milliseconds = listener.ask(question.text, vector, 10, mood)
            more, _ = listener.ask(question.text, vector, max(CUTS), mood)
            latencies.append(milliseconds)
            scores.append((question.category, measured(found, more, question.evidence)))
            progress()
        if lived:
            for question, (_, score) in zip(conversation.questions, scores[first:], strict=True):
                score |= remembered(*await listener.answer(question.text), question.evidence)
                progress()
    if not scores:
        raise UserError("there is no question with evidence in these files")
    names = (*METRICS, *LIVED) if lived else METRICS
    return {
        "overall": _mean((score for category, score in scores if category != ADVERSARIAL), names),
        "by_category": {
            name: _mean((score for category, score in scores if category == number), names)
            for number, name in CATEGORIES.items()
        },
        "latency_ms": {f"p{p}": round(float(np.percentile(latencies, p)), 3) for p in (50, 95)},
        "weights": asdict(DEFAULT_WEIGHTS) | {"emotion_weight": DEFAULT_WEIGHT},
        "dropped_evidence": dropped,
        "embedder": embedder,
        "mood": None if mood is None else mood.as_list(),
    }


def steps(files: Sequence[Path], lived: bool = False) -> int:
    """How often `evaluate` will call its progress."""
    conversations = [read_conversation(file) for file in files]
    times = 2 if lived else 1
    return sum(len(each.percepts) + times * len(each.questions) for each in conversations)


def read_conversation(path: Path) -> LocomoConversation:
    """A conversation from a file. Raises `UserError`, naming the file and what is wrong in it."""
    try:
        data = json.loads(path.read_bytes())
        turns, asked = data["turns"], data["questions"]
        positions = {turn["id"]: position for position, turn in enumerate(turns)}
        percepts = tuple(_percepts(turns))
        questions = []
        dropped = 0
        for question in asked:
            evidence, unknown = evidence_positions(question["evidence"], positions)
            dropped += unknown
            if evidence:
                questions.append(LocomoQuestion(question["question"], int(question["category"]), evidence))
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path} is not a conversation with turns and questions: {error!r:.120}") from error
    return LocomoConversation(percepts, tuple(questions), dropped)


def evidence_positions(evidence: Iterable[str], positions: dict[str, int]) -> tuple[frozenset[int], int]:
    """The positions of the turns that evidence ids name, and how many ids name no turn.

    People wrote them: "D8:6; D9:17" is two of them, "D:11:26" and "D30:05" are D11:26 and D30:5.
    """
    found: set[int] = set()
    unknown = 0
    for written in evidence:
        ids = [f"D{int(session)}:{int(turn)}" for session, turn in _TURN_ID.findall(written)]
        unknown += sum(turn not in positions for turn in ids) if ids else 1
        found.update(positions[turn] for turn in ids if turn in positions)
    return frozenset(found), unknown


def measured(found: Sequence[int], more: Sequence[int], evidence: frozenset[int]) -> dict[str, float]:
    """The metrics of one question: `found` are its first 10 hits, `more` its first 20, best first."""
    gains = [1.0 / math.log2(place + 2) for place, hit in enumerate(found[:10]) if hit in evidence]
    ideal = sum(1.0 / math.log2(place + 2) for place in range(min(len(evidence), 10)))
    hits = {cut: evidence.intersection((more if cut > 10 else found)[:cut]) for cut in CUTS}
    return {
        **{f"recall@{cut}": len(hits[cut]) / len(evidence) for cut in CUTS},
        "hit@10": float(bool(hits[10])),
        "ndcg@10": sum(gains) / ideal,
    }


def remembered(in_mind: Sequence[int], things: int, evidence: frozenset[int]) -> dict[str, float]:
    """`LIVED` for one answer: `in_mind` are the turns among the `things` that were in mind for it."""
    share = len(evidence.intersection(in_mind)) / len(evidence) if things <= MOST else 0.0
    return {"in_mind": share, "all_in_mind": float(share == 1.0), "things": float(things)}


def view(figures: dict[str, Any]) -> Group:
    lived = LIVED[0] in figures["overall"]
    names = ("recall@10", *LIVED) if lived else METRICS
    table = Table(box=None, pad_edge=False)
    table.add_column("questions")
    for name in ("n", *names):
        table.add_column(name.replace("_", " "), justify="right")
    for name, row in (("overall", figures["overall"]), *figures["by_category"].items()):
        table.add_row(name, str(row["n"]), *("-" if row[m] is None else f"{row[m]:.3f}" for m in names))
    latency = figures["latency_ms"]
    weights = ", ".join(f"{name} {value:g}" for name, value in figures["weights"].items())
    mood = "" if figures["mood"] is None else f", mood {figures['mood'][0]:g},{figures['mood'][1]:g}"
    return Group(
        table,
        Text(f"overall is without adversarial questions; embedder {figures['embedder']}{mood}"),
        Text(f"search {latency['p50']:.2f} ms (95%: {latency['p95']:.2f}), embedding the question aside"),
        Text(f"default weights: {weights}"),
        Text(f"pieces of evidence that name no turn, dropped: {figures['dropped_evidence']}"),
    )


def _percepts(turns: Iterable[dict[str, Any]]) -> Iterable[Percept]:
    session, place = None, 0
    for turn in turns:
        session, place = turn["session"], place + 1 if turn["session"] == session else 0
        started = datetime.strptime(turn["datetime"], _DATETIME).replace(tzinfo=UTC).timestamp()
        caption = turn.get("caption")
        yield Percept(
            user_id=f"user_{turn['speaker'].lower().replace(' ', '_')}",
            text=turn["text"] + (f" [shares a photo: {caption}]" if caption else ""),
            timestamp=started + place * TURN_SECONDS,
            audience=OPEN,
        )


def _mean(scores: Iterable[dict[str, float]], names: Iterable[str]) -> dict[str, Any]:
    scores = list(scores)
    means: dict[str, Any] = {"n": len(scores)}
    for name in names:
        means[name] = round(float(np.mean([score[name] for score in scores])), 4) if scores else None
    return means
