"""Every statement the store runs, built once: SQLAlchemy compiles each on its first use and keeps the result.

Values come in as parameters only. `of_agent` and `of_id` say which row, so that they never collide with a
column that is set.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from sqlalchemy import (
    BindParameter,
    Case,
    Column,
    Integer,
    Select,
    Text,
    UnaryExpression,
    bindparam,
    case,
    column,
    delete,
    func,
    insert,
    null,
    or_,
    select,
    table,
    tuple_,
    union_all,
    update,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.sql.operators import custom_op

from noodlings.store.tables import (
    agents,
    entries,
    events,
    links,
    source_records,
    symbols,
    traces,
    vectors,
    world,
)
from noodlings.values.audience import Tier
from noodlings.values.memory import Order

_ESCAPE = "\\"
_ESCAPED = {ord(sign): f"{_ESCAPE}{sign}" for sign in f"%_{_ESCAPE}"}

_agent: BindParameter[Any] = bindparam("of_agent")
_of_agents, _of_entries, _of_traces, _of_links, _of_vectors, _of_symbols, _of_records = (
    table.c.agent_id == _agent for table in (agents, entries, traces, links, vectors, symbols, source_records)
)
_of_entry = _of_entries & (entries.c.id == bindparam("of_id"))
# The ids as one JSON list, so that the statement is the same for any number of them.
_listed = select(func.json_each(bindparam("ids", type_=Text)).table_valued("value").c.value)
_of_trace = _of_traces & (traces.c.entry_id == bindparam("of_id"))
_limit: BindParameter[Any] = bindparam("limit")

ADD_AGENT = insert(agents).prefix_with("OR IGNORE")
CHANGE_AGENT = update(agents).where(_of_agents)
AGENT = select(agents).where(_of_agents)
AGENTS = select(agents.c.agent_id).order_by(agents.c.agent_id)

ADD_ENTRY = insert(entries)
REVISE = update(entries).where(_of_entry)
JOIN_EPISODIC = REVISE.values(episodic=True, consolidated=True)
LEAVE_EPISODIC = REVISE.values(episodic=False, consolidated=True)
HAS_ENTRY = select(entries.c.id).where(_of_entry)
ENTRIES = select(entries).where(_of_entries, entries.c.id.in_(_listed))
WORDS_OF_ENTRY = ("user_text", "extra", "place", "source")
"""The columns with words that an entry has from the beginning."""
PLAIN_WORDS = select(*(entries.c[name] for name in ("agent_id", "id", "tier", *WORDS_OF_ENTRY))).where(
    _of_entries,
    entries.c.id.in_(_listed),
    or_(*((func.typeof(entries.c[name]) == "text") & (entries.c[name] != "") for name in WORDS_OF_ENTRY)),
)
WORKING = (
    select(entries).where(_of_entries, entries.c.source.is_(None)).order_by(entries.c.id.desc()).limit(_limit)
)
EPISODIC = select(entries).where(_of_entries, entries.c.episodic).order_by(entries.c.id)
PERCEIVED = select(func.count()).select_from(entries).where(_of_entries)
# By itself it is one step in the index; beside a count it would be as slow as that.
LAST_ID = select(func.coalesce(func.max(entries.c.id), 0)).where(_of_entries)
CONSOLIDATED = select(func.count()).select_from(entries).where(_of_entries, entries.c.consolidated)
ARCHIVE = (
    select(entries)
    .where(_of_entries, entries.c.id > bindparam("position"))
    .order_by(entries.c.id)
    .limit(_limit)
)
WITH_EXTRA = ARCHIVE.where(entries.c.extra.is_not(None))
TOLD_BY = (
    select(entries.c.id).where(_of_entries, entries.c.user_id == bindparam("of_user")).order_by(entries.c.id)
)
SECRET = select(entries.c.id).where(_of_entries, entries.c.tier >= Tier.SECRET.value).order_by(entries.c.id)


def _words(column: Column[Any]) -> Case[Any]:
    """The words in a column of entries; none of what is sealed for all, so that nobody can guess at them."""
    opened = func.opened(column, column.name, entries.c.agent_id, entries.c.id)
    return case(
        (entries.c.tier >= Tier.SEALED.value, ""), (func.typeof(column) == "blob", opened), else_=column
    )


_CONTAINING = or_(
    *(
        column.like(bindparam("like"), escape=_ESCAPE)
        for column in (_words(entries.c.user_text), _words(entries.c.response), entries.c.user_id)
    )
)
_among_these = func.json_each(bindparam("among")).table_valued("value").c.value
_no_index = partial(UnaryExpression, operator=custom_op("+"))
_SORTED = {
    Order.IMPORTANCE: func.coalesce(entries.c.override, entries.c.encoded_importance),
    Order.WHO: entries.c.user_id,
    Order.TEXT: _words(entries.c.user_text),
}


@cache
def in_order(order: Order, falling: bool, narrowed: bool, among: bool) -> Select[Any]:
    """All ids of an agent, sorted, as one JSON list; narrowed to what is like `like`, among a JSON list.

    Those by when are not sorted: the rows lie nearly so. One value, because a hundred thousand rows take
    longer to hand over than to find. An aggregate takes the rows of a sorted subquery in their order.
    """
    found = select(entries.c.id)
    if among:
        found = found.where(_of_entries, entries.c.id.in_(select(_among_these)))
    elif narrowed:
        # Where every row is read, that is faster one by one than through an index; + keeps SQLite from one.
        found = found.where(_no_index(entries.c.agent_id) == _agent)
    else:
        found = found.where(_of_entries)
    if narrowed:
        found = found.where(_CONTAINING)
    keys = [] if order is Order.WHEN else [_SORTED[order], entries.c.id]
    ids = found.order_by(*(key.desc() if falling else key.asc() for key in keys)).subquery()
    return select(func.json_group_array(ids.c.id))


def like(containing: str) -> str:
    """The pattern of all texts with these characters in them."""
    return f"%{containing.translate(_ESCAPED)}%"


# What we changed ourselves, and what others did.
VERSION = select(func.total_changes(), table("pragma_data_version", column("data_version")).c.data_version)

ADD_TRACE = insert(traces).prefix_with("OR REPLACE")
PRUNE_TRACES = delete(traces).where(_of_traces, traces.c.entry_id <= bindparam("oldest"))
TRACES = (
    select(traces)
    .where(_of_traces, traces.c.entry_id < bindparam("position"))
    .order_by(traces.c.entry_id.desc())
    .limit(_limit)
)
ALL_TRACES = select(traces).where(_of_traces).order_by(traces.c.entry_id)

_add_link = sqlite.insert(links)
ADD_LINK = _add_link.on_conflict_do_update(
    index_elements=list(links.primary_key),
    set_={"strength": _add_link.excluded.strength},
    where=_add_link.excluded.strength > links.c.strength,
)
DROP_LINK = delete(links).where(
    _of_links,
    *(links.c[name] == bindparam(f"of_{name}") for name in ("source_id", "target_id", "type")),
)
LINKS = select(links).where(_of_links).order_by(links.c.source_id, links.c.target_id, links.c.type)
# One index for each end; joined by OR, rows are looked up once more.
_ends = union_all(
    *(
        select(links, end.label("end")).where(_of_links, end.in_(_listed))
        for end in (links.c.source_id, links.c.target_id)
    )
).subquery()
LINKS_OF = select(*(_ends.c[column.name] for column in links.c))
_by_strength = func.row_number().over(
    partition_by=_ends.c.end,
    order_by=(_ends.c.strength.desc(), _ends.c.type, _ends.c.source_id, _ends.c.target_id),
)
_ranked = select(_ends, _by_strength.label("place")).subquery()
STRONGEST_LINKS_OF = select(*(_ranked.c[column.name] for column in links.c)).where(
    _ranked.c.place <= bindparam("strongest", type_=Integer)
)

_add_vector = sqlite.insert(vectors)
ADD_VECTOR = _add_vector.on_conflict_do_update(
    index_elements=list(vectors.primary_key),
    set_={name: _add_vector.excluded[name] for name in ("model", "vector", "attempts", "reason")},
)
COLUMNS = (
    select(
        *(entries.c[name] for name in ("id", "timestamp", "user_id", "user_text", "response", "affect")),
        func.coalesce(entries.c.override, entries.c.encoded_importance),
        *(entries.c[name] for name in ("kind", "place", "audience", "confined", "extra")),
        *(vectors.c[name] for name in ("vector", "attempts", "reason")),
        entries.c.tier,
        entries.c.source.is_not(None),
    )
    .join_from(
        entries,
        vectors,
        (vectors.c.agent_id == entries.c.agent_id)
        & (vectors.c.entry_id == entries.c.id)
        & (vectors.c.model == bindparam("of_model")),
        isouter=True,
    )
    .where(_of_entries, entries.c.id > bindparam("position"))
    .order_by(entries.c.id)
    .limit(_limit)
)
ALL_VECTORS = select(vectors).where(_of_vectors).order_by(vectors.c.entry_id)
VECTORS = select(vectors).where(
    _of_vectors,
    vectors.c.entry_id.between(bindparam("first"), bindparam("last")),
    vectors.c.model == bindparam("of_model"),
)

CHANGE_VECTOR = update(vectors).where(_of_vectors, vectors.c.entry_id == bindparam("of_id"))

# Rows in the form of before, which took more room: see `noodlings.store.compacting`.
OLDER_TRACES = ALL_TRACES.where(traces.c.entry_id > bindparam("position"), traces.c.document != "").limit(
    _limit
)
OLDER_VECTORS = ALL_VECTORS.where(
    vectors.c.entry_id > bindparam("position"), func.length(vectors.c.vector) % 2 == 0
).limit(_limit)
OLDER_ENTRIES = ARCHIVE.where(entries.c.parts.startswith('{"v":1,"data":{'))

ADD_SYMBOL = insert(symbols)
CHANGE_SYMBOL = update(symbols).where(_of_symbols, symbols.c.id == bindparam("of_id"))
FADE_SYMBOL = CHANGE_SYMBOL.values(faded=True)
SYMBOLS = select(symbols).where(_of_symbols, ~symbols.c.faded).order_by(symbols.c.id)
ALL_SYMBOLS = select(symbols).where(_of_symbols).order_by(symbols.c.id)
LAST_SYMBOL_ID = select(func.coalesce(func.max(symbols.c.id), 0)).where(_of_symbols)
SYMBOLS_OF = select(symbols.c.agent_id, symbols.c.id, symbols.c.symbolic_encoding).where(
    _of_symbols, symbols.c.entry_id.in_(_listed)
)

_of_source = _of_records & (source_records.c.source == bindparam("of_source"))
ADD_TAKEN = insert(source_records).prefix_with("OR REPLACE")
TAKEN = select(source_records).where(_of_source, source_records.c.record_id == bindparam("of_record"))
HELD = select(*(source_records.c[name] for name in ("agent_id", "source", "record_id"))).where(
    _of_source, source_records.c.entry_id.is_not(None)
)
_record_name = tuple_(source_records.c.source, source_records.c.record_id)
PARKED = (
    select(source_records)
    .where(
        _of_records,
        source_records.c.record.is_not(None),
        _record_name > tuple_(bindparam("of_source"), bindparam("of_record")),
    )
    .order_by(source_records.c.source, source_records.c.record_id)
    .limit(_limit)
)
ALL_TAKEN = select(source_records).where(_of_records)
FORGET_TAKEN = update(source_records).where(_of_records, source_records.c.entry_id == bindparam("of_id"))
FORGET_PARKED = update(source_records).where(
    _of_records,
    source_records.c.user_id == bindparam("of_user"),
    source_records.c.record.is_not(None),
)

WORDS = select(entries.c.agent_id, entries.c.id, entries.c.user_text, entries.c.response).where(
    _of_entries, entries.c.id.in_(_listed)
)
FORGET_ENTRY = delete(entries).where(_of_entry)
RAISE_FORGOTTEN_ID, RAISE_FORGOTTEN_SYMBOL_ID = (
    CHANGE_AGENT.values({name: func.max(agents.c[name], bindparam("last_id"))})
    for name in ("forgotten_id", "forgotten_symbol_id")
)
CHANGE_TRACE = update(traces).where(_of_trace)
FORGET_TRACE = delete(traces).where(_of_trace)
REDACT_RESPONSE = REVISE.values(response=null())
ADD_EVENT = insert(events)
DONE_BY = select(events.c.by_user)
MAKE_NAMELESS = (
    update(events)
    .where(events.c.agent_id == _agent, events.c.by_user.in_(select(_among_these)))
    .values(by_user=bindparam("nobody"))
)

WORLD_GET = select(world.c.value).where(world.c.key == bindparam("of_key"))
WORLD_SET = insert(world).prefix_with("OR REPLACE")
