import copy
import io
import math
from pathlib import Path

import pytest
from rich.console import Console

from noodlings.affect.appraise import Appraiser
from noodlings.embed.minilm import MiniLM
from noodlings.errors import UserError
from noodlings.evaluate.locomo import (
    METRICS,
    evaluate,
    evidence_positions,
    measured,
    read_conversation,
    steps,
    view,
)
from noodlings.values.affect import Affect
from tests.evaluate.conversations import ANSWER, CONVERSATION, written
from tests.fakes import HashingEmbedder

DATA = Path(__file__).parents[3] / "shared" / "data" / "locomo-dev"
FILES = sorted(DATA.glob("*.json"))
needs_data = pytest.mark.skipif(not FILES, reason=f"the conversations to measure with are not at {DATA}")


@pytest.mark.parametrize(
    ("written_as", "positions", "unknown"),
    [
        (["D1:1"], {0}, 0),
        (["D8:6; D9:17"], {1, 2}, 0),
        (["D:11:26"], {3}, 0),
        (["D30:05"], {4}, 0),
        (["D8:6", "D8:6"], {1}, 0),
        (["D99:1", "D1:1"], {0}, 1),
        (["D"], set(), 1),
        ([], set(), 0),
    ],
)
def test_evidence_is_read_however_it_was_written(written_as, positions, unknown):
    known = {"D1:1": 0, "D8:6": 1, "D9:17": 2, "D11:26": 3, "D30:5": 4}
    assert evidence_positions(written_as, known) == (frozenset(positions), unknown)


def test_the_metrics_of_one_question():
    found = [7, 1, 8, 2, *range(20, 26)]
    figures = measured(found, [*found, 3], frozenset({1, 2, 3, 4}))
    assert figures["recall@5"] == figures["recall@10"] == 0.5
    assert figures["recall@20"] == 0.75
    assert figures["hit@10"] == 1.0
    gain = 1 / math.log2(3) + 1 / math.log2(5)
    assert figures["ndcg@10"] == pytest.approx(gain / sum(1 / math.log2(place + 2) for place in range(4)))


def test_a_conversation_is_read_as_percepts(tmp_path):
    conversation = read_conversation(written(tmp_path, CONVERSATION))
    first, second = conversation.percepts[:2]
    assert (first.user_id, second.user_id) == ("user_ida", "user_otto")
    assert second.text.endswith("[shares a photo: a goat on a pier]")
    assert 0 < second.timestamp - first.timestamp < 60
    assert conversation.percepts[4].timestamp - first.timestamp > 86_000
    assert len(conversation.questions) == 4
    assert conversation.dropped == 2


def test_the_figures(tmp_path):
    path = written(tmp_path, CONVERSATION)
    calls = []
    figures = evaluate([path], progress=lambda: calls.append(1))
    assert len(calls) == steps([path]) == 10
    assert figures["overall"]["n"] == 3
    assert figures["by_category"]["adversarial"]["n"] == 1
    assert figures["by_category"]["open-domain"] == {"n": 0, **dict.fromkeys(METRICS)}
    assert figures["overall"]["recall@10"] == 1.0
    assert figures["dropped_evidence"] == 2
    assert figures["latency_ms"]["p50"] > 0
    assert figures["weights"]["emotion_weight"] == 0.3


def test_the_figures_for_people(tmp_path):
    figures = evaluate([written(tmp_path, CONVERSATION)], HashingEmbedder(), Affect(-0.8, 0.9), Appraiser())
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(view(figures))
    shown = console.export_text()
    assert "multi-hop" in shown
    assert "hashing-64, mood -0.8,0.9" in shown


class Listening(HashingEmbedder):
    """Keeps every text it was given."""

    def __init__(self):
        self.heard = []

    def embed(self, texts):
        self.heard += texts
        return super().embed(texts)


def test_answers_and_evidence_reach_neither_ingestion_nor_search(tmp_path):
    listening = Listening()
    evaluate([written(tmp_path, CONVERSATION)], listening)
    assert not any(ANSWER in text or "D1:" in text or "D2:" in text for text in listening.heard)
    assert len(listening.heard) == 10


def test_other_answers_change_no_hit(tmp_path):
    other = copy.deepcopy(CONVERSATION)
    for question in other["questions"]:
        question["answer"] = "something else"
        question["evidence"] = ["D1:1"] if question["category"] < 5 else question["evidence"]
    found = []
    for data in (CONVERSATION, other):
        listening = Listening()
        evaluate([written(tmp_path, data)], listening)
        found.append(listening.heard[:9])
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "data",
    [
        [],
        {"turns": []},
        {"turns": [{"id": 1}], "questions": []},
        {"turns": [], "questions": [{"evidence": 3}]},
    ],
)
def test_a_file_of_another_shape_is_refused(tmp_path, data):
    with pytest.raises(UserError, match=r"data\.json"):
        evaluate([written(tmp_path, data)])


def test_a_file_without_questions_is_refused(tmp_path):
    with pytest.raises(UserError, match="no question"):
        evaluate([written(tmp_path, CONVERSATION | {"questions": []})])
    with pytest.raises(UserError, match="cannot read"):
        evaluate([tmp_path / "missing.json"])


@needs_data
def test_words_alone_find_most_of_the_evidence():
    figures = evaluate(FILES)
    assert figures["overall"]["recall@10"] >= 0.78


@needs_data
def test_words_and_meaning_find_more():
    figures = evaluate(FILES[:1], MiniLM())
    assert figures["overall"]["recall@10"] >= 0.84
    assert figures["by_category"]["multi-hop"]["recall@10"] >= 0.52
