"""What comes to an agent's mind before it speaks: what has come due, and what the words bring back.

The mood decides between hits that fit about equally well. Nothing comes to mind that a listener may not know,
that is no nearer than chance, that is found only by its neighbours, or that came already.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from noodlings.agent.archive import AgentArchive
from noodlings.agent.close_reading import read_closely
from noodlings.agent.learned import FACTS, former, learned
from noodlings.agent.memory_question import (
    ENOUGH_WORDS,
    TALK,
    TALK_LINES,
    may_ask,
    only_asks,
    question,
    subject,
    uncalled,
)
from noodlings.agent.services import AgentServices
from noodlings.agent.state import AgentCore
from noodlings.agent.turn import Turn
from noodlings.config import ContextSettings
from noodlings.memory.context import ContextBudget, merge, recalled_for
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.ports import Repository
from noodlings.recall.filters import Filters
from noodlings.recall.lexical import stems
from noodlings.recall.search import COMPONENTS, MAX_LIMIT, Hit
from noodlings.reflection.plans import WORTH, due_by_facts, may_be_open, open_plans
from noodlings.reflection.relations import TALK_SECONDS
from noodlings.reflection.superseding import marked, superseded
from noodlings.text import clean, goes_on
from noodlings.values.audience import Tier, disclosed, of_all
from noodlings.values.memory import TELLING, Link, LinkType, MemoryEntry, Recalled, Why
from noodlings.values.percept import LIVED, SAID, Kind, Percept
from noodlings.values.persona import Persona

FLOOR = 0.05
"""Cosine (with neighbours where they count), or how much nearer than idle talk, from which a hit without a
shared word comes to mind."""
STANDING_OUT, FAINT = "standing_out", 0.1
"""The component of a hit in a busy room, and the value below which it is hardly nearer than idle talk."""
FAR = 0.55
"""The share of the best score below which nothing comes to mind in a busy room."""
MOST = 12
"""Things in mind at once, unless the settings ask for more."""
LEADS, LINKED = 3, 2
"""For this many of the best, at most so many entries linked by hand come along."""
CORRECTED, NEAR = 2, 6
"""For this many of the best, so many similar lines are checked for corrections."""
SPARE = 16
"""Extra hits to look at, as some are no news."""
JUST_TOLD = 20
"""Latest lines that are read for an answer, whatever the search finds, as far as there is time for them."""
LOOKED_BACK, LONGEST_BEFORE = 4, 240
"""Entries before a line that are looked at for what it goes on with, of so many characters."""
WORTH_READING = 0.15
"""Importance from which a line that is not near is read."""
ANSWERS, MAY_ANSWER, LIKELIEST = 0.4, 0.03, 3
"""How likely a line that is not near answers to come to mind, and how likely if it is one of so many
likeliest."""

RETURNS = SAID | {Kind.ARRIVE}
LATEST, PLANS = 20, 50
"""Latest important lines, and lines with a time, to read for plans; lines to read if there is one."""
AWAY_SECONDS = 3_600.0
"""World time of silence after which somebody returns."""


def talk_budget(sizes: ContextSettings, reminded: int) -> ContextBudget:
    """How much else may be in mind beside `reminded` memories that the words brought back.

    Recent, important and alike memories are reduced in proportion, except that one alike in feeling may come.
    """
    others = sizes.working + sizes.episodic + sizes.affect_similar
    room = max(max(MOST, others) - reminded, 0)
    if others <= room:
        working, episodic, alike = sizes.working, sizes.episodic, sizes.affect_similar
    else:
        alike = min(sizes.affect_similar, max(sizes.affect_similar * room // others, 1), room)
        episodic = sizes.episodic * room // others
        working = min(room - episodic - alike, sizes.working)
    return ContextBudget(working, episodic, alike, max_tokens=sizes.max_tokens)


def may_come(percept: Percept) -> Filters:
    """What may come to mind for an answer: lived memories that all listeners may know."""
    return Filters(kinds=LIVED, present=percept.listeners)


async def remind(core: AgentCore, services: AgentServices, turn: Turn) -> list[Recalled]:
    """What has come due, and what the words bring back from everything that an agent ever perceived."""
    archive, percept = core.archive, turn.percept
    if archive is None or not services.context.relevant:
        return []
    before = [entry for entry in core.memory.retrieve_working() if entry.id < turn.entry.id]
    heard = disclosed(before, percept.listeners)
    talk = heard[-TALK_LINES:]
    goals = core.feelings.appetites.goals(services.drives, services.clock.now())
    asked = question(percept, core.persona, talk, (goal.text for goal in goals))
    tier = max(turn.entry.tier, of_all(talk).tier)
    told = told_last(archive, turn, heard)
    reminded = await _brought_back(core, services, archive, asked, turn, tier, told, heard) if asked else told
    return [*come_due(archive, core.memory, turn, before), *reminded]


async def _brought_back(
    core: AgentCore,
    services: AgentServices,
    archive: AgentArchive,
    asked: str,
    turn: Turn,
    tier: Tier,
    told: Sequence[Recalled],
    heard: Sequence[MemoryEntry],
) -> list[Recalled]:
    """What a question brings to mind for the answer of a turn; see `recollections`.

    Entries linked by hand with the best ones come along, and what was read or is known (`learned`).

    Args:
        tier: the highest among what the question is made of.
        told: what the answer before told; it stays in mind.
        heard: the talk before the turn.
    """
    percept, most = turn.percept, services.context.relevant
    hits = await _searched(archive, asked, turn, tier, most)
    entries, corrections = _with_corrections(hits, core, archive, services.store, turn)
    chosen = recollections(hits, entries, (percept.text, asked), most, corrections)
    found = {recalled.entry.id: recalled.score for recalled in chosen[:LEADS]}
    links = archive.links_of(found)
    reached = linked(found, links)
    known = {recalled.entry.id for recalled in chosen} | {turn.entry.id}
    along = archive.entries([entry_id for entry_id in reached if entry_id not in known])
    admitted = [entry for entry in along.values() if may_come(percept).admits(entry)]
    along_with = admitted[: min(LINKED, most)]
    joined = [*told, *(recalled_for(Why.LINKED, entry, reached[entry.id]) for entry in along_with)]
    known_of = await learned(archive, asked, tier, percept, core.persona)
    first = chosen[: max(most - len(joined) - len(known_of), 0)]
    in_mind = {turn.entry.id, *(one.entry.id for one in (*first, *joined))}
    joined += _with_lines([_recalled(hit, entry) for hit, entry in known_of], archive, in_mind)
    reminded = once([*chosen[: max(most - len(joined), 0)], *joined[:most]])
    if tier <= archive.embedding.reach and archive.embedding.local:
        far, before = [], dict[int, str]()
        if may_ask(percept.text):
            in_mind = {number for one in reminded for number in (one.entry.id, *one.sources)}
            others = [*_farther(hits, entries, in_mind, archive), *_just_told(heard, in_mind)]
            far = _worth_reading(others, percept)
            before = _before([*reminded, *far], heard, archive, percept)
        if far:
            told_of = [*entries.values(), *(one.entry for one in far), turn.entry]
            corrections |= superseded(told_of, archive.index.likeness)
        read = [*reminded, *far]
        read = await read_closely(read, percept, asked, services.names(), archive.embedding, before)
        reminded = _with_answers(read[: len(reminded)], read[len(reminded) :], corrections, most)
    ids = {one.entry.id for one in reminded}
    contradicted = (one for one in links if one.type is LinkType.CONTRADICTS and one.source in ids)
    return marked(reminded, {one.target: one.source for one in contradicted} | corrections)


async def _searched(archive: AgentArchive, asked: str, turn: Turn, tier: Tier, most: int) -> list[Hit]:
    """Hits for a question, faint ones last; what the search had to do without is told in the turn."""
    archive.begin()
    await archive.soon()
    asker, allowed = turn.percept.user_id, may_come(turn.percept)
    limit = min(most + SPARE, MAX_LIMIT)
    now = turn.percept.timestamp if may_ask(turn.percept.text) else None
    hits = await archive.search(asked, allowed, tier, limit=limit, mood=turn.mood, asker=asker, now=now)
    if not archive.loaded:
        state = archive.state()
        turn.degraded.append(f"searched {state.entries:,} memories only, as the rest were still loading")
    if archive.embedding.trouble:
        turn.degraded.append(f"searched by words only: {archive.embedding.trouble}")
    hits.sort(key=is_faint)
    return hits


def _with_corrections(
    hits: list[Hit], core: AgentCore, archive: AgentArchive, store: Repository, turn: Turn
) -> tuple[dict[int, MemoryEntry], dict[int, int]]:
    """The entries of the hits that have to do with the question, and ids of corrected ones → corrections.

    A correction need not be like the question: it is added to the entries and the hits by what it corrects.
    """
    allowed = may_come(turn.percept)
    wanted = [hit.entry_id for hit in hits if hit.entry_id != turn.entry.id and is_relevant(hit)]
    held = {entry_id: entry for entry_id in wanted if (entry := core.memory.find(entry_id)) is not None}
    later = {
        entry_id: lead
        for lead in wanted[:CORRECTED]
        for entry_id in archive.index.alike(lead, NEAR, allowed)
        if lead < entry_id < turn.entry.id and entry_id not in wanted
    }
    entries = held | archive.entries([entry_id for entry_id in (*wanted, *later) if entry_id not in held])
    entries = {number: entry for number, entry in entries.items() if allowed.admits(entry)}
    corrections = superseded([*entries.values(), turn.entry], archive.index.likeness)
    replaced = newer_forms(archive.agent_id, store, entries, allowed)
    corrections |= replaced
    by_id = {hit.entry_id: hit for hit in hits}
    found_by = {new: lead for new, lead in later.items() if corrections.get(lead) == new}
    found_by |= {new: old for old, new in replaced.items() if new not in by_id}
    for new, lead in found_by.items():
        if lead in by_id:  # else what was replaced was only looked at, as it might have corrected a hit
            hits.append(by_id.setdefault(new, replace(by_id[lead], entry_id=new)))
    return entries, corrections


def _with_answers(
    near: Sequence[Recalled], far: Sequence[Recalled], corrections: Mapping[int, int], most: int
) -> list[Recalled]:
    """At most `most` of both: what is near, and of what is far that which answers, or corrects what answers.

    Where there is no room for more, one of these takes the place of the last of what is near. Where there is,
    the likeliest that may answer come as well.
    """
    likely = {one.entry.id: one.scores.get(Why.ANSWER, 0.0) for one in (*near, *far)}
    answering = {number for number, answers in likely.items() if answers >= ANSWERS}
    corrected_by = {corrections[number] for number in answering & corrections.keys()}
    brought = [one for one in far if one.entry.id in answering | corrected_by]
    # What was corrected must not come without its correction.
    brought.sort(key=lambda one: (one.entry.id not in corrected_by, -likely[one.entry.id]))
    likeliest = sorted(likely, key=lambda number: (-likely[number], -number))[:LIKELIEST]
    may_answer = {number for number in likeliest if likely[number] >= MAY_ANSWER}
    may_answer -= corrections.keys() | answering | corrected_by
    others = [one for one in far if one.entry.id in may_answer]
    return [*brought[: max(most - len(near), 1)], *near, *others][:most]


def _farther(
    hits: Iterable[Hit],
    looked_up: Mapping[int, MemoryEntry],
    known: Collection[int],
    archive: AgentArchive,
) -> list[Recalled]:
    """The other hits, best first."""
    others = [hit for hit in hits if hit.entry_id not in known]
    unknown = [hit.entry_id for hit in others if hit.entry_id not in looked_up]
    entries = {**archive.entries(unknown), **looked_up}
    return [_recalled(hit, entries[hit.entry_id]) for hit in others if hit.entry_id in entries]


def _before(
    found: Sequence[Recalled], heard: Sequence[MemoryEntry], archive: AgentArchive, percept: Percept
) -> dict[int, str]:
    """For those that go on with what the same person said before them, the text of that."""
    leaning = [one.entry for one in found if one.entry.kind in TALK and goes_on(one.entry.user_text)]
    known = {entry.id: entry for entry in (*heard, *(one.entry for one in found))}
    wanted = {entry.id - back for entry in leaning for back in range(1, LOOKED_BACK + 1)}
    known |= archive.entries([number for number in wanted - known.keys() if number > 0])
    allowed, before = may_come(percept), dict[int, str]()
    for entry in leaning:
        for back in range(1, LOOKED_BACK + 1):
            other = known.get(entry.id - back)
            if (
                other is not None
                and other.user_id == entry.user_id
                and other.kind in TALK
                and allowed.admits(other)
                and entry.timestamp - other.timestamp <= TALK_SECONDS
                and len(other.user_text) <= LONGEST_BEFORE
                and not goes_on(other.user_text)
            ):
                before[entry.id] = other.user_text
                break
    return before


def _just_told(heard: Sequence[MemoryEntry], known: Collection[int]) -> list[Recalled]:
    """The latest lines of the talk, the last one first: what is asked at once may share nothing with them."""
    told = (one for one in reversed(heard[-JUST_TOLD:]) if one.id not in known)
    return [Recalled(one, (Why.SEMANTIC,), 0.0) for one in told]


def _worth_reading(found: Iterable[Recalled], percept: Percept) -> list[Recalled]:
    """Those that may answer, though they are no nearer than others."""
    allowed, asked = may_come(percept), _folded(percept.text)
    return [
        one
        for one in found
        if one.entry.kind in TALK
        and allowed.admits(one.entry)
        and one.entry.importance >= WORTH_READING
        and not only_asks(one.entry.user_text)
        and _folded(one.entry.user_text) != asked
    ]


def _with_lines(found: Sequence[Recalled], archive: AgentArchive, in_mind: Collection[int]) -> list[Recalled]:
    """The same, where a fact stands for the line that tells it; without those whose line is in mind."""
    lines = lines_of([one.entry.id for one in found if one.entry.kind is Kind.FACT], archive)
    return [
        replace(one, sources=(lines[one.entry.id],)) if one.entry.id in lines else one
        for one in found
        if lines.get(one.entry.id) not in in_mind
    ]


def newer_forms(
    agent_id: str, store: Repository, entries: dict[int, MemoryEntry], allowed: Filters
) -> dict[int, int]:
    """Ids of entries that were corrected or replaced by their source → ids of the entries in their place.

    The newer entries are added to `entries`.
    """
    found: dict[int, int] = {}
    # A correction leaves what it corrects without importance; most lines of a talk need no look at links.
    looked_at = [number for number, entry in entries.items() if entry.source or entry.override == 0.0]
    while looked_at:
        links = store.links_of(agent_id, looked_at)
        newer = {link.target: link.source for link in links if link.type is LinkType.REPLACED}
        newer = {old: new for old, new in newer.items() if old in looked_at}
        unknown = store.entries(agent_id, [new for new in newer.values() if new not in entries])
        admitted = {number: entry for number, entry in unknown.items() if allowed.admits(entry)}
        entries.update(admitted)
        found |= {old: new for old, new in newer.items() if new in entries}
        looked_at = list(admitted)
    return found


def latest_of(number: int, newer: Mapping[int, int]) -> int:
    """The id of the last entry that stands for one by its id, see `newer_forms`."""
    while newer.get(number, 0) > number:  # a damaged store may hold a circle
        number = newer[number]
    return number


def in_latest_form(
    found: Sequence[Recalled], agent_id: str, store: Repository, allowed: Filters
) -> list[Recalled]:
    """The same, where a corrected entry gives way to its correction."""
    entries = {one.entry.id: one.entry for one in found if one.superseded_by is None or one.entry.in_person}
    newer = newer_forms(agent_id, store, entries, allowed)
    latest = {one.entry.id: one for one in found if one.entry.id not in newer}
    for one in found:
        number = latest_of(one.entry.id, newer)
        latest.setdefault(number, replace(one, entry=entries.get(number, one.entry)))
    return list(latest.values())


def come_due(
    archive: AgentArchive, memory: HierarchicalMemory, turn: Turn, before: Sequence[MemoryEntry]
) -> list[Recalled]:
    """The latest thing that a returning person said would happen, if its time has come.

    In the middle of a talk nothing comes due.

    Args:
        before: what is in working memory from before the turn.
    """
    percept = turn.percept
    if percept.kind not in RETURNS or _talking(before, turn):
        return []
    allowed, now = may_come(percept), percept.timestamp
    theirs = replace(allowed, user=percept.user_id, min_importance=WORTH)

    def told_in(entry_ids: Iterable[int]) -> list[MemoryEntry]:
        # What a source tells of was due, if ever, when it was told.
        entries = archive.entries([number for number in entry_ids if number < turn.entry.id])
        return [
            entry
            for number in sorted(entries)
            if allowed.admits(entry := entries[number]) and entry.in_person
        ]

    latest = {*archive.index.latest(theirs, LATEST), *archive.index.latest(theirs, LATEST, timed=True)}
    if not archive.loaded:
        latest.update(entry.id for entry in memory.retrieve_episodic(percept.user_id, limit=LATEST))
    allowed_facts = replace(allowed, kinds=FACTS, user=percept.user_id)
    facts = archive.entries(archive.index.latest(allowed_facts, LATEST))
    for number in former(facts, archive, allowed_facts):
        del facts[number]
    understood = due_by_facts(facts.values(), lines_of(facts, archive))
    latest.update(understood)
    if not any(may_be_open(entry, now, understood) for entry in told_in(latest)):
        return []  # as it mostly is
    told = told_in(latest.union(archive.index.latest(theirs, PLANS)))
    if _talking(told, turn):
        return []
    come = [entry for entry, due in open_plans(told, now, understood) if due.over <= now]
    return [recalled_for(Why.DUE, entry) for entry in come[-1:]]


def told_last(archive: AgentArchive, turn: Turn, before: Sequence[MemoryEntry]) -> list[Recalled]:
    """What the last answer that told something told, where something may be asked that goes on with it.

    Args:
        before: what was perceived before the turn, as far as all listeners may know of it.
    """
    percept = turn.percept
    if percept.kind not in SAID or not may_ask(percept.text):
        return []
    answered = [
        entry.id
        for entry in before
        if entry.response and 0.0 <= percept.timestamp - entry.timestamp <= TALK_SECONDS
    ]
    links = archive.links_of(answered[-TALK_LINES:])
    told = [link for link in links if link.type is LinkType.RECALLED and link.source in answered]
    latest = max((link.source for link in told), default=0)
    entries = archive.entries([link.target for link in told if link.source == latest])
    allowed = may_come(percept)
    return [recalled_for(Why.TOLD, entry) for entry in entries.values() if allowed.admits(entry)]


def name_told(archive: AgentArchive | None, turn: Turn) -> list[Recalled]:
    """The latest line in which the person who is answered told their name before."""
    theirs = replace(may_come(turn.percept), user=turn.percept.user_id, without=frozenset({turn.entry.id}))
    found = archive.entries(archive.index.latest(theirs, 1, naming=True)) if archive else {}
    return [recalled_for(Why.NAME, entry) for entry in found.values()]


def _talking(heard: Iterable[MemoryEntry], turn: Turn) -> bool:
    """Whether the person who is answered said some of this lately, or was reminded of it."""
    percept = turn.percept
    return any(
        entry.user_id == percept.user_id
        and entry.kind in TALK
        and (lately(entry.timestamp, percept) or lately(entry.last_recalled, percept))
        for entry in heard
    )


def lately(moment: float | None, percept: Percept) -> bool:
    """Whether it was so shortly before a percept that nobody has been away since."""
    return moment is not None and 0.0 <= percept.timestamp - moment < AWAY_SECONDS


def lines_of(facts: Collection[int], archive: AgentArchive) -> dict[int, int]:
    """The ids of understood facts → the ids of the lines that tell them."""
    links = archive.links_of(facts)
    return {link.source: link.target for link in links if link.type is LinkType.UNDERSTOOD}


def linked(found: Mapping[int, float], links: Iterable[Link]) -> dict[int, float]:
    """What telling links lead to from what was found (id → score), with scores, the strongest first."""
    reached: dict[int, float] = {}
    for link in links:
        if link.type in TELLING:
            for here, there in ((link.source, link.target), (link.target, link.source)):
                if here in found:
                    reached[there] = max(reached.get(there, 0.0), found[here] * link.strength)
    return dict(sorted(reached.items(), key=lambda pair: (-pair[1], pair[0])))


def is_faint(hit: Hit) -> bool:
    """Whether a hit is hardly nearer to the question than idle talk is, and shares no word with it."""
    return hit.scores["words"] == 0.0 and hit.scores.get(STANDING_OUT, 1.0) < FAINT


def is_relevant(hit: Hit) -> bool:
    """Whether a hit has to do with the question: by a word, its meaning or the date."""
    scores = hit.scores
    near = max(scores.get("meaning", 0.0), scores.get(STANDING_OUT, 0.0))
    return scores["words"] > 0.0 or near >= FLOOR or scores.get("date", 0.0) > 0.0


def recollections(
    hits: Iterable[Hit],
    entries: Mapping[int, MemoryEntry],
    asked: tuple[str, str],
    most: int,
    corrections: Mapping[int, int],
) -> list[Recalled]:
    """At most `most` memories that come to mind, and the reasons for them.

    Args:
        hits: best first.
        entries: the entries they found, by id, as stored now.
        asked: what is answered, and the question made from it; both are no news themselves. What only asks
            comes after what may answer.
        corrections: id → id of the correction, which comes before it.
    """
    found = [(hit, entries[hit.entry_id]) for hit in hits if hit.entry_id in entries and not hit.only_near]
    found.sort(key=lambda pair: only_asks(pair[1].user_text))
    place = {entry.id: at for at, (_, entry) in enumerate(found)}
    for old, new in corrections.items():
        if old in place and new in place:
            place[new] = min(place[new], place[old])
    found.sort(key=lambda pair: (place[pair[1].id], -pair[1].id))
    said, woven = map(_folded, asked)

    def is_news(text: str) -> bool:
        return text != said and (text in said or text not in woven)

    told = [(hit, entry) for hit, entry in found if entry.kind in TALK and is_news(_folded(entry.user_text))]
    best = max((hit.score for hit, entry in told if not only_asks(entry.user_text)), default=0.0)
    near = [
        _recalled(hit, entry)
        for hit, entry in told
        if hit.score >= FAR * best or STANDING_OUT not in hit.scores or entry.id in corrections.values()
    ]
    return once(near)[:most]


def in_mind(found: Iterable[Recalled], reminded: bool, percept: Percept, persona: Persona) -> list[Recalled]:
    """What is in mind for an answer: each thing once, oldest to newest.

    Beside what a line by itself `reminded` of, the talk of now is no memory: a model is told of it in turns.
    """
    kept = once(found)
    if reminded and len(stems(subject(uncalled(percept.text, persona)))) >= ENOUGH_WORDS:
        kept = [one for one in kept if one.why != (Why.RECENT,)]
    return sorted(kept, key=lambda one: one.entry.id)


def once(found: Iterable[Recalled]) -> list[Recalled]:
    """Each thing once, in the place of the first; the latest time somebody said it stands for the others."""
    groups: dict[tuple[str, str], list[Recalled]] = {}
    for one in found:
        groups.setdefault((one.entry.user_id, _folded(one.entry.user_text)), []).append(one)
    return [group[0] if len(group) == 1 else _standing_for(group) for group in groups.values()]


def _standing_for(group: Sequence[Recalled]) -> Recalled:
    latest = max(group, key=lambda one: one.entry.id)
    ids = {entry_id for one in group for entry_id in (one.entry.id, *one.sources)}
    merged = next(iter(merge([[replace(one, entry=latest.entry)] for one in group]).values()))
    return replace(merged, sources=tuple(sorted(ids - {latest.entry.id})))


def _recalled(hit: Hit, entry: MemoryEntry) -> Recalled:
    why = tuple(reason for reason in hit.why if reason in COMPONENTS)
    scores = {reason.value: hit.scores[COMPONENTS[reason]] for reason in why}
    return Recalled(entry, why, hit.score, scores)


def _folded(text: str) -> str:
    return clean(text).casefold()
