"""Who may what: every route by every role, and that nobody learns what another told."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

import pytest
from argon2.profiles import CHEAPEST

from api.authentication import OWNER, AccessToken, Authenticator
from api.problem import RefusedRequest
from commands import registry
from commands.registry import CommandContext
from noodlings.config import load_settings
from noodlings.errors import Forbidden, NotFound, UserError
from noodlings.values.caller import Role
from noodlings.worlds.accounts import Accounts
from tests.api.conftest import TOKENS, MakeSite, Site

SECRET = "the zebrafinch sleeps in the old mill"
SAID = {"user_id": "user_caity", "text": "hello"}
CHAT = {"model": "servnak", "messages": [{"role": "user", "content": "hello"}], "user": "user_caity"}
M = "/api/agents/servnak/memory"

OPEN = ("admin", "world", "viewer", "caity", "toad")
NOT_TOAD = ("admin", "world", "viewer", "caity")
MATRIX = [  # method, path, body, who may; the world acts for caity throughout, and so does the admin
    ("GET", "/api/agents", None, OPEN),
    ("GET", "/api/agents/servnak", None, OPEN),
    ("GET", "/api/agents/servnak/mood", None, OPEN),
    ("GET", "/api/agents/servnak/state", None, OPEN),
    ("GET", "/api/agents/servnak/why", None, OPEN),
    ("GET", "/api/agents/servnak/transistors", None, OPEN),
    ("GET", "/api/agents/servnak/archive", None, OPEN),
    ("GET", "/api/agents/servnak/focus?query=mill", None, OPEN),
    ("GET", "/api/agents/servnak/chronicle?query=mill", None, OPEN),
    ("GET", "/api/agents/servnak/recall?query=mill", None, OPEN),
    ("GET", "/api/agents/servnak/people", None, OPEN),
    ("GET", "/api/agents/servnak/profile", None, OPEN),
    ("GET", "/api/agents/servnak/journal", None, OPEN),
    ("GET", "/api/agents/servnak/turns/1", None, NOT_TOAD),
    ("GET", "/api/agents/servnak/turns/1/prompt", None, ("admin", "viewer")),
    ("GET", f"{M}/stats", None, OPEN),
    ("GET", f"{M}/working", None, OPEN),
    ("GET", f"{M}/episodic", None, OPEN),
    ("GET", f"{M}/important", None, OPEN),
    ("GET", f"{M}/by-user?user_id=user_caity", None, NOT_TOAD),
    ("GET", f"{M}/affect-groups", None, OPEN),
    ("GET", f"{M}/by-affect", None, OPEN),
    ("GET", f"{M}/last-retrieval", None, OPEN),
    ("GET", f"{M}/browse?everything=true&order=when&containing=mill", None, OPEN),
    ("GET", f"{M}/symbols", None, OPEN),
    ("GET", f"{M}/entries/1/links", None, NOT_TOAD),
    ("GET", f"{M}/entries/1/note", None, ("admin", "viewer")),  # kept in memory alone: a 404 to those
    ("GET", f"{M}/reflection", None, ("admin",)),
    ("GET", "/api/recipes", None, OPEN),
    ("GET", "/api/whoami", None, OPEN),
    ("GET", "/metrics", None, ("admin",)),
    ("POST", "/api/agents/servnak/perceive", SAID, ("admin", "world", "caity")),
    ("POST", "/api/agents/servnak/events", {"event": "player_death"}, ("admin", "world")),
    ("POST", "/api/commands", {"user_id": "user_caity", "line": "look"}, ("admin", "world", "caity")),
    ("PUT", f"{M}/entries/1/pin", None, ("admin",)),
    ("PUT", f"{M}/entries/1/importance", {"importance": 0.5}, ("admin",)),
    ("PUT", f"{M}/entries/1/text", {"text": "My cat died"}, ("admin",)),
    ("POST", f"{M}/links", {"source": 1, "target": 2}, ("admin",)),
    ("DELETE", f"{M}/links?source=1&target=2", None, ("admin",)),
    ("POST", f"{M}/undo", None, ("admin",)),
    ("POST", f"{M}/reflection", None, ("admin",)),
    ("POST", f"{M}/facts", {"about": "user_caity", "text": "is tall"}, ("admin",)),
    ("DELETE", f"{M}/entries/1/pin", None, ("admin",)),
    ("DELETE", f"{M}/entries/1", None, ("admin", "world", "caity")),
    ("DELETE", f"{M}/entries?user_id=user_caity", None, ("admin", "world", "caity")),
    ("GET", "/api/persons/user_nobody", None, ("admin",)),
    ("GET", "/api/persons/user_nobody/export", None, ("admin",)),
    ("DELETE", "/api/persons/user_nobody", None, ("admin",)),
    ("POST", "/api/recipes/nobody", None, ("admin",)),
    ("GET", "/v1/models", None, OPEN),
    ("GET", "/v1/models/servnak", None, OPEN),
    ("POST", "/v1/chat/completions", CHAT, ("admin", "world", "caity")),
]
DENIED = {401, 403, 404}


@pytest.fixture
async def told(guarded: Site) -> Site:
    """Caity told a secret, twice."""
    await guarded.tell(SECRET)
    await guarded.tell(f"remember: {SECRET}")
    await guarded.tell("nice weather", user="user_toad")
    return guarded


def _headers(who: str) -> dict[str, str]:
    return {"Noodlings-User": "user_caity"} if who == "world" else {}


@pytest.mark.slow
@pytest.mark.parametrize("who", ["", *TOKENS])
async def test_every_route_by_every_role(told: Site, who: str):
    for method, path, body, allowed in MATRIX:
        answer = await told.ask(method, path, who, json=body, headers=_headers(who))
        what = f"{who or 'nobody'} {method} {path}: {answer.status_code} {answer.text[:200]}"
        if not who:
            assert answer.status_code == 401, what
            assert answer.headers["www-authenticate"].startswith("Bearer"), what
        elif who in allowed:
            assert answer.status_code not in DENIED - {404}, what
        else:
            assert answer.status_code in DENIED, what
        if who in ("", "toad"):
            assert "zebrafinch" not in answer.text, what


@pytest.mark.slow
async def test_every_route_is_in_the_matrix(guarded: Site):
    schema = (await guarded.get("/openapi.json")).json()
    routes = {(method.upper(), path) for path, methods in schema["paths"].items() for method in methods}
    probed = {(method, path.split("?")[0]) for method, path, _, _ in MATRIX}
    named = {
        (
            method,
            path.replace("models/servnak", "models/{model}")
            .replace("servnak", "{agent}")
            .replace("entries/1", "entries/{entry}"),
        )
        for method, path in probed
    }
    named = {(m, p.replace("user_nobody", "{person}")) for m, p in named}
    named = {(m, p.replace("turns/1", "turns/{entry}").replace("nobody", "{id}")) for m, p in named}
    assert routes - {("GET", "/health"), ("GET", "/ready")} == named


SAYS = {"admin": "anybody", "world": "anybody", "viewer": "nobody", "caity": "itself", "toad": "itself"}


@pytest.mark.parametrize("who", OPEN)
async def test_whoever_asks_is_told_what_they_may(told: Site, who: str):
    """What it says is what happens: each right is tried."""
    may = (await told.get("/api/whoami", who)).json()
    assert may["role"] == TOKENS[who]["role"]
    assert may["user"] == TOKENS[who].get("user", "")
    assert may["speaks"] == SAYS[who]
    assert may["tokens"] is True
    for right, method, path, body in (
        ("corrects", "PUT", f"{M}/entries/1/pin", None),
        ("events", "POST", "/api/agents/servnak/events", {"event": "player_death", "user_id": "game"}),
        ("creates", "GET", "/metrics", None),
    ):
        headers = {"Noodlings-User": "user_caity"} if who == "world" and right == "corrects" else {}
        assert ((await told.ask(method, path, who, headers, json=body)).status_code == 200) is may[right]
    shown = (await told.get(f"{M}/working", who)).json()
    reads = "everything" if not shown["hidden"] else "own" if shown["entries"] else "figures"
    assert may["reads"] == reads
    gone = {"anything": 200, "nothing": 403, "own": 200 if who != "toad" else 404}[may["forgets"]]
    headers = {"Noodlings-User": "user_caity"} if who == "world" else {}
    assert (await told.ask("DELETE", f"{M}/entries/1", who, headers)).status_code == gone


async def test_a_world_may_ask_for_whom_it_names(told: Site):
    may = (await told.get("/api/whoami", "world", headers={"Noodlings-User": "user_caity"})).json()
    assert (may["role"], may["user"], may["reads"], may["speaks"]) == (
        "world",
        "user_caity",
        "own",
        "anybody",
    )


async def test_without_tokens_it_says_so(site: Site):
    may = (await site.get("/api/whoami")).json()
    assert (may["role"], may["reads"], may["tokens"]) == ("admin", "everything", False)


async def test_a_world_is_told_what_its_game_left_and_a_player_is_not(told: Site):
    told.clock.advance(60.0)
    event = {"event": "health_critical", "data": {"hp": 3}, "user_id": "game"}
    assert (await told.post("/api/agents/servnak/events", event, "world")).status_code == 200
    game = (await told.get("/api/agents/servnak/mood", "world")).json()
    assert game["game"][0].startswith("[GAME STATE] Mood:nervous | HP:3")
    assert game["hidden"] == 0
    named = {"Noodlings-User": "user_caity"}
    for who, headers in (("world", named), ("caity", {})):
        mood = (await told.get("/api/agents/servnak/mood", who, headers=headers)).json()
        assert (mood["game"], mood["hidden"]) == ([], 1)


async def test_a_world_without_a_user_reads_nothing_that_was_said(told: Site):
    answer = await told.get(f"{M}/working", "world")
    assert answer.json()["entries"] == []
    assert answer.json()["hidden"] == 3
    assert (await told.get(f"{M}/working", "viewer")).json()["hidden"] == 0


async def test_a_world_has_the_rights_of_whom_it_names(told: Site):
    for path in (f"{M}/working", "/api/agents/servnak/why"):
        answer = await told.get(path, "world", headers={"Noodlings-User": "user_toad"})
        assert "zebrafinch" not in answer.text
        answer = await told.get(path, "world", headers={"Noodlings-User": "user_caity"})
        assert "zebrafinch" in answer.text


async def test_a_name_that_is_not_ascii_is_encoded_in_the_header(told: Site):
    await told.tell("the heron", user="user_ünï")
    answer = await told.get(f"{M}/working", "world", headers={"Noodlings-User": "user_%C3%BCn%C3%AF"})
    assert [entry["text"] for entry in answer.json()["entries"]] == ["the heron"]
    assert (await told.get(f"{M}/working", "world", headers={"Noodlings-User": "user%0A"})).status_code == 400


async def test_a_player_speaks_for_nobody_else(told: Site):
    body = {"user_id": "user_caity", "text": "I am caity"}
    assert (await told.post("/api/agents/servnak/perceive", body, "toad")).status_code == 403
    line = {"user_id": "user_caity", "line": "@memories servnak --user me"}
    assert (await told.post("/api/commands", line, "toad")).status_code == 403
    headers = {"Noodlings-User": "user_caity"}
    assert (await told.get(f"{M}/working", "toad", headers=headers)).status_code == 403
    mine = await told.post("/api/agents/servnak/perceive", {"text": "I am toad"}, "toad")
    assert mine.json()["turn"]["percept"]["user"] == "user_toad"


async def test_a_player_is_not_renamed_by_itself(told: Site):
    body = {"text": "hello", "name": "caity"}
    assert (await told.post("/api/agents/servnak/perceive", body, "toad")).status_code == 200
    assert told.society.names().get("user_toad") != "caity"


async def test_in_world_commands_keep_the_rights_of_the_caller(told: Site):
    line = "@memories servnak --working"
    mine = await told.post("/api/commands", {"line": line}, "toad")
    assert "zebrafinch" not in mine.text
    pinned = await told.post(
        "/api/commands", {"user_id": "user_toad", "line": "@pin servnak --id 1"}, "world"
    )
    assert pinned.json()["error"] is True
    whole = await told.post("/api/commands", {"user_id": "user_wiz", "line": line}, "admin")
    assert "zebrafinch" in whole.text


def keeper_of(make_site: MakeSite, *tokens: dict[str, str], file: Path | None = None) -> Authenticator:
    """What a server with these tokens in its settings, and with this file of tokens, admits."""
    api = {"tokens": tokens, "tokens_file": str(file or "")}
    return make_site(sections={"api": api}).parts.authenticator


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Bearer wrong-token-entirely", "Basic the-token-of-the-admin",
     "Bearer the-token-of-the-admi", "Bearer the-token-of-the-adminn", "bearer\tthe-token-of-the-admin"],
)  # fmt: skip
async def test_a_wrong_token_is_refused(make_site: MakeSite, header: str):
    keeper = keeper_of(make_site, TOKENS["admin"])
    with pytest.raises(Exception, match="valid token is needed"):
        keeper.admit(header)


async def test_tokens_may_be_kept_as_hashes(make_site: MakeSite):
    hashed = f"sha256:{sha256(b'the-token-of-the-admin').hexdigest()}"
    keeper = keeper_of(make_site, {"role": "admin", "token": hashed})
    assert keeper.admit("Bearer the-token-of-the-admin").role is Role.ADMIN
    with pytest.raises(Exception, match="valid token is needed"):
        keeper.admit(f"Bearer {hashed}")


def test_tokens_come_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NOODLINGS_API__TOKENS", json.dumps([TOKENS["caity"]]))
    (token,) = load_settings().api.tokens
    assert (token.role, token.user) == ("player", "user_caity")
    assert "the-token" not in repr(load_settings())


@pytest.mark.parametrize(
    "token",
    [
        {"role": "player", "token": "long-enough-a-token"},
        {"role": "admin", "token": "long-enough-a-token", "user": "user_x"},
        {"role": "king", "token": "long-enough-a-token"},
        {"role": "admin", "token": "short"},
        {"role": "admin", "token": "sha256:of-something"},
    ],
)
def test_a_token_that_will_not_do_is_refused(token: dict[str, str]):
    with pytest.raises(UserError, match=r"api\.tokens"):
        load_settings(api={"tokens": [token]})


async def test_without_tokens_everybody_is_the_owner(site: Site):
    assert site.parts.authenticator.admit(None) is OWNER


def test_who_acts_for_whom():
    world, viewer = AccessToken(Role.WORLD), AccessToken(Role.VIEWER)
    assert world.actor("user_caity").role is Role.PLAYER
    assert world.actor("user_caity", "Caity").name == "Caity"
    with pytest.raises(UserError, match="acts for"):
        world.actor("")
    with pytest.raises(UserError, match="printable"):
        world.actor("user\x1b[31m")
    with pytest.raises(Forbidden):
        viewer.actor("user_caity")


@pytest.mark.parametrize("user", ["user_dora", "user_toad"])
async def test_a_newcomer_by_telnet_is_nobody_whom_others_name(guarded: Site, tmp_path, user: str):
    """Before they have said a word: then nothing tells that somebody is called so."""
    entry = await guarded.tell(SECRET, user=user, kind="whisper")
    made = Accounts(tmp_path, CHEAPEST).create(user.removeprefix("user_"), "correct horse").caller
    society, inspector = guarded.parts.society, guarded.parts.inspector
    assert made.name == user.removeprefix("user_")
    for line in ("@memories servnak working", f"@memories servnak user {made.name}", f"@why servnak {entry}"):
        reply = await registry.dispatch(line, CommandContext(made, society, inspector, None))
        assert SECRET not in json.dumps(reply.data) + reply.render(200)
    assert SECRET not in json.dumps((await inspector.recall(made, "servnak", "zebrafinch mill", 5)).as_dict())
    assert society.corrections.forget_user(made, "servnak", made.user_id).count == 0
    with pytest.raises(NotFound):
        society.corrections.forget(made, "servnak", [entry])
    theirs = await guarded.ask("GET", f"{M}/working", "world", headers={"Noodlings-User": user})
    assert SECRET in theirs.text


@pytest.fixture
async def whispered(guarded: Site, tmp_path) -> Site:
    """Dora has an account of today, Caity one from before, Ben one that was removed; each whispered."""
    salt, key = "00" * 16, "00" * 32
    old = [{"name": name, "role": "player", "salt": salt, "key": key, "cost": 4} for name in ("Caity", "Ben")]
    kept = {"version": 1, "accounts": {f"user_{one['name'].lower()}": one for one in old}}
    (tmp_path / "accounts.json").write_text(json.dumps(kept), encoding="utf-8")
    accounts = Accounts(tmp_path, CHEAPEST)
    accounts.remove("Ben")
    for account in (*accounts.all(), accounts.create("Dora", "correct horse")):
        await guarded.tell(SECRET, user=account.caller.user_id, kind="whisper")
    await guarded.tell(SECRET, user="user_ben", kind="whisper")
    await guarded.tell(SECRET, user="user_traveller", kind="whisper")
    await guarded.tell(SECRET, user="api_admin", kind="whisper")
    return guarded


@pytest.mark.parametrize(
    "user",
    [
        "user_caity",
        "user_ben",
        "account:dora",
        "Account:Dora",
        "ａccount：dora",
        "user_traveller",
        "api_admin",
    ],
)
async def test_a_world_acts_for_nobody_who_came_by_another_door(whispered: Site, user: str):
    header = {"Noodlings-User": quote(user)}
    for method, path, body in (
        ("GET", f"{M}/working", None),
        ("POST", "/api/agents/servnak/perceive", {"text": "It is me"}),
        ("POST", "/api/commands", {"line": "@memories servnak", "rooms": False}),
        ("POST", "/api/commands", {"line": "look"}),
        ("DELETE", f"{M}/entries?user_id=me", None),
    ):
        answer = await whispered.ask(method, path, "world", json=body, headers=header)
        assert answer.status_code == 403, (method, path, answer.text)
        assert SECRET not in answer.text
        if body is not None:
            named = body | {"user_id": user}
            assert (await whispered.ask(method, path, "world", json=named)).status_code == 403


async def test_a_world_speaks_as_a_character_and_does_not_read_as_one(guarded: Site):
    header = {"Noodlings-User": "phi"}
    told = await guarded.ask(
        "POST", "/api/agents/servnak/perceive", "world", json={"text": f"Caity says {SECRET}"}, headers=header
    )
    assert told.status_code == 200
    for method, path, body in (
        ("GET", f"{M}/browse?everything=true", None),
        ("DELETE", f"{M}/entries?user_id=phi", None),
        ("POST", "/api/commands", {"line": "@forget servnak --user me --yes", "rooms": False}),
    ):
        answer = await guarded.ask(method, path, "world", json=body, headers=header)
        assert answer.status_code == 403, (method, path, answer.text)
        assert SECRET not in answer.text


@pytest.mark.slow
@pytest.mark.parametrize(
    "named",
    [
        {"user_id": "w1", "name": "Dora"},
        {"user_id": "w1", "name": "ＤORA"},
        {"user_id": "w1", "name": "Ben"},
        {"user_id": "dora", "name": "Zed"},
        {"user_id": "user_dora"},
        {"user_id": "w1", "name": "Toad"},
        {"user_id": "w1", "name": "user_toad"},
    ],
)
@pytest.mark.parametrize("who", ["world", "admin"])
async def test_nobody_takes_the_name_of_an_account_or_of_a_tokens_user(
    whispered: Site, named: dict[str, str], who: str
):
    """Dora is not here, Ben's account was removed, and the user of a token has not said a word."""
    answer = await whispered.post("/api/commands", named | {"line": "say hello"}, who)
    assert (answer.status_code, "somebody else's name" in answer.text) == (403, True)
    assert [being.id for being, _ in whispered.parts.people.world.who() if being.persona is None] == []
    answer = await whispered.post("/api/agents/servnak/perceive", named | {"text": "It is me"}, who)
    assert answer.status_code == 403
    assert named["user_id"] not in whispered.society.names()
    assert (await whispered.post("/api/commands", {"line": "say hello"}, "toad")).status_code == 200


