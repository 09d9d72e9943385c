"""Values to rows and back: what each column of `noodlings.store.tables` holds.

Arrays are little-endian blobs, and whatever has an inner shape is a versioned JSON document, so nothing here
can run code. What cannot be kept exactly is refused before it reaches the database. A row that cannot be read
is left out with a warning, so that one bad record does not make a whole file unreadable.
"""

from __future__ import annotations

import logging
import math
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, SupportsFloat, TypeVar

import numpy as np

from noodlings.errors import NoodlingsError, StoreError
from noodlings.ports import EntryColumns
from noodlings.store.documents import from_json, number, text, to_json, whole
from noodlings.store.packing import packed, packed_vector, unpacked, unpacked_vectors
from noodlings.values.action import Action
from noodlings.values.affect import Affect, FloatArray
from noodlings.values.audience import Audience, Tier
from noodlings.values.fact import Tells
from noodlings.values.memory import (
    EntryVector,
    Hindsight,
    ImportanceParts,
    Link,
    LinkType,
    MemoryEntry,
    Symbol,
    Vector,
    circumstances_given,
    tags_in,
    weighed,
)
from noodlings.values.percept import Kind, kept_audience
from noodlings.values.relationship import NO_REGARD, Manner, Regard
from noodlings.values.tone import PLAIN, Tone, ToneName, ToneSource
from noodlings.values.trace import Modulation, RecalledTrace, Trace

Row = dict[str, Any]
"""A row to be written: column → value."""
Stored = Mapping[Any, Any]
"""A row as it was read, by column."""
Value = TypeVar("Value")

log = logging.getLogger(__name__)

WHAT = {
    "agents": "the state of {agent_id}",
    "entries": "entry {id} of {agent_id}",
    "links": "the link from {source_id} to {target_id} of {agent_id}",
    "source_records": "a record of {agent_id}",
    "symbols": "symbol {id} of {agent_id}",
    "traces": "the trace of turn {entry_id} of {agent_id}",
    "vectors": "the vector of entry {entry_id} of {agent_id}",
    "world": "the world data under {key!r}",
}
"""What a row of each table is, in words."""
AFFECT = struct.Struct("<5d")
"""Five numbers in the order of the axes."""
_LENGTH_ERROR = 1e-3
_NO_AFFECT = AFFECT.pack(*[math.nan] * 5)
_KINDS = {kind.value: kind for kind in Kind}
_TEXT, _NUMBER, _NONE = frozenset({str}), frozenset({int, float}), frozenset({type(None)})
_WITHOUT_WORDS: Row = {"user_text": "", "response": None, "extra": None, "place": ""}
"""What stands in place of the words of a sealed entry, for everybody but an export with the key."""
_TYPES = {
    **dict.fromkeys(("user_id", "user_text", "override_by", "place"), _TEXT),
    **dict.fromkeys(("timestamp", "step", "surprise", "encoded_importance", "identity_salience"), _NUMBER),
    **dict.fromkeys(("recall_count", "stability"), _NUMBER),
    **dict.fromkeys(("override", "last_recalled"), _NUMBER | _NONE),
    **dict.fromkeys(("response", "source"), _TEXT | _NONE),
}
"""What stands in the plain columns of an entry: SQLite keeps anything in any of them."""
_PARTS = ("surprise", "intensity", "salience", "addressed", "answered", "remember", "significance")
"""The order in which the numbers of an importance are kept: part of the format, whatever their class does."""
_UNCHANGED = (
    *("timestamp", "appraised_by", "surprise", "importance", "thought", "response", "voice", "decision"),
    "milliseconds",
)
"""Fields of a trace that stand in its document as they are."""
_STATE_NUMBERS = 40
_STATE_DTYPES = {4 * _STATE_NUMBERS: "<f4", 8 * _STATE_NUMBERS: "<f8"}


def undamaged(
    rows: Iterable[Stored], read: Callable[[Stored], Value], told: Callable[[str], object] = lambda why: None
) -> Iterator[Value]:
    """What `read` makes of each row, without those that it cannot read; why is logged, and `told`."""
    for row in rows:
        try:
            yield read(row)
        except StoreError as error:
            log.warning("left out: %s", error)
            told(str(error))


def column(row: Stored, place: str, read: Callable[[Any], Value]) -> Value:
    """What a row holds at a place, "table.column".

    Raises:
        StoreError: it cannot be read. The words name row, table and column, and nothing of what is in it:
            they end in logs, and before callers.
    """
    table, _, name = place.partition(".")
    try:
        return read(row[name])
    except (struct.error, KeyError, TypeError, ValueError, AttributeError, NoodlingsError):
        raise StoreError(f"{WHAT[table].format_map(row)} is damaged: {place} cannot be read") from None


