"""What opens above everything else: a question, help, or the note of a memory. Escape closes each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, ClassVar, TypeVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.validation import Number
from textual.widgets import Button, Input, Static

from noodlings.drawing.marks import ACCENT, LOUD, QUIET
from noodlings.text import clean
from studio.widgets.lines import StatusLine

if TYPE_CHECKING:
    from textual.dom import DOMNode

    from studio.panes.base import Pane


AGENT_LIST_HELP = (
    "Everybody, each with the mood, what the last line made them feel, and how surprising the latest "
    "lines were (the last one as a number from 0 to 1). Below, the mood of whoever you are looking at, on "
    "its five scales: valence (unpleasant to pleasant), arousal (quiet to aroused), fear, sorrow and "
    "boredom."
)


Answer = TypeVar("Answer")


class Dialog(ModalScreen[Answer]):
    """A box in the middle of the screen."""

    DEFAULT_CSS = """
    Dialog { align: center middle; background: $background 60%; }
    Dialog > .box { width: 72; max-width: 94%; height: auto; max-height: 90%; padding: 1 2;
                    background: $surface; border: round $primary; }
    """


class Confirm(Dialog[bool]):
    """A yes-or-no question; "no" has the focus."""

    DEFAULT_CSS = """
    Confirm Horizontal { height: auto; margin-top: 1; align-horizontal: right; }
    Confirm Button { margin-left: 2; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n", "dismiss(False)", "No"),
        Binding("y", "dismiss(True)", "Yes"),
    ]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(Text(self._question))
            with Horizontal():
                yield Button("No (n)", id="no", variant="primary")
                yield Button("Yes (y)", id="yes", variant="error")

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")


class Prompt(Dialog[str | None]):
    """Asks for a number between 0 and 1, or nothing. Returns None if it was closed or nothing changed."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Close")]

    def __init__(self, question: str, value: str) -> None:
        super().__init__()
        self._question = question
        self._value = value

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(Text(self._question))
            yield Input(self._value, validators=[Number(0.0, 1.0)], valid_empty=True)
            yield StatusLine()

    def on_input_changed(self, event: Input.Changed) -> None:
        message = "" if _is_valid(event) else "Enter a number from 0 to 1, such as 0.7, or nothing."
        self.query_one(StatusLine).show(message, warning=bool(message))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if _is_valid(event):
            value = event.value.strip()
            self.dismiss(value if value != self._value else None)


def _is_valid(event: Input.Changed | Input.Submitted) -> bool:
    return event.validation_result is None or event.validation_result.is_valid


class Help(Dialog[None]):
    """What a pane shows, its keys, and those of the whole application."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,q", "dismiss", "Close")]

    def __init__(self, pane: Pane, application_keys: Iterable[BindingType]) -> None:
        super().__init__()
        self._pane = pane
        self._application_keys = application_keys

    def compose(self) -> ComposeResult:
        pane = self._pane
        focusable = {type(part): None for part in pane.query("*") if part.focusable}
        own = [binding for kind in (type(pane), *focusable) for binding in bindings_of(kind)]
        everywhere = [
            *_key_lines(self._application_keys),
            _key_line("1 … 9, 0, -", "Show a pane by its place"),
            _key_line("tab", "Over to the next part of the screen"),
            _key_line("ctrl+p", "Find any command by its name"),
        ]
        sections = (
            ("Here", Text("\n").join(_key_lines(own))),
            ("Everywhere", Text("\n").join(everywhere)),
            ("A memory in full", Text(pane.LABELS)),
            ("At the left", Text(AGENT_LIST_HELP)),
        )
        with VerticalScroll(classes="box"):
            yield Static(Text.assemble((pane.TITLE, LOUD), "\n", pane.ABOUT))
            for title, text in sections:
                if text:
                    yield Static(Text.assemble((f"\n{title}\n", QUIET), text))
            yield Static(Text("\nEscape closes this.", style=QUIET))


class Note(Dialog[None]):
    """The note of a memory: its text, and below that the facts from the front matter of the file."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", "Close")]

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self._markdown = markdown

    def compose(self) -> ComposeResult:
        from markdown_it import MarkdownIt  # importing this takes as long as importing all panes
        from textual.widgets import Markdown

        text, facts = split_note(shown := shorter_note(self._markdown))
        with VerticalScroll(classes="box"):
            # No note of ours has a table, and one of another server may have any number of columns.
            yield Markdown(text, parser_factory=partial(MarkdownIt, "commonmark"), open_links=False)
            if shown != self._markdown:
                length = f"{len(self._markdown):,} characters"
                yield Static(Text(f"The note goes on; it is too long to show: {length}.", LOUD))
            yield Static(facts)


FENCE = "---"
FACTS = ("id", "time", "kind", "place", "feeling", "importance", "affect")
"""The part of the front matter that is shown."""


MOST_CHARACTERS = 64_000
MOST_LINES = 1_000
"""As much of a note is shown: drawing takes time for each line, and a server may send millions."""


def shorter_note(markdown: str) -> str:
    """As much of a note as is shown."""
    return "\n".join(markdown[:MOST_CHARACTERS].split("\n", MOST_LINES)[:MOST_LINES])


def split_note(markdown: str) -> tuple[str, Text]:
    """The Markdown text of a note, and its facts as lines. There are none if they cannot be read."""
    import yaml  # with the first note

    from noodlings.validation import read_yaml

    lines = markdown.split("\n")
    fences = [at for at, line in enumerate(lines) if line.strip() == FENCE]
    if len(fences) < 2 or fences[0] != 0:
        return markdown, Text()
    try:
        facts = read_yaml("\n".join(lines[1 : fences[1]]), aliases=False)
    except yaml.YAMLError:
        facts = None
    shown = []
    for name in FACTS if isinstance(facts, dict) else ():
        value = facts.get(name)
        if isinstance(value, dict):
            parts = (f"{clean(str(part))} {_rounded(one)}" for part, one in value.items() if _is_plain(one))
            value = " · ".join(parts)
        if _is_plain(value) and value != "":
            shown.append(Text.assemble((f"{name:<12}", QUIET), (_rounded(value), LOUD)))
    return "\n".join(lines[fences[1] + 1 :]), Text("\n").join(shown)


def _is_plain(value: object) -> bool:
    """Whether it is no list, nor anything else that may hold more than can be shown."""
    return isinstance(value, str | int | float | date)


def _rounded(value: object) -> str:
    return f"{value:.2f}".replace("-", "−") if isinstance(value, float) else clean(str(value))


def bindings_of(kind: type[DOMNode]) -> list[BindingType]:
    """The keys of a part of the studio, with those it inherits from us but not those from textual."""
    ours = [one for one in kind.__mro__ if one.__module__.startswith("studio.")]
    return [binding for one in ours for binding in vars(one).get("BINDINGS", ())]


def named_bindings(bindings: Iterable[BindingType]) -> Iterator[Binding]:
    """The keys that have a description, without those of the panes."""
    for binding in bindings:
        if isinstance(binding, Binding) and binding.description and not binding.action.startswith("pane("):
            yield binding


def key_names(binding: Binding) -> str:
    return binding.key_display or binding.key.replace(",", " ")


def _key_lines(bindings: Iterable[BindingType]) -> Iterator[Text]:
    for binding in named_bindings(bindings):
        yield _key_line(key_names(binding), binding.description)


def _key_line(keys: str, what: str) -> Text:
    return Text.assemble((f"  {keys:<16}", ACCENT), what)
