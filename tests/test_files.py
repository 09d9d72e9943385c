import os
import stat

import pytest

from noodlings.agent.recipes import load_recipe
from noodlings.errors import UserError
from noodlings.files import atomic_write, in_words, make_private, path_of, read_bounded
from noodlings.ingest.sources.mapped import Mapping
from noodlings.lab.scene_file import load_scenes
from noodlings.validation import LARGEST, read_table, yaml_of


def test_what_was_written_takes_the_place_when_it_is_whole(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with atomic_write(path) as aside:
        aside.write_text("new")
        assert path.read_text() == "old"
        assert stat.S_IMODE(aside.stat().st_mode) == 0o600
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_what_the_system_refuses_is_said_in_words(tmp_path):
    path = tmp_path / "nowhere"
    with (
        pytest.raises(UserError, match=r"nowhere cannot be read: No such file or directory$"),
        in_words(path, "read"),
    ):
        path.read_text()


def test_what_was_not_finished_leaves_everything_as_it_was(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def write_half():
        with atomic_write(path) as aside:
            aside.write_text("ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_somebody_who_was_killed_left_behind_is_no_hindrance(tmp_path):
    path = tmp_path / "file"
    (tmp_path / "file.part").write_text("half a fi")
    with atomic_write(path) as aside:
        assert aside.read_text() == ""
    assert path.read_text() == ""


def test_where_nothing_can_be_written_nothing_is_hidden(tmp_path):
    with pytest.raises(OSError, match="No such file"), atomic_write(tmp_path / "no" / "file"):
        pass


def test_a_private_file_is_made_once_and_stays_as_its_owner_made_it(tmp_path):
    path = tmp_path / "file"
    assert stat.S_IMODE(make_private(path).stat().st_mode) == 0o600
    path.write_text("old")
    path.chmod(0o640)
    assert stat.S_IMODE(make_private(path).stat().st_mode) == 0o640
    assert path.read_text() == "old"


@pytest.mark.parametrize("text", ["~nobody-of-that-name/x", "a\0b"])
def test_what_names_no_path_is_said_in_words(text):
    with pytest.raises(UserError):
        path_of(text)
    assert path_of("~").is_absolute()


def test_no_more_is_read_than_was_allowed(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_bounded(path, 5) == b"12345"
    with pytest.raises(OSError, match="it is larger than 4 bytes"):
        read_bounded(path, 4)
    path.write_bytes(b"#" * (LARGEST + 1))
    with pytest.raises(UserError, match="file cannot be read: it is larger than 10,000,000 bytes"):
        yaml_of(path)


@pytest.mark.parametrize("special", ["link", "pipe"])
@pytest.mark.parametrize(
    ("read", "name"),
    [
        (load_recipe, "phi.yaml"),
        (load_recipe, "phi.json"),
        (load_recipe, "phi.png"),
        (load_scenes, "scene.yaml"),
        (lambda path: read_table(path, Mapping), "mapping.yaml"),
    ],
)
def test_what_never_ends_is_not_begun(tmp_path, read, name, special):
    path = tmp_path / name
    path.symlink_to("/dev/null") if special == "link" else os.mkfifo(path)
    with pytest.raises(UserError, match="cannot be read: it is not a regular file"):
        read(path)