def state_of(row: Stored) -> dict[str, Any]:
    """The state of an agent, empty where there is none. Raises `StoreError` when it is damaged."""
    what = WHAT["agents"].format_map(row)
    data = {} if row["state"] is None else from_json(row["state"], what)
    if not isinstance(data, dict):
        raise StoreError(f"{what} is damaged")
    return data


def kept(value: object, check: Callable[[Any, str], Value], *names: str) -> dict[str, Value]:
    """Fields of a value as they are kept; `check` raises `StoreError` for what cannot be, see `documents`."""
    return {name: check(getattr(value, name), name) for name in names}


def entry_row(agent_id: str, entry: MemoryEntry) -> Row:
    """All columns of a new entry; it is not in episodic memory yet.

    Raises:
        StoreError: a number is not finite, a text does not encode, `extra` is not JSON-compatible.
    """
    return {
        "agent_id": text(agent_id, "agent_id"),
        **kept(entry, whole, "id", "step"),
        **kept(entry, text, "user_id", "user_text", "place"),
        **kept(entry, number, "timestamp", "surprise", "encoded_importance", "identity_salience"),
        "affect": None if entry.affect is None else AFFECT.pack(*entry.affect.as_list()),
        "parts": parts_document(entry.parts),
        "phenomenal_state": _state_blob(entry.phenomenal_state),
        "kind": entry.kind.value,
        "extra": to_json(entry.extra, "extra") if entry.extra else None,
        "episodic": False,
        "consolidated": False,
        "source": text(entry.source, "source") or None,
        "tells": to_json([number(one, "tells") for one in entry.tells], "tells") if entry.tells else None,
        **history_row(entry),
    }


def history_row(entry: MemoryEntry) -> Row:
    """The columns of an entry that may change after it was encoded; no other ever does."""
    recalled, witnesses = entry.last_recalled, sorted(entry.audience.witnesses)
    shifts = {reason.value: number(shift, "hindsight") for reason, shift in entry.hindsight.items()}
    return {
        "override": None if entry.override is None else number(entry.override, "override"),
        "override_by": text(entry.override_by, "override_by"),
        "response": None if entry.response is None else text(entry.response, "response"),
        "pinned": bool(entry.pinned),
        "recall_count": whole(entry.recall_count, "recall_count"),
        "last_recalled": None if recalled is None else number(recalled, "last_recalled"),
        "stability": number(entry.stability, "stability"),
        "audience": to_json(witnesses, "audience") if witnesses else None,
        "confined": entry.audience.confined,
        "tier": int(entry.audience.tier),
        "hindsight": to_json(shifts, "hindsight") if shifts else None,
    }


def entry_of(row: Stored, words: bool = False) -> MemoryEntry:
    """The entry of a row; a sealed one without its words, unless they are wanted.

    Raises `StoreError` when the row is damaged.
    """
    if row.get("tier") == Tier.SEALED and not words:
        row = {**row, **_WITHOUT_WORDS}
    try:
        for name, types in _TYPES.items():
            column(row, f"entries.{name}", partial(_require, types))
        kind = column(row, "entries.kind", Kind)
        witnesses = column(row, "entries.audience", circle_of)
        kept_of = partial(kept_audience, kind, row["user_id"], witnesses, row["confined"])
        return MemoryEntry(
            **{name: row[name] for name in _TYPES} | {"source": row["source"] or ""},
            id=row["id"],
            affect=column(row, "entries.affect", lambda blob: None if blob is None else affect_of(blob)),
            parts=column(row, "entries.parts", parts_of),
            phenomenal_state=column(row, "entries.phenomenal_state", _state_array),
            kind=kind,
            audience=column(row, "entries.tier", kept_of),
            pinned=bool(row["pinned"]),
            extra=column(row, "entries.extra", lambda it: {} if it is None else from_json(it, "extra")),
            hindsight=column(row, "entries.hindsight", _hindsight),
            tells=column(row, "entries.tells", _tells),
        )
    except KeyError as error:
        what = WHAT["entries"].format_map(row)
        raise StoreError(f"{what} is damaged: it has no column {error}") from None


def _tells(document: str | None) -> Tells | None:
    tells = None if document is None else Tells(*from_json(document, "tells"))
    if tells and not all(0.0 <= one <= 1.0 for one in tells):
        raise ValueError("tells")
    return tells


