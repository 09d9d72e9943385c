"""Import: a file is checked to its last line before anything of it is stored.

It may come from anywhere, so it is read line by line, each with a limit. The error names the first line that
is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any, Protocol

from noodlings.errors import StoreError, UserError
from noodlings.portable.lines import (
    SECTIONS,
    AgentLine,
    Contents,
    EndLine,
    EntryLine,
    Record,
    SymbolLine,
    read_header,
    read_line,
    read_object,
)
from noodlings.ports import AgentImporter
from noodlings.text import clean, shorten

LONGEST = 16_000_000
"""Bytes of a line; the state of an agent takes a hundred thousand."""

LONGEST_MESSAGE = 400
"""Characters of an error message; it may quote the line."""

Progress = Callable[[int], object]
"""Is given the number of each line that was read."""


class Lines(Protocol):
    """A file that is read line by line, and then once more."""

    def readline(self, limit: int = -1, /) -> bytes:
        """The next line, with its end; nothing after the last one."""

    def seek(self, offset: int, /) -> int:
        """Back to the beginning, with 0."""


def check(file: Lines, progress: Progress) -> Contents:
    """Read a whole file. Raises `UserError` for the first line that is wrong."""
    order = _Order()
    for _ in _read(file, order, progress):
        pass
    return order.found


def take_in(file: Lines, agents: list[str], into: AgentImporter, progress: Progress) -> None:
    """Store everything of a file that was checked, each agent in one transaction.

    Args:
        agents: the ids in it, as `check` found them.

    Raises:
        UserError: one of them is there already; nothing was taken in.
        StoreError: an agent cannot be stored; the message says which were taken in before it.
    """
    there = sorted(set(into.agents()).intersection(agents))
    if there:
        raise UserError(
            f"{', '.join(there)}: already there, and nobody is ever replaced. Import into another folder"
            " (--data DIR), or export only the others (--agent NAME)"
        )
    file.seek(0)
    done: list[str] = []
    for agent_id, lines in groupby(_read(file, _Order(), progress), key=lambda line: line.agent):
        try:
            _take_in(lines, into)
        except StoreError as error:
            before = f"; already imported: {', '.join(done)}" if done else ""
            raise StoreError(f"{agent_id} cannot be saved: {error}{before}") from error
        done.append(agent_id)


def _take_in(lines: Iterator[AgentLine | Record], into: AgentImporter) -> None:
    agent = next(lines)
    if not isinstance(agent, AgentLine):
        raise UserError("the file changed while it was being read; try again")
    into.take_in(agent.value(), (line.value() for line in lines if not isinstance(line, AgentLine)))


def _read(file: Lines, order: _Order, progress: Progress) -> Iterator[AgentLine | Record]:
    """All lines but the first and the last, in the order they must have."""
    for number, raw in _raw_lines(file):
        try:
            line = order.next(read_object(raw))
        except UserError as error:
            raise UserError(f"line {number}: {shorten(clean(str(error)), LONGEST_MESSAGE)}") from None
        progress(number)
        if line is not None:
            yield line
    order.require_end()


def _raw_lines(file: Lines) -> Iterator[tuple[int, bytes]]:
    """Lines that are not blank, with their numbers from 1."""
    number = 0
    while raw := file.readline(LONGEST + 1):
        number += 1
        if len(raw) > LONGEST:
            raise UserError(f"line {number}: it is longer than {LONGEST:,} bytes")
        if not raw.isspace():
            yield number, raw


class _Order:
    """Checks that the lines of a file come in the order that they must have.

    Attributes:
        found: what the lines so far hold.
    """

    def __init__(self) -> None:
        self.found = Contents()
        self._begun = self._ended = False
        self._agent: AgentLine | None = None
        self._entries: set[int] = set()
        self._last: tuple[Any, ...] = ()

    def next(self, content: dict[str, Any]) -> AgentLine | Record | None:
        """The line that comes next; None for the first and the last. Raises `UserError`."""
        if not self._begun:
            read_header(content)
            self._begun = True
            return None
        line = read_line(content)
        if self._ended:
            raise UserError("it comes after the line of type end, which must be the last")
        if isinstance(line, EndLine):
            self._end(line)
            return None
        if isinstance(line, AgentLine):
            self._begin(line)
        else:
            self._follow(line)
        return line

    def require_end(self) -> None:
        """Raise `UserError` for a file that stops early."""
        if not self._ended:
            what = "the last line, of type end, is missing" if self._begun else "it is empty"
            raise UserError(f"the file is incomplete: {what}; export or copy it again")

    def _begin(self, line: AgentLine) -> None:
        if line.id in self.found.agents:
            raise UserError(f"the agent {line.id} is there twice")
        self._agent = line
        self._entries.clear()
        self._last = ()
        self.found.agents.append(line.id)

    def _follow(self, line: Record) -> None:
        """A record of the same agent. Each comes after the last one, so none is there twice."""
        if self._agent is None or line.agent != self._agent.id:
            raise UserError(f"it belongs to {line.agent}, but is not among the lines of that agent")
        place = (SECTIONS.index(line.section), *(getattr(line, name) for name in line.sorted_by))
        if place <= self._last:
            raise UserError(
                "it is a duplicate or out of order: memories, then traces, links, symbols and records,"
                " each rising"
            )
        self._last = place
        if isinstance(line, EntryLine):
            if line.id > self._agent.last_id:
                raise UserError(
                    f"memory {line.id} is beyond the last_id of {line.agent}, {self._agent.last_id}"
                )
            self._entries.add(line.id)
        if isinstance(line, SymbolLine) and line.id > self._agent.last_symbol_id:
            raise UserError(
                f"symbol {line.id} is beyond the last_symbol_id of {line.agent}, {self._agent.last_symbol_id}"
            )
        if missing := {getattr(line, name) for name in line.entry_ids} - {None} - self._entries:
            raise UserError(f"it refers to memory {min(missing)} of {line.agent}, which is not in the file")
        self.found.add(line.section)

    def _end(self, line: EndLine) -> None:
        found = self.found.counts()
        if any(getattr(line, name) != count for name, count in found.items()):
            raise UserError(
                f"it counts {line.agents} agents, {line.entries} memories, {line.traces} traces,"
                f" {line.links} links, {line.symbols} symbols and {line.records} records, but there are"
                f" {', '.join(map(str, found.values()))}:"
                " lines are missing or were added; export it again"
            )
        self._ended = True
