"""A journal, as each caller may read it."""

from __future__ import annotations

import asyncio
import json

import pytest

from noodlings.agent.archive import AgentArchive
from noodlings.embed.queue import EmbeddingQueue
from noodlings.errors import UserError
from noodlings.inspect.inspector import Inspector
from noodlings.inspect.viewpoint import PAGE
from noodlings.ports import Changes
from noodlings.store.memory import MemoryStore
from noodlings.values.affect import Affect
from noodlings.values.audience import Tier, confined_to
from noodlings.values.caller import Caller, Role
from noodlings.values.memory import ImportanceParts, MemoryEntry
from noodlings.values.percept import Kind
from tests.fakes import FakeAgent, FakeSociety
from tests.memory.entries import an_entry

ADMIN = Caller("user_root", "root", Role.ADMIN)
ANN, BOB = Caller("user_ann", "ann"), Caller("user_bob", "bob")
DAY = 86_400.0


def said(number: int, text: str, day: int = 0, **changes: object) -> MemoryEntry:
    given = {
        "user_id": "user_ann",
        "timestamp": day * DAY + number,
        "encoded_importance": 0.8,
        "parts": ImportanceParts(addressed=1.0),
    }
    return an_entry(number, user_text=text, **(given | changes))


def asking(*entries: MemoryEntry) -> Inspector:
    """Phi, who heard these."""
    society = FakeSociety(store=MemoryStore(), people={"user_ann": "Ann", "user_bob": "Bob"})
    agent = society.add(FakeAgent())
    society.store.commit(Changes("phi", added=entries))
    agent.memory.restore((), (), len(entries), 0, len(entries))
    society.clock.set(10 * DAY)
    return Inspector(society)


async def test_each_sentence_of_a_day_rests_on_memories() -> None:
    inspector = asking(
        said(1, "hello", encoded_importance=0.1),
        said(2, "my dog died", affect=Affect(-0.8, 0.6, 0.1, 0.9, 0.1)),
        said(3, "nice weather", encoded_importance=0.2),
        said(4, "I got the job", user_id="user_bob"),
        said(5, "a bell rings", kind=Kind.EVENT, user_id="user_bob"),
    )
    (day,) = (await inspector.journal(ADMIN, "phi")).days
    assert (day.day, day.perceived) == ("1970-01-01", 5)
    assert [(one.text, one.evidence) for one in day.sentences] == [
        ("I talked with Ann and Bob.", (1, 4)),
        ('Ann told me: "my dog died". I felt sorrowful.', (2,)),
        ('Bob told me: "I got the job".', (4,)),
        ('This happened while Bob was there: "a bell rings".', (5,)),
    ]


async def test_what_was_said_again_is_told_once_and_questions_are_not() -> None:
    inspector = asking(said(1, "my dog died"), said(2, "My dog died!"), said(3, "did my dog die?"))
    (day,) = (await inspector.journal(ADMIN, "phi")).days
    assert [one.text for one in day.sentences] == [
        "I talked with Ann.",
        'Ann told me: "My dog died!", twice.',
    ]
    assert day.sentences[1].evidence == (1, 2)


async def test_what_is_denied_was_not_said_again() -> None:
    inspector = asking(said(1, "I'm afraid of flying"), said(2, "I'm not afraid of flying any more"))
    (day,) = (await inspector.journal(ADMIN, "phi")).days
    assert [one.evidence for one in day.sentences[1:]] == [(1,), (2,)]