def _hindsight(document: str | None) -> dict[Hindsight, float]:
    shifts = {} if document is None else from_json(document, "hindsight")
    return {Hindsight(reason): float(shift) for reason, shift in shifts.items()}


def columns_of(rows: Sequence[tuple[Any, ...]], model: str) -> EntryColumns:
    """What search looks at in these rows of `noodlings.store.statements.COLUMNS`.

    Raises:
        StoreError: something of it is damaged; reading row by row tells what.
    """
    names = tuple(zip(*rows, strict=True)) or ((),) * 18
    (ids, timestamps, users, texts, responses, affects, importances, kinds, places) = names[:9]
    witnesses, confined, extras, blobs, attempts, reasons, tiers, ingested, seen = names[9:]
    try:
        _require(_TEXT, *users, *texts, *places)
        _require(_TEXT | _NONE, *responses, *reasons)
        _require(_NUMBER, *ids, *timestamps, *importances)
        _require(_NUMBER | _NONE, *attempts)
        felt = np.frombuffer(b"".join(_NO_AFFECT if blob is None else blob for blob in affects), "<f8")
        sizes = [len(blob) for blob in affects if blob is not None]
        if not {*sizes} <= {AFFECT.size} or (np.abs(felt) <= 1.0).sum() != 5 * len(sizes):
            raise ValueError("affects")
        made = [blob for blob in blobs if blob is not None]
        vectors = unpacked_vectors(made) if made else ()
        if made:
            lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
            if not (np.abs(lengths - 1.0) <= _LENGTH_ERROR).all():
                raise ValueError("vectors")
        known = [_KINDS[kind] for kind in kinds]
        heard = {
            n: kept_audience(known[n], users[n], circle_of(witnesses[n]), only, tiers[n])
            for n, only in enumerate(confined)
            if only != 0
        }
        if sealed := {n for n, tier in enumerate(tiers) if tier == Tier.SEALED}:
            columns = zip((texts, responses, extras, places), _WITHOUT_WORDS.values(), strict=True)
            texts, responses, extras, places = (
                tuple(withheld if n in sealed else one for n, one in enumerate(column))
                for column, withheld in columns
            )
        weights = [
            importance if document is None else weighed(importance, _hindsight(document))
            for importance, document in zip(importances, seen, strict=True)
        ]
        given = {n: from_json(one, "extra") for n, one in enumerate(extras) if one is not None}
        return EntryColumns(
            ids,
            timestamps,
            users,
            texts,
            responses,
            felt.reshape(len(ids), 5),
            importances,
            known,
            places,
            {n: audience for n, audience in heard.items() if audience.confined},
            {n: tags_in(extra) for n, extra in given.items()},
            list(map(bool, ingested)),
            [blob is not None for blob in blobs],
            vectors,
            {
                ids[n]: EntryVector(ids[n], model, None, tried, reasons[n])
                for n, tried in enumerate(attempts)
                if tried is not None and blobs[n] is None
            },
            weights,
            {n: when for n, extra in given.items() if (when := circumstances_given(extra).when)},
        )
    except (struct.error, KeyError, TypeError, ValueError, AttributeError, NoodlingsError):
        raise StoreError("part of the archive cannot be read") from None


def _require(types: frozenset[type], *values: Any) -> None:
    """Raise `TypeError` for a value of another type, `ValueError` for a number that is not finite."""
    found = set(map(type, values))
    if not found <= types:
        raise TypeError(found)
    if float in found and not all(math.isfinite(value) for value in values if value is not None):
        raise ValueError("a number that is not finite")


def affect_of(blob: bytes) -> Affect:
    """The affect of a blob."""
    return Affect(*AFFECT.unpack(blob))


def circle_of(document: str | None) -> frozenset[str]:
    """The ids in a document, none where there is none."""
    return frozenset() if document is None else frozenset(from_json(document, "the ids"))


def parts_document(parts: ImportanceParts) -> str:
    """The numbers in their order: their names would take three times as much room."""
    return to_json(list(_parts(parts).values()), "parts")


def parts_of(document: str) -> ImportanceParts:
    """The parts in a document; rows from before have them by name."""
    data = from_json(document, "parts")
    if isinstance(data, list):
        data = dict(zip(_PARTS, data, strict=True))
    return ImportanceParts(**data)


