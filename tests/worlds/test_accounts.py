import hashlib
import json
import stat
from dataclasses import replace

import pytest
from argon2 import PasswordHasher
from argon2.profiles import CHEAPEST

from noodlings.errors import NotFound, StoreError, UserError
from noodlings.values.caller import Caller, Role
from noodlings.worlds.accounts import FILE_NAME, Accounts

PASSWORD = "correct horse"


@pytest.fixture
def accounts(tmp_path):
    return Accounts(tmp_path, cost=CHEAPEST)


def test_whoever_has_the_password_is_let_in_by_name_in_any_case(accounts):
    made = accounts.create("Caity", PASSWORD)
    assert accounts.check("cAITY", PASSWORD) == made
    assert accounts.check("Caity", PASSWORD.upper()) is None
    assert accounts.check("Ben", PASSWORD) is None
    assert made.caller == Caller("account:caity", "Caity", Role.PLAYER)


def test_the_first_account_is_a_player_like_any_other(accounts):
    assert accounts.create("Caity", PASSWORD).role is Role.PLAYER


def test_accounts_outlive_the_program_and_no_password_is_in_the_file(accounts, tmp_path):
    made = accounts.create("Caity", PASSWORD)
    file = tmp_path / FILE_NAME
    assert PASSWORD not in file.read_text(encoding="utf-8")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert Accounts(tmp_path, CHEAPEST).check("Caity", PASSWORD) == made


def test_two_with_one_password_have_different_hashes(accounts):
    assert accounts.create("Caity", PASSWORD).hash != accounts.create("Ben", PASSWORD).hash


def keep_version_1(folder, name="Caity", user_id="user_caity"):
    """An account as it was kept before: by id, with the key of scrypt."""
    salt = "00112233445566778899aabbccddeeff"
    key = hashlib.scrypt(PASSWORD.encode(), salt=bytes.fromhex(salt), n=16, r=8, p=1, dklen=32).hex()
    one = {"name": name, "role": "viewer", "salt": salt, "key": key, "cost": 4}
    kept = {"version": 1, "accounts": {user_id: one}}
    (folder / FILE_NAME).write_text(json.dumps(kept), encoding="utf-8")


def test_a_name_that_nobody_has_costs_as_much_as_a_wrong_password_of_any_kind_of_hash(
    accounts, tmp_path, monkeypatch
):
    keep_version_1(tmp_path)
    accounts.create("Ben", PASSWORD)
    Accounts(tmp_path, replace(CHEAPEST, time_cost=2)).create("Dora", PASSWORD)
    worked = []
    scrypt, verify = hashlib.scrypt, PasswordHasher.verify
    monkeypatch.setattr(hashlib, "scrypt", lambda *a, **o: worked.append((o["n"], o["r"])) or scrypt(*a, **o))
    monkeypatch.setattr(
        PasswordHasher,
        "verify",
        lambda self, hashed, typed: worked.append(hashed.split("$")[3]) or verify(self, hashed, typed),
    )
    costs = []
    for name in ("Caity", "Ben", "Dora", "Nobody"):
        assert accounts.check(name, "wrong password") is None
        costs.append(sorted(map(str, worked)))
        worked.clear()
    assert costs == [["(16, 8)", "m=8,t=1,p=1", "m=8,t=2,p=1"]] * 4


def test_an_old_hash_lets_its_owner_in_and_becomes_argon2id_at_that(accounts, tmp_path):
    keep_version_1(tmp_path)
    assert accounts.check("Caity", "wrong password") is None
    assert json.loads((tmp_path / FILE_NAME).read_text(encoding="utf-8"))["version"] == 1
    found = accounts.check("caity", PASSWORD)
    assert found is not None
    assert found.hash.startswith("$argon2id$v=19$m=8,t=1,p=1$")
    assert found.caller == Caller("user_caity", "Caity", Role.VIEWER)
    assert Accounts(tmp_path).find("Caity") == found
    assert accounts.check("Caity", PASSWORD) == found
    assert "scrypt" not in (tmp_path / FILE_NAME).read_text(encoding="utf-8")


