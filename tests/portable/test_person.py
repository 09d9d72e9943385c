"""A person is found by what is theirs alone, shown what is kept of them, and gone when they want to be."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from api.audit import auditing_to, note
from noodlings.agent.society import Society
from noodlings.cli.person import shown_end, shown_report
from noodlings.clock import ManualClock
from noodlings.config import BudgetSettings, Settings
from noodlings.errors import Forbidden, NotFound, StoreError, UserError
from noodlings.host.visit import opened, rooms_of
from noodlings.ingest.pipeline import Pipeline
from noodlings.ingest.sources.talk import talk
from noodlings.llm.token_budget import KEY, TokenBudget
from noodlings.notes.notebook import FOLDER_NAME
from noodlings.portable import person
from noodlings.portable.export import export
from noodlings.portable.intake import check, take_in
from noodlings.portable.person import (
    PersonForgotten,
    PersonReport,
    export_person,
    find_person,
    forget_person,
    report,
)
from noodlings.portable.remains import Marks, Remains, strike_out
from noodlings.ports import Changes
from noodlings.store.cipher import UserKey
from noodlings.store.database import Database
from noodlings.store.sql import SqlStore
from noodlings.store.transfer import snapshot
from noodlings.store.vault import Encryption
from noodlings.values.audience import Tier
from noodlings.values.caller import Caller, Role, past_id_of, user_id_of
from noodlings.values.circumstances import NOTHING
from noodlings.values.ingested_record import IngestedRecord
from noodlings.values.memory import circumstances_of, hearsay, tags_of, written_by
from noodlings.values.percept import Kind, Percept
from noodlings.worlds.accounts import Accounts
from tests.api.serving import environment
from tests.fakes import ALL_CIRCUMSTANCES
from tests.program import ran

pytestmark = pytest.mark.slow

ADMIN = Caller("api_admin", "admin", Role.ADMIN)
CAITY, BOB, ACCOUNT = "user_caity", "user_bob", "account:caity"
COUNTED = ("memories", "answers", "traces", "symbols", "links", "notes", "facts", "heard")
THEIRS = ("zarnok", "vexilium", "plofting")


@contextmanager
def society_in(folder: Path) -> Iterator[Society]:
    settings = Settings(store={"path": str(folder)}, embedding={"model": "none"})
    with opened(settings, ManualClock(1e6)) as society:
        yield society


async def told(society: Society, text: str, user: str = CAITY, agent: str = "phi", **more: object) -> int:
    now = society.clock.now() + 60.0
    assert isinstance(society.clock, ManualClock)
    society.clock.advance(60.0)
    made = Percept(user, text, now, addressed=True, **more)  # type: ignore[arg-type]
    return (await society.perceive(agent, made)).entry_id


async def an_evening(folder: Path) -> None:
    """Caity tells three characters of hers, Bob of his; files hold lines about her."""
    accounts = Accounts(folder)
    accounts.create("Caity", "a long password")
    with society_in(folder) as society:
        world = rooms_of(society)
        society.introduce(CAITY, "Caity")
        society.introduce(BOB, "Bob")
        world.enter(CAITY, "Caity", lambda line: None)
        both = frozenset({CAITY, BOB})
        await told(society, "My dog Zarnok died yesterday, I am heartbroken", present=both)
        await told(society, "I keep the vexilium under the bed", kind=Kind.WHISPER)
        await told(society, "what do you know of my dog Zarnok?", present=both)
        await told(society, "The plofting begins at noon", agent="servnak")
        await told(society, "I bake bread on Sundays", BOB, present=both)
        await told(society, "I baked more bread than ever", BOB, "servnak")
        world.leave(CAITY)
        await world.settle()
        await society.rest(5.0)
        await world.close()
    accounts.join("Caity", CAITY)
    (folder / "history").write_text("\n# 2026-11-25\n+whisper phi my vexilium\n\n# 2026-11-25\n+look\n")
    (folder / "refused.log").write_text('{"user": "user_caity"}\n{"user": "user_bob"}\n')
    with auditing_to(folder):
        for user in (CAITY, BOB):
            note(at=1.0, role="player", user=user, address="10.0.0.1", method="POST", path="/x", status=200)


def everything(folder: Path) -> str:
    return "\n".join(
        path.read_bytes().decode("utf-8", "ignore").casefold() for path in folder.rglob("*") if path.is_file()
    )


async def test_what_is_kept_of_a_person_is_counted_and_no_word_of_it_is_shown(tmp_path: Path) -> None:
    await an_evening(tmp_path)
    with society_in(tmp_path) as society:
        kept = report(society, find_person(society, "Caity"))
    assert kept.ids == (ACCOUNT, CAITY)
    assert kept.accounts == {"Caity": "player"}
    assert kept.introduced == ("Caity",)
    assert len(kept.places) == 1
    assert {"phi", "servnak"} <= kept.characters.keys()
    phi = kept.characters["phi"]
    assert phi["memories"] == phi["traces"] >= 3
    assert min(phi["links"], phi["facts"], phi["notes"], phi["symbols"], phi["answers"]) > 0
    assert {"history", "audit.log", "refused.log", "noodlings.log"} <= kept.lines.keys()
    assert kept.lines["audit.log"] == 1
    assert not [word for word in THEIRS if word in str(kept).casefold()]


async def test_a_name_with_control_characters_is_nobodys(tmp_path: Path) -> None:
    with society_in(tmp_path) as society:
        society.introduce("user_", "Nobody")
        society.introduce(BOB, "Bob")
        for name in ("\0", " ", "user_bo\0b", "Bo\x1bb"):
            with pytest.raises(NotFound):
                find_person(society, name)
        assert find_person(society, " Bob ").ids == (BOB,)


async def test_whoever_plays_at_the_terminal_is_me(tmp_path: Path) -> None:
    with society_in(tmp_path) as society:
        traveller = user_id_of(society.settings.world.player)
        with pytest.raises(NotFound):
            find_person(society, "me")
        await told(society, "I mend nets", traveller)
        assert find_person(society, "me").ids == (traveller,)


async def test_the_export_holds_what_they_told_and_were_answered_and_nothing_of_others(
    tmp_path: Path,
) -> None:
    await an_evening(tmp_path)
    lines: list[str] = []
    with society_in(tmp_path) as society:
        count = export_person(society, find_person(society, CAITY), lines.append)
    head, *entries = map(json.loads, lines)
    assert head["format"] == "noodlings-person"
    assert set(head["ids"]) == {ACCOUNT, CAITY}
    assert len(entries) == count
    assert {entry["user_id"] for entry in entries} == {CAITY}
    assert all(word in "".join(lines).casefold() for word in THEIRS)
    assert any(entry["response"] for entry in entries)
    assert "bread on sundays" not in "".join(lines).casefold()


async def test_what_is_sealed_leaves_without_its_words_and_stays_sealed_when_a_witness_goes(
    tmp_path: Path,
) -> None:
    settings = Settings(
        store={"path": str(tmp_path), "key": UserKey(bytes(32)).text}, embedding={"model": "none"}
    )
    lines: list[str] = []
    with opened(settings, ManualClock(1e6)) as society:
        both = frozenset({CAITY, BOB})
        kept = await told(society, "my name is Zuleika", kind=Kind.WHISPER, tier=Tier.SEALED, place="cellar")
        secret = await told(society, "the gold lies here", BOB, present=both, tier=Tier.SECRET)
        assert export_person(society, find_person(society, CAITY), lines.append) == 1
        forget_person(society, ADMIN, find_person(society, CAITY))
        left = society.store.entries("phi", [kept, secret])
    assert "Zuleika" not in "".join(lines)
    assert json.loads(lines[-1])["sealed"] is True
    assert "cellar" not in "".join(lines)
    assert list(left) == [secret]
    assert left[secret].tier is Tier.SECRET
    assert CAITY not in left[secret].audience.witnesses


async def test_whoever_is_forgotten_is_in_no_file_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await an_evening(tmp_path)
    before = everything(tmp_path)
    erased, erase = [], Database.erase
    monkeypatch.setattr(Database, "erase", lambda self: erased.append(self) or erase(self))
    assert all(word in before for word in (*THEIRS, CAITY))
    with society_in(tmp_path) as society, auditing_to(tmp_path):
        done = forget_person(society, ADMIN, find_person(society, "caity"))
        logging.getLogger("noodlings").warning("the log is written on")
        with pytest.raises(NotFound):
            find_person(society, "caity")
        assert society.agents["phi"].memory.retrieve_working()[-1].user_id == BOB
    assert done.memories >= 4
    assert done.erased
    assert len(erased) == 1  # of all characters together
    assert done.remains.words >= len(THEIRS)
    assert done.remains.found == {}
    assert done.lines["audit.log"] == 1
    after = everything(tmp_path)
    assert [word for word in (*THEIRS, CAITY, ACCOUNT, "heartbroken") if word in after] == []
    assert "bread on sundays" in after
    assert "the log is written on" in (tmp_path / "noodlings.log").read_text()
    audit = [json.loads(line) for line in (tmp_path / "audit.log").read_text().splitlines()]
    assert [line["user"] for line in audit] == ["[forgotten]", BOB]
    assert [line["address"] for line in audit] == ["[forgotten]", "10.0.0.1"]
    assert (tmp_path / "refused.log").read_text() == '{"user": "user_bob"}\n'
    assert "+look" in (tmp_path / "history").read_text()
    assert (tmp_path / "audit.log").stat().st_mode & 0o777 == 0o600


async def test_whoever_heard_an_answer_to_them_forgets_it_too(tmp_path: Path) -> None:
    with society_in(tmp_path) as society:
        both = frozenset({CAITY, "servnak"})
        await told(society, "My dog Zarnok died yesterday", present=both)
        (answer,) = society.store.traces("phi", 1)
        await told(society, answer.response or "", "phi", "servnak", present=both, depth=1)
        await told(society, "I bake bread", "phi", "servnak", present=both, depth=1)
        forget_person(society, ADMIN, find_person(society, CAITY))
        assert [entry.user_text for entry in society.store.archive("servnak")] == ["I bake bread"]


async def test_an_answer_to_them_goes_also_where_it_was_corrected(tmp_path: Path) -> None:
    with society_in(tmp_path) as society:
        await told(society, "My dog is dead")
        answer = society.store.traces("phi")[0].response or ""
        assert answer
        heard = await told(society, answer, "phi", "servnak", depth=1, data={"hearsay": []})
        made = society.corrections.correct(ADMIN, "servnak", heard, f"{answer} Zarnok").id
        society.corrections.correct(ADMIN, "servnak", made, f"{answer} Vexilium")
        forget_person(society, ADMIN, find_person(society, CAITY))
        assert not society.store.archive("servnak")


async def test_what_others_told_of_them_goes_and_they_were_no_witness(tmp_path: Path) -> None:
    with society_in(tmp_path) as society:
        await told(society, "Caity's dog is dead", "phi", "servnak", data={"hearsay": [[CAITY]]}, depth=1)
        await told(society, "The mill is sold", BOB, "servnak", present=frozenset({CAITY}))
        kept = report(society, find_person(society, CAITY)) if society.names().get(CAITY) else None
        assert kept is None
        await told(society, "hello", CAITY, "servnak")
        person = find_person(society, CAITY)
        assert report(society, person).characters["servnak"]["heard"] == 1
        forget_person(society, ADMIN, person)
        (mill,) = society.store.archive("servnak")
        assert mill.audience.witnesses == {BOB, "servnak"}
        assert society.store.traces("servnak", 1)[0].audience.witnesses.isdisjoint({CAITY})
        assert hearsay(mill) == ()


async def test_whoever_only_listened_can_be_forgotten_and_whoever_comes_then_was_not_there(
    tmp_path: Path,
) -> None:
    with society_in(tmp_path) as society:
        before = frozenset({CAITY})
        await told(society, "Between us, the mill is sold", BOB, present=before)
        person = find_person(society, CAITY)
        assert (person.ids, report(society, person).characters) == ((CAITY,), {})
        forget_person(society, ADMIN, person)
        assert CAITY not in str([society.store.archive("phi"), society.store.traces("phi"), society.names()])
        with pytest.raises(NotFound):
            find_person(society, CAITY)
        await told(society, "what of the mill?", CAITY)
        assert "sold" not in str(society.store.traces("phi"))


async def test_what_others_told_of_them_is_in_no_log_in_any_script(tmp_path: Path) -> None:
    with society_in(tmp_path) as society:
        await told(society, "我把祖母的金子埋在教堂底下")
        await told(society, "听说金子埋在教堂底下", "phi", "servnak", data={"hearsay": [[CAITY]]}, depth=1)
        log = tmp_path / "noodlings.log"
        assert "听说金子" not in log.read_text("utf-8")
        with log.open("a", encoding="utf-8") as former:  # logs of before quote it
            former.write("added to working: phi: 听说金子埋在教堂底下\n")
        forget_person(society, ADMIN, find_person(society, CAITY))
        assert "教堂" not in log.read_text("utf-8")


async def test_what_was_thought_of_their_words_is_in_no_log(tmp_path: Path) -> None:
    with society_in(tmp_path) as society:
        number = await told(society, "I buried a gold bar below the old bandstand in Quell")
        thought = await society.agents["phi"]._follow_up.ruminate(society.clock.now() + 60.0)
        assert thought is not None
        (kept,) = society.store.entries("phi", [thought.entry_id]).values()
        assert "bandstand" in kept.user_text
        log = (tmp_path / "noodlings.log").read_text().splitlines()
        society.corrections.forget(Caller(CAITY, "caity"), "phi", [number])
        assert society.store.entries("phi", [thought.entry_id]) == {}
        forget_person(society, ADMIN, find_person(society, CAITY))
        assert "bandstand" not in (tmp_path / "noodlings.log").read_text()
    of_it = [line for line in log if f"(thought, memory {thought.entry_id})" in line]
    assert ["added to working" in of_it[0], "consolidated to episodic" in of_it[1]] == [True, True]


async def test_their_name_is_in_no_log_where_nothing_stands_between_words(tmp_path: Path) -> None:
    with society_in(tmp_path) as society:
        await told(society, "我怕狗", "user_小明")
        await told(society, "昨天看见小明在教堂", "user_ann")
        await told(society, "小明子很好", "user_ann")
        forget_person(society, ADMIN, find_person(society, "user_小明"))
        assert "小明" not in (tmp_path / "noodlings.log").read_text("utf-8")


async def test_whoever_forgot_their_own_lines_is_still_found_in_what_others_tell(tmp_path: Path) -> None:
    with society_in(tmp_path) as society:
        one = await told(society, "The mill is sold", "user_ann")
        await told(society, "The mill is sold", "phi", "servnak", data={"hearsay": [["user_ann"]]}, depth=1)
        society.corrections.forget(Caller("user_ann", "ann"), "phi", [one])
        two = await told(society, "I bake", BOB)
        society.corrections.forget(Caller(BOB, "bob"), "phi", [two])
        await society.corrections.know(Caller("user_eve", "eve", Role.ADMIN), "phi", CAITY, "is a baker")
        for who in ("user_ann", BOB, "user_eve"):
            forget_person(society, ADMIN, find_person(society, who))
            with pytest.raises(NotFound):
                find_person(society, who)
        assert not society.store.archive("servnak")
        for nobody in ("", "user_zed"):
            with pytest.raises(NotFound):
                find_person(society, nobody)


ENCRYPTED = {"key": UserKey(bytes(32)).text, "encrypt": "all"}


@pytest.mark.parametrize("store", [{}, ENCRYPTED])
@pytest.mark.parametrize("moved", [True, False])
async def test_an_answer_to_them_goes_also_after_they_forgot_what_it_answers(
    tmp_path: Path, store: dict[str, str], moved: bool
) -> None:
    settings = Settings(store={"path": str(tmp_path / "one")} | store, embedding={"model": "none"})
    with opened(settings, ManualClock(1e6)) as society:
        both = frozenset({CAITY, BOB, "servnak"})
        await told(society, "My name is Quornella", present=both)
        (answer,) = society.store.traces("phi", 1)
        assert "quornella" in (answer.response or "")
        heard = await told(society, answer.response or "", "phi", "servnak", present=both, depth=1)
        for agent in ("phi", "servnak"):
            society.corrections.forget_user(Caller(CAITY, "caity"), agent, CAITY)
        assert not tags_of(society.store.entries("servnak", [heard])[heard])
        society.write_notes()
        assert "hearsay_of" not in everything(tmp_path / "one" / FOLDER_NAME)
    if moved:
        lines = list[str]()
        with snapshot(settings.database, Encryption.of(settings.store)) as kept:
            export(kept, kept.agents(), lines.append)
        settings = Settings(store={"path": str(tmp_path / "two")} | store, embedding={"model": "none"})
        file = io.BytesIO("".join(lines).encode())
        with closing(SqlStore(settings.database, encryption=Encryption.of(settings.store))) as into:
            take_in(file, check(file, lambda number: None).agents, into, lambda number: None)
    with opened(settings, ManualClock(1e6)) as society:
        person = find_person(society, CAITY)
        assert report(society, person).characters["servnak"]["heard"] == 1
        forget_person(society, ADMIN, person)
        assert society.store.archive("servnak") == []
        with pytest.raises(NotFound):
            find_person(society, CAITY)


async def test_a_deletion_that_is_broken_off_is_finished_when_it_is_asked_for_again(tmp_path: Path) -> None:
    both, done = frozenset({CAITY, BOB}), list[object]()

    def change(step: Callable[[], object]) -> object:
        if done:
            raise StoreError("the power is cut")
        done.append(step())
        return done[0]

    with society_in(tmp_path) as society:
        await told(society, "My name is Quornella", agent="maren", present=both)
        (answer,) = society.store.traces("maren", 1)
        assert "Quornella" in (answer.response or "")
        await told(society, answer.response or "", "maren", "servnak", present=both, depth=1)
        await told(society, "The plofting begins at noon", agent="servnak")
        with pytest.raises(StoreError, match="power"):
            forget_person(society, ADMIN, find_person(society, CAITY), change)
        assert society.store.archive("maren") == []
        assert len(society.store.archive("servnak")) == 2
    with society_in(tmp_path) as society:
        forget_person(society, ADMIN, find_person(society, CAITY))
        assert society.store.archive("servnak") == []


@pytest.mark.parametrize("store", [{}, ENCRYPTED])
async def test_nothing_says_any_more_what_they_did(tmp_path: Path, store: dict[str, str]) -> None:
    settings = Settings(store={"path": str(tmp_path)} | store, embedding={"model": "none"})
    caity, both = Caller(CAITY, "Caity", Role.ADMIN), frozenset({CAITY, BOB})
    with opened(settings, ManualClock(1e6)) as society:
        known = await society.corrections.know(caity, "phi", BOB, "is a wizard")
        await society.corrections.know(ADMIN, "phi", BOB, "is old")
        await told(society, "My brother was killed, I am heartbroken!", BOB, present=both, kind=Kind.WHISPER)
        mill = await told(society, "The mill is sold", BOB)
        await told(society, "hello", CAITY)
        await society.rest(5.0)
        society.corrections.forget(caity, "phi", [mill])
        done = forget_person(society, ADMIN, find_person(society, CAITY))
        facts = [one for one in society.store.archive("phi") if written_by(one)]
        assert [written_by(one) for one in facts] == ["[forgotten]", ADMIN.user_id]
        kept = society.agents["phi"].entry(known.id)
        assert kept is not None
        assert written_by(kept) == "[forgotten]"
    assert done.remains.found == {}
    assert CAITY not in everything(tmp_path)


@pytest.mark.parametrize("store", [{}, ENCRYPTED])
@pytest.mark.parametrize("who", [BOB, "Bob"])
async def test_what_others_observed_of_them_goes_by_id_and_name(
    tmp_path: Path, store: dict[str, str], who: str
) -> None:
    settings = Settings(store={"path": str(tmp_path)} | store, embedding={"model": "none"})
    given = ALL_CIRCUMSTANCES | {
        "emotions": [{"who": who, "emotion": "fear"}, *ALL_CIRCUMSTANCES["emotions"]]
    }
    with opened(settings, ManualClock(1e6)) as society:
        society.introduce(BOB, "Bob")
        entry_id = await told(
            society, "The mill burned down", data={"circumstances": given, "weather": "rain"}
        )
        await told(society, "I bake bread on Sundays", BOB)
        await society.rest(5.0)
        done = forget_person(society, ADMIN, find_person(society, BOB))
        alive, kept = (
            society.agents["phi"].entry(entry_id),
            society.store.entries("phi", [entry_id])[entry_id],
        )
        assert alive is not None
        assert alive.extra == kept.extra
    assert done.remains.found == {}
    assert "bob" not in str(kept.extra).casefold()
    known = circumstances_of(kept)
    assert known.as_data()["circumstances"] == ALL_CIRCUMSTANCES | {
        "emotions": [ALL_CIRCUMSTANCES["emotions"][2]],
        "inferences": ["the mill is old"],
    }
    assert kept.extra["data"]["weather"] == "rain"
    assert BOB not in everything(tmp_path)


@pytest.mark.parametrize("store", [{}, ENCRYPTED])
@pytest.mark.parametrize("who", [BOB, "Bob"])
async def test_what_waits_and_observes_them_goes_and_does_not_come_back(
    tmp_path: Path, store: dict[str, str], who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(store={"path": str(tmp_path)} | store, embedding={"model": "none"})
    log = tmp_path / "log.jsonl"
    felt = {"emotions": [{"who": who, "emotion": "fear", "known_from": "seen"}]}
    seen = {"inferences": [f"the zarnok is {who}'s"], "mood": {who: "zarnok"}}
    rows = [
        {"id": number, "user": "Cy", "text": text, "version": 99, "circumstances": known}
        for number, (text, known) in enumerate(
            (("the mill burned", felt), ("the barn, too", seen), ("it rains", {"where": "the zoo"}))
        )
    ]
    content = "\n".join(map(json.dumps, rows))
    with opened(settings, ManualClock(1e6)) as society:
        pipeline = Pipeline(society.agents["phi"], society.store, society.introduce_all, undated=1e6)
        log.write_text(content)
        assert pipeline.run(talk(log)).parked == 3
        log.unlink()
        society.introduce(BOB, "Bob")
        person = find_person(society, BOB)
        assert report(society, person).characters["phi"]["waiting"] == 2
        assert forget_person(society, ADMIN, person).remains.found == {}
        assert [one.record["text"] for one in society.store.parked("phi") if one.record] == ["it rains"]
        monkeypatch.setattr("noodlings.ingest.record.VERSION", 99)
        log.write_text(content)
        pipeline.run(talk(log))
        pipeline.retry()
        log.unlink()
        assert [entry.user_text for entry in society.store.archive("phi")] == ["it rains"]
    assert "zarnok" not in everything(tmp_path)
    assert BOB not in everything(tmp_path)


async def test_whoever_is_called_like_an_ordinary_word_takes_nothing_of_others_along(tmp_path: Path) -> None:
    felt = {"who": BOB, "emotion": "joy", "known_from": "seen", "evidence": "he jumped for joy"}
    others = {"emotions": [felt], "inferences": ["he will need a doctor"]}
    theirs = {"emotions": [{"who": "joy", "emotion": "fear"}], "inferences": ["Joy's mill is old", "JOY!"]}
    lower = {"inferences": ["the barn is joy's", "it will rain"]}
    with society_in(tmp_path) as society:
        ids = [
            await told(society, text, BOB, data={"circumstances": given})
            for text, given in (("I won", others), ("I lost", theirs), ("the race was long", lower))
        ]
        waiting = (others, {"mood": "it will", "joy": 0.5}, {"inferences": ["Will drowned"]}, {"who": "joy"})
        for number, given in enumerate(waiting):
            document = {"text": "A race", "version": 99, "circumstances": given}
            record = IngestedRecord("log", str(number), "d", None, BOB, 1, "newer", document)
            society.agents["phi"].keep_told([record], [])
        for who in ("Joy", "Will"):
            society.introduce(f"user_{who.lower()}", who)
            forget_person(society, ADMIN, find_person(society, f"user_{who.lower()}"))
        kept = [circumstances_of(society.store.entries("phi", [one])[one]) for one in ids]
        assert kept[0].as_data()["circumstances"] == others
        assert kept[1:] == [NOTHING, replace(NOTHING, inferences=("it will rain",))]
        assert [one.id for one in society.store.parked("phi")] == ["0", "1"]


@pytest.mark.parametrize(
    ("emotion", "stays"),
    [
        ("fear of Joy", False),
        ("jealous of user_joy", False),
        ("Zarnok_love", True),
        ("in love with _Zarnok_", False),
        ("joy", True),
        ("joy without end", True),
        ("JOY", False),
    ],
)
async def test_an_emotion_goes_whose_words_name_somebody(tmp_path: Path, emotion: str, stays: bool) -> None:
    given = {"emotions": [{"who": BOB, "emotion": emotion, "known_from": "seen"}]}
    with society_in(tmp_path) as society:
        entry_id = await told(society, "I won", BOB, data={"circumstances": given})
        document = {"text": "A race", "version": 99, "circumstances": given}
        record = IngestedRecord("log", "1", "d", None, BOB, 1, "newer", document)
        society.agents["phi"].keep_told([record], [])
        society.introduce("user_joy", "Joy")
        society.introduce("user_nok", "Zarnok")
        for who in ("user_joy", "user_nok"):
            forget_person(society, ADMIN, find_person(society, who))
        kept = circumstances_of(society.store.entries("phi", [entry_id])[entry_id])
        assert kept.as_data() == ({"circumstances": given} if stays else {})
        assert bool(society.store.parked("phi")) is stays


async def test_a_feeling_in_small_letters_is_nobody_where_all_letters_are_small(tmp_path: Path) -> None:
    given = {"emotions": [{"who": BOB, "emotion": "joy", "known_from": "seen"}]}
    with society_in(tmp_path) as society:
        entry_id = await told(society, "i won", BOB, data={"circumstances": given})
        society.introduce("user_joy", "Joy")
        forget_person(society, ADMIN, find_person(society, "user_joy"))
        kept = circumstances_of(society.store.entries("phi", [entry_id])[entry_id])
        assert kept.as_data() == {"circumstances": given}


async def test_somebody_who_is_known_from_what_waits_alone_is_found(tmp_path: Path) -> None:
    felt = {"emotions": [{"who": "account:dora", "emotion": "joy"}]}
    with society_in(tmp_path) as society:
        record = IngestedRecord("log", "1", "d", None, "past:cy", 1, "newer", {"circumstances": felt})
        society.agents["phi"].keep_told([record], [])
        forget_person(society, ADMIN, find_person(society, "account:dora"))
        assert society.store.parked("phi") == []
    assert "dora" not in everything(tmp_path)


async def test_somebody_of_whom_no_more_is_known_than_what_they_felt_is_found(tmp_path: Path) -> None:
    with society_in(tmp_path) as society:
        felt = {"emotions": [{"who": "account:dora", "emotion": "joy"}]}
        entry_id = await told(society, "The fair was merry", data={"circumstances": felt})
        forget_person(society, ADMIN, find_person(society, "account:dora"))
        assert circumstances_of(society.store.entries("phi", [entry_id])[entry_id]) == NOTHING


async def test_an_id_that_stays_is_named_with_where_it_is(tmp_path: Path) -> None:
    await an_evening(tmp_path)
    (tmp_path / "my notes.txt").write_text("user_caity was here, and user_caityx was not")
    event = "INSERT INTO events VALUES (NULL, 'nobody', 1.0, 'forget', 'user_caity', 1)"
    with society_in(tmp_path) as society:
        with closing(sqlite3.connect(tmp_path / "noodlings.db")) as database, database:
            database.execute(event)
        assert forget_person(society, ADMIN, find_person(society, CAITY)).remains.found == {
            "my notes.txt": 1,
            "events": 1,
        }


async def test_what_waits_of_them_to_be_taken_in_goes_too(tmp_path: Path) -> None:
    with society_in(tmp_path) as society:
        record = IngestedRecord("log", "1", "d", None, CAITY, 1, "no room", {"text": "the zarnok"})
        await told(society, "The mill is sold", BOB)
        society.agents["phi"].keep_told([record], [])
        society.introduce(CAITY, "Caity")
        person = find_person(society, CAITY)
        assert report(society, person).characters == {"phi": {**dict.fromkeys(COUNTED, 0), "waiting": 1}}
        forget_person(society, ADMIN, person)
        assert society.store.parked("phi") == []
    assert "zarnok" not in everything(tmp_path)


async def test_what_was_first_read_as_somebody_elses_goes_too(tmp_path: Path) -> None:
    with society_in(tmp_path) as society:
        pipeline = Pipeline(society.agents["phi"], society.store, society.introduce_all, undated=1e6)
        for who, text in (("Bob", "Zarnok, the first"), ("Bobby", "Zarnok"), ("Caity", "Zarnok")):
            log = tmp_path / "log.jsonl"
            rows = (
                {"user": who, "text": text, "id": 1},
                {"user": "Bob", "text": "the mill is sold", "id": 2},
            )
            log.write_text("\n".join(map(json.dumps, rows)))
            pipeline.run(talk(log))
            log.unlink()
        assert forget_person(society, ADMIN, find_person(society, "Caity")).memories == 3
        assert society.store.told_by("phi", past_id_of("bob"))
    assert "zarnok" not in everything(tmp_path)
    assert "the mill is sold" in everything(tmp_path)


async def test_a_name_of_several_is_no_identity(tmp_path: Path) -> None:
    Accounts(tmp_path).create("Caity", "a long password")
    with society_in(tmp_path) as society:
        await told(society, "hello there")
        society.introduce(CAITY, "Caity")
        with pytest.raises(UserError, match="account:caity, user_caity"):
            find_person(society, "caity")
        assert find_person(society, CAITY).ids == (CAITY,)
        assert find_person(society, ACCOUNT).ids == (ACCOUNT,)
        with pytest.raises(UserError, match="is a character"):
            find_person(society, "phi")
        with pytest.raises(NotFound, match="anybody called zoe"):
            find_person(society, "zoe")
        with pytest.raises(Forbidden):
            forget_person(society, Caller(CAITY, "caity"), find_person(society, CAITY))


async def test_words_that_stay_are_named_with_the_file_they_are_in(tmp_path: Path) -> None:
    await an_evening(tmp_path)
    (tmp_path / "my notes.txt").write_text("Zarnok and the vexilium")
    (tmp_path / "old.jsonl").write_text('{"format": "noodlings-export", "version": 1}\nzarnok\n')
    with society_in(tmp_path) as society:
        person = find_person(society, CAITY)
        with (tmp_path / "hers.jsonl").open("w") as file:
            export_person(society, person, file.write)
        done = forget_person(society, ADMIN, person)
    assert done.remains.found == {"my notes.txt": 2}
    assert done.remains.copies == ("hers.jsonl", "old.jsonl")


async def test_a_log_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    await an_evening(tmp_path)
    with society_in(tmp_path) as society:
        person = find_person(society, CAITY)
        (tmp_path / "history.part").mkdir()  # where it would be written aside
        with pytest.raises(StoreError, match="nothing is forgotten yet"):
            forget_person(society, ADMIN, person)
        (tmp_path / "history.part").rmdir()
        assert forget_person(society, ADMIN, find_person(society, CAITY)).remains.found == {}
    assert "vexilium" not in (tmp_path / "history").read_text()


async def test_the_command_line_shows_before_it_deletes(tmp_path: Path) -> None:
    await an_evening(tmp_path)
    env = environment()
    shown = ran("person", "caity", "--data", tmp_path, environment=env)
    assert shown.returncode == 0, shown.stderr
    assert b"memories of what they said and did\n" in shown.stdout
    asked = ran("person", "caity", "--forget", "--data", tmp_path, environment=env)
    assert b"add --yes" in asked.stdout
    saved = ran(
        "person", "caity", "--export", tmp_path.parent / "caity.jsonl", "--data", tmp_path, environment=env
    )
    assert b"exported" in saved.stdout, saved.stderr
    with society_in(tmp_path):
        busy = ran("person", "caity", "--forget", "--yes", "--data", tmp_path, environment=env)
        assert busy.returncode == 3
        assert b"DELETE /api/persons/caity?yes=true" in busy.stderr
        with_slash = ran("person", "mud/caity", "--forget", "--yes", "--data", tmp_path, environment=env)
        assert b"DELETE /api/persons/mud%2Fcaity?yes=true" in with_slash.stderr
    gone = ran("person", "caity", "--forget", "--yes", "--data", tmp_path, environment=env)
    assert b"none is left" in gone.stdout, gone.stderr + gone.stdout
    assert b"Deleted, of all characters together:\n" in gone.stdout
    assert re.search(rb"\n +\d+ memories: what they said and did", gone.stdout)
    assert ran("person", "caity", "--data", tmp_path, environment=env).returncode == 2


async def test_every_figure_of_a_report_is_said_in_words(tmp_path: Path) -> None:
    await an_evening(tmp_path)
    with society_in(tmp_path) as society:
        kept = report(society, find_person(society, CAITY))
    counts = kept.characters["phi"]
    shown = shown_report(replace(kept, characters={"phi": dict.fromkeys(counts, 7)}, lines={}))
    for words in ("answers to these", "records of how", "symbols made", "links between", "facts that"):
        assert f"        7 {words}" in shown
    assert shown.count("        7 ") == len(counts)


def test_what_is_left_of_a_person_is_said_in_words() -> None:
    kept = PersonReport(("user_caity",), "Caity", {}, 0, (), (), {}, {})
    remains = Remains(12, {"my notes.txt": 2}, ())
    done = PersonForgotten(1_234, 5, {"noodlings.log": 3, "audit.log": 4}, remains, True)
    assert shown_end(kept, done).splitlines() == [
        "Caity is forgotten. Deleted, of all characters together:",
        "    1,234 memories: what they said and did, what others told of them, answers to them that other"
        " characters heard, and what was still to be taken in",
        "        5 answers in other memories that repeated some of this",
        "  noodlings.log: 3 lines were deleted",
        "  audit.log: 4 lines no longer say who it was",
        "Then every file was searched for their ids, and for 12 uncommon words that only they had used:"
        " some are still there.",
        "How many of these are in which file or record:",
        "        2 in my notes.txt",
    ]


async def test_parts_of_an_answer_to_them_go_like_the_whole(tmp_path: Path) -> None:
    with society_in(tmp_path) as society:
        both = frozenset({CAITY, "servnak"})
        entry_id = await told(society, "My dog Zarnok died yesterday", present=both)
        (trace,) = society.store.traces("phi", 1)
        answer = "Zarnok sleeps now. *nods slowly* I will tell the watch about Zarnok."
        entry = replace(society.store.entries("phi", [entry_id])[entry_id], response=answer)
        society.store.commit(Changes("phi", updated=(entry,), trace=replace(trace, response=answer)))
        for line in (
            "Zarnok sleeps now.",
            "nods slowly",
            "I will tell the watch about Zarnok.",
            "I bake bread.",
        ):
            await told(society, line, "phi", "servnak", present=both, depth=1)
        forget_person(society, ADMIN, find_person(society, CAITY))
        assert [entry.user_text for entry in society.store.archive("servnak")] == ["I bake bread."]


async def test_an_answer_that_repeats_them_goes_whenever_it_was_handed_on(tmp_path: Path) -> None:
    with society_in(tmp_path) as society:
        assert isinstance(society.clock, ManualClock)
        entry_id = await told(society, "My dog Zarnok ran to the pier", present=frozenset({BOB}))
        (trace,) = society.store.traces("phi", 1)
        answer = "So your dog Zarnok ran to the pier."
        entry = replace(society.store.entries("phi", [entry_id])[entry_id], response=answer)
        said = replace(trace, response=answer, voice="llm", recalled=())
        society.store.commit(Changes("phi", updated=(entry,), trace=said))
        society.clock.advance(7 * 86_400.0)
        handed_on = await told(society, answer, "phi", "servnak", present=frozenset({BOB}), depth=1)
        assert "from:user_caity" in tags_of(society.store.entries("servnak", [handed_on])[handed_on])
        done = forget_person(society, ADMIN, find_person(society, CAITY))
        assert society.store.archive("servnak") == []
        assert done.remains.found == {}


@pytest.mark.parametrize("sourced", [True, False])
async def test_what_is_told_of_them_while_they_are_forgotten_goes_too(tmp_path: Path, sourced: bool) -> None:
    with society_in(tmp_path) as society:
        await told(society, "The keeper of the lighthouse is called Zarnok", present=frozenset({BOB}))
        loop, meanwhile = asyncio.get_running_loop(), list[str]()

        async def goes_on() -> None:
            await told(society, "what is the keeper of the lighthouse called?", BOB)
            (trace,) = society.store.traces("phi", 1)
            meanwhile.append(trace.response or "")
            more = {} if sourced else {"data": {"hearsay": []}}  # as where its source may not be named
            await told(society, meanwhile[0], "phi", "servnak", present=frozenset({BOB}), depth=1, **more)

        def change(step: Callable[[], object]) -> object:
            if not meanwhile:
                asyncio.run_coroutine_threadsafe(goes_on(), loop).result(20)
            return step()

        done = await asyncio.to_thread(forget_person, society, ADMIN, find_person(society, CAITY), change)
        assert "zarnok" in meanwhile[0]
        assert society.store.archive("servnak") == []
        assert "zarnok" not in everything(tmp_path)
        assert done.remains.found == {}


async def test_whoever_goes_on_being_told_of_is_said_to_be_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(person, "MOST_ROUNDS", 1)
    with society_in(tmp_path) as society:
        await told(society, "The keeper of the lighthouse is called Zarnok")
        with pytest.raises(StoreError, match="ask for it once more"):
            forget_person(society, ADMIN, find_person(society, CAITY))


async def test_what_they_spent_of_a_model_is_not_counted_under_their_name(tmp_path: Path) -> None:
    with society_in(tmp_path) as society:
        spent = TokenBudget(BudgetSettings(calls_per_hour=100), society.store)
        for user in (CAITY, BOB):
            await told(society, "The mill is sold", user)
            spent.spend(user, 0.0, calls=1)
        forget_person(society, ADMIN, find_person(society, CAITY))
        assert society.store.world_get(KEY) == {"hour": [0, 2, 0], "day": [0, 2, 0], "players": {BOB: [1, 0]}}
        spent.spend(CAITY, 0.0, tokens=5)  # a call that was under way
        spent.spend(BOB, 0.0, calls=1)
        assert society.store.world_get(KEY)["players"] == {BOB: [2, 0]}


def test_whoever_is_called_like_a_field_of_the_logs_takes_no_other_lines_with_them(tmp_path: Path) -> None:
    line = "2026-11-26 06:15:32,158 INFO    api.server: request=47b1874d user=user_bo\n"
    theirs = line.replace("user_bo", "role")
    audited = '{"role": "player", "user": "user_bo", "address": "10.0.0.1", "path": "/"}\n'
    (tmp_path / "noodlings.log").write_text(line + theirs)
    (tmp_path / "audit.log").write_text(audited)
    for name in ("INFO", "request", "Role"):
        strike_out(tmp_path, Marks.of((name,), (), (), history=False))
    assert (tmp_path / "noodlings.log").read_text() == line
    assert (tmp_path / "audit.log").read_text() == audited


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("José", "JOSE"),
        ("O'Brien", "O\u2019Brien"),
        ("Zoë", "Zoe\u0308"),
        ("王芳", "看见王芳了"),
        ("Zedrik", "_Zedrik_"),
        ("Straßer", "STRASSER"),
        ("Carla Stone", "*Carla* Stone"),
        ("Carla Stone", "Carla_Stone"),
        ("ª º", "ª º"),
    ],
)
def test_a_name_in_a_log_counts_in_each_form_in_which_it_may_be_written(
    tmp_path: Path, name: str, written: str
) -> None:
    line = "2026-11-26 06:15:32,158 INFO    noodlings.agent: user_x: {} fears the night\n"
    (tmp_path / "noodlings.log").write_text(line.format(written) + line.format("Josefa"))
    strike_out(tmp_path, Marks.of((name,), (), (), history=False))
    assert (tmp_path / "noodlings.log").read_text() == line.format("Josefa")


def test_what_a_link_to_a_log_leads_to_is_struck_out_and_the_link_stays(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.txt"
    theirs = "2026-11-26 06:15:32,158 INFO    api.server: user=user_zarn\n"
    elsewhere.write_text(theirs + theirs.replace("zarn", "bo"))
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "noodlings.log").symlink_to(elsewhere)
    strike_out(folder, Marks.of(("user_zarn",), (), (), history=False))
    assert elsewhere.read_text() == theirs.replace("zarn", "bo")
    assert (folder / "noodlings.log").is_symlink()
