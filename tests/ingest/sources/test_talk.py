"""Talk logs: what one character heard, in all shapes; and the rows of the first noodleMUSH, all of them."""

from __future__ import annotations

import json
from pathlib import Path

from noodlings.ingest.record import SourceNote, SourceProblem, SourceRecord
from noodlings.ingest.sources.talk import talk
from noodlings.values.percept import Kind
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
