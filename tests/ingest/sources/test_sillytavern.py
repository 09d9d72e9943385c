"""Chats of SillyTavern: each message once, with its time in whatever form; an edited one is the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from noodlings.ingest.record import SourceProblem, SourceRecord, SourceWithheld
from noodlings.ingest.sources.sillytavern import moment_of, sillytavern
from noodlings.values.percept import Kind

HEADER = {"user_name": "Caity", "character_name": "Phi", "create_date": "2023-11-4@21h14m05s"}


def a_message(name: str, mes: str | None, sent: Any, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "is_user": name == "Caity",
        "is_system": False,
        "send_date": sent,
        "mes": mes,
    } | more


def read(tmp_path: Path, *rows: object) -> list[Any]:
    path = tmp_path / "chat.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in (HEADER, *rows)), encoding="utf-8")
    return list(sillytavern(path))


@pytest.mark.parametrize(
    "sent",
    [
        "2023-11-04 @21h 14m 05s 0ms",
        "2023-11-4@21h14m05s",
        "2023-11-04T21:14:05.000Z",
        "2023-11-04T22:14:05+01:00",
        1699132445000,
        1699132445,
        "1699132445000",
    ],
)
def test_each_form_of_a_date(sent: Any) -> None:
    assert moment_of(sent) == 1699132445.0


def test_dates_in_words_have_minutes_only() -> None:
    assert moment_of("November 4, 2023 9:14pm") == moment_of("November 4, 2023 9:14 PM") == 1699132440.0


@pytest.mark.parametrize("sent", ["soon", True, float("nan"), -1, 10**400, "2023-13-04 @21h 14m 05s", [], {}])
def test_what_is_no_date_is_none(sent: Any) -> None:
    assert moment_of(sent) is None


def test_messages_are_read_and_the_chosen_swipe_is_what_was_said(tmp_path: Path) -> None:
    hello, answer, note = read(
        tmp_path,
        a_message("Caity", "hello", 1699132445000),
        a_message("Phi", "second", 1699132446000, swipes=["first", "second"], swipe_id=1),
        a_message("System", "Chat renamed", 1699132447000, is_system=True),
    )
    assert (hello.who, hello.text, hello.timestamp, hello.line) == ("Caity", "hello", 1699132445.0, 2)
    assert (answer.text, note.kind) == ("second", Kind.EVENT)


def test_a_message_that_may_be_a_whisper_is_confined(tmp_path: Path) -> None:
    words = ("*whispers to Phi* the gold lies here", "my mother told me of the sea")
    records = read(tmp_path, *(a_message("Caity", said, 1699132445000) for said in words))
    assert [record.audience.confined for record in records] == [True, False]


def test_an_edited_message_is_the_same_one_and_deleting_one_moves_no_other(tmp_path: Path) -> None:
    rows = [a_message("Caity", f"line {n}", 1699132445000 + n * 1000) for n in range(3)]
    before = read(tmp_path, *rows)
    rows[2]["mes"] = "else"
    after = read(tmp_path, rows[0], rows[2])
    assert [one.id for one in after] == [before[0].id, before[2].id]
    assert after[1].digest != before[2].digest


@pytest.mark.parametrize("words", [None, "", " \u200b\n"])
def test_a_message_that_lost_its_words_withholds_what_it_was(tmp_path: Path, words: str | None) -> None:
    (before,) = read(tmp_path, a_message("Caity", "hello", 1699132445000))
    problem, withheld = read(tmp_path, a_message("Caity", words, 1699132445000))
    assert isinstance(problem, SourceProblem)
    assert withheld == SourceWithheld(2, before.source, before.id)


def test_a_message_with_a_key_twice_withholds_what_it_was(tmp_path: Path) -> None:
    row = a_message("Caity", "hello", 1699132445000)
    (before,) = read(tmp_path, row)
    path = tmp_path / "chat.jsonl"
    path.write_text(path.read_text("utf-8").replace('"mes": ', '"mes": "psst", "mes": '), "utf-8")
    assert list(sillytavern(path)) == [
        SourceProblem(2, "the key 'mes' stands twice in it"),
        SourceWithheld(2, before.source, before.id),
    ]


def test_a_message_that_is_none_costs_no_other(tmp_path: Path) -> None:
    items = read(
        tmp_path,
        {"name": "Caity"},
        a_message("Caity", "hi", "soon"),
        [1],
        a_message("Caity", "hi", None),
    )
    assert [item.line for item in items if isinstance(item, SourceProblem)] == [2, 3, 4]
    assert [item.line for item in items if isinstance(item, SourceRecord)] == [5]
