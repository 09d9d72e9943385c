"""Where a user's keys are: in the settings or the environment, in a file, or in the system's keyring.

There may be several, the newest first. New values are encrypted with the newest, and older ones can still be
read with the others. A key is never in the data folder, because whoever takes the folder would have it, too.
"""

from __future__ import annotations

import time
from collections.abc import Hashable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from noodlings.errors import UserError
from noodlings.files import atomic_write, in_words, path_of, regular
from noodlings.store.cipher import UserKey

KEYRING = "keyring"
"""In place of the name of a file: the system's keyring, through the package of that name."""
_SERVICE, _NAME = "noodlings", "store"


@dataclass(frozen=True, slots=True)
class UserKeys:
    """Where to look for a user's keys.

    Attributes:
        given: the keys themselves in base64, separated by spaces; they go before a file.
        file: the name of a file with one key a line, or `KEYRING`; "" for neither.
    """

    given: str = field(default="", repr=False)
    file: str = ""

    @property
    def path(self) -> Path | None:
        return path_of(self.file) if self.file and self.file != KEYRING and not self.given else None

    def read(self) -> tuple[UserKey, ...]:
        """The keys as they are now, the newest first; none where none are set.

        Raises:
            UserError: the file or the keyring cannot be read, has no key, or holds something that is no key.
        """
        text = self.given or (self._text() if self.file else "")
        keys = tuple(map(UserKey.read, text.split()))
        if self.file and not keys:
            raise UserError(f"there is no key in {self.file} (store.key_file); noodlings key new makes one")
        return keys

    def stamp(self) -> Hashable:
        """A value that changes when the keys in the file may have changed."""
        try:
            found = None if self.path is None else self.path.stat()
        except OSError:
            return None
        if found is None:  # a keyring does not say; it is read again each minute
            return int(time.monotonic() // 60) if self.file == KEYRING and not self.given else None
        return found.st_mtime_ns, found.st_ino

    def write(self, keys: tuple[UserKey, ...]) -> None:
        """Replace the keys by these, all or none, readable for the owner alone. Raises `UserError`."""
        text = "\n".join(key.text for key in keys) + "\n"
        if self.given or not self.file:
            raise UserError(
                "the key is not in a file: put the new one before the old one in NOODLINGS_STORE__KEY,"
                " separated by a space, and start noodlings again"
            )
        if self.path is None:
            _keyring().set_password(_SERVICE, _NAME, text)
            return
        with in_words(self.path, "written"), atomic_write(self.path) as aside:
            aside.write_text(text, encoding="ascii")

    def _text(self) -> str:
        if self.path is None:
            return str(_keyring().get_password(_SERVICE, _NAME) or "")
        try:
            return regular(self.path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "it is not text"
            raise UserError(f"the key cannot be read from {self.path} (store.key_file): {why}") from None


def _keyring() -> Any:
    """The package `keyring`, which not everybody has."""
    try:
        return import_module(KEYRING)
    except ImportError:
        raise UserError(
            "store.key_file: keyring needs the package keyring (pip install keyring), or name a file"
        ) from None
