"""What a world hands over with a percept: affect, identity salience and facts, as docs/feeling.md says."""

from __future__ import annotations

import io
import json
import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from noodlings.portable.export import export
from noodlings.portable.intake import check, take_in
from noodlings.store.cipher import UserKey
from noodlings.store.keys import UserKeys
from noodlings.store.sql import SqlStore
from noodlings.store.transfer import snapshot
from noodlings.store.vault import Encryption
from noodlings.values.audience import Tier
from noodlings.values.caller import Caller, Role
from noodlings.values.memory import CLIENT_BODY, CLIENT_HISTORY, hearsay_of
from tests.api.conftest import MakeSite, Site
from tests.api.mcp_clients import ROOT
from tests.at_rest import found
from tests.fakes import ALL_CIRCUMSTANCES

AFFECT = [-0.8, 0.6, 0.1, 0.9, 0.0]
NAMED = dict(zip(("valence", "arousal", "fear", "sorrow", "boredom"), AFFECT, strict=True))
WHO = {"user_id": "user_caity", "text": "the red boat"}
PATH = "/api/agents/servnak/perceive"
ADMIN = Caller("user_root", "root", Role.ADMIN)


async def perceived(site: Site, who: str = "", **more: Any) -> dict[str, Any]:
    site.clock.advance(60.0)
    answer = await site.post(PATH, WHO | more, who)
    assert answer.status_code == 200, answer.text
    view: dict[str, Any] = answer.json()
    return view


@pytest.mark.parametrize("given", [AFFECT, NAMED])
async def test_what_is_felt_is_what_the_world_says(site: Site, given: Any) -> None:
    view = await perceived(site, affect=given)
    assert view["turn"]["percept"]["affect"] == NAMED
    assert view["appraised_by"] == "given"
    assert view["turn"]["percept"]["feeling"] == "sorrowful"


async def test_an_axis_that_is_left_out_is_at_rest(site: Site) -> None:
    view = await perceived(site, affect={"sorrow": 0.9})
    assert view["turn"]["percept"]["affect"] == {
        "valence": 0.0, "arousal": 0.5, "fear": 0.0, "sorrow": 0.9, "boredom": 0.0,
    }  # fmt: skip


async def test_how_much_it_touches_who_it_is_counts_in_its_importance(site: Site) -> None:
    plain = (await perceived(site))["turn"]["percept"]
    touching = (await perceived(site, identity_salience=0.9))["turn"]["percept"]
    assert touching["parts"]["salience"] == 0.9 > plain["parts"]["salience"]
    assert touching["encoded_importance"] > plain["encoded_importance"]


async def test_facts_are_kept_with_the_memory_and_told_where_they_say_what_it_was_part_of(site: Site) -> None:
    facts = {"task": "the \x1b[31mharvest", "hp": 3, "raining": True, "wind": None}
    view = await perceived(site, data=facts, tags=["quest"])
    entry = site.society.find("servnak").entry(view["turn"]["percept"]["id"])
    assert entry.extra["data"] == facts | {"task": "the harvest", "tags": ["quest"]}
    params = {"query": "boat"}
    context = (await site.get("/api/agents/servnak/focus", params=params)).json()["context"]
    assert context[0].endswith("[task: the harvest] [tags: quest]")