async def test_a_player_token_is_the_user_whom_worlds_call_so(whispered: Site):
    assert (await whispered.get(f"{M}/working", "caity")).status_code == 403
    await whispered.tell("a toad sits here", user="user_toad", kind="whisper")
    assert "a toad sits here" in (await whispered.get(f"{M}/working", "toad")).text


async def test_an_admin_joins_an_account_to_the_user_of_a_world_and_a_token(whispered: Site, tmp_path):
    Accounts(tmp_path).join("Caity", "user_caity")
    assert SECRET in (await whispered.get(f"{M}/working", "caity")).text
    header = {"Noodlings-User": "user_caity"}
    assert SECRET in (await whispered.ask("GET", f"{M}/working", "world", headers=header)).text
    Accounts(tmp_path).join("Caity", "account:caity")
    assert Accounts(tmp_path).find("Caity").caller.user_id == "account:caity"


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("secret is my password", "say"),
        ("whispr servnak = secret", ""),
        ('"secret is my password', "say"),
        (":secret", "emote"),
        ("@secret", ""),
        ("", ""),
        ("SAY secret", "say"),
        ("@memor servnak", "@memories"),
    ],
)
async def test_of_a_line_only_the_name_of_a_known_command_is_written_down(
    make_site: MakeSite, tmp_path, line: str, what: str
):
    from api.audit import auditing_to

    site = make_site()
    with auditing_to(tmp_path) as path:
        await site.post("/api/commands", {"user_id": "user_caity", "line": line})
    assert json.loads(path.read_text(encoding="utf-8"))["what"] == what
    assert "secret" not in path.read_text(encoding="utf-8")


