"""Check whether everything in a data folder can be read, from the pages of the file to each single record.

SQLite finds pages and indexes that do not fit together, and records that belong to nothing. Reading each
record finds values that make no sense. A changed letter within a text is noticed only if it is encrypted.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from noodlings.errors import NotFound, StoreError, UserError
from noodlings.store.database import LOGS
from noodlings.store.lock import HOLDER_NAME
from noodlings.store.transfer import SqlSnapshot, snapshot
from noodlings.store.vault import Encryption

_MOST_FAULTS = 1_000  # of the file that are listed
_RECORDS = ("entries", "traces", "links", "symbols", "vectors")

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Checked:
    """What was read, and what is wrong with it.

    Attributes:
        agents, entries, traces, links, symbols, vectors: how many could be read.
        damaged: what is wrong, a line each; nothing of what is kept is quoted.
    """

    agents: int = 0
    entries: int = 0
    traces: int = 0
    links: int = 0
    symbols: int = 0
    vectors: int = 0
    damaged: list[str] = field(default_factory=list)


def check(
    where: Path | str,
    encryption: Encryption | None = None,
    check_state: Callable[[dict[str, Any]], None] = lambda state: None,
    world_forms: Mapping[str, Callable[[Any], object]] = MappingProxyType({}),
) -> Checked:
    """Read everything in a data folder, or in the database of a URL, also while somebody plays.

    Args:
        encryption: the user's keys.
        check_state: raises `UserError` for the state of an agent that it cannot be restored from.
        world_forms: by key of the world, what raises `UserError` for a value that cannot be read.

    Raises:
        NotFound: there is no database.
        StoreError: it is too damaged to be read at all, of a newer version, or needs another key.
    """
    found = Checked()
    with snapshot(where, encryption, sealed_words=True) as kept:
        if isinstance(where, Path):  # a server looks after its pages, and lets nothing be an orphan
            found.damaged += [f"the file: {fault}" for fault in _page_faults(kept, _MOST_FAULTS)]
            orphans = kept.transaction.pragma("foreign_key_check")
            found.damaged += [
                f"a record of {table} belongs to nothing in {parent}" for table, _, parent, _ in orphans
            ]
        for key, read in world_forms.items():
            try:
                read(kept.transaction.world(key))
            except (StoreError, UserError) as error:
                found.damaged.append(str(error))
        for agent_id in kept.agents():
            state = kept.agent(agent_id).state
            try:
                if state:
                    check_state(state)
            except UserError as error:
                found.damaged.append(f"the state of {agent_id}: {error}")
            for name in _RECORDS:
                count = sum(1 for _ in getattr(kept, name)(agent_id))
                setattr(found, name, getattr(found, name) + count)
            found.agents += 1
        found.damaged += kept.damaged
    return found


def was_left_open(folder: Path) -> bool:
    """Whether nobody closed the database of a folder, as after a kill or a power cut."""
    log_file = folder / LOGS[0]
    return (folder / HOLDER_NAME).exists() or (log_file.exists() and log_file.stat().st_size > 0)


def report_pages(folder: Path, encryption: Encryption | None = None) -> None:
    """Log whether the pages of a database that was left open fit together.

    What is damaged in an index is otherwise only missed: SQLite leaves out what it does not find there.
    """
    try:
        with snapshot(folder, encryption) as kept:
            faults = _page_faults(kept, 1)
    except (NotFound, StoreError, UserError) as error:
        log.warning("%s was not closed and cannot be checked: %s", folder, error)
        return
    if faults:
        log.error("%s is damaged: %s; 'noodlings check' tells more", folder, " ".join(faults[0].split()))
    else:
        log.info("%s was not closed; its pages are sound", folder)


def _page_faults(kept: SqlSnapshot, most: int) -> list[str]:
    return [fault for (fault,) in kept.transaction.pragma(f"integrity_check({most})") if fault != "ok"]