def test_to_know_the_accounts_no_password_is_hashed(tmp_path, monkeypatch):
    monkeypatch.setattr(PasswordHasher, "hash", lambda self, typed: pytest.fail("hashed"))
    assert Accounts(tmp_path).all() == []


def test_a_hash_of_todays_cost_stays_as_it_is(accounts):
    made = accounts.create("Caity", PASSWORD)
    assert accounts.check("Caity", PASSWORD) == made


def test_a_hash_of_another_cost_is_made_anew_at_the_next_login(accounts, tmp_path):
    accounts.create("Caity", PASSWORD)
    dearer = Accounts(tmp_path, replace(CHEAPEST, time_cost=2))
    assert dearer.check("Caity", "wrong password") is None
    assert "t=2" not in accounts.find("Caity").hash
    dearer.check("Caity", PASSWORD)
    assert "t=2" in accounts.find("Caity").hash
    assert dearer.check("Caity", PASSWORD) == accounts.find("Caity")


def test_a_password_that_was_changed_meanwhile_is_not_changed_back_by_a_renewed_hash(
    accounts, tmp_path, monkeypatch
):
    keep_version_1(tmp_path)
    elsewhere = Accounts(tmp_path, CHEAPEST)
    hashed = PasswordHasher.hash

    def meanwhile(self, typed):
        monkeypatch.undo()
        elsewhere.change("Caity", password="battery staple")
        return hashed(self, typed)

    monkeypatch.setattr(PasswordHasher, "hash", meanwhile)
    assert accounts.check("Caity", PASSWORD) is not None
    assert accounts.check("Caity", PASSWORD) is None
    assert accounts.check("Caity", "battery staple") is not None


def test_a_new_account_is_nobody_that_another_door_can_name(accounts, tmp_path):
    keep_version_1(tmp_path)
    made = accounts.create("Ben", PASSWORD)
    assert made.user_id == "account:ben"
    for user_id in ("account:ben", "account:dora", "Account:Ben", "ａccount：ben", "user_caity"):
        assert accounts.owns(user_id), user_id
    for user_id in ("user_ben", "ben", "user_caity ", "user_account:ben"):
        assert not accounts.owns(user_id), user_id


def test_an_admin_joins_an_account_to_a_user_of_a_world_and_parts_them_again(accounts, tmp_path):
    keep_version_1(tmp_path)
    accounts.create("Ben", PASSWORD)
    for name, user_id in (("Ben", "user_ben"), ("Caity", "user_caity")):
        assert accounts.join(name, user_id).caller.user_id == user_id
        assert not accounts.owns(user_id)
    found = accounts.check("Ben", PASSWORD)
    assert found is not None
    assert found.user_id == "user_ben"
    accounts.join("Ben", "account:ben")
    assert accounts.find("Ben").caller.user_id == "account:ben"
    with pytest.raises(NotFound):
        accounts.join("Dora", "user_dora")


@pytest.mark.parametrize(
    "user_id",
    ["", "user\x1b[31m", "account:caity", "Account:Ben", "user_caity", "past:bob", "Past:Bob", "api_world"],
)
def test_an_account_is_not_joined_to_another_one(accounts, tmp_path, user_id):
    keep_version_1(tmp_path)
    accounts.create("Ben", PASSWORD)
    with pytest.raises(UserError):
        accounts.join("Ben", user_id)
    assert accounts.find("Ben").user_id == "account:ben"


def test_the_id_of_a_removed_account_is_nobody_elses_and_its_owner_has_it_again(accounts, tmp_path):
    keep_version_1(tmp_path)
    accounts.remove("Caity")
    assert accounts.owns("user_caity")
    assert accounts.gone("CAITY")
    assert not accounts.gone("Ben")
    assert accounts.check("Caity", PASSWORD) is None
    assert accounts.check("Caity", "") is None
    assert accounts.all() == []
    assert accounts.create("Caity", PASSWORD).user_id == "user_caity"