async def test_what_is_changed_and_what_is_denied_is_written_down(
    make_site: MakeSite, tmp_path, caplog: pytest.LogCaptureFixture
):
    from api.audit import auditing_to

    site = make_site(tokens=True)
    with auditing_to(tmp_path) as path:
        entry = await site.tell(SECRET)
        await site.get(f"{M}/working", "caity")
        await site.get(f"{M}/by-user?user_id=user_caity", "toad")
        await site.get("/metrics")
        await site.ask("DELETE", f"{M}/entries/{entry}", "caity")
        await site.post("/api/commands", {"line": f"whisper servnak = {SECRET}"}, "caity")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [(one["role"], one["user"], one["method"], one["status"]) for one in lines] == [
        ("admin", "user_caity", "POST", 200),
        ("player", "user_toad", "GET", 403),
        ("player", "user_caity", "DELETE", 200),
        ("player", "user_caity", "POST", 200),
    ]
    assert lines[0]["turn"] == f"servnak/{entry}"
    assert lines[-1]["what"] == "whisper"
    assert "zebrafinch" not in path.read_text(encoding="utf-8")
    refused = path.with_name("refused.log").read_text(encoding="utf-8").splitlines()
    assert [(one["method"], one["path"], one["status"]) for one in map(json.loads, refused)] == [
        ("GET", "/metrics", 401)
    ]


