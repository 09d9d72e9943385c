"""Scheduled backups: a copy every so often while a server runs, each tried before an older one goes.

A copy is a folder named for its time, 2026-11-25T16-00-00Z. It is made aside, read from its first to its last
record, and takes its name when it is sound. Only then does the oldest one go.
"""

from __future__ import annotations

import asyncio
import logging
import re
import shutil
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

from noodlings.app import RECIPES, RULES
from noodlings.config import BackupSettings
from noodlings.errors import NoodlingsError, StoreError, UserError
from noodlings.store.backup import back_up
from noodlings.store.checking import check
from noodlings.store.vault import Encryption
from noodlings.worlds.accounts import FILE_NAME as ACCOUNTS

BESIDE = (RECIPES, RULES, ACCOUNTS)
"""What belongs to the database in a backup, by name."""
FORM = "%Y-%m-%dT%H-%M-%SZ"
AGAIN_SECONDS = 600.0
"""Real seconds until a backup that failed is tried again."""

_COPY = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ")
_UNFINISHED = ".part"

log = logging.getLogger(__name__)


class ScheduledBackups:
    """The backups of one data folder.

    Args:
        data: the data folder.
        settings: where to, how often, and how many are kept.
        encryption: the user's keys, to read what was copied.
        now: the time, seconds since 1970-01-01 UTC.
        wait: waits for so many seconds.

    Raises:
        UserError: copies would lie inside the data folder.
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
        self._folder = Path(settings.folder).expanduser()
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
        """Make one whenever it is due, until cancelled; what goes wrong is logged and tried again."""
        while True:
            await self._wait(max(self.due() - self._now(), 0.0))
            try:
                await asyncio.to_thread(self.make)
            except (NoodlingsError, OSError) as error:
                log.error("the scheduled backup failed, and is tried again in ten minutes: %s", error)
                await self._wait(AGAIN_SECONDS)

    def due(self) -> float:
        """When the next one is due: so long after the latest copy that is there, else at once."""
        copies = self._copies()
        if not copies:
            return self._now()
        return datetime.strptime(copies[-1].name, FORM).replace(tzinfo=UTC).timestamp() + self._seconds

    def make(self) -> Path:
        """Make a copy, try it, and let the oldest go.

        Raises:
            NoodlingsError, OSError: it could not be made, or what was copied is damaged. Older copies stay.
        """
        target = self._folder / datetime.fromtimestamp(self._now(), UTC).strftime(FORM)
        unfinished = target.with_name(target.name + _UNFINISHED)
        for left in self._folder.glob(f"*{_UNFINISHED}"):  # by a process that was ended
            if _COPY.fullmatch(left.name.removesuffix(_UNFINISHED)):
                shutil.rmtree(left)
        size = back_up(self._data, unfinished, BESIDE)
        found = check(unfinished, self._encryption)
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

    def _copies(self) -> list[Path]:
        """Whole copies, the latest last."""
        return sorted(
            path for path in self._folder.glob("*Z") if _COPY.fullmatch(path.name) and path.is_dir()
        )
