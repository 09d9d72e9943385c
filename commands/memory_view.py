"""How views of an agent's memory look: rows, bars and words.

Memories are aligned rows, the same in every view: number, importance, who, feeling, when and what.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from commands.pages import past_the_end, remaining, span
from commands.render import (
    BLANK,
    OTHERS,
    Flowing,
    TextColumn,
    TextRows,
    heading,
    hidden,
    nothing,
    quiet,
    stacked,
    warning,
)
from noodlings.drawing.marks import (
    LOUD,
    QUIET,
    ago,
    bar,
    done_without,
    feeling_style,
    feeling_text,
    level,
    measure,
    number,
    words,
)
from noodlings.inspect import views
from noodlings.inspect.reasons import in_groups, rank
from noodlings.text import clean
from noodlings.values.affect import AXES
from noodlings.values.audience import TIER_WORDS, Tier
from noodlings.values.memory import FROM

BAR = 6
NAME = 14
NAMES = {"next_to": "next to"}
"""Reasons of a recall that are shown under another name."""


def entry_rows(
    entries: Sequence[views.EntryView],
    *,
    with_name: bool = True,
    with_response: bool = False,
    lead: tuple[str, list[Text]] | None = None,
) -> TextRows:
    """A line for each memory.

    Args:
        with_name: show who said it.
        with_response: show the answer below.
        lead: a title and a cell for each entry, shown instead of the importance.
    """
    title, firsts = lead or ("importance", [importance(entry) for entry in entries])
    columns = _columns(title)
    rows: list[tuple[Text, ...]] = []
    for entry, first in zip(entries, firsts, strict=True):
        rows.append(_row(entry, first, with_name))
        below = [f"↳ {entry.response}" if entry.response else "", in_hindsight(entry), circumstances(entry)]
        shown = filter(None, below if with_response else ())
        rows += [(*[BLANK] * (len(columns) - 1), words(line, QUIET)) for line in shown]
    return TextRows(columns, rows)


def flow_rows(recalled: Sequence[views.FlowEntryView]) -> TextRows:
    """What was in mind, grouped by reason: a line for each reason with its score; ▸ means it was used."""
    columns = (
        TextColumn("", 1),
        TextColumn("#", 9, "right", leaves=True),
        TextColumn("score", BAR + 5),
        TextColumn("why", 12),
        TextColumn("who", NAME),
        TextColumn("feeling", optional=True),
        TextColumn("when", optional=True),
        TextColumn("intensity", align="right", optional=True),
        TextColumn("what", None),
    )
    rows: list[tuple[Text, ...]] = []
    for item in in_groups(recalled):
        mark = (Text("▸" if item.used else ""), Text(str(item.id), style=QUIET))
        about = memory_cells(item.entry) if item.entry else (*[BLANK] * 4, words("(forgotten)", QUIET))
        for why in sorted(item.why, key=rank) or ("",):
            score = measure(item.scores.get(why, item.score), BAR)
            rows.append((*mark, score, words(NAMES.get(why, why)), *about))
            mark, about = (BLANK, BLANK), (BLANK,) * len(about)
        if item.entry and item.entry.hindsight:
            rows.append((*[BLANK] * (len(columns) - 1), words(in_hindsight(item.entry), QUIET)))
    return TextRows(columns, rows)


def in_hindsight(entry: views.EntryView) -> str:
    """What a memory weighs in hindsight, and why; "" where that is its importance."""
    reasons = (f"{reason.replace('_', ' ')} {shift:+.2f}" for reason, shift in entry.hindsight.items())
    return f"weighs {entry.weight:.2f} in hindsight: {', '.join(reasons)}" if entry.hindsight else ""


def circumstances(entry: views.EntryView) -> str:
    """When and where it happened, and what else was given about it; "" for nothing."""
    known = entry.circumstances
    return "" if known is None else clean(known.summary(entry.timestamp + entry.age))


def circumstances_line(entry: views.EntryView) -> RenderableType | None:
    return quiet(told) if (told := circumstances(entry)) else None


MEMORY_COLUMNS = (
    TextColumn("who", NAME),
    TextColumn("feeling", optional=True),
    TextColumn("when"),
    TextColumn("intensity", align="right", optional=True),
    TextColumn("what", None),
)
"""The columns of `memory_cells`."""


def memory_cells(entry: views.EntryView) -> tuple[Text, ...]:
    """Who said it, the feeling, when, how intense, and what."""
    when = Text(ago(entry.age), style=QUIET)
    feels = feeling_text(entry)
    return (words(entry.name), feels, when, intensity(entry), said(entry))


def importance(entry: views.EntryView) -> Text:
    return measure(entry.importance, BAR, feeling_style(entry.family))


def intensity(entry: views.EntryView) -> Text:
    """How much was felt; empty where nothing is known of that."""
    return BLANK if entry.intensity is None else Text(number(entry.intensity))


def said(entry: views.EntryView) -> Text:
    """What was said, with its tags, whether it is pinned, and its kind unless it is plain speech."""
    marks = [entry.kind] * (entry.kind != "say") + ["pinned"] * entry.pinned
    before = f"({', '.join(marks)}) " if marks else ""
    tags = "".join(f" #{clean(tag)}" for tag in entry.tags if not tag.startswith(FROM))
    return Text.assemble((before, QUIET), words(_text(entry)), (tags, QUIET), no_wrap=True)


def source_line(entry: views.EntryView) -> RenderableType | None:
    """Which log, document or commit told it; None for what was lived."""
    return quiet(f"source: {entry.source}") if entry.source else None


def _columns(title: str = "importance") -> tuple[TextColumn, ...]:
    return (
        TextColumn("#", 9, "right", leaves=True),
        TextColumn(title, BAR + 5),
        TextColumn("who", NAME),
        TextColumn("feeling"),
        TextColumn("when"),
        TextColumn("strength", align="right", optional=True),
        TextColumn("surprise", align="right", optional=True),
        TextColumn("intensity", align="right", optional=True),
        TextColumn("what", None),
    )


def _text(entry: views.EntryView) -> str:
    """What was said, marked if it is secret; of a sealed memory only that it is sealed."""
    if entry.tier == Tier.SEALED:
        return f"({TIER_WORDS[entry.tier]})"
    text = entry.text or "(no words)"
    return f"({TIER_WORDS[entry.tier]}) {text}" if entry.tier == Tier.SECRET else text


def _row(entry: views.EntryView, first: Text, with_name: bool = True) -> tuple[Text, ...]:
    """The cells of `_columns`."""
    name, feels, when, intense, what = memory_cells(entry)
    figures = (Text(number(entry.strength)), Text(number(entry.surprise)), intense)
    name = name if with_name else BLANK
    return (Text(str(entry.id), style=QUIET), first, name, feels, when, *figures, what)


FILL = 16
PLAIN_LIST = (
    "Hierarchical memory is switched off (memory.use_hierarchical: false): this is a plain list of the "
    "latest lines; nothing is episodic, and what falls off its end is out of mind."
)
NOTHING = "Nothing here yet."
_TITLES = {
    "working": ("working memory", "oldest first"),
    "everything": ("everything it perceived", ""),
    "episodic": ("episodic memory", "most important first"),
    "important": ("what matters most", "most important first"),
    "user": ("memories with {}", "oldest first"),
}


def stats_view(view: views.StatsView) -> RenderableType:
    streams = [("working", view.working, view.working_capacity)]
    if view.hierarchical:
        streams += [
            ("episodic", view.episodic, view.episodic_capacity),
            ("symbols", view.symbols, view.symbol_capacity),
        ]
    fill = TextRows(
        (
            TextColumn(),
            TextColumn(most=20, align="right"),
            TextColumn(most=FILL, leaves=True),
            TextColumn(align="right"),
        ),
        [
            (
                Text(name),
                Text.assemble((f"{count:,}", LOUD), f"/{capacity:,}"),
                bar(count / capacity, FILL),
                Text(f"{count / capacity:.0%}"),
            )
            for name, count, capacity in streams
        ],
    )
    figures = [("perceived", f"{view.perceived:,}", "in all")]
    if view.hierarchical:
        figures += [
            ("consolidated", f"{view.consolidation_rate:.1%}", f"{view.consolidated:,} of them"),
            ("importance", number(view.average_importance), "episodic average"),
            ("pinned", f"{view.pinned:,}", ""),
        ]
    facts = TextRows(
        (TextColumn(), TextColumn(align="right"), TextColumn(most=None)),
        [(Text(name), Text(value, style=LOUD), words(note, QUIET)) for name, value, note in figures],
        least=8,
    )
    most = max(view.histogram)
    histogram = TextRows(
        (TextColumn("importance"), TextColumn("memories in mind", most=FILL), TextColumn(align="right")),
        [
            (
                Text(f"{at / 10:.1f}–{(at + 1) / 10:.1f}"),
                bar(count / most if most else 0.0, FILL),
                Text(f"{count:,}", style="" if count else QUIET),
            )
            for at, count in reversed(list(enumerate(view.histogram)))
        ],
    )
    head = stacked(heading(view.name, "memory"), _plain(view.hierarchical))
    return stacked(head, BLANK, fill, BLANK, facts, BLANK, histogram)


def entries_view(view: views.EntriesView, usual: int, order: str = "", none: str = NOTHING) -> RenderableType:
    """A page of memories, one a line; with `--user`, each answer stands below.

    Args:
        usual: how long a page is without --limit.
        order: how they are sorted, in words; "" for the usual order of such a view.
        none: what is said where there are none at all.
    """
    title, usual_order = _TITLES[view.view]
    who = next((entry.name for entry in view.entries), view.user)
    shown = span(view.offset, len(view.entries), view.total)
    empty = quiet(past_the_end(view.total)) if view.total else nothing(none, view.hidden)
    body = entry_rows(view.entries, with_name=not view.user, with_response=view.view == "user")
    return stacked(
        heading(view.name, title.format(who), f"{shown}, {order or usual_order}" if shown else ""),
        _plain(view.hierarchical),
        BLANK,
        body if shown else empty,
        remaining(view.offset, len(view.entries), view.total, usual),
        hidden(view.hidden if view.total else 0),
    )


def affect_groups_view(view: views.AffectGroupsView) -> RenderableType:
    rows: list[tuple[Text, ...] | Text] = []
    for group in view.groups:
        style = feeling_style(group.family)
        line = Text.assemble((f"{group.family:<8} ", f"{LOUD} {style}".strip()), f"{group.count:>4,}  ")
        line.append_text(bar(group.count / view.total, BAR, style))
        line.append(f"  importance {number(group.average_importance)}", style=QUIET)
        rows += [line, *(_row(entry, importance(entry)) for entry in group.entries)]
    return stacked(
        heading(view.name, "memories by feeling", f"{view.total:,} in mind" if view.total else ""),
        _plain(view.hierarchical),
        BLANK,
        TextRows(_columns(), rows) if rows else nothing(NOTHING, view.hidden),
        hidden(view.hidden if rows else 0),
    )


def alike_view(view: views.AlikeView) -> RenderableType:
    none = f"No memory felt like that (similarity of at least {number(view.min_similarity)})."
    firsts = [measure(alike.similarity, BAR) for alike in view.entries]
    rows = entry_rows([alike.entry for alike in view.entries], lead=("alike", firsts))
    return stacked(
        heading(view.name, "memories that felt like now", _of(len(view.entries), view.total)),
        _plain(view.hierarchical),
        felt_lines("feels", view.current),
        BLANK,
        rows if view.entries else nothing(none, view.hidden),
        hidden(view.hidden if view.entries else 0),
    )


def flow_view(view: views.FlowView, sees_all: bool = True) -> RenderableType:
    """What was said and answered, and each memory that was in mind, with why and how strongly.

    Args:
        sees_all: whether the caller sees answers to everybody, and not only to itself.
    """
    turn = view.turn
    when = ago(turn.percept.age) if turn and turn.percept else ""
    head = stacked(heading(view.name, "flow of the last answer", when), _plain(view.hierarchical))
    if turn is None:
        none = "No answer has drawn on a memory yet."
        yours = f"No answer to you has drawn on a memory yet; {OTHERS}."
        return stacked(head, BLANK, quiet(none if sees_all else yours))
    speaker, heard, answered = exchanged(turn)
    exchange = [(words(speaker, LOUD), heard), (words(view.name, LOUD), answered)]
    return stacked(
        head,
        BLANK,
        TextRows((TextColumn(most=NAME), TextColumn(most=None)), exchange),
        quiet(f"because: {turn.decision}") if turn.decision else None,
        *(warning(done_without(lost)) for lost in turn.degraded),
        BLANK,
        felt_lines("mood", turn.mood),
        BLANK,
        flow_rows(view.recalled) if view.recalled else None,
        quiet("▸ put into words") if any(item.used for item in view.recalled) else None,
        *(quiet(_missed(one)) for one in view.left_out),
        hidden(view.hidden),
    )


def exchanged(turn: views.TurnView) -> tuple[str, Text, Text]:
    """Who was answered, what they said or did, and the answer."""
    if turn.percept is None:
        forgotten = words("(forgotten)", QUIET)
        return "somebody", forgotten, forgotten
    answered = words("(kept silent)", QUIET) if turn.response is None else words(turn.response)
    return turn.percept.name, said(turn.percept), answered


def _missed(one: views.LeftOutView) -> str:
    took = "was next" if one.least - one.score < 0.005 else f"it took {number(one.least)}"
    return f"left out, {one.why} {number(one.score)}, {took}: {one.entry.name}: {one.entry.text}"


def felt_lines(label: str, felt: views.FeltView) -> RenderableType:
    """The word for a feeling, and below it its five numbers, each with a small bar."""
    style = f"{LOUD} {feeling_style(felt.family)}".strip()
    word = Flowing([Text.assemble((f"{label} ", QUIET), (felt.feeling, style))])
    axes = []
    for axis, value in zip(AXES, felt.affect.as_list(), strict=True):
        signed = axis == "valence"
        shown = f" {level((value + 1) / 2)} {value:+.2f}" if signed else f" {level(value)} {number(value)}"
        axes.append(Text.assemble((axis, QUIET), shown))
    return stacked(word, Flowing(axes))


def _plain(hierarchical: bool) -> RenderableType | None:
    return None if hierarchical else warning(PLAIN_LIST)


def _of(shown: int, total: int) -> str:
    return f"{shown} of {total:,}" if shown < total else f"all {total:,}" if total else ""
