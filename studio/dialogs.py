"""What opens above everything else: a question, help, or the note of a memory. Escape closes each.

A note is shown as it is meant to be read: its words first, then the facts from its front matter. Front matter
that cannot be read is left out; the words are shown in any case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.validation import Number
from textual.widgets import Button, Input, Static

from noodlings.drawing.marks import ACCENT, LOUD, QUIET
from noodlings.text import clean
from studio.widgets.lines import Remark

if TYPE_CHECKING:
    from textual.dom import DOMNode

    from studio.panes.base import Pane


FENCE = "---"
FACTS = ("id", "time", "kind", "place", "feeling", "importance", "affect")
"""Of the head; the rest of it is what programs need."""
NAMES = 12
"""Cells of the name of a fact."""


def parted(markdown: str) -> tuple[str, Text]:
    """The words of a note as Markdown, and its facts as lines."""
    head, words = _split(markdown)
    facts = _read(head)
    lines = [Text.assemble((name.ljust(NAMES), QUIET), (told, LOUD)) for name, told in _told(facts)]
    return words, Text("\n").join(lines)


def _split(markdown: str) -> tuple[str, str]:
    lines = markdown.split("\n")
    if lines[0].strip() == FENCE:
        for at, line in enumerate(lines[1:], 1):
            if line.strip() == FENCE:
                return "\n".join(lines[1:at]), "\n".join(lines[at + 1 :])
    return "", markdown


def _read(head: str) -> Mapping[str, Any]:
    import yaml  # with the first note

    try:
        facts = yaml.safe_load(head)
    except yaml.YAMLError:
        return {}
    return facts if isinstance(facts, dict) else {}


def _told(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Names and words, numbers rounded; what is empty is left away."""
    for name in FACTS:
        told = facts.get(name)
        if isinstance(told, dict):
            told = " · ".join(f"{clean(str(part))} {_rounded(number)}" for part, number in told.items())
        if told not in (None, ""):
            yield name, _rounded(told)


def _rounded(told: object) -> str:
    return f"{told:.2f}".replace("-", "−") if isinstance(told, float) else clean(str(told))


_BOX = """
    {name} {{ align: center middle; background: $background 60%; }}
    {name} > .box {{ width: {width}; max-width: 94%; height: auto; max-height: 90%; padding: 1 2;
                     background: $surface; border: round $primary; }}
"""

AT_THE_LEFT = (
    "Everybody, each with the mood, what the last line made them feel, and how surprising the latest "
    "lines were (the last one as a number from 0 to 1). Below, the mood of whoever you are looking at, on "
    "its five scales: valence (unpleasant to pleasant), arousal (quiet to aroused), fear, sorrow and "
    "boredom."
)

NO_SHARE = "Enter a number from 0 to 1, such as 0.7, or nothing."