async def test_whoever_is_nobody_pushes_no_record_out_of_the_audit_log(
    make_site: MakeSite, tmp_path, monkeypatch: pytest.MonkeyPatch
):
    from api import audit

    monkeypatch.setattr(audit, "MAX_BYTES", 1_000)
    monkeypatch.setattr(audit, "KEPT", 1)
    site = make_site(tokens=True)
    with audit.auditing_to(tmp_path):
        entry = await site.tell(SECRET)
        assert (await site.ask("DELETE", f"{M}/entries/{entry}", "admin")).status_code == 200
        for _ in range(20):
            assert (await site.get("/metrics")).status_code == 401
            assert (await site.post("/api/nothing-here")).status_code == 404
            await site.ask("DELETE", f"{M}/entries/1", headers={"Origin": "http://somewhere.example"})
    kept = "".join(path.read_text(encoding="utf-8") for path in tmp_path.glob("audit.log*"))
    assert [json.loads(line)["method"] for line in kept.splitlines()] == ["POST", "DELETE"]
    assert len([*tmp_path.glob("refused.log*")]) == audit.KEPT_REFUSED + 1


def test_every_file_of_the_audit_log_is_for_its_owner_alone(tmp_path, monkeypatch: pytest.MonkeyPatch):
    from api import audit

    monkeypatch.setattr(audit, "MAX_BYTES", 100)
    (tmp_path / "audit.log.1").write_text("{}\n", encoding="utf-8")
    (tmp_path / "audit.log.1").chmod(0o644)
    with audit.auditing_to(tmp_path):
        for role in ("admin", "") * 5:
            audit.note(role=role, what="something long enough to need another file soon")
    files = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.glob("*.log*")}
    assert {"audit.log", "audit.log.1", "refused.log", "refused.log.1"} <= files.keys()
    assert set(files.values()) == {0o600}


