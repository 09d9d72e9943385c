"""Talk logs: one JSON object per line, in the formats that `noodlings.ingest.transcript` reads.

These include the files of `noodlings replay`, and the `conversation_context` rows and chat lines of
noodleMUSH.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from noodlings.ingest.lines import LineIds
from noodlings.ingest.record import SourceNote, SourceProblem, SourceRecord
from noodlings.ingest.transcript import plain_id, read_transcript


class TalkLog:
    """A talk log, as one agent heard it.

    Args:
        path: the file.
        agent_names: ids and names of the agent; lines that another agent perceived are skipped.
    """

    def __init__(self, path: Path, agent_names: tuple[str, ...] = ()) -> None:
        self._path = path
        self._agent_ids = frozenset(map(plain_id, agent_names))
        self._source = f"talk:{path.name}"

    def records(self) -> Iterator[SourceRecord | SourceProblem | SourceNote]:
        """The lines of the file. Raises `UserError` if it cannot be read."""
        notes: list[SourceNote] = []
        ids, others = LineIds(), 0
        for line in read_transcript(self._path, notes.append):
            yield from notes
            notes.clear()
            if isinstance(line, SourceProblem):
                record_id = ids.of(None, repr(line.kept)) if line.kept is not None else ""
                yield replace(line, source=self._source, id=record_id)
            elif line.agent_id is not None and self._agent_ids and line.agent_id not in self._agent_ids:
                others += 1
            else:
                who = line.user_id.removeprefix("user_")
                yield SourceRecord(
                    self._source,
                    line.id
                    or ids.of(line.timestamp, line.unmarked.removeprefix("user_"), line.kind, line.text),
                    line.text,
                    who,
                    line.timestamp,
                    line.kind,
                    line=line.line,
                )
        yield from notes
        if others:
            yield SourceNote(0, f"{others:,} lines were perceived by other characters and were skipped")
