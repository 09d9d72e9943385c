"""Facts that a model understands from what was told: each once, and for whoever may know the line."""

import asyncio
from dataclasses import replace

import pytest

from noodlings.agent.archive import AgentArchive
from noodlings.agent.fact_reading import BACKLOG, LINES, _may_lend
from noodlings.agent.learned import former
from noodlings.embed.queue import EmbeddingQueue
from noodlings.errors import LLMError, StoreError
from noodlings.ingest.pipeline import Pipeline
from noodlings.ingest.record import SourceRecord
from noodlings.inspect.inspector import Inspector
from noodlings.ports import Changes, Speech
from noodlings.recall.filters import Filters
from noodlings.reflection.plans import due_of
from noodlings.values.audience import Audience, Tier, confined_to
from noodlings.values.caller import Caller, Role
from noodlings.values.fact import ABOUT, SPEAKER, FactKind, UnderstoodFact
from noodlings.values.memory import HEARSAY, LinkType, Why, given, hearsay
from noodlings.values.percept import Kind, Percept
from tests.fakes import FakeAgents, FakeSociety
from tests.memory.entries import an_entry

ADMIN = Caller("user_root", "root", Role.ADMIN)
INSULIN = "cant come, my insulin has to be sorted out first, doctor says"
DIABETIC = (SPEAKER, FactKind.HEALTH, "Ann is diabetic.")


class Reader:
    """Understands from each line what it is told to; waits for `gate`, and fails if it is told to."""

    def __init__(self, **facts):
        self.facts = facts
        self.asked = []
        self.gate, self.called = asyncio.Event(), asyncio.Event()
        self.gate.set()
        self.error = None

    async def read(self, told, allowance):
        self.asked.append(told)
        allowance.calls += 1
        self.called.set()
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        return tuple(
            UnderstoodFact(
                line.id, about, kind, words, told.known[-1].id if told.known and replaces else None
            )
            for line in told.lines
            for about, kind, words, *replaces in self.facts.get(line.user_text.split()[0], ())
        )


@pytest.fixture
def say(clock):
    def make(text=INSULIN, user="user_ann", **changes):
        clock.advance(3_600)
        return Percept(
            user, text, clock.now(), **({"addressed": True, "present": frozenset({"user_bob"})} | changes)
        )

    return make


def facts(store, agent_id="phi"):
    return [entry for entry in store.archive(agent_id) if entry.kind is Kind.FACT]


async def told(agent, *percepts):
    for percept in percepts:
        await agent.perceive(percept)
        await agent.settle()


async def test_what_a_line_implies_is_on_the_card_seconds_after_it_was_told(make_agent, store, say):
    reader = Reader(cant=[DIABETIC])
    agent = make_agent(fact_reader=reader)
    await told(agent, say())
    (fact,) = facts(store)
    line = store.archive("phi")[0]
    assert (fact.user_text, fact.user_id, fact.timestamp) == ("Ann is diabetic.", "user_ann", line.timestamp)
    assert (fact.audience, given(fact, ABOUT)) == (line.audience, SPEAKER)
    assert [(link.target, link.type) for link in store.links_of("phi", [fact.id])] == [
        (line.id, LinkType.UNDERSTOOD)
    ]
    assert fact.id not in {entry.id for entry in agent.memory.retrieve_working()}
    assert await agent.unread_lines() == 0


async def test_a_fact_of_hearsay_comes_from_who_told_it_first(make_agent, store, say):
    agent = make_agent(fact_reader=Reader(cant=[DIABETIC]))
    await told(agent, say(user="servnak", data={HEARSAY: [["user_ann", "maren"]]}), say())
    first, second = facts(store)
    assert hearsay(first) == (("user_ann", "maren"),)
    assert hearsay(second) == ()


async def test_each_line_is_read_once_also_after_a_restart(make_agent, store, say):
    first = Reader(cant=[DIABETIC])
    await told(make_agent(fact_reader=first), say())
    second = Reader(cant=[DIABETIC])
    again = make_agent(fact_reader=second)
    assert await again.read_facts() == 0
    assert len(facts(store)) == len(first.asked) == 1
    assert second.asked == []


