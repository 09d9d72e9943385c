import copy
import io
import json
import math
import os
from itertools import pairwise

import pytest
from rich.console import Console

from noodlings.errors import NoodlingsError, UserError
from noodlings.lab.evaluate.locomo import (
    LIVED,
    METRICS,
    evaluate,
    evidence_positions,
    measured,
    read_conversation,
    remembered,
    steps,
    view,
)
from noodlings.recall.search import Searcher
from noodlings.values.affect import Affect
from tests.lab.evaluate.conversations import ANSWER, CONVERSATION, written
from tests.outside import DATA, needs
from tests.program import ran
from tests.thorough import THOROUGH

FILES = sorted((DATA / "locomo-dev").glob("*.json"))
needs_data = needs("locomo-dev")


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


async def test_the_figures(tmp_path, living):
    path = written(tmp_path, CONVERSATION)
    calls = []
    figures = await evaluate(*living(), [path], progress=lambda: calls.append(1))
    assert len(calls) == steps([path]) == 10
    assert figures["overall"]["n"] == 3
    assert figures["by_category"]["adversarial"]["n"] == 1
    assert figures["by_category"]["open-domain"] == {"n": 0, **dict.fromkeys(METRICS)}
    assert figures["overall"]["recall@10"] == 1.0
    assert figures["dropped_evidence"] == 2
    assert figures["latency_ms"]["p50"] > 0
    assert figures["weights"]["emotion_weight"] == 0.3


@pytest.mark.slow
async def test_the_figures_for_people(tmp_path, living):
    files = [written(tmp_path, CONVERSATION)]
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(view(await evaluate(*living("minilm"), files, Affect(-0.8, 0.9))))
    shown = console.export_text()
    assert "multi-hop" in shown
    assert "all-MiniLM-L6-v2-int8, mood -0.8,0.9" in shown


@pytest.mark.slow
async def test_turns_are_lived_through_by_an_agent_of_their_own_that_says_nothing(tmp_path, living):
    society, clock = living("minilm")
    twice = [written(tmp_path, CONVERSATION), written(tmp_path, CONVERSATION, "again.json")]
    await evaluate(society, clock, twice)
    for name in ("listener_1", "listener_2"):
        entries = society.store.archive(name)
        assert [entry.user_text[:16] for entry in entries[:2]] == ["The ferry was la", "What a pity! My "]
        assert all(entry.response is None and entry.affect is not None for entry in entries)
        assert society.agents[name].archive.state().embedded == len(entries)
        assert len([entry for entry in entries if entry.user_id != name]) == 6  # it may brood on one of them


async def test_what_cannot_be_embedded_ends_it(tmp_path, living, monkeypatch):
    def refuse(self, texts, layers):
        raise NoodlingsError("the model is gone")

    society, clock = living("minilm")
    monkeypatch.setattr("noodlings.embed.minilm.MiniLM.states", refuse)
    with pytest.raises(NoodlingsError, match="the model is gone"):
        await evaluate(society, clock, [written(tmp_path, CONVERSATION)])


@pytest.fixture
def asked(monkeypatch):
    """Every question that is asked, with its hits."""
    kept = []
    search = Searcher.search

    def listening(self, query, *arguments, **options):
        hits = search(self, query, *arguments, **options)
        kept.append((query, [hit.entry_id for hit in hits]))
        return hits

    monkeypatch.setattr(Searcher, "search", listening)
    return kept


async def test_answers_and_evidence_reach_neither_ingestion_nor_search(tmp_path, living, asked):
    society, clock = living()
    await evaluate(society, clock, [written(tmp_path, CONVERSATION)])
    texts = [entry.user_text for entry in society.store.archive("listener_1")] + [query for query, _ in asked]
    assert len(texts) == 6 + 2 * 4
    assert not any(ANSWER in text or "D1:" in text or "D2:" in text for text in texts)


async def test_other_answers_change_no_hit(tmp_path, living, asked):
    other = copy.deepcopy(CONVERSATION)
    for question in other["questions"]:
        question["answer"] = "something else"
        question["evidence"] = ["D1:1"] if question["category"] < 5 else question["evidence"]
    await evaluate(*living(), [written(tmp_path, CONVERSATION)])
    before = asked.copy()
    asked.clear()
    await evaluate(*living(), [written(tmp_path, other)])
    assert asked[: len(before)] == before


def test_evidence_in_mind_is_counted_in_a_mind_of_twelve_things_and_no_more():
    evidence = frozenset({1, 2})
    assert remembered([7, 1], 12, evidence) == {"in_mind": 0.5, "all_in_mind": 0.0, "things": 12.0}
    assert remembered([2, 1], 12, evidence) == {"in_mind": 1.0, "all_in_mind": 1.0, "things": 12.0}
    assert remembered([2, 1], 13, evidence) == {"in_mind": 0.0, "all_in_mind": 0.0, "things": 13.0}


