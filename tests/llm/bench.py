"""A gateway whose clocks are set by hand, before a server that a test scripts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from noodlings.clock import ManualClock
from noodlings.errors import LLMError
from noodlings.llm.call import ModelCall, Task
from noodlings.llm.gateway import Gateway
from noodlings.ports import Allowance
from noodlings.store.memory import MemoryStore
from tests.llm.server import Server, asking

REPLY = ModelCall(Task.REPLY, asking("be a cat", "hello there"), 0.8)
APPRAISE = ModelCall(Task.APPRAISE, asking("judge", "hello"), 0.0)
NOON = 20_000.5 * 86_400
"""12:00 UTC on 2024-10-04, when the clock shows 0."""


@dataclass
class Bench:
    """A gateway whose clocks are set by hand, and what it waited."""

    gateway: Gateway
    clock: ManualClock
    pauses: list[float] = field(default_factory=list)

    async def ask(self, call: ModelCall = REPLY, allowance: Allowance | None = None) -> str:
        return await self.gateway.ask(call, lambda answer: answer.text, allowance or Allowance())

    async def fails(self, call: ModelCall = REPLY, allowance: Allowance | None = None) -> str:
        with pytest.raises(LLMError) as failed:
            await self.ask(call, allowance)
        return str(failed.value)


@asynccontextmanager
async def bench(
    server: Server, world_store: MemoryStore | None = None, **changes: Any
) -> AsyncIterator[Bench]:
    clock, pauses = ManualClock(), []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        clock.advance(seconds)

    gateway = Gateway(
        server.settings(**changes), world_store, lambda: NOON + clock.now(), monotonic=clock.now, sleep=sleep
    )
    try:
        yield Bench(gateway, clock, pauses)
    finally:
        await gateway.close()
