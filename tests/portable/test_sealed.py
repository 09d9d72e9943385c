"""Exports carry tiers, and an encrypted one opens with its key as the plain one it was made of."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noodlings.errors import UserError
from noodlings.portable.export import export
from noodlings.portable.intake import check, take_in
from noodlings.portable.sealed import OpenedExport, header_of, sealing
from noodlings.ports import Changes
from noodlings.store.cipher import UserKey
from noodlings.store.keys import UserKeys
from noodlings.store.sql import SqlStore
from noodlings.store.transfer import snapshot
from noodlings.store.vault import Encryption
from noodlings.values.audience import Audience, Tier
from tests.store.records import AGENT, a_symbol, a_trace, an_entry

KEY = UserKey(bytes(32))
ENCRYPTION = Encryption(Tier.OPEN, UserKeys(KEY.text))


def audience(tier: Tier) -> Audience:
    return Audience(frozenset({"user_caity", AGENT}), tier=tier)


def test_tiers_come_through_an_export_and_sealed_words_through_an_encrypted_one_alone(tmp_path: Path) -> None:
    entries = tuple(
        replace(an_entry(1 + tier, f"line {tier}", stability=60.0), audience=audience(tier)) for tier in Tier
    )
    secret = audience(Tier.SECRET)
    with closing(SqlStore(tmp_path / "here", encryption=ENCRYPTION)) as store:
        store.commit(Changes(AGENT, added=entries))
        symbols = (a_symbol(1, 3, audience=secret), a_symbol(2, 4, symbolic_encoding="a zarnok"))
        store.commit(Changes(AGENT, trace=a_trace(3, audience=secret), symbols=symbols))
        said = a_trace(4, audience=audience(Tier.SEALED), thought="zarnok", response="a zarnok")
        store.commit(Changes(AGENT, trace=said))
    texts, images = {}, {}
    for sealed_words in (True, False):
        written: list[str] = []
        with snapshot(tmp_path / "here", ENCRYPTION, sealed_words) as kept:
            export(kept, [AGENT], written.append)
        images[sealed_words] = sum("zarnok" in line for line in written)
        lines = BytesIO("".join(written).encode())
        there = tmp_path / f"there{sealed_words}"
        with closing(SqlStore(there, encryption=ENCRYPTION)) as into:
            take_in(lines, check(lines, lambda number: None).agents, into, lambda number: None)
        with closing(SqlStore(there, encryption=ENCRYPTION)) as store:
            assert [entry.audience for entry in store.archive(AGENT)] == [entry.audience for entry in entries]
            assert [trace.audience.tier for trace in store.traces(AGENT, 2)] == [Tier.SEALED, Tier.SECRET]
            record = store.load(AGENT)
            assert record is not None
            assert record.symbols[0].audience == secret
        with snapshot(there, ENCRYPTION, sealed_words=True) as kept:
            texts[sealed_words] = [one.entry.user_text for one in kept.entries(AGENT)]
    assert texts[True] == ["line 0", "line 1", "line 2", "line 3"]
    assert texts[False] == ["line 0", "line 1", "line 2", ""]
    assert images == {True: 1, False: 0}


@given(st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))))
def test_an_encrypted_export_reads_as_the_plain_one_twice(lines: list[str]) -> None:
    file = sealed(lines)
    opened = OpenedExport(file, lambda key_id: KEY)
    for _ in range(2):
        assert [opened.readline().decode() for _ in lines] == [f"{line}\n" for line in lines]
        assert opened.readline() == b""
        opened.seek(0)


def sealed(lines: list[str]) -> BytesIO:
    written: list[str] = []
    put = sealing(written.append, KEY)
    for line in lines:
        put(f"{line}\n")
    return BytesIO("".join(written).encode())


@pytest.mark.parametrize("at", range(8))
def test_no_character_of_a_line_can_be_another(at: int) -> None:
    header, line = sealed(["line"]).getvalue().splitlines()
    changed = line[:at] + (b"B" if line[at : at + 1] != b"B" else b"C") + line[at + 1 :]
    opened = OpenedExport(BytesIO(b"\n".join([header, changed])), lambda key_id: KEY)
    with pytest.raises(UserError, match="line 2 was damaged or changed"):
        opened.readline()


def test_with_another_key_it_says_which_one_it_needs() -> None:
    with pytest.raises(UserError, match=f"needs key {KEY.id}"):
        OpenedExport(sealed(["line"]), lambda key_id: UserKey(bytes(range(32))))


@pytest.mark.parametrize("raw", [b"", b"{}", b"[]", b"\xff", b'{"format": "noodlings-export"}\n'])
def test_any_other_file_is_no_encrypted_export(raw: bytes) -> None:
    assert header_of(BytesIO(raw)) is None
