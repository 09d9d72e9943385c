"""`noodlings chronicle REPOSITORY`: a character reads the history of a code base.

Asking for it is a command of the world, which `noodlings.cli.main` runs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from noodlings.cli.options import print_json

if TYPE_CHECKING:
    from noodlings.config import Settings
    from noodlings.ingest.chronicle import ChronicleReport
    from noodlings.ingest.sources.git import GitRepository


def read(
    settings: Settings,
    folder: Path,
    name: str,
    config: Path | None,
    install_hook: bool,
    replace_hooks: bool,
    as_json: bool,
) -> None:
    """Take in what is new in a repository, report it, and embed it.

    Raises:
        UserError: there is nothing to read, or a hook may not be replaced. Nothing was taken in.
        StoreError: nothing more can be stored now. Run it again to continue.
    """
    import asyncio

    from noodlings.drawing.progress import progress_over
    from noodlings.host.visit import opened
    from noodlings.ingest.chronicle import Chronicle
    from noodlings.ingest.pipeline import Pipeline
    from noodlings.ingest.sources.git import GitRepository

    repository = GitRepository(folder)
    with opened(settings) as society:
        agent, store = society.find(name), society.store
        if install_hook:
            _install(repository, agent.id, settings.data_dir, config, replace_hooks)
        if agent.archive is not None:
            agent.archive.rest()
        now, others = society.clock.now(), society.agents
        pipeline = Pipeline(agent, store, society.introduce_all, undated=now, others=others)
        chronicle = Chronicle(agent, store, pipeline, repository)
        with progress_over(len(chronicle.new), "reading commits") as done:
            report = chronicle.take_in(done)
        _report(repository, report, as_json)
        if agent.archive is not None and report.ingested.new:
            with progress_over(agent.memory.stats().perceived, "embedding") as done:
                asyncio.run(agent.archive.embedded(done))  # leaving earlier loses nothing


def _report(repository: GitRepository, report: ChronicleReport, as_json: bool) -> None:
    ingested = report.ingested
    counts = {"new": ingested.new, "parked": ingested.parked, "gone": report.gone, "back": report.back}
    if as_json:
        about = {"repository": repository.name, "source": repository.source, "commits": report.commits}
        problems = [problem.why for problem in ingested.problems]
        linked = {"linked": report.linked, "shallow": repository.shallow, "problems": problems}
        print_json(about | counts | linked)
        return
    words = {
        "parked": "could not be taken in",
        "gone": "that no branch reaches any more",
        "back": "that a branch reaches again",
    }
    told_counts = [f"{counts[key]:,} {what}" for key, what in words.items() if counts[key]]
    typer.echo(
        f"{repository.name}: {report.commits:,} commits; {', '.join([f'{ingested.new:,} new', *told_counts])}"
    )
    if repository.shallow:
        typer.echo(
            "this is a shallow clone, without older commits; after `git fetch --unshallow`, run this again"
        )
    for problem in ingested.problems:
        typer.echo(f"noodlings: {problem.why}", err=True)
    if (more := ingested.problem_count - len(ingested.problems)) > 0:
        typer.echo(f"noodlings: and {more:,} more problems", err=True)


def _install(repository: GitRepository, agent: str, data: Path, config: Path | None, replace: bool) -> None:
    from noodlings.ingest import git_hook
    from noodlings.text import clean

    def may_replace(path: Path) -> bool:
        asked = f"{clean(str(path))} is there already. Replace it?"
        return replace or (sys.stdin.isatty() and typer.confirm(asked, default=False, err=True))

    command = [sys.executable, "-m", "noodlings", "chronicle", str(repository.path.resolve())]
    command += ["--agent", agent, "--data", str(data.resolve())]
    command += ["--config", str(config.resolve())] if config else []
    written = git_hook.install(repository.hooks(), command, may_replace)
    typer.echo(
        f"git will run this after each commit, pull and rebase: {clean(str(written[0].parent))}", err=True
    )