def trace_row(trace: Trace) -> Row:
    """All columns of a trace, without words where it is sealed. Raises `StoreError` as `entry_row` does."""
    trace = _as_sealed(trace)
    what = f"the trace of turn {trace.entry_id}"
    data = {
        "timestamp": number(trace.timestamp, "timestamp"),
        "affect": trace.affect.as_list(),
        "appraised_by": trace.appraised_by,
        "mood": trace.mood.as_list(),
        "surprise": number(trace.surprise, "surprise"),
        "importance": number(trace.importance, "importance"),
        "parts": _parts(trace.parts),
        "recalled": [
            {
                "entry_id": whole(recalled.entry_id, "entry_id"),
                "why": [str(why) for why in recalled.why],
                "score": number(recalled.score, "score"),
                "scores": _numbers(recalled.scores, "scores"),
                "used": bool(recalled.used),
                **_relations(recalled),
            }
            for recalled in trace.recalled
        ],
        "thought": trace.thought,
        "modulations": [
            asdict(modulation) | {"gain": number(modulation.gain, "gain")} for modulation in trace.modulations
        ],
        "response": trace.response,
        "voice": trace.voice,
        "decision": trace.decision,
        **({} if trace.tone == PLAIN else {"tone": asdict(trace.tone)}),
        **({} if trace.regard == NO_REGARD else {"regard": asdict(trace.regard)}),
        **({} if trace.action is None else {"action": asdict(trace.action)}),
        "milliseconds": _numbers(trace.milliseconds, "milliseconds"),
        "calls": whole(trace.calls, "calls"),
        "tokens": whole(trace.tokens, "tokens"),
        "degraded": list(trace.degraded),
        "audience": sorted(trace.audience.witnesses),
        "confined": trace.audience.confined,
        **({"tier": int(trace.audience.tier)} if trace.audience.tier > Tier.CONFINED else {}),
    }
    return {
        "agent_id": text(trace.agent_id, "agent_id"),
        "entry_id": whole(trace.entry_id, "entry_id"),
        "document": "",
        "packed": packed(data, what),
    }


def _as_sealed(trace: Trace) -> Trace:
    """The trace, without words where it is sealed."""
    return trace.without_words() if trace.audience.tier is Tier.SEALED else trace


def trace_of(row: Stored) -> Trace:
    """The trace of a row, as `trace_row` keeps it now. Raises `StoreError` when the row is damaged."""
    older = row["document"] != ""

    def read(kept: Any) -> Trace:
        data = from_json(kept, "document") if older else unpacked(kept, "packed")
        tone = data.get("tone")
        return Trace(
            **{name: data[name] for name in _UNCHANGED},
            agent_id=row["agent_id"],
            entry_id=row["entry_id"],
            affect=Affect(*data["affect"]),
            mood=Affect(*data["mood"]),
            parts=ImportanceParts(**data["parts"]),
            recalled=tuple(
                _with_tuples(RecalledTrace, item, "why", "sources", "supersedes") for item in data["recalled"]
            ),
            modulations=tuple(
                _with_tuples(Modulation, item, "read", "entries", "symbols") for item in data["modulations"]
            ),
            tone=Tone(ToneName(tone["name"]), ToneSource(tone["why"]), tone["entry_id"])
            if tone is not None
            else PLAIN,
            regard=_regard(data["regard"]) if "regard" in data else NO_REGARD,
            calls=data.get("calls", 0),
            tokens=data.get("tokens", 0),
            degraded=tuple(data["degraded"]),
            audience=Audience(
                frozenset(data.get("audience", ())), data.get("confined", False), Tier(data.get("tier", 0))
            ),
            action=Action(**data["action"]) if "action" in data else None,
        )

    return _as_sealed(column(row, "traces.document" if older else "traces.packed", read))


def link_row(agent_id: str, link: Link) -> Row:
    """All columns of a link. Raises `StoreError` as `entry_row` does."""
    return {
        "agent_id": text(agent_id, "agent_id"),
        "source_id": whole(link.source, "source"),
        "target_id": whole(link.target, "target"),
        "type": link.type.value,
        "strength": number(link.strength, "strength"),
        "created": number(link.created, "created"),
        "quoted": None if link.quoted is None else to_json(list(link.quoted), "quoted"),
    }


def link_of(row: Stored) -> Link:
    """The link of a row. Raises `StoreError` when the row is damaged."""
    source, target = row["source_id"], row["target_id"]
    sort = column(row, "links.type", LinkType)
    quoted = column(row, "links.quoted", lambda it: None if it is None else tuple(from_json(it, "quoted")))
    return column(row, "links.strength", lambda it: Link(source, target, sort, it, row["created"], quoted))