async def test_days_come_the_latest_first_in_pages() -> None:
    inspector = asking(*(said(n, f"I saw {n} geese", day=n // PAGE) for n in range(1, 4 * PAGE)))
    first = await inspector.journal(ADMIN, "phi", limit=3)
    assert [day.day[-2:] for day in first.days] == ["04", "03", "02"]
    assert first.more
    last = await inspector.journal(ADMIN, "phi", limit=3, offset=3)
    assert [day.day[-2:] for day in last.days] == ["01"]
    assert not last.more
    whole = await inspector.journal(ADMIN, "phi")
    assert [day.day for day in whole.days] == [day.day for day in (*first.days, *last.days)]
    assert sum(day.perceived for day in whole.days) == 4 * PAGE - 1


async def test_one_day_is_read_alone() -> None:
    inspector = asking(*(said(n, "I saw geese", day=n) for n in (1, 2, 3)))
    (day,) = (await inspector.journal(ADMIN, "phi", "1970-01-03")).days
    assert day.sentences[-1].evidence == (2,)
    assert (await inspector.journal(ADMIN, "phi", "1970-02-01")).days == ()


async def test_a_day_may_be_typed_without_its_zeros() -> None:
    inspector = asking(said(1, "I saw geese", day=4))
    assert await inspector.journal(ADMIN, "phi", "1970-1-5") == await inspector.journal(
        ADMIN, "phi", "1970-01-05"
    )


@pytest.mark.parametrize(
    "day", ["yesterday", "1970-13-01", "1970-02-30", "", "01.01.1970", "[bold]", "19700101", "1970-W01-5"]
)
async def test_what_is_no_day_is_refused(day: str) -> None:
    with pytest.raises(UserError, match="There is no such day"):
        await asking().journal(ADMIN, "phi", day)


async def test_a_player_reads_what_it_told_alone() -> None:
    inspector = asking(
        said(1, "my dog died"),
        said(2, "I embezzled the zorkmids", user_id="user_bob", audience=confined_to({"user_bob", "phi"})),
        said(3, "I dreamt of zorkmids", user_id="phi", kind=Kind.THOUGHT),
    )
    whole = await inspector.journal(ADMIN, "phi")
    assert "Bob told me when we were alone" in json.dumps(whole.as_dict())
    assert [one.private for one in whole.days[0].sentences] == [True, False, True, True]
    own = await inspector.journal(ANN, "phi")
    assert own.hidden == 2
    shown = json.dumps(own.as_dict())
    assert "zorkmids" not in shown
    assert "Bob" not in shown
    theirs = json.dumps((await inspector.journal(BOB, "phi")).as_dict())
    assert "embezzled" in theirs
    assert "dreamt" not in theirs


async def test_what_was_only_said_alone_was_not_told_in_confidence() -> None:
    alone = confined_to({"user_ann", "phi"})
    inspector = asking(
        said(1, "why did the dragon sleep all day", audience=alone),
        said(2, "keep it to yourself, I owe the baker", audience=alone),
        said(3, "my name is Ada", audience=alone, kind=Kind.WHISPER),
        said(4, "I am ill", audience=alone.at_least(Tier.SECRET)),
        said(5, "pours tea", audience=alone, kind=Kind.EMOTE),
        said(6, "I sold the boat", audience=confined_to({"user_ann", "user_bob", "phi"})),
    )
    (day,) = (await inspector.journal(ADMIN, "phi")).days
    how = [one.text.partition(": ")[0].removeprefix("Ann ") for one in day.sentences[1:]]
    assert how == [
        "told me when we were alone",
        *["told me in confidence"] * 3,
        "did this when we were alone",
        "told me in confidence",
    ]


async def test_markup_and_control_characters_stay_words() -> None:
    inspector = asking(said(1, 'a "quoted" [bold]word\x1b[31m'))
    (day,) = (await inspector.journal(ADMIN, "phi")).days
    assert day.sentences[-1].text.startswith("Ann told me: \"a 'quoted' [bold]word")
    assert "\x1b" not in day.sentences[-1].text


async def test_a_crowd_is_counted() -> None:
    inspector = asking(
        *(said(n, "good day", user_id=f"user_{n}", encoded_importance=0.1) for n in range(1, 10))
    )
    (day,) = (await inspector.journal(ADMIN, "phi")).days
    assert day.sentences[0].text.endswith("and 3 others.")


async def test_memories_that_came_later_than_they_happened_stand_on_their_own_day() -> None:
    times = {1: 0.0, 2: 1.0, 3: 3.0, 4: 1.0, 5: 4.0}
    inspector = asking(*(said(n, f"I saw {n} geese", timestamp=day * DAY + n) for n, day in times.items()))
    agent = inspector._society.agents["phi"]
    store = inspector._society.store
    agent.archive = AgentArchive("phi", store, EmbeddingQueue(None, idle=True), perceived=len(times))
    assert not agent.archive.loaded  # as after a start
    days = (await inspector.journal(ADMIN, "phi", limit=3)).days
    assert [(day.day[-2:], day.perceived) for day in days] == [("05", 1), ("04", 1), ("02", 2)]
    (fourth,) = (await inspector.journal(ADMIN, "phi", "1970-01-04")).days
    assert fourth.sentences[-1].evidence == (3,)


async def test_what_was_kept_as_mattering_is_told() -> None:
    cracked = said(1, "the screen of my laptop cracked", encoded_importance=0.33)
    inspector = asking(cracked, said(2, "hello", encoded_importance=0.17))
    (day,) = (await inspector.journal(ADMIN, "phi")).days
    assert [one.evidence for one in day.sentences] == [(1,), (1,)]
    # A player sees figures in steps of a quarter, so that theirs tell nothing of what others said.
    assert [one.evidence for one in (await inspector.journal(ANN, "phi")).days[0].sentences] == [(1,)]


async def test_a_long_day_is_told_while_others_go_on_and_without_what_they_forget() -> None:
    talk = (said(number, f"a line about {number} boats") for number in range(3, PAGE + 4))
    important = {"encoded_importance": 0.9}
    inspector = asking(
        said(1, "I am afraid of geese", **important), said(2, "I love marzipan", **important), *talk
    )
    society = inspector._society

    async def forget() -> None:
        society.store.forget("phi", [1], by_user="user_ann", timestamp=5.0)
        society.agents["phi"].forgettings += 1

    view, _ = await asyncio.gather(inspector.journal(ADMIN, "phi"), forget())
    told = " ".join(one.text for one in view.days[0].sentences)
    assert ("geese" in told, "marzipan" in told) == (False, True)
