"""A file from anywhere: whatever is wrong in it is named with its line, and nothing of it is kept."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noodlings.agent.hearsay import LONGEST_CHAIN, MOST_MARKED, MOST_SOURCES
from noodlings.errors import StoreError, UserError
from noodlings.ingest.commit import Commit, FileChange
from noodlings.ingest.sources.git import LONGEST_BODY, LONGEST_PATH, MOST_FILES
from noodlings.portable import intake
from noodlings.portable.export import export
from noodlings.portable.intake import check, take_in
from noodlings.ports import StoreSnapshot
from noodlings.text import clean
from noodlings.values.caller import past_id_of
from noodlings.values.ingested_record import IngestedRecord
from noodlings.values.memory import ArchivedAgent, ArchivedEntry, ArchivedSymbol, Link, LinkType
from noodlings.values.trace import Trace
from tests.store.records import a_symbol, a_trace, an_entry
from tests.thorough import examples

Lines = list[dict[str, Any]]


class Kept:
    """Two agents to export."""

    left_out = 0

    def agents(self) -> list[str]:
        return ["phi", "servnak"]

    def agent(self, agent_id: str) -> ArchivedAgent:
        return ArchivedAgent(agent_id, 5, last_symbol_id=3)

    def entries(self, agent_id: str) -> Any:
        return iter(
            [
                ArchivedEntry(an_entry(number, stability=9.0), episodic=number == 1, consolidated=True)
                for number in (1, 2, 5)
            ]
        )

    def traces(self, agent_id: str) -> Any:
        return iter([a_trace(2, agent_id=agent_id), a_trace(5, 1, 2, agent_id=agent_id)])

    def links(self, agent_id: str) -> Any:
        return iter([Link(2, 1, LinkType.FOLLOWED, 0.5, 1.0), Link(5, 1, LinkType.RECALLED, 1.0, 2.0)])

    def symbols(self, agent_id: str) -> Any:
        return iter([ArchivedSymbol(a_symbol(1, 2), faded=True), ArchivedSymbol(a_symbol(3, 5))])

    def taken(self, agent_id: str) -> Any:
        waits = IngestedRecord("talk:log", "3", "cd", None, "past:bob", 2, "find: no", {"text": "hm"})
        return iter([IngestedRecord("talk:log", "1", "ab", 5), IngestedRecord("talk:log", "2"), waits])


class Taken:
    """Takes agents in, all but some."""

    def __init__(self, *there: str, refuses: str = "") -> None:
        self.refuses = refuses
        self.kept: dict[str, tuple[ArchivedAgent, list[Any]]] = {
            agent_id: (ArchivedAgent(agent_id), []) for agent_id in there
        }

    def agents(self) -> list[str]:
        return sorted(self.kept)

    def take_in(self, agent: ArchivedAgent, records: Any) -> None:
        if agent.agent_id == self.refuses:
            raise StoreError("the disk is full")
        self.kept[agent.agent_id] = (agent, list(records))


def good() -> bytes:
    lines = io.StringIO()
    kept: StoreSnapshot = Kept()
    export(kept, kept.agents(), lines.write)
    return lines.getvalue().encode()


GOOD = good()
HEADER, PHI, FIRST, SECOND, FIFTH, TRACE, _, LINK, _, SYMBOL = GOOD.splitlines()[:10]


def checked(content: bytes) -> Any:
    return check(io.BytesIO(content), lambda number: None)


def refused(content: bytes) -> str:
    with pytest.raises(UserError) as error:
        checked(content)
    words = str(error.value)
    assert words == clean(words)
    assert len(words) < 500
    return words


def test_a_good_file_is_counted_and_taken_in() -> None:
    found = checked(GOOD)
    assert (found.agents, found.entries, found.traces) == (["phi", "servnak"], 6, 4)
    assert (found.links, found.symbols, found.records) == (4, 4, 6)
    into, seen = Taken(), []
    take_in(io.BytesIO(GOOD), found.agents, into, seen.append)
    assert seen == list(range(1, len(GOOD.splitlines()) + 1))
    agent, records = into.kept["servnak"]
    assert agent == ArchivedAgent("servnak", 5, last_symbol_id=3)
    kept = Kept()
    assert records == [
        *kept.entries(""),
        *kept.traces("servnak"),
        *kept.links(""),
        *kept.symbols(""),
        *kept.taken(""),
    ]
    assert all(trace.agent_id == "servnak" for trace in records if isinstance(trace, Trace))


def test_blank_lines_and_windows_line_ends_do_no_harm() -> None:
    assert checked(GOOD.replace(b"\n", b"\r\n\r\n")).entries == 6
    assert checked(GOOD.rstrip(b"\n")).entries == 6


def test_who_is_there_already_is_not_replaced() -> None:
    into = Taken("servnak")
    with pytest.raises(UserError, match=r"servnak: already there.*--data.*--agent"):
        take_in(io.BytesIO(GOOD), ["phi", "servnak"], into, lambda number: None)
    assert into.agents() == ["servnak"]


def test_when_the_disk_is_full_the_words_say_who_came_in() -> None:
    into = Taken(refuses="servnak")
    with pytest.raises(StoreError, match=r"servnak cannot be saved: the disk is full; already imported: phi"):
        take_in(io.BytesIO(GOOD), ["phi", "servnak"], into, lambda number: None)
    with pytest.raises(StoreError, match=r"phi cannot be saved: the disk is full$"):
        take_in(io.BytesIO(GOOD), ["phi", "servnak"], Taken(refuses="phi"), lambda number: None)


@pytest.mark.parametrize("kept_lines", range(len(GOOD.splitlines())))
def test_a_file_that_was_cut_off_between_two_lines(kept_lines: int) -> None:
    words = refused(b"".join(GOOD.splitlines(keepends=True)[:kept_lines]))
    assert "incomplete" in words


@given(st.integers(1, len(GOOD) - 2))
def test_a_file_that_was_cut_off_anywhere(length: int) -> None:
    torn = GOOD[:length]
    words = refused(torn)
    if not torn.endswith((b"\n", b"}")):
        assert f"line {len(torn.splitlines())}: it is not JSON" in words
        assert "the file ends in the middle of a line" in words


@pytest.mark.parametrize("number", range(1, len(GOOD.splitlines()) + 1))
def test_any_line_that_is_missing_twice_or_out_of_place_is_noticed(number: int) -> None:
    lines = GOOD.splitlines(keepends=True)
    without, line = lines[: number - 1] + lines[number:], lines[number - 1]
    refused(b"".join(without))
    refused(b"".join([*lines[:number], line, *lines[number:]]))
    refused(b"".join([*without, line]) if number < len(lines) else b"".join([line, *without]))


@pytest.mark.parametrize("line", [SECOND, FIFTH, TRACE, LINK, SYMBOL])
def test_a_line_that_is_there_twice_is_noticed_even_when_it_was_counted(line: bytes) -> None:
    lines = GOOD.splitlines()
    number = lines.index(line) + 1
    end = json.loads(lines[-1])
    counts = {"entry": "entries", "trace": "traces", "link": "links", "symbol": "symbols"}
    end[counts[json.loads(line)["type"]]] += 1
    again = [*lines[:number], line, *lines[number:-1], json.dumps(end).encode()]
    assert refused(b"\n".join(again)).startswith(f"line {number + 1}: it is a duplicate")


HEADERS = {
    b"hello": "line 1: it is not JSON",
    b"\x1f\x8b\x08\x00 gzip": "line 1: it is not UTF-8 text",
    b"[]": "line 1: it is not a JSON object",
    b"{}": "line 1: this is not a noodlings export",
    b'{"format": "other", "version": 1}': "line 1: this is not a noodlings export",
    b'{"format": "noodlings-export"}': "line 1: it has version None",
    b'{"format": "noodlings-export", "version": 2}': "line 1: it has version 2; this noodlings",
    b'{"format": "noodlings-export", "version": true}': "line 1: it has version True",
    b'{"format": "noodlings-export", "version": "1"}': "line 1: it has version '1'",
    PHI: "line 1: this is not a noodlings export",
}


@pytest.mark.parametrize("first", HEADERS)
def test_a_first_line_that_is_none_of_ours(first: bytes) -> None:
    assert HEADERS[first] in refused(first + b"\n" + PHI)


@pytest.mark.parametrize("nothing", [b"", b"\n", b"  \r\n\n"])
def test_a_file_of_nothing(nothing: bytes) -> None:
    assert refused(nothing) == "the file is incomplete: it is empty; export or copy it again"


def changed(line: bytes, **changes: Any) -> bytes:
    content = json.loads(line)
    for name, value in changes.items():
        if value is ...:
            del content[name]
        else:
            content[name] = value
    return json.dumps(content).encode()


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"in": value}
    return value


AFFECT = {"valence": 0.0, "arousal": 0.5, "fear": 0.0, "sorrow": 0.0, "boredom": 0.0}
BAD_ENTRIES: list[tuple[dict[str, Any], str]] = [
    (
        {"type": "dream"},
        "there is no type 'dream'; use one of: agent, entry, trace, link, symbol, record, end",
    ),
    ({"type": ...}, "there is no type None"),
    ({"type": ["entry"]}, "there is no type ['entry']"),
    ({"id": "1"}, "id: should be a valid integer"),
    ({"id": 1.5}, "id:"),
    ({"id": True}, "id:"),
    ({"id": None}, "id:"),
    ({"id": -1}, "id:"),
    ({"id": 2**63}, "id:"),
    ({"step": 2**63 - 2}, "step:"),
    ({"recall_count": 2**52 + 1}, "recall_count:"),
    ({"id": 10**400}, "id:"),
    ({"id": 9}, "memory 9 is beyond the last_id of phi, 5"),
    ({"id": ...}, "id is missing"),
    ({"agent": "servnak"}, "it belongs to servnak, but"),
    ({"agent": "../phi"}, "agent:"),
    ({"agent": ""}, "agent:"),
    ({"timestamp": "now"}, "timestamp:"),
    ({"timestamp": "1763243627"}, "timestamp:"),
    (
        {"timestamp": 1e300},
        "timestamp: it is 1e+300: it must be seconds since 1970-01-01 UTC, a number",
    ),
    ({"timestamp": 253_402_300_800.0}, "timestamp: it is 253402300800.0: it must be seconds since 1970"),
    ({"timestamp": -1.0}, "timestamp: it is -1.0: it must be seconds since 1970-01-01 UTC"),
    ({"last_recalled": 1e300}, "last_recalled: it is 1e+300: it must be seconds since 1970-01-01 UTC"),
    ({"timestamp": float("nan")}, "it is not JSON (NaN is not a JSON number)"),
    ({"timestamp": float("-inf")}, "it is not JSON (-Infinity is not a JSON number)"),
    ({"surprise": 1.5}, "surprise:"),
    ({"surprise": None}, "surprise:"),
    ({"encoded_importance": -0.1}, "encoded_importance:"),
    ({"override": 2}, "override:"),
    ({"override_by": "nobody"}, "override_by:"),
    ({"stability": 0}, "stability:"),
    ({"affect": [0, 0, 0, 0, 0]}, "affect:"),
    ({"affect": AFFECT | {"valence": 1.1}}, "affect.valence:"),
    ({"affect": {"valence": 1.0}}, "affect.arousal is missing"),
    ({"affect": AFFECT | {"joy": 1.0}}, "unknown key affect.joy"),
    ({"parts": {}}, "parts.surprise is missing"),
    ({"phenomenal_state": [0.0] * 39}, "phenomenal_state:"),
    ({"phenomenal_state": ["x"] * 40}, "phenomenal_state.0:"),
    ({"phenomenal_state": "AAAA"}, "phenomenal_state:"),
    ({"kind": "shout"}, "kind:"),
    ({"audience": "caity"}, "audience:"),
    ({"audience": [1]}, "audience.0:"),
    ({"pinned": 1}, "pinned:"),
    ({"user_text": 7}, "user_text:"),
    ({"user_text": None}, "user_text:"),
    ({"user_text": "x" * 20_001}, "user_text: string should have at most 20000 characters"),
    ({"response": "x" * 20_001}, "response:"),
    ({"user_txet": "x"}, "unknown key user_txet; did you mean user_text?"),
    ({"extra": []}, "extra:"),
    ({"extra": {"data": "x"}}, "extra: data must be an object"),
    ({"extra": {"data": [1]}}, "extra: data must be an object"),
    ({"extra": {"data": None}}, "extra: data must be an object"),
    ({"extra": nested(60)}, "nested more than 50 levels deep"),
    ({"user_id": "x" * 2_001}, "user_id: string should have at most 2000 characters"),
    ({"place": "x" * 20_001}, "place: string should have at most 20000 characters"),
    ({"audience": ["a"] * 10_001}, "audience: should have at most 10000 entries"),
    ({"audience": ["x" * 2_001]}, "audience.0: string should have at most 2000 characters"),
    ({"extra": {"hearsay": [["a"]] * 6}}, "extra: hearsay has 6 entries; it may have at most 5"),
    ({"extra": {"data": {"hearsay": [["a"]] * 6}}}, "extra: hearsay has 6 entries; it may have at most 5"),
    ({"extra": {"data": {"hearsay": [["a"] * 9]}}}, "an entry of hearsay names 9 people, not at most 8"),
    ({"extra": {"data": {"hearsay_of": ["a"] * 51}}}, "hearsay_of has 51 entries; it may have at most 50"),
    ({"extra": {"data": {"tags": ["a"] * 101}}}, "tags has 101 entries; it may have at most 100"),
    ({"extra": {"title": "x" * 200_000}}, "it has 200,013 characters of JSON; it may have at most 200,000"),
    ({"extra": {"text": "\ud800"}}, "text that is not valid Unicode"),
    ({"extra": {"\ud800": 1}}, "text that is not valid Unicode"),
    ({"tells": [0.5]}, "tells:"),
    ({"tells": [0.5, 1.5]}, "tells.1:"),
    ({"episodic": "yes"}, "episodic:"),
    ({"\x1b[31mred": 1}, "unknown key red"),
]


@pytest.mark.parametrize(("changes", "words"), BAD_ENTRIES)
def test_a_memory_that_is_wrong(changes: dict[str, Any], words: str) -> None:
    refusal = refused(b"\n".join([HEADER, PHI, changed(FIRST, **changes)]))
    assert refusal.startswith("line 3: ")
    assert words in refusal


BAD_RAW: list[tuple[bytes, str]] = [
    (FIRST.replace(b'"surprise": 0.25', b'"surprise": 1e999', 1), "surprise:"),
    (FIRST.replace(b'"extra": {}', b'"extra": {"x": 1e999}'), "not finite"),
    (FIRST.replace(b'"extra": {}', b'"extra": {"x": ' + b"9" * 5_000 + b"}"), "it is not JSON"),
    (b"[" * 100_000, "it is not JSON"),
    (b'{"a":' * 100_000, "it is not JSON"),
    (FIRST.replace(b"hello", b"\xff\xfe"), "it is not UTF-8 text"),
    (FIRST.replace(b"hello", b"nul\x00byte"), "it is not JSON"),
    (b"null", "it is not a JSON object"),
    (HEADER, "there is no type None"),
    (b'{"type": "end", "agents": 1, "entries": 1, "traces": 0, "links": 0}', "but there are 1, 0, 0, 0, 0"),
    (b'{"type": "end"}', "agents is missing"),
    (TRACE, "it refers to memory 2 of phi, which is not in the file"),
    (LINK, "it refers to memory 1 of phi, which is not in the file"),
    (PHI, "phi is there twice"),
]


@pytest.mark.parametrize(("raw", "words"), BAD_RAW)
def test_a_line_that_is_wrong_as_a_whole(raw: bytes, words: str) -> None:
    refusal = refused(b"\n".join([HEADER, PHI, raw, b""]))
    assert refusal.startswith("line 3: ")
    assert words in refusal


BAD_OTHERS: list[tuple[bytes, dict[str, Any], str]] = [
    (PHI, {"id": "a b"}, "id:"),
    (PHI, {"id": "x" * 61}, "id:"),
    (PHI, {"last_id": -1}, "last_id:"),
    (PHI, {"last_id": 2**52 + 1}, "last_id: should be less than"),  # no room for what comes next
    (PHI, {"last_symbol_id": 2**63 - 2}, "last_symbol_id: should be less than"),
    (PHI, {"state": {"version": 2}}, "state: a stored state is damaged: version:"),
    (PHI, {"state": {"step": "x"}}, "state: a stored state is damaged:"),
    (PHI, {"state": {"step": 2**63 - 1}}, "state: a stored state is damaged:"),
    (PHI, {"state": None}, "state:"),
    (PHI, {"state": nested(60)}, "nested more than 50 levels deep"),
    (TRACE, {"entry_id": 1.0}, "entry_id:"),
    (TRACE, {"recalled": [{"entry_id": 1}]}, "recalled.0.why is missing"),
    (
        TRACE,
        {"recalled": [{"entry_id": 1, "why": "recent", "score": 1, "scores": {}, "used": False}]},
        "why:",
    ),
    (TRACE, {"milliseconds": {"recall": "1"}}, "milliseconds.recall:"),
    (TRACE, {"mood": None}, "mood:"),
    (TRACE, {"regard": {"feeling": 0.11}}, "regard.feeling:"),
    (TRACE, {"regard": {"chance": -1e9}}, "regard.chance:"),
    (TRACE, {"modulations": [{}]}, "modulations.0.transistor is missing"),
    (LINK, {"target": 2}, "target: a memory cannot be linked to itself"),
    (LINK, {"kind": "loves"}, "kind:"),
    (
        LINK,
        {"source": 1, "target": 2, "kind": "replaced"},
        "kind: a memory can only be replaced by a newer one",
    ),
    (LINK, {"strength": 1.01}, "strength:"),
    (SYMBOL, {"entry_id": 3}, "it refers to memory 3 of phi, which is not in the file"),
    (SYMBOL, {"id": 4}, "symbol 4 is beyond the last_symbol_id of phi, 3"),
    (SYMBOL, {"affect": None}, "affect:"),
    (SYMBOL, {"salience": 1.5}, "salience:"),
    (SYMBOL, {"faded": ...}, "faded is missing"),
    (SYMBOL, {"circle": "caity"}, "circle:"),
    (SYMBOL, {"circle": ["a"] * 10_001}, "circle: should have at most 10000 entries"),
    (TRACE, {"audience": ["a"] * 10_001}, "audience: should have at most 10000 entries"),
    (TRACE, {"thought": "x" * 20_001}, "thought: string should have at most 20000 characters"),
]


@pytest.mark.parametrize(("line", "changes", "words"), BAD_OTHERS)
def test_a_line_of_another_sort_that_is_wrong(line: bytes, changes: dict[str, Any], words: str) -> None:
    lines = GOOD.splitlines()
    number = lines.index(line) + 1
    lines[number - 1] = changed(line, **changes)
    refusal = refused(b"\n".join(lines))
    assert refusal.startswith(f"line {number}: ")
    assert words in refusal


def test_a_line_without_end_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "LONGEST", 2_000)
    file = io.BytesIO(HEADER + b"\n" + b" " * 100_000)
    with pytest.raises(UserError, match="line 2: it is longer than 2,000 bytes"):
        check(file, lambda number: None)
    assert file.tell() < 5_000


COMMIT = Commit(
    hash="f" * 40,
    parents=("f" * 40,) * 2,
    author="A" * 60,
    author_hash="f" * 16,
    authored=1.0,
    committed=1.0,
    subject="s" * 1_000,
    body="b" * LONGEST_BODY,
    files=(FileChange("p" * LONGEST_PATH, 1_000, 1_000, "p" * LONGEST_PATH),) * MOST_FILES,
    file_count=9_999,
    added=9_999,
    removed=9_999,
    issues=("#1",) * 100,
    reverts=(),
    fixes=("f" * 40,) * 100,
)
FACTS = {f"{number:060}": "☃" * 500 for number in range(50)}


@pytest.mark.parametrize(
    "data",
    [
        FACTS | {"tags": [f"{number:080}" for number in range(20)]},
        FACTS
        | {"hearsay": [["a" * 80] * LONGEST_CHAIN] * MOST_SOURCES, "hearsay_of": ["a" * 80] * MOST_MARKED},
        COMMIT.record("git:1", "r" * 80).data,
    ],
)
def test_the_most_that_a_door_or_a_source_adds_is_read(data: dict[str, Any]) -> None:
    lines, crowd = GOOD.splitlines(), [f"user_{number:070}" for number in range(5_000)]
    who = past_id_of("\ufdfa" * 60)  # a sign that stands for 18
    lines[2] = changed(FIRST, user_id=who, place="p" * 162, audience=crowd, extra={"data": data})
    into = Taken()
    take_in(io.BytesIO(b"\n".join(lines)), ["phi", "servnak"], into, lambda number: None)
    entry = into.kept["phi"][1][0].entry
    assert entry.user_id == who
    assert json.loads(json.dumps(data)) == entry.extra["data"]


def test_texts_become_one_printable_line() -> None:
    lines = GOOD.splitlines()
    lines[2] = changed(FIRST, user_text="red \x1b[31malert\x1b[0m\nnext\u202e", user_id="user\x07")
    into, file = Taken(), io.BytesIO(b"\n".join(lines))
    take_in(file, ["phi", "servnak"], into, lambda number: None)
    entry = into.kept["phi"][1][0].entry
    assert (entry.user_text, entry.user_id) == ("red alert next", "user")


def mutated(content: bytes, at: int, byte: int) -> bytes:
    at %= len(content)
    return content[:at] + bytes([byte]) + content[at + 1 :]


def outcome(content: bytes) -> str:
    """The refusal of a file, or "" when all of it was taken in."""
    try:
        found = checked(content)
    except UserError as error:
        return str(error)
    into = Taken()
    take_in(io.BytesIO(content), found.agents, into, lambda number: None)
    assert into.agents() == sorted(found.agents)
    return ""


@pytest.mark.slow
@settings(max_examples=examples(400))
@given(st.integers(0, 10**6), st.integers(0, 255))
def test_any_byte_may_be_wrong(at: int, byte: int) -> None:
    """It is refused in words, or it is still a file that can be taken in; nothing else happens."""
    words = outcome(mutated(GOOD, at, byte))
    assert not words or (words == clean(words) and "line" in words)


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@pytest.mark.slow
@settings(max_examples=examples(200))
@given(
    st.sampled_from([PHI, FIRST, TRACE, LINK]),
    st.lists(st.tuples(st.integers(0, 30), json_values), min_size=1, max_size=3),
)
def test_any_value_may_be_wrong(line: bytes, changes: list[tuple[int, Any]]) -> None:
    content = json.loads(line)
    names = list(content)
    for at, value in changes:
        content[names[at % len(names)]] = value
    lines = GOOD.splitlines()
    lines[lines.index(line)] = json.dumps(content).encode()
    words = outcome(b"\n".join(lines))
    assert not words or (words == clean(words) and "line" in words)


def test_a_file_from_before_there_were_symbols() -> None:
    lines = [json.loads(line) for line in GOOD.splitlines() if b'"type": "symbol"' not in line]
    older = [
        {key: value for key, value in line.items() if key not in ("last_symbol_id", "symbols")}
        for line in lines
    ]
    found = checked(b"\n".join(json.dumps(line).encode() for line in older))
    assert (found.entries, found.symbols) == (6, 0)
