"""Images of intense moments without a model, from a table by feeling and theme.

The same moment after the same images gives the same image in every process. No image comes again while it is
among the latest, and none shares a word with the moment itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from noodlings.errors import LLMError
from noodlings.ports import Allowance
from noodlings.values.affect import Affect
from noodlings.values.wording import SpokenFeeling
from noodlings.voice.phrasebook import feeling
from noodlings.voice.reply_content import stable
from noodlings.voice.words import load_yaml, stem, tokens, topic_stems

CLEAR = 0.15
"""Strength (0…1) below which no feeling is clear."""

_COMPOUND = re.compile(r"(?<![^\W\d_])[^\W\d_]++(?:-[^\W\d_]++)+")


@dataclass(frozen=True, slots=True)
class ImageTheme:
    """What a moment can be about.

    Attributes:
        stems: of the words that tell it.
        images: by feeling, where it has images of its own.
    """

    name: str
    stems: frozenset[str]
    images: dict[SpokenFeeling, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class ImageTable:
    feelings: dict[SpokenFeeling, tuple[str, ...]]
    themes: tuple[ImageTheme, ...]

    def __iter__(self) -> Iterator[str]:
        for images in (*self.feelings.values(), *(found for t in self.themes for found in t.images.values())):
            yield from images


class TableOfImages:
    """The port `Symbolist` from a table, without a model."""

    name = "images"

    async def imagine(self, event: str, affect: Affect, avoid: Sequence[str], allowance: Allowance) -> str:
        """The image; the allowance is not used. Raises `LLMError` when `avoid` is the whole table."""
        spent = {image.casefold() for image in avoid}
        said = topic_stems(tokens(event))
        for images in _nearest_first(event, feeling(affect, CLEAR)):
            unused = [image for image in images if image.casefold() not in spent]
            fresh = [image for image in unused if not topic_stems(tokens(image)) & said]
            if fresh:
                return fresh[stable(event, *avoid) % len(fresh)]
        raise LLMError("every image was there lately")


def themes_of(event: str) -> list[ImageTheme]:
    """The themes of an event, the one with most of its words first."""
    said = {stem(word) for word in (*tokens(event), *_COMPOUND.findall(event.lower()))}
    told = [(len(theme.stems & said), theme) for theme in table().themes]
    return [theme for hits, theme in sorted(told, key=lambda pair: -pair[0]) if hits]


@lru_cache(maxsize=1)
def table() -> ImageTable:
    raw = load_yaml("images.yaml")
    return ImageTable(
        {SpokenFeeling(name): tuple(images) for name, images in raw["feelings"].items()},
        tuple(
            ImageTheme(
                name,
                frozenset(stem(word) for word in theme["words"].split()),
                {SpokenFeeling(felt): tuple(images) for felt, images in theme.items() if felt != "words"},
            )
            for name, theme in raw["themes"].items()
        ),
    )


def _nearest_first(event: str, felt: SpokenFeeling) -> Iterator[Sequence[str]]:
    """The images of its themes, of its feeling, and then all."""
    for theme in themes_of(event):
        yield theme.images.get(felt, ())
    yield table().feelings[felt]
    yield tuple(table())
