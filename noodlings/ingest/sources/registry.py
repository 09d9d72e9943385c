"""The sources that noodlings ingest knows, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from noodlings.errors import UserError
from noodlings.ingest.record import Source
from noodlings.ingest.sources.document import DocumentSource
from noodlings.ingest.sources.lore import LoreSource
from noodlings.ingest.sources.mapped import MappedFile, read_mapping
from noodlings.ingest.sources.mu_log import MuLog
from noodlings.ingest.sources.sillytavern import SillyTavernChat
from noodlings.ingest.sources.talk import TalkLog
from noodlings.ingest.whole import WholeSource
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


def _mapped(path: Path, options: SourceOptions) -> Source:
    if options.mapping is None:
        raise UserError("a file with columns needs --mapping FILE, which says what each column holds")
    return MappedFile(path, read_mapping(options.mapping))


def _document(path: Path, options: SourceOptions) -> Source:
    source = DocumentSource(path, options.persona.id)
    return WholeSource(source, Kind.READ, options.persona.id, options.held(source.name))


def _lore(path: Path, options: SourceOptions) -> Source:
    source = LoreSource(path, options.persona)
    return WholeSource(source, Kind.KNOWN, options.persona.id, options.held(source.name))


SOURCES: dict[str, Callable[[Path, SourceOptions], Source]] = {
    "talk": lambda path, options: TalkLog(path, (options.persona.id, *options.persona.names)),
    "mush": lambda path, options: MuLog(path),
    "sillytavern": lambda path, options: SillyTavernChat(path),
    "mapped": _mapped,
    "document": _document,
    "lore": _lore,
}
FOR_EVERYBODY = frozenset({"lore"})
"""Sources that name their audience themselves, so that --agent may be left out."""
