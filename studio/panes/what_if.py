"""What would come to mind if the mood or the question were another. Nothing of it is stored or reinforced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.widgets import Input

from noodlings.drawing.marks import ACCENT, LOUD, QUIET, bar, feeling_text, number, words
from noodlings.inspect import questions
from studio.panes.base import Answers, Ask
from studio.panes.detail import Detail
from studio.panes.memory_pane import MemoryPane
from studio.source import Refused
from studio.widgets.lines import Remark
from studio.widgets.marks import AXES
from studio.widgets.sliders import Slider, Sliders
from studio.widgets.table import Column, Table

if TYPE_CHECKING:
    from noodlings.inspect.mood import MoodView
    from noodlings.inspect.recall import ArchiveView, RecallView
    from noodlings.inspect.views import AlikeView, EntryView

NOW, THEN = "now", "then"
MOST = 10
"""Memories that come to mind at once."""
SLIDERS = (Slider(AXES[0], -1.0), *(Slider(axis) for axis in AXES[1:]), Slider("mood counts"))
EVERY = 0.5
"""Seconds between two looks at how far a long memory is loaded."""
WEIGHT = 0.3
"""How much mood counts beside the question at first."""
COLUMNS = (
    Column("", "", 4),
    Column("", "score", 8),
    Column("", "feeling", 10),
    Column("", "who", 6, least=60),
    Column("", "text", None),
)
NEW, GONE, SAME, UP, DOWN = "new", "gone", "=", "↑", "↓"


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that comes to mind, and its score, 0…1."""

    score: float
    entry: EntryView


@dataclass(frozen=True, slots=True)
class Found:
    """What comes to mind, whichever question it answers.

    Attributes:
        feeling: that it was asked with.
        least: words for how alike something must have felt.
        archive: how far that is loaded, where it was looked through.
    """

    feeling: str
    hits: list[Hit]
    least: str
    archive: ArchiveView | None = None


