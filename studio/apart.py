"""A data folder as a source that is read in a process of its own, so that the screen never waits.

The process begins to read as soon as the source is made, beside everything a screen needs. When the source is
closed it is ended at once, in the midst of whatever it does, which is safe because it only ever reads.

Both ends are here; they exchange JSON, one line each way. It begins with where the agents are, or why they
cannot be read. A question has a number and its answer the same one, and answers may come in any order:

                                                                {"label": "/home/ines/noodlings"}
    {"number": 1, "ask": "stats", "agent": "phi", "how": {}}    {"number": 1, "answer": {…}}
    {"number": 2, "note": 17, "agent": "phi"}                   {"number": 2, "refused": "There is no …"}
    {"drop": 1}                                                 {"sign": {"agent": "", "step": "turn"}}

A question that was dropped is no longer answered.
"""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from itertools import count
from tempfile import TemporaryFile
from typing import Any

from noodlings.errors import Forbidden, NoodlingsError
from noodlings.inspect.questions import QUESTIONS, Question, V
from noodlings.text import clean, shorten
from studio.source import Action, Sign, Source, Unreachable

MEETING_SECONDS = 60.0
"""So long the process may take to begin; a busy machine makes it late."""


class ApartSource:
    """The agents in a data folder, read-only.

    Args:
        command: starts the process; it is handed a socket as its standard input.

    Attributes:
        label: where the agents are; "" before `meet`.
        pid: of the process.
    """

    changeable = False

    def __init__(self, command: Sequence[str]) -> None:
        self.label = ""
        # Not a pipe, for nobody reads it before the end.
        self._complaints = TemporaryFile()  # noqa: SIM115 — closed with everything else
        self._connection, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 — ourselves
                command, stdin=theirs.fileno(), stdout=self._complaints, stderr=self._complaints
            )
        self.pid = self._process.pid
        self._connecting: asyncio.Task[asyncio.StreamWriter] | None = None
        self._listening: asyncio.Task[None] | None = None
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._signs: asyncio.Queue[Sign] = asyncio.Queue()
        self._ended = ""

    def meet(self) -> None:
        """Wait until the process knows where the agents are. To be called once, before anything is asked.

        Raises:
            NoodlingsError: it cannot read; then it has ended.
        """
        self._connection.settimeout(MEETING_SECONDS)
        try:
            with self._connection.makefile("rb", buffering=0) as greeting:
                told = json.loads(greeting.readline())
        except (TimeoutError, ValueError):
            told = {"refused": f"The process that reads the memories did not start: {self._complaint()}"}
        if "refused" in told:
            self._let_go()
            raise NoodlingsError(told["refused"])
        self.label = told["label"]

    async def ask(self, question: Question[V], agent: str = "", **how: Any) -> V:
        """See `studio.source.Source`. What is not waited for any more is not looked for any more."""
        return await question.read(self._request(ask=question.name, agent=agent, how=how))

    async def act(self, action: Action, agent: str, **how: Any) -> Mapping[str, Any]:
        """A file is only looked at."""
        raise Forbidden(
            "This only reads the folder. To speak or change anything, connect to a running server with --url."
        )

    async def note(self, agent: str, entry: int) -> str:
        """See `studio.source.Source`."""
        return str(await self._request(note=entry, agent=agent))

    async def happenings(self) -> AsyncIterator[Sign]:
        """See `studio.local.LocalSource`; and one sign when the process has ended."""
        await self._connected()
        while True:
            yield await self._signs.get()

    async def close(self) -> None:
        """End the process, whatever it does."""
        tasks = [task for task in (self._connecting, self._listening) if task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await asyncio.to_thread(self._let_go)

    def _let_go(self) -> None:
        self._process.kill()
        self._process.wait()
        self._connection.close()
        self._complaints.close()

    async def _request(self, **wanted: Any) -> Any:
        questions = await self._connected()
        if self._ended:
            raise Unreachable(self._ended)
        number = next(self._numbers)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        _send(questions, wanted | {"number": number})
        try:
            return await answer
        except asyncio.CancelledError:
            _send(questions, {"drop": number})
            raise
        finally:
            del self._waiting[number]

    async def _connected(self) -> asyncio.StreamWriter:
        if self._connecting is None:
            self._connecting = asyncio.create_task(self._connect())
        # Whoever asked first may give up; the others still need it.
        return await asyncio.shield(self._connecting)

    async def _connect(self) -> asyncio.StreamWriter:
        answers, questions = await asyncio.open_connection(sock=self._connection, limit=LONGEST_LINE)
        self._listening = asyncio.create_task(self._listen(answers, questions))
        return questions

    async def _listen(self, answers: asyncio.StreamReader, questions: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError):  # it was killed
                while line := await answers.readline():
                    self._take(json.loads(line))
        finally:
            self._end()
            questions.close()
            with suppress(ConnectionError):
                await questions.wait_closed()

    def _take(self, told: dict[str, Any]) -> None:
        if "sign" in told:
            self._signs.put_nowait(Sign(**told["sign"]))
            return
        answer = self._waiting.get(told["number"])
        if answer is None or answer.done():  # dropped
            return
        if "refused" in told:
            answer.set_exception(NoodlingsError(told["refused"]))
        else:
            answer.set_result(told["answer"])

    def _end(self) -> None:
        """Nobody waits for what will not come."""
        self._ended = (
            f"The process that reads the folder has stopped. Quit and start again ({self._complaint()})"
        )
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(Unreachable(self._ended))
        self._signs.put_nowait(Sign())

    def _complaint(self) -> str:
        """What it said last."""
        self._complaints.seek(0)
        lines = self._complaints.read().decode("utf-8", "replace").split("\n")
        last = next((line for line in reversed(lines) if line.strip()), "")
        return shorten(clean(last), 200) or "no reason was given"


def _send(questions: asyncio.StreamWriter, line: dict[str, Any]) -> None:
    questions.write(json.dumps(line).encode() + b"\n")


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
            await tell(sign={"agent": sign.agent, "step": sign.step})

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
    view = await source.ask(QUESTIONS[wanted["ask"]], wanted["agent"], **wanted["how"])
    return view.as_dict()
