#!/usr/bin/env bash
# A real Evennia game in a virtual environment of its own, with nothing of ours in it but one file, talks to a
# real noodlings server. PYTHON is one with noodlings installed. Ends by itself within four minutes.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python}
work=$(mktemp -d)

finish() { # whatever became of the test, nothing of it runs on
    local pid
    for pid in "$work"/game/server/{server,portal}.pid "$work"/noodlings.pid; do
        if [[ -f $pid ]]; then kill -KILL "$(cat "$pid")" 2>/dev/null || true; fi
    done
    rm -rf "$work"
}
trap finish EXIT

"$python" -m venv "$work/venv"
"$work/venv/bin/pip" install -q -r "$here/requirements.txt"
timeout --kill-after=10 200 "$python" "$here/play.py" "$work"
