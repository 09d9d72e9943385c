"""`@why NAME` and `@transistors NAME`: what a character's words were made of."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import asdict

from rich.console import RenderableType
from rich.text import Text

from commands.memory_view import BAR, NAME, circumstances_line, exchanged, felt_lines, flow_rows, source_line
from commands.parse import ID, Flag, Parsed, Spec
from commands.registry import CommandContext, Reply, looking_inside
from commands.render import (
    BLANK,
    GAP,
    OTHERS,
    Flowing,
    TextColumn,
    TextRows,
    heading,
    hidden,
    quiet,
    stacked,
    warning,
)
from noodlings.drawing.marks import (
    ACCENT,
    LOUD,
    QUIET,
    ago,
    cut,
    done_without,
    feeling_text,
    level,
    measure,
    number,
    spoken_by,
    words,
)
from noodlings.errors import UserError
from noodlings.inspect.why import ModulationView, PromptView, TransistorsView, WhyView
from noodlings.text import counted, shorten
from noodlings.values.action import Action
from noodlings.values.sent_prompt import SentPrompt
from noodlings.values.tone import ToneName, ToneSource

_WHY = Spec("@why NAME [N] [--silent] [--id N] [--prompt]", (Flag("silent"), ID, Flag("prompt")), text="N")
_ADDED = "bold underline"
_KEPT = 3
"""The most unchanged words in a row that are still shown."""
_GAIN = 4
_OUTCOMES = {"passed": "nothing to add", "off": "off", "failed": "failed"}


@looking_inside(_WHY)
async def why(context: CommandContext, parsed: Parsed) -> Reply:
    """Why a character said what it said.

    Shows the last time it spoke, from end to end: what it perceived and felt, how surprising and important
    that was, what came to mind and why, the thought before and after each transistor, and anything that was
    missing. A number goes further back: 2 is the time before.

      --silent            also count the times when it said nothing
      --id N              the turn that began with this memory
      --prompt            what the model was asked in that turn, word for word

    You see its turns with you. An admin sees all turns, and the prompts as well.

    Examples:
      @why servnak
      @why servnak 3
      @why phi --silent
      @why phi --prompt
    """
    back = _whole(parsed.rest) if parsed.rest else 1
    caller, inspector = context.caller, context.inspector
    if parsed.has("id"):
        view = inspector.turn(caller, parsed.name, parsed.whole("id", 0))
    else:
        view = inspector.why(caller, parsed.name, back, parsed.has("silent"))
    percept = view.turn.percept if view.turn else None
    if parsed.has("prompt") and (percept or not caller.sees_all):
        asked = inspector.prompt(caller, parsed.name, percept.id if percept else 0)
        return Reply(asked.as_dict(), prompt_view(asked))
    return Reply(view.as_dict(), why_view(view, context.caller.sees_all))


@looking_inside(Spec("@transistors NAME"))
async def transistors(context: CommandContext, parsed: Parsed) -> Reply:
    """Show what colours a character's words: each transistor, its gain, and its last effect.

    A gain of 0 switches a transistor off, and 1 is the strongest; recipes set the gains.

    Examples:
      @transistors servnak
    """
    view = context.inspector.transistors(context.caller, parsed.name)
    return Reply(view.as_dict(), transistors_view(view, context.caller.sees_all))


def why_view(view: WhyView, sees_all: bool = True) -> RenderableType:
    """The turn in the order in which it happened.

    Args:
        sees_all: whether the caller sees the turns of everybody, and not only its own.
    """
    turn = view.turn
    if turn is None or view.affect is None:
        if sees_all:
            none = "It has said nothing yet." if view.back == 1 else "It has not had that many turns."
        else:
            yours = "It has answered you nothing yet" if view.back == 1 else "It has no such turn with you"
            none = f"{yours}; {OTHERS}."
        return stacked(heading(view.name, "why"), BLANK, quiet(none))
    when = ago(turn.percept.age) if turn.percept else ""
    speaker, heard, answered = exchanged(turn)
    parts = {name: value for name, value in asdict(view.parts).items() if value and name != "surprise"}
    by = spoken_by(turn.voice)
    steps = [Text.assemble((f"{one.step} ", QUIET), f"{one.milliseconds:.1f} ms") for one in view.steps]
    spent = f"{counted(view.calls, 'call')}, {view.tokens:,} tokens" if view.calls else ""
    return stacked(
        heading(view.name, "why", when),
        source_line(turn.percept) if turn.percept else None,
        circumstances_line(turn.percept) if turn.percept else None,
        BLANK,
        _beside(speaker, [heard]),
        _beside(view.name, [answered]),
        _action(turn.action),
        Flowing([words(part, QUIET) for part in (f"because: {turn.decision}", by, spent) if part]),
        *(warning(done_without(lost)) for lost in turn.degraded),
        BLANK,
        felt_lines(f"felt ({view.appraised_by})" if view.appraised_by else "felt", view.affect),
        _tone(view),
        Flowing([Text.assemble(("regard ", QUIET), view.regard)]) if view.regard else None,
        Flowing(
            [
                Text.assemble(("mood ", QUIET), feeling_text(turn.mood)),
                _figure("surprise", view.surprise),
                _figure("importance", view.importance),
                *(_figure(part, value) for part, value in parts.items()),
            ]
        ),
        *((BLANK, flow_rows(view.recalled)) if view.recalled else ()),
        quiet("▸ put into words") if any(item.used for item in view.recalled) else None,
        hidden(view.hidden),
        *((BLANK, *_chain(view)) if view.modulations else ()),
        *((BLANK, Flowing(steps)) if steps else ()),
    )


def _action(action: Action | None) -> RenderableType | None:
    if action is None:
        return None
    by = "by a model" if action.by == "llm" else "by rule"
    return _beside("→ does", [words(str(action)), words(f"chosen {by}", QUIET)])


_TONE_FROM = {
    ToneSource.SAID: "for what was said",
    ToneSource.RECALLED: "for what that brought back",
    ToneSource.BEFORE: "for what was told just before",
}


def _tone(view: WhyView) -> Flowing | None:
    """The tone of the answer, unless it is plain."""
    tone = view.tone
    if tone.name is ToneName.PLAIN:
        return None
    memory = "" if tone.entry_id is None else f" (#{tone.entry_id})"
    found = Text.assemble(("tone ", QUIET), str(tone.name), (f" {_TONE_FROM[tone.why]}{memory}", QUIET))
    return Flowing([found])


def transistors_view(view: TransistorsView, sees_all: bool = True) -> RenderableType:
    """Each transistor with its gain as a bar, and its last effect; `sees_all` as in `why_view`."""
    none = "no effect yet" if sees_all else "no effect yet in its talk with you"
    rows: list[tuple[Text, ...]] = []
    for one in view.transistors:
        last = one.last
        effect = words(none, QUIET) if last is None else Text(" ").join(_effect(last))
        when = Text(ago(one.age), style=QUIET) if one.age is not None else BLANK
        rows.append((words(one.transistor, LOUD), measure(one.gain, BAR), when, effect))
        if last is not None and last.lens:
            rows.append((BLANK, BLANK, BLANK, words(last.lens, QUIET)))
    columns = (
        TextColumn(most=NAME),
        TextColumn("gain", BAR + 5),
        TextColumn("when"),
        TextColumn("last effect", None),
    )
    return stacked(
        heading(view.name, "transistors", _RUN[view.chain]),
        BLANK,
        TextRows(columns, rows) if rows else quiet("It has none."),
        None if sees_all else quiet(f"{OTHERS[0].upper()}{OTHERS[1:]}."),
    )


def prompt_view(view: PromptView) -> RenderableType:
    return stacked(
        heading(view.name, f"prompts of turn {view.entry}", ago(view.age)),
        quiet(view.note) if view.note else None,
        *(line for at in range(len(view.prompts)) for line in _sent(view.prompts, at)),
    )


def _sent(prompts: Sequence[SentPrompt], at: int) -> list[RenderableType]:
    sent = prompts[at]
    lines: list[RenderableType] = [
        BLANK,
        Text.assemble((f"  {at + 1}  {sent.task}", LOUD), (f"  {sent.model}", QUIET)),
        quiet(sent.cost),
        *([warning(f"no use: {sent.failure}")] if sent.failure else []),
    ]
    if at and sent.messages == prompts[at - 1].messages:
        return [*lines, quiet("the same messages once more")]
    for message in sent.messages:
        for row, line in enumerate(message.content.split("\n")):
            name = "" if row else message.role
            spoken = [Text(word) for word in line.split()]
            lines.append(Flowing(spoken, 2 + NAME + GAP, 1, f"  {name}") if spoken or name else BLANK)
    return lines


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise UserError(f"'{shorten(text, 30)}' is not the number of a turn. Type it like this: {_WHY.usage}")
    return int(text)


_RUN = {
    "fused": "a model takes them all in one call",
    "serial": "a model takes them one by one, a call each",
    "offline": "one after the other; no model is connected",
}


def _chain(view: WhyView) -> list[RenderableType]:
    """The thought, and below it what each transistor made of it, and what the transistor read."""
    lines: list[RenderableType] = []
    if view.thought:
        lines.append(_beside("thought", [words(view.thought)], _GAIN))
    for made in view.modulations:
        lines.append(_beside(made.transistor, _effect(made), _GAIN, number(made.gain)))
        read = [
            *made.read,
            *(f"memory {entry}" for entry in made.entries),
            *(f"symbol {symbol}" for symbol in made.symbols),
            *([f"{made.hidden} not yours to read"] if made.hidden else []),
        ]
        if read:
            lines.append(_beside("", [words(f"read: {', '.join(read)}", QUIET)], _GAIN))
    return lines


def _beside(name: str, parts: Sequence[Text], gain: int = 0, shown: str = "") -> Flowing:
    """Words that wrap, with a name at their left, and between them perhaps a gain."""
    indent = 2 + NAME + GAP + (gain + GAP if gain else 0)
    lead = f"  {cut(words(name), NAME, pad=True).plain}{' ' * GAP}{shown}"
    single = [word for part in parts for word in part.split(" ")]
    return Flowing(single, indent, gap=1, lead=lead)


def _effect(made: ModulationView) -> list[Text]:
    """What is new in the thought, or why it did not change."""
    if made.how == "passed" and made.lens:
        return [words("(did not show this time)", QUIET)]
    if made.how in _OUTCOMES:
        return [words(f"({_OUTCOMES[made.how]})", QUIET)]
    if made.how == "fused":
        return [words(f"(in one call) {made.lens}", QUIET)]
    if not made.after:
        return [words("(not yours to read)", QUIET)]
    return _difference(made.before, made.after)


def _difference(before: str, after: str) -> list[Text]:
    """The words that are new in `after`, with some of the old words around them."""
    old, new = words(before).plain.split(), words(after).plain.split()
    parts: list[Text] = []
    for tag, _, _, start, end in difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if tag == "equal":
            run = new[start:end]
            parts.append(Text(" ".join(run) if len(run) <= _KEPT else "…", style=QUIET))
        elif start < end:
            parts.append(Text(" ".join(new[start:end]), style=f"{_ADDED} {ACCENT}"))
    return parts


def _figure(name: str, value: float) -> Text:
    return Text.assemble((f"{name} ", QUIET), f"{level(value)} {number(value)}")