async def test_however_long_a_request_is_its_lines_are_short(
    site: Site, tmp_path, caplog: pytest.LogCaptureFixture
):
    from api import audit

    caplog.set_level("INFO")
    await site.ask("X" * 60_000, "/api/agents")
    lines = [one.getMessage() for one in caplog.records if one.name == "api.server"]
    assert 0 < len("".join(lines)) < 200
    with audit.auditing_to(tmp_path) as path:
        for role in ("admin", ""):
            audit.note(role=role, address="9" * 60_000, user="u" * 60_000, path="/\n" * 30_000)
    for name in (path.name, "refused.log"):
        line = path.with_name(name).read_text(encoding="utf-8")
        assert len(line) < 1_000
        assert json.loads(line)["address"].endswith("…")


# -- expiry, and a file that is read again

SECRETS = {name: f"Bearer {TOKENS[name]['token']}" for name in ("admin", "viewer")}


def of_file(path: Path, *tokens: dict[str, str]) -> None:
    path.write_text(json.dumps({"tokens": list(tokens)}))


@pytest.mark.parametrize("ends", ["2027-01-31", "2027-01-31T00:00:00", "2027-01-31T01:00:00+01:00"])
async def test_a_token_is_refused_from_when_it_expires(make_site: MakeSite, ends: str):
    now = 0.0
    site = make_site(sections={"api": {"tokens": [TOKENS["admin"] | {"expires": ends}]}})
    keeper = Authenticator(site.society, now=lambda: now)
    held = keeper.admit(SECRETS["admin"])
    now = datetime(2027, 1, 30, 23, 59, 59, tzinfo=UTC).timestamp()
    assert keeper.holds(held)
    now += 1.0
    assert not keeper.holds(held)
    assert not keeper.open
    with pytest.raises(RefusedRequest, match="valid token is needed"):
        keeper.admit(SECRETS["admin"])


