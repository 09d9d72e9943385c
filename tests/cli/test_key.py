"""Keys on the command line, and what is said where one is wrong or missing."""

from __future__ import annotations

import json
import os
import stat
import sys
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

from noodlings.errors import UserError
from noodlings.ports import Changes
from noodlings.store.cipher import UserKey
from noodlings.store.database import DATABASE_NAME
from noodlings.store.keys import UserKeys
from noodlings.store.sql import SqlStore
from noodlings.store.vault import Encryption
from noodlings.values.audience import Tier
from tests.program import Ended, ran
from tests.store.records import AGENT, an_entry


class Folder:
    """A data folder, a key file, and the program that works with them."""

    def __init__(self, path: Path) -> None:
        self.data, self.key = path / "data", path / "key"

    def run(self, *words: object, **changes: str) -> Ended:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("NOODLINGS_")}
        settings = {"NOODLINGS_STORE__KEY_FILE": str(self.key), "NOODLINGS_STORE__ENCRYPT": "all"}
        return ran(*words, "--data", self.data, environment=kept | settings | changes)

    def said(self, *words: object, **changes: str) -> str:
        done = self.run(*words, **changes)
        assert done.returncode == 0, done.stderr
        return done.stdout.decode()

    def refused(self, *words: object, **changes: str) -> str:
        done = self.run(*words, **changes)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr.decode()
        return done.stderr.decode()

    @property
    def encryption(self) -> Encryption:
        return Encryption(Tier.OPEN, UserKeys(file=str(self.key)))

    def keep(self) -> None:
        with closing(SqlStore(self.data, encryption=self.encryption)) as store:
            store.commit(Changes(AGENT, added=(an_entry(1, "zanzibar", stability=60.0),)))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path)
    made.said("key", "new")
    made.keep()
    return made


def test_a_new_key_is_for_its_owner_alone_and_never_replaced(folder: Folder) -> None:
    (key,) = folder.encryption.keys.read()
    assert stat.S_IMODE(folder.key.stat().st_mode) == 0o600
    before = folder.key.read_bytes()
    assert "key rotate" in folder.refused("key", "new")
    assert folder.key.read_bytes() == before
    elsewhere = folder.key.with_name("other")
    assert f"store.key_file: {elsewhere}" in folder.said("key", "new", elsewhere)
    assert key.text not in folder.said("key", "status")


def test_a_key_does_not_lie_in_the_data_folder(folder: Folder) -> None:
    assert "keep it elsewhere" in folder.refused("key", "new", folder.data / "key")
    assert not (folder.data / "key").exists()


def test_rotating_encrypts_everything_with_a_new_key(folder: Folder) -> None:
    (old,) = folder.encryption.keys.read()
    assert "everything is encrypted with it" in folder.said("key", "rotate")
    new, kept = folder.encryption.keys.read()
    assert kept == old
    status = folder.said("key", "status")
    assert f"encrypted with key {new.id}: everything" in status
    assert f"except for older backups: {old.id}" in status
    assert json.loads(folder.said("key", "status", "--json")) == {
        "encrypt": "all",
        "key": new.id,
        "due": False,
    }
    folder.key.write_text(new.text)
    assert "exported 1 character" in folder.said("export", folder.key.with_name("out.jsonl"))


def test_while_somebody_plays_the_running_noodlings_changes_the_key(folder: Folder) -> None:
    with closing(SqlStore(folder.data, encryption=folder.encryption)) as store:
        assert "that is running here will use it" in folder.said("key", "rotate")
        store.commit(Changes(AGENT, added=(an_entry(2, "quagga"),)))
    SqlStore(folder.data, encryption=folder.encryption).close()
    new, _ = folder.encryption.keys.read()
    with closing(SqlStore(folder.data, encryption=Encryption(Tier.OPEN, UserKeys(new.text)))) as store:
        assert [entry.user_text for entry in store.archive(AGENT)] == ["zanzibar", "quagga"]


