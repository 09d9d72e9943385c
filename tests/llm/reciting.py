"""A model that answers from what stands in its prompt and nothing else, to see what a prompt carries.

It tells the memories and the lines of the talk in it, those first that share most words with the question. It
leaves out lenses and the character, so whatever it says was in mind or just said. As a program it serves:

    python -m tests.llm.reciting        # prints its address, for noodlings eval talk --voice model
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any

from tests.llm.server import Answer, chat, serving

LONGEST = 900
"""Characters; the guard cuts longer ones."""
_MEMORY = re.compile(r"<memory>\n(.*?)\n</memory>", re.DOTALL)
_HEARD = re.compile(r"<heard>\n(.*?)\n</heard>", re.DOTALL)
_SAID = re.compile(r'^"[^"]*" [^:]*: (".*")$', re.MULTILINE)


def recite(asked: Mapping[str, Any]) -> Answer:
    """The answer to a request; an image or a feeling it cannot make."""
    last = asked["messages"][-1]["content"]
    heard = _HEARD.search(last)
    if heard is None or not asked.get("stream"):
        return chat("")
    talk = [message["content"] for message in asked["messages"][1:-1] if message["role"] == "user"]
    talk.append(last[: heard.start()])
    told = [_read(line) for content in talk for line in _SAID.findall(content)]
    if memories := _MEMORY.search(last):
        told += [_read(line).partition(": ")[2] for line in memories[1].splitlines()]
    wanted = _words(_read(heard[1]))
    ranked = sorted(dict.fromkeys(told), key=lambda line: -len(_words(line) & wanted))
    said = ""
    for line in ranked:
        plain = re.sub(r"[.!?…;:*\"]+", ",", line).strip(" ,")
        if len(said) + len(plain) < LONGEST:
            said += f", {plain}" if said else plain
    return chat(f"I know this, {said}." if said else "I do not know that.")


def _read(line: str) -> str:
    return str(json.loads(line))


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


async def _serve() -> None:
    async with serving(recite) as server:
        print(server.settings().base_url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve())
