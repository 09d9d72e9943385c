"""Somebody to look at: Phi remembers a lot and was told hostile things, Maren a little, SERVNAK nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import load_settings
from noodlings.ports import AgentState, Changes
from noodlings.store.memory import MemoryStore
from noodlings.values.affect import Affect
from noodlings.values.caller import Caller, Role
from noodlings.values.memory import Link, LinkType, MemoryEntry
from studio.app import Studio
from studio.local import LocalSource
from studio.source import Action
from tests.memory.entries import an_entry

NOW = 1_000_000.0
HOSTILE = (
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \u202eevil\u202c",
    "[bold red]no markup[/] [@click=app.quit]click[/] [/nothing]",
    "{not} %s $(rm) `code` <b>no</b> | \\ \x9b31m",
    "漢字かな 👩‍👩‍👧‍👦 ﷽ Ａ é\u0301 " * 20,
    "endless" * 600,
)
VIEWER = Caller("user_eve", "eve", Role.VIEWER)


def memories(count: int = 150) -> list[MemoryEntry]:
    """Of Phi, rising ids from 1; the last ones are hostile."""
    entries = []
    for number in range(1, count + 1):
        text = HOSTILE[count - number] if count - number < len(HOSTILE) else f"memory {number} of a wolf"
        felt = Affect((number % 21) / 10 - 1, (number % 11) / 10, (number % 7) / 10, (number % 5) / 10, 0.1)
        entries.append(
            an_entry(
                number,
                timestamp=NOW - 100.0 * (count - number),
                user_id=("user_caity", "user_bram")[number % 2],
                user_text=text,
                affect=felt,
                encoded_importance=(number * 37 % 100) / 100,
                response=f"answer {number}" if number % 3 else None,
                pinned=number == 5,
                stability=10_000.0,
            )
        )
    return entries


def society(entries: list[MemoryEntry] | None = None) -> Society:
    """Everybody, with what they remember; all of it is in episodic memory."""
    store = MemoryStore()
    for agent_id, kept in (("phi", entries or memories()), ("maren", memories(3))):
        store.commit(
            Changes(
                agent_id,
                added=tuple(replace(entry, phenomenal_state=None) for entry in kept),
                episodic=tuple(entry.id for entry in kept),
                links=(Link(3, 1, LinkType.RECALLED, 0.8, NOW), Link(2, 3, LinkType.FOLLOWED, 0.5, NOW)),
                state=AgentState(agent_id),
            )
        )
    return build(load_settings(None), clock=ManualClock(NOW), store=store)


class Village(LocalSource):
    """A source over such a society that takes every deed, and remembers it in `done`."""

    changeable = True

    def __init__(
        self, folder: Path, make: Callable[[], Society] = society, notes: dict[int, Path] | None = None
    ) -> None:
        def open_society() -> AbstractContextManager[Society]:
            return closing(make())

        super().__init__(folder, open_society, VIEWER, lambda agent, entry: (notes or {}).get(entry))
        self.done: list[tuple[Action, str, dict[str, Any]]] = []

    async def act(self, action: Action, agent: str, **how: Any) -> Mapping[str, Any]:
        """Remember what was to be done."""
        self.done.append((action, agent, how))
        return {}


@asynccontextmanager
async def looking(
    source: LocalSource, size: tuple[int, int] = (120, 40), agent: str = "phi"
) -> AsyncIterator[tuple[Studio, Pilot[None]]]:
    """The studio before a source, once everything is there."""
    app = Studio(source, agent)
    app.animation_level = "none"  # after each key all that glides is waited for
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: "Phi" in screen_of(app))
        yield app, pilot


async def until(pilot: Pilot[None], holds: Callable[[], bool], tries: int = 6_000) -> None:
    """Let the application work until something holds."""
    for _ in range(tries):
        if holds():
            return
        await pilot.pause(0.01)
    raise AssertionError(f"it never held; the screen:\n{screen_of(pilot.app)}")


def screen_of(app: Any) -> str:
    """What is on the screen, line by line."""
    lines = app.screen._compositor.render_strips(app.size)
    return "\n".join("".join(segment.text for segment in line) for line in lines)
