"""Talk logs: what one character heard, in all shapes; and the rows of the first noodleMUSH, all of them."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.ingest.record import SourceNote, SourceProblem, SourceRecord
from noodlings.ingest.sources.talk import talk
from noodlings.lab.replay import replay
from noodlings.store.memory import MemoryStore
from noodlings.store.sql import SqlStore
from noodlings.values.audience import OPEN, Tier
from noodlings.values.memory import circumstances_of
from noodlings.values.percept import PRIVATE, Kind
from tests.fakes import ALL_CIRCUMSTANCES
from tests.ingest.sources.test_mu_log import PRIVATE as PRIVATE_LINES
from tests.ingest.test_pipeline import SETTINGS, a_pipeline, a_society
from tests.outside import DATA, needs


def read(path: Path, *names: str) -> tuple[list[SourceRecord], list[SourceProblem], list[SourceNote]]:
    items = list(talk(path, names))
    kinds = (SourceRecord, SourceProblem, SourceNote)
    return tuple([item for item in items if isinstance(item, kind)] for kind in kinds)  # type: ignore[return-value]


def a_log(tmp_path: Path, *rows: object) -> Path:
    path = tmp_path / "talk.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_rows_of_others_are_passed_over_and_counted(tmp_path: Path) -> None:
    path = a_log(
        tmp_path,
        {"user": "user_caity", "text": "hi", "agent": "agent_phi", "id": 7},
        {"user": "user_caity", "text": "hi", "agent": "agent_servnak"},
        {"text": 'Bob whispers "psst"', "timestamp": "2025-11-15T21:53:47"},
    )
    records, _, notes = read(path, "phi", "Phi")
    assert [(one.who, one.text, one.kind) for one in records] == [
        ("caity", "hi", Kind.SAY),
        ("bob", "psst", Kind.WHISPER),
    ]
    assert records[0].id == "7"
    assert notes == [SourceNote(0, "1 lines were perceived by other characters and were skipped")]


def test_marks_of_a_name_stay_and_its_records_keep_their_ids(tmp_path: Path) -> None:
    names = ("सीता देवी", "กิ่งแก้ว", "Nguye\u0302\u0303n", "مُحَمَّد", "Zoe\u0308")
    records, _, _ = read(a_log(tmp_path, *({"user": name, "text": "hi"} for name in names)))
    assert [one.who for one in records] == ["सीता_देवी", "กิ่งแก้ว", "nguyễn", "مُحَمَّد", "zoë"]
    assert [one.id[:8] for one in records] == ["8a68ed4b", "80179870", "c9723e8c", "06857c3e", "2a339ed4"]
    records, _, _ = read(a_log(tmp_path, *({"text": f"{name} says, hi"} for name in names)))
    assert [(one.who, one.text) for one in records] == [
        (who, "hi") for who in ("सीता_देवी", "กิ่งแก้ว", "nguyễn", "مُحَمَّد", "zoë")
    ]


def test_a_newer_form_is_kept_whole(tmp_path: Path) -> None:
    row = {"version": 2, "user": "caity", "text": "hi", "aura": "green"}
    records, problems, _ = read(a_log(tmp_path, row, {"version": 1, "user": "caity", "text": "ho"}))
    assert (len(records), problems[0].kept, problems[0].line) == (1, row, 1)
    assert problems[0].id


def test_a_newer_form_waits_under_the_same_name_as_what_can_be_read(tmp_path: Path) -> None:
    rows = [
        {"user": "user_Ann", "text": "hi"},
        {"user": "agent_ann (tired)", "text": "hi"},
        {"text": 'Ann says, "hi"'},
    ]
    records, problems, _ = read(a_log(tmp_path, *rows, *(row | {"version": 2} for row in rows)))
    assert [one.who for one in records] == [one.who for one in problems] == ["ann"] * 3
    odd = ({"who": "Ann", "text": [1]}, {"text": 7}, {"user": "", "text": " "})
    _, problems, _ = read(a_log(tmp_path, *(row | {"version": 2} for row in odd)))
    assert [one.who for one in problems] == ["ann", "", ""]


def private(record: SourceRecord) -> bool:
    return record.audience.confined or record.kind in PRIVATE


@pytest.mark.parametrize("line", PRIVATE_LINES)
def test_what_may_have_been_private_is_confined_with_and_without_a_user(tmp_path: Path, line: str) -> None:
    records, _, _ = read(a_log(tmp_path, {"text": line}, {"user": "user_bob", "text": line}))
    assert [private(one) for one in records] == [True, True]


@pytest.mark.parametrize(
    "row",
    [
        {"user": "caity", "text": "my mother told me of the sea"},
        {"user": "caity", "text": "tell me about a private room"},
        {"user": "caity", "text": "I will send you a page by mail"},
        {"user": "caity", "text": "/s tell me about a private room"},
        {"user": "caity", "text": "/me waves"},
        {"user": "caity", "text": "/OOC /w is a command"},
        {"user": "caity", "text": "w ann, r u there"},
        {"user": "caity", "text": "ten > nine", "kind": "say", "tier": 0, "confined": False, "private": None},
        {"text": 'Caity says, "my mother told me of the sea"'},
        {"text": "Caity says, hello, my mother told me of the sea"},
        {"text": "Mr. Toad *smiling*"},
        {"text": "Bob turns to Ada: look here"},
    ],
)
def test_what_everybody_heard_is_open(tmp_path: Path, row: dict[str, object]) -> None:
    ((record,), _, _) = read(a_log(tmp_path, row))
    assert not private(record)


@pytest.mark.parametrize(
    "command", ["tell Bob", "w Bob", "msg Bob", "m Bob", "t Bob", "r", "Reply", "whisper Bob", "pagehim"]
)
def test_a_command_for_anything_but_speaking_aloud_is_confined(tmp_path: Path, command: str) -> None:
    rows = [{"user": "caity", "text": f"/{command} the gold"}, {"text": f"/{command} the gold"}]
    records, _, _ = read(a_log(tmp_path, *rows))
    assert [private(one) for one in records] == [True, True]


def test_what_a_row_says_of_its_kind_and_who_may_learn_of_it_is_honoured(tmp_path: Path) -> None:
    marks = ({"kind": "whisper"}, {"confined": True}, {"private": True}, {"tier": 1}, {"tier": 2})
    rows = ({"user": "caity", "text": "the gold lies here"} | mark for mark in marks)
    records, _, _ = read(a_log(tmp_path, *rows, {"user": "caity", "text": "grins", "kind": "emote"}))
    assert [private(one) for one in records] == [True] * 5 + [False]
    assert (records[4].audience.tier, records[5].kind) == (Tier.SECRET, Kind.EMOTE)
    assert records[3].digest != records[4].digest


@pytest.mark.parametrize(
    "mark",
    [{"kind": "secret"}, {"kind": [1]}, {"tier": 4}, {"tier": True}, {"tier": "2"}, {"confined": "yes"}],
)
def test_what_a_row_says_and_cannot_be_honoured_is_named(tmp_path: Path, mark: dict[str, object]) -> None:
    records, (problem,), _ = read(a_log(tmp_path, {"user": "caity", "text": "the gold"} | mark))
    assert not records
    assert next(iter(mark)) in problem.why


def test_what_was_once_taken_in_as_open_is_confined_when_it_is_read_again(tmp_path: Path) -> None:
    path = a_log(
        tmp_path,
        {"text": "Caity pages you: the gold lies here", "timestamp": 1051823640},
        {"user": "caity", "text": "the gold lies here", "kind": "whisper", "timestamp": 1051823641},
    )
    now, _, _ = read(path)
    assert [one.id for one in now] == ["71dbf892bd84d5bbe47b42fa", "62bd467d86a20ba9665552de"]
    society, former = a_society(), (Kind.EMOTE, Kind.SAY)
    once = [replace(one, kind=kind, audience=OPEN) for one, kind in zip(now, former, strict=True)]
    assert a_pipeline(society).run(once).new == 2
    assert not any(entry.private for entry in society.store.archive("phi"))
    assert a_pipeline(society).run(now).changed == 2
    entries = society.store.archive("phi")
    assert len(entries) == 4
    assert all(entry.private for entry in entries)


def test_a_number_is_the_same_id_whatever_form_it_has(tmp_path: Path) -> None:
    rows = [{"id": id, "user": "caity", "text": "hi"} for id in (7, 7.0, "7")]
    assert {record.id for record in read(a_log(tmp_path, *rows))[0]} == {"7"}


@pytest.mark.parametrize("id", ["7", None])
@pytest.mark.parametrize(
    "now",
    [
        {"version": 99, "private": True},
        {"version": 99, "text": "whisper Bob = the key is under the mat"},
        {"version": 99, "user": None, "text": 'Caity whispers to you, "the key is under the mat"'},
        {"timestamp": "yesterday", "text": "whisper Bob = the key is under the mat"},
        {"text": ""},
        {"text": ["hi"]},
        {"text": None, "version": 99},
    ],
)
def test_a_row_that_is_newer_or_wrong_and_private_or_lost_its_words_confines_what_it_was(
    tmp_path: Path, now: dict[str, object], id: str | None
) -> None:
    society, row = a_society(), {"id": id, "user": "caity", "text": "the key is under the mat"}
    for more in ({}, now):
        a_pipeline(society).run(talk(a_log(tmp_path, row | more)))
    (entry,) = society.store.archive("phi")
    assert entry.audience.confined is (id is not None or "text" not in now)


@pytest.mark.parametrize(
    "now",
    [
        {"private": True, "timestamp": "yesterday"},
        {"private": True, "text": ""},
        {"private": True, "agent": 7},
        {"private": "yes"},
        {"kind": "page"},
        {"tier": 4},
        {"private": True, "agent": "maren"},
        {"kind": "whisper", "agent": "maren"},
    ],
)
@pytest.mark.parametrize("id", ["7", None])
def test_a_private_row_that_is_wrong_or_anothers_confines_what_the_row_was(
    tmp_path: Path, now: dict[str, object], id: str | None
) -> None:
    known = id is not None or not {"timestamp", "text"} & now.keys()  # else nobody knows which row it was
    society, row = (
        a_society(),
        {"id": id, "user": "caity", "text": "the key is under the mat", "timestamp": 9},
    )
    a_pipeline(society).run(talk(a_log(tmp_path, row), ("phi",)))
    for _ in range(2):
        report = a_pipeline(society).run(talk(a_log(tmp_path, row | now), ("phi",)))
        assert (report.problem_count, len(report.notes)) == (
            (0, 1) if now.get("agent") == "maren" else (1, 0)
        )
        (entry,) = society.store.archive("phi")
        assert entry.audience.confined is known
    assert not society.store.parked("phi")


@pytest.mark.parametrize(
    ("now", "tier"),
    [
        ({"tier": 2, "timestamp": "yesterday"}, Tier.SECRET),
        ({"tier": 2, "circumstances": {"bad": 1}}, Tier.SECRET),
        ({"tier": 2, "kind": "page"}, Tier.SECRET),
        ({"tier": 2, "agent": "maren"}, Tier.SECRET),
        ({"tier": 2, "version": 99}, Tier.SECRET),
        ({"tier": 3, "timestamp": "yesterday"}, Tier.SEALED),
        ({"tier": "3"}, Tier.SECRET),
        ({"tier": 1, "timestamp": "yesterday"}, Tier.CONFINED),
    ],
)
@pytest.mark.parametrize("key", [True, False])
def test_what_a_wrong_row_was_gets_the_tier_of_the_row_where_there_is_a_key(
    tmp_path: Path, now: dict[str, object], tier: Tier, key: bool
) -> None:
    society, row = a_society(), {"id": "7", "user": "caity", "text": "the key is under the mat"}
    society.store.keeps_secrets = key
    for more in ({}, now):
        a_pipeline(society).run(talk(a_log(tmp_path, row | more), ("phi",)))
    (entry,) = society.store.archive("phi")
    assert entry.tier is (tier if key else Tier.CONFINED)


@pytest.mark.parametrize("now", [{"timestamp": "yesterday"}, {"agent": 7}, {"private": False, "kind": "say"}])
def test_an_open_row_that_is_wrong_confines_nothing(tmp_path: Path, now: dict[str, object]) -> None:
    society, row = a_society(), {"id": 7, "user": "caity", "text": "the key is under the mat", "agent": "phi"}
    for more in ({}, now, {"agent": "maren"}):
        a_pipeline(society).run(talk(a_log(tmp_path, row | more), ("phi",)))
    (entry,) = society.store.archive("phi")
    assert not entry.audience.confined


@pytest.mark.parametrize(
    ("twice", "tier"),
    [
        ('"kind": "whisper", "kind": "say"', Tier.CONFINED),
        ('"private": true, "private": false', Tier.CONFINED),
        ('"tier": 2, "tier": 0', Tier.SECRET),
        ('"colour": 1, "colour": 1', Tier.CONFINED),
        ('"version": 99, "version": 1', Tier.CONFINED),
    ],
)
@pytest.mark.parametrize("id", ['"id": 7, ', '"id": 7, "id": 8, ', '"id": 8, "id": 7, ', ""])
def test_a_row_with_a_key_twice_is_wrong_and_confines_what_it_was(
    tmp_path: Path, twice: str, tier: Tier, id: str
) -> None:
    society, told = a_society(), '"user": "caity", "text": "the key is under the mat"'
    society.store.keeps_secrets = True
    path = tmp_path / "talk.jsonl"
    for row in ('{"id": 7, ' if id else "{") + told + "}", f"{{{id}{told}, {twice}}}":
        path.write_text(row, encoding="utf-8")
        report = a_pipeline(society).run(talk(path, ("phi",)))
    assert [one.line for one in report.problems] == [1]
    (entry,) = society.store.archive("phi")
    assert entry.tier is tier


def test_what_waits_of_a_row_is_gone_once_the_row_is_private_and_wrong(tmp_path: Path) -> None:
    society, row = a_society(), {"id": 1, "user": "caity", "text": "plum " * 6_000}
    for more in ({}, {"private": "yes"}):
        a_pipeline(society).run(talk(a_log(tmp_path, row | more)))
    assert not any("plum" in str(one.record) for one in society.store.parked("phi"))


def test_what_is_secret_does_not_wait_in_plain_for_a_key(tmp_path: Path) -> None:
    society = a_society(SqlStore(tmp_path))
    row = {"user": "caity", "text": "the gold lies here", "tier": 2}
    report = a_pipeline(society).run(talk(a_log(tmp_path, row)))
    assert ("there is no key" in report.problems[0].why, report.parked) == (True, 0)
    assert not society.store.parked("phi")
    society.close()


def test_a_replayed_page_stays_between_those_who_knew_of_it(tmp_path: Path) -> None:
    society, clock = a_society(), ManualClock(0.0)
    path = a_log(
        tmp_path, {"text": "Caity pages you: the gold lies here"}, {"user": "caity", "text": "hello"}
    )
    asyncio.run(replay(society, clock, path, society.agents["phi"]))
    page, hello = society.store.archive("phi")
    assert (page.private, hello.private) == (True, False)
    assert page.audience.witnesses == {"caity", "phi"}


@pytest.mark.slow
@needs("noodlemush")
def test_every_row_of_the_first_noodlemush_is_read() -> None:
    for name, count in (("contexts.jsonl", 145), ("chat.jsonl", 1_200)):
        path = DATA / "noodlemush" / name
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        records, problems, _ = read(path)
        assert not problems
        assert len(records) == len(lines) == count
        assert len({record.id for record in records}) == len(records)
        assert all(record.timestamp for record in records)


def test_a_row_may_say_when_and_where_it_happened(tmp_path: Path) -> None:
    told = {"user": "user_caity", "text": "the mill burned", "timestamp": 1e9}
    given, wrong = {"circumstances": ALL_CIRCUMSTANCES}, {"circumstances": {"where": 7}}
    path = a_log(tmp_path, told | given, told | wrong)
    ((record,), (problem,), _) = read(path)
    assert record.data == given
    assert "where must be one line of printable text" in problem.why
    society = a_society()
    a_pipeline(society).run([record])
    [entry] = society.store.archive("phi")
    assert circumstances_of(entry).as_data() == given
    society.close()
    clock = ManualClock(1e9)
    replayed = build(SETTINGS, clock=clock, store=MemoryStore())
    asyncio.run(replay(replayed, clock, path, replayed.agents["phi"]))
    assert circumstances_of(replayed.store.archive("phi")[0]).as_data() == given
    replayed.close()
