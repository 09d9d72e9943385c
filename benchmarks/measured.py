"""One line of a benchmark, and the table of several: what was measured, beside what, and what must hold."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from rich.table import Table


@dataclass(frozen=True, slots=True)
class Measured:
    """One line of the table.

    Attributes:
        what, entries: what was done, among how many entries.
        unit, value, p95: of noodlings; p95 is None where single calls were not timed.
        beside: the yardsticks in the same unit, by name.
        must: what has to hold, in words; holds: whether it does. None where nothing was promised.
    """

    what: str
    entries: int
    unit: str
    value: float
    p95: float | None = None
    beside: dict[str, float] = field(default_factory=dict)
    must: str = ""
    holds: bool | None = None


def table(title: str, measured: Iterable[Measured]) -> Table:
    """For people; in brackets how often ours fits into the time or room of a yardstick."""
    shown = Table(title=title, title_justify="left")
    for heading in ("what", "entries", "noodlings", "p95", "beside", "must hold"):
        shown.add_column(heading, justify="right" if heading in ("entries", "noodlings", "p95") else "left")
    for one in measured:
        beside = "\n".join(
            f"{name} {number(value)} ({number(value / one.value)}×)" for name, value in one.beside.items()
        )
        late = "" if one.p95 is None else number(one.p95)
        verdict = one.must if one.holds is None else f"{one.must} {'✓' if one.holds else '✗'}"
        entries = f"{one.entries:,}" if one.entries else ""
        shown.add_row(one.what, entries, f"{number(one.value)} {one.unit}".rstrip(), late, beside, verdict)
    return shown


def resident(process: int | str = "self") -> float:
    """MiB of a process now, by its id (Linux alone tells it)."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def number(value: float) -> str:
    """Three digits that count."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
