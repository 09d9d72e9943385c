"""What an agent knows of people, as each caller may read it."""

from __future__ import annotations

import asyncio
import json

import pytest

from noodlings.affect.feeling import feeling
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import Settings
from noodlings.errors import NotFound, UserError
from noodlings.inspect.inspector import Inspector
from noodlings.inspect.people import PeopleView
from noodlings.inspect.viewpoint import PAGE
from noodlings.ports import Changes
from noodlings.recall.filters import Filters
from noodlings.store.memory import MemoryStore
from noodlings.values.affect import Affect
from noodlings.values.audience import confined_to
from noodlings.values.caller import Caller, Role
from noodlings.values.memory import ImportanceParts, MemoryEntry
from noodlings.values.percept import Kind, Percept
from noodlings.values.relationship import Relationship
from tests.fakes import FakeAgent, FakeSociety
from tests.memory.entries import an_entry

ADMIN = Caller("user_root", "root", Role.ADMIN)
ANN, BOB = Caller("user_ann", "ann"), Caller("user_bob", "bob")


def said(number: int, text: str, user: str = "user_ann", **changes: object) -> MemoryEntry:
    return an_entry(number, user_id=user, user_text=text, **changes)


def asking(*entries: MemoryEntry, names: dict[str, str] | None = None, now: float = 1_000.0) -> Inspector:
    """Phi, who heard these."""
    society = FakeSociety(store=MemoryStore(), people=names or {})
    agent = society.add(FakeAgent())
    society.store.commit(Changes("phi", added=entries))
    agent.memory.restore((), (), len(entries), 0, len(entries))
    society.clock.set(now)
    return Inspector(society)


def texts(view: PeopleView) -> str:
    return json.dumps(view.as_dict())


async def test_a_card_holds_what_was_told_with_its_evidence() -> None:
    inspector = asking(
        said(1, "my sister Ruth is a nurse"),
        said(2, "I am allergic to nuts"),
        said(3, "I am allergic to nuts!"),
    )
    view = await inspector.people(ADMIN, "phi")
    assert (view.agent, view.name, view.hidden) == ("phi", "Phi", 0)
    ann, ruth = view.people
    assert (ann.of, ann.name) == ("user_ann", "Ann")
    assert (ruth.of, ruth.name, ruth.also) == ("user_ann's Ruth", "Ruth", ("Ann's sister",))
    health = next(fact for fact in ann.facts if fact.kind == "health")
    assert (health.words, health.told_by, health.evidence, health.age) == (
        "I am allergic to nuts!", "ann", (2, 3), 997.0,
    )  # fmt: skip
    assert json.loads(texts(view)) == view.as_dict()


@pytest.mark.parametrize("person", ["ruth", "Ruth", "Ann's sister", "ann's sister"])
async def test_one_person_is_asked_for_by_any_name(person: str) -> None:
    inspector = asking(said(1, "my sister Ruth is a nurse"))
    (card,) = (await inspector.people(ADMIN, "phi", person)).people
    assert card.of == "user_ann's Ruth"
    (own,) = (await inspector.people(ANN, "phi", "me")).people
    assert own.of == "user_ann"


async def test_who_is_unknown_is_told_with_the_nearest() -> None:
    inspector = asking(said(1, "my sister Ruth is a nurse"))
    with pytest.raises(NotFound, match="did you mean Ruth"):
        await inspector.people(ADMIN, "phi", "Ruht")
    with pytest.raises(NotFound, match="Phi knows nothing about Zeno; it knows something about Ann, Ruth"):
        await inspector.people(ADMIN, "phi", "Zeno")
    with pytest.raises(NotFound, match="nobody has told it anything"):
        await asking().people(ADMIN, "phi", "Zeno")


