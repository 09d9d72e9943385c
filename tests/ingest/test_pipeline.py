"""Each record of a source becomes a memory once, and none of it moves who remembers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noodlings.agent.society import Society
from noodlings.agent.state import readable_state
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import PrivacySettings, Settings
from noodlings.errors import StoreError
from noodlings.ingest.pipeline import AT_ONCE, PAUSES, SHOWN, Pipeline
from noodlings.ingest.record import VERSION, SourceNote, SourceProblem, SourceRecord, SourceWithheld
from noodlings.ports import Changes, Repository
from noodlings.store.memory import MemoryStore
from noodlings.store.sql import SqlStore
from noodlings.values.audience import Audience, Tier, confined_to
from noodlings.values.caller import Caller, Role
from noodlings.values.memory import Link, LinkType
from noodlings.values.percept import Kind, Percept
from tests.thorough import examples

NOW, LONG_AGO = 1_700_000_000.0, 1_050_000_000.0
SETTINGS = Settings(embedding={"model": "none"}, world={"seed": 1})
ADMIN = Caller("user_root", "root", Role.ADMIN)
Item = SourceRecord | SourceProblem | SourceNote


def a_record(number: int, text: str = "", **changes: Any) -> SourceRecord:
    fields: dict[str, Any] = {"who": "Caity", "timestamp": LONG_AGO + number, "line": number}
    return SourceRecord("talk:log", str(number), text or f"line {number}", **(fields | changes))


def a_society(store: Repository | None = None, settings: Settings = SETTINGS) -> Society:
    return build(settings, clock=ManualClock(NOW), store=store or MemoryStore())


def a_pipeline(society: Society, slept: list[float] | None = None, **options: Any) -> Pipeline:
    sleep = (slept if slept is not None else []).append
    agent, store = society.agents["phi"], society.store
    return Pipeline(agent, store, society.introduce_all, undated=LONG_AGO, sleep=sleep, **options)


def told(society: Society) -> list[str]:
    return [entry.user_text for entry in society.store.archive("phi", limit=10_000)]


def test_a_record_becomes_a_memory_with_its_own_time_and_nobody_of_today() -> None:
    society = a_society()
    report = a_pipeline(society).run(
        [a_record(1, "my sister Ada drowned in the harbour", place="Harbour", data={"mood": "wet"})]
    )
    (entry,) = society.store.archive("phi")
    assert (report.new, report.problem_count) == (1, 0)
    assert (entry.timestamp, entry.source, entry.place) == (LONG_AGO + 1, "talk:log", "Harbour")
    assert (entry.user_id, society.names()["past:caity"]) == ("past:caity", "Caity")
    assert entry.extra == {"data": {"mood": "wet"}}
    assert entry.importance > 0.3
    assert [member.id for member in society.agents["phi"].memory.retrieve_episodic()] == [entry.id]


def test_what_was_told_moves_nothing_and_is_never_in_working_memory() -> None:
    store = MemoryStore()
    society = a_society(store)
    agent = society.agents["phi"]
    asyncio.run(agent.perceive(Percept("user_bob", "hello there", NOW)))

    def now() -> tuple[object, ...]:
        state = readable_state(agent.state().data)
        return state, agent.mood, agent.memory.now, [entry.id for entry in agent.memory.retrieve_working()]

    before = now()
    a_pipeline(society).run([*(a_record(n, f"I am terrified of {n} wolves!!") for n in range(60))])
    assert now() == before
    again = a_society(store).agents["phi"]
    assert [entry.id for entry in again.memory.retrieve_working()] == before[-1]
    assert again.memory.now == NOW
    assert again.memory.perceived == 61
    assert not again.subconscious.symbols


@pytest.mark.slow
def test_a_second_time_nothing_is_new_and_what_was_appended_is() -> None:
    society = a_society()
    records = [a_record(n) for n in range(1, 2 * AT_ONCE + 7)]
    a_pipeline(society).run([*records])
    report = a_pipeline(society).run([*records, a_record(9_999)])
    assert (report.new, report.unchanged) == (1, len(records))
    assert len(told(society)) == len(records) + 1


def test_the_same_record_twice_in_one_transaction_is_one_memory() -> None:
    society = a_society()
    report = a_pipeline(society).run([a_record(1), a_record(1)])
    assert (report.new, report.unchanged, told(society)) == (1, 1, ["line 1"])


def test_a_record_that_changed_stands_beside_its_former_self_and_replaces_it() -> None:
    society = a_society()
    a_pipeline(society).run([a_record(1, "the key is under the mat"), a_record(2)])
    report = a_pipeline(society).run([a_record(1, "the key is under the stone"), a_record(2)])
    assert (report.changed, report.unchanged) == (1, 1)
    assert told(society) == ["the key is under the mat", "line 2", "the key is under the stone"]
    assert Link(3, 1, LinkType.REPLACED, 1.0, LONG_AGO + 1) in society.store.links_of("phi", [1])
    assert society.store.taken("phi", "talk:log", ["1"])["1"].entry_id == 3


def take_twice(society: Society, rows: Sequence[Item | SourceWithheld]) -> list[tuple[int, int, int]]:
    """Of two runs over the same: how many are new or changed, superseded, and withheld."""
    reports = [a_pipeline(society).run([*rows], reread=lambda: rows) for _ in range(2)]
    return [(one.new + one.changed, one.superseded, one.withheld) for one in reports]


@pytest.mark.parametrize("between", [0, AT_ONCE])
def test_of_one_id_twice_the_last_counts_and_the_same_again_adds_nothing(between: int) -> None:
    society = a_society()
    rows = [
        a_record(1, "the key is under the mat", line=1),
        *(a_record(10 + number) for number in range(between)),
        a_record(1, "the key is under the stone", line=1_000),
        a_record(1, "the key is lost", line=1_001),
    ]
    first, again = take_twice(society, rows)
    assert (first, again) == ((between + 3, 0, 0), (0, 2, 0))
    rows[-1] = a_record(1, "the key is found", line=1_001)
    assert take_twice(society, rows) == [(1, 2, 0), (0, 2, 0)]
    assert take_twice(society, rows[:1]) == [(1, 0, 0), (0, 0, 0)]  # an edit that was taken back


def test_of_one_id_twice_what_was_forgotten_stays_so_with_whoever_told_it() -> None:
    society = a_society()
    rows = [a_record(1, "my pin is 4455", who="Bob", line=1), a_record(1, "hm", who="Ann", line=2)]
    a_pipeline(society).run([*rows])
    (first, _) = society.store.archive("phi")
    society.corrections.forget(ADMIN, "phi", [first.id])
    society.forget_names({"past:bob"})
    assert take_twice(society, rows) == [(0, 1, 0), (0, 1, 0)]
    assert told(society) == ["hm"]
    assert "past:bob" not in society.names()


@pytest.mark.parametrize("last", [True, False])
def test_of_one_id_twice_a_wrong_row_counts_if_it_is_the_last(last: bool) -> None:
    society = a_society()
    row, wrong = a_record(1, "the gold lies here", line=2), SourceWithheld(3 if last else 1, "talk:log", "1")
    first, again = take_twice(society, [row, wrong] if last else [wrong, row])
    assert (first, again) == (((1, 0, 1), (0, 1, 1)) if last else ((1, 0, 0), (0, 1, 0)))
    assert [entry.audience.confined for entry in society.store.archive("phi")] == [last]


def test_of_one_id_twice_what_waits_does_so_once() -> None:
    society = a_society()
    rows = [
        SourceProblem(1, "it is newer", "talk:log", "1", "Bob", {"version": 99, "text": "one"}),
        SourceProblem(2, "it is newer", "talk:log", "1", "Bob", {"version": 99, "text": "two"}),
    ]
    take_twice(society, rows)
    (waiting,) = society.store.parked("phi")
    assert (waiting.record, waiting.attempts) == (rows[1].kept, 2)


@pytest.mark.parametrize("after", [1, 2])
def test_of_one_id_twice_an_interrupted_run_is_finished_by_the_next(after: int) -> None:
    society = a_society()
    rows = [
        a_record(1, "the key is under the mat", line=1),
        *(a_record(10 + number) for number in range(AT_ONCE - 1)),
        a_record(1, "the key is under the stone", line=1_000),
        *(a_record(1_000 + number) for number in range(AT_ONCE - 1)),
        a_record(1, "the key is lost", line=2_000),
    ]

    def killed() -> Iterator[Item]:
        yield from rows[: after * AT_ONCE]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        a_pipeline(society).run(killed(), reread=lambda: rows)
    assert take_twice(society, rows)[1] == (0, 2, 0)
    forms = [text for text in told(society) if "the key is" in text]
    assert forms == [row.text for row in rows if row.id == "1"]


def test_a_new_form_replaces_what_was_corrected_too_and_is_forgotten_with_it() -> None:
    society = a_society()
    a_pipeline(society).run([a_record(1, "the key is under the matt")])
    (entry,) = society.store.archive("phi")
    corrected = society.agents["phi"].correct(entry, "the key is under the mat")
    a_pipeline(society).run([a_record(1, "the key is lost")])
    asked = Percept("user_bob", "Phi, where is the key?", NOW, addressed=True)
    trace = asyncio.run(society.perceive("phi", asked))
    assert {one.superseded_by for one in trace.recalled if one.entry_id == corrected.id} <= {3}
    assert "mat" not in (trace.response or "")
    admin = Caller("user_root", "root", Role.ADMIN)
    assert society.corrections.forget(admin, "phi", [3]).count >= 3
    assert not [text for text in told(society) if "key is" in text]


@pytest.mark.parametrize("together", [True, False])
def test_a_form_that_fewer_may_know_confines_the_former_ones(together: bool) -> None:
    society = a_society()
    forms = [
        a_record(1, "the vault opens with the quince key"),
        a_record(1, "the quince key!", kind=Kind.WHISPER),
    ]
    if together:
        a_pipeline(society).run(forms)
    else:
        a_pipeline(society).run(forms[:1])
        (entry,) = society.store.archive("phi")
        society.agents["phi"].correct(entry, "the vault opens with the copper key")
        a_pipeline(society).run(forms[1:])
    assert all(entry.audience.confined for entry in society.store.archive("phi"))
    asked = Percept("user_alice", "Phi, what opens the vault?", NOW, addressed=True)
    assert "key" not in (asyncio.run(society.perceive("phi", asked)).response or "")


def test_a_form_that_is_sealed_leaves_no_word_in_answers_traces_and_own_lines() -> None:
    society = a_society()
    a_pipeline(society).run([a_record(1, "my sister Adelina drowned in the harbour of Genoa")])
    for asked in ("Phi, who drowned in the harbour of Genoa?", "Phi, what did you say of the harbour?"):
        asyncio.run(society.perceive("phi", Percept("user_bob", asked, NOW, addressed=True)))
    assert "adelina" in str(society.store.traces("phi", 9)).casefold()
    sealed = Audience().at_least(Tier.SEALED)
    a_pipeline(society).run([a_record(1, "my sister Adelina drowned", audience=sealed)])
    store = society.store
    told_now = (store.traces("phi", 9), store.archive("phi"), society.agents["phi"].state().data["said"])
    assert "adelina" not in str(told_now).casefold()
    assert {trace.audience.tier for trace in store.traces("phi", 9)} >= {Tier.SEALED}
    answered = [entry.id for entry in store.secret("phi") if "adelina" in (entry.response or "").casefold()]
    assert answered
    forgotten = society.corrections.forget(ADMIN, "phi", [1])
    assert {*answered} <= {*forgotten.redacted}
    assert "adelina" not in str([entry.response for entry in store.secret("phi")]).casefold()


@pytest.mark.parametrize("between", [0, 30])
@pytest.mark.parametrize("together", [True, False])
def test_it_confines_all_former_ones(together: bool, between: int) -> None:
    society = a_society()
    forms = [
        a_record(1, "the vault opens with the quince key"),
        *(a_record(10 + number) for number in range(between)),
        a_record(1, "the vault opens with the copper key"),
        a_record(1, "the quince key!", kind=Kind.WHISPER),
    ]
    for records in [forms] if together else [[form] for form in forms]:
        a_pipeline(society).run(records)
    vault = [entry for entry in society.store.archive("phi") if "key" in entry.user_text]
    assert len(vault) == 3
    assert all(entry.audience.confined for entry in vault)


def test_who_is_forgotten_is_not_introduced_again() -> None:
    society = a_society()
    a_pipeline(society).run([a_record(1, who="Bob Quill"), a_record(2)])
    (first, _) = society.store.archive("phi")
    society.corrections.forget(Caller("user_root", "root", Role.ADMIN), "phi", [first.id])
    society.forget_names({"past:bob_quill"})
    a_pipeline(society).run([a_record(1, who="Bob Quill"), a_record(2)])
    assert "past:bob_quill" not in society.names()


@pytest.mark.parametrize("forms", [2, 3])
def test_recall_marks_the_former_form_and_brings_the_one_that_holds(forms: int) -> None:
    society = a_society()
    for number in range(forms):
        a_pipeline(society).run([a_record(1, f"the boathouse key is under stone {number}")])
    asked = Percept("user_bob", "Phi, where is the boathouse key?", NOW, addressed=True)
    trace = asyncio.run(society.perceive("phi", asked))
    marks = {one.entry_id: (one.supersedes, one.superseded_by) for one in trace.recalled}
    assert marks[1][1] == 2
    assert marks[forms] == ((forms - 1,), None)


@pytest.mark.parametrize("lived", [True, False])
def test_what_was_lived_comes_due_and_what_a_log_tells_does_not(lived: bool) -> None:
    society = a_society()
    agent, plan, day = society.agents["phi"], "tomorrow I have to go to the doctor in Leeds", 86_400.0
    if lived:
        asyncio.run(agent.perceive(Percept("past:caity", plan, NOW - 3 * day)))
    else:
        a_pipeline(society).run([a_record(1, plan, timestamp=NOW - 3 * day)])
    came = asyncio.run(agent.perceive(Percept("past:caity", "hello again", NOW, addressed=True)))
    assert any("due" in one.why for one in came.recalled) is lived


def test_what_was_forgotten_does_not_come_back_and_leaves_no_word() -> None:
    society = a_society()
    a_pipeline(society).run([a_record(1, "a secret"), a_record(2)])
    society.corrections.forget(ADMIN, "phi", [1])
    assert society.store.taken("phi", "talk:log", ["1"])["1"].digest == ""
    report = a_pipeline(society).run([a_record(1, "a secret"), a_record(1, "another"), a_record(2)])
    assert (report.new, report.changed, report.forgotten, report.unchanged) == (0, 0, 2, 1)
    assert told(society) == ["line 2"]


def test_what_is_wrong_waits_with_its_reason_and_the_rest_is_kept() -> None:
    society = a_society()
    wrong = [
        a_record(1, "\x1b[2J\u202e"),
        a_record(2, timestamp=float("nan")),
        a_record(3, timestamp="noon"),
        a_record(4, kind="dance"),
        replace(a_record(5), text=7),  # type: ignore[arg-type]
        a_record(6, "x" * 30_000),
        a_record(7, timestamp=-5.0),
        a_record(8, place="x" * 30_000),
    ]
    report = a_pipeline(society).run([*wrong, a_record(9, timestamp=None, data={"x": float("nan")})])
    assert (report.new, report.parked, report.problem_count) == (1, 8, 8)
    assert [problem.line for problem in report.problems] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert all(problem.why.split(":")[0] in ("normalise", "find") for problem in report.problems)
    waiting = society.store.parked("phi")
    assert [one.id for one in waiting] == ["1", "2", "3", "4", "5", "6", "7", "8"]
    assert waiting[5].record is not None
    assert waiting[5].record["text"] == "x" * 30_000
    assert society.store.archive("phi")[0].timestamp == LONG_AGO + 8  # as of the last that says one
    again = a_pipeline(society).run([*wrong])
    assert (again.parked, again.waiting) == (0, 8)
    assert a_pipeline(society).retry().parked == 8
    assert {one.attempts for one in society.store.parked("phi")} == {2}


def test_a_newer_form_waits_whole_until_it_can_be_read() -> None:
    society = a_society()
    row = {"version": VERSION + 1, "text": "hm", "user": "Bob", "aura": "green"}
    report = a_pipeline(society).run([SourceProblem(3, "it is newer", "talk:log", "3", "Bob", row)])
    assert (report.parked, report.problems[0].line) == (1, 3)
    (waits,) = society.store.parked("phi")
    assert (waits.record, waits.user_id) == (row, "past:bob")
    a_pipeline(society).retry()
    (again,) = society.store.parked("phi")
    assert (again.record, again.user_id) == (row, "past:bob")
    older = replace(waits, record=row | {"version": VERSION, "who": "Bob"})
    society.store.commit(Changes("phi", taken=(older,)))
    assert a_pipeline(society).retry().new == 1
    assert (told(society), society.store.parked("phi")) == (["hm"], [])


@pytest.mark.parametrize("tier", [2, 3, 4, "secret"])
def test_a_newer_form_that_is_secret_does_not_wait(tier: object) -> None:
    society = a_society()
    row = {"version": VERSION + 1, "text": "hm", "user": "Bob", "tier": tier}
    newer = SourceProblem(3, "it is newer", "talk:log", "3", "Bob", row)
    confined = replace(newer, id="4", kept=row | {"tier": 1})
    report = a_pipeline(society).run([newer, confined])
    assert (report.parked, report.problem_count) == (1, 2)
    assert [one.id for one in society.store.parked("phi")] == ["4"]


@pytest.mark.parametrize("tier", [Tier.CONFINED, Tier.SECRET])
@pytest.mark.parametrize("newer", [False, True])
def test_a_private_form_that_cannot_be_kept_confines_the_former_one(newer: bool, tier: Tier) -> None:
    society = a_society()
    a_pipeline(society).run([a_record(1, "the vault opens with the quince key")])
    form = a_record(1, "plum " * 6_000, audience=Audience().at_least(tier))
    kept = {"version": VERSION + 1, "text": "hm", "tier": int(tier)}
    item = SourceProblem(1, "it is newer", form.source, form.id, "Bob", kept) if newer else form
    assert a_pipeline(society).run([item]).problem_count == 1
    (entry,) = society.store.archive("phi")
    assert entry.tier is tier
    asked = Percept("user_alice", "Phi, what opens the vault?", NOW, addressed=True)
    assert "quince" not in (asyncio.run(society.perceive("phi", asked)).response or "")


def test_what_was_withheld_is_taken_in_again_once_it_can_be_read() -> None:
    society, record = a_society(), a_record(1, "the vault opens with the quince key")
    withheld = SourceWithheld(1, record.source, record.id)
    assert a_pipeline(society).run([withheld]).withheld == 0  # nobody knows it
    a_pipeline(society).run([record])
    for _ in range(2):
        report = a_pipeline(society).run([withheld])
        assert (report.withheld, report.unchanged) == (1, 0)
    assert [entry.audience.confined for entry in society.store.archive("phi")] == [True]
    assert a_pipeline(society).run([record]).changed == 1
    assert a_pipeline(society).run([record]).unchanged == 1
    former, now = society.store.archive("phi")
    assert (former.audience.confined, now.audience.confined) == (True, False)
    asked = Percept("user_alice", "Phi, what opens the vault?", NOW, addressed=True)
    assert "quince" in (asyncio.run(society.perceive("phi", asked)).response or "")


@pytest.mark.parametrize("first", ["", "short"])
def test_what_waits_is_gone_once_it_is_secret(first: str) -> None:
    society = a_society()
    open_form, secret = a_record(1, "plum " * 6_000), Audience().at_least(Tier.SECRET)
    a_pipeline(society).run([a_record(1, first), open_form] if first else [open_form])
    report = a_pipeline(society).run([replace(open_form, audience=secret)])
    assert (report.parked, report.problem_count) == (0, 1)
    assert not any("plum" in str(one.record) for one in society.store.parked("phi"))
    assert a_pipeline(society).retry().new == 0
    report = a_pipeline(society).run([a_record(1, "plum")])
    assert (report.new, report.changed) == ((0, 1) if first else (1, 0))


def test_a_newer_form_with_half_a_character_stops_nothing() -> None:
    society = a_society()
    row = {"version": VERSION + 1, "text": "hm \ud800", "\ud800": ["\ud800"]}
    odd = SourceProblem(3, "it is newer", "talk:log", "3", "Bob", row)
    report = a_pipeline(society).run([odd, a_record(4, "short")])
    assert (report.parked, report.new) == (1, 1)
    (waits,) = society.store.parked("phi")
    assert waits.record == {"version": VERSION + 1, "text": "hm ?", "?": ["?"]}


def test_what_waits_is_masked_like_a_memory() -> None:
    masked = SETTINGS.model_copy(update={"privacy": PrivacySettings(personal="mask")})
    society, address = a_society(settings=masked), "bob@example.com"
    row = {"version": VERSION + 1, "words": [{"text": f"write to {address}"}]}
    records: list[Item] = [
        a_record(1, f"write to {address} {'x ' * 12_000}", place=address, data={"to": [address]}),
        SourceProblem(2, f"it is newer than {address}", "talk:log", "2", "Bob", row),
        a_record(3, timestamp=address),
    ]
    assert a_pipeline(society).run([*records]).parked == 3
    assert a_pipeline(society).run([*records]).waiting == 3
    for waiting in society.store.parked("phi"):
        assert address not in f"{waiting.reason} {waiting.record}"
    (long, newer, _) = society.store.parked("phi")
    assert (long.record or {})["text"].startswith("write to [e-mail address] x x")
    assert (long.record or {})["who"] == "Caity"
    assert (newer.record or {})["words"] == [{"text": "write to [e-mail address]"}]


def test_forgetting_somebody_reaches_what_waits() -> None:
    society = a_society()
    a_pipeline(society).run([a_record(1, "x" * 30_000), a_record(2, "y" * 30_000, who="Bob")])
    assert society.corrections.forget_user(ADMIN, "phi", "past:bob").count == 1
    assert society.corrections.forget_user(ADMIN, "phi", "past:bob").count == 0
    assert [one.id for one in society.store.parked("phi")] == ["1"]
    assert a_pipeline(society).run([a_record(2, "short", who="Bob")]).forgotten == 1


class Refusing(MemoryStore):
    """Refuses so many commits, and each that holds a certain word."""

    def __init__(self, times: int = 0, word: str = "") -> None:
        super().__init__()
        self.times, self.word = times, word

    def commit(self, changes: Changes) -> None:
        if self.times or (self.word and any(self.word in entry.user_text for entry in changes.added)):
            self.times = max(self.times - 1, 0)
            raise StoreError("the disk is full")
        super().commit(changes)


def test_what_the_store_refuses_is_tried_again_after_growing_pauses() -> None:
    society, slept = a_society(Refusing(2)), list[float]()
    report = a_pipeline(society, slept).run([a_record(1), a_record(2)])
    assert (slept, report.new, told(society)) == ([*PAUSES[:2]], 2, ["line 1", "line 2"])


def test_what_only_one_record_is_refused_for_costs_no_other() -> None:
    society, slept = a_society(Refusing(word="poison")), list[float]()
    report = a_pipeline(society, slept).run([a_record(1), a_record(2, "poison"), a_record(3)])
    assert (report.new, report.parked, told(society)) == (2, 1, ["line 1", "line 3"])
    assert society.store.parked("phi")[0].reason == "store: the disk is full"
    assert slept == [*PAUSES]


def test_a_store_that_takes_nothing_ends_it_and_later_it_goes_on() -> None:
    store = Refusing(1_000)
    society = a_society(store)
    with pytest.raises(StoreError, match="the disk is full"):
        a_pipeline(society).run([a_record(1), a_record(2)])
    store.times = 0
    assert a_pipeline(society).run([a_record(1), a_record(2)]).new == 2
    assert told(society) == ["line 1", "line 2"]


def test_a_dry_run_counts_and_keeps_nothing() -> None:
    society = a_society()
    a_pipeline(society).run([a_record(1), a_record(2)])
    report = a_pipeline(society, dry_run=True).run(
        [a_record(1), a_record(2, "else"), a_record(3), a_record(4, "\0")]
    )
    assert (report.new, report.changed, report.unchanged, report.parked) == (1, 1, 1, 1)
    assert len(told(society)) == 2
    assert society.store.parked("phi") == []


def test_lines_of_one_talk_are_linked_and_the_agent_knows_its_own() -> None:
    society = a_society()
    a_pipeline(society).run([a_record(1), a_record(20), a_record(30, who="PHI")])
    assert society.store.links_of("phi", [1, 2, 3])[0].type is LinkType.FOLLOWED
    assert society.store.archive("phi")[2].user_id == "phi"


def test_what_was_whispered_stays_between_those_who_knew() -> None:
    society = a_society()
    secret = confined_to({"user_maren"})
    a_pipeline(society).run([a_record(1, kind=Kind.WHISPER), a_record(2, audience=secret)])
    whisper, confined = society.store.archive("phi")
    assert whisper.audience == Audience(frozenset({"past:caity", "phi"}), confined=True)
    assert confined.audience.witnesses >= {"user_maren", "phi"}
    assert confined.private


def test_only_the_first_problems_are_named_and_all_are_counted() -> None:
    problems = [SourceProblem(n, "torn") for n in range(3 * AT_ONCE)]
    report = a_pipeline(a_society()).run([*problems, SourceNote(0, "odd")])
    assert (report.problem_count, len(report.problems)) == (3 * AT_ONCE, SHOWN)
    assert report.notes == [SourceNote(0, "odd")]


names = st.text(max_size=80)


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.tuples(names, st.text(max_size=60), st.none() | st.floats()), max_size=8))
def test_nothing_that_a_name_or_a_line_holds_stops_it(lines: Sequence[tuple[str, str, float | None]]) -> None:
    society = a_society()
    records = [
        SourceRecord("talk:log", str(number), text, who, moment, line=number)
        for number, (who, text, moment) in enumerate(lines, 1)
    ]
    report = a_pipeline(society).run([*records])
    assert report.new + report.parked == len(records)
    assert a_pipeline(society).run([*records]).new == 0
    own = {"phi"}
    assert all(
        entry.user_id.startswith("past:") or entry.user_id in own for entry in society.store.archive("phi")
    )


def test_it_is_all_there_after_a_restart(tmp_path: Path) -> None:
    with_store = a_society(SqlStore(tmp_path))
    a_pipeline(with_store).run([a_record(1), a_record(2, "\0")])
    with_store.close()
    society = a_society(SqlStore(tmp_path))
    report = a_pipeline(society).run([a_record(1), a_record(2, "\0")])
    assert (report.unchanged, report.waiting) == (1, 1)
    society.close()
