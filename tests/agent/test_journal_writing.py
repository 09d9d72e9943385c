"""The journal that a model words: each day once, for whoever may know the lines, and gone with them."""

import asyncio
from datetime import date

import pytest

from noodlings.agent.archive import AgentArchive
from noodlings.agent.journal_writing import FAILURES, LATELY
from noodlings.embed.queue import EmbeddingQueue
from noodlings.errors import LLMError, StoreError
from noodlings.inspect.inspector import Inspector
from noodlings.inspect.recall import RecallOptions
from noodlings.inspect.viewpoint import may_read
from noodlings.ports import Changes
from noodlings.recall.filters import Filters
from noodlings.values.affect import Affect
from noodlings.values.audience import Audience, Tier, confined_to
from noodlings.values.caller import Caller, Role
from noodlings.values.memory import LinkType
from noodlings.values.page import Statement
from noodlings.values.percept import Kind, Percept
from tests.fakes import FakeAgents, FakeSociety

ADMIN = Caller("user_root", "root", Role.ADMIN)
ANN, BOB = Caller("user_ann", "ann"), Caller("user_bob", "bob")
DAY = 86_400.0
BOTH = frozenset({"user_ann", "user_bob"})
DOG, JOB = "my dog Rex died and I cannot stop crying", "I got the job and I am so happy"


def said(line):
    """The words that are quoted in a line."""
    return line.text.partition('"')[2].rpartition('"')[0]


class Writer:
    """Words each line alone, or as it is told; fails on some days, and waits for `gate`."""

    def __init__(self, word=lambda told: [Statement(f"W: {said(one)}", one.evidence) for one in told.lines]):
        self.word = word
        self.asked = []
        self.failing = set()
        self.gate, self.called = asyncio.Event(), asyncio.Event()
        self.gate.set()

    async def write(self, told, allowance):
        self.asked.append(told)
        self.called.set()
        await self.gate.wait()
        if told.day in self.failing or "all" in self.failing:
            raise LLMError("it is away")
        return tuple(self.word(told))

    @property
    def days(self):
        return [told.day.day for told in self.asked]


@pytest.fixture
def tell(clock):
    """Lets an agent perceive lines, an hour apart, on the days of January 1970 that are asked for."""

    async def tell(agent, *lines, day=2, user="user_ann", **changes):
        given = {"addressed": True, "present": BOTH, "affect": Affect(-0.7, 0.6, 0.1, 0.9, 0.1)} | changes
        clock.set(max((day - 1) * DAY, clock.now()))
        ids = []
        for line in lines:
            clock.advance(3_600.0)
            ids.append((await agent.perceive(Percept(user, line, clock.now(), **given))).entry_id)
        await agent.settle()
        return ids

    clock.set(0.0)
    return tell


def worded(store):
    return [entry for entry in store.archive("phi") if entry.kind is Kind.JOURNAL]


def inspecting(agent, store, clock):
    society = FakeSociety(store=store, people={"user_ann": "Ann", "user_bob": "Bob"}, clock=clock)
    society.agents = FakeAgents({"phi": agent})
    return Inspector(society)


async def sentences(agent, store, clock, caller=ADMIN, day="1970-01-02"):
    (told,) = (await inspecting(agent, store, clock).journal(caller, "phi", day)).days
    return [(one.text, one.evidence) for one in told.sentences]