async def test_of_somebody_who_is_only_talked_about_it_shows_what_was_told() -> None:
    inspector = asking(
        said(1, "my co-wizard Teun left and took the backups"),
        said(2, "I am so angry at teun"),
        said(3, "what would Teun say?"),
        said(4, "Teun owes me money", "user_bob", audience=confined_to({"user_bob", "phi"})),
        said(5, "I lost a week to this"),
    )
    (teun,) = (await inspector.people(ADMIN, "phi", "teun")).people
    assert (teun.of, teun.name, teun.acquaintance, teun.plans) == ("Teun", "Teun", None, ())
    assert [(fact.kind, fact.evidence, fact.private) for fact in teun.facts] == [
        ("told", (4,), True), ("told", (2,), False), ("told", (1,), False),
    ]  # fmt: skip
    (own,) = (await inspector.people(ANN, "phi", "Teun")).people
    assert [fact.evidence for fact in own.facts] == [(2,), (1,)]
    (his,) = (await inspector.people(BOB, "phi", "Teun")).people
    assert 4 in [number for fact in his.facts for number in fact.evidence]
    for no_name in ("week", "the", "The", "Zeno"):
        with pytest.raises(NotFound, match="knows nothing about"):
            await inspector.people(ADMIN, "phi", no_name)
    assert "Teun" not in [card.name for card in (await inspector.people(ADMIN, "phi")).people]


async def test_a_name_without_capitals_or_spaces_is_found_where_it_was_told() -> None:
    (card,) = (await asking(said(1, "昨天王明来了")).people(ADMIN, "phi", "王明")).people
    assert [fact.evidence for fact in card.facts] == [(1,)]


async def test_what_is_too_long_for_a_name_is_no_name() -> None:
    name = "1" + "'s " * 1_300 + "x"
    with pytest.raises(NotFound, match="knows nothing about 1's"):
        await asking(said(1, f"I met {name} once")).people(ANN, "phi", name)


async def test_who_is_afraid_of_flying_has_no_plan_and_may_get_over_it() -> None:
    inspector = asking(
        said(1, "I'm afraid of flying"),
        said(2, "I'm not afraid of flying any more", parts=ImportanceParts(significance=0.7)),
    )
    (card,) = (await inspector.people(ADMIN, "phi", "Ann")).people
    assert [fact.kind for fact in card.facts] == ["told"]
    assert [(fact.kind, fact.superseded_evidence) for fact in card.superseded] == [("fear", (2,))]


async def test_a_player_sees_what_follows_from_what_it_told_alone() -> None:
    inspector = asking(
        said(1, "I am pregnant", audience=confined_to({"user_ann", "phi"})),
        said(2, "Ann is afraid of geese", "user_bob"),
        said(3, "my brother Zeno lives in Leeds", "user_bob"),
        names={"user_ann": "Ann", "user_bob": "Bob"},
    )
    everything = await inspector.people(ADMIN, "phi")
    assert {card.of for card in everything.people} == {"user_ann", "user_bob", "user_bob's Zeno"}
    ann = await inspector.people(ANN, "phi")
    assert ("pregnant" in texts(ann), "geese" in texts(ann), "Zeno" in texts(ann)) == (True, False, False)
    assert ann.people[0].facts[0].private
    assert (ann.total, ann.hidden) == (1, 2)
    assert "pregnant" not in texts(await inspector.people(BOB, "phi"))
    with pytest.raises(NotFound) as told:
        await inspector.people(ANN, "phi", "zeno")
    assert "bob" not in str(told.value).casefold()


async def test_no_line_of_a_player_tells_it_who_else_there_is() -> None:
    lines = (
        said(1, "Bob is afraid of geese"),
        said(2, "my sister Bob is a nurse"),
        said(3, "my dog bit user_bob"),
    )
    there = asking(*lines, names={"user_ann": "Ann", "user_bob": "Bob", "account:x": "Ruth"})
    alone = asking(*lines, names={"user_ann": "Ann"})
    assert await there.people(ANN, "phi") == await alone.people(ANN, "phi")
    assert {card.of for card in (await there.people(ADMIN, "phi")).people} >= {"user_bob", "user_ann's Bob"}


