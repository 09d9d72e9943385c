"""`noodlings ingest`: logs and other files become memories of a character."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noodlings.cli.options import AsJson, Config, Data, report, settings_of
from noodlings.errors import UserError

if TYPE_CHECKING:
    from noodlings.ingest.pipeline import IngestReport


def ingest(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="What sort of file it is: talk, mush, …")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to read.")],
    agent: Annotated[
        str,
        typer.Option("--agent", metavar="NAME", help="Whose past it is; lore may do without."),
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count; keep nothing.")] = False,
    retry: Annotated[bool, typer.Option("--retry", help="Try what waits again, too.")] = False,
    mapping: Annotated[
        Path | None,
        typer.Option("--mapping", metavar="FILE", help="For mapped: which column is what (YAML)."),
    ] = None,
    as_json: AsJson = False,
    data: Data = None,
    config: Config = None,
) -> None:
    """Take a log or another file into a character's memory, each record once.

    Start it again if it was interrupted, or when the file has grown: only what is new or changed is taken in.
    See docs/sources.md for the sources.
    """
    from dataclasses import asdict
    from functools import partial

    from noodlings.drawing.progress import progress_over
    from noodlings.host.visit import opened
    from noodlings.ingest.lines import count_lines
    from noodlings.ingest.pipeline import Pipeline
    from noodlings.ingest.sources.registry import FOR_EVERYBODY, SOURCES, SourceOptions
    from noodlings.store.database import DATABASE_NAME
    from noodlings.store.memory import MemoryStore
    from noodlings.validation import nearest

    if source not in SOURCES:
        raise UserError(f"there is no source {source!r:.40}{nearest(source, SOURCES)}")
    if not agent and source not in FOR_EVERYBODY:
        raise UserError("say whose past it is: --agent NAME")
    settings = settings_of(data, config)
    # Notes of a long past are written all at once, by noodlings notes rebuild.
    quiet = settings.model_copy(update={"notes": settings.notes.model_copy(update={"enabled": False})})
    total = count_lines(file) if file.is_file() else 0
    kept_in = settings.database
    nothing_yet = dry_run and isinstance(kept_in, Path) and not (kept_in / DATABASE_NAME).exists()
    store = MemoryStore() if nothing_yet else None
    noted = False
    with opened(quiet, read_only=dry_run, store=store) as society:
        for who in [society.find(name) for name in ([agent] if agent else sorted(society.agents))]:
            if who.archive is not None:
                who.archive.rest()
            held = partial(society.store.held, who.id)
            made = partial(SOURCES[source], file, SourceOptions(who.persona, held, mapping))
            written = file.stat().st_mtime if file.exists() else society.clock.now()
            pipeline = Pipeline(
                who,
                society.store,
                society.introduce_all,
                undated=max(0.0, min(written, society.clock.now())),
                others=society.agents,
                dry_run=dry_run,
            )
            again = pipeline.retry() if retry else None
            with progress_over(total, "ingesting") as done:
                ingested = pipeline.run(made(), done, made)
            if again is not None:
                ingested.add(again)
            words = _in_words(ingested, who.persona.name, dry_run)
            report(words, {"agent": who.id, "dry_run": dry_run, **asdict(ingested)}, as_json)
            noted |= settings.notes.enabled and not dry_run and ingested.new + ingested.changed > 0
    if noted and not as_json:
        typer.echo("To have notes of what mattered: noodlings notes rebuild (in the same data folder)")


def _in_words(report: IngestReport, name: str, dry_run: bool) -> str:
    kept = f"{report.new:,} new memories"
    lines = [f"{name} would get {kept}" if dry_run else f"{name} has {kept}"]
    rest = {
        "in place of former ones": report.changed,
        "were there before": report.unchanged,
        "were forgotten, and stay so": report.forgotten,
        "cannot be read, and wait (--retry tries again)": report.parked,
        "waited before, and still do": report.waiting,
        "may be private now, so what they were before is no longer told": report.withheld,
        "have the id of a later one, which counts": report.superseded,
    }
    lines += [f"{count:>9,} {what}" for what, count in rest.items() if count]
    lines += [f"  line {note.line}: {note.what}" if note.line else f"  {note.what}" for note in report.notes]
    if report.problem_count:
        several = report.problem_count > 1
        lines.append(f"{report.problem_count:,} problems; the first of them:" if several else "1 problem:")
        lines += [f"  line {problem.line}: {problem.why}" for problem in report.problems]
    return "\n".join(lines)
