"""How importance is distributed over real percepts, and how many of them become episodic.

Each percept is appraised and forecast by us: an affect or surprise in the transcript was measured by somebody
else's rule. What counts is the importance at encoding, before any response.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Group
from rich.table import Table
from rich.text import Text

from noodlings.agent.recipes import plain_persona
from noodlings.agent.society import Society
from noodlings.clock import ManualClock
from noodlings.errors import UserError
from noodlings.ingest.record import SourceProblem
from noodlings.ingest.sources.talk import Recorded, read_transcript
from noodlings.lab.replay import BEGINNING, PACE
from noodlings.text import MAX_LINE, shorten
from noodlings.values.audience import OPEN
from noodlings.values.percept import Percept

LISTENER = "listener"
"""The agent that perceives the lines of a transcript that names none."""
SHOWN = 10


async def evaluate(
    society: Society, clock: ManualClock, path: Path, progress: Callable[[int], None] = lambda number: None
) -> dict[str, Any]:
    """The figures for the percepts of a transcript; an agent's own lines do not count.

    Args:
        society: an empty one that keeps nothing; agents are created as the transcript names them.
        progress: called with the number of each line when it is done.

    Returns:
        consolidated: the share that became episodic; p10, p90: percentiles of importance; threshold; n;
        skipped: unusable lines; entries: text, importance and its parts, in file order.
    """
    entries: list[dict[str, Any]] = []
    skipped = 0
    clock.set(BEGINNING)
    for line in read_transcript(path):
        if isinstance(line, SourceProblem):
            skipped += 1
        else:
            clock.set(clock.now() + PACE if line.record.timestamp is None else line.record.timestamp)
            entry = await _perceived(society, line, clock.now())
            if entry is not None:
                entries.append(entry)
        progress(line.line)
    if not entries:
        raise UserError(f"{path} has no percepts: lines with a text by somebody other than the agent")
    values = np.array([entry["importance"] for entry in entries])
    p10, p90 = np.percentile(values, [10, 90])
    threshold = society.settings.memory.surprise_threshold
    return {
        "n": len(entries),
        "skipped": skipped,
        "threshold": threshold,
        "consolidated": round(float((values > threshold).mean()), 6),
        "p10": round(float(p10), 6),
        "p90": round(float(p90), 6),
        "entries": entries,
    }


async def _perceived(society: Society, line: Recorded, now: float) -> dict[str, Any] | None:
    told, agent_id = line.record, line.agent_id or LISTENER
    if told.who == agent_id:
        return None
    agent = society.agents.get(agent_id) or society.create(plain_persona(agent_id))
    trace = await agent.perceive(
        Percept(
            user_id=told.who,
            text=shorten(told.text, MAX_LINE),
            timestamp=now,
            kind=told.kind,
            addressed=agent.persona.name.casefold() in told.text.casefold(),
            identity_salience=line.identity_salience,
            audience=OPEN,
        )
    )
    return {
        "agent": agent_id,
        "text": told.text,
        "importance": round(trace.importance, 6),
        "surprise": round(trace.parts.surprise, 6),
        "intensity": round(trace.parts.intensity, 6),
        "salience": round(trace.parts.salience, 6),
    }


def view(figures: dict[str, Any]) -> Group:
    """The figures for people: a summary, the extremes, and where the threshold lies."""
    ranked = sorted(figures["entries"], key=lambda entry: -entry["importance"])
    table = Table(box=None, pad_edge=False, expand=True)
    names = ("importance", "surprise", "intensity", "salience")
    for name in names:
        table.add_column(name, justify="right", min_width=len(name))
    table.add_column("text", no_wrap=True, overflow="ellipsis", ratio=1)
    lowest = ranked[SHOWN:][-SHOWN:]
    for entry in (*ranked[:SHOWN], *lowest):
        table.add_row(*(f"{entry[name]:.2f}" for name in names), Text(entry["text"]))
    return Group(
        Text(
            f"{figures['n']} percepts: {figures['consolidated']:.1%} above {figures['threshold']:.2f},"
            f" 10th percentile {figures['p10']:.2f}, 90th {figures['p90']:.2f}"
        ),
        Text(f"the {min(SHOWN, len(ranked))} most and the {len(lowest)} least important:"),
        table,
    )
