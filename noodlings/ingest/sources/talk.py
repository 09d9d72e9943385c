"""Talk logs: one JSON object per line, in the formats that `noodlings.ingest.transcript` reads.

These include the files of `noodlings replay`, and the `conversation_context` rows and chat lines of
noodleMUSH.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from noodlings.ingest.lines import LineIds
from noodlings.ingest.record import Item, SourceNote, SourceProblem, SourceRecord, SourceWithheld
from noodlings.ingest.transcript import plain_id, transcript_with_notes


def talk(path: Path, agent_names: tuple[str, ...] = ()) -> Iterator[Item]:
    """The lines of a talk log, as one agent heard it. Raises `UserError` if the file cannot be read.

    Args:
        agent_names: ids and names of the agent; lines that another agent perceived are skipped, but what a
            private one was before is confined.
    """
    source, agent_ids = f"talk:{path.name}", frozenset(map(plain_id, agent_names))
    ids, ids_of_others, others = LineIds(), LineIds(), 0
    for line in transcript_with_notes(path):
        if isinstance(line, SourceNote):
            yield line
        elif isinstance(line, SourceProblem):
            known_by = "" if line.kept is None else line.id or ids.of(None, repr(line.kept))
            yield replace(line, source=source, id=known_by, who=line.who.removeprefix("user_"))
        else:
            another = line.agent_id is not None and agent_ids and line.agent_id not in agent_ids
            others += bool(another and not line.withheld)
            if another and not line.private and not line.withheld:
                continue
            name, kind = line.known
            told = line.timestamp, name.removeprefix("user_"), kind, line.text
            record_id = line.id or (ids_of_others if another else ids).of(*told)
            if another or line.withheld:
                yield SourceWithheld(line.line, source, record_id)
                continue
            yield SourceRecord(
                source,
                record_id,
                line.text,
                line.user_id.removeprefix("user_"),
                line.timestamp,
                line.kind,
                audience=line.audience,
                data=line.circumstances.as_data(),
                line=line.line,
            )
    if others:
        yield SourceNote(0, f"{others:,} lines were perceived by other characters and were skipped")
