"""A test that is skipped where everything must run has failed, unless it stands on the list."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
pytest_plugins = ["pytester"]

CONFTEST = Path(__file__).with_name("conftest.py").read_text("utf-8")
TESTS = """
import pytest

def test_runs(): pass

@pytest.mark.skipif(True, reason="no data here")
@pytest.mark.parametrize("n", [1, 2])
def test_listed(n): pass

@pytest.mark.skipif(True, reason="no data there")
def test_unlisted(): pass

def test_gives_up(): pytest.skip("half way")
"""


@pytest.fixture
def outcomes(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """How a run of these tests ends, with this list of skips that are allowed."""
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_one=TESTS, test_whole="import pytest; pytest.importorskip('no_such_module')")

    # Other plugins take seconds to load, and none is needed.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run(allowed: str | None, *arguments: str) -> tuple[dict[str, int], str]:
        monkeypatch.delenv("PYTEST_ALLOWED_SKIPS", raising=False)
        if allowed is not None:
            path = pytester.path / "allowed"
            path.write_text(allowed, "utf-8")
            monkeypatch.setenv("PYTEST_ALLOWED_SKIPS", str(path))
        result = pytester.runpytest_subprocess("-p", "xdist", *arguments)
        return result.parseoutcomes(), str(result.stdout)

    return run


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_a_skip_that_is_not_on_the_list_fails_the_run(outcomes, workers: str) -> None:
    allowed = "# never here\n\ntest_one.py::test_listed\n"
    counted, printed = outcomes(allowed, workers, "--continue-on-collection-errors")
    assert counted == {"passed": 1, "skipped": 2, "failed": 1, "errors": 2}
    for why in ("no data there", "half way", "no_such_module"):
        assert why in printed


def test_a_module_on_the_list_may_be_skipped_whole(outcomes) -> None:
    assert outcomes("test_one.py\ntest_whole.py", "-n0")[0] == {"passed": 1, "skipped": 5}


def test_an_empty_list_allows_no_skip(outcomes) -> None:
    assert outcomes("", "-n0", "test_one.py")[0] == {"passed": 1, "failed": 1, "errors": 3}


def test_without_a_list_whatever_is_missing_is_skipped(outcomes) -> None:
    assert outcomes(None, "-n0")[0] == {"passed": 1, "skipped": 5}
