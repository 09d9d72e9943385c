"""Whether a wheel holds what it should, and whether what it installs is whole; see check_wheel.sh."""

from __future__ import annotations

import sys
from importlib import import_module, metadata, resources
from pathlib import Path
from zipfile import ZipFile

PACKAGES = ("noodlings", "commands", "api", "studio")
UNTRIED = ("noodlings.__main__", "noodlings.store.postgres", "noodlings.worlds.evennia")
"""The program itself; what needs an extra; a file for an Evennia game, which needs one."""


def contents(wheel: Path, root: Path) -> list[str]:
    """What is in one and not in the other: the wheel, and the packages in the source tree."""
    found = {
        path.relative_to(root).as_posix()
        for package in PACKAGES
        for path in (root / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    packed = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}
    print(f"{len(packed)} files")
    missing = [f"not in the wheel: {name}" for name in sorted(found - packed)]
    return missing + [f"should not be in the wheel: {name}" for name in sorted(packed - found)]


def installed(wheel: Path) -> list[str]:
    """Modules that cannot be imported from where they were installed, and data files that cannot be read."""
    wrong, modules, files = [], 0, 0
    archive = ZipFile(wheel)
    for name in sorted(archive.namelist()):
        folder, _, file = name.rpartition("/")
        if ".dist-info/" in name:
            continue
        if file.endswith(".py"):
            module = name.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
            if module in UNTRIED:
                continue
            modules += 1
            try:
                import_module(module)
            except Exception as error:  # noqa: BLE001 -- whatever it is, it is told
                wrong.append(f"{module} cannot be imported: {error!r}")
        else:
            files += 1
            package, *below = folder.split("/")
            if resources.files(package).joinpath(*below, file).read_bytes() != archive.read(name):
                wrong.append(f"{name} is not what was packed")
    print(f"{modules} modules, {files} data files, version {metadata.version('noodlings')}")
    return wrong


def main() -> int:
    """Print what is wrong; 1 if anything is."""
    task, *arguments = sys.argv[1:]
    wrong = {"contents": contents, "installed": installed}[task](*map(Path, arguments))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
