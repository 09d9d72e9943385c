"""The bridge and the memory under another name, for a host whose own package is called noodlings."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import noodlings
from noodlings.bridge import vendor as vendoring
from noodlings.bridge.vendor import ENTRANCES, MARKER, closure, vendor
from noodlings.errors import UserError
from tests.bridge.hosts import KINDS, rich_memory
from tests.bridge.test_hosts import CHANGED, GRIEF, OUTSIDER

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
NAME = "old_memory"


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, without what Python compiled."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }


# -- what it holds


def test_the_memory_and_the_bridge_need_numpy_alone() -> None:
    modules = closure(ENTRANCES)
    assert {"noodlings.bridge.host_rows", "noodlings.memory.saved", "noodlings.values"} <= set(modules)
    assert "noodlings.config" not in modules


def test_what_needs_more_is_refused_with_who_needs_it() -> None:
    with pytest.raises(UserError, match=r"^noodlings\.config needs platformdirs: .* only numpy"):
        closure(["noodlings.config"])


def test_only_lines_that_import_are_changed(tmp_path: Path) -> None:
    made = vendor(tmp_path, NAME).folder
    for file in closure(ENTRANCES).values():
        before = file.read_text("utf-8").split("\n")
        after = (made / file.relative_to(ROOT / "noodlings")).read_text("utf-8").split("\n")
        for line, copied in zip(before, after, strict=True):
            imports = line.strip().startswith(("from noodlings.", "from noodlings ", "import noodlings."))
            assert copied == (line.replace("noodlings", NAME, 1) if imports else line)
            assert imports or "import noodlings" not in line


def test_none_of_its_modules_reads_a_file_of_ours() -> None:
    for name, file in closure(ENTRANCES).items():
        text = file.read_text("utf-8")
        assert not any(way in text for way in ("importlib.resources", "__file__", "pkgutil")), name


def test_the_licence_comes_from_the_tree_or_from_what_was_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    licence = (ROOT / "LICENSE").read_bytes()
    assert (vendor(tmp_path, NAME).folder / "LICENSE").read_bytes() == licence
    monkeypatch.setattr(vendoring, "_SOURCE", tmp_path / "site-packages" / "noodlings")
    assert vendoring._licence() == licence
    monkeypatch.setattr(vendoring, "_US", "noodlings-that-is-not-installed")
    with pytest.raises(UserError, match="reinstall noodlings"):
        vendoring._licence()


# -- in a host


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A copy, imported beside our own."""
    vendor(tmp_path / "lib", NAME)
    monkeypatch.syspath_prepend(tmp_path / "lib")
    yield import_module(NAME)
    for name in [name for name in sys.modules if name.partition(".")[0] == NAME]:
        del sys.modules[name]


