"""`@chronicle NAME "…"`: which commits of a code base that a character read answer a question."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from commands.memory_view import BAR, NAME, NAMES
from commands.parse import Flag, Parsed, Spec
from commands.recall import remarks
from commands.registry import CommandContext, Reply, looking_inside
from commands.render import BLANK, TextColumn, TextRows, heading, quiet, stacked
from noodlings.drawing.marks import QUIET, measure, words
from noodlings.errors import UserError
from noodlings.inspect.chronicle import ChronicleView, CommitView
from noodlings.recall.search import MAX_LIMIT
from noodlings.text import shorten

PAGE = 5
"""Commits shown at a time."""
_FILES, _BODY = 3, 240


@looking_inside(
    Spec('@chronicle NAME "QUESTION" [--limit N]', (Flag("limit", "N", int, 1, MAX_LIMIT),), text="QUESTION")
)
async def chronicle(context: CommandContext, parsed: Parsed) -> Reply:
    """Ask a character about the history of a code base it has read.

    The commits that answer the question come first: each with its hash, date, author and message, what
    found it, and the files it changed. "linked" means that it reverts, fixes or goes on with a commit that
    was found. Name a date, an author, a file, an issue (#12) or a hash in the question, and that counts.

    `noodlings chronicle REPOSITORY --agent NAME` in a shell lets a character read a repository.

      --limit N           how many at a time

    Examples:
      @chronicle servnak "why was the retry queue changed"
      @chronicle servnak "what did Ann fix in November 2026" --limit 10
    """
    if not parsed.rest:
        raise UserError(f"Ask what? Type it like this: {parsed.usage}")
    view = await context.inspector.chronicle(
        context.caller, parsed.name, parsed.rest, parsed.whole("limit", PAGE)
    )
    return Reply(view.as_dict(), chronicle_view(view))


def chronicle_view(view: ChronicleView) -> RenderableType:
    head = stacked(heading(view.name, "chronicle", f'"{view.query}"'), *remarks(view.archive))
    if not view.commits:
        return stacked(head, BLANK, quiet("It has read no commit about this that it may tell you of."))
    columns = (
        TextColumn("commit", 10),
        TextColumn("score", BAR + 5, optional=True),
        TextColumn("date", 10),
        TextColumn("author", NAME, optional=True),
        TextColumn("subject", None),
    )
    rows: list[tuple[Text, ...] | Text] = []
    for one in view.commits:
        cells = (
            Text(one.commit.hash[:10], style=QUIET),
            measure(one.score, BAR),
            Text(one.when[:10], style=QUIET),
            words(one.commit.author),
            words(one.commit.subject),
        )
        rows += [cells, *_about(one)]
    return stacked(head, BLANK, TextRows(columns, rows))


def _about(one: CommitView) -> Iterator[Text]:
    """Why it was found, what it changed, and the beginning of the rest of its message."""
    commit = one.commit
    why = ", ".join(NAMES.get(why, why) for why in one.why)
    linked = f" with {one.linked_to[:10]}" if one.linked_to else ""
    files = ", ".join(file.path for file in commit.files[:_FILES])
    more = f" and {commit.file_count - _FILES:,} more" if commit.file_count > _FILES else ""
    yield _below(f"{why}{linked}; +{commit.added:,} −{commit.removed:,} {files}{more}", QUIET)
    if commit.body:
        yield _below(shorten(commit.body, _BODY))
    if commit.left_out:
        yield _below(f"not kept: {', '.join(commit.left_out)}", QUIET)


def _below(text: str, style: str = "") -> Text:
    return Text("    ").append_text(words(text, style))
