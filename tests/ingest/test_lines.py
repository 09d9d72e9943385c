"""Files in any encoding, torn, or one long line: what can be read is, and what cannot is named."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.errors import UserError
from noodlings.ingest.lines import LONGEST, LineIds, count_lines, lines_of, rows_of
from noodlings.ingest.record import SourceNote, SourceProblem
from noodlings.ingest.sources.talk import transcript_with_notes

TEXT = "Zoë says, “hi”\n\nBob: naïve\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_each_of_the_usual_encodings_is_read(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "log.txt"
    path.write_bytes(TEXT.encode(encoding))
    items = list(lines_of(path))
    lines = [item for item in items if isinstance(item, tuple)]
    assert [(number, line.rstrip("\n")) for number, line in lines] == [
        (1, "Zoë says, “hi”"),
        (3, "Bob: naïve"),
    ]
    notes = [item.what for item in items if isinstance(item, SourceNote)]
    assert len(notes) == (encoding in ("utf-16", "cp1252"))


def test_one_line_in_another_encoding_costs_no_other(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_bytes("Zoë\n".encode() + "Zoë\n".encode("latin-1") + "Zoë".encode())
    note = SourceNote(2, "it is not UTF-8: this line, and any other such, was read as Windows-1252")
    assert list(lines_of(path)) == [(1, "Zoë\n"), note, (2, "Zoë\n"), (3, "Zoë")]


def test_a_line_without_end_is_passed_over_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    with path.open("wb") as file:
        file.write(b"one\n")
        for _ in range(40):
            file.write(b"x" * LONGEST)
        file.write(b"\ntwo\n")
    tracemalloc.start()
    items = list(lines_of(path))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert items == [
        (1, "one\n"),
        SourceProblem(2, "it is longer than 1,000,000 bytes, and was skipped"),
        (3, "two\n"),
    ]
    assert most < 6 * LONGEST


def test_a_torn_row_is_named_and_the_others_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"a": 1}\n{"a": \n[1]\n{"b": 2}\n{"c"')
    items = list(rows_of(path))
    assert [item for item in items if isinstance(item, tuple)] == [(1, {"a": 1}), (4, {"b": 2})]
    problems = [item for item in items if isinstance(item, SourceProblem)]
    assert [problem.line for problem in problems] == [2, 3, 5]
    assert problems[2].why.endswith("; the file ends in the middle of a line")


def test_a_row_with_a_key_twice_is_named_and_comes_with_either_value(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"a": 1, "a": {"b": 2, "b": 3}}\n{"a": {"b": 1}, "b": 2}\n{"c": {"b": 1, "b": 2}\n')
    problem, twice, fine, torn = rows_of(path)
    assert problem == SourceProblem(1, "the key 'b' stands twice in it")
    assert twice == (1, {"a": {"b": 3}}, {"a": 1})
    assert fine == (2, {"a": {"b": 1}, "b": 2})
    assert isinstance(torn, SourceProblem)
    assert torn.why.startswith("it is not JSON")


@pytest.mark.parametrize("read", [lines_of, rows_of, transcript_with_notes])
def test_what_has_no_end_is_not_read(tmp_path: Path, read: Callable[[Path], Iterator[object]]) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(UserError, match=f"{path} cannot be read: it is not a regular file"):
            next(read(path))
        with pytest.raises(UserError, match=f"{path} cannot be read: it is not a regular file"):
            count_lines(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nowhere\.txt cannot be read"):
        list(lines_of(tmp_path / "nowhere.txt"))


told = st.tuples(st.sampled_from([None, 1.0, 2.0]), st.sampled_from("abc"))


@given(st.lists(told).map(lambda lines: sorted(lines, key=lambda line: line[0] or 0.0)), st.data())
def test_every_line_has_an_id_of_its_own_that_it_keeps_when_lines_come_behind(
    lines: list[tuple[float | None, str]], data: st.DataObject
) -> None:
    def ids(some: list[tuple[float | None, str]]) -> list[str]:
        made = LineIds()
        return [made.of(*line) for line in some]

    cut = data.draw(st.integers(0, len(lines)))
    assert len(set(ids(lines))) == len(lines)
    assert ids(lines[:cut]) == ids(lines)[:cut]