def in_a_host(folder: Path, **modules: str) -> list[str]:
    """The lines that `main` writes: a module of the host's package, which is called noodlings too.

    Of all that is installed it can import numpy, and nothing else.
    """
    numpy = Path(np.__file__).parent
    for installed in (numpy, numpy.with_name("numpy.libs")):
        if installed.exists():
            (folder / "installed").mkdir(exist_ok=True)
            (folder / "installed" / installed.name).symlink_to(installed)
    (folder / "host" / "noodlings").mkdir(parents=True)
    for name, source in {"__init__": "OURS = False", **modules}.items():
        (folder / "host" / "noodlings" / f"{name}.py").write_text(source, "utf-8")
    vendor(folder / "host" / "lib", NAME)
    paths = (folder / "host", folder / "host" / "lib", folder / "installed")
    done = subprocess.run(
        [sys.executable, "-S", "-m", "noodlings.main"],
        cwd=folder,
        env={"PYTHONPATH": os.pathsep.join(map(str, paths)), "PATH": os.defpath},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


EVENING = f"""
import asyncio, json, sys
import noodlings
from noodlings.inn import Innkeeper
from {NAME} import HierarchicalMemory, SubconsciousMemory

host = Innkeeper("bo", "dump.json")
host.told("caity", "My dog died", {GRIEF})
for number in range(200):
    host.told("micha", f"Ale number {{number}}, please?")
host.close()
host.log.save("bo.db")
again = Innkeeper("bo", "dump.json")
loaded = again.log.load("bo.db")
again.close()
assert isinstance(again.log.hm, HierarchicalMemory)


class Images:
    name = "images"

    async def imagine(self, event, affect, avoid, allowance):
        return "a bell under water"


symbols = SubconsciousMemory()
asyncio.run(symbols.encode_event("My dog died", {GRIEF}, 0.9, Images(), entry_id=1, timestamp=1.0))
print(json.dumps({{
    "ours": noodlings.OURS,
    "prompt": host.prompt(),
    "known": [entry.user_text for entry in again.log.hm.get_context_for_response("caity", {GRIEF})],
    "loaded": loaded,
    "symbols": [symbol.symbolic_encoding for symbol in symbols.retrieve_by_affect({GRIEF})],
    "installed": sorted(
        {{name.partition(".")[0] for name in sys.modules if name[:2] != "__"}} - set(sys.stdlib_module_names)
    ),
}}))
"""


@pytest.mark.slow
def test_a_host_that_has_our_name_runs_with_the_copy_and_numpy_alone(tmp_path: Path) -> None:
    lines = [CHANGED.get(line, line) for line in OUTSIDER.splitlines()]
    inn = "\n".join(lines).replace("from noodlings import", f"from {NAME} import")
    assert NAME in inn
    told = json.loads(*in_a_host(tmp_path, inn=inn, main=EVENING))
    assert told["installed"] == ["noodlings", "numpy", NAME]
    assert told["ours"] is False
    assert "My dog died" not in told["prompt"]
    assert "My dog died" in told["known"]
    assert (told["loaded"], told["symbols"]) == (51, ["a bell under water"])


@pytest.mark.slow
def test_the_example_runs_with_the_copy(tmp_path: Path) -> None:
    example = (ROOT / "examples" / "old_bridge.py").read_text("utf-8")
    main = example.replace("from noodlings.", f"from {NAME}.")
    assert main != example
    assert in_a_host(tmp_path, main=main)[1].endswith("My dog died yesterday")


def test_it_offers_what_we_offer(copy: ModuleType) -> None:
    assert copy.__version__ == noodlings.__version__
    assert {"MemoryListWrapper", "HierarchicalMemory", "SubconsciousMemory"} <= set(copy.__all__)
    for name in copy.__all__:
        assert getattr(copy, name).__module__ == getattr(noodlings, name).__module__.replace(
            "noodlings", NAME
        )
    from old_memory.memory.list_wrapper import MemoryListWrapper

    assert MemoryListWrapper is copy.MemoryListWrapper


def test_two_copies_in_one_process_do_not_meet(copy: ModuleType, caplog: pytest.LogCaptureFixture) -> None:
    class Host:
        theirs = copy.MemoryListWrapper.attribute()
        ours = noodlings.MemoryListWrapper.attribute()

    host = Host()
    host.theirs.append({"user": "caity", "text": "My dog died", "affect": GRIEF})
    host.ours.append({"user": "caity", "text": "hello", "affect": "nothing"})
    assert [len(host.theirs), len(host.ours)] == [1, 1]
    assert {record.name for record in caplog.records} == {"noodlings.bridge.host_rows"}
    host.ours = host.theirs
    host.ours.append({"text": "and now?"})
    assert [host.theirs.hm.stats().perceived, host.ours.hm.stats().perceived] == [1, 3]
    with pytest.raises(import_module(f"{NAME}.errors").UserError):
        copy.HierarchicalMemory(0)


def test_it_appraises_nothing(copy: ModuleType) -> None:
    context = copy.MemoryListWrapper([{"user": "caity", "text": "My dog died"}])
    assert [entry.affect for entry in context.hm.retrieve_working()] == [None]


@pytest.mark.parametrize("kind", KINDS)
def test_each_reads_what_the_other_saved(copy: ModuleType, tmp_path: Path, kind: str) -> None:
    ours = rich_memory()
    ours.save(tmp_path / f"ours{kind}")
    theirs: Any = copy.HierarchicalMemory(working_capacity=3)
    assert theirs.load(tmp_path / f"ours{kind}") == len(ours.saved().entries)
    theirs.save(tmp_path / f"theirs{kind}")
    again = noodlings.HierarchicalMemory(working_capacity=3)
    assert again.load(tmp_path / f"theirs{kind}") == len(ours.saved().entries)
    written = []
    for memory in (ours, theirs, again):
        memory.save(tmp_path / "same.json")
        written.append((tmp_path / "same.json").read_text("utf-8"))
    assert written[0] == written[1] == written[2]


# -- where it is written to


@pytest.mark.parametrize("name", ["", "1st", "a-b", "a.b", "../up", "ümlaut", "__init__", "x y"])
def test_a_name_that_cannot_be_imported_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nothing can be imported as .* such as noodlings_memory"):
        vendor(tmp_path, name)
    assert contents(tmp_path) == {}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("class", "is a Python keyword"),
        ("queue", "is a module that comes with Python"),
        ("numpy", "is a package the copy itself needs"),
        ("noodlings", "is the name of this package"),
    ],
)
def test_a_name_that_means_something_else_is_refused(name: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"^{name} {words}.* such as noodlings_memory"):
        vendor(tmp_path, name)
    assert contents(tmp_path) == {}


