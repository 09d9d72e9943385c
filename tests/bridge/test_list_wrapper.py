"""MemoryListWrapper: whatever a host does to its list of dicts, it gets what a list would have given."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from noodlings.bridge.list_wrapper import KNOWN_AGAIN, SHOWN, MemoryListWrapper
from noodlings.errors import UserError
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.values.affect import NEUTRAL
from tests.bridge.hosts import unmarked
from tests.memory.entries import ANXIOUS, JOYFUL, SORROWFUL, ids, texts
from tests.thorough import examples

Row = dict[str, Any]
ME = "user_caity"


def row(number: int, **changes: Any) -> Row:
    return {
        "user": ME,
        "text": f"line {number}",
        "affect": [],
        "surprise": 0.1,
        "timestamp": 1000.0 + number,
        "identity_salience": 0.0,
    } | changes


class Bridge:
    """A host: its list is an attribute, and it says so in its class."""

    conversation_context = MemoryListWrapper.attribute()


def bridge(count: int = 0) -> Any:
    host = Bridge()
    for number in range(1, count + 1):
        host.conversation_context.append(row(number))
    return host


def perceived(host: Any) -> int:
    return host.conversation_context.hm.stats().perceived


# -- the ways in which a host uses its list


def test_it_is_empty_before_the_first_assignment() -> None:
    context = bridge().conversation_context
    assert (len(context), bool(context), list(context), context == []) == (0, False, [], True)
    assert context[-10:] == []
    assert not any(entry.get("is_rumination") for entry in context)
    with pytest.raises(IndexError):
        context[-1]


def test_it_shows_the_very_dicts_that_were_appended() -> None:
    context = MemoryListWrapper()
    rows = [row(1), row(2, is_rumination=True, stage_cue="sighs", nested={"a": [1]}), {"text": "bare"}, {}]
    for one in rows:
        context.append(one)
    assert all(shown is one for shown, one in zip(context, rows, strict=True))
    assert [dict(entry) for entry in context] == rows
    assert json.loads(json.dumps(context)) == rows
    assert json.dumps(context, indent=1) == json.dumps(rows, indent=1)


@pytest.mark.slow
@pytest.mark.parametrize("given", [{}, {"surprise": 0.7}])
def test_a_host_that_gives_no_feelings_is_remembered_by_its_words(given: Row) -> None:
    context = bridge().conversation_context
    context.append({"user": "oda", "text": "my cat Pixel was run over this morning"} | given)
    for number in range(600):
        context.append({"user": "oda", "text": f"lol {number}"})
        context.append({"user": "servnak", "text": "[thought] I AM SO TERRIBLY AFRAID", "affect": []})
    known = context.hm.get_context_for_response("oda", [-0.5, 0.5, 0.0, 0.6, 0.0])
    assert known[0]["text"] == "my cat Pixel was run over this morning"
    assert texts(context.hm.retrieve_episodic(limit=None)) == texts(known[:1])


def test_a_row_that_brings_only_other_memories_is_not_counted_again() -> None:
    host = bridge()
    host.conversation_context.append(row(1, affect=SORROWFUL))
    host.conversation_context.append(row(2))
    host.conversation_context = host.conversation_context[-1:]
    host.conversation_context = json.loads(json.dumps(host.conversation_context))
    assert perceived(host) == 2
    assert texts(host.conversation_context.hm.retrieve_episodic()) == ["line 1"]


def test_the_twenty_six_uses_of_a_host() -> None:
    context = bridge(15).conversation_context
    context[3]["is_rumination"] = True
    context.append(row(16, affect=[0.1, 0.5, 0, 0, 0], identity_salience=0.8, stage_cue="grins"))
    plain = [*context]
    uses = [
        len,
        bool,
        list,
        lambda c: c[-1],
        lambda c: c[0],
        lambda c: c[-5:],
        lambda c: c[-3:],
        lambda c: c[-10:-2],
        lambda c: c[::-1],
        lambda c: c[:],
        lambda c: c[-100:],
        lambda c: c.copy(),
        lambda c: c + c[:1],
        lambda c: [entry["text"] for entry in c],
        lambda c: [entry.get("identity_salience", 0) for entry in c],
        lambda c: [entry for entry in c if entry.get("identity_salience", 0) > 0.3],
        lambda c: [entry for entry in c[-10:] if not entry.get("is_rumination", False)],
        lambda c: any(entry.get("is_rumination") for entry in c),
        lambda c: all("text" in entry for entry in c),
        lambda c: sum(1 for entry in c if entry["user"] == ME),
        lambda c: next((entry for entry in reversed(c) if entry["user"] == ME), None),
        lambda c: max(c, key=lambda entry: entry["surprise"]),
        lambda c: sorted(c, key=lambda entry: entry["text"]),
        lambda c: [(place, entry["text"]) for place, entry in enumerate(c)],
        lambda c: [dict(entry) for entry in c],
        lambda c: json.dumps({"conversation_context": c}),
        lambda c: c[2] in c,
        lambda c: c.index(c[2]),
        lambda c: "\n".join(f"{entry['user']}: {entry['text']}" for entry in c[-5:]),
        lambda c: {entry["user"] for entry in c},
    ]
    for use in uses:
        assert use(context) == use(plain)
    for read in (context[-5:], context[:], context.copy(), [*context], copy.copy(context)):
        assert type(read) is list


@pytest.mark.slow
def test_the_last_five_hundred_are_shown_and_the_last_twenty_in_mind() -> None:
    context = bridge(SHOWN + 30).conversation_context
    assert [entry["text"] for entry in context] == [f"line {number}" for number in range(31, SHOWN + 31)]
    assert texts(context.hm.working_memory) == [entry["text"] for entry in context[-20:]]
    assert perceived_by(context) == SHOWN + 30 == 530


def test_how_many_are_shown_can_be_set() -> None:
    context = MemoryListWrapper((row(number) for number in range(40)), shown=25)
    assert [entry["text"] for entry in context] == [f"line {number}" for number in range(15, 40)]
    assert len(MemoryListWrapper((row(number) for number in range(40)), shown=1)) == 20
    with pytest.raises(UserError, match="shown is 0: it must be at least 1"):
        MemoryListWrapper(shown=0)


def perceived_by(context: MemoryListWrapper) -> int:
    return context.hm.stats().perceived


def test_slice_and_reassign_keeps_the_memory() -> None:
    host = bridge()
    host.conversation_context.append(row(0, text="My dog died", affect=SORROWFUL.as_list(), surprise=0.9))
    for number in range(1, 101):
        host.conversation_context.append(row(number))
        if len(host.conversation_context) > 10:
            host.conversation_context = host.conversation_context[-10:]
    assert len(host.conversation_context) == 10
    assert perceived(host) == 101
    assert texts(host.conversation_context.hm.retrieve_episodic()) == ["My dog died"]
    assert texts(host.conversation_context.hm.retrieve_working()) == [f"line {n}" for n in range(91, 101)]


def test_assigning_nothing_empties_working_memory_only() -> None:
    host = bridge(5)
    host.conversation_context.append(row(6, affect=SORROWFUL.as_list(), surprise=0.9))
    host.conversation_context = []
    hm = host.conversation_context.hm
    assert (len(host.conversation_context), hm.retrieve_working()) == (0, [])
    assert texts(hm.retrieve_episodic()) == ["line 6"]
    assert perceived(host) == 6


def test_assigning_a_loaded_list_puts_it_in_and_counts_nothing_twice() -> None:
    saved = json.dumps([row(number) for number in range(1, 31)])
    host = bridge()
    for _ in range(3):
        host.conversation_context = json.loads(saved)
        assert host.conversation_context == json.loads(saved)
        assert perceived(host) == 30
        assert len(host.conversation_context.hm.retrieve_working()) == 20
    host.conversation_context.append(row(31))
    host.conversation_context = json.loads(json.dumps(host.conversation_context))
    assert perceived(host) == 31
    assert [entry["text"] for entry in host.conversation_context][-2:] == ["line 30", "line 31"]


def test_what_was_let_go_and_is_assigned_again_is_in_mind_again() -> None:
    host = bridge(3)
    saved = [dict(entry, response="oh") for entry in host.conversation_context]
    host.conversation_context = []
    host.conversation_context = saved
    hm = host.conversation_context.hm
    assert [(entry.id, entry.user_text, entry.response) for entry in hm.retrieve_working()] == [
        (1, "line 1", "oh"),
        (2, "line 2", "oh"),
        (3, "line 3", "oh"),
    ]
    assert perceived(host) == 3


def test_of_lines_that_are_all_the_same_the_latest_are_kept() -> None:
    host = Bridge()
    for _ in range(8):
        host.conversation_context.append({"text": "hello"})
    host.conversation_context = [dict(entry) for entry in host.conversation_context[-3:]]
    assert ids(host.conversation_context.hm.retrieve_working()) == [6, 7, 8]
    host.conversation_context = host.conversation_context[-2:]
    assert ids(host.conversation_context.hm.retrieve_working()) == [7, 8]
    assert perceived(host) == 8


def test_the_same_dict_said_twice_was_perceived_twice() -> None:
    context, again = MemoryListWrapper(), row(1)
    for _ in range(3):
        context.append(again)
    context[:] = context[1:]
    assert (len(context), perceived_by(context)) == (2, 3)
    assert len(context.hm.retrieve_working()) == 2


def test_rows_that_are_replaced_by_copies_are_not_new() -> None:
    context = bridge(4).conversation_context
    context[1] = dict(context[1])
    context[:] = [dict(entry) for entry in context]
    assert perceived_by(context) == 4
    context[1] = row(9)
    assert perceived_by(context) == 5
    assert texts(context.hm.retrieve_working()) == ["line 1", "line 3", "line 4", "line 9"]


def test_as_many_rows_are_known_again_as_an_old_bridge_keeps() -> None:
    rows = [row(number) for number in range(SHOWN + KNOWN_AGAIN + 1)]
    host = Bridge()
    host.conversation_context = rows[1:]
    host.conversation_context = copy.deepcopy(rows[1:])
    assert perceived(host) == SHOWN + KNOWN_AGAIN == 1000
    host.conversation_context = copy.deepcopy(rows)
    assert perceived(host) == 1001


def test_rows_without_a_timestamp_happened_when_the_latest_did() -> None:
    context = MemoryListWrapper()
    context.append({"text": "first"})
    context.append(row(5))
    context.append({"text": "then"})
    context.clear()
    context.append({"text": "later"})
    working = context.hm.retrieve_working()
    assert [entry.timestamp for entry in working] == [1005.0]
    assert context.hm.now == 1005.0


def test_what_matters_in_a_row_is_encoded() -> None:
    context = MemoryListWrapper()
    context.append(row(1, affect=ANXIOUS.as_list(), surprise=9.0, identity_salience=0.5, is_rumination=True))
    (entry,) = context.hm.retrieve_working()
    assert (entry.affect, entry.surprise, entry.identity_salience) == (ANXIOUS, 1.0, 0.5)
    assert entry.extra == {"is_rumination": True}
    assert texts(context.hm.get_context_for_response("user_micha", ANXIOUS)) == ["line 1"]


# -- who owns what


def test_each_host_has_its_own_memory() -> None:
    one, other = bridge(3), bridge()
    assert len(other.conversation_context) == 0
    assert one.conversation_context.hm is not other.conversation_context.hm
    assert one.conversation_context.hm is one.conversation_context.hm


def test_a_subclass_inherits_it_and_two_attributes_do_not_meet() -> None:
    class Companion(Bridge):
        other_context = MemoryListWrapper.attribute()

    host: Any = Companion()
    host.conversation_context = [row(1)]
    host.other_context.append(row(2))
    assert [entry["text"] for entry in host.conversation_context] == ["line 1"]
    assert [entry["text"] for entry in host.other_context] == ["line 2"]


def test_the_memory_behind_it_can_be_chosen() -> None:
    class Forgetful:
        conversation_context = MemoryListWrapper.attribute(
            lambda: HierarchicalMemory(working_capacity=2), shown=3
        )

    host: Any = Forgetful()
    host.conversation_context = [row(number) for number in range(1, 6)]
    assert [entry["text"] for entry in host.conversation_context] == ["line 3", "line 4", "line 5"]
    assert texts(host.conversation_context.hm.working_memory) == ["line 4", "line 5"]


def test_the_class_itself_gives_the_attribute() -> None:
    assert type(Bridge.conversation_context).__name__ == "ListAttribute"


def test_assigning_it_to_itself_changes_nothing() -> None:
    host = bridge(3)
    before = host.conversation_context
    host.conversation_context = host.conversation_context
    assert host.conversation_context is before
    assert (len(before), perceived(host)) == (3, 3)
    host.conversation_context += [row(4)]
    assert host.conversation_context is before
    assert (len(before), perceived(host)) == (4, 4)


def test_a_deep_copy_has_a_memory_of_its_own() -> None:
    host = bridge(3)
    twin = copy.deepcopy(host)
    assert twin.conversation_context == host.conversation_context
    assert twin.conversation_context[0] is not host.conversation_context[0]
    twin.conversation_context.append(row(4))
    twin.conversation_context.hm.add(9.0, 1, ME, "by hand", NEUTRAL)
    assert (len(host.conversation_context), perceived(host)) == (3, 3)
    assert [len(twin.conversation_context), perceived(twin)] == [5, 5]
    assert len(host.conversation_context.hm.retrieve_working()) == 3


def test_a_shallow_copy_and_a_saved_one_are_plain_lists() -> None:
    context = bridge(3).conversation_context
    for copied in (copy.copy(context), pickle.loads(pickle.dumps(context))):
        assert type(copied) is list
        assert copied == context
    assert perceived_by(context) == 3


def test_a_host_with_slots_is_told_what_it_needs() -> None:
    class Slotted:
        __slots__ = ("name",)
        conversation_context = MemoryListWrapper.attribute()

    class Roomy:
        __slots__ = ("__dict__",)
        conversation_context = MemoryListWrapper.attribute()

    with pytest.raises(UserError, match="Slotted has __slots__, and needs '__dict__' among them"):
        Slotted().conversation_context.append(row(1))
    host: Any = Roomy()
    host.conversation_context = [row(1)]
    assert len(host.conversation_context) == 1


# -- working memory changed by others


def test_what_the_memory_perceives_by_other_ways_is_shown() -> None:
    hm = HierarchicalMemory(working_capacity=3)
    hm.add(1, 1, ME, "before", JOYFUL, None, 0.25, identity_salience=0.5)
    context = MemoryListWrapper(hm)
    context.append(row(2))
    entry = hm.add(3, 3, ME, "after", NEUTRAL)
    assert unmarked(context) == [
        {
            "user": ME,
            "text": "before",
            "affect": JOYFUL.as_list(),
            "surprise": 0.25,
            "timestamp": 1.0,
            "identity_salience": 0.5,
        },
        row(2),
        row(0, text="after", affect=NEUTRAL.as_list(), surprise=0.0, timestamp=3.0),
    ]
    hm.add(4, 4, ME, "last", NEUTRAL)
    assert [one["text"] for one in context] == ["before", "line 2", "after", "last"]
    context.assign(json.loads(json.dumps(context)))
    assert (hm.stats().perceived, hm.find(entry.id).user_text) == (4, "after")


def test_what_is_forgotten_is_not_shown() -> None:
    context = bridge(3).conversation_context
    context.hm.forget([2])
    assert [entry["text"] for entry in context] == ["line 1", "line 3"]


# -- the same as a list, whatever is done


lines = st.builds(
    lambda text, timestamp: {"text": text} | ({} if timestamp is None else {"timestamp": timestamp}),
    st.sampled_from(["hello", "ok", "brb", "my dog died"]),
    st.none() | st.integers(0, 5),
)
rows = st.lists(lines, max_size=8)
places = st.integers(-8, 8)
slices = st.slices(8)


class ListMachine(RuleBasedStateMachine):
    """The wrapper beside a real list that is cut to the same length after each step."""

    @initialize(capacity=st.sampled_from([1, 3, 20]))
    def begin(self, capacity: int) -> None:
        class Host:
            context = MemoryListWrapper.attribute(
                lambda: HierarchicalMemory(working_capacity=min(capacity, 4)), shown=capacity
            )

        self.host: Any = Host()
        self.model: list[Row] = []
        self.capacity = capacity

    def do(self, action: Any) -> None:
        """The same to both: the same result, or the same kind of error."""
        results = []
        for target in (self.model, self.host.context):
            try:
                results.append(action(target))
            except (IndexError, ValueError, TypeError) as error:
                results.append(type(error))
        assert results[0] == results[1]
        self.cut()

    def cut(self) -> None:
        del self.model[: -self.capacity]

    @rule(line=lines)
    def append(self, line: Row) -> None:
        self.do(lambda target: target.append(line))

    @rule(more=rows)
    def extend(self, more: list[Row]) -> None:
        self.do(lambda target: target.extend(iter(more)))

    @rule(more=rows)
    def add_in_place(self, more: list[Row]) -> None:
        self.host.context += more
        self.model += more
        self.cut()

    @rule()
    def extend_by_itself(self) -> None:
        self.do(lambda target: target.extend(target))

    @rule(place=places, line=lines)
    def insert(self, place: int, line: Row) -> None:
        self.do(lambda target: target.insert(place, line))

    @rule(place=st.none() | places)
    def pop(self, place: int | None) -> None:
        self.do(lambda target: target.pop() if place is None else target.pop(place))

    @rule(line=lines)
    def remove(self, line: Row) -> None:
        self.do(lambda target: target.remove(line))

    @rule(place=places)
    def delete(self, place: int) -> None:
        self.do(lambda target: target.__delitem__(place))

    @rule(part=slices)
    def delete_slice(self, part: slice) -> None:
        self.do(lambda target: target.__delitem__(part))

    @rule(place=places, line=lines)
    def replace(self, place: int, line: Row) -> None:
        self.do(lambda target: target.__setitem__(place, line))

    @rule(part=slices, more=rows)
    def replace_slice(self, part: slice, more: list[Row]) -> None:
        self.do(lambda target: target.__setitem__(part, more))

    @rule()
    def reverse(self) -> None:
        self.do(lambda target: target.reverse())

    @rule(backwards=st.booleans())
    def sort(self, backwards: bool) -> None:
        self.do(lambda target: target.sort(key=lambda line: line["text"], reverse=backwards))

    @rule()
    def sort_without_an_order(self) -> None:
        self.do(lambda target: target.sort())

    @rule(times=st.integers(-1, 3))
    def repeat(self, times: int) -> None:
        self.model *= times
        self.host.context *= times
        self.cut()

    @rule()
    def clear(self) -> None:
        self.do(lambda target: target.clear())

    @rule(part=slices)
    def assign_a_part_of_itself(self, part: slice) -> None:
        self.host.context = self.host.context[part]
        self.model = self.model[part]

    @rule(more=rows)
    def assign_another(self, more: list[Row]) -> None:
        self.host.context = more
        self.model = list(more)
        self.cut()

    @rule()
    def assign_itself_saved_and_loaded(self) -> None:
        before = self.host.context.hm.stats().perceived
        self.host.context = json.loads(json.dumps(self.host.context))
        self.model = self.host.context[:]
        assert self.host.context.hm.stats().perceived == before

    @rule(part=slices, line=lines, place=places)
    def read(self, part: slice, line: Row, place: int) -> None:
        self.do(lambda target: target[part])
        self.do(lambda target: target[place])
        self.do(lambda target: (line in target, target.count(line)))
        self.do(lambda target: target.index(line))
        self.do(lambda target: (target.__add__([line]), target * 2, 2 * target, target == [line]))

    @invariant()
    def shows_the_same(self) -> None:
        context = self.host.context
        assert len(context) == len(self.model)
        assert all(shown is line for shown, line in zip(context, self.model, strict=True))
        assert json.dumps(context) == json.dumps(self.model)

    @invariant()
    def working_memory_holds_what_is_shown(self) -> None:
        working = self.host.context.hm.retrieve_working()
        shown = self.model[-self.host.context.hm.working_capacity :]
        assert sorted(texts(working)) == sorted(line["text"] for line in shown)


ListMachine.TestCase.settings = settings(max_examples=examples(60), stateful_step_count=30)
TestAsAList = ListMachine.TestCase
