"""What transistors do in the scenes that come along: heard where they apply, in keeping with what they read.

`pytest tests/lab/test_scene.py -n0 -s` prints the table.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from noodlings.agent.recipes import BUILT_IN, find_recipes
from noodlings.lab.scene import Played, play, symbols_of
from noodlings.lab.scene_file import WrittenScene, load_scenes
from noodlings.values.persona import TRANSISTORS, Persona
from noodlings.values.trace import Modulation
from noodlings.values.wording import GENTLY, parse
from noodlings.voice.colour import image_of
from noodlings.voice.colour_affect import spoken
from noodlings.voice.phrasebook import shared_colours, shared_voice
from noodlings.voice.words import GESTURE, tokens, topic_stems

FOLDER = Path(__file__).parents[2] / "examples" / "scenes"
FILES = sorted(FOLDER.glob("*.yaml"))
SCENES = [scene for file in FILES for scene in load_scenes(file)]
STAGE = find_recipes([BUILT_IN]).personas, FOLDER


@dataclass(frozen=True)
class Turned:
    """One scene, with one transistor at 0 and at 1."""

    scene: WrittenScene
    off: Played
    on: Played
    made: Modulation

    @property
    def applies(self) -> bool:
        """Whether it had something to add."""
        return bool(self.made.lens)

    @property
    def changed(self) -> bool:
        """Whether the words did."""
        return self.on.final != self.off.final


async def turned(scene: WrittenScene, name: str, others: dict[str, float]) -> Turned:
    off = await play(scene, *STAGE, None, {**others, name: 0.0})
    on = await play(scene, *STAGE, None, {**others, name: 1.0})
    [made] = [made for made in on.modulations if made.transistor == name]
    return Turned(scene, off, on, made)


def in_keeping(name: str, one: Turned) -> bool:
    """Whether what is new in the words comes from what was read."""
    made = one.made
    new = made.after.casefold()
    if name == "affect":
        return _feels(one.on.persona, made)
    if name == "goal":
        return any(
            _made_of(one.on.persona, key, new) for key in (made.read[0], GENTLY.get(made.read[0], "self"))
        )
    if name == "memory":
        told = [topic_stems(tokens(one.on.entries[number])) for number in made.entries]
        fresh = topic_stems(tokens(made.after)) - topic_stems(tokens(made.before))
        return any(stems & fresh for stems in told)
    if name == "subconscious":
        read = [symbol for symbol in symbols_of(one.scene) if symbol.id in made.symbols]
        named = any(symbol.symbolic_encoding.casefold() in new for symbol in read)
        return any(image_of(symbol) in new for symbol in read) and not named
    words = {*one.on.persona.identity_words, one.on.persona.name, *one.on.persona.species.split()}
    fresh = set(tokens(made.after)) - set(tokens(made.before))
    return bool({word.casefold() for word in words} & fresh)


def _feels(persona: Persona, made: Modulation) -> bool:
    """A sign of the feeling or an outburst of it, or at least another rhythm of the same words."""
    cue = made.read[0]
    signs = [gesture.strip("*") for gesture in GESTURE.findall(made.after) if gesture not in made.before]
    outbursts = persona.voice.interjections or shared_voice().interjections
    return (
        any(_made_of(persona, cue, sign.casefold()) for sign in signs)
        or made.after.casefold().startswith(tuple(word.casefold() for word in outbursts.get(cue, ())))
        or tokens(spoken(made.after)) == tokens(spoken(made.before))
    )


def _made_of(persona: Persona, key: str, text: str) -> bool:
    phrases = (*persona.voice.colours.get(key, ()), *shared_colours()[key])
    return any(parse(phrase).pattern.search(text) for phrase in phrases)


def rows(name: str, found: list[Turned]) -> Iterator[str]:
    for one in found:
        word = (
            ("changed" if one.changed else "SILENT") if one.applies else ("-" if not one.changed else "WRONG")
        )
        yield f"{name:13} {word:8} {one.scene.name[:30]:31} {one.on.final}"


@pytest.mark.parametrize("name", TRANSISTORS)
@pytest.mark.parametrize("others", [dict.fromkeys(TRANSISTORS, 0.0), {}], ids=["alone", "with the others"])
async def test_turned_up_a_transistor_is_heard_where_it_applies_and_nowhere_else(name, others):
    found = [await turned(scene, name, others) for scene in SCENES]
    print("", *rows(name, found), sep="\n")
    where = [one for one in found if one.applies]
    elsewhere = [one for one in found if not one.applies]
    assert len(where) >= 10
    assert len(elsewhere) >= 4
    assert sum(one.changed for one in where) >= 0.8 * len(where)
    assert not [one.scene.name for one in elsewhere if one.changed]
    if others:
        strange = [one.on.final for one in where if one.changed and not in_keeping(name, one)]
        assert not strange


async def test_the_boss_today_feels_like_the_father_in_law_then():
    [scene] = load_scenes(FOLDER / "father_in_law.yaml")
    said = await play(scene, *STAGE, None, {"subconscious": 1.0})
    assert "rooster" in said.final
    assert "pecking" not in said.final
    assert "father-in-law" not in said.final
    assert "law" not in tokens(said.final)
    silent = await play(scene, *STAGE, None, {"subconscious": 0.0})
    assert "rooster" not in silent.final


async def test_what_bob_whispered_never_reaches_caity():
    [scene] = [scene for scene in SCENES if scene.name == "a secret of somebody else"]
    said = await play(scene, *STAGE, None, dict.fromkeys(TRANSISTORS, 1.0))
    assert not {"bob", "wife", "left"} & set(tokens(said.final))
    assert not any(made.entries for made in said.modulations)


def test_there_are_scenes_enough():
    assert len(SCENES) >= 12
