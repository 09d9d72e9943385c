"""Decides whether a store can have come from a history: nothing lost, doubled, out of order or interleaved.

It knows the history and an export (`noodlings export`) of what is kept in the end, and nothing of the program
between them. The rules, for each agent:

- What was acknowledged is there, once, under the id that was answered, with the answer that was given.
- A percept with a key is there once however often it was sent, and all its answers name one entry. Without a
  key it is there at most once for each send. What is unknown may be there or not; what failed may not.
- No id is given twice. What was sent after an acknowledgement has a higher id than what was acknowledged.
- One owner at a time: each entry follows from the one before it. `step` counts up by one; a line is linked
  with the latest line of the same person that was in mind; a trace is of its own entry; the state in the end
  knows all turns that were finished, and the agent's own lines in their order. A writer that worked from a
  stale state breaks one of these.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.histories.history import NEMESIS, Operation

WORKING = 20
"""Entries that are in mind, the newest among them."""
LINES_KEPT = 50
"""Of its own latest lines an agent keeps so many."""
TALK_SECONDS = 300.0
_TALK = ("say", "emote", "whisper")


@dataclass(frozen=True, slots=True)
class Fault:
    """What cannot be.

    Attributes:
        kind: "lost", "twice", "order", "reused id", "interleaved", "phantom", "damaged" or "error".
        agent: whose it is.
        what: in words, with ids and percepts.
    """

    kind: str
    agent: str
    what: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.agent}: {self.what}"


@dataclass(slots=True)
class Kept:
    """What an export holds of one agent, as it stands there.

    Attributes:
        entries: in the order of the file, by id in a store of ours.
        traces: entry id → trace.
        follows: with which earlier entries each is linked: id → ids.
    """

    state: dict[str, Any] = field(default_factory=dict)
    last_id: int = 0
    entries: list[dict[str, Any]] = field(default_factory=list)
    traces: dict[int, dict[str, Any]] = field(default_factory=dict)
    follows: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))


@dataclass(slots=True)
class Percept:
    """All that the history says of one percept.

    Attributes:
        floor: the highest id that was acknowledged when it was first sent.
        sends, failed: how many there were, and how many surely did nothing.
        acknowledged: the answers.
    """

    agent: str
    user: str
    text: str
    keyed: bool
    floor: int
    sends: int = 0
    failed: int = 0
    acknowledged: list[Operation] = field(default_factory=list)


def read_export(lines: Iterable[str]) -> dict[str, Kept]:
    """Agents by id, from the lines of an export."""
    kept: dict[str, Kept] = defaultdict(Kept)
    for line in lines:
        record = json.loads(line)
        match record.get("type"):
            case "agent":
                kept[record["id"]].state = record["state"]
                kept[record["id"]].last_id = record["last_id"]
            case "entry":
                kept[record["agent"]].entries.append(record)
            case "trace":
                kept[record["agent"]].traces[record["entry_id"]] = record
            case "link" if record["kind"] == "followed":
                kept[record["agent"]].follows[record["source"]].append(record["target"])
    return dict(kept)


def check(history: Iterable[Operation], kept: Mapping[str, Kept]) -> list[Fault]:
    """Everything that is wrong; nothing where all is as it must be."""
    operations = [one for one in history if one.process != NEMESIS]
    percepts = _percepts(operations)
    of_agent: dict[str, dict[str, Percept]] = defaultdict(dict)
    for name, percept in percepts.items():
        of_agent[percept.agent][name] = percept
    faults = [
        Fault("error", one.agent, f"{one.percept} was answered {one.status}: {one.what}")
        for one in operations
        if one.status >= 400 and one.status not in (429, 503)
    ]
    for agent in sorted(of_agent.keys() | kept.keys()):
        told = of_agent.get(agent, {})
        there = kept.get(agent, Kept())
        faults += _of_percepts(agent, told, there)
        faults += _of_ids(agent, told, there)
        faults += _of_owner(agent, there)
    return faults


def _percepts(operations: Sequence[Operation]) -> dict[str, Percept]:
    percepts: dict[str, Percept] = {}
    highest: Counter[str] = Counter()
    for one in operations:
        if one.type == "invoke":
            sent = Percept(one.agent, one.user, one.text, one.keyed, highest[one.agent])
            percepts.setdefault(one.percept, sent).sends += 1
        elif one.type == "fail":
            percepts[one.percept].failed += 1
        elif one.type == "ok":
            percepts[one.percept].acknowledged.append(one)
            highest[one.agent] = max(highest[one.agent], one.entry)
    return percepts


def _of_percepts(agent: str, told: Mapping[str, Percept], there: Kept) -> Iterator[Fault]:
    """What is lost, there twice, or there and must not be."""
    by_text: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for entry in there.entries:
        by_text[entry["user_text"]].append(entry)
    for name, percept in told.items():
        found = by_text.pop(percept.text, [])
        ids = {entry["id"] for entry in found}
        acknowledged = {one.entry for one in percept.acknowledged}
        for lost in sorted(acknowledged - ids):
            yield Fault("lost", agent, f"{name} was acknowledged as entry {lost}, which is not there")
        if percept.keyed and len(acknowledged) > 1:
            yield Fault("twice", agent, f"{name} has one key, and was answered as {sorted(acknowledged)}")
        most = min(1, percept.sends - percept.failed) if percept.keyed else percept.sends - percept.failed
        if len(found) > most:
            kind = "twice" if most else "phantom"
            yield Fault(kind, agent, f"{name} may be there {most} times, and is there as {sorted(ids)}")
        if not percept.keyed and len(acknowledged) < len(percept.acknowledged):
            yield Fault("lost", agent, f"sends of {name} without a key were answered as one entry")
        for entry in found:
            if entry["user_id"] != percept.user:
                yield Fault(
                    "phantom", agent, f"{name} of {percept.user} is there as told by {entry['user_id']}"
                )
            if entry["id"] <= percept.floor:
                was = f"when {percept.floor} was acknowledged"
                yield Fault("order", agent, f"{name} is there as {entry['id']}, and was first sent {was}")
        yield from _of_answers(agent, name, percept, {entry["id"]: entry for entry in found}, there)
    for text, entries in by_text.items():
        if any(entry["user_id"] != agent for entry in entries):
            yield Fault("phantom", agent, f"entry {entries[0]['id']} was never sent: {text!r:.60}")


def _of_answers(
    agent: str, name: str, percept: Percept, found: Mapping[int, dict[str, Any]], there: Kept
) -> Iterator[Fault]:
    for one in percept.acknowledged:
        entry = found.get(one.entry)
        if entry is None:
            continue
        if entry["response"] != one.response:
            said = f"{one.response!r:.60}, and {entry['response']!r:.60} is there"
            yield Fault("lost", agent, f"{name}, entry {one.entry}, was answered {said}")
        if not one.cut_off and one.entry not in there.traces:
            yield Fault("lost", agent, f"the turn of {name}, entry {one.entry}, was acknowledged: no trace")


def _of_ids(agent: str, told: Mapping[str, Percept], there: Kept) -> Iterator[Fault]:
    """What was given twice: in the store, or in answers to different percepts."""
    holders: dict[int, set[str]] = defaultdict(set)
    for name, percept in told.items():
        for one in percept.acknowledged:
            holders[one.entry].add(name)
    for number, names in holders.items():
        if len(names) > 1:
            yield Fault("reused id", agent, f"{number} was given to {', '.join(sorted(names))}")
    texts = {percept.text: name for name, percept in told.items()}
    for entry in there.entries:
        if others := holders.get(entry["id"], set()) - {texts.get(entry["user_text"], "")}:
            given = f"{', '.join(sorted(others))}, and holds {entry['user_text']!r:.60}"
            yield Fault("reused id", agent, f"{entry['id']} was given to {given}")
    for number, count in Counter(entry["id"] for entry in there.entries).items():
        if count > 1:
            yield Fault("reused id", agent, f"{number} is there {count} times")
    if there.last_id < max((entry["id"] for entry in there.entries), default=0):
        yield Fault(
            "reused id", agent, f"the last id is said to be {there.last_id}, and there are higher ones"
        )


def _of_owner(agent: str, there: Kept) -> Iterator[Fault]:
    """What somebody else's write from an older state would leave behind."""
    entries = sorted(there.entries, key=lambda entry: entry["id"])
    lived = [entry for entry in entries if entry["user_id"] != agent and not entry.get("source")]
    for number, entry in enumerate(lived, 1):
        if entry["step"] != number:
            before = f"is step {entry['step']}, and {number} were perceived by then"
            yield Fault("interleaved", agent, f"entry {entry['id']} {before}")
            break  # all that come after it are wrong by as much
    yield from _of_talk(agent, entries, there)
    by_id = {entry["id"]: entry for entry in entries}
    for number, trace in sorted(there.traces.items()):
        of = by_id.get(number)
        if of is None:
            yield Fault("interleaved", agent, f"there is a trace of entry {number}, and no such entry")
            continue
        for name in ("timestamp", "surprise", "response"):
            if trace[name] != of[name]:
                what = f"{name} {of[name]!r:.60}, and its trace {trace[name]!r:.60}"
                yield Fault("interleaved", agent, f"entry {number} has {what}")
    yield from _of_state(agent, lived, there)


