"""What symbols are to a store, over every adapter."""

from __future__ import annotations

import math
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.errors import StoreError
from noodlings.memory.change_journal import ChangeJournal
from noodlings.memory.subconscious import SubconsciousMemory
from noodlings.ports import AgentRecord, Changes
from noodlings.store.forgetting import FORGOTTEN
from noodlings.values.affect import Affect
from noodlings.values.memory import Symbol
from noodlings.values.trace import Modulation
from tests.fakes import ScriptedSymbolist
from tests.store.either import AnyStore, Make, filled, the_entry
from tests.store.records import AGENT, a_symbol, a_trace, an_entry, symbols

NUMBERS = count()


def loaded(store: AnyStore, agent_id: str = AGENT) -> AgentRecord:
    record = store.load(agent_id)
    assert record is not None
    return record


@given(symbols)
def test_any_symbol_comes_back_as_it_was(lasting: AnyStore, symbol: Symbol) -> None:
    agent_id = f"agent {next(NUMBERS)}"
    lasting.commit(Changes(agent_id, added=(an_entry(1),), symbols=(symbol,)))
    assert loaded(lasting, agent_id).symbols == (symbol,)
    assert loaded(lasting, agent_id).last_symbol_id == symbol.id


def test_symbols_come_oldest_first_and_without_those_that_faded(store: AnyStore) -> None:
    filled(store, 3)
    store.commit(Changes(AGENT, symbols=(a_symbol(2, 1), a_symbol(1, 3), a_symbol(3, 3)), faded=(1,)))
    assert loaded(store).symbols == (a_symbol(2, 1), a_symbol(3, 3))
    store.commit(Changes(AGENT, faded=(3, 2, 99)))
    assert loaded(store).symbols == ()
    assert loaded(store).last_symbol_id == 3


def test_a_symbol_goes_with_its_memory_and_its_id_is_never_given_again(store: AnyStore) -> None:
    filled(store, 2)
    store.commit(Changes(AGENT, symbols=(a_symbol(1, 1), a_symbol(2, 2), a_symbol(3, 2)), faded=(3,)))
    store.forget(AGENT, [2], by_user="user_caity", timestamp=9.0)
    assert loaded(store).symbols == (a_symbol(1, 1),)
    assert loaded(store).last_symbol_id == 3
    store.forget(AGENT, [1], by_user="user_caity", timestamp=9.0)
    assert loaded(store).symbols == ()
    assert loaded(store).last_symbol_id == 3


def test_a_symbol_of_what_was_forgotten_meanwhile_is_not_kept(store: AnyStore) -> None:
    filled(store, 2)
    store.forget(AGENT, [2], by_user="user_caity", timestamp=9.0)
    store.commit(Changes(AGENT, symbols=(a_symbol(1, 2), a_symbol(2, 1))))
    assert loaded(store).symbols == (a_symbol(2, 1),)


@pytest.mark.parametrize(
    "refused",
    [
        (a_symbol(2, 9),),
        (a_symbol(1, 1),),
        (a_symbol(2, 1), a_symbol(2, 1)),
        (a_symbol(2, 1, salience=math.nan),),
        (a_symbol(2, 1, symbolic_encoding="\udc00"),),
        (a_symbol(-1, 1),),
    ],
    ids=["of no entry", "there already", "twice", "no number", "no text", "no id"],
)
def test_what_cannot_be_kept_is_refused_with_all_that_came_with_it(
    store: AnyStore, refused: tuple[Symbol, ...]
) -> None:
    filled(store, 1)
    store.commit(Changes(AGENT, symbols=(a_symbol(1, 1),)))
    with pytest.raises(StoreError):
        store.commit(Changes(AGENT, added=(an_entry(2),), symbols=refused))
    assert loaded(store).symbols == (a_symbol(1, 1),)
    assert loaded(store).last_id == 1


moments = st.lists(st.tuples(st.floats(0.5, 1), st.floats(0, 1)), max_size=8)


