"""The pipeline: each record of a source becomes a memory of one agent, once.

    normalise   clean the text, and check that its kind exists
    find        who said it, where, when, and whether it was said to the agent
    appraise    what the agent feels about it
    weigh       how important it is; this makes the memory entry
    store       a few hundred entries in one transaction, with a note that each record was ingested
    link        to the line it follows, and to the older version that it replaces

The lines before a record are its context: they are its neighbours in the archive and are linked with it.
Embedding happens later, in the background, as for any memory that has no vector yet.

Guarantees. An ingested record is recognised by its source and id, so after a crash it is enough to run the
pipeline again. A record that changed becomes a new memory that replaces the old one; the old one stays. Of
several with one id the last in the source says whether it changed. A record whose memory was forgotten does
not come back. A record that is invalid is parked whole, with the reason, and masked as a memory is. What the
store refuses is retried after pauses, then record by record, and parked only if the other records can be
stored.
"""

from __future__ import annotations

import time
from array import array
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import groupby, islice
from types import MappingProxyType
from typing import Any

import numpy as np

from noodlings.agent.agent import Agent
from noodlings.agent.hearsay import heard_as, is_a_word_within
from noodlings.agent.linking import followed
from noodlings.agent.memory_question import uncalled
from noodlings.agent.recollection import newer_forms
from noodlings.clock import moment
from noodlings.errors import StoreError, UserError
from noodlings.ingest.record import (
    Identified,
    Item,
    Keepable,
    SourceNote,
    SourceProblem,
    SourceRecord,
    SourceWithheld,
    record_in,
)
from noodlings.memory.saved import plain
from noodlings.ports import Repository
from noodlings.recall.filters import EVERYTHING
from noodlings.text import clean, folded, shorten
from noodlings.values.audience import Audience
from noodlings.values.caller import past_id_of
from noodlings.values.ingested_record import IngestedRecord
from noodlings.values.memory import Link, MemoryEntry
from noodlings.values.percept import Kind, Percept
from noodlings.values.trace import Trace

AT_ONCE = 250
"""Records of one transaction."""
PAUSES = (0.2, 1.0, 5.0)
"""Seconds before each retry of what the store refused."""
LONGEST = 20_000
"""Characters of one memory; a source cuts longer texts into passages."""
LONGEST_NAME = 60
SHOWN = 20
"""Problems that a report lists; any others are only counted."""
_LATEST = 20
"""How many of the latest records are searched for the one that the next record follows."""
_SOMEBODY = "somebody"
_NAMING = ("source", "id", "who", "witnesses")
"""What says in the document of a record which it is, and who was there."""


@dataclass(slots=True)
class IngestReport:
    """What happened to the records of a source.

    Attributes:
        new: became memories. changed: became memories that replace older ones.
        unchanged: had been ingested before.
        forgotten: had been ingested, and their memories were forgotten; they stay forgotten.
        parked: invalid, kept with the reason. waiting: had been parked before.
        withheld: may be private by now and cannot be taken in; what they were before is confined.
        superseded: are not what they were, but another with the same id, further down in the source, counts.
        problem_count: places that could not be read, plus the records parked in this run.
        problems: the first `SHOWN` of them.
        notes: anything else worth knowing about the file.
    """

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    forgotten: int = 0
    parked: int = 0
    waiting: int = 0
    withheld: int = 0
    superseded: int = 0
    problem_count: int = 0
    problems: list[SourceProblem] = field(default_factory=list)
    notes: list[SourceNote] = field(default_factory=list)

    def problem(self, line: int, why: str) -> None:
        self.problem_count += 1
        if len(self.problems) < SHOWN:
            self.problems.append(SourceProblem(line, shorten(clean(why), 300)))

    def add(self, other: IngestReport) -> None:
        for part in fields(self):
            setattr(self, part.name, getattr(self, part.name) + getattr(other, part.name))
        del self.problems[SHOWN:]


