"""`noodlings scene` on the command line: what a person and a script get to see."""

import json
import sys

import pytest

from noodlings.cli.main import main
from tests.cli.test_main import ROOT

EXAMPLES = ROOT / "examples" / "scenes"


@pytest.fixture
def scene(monkeypatch, capfd, tmp_path):
    """Runs `noodlings scene` in this process: exit code, output, errors."""
    monkeypatch.setenv("NOODLINGS_CONFIG", str(ROOT / "config.yaml"))
    monkeypatch.setenv("NOODLINGS_DATA", str(tmp_path))

    def scene(*words):
        monkeypatch.setattr(sys, "argv", ["noodlings", "scene", *map(str, words)])
        try:
            code = main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        return code, *capfd.readouterr()

    return scene


def test_a_person_sees_each_step_and_what_was_read(scene):
    code, out, err = scene(EXAMPLES / "father_in_law.yaml", "--gain", "subconscious=1")
    assert (code, err) == (0, "")
    for part in ("heard", "thought", "subconscious 1  offline", "image “A rooster", "says"):
        assert part in out
    assert "\x1b" not in out


def test_a_script_gets_one_line(scene):
    code, out, _ = scene(EXAMPLES / "father_in_law.yaml", "--json", "--gain", "subconscious=1")
    assert (code, out.count("\n")) == (0, 1)
    told = json.loads(out)
    assert told["final"] == told["modulations"][-1]["after"]
    [made] = [made for made in told["modulations"] if made["transistor"] == "subconscious"]
    assert made["how"] == "offline"
    assert made["lens"]
    assert made["symbols"][0]["image"].startswith("A rooster")
    assert "rooster" in made["after"]
    assert "rooster" not in made["before"]


def test_several_scenes_are_one_line_too(scene):
    code, out, _ = scene(EXAMPLES / "quiet.yaml", "--json")
    told = json.loads(out)
    assert (code, out.count("\n"), len(told["scenes"])) == (0, 1, 5)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--gain", "memory"), "a gain is written NAME=VALUE"),
        (("--gain", "memory=2"), "from 0 to 1"),
        (("--gain", "memory=nan"), "from 0 to 1"),
        (("--gain", "memmory=1"), "did you mean memory"),
        (("--gain", "../outside=1"), "--gain: there is no transistor ../outside"),
        (("--gain", "bogus=0"), "--gain: there is no transistor bogus"),
    ],
)
def test_a_wrong_gain_is_refused_in_one_line(scene, tmp_path, words, said):
    (tmp_path / "transistors").mkdir()
    (tmp_path / "outside.py").write_text("1 / 0", encoding="utf-8")
    code, out, err = scene(EXAMPLES / "quiet.yaml", *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


def test_a_users_own_transistor_is_heard(scene, tmp_path):
    folder = tmp_path / "transistors"
    folder.mkdir()
    wit = (ROOT / "examples" / "transistors" / "wit.py").read_text(encoding="utf-8")
    (folder / "wit.py").write_text(wit, encoding="utf-8")
    code, out, _ = scene(EXAMPLES / "quiet.yaml", "--json", "--gain", "wit=1", "--data", tmp_path)
    assert code == 0
    for told in json.loads(out)["scenes"]:
        assert told["modulations"][-1]["transistor"] == "wit"
        assert told["modulations"][-1]["how"] == "offline"


def test_nothing_is_kept(scene, tmp_path):
    scene(EXAMPLES / "quiet.yaml")
    assert list(tmp_path.iterdir()) == []
