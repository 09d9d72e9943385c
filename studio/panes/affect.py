"""What memories felt like: in a plane of valence and arousal, and by the kind of feeling."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult

from noodlings.drawing.marks import LOUD, QUIET, bar, cut, feeling_style, number
from noodlings.inspect import questions
from studio.panes.base import Query, Results
from studio.panes.memory_pane import MemoryPane
from studio.widgets.lines import StatusLine
from studio.widgets.marks import Drawing
from studio.widgets.scatter import SHAPES, Point, Scatter

if TYPE_CHECKING:
    import noodlings.values.affect as values
    from noodlings.inspect.mood import MoodView
    from noodlings.inspect.views import AffectGroupView, EntriesView, EntryView

LIMIT = 500
"""Memories in the plane, the most important ones."""
FELT, MOOD = "◆", "◇"
CORNERS = ("tense", "excited", "low", "calm")
AXIS_ENDS = ("unpleasant", "pleasant", "aroused", "quiet")
ROW_WIDTH = 66
"""Cells from which each group has a row of its own."""


class Affect(MemoryPane):
    """Episodic memory by what was felt."""

    TITLE = "Affect"
    ABOUT: ClassVar[str] = (
        "The memories that matter, by what they felt like, a mark for each: unpleasant on the left, "
        "pleasant on the right, quiet at the bottom, aroused at the top. Marks that would cover one "
        "another stand side by side; each corner says how many are in its quarter. The shape says how "
        f"strong a memory is now, from {SHAPES[0]} to {SHAPES[-1]}. {FELT} is what the agent felt last, "
        f"{MOOD} its mood. Below, how many memories there are of each kind of feeling, and how important "
        "they are on average."
    )
    DEFAULT_CSS = """
    Affect Scatter { height: 1fr; margin: 0 1; }
    Affect #groups { padding: 0 1; }
    Affect Detail { height: 32%; }
    """

    def compose_main(self) -> ComposeResult:
        yield Scatter(CORNERS, AXIS_ENDS)
        yield StatusLine()
        yield Drawing(id="groups")

    def on_mount(self) -> None:
        self._shown: list[EntryView] = []

    def queries(self) -> Sequence[Query]:
        return [
            Query(questions.BROWSE, {"limit": LIMIT}),
            Query(questions.AFFECT_GROUPS, {"limit": 1}),
            Query(questions.MOOD),
        ]

    def update_from(self, results: Results) -> None:
        self._draw(results.view(questions.BROWSE), results.view(questions.MOOD))
        groups = results.view(questions.AFFECT_GROUPS).groups
        self.query_one("#groups", Drawing).show(partial(_groups, groups))

    def clear(self) -> None:
        super().clear()
        self._shown = []
        self.query_one(Scatter).show((), ())

    @on(Scatter.Chosen)
    def chosen(self, event: Scatter.Chosen) -> None:
        if event.index < len(self._shown):
            self.go_to(self._shown[event.index])

    def _draw(self, memories: EntriesView, mood: MoodView) -> None:
        scatter, selected = self.query_one(Scatter), self.selected
        self._shown = [entry for entry in memories.entries if entry.affect is not None]
        marks = [_point(mood.mood.affect, sign=MOOD), _point(mood.affect.affect, sign=FELT)]
        points = [
            _point(entry.affect, entry.strength, feeling_style(entry.family))
            for entry in self._shown
            if entry.affect is not None
        ]
        scatter.show(points, marks)
        ids = [entry.id for entry in self._shown]
        scatter.chosen = at = ids.index(selected.id) if selected and selected.id in ids else -1
        if selected:
            self.select(self._shown[at] if at >= 0 else selected)
        more = memories.total - len(self._shown)
        self.show_status(
            f"{len(self._shown):,} that matter"
            + (f", {more:,} not shown" if more else "")
            + f" · {FELT} {mood.affect.feeling} · {MOOD} mood {mood.mood.feeling} · {SHAPES} weak to strong"
        )


def _point(affect: values.Affect, strength: float = 1.0, style: str = "", sign: str = "") -> Point:
    return Point((affect.valence + 1.0) / 2.0, affect.arousal, strength, style, sign)


def _groups(groups: Sequence[AffectGroupView], width: int, height: int) -> Text:
    """How many memories each kind of feeling has: a row each, or side by side where it is narrow."""
    if not groups:
        return Text("Nothing is in mind yet.", style=QUIET)
    total = f"{sum(group.count for group in groups):,} in mind"
    if width >= ROW_WIDTH:
        most = max(group.count for group in groups)
        title = cut(Text(f"kind      of {total:<15}   importance on average", style=QUIET), width)
        return Text("\n").join([title, *(_row(group, group.count / most) for group in groups)])
    lines = [Text(f"of {total}", style=QUIET)]
    for group in groups:
        part = Text.assemble((group.family, feeling_style(group.family)), (f" {group.count:,}", LOUD))
        if lines[-1] and lines[-1].cell_len + 3 + part.cell_len > width:
            lines.append(Text())
        lines[-1].append("   " if lines[-1] else "").append_text(part)
    return Text("\n").join(lines)


def _row(group: AffectGroupView, share: float) -> Text:
    return Text.assemble(
        (f"{group.family:<10}", feeling_style(group.family)),
        bar(share, 12),
        (f"{group.count:>5,}   ", LOUD),
        bar(group.average_importance, 12),
        (f" {number(group.average_importance)}", LOUD),
    )
