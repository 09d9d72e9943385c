#!/usr/bin/env bash
# Writes requirements.lock: every package that noodlings needs, also with PostgreSQL, for every platform and Python it
# supports, in the newest version that pyproject.toml allows, with the hashes of its files. Run it before a release, or
# with --upgrade-package NAME (any option of `uv pip compile`) when one of them has to move.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install -q 'uv>=0.9,<1'
cd "$root"
"$work/venv/bin/uv" pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-annotate \
    --custom-compile-command tools/lock.sh "$@" --extra postgresql pyproject.toml --output-file requirements.lock
