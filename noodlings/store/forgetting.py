"""Forgetting in the database: an entry is deleted, and so are its words in the turns that remembered it.

It all happens within one transaction. A trace refers to memories and symbols by id, but the thought and the
answer of that turn were made with them. So in every trace that recalled a forgotten entry, or in which a
transistor read one or a symbol made of one, the reference is removed, and the words are replaced where they
may have come from it: the offline voice says which memories it used, of a model nobody knows. A model was
also told of the talk before, which no trace names; there the words go where they repeat the forgotten. An
entry loses its response if the voice used what was forgotten for it, or if it repeats that. Such an answer
may have been in mind in another turn, which is then searched as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import filterfalse
from typing import Any
from unicodedata import normalize

from noodlings.errors import StoreError
from noodlings.ports import Forgotten, ReadTraces
from noodlings.stemming import COMMON_WORDS, UNSPACED, ordinary_words
from noodlings.store import statements as sql
from noodlings.store.documents import LARGEST, from_json, id_list, number, text, to_json
from noodlings.store.ingested_rows import FORGOTTEN as FORGOTTEN_RECORD
from noodlings.store.ingested_rows import NOT_WAITING, taken_of, taken_row
from noodlings.store.rows import Row, Stored, entry_of, symbol_of, symbol_row, trace_of, trace_row, undamaged
from noodlings.store.transaction import Transaction
from noodlings.text import clean, unaccented, without_accents
from noodlings.values.audience import OPEN, Tier, within
from noodlings.values.caller import is_past_id
from noodlings.values.circumstances import CIRCUMSTANCES
from noodlings.values.ingested_record import IngestedRecord
from noodlings.values.memory import (
    KNOWN_BY,
    MemoryEntry,
    circumstances_given,
    circumstances_of,
    written_by,
)
from noodlings.values.percept import told_name
from noodlings.values.relationship import NO_REGARD
from noodlings.values.trace import Modulation, RecalledTrace, Trace

FORGOTTEN = "[forgotten]"
"""Stands where words were."""

_WORDS = (
    re.compile(rf"[{UNSPACED}]|\d{{2,}}|[^\W\d_{UNSPACED}]{{2,}}"),
    re.compile(rf"[^\W_{UNSPACED}]{{2,}}"),
)
"""Single letters and digits count as content only beside each other, as in "B2"."""
_GROUPING = re.compile(r"(?<=\d)[,.'’](?=\d{3}(?!\d))")
_NAME = re.compile(r"(?<=[\w,;] )[A-Z][a-z]+")
_SIGNS = str.maketrans(dict.fromkeys("‘’ʼ´`′", "'") | dict.fromkeys("‐‑–", "-"))
_SHARP_S = str.maketrans({"ß": "ss", "ẞ": "SS"})
_MAYBE_NAME = re.compile(r"\b[A-Z][A-Za-z]+")


def turns_made_of(
    traces: Sequence[Trace],
    gone: frozenset[int],
    words: frozenset[str],
    symbols: frozenset[int] = frozenset(),
    unanswered: Iterable[MemoryEntry] = (),
) -> frozenset[int]:
    """The turns that may hold words of what was forgotten, each by the id of its entry.

    These are turns that had it or a symbol of it in mind, and turns that had it or an answer which repeats it
    in mind or in the talk before, and repeat it too.

    Args:
        traces: of all turns.
        gone: ids of the forgotten.
        words: content words of them and of their symbols. Without any, only turns that had the forgotten
            itself in mind are found.
        symbols: ids of the symbols made of them, faded ones too.
        unanswered: those of the forgotten that were lived and have no turn.
    """
    reached: set[int] = set()
    sources, known = set(gone), 0
    audiences = {trace.entry_id: OPEN if _confined_since(trace) else trace.audience for trace in traces}
    audiences |= {entry.id: entry.audience for entry in unanswered}
    while len(sources) > known:  # an answer may be repeated by a later one, that by another, and so on
        known = len(sources)
        for trace in traces:
            if trace.entry_id in sources:
                continue
            read = _put_into_words(trace)
            made_of_it = not (read.isdisjoint(gone) and _symbols_read(trace).isdisjoint(symbols))
            before = sources.intersection(trace.talk) & audiences.keys()
            told_before = any(within(trace.audience, audiences[one]) for one in before)
            if read.isdisjoint(sources) and not made_of_it and not told_before:
                continue
            said = f"{trace.thought} {trace.response or ''}"
            repeating = bool(words and trace.response) and repeats(said, words)
            repeating |= bool(trace.response) and told_of(trace, gone)
            repeating |= trace.audience.tier is Tier.SEALED  # its words are not there to be compared
            if repeating:
                sources.add(trace.entry_id)
            if repeating or made_of_it:
                reached.add(trace.entry_id)
    return frozenset(reached)


def _confined_since(trace: Trace) -> bool:
    """Whether a turn may have been confined after it was told, as by a log: nobody who heard it is left."""
    others = trace.audience.witnesses - {trace.agent_id}
    return trace.audience.confined and all(map(is_past_id, others))


def told_of(trace: Trace, gone: Collection[int]) -> bool:
    """Whether the voice says that it used one of these for the answer, as only the offline voice can."""
    return any(found.used and found.entry_id in gone for found in trace.recalled)


def without(trace: Trace, forgotten: frozenset[int], *, wordless: bool = True) -> Trace:
    """The trace without references to these entries, if `wordless` also without all words of that turn."""
    trace = replace(
        trace,
        recalled=tuple(
            _without_references(one, forgotten) for one in trace.recalled if one.entry_id not in forgotten
        ),
        tone=replace(trace.tone, entry_id=None) if trace.tone.entry_id in forgotten else trace.tone,
        regard=trace.regard if forgotten.isdisjoint(trace.regard.evidence) else NO_REGARD,
    )
    if not wordless:
        return trace
    return replace(
        trace,
        thought=FORGOTTEN if trace.thought else "",
        modulations=tuple(
            Modulation(
                made.transistor,
                made.gain,
                FORGOTTEN if made.before else "",
                FORGOTTEN if made.after else "",
                made.how,
            )
            for made in trace.modulations
        ),
        response=None if trace.response is None else FORGOTTEN,
        action=None,
    )


def _without_references(recalled: RecalledTrace, forgotten: frozenset[int]) -> RecalledTrace:
    """Without a reference to these entries."""
    return replace(
        recalled,
        sources=tuple(entry_id for entry_id in recalled.sources if entry_id not in forgotten),
        supersedes=tuple(entry_id for entry_id in recalled.supersedes if entry_id not in forgotten),
        superseded_by=None if recalled.superseded_by in forgotten else recalled.superseded_by,
    )


def _put_into_words(trace: Trace) -> set[int]:
    """The entries that may be in the words of a turn: those that the voice says it used, or else all."""
    used = tuple(one for one in trace.recalled if one.used)
    return _entries_read(trace, used or trace.recalled)


def _entries_read(trace: Trace, recalled: Sequence[RecalledTrace]) -> set[int]:
    """The entries that were `recalled`, set the tone, or were read by transistors."""
    read = {entry_id for one in recalled for entry_id in (one.entry_id, *one.sources)}
    if trace.tone.entry_id is not None:
        read.add(trace.tone.entry_id)
    return read.union(*[made.entries for made in trace.modulations])


def _symbols_read(trace: Trace) -> set[int]:
    return {symbol for made in trace.modulations for symbol in made.symbols}


def content_words(texts: Iterable[str]) -> frozenset[str]:
    """The words, numbers and codes of two letters and digits and more, `unaccented`, but for common words."""
    plain = [_GROUPING.sub("", unaccented(text)) for text in texts]
    words = (word for text in plain for kind in _WORDS for word in kind.findall(text))
    return frozenset(words) - COMMON_WORDS


def names_told(texts: Iterable[str]) -> frozenset[str]:
    """What may be names, with their capital, for some are common words: "Will", "Don"."""
    return frozenset(name for text in texts for name in (*_NAME.findall(text), *told_name(text).split()))


def repeats(response: str, forgotten: frozenset[str]) -> bool:
    """Whether a response may repeat what was forgotten, given as content words and names; yes where there
    are none."""
    said = content_words([response]).union(map(str.capitalize, _MAYBE_NAME.findall(response)))
    return not forgotten or not forgotten.isdisjoint(said)


def delete_entries(
    transaction: Transaction,
    agent_id: str,
    ids: Iterable[int],
    by_user: str,
    timestamp: float,
    told_by: str,
    known: ReadTraces,
) -> Forgotten:
    """Delete these entries of an agent, and every word made of them. See `SqlStore.forget`."""
    transaction.take_time()  # every turn of the agent is looked through
    waited = 0
    if told_by:
        theirs = {"of_agent": agent_id, "of_user": told_by, **NOT_WAITING}
        waited = transaction.run(sql.FORGET_PARKED, theirs)
    texts = _texts(transaction, agent_id, ids)
    if not texts and not waited:
        return Forgotten()
    redacted = _delete(transaction, agent_id, texts, known) if texts else ()
    event = {
        "agent_id": agent_id,
        "timestamp": number(timestamp, "timestamp"),
        "kind": "forget",
        "by_user": text(by_user, "by_user"),
        "count": len(texts) + waited,
    }
    transaction.run(sql.ADD_EVENT, event)
    return Forgotten(len(texts) + waited, redacted)


def make_nameless(
    transaction: Transaction, agent_id: str, user_ids: Collection[str], names: Collection[str] = ()
) -> None:
    """Let nothing say any more that one of these users had something forgotten, wrote a fact by hand, may
    know of a symbol, or was observed by others; `names` are what they are called. What waits and observes
    them is forgotten as a whole, so that it does not come back with them when it can be read."""
    if not user_ids:
        return  # else every text would hold one of no names
    transaction.take_time()
    doers = {"of_agent": agent_id, "among": json.dumps(list(user_ids)), "nobody": FORGOTTEN}
    transaction.run(sql.MAKE_NAMELESS, doers)
    called = {*user_ids, *names} - {""}
    read = partial(entry_of, words=True)
    rows = transaction.rows(sql.WITH_EXTRA, {"of_agent": agent_id, "position": -1, "limit": LARGEST})
    for entry in undamaged(rows, transaction.vault.reading("entries", read)):
        changes: Row = {KNOWN_BY: FORGOTTEN} if written_by(entry) in user_ids else {}
        known = circumstances_of(entry)
        named = naming(called, entry.user_text)
        if (without := known.without(named, _in_feelings(named))) != known:
            changes |= {CIRCUMSTANCES: {}} | without.as_data()
        for name, value in changes.items():
            given = entry.extra if entry.extra.get(name) else entry.extra["data"]
            given[name] = value
        if changes:
            # Without the tier it is sealed wherever there is a key.
            change = {"extra": to_json(entry.extra, "extra")}
            transaction.run(sql.REVISE, _key(agent_id, entry.id) | change)
    rows = transaction.rows(sql.ALL_TAKEN, {"of_agent": agent_id})
    for waiting in undamaged(rows, transaction.vault.reading("source_records", taken_of)):
        if observes(waiting, called):
            transaction.run(sql.ADD_TAKEN, taken_row(agent_id, replace(waiting, **NOT_WAITING)))
    rows = transaction.rows(sql.ALL_SYMBOLS, {"of_agent": agent_id})
    for symbol in undamaged(rows, transaction.vault.reading("symbols", symbol_of)):
        if not symbol.audience.witnesses.isdisjoint(user_ids):
            parted = replace(symbol, audience=symbol.audience.without(frozenset(user_ids)))
            circle = {"circle": symbol_row(agent_id, parted)["circle"]}
            transaction.run(sql.CHANGE_SYMBOL, _key(agent_id, symbol.id) | circle)


def naming(called: Collection[str], told: str) -> Callable[[str], bool]:
    """What finds somebody's ids and names in a text, in any case and Unicode form, with accents or without.

    A name that is an ordinary word, such as Joy, counts with its capital, or as the whole text. Where `told`,
    what the same person wrote beside it, is without capitals, only words that stand everywhere are so: "bob"
    is a name there, and "will" is not.
    """
    called = {form for one in called for form in spellings(one)}
    common = COMMON_WORDS if told.islower() else ordinary_words()
    ordinary = {one for one in called if one.casefold() in common}
    forms = {form for one in ordinary for form in (one, one.capitalize(), one.upper())}
    patterns = whole_words({*called} - ordinary, re.I), whole_words({*filterfalse(str.islower, forms)})
    whole = {one.casefold() for one in called}
    return lambda text: any(
        form.casefold() in whole or any(pattern.search(form) for pattern in patterns)
        for form in spellings(text)
    )


def _in_feelings(named: Callable[[str], bool]) -> Callable[[str], bool]:
    """The same for words for an emotion, of which a single ordinary one, such as joy, names nobody."""
    return lambda text: text not in ordinary_words() and named(text)


def spellings(text: str) -> set[str]:
    """A text in one form of Unicode, without accents, and without ß."""
    plain = normalize("NFKC", text).translate(_SIGNS)
    bare = without_accents(plain)
    return {plain, bare, bare.translate(_SHARP_S)}


def whole_words(names: Collection[str], flags: int = 0) -> re.Pattern[str]:
    """Finds one of these names where it stands by itself, or beside a script that has no spaces, in whose
    texts nothing stands by itself; nothing where there are none. Underscores join words, as in ids, but for
    up to two that stand around some, as in Markdown, and those between the words of a name."""
    letter = rf"[^\W_{UNSPACED}]"
    begins = "".join(rf"(?<!{letter}{joined})" for joined in ("", "_", "__"))
    written = "|".join(map(_as_written, sorted(names, key=len, reverse=True)))
    return re.compile(rf"{begins}(?:{written})(?!_*{letter})" if names else r"(?!)", flags)


def _as_written(name: str) -> str:
    """A regular expression for a name, also with markup around each of its words, or with an underscore or a
    hyphen for a space. With a hyphen, one of ordinary words ("will-power") counts only with its capitals."""
    words = name.split()
    if len(words) < 2:
        return re.escape(name)
    hyphened = r"(?:[*_~]{0,3}[ -][*_~]{0,3}|_)"
    if not ordinary_words().issuperset(name.casefold().split()):
        return hyphened.join(map(re.escape, words))
    apart = r"(?:[*_~]{0,3} [*_~]{0,3}|_)".join(map(re.escape, words))
    capitals = {name.title(), name.upper(), *filterfalse(str.islower, [name])}
    capital = "|".join(hyphened.join(map(re.escape, form.split())) for form in sorted(capitals))
    return f"{apart}|(?-i:{capital})"


def observes(waiting: IngestedRecord, called: Collection[str]) -> bool:
    """Whether circumstances in what waits name somebody with these ids and names: of a form that cannot be
    read it is not known what they say of whom. Keys that are words name nobody."""
    whoever = naming(called, str((waiting.record or {}).get("text", "")))
    finders = {"emotion": _in_feelings(whoever)}

    def name_one(value: Any, named: Callable[[str], bool] = whoever) -> bool:
        match value:
            case str():
                return named(clean(value))
            case list():
                return any(name_one(one, named) for one in value)
            case dict():
                keys = [name for name in value if name not in ordinary_words()]
                return name_one(keys) or any(name_one(value[one], finders.get(one, named)) for one in value)
        return False

    return name_one(waiting.circumstances)


def _delete(
    transaction: Transaction, agent_id: str, texts: dict[int, tuple[str, str]], known: ReadTraces
) -> tuple[int, ...]:
    """Delete these entries, by id with their words. Returns the ids of those that lost their response."""
    gone, traces = frozenset(texts), _traces(transaction, agent_id, known)
    _, images, turns, redacted = _made_of(transaction, agent_id, texts, traces)
    _redact_traces(transaction, agent_id, gone, turns, traces)
    transaction.run_each(sql.REDACT_RESPONSE, [_key(agent_id, entry_id) for entry_id in redacted])
    transaction.run_each(sql.FORGET_TAKEN, [_key(agent_id, entry_id) | FORGOTTEN_RECORD for entry_id in gone])
    transaction.run_each(sql.FORGET_ENTRY, [_key(agent_id, entry_id) for entry_id in gone])
    transaction.run(sql.RAISE_FORGOTTEN_ID, {"of_agent": agent_id, "last_id": max(gone)})
    if images:
        transaction.run(sql.RAISE_FORGOTTEN_SYMBOL_ID, {"of_agent": agent_id, "last_id": max(images)})
    return redacted


def made_of(
    transaction: Transaction, agent_id: str, ids: Iterable[int], traces: Mapping[int, Trace]
) -> tuple[frozenset[int], tuple[int, ...]]:
    """The turns that may hold words of these entries, and those of them whose answer does so; see
    `SqlStore.made_of`."""
    texts = _texts(transaction, agent_id, ids)
    words, _, turns, answers = _made_of(transaction, agent_id, texts, traces)
    if not words:  # nothing can be repeated of them, unless the voice says that it was
        answers = tuple(one for one in answers if told_of(traces[one], texts))
        turns = frozenset(answers)
    return turns, answers


def _made_of(
    transaction: Transaction,
    agent_id: str,
    texts: Mapping[int, tuple[str, str]],
    traces: Mapping[int, Trace],
) -> tuple[frozenset[str], frozenset[int], frozenset[int], tuple[int, ...]]:
    """Content words of these entries, given by id with their words, and what was made of them: symbols, turns
    that may hold words of them, and entries whose response does so; each by its id."""
    gone = frozenset(texts)
    images = {
        row["id"]: readable(transaction, "symbols", row, "symbolic_encoding")
        for row in transaction.rows(sql.SYMBOLS_OF, {"of_agent": agent_id, "ids": id_list(gone)})
    }
    words = content_words([*(part for pair in texts.values() for part in pair), *images.values()])
    words |= names_told(said for said, _ in texts.values())
    rows = transaction.rows(sql.ENTRIES, {"of_agent": agent_id, "ids": id_list(gone - traces.keys())})
    others = undamaged(rows, transaction.vault.reading("entries", entry_of))
    lived = [entry for entry in others if not entry.source]
    turns = turns_made_of([*traces.values()], gone, words, frozenset(images), lived) - gone
    answers = tuple(
        entry_id
        for entry_id, (_, response) in _texts(transaction, agent_id, turns).items()
        if response and (told_of(traces[entry_id], gone) or repeats(response, words))
    )
    return words, frozenset(images), turns, answers


def _texts(transaction: Transaction, agent_id: str, ids: Iterable[int]) -> dict[int, tuple[str, str]]:
    """id → what was said, with its circumstances, and answered, of those that exist, however damaged the row
    is elsewhere."""
    found = {}
    for row in transaction.rows(sql.WORDS, {"of_agent": agent_id, "ids": id_list(ids)}):
        said, answered, extra = (
            readable(transaction, "entries", row, name) for name in ("user_text", "response", "extra")
        )
        with suppress(StoreError):  # of damaged data nothing was told
            known = circumstances_given(from_json(extra, "extra") if extra else {})
            said = " ".join((said, *known.texts))
        found[row["id"]] = (said, answered)
    return found


def readable(transaction: Transaction, table: str, row: Stored, name: str) -> str:
    """A text of a row; "" where there is none, or it cannot be decrypted: it is deleted all the same."""
    try:
        return str(transaction.vault.text(row[name], table, name, row["agent_id"], row["id"]) or "")
    except StoreError:
        return ""


def _traces(transaction: Transaction, agent_id: str, known: ReadTraces) -> dict[int, Trace]:
    """All traces by the id of their entry. One that cannot be read cannot be redacted, so it is deleted."""
    traces: dict[int, Trace] = {}
    names = sql.ALL_TRACES.selected_columns.keys()
    which = names.index("entry_id")
    for row in transaction.tuples(sql.ALL_TRACES, {"of_agent": agent_id}):
        entry_id = row[which]
        if entry_id in known and known[entry_id][0] == row:
            traces[entry_id] = known[entry_id][1]
            continue
        try:
            opened = transaction.vault.opened("traces", dict(zip(names, row, strict=True)))
            traces[entry_id] = trace_of(opened)
        except StoreError:
            transaction.run(sql.FORGET_TRACE, _key(agent_id, entry_id))
    return traces


def _redact_traces(
    transaction: Transaction,
    agent_id: str,
    gone: frozenset[int],
    turns: frozenset[int],
    traces: Mapping[int, Trace],
) -> None:
    """Take the forgotten out of the traces of other turns; `turns` are those that may hold words of it.

    The traces of the forgotten entries are deleted with them.
    """
    changed = {entry_id: without(traces[entry_id], gone) for entry_id in turns}
    for entry_id in traces.keys() - turns - gone:  # of the words of these nothing is in an answer
        trace = traces[entry_id]
        if not gone.isdisjoint(_entries_read(trace, trace.recalled).union(trace.regard.evidence)):
            changed[entry_id] = without(trace, gone, wordless=False)
    for entry_id, trace in changed.items():
        transaction.run(sql.CHANGE_TRACE, _key(agent_id, entry_id) | trace_row(trace))


def _key(agent_id: str, entry_id: int) -> Row:
    return {"of_agent": agent_id, "of_id": entry_id}
