"""What memories felt like: in a plane of valence and arousal, and by the sort of feeling."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical

from noodlings.drawing.marks import LOUD, QUIET, bar, cut, feeling_style, number
from noodlings.inspect import questions
from studio.panes.base import Answers, Ask
from studio.panes.detail import Detail
from studio.panes.memory_pane import MemoryPane
from studio.widgets.lines import Remark
from studio.widgets.marks import Drawing, share
from studio.widgets.scatter import SHAPES, Point, Scatter

if TYPE_CHECKING:
    import noodlings.values.affect as values
    from noodlings.inspect.mood import MoodView
    from noodlings.inspect.views import AffectGroupView, EntriesView, EntryView, FeltView

MOST = 500
"""Memories in the plane, the most important ones."""
FELT, MOODED = "◆", "◇"
CORNERS = ("tense", "excited", "low", "calm")
ENDS = ("unpleasant", "pleasant", "aroused", "quiet")
ROWS = 66
"""Cells from which groups have a row each."""


class Affect(MemoryPane):
    """Episodic memory by what was felt."""

    TITLE = "Affect"
    ABOUT: ClassVar[str] = (
        "The memories that matter, by what they felt like, a mark for each: unpleasant on the left, "
        "pleasant on the right, quiet at the bottom, aroused at the top. Marks that would cover one "
        "another stand side by side; each corner says how many are in its quarter. The shape says how "
        f"strong a memory is now, from {SHAPES[0]} to {SHAPES[-1]}. {FELT} is what the agent felt last, "
        f"{MOODED} its mood. Below, how many memories there are of each kind of feeling, and how important "
        "they are on average."
    )
    DEFAULT_CSS = """
    Affect Scatter { height: 1fr; margin: 0 1; }
    Affect #groups { padding: 0 1; }
    Affect Detail { height: 32%; }
    """

    def compose(self) -> ComposeResult:
        """The plane over the groups, and the memory that is chosen."""
        with Container(id="split"):
            with Vertical(id="main-part"):
                yield Scatter(CORNERS, ENDS)
                yield Remark()
                yield Drawing(id="groups")
            yield Detail()

    def on_mount(self) -> None:
        """Nothing is known yet."""
        self._entries: list[EntryView] = []

    def asks(self) -> Sequence[Ask]:
        """The memories, their groups, and what is felt now."""
        return [
            Ask(questions.BROWSE, {"limit": MOST}),
            Ask(questions.AFFECT_GROUPS, {"limit": 1}),
            Ask(questions.MOOD),
        ]

    def update_from(self, answers: Answers) -> None:
        """The plane, or links of the memory that is chosen."""
        self.take_links(answers)
        if answers.find(questions.BROWSE) is None:
            return
        if answers.refused:
            self.query_one(Remark).say(answers.refused, warning=True)
            return
        self._draw(answers.view(questions.BROWSE), answers.view(questions.MOOD))
        groups = answers.view(questions.AFFECT_GROUPS).groups
        self.query_one("#groups", Drawing).show(partial(_groups, groups))

    def clear(self) -> None:
        """Nothing of the agent before stays."""
        super().clear()
        self._entries = []
        self.query_one(Scatter).show((), ())
        self.query_one("#groups", Drawing).show(None)
        self.query_one(Remark).say("")

    @on(Scatter.Chosen)
    def chosen(self, event: Scatter.Chosen) -> None:
        """Show the memory."""
        if event.index < len(self._entries):
            self.choose(self._entries[event.index])

    def _draw(self, memories: EntriesView, mood: MoodView) -> None:
        scatter = self.query_one(Scatter)
        known = self.chosen_entry
        self._entries = [entry for entry in memories.entries if entry.affect is not None]
        marks = [_mark(mood.mood, MOODED), _mark(mood.affect, FELT)]
        scatter.show([_point(one, one.affect) for one in self._entries if one.affect is not None], marks)
        numbers = [entry.id for entry in self._entries]
        scatter.chosen = at = numbers.index(known.id) if known and known.id in numbers else -1
        if known:
            self.select(self._entries[at] if at >= 0 else known)
        felt = mood.affect
        more = memories.total - len(self._entries)
        beside = f" · {more:,} more not shown" if more else ""
        self.query_one(Remark).say(
            f"{len(self._entries):,} that matter, a mark each · {SHAPES} weak to strong · "
            f"{FELT} felt: {felt.feeling} · {MOODED} mood: {mood.mood.feeling}{beside}"
        )


def _point(entry: EntryView, affect: values.Affect) -> Point:
    style = feeling_style(entry.family)
    return Point(share("valence", affect.valence), affect.arousal, entry.strength, style)


def _mark(felt: FeltView, sign: str) -> Point:
    affect = felt.affect
    return Point(share("valence", affect.valence), affect.arousal, sign=sign)


def _groups(groups: Sequence[AffectGroupView], width: int, height: int) -> Text:
    """How many there are of each sort: a row each, or beside one another where it is narrow."""
    if not groups:
        return Text("nothing is in mind yet", style=QUIET)
    if width < ROWS:
        return _beside(groups, width)
    most, total = max(group.count for group in groups), sum(group.count for group in groups)
    title = cut(Text(f"kind      of {f'{total:,} in mind':<15}   importance on average", style=QUIET), width)
    return Text("\n").join([title, *(_row(group, group.count / most) for group in groups)])


def _row(group: AffectGroupView, share_of_most: float) -> Text:
    return Text.assemble(
        (f"{group.family:<10}", feeling_style(group.family)),
        bar(share_of_most, 12),
        (f"{group.count:>5,}   ", LOUD),
        bar(group.average_importance, 12),
        (f" {number(group.average_importance)}", LOUD),
    )


def _beside(groups: Sequence[AffectGroupView], width: int) -> Text:
    lines = [Text(f"of {sum(group.count for group in groups):,} in mind", style=QUIET)]
    for group in groups:
        part = Text.assemble((group.family, feeling_style(group.family)), (f" {group.count:,}", LOUD))
        if lines[-1] and lines[-1].cell_len + 3 + part.cell_len > width:
            lines.append(Text())
        lines[-1].append("   " if lines[-1] else "").append_text(part)
    return Text("\n").join(lines)