class Asked(Input):
    """What one would be asked; escape empties it, down goes to the sliders."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave(True)", "In the question: empty it and leave", show=False),
        Binding("down", "leave(False)", show=False),
    ]

    def action_leave(self, empty: bool) -> None:
        """Go over to the sliders."""
        if empty:
            self.value = ""
        self.screen.query_one(Sliders).focus()


class WhatIf(MemoryPane):
    """A question, a mood on sliders, and what would come to mind beside what does now."""

    TITLE = "What if"
    ABOUT: ClassVar[str] = (
        "Move the feeling with the arrows or the mouse, or ask a question after /, and see at once what "
        f"would come to mind: {UP} and {DOWN} say by how many places sooner or later than now, {NEW} what "
        f"would not come now, {GONE} what would no longer. Without a question, memories come by how alike "
        "they felt; with one, by words and meaning, and the last slider says how much mood counts. "
        "Backspace goes back to how it feels now. Nothing of this is stored."
    )
    DEFAULT_CSS = """
    WhatIf Asked.-textual-compact { padding: 0 1; background: $surface; }
    WhatIf Asked.-textual-compact:focus { background: $primary 25%; }
    WhatIf Sliders { margin: 0 0 1 0; }
    WhatIf Table { height: 1fr; min-height: 4; }
    WhatIf Detail { height: 26%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "ask", "Ask a question", key_display="/"),
        Binding("backspace", "as_it_is", "Reset", key_display="bksp"),
    ]

    def compose(self) -> ComposeResult:
        """Question, sliders, what would come; the memory under the cursor."""
        with Container(id="split"):
            with Vertical(id="main-part"):
                yield Asked(placeholder="/ to ask a question", compact=True)
                yield Sliders(SLIDERS)
                yield Table(COLUMNS)
                yield Remark()
            yield Detail()

    def on_mount(self) -> None:
        """It begins with how things are."""
        self._feeling: list[float] | None = None
        self._moved = False
        self._found: dict[str, AlikeView | RecallView | Refused] = {}
        self._rows: list[Hit] = []
        self._said = ""
        self._in_part = False
        self._loading = self.set_interval(EVERY, self._ask_how_far, pause=True)

    def focus_first(self) -> None:
        """The sliders; the question has a key of its own."""
        self.query_one(Sliders).focus()

    def asks(self) -> Sequence[Ask]:
        """What is felt now; the rest follows from that."""
        return [Ask(questions.MOOD)]

    def update_from(self, answers: Answers) -> None:
        """What is felt, or what would come to mind; two answers make one picture."""
        self.take_links(answers)
        mood, archive = answers.find(questions.MOOD), answers.find(questions.ARCHIVE)
        if mood is not None:
            self._take_mood(mood)
        self._found |= {key: answers[key] for key in (NOW, THEN) if key in answers}
        if self._found.keys() == {NOW, THEN}:
            self._draw(self._found[NOW], self._found[THEN])
        if archive is not None:
            self._take_how_far(archive)

    def clear(self) -> None:
        """Nothing of the agent before stays."""
        super().clear()
        self._feeling, self._moved, self._found, self._rows = None, False, {}, []
        self._loading.pause()
        self.query_one(Sliders).put([slider.low for slider in SLIDERS])
        self.query_one(Table).begin(0)
        self.query_one(Remark).say("")

    @on(Sliders.Changed)
    def changed(self, event: Sliders.Changed) -> None:
        """Look again."""
        self._moved = True
        self._look()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Look again, with each character."""
        self._look()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go over to what was found."""
        self.query_one(Table).focus()

    def action_ask(self) -> None:
        """Type a question."""
        self.screen.set_focus(self.query_one(Asked))  # at once: the next key is for it

    def action_as_it_is(self) -> None:
        """Go back to how it feels now."""
        self._moved = False
        if self._feeling is not None:
            self.query_one(Sliders).put([*self._feeling, WEIGHT])
        self._look()

    def on_table_moved(self, event: Table.Moved) -> None:
        """Show the memory under the cursor."""
        self.choose(self._under_cursor())

    def on_table_chosen(self, event: Table.Chosen) -> None:
        """Go over to the memory in full."""
        self.choose(self._under_cursor())
        self.detail.focus()

    def _take_mood(self, mood: MoodView | Refused) -> None:
        if isinstance(mood, Refused):
            self.query_one(Remark).say(mood.words, warning=True)
            return
        # By what was felt last memories come to mind; the mood is where that wears off to.
        self._feeling = mood.affect.affect.as_list()
        if not self._moved:
            self.query_one(Sliders).put([*self._feeling, WEIGHT])
        self._look(anew=False)

    def _look(self, anew: bool = True) -> None:
        """Ask for both sides; of an earlier asking nothing comes any more.

        Args:
            anew: something else is asked than before, and what is said of that is out of date.
        """
        if self._feeling is None:
            return
        self._found = {}
        *feeling, weight = self.query_one(Sliders).values
        question = self.query_one(Asked).value.strip()
        self._loading.pause()
        if question:
            if anew:
                self._tell("looking …", None)
            self._loading.resume()
        pairs = ((NOW, self._feeling, WEIGHT), (THEN, feeling, weight))
        self.want(*(self._ask(name, question, felt, weighs) for name, felt, weighs in pairs))

    def _ask(self, name: str, question: str, feeling: Sequence[float], weight: float) -> Ask:
        if not question:
            return Ask(questions.ALIKE, {"affect": list(feeling), "limit": MOST}, name)
        how = {"query": question, "limit": MOST, "mood": list(feeling), "emotion_weight": weight}
        return Ask(questions.RECALL, how, name)

    def _ask_how_far(self) -> None:
        """A question waits for a memory that is still to be loaded, or was answered by a part of it."""
        if self.is_on_screen:
            self.want(Ask(questions.ARCHIVE))

    def _take_how_far(self, archive: ArchiveView | Refused) -> None:
        """Once all is loaded, look again where only a part of it was looked through."""
        if isinstance(archive, Refused):
            self.query_one(Remark).say(archive.words, warning=True)
        elif self._found.keys() != {NOW, THEN}:
            self._tell("looking …", archive)
        elif self._in_part and archive.loaded:
            self._look()
        elif self._in_part:
            self._tell(self._said, archive)

    def _tell(self, what: str, archive: ArchiveView | None) -> None:
        """Say something, and before it how much is loaded where that is not all."""
        self._said = what
        if archive is not None and not archive.loaded:
            what = f"{archive.entries:,} of {archive.perceived:,} memories are loaded: {what}"
        self.query_one(Remark).say(what)

    def _draw(self, now: AlikeView | RecallView | Refused, then: AlikeView | RecallView | Refused) -> None:
        table = self.query_one(Table)
        if isinstance(now, Refused) or isinstance(then, Refused):
            self._loading.pause()
            refused = [one.words for one in (now, then) if isinstance(one, Refused)]
            self.query_one(Remark).say(refused[0], warning=True)
            return
        found = _found(then)
        before, after = _found(now).hits, found.hits
        places = {hit.entry.id: at for at, hit in enumerate(before)}
        known = {hit.entry.id for hit in after}
        gone = [hit for hit in before if hit.entry.id not in known]
        signs = [_sign(places.get(hit.entry.id), at) for at, hit in enumerate(after)]
        signs += [Text(GONE, style=QUIET)] * len(gone)
        self._rows = [*after, *gone]
        table.begin(len(self._rows))
        table.hand(
            {at: _cells(sign, hit) for at, (sign, hit) in enumerate(zip(signs, self._rows, strict=True))}
        )
        fresh = sum(hit.entry.id not in places for hit in after)
        archive = found.archive
        self._in_part = archive is not None and not archive.loaded
        if not self._in_part:
            self._loading.pause()
        self._tell(
            f"feeling {found.feeling}: {len(after)} come to mind, {fresh} of them new{found.least}", archive
        )
        self.select(self._under_cursor())

    def _under_cursor(self) -> EntryView | None:
        at = self.query_one(Table).cursor
        return self._rows[at].entry if at < len(self._rows) else None


def _found(answer: AlikeView | RecallView) -> Found:
    from noodlings.inspect.views import AlikeView  # with the first answer it is there

    if isinstance(answer, AlikeView):
        hits = [Hit(one.similarity, one.entry) for one in answer.entries]
        least = f", all at least {number(answer.min_similarity)} alike"
        return Found(answer.current.feeling, hits, least)
    hits = [Hit(one.score, one.entry) for one in answer.memories]
    return Found(answer.mood.feeling if answer.mood is not None else "unknown", hits, "", answer.archive)


def _sign(before: int | None, now: int) -> Text:
    if before is None:
        return Text(NEW, style=f"{LOUD} {ACCENT}")
    if before == now:
        return Text(SAME, style=QUIET)
    return Text(f"{UP if now < before else DOWN}{abs(now - before)}", style=LOUD)


def _cells(sign: Text, hit: Hit) -> list[Text]:
    entry, quiet = hit.entry, QUIET if sign.plain == GONE else ""
    return [
        sign,
        Text.assemble(bar(hit.score, 3, quiet or ACCENT), f" {number(hit.score)}"),
        feeling_text(entry.feeling, entry.family),
        words(entry.name, quiet),
        words(entry.text, quiet),
    ]
