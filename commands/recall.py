"""`@recall NAME "…"`: looking for something in everything a character ever perceived."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import TypeVar

from rich.console import RenderableType
from rich.text import Text

from commands.memory_view import BAR, MEMORY_COLUMNS, NAMES, memory_cells
from commands.parse import Flag, Parsed, Spec, joined
from commands.registry import CommandContext, Reply, looking_inside
from commands.render import BLANK, Flowing, TextColumn, TextRows, heading, quiet, stacked, warning
from noodlings.drawing.marks import LOUD, QUIET, feeling_text, measure, number, words
from noodlings.errors import UserError
from noodlings.inspect.recall import ArchiveView, FoundView, RecallOptions, RecallView, Status
from noodlings.recall.filters import Filters, moment_of
from noodlings.recall.search import MAX_LIMIT
from noodlings.text import shorten
from noodlings.values.affect import Affect
from noodlings.values.percept import Kind

Choice = TypeVar("Choice", bound=StrEnum)

PAGE = 8
"""Memories shown at a time, two lines each, so that a page fits a terminal of 24 lines."""

_SPEC = Spec(
    '@recall NAME "WHAT" [--user WHO] [--since WHEN] [--mood current] [--limit N]',
    (
        Flag("user", "WHO"),
        Flag("since", "WHEN"),
        Flag("until", "WHEN"),
        Flag("kind", "KIND"),
        Flag("tag", "WORD"),
        Flag("feeling", "WORD"),
        Flag("importance", "X", float, 0, 1),
        Flag("status", "WHERE"),
        Flag("score", "X", float, 0, 1),
        Flag("mood", "MOOD"),
        Flag("weight", "X", float, 0, 1),
        Flag("multiplier", "N", int, 1, 5),
        Flag("limit", "N", int, 1, MAX_LIMIT),
    ),
    text="WHAT",
)
_COMPONENT = {"semantic": "meaning", "lexical": "words", "affect": "mood"}


@looking_inside(_SPEC)
async def recall(context: CommandContext, parsed: Parsed) -> Reply:
    """Search everything a character ever perceived.

    It searches by words and, if there is an embedding model, by meaning; the best comes first, and what only
    asks comes last. Above each memory you see what found it, and where it is (working or episodic memory, or
    only the archive): "lexical" counts words in the memory, "next to" words in the lines just before and
    after it, and "semantic" is how close all of these are in meaning.

      --user WHO          only what this person shared with it; "me" is you
      --since WHEN        only since then: 3d, 12h, 2wk, or a date: 2026-01-31
      --until WHEN        only until then
      --kind KIND         only say, emote, whisper, arrive, leave, event, thought, read, known, fact or
                          journal
      --tag WORD          only what has this tag
      --feeling WORD      only what felt like this: sorrow, joy, afraid …
      --importance X      only this important or more, 0 to 1
      --status WHERE      only working, episodic or archive
      --score X           only with this score or more, 0 to 1
      --mood MOOD         prefer what felt like this: current, none, or V,A
      --weight X          how much mood counts, 0 to 1
      --multiplier N      how many times the limit is considered for mood, 1 to 5
      --limit N           how many at a time

    You see what you shared with a character yourself; an admin sees everything.

    Examples:
      @recall servnak "what did I say about my dog"
      @recall servnak "the storm" --since 2wk --limit 3
      @recall phi "who was kind to me" --mood current
      @recall phi "the key" --user me --status archive
    """
    if not parsed.rest:
        raise UserError(f"Recall what? Type it like this: {parsed.usage}")
    mood = parsed.text("mood", "none").strip().lower()
    view = await context.inspector.recall(
        context.caller,
        parsed.name,
        parsed.rest,
        parsed.whole("limit", PAGE),
        parsed.text("user") or None,
        RecallOptions(
            filters=_filters(parsed, context.society.clock.now()),
            status=_chosen(Status, parsed, "status") if parsed.has("status") else None,
            mood=None if mood in ("none", "current") else _mood(mood),
            include_emotion=mood == "current",
            emotion_weight=parsed.number("weight", 0.0) if parsed.has("weight") else None,
            candidate_multiplier=parsed.whole("multiplier", 0) if parsed.has("multiplier") else None,
            min_score=parsed.number("score", 0.0),
        ),
    )
    return Reply(view.as_dict(), recall_view(view))


def recall_view(view: RecallView) -> RenderableType:
    count = f"{len(view.memories)} found" if view.memories else ""
    head = stacked(
        heading(view.name, "recall", f'"{view.query}"'), _facts(view, count), *remarks(view.archive)
    )
    if not view.memories:
        none = "It has nothing about this that it may tell you."
        if not view.archive.loaded:
            none = "It has found nothing so far; ask again in a moment."
        return stacked(head, BLANK, quiet(none))
    columns = (
        TextColumn("#", 9, "right", leaves=True),
        TextColumn("score", BAR + 5),
        *MEMORY_COLUMNS[:-1],
        TextColumn("why", None),
    )
    rows: list[tuple[Text, ...] | Text] = []
    for one in view.memories:
        entry_id = Text(str(one.entry.id), style=QUIET)
        *about, said = memory_cells(one.entry)
        rows.append((entry_id, measure(one.score, BAR), *about, _reasons(one)))
        rows.append(Text("      ").append_text(said))
    example = f"@why {joined([view.name])} --id {view.memories[0].entry.id}"
    return stacked(head, BLANK, TextRows(columns, rows), quiet(f"one in full with {example}"))


def _facts(view: RecallView, count: str) -> RenderableType:
    archive = view.archive
    by = f"by words and meaning ({archive.model})" if view.by_meaning else "by words"
    parts = [Text(count, style=LOUD)] if count else []
    parts += [words(f"in {archive.entries:,} memories", QUIET), words(by, QUIET)]
    if view.mood is not None:
        mood = Text.assemble(("in the mood ", QUIET), feeling_text(view.mood))
        parts.append(mood.append(f" {view.mood.affect.valence:+.2f}", style=QUIET))
    return Flowing(parts)


def remarks(archive: ArchiveView) -> Iterator[RenderableType]:
    """What to know about an archive that is not complete yet."""
    if not archive.loaded:
        yield warning(
            f"Its archive is still being loaded: {archive.entries:,} of {archive.perceived:,} so far."
        )
    if archive.pending:
        yield quiet(f"{archive.pending:,} are not embedded yet, so for now only their words are searched.")
    if archive.parked:
        why = f": {archive.reason}" if archive.reason else ""
        yield quiet(f"{archive.parked:,} could not be embedded, so only their words are searched{why}")


def _reasons(one: FoundView) -> Text:
    """What found it, each with its part of the score, and where it is."""
    line = Text("")
    for why in one.why:
        sign = "+" if why == "affect" else ""
        line.append(f"{NAMES.get(why, why)} ", style=QUIET)
        line.append(f"{sign}{number(one.scores[_COMPONENT.get(why, why)])}  ")
    return line.append(one.status, style=QUIET)


def _filters(parsed: Parsed, now: float) -> Filters:
    return Filters(
        since=moment_of(parsed.text("since"), now) if parsed.has("since") else None,
        until=moment_of(parsed.text("until"), now) if parsed.has("until") else None,
        kinds=frozenset({_chosen(Kind, parsed, "kind")}) if parsed.has("kind") else frozenset(),
        tags=frozenset({parsed.text("tag")}) if parsed.has("tag") else frozenset(),
        min_importance=parsed.number("importance", 0.0),
        feeling=parsed.text("feeling").lower() or None,
    )


def _mood(given: str) -> Affect:
    try:
        valence, arousal = map(float, given.split(","))
    except ValueError:
        raise UserError(
            "--mood needs current, none, or valence and arousal such as -0.8,0.9 (−1 to 1, 0 to 1)."
        ) from None
    return Affect(valence, arousal)


def _chosen(choices: type[Choice], parsed: Parsed, flag: str) -> Choice:
    given = parsed.text(flag).strip().lower()
    try:
        return choices(given)
    except ValueError:
        known = ", ".join(choice.value for choice in choices)
        raise UserError(f"--{flag} is one of {known}; not '{shorten(given, 30)}'.") from None
