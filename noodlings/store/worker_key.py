"""What workers write to each other in the database: it passes through there, and can be read there by nobody.

A request holds whatever somebody said, also what is then refused, masked or forgotten. So it is sealed for
the workers that are alive at that moment, with keys that are in their memory alone and end with them.
"""

from __future__ import annotations

import json
import logging
from base64 import b64decode, b64encode
from collections.abc import Iterable

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from noodlings.store.cipher import KEY_BYTES, DataKey, Unopened, UserKey

_NUMBER = 1

log = logging.getLogger(__name__)


class WorkerKey:
    """The key pair of one worker, made when it starts. Safe to use from any thread.

    Attributes:
        worker: the id of the worker, which is the public key in hexadecimal.
    """

    def __init__(self) -> None:
        self._private = X25519PrivateKey.generate()
        self.worker = self._private.public_key().public_bytes_raw().hex()
        self._shared: dict[str, UserKey] = {}
        self._keyless: set[str] = set()

    def sealed(self, words: str, readers: Iterable[str], at: bytes) -> str:
        """Words that only these workers can read, and only at this place, see `noodlings.store.cipher`.

        A reader that is no key can read nothing. It is no worker of ours, and is logged once.
        """
        key, keys = DataKey.new(_NUMBER), {}
        for reader in readers:
            try:
                keys[reader] = key.wrapped(self._shared_with(reader)).hex()
            except ValueError:
                if reader not in self._keyless:
                    log.warning("the table `workers` names one without a key: %.80r", reader)
                self._keyless.add(reader)
        written = b64encode(key.seal(words.encode(), at)).decode()
        return json.dumps({"writer": self.worker, "keys": keys, "words": written})

    def opened(self, sealed: str, at: bytes) -> str:
        """The words. Raises `Unopened` where they are not for this worker, or are damaged."""
        try:
            read = json.loads(sealed)
            wrapped, written = bytes.fromhex(read["keys"][self.worker]), b64decode(read["words"])
            key = self._shared_with(read["writer"]).unwrap(wrapped, _NUMBER)
            return key.open(written, at).decode()
        except (ValueError, KeyError, TypeError):
            raise Unopened from None

    def _shared_with(self, worker: str) -> UserKey:
        """The key that two workers can compute, and nobody else (X25519)."""
        if worker not in self._shared:
            secret = self._private.exchange(X25519PublicKey.from_public_bytes(bytes.fromhex(worker)))
            derived = HKDF(SHA256(), KEY_BYTES, salt=None, info=b"noodlings outbox").derive(secret)
            self._shared[worker] = UserKey(derived)
        return self._shared[worker]