async def test_two_of_one_name_and_words_as_names_stand_for_nobody() -> None:
    names = {"user_a": "Jonas", "user_b": "Jonas", "user_c": "The", "user_d": "It", "user_e": "Caity Bell"}
    lines = (
        "Jonas hates spiders",
        "The house is afraid of rain",
        "It was born in 1990",
        "Caity Bell hates spiders",
    )
    view = await asking(*map(said, range(4), lines), names=names).people(ADMIN, "phi")
    assert [card.of for card in view.people] == ["user_e"]


async def test_a_whisper_that_replaces_something_makes_it_private() -> None:
    whisper = said(2, "I live in Porto now", audience=confined_to({"user_ann", "phi"}))
    view = await asking(said(1, "I live in Leeds"), whisper).people(ADMIN, "phi")
    (old,) = view.people[0].superseded
    assert (old.superseded_by, old.private) == ("I live in Porto now", True)


async def test_what_a_night_found_to_be_contradicted_holds_no_more() -> None:
    clock = ManualClock(1_000.0)
    society = build(Settings(embedding={"model": "none"}), clock=clock, store=MemoryStore())
    phi = society.agents["phi"]
    told = ("I have a goat. My sister Ruth is a nurse.", "I don't have a goat any more")
    for line in told:
        clock.advance(3_600.0)
        await phi.perceive(Percept("user_ann", line, clock.now(), addressed=True))
    await phi.reflect()
    inspector = Inspector(society)
    (ann, ruth) = (await inspector.people(ADMIN, "phi")).people
    assert [fact.words for fact in ann.superseded] == ["I have a goat."]
    assert ann.superseded[0].superseded_by == told[1]
    assert [fact.kind for fact in ruth.facts] == ["trade"]
    phi.forget([2], "user_ann", clock.now())
    assert not (await inspector.people(ADMIN, "phi")).people[0].superseded
    society.close()


async def test_what_is_forgotten_is_on_no_card_even_while_it_is_made() -> None:
    inspector = asking(said(1, "I am afraid of geese"), said(2, "I love marzipan"))
    society = inspector._society

    async def forget() -> None:
        society.store.forget("phi", [1], by_user="user_ann", timestamp=5.0)
        society.agents["phi"].forgettings += 1

    view, _ = await asyncio.gather(inspector.people(ADMIN, "phi"), forget())
    assert ("geese" in texts(view), "marzipan" in texts(view)) == (False, True)


@pytest.mark.slow
async def test_a_long_memory_lets_everything_else_have_its_turn() -> None:
    long = "I love one thing and another, and my sister Ruth keeps bees. " * 60
    inspector = asking(*(said(number, f"I love {number}a and {number}b. {long}") for number in range(300)))
    turns, asking_people = 0, asyncio.create_task(inspector.people(ADMIN, "phi"))
    while not asking_people.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns > 20
    assert (await asking_people).total == 1


async def test_people_come_in_pages() -> None:
    inspector = asking(*(said(number, f"my sister Ruth{'x' * number} is a nurse") for number in range(1, 6)))
    everybody = (await inspector.people(ADMIN, "phi")).people
    assert len(everybody) == 6
    view = await inspector.people(ADMIN, "phi", limit=2, offset=3)
    assert (view.people, view.offset, view.total) == (everybody[3:5], 3, 6)
    for limit, offset in ((0, 0), (1, -1)):
        with pytest.raises(UserError):
            await inspector.people(ADMIN, "phi", None, limit, offset)


async def test_all_pages_are_gone_through() -> None:
    lines = [said(n, "good morning") for n in range(1, PAGE + 2)]
    inspector = asking(*lines, said(PAGE + 2, "I am afraid of geese"))
    (card,) = (await inspector.people(ADMIN, "phi")).people
    assert card.facts[0].evidence == (PAGE + 2,)


async def test_nothing_known_is_no_error() -> None:
    assert (await asking(said(1, "good morning")).people(ADMIN, "phi")).people == ()


