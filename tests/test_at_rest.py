"""With `store.encrypt: all` no word that was said can be found in anything that lies on the disk.

TEST_WORDS=200 tries as many unique words; few are enough to find out what forgets to encrypt.
"""

from __future__ import annotations

import os
import random
from contextlib import closing
from pathlib import Path

import pytest

from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.files import make_private
from noodlings.logs import logging_to
from noodlings.store.backup import back_up
from noodlings.store.cipher import UserKey
from noodlings.values.audience import Tier
from noodlings.values.percept import Kind, Percept
from tests.at_rest import found
from tests.program import ran

WORDS = int(os.environ.get("TEST_WORDS", "24"))
KEY = UserKey(bytes(range(32)))
BEGAN = 1.7e9
_SAID = (
    "My sister {} died yesterday, and I cannot stop crying",
    "Please remember that my dog is called {}",
    "Phi, what do you know about {}?",
    "I am so afraid of the {} in the cellar!",
)
_WAYS: tuple[tuple[Kind, Tier, frozenset[str]], ...] = (
    (Kind.SAY, Tier.OPEN, frozenset({"user_bo"})),
    (Kind.WHISPER, Tier.OPEN, frozenset()),
    (Kind.SAY, Tier.CONFINED, frozenset({"user_bo"})),
    (Kind.WHISPER, Tier.SECRET, frozenset()),
    (Kind.SAY, Tier.OPEN, frozenset()),
    (Kind.WHISPER, Tier.SEALED, frozenset()),
)


@pytest.fixture
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder beside those that are searched."""
    return tmp_path_factory.mktemp("elsewhere")


def unique_words(count: int) -> list[str]:
    """Words that nobody has, half of them with a letter beyond ASCII; the same ones each time."""
    chance, made = random.Random(7), set[str]()
    while len(made) < count:
        word = "".join(chance.choice(letters) for letters in ("bdfgklmprst", "aiou") * 5)
        made.add(word[:-1] + "é" if len(made) % 2 else word)
    return sorted(made)


def settings_for(folder: Path, encrypt: str) -> Settings:
    store = {"path": str(folder), "encrypt": encrypt}
    return Settings.model_validate({"store": store if encrypt == "none" else store | {"key": KEY.text}})


async def talk(settings: Settings, words: list[str], end: Path) -> None:
    """Everything there is to say, in every way; with a copy of the folder's files while it is in use."""
    clock = ManualClock(BEGAN)
    with (
        logging_to(settings.data_dir, "debug"),
        closing(build(settings, clock=clock)) as society,
    ):
        for number, word in enumerate(words):
            kind, tier, present = _WAYS[number % len(_WAYS)]
            if tier >= Tier.SECRET and not society.store.keeps_secrets:
                tier = Tier.OPEN
            clock.advance(60.0)
            text = _SAID[number // len(_WAYS) % len(_SAID)].format(word)
            place = f"Room 4 of the {word} ward"
            said = Percept(
                "user_caity", text, clock.now(), kind, True, place=place, present=present, tier=tier
            )
            await society.perceive("phi", said)
            if number % 3 == 0:
                asked = Percept("user_caity", f"what about {word}?", clock.now(), Kind.WHISPER, True)
                await society.perceive("phi", asked)
        await society.agents["phi"].idle(clock.now() + 60.0)
        await society.rest(5.0)
        back_up(settings.data_dir, end / "while", force=True)
        for path in settings.data_dir.glob("noodlings.db*"):
            (end / path.name).write_bytes(path.read_bytes())


def run(*words: object, encrypt: str = "all") -> str:
    """What the program prints with the key, and everything to be encrypted; it must end well."""
    key = {} if encrypt == "none" else {"NOODLINGS_STORE__KEY": KEY.text}
    done = ran(*words, environment=os.environ | key | {"NOODLINGS_STORE__ENCRYPT": encrypt})
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def document(folder: Path, name: str, title: str, section: str) -> Path:
    """A letter with unique words in its name, title and section."""
    letter = folder / f"Letter of {name}.md"
    letter.write_text(f"# The {title} case\n\n## On {section}\n\nShe is well again.\n", encoding="utf-8")
    return letter


@pytest.mark.slow
async def test_no_word_that_was_said_is_on_the_disk(tmp_path: Path, elsewhere: Path) -> None:
    words, folder = unique_words(WORDS), tmp_path / "data"
    *said, name, title, section = words
    await talk(settings_for(folder, "all"), said, make_folder(tmp_path / "end"))
    letter = document(elsewhere, name, title, section)
    for new in (1, 0):
        ingested = run("ingest", "document", letter, "--agent", "phi", "--data", folder)
        assert ingested.startswith(f"Phi has {new} new memor")
    run("backup", tmp_path / "backup", "--data", folder)
    run("export", tmp_path / "all.jsonl", "--data", folder)
    run("notes", "rebuild", "--data", folder)
    assert (tmp_path / "all.jsonl").stat().st_size > 10_000
    assert (folder / "noodlings.log").stat().st_size > 1_000
    assert found(tmp_path, words) == {}


@pytest.mark.slow
async def test_this_finds_the_words_where_nothing_is_encrypted(tmp_path: Path) -> None:
    words, folder = unique_words(12), tmp_path / "data"
    await talk(settings_for(folder, "none"), words, make_folder(tmp_path / "end"))
    places = found(tmp_path, words)
    assert places.keys() == set(words)
    everywhere = set[str]().union(*places.values())
    assert {"noodlings.db:entries", "noodlings.db:traces", "noodlings.db:symbols"} <= everywhere
    assert {"data/noodlings.log", "end/noodlings.db-wal"} <= everywhere
    assert any(place.startswith("data/notes") for place in everywhere)


@pytest.mark.slow
async def test_compacting_encrypts_what_was_there_and_leaves_no_plain_copy(
    tmp_path: Path, elsewhere: Path
) -> None:
    words, folder = unique_words(15), tmp_path / "data"
    *words, name, title, section = words
    await talk(settings_for(folder, "none"), words, make_folder(tmp_path / "end"))
    letter = document(elsewhere, name, title, section)
    run("ingest", "document", letter, "--agent", "phi", "--data", folder, encrypt="none")
    assert found(folder, [name, title, section]).keys() == {name, title, section}
    make_private(folder / "history").write_text(f"+say {words[0]}\n", encoding="utf-8")
    run("compact", "--data", folder)
    assert found(folder, [*words, name, title, section]) == {}
    assert "has 0 new memor" in run("ingest", "document", letter, "--agent", "phi", "--data", folder)
    with closing(build(settings_for(folder, "all"), clock=ManualClock(BEGAN))) as society:
        kept = society.store.archive("phi")
    assert all(any(word in entry.user_text for entry in kept) for word in words)


def make_folder(path: Path) -> Path:
    path.mkdir()
    return path
