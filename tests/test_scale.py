"""The benchmark of many characters over several workers measures what it says."""

from __future__ import annotations

import pytest

from benchmarks import scale

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


def test_a_cell_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "WARM_SECONDS", 0.5)
    cells = list(scale.cells(["SQLite"], [3, 30], 1.5))
    assert [(cell.store, cell.workers, cell.agents) for cell in cells] == [
        ("SQLite", 1, 3),
        ("SQLite", 1, 30),
    ]
    for cell in cells:
        assert cell.rate > 1
        assert 0 < cell.p50 <= cell.p95 <= cell.p99
        assert 50 < cell.memory < 1_000
    assert scale.table(cells).count("\n") == 3
