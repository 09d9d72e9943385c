"""What an installation of noodlings weighs: the largest of the packages it needs, and all of them, in MB.

    .venv/bin/python tools/weights.py

Counted are the files that came with each package, compiled ones too, in the environment this runs in.
Packages of extras do not count.
"""

from __future__ import annotations

from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

SMALLEST = 4.0
"""MB below which a package is not listed."""


def needed(
    name: str, extras: frozenset[str] = frozenset(), found: dict[str, Distribution] | None = None
) -> dict[str, Distribution]:
    """A package and all that it needs, by name."""
    found = {} if found is None else found
    key = canonicalize_name(name)
    if key in found and not extras:
        return found
    found[key] = distribution(name)
    for line in found[key].requires or ():
        wanted = Requirement(line)
        applies = [
            wanted.marker is None or wanted.marker.evaluate({"extra": extra}) for extra in ("", *extras)
        ]
        if any(applies):
            try:
                needed(wanted.name, frozenset(wanted.extras), found)
            except PackageNotFoundError:
                continue  # of another platform
    return found


def weight(package: Distribution) -> float:
    """MB of its files."""
    paths = {str(package.locate_file(file)): package.locate_file(file) for file in package.files or ()}
    return sum(path.stat().st_size for path in paths.values() if path.is_file()) / 1e6


def main() -> None:
    """Print a table in Markdown."""
    weights = {name: weight(package) for name, package in needed("noodlings").items()}
    print(f"| package | MB |\n|---|---|\n| all {len(weights)} packages | {sum(weights.values()):.0f} |")
    for name, megabytes in sorted(weights.items(), key=lambda one: -one[1]):
        if megabytes >= SMALLEST:
            print(f"| {name} | {megabytes:.0f} |")


if __name__ == "__main__":
    main()
