"""Hearsay: when somebody retells what they were told, the hearer learns who told it first.

Only ids are passed on, and only of what everybody who hears it may learn. What was in confidence stays so.
Beside them, and shown to nobody, goes a mark of everybody by whose deletion it has to be found again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import islice

from noodlings.agent.state import LINES_KEPT
from noodlings.ports import Store
from noodlings.recall.lexical import stems
from noodlings.stemming import UNSPACED
from noodlings.text import unaccented, unescape
from noodlings.values.audience import may_learn
from noodlings.values.memory import (
    CLIENT_WORLD,
    HEARSAY,
    HEARSAY_OF,
    MemoryEntry,
    given,
    hearsay,
    hearsay_of,
    told_words,
    written_by,
)
from noodlings.values.percept import SAID, Kind, Percept
from noodlings.values.trace import Trace

SHARED_WORDS = 2
"""Words of a memory in what a model said, from which it counts as told; half of a short answer's will do."""
MOST_SOURCES = 5
MOST_MARKED = 50
"""People in the mark of what is handed on; those of whom it may hold the fewest words are left out."""
CUT_WORDS, REPEATED_WORDS = 3, 8
"""Words from which a part may begin and end within a word, as where a world cuts lines; and words in a row
that hand an answer on, whatever stands around them."""
HEARD_SHARE = 0.5
"""Share of an answer's words that must be heard where some within it are missing: the rest are gestures."""
LATEST = 4
"""Latest turns, in one of which almost every answer is found that is handed on."""
REPEATED_SECONDS = 3_600.0
"""World time within which a line that another character heard counts as the answer with the same words."""
LONGEST_CHAIN = 8
"""People in a chain; of longer chains the first ones are left out."""

_GESTURE = re.compile(r"\*[^*]*\*")
_QUOTED = re.compile(r"""(?:["“„«「『‘<>:–—]|(?<!\w)')([^"“”„«»「」『』<>:–—]+)""")
"""What may be an answer beside who says it: 'Phi says, "In the mill."', "<Phi> In the mill."."""
_NAME = re.compile(r"(?:^[\W_]+|(?<!\S)(?:[^\w\s]|_)+)[^\W_]+|(?:[^\w\s]|_)+")
"""What may be a name before an answer, in whatever marks: "[Phi] In the mill.", "Phi | …", "@Ann …"."""
MOST_QUOTED = 5
_SENTENCE_END = re.compile(r"[.!?…。！？*]+")
_WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
_PAIR = re.compile(f"(?=([{UNSPACED}]{{2}}))")
_TOLD = SAID | {Kind.FACT}


def with_sources(store: Store, percept: Percept, hearer: str) -> Percept:
    """Add its sources, its mark (`hearsay_of`) and its tier to what a character says, where that is one of
    its latest answers, or a part of one.

    Raises `StoreError`.
    """
    others = list[Trace]()
    for trace in _latest(store, percept.user_id):
        if _is_kept_from_sender(store, percept, trace):
            continue
        share = share_told(percept.text, trace.response or "")
        if share and not is_a_word_within(percept.text, trace.response or ""):
            break
        others.append(trace)
    else:
        found = next((one for one in others if _repeats(percept.text, one.response or "")), None)
        if found is None:
            return percept
        trace = found
    part = percept.text if share <= HEARD_SHARE else ""
    chains, people = _all_sources(store, trace, percept.listeners | {hearer}, part)
    more = {HEARSAY: [list(chain) for chain in chains]} if chains else {}
    return replace(
        percept, data=percept.data | more | {HEARSAY_OF: people}, tier=max(percept.tier, trace.audience.tier)
    )


def _latest(store: Store, agent_id: str) -> Iterator[Trace]:
    """As many turns of an agent as its own lines are kept, the latest first, read as they are needed."""
    latest = store.traces(agent_id, LATEST)
    yield from latest
    if latest:
        yield from store.traces(agent_id, LINES_KEPT - LATEST, before=latest[-1].entry_id)


