"""Scheduled backups while a server runs.

A backup is a folder named for its time, such as 2026-11-25T16-00-00Z. It is written under a temporary name
and read from the first to the last record. Only if it is sound does it get its name, and the oldest one go.
Other worlds may keep theirs beside it: a file in each copy says which data folder it is of.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import secrets
import shutil
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

from noodlings.agent.society import WORLD_FORMS
from noodlings.agent.state import check_state
from noodlings.app import RECIPES, RULES
from noodlings.config import BackupSettings
from noodlings.errors import StoreError, UserError
from noodlings.files import make_private, path_of
from noodlings.logs import FILE_NAME as LOG
from noodlings.store.backup import back_up
from noodlings.store.checking import check
from noodlings.store.vault import Encryption
from noodlings.worlds.accounts import FILE_NAME as ACCOUNTS

BESIDE = (RECIPES, RULES, ACCOUNTS)
"""Names of the files that a backup contains besides the database."""
FORM = "%Y-%m-%dT%H-%M-%SZ"
IDENTITY = "backup.id"
"""The file in a data folder, and in its copies, with a random number and the path of the folder."""
AGAIN_SECONDS = 600.0
"""Real seconds until a failed backup is tried again."""

_COPY = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ")
_UNFINISHED = ".part"

log = logging.getLogger(__name__)


class ScheduledBackups:
    """The backups of one data folder.

    Args:
        data: the data folder.
        encryption: the user's keys, to read the copies.
        now: seconds since 1970-01-01 UTC.

    Raises:
        UserError: the backups would be inside the data folder.
    """

    def __init__(
        self,
        data: Path,
        settings: BackupSettings,
        encryption: Encryption | None = None,
        now: Callable[[], float] = time.time,
        wait: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._data = data
        self._encryption = encryption
        self._folder = path_of(settings.folder)
        if self._folder.resolve().is_relative_to(data.resolve()):
            raise UserError(
                f"backup.folder ({self._folder}) is inside the data folder, where backups would be lost"
                " with it; name a folder elsewhere"
            )
        self._seconds = settings.every_hours * 3_600.0
        self._keep = settings.keep
        self._now = now
        self._wait = wait

    async def run(self) -> None:
        """Make a backup whenever one is due, until cancelled. Failures are logged and tried again."""
        while True:
            try:
                await self._wait(max(self.due() - self._now(), 0.0))
                await asyncio.to_thread(self.make)
            except Exception as error:  # noqa: BLE001 -- whatever it is, the next backup must be tried
                log.error("the scheduled backup failed, and is tried again in ten minutes: %s", error)
                await self._wait(AGAIN_SECONDS)

    def due(self) -> float:
        """When the next backup is due: at once if there is none."""
        copies = self._copies()
        if not copies:
            return self._now()
        return datetime.strptime(copies[-1].name, FORM).replace(tzinfo=UTC).timestamp() + self._seconds

    def make(self) -> Path:
        """Make a backup, check it, and remove the oldest ones.

        Raises:
            NoodlingsError, OSError: it could not be made, or the data are damaged. Older backups stay.
        """
        target = self._folder / datetime.fromtimestamp(self._now(), UTC).strftime(FORM)
        unfinished = target.with_name(target.name + _UNFINISHED)
        for left in self._copies(_UNFINISHED):  # by a process that was killed
            shutil.rmtree(left)
        unfinished.mkdir(mode=0o700, parents=True)
        make_private(unfinished / IDENTITY).write_bytes(os.fsencode(self._identity()))
        size = back_up(self._data, unfinished, BESIDE)
        found = check(unfinished, self._encryption, check_state, WORLD_FORMS)
        if found.damaged:
            raise StoreError(
                f"the copy in {unfinished} is damaged, and so is {self._data}: {found.damaged[0]}. "
                "No older copy was removed"
            )
        unfinished.rename(target)
        for old in self._copies()[: -self._keep]:
            shutil.rmtree(old)
        log.info("backed up to %s: %d bytes, %d memories can be read", target, size, found.entries)
        return target

    def _copies(self, ending: str = "") -> list[Path]:
        """The backups of this data folder, the latest last; with an ending, those that are not finished."""
        paths = self._folder.glob(f"*Z{ending}")
        named = (path for path in paths if _COPY.fullmatch(path.name.removesuffix(ending)))
        # Where somebody played, it is a data folder by now, with memories that are nowhere else.
        marks = (path / IDENTITY for path in named if not (path / LOG).exists())
        found = (mark for mark in marks if mark.is_file() and os.access(mark, os.R_OK))
        return sorted(mark.parent for mark in found if _text(mark) == self._identity())

    def _identity(self) -> str:
        """What marks the copies. A data folder that is moved, or a copy of one at another path, is another
        one; a copy at the same path on another machine is not."""
        mark, place = self._data / IDENTITY, f" {self._data.resolve()}"
        if not _text(make_private(mark)).endswith(place):
            mark.write_bytes(os.fsencode(secrets.token_hex(8) + place))
        return _text(mark)


def _text(path: Path) -> str:
    return os.fsdecode(path.read_bytes())
