"""Rows of talk, tables and chats that hold a whole line of a log: the same rule for all three."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from noodlings.ingest.record import Item, SourceRecord
from noodlings.ingest.sources.mapped import Mapping, mapped
from noodlings.ingest.sources.sillytavern import sillytavern
from noodlings.ingest.sources.talk import Recorded, read_transcript, talk
from noodlings.values.percept import PRIVATE

TIMES = (
    "", "[21:14] ", "(21:14) ", "<21:14> ", "21:14 ", "9:14pm ", "9:14 PM ", "[Mon 21:14] ",
    "05/05/03 21:14 ", "2003-05-05 21:14 ", "[2003-05-05T21:14:03Z] ", "Mon May 5 21:14:33 2003 ",
    "**[21:14]** ",
)  # fmt: skip
MAPPING = Mapping.model_validate({"format": "jsonl", "columns": {"text": "text", "who": "user"}})
SOURCES: dict[str, Callable[[Path], list[Item]]] = {
    "talk": lambda path: [*talk(path)],
    "mapped": lambda path: [*mapped(path, MAPPING)],
    "sillytavern": lambda path: [*sillytavern(path)],
    "replay": lambda path: [line.record for line in read_transcript(path) if isinstance(line, Recorded)],
}


def private(tmp_path: Path, source: str, lines: list[str], **who: str) -> list[bool]:
    path = tmp_path / "log.jsonl"
    rows = (json.dumps({"text": line, "mes": line} | who) + "\n" for line in lines)
    path.write_text("".join(rows), encoding="utf-8")
    records = [item for item in SOURCES[source](path) if isinstance(item, SourceRecord)]
    assert len(records) == len(lines)
    return [one.audience.confined or one.kind in PRIVATE for one in records]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    "line",
    [
        "Bob pages: the gold lies here",
        "Bob whispers: the gold lies here",
        "Bob tells you: the gold lies here",
        "From Bob: the gold lies here",
        "**Bob whispers:** the gold lies here",
        "__Bob pages__: the gold lies here",
        "*whispers to Phi* the gold lies here",
        "/w Phi the gold lies here",
        "whisper phi = the gold lies here",
        "@private phi the gold lies here",
        "@priv phi --sealed the gold lies here",
        "page Bob = the gold lies here",
        "Whisper Bob = the gold lies here",
        "WHISPER Bob=the gold lies here",
        "whisper J.R = the gold lies here",
        "tell Bob:2 = the gold lies here",
        "P Bob=the gold lies here",
        "+P Bob=the gold lies here",
        "W Bob=the gold lies here",
        "@Private Bob the gold lies here",
        'Bob says into his radio, "the gold lies here"',
        "Bob says into his radio: the gold lies here",
        "Bob says into his radio, 'the gold lies here'",
        'You say into your radio, "the gold lies here"',
        'Bob sagt in sein Funkgerät, "the gold lies here"',
        "Bob says into his radio, ”the gold lies here”",
        "Bob says into his radio, ＂the gold lies here＂",
        '[Public] Bob asks softly, "the gold lies here"',
    ],
)
def test_a_line_that_may_be_private_is_confined_whatever_time_or_markup_is_before_it(
    tmp_path: Path, source: str, line: str
) -> None:
    lines = [time + line for time in TIMES]
    assert private(tmp_path, source, lines, user="Bob", name="Bob") == [True] * len(lines)
    if source != "sillytavern":  # where a message without a sender is none
        assert private(tmp_path, source, lines) == [True] * len(lines)


@pytest.mark.parametrize("source", SOURCES)
def test_what_somebody_says_or_tells_of_in_their_own_words_is_open(tmp_path: Path, source: str) -> None:
    lines = [
        "My mother told me of it",
        'she said "no"',
        'She said "no" and left',
        'I said "no" to him',
        'You said "yes" yesterday',
        'Please say "hi" to her',
        'Let\'s call it "The Anchor" instead',
        "At 10:30 my boss said: go",
        "We meet at 21:14, ok?",
        "9:14pm works for me: see you then",
        "whisper sweet nothings",
        "**Note:** bring milk",
        '*She smiles.* "Hello."',
        '"Hello there," *she says.*',
        '*Aria nods.* Then she looks up and says: "hi"',
        'Aria smiles, her eyes twinkling, "Hello"',
        'Aria grins widely and takes the candle "Ohhh!"',
        '*I wonder what he thinks.* "Well?"',
        'Bob says to Ann, "hi"',
        '[21:14] Bob says loudly, "hi"',
    ]
    found = private(tmp_path, source, lines, user="Bob", name="Bob")
    assert [line for line, is_private in zip(lines, found, strict=True) if is_private] == []


@pytest.mark.parametrize("source", ["talk", "mapped", "replay"])
def test_a_whole_line_may_begin_with_a_name_without_a_capital(tmp_path: Path, source: str) -> None:
    lines = {
        'bob says into his radio, "the gold lies here"': True,
        'bob says into his radio to ann, "the gold lies here"': True,
        'bob says, "hi"': False,
        'bob says loudly, "hi"': False,
        "Bob says, ”hi”": False,
    }
    assert private(tmp_path, source, [*lines]) == [*lines.values()]


def test_what_somebody_does_while_they_speak_may_tell_that_few_heard_it(tmp_path: Path) -> None:
    lines = {
        'SERVNAK (RINGS ITS OWN BELL, ONCE) says, "hi"': False,
        'Phi (purrs) says, "hi"': False,
        'Bob (leans over) says, "the gold lies here"': True,
        'Bob (lowers his voice) says, "the gold lies here"': True,
        'Bob (turns to Ann) says, "the gold lies here"': True,
        'SERVNAK (RINGS ITS OWN BELL, ONCE) whispers to you, "the gold lies here"': True,
    }
    assert private(tmp_path, "mapped", [*lines]) == [*lines.values()]


@pytest.mark.parametrize("source", ["talk", "replay"])
def test_what_stands_before_words_without_quotes_may_tell_that_they_were_private(
    tmp_path: Path, source: str
) -> None:
    lines = {
        "Bob says into his radio, the gold lies here": True,
        "Bob says under his breath, the gold lies here": True,
        "Bob says to Ann, the gold lies here": False,
        "Bob says the gold lies here": False,
        "Bob says, in my mind, the gold lies here": False,
    }
    assert private(tmp_path, source, [*lines]) == [*lines.values()]
