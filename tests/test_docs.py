"""What the documentation points at is there: every link within the project, and every path that it names."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from noodlings import __version__

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    page.relative_to(ROOT)
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    if page.parent.name != "generated"  # made from the code by `make docs`, which follows its links
)
FOLDERS = "api|benchmarks|commands|docs|examples|noodlings|studio|tests|tools"

LINK = re.compile(r"\]\(([^)\s]+)\)")
NAMED = re.compile(rf"(?<![\w./-])(?:\.ci|(?:{FOLDERS})(?=/))/[\w./*-]*\w")
"""A path from the root of the project, wherever it stands; a * stands for any name."""
HEADING = re.compile(r"^#+ +(.+?) *$", re.M)

MADE = ROOT / "docs" / "generated"
"""The reference, which is made from the code with the site."""

METHODS = {"tools/list", "tools/call"}
"""Names in the Model Context Protocol that look like paths."""
CHANGES = Path("CHANGELOG.md")
"""A history: what it names may have moved since."""


def anchors(text: str) -> set[str]:
    """The names under which the headings of a page can be linked to."""
    words = (re.sub(r"[^\w\s-]", "", heading.lower()) for heading in HEADING.findall(text))
    return {re.sub(r"\s", "-", heading) for heading in words}


def broken_links(page: Path) -> Iterator[str]:
    """The links of a page that lead nowhere; those to other sites are not followed."""
    text = (ROOT / page).read_text("utf-8")
    for link in LINK.findall(text):
        if "://" in link:
            continue
        target, _, anchor = link.partition("#")
        file = ((ROOT / page).parent / target).resolve() if target else ROOT / page
        if file.parent == MADE:  # by `make docs`, which follows links into it
            continue
        if not file.exists() or (anchor and anchor not in anchors(file.read_text("utf-8"))):
            yield link


def missing_paths(page: Path) -> Iterator[str]:
    """The paths that a page names and that are not there, neither from the root nor from beside the page."""
    for path in sorted(set(NAMED.findall((ROOT / page).read_text("utf-8"))) - METHODS):
        if not any(any(folder.glob(path)) for folder in (ROOT, ROOT / page.parent)):
            yield path


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_somewhere(page: Path) -> None:
    assert list(broken_links(page)) == []


@pytest.mark.parametrize("page", [page for page in PAGES if page != CHANGES], ids=str)
def test_paths_that_are_named_exist(page: Path) -> None:
    assert list(missing_paths(page)) == []


def test_the_index_names_every_decision_and_no_number_is_missing() -> None:
    folder = ROOT / "docs" / "decisions"
    records = sorted(page.name for page in folder.glob("[0-9]*.md"))
    assert [int(name[:4]) for name in records] == list(range(1, len(records) + 1))
    assert LINK.findall((folder / "README.md").read_text("utf-8")) == records


def test_the_newest_version_among_the_changes_is_this_one() -> None:
    versions = re.findall(
        r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$", (ROOT / CHANGES).read_text("utf-8"), re.M
    )
    assert versions[0] == __version__
    assert versions == sorted(versions, key=lambda version: [*map(int, version.split("."))], reverse=True)


@pytest.mark.parametrize(
    ("text", "links", "paths"),
    [
        ("[a](README.md) `noodlings/app.py`, docs/*.md. See .ci/run", [], []),
        ("[a](gone.md#x) [b](README.md#no-such-heading)", ["gone.md#x", "README.md#no-such-heading"], []),
        ("[a](https://example.org/docs/gone.md) or mygame/commands/gone.py", [], []),
        ("in `noodlings/gone.py`.", [], ["noodlings/gone.py"]),
    ],
)
def test_what_is_missing_is_found(
    text: str, links: list[str], paths: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, "utf-8")
    for name in ("README.md", "noodlings/app.py", "docs/a.md", ".ci/run"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("# A heading\n", "utf-8")
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    assert (list(broken_links(Path("page.md"))), list(missing_paths(Path("page.md")))) == (links, paths)
