"""Transcripts in both shapes; one bad line never costs another."""

import json
from unicodedata import normalize

import pytest

from noodlings.errors import UserError
from noodlings.ingest.lines import count_lines
from noodlings.ingest.record import SourceProblem, SourceRecord
from noodlings.ingest.sources.talk import Recorded, plain_id, read_transcript
from noodlings.values.affect import Affect
from noodlings.values.percept import Kind


def _file(tmp_path, *rows):
    path = tmp_path / "talk.jsonl"
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_full_line_is_read_whole(tmp_path):
    row = {
        "agent": "agent_servnak",
        "user": "user_caity",
        "text": "my dog died",
        "affect": [-0.8, 0.6, 0.1, 0.9, 0.0],
        "surprise": 0.7,
        "timestamp": 1763593334.5,
        "identity_salience": 0.2,
    }
    assert list(read_transcript(_file(tmp_path, row))) == [
        Recorded(
            SourceRecord("", "", "my dog died", "user_caity", 1763593334.5, line=1),
            "servnak",
            Affect(-0.8, 0.6, 0.1, 0.9, 0.0),
            0.7,
            0.2,
            known=("user_caity", Kind.SAY),
        )
    ]


@pytest.mark.parametrize(
    "affect",
    [
        [],
        None,
        [0.1],
        [0.8, 0.4, -0.2, -0.5, -0.5],
        [float("nan")] * 5,
        ["a"] * 5,
        [1, 2, 3, 4, 5],
        [10**400] * 5,
    ],
)
def test_an_affect_that_does_not_mean_what_ours_does_is_left_to_us(tmp_path, affect):
    (line,) = read_transcript(_file(tmp_path, {"user": "u", "text": "hello", "affect": affect}))
    assert line.affect is None


@pytest.mark.parametrize("flag", ["is_rumination", "is_self_monitor"])
def test_what_an_agent_tells_itself_is_a_thought(tmp_path, flag):
    (line,) = read_transcript(
        _file(tmp_path, {"user": "agent_phi", "text": "hm", "agent": "agent_phi", flag: True})
    )
    assert (line.record.who, line.agent_id, line.record.kind) == ("phi", "phi", Kind.THOUGHT)


@pytest.mark.parametrize(
    ("text", "user", "words", "kind"),
    [
        ('caity says, "hello you"', "caity", "hello you", Kind.SAY),
        ("Mr. Toad thinks, Poop-poop!", "mr_toad", "Poop-poop!", Kind.THOUGHT),
        ('Phi whispers, "psst"', "phi", "psst", Kind.WHISPER),
        ("Mr. Toad *smiling*", "mr_toad", "*smiling*", Kind.EMOTE),
        ("caity appears. A girl.", "caity", "appears. A girl.", Kind.EMOTE),
        ("alone", "alone", "alone", Kind.EMOTE),
    ],
)
def test_lines_as_players_see_them_are_taken_apart(tmp_path, text, user, words, kind):
    path = _file(tmp_path, {"text": "Mr. Toad says, hello"}, {"text": text})
    record = list(read_transcript(path))[1].record
    assert (record.who, record.text, record.kind) == (user, words, kind)


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        (12, 12.0),
        ("2025-11-15T21:53:47", 1763243627.0),
        ("2025-11-15T22:53:47+01:00", 1763243627.0),
        (None, None),
    ],
)
def test_timestamps_in_seconds_or_iso(tmp_path, given, seconds):
    (line,) = read_transcript(_file(tmp_path, {"user": "u", "text": "hello", "timestamp": given}))
    assert line.record.timestamp == seconds


@pytest.mark.parametrize(
    "bad",
    ["yesterday", True, [1], float("inf"), float("nan"), 1e300, 10**400, -(10**400), -1, "1066-10-14"],
)
def test_a_timestamp_that_is_none_is_named_and_not_made_up(tmp_path, bad):
    (line,) = read_transcript(_file(tmp_path, {"user": "u", "text": "hello", "timestamp": bad}))
    assert line == SourceProblem(1, "its timestamp is neither ISO 8601 nor seconds from 0 to 253402300799")


def test_bad_lines_are_numbered_and_passed_over(tmp_path):
    path = _file(
        tmp_path,
        {"user": "u", "text": "one"},
        "{torn",
        "",
        "[1]",
        {"user": "u"},
        {"user": "u", "text": "two"},
    )
    lines = list(read_transcript(path))
    assert [line.line for line in lines if isinstance(line, SourceProblem)] == [2, 4, 5]
    assert [line.record.text for line in lines if isinstance(line, Recorded)] == ["one", "two"]
    assert count_lines(path) == 6


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UserError, match="cannot be read"):
        list(read_transcript(tmp_path / "nowhere.jsonl"))


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("agent_fred_rogers", "fred_rogers"),
        ("SERVNAK (robot)", "servnak"),
        ("Mr. Toad", "mr_toad"),
        ("user_caity", "user_caity"),
        ("\x1b[31m", "somebody"),
        ("सीता देवी", "सीता_देवी"),
        ("กิ่งแก้ว", "กิ่งแก้ว"),
        ("مُحَمَّد", "مُحَمَّد"),
        (normalize("NFD", "Nguyễn"), "nguyễn"),
        ("Bob \u2764\ufe0f 1\ufe0f\u20e3", "bob_1"),
    ],
)
def test_names_become_ids(name, plain):
    assert plain_id(name) == plain


@pytest.mark.parametrize("agent", [["servnak"], {"id": "servnak"}, 3, True])
def test_an_agent_that_is_no_text_is_not_everybody(tmp_path, agent):
    (problem,) = read_transcript(_file(tmp_path, {"user": "caity", "text": "hi", "agent": agent}))
    assert "its agent must be the name of a character" in problem.why