@dataclass(slots=True)
class _Batch:
    """The result of a batch of records before it is committed.

    Attributes:
        latest: the latest entries, oldest first, including those of earlier batches.
        told_at: the time of the last record; a record without a time gets this one.
        known: what earlier runs stored about its records.
        again: they were parked, and are tried again.
        refused: why the store refused them; if given, they are parked.
        confined: audience → former forms that more people could learn of.
    """

    latest: deque[MemoryEntry]
    told_at: float
    known: Mapping[tuple[str, str], IngestedRecord]
    again: bool
    refused: str
    report: IngestReport = field(default_factory=IngestReport)
    taken: dict[tuple[str, str], IngestedRecord] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    confined: dict[Audience, list[int]] = field(default_factory=lambda: defaultdict(list))


class Pipeline:
    """Turns the records of sources into memories of one agent.

    Args:
        agent: whose past this is. Nothing else may use the agent meanwhile.
        store: where the agent's memories are stored.
        introduce: called with user id → name for everybody the records mention.
        undated: world time of records that come before the first one with a time.
        others: by id, all agents who may have heard what this one answered, maybe with itself.
        dry_run: store nothing, only count.
        sleep: waits for that many seconds.
    """

    def __init__(
        self,
        agent: Agent,
        store: Repository,
        introduce: Callable[[Mapping[str, str]], None],
        *,
        undated: float,
        others: Mapping[str, Agent] = MappingProxyType({}),
        dry_run: bool = False,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._agent = agent
        self._store = store
        self._introduce = introduce
        self._others = others
        self._dry_run = dry_run
        self._sleep = sleep
        self._own_names = {folded(name) for name in (agent.id, *agent.persona.names)}
        self._traces: dict[str, dict[int, Trace]] = {}  # by agent, before anything of this run is confined
        self._heard: dict[tuple[str, str], list[MemoryEntry]] = {}  # by hearer and teller, in this run
        self._latest: deque[MemoryEntry] = deque(maxlen=_LATEST)
        self._told_at = undated
        self._before = 0  # the last id from before this run
        self._reread: Callable[[], Iterable[Item]] = tuple
        self._last_lines: dict[int, int] | None = None

    def run(
        self,
        source: Iterable[Item],
        done: Callable[[int], object] = lambda position: None,
        reread: Callable[[], Iterable[Item]] = tuple,
    ) -> IngestReport:
        """Ingest everything that a source yields.

        Args:
            done: called with the number of the last line of each batch.
            reread: yields the same once more, if several records may have one id. It is called where one is
                not what it was in an earlier run, to see whether another comes after it.

        Raises:
            UserError: the source cannot be read at all.
            StoreError: the store refuses everything. Running again continues from what was stored.
        """
        self._read_anew()
        self._reread = reread
        report, items = IngestReport(), iter(source)
        while batch := list(islice(items, AT_ONCE)):
            records: list[Identified] = []
            for item in batch:
                if isinstance(item, SourceNote):
                    report.notes.append(item)
                elif isinstance(item, SourceProblem) and item.kept is None:
                    report.problem(item.line, item.why)
                elif not all(_key(item)):
                    report.problem(
                        item.line, "it has no id, or its source no name, by which to know it again"
                    )
                else:
                    records.append(item)
            for some in [records] if self._dry_run else _each_once(records):
                report.add(self._kept(some))
            done(max(item.line for item in batch))
        return report

    def retry(self) -> IngestReport:
        """Try all parked records again. Raises `StoreError` as `run` does."""
        self._read_anew()
        report, after = IngestReport(), ("", "")
        while some := self._store.parked(self._agent.id, after, AT_ONCE):
            report.add(self._kept([_waiting(one) for one in some], again=True))
            after = some[-1].source, some[-1].id
        return report

    def _read_anew(self) -> None:
        """Let go of what an earlier run read: there may have been turns since."""
        self._traces.clear()
        self._heard.clear()
        self._before, self._reread, self._last_lines = self._agent.memory.last_id, tuple, None

    def _kept(self, records: Sequence[Identified], again: bool = False) -> IngestReport:
        """Store a batch of records in one transaction, or one by one if that fails."""
        if not records:
            return IngestReport()
        for pause in (*PAUSES, None):
            try:
                return self._attempt(records, again)
            except StoreError:
                if pause is not None:
                    self._sleep(pause)
        report = IngestReport()
        for record in records:
            try:
                report.add(self._attempt([record], again))
            except StoreError as error:
                report.add(self._attempt([record], again, refused=str(error)))
        return report

    def _attempt(self, records: Sequence[Identified], again: bool, refused: str = "") -> IngestReport:
        """Run all stages for a batch of records, in one transaction; `again` and `refused` as in `_Batch`.

        Raises `StoreError`: nothing was stored.
        """
        known = self._known(records)
        given = [(one, _digest(one)) for one in records]
        given = [pair for pair in given if not self._superseded(*pair, known.get(_key(pair[0])))]
        kept = (one for one, _ in given if (before := known.get(_key(one))) is None or not before.forgotten)
        if not self._dry_run:
            self._introduce(self._names(kept))  # first, so that a failure here leaves nothing half done
        batch = _Batch(self._latest.copy(), self._told_at, known, again, refused)
        batch.report.superseded = len(records) - len(given)
        for record, digest in given:
            self._take(batch, record, digest)
        if not self._dry_run and (batch.taken or batch.confined):
            confine = partial(self._confine_answers, batch.confined)
            self._agent.keep_told(batch.taken.values(), batch.links, confine)
        self._latest, self._told_at = batch.latest, batch.told_at
        return batch.report

    def _superseded(self, record: Identified, digest: str, before: IngestedRecord | None) -> bool:
        """Whether it is not what it was in an earlier run, and another with its id comes after it. Where that
        run was interrupted, what comes after the form that it was then is still to be taken in."""
        if before is None or before.forgotten or (before.entry_id or 0) > self._before:
            return False
        if digest == before.digest != "":
            return False
        if self._last_lines is None:
            self._last_lines = _last_lines(self._reread())
        key, at = _key(record), record.line
        taken = self._last_lines.get(hash((key, before.digest)), at)
        return taken >= at and at < self._last_lines.get(hash(key), at)

    def _known(self, records: Iterable[Identified]) -> dict[tuple[str, str], IngestedRecord]:
        known: dict[tuple[str, str], IngestedRecord] = {}
        for source, keys in groupby(sorted({*map(_key, records)}), key=lambda key: key[0]):
            taken = self._store.taken(self._agent.id, source, [record_id for _, record_id in keys])
            known |= {(source, record_id): one for record_id, one in taken.items()}
        return known

    def _take(self, batch: _Batch, record: Identified, digest: str) -> None:
        key, report, again = _key(record), batch.report, batch.again
        before = batch.taken.get(key) or batch.known.get(key)
        if isinstance(record, SourceWithheld):
            if before is not None and not before.forgotten:
                self._withhold(batch, record, before)
            return
        if again and before is not None:
            digest = before.digest
        if isinstance(record, SourceRecord) and record.timestamp is not None:
            with suppress(UserError):  # the record itself is rejected with this error
                batch.told_at = moment(record.timestamp)
        if before is not None and before.forgotten:
            report.forgotten += 1
            return
        if before is not None and before.digest == digest and not (again and before.record is not None):
            report.waiting += before.record is not None
            report.unchanged += before.record is None
            return
        former = None if before is None else before.entry_id
        taken = IngestedRecord(*key, digest, former)
        try:
            if batch.refused:
                raise UserError(f"store: {batch.refused}")
            if isinstance(record, SourceProblem):
                raise UserError(f"read: {record.why}")
            entry = self._remembered(batch, record)
        except UserError as error:
            report.problem(record.line, str(error))
            if record.secret:  # it does not wait, for there it would be plain, and no former form of it does
                if before is not None:
                    self._withhold(batch, record, before)
                return
            self._limit_former(batch, former, record)
            attempts = 1 if before is None else before.attempts + 1
            batch.taken[key] = replace(
                taken,
                user_id=before.user_id if again and before is not None else self._who(record.who),
                attempts=attempts,
                reason=shorten(clean(self._agent.without_personal(str(error))), 300),
                record=self._keepable(record),
            )
            report.parked += 1
            return
        report.new += former is None
        report.changed += former is not None
        if entry is None:  # a dry run
            batch.taken[key] = replace(taken, entry_id=former or 0)
            return
        batch.taken[key] = replace(taken, entry_id=entry.id)
        batch.latest.append(entry)
        batch.links += followed(entry, lambda last_n: list(batch.latest)[-(last_n or 0) :])
        if former is not None:
            forms = self._forms(former)
            for form in forms.values():
                batch.links += self._agent.give_way(form, entry, entry.timestamp)
            if self._agent.limit_told(forms, entry.audience):  # they were taken in more open than it is
                batch.confined[entry.audience] += forms

    def _forms(self, former: int) -> dict[int, MemoryEntry]:
        """The memory that a record became, and what an admin corrected it to."""
        forms = self._store.entries(self._agent.id, [former])
        newer_forms(self._agent.id, self._store, forms, EVERYTHING)
        return forms

    def _withhold(self, batch: _Batch, record: Identified, before: IngestedRecord) -> None:
        """Confine what a record became, or let what waits of it go, until it comes again in whatever form."""
        self._limit_former(batch, before.entry_id, record)
        batch.report.withheld += 1
        batch.taken[_key(record)] = replace(before, digest="", record=None if before.entry_id else {})

    def _limit_former(self, batch: _Batch, former: int | None, record: Identified) -> None:
        """Confine what a record became, if its newer form cannot be kept and says that it is private."""
        audience = record.confined_to
        if former is None or audience is None or self._dry_run:
            return
        if not self._store.keeps_secrets:
            audience = Audience(audience.witnesses, confined=True)
        forms = self._forms(former)
        if self._agent.limit_told(forms, audience):
            batch.confined[audience] += forms

    def _confine_answers(self, confined: Mapping[Audience, Sequence[int]]) -> None:
        """Confine what was answered from entries that are confined by now, and what others heard of that."""
        for audience, ids in confined.items():
            self._confine(self._agent, ids, audience, set())

    def _confine(
        self, agent: Agent, ids: Sequence[int], audience: Audience, done: set[tuple[str, int]]
    ) -> None:
        """The same for an agent that was told these; `done` are its id and those of others with the answers
        that are confined already."""
        if agent.id not in self._traces:
            read = self._store.read_traces(agent.id)
            self._traces[agent.id] = {number: trace for number, (_, trace) in read.items()}
        limited = agent.limit_answers(ids, audience, self._traces[agent.id])
        answers = [one for one in limited if (agent.id, one.id) not in done]
        done.update((agent.id, one.id) for one in answers)
        said = [(one.response or "", one.timestamp) for one in answers]
        for hearer in self._others if answers else ():
            heard = [
                line.id
                for line in self._told(hearer, agent.id)
                if any(
                    heard_as(line.user_text, line.timestamp, answer, at)
                    and not is_a_word_within(line.user_text, answer)
                    for answer, at in said
                )
            ]
            if heard:
                other = self._others[hearer]
                self._confine(other, heard, audience, done)
                if other is not self._agent:
                    other.keep_told()

    def _told(self, hearer: str, teller: str) -> list[MemoryEntry]:
        """What an agent heard from another. No source adds to it: whoever is named in one is of the past."""
        if hearer == teller:
            return []
        if (heard := self._heard.get((hearer, teller))) is None:
            told = self._store.told_by(hearer, teller)
            heard = self._heard[hearer, teller] = [*self._store.entries(hearer, told).values()]
        return heard

    def _remembered(self, batch: _Batch, record: SourceRecord) -> MemoryEntry | None:
        """The memory made from a record, or None in a dry run.

        Raises `UserError` if the record is invalid; it begins with the stage that found it so.
        """
        stage = "normalise"
        try:
            text = _normalised(record)
            stage = "find"
            percept = Percept(
                self._who(record.who),
                text,
                batch.told_at if record.timestamp is None else record.timestamp,
                record.kind,
                addressed=uncalled(text, self._agent.persona) != text,
                audience=record.audience,
                place=clean(record.place),
                data=plain(record.data),
            )
            if self._dry_run:
                return None
            stage = "appraise"
            affect, significance = self._agent.feel_told(percept)
            stage = "weigh"
            return self._agent.remember_told(percept, clean(record.source), affect, significance)
        except (UserError, TypeError, ValueError, AttributeError) as error:
            raise UserError(f"{stage}: {error}") from error

    def _keepable(self, record: Keepable) -> dict[str, Any]:
        """The document of a record that waits, without what `privacy.personal` masks in a memory, either.

        Of a newer form it is not known what names somebody, so everything is looked through.
        """
        document = record.document()
        named = _NAMING if isinstance(record, SourceRecord) else ()
        others = {name: value for name, value in document.items() if name not in named}
        masked: dict[str, Any] = self._agent.without_personal(others)
        return masked | {name: document[name] for name in named}

    def _names(self, records: Iterable[Identified]) -> dict[str, str]:
        """User id → name of everybody who speaks in the records, except the agent."""
        called = (_plain_name(record.who) for record in records if isinstance(record, SourceRecord))
        return {user_id: name for name in called if (user_id := self._who(name)) != self._agent.id}

    def _who(self, name: str) -> str:
        """The agent's id for a name of its own, else a user id that no visitor of today can have."""
        called = _plain_name(name)
        return self._agent.id if folded(called) in self._own_names else past_id_of(called)


def _normalised(record: SourceRecord) -> str:
    text = clean(record.text)
    if not text:
        raise UserError("it has no words")
    if len(text) > LONGEST:
        raise UserError(f"it has {len(text):,} characters; a memory holds at most {LONGEST:,}")
    if len(record.place) > LONGEST:
        raise UserError(f"its place has {len(record.place):,} characters; it may have at most {LONGEST:,}")
    Kind(record.kind)
    return text


def _plain_name(name: object) -> str:
    return shorten(clean(name), LONGEST_NAME) if isinstance(name, str) and clean(name) else _SOMEBODY


def _each_once(records: Iterable[Identified]) -> Iterator[list[Identified]]:
    """The same in parts that hold no record twice: its former form is kept before it gives way."""
    part = dict[tuple[str, str], Identified]()
    for record in records:
        if _key(record) in part:
            yield [*part.values()]
            part.clear()
        part[_key(record)] = record
    yield [*part.values()]


def _key(record: Identified) -> tuple[str, str]:
    return clean(record.source), clean(record.id)


def _digest(record: Identified) -> str:
    """What `IngestedRecord.digest` is once it was taken in, or withheld."""
    return "" if isinstance(record, SourceWithheld) else record.digest


def _last_lines(items: Iterable[Item]) -> dict[int, int]:
    """The last line of each source and id that stands there more than once, and of each of its forms, by a
    hash. Takes a few bytes of memory for each item."""
    hashes, forms, lines = array("q"), array("q"), array("q")
    for item in items:
        if isinstance(item, Identified):
            key = _key(item)
            hashes.append(hash(key))
            forms.append(hash((key, _digest(item))))
            lines.append(item.line)
    order = np.argsort(hashes, kind="stable")
    ordered = np.asarray(hashes)[order]
    same = np.zeros(len(order) + 1, np.bool_)
    same[1:-1] = ordered[1:] == ordered[:-1]
    several = order[same[1:] | same[:-1]].tolist()
    return {which[one]: lines[one] for one in several for which in (hashes, forms)}


def _waiting(taken: IngestedRecord) -> Keepable:
    """A parked record, as this version can read it."""
    document = taken.record or {}
    try:
        return replace(record_in(document), source=taken.source, id=taken.id)
    except UserError as error:
        return SourceProblem(0, str(error), taken.source, taken.id, kept=document)