async def test_a_card_tells_since_when_how_lately_and_how_it_felt() -> None:
    glad, sad = Affect(0.8, 0.6, 0.1, 0.1, 0.1), Affect(-0.8, 0.6, 0.1, 0.9, 0.1)
    inspector = asking(
        said(1, "my sister Ruth is a nurse", timestamp=100.0, affect=glad, encoded_importance=0.9),
        said(2, "hm", timestamp=400.0, affect=sad, encoded_importance=0.1),
        said(3, "waves", timestamp=500.0, kind=Kind.EMOTE),
    )
    ann, ruth = (await inspector.people(ADMIN, "phi")).people
    known = ann.acquaintance
    assert known is not None
    assert (known.lines, known.met, known.last, known.last_age) == (2, 100.0, 400.0, 600.0)
    both = zip(glad.as_list(), sad.as_list(), strict=True)
    assert known.feeling == feeling(Affect.of([0.9 * one + 0.1 * other for one, other in both]))
    assert ruth.acquaintance is None


async def test_what_is_open_stands_on_the_card_with_its_day() -> None:
    inspector = asking(
        said(1, "I have my driving test tomorrow", timestamp=100.0, encoded_importance=0.5),
        said(2, "we move to Porto next week", timestamp=200.0, encoded_importance=0.5),
        now=2 * 86_400.0,
    )
    (ann,) = (await inspector.people(ANN, "phi", "me")).people
    assert [(plan.words, plan.evidence, plan.when, plan.ahead > 0) for plan in ann.plans] == [
        ("I have my driving test tomorrow", 1, "1970-01-02T00:00:00Z", False),
        ("we move to Porto next week", 2, "1970-01-05T00:00:00Z", True),
    ]


async def test_nobody_sees_the_plans_of_others() -> None:
    plan = "I have my driving test tomorrow"
    inspector = asking(said(1, plan), said(2, "I love rain", user="user_bob"))
    assert "driving" not in texts(await inspector.people(BOB, "phi"))


PAIR = (
    said(1, "Bob and me, we fell out in May", parts=ImportanceParts(significance=0.7)),
    said(2, "I love rain", "user_bob"),
    said(3, "Ann cried all night over my jokes", "user_bob", parts=ImportanceParts(significance=0.7)),
    said(4, "I live in Leeds"),
    said(5, "I promise Bob a cake", audience=confined_to({"user_ann", "phi"})),
    said(6, "Ann is a nurse", "user_bob"),
)
NAMED = {"user_ann": "Ann", "user_bob": "Bob"}


@pytest.mark.parametrize("who", ["Ann and Bob", "bob and user_ann", "me and Bob"])
async def test_two_people_are_asked_for_together(who: str) -> None:
    caller = Caller("user_ann", "ann", Role.ADMIN)
    both = said(7, "what a day Ann and Bob had at the fair", "user_caity")  # which is no card of its own
    view = await asking(*PAIR, both, names=NAMED).people(caller, "phi", who)
    (card,) = view.people
    assert {card.name, card.of} <= {
        "Ann and Bob",
        "Bob and Ann",
        "user_ann and user_bob",
        "user_bob and user_ann",
    }
    assert (view.total, card.acquaintance, card.plans, card.superseded) == (1, None, (), ())
    assert [(fact.kind, fact.evidence, fact.private) for fact in card.facts] == [
        ("told", (3,), False), ("between", (1,), False), ("promise", (5,), True),
    ]  # fmt: skip


async def test_kin_is_between_two_and_what_was_superseded_stays_apart() -> None:
    lines = (
        said(1, "my sister Ruth is a nurse"),
        said(2, "I will sew a coat for my sister Ruth on Friday"),
        said(3, "scratch that, I will sew a coat for my sister Ruth on Monday"),
    )
    (card,) = (await asking(*lines).people(ANN, "phi", "me and Ruth")).people
    assert card.facts[-1].kind == "plan"
    assert {fact.kind for fact in card.facts[:-1]} == {"kin"}
    assert lines[1].user_text in {fact.words for fact in card.superseded}


async def test_a_player_sees_of_two_what_it_told_and_no_more() -> None:
    inspector = asking(*PAIR, said(7, "Ruth is my sister Ruth, who cried"), names=NAMED)
    with pytest.raises(NotFound, match="knows nothing about Bob"):
        await inspector.people(ANN, "phi", "me and Bob")
    with pytest.raises(NotFound, match="knows nothing about Ann"):
        await inspector.people(BOB, "phi", "Ann and me")
    with pytest.raises(NotFound, match="nothing between Ann and Ann"):
        await inspector.people(ADMIN, "phi", "Ann and Ann")
    with pytest.raises(NotFound, match="knows nothing about Zeno"):
        await inspector.people(ADMIN, "phi", "Ann and Zeno")