@pytest.mark.parametrize(
    ("more", "status", "where"),
    [
        ({"affect": [-0.8, 0.6, 0.1, 0.9]}, 422, "body.affect.numbers"),
        ({"affect": [-1.1, 0.6, 0.1, 0.9, 0.0]}, 422, "body.affect.numbers.0"),
        ({"affect": {"valence": 2}}, 422, "body.affect.named.valence"),
        ({"affect": {"joy": 1}}, 422, "body.affect.named.joy"),
        ({"affect": {"valence": True}}, 422, "body.affect.named.valence"),
        ({"affect": "sad"}, 422, "body.affect"),
        ({"identity_salience": 1.5}, 422, "body.identity_salience"),
        ({"identity_salience": "much"}, 422, "body.identity_salience"),
        ({"data": {"deep": {"er": 1}}}, 422, "body.data.deep"),
        ({"data": dict.fromkeys(map(str, range(51)), 1)}, 422, "body.data"),
        ({"data": {"x": "y" * 501}}, 400, "at most 500"),
        ({"data": {"tags": "quest"}}, 400, "called tags, a reserved name"),
        ({"data": {"client_key": "forged"}}, 400, "must not have a fact called client_key"),
        ({"tags": ["from:user_bob"]}, 400, "must not begin with from:"),
        ({"data": {"circumstances": "rain"}}, 400, "called circumstances, a reserved name"),
    ],
)
async def test_what_will_not_do_is_refused_and_nothing_is_kept(
    site: Site, more: dict[str, Any], status: int, where: str
) -> None:
    answer = await site.post(PATH, WHO | more)
    assert answer.status_code == status, answer.text
    assert where in answer.json()["detail"]
    assert site.society.find("servnak").memory.stats().perceived == 0


@pytest.mark.parametrize("name", ["known_by", "hearsay", "withdrawn", "client_history", "tags"])
async def test_no_event_may_have_a_mark_of_our_own(guarded: Site, name: str) -> None:
    told = {"event": "is_a_thief", "user_id": "user_caity", "data": {name: "gm"}}
    refused = await guarded.post("/api/agents/servnak/events", told, "world")
    assert refused.status_code == 400
    assert f"called {name}, a reserved name" in refused.json()["detail"]
    assert guarded.society.find("servnak").memory.stats().perceived == 0


@pytest.mark.parametrize("more", [{"affect": AFFECT}, {"identity_salience": 0.5}, {"data": {"hp": 3}}])
async def test_only_a_world_says_what_a_character_feels(guarded: Site, more: dict[str, Any]) -> None:
    for who in ("admin", "world"):
        await perceived(guarded, who, **more)
    refused = await guarded.post(PATH, WHO | more, "caity")
    assert refused.status_code == 403
    assert "a player token may not set affect" in refused.json()["detail"]
    assert (await guarded.post(PATH, WHO, "caity")).status_code == 200


async def test_a_key_that_comes_with_another_feeling_was_used_for_something_else(site: Site) -> None:
    headers = {"Idempotency-Key": "1"}
    first = await site.post(PATH, WHO | {"affect": AFFECT}, headers=headers)
    assert first.status_code == 200
    again = await site.post(PATH, WHO | {"affect": NAMED}, headers=headers)
    assert again.headers["Idempotency-Replayed"] == "true"
    for other in ({}, {"affect": [0.5, 0.5, 0, 0, 0]}, {"affect": AFFECT, "identity_salience": 0.2}):
        assert (await site.post(PATH, WHO | other, headers=headers)).status_code == 422


async def test_the_example_of_the_page_can_be_sent(site: Site) -> None:
    page = (ROOT / "docs" / "feeling.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```json\n(.*?)```", page, re.S)
    answer = await site.post(PATH, json.loads(example))
    assert answer.status_code == 200, answer.text


async def test_what_lies_about_is_named_by_whoever_is_asked(site: Site) -> None:
    view = await perceived(site, text="what is in this room?", things=["pond", "\x1b[31mpear tree", " "])
    assert "THE POND AND THE PEAR TREE" in view["turn"]["response"]
    for refused in ([""], ["x" * 300], ["a"] * 51, "pond"):
        answer = await site.post(PATH, WHO | {"things": refused}, "")
        assert answer.status_code == 422


@pytest.mark.parametrize("present", [["servnak"], ["SERVNAK"], ["user_caity", "servnak"]])
async def test_a_room_that_names_the_character_itself_is_no_wider(site: Site, present: list[str]) -> None:
    assert (await perceived(site, present=present))["turn"]["percept"]["private"]
    assert not (await perceived(site, present=[*present, "user_bob"]))["turn"]["percept"]["private"]