async def test_a_line_is_read_later_where_the_model_fails(make_agent, store, say):
    reader = Reader(cant=[DIABETIC])
    reader.error = LLMError("it is away")
    agent = make_agent(fact_reader=reader)
    await told(agent, say())
    assert facts(store) == []
    assert await agent.unread_lines() == 1
    reader.error = None
    assert await agent.read_facts() == 1
    assert [fact.user_text for fact in facts(store)] == ["Ann is diabetic."]


async def test_what_could_not_be_kept_is_read_again(make_agent, store, say, monkeypatch):
    reader = Reader(cant=[DIABETIC])
    reader.error = LLMError("it is away")
    agent = make_agent(fact_reader=reader)
    await told(agent, say())
    reader.error = None
    commit = store.commit

    def full(changes: Changes):
        raise StoreError("the disk is full")

    monkeypatch.setattr(store, "commit", full)
    with pytest.raises(StoreError, match="full"):
        await agent.read_facts()
    monkeypatch.setattr(store, "commit", commit)
    assert await agent.read_facts() == 1
    assert len(facts(store)) == 1


async def test_only_what_matters_and_was_told_is_read(make_agent, say):
    reader = Reader()
    agent = make_agent(fact_reader=reader)
    await told(
        agent,
        say("is your knee better?"),
        say("waves", kind=Kind.EMOTE),
        say("my knee hurts since the accident"),
        say("thanks", surprise=0.0),
    )
    assert [[line.user_text for line in asked.lines] for asked in reader.asked] == [
        ["my knee hurts since the accident"]
    ]


async def test_one_call_holds_one_person_and_one_audience(make_agent, store, say):
    reader = Reader()
    reader.error = LLMError("it is away")
    agent = make_agent(fact_reader=reader)
    lines = [
        say("my brother died in the war"),
        say("my mother is very ill"),
        say("I am a thief and nobody may know", kind=Kind.WHISPER),
        say("my house burned down", user="user_bob"),
        say("my wife left me", user="user_bob"),
    ]
    await told(agent, *lines)
    reader.error, reader.asked = None, []
    while await agent.read_facts():
        pass
    assert [[line.user_text for line in asked.lines] for asked in reader.asked] == [
        ["my brother died in the war", "my mother is very ill"],
        ["I am a thief and nobody may know"],
        ["my house burned down", "my wife left me"],
    ]
    for asked in reader.asked:
        if not asked.lines[0].private:
            assert not any(entry.private for entry in (*asked.before, *asked.known))


async def test_a_call_has_an_end(make_agent, say):
    reader = Reader()
    reader.error = LLMError("it is away")
    agent = make_agent(fact_reader=reader)
    await told(agent, *(say(f"my brother number {number} died in the war") for number in range(LINES + 1)))
    reader.error = None
    assert [await agent.read_facts() for _ in range(3)] == [LINES, 1, 0]


async def test_nothing_secret_goes_to_a_model_elsewhere(make_agent, store, say):
    reader = Reader()
    agent = make_agent(fact_reader=reader, reach=Tier.CONFINED)
    await told(agent, say("my mother is very ill", kind=Kind.WHISPER))
    await told(agent, say("my brother died in the war", tier=Tier.SECRET))
    assert [[line.user_text for line in asked.lines] for asked in reader.asked] == [["my mother is very ill"]]


async def test_a_fact_of_a_whisper_is_known_to_those_who_heard_it_alone(make_agent, store, say):
    reader = Reader(cant=[DIABETIC])
    agent = make_agent(fact_reader=reader)
    await told(agent, say(kind=Kind.WHISPER, present=frozenset()))
    (fact,) = facts(store)
    assert fact.private
    assert fact.audience.witnesses == {"user_ann", "phi"}


async def test_a_fact_is_forgotten_with_its_line_and_with_what_else_lent_it_words(
    make_agent, store, say, clock
):
    reader = Reader(yes=[(SPEAKER, FactKind.HEALTH, "Ann has had asthma for years.")])
    agent = make_agent(fact_reader=reader)
    asthma = say("asthma is a terrible thing to have")
    await told(agent, asthma)
    clock.advance(-3_590)
    await told(agent, say("yes that one, since I was six, it nearly killed me"))
    assert len(facts(store)) == 1
    line = store.archive("phi")[0]
    agent.forget([line.id], "user_ann", clock.now())
    assert facts(store) == []


