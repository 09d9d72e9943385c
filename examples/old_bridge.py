"""An old bridge gets a memory: three lines differ, and under each stands what it was.

The host sits between a text world and a language model. It keeps what was said in a list of dicts, appends to
it, cuts it, filters it, saves and loads it; all of that goes on working, and what it saves brings the memory
back. Only what the model is shown is no longer the end of the list. Run it, and see what each version knows
of a dog after five hundred greetings:

    python examples/old_bridge.py
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from noodlings.bridge.list_wrapper import MemoryListWrapper

# was:

GRIEF = [-0.8, 0.5, 0.1, 0.8, 0.0]
"""Valence, arousal, fear, sorrow, boredom."""
CALM = [0.1, 0.5, 0.0, 0.0, 0.0]


class Bridge:
    """One character of the world, as its host sees it."""

    conversation_context = MemoryListWrapper.attribute()
    # was:

    def __init__(self, name: str) -> None:
        self.name = name
        self.seconds = 0.0
        self.conversation_context = []

    def hear(self, user: str, text: str, affect: list[float], surprise: float = 0.0) -> None:
        """Somebody said something; the list never grows past five hundred."""
        self.seconds += 60.0
        row = {"user": user, "text": text, "affect": affect, "surprise": surprise, "timestamp": self.seconds}
        self.conversation_context.append(row)
        if len(self.conversation_context) > 500:
            self.conversation_context = self.conversation_context[-500:]

    def think(self, text: str) -> None:
        """A thought of its own, unless it has just had one; such rows have no feeling."""
        if not any(row.get("is_rumination") for row in self.conversation_context[-3:]):
            self.hear(self.name, text, [])
            self.conversation_context[-1]["is_rumination"] = True

    def prompt(self, user: str, affect: list[float]) -> str:
        """What a model is to go on from when it answers `user`."""
        known = self.conversation_context.hm.get_context_for_response(user, affect, total_size=10)
        # was: known = self.conversation_context[-10:]
        lines = [f"{row['user']}: {row['text']}" for row in known]
        return "\n".join(lines)

    def save(self) -> str:
        """The rows as JSON."""
        return json.dumps(self.conversation_context)

    def load(self, saved: str) -> None:
        """Go on from saved rows."""
        self.conversation_context = json.loads(saved)


def as_it_was(source: str) -> str:
    """The same file before the four lines were changed."""
    return re.sub(r"^( *).+\n+ *# was: ?(.*)$", r"\1\2", source, flags=re.MULTILINE)


def of_the_dog(bridge: Bridge) -> str:
    """What it still knows of the dog after five hundred greetings, being saved and loaded in between."""
    bridge.hear("caity", "My dog died yesterday", GRIEF, surprise=0.9)
    for number in range(500):
        bridge.hear("caity", f"hello for the {number + 1}. time", CALM)
        bridge.think("They do greet a lot here.")
        if number % 100 == 99:
            bridge.load(bridge.save())
    bridge.hear("caity", "I miss my dog", GRIEF)
    told = [line for line in bridge.prompt("caity", GRIEF).splitlines() if "dog died" in line]
    return told[0] if told else "nothing"


if __name__ == "__main__":
    before: dict[str, Any] = {"__name__": "before"}
    exec(as_it_was(Path(__file__).read_text("utf-8")), before)
    print("a list remembers:   ", of_the_dog(before["Bridge"]("servnak")))
    print("noodlings remembers:", of_the_dog(Bridge("servnak")))