class Confirm(ModalScreen[bool]):
    """A question that is answered by yes or no; no is where one begins.

    Args:
        question: what is about to happen, and that it cannot be taken back.
    """

    CSS = (
        _BOX.format(name="Confirm", width=60)
        + """
    Confirm Horizontal { height: auto; margin-top: 1; align-horizontal: right; }
    Confirm Button { margin-left: 2; }
    """
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n", "dismiss(False)", "No"),
        Binding("y", "dismiss(True)", "Yes"),
    ]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        """The question and its two answers."""
        with Vertical(classes="box"):
            yield Static(Text(self._question))
            with Horizontal():
                yield Button("No (n)", id="no", variant="primary")
                yield Button("Yes (y)", id="yes", variant="error")

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Answer with the button."""
        self.dismiss(event.button.id == "yes")


class Prompt(ModalScreen[str | None]):
    """Asks for a number between 0 and 1, or nothing; None where it was closed, or nothing was changed.

    Args:
        question: what for.
        value: what it is now.
    """

    CSS = _BOX.format(name="Prompt", width=60)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Close")]

    def __init__(self, question: str, value: str) -> None:
        super().__init__()
        self._question = question
        self._value = value

    def compose(self) -> ComposeResult:
        """The question above a line to type in."""
        with Vertical(classes="box"):
            yield Static(Text(self._question))
            yield Input(self._value, validators=[Number(0.0, 1.0)], valid_empty=True)
            yield Remark()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Say what is no answer as soon as it is typed."""
        sound = event.validation_result is None or event.validation_result.is_valid
        self.query_one(Remark).say("" if sound else NO_SHARE, warning=not sound)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer, once it is between 0 and 1."""
        if event.validation_result is None or event.validation_result.is_valid:
            value = event.value.strip()
            self.dismiss(value if value != self._value else None)


class Help(ModalScreen[None]):
    """What a pane shows, its keys, and those that work everywhere.

    Args:
        pane: about which.
        everywhere: the keys of the application.
    """

    CSS = _BOX.format(name="Help", width=72)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,q", "dismiss", "Close")]

    def __init__(self, pane: Pane, everywhere: Iterable[BindingType]) -> None:
        super().__init__()
        self._pane = pane
        self._everywhere = everywhere

    def compose(self) -> ComposeResult:
        """Words, then keys."""
        with VerticalScroll(classes="box"):
            yield Static(Text(self._pane.TITLE, style=LOUD))
            yield Static(Text(self._pane.ABOUT))
            parts = {type(part): None for part in self._pane.query("*") if part.focusable}
            own = list(
                _lines(binding for kind in (type(self._pane), *parts) for binding in bindings_of(kind))
            )
            if own:
                yield Static(Text("\n").join([Text("\nHere", style=QUIET), *own]))
            keys = [
                *_lines(self._everywhere),
                _line("1 … 9, 0", "Show a pane by its number"),
                _line("tab", "Over to the next part of the screen"),
                _line("ctrl+p", "Find any command by its name"),
            ]
            yield Static(Text("\n").join([Text("\nEverywhere", style=QUIET), *keys]))
            if self._pane.LABELS:
                yield Static(Text("\nA memory in full", style=QUIET))
                yield Static(Text(self._pane.LABELS))
            yield Static(Text("\nAt the left", style=QUIET))
            yield Static(Text(AT_THE_LEFT))
            yield Static(Text("\nEscape closes this.", style=QUIET))


class Note(ModalScreen[None]):
    """A note of a memory: its words, and below them what stands at the head of its file.

    Args:
        markdown: the note.
    """

    CSS = _BOX.format(name="Note", width=84)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", "Close")]

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self._markdown = markdown

    def compose(self) -> ComposeResult:
        """The note, its links not to be followed."""
        from textual.widgets import Markdown  # what reads it takes as long to import as all the panes

        with VerticalScroll(classes="box"):
            words, facts = parted(self._markdown)
            yield Markdown(words, open_links=False)
            yield Static(facts, id="facts-of-note")


def bindings_of(kind: type[DOMNode]) -> list[BindingType]:
    """The keys of a part of the studio, those from above included and those of textual's own parts not."""
    ours = [one for one in kind.__mro__ if one.__module__.startswith("studio.")]
    return [binding for one in ours for binding in vars(one).get("BINDINGS", ())]


def told_of(bindings: Iterable[BindingType]) -> Iterator[Binding]:
    """Those that have a name; a pane by its number is told otherwise."""
    for binding in bindings:
        if isinstance(binding, Binding) and binding.description and not binding.key.isdecimal():
            yield binding


def keys_of(binding: Binding) -> str:
    """The keys of a binding, as they stand on a keyboard."""
    return binding.key_display or binding.key.replace(",", " ")


def _lines(bindings: Iterable[BindingType]) -> Iterator[Text]:
    for binding in told_of(bindings):
        yield _line(keys_of(binding), binding.description)


def _line(keys: str, what: str) -> Text:
    return Text.assemble((f"  {keys:<16}", ACCENT), what)