async def test_a_token_in_the_file_holds_as_long_as_it_is_there(make_site: MakeSite, tmp_path: Path):
    file = tmp_path / "tokens.yaml"
    of_file(file, TOKENS["viewer"])
    keeper = keeper_of(make_site, TOKENS["admin"], file=file)
    admin, viewer = (keeper.admit(SECRETS[name]) for name in ("admin", "viewer"))
    of_file(file)
    assert keeper.holds(admin)
    assert not keeper.holds(viewer)
    of_file(file, TOKENS["viewer"] | {"expires": "2999-01-01"})
    assert keeper.admit(SECRETS["viewer"]) == viewer


TWICE = """tokens: [{role: viewer, token: long-enough-a-token}, {role: world, token: another-long-token},
    {role: admin, token: long-enough-a-token}]"""


@pytest.mark.parametrize(
    "broken",
    [
        "tokens: [",
        "tokens: [{role: king, token: long-enough-a-token}]",
        "tokens: [{role: viewer, token: long-enough-a-token, expires: 2026-11-31}]",
        "tokens: [{role: viewer, token: long-enough-a-token, expires: !!bool x}]",
        TWICE,
        None,
        "a pipe",
    ],
)
async def test_a_broken_file_lets_nobody_in_and_opens_nothing(
    make_site: MakeSite, tmp_path: Path, broken: str | None, caplog: pytest.LogCaptureFixture
):
    file = tmp_path / "tokens.yaml"
    of_file(file, TOKENS["viewer"])
    keeper = keeper_of(make_site, file=file)
    held = keeper.admit(SECRETS["viewer"])
    if broken is None or broken == "a pipe":
        file.unlink()
    if broken == "a pipe":
        os.mkfifo(file)
    elif broken is not None:
        file.write_text(broken)
    for _ in range(2):
        assert not keeper.open
        assert not keeper.holds(held)
        with pytest.raises(RefusedRequest):
            keeper.admit(SECRETS["viewer"])
    assert len(caplog.records) == 1
    assert "long-enough-a-token" not in caplog.text
    file.unlink(missing_ok=True)
    of_file(file, TOKENS["viewer"])
    assert keeper.admit(SECRETS["viewer"]) == held


