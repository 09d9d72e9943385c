"""Which entries a turn links, how strongly, and that what is forgotten is linked no more."""

from __future__ import annotations

import asyncio

import pytest

from noodlings.agent.linking import followed, recalled
from noodlings.agent.society import Society
from noodlings.config import Settings
from noodlings.errors import Forbidden, NotFound, UserError
from noodlings.ports import Speech
from noodlings.reflection.relations import TALK_SECONDS
from noodlings.values.caller import Caller, Role
from noodlings.values.memory import Link, LinkType, Recalled, Why
from noodlings.values.percept import Kind, Percept
from tests.fakes import SlowVoice, make_persona
from tests.memory.entries import an_entry

ADMIN = Caller("user_root", "root", Role.ADMIN)
CAITY = Caller("user_caity", "caity")


@pytest.fixture
def tell(clock):
    async def tell(agent, text="hello", after=60.0, user="user_caity", **changes):
        clock.advance(after)
        fields = {"depth": 1} | changes  # nobody answers
        return (await agent.perceive(Percept(user, text, clock.now(), **fields))).entry_id

    return tell


def ends(links):
    return [(link.source, link.target, link.type) for link in links]


# -- what follows


def among(entries):
    """The way to the latest of these."""
    return lambda last_n: entries if last_n is None else entries[-last_n:]


@pytest.mark.parametrize(("gap", "strength"), [(0, 1.0), (TALK_SECONDS / 2, 0.75), (TALK_SECONDS, 0.5)])
def test_what_goes_on_within_five_minutes_is_linked_the_less_the_later(gap, strength):
    before, after = an_entry(1, timestamp=100.0), an_entry(2, timestamp=100.0 + gap)
    assert followed(after, among([before, after])) == [
        Link(2, 1, LinkType.FOLLOWED, strength, after.timestamp)
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"timestamp": 100.1 + TALK_SECONDS},
        {"timestamp": 99.0},
        {"timestamp": 101.0, "user_id": "user_bob"},
        {"timestamp": 101.0, "place": "library"},
        {"timestamp": 101.0, "kind": Kind.EVENT},
        {"timestamp": 101.0, "kind": Kind.THOUGHT},
        {"timestamp": 101.0, "kind": Kind.ARRIVE},
    ],
)
def test_what_is_no_part_of_the_talk_follows_nothing(changes):
    before = an_entry(1, timestamp=100.0, place="garden")
    after = an_entry(2, **({"place": "garden"} | changes))
    assert followed(after, among([before, after])) == []
    assert followed(after, among([])) == []


def test_it_goes_on_from_the_latest_of_its_talk_whatever_others_say_meanwhile():
    talk = [
        an_entry(1, timestamp=10.0),
        an_entry(2, timestamp=20.0, kind=Kind.WHISPER),
        an_entry(3, timestamp=30.0, user_id="user_bob"),
        an_entry(4, timestamp=40.0, kind=Kind.LEAVE),
        an_entry(5, timestamp=50.0),
    ]
    assert ends(followed(talk[-1], among(talk))) == [(5, 2, LinkType.FOLLOWED)]


# -- what is recalled


def test_what_truly_came_to_mind_is_linked_as_strongly_as_it_was_recalled():
    def found(number: int, **scores: float) -> Recalled:
        reasons = {Why(name): score for name, score in scores.items()}
        return Recalled(an_entry(number), tuple(reasons), 0.5, dict(reasons))

    truly = [found(1, semantic=0.5, lexical=0.2), found(2, recent=1.0), found(3, recent=1.0, important=1.5)]
    assert recalled(an_entry(9), [*truly, found(9, semantic=1.0)]) == [
        Link(9, 1, LinkType.RECALLED, 0.75, 9.0),
        Link(9, 2, LinkType.RECALLED, 0.5, 9.0),
        Link(9, 3, LinkType.RECALLED, 1.0, 9.0),
    ]


# -- turns


async def test_a_talk_is_a_chain(make_agent, store, tell):
    agent = make_agent()
    told = [await tell(agent, place="garden") for _ in range(3)]
    await tell(agent, after=TALK_SECONDS + 1, place="garden")
    chain = [(2, 1, LinkType.FOLLOWED), (3, 2, LinkType.FOLLOWED)]
    assert ends(store.links_of("phi", [*told, 4])) == chain


async def test_a_talk_goes_on_after_a_restart(make_agent, store, tell):
    first = await tell(make_agent())
    second = await tell(make_agent())
    assert ends(store.links_of("phi", [first])) == [(second, first, LinkType.FOLLOWED)]


