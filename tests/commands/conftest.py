"""A real society with its rooms, a clock set by hand, and somebody who types."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from rich.cells import cell_len

import commands  # noqa: F401 -- declares them
from commands.registry import CommandContext, Reply, registry
from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.inspect.inspector import Inspector
from noodlings.store.memory import MemoryStore
from noodlings.values.caller import Caller, Role
from noodlings.worlds.places import load_places
from noodlings.worlds.rooms import World


class Player:
    """Somebody at a keyboard in the workshop: what is typed, what is answered, what is heard.

    Attributes:
        society, clock: as real as they come, but kept in memory.
        world: None for somebody who looks in from outside.
        heard: lines of others in the room, as shown.
    """

    def __init__(
        self, society: Society, clock: ManualClock, role: Role = Role.ADMIN, inside: bool = True
    ) -> None:
        self.society, self.clock = society, clock
        self.heard: list[str] = []
        self.world: World | None = None
        caller = Caller("user_caity", "caity", role)
        if inside:
            self.world = World(
                load_places(),
                society.personas.values(),
                society.perceive,
                lambda agent_id, now: society.agents[agent_id].idle(now),
                clock,
            )
            self.world.enter(
                caller.user_id, caller.name, lambda line: self.heard.append(line.view(caller.user_id).plain)
            )
        self.context = CommandContext(caller, society, Inspector(society), self.world)

    async def type(self, line: str, after: float = 1.0) -> Reply:
        """Type a line so many world seconds later, and wait until everybody is done with it."""
        self.clock.advance(after)
        reply = await registry.dispatch(line, self.context)
        if self.world is not None:
            await self.world.settle()
        assert json.loads(json.dumps(reply.data, allow_nan=False)) == reply.data
        return reply

    async def read(self, line: str, width: int = 80) -> list[str]:
        """The lines of the answer, none of them wider than asked."""
        lines = (await self.type(line)).render(width).split("\n")
        assert max(map(cell_len, lines)) <= width
        assert all(row.isprintable() and row == row.rstrip() for row in lines)
        return lines


@pytest.fixture
def quiet_society(tmp_path: Path) -> tuple[Society, ManualClock]:
    """A society without sentence vectors and without a file, and its clock."""
    clock = ManualClock(1_000_000.0)
    settings = Settings(store={"path": str(tmp_path)}, embedding={"model": "none"})  # type: ignore[arg-type]
    return build(settings, clock=clock, store=MemoryStore()), clock


@pytest.fixture
async def player(quiet_society: tuple[Society, ManualClock]) -> AsyncIterator[Player]:
    """An admin in the world."""
    made = Player(*quiet_society)
    yield made
    assert made.world is not None
    await made.world.close()