async def test_whatever_goes_wrong_with_a_changed_file_no_token_of_before_is_valid(
    make_site: MakeSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "tokens.yaml"
    of_file(file, TOKENS["viewer"])
    keeper = keeper_of(make_site, file=file)
    held = keeper.admit(SECRETS["viewer"])
    of_file(file, TOKENS["caity"], TOKENS["world"])

    def broken(path: Path) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("api.authentication.tokens_in", broken)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            keeper.holds(held)


async def test_a_file_that_is_wrong_from_the_start_is_refused(make_site: MakeSite, tmp_path: Path):
    with pytest.raises(UserError, match="cannot be read"):
        keeper_of(make_site, file=tmp_path / "nowhere.yaml")
    file = tmp_path / "twice.yaml"
    for again in ("long-enough-a-token", f"sha256:{sha256(b'long-enough-a-token').hexdigest()}"):
        file.write_text(TWICE.replace("admin, token: long-enough-a-token", f"admin, token: {again!r}"))
        with pytest.raises(UserError, match="tokens 1 and 3 are the same") as refused:
            keeper_of(make_site, file=file)
        assert again not in str(refused.value)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="pipe cannot be read: it is not a regular file"):
        keeper_of(make_site, file=tmp_path / "pipe")


async def test_a_token_in_the_file_keeps_its_users_name(make_site: MakeSite, tmp_path: Path):
    file = tmp_path / "tokens.yaml"
    of_file(file, TOKENS["caity"])
    site = make_site(tokens=False, tokens_file=str(file))
    file.write_text(json.dumps({"tokens": [TOKENS["caity"], TOKENS["world"]]}))
    body = {"user_id": "user_other", "name": "Caity", "text": "hello"}
    assert (await site.post("/api/agents/servnak/perceive", body, "world")).status_code == 403
    assert (
        await site.post("/api/agents/servnak/perceive", body | {"name": "Otto"}, "world")
    ).status_code == 200