async def test_a_fact_is_forgotten_with_an_earlier_one_that_lent_it_words_in_any_script(
    make_agent, store, say, clock
):
    reader = Reader(
        啊=[(SPEAKER, FactKind.HEALTH, "安有糖尿病。")], 唉=[(SPEAKER, FactKind.HEALTH, "安的糖尿病很严重。")]
    )
    agent = make_agent(fact_reader=reader, archive=AgentArchive("phi", store, EmbeddingQueue()))
    await told(agent, say("啊 remember this: 我每天都要打胰岛素"), say("唉 remember this: 现在更严重了"))
    assert len(facts(store)) == 2
    agent.forget([store.archive("phi")[0].id], "user_ann", clock.now())
    assert facts(store) == []


async def test_a_fact_is_forgotten_with_what_an_answer_was_made_of(make_agent, store, say, clock):
    class Recalling:
        name = "llm"

        async def speak(self, utterance, allowance):
            knows = any("zqgout" in one.entry.user_text for one in utterance.recalled)
            used = tuple(one.entry.id for one in utterance.recalled)
            return Speech("That will be the zqgout of our friend.", used) if knows else Speech("I see.")

        async def modulate(self, thought, lens, utterance, allowance):
            return thought

    reader = Reader(Oh=[("Bob", FactKind.HEALTH, "Bob cannot walk for zqgout.")])
    agent = make_agent(
        fact_reader=reader, voice=Recalling(), archive=AgentArchive("phi", store, EmbeddingQueue())
    )
    bob = {"user": "user_bob", "present": frozenset({"user_ann"})}
    await told(agent, say("I have been suffering from zqgout since my brother died", **bob))
    await told(agent, say("what is our friend Bob suffering from?"))
    clock.advance(-3_500)
    await told(agent, say("Oh dear, Bob cannot walk any more, and my sister nurses him"))
    assert [fact.user_text for fact in facts(store)] == ["Bob cannot walk for zqgout."]
    agent.forget([1], "user_bob", clock.now())
    assert facts(store) == []
    assert "zqgout" not in str(store.archive("phi"))


async def test_what_is_forgotten_while_it_is_read_is_not_kept(make_agent, store, say, clock):
    reader = Reader(cant=[DIABETIC])
    reader.gate.clear()
    agent = make_agent(fact_reader=reader)
    await agent.perceive(say())
    await reader.called.wait()
    agent.forget([store.archive("phi")[0].id], "user_ann", clock.now())
    reader.gate.set()
    await agent.settle()
    assert store.archive("phi") == []


async def test_a_later_fact_replaces_an_earlier_one_on_the_card(make_agent, store, clock, say):
    reader = Reader(
        I=[(SPEAKER, FactKind.HOME, "Ann lives in Leeds.")],
        well=[(SPEAKER, FactKind.HOME, "Ann lives in York.", True)],
    )
    agent = make_agent(fact_reader=reader, archive=AgentArchive("phi", store, EmbeddingQueue()))
    await told(
        agent,
        say("I found a flat in Leeds at last"),
        say("well the flat is gone, York will be home after all"),
    )
    society = FakeSociety(FakeAgents(phi=agent), store=store, clock=clock)
    (card,) = (await Inspector(society).people(ADMIN, "phi", "user_ann")).people
    assert [fact.words for fact in card.facts if fact.kind == "home"] == ["Ann lives in York."]
    (old,) = [fact for fact in card.superseded if fact.kind == "home"]
    assert (old.words, old.superseded_by) == ("Ann lives in Leeds.", "Ann lives in York.")


def test_what_is_more_confined_than_a_line_is_not_shown_for_it():
    both = frozenset({"user_ann", "phi"})
    tiers = [Audience(both, tier=tier) for tier in (Tier.OPEN, Tier.CONFINED, Tier.SECRET)]
    shown = [[_may_lend(audience, to) for audience in tiers] for to in tiers]
    assert shown == [[True, False, False], [True, True, False], [True, True, True]]
    more = Audience(both | {"user_bob"}, tier=Tier.CONFINED)
    assert (_may_lend(more, tiers[1]), _may_lend(tiers[1], more)) == (True, False)


