"""What a character does instead of speaking, and the noises it must make. Acts stand between asterisks."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from noodlings.text import clean

_BOLD = re.compile(r"\*\*+")
ACT = re.compile(r"\*([^*]+)\*")
"""What is done in a line."""
_QUOTED = re.compile(r"[\"“”«»][^\"“”«»]*(?:[\"“”«»]|$)")
_MADE = ("goes {0}", "goes {0} {0}", "lets out a loud {0}", "answers with a long {0}", "goes {0}, briefly")
"""Ways to make a noise that fit any."""


def acts_of(reply: str) -> str:
    """The acts of a reply as a single one, between asterisks, or "".

    Words in quotation marks within an act are spoken, so they are removed as well; words between double
    asterisks are emphasised, not done.
    """
    acts = (clean(_QUOTED.sub("", act)).rstrip(" ,.;:!?…") for act in ACT.findall(_BOLD.sub("", reply)))
    done = ", ".join(act for act in acts if any(map(str.isalnum, act)))
    return f"*{done}*" if done else ""


def cased(words: str, case: str) -> str:
    """Words in the letter case of a character ("plain", "upper", "lower")."""
    return {"upper": words.upper(), "lower": words.lower()}.get(case, words)


def sounding(reply: str, sounds: Sequence[str], chance: random.Random, case: str = "plain") -> str:
    """The reply with one of these noises, such as "honk", in the case of a persona's voice; unchanged if it
    has one already or there are none."""
    folded = reply.casefold()
    if not sounds or any(sound.casefold() in folded for sound in sounds):
        return reply
    made = cased(chance.choice(_MADE).format(chance.choice(sounds)), case)
    if reply.endswith("*") and reply.count("*") == 2 and reply.startswith("*"):
        return f"{reply[:-1]}, {made}*"
    return f"{reply} *{made}*"
