"""What would come to mind with another mood or question. Nothing of it is stored or reinforced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from noodlings.drawing.marks import ACCENT, LOUD, QUIET, feeling_text, measure, number, words
from noodlings.inspect import questions
from studio.panes.base import Query, Results
from studio.panes.memory_pane import MemoryPane
from studio.widgets.inputs import LineInput
from studio.widgets.lines import StatusLine
from studio.widgets.marks import AXES
from studio.widgets.sliders import Slider, Sliders
from studio.widgets.table import Column, Table

if TYPE_CHECKING:
    from noodlings.inspect.mood import MoodView
    from noodlings.inspect.recall import ArchiveView, RecallView
    from noodlings.inspect.views import AlikeView, EntryView

NOW, THEN = "now", "then"
"""Keys of the results: what comes to mind now, and what would."""
LIMIT = 10
"""Memories that come to mind at once."""
SLIDERS = (Slider(AXES[0], -1.0), *(Slider(axis) for axis in AXES[1:]), Slider("mood counts"))
POLL_SECONDS = 0.5
"""Between two questions about how much of a long memory is loaded."""
WEIGHT = 0.3
"""How much mood counts beside the question at first."""
COLUMNS = (
    Column("", "", 4),
    Column("", "score", 8),
    Column("", "feeling", 10),
    Column("", "who", 6, min_table_width=60),
    Column("", "text", None),
)
NEW, GONE, SAME, UP, DOWN = "new", "gone", "=", "↑", "↓"


@dataclass(frozen=True, slots=True)
class Found:
    """What comes to mind, by feeling or by a question.

    Attributes:
        feeling: the one that was asked with.
        hits: memories with their scores, 0…1.
        least: words for how alike something must have felt.
        archive: how much of it is loaded, if it was searched.
    """

    feeling: str
    hits: list[tuple[float, EntryView]]
    least: str
    archive: ArchiveView | None = None


class WhatIf(MemoryPane):
    """A question, a mood on sliders, and what would come to mind, compared with what does now."""

    TITLE = "What if"
    ABOUT: ClassVar[str] = (
        "Move the feeling with the arrows or the mouse, or ask a question after /, and see at once what "
        f"would come to mind: {UP} and {DOWN} show how many places a memory moves; {NEW} marks what would "
        f"not come now, {GONE} what would no longer come. Without a question, memories come by how alike "
        "they felt; with one, by words and meaning, and the last slider says how much mood counts. "
        "Backspace goes back to how it feels now. Nothing of this is stored."
    )
    DEFAULT_CSS = """
    WhatIf Sliders { margin: 0 0 1 0; }
    WhatIf Table { height: 1fr; min-height: 4; }
    WhatIf Detail { height: 26%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "type", "Ask a question", key_display="/"),
        Binding("backspace", "reset", "Reset", key_display="bksp"),
    ]

    def compose_main(self) -> ComposeResult:
        yield LineInput("/ to ask a question", "Sliders", clears=True)
        yield Sliders(SLIDERS)
        yield Table(COLUMNS)
        yield StatusLine()

    def on_mount(self) -> None:
        self._feeling: list[float] | None = None  # as it is now
        self._moved = False  # the user has set a slider
        self._found = Results()
        self._status = ""
        self._partial = False  # only a part of the memory was searched
        self._polling = self.set_interval(POLL_SECONDS, self._poll_archive, pause=True)

    @property
    def _sliders(self) -> Sliders:
        return self.query_one(Sliders)

    def focus_first(self) -> None:
        self._sliders.focus()

    def queries(self) -> Sequence[Query]:
        """What is felt now. The queries for memories depend on the answer."""
        return [Query(questions.MOOD)]

    def update_from(self, results: Results) -> None:
        if questions.MOOD.name in results:
            self._take_mood(results.view(questions.MOOD))
        if questions.ARCHIVE.name in results:
            self._take_archive(results.view(questions.ARCHIVE))

    def receive(self, results: Results) -> None:
        if results.keys() & {NOW, THEN}:
            self._take_found(results)
        else:
            super().receive(results)

    def clear(self) -> None:
        super().clear()
        self._feeling, self._moved, self._found = None, False, Results()
        self._polling.pause()
        self._sliders.set_values([slider.low for slider in SLIDERS])

    @on(Sliders.Changed)
    def changed(self) -> None:
        self._moved = True
        self._search()

    def on_input_changed(self) -> None:
        self._search()

    def on_input_submitted(self) -> None:
        self.table.focus()

    def action_reset(self) -> None:
        self._moved = False
        if self._feeling is not None:
            self._sliders.set_values([*self._feeling, WEIGHT])
        self._search()

    def _take_mood(self, mood: MoodView) -> None:
        # Memories come to mind by what was felt last, not by the mood, which it wears off to.
        self._feeling = mood.affect.affect.as_list()
        if not self._moved:
            self._sliders.set_values([*self._feeling, WEIGHT])
        self._search(changed=False)

    def _search(self, changed: bool = True) -> None:
        """Ask what comes to mind now, and what would.

        Args:
            changed: the question or the feeling is another one, so the status is out of date.
        """
        if self._feeling is None:
            return
        self._found = Results()
        *feeling, weight = self._sliders.values
        question = self.query_one(LineInput).value.strip()
        self._polling.pause()
        if question:
            if changed:
                self._show_progress("looking …", None)
            self._polling.resume()
        self.ask(_query(NOW, question, self._feeling, WEIGHT), _query(THEN, question, feeling, weight))

    def _take_found(self, results: Results) -> None:
        """Draw as soon as both answers are there."""
        self._found |= results
        if self._found.keys() != {NOW, THEN}:
            return
        if self._found.failure:
            self._polling.pause()
            self.show_failure(self._found.failure)
        else:
            self._draw(_hits(self._found[NOW]), _hits(self._found[THEN]))

    def _poll_archive(self) -> None:
        if self.is_on_screen:
            self.ask(Query(questions.ARCHIVE))

    def _take_archive(self, archive: ArchiveView) -> None:
        """Say how much is loaded, and search again once all of it is."""
        if self._found.keys() != {NOW, THEN}:
            self._show_progress("looking …", archive)
        elif self._partial and archive.loaded:
            self._search()
        elif self._partial:
            self._show_progress(self._status, archive)

    def _show_progress(self, status: str, archive: ArchiveView | None) -> None:
        """Show a status, after how much is loaded unless all is."""
        self._status = status
        if archive is not None and not archive.loaded:
            status = f"{archive.entries:,} of {archive.perceived:,} memories are loaded: {status}"
        self.show_status(status)

    def _draw(self, now: Found, then: Found) -> None:
        places = {entry.id: at for at, (_, entry) in enumerate(now.hits)}
        coming = {entry.id for _, entry in then.hits}
        gone = [(score, entry) for score, entry in now.hits if entry.id not in coming]
        rows = [
            _cells(_change(places.get(entry.id), at), score, entry)
            for at, (score, entry) in enumerate(then.hits)
        ]
        rows += [_cells(Text(GONE, style=QUIET), score, entry, QUIET) for score, entry in gone]
        entries = {at: entry for at, (_, entry) in enumerate([*then.hits, *gone])}
        new = len(coming - places.keys())
        self._partial = then.archive is not None and not then.archive.loaded
        if not self._partial:
            self._polling.pause()
        self._show_progress(
            f"feeling {then.feeling}: {len(then.hits)} come to mind ({new} new){then.least}",
            then.archive,
        )
        self.show_rows(rows, entries)


