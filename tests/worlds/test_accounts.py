import hashlib
import stat

import pytest

from noodlings.errors import NotFound, StoreError, UserError
from noodlings.values.caller import Caller, Role
from noodlings.worlds.accounts import FILE_NAME, Accounts

PASSWORD = "correct horse"


@pytest.fixture
def accounts(tmp_path):
    return Accounts(tmp_path, cost=4)


def test_whoever_has_the_password_is_let_in_by_name_in_any_case(accounts):
    made = accounts.create("Caity", PASSWORD)
    assert accounts.check("cAITY", PASSWORD) == made
    assert accounts.check("Caity", PASSWORD.upper()) is None
    assert accounts.check("Ben", PASSWORD) is None
    assert made.caller == Caller("user_caity", "Caity", Role.PLAYER)


def test_the_first_account_is_a_player_like_any_other(accounts):
    assert accounts.create("Caity", PASSWORD).role is Role.PLAYER


def test_accounts_outlive_the_program_and_no_password_is_in_the_file(accounts, tmp_path):
    made = accounts.create("Caity", PASSWORD)
    file = tmp_path / FILE_NAME
    assert PASSWORD not in file.read_text(encoding="utf-8")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert Accounts(tmp_path).check("Caity", PASSWORD) == made


def test_two_with_one_password_have_different_hashes(accounts):
    assert accounts.create("Caity", PASSWORD).key != accounts.create("Ben", PASSWORD).key


def test_a_name_that_nobody_has_costs_as_much_as_a_wrong_password(accounts, monkeypatch):
    accounts.create("Caity", PASSWORD)
    worked = []
    scrypt = hashlib.scrypt
    monkeypatch.setattr(hashlib, "scrypt", lambda *a, **o: worked.append((o["n"], o["r"])) or scrypt(*a, **o))
    accounts.check("Caity", "wrong password")
    accounts.check("Nobody", "wrong password")
    assert worked == [(16, 8), (16, 8)]


@pytest.mark.parametrize(
    "name", ["", "x", "two words", "user_caity", "1st", "a" * 21, "Ca\x1bity\x07!", "<b>"]
)
def test_names_that_will_not_do_are_refused(accounts, name):
    with pytest.raises(UserError, match="a name is one word"):
        accounts.create(name, PASSWORD)
    assert accounts.all() == []


@pytest.mark.parametrize("password", ["", "short", "x" * 129])
def test_passwords_that_will_not_do_are_refused(accounts, password):
    with pytest.raises(UserError, match="8 to 128"):
        accounts.create("Caity", password)


def test_a_name_is_taken_once_also_in_other_letters_of_the_same_look(accounts):
    accounts.create("Caity", PASSWORD)
    with pytest.raises(UserError, match="somebody is called CAITY"):
        accounts.create("ＣＡＩＴＹ", PASSWORD)


def test_roles_and_passwords_are_changed_and_accounts_removed_while_others_look(accounts, tmp_path):
    accounts.create("Caity", PASSWORD)
    elsewhere = Accounts(tmp_path, cost=4)
    elsewhere.change("caity", role=Role.ADMIN)
    elsewhere.change("caity", password="battery staple")
    found = accounts.check("Caity", "battery staple")
    assert found is not None
    assert found.role is Role.ADMIN
    assert accounts.check("Caity", PASSWORD) is None
    elsewhere.remove("Caity")
    with pytest.raises(NotFound):
        accounts.find("Caity")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 2}', '{"version": 1, "accounts": {"x": 3}}'])
def test_a_damaged_file_lets_nobody_in_and_is_not_overwritten(accounts, tmp_path, text):
    (tmp_path / FILE_NAME).write_text(text, encoding="utf-8")
    with pytest.raises(StoreError):
        accounts.check("Caity", PASSWORD)
    with pytest.raises(StoreError):
        accounts.create("Caity", PASSWORD)
    assert (tmp_path / FILE_NAME).read_text(encoding="utf-8") == text
