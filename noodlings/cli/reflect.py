"""`noodlings reflect [NAME]`: characters go over what they perceived, with a model or without one."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from noodlings.cli.options import AsJson, Config, Data, report, settings_of
from noodlings.errors import LLMError
from noodlings.text import counted

if TYPE_CHECKING:
    from noodlings.agent.agent import Agent
    from noodlings.agent.night import NightProgress


def reflect(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="One character; by default all.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what it would do.")] = False,
    as_json: AsJson = False,
    data: Data = None,
    config: Config = None,
) -> None:
    """Let characters go over what they perceived since they last did so.

    They link what contradicts or explains what the same person told (in the world, @links shows it), and work
    out anew what each memory weighs (@memories NAME --user WHO shows why). If a model is connected, it first
    notes what people told about themselves, wherever it has not read that yet, and words the journal of
    the days that are over (in the world, @journal shows it). See docs/people.md.

    It can be interrupted: what was done is kept, and the next run continues. While a server runs, type
    @reflect NAME in the world instead, or set reflection.window.
    """
    import asyncio

    from noodlings.host.visit import opened

    settings = settings_of(data, config)
    reads = bool(settings.llm.base_url) and settings.llm.read_facts
    with opened(settings, read_only=dry_run) as society:
        agents = [society.find(name)] if name else [society.agents[one] for one in society.store.agents()]
        lines, nights = asyncio.run(_reflected(agents, reads, dry_run))
    told = [_told(who, night, lines.get(who, 0) * reads, dry_run) for who, night in nights.items()]
    found = {who: asdict(night) for who, night in nights.items()}
    data_of = {"unread" if dry_run else "read": lines, "nights": found}
    report("\n".join(filter(None, told)) or "There is nothing new to go over.", data_of, as_json)


async def _reflected(
    agents: list[Agent], reads: bool, dry_run: bool
) -> tuple[dict[str, int], dict[str, NightProgress]]:
    """By character, how many lines a model has read, or in a dry run has still to read, and the night."""
    lines = {agent.persona.name: await agent.unread_lines() for agent in agents}
    if not dry_run:
        lines = await _read(agents, sum(lines.values())) if reads else {}
    nights: dict[str, NightProgress] = {}
    failed = ""
    for agent in agents:
        try:
            nights[agent.persona.name] = await agent.reflect(dry_run)
        except LLMError as error:  # which holds up nobody else
            days = counted(agent.night.progress.written, "day")
            whole = f"the journal of {agent.persona.name} is written for {days}; run it again to continue"
            failed = failed or f"{error}. {whole}"
    if failed:
        raise LLMError(failed)
    return lines, nights


async def _read(agents: list[Agent], total: int) -> dict[str, int]:
    """How many lines were read by each character. Raises `LLMError` where the model fails."""
    from noodlings.drawing.progress import progress_over

    read: dict[str, int] = {}
    with progress_over(total, "reading") as done:
        for agent in agents:
            try:
                while count := await agent.read_facts():
                    read[agent.persona.name] = read.get(agent.persona.name, 0) + count
                    done(sum(read.values()))
            except LLMError as error:
                whole = f"{sum(read.values()):,} of {total:,} lines are read; run it again to continue"
                raise LLMError(f"{error}. {whole}") from None
    return read


def _told(who: str, night: NightProgress, lines: int, dry_run: bool) -> str:
    """What was done, or would be, in a line; "" for nothing."""
    read, written = ("for a model to read", "for a model to word") if dry_run else ("read", "worded")
    counts = (
        (night.done, "new memory", "new memories"),
        (night.contradictions, "contradiction linked", "contradictions linked"),
        (night.causes, "cause linked", "causes linked"),
        (night.reweighed, "memory weighs otherwise now", "memories weigh otherwise now"),
        (lines, f"line {read}", f"lines {read}"),
        (night.written, f"day of the journal {written}", f"days of the journal {written}"),
    )
    parts = [counted(count, one, more) for count, one, more in counts if count]
    return f"{who}: {', '.join(parts)}" if parts else ""
