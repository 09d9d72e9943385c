"""The thought before and after each transistor, for one turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from noodlings.drawing.marks import ACCENT, LOUD, QUIET, ago, bar, number
from noodlings.text import clean
from studio.panes.base import Ask, Pane
from studio.source import Answer, Question
from studio.widgets.lines import Remark
from studio.widgets.marks import differences

CHAIN, TURN = "chain", "turn"
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


class Transistors(Pane):
    """What each made of the thought, in order."""

    TITLE = "Transistors"
    ABOUT: ClassVar[str] = (
        "What each transistor made of the thought, in the order in which they stand: words that it added "
        "are in {+…+}, words that it took out in [−…−]. The bar is its gain. Below are the feelings, "
        "memories and symbols that it read."
    )
    DEFAULT_CSS = "Transistors VerticalScroll { padding: 1 2; scrollbar-size-vertical: 1; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("comma", "back(1)", "Turn before", key_display=","),
        Binding("full_stop", "back(-1)", "Turn after", key_display=".", show=False),
    ]

    def compose(self) -> ComposeResult:
        """One page, under a remark that says which turn it is."""
        with VerticalScroll():
            yield Static(id="thoughts", markup=False)
        yield Remark()

    def on_mount(self) -> None:
        """The last turn."""
        self._back = 1
        self._known: dict[str, Answer] = {}

    def asks(self) -> Sequence[Ask]:
        """The turn, and the transistors as they are set now."""
        return [Ask(TURN, Question.WHY, {"back": self._back}), Ask(CHAIN, Question.TRANSISTORS)]

    def update_from(self, answers: Mapping[str, Answer]) -> None:
        """Draw the turn."""
        remark = self.query_one(Remark)
        refused = next((answer["error"] for answer in answers.values() if "error" in answer), None)
        if refused is not None:
            remark.say(refused, warning=True)
            return
        if self._back > 1 and TURN in answers and answers[TURN]["turn"] is None:
            self._back -= 1
            remark.say("there is no turn before this one", warning=True)
            return
        self._known |= answers
        if self._known.keys() < {TURN, CHAIN}:
            return
        turn, chain = self._known[TURN], self._known[CHAIN]
        parts = list(_thoughts(turn) if turn["turn"] is not None else _set_to(chain))
        self.query_one("#thoughts", Static).update(Group(*parts))
        remark.say(_remark(turn, chain, self._back))

    def clear(self) -> None:
        """Nothing of the agent before stays."""
        self._back = 1
        self._known = {}
        self.query_one("#thoughts", Static).update("")
        self.query_one(Remark).say("")

    def action_back(self, by: int) -> None:
        """The turn before, or after."""
        self._back = max(self._back + by, 1)
        self.want(self.asks()[0])


def _thoughts(turn: Mapping[str, Any]) -> Iterator[RenderableType]:
    percept, response = turn["turn"]["percept"], turn["turn"]["response"]
    if percept is None:
        yield Text("What was said has been forgotten.", style=QUIET)
    else:
        yield Text.assemble((f"{clean(percept['name'])}  ", LOUD), clean(percept["text"]))
    yield Text.assemble(("\nthought  ", QUIET), clean(turn["thought"]) or "—")
    for at, made in enumerate(turn["modulations"], 1):
        yield from _made(at, made)
    if not turn["modulations"]:
        yield Text("\nNo transistor had a part in this.", style=QUIET)
    said = Text("—", style=QUIET) if response is None else Text(clean(response))
    yield Text.assemble((f"\n{clean(turn['name'])}  ", LOUD), said)
    if any(made["how"] == "fused" for made in turn["modulations"]) and response is not None:
        yield Text("from the thought to the words", style=QUIET)
        yield _inset(differences(turn["thought"], response))
    for words in turn["turn"]["degraded"]:
        yield Text(f"! without {clean(words)}", style="yellow")


def _made(at: int, made: Mapping[str, Any]) -> Iterator[RenderableType]:
    title = _title(at, made["transistor"], made["gain"])
    yield title.append(f"  {WORDS.get(made['how'], made['how'])}", style=QUIET)
    if made["how"] in ("passed", "off"):
        return
    if made["lens"]:
        yield _inset(Text(f"“{clean(made['lens'])}”", style=ACCENT))
    if made["before"] != made["after"]:
        yield _inset(differences(made["before"], made["after"]))
    elif made["how"] in ("offline", "serial"):
        yield _inset(Text("the thought is as it was", style=QUIET))
    read: list[str] = [clean(words) for words in made["read"]]
    read += [f"memory #{entry}" for entry in made["entries"]]
    read += [f"symbol {symbol}" for symbol in made["symbols"]]
    read += [f"{made['hidden']} not yours to read"] if made["hidden"] else []
    if read:
        yield _inset(Text(f"read  {' · '.join(read)}", style=QUIET))


def _set_to(chain: Mapping[str, Any]) -> Iterator[RenderableType]:
    """The gains alone, for an agent that has said nothing yet."""
    yield Text("It has said nothing yet. Its transistors are set to:", style=QUIET)
    for at, one in enumerate(chain["transistors"], 1):
        yield _title(at, one["transistor"], one["gain"])


def _title(at: int, name: str, gain: float) -> Text:
    line = Text.assemble((f"\n{at}  ", QUIET), (clean(name).ljust(NAMES), LOUD), ("gain ", QUIET))
    return line.append_text(bar(gain, 6)).append(f" {number(gain)}")


def _inset(text: Text) -> Padding:
    return Padding(text, (0, 0, 0, 3))


def _remark(turn: Mapping[str, Any], chain: Mapping[str, Any], back: int) -> str:
    percept = turn["turn"]["percept"] if turn["turn"] is not None else None
    when = f" · {ago(percept['age'])}" if percept else ""
    which = "last turn" if back == 1 else f"{back} turns back"
    voice = f" · {turn['turn']['voice']} voice" if turn["turn"] is not None else ""
    if turn["turn"] is None:
        by = "without a model" if chain["chain"] == "offline" else "by a model"
        return f"they work {ORDERS.get(chain['chain'], chain['chain'])}, {by}"
    ways = {made["how"] for made in turn["modulations"]}
    worked = "".join([f" · {words}" for way, words in ORDERS.items() if way in ways][:1])
    return f"{which}{when}{voice}{worked}"
