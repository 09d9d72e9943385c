"""An encrypted export, which only the owner of the key can read.

The first line says in JSON what it is and which key opens it, and holds the data key, wrapped with that key.
Each other line is a line of the plain export, sealed and in base64. Its number is authenticated with it, and
the plain export ends with the number of its lines, so no line can be changed, moved or left out unnoticed.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import BinaryIO

from noodlings.errors import UserError
from noodlings.store.cipher import DataKey, Unopened, UserKey, place

FORMAT = "noodlings-encrypted-export"
VERSION = 1


def sealing(write: Callable[[str], object], key: UserKey) -> Callable[[str], object]:
    """A function for the lines of a plain export, which gives `write` those of an encrypted one."""
    data_key, number = DataKey.new(1), 0
    wrapped = b64encode(data_key.wrapped(key)).decode()
    write(json.dumps({"format": FORMAT, "version": VERSION, "key_id": key.id, "key": wrapped}) + "\n")

    def put(line: str) -> None:
        nonlocal number
        number += 1
        write(b64encode(data_key.seal(line.encode(), _place(number))).decode() + "\n")

    return put


class OpenedExport:
    """The lines of a plain export, out of an encrypted one.

    Args:
        file: seekable, at its beginning.
        ask: finds the user's key with an id. Raises `UserError` where there is none.

    Raises:
        UserError: the key is another one, or the file was damaged or changed.
    """

    def __init__(self, file: BinaryIO, ask: Callable[[str], UserKey]) -> None:
        self._file = file
        header = header_of(file)
        if header is None or header.get("version") != VERSION:
            raise UserError(f"this noodlings reads version {VERSION} of encrypted exports, and this is none")
        key_id = str(header.get("key_id"))
        try:
            key = ask(key_id)
            self._key = key.unwrap(b64decode(str(header.get("key"))), 1)
        except (Unopened, ValueError):
            raise UserError(f"it does not open with this key: it needs key {key_id}") from None
        self.seek(0)

    def seek(self, offset: int, /) -> int:
        """Go back to the first line, whatever the offset."""
        self._file.seek(offset)
        self._file.readline()
        self._number = 0
        return 0

    def readline(self, limit: int = -1, /) -> bytes:
        """The next line. Raises `UserError` where it was damaged or changed."""
        raw = self._file.readline(limit if limit < 0 else 2 * limit)
        if not raw:
            return b""
        self._number += 1
        try:
            return self._key.open(b64decode(raw), _place(self._number))
        except (Unopened, ValueError):
            raise UserError(f"line {self._number + 1} was damaged or changed: it cannot be read") from None


def header_of(file: BinaryIO) -> dict[str, object] | None:
    """What the first line says of an encrypted export, None for any other file; it is rewound."""
    raw = file.readline(10_000)
    file.seek(0)
    try:
        header = json.loads(raw)
    except ValueError:
        return None
    return header if isinstance(header, dict) and header.get("format") == FORMAT else None


def _place(number: int) -> bytes:
    return place("export", "line", number)
