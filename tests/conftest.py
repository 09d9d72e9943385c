"""For all tests: how long an example takes tells of the machine, and nothing about what is right.

Of each property a few examples are tried, and all with `TEST_PROFILE=thorough`, see `tests/thorough.py`.

A skipped test guards nothing. Where PYTEST_ALLOWED_SKIPS names a file, a test may be skipped only if its
id begins with a line of that file; any other that is skipped has failed.

Garbage is looked for more seldom than usual. Thousands of tests are collected, and all that they import is
alive: to walk through it again and again took a fifth of the time of everything that draws. Once everything
is collected, nobody walks through it any more.

What is imported is compiled once, also for the hundreds of programs that are started, whatever the
environment says of it. Files are written in memory where there is room: thousands are made and removed.

No test trusts anybody on the network. To read the hundred authorities of the machine again for every client
took a twentieth of the time.
"""

import gc
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "thorough", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("thorough"), max_examples=25)
settings.load_profile(os.environ.get("TEST_PROFILE", "quick"))

gc.set_threshold(50_000, 20, 100)

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

os.environ.pop("SSL_CERT_FILE", None)
os.environ["SSL_CERT_DIR"] = "/nonexistent"

_MEMORY = "/dev/shm"
_ROOM = 4 << 30
"""Bytes; a whole run that failed everywhere would keep less."""
if Path(_MEMORY).is_dir() and (found := os.statvfs(_MEMORY)).f_bavail * found.f_frsize >= _ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", _MEMORY)

_LIST = os.environ.get("PYTEST_ALLOWED_SKIPS")
_LINES = Path(_LIST).read_text("utf-8").splitlines() if _LIST else [""]
_ALLOWED = tuple(line for line in _LINES if not _LIST or (line and not line.startswith("#")))


@pytest.fixture(autouse=True, scope="session")
def _no_world_of_ones_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Where no data folder is named it is an empty one, and not that of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Any]:
    """A PostgreSQL server, see `tests/postgres.py`."""
    from tests.postgres import running

    with running() as server:
        yield server


@pytest.fixture(scope="session")
def new_database(postgres_server: Any) -> Any:
    """Makes an empty database in it, and returns what `store.url` is for it."""
    return postgres_server.new_database


def pytest_collection_finish() -> None:
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Three workers for two processors, because each of them often waits: for a deadline, for an answer."""
    if os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS"):
        return None
    processors = os.cpu_count() or 1
    return processors + processors // 2


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
