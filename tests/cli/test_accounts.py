from pathlib import Path

import pytest
from typer.testing import CliRunner

from noodlings.cli.main import app
from noodlings.errors import NotFound, UserError
from noodlings.values.caller import Role
from noodlings.worlds.accounts import Accounts

PASSWORD = "correct horse"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NOODLINGS_DATA", str(tmp_path))

    def type_it(*words: str, typed: str = "") -> str:
        done = CliRunner().invoke(app, ["account", *words], input=typed)
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == 0
        return done.stdout

    return type_it


@pytest.mark.slow
def test_an_admin_is_made_on_the_machine_and_lets_itself_in(run, tmp_path):
    assert (
        run("add", "Caity", "--role", "admin", typed=f"{PASSWORD}\n") == "Caity can now connect, as admin\n"
    )
    made = Accounts(tmp_path).check("caity", PASSWORD)
    assert made is not None
    assert made.role is Role.ADMIN
    assert run("list").split() == ["Caity", "admin", "account:caity"]


@pytest.mark.slow
def test_roles_and_passwords_are_changed_and_accounts_taken_away(run, tmp_path):
    run("add", "Caity", typed=f"{PASSWORD}\n")
    run("role", "caity", "viewer")
    run("password", "caity", typed="battery staple\n")
    made = Accounts(tmp_path).check("Caity", "battery staple")
    assert made is not None
    assert made.role is Role.VIEWER
    assert "is out at their next line" in run("remove", "Caity")
    assert run("list") == ""


@pytest.mark.slow
def test_an_account_and_a_users_of_a_world_are_joined_and_parted_on_the_machine(run, tmp_path):
    run("add", "Caity", typed=f"{PASSWORD}\n")
    said = run("join", "caity", "user_caity")
    assert said == "Caity will be user_caity from the next connection\n"
    assert Accounts(tmp_path).find("Caity").caller.user_id == "user_caity"
    assert run("list").split() == ["Caity", "player", "user_caity"]
    run("join", "Caity", "account:caity")
    assert Accounts(tmp_path).find("Caity").caller.user_id == "account:caity"


@pytest.mark.slow
def test_mistakes_are_told(run):
    run("add", "Ben", typed=f"{PASSWORD}\n")
    for character in ("phi", "PHI", "agent_phi"):
        with pytest.raises(UserError, match="is a character"):
            run("join", "Ben", character)
    with pytest.raises(UserError, match="is an account, not a user of another world"):
        run("join", "Ben", "account:caity")
    with pytest.raises(NotFound):
        run("role", "nobody", "admin")
    with pytest.raises(UserError, match="8 to 128"):
        run("add", "Caity", typed="short\n")