def test_a_second_copy_replaces_the_first(tmp_path: Path) -> None:
    first = vendor(tmp_path / "lib", NAME)
    whole = contents(first.folder)
    assert (first.replaced, first.files) == (False, len(whole))
    (first.folder / "bridge" / "gone.py").write_text("of an earlier version")
    (first.folder / "text.py").unlink()
    assert vendor(tmp_path / "lib", NAME).replaced
    assert contents(tmp_path / "lib") == {f"{NAME}/{path}": content for path, content in whole.items()}


def test_what_somebody_else_has_there_stays(tmp_path: Path) -> None:
    for name, made in {"empty": None, "theirs": "__init__.py", "alike": MARKER}.items():
        (tmp_path / name).mkdir()
        if made is not None:
            (tmp_path / name / made).write_text("theirs")
    vendor(tmp_path / "lib", NAME)
    (tmp_path / "linked").symlink_to(tmp_path / "lib" / NAME)
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")
    (tmp_path / "file").write_text("theirs")
    before = contents(tmp_path)
    for name in ("empty", "theirs", "alike", "linked", "nowhere", "file"):
        with pytest.raises(UserError, match="was not made by this command"):
            vendor(tmp_path, name)
    (tmp_path / "tool.py").write_text("theirs")
    with pytest.raises(UserError, match=r"tool\.py exists and could no longer be imported"):
        vendor(tmp_path, "tool")
    with pytest.raises(UserError, match="is a file: name the folder"):
        vendor(tmp_path / "file", NAME)
    assert contents(tmp_path) == before | {"tool.py": b"theirs"}


@pytest.mark.parametrize("failing", ["write_bytes", "rename"])
def test_when_it_fails_the_earlier_copy_stays(
    failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = vendor(tmp_path, NAME).folder
    (folder / "text.py").write_text("as it was")
    before = contents(tmp_path)
    works = getattr(Path, failing)

    def fail(path: Path, *given: Any) -> Any:
        if path.name in ("list_wrapper.py", "new"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return works(path, *given)

    monkeypatch.setattr(Path, failing, fail)
    with pytest.raises(UserError, match=f"{NAME} cannot be written: No space left on device"):
        vendor(tmp_path, NAME)
    assert contents(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


KILLED = f"""
import os, sys
from pathlib import Path
from noodlings.bridge.vendor import vendor

def last(method, name):
    def end(path, *given):
        os._exit(9) if path.name == name else method(path, *given)
    return end

Path.write_bytes = last(Path.write_bytes, sys.argv[1])
Path.rename = last(Path.rename, sys.argv[1])
vendor(Path.cwd(), "{NAME}")
"""


@pytest.mark.slow
@pytest.mark.parametrize(("at", "there"), [("list_wrapper.py", True), (NAME, True), ("new", False)])
def test_a_kill_leaves_no_half_of_a_copy(at: str, there: bool, tmp_path: Path) -> None:
    folder = vendor(tmp_path, NAME).folder
    whole = contents(folder)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, at],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert killed.returncode == 9
    assert contents(folder) == (whole if there else {})
    vendor(tmp_path, NAME)
    assert contents(folder) == whole
    assert [path.name for path in tmp_path.iterdir()] == [NAME]