async def test_an_answer_is_linked_with_what_it_was_made_of(make_agent, store, tell):
    agent = make_agent()
    dog = await tell(agent, "My dog Zanzibar died yesterday", addressed=True)
    asked = await tell(agent, "Do you remember my dog?", after=4_000, addressed=True, depth=0)
    trace = store.traces("phi")[0]
    used = [found.entry_id for found in trace.recalled if found.used]
    assert dog in used
    links = store.links_of("phi", [asked])
    assert ends(links) == [(asked, entry_id, LinkType.RECALLED) for entry_id in sorted(used)]
    assert all(link.strength >= 0.5 for link in links)


async def test_of_a_model_all_but_the_merely_recent_is_taken_for_recalled(make_agent, store, tell):
    class Says:
        name = "llm"

        async def speak(self, utterance, allowance):
            return Speech("I see.")

    agent = make_agent(voice=Says())
    for text in ("My dog died yesterday", *["nice weather"] * 6):
        await tell(agent, text, after=4_000)
    asked = await tell(agent, "hello", after=4_000, addressed=True, depth=0)
    chosen = [found.entry_id for found in store.traces("phi")[0].recalled if found.why != ("recent",)]
    assert chosen
    assert ends(store.links_of("phi", [asked])) == [(asked, n, LinkType.RECALLED) for n in sorted(chosen)]


async def test_what_is_forgotten_while_it_thinks_is_not_linked(make_agent, store, tell):
    agent = make_agent(voice=(voice := SlowVoice()))
    dog = await tell(agent, "My dog died yesterday")
    turn = asyncio.create_task(tell(agent, "hello", addressed=True, depth=0))
    await voice.asked.wait()
    agent.forget([dog], "user_root", 0.0)
    voice.gate.set()
    asked = await turn
    assert store.links_of("phi", [dog, asked]) == []


# -- by hand


@pytest.fixture
def society(make_agent, clock, store):
    return Society(lambda who: make_agent(who.name), [make_persona("Phi")], clock, Settings(), store)


async def test_an_admin_links_by_hand_and_it_is_kept(society, store, tell):
    for _ in range(2):
        await tell(society.agents["phi"], after=4_000)
    made = society.corrections.link(ADMIN, "phi", 1, 2)
    assert made == Link(1, 2, LinkType.BY_HAND, 1.0, society.clock.now())
    assert store.links_of("phi", [2]) == [made]


async def test_what_cannot_be_linked_by_hand(society, store, tell):
    await tell(society.agents["phi"])
    with pytest.raises(Forbidden, match="only an admin may link"):
        society.corrections.link(CAITY, "phi", 1, 1)
    with pytest.raises(UserError, match="to itself"):
        society.corrections.link(ADMIN, "phi", 1, 1)
    for ids in ((1, 2), (2, 1)):
        with pytest.raises(NotFound, match="no memory 2"):
            society.corrections.link(ADMIN, "phi", *ids)
    assert store.links_of("phi", [1]) == []


async def test_links_are_removed_in_either_direction(society, store, tell):
    for _ in range(2):
        await tell(society.agents["phi"], after=4_000)
    society.corrections.link(ADMIN, "phi", 1, 2)
    gone = society.corrections.unlink(ADMIN, "phi", 2, 1)
    assert [link.type for link in gone] == [LinkType.BY_HAND]
    assert store.links_of("phi", [1, 2]) == []
    with pytest.raises(UserError, match="they are not linked"):
        society.corrections.unlink(ADMIN, "phi", 1, 2)
    with pytest.raises(Forbidden, match="only an admin may remove"):
        society.corrections.unlink(CAITY, "phi", 1, 2)
    with pytest.raises(NotFound, match="no memory 9"):
        society.corrections.unlink(ADMIN, "phi", 1, 9)


@pytest.mark.parametrize("made", [LinkType.REFLECTED, LinkType.REPLACED])
async def test_what_was_made_of_a_memory_stays_linked_with_it(society, store, tell, made):
    for _ in range(2):
        await tell(society.agents["phi"], after=4_000)
    society.agents["phi"].link([Link(2, 1, made, 1.0, 0.0)])
    with pytest.raises(UserError, match="one was made of the other"):
        society.corrections.unlink(ADMIN, "phi", 1, 2)
    assert len(store.links_of("phi", [1])) == 1