async def test_a_day_that_is_over_is_worded_and_cites_its_lines(make_agent, store, clock, tell):
    writer = Writer()
    agent = make_agent(journal_writer=writer)
    dog, job = [*await tell(agent, f"Phi, {DOG}"), *await tell(agent, JOB, user="user_bob")]
    assert (await agent.reflect()).written == 0  # the day is not over
    clock.set(2 * DAY)
    assert (await agent.reflect()).written == 1
    (told,) = writer.asked
    assert (told.name, told.day, [said(line) for line in told.lines]) == (
        "Phi",
        date(1970, 1, 2),
        [DOG, JOB],
    )
    assert told.lines[0].text.startswith(f'ann told me: "{DOG}". I felt ')
    first, _ = worded(store)
    assert (first.user_id, first.source, first.audience) == ("phi", "journal", Audience(frozenset({"phi"})))
    assert {(link.target, link.type) for link in store.links_of("phi", [first.id])} == {
        (dog, LinkType.UNDERSTOOD),
        (job, LinkType.UNDERSTOOD_WITH),
    }
    assert await sentences(agent, store, clock) == [
        ("I talked with Ann and Bob.", (dog, job)),
        (f"W: {DOG}", (dog,)),
        (f"W: {JOB}", (job,)),
    ]


async def test_what_it_does_not_cite_is_quoted_in_its_place(make_agent, store, clock, tell):
    agent = make_agent(journal_writer=Writer(lambda told: [Statement("W", told.lines[1].evidence)]))
    first, second, third = await tell(
        agent, DOG, "my house burned down, how terrible", "my mother is very ill"
    )
    clock.set(2 * DAY)
    await agent.reflect()
    told = await sentences(agent, store, clock)
    assert [evidence for _, evidence in told] == [(first,), (first,), (second,), (third,)]
    assert [text.partition(" told")[0] for text, _ in told[1:]] == ["Ann", "W", "Ann"]


async def test_twice_changes_nothing_and_after_a_restart_it_goes_on(make_agent, store, clock, tell):
    writer = Writer()
    agent = make_agent(journal_writer=writer)
    for day in (2, 3, 5):
        await tell(agent, DOG, day=day)
    clock.set(5 * DAY)
    await agent.reflect()
    before, kept = store.load("phi").state, worded(store)
    again = await agent.reflect()
    assert (again.written, again.done, agent.night.new) == (0, 0, 0)
    assert (store.load("phi").state, worded(store)) == (before, kept)
    later = make_agent(journal_writer=writer)
    await tell(later, JOB, day=7)
    clock.set(7 * DAY)
    await later.reflect()
    assert writer.days == [2, 3, 5, 7]


