"""A table of turns in a file: CSV, or Parquet where pyarrow is installed. It is there whole or not at all.

CSV needs nothing, and everything reads it. Parquet is an extra (`parquet`), because pyarrow is
about as large as all the rest together.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from noodlings.errors import UserError
from noodlings.files import written_whole
from noodlings.lab.simulated_turns import COLUMNS, Row

Write = Callable[[Sequence[Row]], None]


@contextmanager
def written_table(path: str | Path) -> Iterator[Write]:
    """Takes rows, as often as there are some, into a file that ends in .csv or .parquet.

    The same rows in the same portions give the same bytes (of Parquet, with the same pyarrow).

    Raises:
        UserError: another ending, Parquet without pyarrow, or the file cannot be written.
    """
    path = Path(path)
    kinds = {".csv": _csv, ".parquet": _parquet}
    kind = kinds.get(path.suffix.lower())
    if kind is None:
        raise UserError(f"{path} must end in {' or '.join(kinds)}")
    try:
        with written_whole(path) as aside, kind(aside) as write:
            yield write
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror or error}") from None


@contextmanager
def _csv(path: Path) -> Iterator[Write]:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        yield writer.writerows


@contextmanager
def _parquet(path: Path) -> Iterator[Write]:
    try:
        pa: Any = import_module("pyarrow")
        pq: Any = import_module("pyarrow.parquet")
    except ImportError:
        raise UserError(
            "Parquet needs pyarrow: in the folder of noodlings, pip install '.[parquet]'; "
            "without it there is .csv"
        ) from None
    types: dict[type, Any] = {int: pa.int64(), float: pa.float64(), str: pa.string()}
    schema = pa.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
    with pq.ParquetWriter(path, schema) as writer:
        yield lambda rows: writer.write_table(pa.Table.from_pylist(list(rows), schema))
