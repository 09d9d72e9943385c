import stat

import pytest

from noodlings.files import made_private, written_whole


def test_what_was_written_takes_the_place_when_it_is_whole(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with written_whole(path) as aside:
        aside.write_text("new")
        assert path.read_text() == "old"
        assert stat.S_IMODE(aside.stat().st_mode) == 0o600
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_what_was_not_finished_leaves_everything_as_it_was(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def write_half():
        with written_whole(path) as aside:
            aside.write_text("ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_somebody_who_was_killed_left_behind_is_no_hindrance(tmp_path):
    path = tmp_path / "file"
    (tmp_path / "file.part").write_text("half a fi")
    with written_whole(path) as aside:
        assert aside.read_text() == ""
    assert path.read_text() == ""


def test_where_nothing_can_be_written_nothing_is_hidden(tmp_path):
    with pytest.raises(OSError, match="No such file"), written_whole(tmp_path / "no" / "file"):
        pass


def test_a_private_file_is_made_once_and_stays_as_its_owner_made_it(tmp_path):
    path = tmp_path / "file"
    assert stat.S_IMODE(made_private(path).stat().st_mode) == 0o600
    path.write_text("old")
    path.chmod(0o640)
    assert stat.S_IMODE(made_private(path).stat().st_mode) == 0o640
    assert path.read_text() == "old"