@pytest.mark.slow
@pytest.mark.parametrize("model", ["none", "minilm"])
async def test_lived_the_agent_is_asked_after_the_search_which_it_does_not_change(tmp_path, living, model):
    path = written(tmp_path, CONVERSATION)
    calls = []
    searched = await evaluate(*living(model), [path])
    figures = await evaluate(*living(model), [path], progress=lambda: calls.append(1), lived=True)
    assert len(calls) == steps([path], lived=True) == 14
    lived = {name: figures["overall"].pop(name) for name in LIVED}
    assert lived["in_mind"] == lived["all_in_mind"] == 1.0
    assert 2 <= lived["things"] <= 12
    for row in figures["by_category"].values():
        assert all((row.pop(name) is None) == (row["n"] == 0) for name in LIVED)
    assert {**figures, "latency_ms": 0} == {**searched, "latency_ms": 0}


async def test_a_lived_question_is_answered_and_remembered_and_nobody_is_told_the_answer(tmp_path, living):
    society, clock = living()
    await evaluate(society, clock, [written(tmp_path, CONVERSATION)], lived=True)
    asked = society.store.archive("listener_1")[6:]
    assert [entry.user_text for entry in asked] == [
        each["question"] for each in CONVERSATION["questions"][:4]
    ]
    assert all(entry.user_id == "user_asker" and entry.response for entry in asked)
    assert {later.timestamp - entry.timestamp for entry, later in pairwise(asked)} == {86_400}
    assert not any(ANSWER in f"{entry.user_text} {entry.response}" for entry in asked)


async def test_an_answer_that_had_to_do_without_something_ends_it(tmp_path, living, monkeypatch):
    async def half(self, turn):
        turn.degraded.append("half of it is not loaded")

    society, clock = living()
    monkeypatch.setattr("noodlings.agent.responder.Responder.remember", half)
    with pytest.raises(NoodlingsError, match="half of it"):
        await evaluate(society, clock, [written(tmp_path, CONVERSATION)], lived=True)


@pytest.mark.slow
def test_the_command_tells_what_was_in_mind_only_where_that_is_asked_for(tmp_path):
    path = written(tmp_path, CONVERSATION)
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    command = ("eval", "locomo", path, "--embedder", "none")
    for more, names in ((), METRICS), (("--lived",), (*METRICS, *LIVED)):
        ended = ran(*command, *more, "--json", environment=environment)
        assert ended.returncode == 0, ended.stderr
        assert list(json.loads(ended.stdout)["overall"]) == ["n", *names]
    assert b"all in mind" in ran(*command, "--lived", environment=environment).stdout
    assert b"in mind" not in ran(*command, environment=environment).stdout
    missing = ran("eval", "locomo", tmp_path / "none.json", "--lived", environment=environment)
    assert missing.returncode != 0
    assert b"cannot read" in missing.stderr


@pytest.mark.parametrize(
    "data",
    [
        [],
        {"turns": []},
        {"turns": [{"id": 1}], "questions": []},
        {"turns": [], "questions": [{"evidence": 3}]},
    ],
)
async def test_a_file_of_another_shape_is_refused(tmp_path, living, data):
    with pytest.raises(UserError, match=r"data\.json"):
        await evaluate(*living(), [written(tmp_path, data)])


def test_a_file_that_is_nested_too_deep_is_refused(tmp_path):
    path = tmp_path / "data.json"
    path.write_text("[" * 100_000)
    with pytest.raises(UserError, match=r"data\.json"):
        read_conversation(path)


async def test_a_file_without_questions_is_refused(tmp_path, living):
    with pytest.raises(UserError, match="no question"):
        await evaluate(*living(), [written(tmp_path, CONVERSATION | {"questions": []})])
    with pytest.raises(UserError, match="cannot read"):
        await evaluate(*living(), [tmp_path / "missing.json"])


async def test_a_plain_list_is_not_evaluated(tmp_path, living):
    with pytest.raises(UserError, match="use_hierarchical"):
        await evaluate(*living(use_hierarchical=False), [written(tmp_path, CONVERSATION)])


@needs_data
@pytest.mark.slow
async def test_words_alone_find_most_of_the_evidence(living):
    figures = await evaluate(*living(), FILES if THOROUGH else FILES[-1:])
    assert figures["overall"]["recall@10"] >= (0.78 if THOROUGH else 0.82)


@needs_data
@pytest.mark.slow
async def test_words_and_meaning_find_more_and_most_of_it_is_in_mind_when_the_agent_answers(tmp_path, living):
    data = json.loads(FILES[0].read_text("utf-8"))
    if not THOROUGH:  # the first half of the talk, and half of what is asked of it
        data["turns"] = data["turns"][: len(data["turns"]) // 2]
        known = {turn["id"]: at for at, turn in enumerate(data["turns"])}
        unknown = [evidence_positions(asked["evidence"], known)[1] for asked in data["questions"]]
        data["questions"] = [asked for asked, no in zip(data["questions"], unknown, strict=True) if not no][
            ::2
        ]
    figures = await evaluate(*living("minilm"), [written(tmp_path, data)], lived=True)
    found, multi_hop, in_mind = (0.84, 0.52, 0.72) if THOROUGH else (0.92, 0.7, 0.88)
    assert figures["overall"]["recall@10"] >= found
    assert figures["by_category"]["multi-hop"]["recall@10"] >= multi_hop
    assert figures["overall"]["in_mind"] >= in_mind
    assert figures["overall"]["things"] <= 12