async def test_who_left_the_audience_while_a_line_was_read_does_not_learn_of_the_fact(make_agent, store, say):
    reader = Reader(cant=[DIABETIC])
    reader.gate.clear()
    agent = make_agent(fact_reader=reader)
    await agent.perceive(say(kind=Kind.WHISPER, audience={"user_ann", "user_bob"}))
    await reader.called.wait()
    agent.part_from({"user_bob"})
    reader.gate.set()
    await agent.settle()
    (fact,) = facts(store)
    assert fact.audience.witnesses == {"user_ann", "phi"}


async def test_other_words_for_a_fact_belong_to_it_and_its_line(make_agent, store, say, clock):
    agent = make_agent(fact_reader=Reader(cant=[DIABETIC]))
    await told(agent, say(), say())
    (first, wrong), (second, other) = (
        (link.target, agent.entry(link.source))
        for link in sorted(store.links_of("phi", [1, 2, 3, 4]), key=lambda link: link.source)
        if link.type is LinkType.UNDERSTOOD
    )
    right = agent.correct(wrong, "Ann has diabetes.")
    agent.forget([right.id], "user_root", clock.now())
    assert facts(store) == [other]
    right = agent.correct(other, "Ann has diabetes.")
    agent._facts.confine(replace(agent.entry(second), audience=other.audience.at_least(Tier.CONFINED)))
    agent.keep()
    assert agent.entry(right.id).private
    agent.forget([second], "user_ann", clock.now())
    assert facts(store) == []
    assert agent.entry(first) is not None


async def test_a_fact_is_confined_with_its_line(make_agent, store, say):
    agent = make_agent(fact_reader=Reader(cant=[DIABETIC]))
    await told(agent, say())
    line = agent.entry(1)
    agent._facts.confine(replace(line, audience=line.audience.at_least(Tier.CONFINED)))
    agent.keep()
    (fact,) = facts(store)
    assert fact.private


async def test_a_fact_is_confined_with_a_line_that_lent_it_words(make_agent, store, say):
    reader = Reader(cant=[DIABETIC])
    reader.error = LLMError("it is away")
    agent = make_agent(fact_reader=reader)
    await told(agent, say(), say())
    reader.error = None
    await agent.read_facts()  # both lines in one call, so that each may lend words to what the other tells
    links = store.links_of("phi", [fact.id for fact in facts(store)])
    lender, fact = next((one.target, one.source) for one in links if one.type is LinkType.UNDERSTOOD_WITH)
    line = agent.entry(lender)
    agent._facts.confine(replace(line, audience=line.audience.at_least(Tier.CONFINED)))
    agent.keep()
    assert agent.entry(fact).private


async def test_a_fact_that_replaced_one_is_confined_with_its_own_line_alone(make_agent, store, say):
    reader = Reader(cant=[DIABETIC], well=[(*DIABETIC[:2], "Ann is well.", True)])
    agent = make_agent(fact_reader=reader, archive=AgentArchive("phi", store, EmbeddingQueue()))
    await told(agent, say(), say("well remember this: all is fine again, doctor says, I am so glad"))
    line = agent.entry(1)
    agent._facts.confine(replace(line, audience=line.audience.at_least(Tier.CONFINED)))
    agent.keep()
    assert [fact.private for fact in facts(store)] == [True, False]
    assert [link.type for link in store.links_of("phi", [2])].count(LinkType.REPLACED) == 1


async def test_a_whispered_fact_does_not_hide_what_everybody_knows(make_agent, store, clock, say):
    reader = Reader(
        I=[(SPEAKER, FactKind.HOME, "Ann lives in Leeds.")],
        well=[(SPEAKER, FactKind.HOME, "Ann lives in York.", True)],
    )
    archive = AgentArchive("phi", store, EmbeddingQueue())
    agent = make_agent(fact_reader=reader, archive=archive)
    await told(agent, say("I found a flat in Leeds at last"))
    await told(
        agent,
        say("well the flat is gone, York will be home after all", kind=Kind.WHISPER, present=frozenset()),
    )
    ids = [fact.id for fact in facts(store)]
    everybody, ann = (
        Filters(kinds=frozenset({Kind.FACT}), present=frozenset({who})) for who in ("user_bob", "user_ann")
    )
    assert former(ids, archive, everybody) == set()
    assert former(ids, archive, ann) == {ids[0]}


