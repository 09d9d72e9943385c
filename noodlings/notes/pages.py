"""Pages as Markdown, and the paths of their files: `people/Caity.md` and `journal/2026-11-23.md`.

The front matter lists the memories that a page rests on, so that a page can be found by them and removed.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from unicodedata import normalize

import yaml

from noodlings.notes.note import FENCE, escaped, folder_of
from noodlings.text import clean
from noodlings.values.page import Page, Statement

PEOPLE, JOURNAL = "people", "journal"
_LONGEST = 57  # characters of a name in a path: of four bytes each, with all that follows, less than 256
_UNSAFE = re.compile(r"[^\w '-]")
# Names of devices on Windows.
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)
_ID = "[1-9][0-9]{0,17}"
_CITED = re.compile(rf"{FENCE}\n(?:.*\n)*?memories: (\[(?:{_ID}(?:, {_ID})*)?\])\n")


def paths_of(agent_id: str, pages: Sequence[Page]) -> list[Path]:
    """Where the pages lie in the folder of notes. Two never share a path, even where capitals do not count.

    A person's page has the person's name, and a hash of the id unless that is safe and nobody else's.
    """
    names = [normalize("NFC", _UNSAFE.sub("-", page.title))[:_LONGEST].strip(" ") for page in pages]
    counts = Counter(name.casefold() for page, name in zip(pages, names, strict=True) if not page.day)
    paths = []
    for page, name in zip(pages, names, strict=True):
        plain = name and name == page.title and counts[name.casefold()] == 1 and not _DEVICE.fullmatch(name)
        if not (page.day or plain):
            name = f"{name}~{sha256(page.of.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
        paths.append(Path(folder_of(agent_id), JOURNAL if page.day else PEOPLE, f"{name}.md"))
    return paths


def render_page(agent_id: str, page: Page, notes: Mapping[int, str]) -> str:
    """The whole file.

    Args:
        notes: id of a memory → the path of its note without the suffix, "" where it has none.
    """
    front: dict[str, object] = {"agent": agent_id, "day" if page.day else "person": page.of}
    if page.also:
        front["aliases"] = [clean(one) for one in page.also]
    shown = yaml.safe_dump(front, sort_keys=False, width=math.inf)
    memories = json.dumps(sorted(page.evidence))
    lines = [_line(one, notes) for one in page.statements]
    body = ("\n\n" if page.day else "\n").join(lines)
    return f"{FENCE}\n{shown}memories: {memories}\n{FENCE}\n\n# {escaped(clean(page.title))}\n\n{body}\n"


def cited_by(text: str) -> set[int] | None:
    """The memories that a page rests on; None for any other file."""
    found = _CITED.match(text)
    return None if found is None else set(json.loads(found[1]))


def _line(one: Statement, notes: Mapping[int, str]) -> str:
    said = escaped(clean(one.text))
    if one.replaced_by:
        said = f"~~{said}~~ → {escaped(clean(one.replaced_by))}"
    links = [f"[[{path}|#{entry}]]" if (path := notes[entry]) else f"\\#{entry}" for entry in one.evidence]
    about = f"- **{escaped(clean(one.about))}** " if one.about else ""
    return f"{about}{said} {' '.join(links)}"
