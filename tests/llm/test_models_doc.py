"""What docs/models.md says of settings and failures is so."""

import re
from pathlib import Path

from noodlings.config import LLMSettings
from noodlings.llm.call import Task
from noodlings.llm.circuit_breaker import FAILURES, FIRST_PAUSE, LONGEST_PAUSE
from noodlings.llm.gateway import PAUSES, SHARES
from noodlings.llm.transport import OPTIONAL

DOC = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table under a heading."""
    part = DOC.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if line[:1] == "|"
    ]


def told() -> dict[str, str]:
    """Each key in the table of settings with its default."""
    found: dict[str, str] = {}
    for row in rows("Settings"):
        names = re.findall(r"`([\w.]+)`", row[0])
        section = names[0].partition(".")[0] + "." if names and "." in names[0] else ""
        found |= {section + name.rpartition(".")[2]: row[1] for name in names}
    return found


def test_every_setting_is_told_with_its_default():
    settings = {}
    for key, default in LLMSettings().model_dump(mode="json").items():
        parts = default if isinstance(default, dict) else {"": default}
        settings |= {f"{key}.{part}".rstrip("."): value for part, value in parts.items()}
    shown = {key: str(value).lower().removesuffix(".0") or "empty" for key, value in settings.items()}
    assert {key: default for key, default in told().items() if key} == shown


def test_every_task_is_told():
    assert {row[0] for row in rows("What a model is asked")} >= {f"`{task}`" for task in Task}
    assert SHARES == {Task.APPRAISE: 0.5, Task.ACTION: 0.5, Task.FACTS: 3.0, Task.JOURNAL: 3.0}


def test_numbers_are_those_of_the_code():
    assert f"after {PAUSES[0]:g} s, then after {PAUSES[1]:g} s" in DOC
    assert f"| {FAILURES} failures in a row | not called for {FIRST_PAUSE:g} s" in DOC
    assert f"doubles the wait, up to {LONGEST_PAUSE:g} s" in DOC
    assert all(f"`{name}`" in DOC for name in OPTIONAL)
