"""A source is answered for here, in a process of its own; `studio.apart` is its other end.

One line of JSON each way. It begins with where the agents are, or why they cannot be read. A question has a
number, and so has its answer, in whatever order they come:

                                                                {"label": "/home/ines/noodlings"}
    {"number": 1, "ask": "stats", "agent": "phi", "how": {}}    {"number": 1, "answer": {…}}
    {"number": 2, "note": 17, "agent": "phi"}                   {"number": 2, "refused": "There is no …"}
    {"drop": 1}                                                 {"sign": {"agent": "", "step": "turn", …}}

A question that is dropped is not answered any more.
"""

from __future__ import annotations

import asyncio
import json
import socket
from dataclasses import asdict
from typing import Any

from noodlings.errors import NoodlingsError
from studio.source import Question, Source

LONGEST_LINE = 2**26
"""Bytes."""


def greet(connection: socket.socket, **words: str) -> None:
    """The first line: `label`, or `refused`."""
    connection.sendall(json.dumps(words).encode() + b"\n")


async def answer_all(source: Source, connection: socket.socket) -> None:
    """Answer whoever is at the other end until they are gone. What goes wrong by mistake is raised."""
    greet(connection, label=source.label)
    asked, answers = await asyncio.open_connection(sock=connection, limit=LONGEST_LINE)
    under_way: dict[int, asyncio.Task[None]] = {}

    async def tell(**line: Any) -> None:
        answers.write(json.dumps(line).encode() + b"\n")
        await answers.drain()

    async def answer(wanted: dict[str, Any]) -> None:
        try:
            found = await _answer(source, wanted)
        except NoodlingsError as error:
            await tell(number=wanted["number"], refused=str(error))
        else:
            await tell(number=wanted["number"], answer=found)

    async def tell_signs() -> None:
        async for sign in source.happenings():
            await tell(sign=asdict(sign))

    async with asyncio.TaskGroup() as tasks:
        signs = tasks.create_task(tell_signs())
        while line := await asked.readline():
            wanted = json.loads(line)
            if "drop" in wanted:
                if wanted["drop"] in under_way:
                    under_way[wanted["drop"]].cancel()
                continue
            number = wanted["number"]
            under_way[number] = tasks.create_task(answer(wanted))
            under_way[number].add_done_callback(lambda _, number=number: under_way.pop(number))  # type: ignore[misc]
        for task in (signs, *under_way.values()):
            task.cancel()


async def _answer(source: Source, wanted: dict[str, Any]) -> Any:
    if "note" in wanted:
        return await source.note(wanted["agent"], wanted["note"])
    return await source.ask(Question(wanted["ask"]), wanted["agent"], **wanted["how"])
