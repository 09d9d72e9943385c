"""Read in the process from which programs are forked, see `tests.program`: tables and command lines.

They are the same for every program and never change, and each would spend some tenths of a second on them.
What one program remembers no other knows: the line is said to a society that is closed and had no folder.
"""

from __future__ import annotations

import asyncio
import gc
import threading
from contextlib import closing

from noodlings.app import build
from noodlings.cli.main import command
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.store.memory import MemoryStore
from noodlings.values.percept import Percept


async def _say() -> None:
    settings, clock = Settings(embedding={"model": "none"}), ManualClock(1_000_000.0)  # type: ignore[arg-type]
    with closing(build(settings, clock=clock, store=MemoryStore())) as society:
        for agent in society.agents:
            await society.perceive(agent, Percept("user_ann", "hello", clock.now(), addressed=True))


command()
asyncio.run(_say())
assert threading.active_count() == 1  # of several threads only one is in the process that is forked off
gc.freeze()  # else whoever is forked walks through all of it again, and copies it
