"""`noodlings reflect [NAME]`: a model reads what characters were told and it has not read yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from noodlings.cli.options import AsJson, Config, Data, report, settings_of
from noodlings.errors import LLMError, UserError

if TYPE_CHECKING:
    from noodlings.agent.agent import Agent


def reflect(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="One character; by default all.")] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say how many lines are still to be read.")
    ] = False,
    as_json: AsJson = False,
    data: Data = None,
    config: Config = None,
) -> None:
    """Let the model note what people told about themselves, wherever it has not read that yet.

    Characters do this by themselves after each talk. Use it for what was said before a model was connected,
    or for logs that were ingested. It can be interrupted: what was read is kept, and the next run continues.
    While a server runs, type @reflect NAME in the world instead.
    """
    import asyncio

    from noodlings.host.visit import opened

    settings = settings_of(data, config)
    if not dry_run and not (settings.llm.base_url and settings.llm.read_facts):
        raise UserError(
            "there is no model to read with: set llm.base_url and llm.model, and leave llm.read_facts on; see"
            " docs/models.md. What is said plainly appears on the cards of @people without one."
        )
    with opened(settings, read_only=dry_run) as society:
        agents = [society.find(name)] if name else [society.agents[one] for one in society.store.agents()]
        unread = asyncio.run(_unread(agents))
        if dry_run:
            lines = [f"{who}: {count:,} still to read" for who, count in unread.items() if count]
            report("\n".join(lines) or "Everything is read.", {"unread": unread}, as_json)
            return
        read = asyncio.run(_read(agents, sum(unread.values())))
        count = sum(read.values())
        report(f"Read {count:,} {'line' if count == 1 else 'lines'}.", {"read": read}, as_json)


async def _unread(agents: list[Agent]) -> dict[str, int]:
    return {agent.persona.name: await agent.unread_lines() for agent in agents}


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