@pytest.mark.parametrize("name", ["known_by", "hearsay", "hearsay_of", "withdrawn", "client_key"])
async def test_names_that_noodlings_uses_itself_are_refused(site: Site, name: str) -> None:
    answer = await site.post(PATH, WHO | {"data": {name: "owner"}})
    assert answer.status_code == 400
    assert name in answer.json()["detail"]


async def test_whom_a_line_that_is_handed_on_answers_is_shown_to_nobody(site: Site) -> None:
    told = await perceived(site, text="my name is Quornella", addressed=True, present=["user_bob"])
    line = {"user_id": "servnak", "text": told["turn"]["response"], "present": ["user_bob"]}
    heard = await site.post("/api/agents/phi/perceive", line)
    (kept,) = site.society.store.archive("phi")
    assert hearsay_of(kept) == {"user_caity"}
    paths = ("memory/browse?everything=true", f"turns/{kept.id}", f"memory/entries/{kept.id}/note", "why")
    shown = [heard.text, *[(await site.get(f"/api/agents/phi/{path}")).text for path in paths]]
    assert kept.user_text.casefold() in shown[1].casefold()
    assert not [text for text in shown if "hearsay_of" in text or "user_caity" in text]


@pytest.mark.parametrize("name", ["Phi", "ｓｅｒｖｎａｋ", "PHI", "Ph1", "Phı", "Phì", "ΡΗΙ", "Servnаk"])
async def test_nobody_is_called_like_a_character(guarded: Site, name: str) -> None:
    answer = await guarded.post(PATH, WHO | {"name": name}, "world")
    assert answer.status_code == 403
    assert "is a character here" in answer.json()["detail"]
    as_itself = {"user_id": "phi", "name": "Phi", "text": "hello"}
    assert (await guarded.post(PATH, as_itself, "world")).status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("user", ["user_phi", "ϕhi", "ｐｈｉ", "Ph1", "user_kitty"])
async def test_nobody_without_a_name_is_shown_as_a_character(guarded: Site, user: str) -> None:
    line = WHO | {"user_id": user}
    answer = await guarded.post(PATH, line, "world")
    assert (answer.status_code, "is a character here" in answer.text) == (403, True)
    assert (await guarded.post(PATH, line | {"name": "Ann"}, "world")).status_code == 200
    assert (await guarded.post(PATH, line, "world")).json()["turn"]["percept"]["name"] == "Ann"


async def test_no_word_of_a_name_mixes_alphabets(guarded: Site) -> None:
    for who in ({"name": "Вob"}, {"user_id": "user_Вob"}):
        answer = await guarded.post(PATH, WHO | who, "world")
        assert answer.status_code == 400
        assert "mixes letters of different alphabets" in answer.json()["detail"]


@pytest.mark.parametrize("name", ["Phil", "Мария", "Zoë", "Мария Smith", "Mª Carmen"])
async def test_names_that_only_resemble_a_characters_are_nobodys(guarded: Site, name: str) -> None:
    answer = await guarded.post(PATH, WHO | {"name": name}, "world")
    assert answer.json()["turn"]["percept"]["name"] == name


async def test_the_same_key_with_another_tier_is_another_request(site: Site) -> None:
    await perceived(site, idempotency_key="k")
    answer = await site.post(PATH, WHO | {"idempotency_key": "k", "tier": 1})
    assert answer.status_code == 422


async def test_a_key_that_looks_like_a_card_number_is_a_key(make_site: MakeSite) -> None:
    site = make_site(sections={"privacy": {"personal": "mask"}})
    first = await perceived(site, idempotency_key="1734086486050")
    entry = site.society.find("servnak").entry(first["turn"]["percept"]["id"])
    assert entry.extra["data"]["client_key"] == "1734086486050"
    assert first["turn"]["percept"]["text"] == WHO["text"]