async def test_a_line_that_told_a_fact_is_still_thought_about(make_agent, say, clock):
    agent = make_agent(fact_reader=Reader(cant=[DIABETIC]))
    await told(agent, say())
    assert [one.entry.id for one in agent._follow_up._to_think_about(clock.now())] == [1]


@pytest.mark.slow
async def test_a_forgotten_fact_does_not_come_back(make_agent, store, say, clock):
    past = make_agent()
    await told(past, *(say("waves", kind=Kind.EMOTE, addressed=False) for _ in range(BACKLOG + 5)))
    reader = Reader(cant=[DIABETIC])
    agent = make_agent(fact_reader=reader)
    await told(agent, say())
    (fact,) = facts(store)
    agent.forget([fact.id], "user_root", clock.now())
    again = make_agent(fact_reader=reader)
    while await again.read_facts():
        pass
    assert facts(store) == []
    assert len(reader.asked) == 1


async def test_lines_of_two_days_are_two_calls(make_agent, say, clock):
    reader = Reader()
    reader.error = LLMError("it is away")
    agent = make_agent(fact_reader=reader)
    await told(agent, say("I see the surgeon tomorrow about my knee"))
    clock.advance(86_400)
    await told(agent, say("I see the surgeon tomorrow about my heart"))
    reader.error = None
    assert [await agent.read_facts() for _ in range(3)] == [1, 1, 0]


@pytest.mark.slow
async def test_what_is_told_now_is_read_before_a_long_past(make_agent, store, say):
    past = make_agent()
    lines = [say(f"my brother number {number} died in the war") for number in range(LINES + 2)]
    lines += [say("waves", kind=Kind.EMOTE, addressed=False) for _ in range(BACKLOG)]
    await told(past, *lines)
    reader = Reader(cant=[DIABETIC])
    agent = make_agent(fact_reader=reader)
    await told(agent, say())
    assert [[line.user_text for line in asked.lines] for asked in reader.asked] == [[INSULIN]]
    assert await agent.unread_lines() == LINES + 2
    assert [await agent.read_facts() for _ in range(3)] == [LINES, 2, 0]
    assert len(facts(store)) == 1


async def test_a_plan_that_only_a_model_understands_comes_due(make_agent, store, clock, say):
    reader = Reader(the=[(SPEAKER, FactKind.PLAN, "Ann has her operation on 14 January 1970.")])
    agent = make_agent(fact_reader=reader, archive=AgentArchive("phi", store, EmbeddingQueue()))
    line = "the surgeon wants my knee on his table when the fair is over"
    assert due_of(replace(an_entry(1, user_text=line), override=0.9)) is None
    await told(agent, say(line))
    clock.set(1_000_000.0 + 4 * 86_400)
    trace = await agent.perceive(say("hello again"))
    assert [one.entry_id for one in trace.recalled if Why.DUE in one.why] == [1]


async def test_a_plan_that_was_replaced_does_not(make_agent, store, clock, say):
    reader = Reader(
        the=[(SPEAKER, FactKind.PLAN, "Ann has her operation on 14 January 1970.")],
        they=[(SPEAKER, FactKind.PLAN, "Ann has her operation on 30 March 1970.", True)],
    )
    agent = make_agent(fact_reader=reader, archive=AgentArchive("phi", store, EmbeddingQueue()))
    await told(agent, say("the surgeon wants my knee on his table when the fair is over"))
    await told(agent, say("they let me wait until the spring with my poor knee"))
    clock.set(1_000_000.0 + 4 * 86_400)
    trace = await agent.perceive(say("hello again"))
    assert [one.entry_id for one in trace.recalled if Why.DUE in one.why] == []


async def test_a_plain_memory_reads_nothing(make_agent, say):
    reader = Reader(cant=[DIABETIC])
    agent = make_agent(fact_reader=reader, plain=True)
    await told(agent, say())
    assert reader.asked == []