@given(st.integers(1, 4), moments, st.sets(st.integers(1, 8), max_size=3))
async def test_after_a_restart_the_subconscious_is_what_it_was(
    lasting: AnyStore, capacity: int, made: list[tuple[float, float]], gone: set[int]
) -> None:
    agent_id, journal, llm = f"agent {next(NUMBERS)}", ChangeJournal(), ScriptedSymbolist()
    memory = SubconsciousMemory(capacity, journal=journal)
    lasting.commit(Changes(agent_id))
    for number, (fear, surprise) in enumerate(made, start=1):
        journal.added(an_entry(number))
        felt = Affect(0.0, 0.5, fear, 0.0, 0.0)
        await memory.encode_event("boo", felt, surprise, llm, entry_id=number, timestamp=float(number))
        lasting.commit(journal.changes(agent_id))
        journal.clear()
        if number in gone:
            memory.forget([number])
            lasting.forget(agent_id, [number], by_user="admin", timestamp=9.0)
    record = loaded(lasting, agent_id)
    again = SubconsciousMemory(capacity)
    again.restore(record.symbols, record.last_symbol_id)
    assert again.symbols == memory.symbols
    now = Affect(0.0, 0.5, 0.7, 0.0, 0.0)
    assert again.recall_by_affect(now, 9) == memory.recall_by_affect(now, 9)
    once_more = Affect(0.0, 0.5, 1.0, 0.0, 0.0)
    one, other = [
        await each.encode_event("boo", once_more, 1.0, ScriptedSymbolist("rain"), entry_id=99, timestamp=99.0)
        for each in (memory, again)
    ]
    assert one == other


def test_a_lowered_capacity_does_not_delete(make: Make) -> None:
    store = filled(make(), 3)
    store.commit(Changes(AGENT, symbols=tuple(a_symbol(number, number) for number in (1, 2, 3))))
    small = SubconsciousMemory(1)
    small.restore(loaded(store).symbols, loaded(store).last_symbol_id)
    assert len(small) == 1
    assert len(loaded(store).symbols) == 3


def _read(*, entries: tuple[int, ...] = (), symbols: tuple[int, ...] = ()) -> Modulation:
    before, after = "Hello.", "A collar hangs in the hall."
    return Modulation(
        "subconscious", 1.0, before, after, "offline", "as it felt", ("collar",), entries, symbols
    )


@pytest.mark.parametrize("faded", [False, True])
def test_turns_that_an_image_of_the_forgotten_coloured_lose_their_words(store: AnyStore, faded: bool) -> None:
    said = "A collar hangs in the hall."
    added = (an_entry(1, "Rex died"), an_entry(2, response=said), an_entry(3, response="Rain on the roof."))
    image = a_symbol(1, 1, symbolic_encoding="an empty collar on a hook")
    store.commit(Changes(AGENT, added=added, symbols=(image, a_symbol(2, 3)), faded=(1,) if faded else ()))
    other = a_trace(3, response="Rain on the roof.", modulations=(_read(symbols=(2,)),))
    store.commit(
        Changes(AGENT, trace=a_trace(2, thought="Hello.", response=said, modulations=(_read(symbols=(1,)),)))
    )
    store.commit(Changes(AGENT, trace=other))

    assert store.forget(AGENT, [1], by_user="user_caity", timestamp=9.0).redacted == (2,)

    newest, coloured = store.traces(AGENT, 9)
    assert newest == other
    assert coloured == a_trace(
        2,
        thought=FORGOTTEN,
        response=FORGOTTEN,
        modulations=(Modulation("subconscious", 1.0, FORGOTTEN, FORGOTTEN, "offline"),),
    )
    assert the_entry(store, 2).response is None
    assert the_entry(store, 3).response == "Rain on the roof."


def test_turns_in_which_a_transistor_read_the_forgotten_lose_their_words_though_it_was_not_in_mind(
    store: AnyStore,
) -> None:
    added = (an_entry(1, "I want to learn to swim"), an_entry(2, response="Let us swim."), an_entry(3))
    store.commit(Changes(AGENT, added=added))
    passed = Modulation("goal", 0.5, "", "", "fused", "swim", ("swim",), entries=(1,))
    store.commit(
        Changes(
            AGENT, trace=a_trace(2, thought="Let us swim.", response="Let us swim.", modulations=(passed,))
        )
    )
    repeated = a_trace(3, thought="We may swim.", response="We may swim.", modulations=(_read(entries=(2,)),))
    store.commit(Changes(AGENT, trace=repeated))

    assert store.forget(AGENT, [1], by_user="user_caity", timestamp=9.0).redacted == (2,)

    later, first = store.traces(AGENT, 9)
    assert first == a_trace(
        2, thought=FORGOTTEN, response=FORGOTTEN, modulations=(Modulation("goal", 0.5, "", "", "fused"),)
    )
    assert (later.thought, later.response) == (FORGOTTEN, FORGOTTEN)
    assert "swim" not in repr(store.traces(AGENT, 9))


def test_what_was_read_of_others_stays(store: AnyStore) -> None:
    filled(store, 3)
    trace = a_trace(3, thought="Hello.", response="Hello.", modulations=(_read(entries=(2,)),))
    store.commit(Changes(AGENT, trace=trace))
    store.forget(AGENT, [1], by_user="user_caity", timestamp=9.0)
    assert store.traces(AGENT, 9) == [trace]
