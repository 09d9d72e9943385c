"""Any table by a mapping: what each column is, in CSV and JSONL, and what is wrong by its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from noodlings.errors import UserError
from noodlings.ingest.record import Item, SourceProblem, SourceRecord, SourceWithheld
from noodlings.ingest.sources.mapped import Mapping, mapped
from noodlings.validation import read_table
from noodlings.values.percept import Kind
from tests.fakes import ALL_CIRCUMSTANCES
from tests.ingest.test_pipeline import a_pipeline, a_society

COLUMNS = "columns: {text: message, who: author, timestamp: date, id: number}\n"


def read(tmp_path: Path, name: str, content: str, mapping: str = COLUMNS) -> list[Item]:
    (tmp_path / "mapping.yaml").write_text(mapping, encoding="utf-8")
    (tmp_path / name).write_text(content, encoding="utf-8")
    return list(mapped(tmp_path / name, read_table(tmp_path / "mapping.yaml", Mapping)))


def test_a_row_of_csv_with_a_form_of_its_own_for_dates(tmp_path: Path) -> None:
    mapping = (
        'delimiter: ";"\ntimestamp_format: "%d.%m.%Y %H:%M"\nconstant: {place: harbour, kind: emote}\n'
        + COLUMNS
    )
    (record,) = read(
        tmp_path,
        "log.csv",
        'number;date;author;message\n7;01.05.2003 21:14;Caity;"waves;\nand grins"\n',
        mapping,
    )
    assert record == SourceRecord(
        "mapped:log.csv", "7", "waves;\nand grins", "Caity", 1051823640.0, Kind.EMOTE, "harbour", line=3
    )


@pytest.mark.parametrize(
    "form", ["%d %B %Y", "%y%m%d", "%H:%M", "%Y-%m-%dT%H:%M:%S.%f%z", "%c", "day %j, %Y %Z"]
)
def test_every_format_with_which_a_time_can_be_read_is_allowed(form: str) -> None:
    assert Mapping.model_validate({"columns": {"text": "line"}, "timestamp_format": form})


def test_a_row_of_jsonl_may_be_nested(tmp_path: Path) -> None:
    mapping = "columns: {text: body.text, who: author.name, kind: type}\n"
    row = {"body": {"text": "hi"}, "author": {"name": "Caity"}, "type": "whisper"}
    (record,) = read(tmp_path, "log.jsonl", json.dumps(row), mapping)
    assert isinstance(record, SourceRecord)
    assert (record.text, record.who, record.kind, record.timestamp) == ("hi", "Caity", Kind.WHISPER, None)


def test_a_row_that_may_be_a_page_is_confined(tmp_path: Path) -> None:
    rows = ["number,date,author,message", "1,,Caity,Caity pages you: gold", "2,,Caity,my mother told me"]
    page, words, whole = (
        *read(tmp_path, "log.csv", "\n".join(rows)),
        *read(tmp_path, "bare.csv", "line\nBob quietly tells Ada all\n", "columns: {text: line}\n"),
    )
    assert [item.audience.confined for item in (page, words, whole) if isinstance(item, SourceRecord)] == [
        True,
        False,
        True,
    ]


def test_what_is_wrong_is_named_by_its_line_and_costs_no_other(tmp_path: Path) -> None:
    rows = ["number,date,author,message", "1,noon,Caity,hi", "2,,Caity,", "3,,Caity", "4,2003-05-01,Caity,hi"]
    items = read(tmp_path, "log.csv", "\n".join(rows))
    assert [item.line for item in items if isinstance(item, SourceProblem)] == [2, 3, 4]
    assert [item.id for item in items if isinstance(item, SourceRecord)] == ["4"]


@pytest.mark.parametrize("id", ["7", ""])
@pytest.mark.parametrize(
    ("kind", "date", "confined"),
    [("page", "2020-01-02", True), ("whisper", "noon", True), ("say", "noon", False), ("", "noon", False)],
)
def test_a_private_row_that_is_wrong_confines_what_the_row_was(
    tmp_path: Path, id: str, kind: str, date: str, confined: bool
) -> None:
    society = a_society()
    for row in (f"{id},say,2020-01-02", f"{id},{kind},{date}"):
        report = a_pipeline(society).run(
            read(
                tmp_path,
                "log.csv",
                f"id,kind,date,author,text\n{row},Dora,the anchor is here\n",
                "columns: {text: text, who: author, timestamp: date, id: id, kind: kind}",
            )
        )
    assert report.problem_count == 1
    (entry,) = society.store.archive("phi")
    assert entry.audience.confined is (confined and (bool(id) or date != "noon"))


@pytest.mark.slow
def test_a_quote_that_never_ends_is_a_problem_and_not_the_memory_of_the_machine(tmp_path: Path) -> None:
    rows = 'number,date,author,message\n1,,Caity,hi\n2,,Caity,"' + "x\n" * 600_000
    items = read(tmp_path, "log.csv", rows)
    assert isinstance(items[0], SourceRecord)
    assert any(isinstance(item, SourceProblem) and "field larger" in item.why for item in items)


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        ("columns: {who: author}\n", "columns.text is missing"),
        ("columns: {text: a, wo: b}\n", "did you mean who"),
        ("columns: [a]\n", "columns"),
        (": [", "mapping.yaml"),
        ("constant: {kind: dance}\n" + COLUMNS, "kind"),
        ("", "mapping.yaml"),
        ('timestamp_format: "%d %d"\n' + COLUMNS, "timestamp_format: '%d %d' is no format for times"),
        ('timestamp_format: "%Q"\n' + COLUMNS, "bad directive"),
        ('timestamp_format: "%"\n' + COLUMNS, "is no format for times"),
    ],
)
def test_a_mapping_that_is_wrong_says_so(tmp_path: Path, mapping: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        read(tmp_path, "log.csv", "a\n1\n", mapping)


def test_a_table_without_the_column_of_the_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no column message; it has: a, b"):
        read(tmp_path, "log.csv", "a,b\n1,2\n")


@pytest.mark.parametrize(
    ("head", "why"),
    [
        ("id,who,Kind,text,room", "has no column kind; it has: id, who, Kind, text, room"),
        ("id,who,kind,text,spot", "has no column room; it has: id"),
        ("id,kind,text,kind,who,room", "has 2 columns kind; it has: id"),
        ("id,kind,text, kind,who,room", "has 2 columns kind; it has: id"),
    ],
)
def test_each_column_of_the_mapping_is_there_once(tmp_path: Path, head: str, why: str) -> None:
    mapping = "columns: {text: text, who: who, id: id, kind: kind}\ncircumstances: {where: room}\n"
    with pytest.raises(UserError, match=why):
        read(tmp_path, "log.csv", head + "\n", mapping)


@pytest.mark.parametrize("column", ["kind", '" kind"'])
@pytest.mark.parametrize("head", ["id, kind,text,more,more", " id , kind, text ,,"])
def test_spaces_around_the_name_of_a_column_do_not_count(tmp_path: Path, head: str, column: str) -> None:
    mapping = f"columns: {{text: text, id: id, kind: {column}}}\n"
    (record,) = read(tmp_path, "log.csv", head + "\n7,whisper,gold,,\n", mapping)
    assert isinstance(record, SourceRecord)
    assert (record.id, record.kind) == ("7", Kind.WHISPER)


KINDS = "columns: {id: id, text: text, kind: meta.kind}\n"


@pytest.mark.parametrize("meta", [{"Kind": "whisper"}, "whisper", None])
def test_json_lines_without_the_column_of_the_kind_are_refused_before_anything_is_taken_in(
    tmp_path: Path, meta: object
) -> None:
    rows = [{"id": 1, "text": "hello"}, {"id": 2, "text": "gold", "meta": meta, "to\x1b": "Ann"}]
    with pytest.raises(
        UserError, match=r"log\.jsonl has no row with meta\.kind; its rows have: id, text, meta, to$"
    ):
        read(tmp_path, "log.jsonl", "\n".join(map(json.dumps, rows)), KINDS)


@pytest.mark.parametrize("kind", ["whisper", None, ""])
def test_one_row_with_the_column_of_the_kind_is_enough(tmp_path: Path, kind: str | None) -> None:
    rows = [{"text": "hello"}, {"text": "gold", "meta": {"kind": kind}}, {"text": "bye", "meta": 7}]
    records = read(tmp_path, "log.jsonl", "\n".join(map(json.dumps, rows)), KINDS)
    kinds = [one.kind for one in records if isinstance(one, SourceRecord)]
    assert kinds == [Kind.SAY, Kind.WHISPER if kind else Kind.SAY, Kind.SAY]


@pytest.mark.parametrize("content", ["", "\n", "{}\n", '{"id": 1, "text": "a", "text": "b"}\n', "hello\n"])
def test_what_has_no_sound_row_is_not_refused_for_its_columns(tmp_path: Path, content: str) -> None:
    assert not [one for one in read(tmp_path, "log.jsonl", content, KINDS) if isinstance(one, SourceRecord)]


@pytest.mark.parametrize("id", ['"id": 7, ', ""])
@pytest.mark.parametrize("twice", ['"kind": "whisper", "kind": "say"', '"a": {"b": 1, "b": 2}'])
def test_a_row_with_a_key_twice_is_wrong_and_confines_what_it_was(
    tmp_path: Path, id: str, twice: str
) -> None:
    society, mapping = a_society(), "columns: {id: id, text: text, who: who, kind: kind}\n"
    fine = f'{{{id}"who": "Dora", "text": "the anchor is here", "kind": "say"}}\n'
    wrong = f'{{{id}"who": "Dora", "text": "the anchor is here", {twice}}}\n'
    last = '{"id": 8, "text": "the mat is red", "kind": "say"}\n'
    for row in (fine, wrong):
        report = a_pipeline(society).run(read(tmp_path, "log.jsonl", row + last, mapping))
    assert [(one.line, one.why) for one in report.problems] == [
        (1, f"the key {twice[twice.rfind(',') :].split(chr(34))[1]!r} stands twice in it")
    ]
    assert {one.user_text: one.audience.confined for one in society.store.archive("phi")} == {
        "the anchor is here": True,
        "the mat is red": False,
    }


def test_a_row_with_two_ids_withholds_both(tmp_path: Path) -> None:
    _, *withheld = read(tmp_path, "log.jsonl", '{"number": 1, "number": 2, "message": "hi"}')
    assert {one.id for one in withheld if isinstance(one, SourceWithheld)} == {"1", "2"}


CIRCUMSTANCES = (
    "columns: {text: line}\ncircumstances: {begins: began, duration: took, certainty: sure, words: when,"
    " where: room, distance: far, goals: aims, task: quest, source_id: nr}\n"
)


def test_columns_may_hold_when_and_where_it_happened(tmp_path: Path) -> None:
    head = "line;began;took;sure;when;room;far;quest;nr\n"
    row = "the mill burned;2 June 1998;3600;estimated;that summer;the mill;300;;7\n"
    form = 'delimiter: ";"\ntimestamp_format: "%d %B %Y"\n'
    mapping = form + CIRCUMSTANCES.replace("goals: aims, ", "")  # which are lists
    records = read(tmp_path, "log.csv", head + row + "hi;;;;;;;;\n", mapping)
    assert isinstance(records[0], SourceRecord)
    assert isinstance(records[1], SourceRecord)
    given = {name: ALL_CIRCUMSTANCES[name] for name in ("when", "where", "distance")}
    assert records[0].data["circumstances"] == given | {"source_id": "7"}
    assert records[1].data == {}


def test_in_json_lines_there_may_be_lists_and_objects(tmp_path: Path) -> None:
    row = {"line": "hi", "it": {"felt": ALL_CIRCUMSTANCES["emotions"], "aims": ["find Ada"]}}
    mapping = "columns: {text: line}\ncircumstances: {emotions: it.felt, goals: it.aims}\n"
    (record,) = read(tmp_path, "log.jsonl", json.dumps(row), mapping)
    assert isinstance(record, SourceRecord)
    known = {name: ALL_CIRCUMSTANCES[name] for name in ("emotions", "goals")}
    assert record.data == {"circumstances": known}


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"began": "soon"}, "begins is 'soon': it must be a number"),
        ({"when": "last summer"}, "when does not fit; it takes begins (required)"),
        ({"began": 1.0, "took": -1.0}, "duration is -1.0: it must be a number from 0"),
        ({"far": "NaN"}, "distance is nan: it must be a number"),
        ({"far": "far"}, "distance is 'far': it must be a number"),
        ({"room": "<b>"}, "has markup"),
        ({"aims": ["x"] * 17}, "goals has 17 entries; it may have at most 16"),
    ],
)
def test_circumstances_that_will_not_do_are_a_problem_of_the_row(
    tmp_path: Path, row: dict[str, object], why: str
) -> None:
    (problem,) = read(tmp_path, "log.jsonl", json.dumps({"line": "hi"} | row), CIRCUMSTANCES)
    assert isinstance(problem, SourceProblem)
    assert why in problem.why


@pytest.mark.parametrize(
    ("text", "constant"),
    [('Bob whispers to you, "the key is below the mat"', "say"), ("the key is below the mat", "whisper")],
)
def test_a_wrong_row_that_may_be_private_by_words_or_mapping_withholds_what_it_was(
    tmp_path: Path, text: str, constant: str
) -> None:
    mapping = f"columns: {{id: id, text: line, timestamp: at}}\nconstant: {{who: Bob, kind: {constant}}}\n"
    row = {"id": 1, "line": text, "at": "yesterdayish"}
    problem, withheld = read(tmp_path, "log.jsonl", json.dumps(row), mapping)
    assert isinstance(problem, SourceProblem)
    assert withheld == SourceWithheld(1, "mapped:log.jsonl", "1")
    (only,) = read(
        tmp_path, "log.jsonl", json.dumps(row | {"line": "the mat is red"}), mapping.replace("whisper", "say")
    )
    assert isinstance(only, SourceProblem)


@pytest.mark.parametrize(
    "lost", [{"line": ""}, {"line": 7}, {"kind": ["whisper"]}, {"kind": {"is": "whisper"}}, {"kind": False}]
)
def test_a_row_without_words_or_with_a_kind_that_is_no_text_withholds_what_it_was(
    tmp_path: Path, lost: dict[str, object]
) -> None:
    mapping, row = "columns: {id: id, text: line, kind: kind}\n", {"id": 1, "line": "the mat is red"}
    (fine,) = read(tmp_path, "log.jsonl", json.dumps(row | {"kind": None}), mapping)
    assert isinstance(fine, SourceRecord)
    problem, withheld = read(tmp_path, "log.jsonl", json.dumps(row | lost), mapping)
    assert isinstance(problem, SourceProblem)
    assert withheld == SourceWithheld(1, "mapped:log.jsonl", "1")


@pytest.mark.parametrize(
    "rows",
    [
        'Ann;1;"Friends of the harbour;say\nBob;2;under the stove;whisper\nAnn;3;thank you all";say\n',
        'Ann;1;"Friends of the harbour;whisper\nBob;2;the plank is 5";say\n',
        'Ann;1;"Friends;of the harbour;say\nBob;2;the gold lies here;whisper\nand there";say\n',
        '"Ann;1;it is late;whisper\nBob";2;it is late;say\n',
    ],
)
def test_a_quotation_mark_that_words_of_another_row_close_makes_no_memory_of_both(
    tmp_path: Path, rows: str
) -> None:
    mapping = 'delimiter: ";"\ncolumns: {who: who, id: id, text: text, kind: kind}\n'
    problem, *withheld = read(tmp_path, "log.csv", f"who;id;text;kind\n{rows}", mapping)
    assert isinstance(problem, SourceProblem)
    assert "what look like rows" in problem.why
    assert {"1", "2"} <= {one.id for one in withheld if isinstance(one, SourceWithheld)}


@pytest.mark.parametrize(
    "rows",
    [
        'Ann,1,"Hello, you,\nI saw Ann, Bob, and Cy,\nat 1,000 feet, or so",say\n',
        '"Ann\nthe elder",1,"Well,\nwell",say\n',
        'Ann,1,"\n\nso: 1,2\n",say\n',
    ],
)
def test_a_cell_of_several_lines_is_one_cell(tmp_path: Path, rows: str) -> None:
    mapping = "columns: {who: who, id: id, text: text, kind: kind}\n"
    (record,) = read(tmp_path, "log.csv", f"who,id,text,kind\n{rows}", mapping)
    assert isinstance(record, SourceRecord)
    for mapping, content in (
        ("columns: {text: text}\n", '"a\nb"\n'),
        ("columns: {text: text, id: id}\n", '1,"a,\nb, c"\n'),
    ):
        head = "text\n" if "id" not in mapping else "id,text\n"
        (record,) = read(tmp_path, "log.csv", head + content, mapping)
        assert isinstance(record, SourceRecord)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("the key; is under the mat;7;whisper;2", "the first line names 4"),
        ("the key is under the mat;whisper", "the first line names 4"),
        ("7", "the first line names 4"),
        ('"the key;7;whisper;2\nthe key is gone;8;say;2', "not a valid CSV row"),
        ("the key\r is here;7;whisper;2", "not a valid CSV row"),
        ('mine;9;say;"2\nthe key is gone;7;whisper;2', "not a valid CSV row: unexpected end"),
        ('mine;9;say;"2\nthe key "is" gone;7;whisper;2', "not a valid CSV row: ';' expected"),
    ],
)
def test_a_row_with_too_many_or_too_few_fields_withholds_whatever_it_may_have_been(
    tmp_path: Path, row: str, why: str
) -> None:
    mapping = 'delimiter: ";"\ncolumns: {id: id, kind: kind, text: text}\n'
    rows = f"text;id;kind;answers\nwho is there?;2;say;\n{row}\n"
    fine, problem, *withheld = read(tmp_path, "log.csv", rows, mapping)
    assert isinstance(fine, SourceRecord)
    assert isinstance(problem, SourceProblem)
    assert why in problem.why
    ids = {one.id for one in withheld if isinstance(one, SourceWithheld)}
    assert len(ids) == len(withheld)
    assert "2" not in ids  # which is that of another row
    assert {"7"} & ids or "7" not in row
    assert {"8"} & ids or "8" not in row
    assert read(tmp_path, "log.csv", rows, mapping.replace("id: id, ", ""))[2:] == []
