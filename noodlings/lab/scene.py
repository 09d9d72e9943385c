"""Plays a scene: the thought, what each transistor makes of it in turn, and a rendering for people.

Nothing is kept. As far as the voice allows, the same scene and seed give the same words.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from noodlings.affect.appraisal import Appraiser
from noodlings.agent.perceiving import identity_salience
from noodlings.agent.recipes import read_recipe
from noodlings.errors import LLMError, NotFound, UserError
from noodlings.lab.scene_file import Memory, WrittenScene
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.memory.subconscious import SubconsciousMemory
from noodlings.mind.appetites import Appetites, Goal, shipped_drives
from noodlings.ports import Allowance, OwnLine, Utterance, Voice
from noodlings.transistors.base import DisclosedMemories, DisclosedSymbols, ThoughtState
from noodlings.transistors.chain import load_chain
from noodlings.validation import nearest
from noodlings.values.affect import Affect
from noodlings.values.audience import OPEN, confined_to
from noodlings.values.caller import display_name
from noodlings.values.memory import Symbol
from noodlings.values.percept import Percept
from noodlings.values.persona import APPETITES, ID, TRANSISTORS, Persona
from noodlings.values.trace import Modulation
from noodlings.voice.offline import OfflineVoice

NOW = 1_767_268_800.0
"""World time of every scene: noon on New Year's Day 2026, UTC."""


@dataclass(frozen=True, slots=True)
class Played:
    """A scene that was played.

    Attributes:
        persona: who spoke.
        said: what was answered.
        thought, final: before the first transistor, after the last.
        modulations: of all transistors, in order.
        entries, symbols: everything that could be read, as text, by id.
        degraded: what failed.
    """

    name: str
    persona: Persona
    said: str
    thought: str
    final: str
    modulations: tuple[Modulation, ...]
    entries: Mapping[int, str]
    symbols: Mapping[int, str]
    degraded: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """JSON-compatible."""
        return {
            "name": self.name,
            "persona": self.persona.id,
            "percept": self.said,
            "thought": self.thought,
            "modulations": [self._as_dict(modulation) for modulation in self.modulations],
            "final": self.final,
            "degraded": list(self.degraded),
        }

    def _as_dict(self, made: Modulation) -> dict[str, Any]:
        return asdict(made) | {
            "entries": [{"id": number, "text": self.entries[number]} for number in made.entries],
            "symbols": [{"id": number, "image": self.symbols[number]} for number in made.symbols],
        }


async def play(
    scene: WrittenScene,
    recipes: Mapping[str, Persona],
    folder: Path,
    voice: Voice | None = None,
    gains: Mapping[str, float] = MappingProxyType({}),
) -> Played:
    """Take the thought of a scene through the whole chain, one transistor after another.

    Args:
        recipes: personas by id.
        folder: the user's own transistors.
        voice: thinks, if the scene gives no thought, and colours the thought; the offline voice does both if
            this one fails to think, or is None.
        gains: take precedence over those of the scene, which take precedence over those of the recipe.

    Raises:
        UserError: there is no such recipe or transistor.
    """
    for named, where in ((scene.gains, "gains of the scene"), (gains, "--gain")):
        _require_transistors(named, folder, where)
    persona = _persona(scene, recipes)
    persona = replace(persona, transistors={**persona.transistors, **scene.gains, **gains})
    chain = load_chain(persona, folder)
    offline = OfflineVoice()
    state = _state(scene, persona, voice or offline)
    thought = scene.thought or ""
    degraded: tuple[str, ...] = ()
    if scene.thought is None:
        try:
            thought = (await state["voice"].speak(state["utterance"], state["allowance"])).text
        except LLMError as error:
            thought = (await offline.speak(state["utterance"], state["allowance"])).text
            state, degraded = {**state, "voice": offline}, (f"offline voice: {error}",)
    coloured = await chain.serial(thought, state)
    return Played(
        name=scene.name,
        persona=persona,
        said=scene.percept.text,
        thought=thought,
        final=coloured.text,
        modulations=coloured.modulations,
        entries={number: made.text for number, made in enumerate(_in_order(scene), 1)},
        symbols={symbol.id: symbol.symbolic_encoding for symbol in symbols_of(scene)},
        degraded=(*degraded, *coloured.degraded),
    )


def _require_transistors(names: Iterable[str], folder: Path, where: str) -> None:
    """Raise `UserError`, saying where the name was given, if there is no such transistor."""
    for name in names:
        file = f"{name}.py"
        if name not in TRANSISTORS and not (ID.fullmatch(name) and (folder / file).is_file()):
            raise UserError(
                f"{where}: there is no transistor {name}, nor {file} in {folder}{nearest(name, TRANSISTORS)}"
            )


def _persona(scene: WrittenScene, recipes: Mapping[str, Persona]) -> Persona:
    if isinstance(scene.persona, dict):
        return read_recipe(scene.persona, "somebody", "the recipe in the scene")
    name = scene.persona.strip().lower()
    if name not in recipes:
        raise NotFound(f"there is no recipe {scene.persona}{nearest(name, recipes)}")
    return recipes[name]


