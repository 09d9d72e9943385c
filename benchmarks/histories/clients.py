"""The clients: each sends percepts one after another, to any process, and writes down all of it.

Every text names its client and its number, so that it is found again. Some percepts have an Idempotency-Key:
they are sent again until they are acknowledged, at times to two processes at once, and at times once more
after they were. A percept without a key is sent once, or, where it may have been lost, a second time.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from httpx2 import AsyncClient, ConnectError, ConnectTimeout, HTTPError

from benchmarks.histories.history import History

TIMEOUT = 3.0
"""Seconds after which a client takes a percept as unknown."""
PACE = 0.05
"""Mean seconds between two percepts of a client."""
KEYED, DOUBLED, REPEATED, ADDRESSED = 0.6, 0.1, 0.2, 0.7
LINES = (
    "My dog died yesterday and I miss him so much.",
    "I won the race! Nobody believed I could do it.",
    "Do you remember what I told you about the lighthouse?",
    "It is raining again. I like the sound of it.",
    "I am afraid of what lives in the well.",
)


@dataclass(frozen=True, slots=True)
class Said:
    """One percept of one client."""

    name: str
    agent: str
    text: str
    keyed: bool
    addressed: bool


@dataclass(slots=True)
class Client:
    """One client.

    Args:
        agents: whom it speaks to.
        addresses: of the processes of the cluster.
    """

    name: str
    agents: Sequence[str]
    addresses: Sequence[str]
    history: History
    chance: random.Random
    _number: int = 0
    _acknowledged: deque[Said] = field(default_factory=lambda: deque(maxlen=20))

    async def talk(self, until: float) -> None:
        """Speak until a moment comes (monotonic), and end with everything that has a key acknowledged."""
        async with AsyncClient(timeout=TIMEOUT) as http:
            while time.monotonic() < until:
                await asyncio.sleep(self.chance.expovariate(1 / PACE))
                if self._acknowledged and self.chance.random() < REPEATED:
                    await self._send(http, self.chance.choice(self._acknowledged), 9)
                    continue
                said = self._next(self.chance.choice(self.agents))
                if not said.keyed:
                    if not await self._send(http, said, 1) and self.chance.random() < 0.5:
                        await self._send(http, said, 2)
                elif self.chance.random() < DOUBLED:
                    await asyncio.gather(self._send(http, said, 1), self._send(http, said, 2))
                    await self._insist(http, said, 3, until)
                else:
                    await self._insist(http, said, 1, until)

    async def last_word(self, seconds: float) -> list[str]:
        """Say something to every agent once more; which of them did not answer within so many seconds."""
        until = time.monotonic() + seconds
        async with AsyncClient(timeout=TIMEOUT) as http:
            words = [self._insist(http, self._next(agent, keyed=True), 1, until) for agent in self.agents]
            heard = await asyncio.gather(*words)
        return [agent for agent, answered in zip(self.agents, heard, strict=True) if not answered]

    def _next(self, agent: str, keyed: bool = False) -> Said:
        self._number += 1
        name = f"{self.name}-{self._number}"
        text = f"{self.chance.choice(LINES)} This is {name}."
        keyed = keyed or self.chance.random() < KEYED
        return Said(name, agent, text, keyed, self.chance.random() < ADDRESSED)

    async def _insist(self, http: AsyncClient, said: Said, send: int, until: float) -> bool:
        """Send it until it is acknowledged; False where that did not happen in time."""
        while not await self._send(http, said, send):
            if time.monotonic() > until:
                return False
            await asyncio.sleep(0.1)
            send += 1
        self._acknowledged.append(said)
        return True

    async def _send(self, http: AsyncClient, said: Said, send: int) -> bool:
        """Send it once, and write down how that ended. Returns whether it was acknowledged."""
        node = self.chance.randrange(len(self.addresses))
        user = f"user_{self.name}"
        body = {"user_id": user, "text": said.text, "addressed": said.addressed}
        headers = {"Idempotency-Key": said.name} if said.keyed else {}
        this = {"percept": said.name, "send": send, "agent": said.agent, "node": node}
        this |= {"user": user, "text": said.text, "keyed": said.keyed}
        self.history.note(self.name, "invoke", **this)  # before anything of it is on its way
        url = f"{self.addresses[node]}/api/agents/{said.agent}/perceive"
        try:
            answer = await http.post(url, json=body, headers=headers)
        except (ConnectError, ConnectTimeout) as error:  # nothing was sent
            self.history.note(self.name, "fail", **this, what=type(error).__name__)
            return False
        except HTTPError as error:
            self.history.note(self.name, "info", **this, what=type(error).__name__)
            return False
        if answer.status_code == 200:
            turn = answer.json()["turn"]
            facts = {
                "entry": turn["percept"]["id"],
                "response": turn["response"],
                "cut_off": turn["decision"] == "cut off",
            }
            self.history.note(self.name, "ok", **this, status=200, **facts)
            return True
        # The store may have kept the percept and not its turn: a 503 is no promise that it is not there.
        refused = answer.status_code < 500
        what = answer.text[:300]
        self.history.note(
            self.name, "fail" if refused else "info", **this, status=answer.status_code, what=what
        )
        return False
