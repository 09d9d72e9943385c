"""A data folder as a source that is read in a separate process, so that the screen never waits.

The process starts as soon as the source is made, and is killed when the source is closed. Killing it is safe
because it only reads.

Both ends are here. They exchange one JSON object per line. The process first sends its label, or why it
cannot read. Each request has a number, and its answer has the same one; answers may come in any order:

                                                                {"label": "/home/ines/noodlings"}
    {"number": 1, "ask": "stats", "agent": "phi",
     "arguments": {}}                                           {"number": 1, "answer": {…}}
    {"number": 2, "note": 17, "agent": "phi"}                   {"number": 2, "refused": "There is no …"}
    {"cancel": 1}                                               {"event": {"agent": "", "step": "turn"}}

A cancelled request gets no answer.
"""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from itertools import count
from tempfile import TemporaryFile
from typing import Any

from noodlings.errors import NoodlingsError
from noodlings.inspect.questions import QUESTIONS, Question, V
from noodlings.text import clean, shorten
from studio.source import ReadOnlySource, Source, SourceEvent, Unreachable

START_SECONDS = 60.0
"""How long the process may take to start on a busy machine."""
MAX_LINE_BYTES = 2**26


class ProcessSource(ReadOnlySource):
    """The agents in a data folder.

    Args:
        command: starts the process, which gets a socket as its standard input.

    Attributes:
        label: where the agents are; "" before `connect`.
        pid: of the process.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self.label = ""
        # Not a pipe, because nobody reads it before the end.
        self._output = TemporaryFile()  # noqa: SIM115 — closed with everything else
        self._connection, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 — ourselves
                command, stdin=theirs.fileno(), stdout=self._output, stderr=self._output
            )
        self.pid = self._process.pid
        self._connecting: asyncio.Task[asyncio.StreamWriter] | None = None
        self._listening: asyncio.Task[None] | None = None
        self._numbers = count(1)
        self._pending: dict[int, asyncio.Future[Any]] = {}
        self._events: asyncio.Queue[SourceEvent] = asyncio.Queue()
        self._ended = ""

    def connect(self) -> None:
        """Wait until the process is ready. Must be called once, before anything is asked.

        Raises:
            NoodlingsError: it cannot read, and has ended.
        """
        self._connection.settimeout(START_SECONDS)
        try:
            with self._connection.makefile("rb", buffering=0) as stream:
                greeting = json.loads(stream.readline())
        except (TimeoutError, ValueError):
            reason = f"The process that reads the memories did not start: {self._last_output()}"
            greeting = {"refused": reason}
        if "refused" in greeting:
            self._stop()
            raise NoodlingsError(greeting["refused"])
        self.label = greeting["label"]

    async def ask(self, question: Question[V], agent: str = "", **arguments: Any) -> V:
        """As in `Source`. Cancelling it also stops the search in the process."""
        return await question.read(self._request(ask=question.name, agent=agent, arguments=arguments))

    async def note(self, agent: str, entry: int) -> str:
        return str(await self._request(note=entry, agent=agent))

    async def events(self) -> AsyncIterator[SourceEvent]:
        """As in `LocalSource`, and one event when the process has ended."""
        await self._connected()
        while True:
            yield await self._events.get()

    async def close(self) -> None:
        tasks = [task for task in (self._connecting, self._listening) if task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await asyncio.to_thread(self._stop)

    def _stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._connection.close()
        self._output.close()

    async def _request(self, **request: Any) -> Any:
        writer = await self._connected()
        if self._ended:
            raise Unreachable(self._ended)
        number = next(self._numbers)
        answer = self._pending[number] = asyncio.get_running_loop().create_future()
        writer.write(_line(request | {"number": number}))
        try:
            return await answer
        except asyncio.CancelledError:
            writer.write(_line({"cancel": number}))
            raise
        finally:
            del self._pending[number]

    async def _connected(self) -> asyncio.StreamWriter:
        if self._connecting is None:
            self._connecting = asyncio.create_task(self._open_streams())
        # The first request may be cancelled, while others still need the connection.
        return await asyncio.shield(self._connecting)

    async def _open_streams(self) -> asyncio.StreamWriter:
        reader, writer = await asyncio.open_connection(sock=self._connection, limit=MAX_LINE_BYTES)
        self._listening = asyncio.create_task(self._listen(reader, writer))
        return writer

    async def _listen(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError):  # the process was killed
                while line := await reader.readline():
                    self._receive(json.loads(line))
        finally:
            self._fail_pending()
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    def _receive(self, message: dict[str, Any]) -> None:
        if "event" in message:
            self._events.put_nowait(SourceEvent(**message["event"]))
            return
        answer = self._pending.get(message["number"])
        if answer is None or answer.done():  # cancelled
            return
        if "refused" in message:
            answer.set_exception(NoodlingsError(message["refused"]))
        else:
            answer.set_result(message["answer"])

    def _fail_pending(self) -> None:
        self._ended = (
            f"The process that reads the folder has stopped. Quit and start again ({self._last_output()})"
        )
        for answer in self._pending.values():
            if not answer.done():
                answer.set_exception(Unreachable(self._ended))
        self._events.put_nowait(SourceEvent())

    def _last_output(self) -> str:
        """The last line that the process printed."""
        self._output.seek(0)
        lines = self._output.read().decode("utf-8", "replace").split("\n")
        last = next((line for line in reversed(lines) if line.strip()), "")
        return shorten(clean(last), 200) or "no reason was given"


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def send_greeting(connection: socket.socket, **greeting: str) -> None:
    """Send the first line: `label`, or `refused`."""
    connection.sendall(_line(greeting))


async def serve(source: Source, connection: socket.socket) -> None:
    """Answer requests until the other end closes the connection. Raises unexpected errors."""
    send_greeting(connection, label=source.label)
    reader, writer = await asyncio.open_connection(sock=connection, limit=MAX_LINE_BYTES)
    running: dict[int, asyncio.Task[None]] = {}

    async def send(**message: Any) -> None:
        writer.write(_line(message))
        await writer.drain()

    async def answer(request: dict[str, Any]) -> None:
        number, agent = request["number"], request["agent"]
        try:
            if "note" in request:
                found: Any = await source.note(agent, request["note"])
            else:
                found = (await source.ask(QUESTIONS[request["ask"]], agent, **request["arguments"])).as_dict()
        except NoodlingsError as error:
            await send(number=number, refused=str(error))
        else:
            await send(number=number, answer=found)

    async def send_events() -> None:
        async for event in source.events():
            await send(event={"agent": event.agent, "step": event.step})

    async with asyncio.TaskGroup() as tasks:
        events = tasks.create_task(send_events())
        while line := await reader.readline():
            request = json.loads(line)
            if "cancel" in request:
                if request["cancel"] in running:
                    running[request["cancel"]].cancel()
                continue
            number = request["number"]
            running[number] = tasks.create_task(answer(request))
            running[number].add_done_callback(lambda _, number=number: running.pop(number))  # type: ignore[misc]
        for task in (events, *running.values()):
            task.cancel()
