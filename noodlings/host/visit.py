"""A player's visit: a society, its rooms and a terminal, for as long as somebody is there.

However a visit ends, the world comes to rest and everything is saved. The server and short commands also open
data folders with this module, so what only a visit needs is imported later.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from threading import Thread
from types import FrameType
from typing import Any

from rich.text import Text

from noodlings.agent.society import Society
from noodlings.app import build
from noodlings.clock import ManualClock
from noodlings.config import PrivacySettings, Settings
from noodlings.drawing.screen import Screen
from noodlings.logs import logging_to
from noodlings.lookalikes import is_mistakable
from noodlings.personal import personal_finder
from noodlings.ports import Clock, Repository
from noodlings.store.checking import report_pages, was_left_open
from noodlings.store.vault import Encryption
from noodlings.values.caller import Caller, Role, user_id_of
from noodlings.values.model_status import ModelStatus, ModelWatcher
from noodlings.values.percept import Kind, in_confidence
from noodlings.values.trace import TurnEvent
from noodlings.worlds.places import load_places
from noodlings.worlds.rooms import World
from noodlings.worlds.script import Dispatch, follow, read_lines

PATIENCE = 5.0
"""Real seconds that unfinished turns may take when a player leaves."""
BACKGROUND_SECONDS = 2.0
"""Real seconds that background work may take after that."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """How a visit talks to the commands: `dispatch` runs a line, `complete` is what the tab key offers."""

    dispatch: Dispatch
    complete: Callable[[str], Iterable[str]]


Connect = Callable[[Society, World, Caller], CommandLine]
"""Gives a visitor the commands, which this package may not import."""


async def play(settings: Settings, connect: Connect) -> None:
    """The world in the terminal, or line by line if standard input is not a terminal."""
    from noodlings.worlds.demo import banner

    if interactive := sys.stdin.isatty() and sys.stdout.isatty():
        from noodlings.worlds.terminal import TerminalSession, above_prompt

        screen = Screen(terminal=True, write=above_prompt)
    else:
        screen = Screen(terminal=False)
    with opened(settings) as society:
        async with _visited(society, screen, connect) as (world, line):
            names = [persona.name for persona in society.personas.values()]
            society.watch_model(lambda _, status: screen.show(Text(status.sentence, style="dim")))
            screen.show(banner(society.model_status, names))
            for why in society.skipped_recipes:
                screen.show(Text(f"Skipped: {why}", style="yellow"))
            screen.show((await line.dispatch("look")).view)
            if not interactive:
                await world.settle()
                await follow(read_lines(sys.stdin.buffer), line.dispatch, world.settle, screen)
                return
            conversation = TerminalSession(
                line.dispatch,
                line.complete,
                live=lambda: world.live(society.clock.now()),
                idle_seconds=settings.world.idle_seconds,
                screen=screen,
            )
            await conversation.run()


async def demo(settings: Settings, connect: Connect) -> None:
    """The guided minute; see `noodlings.worlds.demo`."""
    from noodlings.worlds.demo import START, DemoStage, demonstrate

    clock, screen = ManualClock(START), Screen(terminal=sys.stdout.isatty())
    with opened(settings, clock) as society:
        async with _visited(society, screen, connect) as (world, line):
            await demonstrate(
                DemoStage(line.dispatch, world, owner(settings).user_id, society.perceive, clock, screen)
            )


@contextmanager
def opened(
    settings: Settings,
    clock: Clock | None = None,
    read_only: bool = False,
    store: Repository | None = None,
    worker: int = 0,
) -> Iterator[Society]:
    """A society with its log, closed in the end.

    If it is read-only or has a store of its own, it writes nothing to the data folder, not even a log.

    Args:
        worker: its number among those of this machine that share the store, from 1; 0 where nobody shares it.
    """
    writes = not read_only and store is None
    with ExitStack() as stack:
        if writes:
            stack.enter_context(logging_to(settings.data_dir, settings.log.level, worker))
        left_open = writes and was_left_open(settings.data_dir)
        society = build(settings, clock=clock, store=store, read_only=read_only, shared=worker > 0)
        stack.callback(society.close)
        if left_open:
            checked = settings.data_dir, Encryption.of(settings.store)
            # A daemon, because nobody who stops the program waits for it.
            Thread(target=report_pages, args=checked, name="checking the file", daemon=True).start()
        alone = writes and not worker  # a worker catches up when it begins to listen
        if alone and settings.store.url.get_secret_value():
            for agent_id in society.store.agents():  # another machine may have had something forgotten since
                society.forgot_elsewhere(agent_id)
        yield society


def owner(settings: Settings) -> Caller:
    """The person at this machine: the player of the settings, with all rights."""
    name = settings.world.player
    return Caller(user_id_of(name), name, Role.ADMIN)


@asynccontextmanager
async def _visited(
    society: Society, screen: Screen, connect: Connect
) -> AsyncIterator[tuple[World, CommandLine]]:
    """The world of a society with its owner in it."""
    caller = owner(society.settings)
    world = rooms_of(society)
    with _ended_by_signals():
        society.introduce(caller.user_id, caller.name)
        world.enter(caller.user_id, caller.name, lambda line: screen.show(line.view(caller.user_id)))
        loading = asyncio.create_task(asyncio.to_thread(society.warm), name="loading models")
        asking = asyncio.create_task(society.meet_model(), name="asking the model")
        unwatch = society.watch(shown_in(world))
        try:
            yield world, connect(society, world, caller)
        finally:
            unwatch()
            asking.cancel()
            world.leave(caller.user_id)
            await to_rest(society, world, PATIENCE)
            await asyncio.gather(asking, return_exceptions=True)
            await loading


async def to_rest(society: Society, world: World, patience: float) -> None:
    """Let a world and its society finish what is under way; turns may take so many real seconds for it."""
    with suppress(TimeoutError):
        await asyncio.wait_for(world.settle(), patience)
    await world.close()
    await society.rest(BACKGROUND_SECONDS)


def rooms_of(society: Society, **more: Any) -> World:
    """The rooms of a society, with everybody where they were last; `more` as in `World`."""
    return World(
        load_places(),
        society.personas.values(),
        society.perceive,
        society.idle,
        society.clock,
        seed=society.settings.world.seed,
        state=society.world_state,
        changed=society.save_world,
        by_sentence=society.settings.world.speech == "sentences",
        admit=society.require_not_forgotten,
        private=_private(society.settings.privacy),
        known=lambda name: _may_mean_a_person(society, name),
        **more,
    )


def _private(privacy: PrivacySettings) -> Callable[[Kind, str], bool]:
    """Whether words of a kind are confined to those who hear them, if others are there or not."""
    personal = None if privacy.personal == "none" else personal_finder()
    return lambda kind, text: (
        privacy.tiers.get(kind, 0) > 0 or in_confidence(kind, text) or bool(personal and personal(text))
    )


def _may_mean_a_person(society: Society, name: str) -> bool:
    """Whether a name is that of a person, here or away, or the beginning of one."""
    from noodlings.portable.person import people

    known = people(society.settings, society.people()).values()
    return is_mistakable(name, (other[: len(name)] for other in known))


def shown_in(world: World) -> Callable[[TurnEvent], None]:
    """A watcher that shows a room who takes long to answer, and parts of an answer as they are made."""

    def watch(turn_event: TurnEvent) -> None:
        if turn_event.step == "thinking" and turn_event.percept.floor is not None:  # it happened in a room
            world.thinking(turn_event.agent_id)
        elif turn_event.step == "speech":
            world.speaking(turn_event.agent_id, turn_event.percept, turn_event.trace, turn_event.said)

    return watch


def shown_model(world: World) -> ModelWatcher:
    """A watcher that tells a world when the language model stops answering, and when it is back."""

    def watch(before: ModelStatus, status: ModelStatus) -> None:
        if status.away and not before.away:
            world.announce(status.plain, lasting=True)
        elif before.away and not status.away:
            world.announce("The language model answers again.")

    return watch


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let signals end the process in order, with all cleanup.

    The handlers raise, because a script waits in a blocking read, where a flag would not be seen.
    """

    def leave(number: int, frame: FrameType | None) -> object:
        raise SystemExit(128 + number)

    names = ("SIGTERM", "SIGHUP")  # there is no SIGHUP on Windows
    there = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before: dict[signal.Signals, Any] = dict.fromkeys(there, leave)
    before[signal.SIGINT] = signal.default_int_handler
    for number, handler in before.items():
        before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
