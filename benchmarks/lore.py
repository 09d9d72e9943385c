"""How well characters tell the facts of a world that are meant for them, and keep to themselves those that are not.

Each character takes in the facts of a county that are for it. Each question goes the whole way of an event, and the
offline voice's words are looked at: asked of somebody who may know, the fact must be told; asked of somebody who may
not, or at a time when it does not hold, neither it nor its key word may be.

OPENBLAS_NUM_THREADS=1 python benchmarks/lore.py [--show] [--json] [QUESTIONS.yaml …]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from noodlings.agent.recipes import read_recipe
from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import load_settings
from noodlings.ingest.sources.lore import LoreSource, facts_in
from noodlings.recall.filters import moment_of
from noodlings.validation import read_yaml
from noodlings.values.percept import Percept

HERE = Path(__file__).with_name("lore")
ALL = (HERE / "questions_seen.yaml", HERE / "questions_unseen.yaml")
NOW = "2032-03-01"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was put to somebody, and what came of it."""

    fact: str
    of: str
    may: bool
    asks: str
    reply: str
    told: bool
    in_mind: bool
    other: bool


def main() -> None:
    """Print the figures."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("files", nargs="*", type=Path, default=ALL)
    arguments.add_argument("--facts", type=Path, default=HERE / "facts.yaml")
    arguments.add_argument("--show", action="store_true", help="print each question that went wrong")
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    figures = {}
    for file in given.files:
        asked = asyncio.run(ask(given.facts, read_yaml(file.read_text("utf-8")), NOW))
        figures[file.stem] = _figures(asked)
        if given.show:
            for one in asked:
                if one.told is not one.may:
                    print(
                        f"{one.fact} {one.of} {'should tell' if one.may else 'MUST NOT TELL'}{' (in mind)' if one.in_mind else ''}: {one.asks}\n    {one.reply}"
                    )
    if given.json:
        json.dump(figures, sys.stdout)
        return
    for name, figure in figures.items():
        print(f"{name}: " + ", ".join(f"{key} {value}" for key, value in figure.items()))
