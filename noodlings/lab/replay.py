"""Replay: agents perceive recorded talk as if it happened now.

World time is that of the transcript, or ten seconds a line if it has none. So the same seed and the same file
give the same report, byte for byte, whenever and wherever it runs.
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
from noodlings.ingest.record import SourceProblem
from noodlings.ingest.sources.talk import Recorded, read_transcript
from noodlings.portable.person import people, require_no_person
from noodlings.text import MAX_LINE, shorten
from noodlings.values.memory import MemoryEntry
from noodlings.values.percept import Kind, Percept

BEGINNING = 1_767_225_600.0
"""2026-01-01 UTC, when a transcript without timestamps begins in an empty world."""
PACE = 10.0
"""World seconds between two lines without timestamps."""
MOST_IMPORTANT = 5
SHOWN_PROBLEMS = 5


@dataclass(slots=True)
class Report:
    """The result of a replay.

    Attributes:
        lines: how many were read, without empty ones.
        perceived: how many percepts agents took in; several agents may perceive one line.
        replies: how many of these were answered.
        clipped: how many lines were longer than a character hears.
        listeners: ids of the agents that perceived something, in the order in which they first did.
        problems: lines that could not be used.
    """

    lines: int = 0
    perceived: int = 0
    replies: int = 0
    clipped: int = 0
    listeners: list[str] = field(default_factory=list)
    problems: list[SourceProblem] = field(default_factory=list)


async def replay(
    society: Society,
    clock: ManualClock,
    path: Path,
    only: Agent | None = None,
    progress: Callable[[int], None] = lambda number: None,
) -> Report:
    """Let the agents perceive a transcript.

    Args:
        society: agents that the transcript names and it does not know are created.
        clock: the society's; it follows the transcript.
        only: the one agent that perceives everything; by default each line goes to those it concerns.
        progress: called with the number of each line when it is done.

    Raises:
        UserError: the file cannot be read, or no line of it is recorded talk.
    """
    report, is_talk = Report(), False
    clock.set(max((_latest(agent) for agent in society.agents.values()), default=BEGINNING))
    for line in read_transcript(path):
        report.lines += 1
        if isinstance(line, SourceProblem):
            report.problems.append(line)
        else:
            is_talk = True
            clock.set(clock.now() + PACE if line.record.timestamp is None else line.record.timestamp)
            report.clipped += len(line.record.text) > MAX_LINE
            try:
                for agent in _listeners(society, line, only):
                    if agent.archive is not None:
                        # Else what comes to mind would depend on the machine's speed.
                        await agent.archive.whole()
                    trace = await society.perceive(agent.id, _percept(line, agent, clock.now()))
                    report.perceived += 1
                    if agent.id not in report.listeners:
                        report.listeners.append(agent.id)
                    report.replies += trace.response is not None
            except UserError as error:
                report.problems.append(SourceProblem(line.line, str(error)))
        progress(line.line)
    if report.problems and not is_talk:
        first = report.problems[0]
        raise UserError(
            f"{path} is not recorded talk; line {first.line}: {first.why}. A line looks like "
            '{"user": "caity", "text": "hi!"}'
        )
    return report


def as_dict(report: Report, society: Society) -> dict[str, Any]:
    """The report and what every agent has in mind afterwards, JSON-compatible."""
    agents = {agent_id: _in_mind(society.agents[agent_id]) for agent_id in sorted(report.listeners)}
    return {**asdict(report), "agents": agents}


def summary(report: Report) -> str:
    """The report in a few lines, with the first problems."""
    lines = [f"{report.lines:,} lines, {report.perceived:,} percepts, {report.replies:,} replies"]
    if report.clipped:
        lines.append(f"{report.clipped:,} lines were longer than {MAX_LINE:,} characters and were cut")
    lines += [f"line {bad.line} was skipped: {bad.why}" for bad in report.problems[:SHOWN_PROBLEMS]]
    if len(report.problems) > SHOWN_PROBLEMS:
        lines.append(f"and {len(report.problems) - SHOWN_PROBLEMS:,} more")
    return "\n".join(lines)


def most_important(agent: Agent) -> list[MemoryEntry]:
    """The most important entries that an agent has in mind."""
    entries = {entry.id: entry for entry in agent.memory.retrieve_episodic(limit=None)}
    entries |= {entry.id: entry for entry in agent.memory.retrieve_working()}
    return sorted(entries.values(), key=lambda entry: (-entry.importance, entry.id))[:MOST_IMPORTANT]


def _listeners(society: Society, line: Recorded, only: Agent | None) -> list[Agent]:
    """Who perceives a line: the agent that the transcript names, else everybody; thoughts stay private."""
    if only is not None:
        return [only]
    if line.agent_id is not None:
        known = society.agents.get(line.agent_id)
        return [known or _created(society, line.agent_id)]
    if line.record.kind is Kind.THOUGHT and line.record.who in society.agents:
        return [society.agents[line.record.who]]
    return list(society.agents.values())


def _created(society: Society, agent_id: str) -> Agent:
    persona = plain_persona(agent_id)
    require_no_person(persona, people(society.settings, society.people()))
    return society.create(persona)


def _percept(line: Recorded, agent: Agent, now: float) -> Percept:
    told = line.record
    own, folded = told.who == agent.id, told.text.casefold()
    named = any(name.casefold() in folded for name in agent.persona.called)
    return Percept(
        user_id=told.who,
        text=shorten(told.text, MAX_LINE),
        timestamp=now,
        # A transcript can only tell what others think if its author saw it.
        kind=Kind.EMOTE if told.kind is Kind.THOUGHT and not own else told.kind,
        addressed=named and not own,
        present=frozenset({told.who}),
        audience=told.audience,  # what was said is open: it was heard by whoever wrote it down
        affect=line.affect,
        surprise=line.surprise,
        identity_salience=line.identity_salience,
        data=told.data,
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
