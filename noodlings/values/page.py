"""A page: what an agent knows of a person, or of a day, for people to read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement on a page.

    Attributes:
        about: what stands before it, such as "likes" or the day of a plan; "" for nothing.
        replaced_by: what holds in its place, "" while it holds.
        evidence: ids of the memories that both rest on.
    """

    text: str
    evidence: tuple[int, ...]
    about: str = ""
    replaced_by: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A person or a day.

    Attributes:
        of: the id of the person, or the day as "2026-11-23".
        day: whether it is a day.
        also: how else the person is known.
        also_evidence: ids of the memories that say who the person is, or in which the statements were worded;
            all others are in the statements.
    """

    of: str
    title: str
    statements: tuple[Statement, ...]
    day: bool = False
    also: tuple[str, ...] = ()
    also_evidence: tuple[int, ...] = ()

    @property
    def evidence(self) -> frozenset[int]:
        """Ids of all memories that it rests on."""
        return frozenset(self.also_evidence).union(*(one.evidence for one in self.statements))
