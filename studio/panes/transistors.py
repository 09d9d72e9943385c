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

from noodlings.drawing.marks import ACCENT, LOUD, QUIET, ago, done_without, measure, spoken_by
from noodlings.errors import NoodlingsError
from noodlings.inspect import questions
from noodlings.text import clean
from studio.panes.base import Query, Results
from studio.panes.conversation import ConversationPane
from studio.widgets.lines import StatusLine
from studio.widgets.marks import differences

if TYPE_CHECKING:
    from noodlings.inspect.views import TurnView
    from noodlings.inspect.why import ModulationView, PromptView, TransistorsView, WhyView

NAME_WIDTH = 13
METHODS = {
    "fused": "fused, by a model",
    "serial": "by a model",
    "offline": "without a model",
    "passed": "nothing to add",
    "off": "off",
    "failed": "failed",
}
"""How a transistor worked, see `noodlings.values.trace.Modulation`."""
CHAINS = {"fused": "fused in one call", "serial": "one by one", "offline": "one by one"}
"""How the whole chain works, or did in one turn."""


class Transistors(ConversationPane):
    """What each transistor made of the thought, in order."""

    TITLE = "Transistors"
    ABOUT: ClassVar[str] = (
        "What each transistor made of the thought, in order: words it added are in {+…+}, words it took "
        "out in [−…−]. The bar is its gain, how strongly it is set. Below that are the feelings, memories "
        "and symbols it read. Press m to see what the model was asked, word for word."
    )
    DEFAULT_CSS = "Transistors VerticalScroll { padding: 1 2; scrollbar-size-vertical: 1; }"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("m", "prompts", "Prompts")]

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static(id="thoughts", markup=False)
        yield StatusLine()

    def on_mount(self) -> None:
        self._why: WhyView | None = None
        self._chain: TransistorsView | None = None
        self._prompt: PromptView | None = None
        self._show_prompts = False

    def queries(self) -> Sequence[Query]:
        return [*self.conversation.queries(), Query(questions.TRANSISTORS)]

    def update_from(self, results: Results) -> None:
        why = self.find_turn(results)
        if results.failure:
            self._show_prompts = self._show_prompts and questions.PROMPT.name not in results
            self.show_failure(results.failure)
            return
        if questions.PROMPT.name in results:
            self._prompt = results.view(questions.PROMPT)
        if why is not None and not isinstance(why, NoodlingsError):
            self._why = why
        if questions.TRANSISTORS.name in results:
            self._chain = results.view(questions.TRANSISTORS)
        why, chain, prompt = self._why, self._chain, self._prompt
        if why is None or chain is None:
            return
        percept = why.turn.percept if why.turn else None
        if self._show_prompts and percept and questions.PROMPT.name not in results:
            self.ask(Query(questions.PROMPT, {"entry_id": percept.id}))
        parts = _gains(chain) if why.turn is None else _thoughts(why, why.turn)
        if self._show_prompts and percept and prompt and prompt.entry == percept.id:
            parts = _prompts(prompt)
        self.query_one("#thoughts", Static).update(Group(*parts))
        self.show_status(_status(why, chain, self.conversation.position))

    def clear(self) -> None:
        super().clear()
        self._why = self._chain = self._prompt = None
        self._show_prompts = False
        self.query_one("#thoughts", Static).update("")

    def action_prompts(self) -> None:
        self._show_prompts = not self._show_prompts
        self.update_from(Results())


def _thoughts(why: WhyView, turn: TurnView) -> Iterator[RenderableType]:
    percept, response = turn.percept, turn.response
    if percept is None:
        yield Text("What was said has been forgotten.", style=QUIET)
    else:
        yield Text.assemble((f"{clean(percept.name)}  ", LOUD), clean(percept.text))
    yield Text.assemble(("\nthought  ", QUIET), clean(why.thought) or "—")
    for at, modulation in enumerate(why.modulations, 1):
        yield from _modulation(at, modulation)
    if not why.modulations:
        yield Text("\nNo transistor had a part in this.", style=QUIET)
    said = Text("—", style=QUIET) if response is None else Text(clean(response))
    yield Text.assemble((f"\n{clean(why.name)}  ", LOUD), said)
    if any(one.how == "fused" for one in why.modulations) and response is not None:
        yield Text("from thought to words", style=QUIET)
        yield _indented(differences(why.thought, response))
    if turn.action is not None:
        yield Text(f"→ {clean(str(turn.action))}", style=LOUD)
    for missing in turn.degraded:
        yield Text(f"! {done_without(clean(missing))}", style="yellow")


def _prompts(prompt: PromptView) -> Iterator[RenderableType]:
    if prompt.note:
        yield Text(clean(prompt.note), style=QUIET)
    for at, sent in enumerate(prompt.prompts, 1):
        yield Text.assemble((f"{at}  {clean(sent.task)}", LOUD), (f"  {clean(sent.model)}", QUIET))
        yield _indented(Text(sent.cost, style=QUIET))
        if sent.failure:
            yield _indented(Text(f"! not usable: {clean(sent.failure)}", style="yellow"))
        repeated = at > 1 and sent.messages == prompt.prompts[at - 2].messages
        if repeated:
            yield _indented(Text("the same messages again", style=QUIET))
        for message in () if repeated else sent.messages:
            yield _indented(Text(f"\n{clean(message.role)}", style=ACCENT))
            yield _indented(Text("\n".join(map(clean, message.content.split("\n")))))
        yield Text()


def _modulation(at: int, one: ModulationView) -> Iterator[RenderableType]:
    yield _title(at, one.transistor, one.gain).append(f"  {METHODS.get(one.how, one.how)}", style=QUIET)
    if one.how in ("passed", "off"):
        return
    if one.lens:
        yield _indented(Text(f"“{clean(one.lens)}”", style=ACCENT))
    if one.before != one.after:
        yield _indented(differences(one.before, one.after))
    elif one.how in ("offline", "serial"):
        yield _indented(Text("the thought is unchanged", style=QUIET))
    read: list[str] = [clean(part) for part in one.read]
    read += [f"memory #{entry}" for entry in one.entries]
    read += [f"symbol {symbol}" for symbol in one.symbols]
    read += [f"{one.hidden} not yours to read"] if one.hidden else []
    if read:
        yield _indented(Text(f"read  {' · '.join(read)}", style=QUIET))


def _gains(chain: TransistorsView) -> Iterator[RenderableType]:
    """The gains alone, for an agent that has said nothing yet."""
    yield Text("It has said nothing yet. Its transistors are set to:", style=QUIET)
    for at, one in enumerate(chain.transistors, 1):
        yield _title(at, one.transistor, one.gain)


def _title(at: int, name: str, gain: float) -> Text:
    line = Text.assemble((f"\n{at}  ", QUIET), (clean(name).ljust(NAME_WIDTH), LOUD), ("gain ", QUIET))
    return line.append_text(measure(gain, 6))


def _indented(text: Text) -> Padding:
    return Padding(text, (0, 0, 0, 3))


def _status(why: WhyView, chain: TransistorsView, position: str) -> str:
    turn = why.turn
    if turn is None:
        by = "without a model" if chain.chain == "offline" else "by a model"
        return f"they work {CHAINS.get(chain.chain, chain.chain)}, {by}"
    when = f" · {ago(turn.percept.age)}" if turn.percept else ""
    used = {one.how for one in why.modulations}
    worked = next((f" · {words}" for how, words in CHAINS.items() if how in used), "")
    return f"{position}{when} · {spoken_by(turn.voice) or 'silence'}{worked}"
