"""`noodlings person NAME`: report, export or delete what is stored about somebody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from noodlings.cli.data import STANDARD_OUTPUT, output, require_elsewhere
from noodlings.cli.options import AsJson, Config, Data, report, settings_of
from noodlings.errors import StoreBusy, UserError

if TYPE_CHECKING:
    from noodlings.portable.person import PersonForgotten, PersonReport


def person(
    name: Annotated[str, typer.Argument(metavar="NAME", help="An id, an account's name, or a shown name.")],
    export: Annotated[
        str,
        typer.Option("--export", metavar="FILE", help="Write what they told, as JSON lines; - prints it."),
    ] = "",
    forget: Annotated[bool, typer.Option("--forget", help="Delete everything about them, for good.")] = False,
    yes: Annotated[
        bool,
        typer.Option("--yes", help="With --forget: really delete. Without it you see what would be deleted."),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="With --export: replace the file if it exists.")
    ] = False,
    as_json: AsJson = False,
    data: Data = None,
    config: Config = None,
) -> None:
    """Show what is kept about a person, export it for them, or delete it for good.

    It reaches every character, file and log of the data folder. The report and the export work while somebody
    plays; to delete while a server runs, send it DELETE /api/persons/NAME?yes=true with an admin token.
    """
    from dataclasses import asdict
    from pathlib import Path

    from noodlings.host.visit import opened, owner
    from noodlings.portable.person import export_person, find_person, forget_person
    from noodlings.portable.person import report as report_of

    if (export and forget) or (yes and not forget):
        raise UserError("choose one of --export FILE and --forget; --yes goes with --forget")
    settings = settings_of(data, config)
    try:
        with opened(settings, read_only=not (forget and yes)) as society:
            who = find_person(society, name)
            if export:
                if export != STANDARD_OUTPUT:
                    require_elsewhere(Path(export), settings.data_dir)
                with output(export, force) as write:
                    count = export_person(society, who, write)
                to_terminal = export == STANDARD_OUTPUT
                said = f"exported {count:,} memories of what {who.name} told"
                report(said, {"file": export, "memories": count}, as_json, err=to_terminal)
            elif forget and yes:
                kept = report_of(society, who)
                done = forget_person(society, owner(settings), who)
                report(shown_end(kept, done), asdict(done), as_json)
            else:
                kept = report_of(society, who)
                hint = "\nAll of this would be deleted for good. If you mean it, add --yes." if forget else ""
                report(shown_report(kept) + hint, asdict(kept), as_json)
    except StoreBusy as error:
        path = f"/api/persons/{quote(name, safe='')}?yes=true"
        raise StoreBusy(f"{error}. Or ask the server that runs there: DELETE {path}, as an admin") from None


_COUNTED = {
    "memories": "memories of what they said and did",
    "answers": "answers to these",
    "traces": "records of how it answered",
    "symbols": "symbols made of these memories",
    "links": "links between these and other memories",
    "notes": "notes of these memories, as files",
    "facts": "facts that it knows about them",
    "waiting": "lines of theirs that are still to be taken in",
    "heard": "memories of what others said they had heard from them, or answered to them",
}
"""What each figure of `PersonReport.characters` counts."""


def shown_report(kept: PersonReport) -> str:
    lines = [f"{kept.name} is known as {', '.join(kept.ids)}."]
    lines += [f"  account {name}: {role}" for name, role in kept.accounts.items()]
    lines += [f"  called {', '.join(kept.introduced)} by the characters"] if kept.introduced else []
    lines += [f"  last in: {', '.join(kept.places)}"] if kept.places else []
    lines += [f"  tokens in the settings: {kept.tokens}"] if kept.tokens else []
    for who, counts in kept.characters.items():
        lines.append(f"  {who} has")
        lines += [f"{counts[what]:>9,} {words}" for what, words in _COUNTED.items() if counts[what]]
    lines += [
        f"  {file}: {count:,} lines with their ids, their name or their words"
        for file, count in kept.lines.items()
    ]
    return "\n".join(lines)


def shown_end(kept: PersonReport, done: PersonForgotten) -> str:
    """What was deleted, and what is left."""
    remains = done.remains
    lines = [
        f"{kept.name} is forgotten. Deleted, of all characters together:",
        f"{done.memories:>9,} memories: what they said and did, what others told of them, answers to them"
        " that other characters heard, and what was still to be taken in",
        f"{done.answers:>9,} answers in other memories that repeated some of this",
    ]
    for file, count in done.lines.items():
        changed = "lines no longer say who it was" if file.startswith("audit.log") else "lines were deleted"
        lines.append(f"  {file}: {count:,} {changed}")
    searched = (
        f"Then every file was searched for their ids, and for {remains.words:,} uncommon words that only they"
        " had used:"
    )
    if remains.found:
        lines += [f"{searched} some are still there.", "How many of these are in which file or record:"]
        lines += [f"{count:>9,} in {place}" for place, count in remains.found.items()]
    else:
        lines.append(f"{searched} none is left.")
    lines += [f"Copies stay as they are: {', '.join(remains.copies)}."] if remains.copies else []
    lines += [f"Remove {kept.tokens} of their tokens from the settings."] if kept.tokens else []
    if not done.erased:
        lines.append("Their last bytes leave the disk at the next start, or with the database server.")
    return "\n".join(lines)
