"""Any JSON Lines or CSV file, with a mapping file that says what each column holds.

format: csv                # or jsonl; by default from the suffix of the file
delimiter: ";"
columns: {text: message, who: author, timestamp: date, id: number, place: room, kind: type}
timestamp_format: "%d.%m.%Y %H:%M"   # by default ISO 8601 or seconds since 1970
constant: {place: harbour, kind: say}
circumstances: {begins: happened, where: room, task: quest}   # see `Circumstances`
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, ConfigDict, Field

from noodlings.errors import UserError
from noodlings.ingest.lines import LONGEST, LineIds, lines_of, rows_of
from noodlings.ingest.moments import seconds, usable_form
from noodlings.ingest.record import (
    Item,
    SourceNote,
    SourceProblem,
    SourceRecord,
    SourceWithheld,
    kind_of,
    marked_tier,
)
from noodlings.ingest.wording import is_openly_worded, may_be_private, without_address
from noodlings.text import clean, shorten
from noodlings.validation import Section
from noodlings.values.audience import OPEN
from noodlings.values.circumstances import Circumstances, require_circumstances
from noodlings.values.percept import LIVED, PRIVATE, Kind

Name = Annotated[str, Field(min_length=1)]
_Time = Literal["begins", "duration", "certainty", "words"]
_Part = Literal[_Time, "where", "distance", "emotions", "inferences", "goals", "task", "source_id"]
_MISSING = object()


class _Strict(Section):
    model_config = ConfigDict(strict=True)


class Columns(_Strict):
    """What each column holds; in JSON Lines a dot leads into an object: `author.name`."""

    text: Name
    who: Name | None = None
    timestamp: Name | None = None
    id: Name | None = None
    place: Name | None = None
    kind: Name | None = None


class Constant(_Strict):
    """Defaults for rows that lack a value."""

    who: str = ""
    place: str = ""
    kind: Annotated[Kind, Field(strict=False)] = Kind.SAY


class Mapping(_Strict):
    format: Literal["csv", "jsonl"] | None = None
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] = ","
    columns: Columns
    timestamp_format: Annotated[Name, AfterValidator(usable_form)] | None = None
    constant: Constant = Constant()
    circumstances: dict[_Part, Name] = Field(default_factory=dict)


def mapped(path: Path, mapping: Mapping) -> Iterator[Item]:
    """The rows of a file. Raises `UserError` if it cannot be read, is CSV and has a column of the mapping
    not at all or more than once, or is JSON Lines and has no row with the column of the kind."""
    source, ids = f"mapped:{path.name}", LineIds()
    sound: set[str] | None = None
    columns = mapping.columns.model_copy(update={"kind": None})
    plainly = mapping.model_copy(update={"columns": columns, "circumstances": {}})
    form = mapping.format or ("csv" if path.suffix.lower() in (".csv", ".tsv") else "jsonl")
    if form == "jsonl":
        _require_kind(path, mapping)
    for item in _csv_rows(path, mapping) if form == "csv" else rows_of(path):
        if not isinstance(item, tuple):
            yield item
            continue
        number, row, *wrong = item
        if wrong and isinstance(wrong[0], dict):
            known = list(filter(None, (_word(one, mapping.columns.id) for one in (row, wrong[0]))))
            with suppress(UserError):
                known = known or [_record(source, plainly, number, row, ids).id]
            yield from (SourceWithheld(number, source, one) for one in dict.fromkeys(known))
            continue
        if wrong:
            why, *fields = wrong[0]
            yield SourceProblem(number, why)
            if mapping.columns.id is None:
                continue
            sound = _sound_ids(path, mapping) if sound is None else sound
            at_its_place = clean(_word(row, mapping.columns.id))
            for field in fields:  # nobody knows which is which, and so which is the id
                if field == at_its_place or field not in sound:
                    yield SourceWithheld(number, source, field)
            continue
        try:
            yield _record(source, mapping, number, row, ids)
        except UserError as error:
            yield SourceProblem(number, str(error))
            text = _at(row, mapping.columns.text)
            said = clean(text) if isinstance(text, str) else ""
            if not said or marked_tier({"kind": _kind(row, mapping)}) or may_be_private(said, whole=True):
                known_by = _word(row, mapping.columns.id)
                with suppress(UserError):
                    known_by = _record(source, plainly, number, row, ids).id
                if known_by:
                    yield SourceWithheld(number, source, known_by)


def _record(source: str, mapping: Mapping, number: int, row: dict[str, Any], ids: LineIds) -> SourceRecord:
    columns, constant = mapping.columns, mapping.constant
    text = _at(row, columns.text)
    if not isinstance(text, str) or not clean(text):
        raise UserError(f"{columns.text} must be text with words in it, not {text!r:.40}")
    said = None if columns.timestamp is None else _at(row, columns.timestamp)
    moment = None if said in (None, "") else seconds(said, mapping.timestamp_format)
    if moment is None and said not in (None, ""):
        form = mapping.timestamp_format or "ISO 8601, or seconds since 1970-01-01"
        raise UserError(f"{columns.timestamp} is {said!r:.40}: it must be {form}")
    kind = kind_of(_kind(row, mapping))
    circumstances = _circumstances(row, mapping)
    who = _word(row, columns.who) or constant.who
    line = clean(text)
    private = may_be_private(line, whole=not who)
    private |= not who and not is_openly_worded(without_address(line)[0])
    return SourceRecord(
        source,
        _word(row, columns.id) or ids.of(moment, who, text),
        text,
        who,
        moment,
        kind,
        _word(row, columns.place) or constant.place,
        OPEN.closed(private and kind in LIVED - PRIVATE),
        circumstances.as_data(),
        number,
    )


def _circumstances(row: dict[str, Any], mapping: Mapping) -> Circumstances:
    """Those in a row. Raises `UserError` for what is malformed, or has details of a time but no time."""
    given = {part: _at(row, column) for part, column in mapping.circumstances.items()}
    given = {part: value for part, value in given.items() if value not in (None, "")}
    for part in ("duration", "distance"):
        with suppress(ValueError, TypeError):  # what is no number is refused below, as it stands
            given |= {part: float(given[part])} if part in given else {}
    when = {part: given.pop(part) for part in get_args(_Time) if part in given}
    if "begins" in when and (begins := seconds(when["begins"], mapping.timestamp_format)) is not None:
        when["begins"] = begins
    return require_circumstances(given | ({"when": when} if when else {}))


def _require_kind(path: Path, mapping: Mapping) -> None:
    """Raise `UserError` if JSON Lines have words, but no row the column that tells of whispers, as all would
    come in open. Reads as far as the first row that has it."""
    column, names = mapping.columns.kind, dict[str, None]()
    if column is None:
        return
    for item in rows_of(path):
        if isinstance(item, tuple):
            row = item[1]
            if _at(row, column, _MISSING) is not _MISSING:
                return
            text = _at(row, mapping.columns.text)
            sound = len(item) == 2 and isinstance(text, str) and clean(text)
            if sound and len(names) < 20:  # enough to see what it is called
                names |= dict.fromkeys(row)
    if names:
        raise UserError(
            f"{path} has no row with {column}; its rows have: {shorten(clean(', '.join(names)), 300)}"
        )


def _sound_ids(path: Path, mapping: Mapping) -> set[str]:
    """The ids of the rows of a CSV file that have as many fields as the first line names."""
    rows = (row for row in _csv_rows(path, mapping) if isinstance(row, tuple) and len(row) == 2)
    return {clean(_word(row[1], mapping.columns.id)) for row in rows}


def _csv_rows(
    path: Path, mapping: Mapping
) -> Iterator[
    tuple[int, dict[str, Any]] | tuple[int, dict[str, Any], list[str]] | SourceProblem | SourceNote
]:
    """The rows of a CSV file by the names in its first line, each with the number of its last line. Where one
    has too many fields or too few, or is no CSV, a list says what is wrong, and what its fields may be."""
    aside: list[SourceProblem | SourceNote] = []
    number, read = 0, list[str]()
    splits = re.compile(rf"[{re.escape(mapping.delimiter)}\r\n]")

    def lines() -> Iterator[str]:
        nonlocal number
        for item in lines_of(path):
            if isinstance(item, tuple):
                number = item[0]
                read.append(item[1].replace("\0", ""))
                yield read[-1]
            else:
                aside.append(item)

    csv.field_size_limit(LONGEST)
    rows, names = csv.reader(lines(), delimiter=mapping.delimiter), list[str]()
    while True:
        read.clear()
        why = ""
        try:
            row = next(rows, None)
            if len(read) > 1:  # a quotation mark that nobody closed takes in the rows below it
                list(csv.reader(read, delimiter=mapping.delimiter, strict=True))
        except csv.Error as error:
            row, why = splits.split("".join(read)), f"it is not a valid CSV row: {error}"
        yield from aside
        aside.clear()
        if row is None:
            return
        if not names:
            if why:
                yield SourceProblem(number, why)
                continue
            wanted = [*filter(None, dict(mapping.columns).values()), *mapping.circumstances.values()]
            names = [name if name in wanted else name.strip() for name in row]
            for column in wanted:
                if (count := names.count(column)) != 1:
                    has = f"{count} columns" if count else "no column"
                    raise UserError(f"{path} has {has} {column}; it has: {', '.join(names)}")
        elif len(row) == len(names) and not (why := why or _rows_within(row, mapping.delimiter)):
            yield number, dict(zip(names, row, strict=True))
        else:
            why = why or f"it has {len(row)} fields; the first line names {len(names)}"
            pieces = (piece.strip('" ') for piece in splits.split("".join(read)))
            fields = dict.fromkeys(filter(None, map(clean, (*row, *pieces))))
            yield number, dict(zip(names, row, strict=False)), [why, *fields]


def _rows_within(row: list[str], delimiter: str) -> str:
    """What is wrong where a cell of several lines may be rows of their own, which stand between a quotation
    mark that begins somebody's words and another that ends some; "" where none is.

    A line within it has all delimiters of a row, or its first and last lines have those that are missing
    before and after them. A delimiter before a space is punctuation.
    """
    most, ends = len(row) - 1, re.compile(rf"{re.escape(delimiter)}(?! )")
    for place, cell in enumerate(row):
        first, *within = (len(ends.findall(line)) for line in re.split(r"[\r\n]+", cell))
        if not (most and within):
            continue
        last = within.pop()
        if max(within, default=0) >= most or (first >= most - place and last >= place):
            return "what look like rows stand in one cell; write quotation marks that are part of words twice"
    return ""


def _at(row: dict[str, Any], column: str, missing: object = None) -> Any:
    """The value of a column, or `missing`; a name with dots may lead into an object."""
    if column in row or "." not in column:
        return row.get(column, missing)
    value: Any = row
    for name in column.split("."):
        value = value.get(name, missing) if isinstance(value, dict) else missing
    return value


def _kind(row: dict[str, Any], mapping: Mapping) -> Any:
    """What a row says of its kind, whatever that is, or what the mapping does."""
    given = None if mapping.columns.kind is None else _at(row, mapping.columns.kind)
    return mapping.constant.kind if given in (None, "") else given


def _word(row: dict[str, Any], column: str | None) -> str:
    value = None if column is None else _at(row, column)
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
