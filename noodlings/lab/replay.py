"""Replay: recorded talk through the whole way of an event, without a person.

World time is that of the transcript, or ten seconds a line where it has none; so the same seed and the same
file give the same result, byte for byte, and nothing in the report depends on when or where it ran.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from noodlings.agent.agent import Agent
from noodlings.agent.recipes import plain_persona
from noodlings.agent.society import Society
from noodlings.clock import ManualClock
from noodlings.errors import UserError
from noodlings.ingest.transcript import Recorded, TranscriptProblem, read_transcript
from noodlings.text import MAX_LINE, shorten
from noodlings.values.audience import OPEN
from noodlings.values.memory import MemoryEntry
from noodlings.values.percept import Kind, Percept

BEGINNING = 1_767_225_600.0
"""2026-01-01 UTC: when a transcript without timestamps begins in an empty world."""
PACE = 10.0
"""World seconds between two lines that carry no timestamps."""
MOST_IMPORTANT = 5
SHOWN_PROBLEMS = 5


@dataclass(slots=True)
class Report:
    """What came of a replay.

    Attributes:
        lines: read, without empty ones.
        perceived: percepts that agents took in; a line without an agent is perceived by several.
        replies: how many of them were answered.
        clipped: lines that were longer than a character hears.
        listeners: ids of the agents that perceived something, in the order in which they first did.
        problems: lines that could not be used.
    """

    lines: int = 0
    perceived: int = 0
    replies: int = 0
    clipped: int = 0
    listeners: list[str] = field(default_factory=list)
    problems: list[TranscriptProblem] = field(default_factory=list)


async def replay(
    society: Society,
    clock: ManualClock,
    path: Path,
    only: Agent | None = None,
    progress: Callable[[int], None] = lambda number: None,
) -> Report:
    """Let the agents perceive a transcript.

    Args:
        society: who may perceive it; agents that the transcript names and nobody knows come to life.
        clock: the society's; it follows the transcript.
        path: the file.
        only: everything goes to this agent alone.
        progress: called with the number of each line when it is done.

    Raises:
        UserError: the file cannot be read, or no line of it is recorded talk.
    """
    report = Report()
    clock.set(max((_latest(agent) for agent in society.agents.values()), default=BEGINNING))
    for line in read_transcript(path):
        report.lines += 1
        if isinstance(line, TranscriptProblem):
            report.problems.append(line)
        else:
            clock.set(clock.now() + PACE if line.timestamp is None else line.timestamp)
            report.clipped += len(line.text) > MAX_LINE
            for agent in _listeners(society, line, only):
                if agent.archive is not None:
                    await agent.archive.whole()  # or what comes to mind would depend on how fast we are
                trace = await society.perceive(agent.id, _percept(line, agent, clock.now()))
                report.perceived += 1
                if agent.id not in report.listeners:
                    report.listeners.append(agent.id)
                report.replies += trace.response is not None
        progress(line.number)
    if report.problems and len(report.problems) == report.lines:
        first = report.problems[0]
        raise UserError(
            f"{path} is not recorded talk; line {first.number}: {first.why}. A line looks like "
            '{"user": "caity", "text": "hi!"}'
        )
    return report


def as_dict(report: Report, society: Society) -> dict[str, Any]:
    """The report and what every agent has in mind afterwards, JSON-compatible, without path or wall time."""
    agents = {agent_id: _in_mind(society.agents[agent_id]) for agent_id in sorted(report.listeners)}
    return {**asdict(report), "agents": agents}


def summary(report: Report) -> str:
    """The report in a few lines, with the first of the lines that could not be used."""
    lines = [f"{report.lines:,} lines, {report.perceived:,} percepts, {report.replies:,} replies"]
    if report.clipped:
        lines.append(f"{report.clipped:,} lines were longer than {MAX_LINE:,} characters and were cut")
    lines += [f"line {bad.number} was skipped: {bad.why}" for bad in report.problems[:SHOWN_PROBLEMS]]
    if len(report.problems) > SHOWN_PROBLEMS:
        lines.append(f"and {len(report.problems) - SHOWN_PROBLEMS:,} more")
    return "\n".join(lines)


def most_important(agent: Agent) -> list[MemoryEntry]:
    """The most important of all an agent has in mind, each once."""
    entries = {entry.id: entry for entry in agent.memory.retrieve_episodic(limit=None)}
    entries |= {entry.id: entry for entry in agent.memory.retrieve_working()}
    return sorted(entries.values(), key=lambda entry: (-entry.importance, entry.id))[:MOST_IMPORTANT]


def _listeners(society: Society, line: Recorded, only: Agent | None) -> list[Agent]:
    """Who perceives a line: whoever the transcript names, else everybody; but thoughts stay private."""
    if only is not None:
        return [only]
    if line.agent_id is not None:
        known = society.agents.get(line.agent_id)
        return [known or society.create(plain_persona(line.agent_id))]
    if line.kind is Kind.THOUGHT and line.user_id in society.agents:
        return [society.agents[line.user_id]]
    return list(society.agents.values())


def _percept(line: Recorded, agent: Agent, now: float) -> Percept:
    own = line.user_id == agent.id
    folded = line.text.casefold()
    named = any(name.casefold() in folded for name in agent.persona.called)
    return Percept(
        user_id=line.user_id,
        text=shorten(line.text, MAX_LINE),
        timestamp=now,
        # What somebody else is said to think was seen by whoever wrote the transcript.
        kind=Kind.EMOTE if line.kind is Kind.THOUGHT and not own else line.kind,
        addressed=named and not own,
        present=frozenset({line.user_id}),
        audience=OPEN,  # whoever wrote it down heard it
        affect=line.affect,
        surprise=line.surprise,
        identity_salience=line.identity_salience,
    )


def _latest(agent: Agent) -> float:
    latest = agent.memory.retrieve_working(1)
    return latest[0].timestamp if latest else BEGINNING


def _in_mind(agent: Agent) -> dict[str, Any]:
    memory = agent.memory
    return {
        "stats": memory.get_stats(),
        "working": [_entry(entry) for entry in memory.retrieve_working()],
        "episodic": [_entry(entry) for entry in memory.retrieve_episodic(limit=None)],
        "important": [_entry(entry) for entry in most_important(agent)],
    }


def _entry(entry: MemoryEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "user": entry.user_id,
        "text": entry.user_text,
        "response": entry.response,
        "timestamp": entry.timestamp,
        "surprise": round(entry.surprise, 6),
        "importance": round(entry.importance, 6),
        "encoded_importance": round(entry.encoded_importance, 6),
    }