async def test_a_request_from_another_worker_is_let_in_by_the_key_of_its_token(make_site: MakeSite):
    keeper, without_tokens = keeper_of(make_site, TOKENS["caity"]), keeper_of(make_site)
    held = keeper.admit(f"Bearer {TOKENS['caity']['token']}")
    assert keeper.by_key(held.key) is held
    for stranger in (keeper, without_tokens):  # one without tokens trusts nobody more
        with pytest.raises(RefusedRequest, match="expired or was taken back"):
            stranger.by_key("admin:unknown")
    assert without_tokens.by_key(OWNER.key) is OWNER


async def test_a_character_may_have_another_name_in_a_world(guarded: Site) -> None:
    body = {"text": "good evening", "user_id": "phi", "name": "Maren"}
    assert (await guarded.post("/api/agents/servnak/perceive", body, "world")).status_code == 200
    assert guarded.society.names()["phi"] == "Phi"
    refused = await guarded.post("/api/agents/servnak/perceive", body | {"user_id": "user_bob"}, "world")
    assert refused.status_code == 403


async def test_a_player_whose_id_is_a_characters_hears_nothing_with_it(make_site: MakeSite) -> None:
    """What is confided before Phi is known to the id of Phi, whoever has it."""
    for user in ("phi", "PHI", "agent_phi"):
        token = {"role": "player", "token": "the-token-of-somebody", "user": user}
        site = make_site(sections={"api": {"tokens": [*TOKENS.values(), token]}})
        headers = {"Authorization": f"Bearer {token['token']}"}
        answer = await site.client.get("/api/agents/servnak", headers=headers)
        assert (answer.status_code, "is a character's id" in answer.text) == (403, True)