def _state(scene: WrittenScene, persona: Persona, voice: Voice) -> ThoughtState:
    """The moment before an agent thinks: the percept is remembered, and memories are recalled for it."""
    said = scene.percept
    affect = _felt(said.affect, said.text, True)
    percept = Percept(
        said.who,
        said.text,
        NOW,
        said.kind,
        addressed=True,
        audience=said.audience,
        present=frozenset(said.present),
        affect=said.affect,
        surprise=said.surprise,
        identity_salience=said.salience,
    )
    memory = _memory(scene, persona)
    answered = memory.remember(
        percept,
        step=len(scene.memories) + 1,
        affect=affect,
        surprise=said.surprise,
        identity_salience=max(said.salience, identity_salience(said.text, persona)),
    )
    hear = percept.listeners
    recalled = memory.context(percept.user_id, affect, present=hear, without=(answered.id,))
    subconscious = SubconsciousMemory()
    subconscious.restore(symbols_of(scene))
    levels = tuple(scene.appetites.get(name, persona.appetites[name]) for name in APPETITES)
    appetites, drives = Appetites(levels, NOW, levels), shipped_drives()
    mood = persona.baseline if scene.mood is None else scene.mood
    utterance = Utterance(
        persona=persona,
        percept=percept,
        speaker=display_name(percept.user_id, {}),
        mood=mood,
        recalled=tuple(recalled),
        own_lines=tuple(OwnLine(line, OPEN) for line in scene.said),
        seed=scene.seed,
    )
    return ThoughtState(
        persona=persona,
        affect=affect,
        mood=mood,
        percept=percept,
        recalled=recalled,
        memory=DisclosedMemories(memory, hear),
        subconscious=DisclosedSymbols(subconscious, hear),
        goals=appetites.goals(drives, NOW)
        if scene.goals is None
        else tuple(Goal(wanted.appetite, wanted.level, wanted.text) for wanted in scene.goals),
        appetites=appetites.at_time(drives, NOW),
        present=hear,
        said=scene.said,
        now=NOW,
        phenomenal_state=None,
        surprise=said.surprise,
        voice=voice,
        utterance=utterance,
        allowance=Allowance(),
    )


def _memory(scene: WrittenScene, persona: Persona) -> HierarchicalMemory:
    """A memory that holds everything in the scene, however little it matters."""
    room = len(scene.memories) + 1
    memory = HierarchicalMemory(max(room, 20), max(room, 200), surprise_threshold=0.0)
    for step, remembered in enumerate(_in_order(scene), 1):
        salience = remembered.salience
        entry = memory.add(
            NOW - remembered.ago,
            step,
            remembered.who,
            remembered.text,
            _felt(remembered.affect, remembered.text, remembered.addressed),
            surprise=remembered.surprise,
            identity_salience=identity_salience(remembered.text, persona) if salience is None else salience,
            kind=remembered.kind,
            addressed=remembered.addressed,
            audience=remembered.audience,
        )
        if remembered.importance is not None:
            memory.set_importance(entry, remembered.importance)
    return memory


def symbols_of(scene: WrittenScene) -> list[Symbol]:
    """The symbols of a scene, numbered in the order of the file. The memories they came from do not exist."""
    return [
        Symbol(
            number,
            -number,
            NOW - made.ago,
            made.event,
            made.image,
            made.affect,
            made.salience,
            0.5,
            "scene",
            confined_to(made.circle),
        )
        for number, made in enumerate(scene.symbols, 1)
    ]


def _felt(given: Affect | None, text: str, addressed: bool) -> Affect:
    return given or Appraiser().appraise(text, addressed=addressed).affect


def _in_order(scene: WrittenScene) -> list[Memory]:
    """The memories of a scene, oldest first. Their ids count from 1."""
    return sorted(scene.memories, key=lambda made: -made.ago)


_WORDS = re.compile(r"\s+|\S+")


def view(played: Played) -> RenderableType:
    """A scene for people: the thought after each transistor, and what the transistor read."""
    lines = [Text(played.name, style="bold")] if played.name else []
    lines += [
        Text.assemble(("heard    ", "dim"), played.said),
        Text.assemble(("thought  ", "dim"), played.thought),
    ]
    for made in played.modulations:
        lines.append(Text.assemble((f"  {made.transistor} {made.gain:g}", "cyan"), (f"  {made.how}", "dim")))
        if made.after != made.before:
            lines.append(Text("    ") + changes(made.before, made.after))
        lines += [Text(f"    {read}", style="dim") for read in _read(made, played)]
    lines += [Text(f"  {failed}", style="yellow") for failed in played.degraded]
    lines.append(Text.assemble(("says     ", "dim"), (played.final, "bold")))
    return Group(*lines)


def changes(before: str, after: str) -> Text:
    """The text after a change, with new words in green."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    text = Text()
    matcher = difflib.SequenceMatcher(a=old, b=new, autojunk=False)
    for what, _, _, first, last in matcher.get_opcodes():
        text.append("".join(new[first:last]), style="" if what == "equal" else "green")
    return text


def _read(made: Modulation, played: Played) -> list[str]:
    """What a transistor read, a line each."""
    read = [f"read {', '.join(made.read)}"] if made.read else []
    read += [f"remembered “{played.entries[number]}”" for number in made.entries]
    return read + [f"image “{played.symbols[number]}”" for number in made.symbols]
