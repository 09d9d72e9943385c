"""What the documentation shows is what there is."""

import re
from pathlib import Path

from noodlings.transistors.chain import DEFAULT_GAIN, load_chain
from noodlings.values.persona import TRANSISTORS
from tests.fakes import make_persona
from tests.transistors.states import AFRAID, make_state

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "transistors.md").read_text(encoding="utf-8")
CODE = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def test_the_example_is_shown_whole():
    assert CODE[0] == (ROOT / "examples" / "transistors" / "wit.py").read_text(encoding="utf-8")


async def test_the_other_example_works(tmp_path):
    imports = "from noodlings.transistors.base import CognitiveTransistor, ThoughtState\n"
    (tmp_path / "loud.py").write_text(imports + CODE[1], encoding="utf-8")
    loud = load_chain(make_persona("Ada", transistors={"loud": 1.0}), tmp_path).transistors[-1]
    assert not loud.by_lens
    assert await loud.modulate("no", make_state(affect=AFRAID)) == "NO"
    assert await loud.modulate("no", make_state()) == "no"


def test_the_five_and_their_gain_are_named():
    assert re.findall(r"^\| \*\*(\w+)\*\*", TEXT, re.MULTILINE) == list(TRANSISTORS)
    assert f"stand at {DEFAULT_GAIN}" in TEXT.replace("\n", " ")


def test_every_file_that_is_named_is_there():
    for name in re.findall(r"(?:examples|noodlings)/[\w/]+\.(?:yaml|py)", TEXT):
        assert (ROOT / name).is_file(), name
