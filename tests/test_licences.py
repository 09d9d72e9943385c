"""Whoever gets a wheel gets the licences of what is in it that is not ours."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
OTHERS = {
    "noodlings/affect/weights.npz": ("EmoBank", "Buechel", "CC BY-SA 4.0"),
    "noodlings/embed/queries.npz": ("EmoBank", "Buechel", "CC BY-SA 4.0"),
    "noodlings/embed/vocab.txt": ("vocabulary", "noodlings/embed/VOCAB-LICENSE", "Apache License"),
}


def test_the_metadata_of_the_wheel_names_every_licence_and_carries_its_text() -> None:
    assert PROJECT["license"].split(" AND ") == ["MIT", "Apache-2.0", "CC-BY-SA-4.0"]
    carried = " ".join((ROOT / file).read_text("utf-8") for file in PROJECT["license-files"])
    for words in ("MIT License", "creativecommons.org/licenses/by-sa/4.0", "TERMS AND CONDITIONS FOR USE"):
        assert words in carried


@pytest.mark.parametrize("page", ["README.md", "NOTICE"])
@pytest.mark.parametrize("file", OTHERS)
def test_what_rests_on_the_work_of_others_says_so(page: str, file: str) -> None:
    assert (ROOT / file).is_file()
    text = (ROOT / page).read_text("utf-8")
    for words in (file, *OTHERS[file]):
        assert words in text
