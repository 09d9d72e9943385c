import logging
import stat
import threading
import warnings
from pathlib import Path

import pytest

from noodlings import logs
from noodlings.errors import UserError
from noodlings.logs import logging_to


def test_our_words_go_to_the_file_and_nowhere_else(tmp_path, capfd):
    with logging_to(tmp_path / "new" / "folder", "info") as path:
        logging.getLogger("noodlings.memory").info("consolidated")
        logging.getLogger("noodlings.memory").debug("too fine")
        logging.getLogger("commands.talk").info("said")
        logging.getLogger("httpx").info("others are only heard when they warn")
        logging.getLogger("httpx").warning("a warning")
    logging.getLogger("noodlings.memory").info("afterwards")
    text = path.read_text(encoding="utf-8")
    assert [line.split(": ", 1)[1] for line in text.splitlines()] == ["consolidated", "said", "a warning"]
    assert "INFO    noodlings.memory" in text
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is full at once is a thing of Linux")
def test_a_log_that_cannot_be_written_costs_one_line_without_a_word_of_what_was_said(tmp_path, capfd):
    (tmp_path / logs.FILE_NAME).symlink_to("/dev/full")
    with logging_to(tmp_path, "info") as path:
        for _ in range(50):
            logging.getLogger("noodlings").info("heard: %s", "the zebrafinch died")
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert f"{path} cannot be written" in err
    assert "zebrafinch" not in err


def test_a_folder_that_is_made_is_for_its_owner_alone(tmp_path):
    with logging_to(tmp_path / "new", "info") as path:
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_every_file_of_the_log_is_for_its_owner_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(logs, "MAX_BYTES", 100)
    with logging_to(tmp_path, "info"):
        for _ in range(5):
            logging.getLogger("noodlings").info("something long enough to need another file soon")
    files = [stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()]
    assert len(files) > 1
    assert set(files) == {0o600}


def test_warnings_go_to_the_file(tmp_path, capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with logging_to(tmp_path, "error") as path:
            warnings.warn("old ways", DeprecationWarning, stacklevel=1)
    assert "old ways" in path.read_text(encoding="utf-8")
    assert capfd.readouterr().err == ""


def test_what_ends_a_thread_goes_to_the_file(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(threading, "excepthook", threading.__excepthook__)  # and not that of the test runner
    with logging_to(tmp_path, "info") as path:
        for end in ("int('many')", "raise SystemExit"):
            thread = threading.Thread(target=exec, args=(end,), name="counting")
            thread.start()
            thread.join()
    assert threading.excepthook is threading.__excepthook__
    text = path.read_text(encoding="utf-8")
    assert text.count("CRITICAL") == 1
    assert "counting broke: invalid literal for int() with base 10: 'many'\nTraceback" in text
    assert capfd.readouterr() == ("", "")


def test_a_folder_that_is_none_is_refused_in_words(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(UserError, match=r"data folder .* cannot be used"),
        logging_to(tmp_path / "file", "info"),
    ):
        pass


def test_a_file_that_is_replaced_while_the_log_is_held_still_is_written_on(tmp_path: Path) -> None:
    with logs.logging_to(tmp_path, "info") as path:
        logging.getLogger("noodlings").info("a secret")
        with logs.paused_logs(tmp_path):
            path.with_name("new").write_text("a line\n")
            path.with_name("new").replace(path)
        logging.getLogger("noodlings").info("another line")
        assert [line[-7:] for line in path.read_text().splitlines()] == ["a line", "er line"]


def test_a_file_that_another_process_has_replaced_is_opened_anew(tmp_path):
    log = logging.getLogger("noodlings.test")
    with logging_to(tmp_path, "info") as path:
        log.info("one")
        kept = tmp_path / "kept"
        kept.write_text("struck out\n")
        kept.replace(path)
        log.info("two")
        path.unlink()
        log.info("three")
    assert "three" in path.read_text()


def test_each_worker_of_a_folder_has_a_log_of_its_own(tmp_path):
    with logging_to(tmp_path, "info", worker=1) as first:
        pass
    with logging_to(tmp_path, "info", worker=2) as second:
        logging.getLogger("noodlings.test").info("two")
    assert (first.name, second.name) == ("noodlings.log", "noodlings.log-2")
    assert "two" in second.read_text()
    assert "two" not in first.read_text()