async def test_what_is_between_two_is_gone_when_it_is_forgotten() -> None:
    inspector = asking(said(1, "I live in Leeds"), said(2, "I love rain", "user_bob"), names=NAMED)
    with pytest.raises(NotFound, match="Phi knows of nothing between Ann and Bob"):
        await inspector.people(ADMIN, "phi", "Ann and Bob")


async def test_a_name_with_and_in_it_is_one_person() -> None:
    inspector = asking(said(1, "I live in Leeds"), names={"user_ann": "Salt and Pepper"})
    (card,) = (await inspector.people(ADMIN, "phi", "salt and pepper")).people
    assert card.of == "user_ann"


async def test_the_sister_of_one_is_not_the_sister_of_another() -> None:
    lines = (
        said(1, "my sister is allergic to nuts"),
        said(2, "I owe my sister ten pounds and I live in York", "user_bob"),
        said(3, "my sister got married and she lives in Rome", "user_bob"),
    )
    for who in ("Ann's sister and Bob", "Bob's sister and Ann"):
        with pytest.raises(NotFound, match="knows of nothing between"):
            await asking(*lines, names=NAMED).people(ADMIN, "phi", who)


async def test_who_has_the_name_of_another_is_not_taken_for_it() -> None:
    cried = "Ann cried all night over my jokes"
    lines = (
        said(1, cried, "user_bob", parts=ImportanceParts(significance=0.7)),
        said(2, "I love rain", "user_bert"),
        said(3, "I love geese", "user_bob"),
    )
    inspector = asking(*lines, names={"user_ann": "Ann", "user_bob": "Bob", "user_bert": "Bob"})
    (card,) = (await inspector.people(ADMIN, "phi", "Ann and user_bob")).people
    assert [fact.words for fact in card.facts] == [cried]
    with pytest.raises(NotFound, match="knows of nothing between"):
        await inspector.people(ADMIN, "phi", "Ann and user_bert")


class Acquainted:
    """The archive of somebody who knows everybody."""

    relationships = True

    async def whole(self) -> None:
        """It is."""

    def relationship(self, filters: Filters, now: float) -> Relationship:
        return Relationship(filters.user or "", 1)


async def test_knowing_many_lets_everything_else_have_its_turn() -> None:
    inspector = asking(*(said(number, "hm", f"user_{number}") for number in range(300)))
    inspector._society.agents["phi"].archive = Acquainted()
    turns, asking_people = 0, asyncio.create_task(inspector.people(ADMIN, "phi", "user_7"))
    while not asking_people.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns > 300
    assert (await asking_people).people[0].of == "user_7"


async def test_a_card_has_what_no_pattern_knows_and_a_model_understands() -> None:
    clock, told = ManualClock(1_000_000.0), "no almonds for me or you'll be fetching the healer"
    society = build(Settings(embedding={"model": "minilm"}), clock=clock, store=MemoryStore())
    try:
        for text in (told, "I could murder a sandwich"):
            await society.perceive("servnak", Percept(ANN.user_id, text, clock.now(), addressed=True))
        inspector = Inspector(society)
        (card,) = (await inspector.people(ADMIN, "servnak", ANN.user_id)).people
        assert [(fact.kind, fact.words) for fact in card.facts] == [("told", told)]
        (entry_id,) = card.facts[0].evidence
        walnuts = "I'm allergic to walnuts"
        corrected = society.corrections.correct(ADMIN, "servnak", entry_id, walnuts)
        assert corrected.tells is None  # that was of the former words
        (card,) = (await inspector.people(ADMIN, "servnak", ANN.user_id)).people
        assert [(fact.kind, fact.words) for fact in card.facts] == [("health", walnuts)]
    finally:
        society.close()
