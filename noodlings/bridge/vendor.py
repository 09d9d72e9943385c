"""Copies the bridge and the memory into one folder that is imported under another name.

It is for a host whose own package is called `noodlings` and so hides ours. The copy holds the modules that
such a host uses and all that they import, none of which reads a file; beside itself it needs only numpy.
Lines that import have the other name, and all others are unchanged.

The copy is made aside and moved into place as a whole, after an earlier one was moved away. So if the process
is killed there is one copy, the other, or for a moment none, but never half of one.
"""

from __future__ import annotations

import ast
import keyword
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from noodlings import __version__
from noodlings.errors import UserError

ENTRANCES = (
    "noodlings.bridge.list_wrapper",
    "noodlings.memory.hierarchical",
    "noodlings.memory.list_wrapper",
    "noodlings.memory.subconscious",
)
"""The modules that a host imports."""

REQUIREMENT = "numpy"

MARKER = "VENDORED.md"
_MARK = "Made by `noodlings bridge vendor`"

_US = "noodlings"
_IMPORTS = re.compile(rb"^([ \t]*(?:from|import) )noodlings\b", re.MULTILINE)
_SOURCE = Path(__file__).parents[1]
_BETTER = "name another, such as noodlings_memory"


@dataclass(frozen=True)
class Vendored:
    """A finished copy: its folder, the number of files, and whether it replaced an earlier copy."""

    folder: Path
    files: int
    replaced: bool


def vendor(folder: Path, name: str) -> Vendored:
    """Write the bridge and the memory into `folder`, as a package called `name`.

    Args:
        folder: from which the host imports; made if it is missing.
        name: an earlier copy of this name is replaced as a whole.

    Raises:
        UserError: the name will not do, something else has it, or the folder cannot be written.
    """
    _require_name(name)
    target = folder / name
    try:
        replaced = _require_place(folder, name)
        files = _files(name)
        aside = folder / f".{name}.vendoring"
        _remove(aside)  # left by one that was killed
        try:
            for path, content in files.items():
                file = aside / "new" / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
            _put(aside / "new", target, aside / "old" if replaced else None)
        finally:
            _remove(aside)
    except OSError as error:
        raise UserError(f"{target} cannot be written: {error.strerror or error}") from error
    return Vendored(target, len(files), replaced)


def closure(entrances: Iterable[str]) -> dict[str, Path]:
    """These modules and all modules of ours that they need, as name → file, without `noodlings` itself.

    Imports within functions and for type checkers count, too, so that every import in a copy works; only
    `try: … except ImportError: …` does not count.

    Raises:
        UserError: one of them needs a package other than numpy.
    """
    found: dict[str, Path] = {}
    waiting = list(entrances)
    while waiting:
        name = waiting.pop()
        file = _file(name)
        if name in (_US, *found) or file is None:
            continue
        found[name] = file
        waiting.append(name.rpartition(".")[0])
        for imported in _imported(ast.parse(file.read_bytes())):
            top = imported.partition(".")[0]
            if top == _US:
                waiting.append(imported)
            elif top != REQUIREMENT and top not in sys.stdlib_module_names:
                raise UserError(f"{name} needs {top}: the copy may need only {REQUIREMENT}")
    return dict(sorted(found.items()))


def _imported(node: ast.AST) -> Iterator[str]:
    """The modules that are imported. `from a import b` gives both `a` and `a.b`, which may be no module."""
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module=str(module), names=names, level=0):
            yield from (module, *(f"{module}.{alias.name}" for alias in names))
        case ast.Try(handlers=[ast.ExceptHandler(type=ast.Name(id="ImportError"))]):
            return
    for inner in ast.iter_child_nodes(node):
        yield from _imported(inner)


def _file(module: str) -> Path | None:
    """The file of a module of ours; None if there is no such module."""
    path = _SOURCE.joinpath(*module.split(".")[1:])
    candidates = (path / "__init__.py", path.with_suffix(".py"))
    return next((file for file in candidates if file.is_file()), None)


def _files(name: str) -> dict[Path, bytes]:
    modules = closure(ENTRANCES)
    files = {
        file.relative_to(_SOURCE): _IMPORTS.sub(rb"\1" + name.encode(), file.read_bytes())
        for file in modules.values()
    }
    return files | {
        Path("__init__.py"): _front(name, modules).encode(),
        Path("LICENSE"): _licence(),
        Path(MARKER): _about(name).encode(),
    }


def _licence() -> bytes:
    """The text of our licence, from the source tree or the installed package."""
    root = _SOURCE.parent
    if (root / "pyproject.toml").is_file():
        return (root / "LICENSE").read_bytes()
    try:
        installed = metadata.distribution(_US).read_text("licenses/LICENSE")
    except metadata.PackageNotFoundError:
        installed = None
    if installed is None:
        raise UserError("LICENSE was not installed with noodlings: reinstall noodlings")
    return installed.encode()


def _front(name: str, modules: dict[str, Path]) -> str:
    """The `__init__` of a copy, with the public names of ours that are in it."""
    offered = sorted(
        (node.module, alias.name)
        for node in ast.walk(ast.parse((_SOURCE / "__init__.py").read_bytes()))
        if isinstance(node, ast.ImportFrom) and node.module in modules
        for alias in node.names
    )
    return "\n".join(
        [
            f'"""The memory of noodlings {__version__}, under another name: see {MARKER}."""',
            "",
            *(f"from {name}{module[len(_US) :]} import {public}" for module, public in offered),
            "",
            f'__version__ = "{__version__}"',
            "",
            "__all__ = [",
            *(f'    "{public}",' for public in sorted(public for _, public in offered)),
            "]",
            "",
        ]
    )


def _about(name: str) -> str:
    return f"""# The memory of noodlings {__version__}, as `{name}`

{_MARK}. It needs Python 3.11 or later and {REQUIREMENT}; its licence is in LICENSE.

    from {name} import MemoryListWrapper

To have it of another version, install that one and run this in the folder that holds `{name}`. It replaces
the whole folder, with whatever was changed or put there:

    noodlings bridge vendor . --as {name}
"""


def _require_name(name: str) -> None:
    """Raise `UserError` for a name that cannot be imported, or is taken."""
    if not (name.isascii() and name.isidentifier()) or name.startswith("__"):
        raise UserError(
            f"nothing can be imported as {name!r:.60}: a name has letters (a to z), digits and underscores,"
            f" a letter first; {_BETTER}"
        )
    for taken, what in (
        (keyword.iskeyword(name), "a Python keyword"),
        (name in sys.stdlib_module_names, "a module that comes with Python"),
        (name == REQUIREMENT, "a package the copy itself needs"),
        (name == _US, "the name of this package"),
    ):
        if taken:
            raise UserError(f"{name} is {what}: {_BETTER}")


def _require_place(folder: Path, name: str) -> bool:
    """Whether an earlier copy is there. Raises `UserError` when something else is."""
    target = folder / name
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file: name the folder that your program imports from")
    if (folder / f"{name}.py").exists():
        raise UserError(f"{target}.py exists and could no longer be imported: {_BETTER}")
    if not target.is_symlink() and not target.exists():
        return False
    about = target / MARKER
    if target.is_symlink() or not about.is_file() or _MARK.encode() not in about.read_bytes():
        raise UserError(f"{target} exists and was not made by this command: {_BETTER}, or move it away")
    return True


def _put(new: Path, target: Path, old: Path | None) -> None:
    """Move a folder into its place, and the one before it to `old`."""
    if old is not None:
        target.rename(old)
    try:
        new.rename(target)
    except OSError:
        if old is not None:
            old.rename(target)
        raise


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
