"""The texts in the `tEXt` chunks of a PNG image, read and written; the picture stays as it is.

Compressed texts (`zTXt`, `iTXt`) are skipped: cards do not use them, and a small file could hold a huge one.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator

from noodlings.errors import UserError

SIGNATURE = b"\x89PNG\r\n\x1a\n"
LARGEST_IMAGE = 10_000_000
"""Bytes of an image."""

_WIDTH, _HEIGHT = 400, 600
_GREY = 0x60
_TEXT, _END = b"tEXt", b"IEND"


def texts_of(image: bytes) -> dict[str, bytes]:
    """Keyword → text of all `tEXt` chunks; of several with one keyword the first.

    Raises `UserError` when it is no PNG, or damaged; the message names no file.
    """
    found: dict[str, bytes] = {}
    for kind, data in _chunks(image):
        keyword, separator, text = data.partition(b"\0")
        if kind == _TEXT and separator:
            found.setdefault(keyword.decode("latin-1"), text)
    return found


def with_texts(image: bytes, texts: dict[str, bytes], without: Iterable[str]) -> bytes:
    """The same picture with these texts, and without others of these keywords. Raises `UserError`."""
    keywords = {keyword.encode("latin-1") for keyword in (*texts, *without)}
    made = [SIGNATURE]
    for kind, data in _chunks(image):
        if kind == _END:
            made += [_chunk(_TEXT, word.encode("latin-1") + b"\0" + text) for word, text in texts.items()]
        if kind != _TEXT or data.partition(b"\0")[0] not in keywords:
            made.append(_chunk(kind, data))
    return b"".join(made)


def plain_image() -> bytes:
    """A plain grey picture in portrait format."""
    header = struct.pack(">IIBBBBB", _WIDTH, _HEIGHT, 8, 0, 0, 0, 0)
    pixels = zlib.compress((b"\0" + bytes([_GREY]) * _WIDTH) * _HEIGHT, 9)
    return b"".join((SIGNATURE, _chunk(b"IHDR", header), _chunk(b"IDAT", pixels), _chunk(_END, b"")))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _chunks(image: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Type and content of each chunk up to the end of the image."""
    if len(image) > LARGEST_IMAGE:
        raise UserError(f"it is larger than {LARGEST_IMAGE:,} bytes; use a smaller image")
    if not image.startswith(SIGNATURE):
        raise UserError("it is not a PNG image, despite its name")
    at = len(SIGNATURE)
    while at + 12 <= len(image):
        length, kind = struct.unpack_from(">I4s", image, at)
        end = at + 8 + length
        if end + 4 > len(image):
            break
        data = image[at + 8 : end]
        if struct.unpack_from(">I", image, end)[0] != zlib.crc32(kind + data):
            raise UserError(f"the PNG image is damaged: the checksum of a part ({kind!r}) is wrong")
        yield kind, data
        if kind == _END:
            return
        at = end + 4
    raise UserError("the PNG image is incomplete: it ends halfway; download or copy it again")
