"""A companion in a block game: it is told what happens, is talked to, and one sees what it feels and is told.

It plays a recorded session, one JSON object a line: what the game told (`event`, with flat facts as `data`)
or what the player said (`chat`), each at `t` seconds. A bot of your own hands over the same as it happens.

    python examples/companion/bot.py               # all in this process, at once, and nothing is kept

or through a server, with what the companion does over a WebSocket:

    noodlings serve
    python examples/companion/bot.py --server http://127.0.0.1:8765

See docs/companion.md for the stream of events.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

HERE = Path(__file__).parent
RECIPE = HERE / "pip.yaml"
BOT = "pip"


@dataclass(frozen=True, slots=True)
class Moment:
    """One line of a session: an event of the game with its facts, or what a player said."""

    at: float
    event: str = ""
    data: dict[str, Any] | None = None
    player: str = ""
    chat: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """What came of a moment.

    Attributes:
        said: what the companion says, or "".
        named: chill, hyped, nervous or frustrated.
        feeling: its slow mood in a word.
        blocks: what a language model is told of the game: `[GAME STATE] …` and `[MEMORY] …`.
    """

    said: str
    named: str
    feeling: str
    blocks: tuple[str, ...]


class World(Protocol):
    """Where the companion lives."""

    async def tell(self, moment: Moment) -> Told:
        """Let it perceive something."""


def read_session(path: Path) -> Iterator[Moment]:
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        yield Moment(
            row["t"], row.get("event", ""), row.get("data"), row.get("player", ""), row.get("chat", "")
        )


async def play(session: Path, world: World, say: Callable[[str], None] = print) -> None:
    """The whole session; the blocks are shown when the companion is talked to, as a model would get them."""
    named = ""
    for moment in read_session(session):
        told = await world.tell(moment)
        clock = f"{int(moment.at) // 60:3}:{int(moment.at) % 60:02}"
        facts = " ".join(f"{name}={value}" for name, value in (moment.data or {}).items())
        say(f"{clock}  {f'<{moment.player}> {moment.chat}' if moment.chat else f'* {moment.event} {facts}'}")
        if told.named != named:
            named = told.named
            say(f"        mood: {named} ({told.feeling})")
        if moment.chat:
            for block in told.blocks:
                for line in block.splitlines():
                    say(f"        | {line}")
        if told.said:
            say(f"        <Pip> {told.said}")


# -- in this process


class InProcess:
    """A society without a server: time is that of the session, and nothing is kept."""

    def __init__(self) -> None:
        from noodlings.agent.recipes import load_recipe
        from noodlings.app import build
        from noodlings.clock import ManualClock
        from noodlings.config import load_settings
        from noodlings.inspect.inspector import Inspector
        from noodlings.store.memory import MemoryStore
        from noodlings.values.caller import Caller, Role

        self.clock = ManualClock(BEGINS)
        self.society = build(
            load_settings(embedding={"model": "none"}, llm={"base_url": ""}),
            clock=self.clock,
            store=MemoryStore(),
        )
        self.agent = self.society.create(load_recipe(RECIPE))
        self.inspector = Inspector(self.society)
        self.caller = Caller("game", "game", Role.ADMIN)

    async def tell(self, moment: Moment) -> Told:
        from noodlings.agent.events import game_event
        from noodlings.values.percept import Percept

        self.clock.set(BEGINS + moment.at)
        now = self.clock.now()
        if moment.chat:
            user = f"user_{moment.player}"
            self.society.introduce(user, moment.player)
            percept = Percept(user, moment.chat, now, addressed=True, present=frozenset({user}))
        else:
            percept = game_event(moment.event, moment.data, now, rules=self.agent.rules)
        trace = await self.agent.perceive(percept)
        mood = self.inspector.mood(self.caller, BOT)
        return Told(trace.response or "", mood.named, mood.mood.feeling, mood.game)


BEGINS = 1_767_250_800.0
"""World time of the session's first second."""


# -- over HTTP, with nothing but the standard library


class OverHttp:
    """The same through `noodlings serve`, where time is the server's."""

    def __init__(self, url: str, token: str = "") -> None:
        self.url = url.rstrip("/")
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.key = 0

    async def born(self) -> None:
        """See to it that there is a Pip."""
        try:
            await self._ask(f"/api/agents/{BOT}")
        except urllib.error.HTTPError as error:
            if error.code != 404:
                raise
            await self._ask(f"/api/recipes/{BOT}", RECIPE.read_bytes(), "application/yaml")

    async def tell(self, moment: Moment) -> Told:
        body: dict[str, Any]
        if moment.chat:
            path = "perceive"
            body = {"user_id": f"user_{moment.player}", "name": moment.player, "text": moment.chat}
        else:
            path, body = "events", {"event": moment.event, "data": moment.data or {}}
        turn = await self._ask(f"/api/agents/{BOT}/{path}", json.dumps(body).encode())
        mood = await self._ask(f"/api/agents/{BOT}/mood")
        said = (turn["turn"] or {}).get("response") or ""
        return Told(said, mood["named"], mood["mood"]["feeling"], tuple(mood["game"]))

    @asynccontextmanager
    async def watched(self, seen: Callable[[dict[str, Any]], None]) -> AsyncIterator[None]:
        """Hands over what the live stream tells, for as long as the block lasts."""
        from websockets.asyncio.client import connect

        live = f"ws{self.url.removeprefix('http')}/api/live?agent={BOT}"
        async with connect(live, additional_headers=self.headers) as socket:
            seen(json.loads(await socket.recv()))  # the snapshot: from here on nothing is missed

            async def follow() -> None:
                async for message in socket:
                    seen(json.loads(message))

            following = asyncio.create_task(follow())
            try:
                yield
            finally:
                following.cancel()
                await asyncio.gather(following, return_exceptions=True)

    async def _ask(self, path: str, body: bytes | None = None, kind: str = "application/json") -> Any:
        headers = self.headers | ({"Content-Type": kind} if body is not None else {})
        request = urllib.request.Request(self.url + path, body, headers)

        def fetch() -> Any:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)

        return await asyncio.to_thread(fetch)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("session", nargs="?", type=Path, default=HERE / "session.jsonl")
    parser.add_argument("--server", metavar="URL", default="")
    parser.add_argument(
        "--token", default="", help="an admin's, if the server has any; a world's tells, and reads no blocks"
    )
    asked = parser.parse_args()
    if not asked.server:
        world = InProcess()
        with closing(world.society):
            await play(asked.session, world)
        return
    server = OverHttp(asked.server, asked.token)
    await server.born()
    turns: list[dict[str, Any]] = []
    async with server.watched(turns.append):
        await play(asked.session, server)
    finished = sum(message["type"] == "turn" for message in turns)
    print(f"the live stream told of {finished} turns in {len(turns)} messages")


def run() -> int:
    """The whole of it; what cannot be done is one line and exit code 2."""
    try:
        asyncio.run(main())
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read it has seen enough; nothing is left to be written at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except urllib.error.HTTPError as error:
        hint = "; an admin's token goes behind --token" if error.code in (401, 403) else ""
        print(f"bot.py: {error.url} answered {error.code} {error.reason}{hint}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"bot.py: {getattr(error, 'reason', error)}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(run())
