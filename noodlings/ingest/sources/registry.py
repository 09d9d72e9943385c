"""The sources that noodlings ingest knows, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from noodlings.errors import UserError
from noodlings.ingest.record import Source
from noodlings.ingest.sources.mapped import MappedFile, read_mapping
from noodlings.ingest.sources.mu_log import MuLog
from noodlings.ingest.sources.sillytavern import SillyTavernChat
from noodlings.ingest.sources.talk import TalkLog


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """What a source may be told beside its file.

    Attributes:
        agent_names: id, name and other names of the agent whose past it is.
        mapping: the file that says which column is what, or None.
    """

    agent_names: tuple[str, ...] = ()
    mapping: Path | None = None


def _mapped(path: Path, options: SourceOptions) -> Source:
    if options.mapping is None:
        raise UserError("a file with columns needs --mapping FILE, which says which column is what")
    return MappedFile(path, read_mapping(options.mapping))


SOURCES: dict[str, Callable[[Path, SourceOptions], Source]] = {
    "talk": lambda path, options: TalkLog(path, options.agent_names),
    "mush": lambda path, options: MuLog(path),
    "sillytavern": lambda path, options: SillyTavernChat(path),
    "mapped": _mapped,
}
