"""One writer, and a hint about who it is that can never do harm."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

from noodlings.errors import StoreBusy, StoreError
from noodlings.store.lock import HOLDER_NAME, LOCK_NAME, writer_lock


def test_the_second_is_refused_until_the_first_lets_go(tmp_path: Path) -> None:
    with writer_lock(tmp_path), pytest.raises(StoreBusy), writer_lock(tmp_path):
        pass
    with writer_lock(tmp_path):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="Windows deletes no file that is open")
def test_the_second_is_refused_although_the_lock_file_was_deleted(tmp_path: Path) -> None:
    with writer_lock(tmp_path):
        for _ in range(2):
            (tmp_path / LOCK_NAME).unlink()
            (tmp_path / HOLDER_NAME).unlink(missing_ok=True)
            with pytest.raises(StoreBusy), writer_lock(tmp_path):
                pass
    with writer_lock(tmp_path):
        pass


def test_who_holds_it_is_named_by_program_and_subcommand_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["/usr/bin/noodlings", "play", "--token", "secret"])
    with (
        writer_lock(tmp_path),
        pytest.raises(StoreBusy, match=rf"by process {os.getpid()} \(noodlings play\);"),
        writer_lock(tmp_path),
    ):
        pass
    assert not (tmp_path / HOLDER_NAME).exists()


def test_a_lock_is_let_go_of_by_whichever_thread_closes_it(tmp_path: Path) -> None:
    lock = writer_lock(tmp_path)
    lock.__enter__()
    thread = threading.Thread(target=lock.__exit__, args=(None, None, None))
    thread.start()
    thread.join()
    with writer_lock(tmp_path):
        pass


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"pid": "x"}', b'{"pid": 1}', b"\xff\xfe"])
def test_a_damaged_hint_only_costs_the_name(tmp_path: Path, content: bytes) -> None:
    with writer_lock(tmp_path):
        (tmp_path / HOLDER_NAME).write_bytes(content)
        with pytest.raises(StoreBusy, match=r"already in use by another process;"), writer_lock(tmp_path):
            pass


def test_a_hint_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    hint = '{"pid": 7, "command": "\\u001b[31mnoodlings\\n' + "y" * 500 + '"}'
    with writer_lock(tmp_path):
        (tmp_path / HOLDER_NAME).write_text(hint)
        with pytest.raises(StoreBusy, match=r"by process 7 \(noodlings y{49}…\);"), writer_lock(tmp_path):
            pass


def test_a_folder_that_cannot_be_locked_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / LOCK_NAME).mkdir()
    with pytest.raises(StoreError, match="cannot be locked"), writer_lock(tmp_path):
        pass