def _query(key: str, question: str, feeling: Sequence[float], weight: float) -> Query:
    if not question:
        return Query(questions.ALIKE, {"affect": list(feeling), "limit": LIMIT}, key)
    arguments = {"query": question, "limit": LIMIT, "mood": list(feeling), "emotion_weight": weight}
    return Query(questions.RECALL, arguments, key)


def _hits(answer: AlikeView | RecallView) -> Found:
    from noodlings.inspect.views import AlikeView  # already imported with the answer

    if isinstance(answer, AlikeView):
        hits = [(one.similarity, one.entry) for one in answer.entries]
        return Found(answer.current.feeling, hits, f", ≥ {number(answer.min_similarity)} alike")
    hits = [(one.score, one.entry) for one in answer.memories]
    return Found(answer.mood.feeling if answer.mood is not None else "unknown", hits, "", answer.archive)


def _change(before: int | None, now: int) -> Text:
    """How much sooner or later a memory comes."""
    if before is None:
        return Text(NEW, style=f"{LOUD} {ACCENT}")
    if before == now:
        return Text(SAME, style=QUIET)
    return Text(f"{UP if now < before else DOWN}{abs(now - before)}", style=LOUD)


def _cells(change: Text, score: float, entry: EntryView, style: str = "") -> list[Text]:
    return [
        change,
        measure(score, 3, style or ACCENT),
        feeling_text(entry),
        words(entry.name, style),
        words(entry.text, style),
    ]
