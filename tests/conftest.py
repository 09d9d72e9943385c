"""For all tests: how long an example takes tells of the machine, and nothing about what is right.

Of each property a few examples are tried, and all with `TEST_PROFILE=thorough`, see `tests/thorough.py`.

A skipped test guards nothing. Where PYTEST_ALLOWED_SKIPS names a file, a test may be skipped only if its
id begins with a line of that file; any other that is skipped has failed.

Garbage is looked for more seldom than usual. Thousands of tests are collected, and all that they import is
alive: to walk through it again and again took a fifth of the time of everything that draws.
"""

import gc
import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "thorough", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("thorough"), max_examples=25)
settings.load_profile(os.environ.get("TEST_PROFILE", "quick"))

gc.set_threshold(50_000, 20, 100)

_LIST = os.environ.get("PYTEST_ALLOWED_SKIPS")
_LINES = Path(_LIST).read_text("utf-8").splitlines() if _LIST else [""]
_ALLOWED = tuple(line for line in _LINES if not _LIST or (line and not line.startswith("#")))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _fail_if_skipped_unlisted(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _fail_if_skipped_unlisted(report)
    return report


def _fail_if_skipped_unlisted(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped and not report.nodeid.startswith(_ALLOWED):
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"skipped, and not on the list {_LIST}: {why}"
