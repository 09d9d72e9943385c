#!/usr/bin/env bash
# Builds the wheel, installs it into a fresh environment, and tries it from an empty folder: nothing of the source
# tree can stand in for what the wheel lacks. PYTHON is the interpreter, python3 by default.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PYTHONPATH NOODLINGS_CONFIG
export NOODLINGS_DATA=$work/data

step() { printf '\n== %s\n' "$*"; }

step "build"
"${PYTHON:-python3}" -m venv "$work/venv"
bin=$work/venv/bin
"$bin/pip" wheel -q --no-deps -w "$work/wheel" "$root"
wheel=$(echo "$work"/wheel/*.whl)
echo "${wheel##*/}"

step "contents"
"$bin/python" "$root/tools/check_wheel.py" contents "$wheel" "$root"

step "install"
# As a release is installed: what the lock names, each file by its hash, and nothing else.
"$bin/pip" install -q --require-hashes -r "$root/requirements.lock"
"$bin/pip" install -q --no-deps "$wheel"
"$bin/pip" check
mkdir "$work/empty"
cd "$work/empty"

step "modules and data files"
"$bin/python" -I "$root/tools/check_wheel.py" installed "$wheel"

step "the program"
"$bin/noodlings" --version
"$bin/noodlings" --help > "$work/help"
grep -q 'play' "$work/help"
printf 'say servnak, hello\n@memories servnak\nquit\n' | "$bin/noodlings" play | tee "$work/played"
# What it does may stand between its name and its words.
grep -qE '^SERVNAK (says|\()' "$work/played"
"$bin/noodlings" bridge vendor "$work/lib" --as noodlings_memory
PYTHONPATH=$work/lib "$bin/python" -c 'from noodlings_memory import MemoryListWrapper; MemoryListWrapper([{}])'
test -z "$(ls -A)" || { echo "something was left in the folder it was started in: $(ls -A)"; exit 1; }
echo
echo "the wheel works"