def _is_kept_from_sender(store: Store, percept: Percept, trace: Trace) -> bool:
    """Whether an answer in confidence was given where the world that speaks as the agent did not hear it.

    Then nothing may depend on its words, or the world could guess them one by one.
    """
    if not (percept.overheard_by and trace.audience.confined):
        return False
    asked = store.entries(trace.agent_id, [trace.entry_id]).get(trace.entry_id)
    return asked is None or given(asked, CLIENT_WORLD) != percept.overheard_by


def is_a_word_within(line: str, answer: str) -> bool:
    """Whether a line is a single word that is neither a sentence of the answer by itself nor most of it."""
    words = _words(line)
    alone = len(words) == 1 and words not in map(_words, _SENTENCE_END.split(answer))
    return alone and share_told(line, answer) <= HEARD_SHARE


def hands_on(line: str, answer: str) -> bool:
    """Whether a line is an answer or a part of one, or has many words of it in a row."""
    return share_told(line, answer) > 0.0 or _repeats(line, answer)


def heard_as(line: str, at: float, answer: str, given: float) -> bool:
    """Whether a line that another character heard hands on an answer, by its words and their world times."""
    return 0.0 <= at - given <= REPEATED_SECONDS and hands_on(line, answer)


def _repeats(line: str, answer: str) -> bool:
    """Whether a line quotes an answer or a part of one, or has `REPEATED_WORDS` of it in a row."""
    plain = unescape(line)
    quoted = [found[1] for found in islice(_QUOTED.finditer(plain), MOST_QUOTED)]
    after_name = [plain[found.end() :] for found in islice(_NAME.finditer(plain), MOST_QUOTED)]
    for part in (*quoted, *after_name):
        share = share_told(part, answer)
        if share > HEARD_SHARE or (share and len(_words(part)) >= CUT_WORDS):
            return True
    return not _runs(line).isdisjoint(_runs(answer))


def share_told(line: str, answer: str) -> float:
    """The share of an answer's words that a line hands on; 0 where it is neither the answer nor a part of it.

    Only words count: a world may leave gestures out, or say words and gestures one after the other.
    """
    heard, whole, spoken = map(_words, (line, answer, _GESTURE.sub(" ", answer)))
    share = len(set(heard)) / (len(set(spoken)) or 1)
    most = share > HEARD_SHARE and set(heard) <= set(whole)
    part = " ".join(heard) if len(heard) >= CUT_WORDS else f" {' '.join(heard)} "
    return share if most or part in f" {' '.join(whole)} " else 0.0


def _runs(text: str) -> set[tuple[str, ...]]:
    words = _words(text)
    return set(zip(*(words[at:] for at in range(REPEATED_WORDS)), strict=False))


def _words(text: str) -> list[str]:
    """The words of a text, whatever a world makes of capitals, accents, and signs with a meaning in HTML."""
    return _WORD.findall(unaccented(unescape(text)))


def _all_sources(
    store: Store, trace: Trace, hearers: Collection[str], part: str
) -> tuple[tuple[tuple[str, ...], ...], list[str]]:
    """`sources` of a turn, and of earlier ones whose answers it repeats, as many as own lines are kept; and
    `whose` words they may hold."""
    chains, people = dict[tuple[str, ...], None](), dict[str, int]()
    words = cache(compared)  # long lines take long, and are compared more than once
    for _ in range(LINES_KEPT):
        entries = store.entries(trace.agent_id, _told_in(trace))
        chains |= dict.fromkeys(sources(trace, entries, hearers, part, words))
        part = part or trace.response or ""
        said = compared(part)
        for one, shared in whose(trace, entries, said, words):
            people[one] = max(shared, people.get(one, 0))
        repeated = {
            one.id: len(said & compared(one.response))
            for one in entries.values()
            if one.id < trace.entry_id and one.response and may_learn(frozenset(hearers), one.audience)
        }
        most, first = max(((shared, -entry_id) for entry_id, shared in repeated.items()), default=(0, 0))
        earlier = store.traces(trace.agent_id, 1, before=1 - first) if most >= SHARED_WORDS else ()
        if not earlier or earlier[0].entry_id != -first:
            break
        trace = earlier[0]
    return tuple(chains)[:MOST_SOURCES], sorted(people, key=lambda one: (-people[one], one))[:MOST_MARKED]


