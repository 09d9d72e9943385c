"""The conversation in the README, typed as it stands there, with each character and whatever lies between."""

from __future__ import annotations

import json
import os
import random
import re
from pathlib import Path

import pytest

from noodlings.agent.recipes import BUILT_IN, find_recipes
from tests.program import ran
from tests.thorough import THOROUGH

pytestmark = pytest.mark.slow

README = Path(__file__).parents[1] / "README.md"
TRANSCRIPT = re.findall(r"^```\n(> .*?)^```", README.read_text("utf-8"), re.MULTILINE | re.DOTALL)[0]
TYPED = re.findall(r"^> (.+)$", TRANSCRIPT, re.MULTILINE)
CHARACTERS = sorted(find_recipes([BUILT_IN]).personas)
WAYS = {"workshop": (), "library": ("go east",), "garden": ("go north",)}
"""From where players come in."""
BETWEEN = 500 if THOROUGH else 40
"""Lines between what is told and its mention, twice as many as working memory has places.

Hundreds are in `test_scenarios`."""
IDLE = (
    "ok",
    "brb",
    "nice weather",
    "I had toast",
    "the bus was late",
    "see you",
    "lol",
    "hm",
    "who has the map",
)


def program(data: Path, *arguments: str, lines: tuple[str, ...] = ()) -> str:
    """What it writes, on one line."""
    input = "".join(f"{line}\n" for line in lines).encode()
    done = ran(*arguments, "--data", data, environment=dict(os.environ), input=input)
    assert done.returncode == 0, done.stderr.decode()
    return " ".join(done.stdout.decode().split())


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lines between, of one who talks to nobody in particular."""
    chance = random.Random(7)
    path = tmp_path_factory.mktemp("idle") / "idle.jsonl"
    rows = (
        {"user": "user_traveller", "text": f"{chance.choice(IDLE)} {number}"} for number in range(BETWEEN)
    )
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_the_readme_shows_a_conversation_and_what_was_in_mind_for_it() -> None:
    assert [typed.partition(" ")[0] for typed in TYPED] == ["say", "say", "@memories"]
    told, mentioned, _ = TYPED
    assert "died" in told
    assert "died" not in mentioned


@pytest.mark.parametrize("between", [0, BETWEEN])
@pytest.mark.parametrize("character", CHARACTERS)
def test_whoever_was_told_of_a_death_remembers_it_at_a_mere_mention(
    tmp_path: Path, idle: Path, character: str, between: int
) -> None:
    told, mentioned, flow = (typed.replace("servnak", character) for typed in TYPED)
    persona = find_recipes([BUILT_IN]).personas[character]
    walk = WAYS[persona.home]
    if between:
        program(tmp_path, "play", lines=(*walk, told))
        program(tmp_path, "replay", str(idle), "--agent", character)
        shown = program(tmp_path, "play", lines=(*walk, mentioned, flow))
    else:
        shown = program(tmp_path, "play", lines=(*walk, told, mentioned, flow))
    talk, _, in_mind = shown.partition(f"{persona.name} · flow")
    before, _, answer = talk.partition(mentioned.removeprefix("say "))
    # Whoever comes back may be greeted with it, and is not told again at once.
    greeted = between and "your dog died" in before.casefold()
    assert greeted or "your dog died" in answer.casefold()
    for light in persona.voice.interjections.get("joy", ()):
        assert light not in answer
    if character == "servnak" and not greeted:  # the others may have talked with each other since
        last = answer.rpartition("SERVNAK")[2].casefold()
        pointer = "▸ +" if "your dog died" in last else ""
        assert re.search(rf"{pointer}\d+ .{{0,60}}my dog died yesterday", in_mind)
