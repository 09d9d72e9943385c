"""The sources that noodlings ingest knows, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from noodlings.errors import UserError
from noodlings.ingest.record import Item, SourceNote, SourceProblem, SourceRecord, SourceWithheld
from noodlings.ingest.sources.document import document
from noodlings.ingest.sources.lore import lore
from noodlings.ingest.sources.mapped import Mapping, mapped
from noodlings.ingest.sources.mu_log import MuLog
from noodlings.ingest.sources.sillytavern import sillytavern
from noodlings.ingest.sources.talk import talk
from noodlings.text import clean
from noodlings.validation import read_table
from noodlings.values.memory import WITHDRAWN
from noodlings.values.percept import Kind
from noodlings.values.persona import Persona


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """What a source may need besides its file.

    Attributes:
        persona: of the agent whose past it is.
        held: source name → ids of the records that the agent already has from it.
        mapping: the file that says which column holds what, or None.
    """

    persona: Persona
    held: Callable[[str], Sequence[str]]
    mapping: Path | None = None


def _mapped(path: Path, options: SourceOptions) -> Iterator[Item]:
    if options.mapping is None:
        raise UserError("a file with columns needs --mapping FILE, which says what each column holds")
    return mapped(path, read_table(options.mapping, Mapping))


def _document(path: Path, options: SourceOptions) -> Iterator[Item]:
    source, reader = f"document:{clean(path.name)}", options.persona.id
    return _whole(document(path, source, reader), source, options.held(source), Kind.READ, reader)


def _lore(path: Path, options: SourceOptions) -> Iterator[Item]:
    source, persona = f"lore:{clean(path.name)}", options.persona
    return _whole(lore(path, source, persona), source, options.held(source), Kind.KNOWN, persona.id)


def _whole(items: Iterable[Item], source: str, held: Iterable[str], kind: Kind, who: str) -> Iterator[Item]:
    """The items of a source that is complete; what is `held` of it and no longer among them is withdrawn.

    It is replaced by a version without its text. The old text is kept but is no longer recalled, until the
    record is back in the source. If part of them could not be read, only those are withdrawn that are there
    and are withheld.
    """
    missing, withheld, torn = dict.fromkeys(held), set[str](), False
    for item in items:
        if isinstance(item, SourceWithheld):
            withheld.add(item.id)
            continue
        torn |= isinstance(item, SourceProblem)
        if isinstance(item, SourceRecord):
            missing.pop(item.id, None)
        yield item
    gone = [one for one in missing if not torn or one in withheld]
    if len(gone) < len(missing):
        yield SourceNote(0, "part of it could not be read, so nothing that is missing was withdrawn")
    for record_id in gone:
        yield SourceRecord(source, record_id, "(withdrawn)", who, kind=kind, data={WITHDRAWN: True})


SOURCES: dict[str, Callable[[Path, SourceOptions], Iterator[Item]]] = {
    "talk": lambda path, options: talk(path, (options.persona.id, *options.persona.names)),
    "mush": lambda path, options: MuLog(path).records(),
    "sillytavern": lambda path, options: sillytavern(path),
    "mapped": _mapped,
    "document": _document,
    "lore": _lore,
}
"""What reads each kind of source. A document or lore with the same file name is a later version of it."""
FOR_EVERYBODY = frozenset({"lore"})
"""Sources that name their audience themselves, so that --agent may be left out."""