@pytest.mark.parametrize(
    "name", ["", "x", "two words", "account:caity", "1st", "a" * 21, "Ca\x1bity\x07!", "<b>"]
)
def test_names_that_will_not_do_are_refused(accounts, name):
    with pytest.raises(UserError, match="a name is one word"):
        accounts.create(name, PASSWORD)
    assert accounts.all() == []


@pytest.mark.parametrize(
    "name",
    [
        "api_admin",
        "API_world",
        "game",
        "Game",
        "me",
        "user_caity",
        "ｇame",
        "You",
        "Server",
        "here",
        "Everybody",
        "nobody",
        "someone",
        "quit",
        "connect",
        "self",
        "Admin",
        "viewer",
    ],
)
def test_names_by_which_others_are_meant_are_refused(accounts, name):
    with pytest.raises(UserError, match="has another meaning here"):
        accounts.create(name, PASSWORD)


@pytest.mark.parametrize("name", ["M\u0430ren", "Ph\u0456", "\u03a1hi", "\u0391\u043d\u043d\u0430"])
def test_a_name_that_only_looks_like_another_one_is_refused(accounts, name):
    with pytest.raises(UserError, match="different alphabets"):
        accounts.create(name, PASSWORD)
    assert accounts.all() == []


@pytest.mark.parametrize(
    "name", ["Zoë", "\u0410\u043d\u043d\u0430", "\u03a6\u03b9", "O'Brien", "さくら子", "Anne-Marie"]
)
def test_names_of_one_alphabet_are_anybodys(accounts, name):
    assert accounts.create(name, PASSWORD).name == name


@pytest.mark.parametrize("password", ["", "short", "x" * 129])
def test_passwords_that_will_not_do_are_refused(accounts, password):
    with pytest.raises(UserError, match="8 to 128"):
        accounts.create("Caity", password)


def test_a_name_is_taken_once_also_in_other_letters_of_the_same_look(accounts):
    accounts.create("Caity", PASSWORD)
    with pytest.raises(UserError, match="the name CAITY is taken"):
        accounts.create("ＣＡＩＴＹ", PASSWORD)


def test_roles_and_passwords_are_changed_and_accounts_removed_while_others_look(accounts, tmp_path):
    accounts.create("Caity", PASSWORD)
    elsewhere = Accounts(tmp_path, cost=CHEAPEST)
    elsewhere.change("caity", role=Role.ADMIN)
    elsewhere.change("caity", password="battery staple")
    found = accounts.check("Caity", "battery staple")
    assert found is not None
    assert found.role is Role.ADMIN
    assert accounts.check("Caity", PASSWORD) is None
    assert accounts.holds(found)
    elsewhere.change("caity", password="correct horse")
    assert not accounts.holds(found)  # whoever came in with the former password has to go
    elsewhere.remove("Caity")
    with pytest.raises(NotFound):
        accounts.find("Caity")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"version": 2}',
        '{"version": 3, "accounts": []}',
        '{"version": 1, "accounts": {"x": 3}}',
        '{"version": 2, "accounts": [{"name": "Caity", "role": "player", "hash": "x", "user_id": "x"}]}',
    ],
)
def test_a_damaged_file_lets_nobody_in_and_is_not_overwritten(accounts, tmp_path, text):
    (tmp_path / FILE_NAME).write_text(text, encoding="utf-8")
    with pytest.raises(StoreError):
        accounts.check("Caity", PASSWORD)
    with pytest.raises(StoreError):
        accounts.create("Caity", PASSWORD)
    assert (tmp_path / FILE_NAME).read_text(encoding="utf-8") == text


def test_of_an_account_that_is_erased_nothing_is_left_and_its_name_is_free(accounts, tmp_path):
    accounts.create("Caity", "a long password")
    accounts.remove("caity")
    assert [one.name for one in accounts.everybody()] == ["Caity"]
    accounts.erase("CAITY")
    assert accounts.everybody() == []
    assert "aity" not in (tmp_path / FILE_NAME).read_text()
    assert not accounts.gone("caity")
    assert accounts.create("Caity", "a long password").user_id == "account:caity"