def vector_row(agent_id: str, vector: EntryVector) -> Row:
    """All columns of a vector. Raises `StoreError` as `entry_row` does."""
    return {
        "agent_id": text(agent_id, "agent_id"),
        **kept(vector, whole, "entry_id", "attempts"),
        **kept(vector, text, "model", "reason"),
        "vector": None if vector.vector is None else packed_vector(_unit_vector(vector.vector)),
    }


def vector_of(row: Stored) -> EntryVector:
    """The vector of a row. Raises `StoreError` when the row is damaged."""
    blob = row["vector"]
    try:
        _require(_NUMBER, row["attempts"])
        _require(_TEXT, row["reason"])
        vector = None if blob is None else _unit_vector(unpacked_vectors([blob])[0])
    except (TypeError, ValueError, StoreError) as error:
        what = WHAT["vectors"].format_map(row)
        raise StoreError(f"{what} is damaged and will be made again (vectors.vector): {error}") from error
    return EntryVector(row["entry_id"], row["model"], vector, row["attempts"], row["reason"])


def _unit_vector(vector: Vector) -> Vector:
    """`vector`, if it is one row of numbers of length 1: few accidents leave that as it is."""
    length = float(np.linalg.norm(vector.astype(np.float64)))
    if vector.ndim != 1 or not abs(length - 1.0) <= _LENGTH_ERROR:  # NaN fails this too
        raise StoreError(f"it has shape {vector.shape} and length {length:g}; the length should be 1")
    return vector


def _relations(recalled: RecalledTrace) -> Row:
    """What ties a memory in mind to others, as far as anything does: few traces have any of it."""
    relations: Row = {"sources": list(recalled.sources), "supersedes": list(recalled.supersedes)}
    if recalled.superseded_by is not None:
        relations["superseded_by"] = whole(recalled.superseded_by, "superseded_by")
    return {name: value for name, value in relations.items() if value != []}


def _regard(data: dict[str, Any]) -> Regard:
    return _with_tuples(Regard, {**data, "manner": Manner(data["manner"])}, "evidence")


def _with_tuples(made_of: type[Value], item: dict[str, Any], *listed: str) -> Value:
    """JSON knows only lists."""
    return made_of(**{**item, **{name: tuple(item[name]) for name in listed if name in item}})


def _numbers(values: Mapping[str, SupportsFloat], what: str) -> dict[str, float]:
    return {name: number(value, f"{what}.{name}") for name, value in values.items()}


def _parts(parts: ImportanceParts) -> dict[str, float]:
    return {name: number(getattr(parts, name), f"parts.{name}") for name in _PARTS}


def _state_blob(state: FloatArray | None) -> bytes | None:
    if state is None:
        return None
    if state.shape != (_STATE_NUMBERS,):
        raise StoreError(f"phenomenal_state has shape {state.shape}; it must be ({_STATE_NUMBERS},)")
    if not np.isfinite(state).all():
        raise StoreError("phenomenal_state contains a number that is not finite")
    return state.astype("<f4" if np.can_cast(state.dtype, np.float32) else "<f8").tobytes()


def _state_array(blob: bytes | None) -> FloatArray | None:
    if blob is None:
        return None
    stored = np.frombuffer(blob, dtype=_STATE_DTYPES[len(blob)])
    return stored.astype(stored.dtype.newbyteorder("="), copy=False)


def symbol_row(agent_id: str, symbol: Symbol) -> Row:
    """All columns of a symbol that has not faded. Raises `StoreError` as `entry_row` does."""
    return {
        "agent_id": text(agent_id, "agent_id"),
        **kept(symbol, whole, "id", "entry_id"),
        **kept(symbol, text, "literal_event", "symbolic_encoding", "made_by"),
        **kept(symbol, number, "timestamp", "salience", "surprise"),
        "affect": AFFECT.pack(*symbol.affect.as_list()),
        "circle": to_json(sorted(symbol.audience.witnesses), "circle") if symbol.audience.confined else None,
        "faded": False,
        "tier": int(symbol.audience.tier),
    }


def symbol_of(row: Stored) -> Symbol:
    """The symbol of a row. Raises `StoreError` when the row is damaged."""
    same = ("id", "entry_id", "timestamp", "literal_event", "symbolic_encoding")
    return Symbol(
        **{name: row[name] for name in (*same, "salience", "surprise", "made_by")},
        affect=column(row, "symbols.affect", affect_of),
        audience=Audience(
            column(row, "symbols.circle", circle_of),
            row["circle"] is not None,
            column(row, "symbols.tier", Tier),
        ),
    )
