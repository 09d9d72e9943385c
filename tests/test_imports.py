"""Imports point one way, and the package itself stays light."""

import os
import re
import socket
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HEAVY = ("fastapi", "textual", "openai", "mlx", "onnxruntime", "sqlalchemy", "numpy", "rich", "pydantic")
OF_OTHERS = {"mcp", "mlx", "openai", "prompt_toolkit", "textual"}
"""What neither a server nor a script needs."""


@pytest.mark.slow
def test_the_contracts_of_pyproject_hold():
    command = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [command, "--no-cache"], cwd=ROOT, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_importing_noodlings_loads_nothing_heavy():
    code = f"import noodlings, sys; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "needed", "unneeded"),
    [
        (("--help",), "typer", {*HEAVY, *OF_OTHERS, "commands", "yaml"} - {"rich"}),
        (("notes", "search", "dog"), "yaml", {*HEAVY, *OF_OTHERS, "commands"} - {"pydantic"}),
        (("play", "--data"), "sqlalchemy", {*OF_OTHERS, "fastapi", "uvicorn", "websockets"}),
        (("serve", "--port"), "fastapi", OF_OTHERS),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_program_loads_what_it_needs_and_nothing_else(tmp_path, words, needed, unneeded):
    with socket.create_server(("127.0.0.1", 0)) as taken:  # a server that imported everything ends there
        last = {"--data": [tmp_path], "--port": [taken.getsockname()[1]]}.get(words[-1], [])
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "noodlings", *words, *map(str, last)],
            cwd=ROOT,
            env={name: value for name, value in os.environ.items() if not name.startswith("NOODLINGS_")}
            | {"NOODLINGS_STORE__PATH": str(tmp_path)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
    loaded = set(re.findall(r"^import time:.*\|\s+(\w+)", done.stderr, re.MULTILINE))
    assert needed in loaded, done.stderr
    assert not unneeded & loaded


def test_every_public_name_can_be_had():
    import noodlings

    for name in noodlings.__all__:
        assert getattr(noodlings, name) is not None
    assert set(noodlings.__all__) <= set(dir(noodlings))


@pytest.mark.parametrize(
    "path",
    [
        "noodlings.affect.feeling.feeling",
        "noodlings.agent.events.game_event",
        "noodlings.agent.recipes.load_recipe",
        "noodlings.config.ImportanceWeights",
        "noodlings.inspect.inspector.Inspector",
        "noodlings.memory.list_wrapper.MemoryListWrapper",
        "noodlings.progress.progress_over",
        "noodlings.simulate.Turn",
        "noodlings.simulate.sweep",
        "noodlings.store.memory.MemoryStore",
        "noodlings.transistors.base.CognitiveTransistor",
        "noodlings.values.caller.Caller",
        "noodlings.values.lens.Lens",
        "noodlings.values.percept.Percept",
    ],
)
def test_what_was_documented_once_stays_where_it_was(path):
    module, _, name = path.rpartition(".")
    assert callable(getattr(import_module(module), name))