def _of_talk(agent: str, entries: Sequence[dict[str, Any]], there: Kept) -> Iterator[Fault]:
    """A line follows the latest of that person in that place, if it was in mind and not long ago."""
    for at, entry in enumerate(entries):
        in_mind = entries[max(0, at - WORKING + 1) : at]
        earlier = next((one for one in reversed(in_mind) if _one_talk(one, entry)), None)
        gap = -1.0 if earlier is None else entry["timestamp"] - earlier["timestamp"]
        expected = [earlier["id"]] if earlier is not None and 0.0 <= gap <= TALK_SECONDS else []
        follows = there.follows.get(entry["id"], [])
        if follows != expected:
            what = f"entry {entry['id']} follows {follows}, it should follow {expected}"
            yield Fault("interleaved", agent, what)


def _one_talk(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    same = all(one[name] == other[name] for name in ("user_id", "place"))
    return same and one["kind"] in _TALK and other["kind"] in _TALK


def _of_state(agent: str, lived: Sequence[dict[str, Any]], there: Kept) -> Iterator[Fault]:
    """The state was last written with the last finished turn; a percept that is kept before its turn is
    finished may have brought it along, or not."""
    if not lived:
        return
    finished = max((entry["step"] for entry in lived if entry["id"] in there.traces), default=0)
    step = there.state.get("step", 0)
    if not finished <= step <= max(entry["step"] for entry in lived):
        turns = f"{finished} turns were finished"
        yield Fault("interleaved", agent, f"its state is of step {step}, and {turns}")
    said = [line["text"] for line in there.state.get("said", [])]
    answers = [
        trace["response"] for _, trace in sorted(there.traces.items()) if trace["response"] is not None
    ]
    if said != answers[-LINES_KEPT:]:
        pairs = zip(reversed(said), reversed(answers), strict=False)
        same = next(
            (at for at, (one, other) in enumerate(pairs) if one != other), min(len(said), len(answers))
        )
        what = f"of {len(said)} own lines in its state the latest {same} are its answers"
        yield Fault("interleaved", agent, f"{what}, and {len(answers)} are there")
