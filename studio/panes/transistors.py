"""The thought before and after each transistor, for one turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from noodlings.drawing.marks import ACCENT, LOUD, QUIET, ago, bar, done_without, number, spoken_by
from noodlings.inspect import questions
from noodlings.text import clean
from studio.panes.base import Answers, Ask
from studio.panes.conversation import ConversationPane
from studio.source import Refused
from studio.widgets.lines import Remark
from studio.widgets.marks import differences

if TYPE_CHECKING:
    from noodlings.inspect.views import TurnView
    from noodlings.inspect.why import ModulationView, PromptView, TransistorsView, WhyView

NAMES = 13
WORDS = {
    "fused": "fused, by a model",
    "serial": "by a model",
    "offline": "without a model",
    "passed": "nothing to add",
    "off": "off",
    "failed": "failed",
}
"""How a transistor went about it, see `noodlings.values.trace.Modulation`."""
ORDERS = {"fused": "fused in one call", "serial": "one by one", "offline": "one by one"}
"""How the chain works, or did in one turn."""


class Transistors(ConversationPane):
    """What each made of the thought, in order."""

    TITLE = "Transistors"
    ABOUT: ClassVar[str] = (
        "What each transistor made of the thought, in order: words it added are in {+…+}, words it took "
        "out in [−…−]. The bar is its gain, how strongly it is set. Below that are the feelings, memories "
        "and symbols it read. Press m to see what the model was asked, word for word."
    )
    DEFAULT_CSS = "Transistors VerticalScroll { padding: 1 2; scrollbar-size-vertical: 1; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "prompts", "Prompts"),
    ]

    def compose(self) -> ComposeResult:
        """One page, under a remark that says which turn it is."""
        with VerticalScroll():
            yield Static(id="thoughts", markup=False)
        yield Remark()

    def on_mount(self) -> None:
        """The last turn."""
        self._told: WhyView | None = None
        self._chain: TransistorsView | None = None
        self._asked: PromptView | None = None
        self._prompts = False

    def asks(self) -> Sequence[Ask]:
        """The turn, and the transistors as they are set now."""
        return [*self.conversation.asks(), Ask(questions.TRANSISTORS)]

    def update_from(self, answers: Answers) -> None:
        """Draw the turn."""
        remark, told = self.query_one(Remark), self.told_of(answers)
        if answers.refused:
            self._prompts = self._prompts and questions.PROMPT.name not in answers
            remark.say(answers.refused, warning=True)
            return
        if questions.PROMPT.name in answers:
            self._asked = answers.view(questions.PROMPT)
        if told is not None and not isinstance(told, Refused):
            self._told = told
        if questions.TRANSISTORS.name in answers:
            self._chain = answers.view(questions.TRANSISTORS)
        told, chain = self._told, self._chain
        if told is None or chain is None:
            return
        percept = told.turn.percept if told.turn else None
        if self._prompts and percept and questions.PROMPT.name not in answers:
            self.want(Ask(questions.PROMPT, {"entry_id": percept.id}))
        parts = _set_to(chain) if told.turn is None else _thoughts(told, told.turn)
        if self._prompts and percept and self._asked and self._asked.entry == percept.id:
            parts = _prompts(self._asked)
        self.query_one("#thoughts", Static).update(Group(*parts))
        remark.say(_remark(told, chain, self.conversation.place))

    def clear(self) -> None:
        """Nothing of the agent before stays."""
        self._told = self._chain = self._asked = None
        self._prompts = False
        self.query_one("#thoughts", Static).update("")
        self.query_one(Remark).say("")

    def action_prompts(self) -> None:
        """What the model was asked in this turn, or again what came of it."""
        self._prompts = not self._prompts
        self.update_from(Answers())


def _thoughts(told: WhyView, turn: TurnView) -> Iterator[RenderableType]:
    percept, response = turn.percept, turn.response
    if percept is None:
        yield Text("What was said has been forgotten.", style=QUIET)
    else:
        yield Text.assemble((f"{clean(percept.name)}  ", LOUD), clean(percept.text))
    yield Text.assemble(("\nthought  ", QUIET), clean(told.thought) or "—")
    for at, made in enumerate(told.modulations, 1):
        yield from _made(at, made)
    if not told.modulations:
        yield Text("\nNo transistor had a part in this.", style=QUIET)
    said = Text("—", style=QUIET) if response is None else Text(clean(response))
    yield Text.assemble((f"\n{clean(told.name)}  ", LOUD), said)
    if any(made.how == "fused" for made in told.modulations) and response is not None:
        yield Text("from thought to words", style=QUIET)
        yield _inset(differences(told.thought, response))
    if turn.action is not None:
        yield Text(f"→ {clean(str(turn.action))}", style=LOUD)
    for words in turn.degraded:
        yield Text(f"! {done_without(clean(words))}", style="yellow")


def _prompts(asked: PromptView) -> Iterator[RenderableType]:
    if asked.note:
        yield Text(clean(asked.note), style=QUIET)
    for at, sent in enumerate(asked.prompts, 1):
        yield Text.assemble((f"{at}  {clean(sent.task)}", LOUD), (f"  {clean(sent.model)}", QUIET))
        yield _inset(Text(sent.cost, style=QUIET))
        if sent.failure:
            yield _inset(Text(f"! not usable: {clean(sent.failure)}", style="yellow"))
        again = at > 1 and sent.messages == asked.prompts[at - 2].messages
        if again:
            yield _inset(Text("the same messages again", style=QUIET))
        for message in () if again else sent.messages:
            yield _inset(Text(f"\n{clean(message.role)}", style=ACCENT))
            yield _inset(Text("\n".join(map(clean, message.content.split("\n")))))
        yield Text()


def _made(at: int, made: ModulationView) -> Iterator[RenderableType]:
    title = _title(at, made.transistor, made.gain)
    yield title.append(f"  {WORDS.get(made.how, made.how)}", style=QUIET)
    if made.how in ("passed", "off"):
        return
    if made.lens:
        yield _inset(Text(f"“{clean(made.lens)}”", style=ACCENT))
    if made.before != made.after:
        yield _inset(differences(made.before, made.after))
    elif made.how in ("offline", "serial"):
        yield _inset(Text("the thought is unchanged", style=QUIET))
    read: list[str] = [clean(words) for words in made.read]
    read += [f"memory #{entry}" for entry in made.entries]
    read += [f"symbol {symbol}" for symbol in made.symbols]
    read += [f"{made.hidden} not yours to read"] if made.hidden else []
    if read:
        yield _inset(Text(f"read  {' · '.join(read)}", style=QUIET))


def _set_to(chain: TransistorsView) -> Iterator[RenderableType]:
    """The gains alone, for an agent that has said nothing yet."""
    yield Text("It has said nothing yet. Its transistors are set to:", style=QUIET)
    for at, one in enumerate(chain.transistors, 1):
        yield _title(at, one.transistor, one.gain)


def _title(at: int, name: str, gain: float) -> Text:
    line = Text.assemble((f"\n{at}  ", QUIET), (clean(name).ljust(NAMES), LOUD), ("gain ", QUIET))
    return line.append_text(bar(gain, 6)).append(f" {number(gain)}")


def _inset(text: Text) -> Padding:
    return Padding(text, (0, 0, 0, 3))


def _remark(told: WhyView, chain: TransistorsView, which: str) -> str:
    turn = told.turn
    if turn is None:
        by = "without a model" if chain.chain == "offline" else "by a model"
        return f"they work {ORDERS.get(chain.chain, chain.chain)}, {by}"
    when = f" · {ago(turn.percept.age)}" if turn.percept else ""
    ways = {made.how for made in told.modulations}
    worked = "".join([f" · {words}" for way, words in ORDERS.items() if way in ways][:1])
    return f"{which}{when} · {spoken_by(turn.voice) or 'silence'}{worked}"