async def test_killed_in_a_day_it_writes_this_day_again(make_agent, store, clock, tell):
    writer = Writer()
    agent = make_agent(journal_writer=writer)
    for day in (2, 3):
        await tell(agent, DOG, day=day)
    clock.set(5 * DAY)
    writer.failing = {date(1970, 1, 3)}
    with pytest.raises(LLMError):
        await agent.reflect()
    writer.gate.clear()
    writer.called.clear()
    night = asyncio.create_task(agent.reflect())
    await writer.called.wait()
    night.cancel()
    with pytest.raises(asyncio.CancelledError):
        await night
    writer.gate.set()
    writer.failing = set()
    again = make_agent(journal_writer=writer)
    assert (await again.reflect()).written == 1
    assert [int(entry.timestamp // DAY) + 1 for entry in worded(store)] == [2, 3]


async def test_each_answer_is_kept_at_once_and_asked_for_only_once(make_agent, store, clock, tell):
    writer = Writer()
    agent, alone = make_agent(journal_writer=writer), {"kind": Kind.WHISPER, "present": frozenset()}
    for user in ("user_ann", "user_bob", "user_caity"):
        await tell(agent, f"I am {user[5:]} and very ill, I fear I shall die", user=user, **alone)
    clock.set(2 * DAY)

    def word(told):
        if len(writer.asked) == 3:
            raise LLMError("it is away")
        return [Statement(said(told.lines[0]), told.lines[0].evidence)]

    writer.word = word
    with pytest.raises(LLMError):
        await agent.reflect()
    assert len(worded(store)) == 2
    assert (await make_agent(journal_writer=writer).reflect()).written == 1
    assert [said(told.lines[0])[5:8] for told in writer.asked] == ["ann", "bob", "cai", "cai"]
    assert [entry.user_text[5:8] for entry in worded(store)] == ["ann", "bob", "cai"]


async def test_what_cannot_be_kept_is_written_another_time(make_agent, store, clock, tell, monkeypatch):
    agent = make_agent(journal_writer=Writer())
    await tell(agent, DOG)
    clock.set(5 * DAY)

    def full(changes: Changes):
        raise StoreError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(store, "commit", full)
        with pytest.raises(StoreError):
            await agent.reflect()
    assert worded(store) == []
    assert (await agent.reflect()).written == 1


async def test_a_day_that_fails_holds_up_no_other_and_a_model_that_is_away_is_not_asked_on(
    make_agent, store, clock, tell
):
    writer = Writer()
    agent = make_agent(journal_writer=writer)
    for day in (2, 3, 4, 5):
        await tell(agent, "I have a goat called Bill", DOG, day=day)
    clock.set(6 * DAY)
    writer.failing = {date(1970, 1, 3)}
    with pytest.raises(LLMError, match="away"):
        await agent.reflect()
    assert agent.night.progress.written == 3
    assert not agent.night.progress.running
    assert agent.night.new == 0  # all else is done
    writer.failing, writer.asked = {"all"}, []
    for day in (8, 9, 10):
        await tell(agent, DOG, day=day)
    clock.set(11 * DAY)
    with pytest.raises(LLMError):
        await agent.reflect()
    assert len(writer.asked) == FAILURES
    assert "told me" in (await sentences(agent, store, clock, day="1970-01-08"))[1][0]
    writer.failing, writer.asked = set(), []
    await agent.reflect()
    assert writer.days == [3, 8, 9, 10]


async def test_a_night_catches_up_with_the_last_days_and_whoever_asks_with_all(make_agent, clock, tell):
    writer = Writer()
    agent = make_agent(journal_writer=writer)
    for day in (2, 20, 20 + LATELY):
        await tell(agent, DOG, day=day)
    clock.set((20 + LATELY - 1) * DAY)  # the last of them is not over
    await agent.reflect(lately=True)
    assert writer.days == [20]
    assert (await agent.reflect(dry_run=True)).written == 1
    assert writer.days == [20]
    await agent.reflect()
    assert writer.days == [20, 2]


async def test_one_call_holds_what_the_same_people_may_know(make_agent, store, clock, tell):
    writer = Writer()
    agent = make_agent(journal_writer=writer)
    (dog,) = await tell(agent, DOG)
    (thief,) = await tell(agent, "I am a thief and it torments me", kind=Kind.WHISPER, present=frozenset())
    (ill,) = await tell(
        agent, "I am very ill, I fear I shall die", user="user_bob", kind=Kind.WHISPER, present=frozenset()
    )
    await tell(agent, JOB, user="user_bob")
    clock.set(2 * DAY)
    await agent.reflect()
    assert [[said(line) for line in told.lines] for told in writer.asked] == [
        [DOG, JOB],
        ["I am a thief and it torments me"],
        ["I am very ill, I fear I shall die"],
    ]
    secret = next(entry for entry in worded(store) if "thief" in entry.user_text)
    assert secret.audience == confined_to({"user_ann", "phi"})
    seen = {caller.user_id: await sentences(agent, store, clock, caller) for caller in (ADMIN, ANN, BOB)}
    assert ("W: I am a thief and it torments me", (thief,)) in seen["user_ann"]
    assert ("W: I am a thief and it torments me", (thief,)) in seen["user_root"]
    assert "thief" not in str(seen["user_bob"])
    assert ("W: I am very ill, I fear I shall die", (ill,)) in seen["user_bob"]
    # What is open was worded beside what others told, so a player reads the own words.
    assert (f'Ann told me: "{DOG}". I felt sorrowful.', (dog,)) in seen["user_ann"]
    assert (f"W: {DOG}", (dog,)) in seen["user_root"]


async def test_nothing_goes_to_a_model_that_may_not_be_told_it(make_agent, store, clock, tell):
    writer = Writer()
    agent = make_agent(journal_writer=writer, reach=Tier.CONFINED)
    await tell(agent, DOG, tier=Tier.SECRET)
    clock.set(2 * DAY)
    assert (await agent.reflect()).written == 0
    strict = make_agent(journal_writer=writer, reach=Tier.CONFINED, tiers={Kind.JOURNAL: Tier.SEALED})
    await tell(strict, DOG, day=3)
    clock.set(4 * DAY)
    assert (await strict.reflect()).written == 0
    assert writer.asked == []


async def test_what_becomes_secret_while_the_model_words_other_lines_is_not_shown_to_it(
    make_agent, clock, tell
):
    writer = Writer()
    agent = make_agent(journal_writer=writer, reach=Tier.CONFINED)
    await tell(agent, JOB)
    ill, _ = await tell(
        agent, "I am very ill, I fear I shall die", "I am a thief and it torments me", kind=Kind.WHISPER
    )
    clock.set(2 * DAY)
    writer.gate.clear()
    night = asyncio.create_task(agent.reflect())
    await writer.called.wait()
    agent.limit_told([ill], agent.entry(ill).audience.at_least(Tier.SECRET))
    agent.keep_told()
    writer.gate.set()
    await night
    assert [[said(line) for line in told.lines] for told in writer.asked] == [
        [JOB],
        ["I am a thief and it torments me"],
    ]


async def test_forgetting_a_line_removes_what_the_model_was_shown_it_for(make_agent, store, clock, tell):
    agent = make_agent(journal_writer=Writer())
    dog, job = await tell(agent, DOG, JOB)
    await tell(agent, DOG, day=4)
    clock.set(6 * DAY)
    await agent.reflect()
    assert len(worded(store)) == 3
    agent.forget([job], "user_ann", clock.now())
    assert [int(entry.timestamp // DAY) + 1 for entry in worded(store)] == [4]
    told = await sentences(agent, store, clock)
    assert [evidence for _, evidence in told] == [(dog,), (dog,)]
    assert told[1][0].startswith("Ann told me: ")


async def test_what_is_forgotten_while_the_model_writes_is_in_no_sentence(make_agent, store, clock, tell):
    writer = Writer()
    agent = make_agent(journal_writer=writer)
    dog, _ = await tell(agent, DOG, JOB)
    clock.set(2 * DAY)
    writer.gate.clear()
    night = asyncio.create_task(agent.reflect())
    await writer.called.wait()
    agent.forget([dog], "user_ann", clock.now())
    writer.gate.set()
    assert (await night).written == 1
    assert [[said(line) for line in told.lines] for told in writer.asked] == [[DOG, JOB], [JOB]]
    assert [entry.user_text for entry in worded(store)] == [f"W: {JOB}"]


async def test_what_is_confined_or_corrected_confines_or_replaces_the_sentence(
    make_agent, store, clock, tell
):
    agent = make_agent(journal_writer=Writer())
    dog, job = await tell(agent, DOG, JOB, present=BOTH)
    clock.set(2 * DAY)
    await agent.reflect()
    agent.limit_told([dog], confined_to({"user_ann", "phi"}))
    agent.keep_told()
    assert {entry.private for entry in worded(store)} == {True}  # each was made beside the other
    newer = agent.correct(agent.entry(job), "I got the job at the mill and I am so happy")
    told = await sentences(agent, store, clock)
    assert f"W: {JOB}" not in [text for text, _ in told]
    assert (f"W: {DOG}", (dog,)) in told
    assert (newer.id,) in [evidence for _, evidence in told]


async def test_a_line_that_is_corrected_while_the_model_writes_is_cited_by_no_sentence(
    make_agent, store, clock, tell
):
    writer = Writer()
    agent = make_agent(journal_writer=writer)
    dog, _ = await tell(agent, DOG, JOB)
    clock.set(2 * DAY)
    writer.gate.clear()
    night = asyncio.create_task(agent.reflect())
    await writer.called.wait()
    agent.correct(agent.entry(dog), "my cat Rex died and I cannot stop crying")
    writer.gate.set()
    await night
    assert [entry.user_text for entry in worded(store)] == [f"W: {JOB}"]


async def test_an_admin_forgets_or_corrects_a_sentence_and_no_player_reads_it_as_their_own(
    make_agent, store, clock, tell
):
    agent = make_agent(journal_writer=Writer())
    await tell(agent, DOG, JOB)
    clock.set(2 * DAY)
    await agent.reflect()
    first, second = worded(store)
    agent.correct(first, "Rex is dead.")
    agent.forget([second.id], "user_root", clock.now())
    assert [text for text, _ in (await sentences(agent, store, clock))[1:]] == [
        "Rex is dead.",
        f'Ann told me: "{JOB}". I felt sorrowful.',
    ]
    assert (await agent.reflect()).written == 0
    assert not may_read(Caller("phi", "Phi"), first)


async def test_a_journal_never_comes_to_mind_and_is_found_only_where_it_is_asked_for(
    make_agent, store, clock, tell
):
    archive = AgentArchive("phi", store, EmbeddingQueue())
    agent = make_agent(journal_writer=Writer(), archive=archive)
    (dog,) = await tell(agent, DOG)
    felt = agent.affect
    clock.set(2 * DAY)
    mood = agent.mood
    await agent.reflect()
    assert (agent.affect, agent.mood) == (felt, mood)
    (sentence,) = worded(store)
    agent.memory.pin(sentence)
    in_mind = (*agent.memory.retrieve_working(), *agent.memory.retrieve_episodic(limit=None))
    assert {entry.id for entry in in_mind} == {dog}
    (asked,) = await tell(agent, "what happened to my dog Rex, who died?", day=3)
    trace = next(trace for trace in store.traces("phi", 5) if trace.entry_id == asked)
    recalled = {one.entry_id for one in trace.recalled}
    assert dog in recalled
    assert sentence.id not in recalled
    inspector = inspecting(agent, store, clock)
    found = await inspector.recall(ADMIN, "phi", "my dog Rex died", limit=9)
    assert [one.entry.id for one in found.memories if one.entry.kind == "journal"] == []
    only = RecallOptions(filters=Filters(kinds=frozenset({Kind.JOURNAL})))
    found = await inspector.recall(ADMIN, "phi", "my dog Rex died", limit=9, how=only)
    assert [one.entry.id for one in found.memories] == [sentence.id]
    focus = await inspector.focus(ADMIN, "phi", 5, "my dog Rex died")
    assert sentence.id not in {one.entry.id for one in focus.memories}


async def test_a_plain_memory_or_no_model_keeps_no_journal_and_shows_what_there_is(
    make_agent, store, clock, tell
):
    agent = make_agent(journal_writer=Writer())
    await tell(agent, DOG)
    clock.set(2 * DAY)
    await agent.reflect()
    without = make_agent()
    await tell(without, DOG, day=3)
    clock.set(3 * DAY)
    assert (await without.reflect()).written == 0
    assert f"W: {DOG}" in str(await sentences(without, store, clock))
    plain = make_agent(journal_writer=Writer(), plain=True)
    assert (await plain.reflect()).written == 0
    assert f"W: {DOG}" in str(await sentences(plain, store, clock))


async def test_percepts_are_taken_in_while_the_model_writes(make_agent, clock, tell):
    writer = Writer()
    agent = make_agent(journal_writer=writer)
    await tell(agent, DOG)
    clock.set(2 * DAY)
    writer.gate.clear()
    night = asyncio.create_task(agent.reflect())
    await writer.called.wait()
    await tell(agent, JOB, day=3)
    assert not night.done()
    writer.gate.set()
    assert (await night).written == 1
