"""AES-256-GCM for the store: values are sealed with data keys, and data keys are wrapped with a user's key.

A sealed value opens only at its own place. The place (table, column, agent and number) is authenticated with
it, so nobody can move a value into another row, or change a bit of it, without being noticed.
"""

from __future__ import annotations

import hmac
import os
from base64 import b64decode, b64encode
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from noodlings.errors import UserError

KEY_BYTES = 32
_NONCE_BYTES = 12
_SEALED = 0x03
"""The first byte of a sealed value: no text that was cleaned, no document and no packed trace begins so, and
a vector that does has an even length where that of a sealed one is odd."""


class Unopened(Exception):
    """This key does not open a sealed value at this place: it was damaged, changed or moved."""


def header(number: int) -> bytes:
    """The first four bytes of every value that is sealed with the data key of this number, 1…2²⁴−1."""
    return bytes([_SEALED]) + number.to_bytes(3, "big")


def sealed_with(value: bytes) -> int | None:
    """The number of the data key that a value is sealed with; None where it is not sealed."""
    return int.from_bytes(value[1:4], "big") if len(value) >= 4 and value[0] == _SEALED else None


def place(table: str, column: str, *key: int | str) -> bytes:
    """Where a value belongs, as it is authenticated: the column, and the key of the row."""
    return "\0".join((f"{table}.{column}", *map(str, key))).encode()


class DataKey:
    """A key that values are sealed with; it is kept beside them, wrapped with the user's key.

    Args:
        number: tells it from others in the same database.
        secret: 32 bytes.
    """

    def __init__(self, number: int, secret: bytes) -> None:
        self.number = number
        self._secret = secret
        self._header = header(number)
        self._cipher = AESGCM(secret)

    @classmethod
    def new(cls, number: int) -> DataKey:
        return cls(number, os.urandom(KEY_BYTES))

    def seal(self, value: bytes, at: bytes, alike: bool = False) -> bytes:
        """The value, readable only with this key and at this place.

        Args:
            alike: the same value at the same place gives the same bytes, so that it can be looked for.
        """
        nonce = os.urandom(_NONCE_BYTES)
        if alike:
            nonce = hmac.digest(self._secret, at + b"\0" + value, "sha256")[:_NONCE_BYTES]
        return self._header + nonce + self._cipher.encrypt(nonce, value, at)

    def fingerprint(self, value: bytes) -> bytes:
        """A hash that nobody can compute without the key, by which to try out what was hashed."""
        return hmac.digest(self._secret, b"fingerprint\0" + value, "sha256")

    def open(self, sealed: bytes, at: bytes) -> bytes:
        """What was sealed. Raises `Unopened`."""
        if not sealed.startswith(self._header):
            raise Unopened
        try:
            return self._cipher.decrypt(sealed[4:16], sealed[16:], at)
        except (InvalidTag, ValueError):
            raise Unopened from None

    def wrapped(self, by: UserKey) -> bytes:
        """The key itself, readable only with a user's key."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + AESGCM(by.secret).encrypt(nonce, self._secret, b"data key %d" % self.number)


@dataclass(frozen=True, slots=True)
class UserKey:
    """The key that a user keeps apart from the data: 32 bytes, written in base64."""

    secret: bytes = field(repr=False)

    @classmethod
    def new(cls) -> UserKey:
        return cls(os.urandom(KEY_BYTES))

    @classmethod
    def read(cls, text: str) -> UserKey:
        """The key in a text. Raises `UserError`, which does not quote the text."""
        try:
            secret = b64decode(text, validate=True)
        except ValueError:
            secret = b""
        if len(secret) != KEY_BYTES:
            raise UserError(
                f"a key must be {KEY_BYTES} bytes in base64 (44 characters); noodlings key new makes one"
            )
        return cls(secret)

    @property
    def text(self) -> str:
        return b64encode(self.secret).decode()

    @property
    def id(self) -> str:
        """Sixteen hexadecimal digits that name the key and reveal nothing of it."""
        return hmac.digest(self.secret, b"noodlings key id", "sha256").hex()[:16]

    def unwrap(self, wrapped: bytes, number: int) -> DataKey:
        """The data key that was wrapped. Raises `Unopened`."""
        try:
            secret = AESGCM(self.secret).decrypt(wrapped[:12], wrapped[12:], b"data key %d" % number)
        except (InvalidTag, ValueError):
            raise Unopened from None
        return DataKey(number, secret)
