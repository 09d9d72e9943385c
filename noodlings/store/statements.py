"""Every statement the store runs, built once: SQLAlchemy compiles each on its first use and keeps the result.

Values come in as parameters only. `of_agent` and `of_id` say which row, so that they never collide with a
column that is set. What SQLite and PostgreSQL call by different names is a `Spelled` part, so that no
statement is written twice.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import (
    BindParameter,
    Case,
    Column,
    LargeBinary,
    Select,
    Table,
    Update,
    bindparam,
    case,
    delete,
    func,
    insert,
    null,
    or_,
    select,
    tuple_,
    union_all,
    update,
)
from sqlalchemy.dialects.postgresql import Insert
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from noodlings.store.tables import (
    Integer,
    Text,
    agents,
    entries,
    events,
    keys,
    links,
    source_records,
    symbols,
    traces,
    vectors,
    world,
)
from noodlings.values.audience import Tier
from noodlings.values.memory import Order
from noodlings.values.percept import Kind

_ESCAPED = {ord(sign): f"!{sign}" for sign in "%_!"}

_SPELLINGS = {
    # The members of a JSON list, as rows of one column.
    "ids_in": (
        "json_each({0})",
        "(SELECT CAST(value AS BIGINT) AS value FROM jsonb_array_elements_text(CAST({0} AS JSONB)))",
    ),
    "texts_in": ("json_each({0})", "jsonb_array_elements_text(CAST({0} AS JSONB))"),
    "id_list": ("json_group_array({0})", "coalesce(CAST(json_agg({0}) AS TEXT), '[]')"),
    "larger": ("max({0}, {1})", "greatest({0}, {1})"),
    # A and a are alike, Ä and ä are not.
    "like": ("({0} LIKE {1} ESCAPE '!')", "({0} ILIKE {1} ESCAPE '!')"),
    "without_index": ("+{0}", "{0}"),
    # Sealed bytes in a text column; `noodlings.store.postgres` says how they are kept there.
    "is_sealed": ("(typeof({0}) = 'blob')", "starts_with({0}, chr(3))"),
    # PostgreSQL cannot; there `SqlStore.in_order` goes another way.
    "opened": ("opened({0}, {1}, {2}, {3})", "''"),
    "as_bytes": ("CAST({0} AS BLOB)", "{0}"),
    "text_not_under": ("(substr(CAST({0} AS BLOB), 1, 4) != {1})", "(NOT starts_with({0}, {1}))"),
    "bytes_not_under": ("(substr(CAST({0} AS BLOB), 1, 4) != {1})", "(substr({0}, 1, 4) != {1})"),
    # Sealed names behind plain ones, and among them by their bytes, as SQLite sorts them by itself.
    "sorted_bytes": (
        "{0}",
        "ROW(starts_with({0}, chr(3)), CASE WHEN starts_with({0}, chr(3))"
        " THEN decode(substr({0}, 2), 'base64') ELSE convert_to({0}, 'UTF8') END)",
    ),
    # What we changed ourselves, and what others did.
    "version": (
        "total_changes() || ' ' || (SELECT data_version FROM pragma_data_version)",
        "CAST(pg_current_snapshot() AS TEXT)",
    ),
}
"""Name → how it is spelled in SQLite, and in PostgreSQL."""


class Spelled(FunctionElement[Any]):
    """A part of a statement that each database spells in its own way.

    Args:
        meant: a key of `_SPELLINGS`.
        parts: what stands in place of the numbers there.
    """

    inherit_cache = False

    def __init__(self, meant: str, *parts: Any) -> None:
        super().__init__(*parts)
        self.spellings = _SPELLINGS[meant]


@compiles(Spelled)
def _spelled(element: Spelled, compiler: SQLCompiler, **options: Any) -> str:
    spelling = element.spellings[compiler.dialect.name == "postgresql"]
    return spelling.format(*(compiler.process(part, **options) for part in element.clauses))


def _put(table: Table) -> Insert:
    """Add a row, in place of one with the same key."""
    added, names = upsert(table), set(table.columns.keys()) - set(table.primary_key.columns.keys())
    return added.on_conflict_do_update(
        index_elements=list(table.primary_key), set_={name: added.excluded[name] for name in sorted(names)}
    )


_agent: BindParameter[Any] = bindparam("of_agent")
_of_agents, _of_entries, _of_traces, _of_links, _of_vectors, _of_symbols, _of_records = (
    table.c.agent_id == _agent for table in (agents, entries, traces, links, vectors, symbols, source_records)
)
_of_entry = _of_entries & (entries.c.id == bindparam("of_id"))
# The ids as one JSON list, so that the statement is the same for any number of them.
_listed = select(Spelled("ids_in", bindparam("ids", type_=Text)).table_valued("value").c.value)
_of_listed = _of_entries & entries.c.id.in_(_listed)
_of_trace = _of_traces & (traces.c.entry_id == bindparam("of_id"))
_limit: BindParameter[Any] = bindparam("limit")

ADD_AGENT = upsert(agents).on_conflict_do_nothing()
CHANGE_AGENT = update(agents).where(_of_agents)
AGENT = select(agents).where(_of_agents)
AGENTS = select(agents.c.agent_id).order_by(agents.c.agent_id)

ADD_ENTRY = insert(entries)
REVISE = update(entries).where(_of_entry)
JOIN_EPISODIC = REVISE.values(episodic=True, consolidated=True)
LEAVE_EPISODIC = REVISE.values(episodic=False, consolidated=True)
ENTRY_IDS = select(entries.c.id).where(_of_listed)
ENTRIES = select(entries).where(_of_listed)
WORDS_OF_ENTRY = ("user_text", "extra", "place", "source")
"""The columns with words that an entry has from the beginning."""
PLAIN_WORDS = select(*(entries.c[name] for name in ("agent_id", "id", "tier", *WORDS_OF_ENTRY))).where(
    _of_listed,
    or_(*(~Spelled("is_sealed", entries.c[name]) & (entries.c[name] != "") for name in WORDS_OF_ENTRY)),
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
SECRET = select(entries).where(_of_entries, entries.c.tier >= Tier.SECRET.value).order_by(entries.c.id)


def _words(column: Column[Any]) -> Case[Any]:
    """The words in a column of entries; none of what is sealed for all, so that nobody can guess at them."""
    opened = Spelled("opened", column, column.name, entries.c.agent_id, entries.c.id)
    return case(
        (entries.c.tier >= Tier.SEALED.value, ""), (Spelled("is_sealed", column), opened), else_=column
    )


_CONTAINING = or_(
    *(
        Spelled("like", column, bindparam("like", type_=Text))
        for column in (_words(entries.c.user_text), _words(entries.c.response), entries.c.user_id)
    )
)
_among = bindparam("among", type_=Text)
_among_ids, _among_texts = (
    select(Spelled(meant, _among).table_valued("value").c.value) for meant in ("ids_in", "texts_in")
)
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
        found = found.where(_of_entries, entries.c.id.in_(_among_ids))
    elif narrowed:
        # Where every row is read, that is faster one by one than through an index; + keeps SQLite from one.
        found = found.where(Spelled("without_index", entries.c.agent_id) == _agent)
    else:
        found = found.where(_of_entries)
    if narrowed:
        found = found.where(_CONTAINING)
    keys = [] if order is Order.WHEN else [_SORTED[order], entries.c.id]
    ids = found.order_by(*(key.desc() if falling else key.asc() for key in keys)).subquery()
    return select(Spelled("id_list", ids.c.id))


def like(containing: str) -> str:
    """The pattern of all texts with these characters in them."""
    return f"%{containing.translate(_ESCAPED)}%"


VERSION = select(Spelled("version"))

ADD_TRACE = _put(traces)
PRUNE_TRACES = delete(traces).where(_of_traces, traces.c.entry_id <= bindparam("oldest"))
TRACES = (
    select(traces)
    .where(_of_traces, traces.c.entry_id < bindparam("position"))
    .order_by(traces.c.entry_id.desc())
    .limit(_limit)
)
ALL_TRACES = select(traces).where(_of_traces).order_by(traces.c.entry_id)

_add_link = upsert(links)
ADD_LINK = _add_link.on_conflict_do_update(
    index_elements=list(links.primary_key),
    set_={name: _add_link.excluded[name] for name in ("strength", "quoted")},
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

ADD_VECTOR = _put(vectors)
COLUMNS = (
    select(
        *(entries.c[name] for name in ("id", "timestamp", "user_id", "user_text", "response", "affect")),
        func.coalesce(entries.c.override, entries.c.encoded_importance),
        *(entries.c[name] for name in ("kind", "place", "audience", "confined", "extra")),
        *(vectors.c[name] for name in ("vector", "attempts", "reason")),
        entries.c.tier,
        entries.c.source.is_not(None),
        entries.c.hindsight,
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
ADD_TAKEN = _put(source_records)
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
        _record_name > tuple_(bindparam("of_source", type_=Text), bindparam("of_record", type_=Text)),
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

WORDS = select(*(entries.c[name] for name in ("agent_id", "id", "user_text", "response", "extra"))).where(
    _of_listed
)
# What `in_order` looks at, for a database that cannot open what is sealed.
SEALED_ORDER = select(
    *(entries.c[name] for name in ("agent_id", "id", "tier", "user_id", "user_text", "response")),
    func.coalesce(entries.c.override, entries.c.encoded_importance).label("importance"),
).where(_of_entries)
FORGET_ENTRY = delete(entries).where(_of_entry)
RAISE_FORGOTTEN_ID, RAISE_FORGOTTEN_SYMBOL_ID = (
    CHANGE_AGENT.values({name: Spelled("larger", agents.c[name], bindparam("last_id"))})
    for name in ("forgotten_id", "forgotten_symbol_id")
)
CHANGE_TRACE = update(traces).where(_of_trace)
FORGET_TRACE = delete(traces).where(_of_trace)
REDACT_RESPONSE = REVISE.values(response=null())
ADD_EVENT = insert(events)
DONE_BY = select(events.c.by_user)
MAKE_NAMELESS = (
    update(events)
    .where(events.c.agent_id == _agent, events.c.by_user.in_(_among_texts))
    .values(by_user=bindparam("nobody"))
)

WORLD_GET = select(world.c.value).where(world.c.key == bindparam("of_key"))
WORLD_SET = _put(world)

ADD_KEY = insert(keys)
CHANGE_KEYS = update(keys)
CHANGE_KEY = CHANGE_KEYS.where(keys.c.number == bindparam("of_number"))
DROP_KEYS = delete(keys).where(keys.c.number < bindparam("of_number"))


@cache
def due(table: Table, key: tuple[str, ...], names: tuple[str, ...], begun: bool) -> Select[Any]:
    """Rows of a table that are to be sealed with the newest key, by key: `limit` of them, which are held.

    They are those where a column is not under `header`; of entries only those from `from_tier` on, and those
    that are sealed already.

    Args:
        key: the columns that say which row it is.
        names: the columns that are sealed.
        begun: only those after the key in `after_NAME`.
    """
    columns = [table.c[name] for name in names]
    found = select(*(table.c[name] for name in key), *(Spelled("as_bytes", column) for column in columns))
    found = found.where(or_(*((func.length(column) > 0) & _not_under(column) for column in columns)))
    if table is entries:
        confined = func.coalesce(
            entries.c.confined, or_(*(entries.c.kind == kind.value for kind in (Kind.WHISPER, Kind.THOUGHT)))
        )
        tier = Spelled("larger", entries.c.tier, case((confined, 1), else_=0))
        sealed = (Spelled("is_sealed", column) for column in columns)
        found = found.where(or_(tier >= bindparam("from_tier"), *sealed))
    if begun:
        after = (bindparam(f"after_{name}", type_=table.c[name].type) for name in key)
        found = found.where(tuple_(*(table.c[name] for name in key)) > tuple_(*after))
    return found.order_by(*(table.c[name] for name in key)).limit(_limit).with_for_update()


@cache
def resealed(table: Table, key: tuple[str, ...]) -> Update:
    """Columns of the row with the key in `of_NAME`."""
    return update(table).where(*(table.c[name] == bindparam(f"of_{name}") for name in key))


def _not_under(column: Column[Any]) -> Spelled:
    """Whether a value does not begin with `header`, as everything does that is sealed with the newest key."""
    kind = "bytes" if isinstance(column.type, LargeBinary) else "text"
    return Spelled(f"{kind}_not_under", column, bindparam(f"{kind}_header", type_=column.type))