async def test_what_is_masked_cannot_be_guessed_from_what_is_kept(make_site: MakeSite) -> None:
    site = make_site(sections={"privacy": {"personal": "mask"}})
    kept = []
    for number in (48213, 48214):
        text = f"my pin is {number}"
        said = {"user_id": "user_dan", "text": text, "idempotency_key": f"k{number}"}
        assert (await site.post(PATH, said)).status_code == 200
        talk = [{"role": "user", "content": text}, {"role": "assistant", "content": "yes"}]
        body = {
            "model": "servnak",
            "messages": [*talk, {"role": "user", "content": "so?"}],
            "user": "user_dan",
        }
        assert (await site.post("/v1/chat/completions", body)).status_code == 200
        entries = site.society.store.archive("servnak")[-2:]
        kept.append(
            [entry.extra["data"].get(name) for entry in entries for name in (CLIENT_BODY, CLIENT_HISTORY)]
        )
        site.society.corrections.forget(ADMIN, "servnak", [entry.id for entry in entries])
    assert kept[0] == kept[1] != [None] * 4


@pytest.mark.parametrize("unseen", ["\u200b", "\u00ad", "\ufeff", "\x00", "\u202e", " "])
async def test_an_id_with_what_cannot_be_seen_is_nobody_else(site: Site, unseen: str) -> None:
    event = "/api/agents/servnak/events"
    for path, body in (
        (PATH, WHO | {"user_id": f"user_caity{unseen}"}),
        (PATH, WHO | {"present": [f"{unseen}user_bob"]}),
        (event, {"event": "win", "user_id": f"user_caity{unseen}"}),
        ("/api/commands", {"user_id": f"user_caity{unseen}", "line": "look", "rooms": False}),
    ):
        answer = await site.post(path, body, "")
        assert answer.status_code == 400
        assert "a user id must be one printable line" in answer.json()["detail"]


# -- when and where it happened


def circumstances(**changed: Any) -> dict[str, Any]:
    return {"circumstances": ALL_CIRCUMSTANCES | changed}


@pytest.mark.parametrize("encryption", [None, Encryption(Tier.OPEN, UserKeys(UserKey(bytes(32)).text))])
async def test_all_circumstances_come_back_whole_after_a_restart_and_an_import(
    make_site: MakeSite, tmp_path: Path, encryption: Encryption | None
) -> None:
    async def whole(site: Site, entry_id: int) -> None:
        turn = await site.get(f"/api/agents/servnak/turns/{entry_id}")
        assert turn.json()["turn"]["percept"]["circumstances"] == ALL_CIRCUMSTANCES_SHOWN
        found_by = await site.get("/api/agents/servnak/recall?query=boat&tag=goal:find%20Ada")
        assert [one["entry"]["id"] for one in found_by.json()["memories"]] == [entry_id]
        assert {"task:the harvest", "place:the mill"} <= {*found_by.json()["memories"][0]["entry"]["tags"]}

    here, there = tmp_path / "here", tmp_path / "there"
    site = make_site(store=SqlStore(here, encryption=encryption))
    view = await perceived(site, **circumstances())
    number = view["turn"]["percept"]["id"]
    await whole(site, number)
    site.society.close()
    await whole(make_site(store=SqlStore(here, encryption=encryption)), number)
    lines = io.StringIO()
    with snapshot(here, encryption) as kept:
        export(kept, kept.agents(), lines.write)
    with closing(SqlStore(there, encryption=encryption)) as into:
        file = io.BytesIO(lines.getvalue().encode())
        take_in(file, check(file, lambda number: None).agents, into, lambda number: None)
    await whole(make_site(store=SqlStore(there, encryption=encryption)), number)
    assert bool(found(here, ["harvest"])) is bool(found(there, ["harvest"])) is (encryption is None)


