"""Tables from outside: what is nested without end is refused in words before it ends the process."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import pytest
import yaml

from noodlings.agent.recipes import load_recipe
from noodlings.errors import UserError
from noodlings.validation import DEEPEST, read_yaml, yaml_trouble


@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("expires: 2026-11-31", "an impossible date, number or tag at line 1, column 10"),
        ("a: 1\nb: 2020-13-45", "line 2, column 4"),
        (f"a: {'9' * 5000}", "a number of 5,000 digits is too long"),
        (f"a: 0x{'f' * 5000}", "a number of 5,002 digits is too long"),
        (f"a: 1:{'59:' * 400}59", "is too long"),
        ("a: !!int x", "an impossible date, number or tag"),
        ("? 2026-02-30\n: 1", "an impossible date, number or tag"),
        ("expires: !!bool x", "an impossible date, number or tag"),
        ("expires: !!timestamp x", "an impossible date, number or tag"),
        ("a: !!float x", "an impossible date, number or tag"),
        ('a: !!int ""', "an impossible date, number or tag"),
        (f"a: 1:{'59:' * 200}59.5", "an impossible date, number or tag"),
        ("a: !!binary x", "base64"),
        ("a: !!python/name:os.system x", "could not determine a constructor"),
    ],
)
def test_impossible_dates_and_numbers_are_bad_yaml(text: str, why: str) -> None:
    with pytest.raises(yaml.YAMLError) as caught:
        read_yaml(text)
    assert why in yaml_trouble(caught.value)


def test_dates_and_numbers_that_are_possible_are_read() -> None:
    text = f"{{a: 2026-11-30, b: 0x1f, c: 1:30, d: {'9' * 400}, e: [2026-11-30T10:00:00, 1e400]}}"
    read = read_yaml(text)
    numbers = {"b": 31, "c": 90, "d": 10**400 - 1}
    assert read == {"a": date(2026, 11, 30), **numbers, "e": [datetime(2026, 11, 30, 10), "1e400"]}
