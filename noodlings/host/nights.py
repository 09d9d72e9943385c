"""The nights of a running world: in a window of its day, its characters go over what they perceived."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable

from noodlings.agent.society import Society
from noodlings.errors import LLMError, NoodlingsError
from noodlings.reflection.plans import DAY

LOOK_SECONDS = 30.0
"""Real seconds between two looks at the world's clock."""

log = logging.getLogger(__name__)


async def reflect_within(
    society: Society, window: str, wait: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> None:
    """Let the characters in memory go over their day, one after another, each once in a window, for ever.

    Failures are logged and tried again.

    Args:
        window: such as "03:00-05:00", in the world's day (UTC).
    """
    hour, minute, until_hour, until_minute = map(int, re.split("[:-]", window))
    opens = 3_600.0 * hour + 60.0 * minute
    lasts = (3_600.0 * until_hour + 60.0 * until_minute - opens) % DAY
    done: dict[str, float] = {}
    while True:
        for agent in society.agents.awake:
            day, into = divmod(society.clock.now() - opens, DAY)
            ours = society.ownership is None or society.ownership.serves(agent.id)
            if into >= lasts or not ours or done.get(agent.id) == day:
                continue
            try:
                night = await agent.reflect(lately=True)
                log.info("%s went over %d new memories", agent.id, night.done)
            except LLMError as error:
                log.info("%s will write its journal later, as the model failed: %s", agent.id, error)
            except NoodlingsError as error:
                log.warning("%s could not go over its day: %s", agent.id, error)
                continue
            done[agent.id] = day
        await wait(LOOK_SECONDS)
