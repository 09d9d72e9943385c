"""Imports point one way, and the package itself stays light."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HEAVY = ("fastapi", "textual", "openai", "mlx", "onnxruntime", "sqlalchemy", "numpy", "rich", "pydantic")


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