ALL_CIRCUMSTANCES_SHOWN = ALL_CIRCUMSTANCES | {
    "emotions": [{"evidence": ""} | one for one in ALL_CIRCUMSTANCES["emotions"]]
}


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"when": {"begins": "soon"}}, "begins is 'soon': it must be a number from"),
        ({"when": {"words": "last summer"}}, "when does not fit; it takes begins (required), duration"),
        ({"when": {"begins": 1.0, "certainty": "sure"}}, "it must be one of exact, estimated, inferred"),
        ({"when": {"begins": 1.0, "duration": -1}}, "duration is -1: it must be a number from 0"),
        ({"emotions": [{"who": "Ada", "emotion": "joy", "known_from": "x"}]}, "one of told, seen, inferred"),
        ({"emotions": [{"emotion": "joy"}]}, "emotions does not fit; it takes who (required)"),
        ({"goals": ["x"] * 17}, "goals has 17 entries; it may have at most 16"),
        ({"goals": "find Ada"}, "goals must be a list"),
        ({"when": 7}, "when does not fit"),
        ({"task": "x" * 301}, "task must be one line of printable text of up to 300 characters"),
        ({"where": "<b>the mill</b>"}, "has markup; leave out"),
        ({"where": "the\x07 mill"}, "must be one line of printable text"),
        ({"where": "\x1b[31mthe mill"}, "has markup; leave out"),
        ({"mood": "bad"}, "there is no 'mood'; use one of: when, where"),
    ],
)
async def test_circumstances_that_will_not_do_are_refused_in_words(
    site: Site, given: dict[str, Any], what: str
) -> None:
    for path, told in ((PATH, WHO), ("/api/agents/servnak/events", {"event": "fair"})):
        answer = await site.post(path, told | {"circumstances": given})
        assert answer.status_code == 422, answer.text
        [error] = answer.json()["errors"]
        assert error["where"] == "body.circumstances"
        assert what in error["what"]
    assert site.society.find("servnak").memory.stats().perceived == 0


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e400"])
async def test_numbers_that_are_none_are_refused(site: Site, number: str) -> None:
    for given in (f'{{"distance": {number}}}', f'{{"when": {{"begins": {number}}}}}'):
        body = f'{{"user_id": "user_caity", "text": "the boat", "circumstances": {given}}}'
        headers = {"Content-Type": "application/json"}
        answer = await site.ask("POST", PATH, content=body, headers=headers)
        assert answer.status_code == 422, answer.text
        assert "it must be a number from" in answer.json()["detail"]


async def test_a_game_event_has_circumstances_too(site: Site) -> None:
    told = {"event": "fair_held", "user_id": "user_caity"} | circumstances()
    answer = await site.post("/api/agents/servnak/events", told)
    assert answer.json()["turn"]["percept"]["circumstances"] == ALL_CIRCUMSTANCES_SHOWN


async def test_a_player_gives_none_and_does_not_see_what_others_felt(guarded: Site) -> None:
    entry_id = (await perceived(guarded, "world", **circumstances()))["turn"]["percept"]["id"]
    for who, emotions in (("caity", []), ("admin", ALL_CIRCUMSTANCES_SHOWN["emotions"])):
        turn = (await guarded.get(f"/api/agents/servnak/turns/{entry_id}", who)).json()
        shown = turn["turn"]["percept"]["circumstances"]
        assert (shown["emotions"], shown["where"]) == (emotions, "the mill")
        assert bool(shown["inferences"]) is bool(emotions)
    refused = await guarded.post(PATH, WHO | circumstances(), "caity")
    assert refused.status_code == 403
    assert "may not set affect, identity_salience, data or circumstances" in refused.json()["detail"]


async def test_a_key_that_comes_with_other_circumstances_was_used_for_something_else(site: Site) -> None:
    headers = {"Idempotency-Key": "1"}
    for given, status in ((circumstances(), 200), (circumstances(), 200), (circumstances(task="x"), 422)):
        assert (await site.post(PATH, WHO | given, headers=headers)).status_code == status


async def test_what_is_sealed_keeps_its_circumstances_to_itself(make_site: MakeSite, tmp_path: Path) -> None:
    encryption = Encryption(Tier.OPEN, UserKeys(UserKey(bytes(32)).text))
    site = make_site(store=SqlStore(tmp_path / "sealed", encryption=encryption))
    view = await perceived(site, tier=3, **circumstances())
    assert view["turn"]["percept"]["circumstances"] is None
    assert not [tag for tag in view["turn"]["percept"]["tags"] if "mill" in tag]