def _told_in(trace: Trace) -> list[int]:
    """Ids of the memories that may have been put into words in a turn, and of what it answers.

    The offline voice tells which, and a transistor whether it added anything; for a model these are all that
    it was shown.
    """
    by_model = trace.voice == "llm"
    told = [found.entry_id for found in trace.recalled if found.used or by_model]
    added = (made for made in trace.modulations if by_model or made.before != made.after)
    lensed = [number for made in added for number in made.entries]
    return [*told, *lensed, *trace.talk, trace.entry_id]


def whose(
    trace: Trace, entries: Mapping[int, MemoryEntry], said: Collection[str], words: Callable[[str], set[str]]
) -> Iterator[tuple[str, int]]:
    """Whom a turn answers, and whose words may be in what was said in it, each with how many.

    One word is enough, as forgetting takes such an answer away, too.
    """
    for entry in entries.values():
        shared = len(words(told_words(entry)).intersection(said))
        if _told_outright(trace, entry):
            shared = max(shared, SHARED_WORDS)
        if entry.id == trace.entry_id:
            shared = len(said) + SHARED_WORDS  # before all others
        if shared:
            yield entry.user_id, shared
        if shared >= SHARED_WORDS:
            yield from ((one, shared) for one in hearsay_of(entry))


def _told_outright(trace: Trace, entry: MemoryEntry) -> bool:
    """Whether the offline voice says that it used a memory for the answer."""
    return trace.voice != "llm" and any(one.used and one.entry_id == entry.id for one in trace.recalled)


def compared(text: str) -> set[str]:
    """The words of a text, as they are compared; two characters of a script without spaces are one."""
    return {*stems(text), *_PAIR.findall(text)}


def sources(
    trace: Trace,
    entries: Mapping[int, MemoryEntry],
    hearers: Collection[str],
    part: str = "",
    words: Callable[[str], set[str]] = compared,
) -> tuple[tuple[str, ...], ...]:
    """The chains of people through whom an agent had what it told in a turn, each from the first teller on;
    those of whom it told the most words come first.

    Args:
        entries: what may have been told, by id.
        hearers: ids of all who hear it told.
        part: the only part of the answer that they hear; "" for all of it.
        words: `compared`, or what remembers it.
    """
    said, chains = compared(part or trace.response or ""), dict[tuple[str, ...], int]()
    told, recalled = set[str](), {found.entry_id for found in trace.recalled}
    half = (len(said) + 1) // 2 or SHARED_WORDS  # "In Zanzibar, I think." has one word of what was told
    for entry in sorted(entries.values(), key=lambda one: one.id == trace.entry_id):
        of, answered = words(told_words(entry)), entry.id == trace.entry_id
        if answered and entry.user_text.endswith("?"):
            said -= told  # to ask for what others told is not to tell it
        fewest = min(SHARED_WORDS, len(of) or SHARED_WORDS, half) if entry.id in recalled else SHARED_WORDS
        shared = len(of & said)
        repeated = shared >= fewest or (not part and _told_outright(trace, entry))
        own = entry.user_id == trace.agent_id or entry.kind not in _TOLD or written_by(entry)
        if repeated and not own and may_learn(frozenset(hearers), entry.audience):
            told |= of
            for before in hearsay(entry) or ((),):
                chain = (*before, entry.user_id)[-LONGEST_CHAIN:]
                chains[chain] = max(shared, chains.get(chain, 0))
    return tuple(sorted(chains, key=lambda chain: -chains[chain]))[:MOST_SOURCES]
