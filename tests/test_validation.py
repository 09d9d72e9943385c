"""Tables from outside: what is nested without end is refused in words before it ends the process."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from noodlings.agent.recipes import load_recipe
from noodlings.errors import UserError
from noodlings.validation import DEEPEST, read_yaml


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        "{a: " * 200_000,
        "- " * 50_000 + "a",
        "".join(f"{' ' * level}a:\n" for level in range(2_000)),
        "a: " + "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1),
    ],
    ids=["lists", "sections", "dashes", "indented", "one too many"],
)
def test_what_is_nested_too_deep_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(yaml.YAMLError):
        read_yaml(text)
    path = tmp_path / "deep.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match="deep"):
        load_recipe(path)


def test_what_is_not_nested_may_be_full_of_brackets() -> None:
    text = "\n".join(f"- '{{name}} [{number}'" for number in range(500))
    assert read_yaml(text) == [f"{{name}} [{number}" for number in range(500)]
    deep = "[" * DEEPEST + "]" * DEEPEST
    assert read_yaml(deep)[0] is not None