def test_the_old_key_is_needed_until_the_running_noodlings_took_up_the_new_one(folder: Folder) -> None:
    (old,) = folder.encryption.keys.read()
    with closing(SqlStore(folder.data, encryption=folder.encryption)):
        folder.said("key", "rotate")
        new, _ = folder.encryption.keys.read()
        status = folder.said("key", "status")
        assert f"encrypted with key {old.id}: not everything yet" in status
        assert "no longer needed" not in status
    assert f"encrypted with key {new.id}" in folder.said("key", "status")  # it took it up as it ended
    folder.key.write_text(new.text)
    with closing(SqlStore(folder.data, encryption=folder.encryption)) as store:
        assert [entry.user_text for entry in store.archive(AGENT)] == ["zanzibar"]


def test_a_key_in_the_environment_is_not_rotated_by_us(folder: Folder) -> None:
    key = folder.encryption.keys.read()[0].text
    refused = folder.refused("key", "rotate", NOODLINGS_STORE__KEY=key)
    assert "NOODLINGS_STORE__KEY, separated by a space" in refused


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "key"),
    [
        *(("export", key) for key in ("missing", "wrong", "broken", "none")),
        *((command, "wrong") for command in ("compact", "play", "notes rebuild", "key status")),
    ],
)
def test_a_wrong_or_missing_key_is_refused_in_words_and_destroys_nothing(
    folder: Folder, command: str, key: str
) -> None:
    before = (folder.data / DATABASE_NAME).read_bytes()
    kept = folder.key.read_bytes()
    changes = {"NOODLINGS_STORE__KEY_FILE": ""} if key == "none" else {}
    if key == "missing":
        folder.key.unlink()
    elif key == "wrong":
        folder.key.write_text(UserKey(bytes(32)).text)
    elif key == "broken":
        folder.key.write_text("open sesame")
    told = folder.refused(*command.split(), **changes)
    assert "key" in told
    assert "sesame" not in told
    assert (folder.data / DATABASE_NAME).read_bytes() == before
    folder.key.write_bytes(kept)
    assert "exported 1 character" in folder.said("export", folder.key.with_name("out.jsonl"))


@pytest.mark.slow
def test_an_export_is_encrypted_unless_it_is_to_be_plain(folder: Folder, tmp_path: Path) -> None:
    sealed, plain, back = tmp_path / "sealed.jsonl", tmp_path / "plain.jsonl", tmp_path / "back"
    assert "encrypted" in folder.said("export", sealed)
    assert b"zanzibar" not in sealed.read_bytes()
    assert ", encrypted" not in folder.said("export", plain, "--plain")
    assert b"zanzibar" in plain.read_bytes()
    folder.data = back
    assert "imported 1 character" in folder.said("import", sealed)
    folder.said("export", tmp_path / "again.jsonl", "--plain")
    assert (tmp_path / "again.jsonl").read_bytes() == plain.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["key", "bit", "line", "cut"])
def test_an_encrypted_export_that_does_not_open_imports_nothing(
    folder: Folder, tmp_path: Path, damage: str
) -> None:
    sealed = tmp_path / "sealed.jsonl"
    folder.said("export", sealed)
    lines = sealed.read_bytes().splitlines(keepends=True)
    if damage == "key":
        folder.key.write_text(UserKey(bytes(32)).text)
    elif damage == "bit":
        lines[2] = lines[2][:40] + (b"A" if lines[2][40:41] != b"A" else b"B") + lines[2][41:]
    elif damage == "line":
        lines[1], lines[2] = lines[2], lines[1]
    else:
        lines.pop()
    sealed.write_bytes(b"".join(lines))
    folder.data = tmp_path / "back"
    assert "nothing was imported" in folder.refused("import", sealed)
    assert not folder.data.exists()


def test_the_keyring_is_asked_where_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = UserKeys(file="keyring")
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(UserError, match="pip install keyring"):
        keys.read()
    kept: dict[tuple[str, str], str] = {}
    ring = ModuleType("keyring")
    ring.get_password = lambda *of: kept.get(of)  # type: ignore[attr-defined]
    ring.set_password = lambda service, name, text: kept.update({(service, name): text})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", ring)
    with pytest.raises(UserError, match="there is no key in keyring"):
        keys.read()
    key = UserKey(bytes(32))
    keys.write((key,))
    assert keys.read() == (key,)