async def test_facts_of_a_corrected_line_give_way_to_those_of_its_new_words(make_agent, store, say, clock):
    reader = Reader(cant=[DIABETIC], my=[(SPEAKER, FactKind.HEALTH, "Ann has asthma.")])
    agent = make_agent(fact_reader=reader)
    await told(agent, say())
    (wrong,) = facts(store)
    made = agent.correct(store.archive("phi")[0], "my inhaler has to be refilled first, doctor says")
    await agent.read_facts()
    _, right = facts(store)
    looking = Inspector(FakeSociety(FakeAgents(phi=agent), store=store, clock=clock))
    (card,) = (await looking.people(ADMIN, "phi", "user_ann")).people
    assert "Ann has asthma." in [fact.words for fact in card.facts]
    assert "Ann is diabetic." not in [fact.words for fact in (*card.facts, *card.superseded)]
    assert wrong.id in [link.target for link in store.links_of("phi", [made.id])]
    agent.forget([made.id], "user_root", 1.0)
    assert store.archive("phi") == []
    assert right.id not in store.entries("phi", [right.id])


async def test_a_line_that_is_corrected_while_it_is_read_makes_no_fact(make_agent, store, say):
    reader = Reader(cant=[DIABETIC])
    agent = make_agent(fact_reader=reader)
    reader.gate.clear()
    reading = asyncio.create_task(told(agent, say()))
    await reader.called.wait()
    agent.correct(store.archive("phi")[0], "the shop is closed")
    reader.gate.set()
    await reading
    assert facts(store) == []


async def test_a_corrected_fact_is_forgotten_with_its_line(make_agent, store, say):
    agent = make_agent(fact_reader=Reader(cant=[DIABETIC]))
    await told(agent, say())
    agent.correct(facts(store)[0], "Ann has diabetes.")
    agent.forget([store.archive("phi")[0].id], "user_ann", 1.0)
    assert store.archive("phi") == []


LOG = SourceRecord("mapped:log", "1", INSULIN, "Ann", 1_000.0)


@pytest.fixture
def taken_in(make_agent, store):
    """Takes records of a source in, then reads their facts; the agent is `taken_in.agent`."""
    agent = make_agent(
        fact_reader=Reader(cant=[DIABETIC], my=[(SPEAKER, FactKind.HEALTH, "Ann has asthma.")])
    )

    async def taken_in(*records):
        Pipeline(agent, store, lambda names: None, undated=0.0).run(records)
        await agent.read_facts()

    taken_in.agent = agent
    return taken_in


async def test_a_fact_of_a_log_is_confined_with_the_former_form_of_its_line(taken_in, store):
    await taken_in(LOG)
    await taken_in(replace(LOG, kind=Kind.WHISPER, text="hush!"))
    assert [fact.private for fact in facts(store)] == [True]
    assert all(entry.private for entry in store.archive("phi"))


async def test_a_fact_of_two_lines_of_a_log_is_confined_with_both_of_them(taken_in, store):
    second = replace(LOG, id="2", text=f"{INSULIN} again")
    await taken_in(LOG, second)
    ann, bob = confined_to({"past:ann"}), confined_to({"past:ann", "user_bob"})
    await taken_in(replace(LOG, audience=ann), replace(second, audience=bob))
    first, *_ = facts(store)
    kinds = {link.type for link in store.links_of("phi", [first.id]) if link.source == first.id}
    assert kinds >= {LinkType.UNDERSTOOD, LinkType.UNDERSTOOD_WITH}
    assert (first.audience.witnesses, first.private, first.override) == ({"past:ann", "phi"}, True, 0.0)


async def test_facts_of_a_line_that_changed_in_its_log_give_way(taken_in, store):
    await taken_in(LOG)
    await taken_in(replace(LOG, text="my inhaler has to be refilled first, doctor says"))
    wrong, right = facts(store)
    assert (wrong.override, right.override) == (0.0, None)
    replaced = [link for link in store.links_of("phi", [wrong.id]) if link.type is LinkType.REPLACED]
    assert [(link.source, link.target) for link in replaced] == [(right.id - 1, wrong.id)]
    taken_in.agent.forget([1], "user_root", 1.0)
    assert wrong.id not in store.entries("phi", [wrong.id])
