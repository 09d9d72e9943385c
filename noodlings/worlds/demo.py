"""The greeting of a visit, and a demo without input: a story is told, 500 idle lines pass, it is remembered.

The demo runs the real program: each line goes to the same dispatch function that a player uses.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from noodlings.clock import ManualClock
from noodlings.drawing.screen import Screen
from noodlings.values.model_status import ModelState, ModelStatus
from noodlings.values.percept import Percept
from noodlings.worlds.minds import Perceive
from noodlings.worlds.rooms import World
from noodlings.worlds.script import Dispatch

WIDTH = 80


def banner(status: ModelStatus, characters: Sequence[str]) -> RenderableType:
    """The greeting of `noodlings play`; `characters` are the names of those who live here."""
    names = " and ".join(filter(None, (", ".join(characters[:-1]), "".join(characters[-1:]))))
    live = f" live{'' if len(characters) > 1 else 's'} here. " if characters else ""
    what = Text.assemble(
        (names, "bold"),
        live,
        "The characters of this small world remember what matters to them, and you can ask why they say "
        "what they say.",
    )
    first = Table.grid(padding=(0, 3, 0, 0))
    for typed, does in (
        ("hello", "just type to talk"),
        ("help", "what else you can do"),
        ("quit", "leave; everything is kept"),
    ):
        first.add_row(Text(f"  {typed}", style="bold cyan"), does)
    return Panel(
        Group(what, Text(), first, Text(), *_voice(status)),
        title=Text("noodlings", style="bold cyan"),
        border_style="cyan",
        padding=(0, 1),
        width=WIDTH,
    )


def _voice(status: ModelStatus) -> list[RenderableType]:
    if status.state is not ModelState.OFFLINE:
        told = Text(status.sentence, style="yellow" if status.away else "")
        told.highlight_words([status.model], "bold")
        return [
            told,
            Text("If it fails or is late, the offline voice speaks, and @why says so.", style="dim"),
        ]
    return [
        Text.assemble(
            ("No language model is connected", "bold yellow"),
            ", so the offline voice speaks: plain, but honest. To connect one (Ollama, LM Studio, …), set "
            "NOODLINGS_LLM__BASE_URL and NOODLINGS_LLM__MODEL and start again.",
        ),
    ]


START = 1_767_254_400.0
"""World time at which the demo begins: 2026-01-01 08:00 UTC."""
IDLE_LINES = 500
SECONDS_APART = 90.0
"""World time between two idle lines; 500 of them take half a day."""

_PASSERS_BY = ("user_miller", "user_baker", "user_postman", "user_gardener")
_SUBJECTS = (
    "The kettle",
    "My neighbour's gate",
    "The number nine tram",
    "This pencil",
    "The shop on the corner",
)
_REMARKS = (
    "is a bit slow today.",
    "was painted again, I think.",
    "looks the same as last week.",
    "is open until six.",
    "makes a small noise.",
    "could do with some oil.",
    "is usually on the left.",
    "came with a paper label.",
    "is about as long as my arm.",
    "has a new sign.",
)


@dataclass(frozen=True, slots=True)
class DemoStage:
    """What the demo needs.

    Attributes:
        dispatch: runs a line as a player types it.
        player: the id of whoever watches.
        perceive: takes the idle lines straight to a character's mind.
        clock: world time, which the demo moves.
    """

    dispatch: Dispatch
    world: World
    player: str
    perceive: Perceive
    clock: ManualClock
    screen: Screen


async def demonstrate(stage: DemoStage) -> None:
    """Play the demo from beginning to end, with pauses in a terminal."""
    being, room = next((being, room) for being, room in stage.world.who() if being.persona)
    name = being.name
    await _caption(stage, f"A small world. You go to {name}, and tell {name} something that matters to you.")
    if stage.world.room_of(stage.player) != room:
        await _type(stage, f"go {room.inline.removeprefix('the ').lower()}")
    await _type(stage, f"look {being.id}")
    await _type(stage, "say My dog died yesterday. Her name was Biscuit.")
    await _caption(
        stage,
        f"Life goes on. {IDLE_LINES} idle remarks by passers-by follow, half a day of them. {name} takes in "
        "every one and keeps the few that stand out; none matters as much.",
    )
    seconds = await _idle_remarks(stage, being.id)
    await _caption(
        stage,
        f"That took {seconds:.1f} seconds. Working memory holds the last twenty lines, so your dog left it "
        "long ago. Now you come back to it, in other words.",
    )
    await _type(stage, f"say {name}, I keep thinking about my dog.")
    await _caption(stage, f"So it mattered enough to be kept. How {name}'s memory looks by now:")
    await _type(stage, f"@memories {being.id}")
    await _caption(
        stage, f"And why {name} said that: what was in mind, each memory with its reason and score."
    )
    await _type(stage, f"@memories {being.id} --flow")
    await _caption(stage, "That was the demo. Your turn: noodlings play")


def idle_lines() -> list[tuple[str, str]]:
    """`IDLE_LINES` unimportant remarks, always the same, as (user id, text)."""
    remarks = [f"{subject} {remark}" for subject, remark in product(_SUBJECTS, _REMARKS)]
    return [
        (_PASSERS_BY[number % len(_PASSERS_BY)], remarks[number * 7 % len(remarks)])
        for number in range(IDLE_LINES)
    ]


async def _idle_remarks(stage: DemoStage, agent_id: str) -> float:
    """Let a character perceive all idle lines. Returns how long it took, in real seconds."""
    # The banner, which is in this file, too, needs no progress bars.
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    began = time.perf_counter()
    columns = (TextColumn("  idle remarks"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        for user_id, text in bar.track(idle_lines()):
            stage.clock.advance(SECONDS_APART)
            around = frozenset({stage.player})
            # Depth 1: said among others, so nobody expects an answer.
            await stage.perceive(agent_id, Percept(user_id, text, stage.clock.now(), present=around, depth=1))
    stage.clock.advance(SECONDS_APART)
    return time.perf_counter() - began


async def _type(stage: DemoStage, line: str) -> None:
    stage.screen.show(Text.assemble(("> ", "dim"), (line, "bold")))
    answer = await stage.dispatch(line)
    stage.screen.show(answer.view)
    await stage.world.settle()
    stage.clock.advance(1.0)
    stage.screen.write("")
    await _pause(stage, 3.0)


async def _caption(stage: DemoStage, text: str) -> None:
    stage.screen.show(Panel(Text(text), border_style="yellow"))
    await _pause(stage, 4.0)


async def _pause(stage: DemoStage, seconds: float) -> None:
    if stage.screen.terminal:
        await asyncio.sleep(seconds)
