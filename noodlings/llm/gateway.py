"""The one way to a language model: an OpenAI-compatible endpoint, with all limits on its use.

A call has a deadline, is retried if that may help, waits for its turn, is counted, and is refused when the
budget is used up or the circuit breaker is open. Whatever goes wrong is raised within the deadline as an
`LLMError`, which names the endpoint and never the key; so something else can take the model's place.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib import import_module
from typing import TypeVar

from noodlings.config import LLMSettings
from noodlings.errors import LLMError, UserError
from noodlings.files import path_of
from noodlings.llm.call import (
    BACKGROUND,
    CHARACTERS_A_TOKEN,
    CallFailed,
    CallRecorder,
    CallReplay,
    ModelAnswer,
    ModelCall,
    Receipt,
    Refused,
    Spent,
    Task,
)
from noodlings.llm.circuit_breaker import CircuitBreaker, CircuitOpen
from noodlings.llm.endpoint import address, clean_words
from noodlings.llm.prompting import retry_prompt
from noodlings.llm.token_budget import TokenBudget
from noodlings.llm.transport import Transport, unfinished
from noodlings.ports import Allowance, WorldStore
from noodlings.values.model_status import ModelState, ModelStatus, ModelWatcher
from noodlings.values.sent_prompt import SentPrompt

PAUSES = (0.25, 1.0)
"""Seconds before each further attempt after a failure that may pass; the server may ask for longer."""
SHARES = {Task.APPRAISE: 0.5, Task.ACTION: 0.5, **dict.fromkeys(BACKGROUND, 3.0)}
"""How much of the whole deadline a task may take, if not just that: a reply comes after an appraisal, nobody
should wait long for an action that comes after a reply, and nobody waits for facts or a journal."""
STREAMING = 0.7
"""The part of an answer's time in which it streams; before that the model reads the prompt."""
FEWEST_TOKENS = 24
"""The least limit of tokens for an answer, however slow the model: enough for one sentence."""
MEASURED_SECONDS = 1.0
"""An answer that streamed for less time says little of a model's speed."""
MEETING_SECONDS = 5.0
"""Deadline for the endpoint's list of models."""
NAMED = 5
"""How many listed models are named if ours is not among them."""
NOT_FOUND = 404
"""The status with which an endpoint refuses a model that it does not have."""
FAIR = 0.5
"""An endpoint that had less than this part of a task's time is not to blame for lateness."""

T = TypeVar("T")

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _PendingCall:
    """A call that is being made.

    Attributes:
        flows: called after each piece of the answer with all that is there.
        until: the deadline, by the monotonic clock.
        pieces: what has come of the answer, since the time `began`.
        heard: called with each piece.
        sent: when the current attempt was sent; None while it waits for its turn.
    """

    call: ModelCall
    allowance: Allowance
    flows: Callable[[str], object] | None
    spent: Spent = field(default_factory=Spent)
    until: float = 0.0
    pieces: list[str] = field(default_factory=list)
    began: float = 0.0
    heard: Callable[[str], object] = lambda text: None
    sent: float | None = None


class Gateway:
    """The models at one endpoint, shared by a whole process. Belongs to one event loop.

    Args:
        world_store: keeps what was spent of the budget over a restart.
        now: wall time in seconds since 1970-01-01 UTC, for the budget.
        monotonic: for deadlines; `Allowance.until` goes by the same clock.
        sleep: waits between attempts.

    Raises:
        UserError: the endpoint is no web address, or a recording cannot be opened.
    """

    def __init__(
        self,
        settings: LLMSettings,
        world_store: WorldStore | None = None,
        now: Callable[[], float] = time.time,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        if settings.record and settings.replay:
            raise UserError("llm.record and llm.replay are both set; set only one of them")
        shown = address(settings.base_url, "llm.base_url")
        self._endpoint = f"the model at {shown}"
        self._settings = settings
        self._now, self._monotonic, self._sleep = now, monotonic, sleep
        self._transport = Transport(settings)
        self._circuit_breaker = CircuitBreaker(monotonic)
        self._budget = TokenBudget(settings.budget, world_store)
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._background, self._idle = asyncio.Semaphore(1), asyncio.Event()
        self._foreground = 0
        self._idle.set()
        self._tokens_a_second: float | None = None
        self._recorder = CallRecorder(path_of(settings.record)) if settings.record else None
        self._replay = CallReplay(path_of(settings.replay)) if settings.replay else None
        state = ModelState.ANSWERS if settings.replay else ModelState.ASKED
        name = clean_words(self.model(Task.REPLY), settings.api_key.get_secret_value())
        self._status = ModelStatus(state, name, shown, since=now())
        self.watchers: list[ModelWatcher] = []

    def model(self, task: Task) -> str:
        models = self._settings.models
        return getattr(models, task) or self._settings.model or models.reply

    @property
    def prompt_tokens(self) -> int:
        """The limit of tokens in the prompt of a reply."""
        return self._settings.prompt_tokens

    @property
    def status(self) -> ModelStatus:
        """The state of the model that speaks, as of the last call."""
        return self._status

    async def meet(self) -> None:
        """Ask the endpoint once which models it has. If it gives no list, the first reply sets the state."""
        if self._replay is not None:
            return
        await asyncio.to_thread(self.warm)
        wanted = self.model(Task.REPLY)
        seconds = min(MEETING_SECONDS, self._settings.timeout_seconds)
        try:
            async with asyncio.timeout(seconds):
                names = await self._transport.models()
        except TimeoutError:
            found = ModelState.SILENT, f"nothing arrived within {seconds:.3g} s"
        except CallFailed as failed:
            found = _state_of(failed), str(failed)
        else:
            key = self._settings.api_key.get_secret_value()
            found = _found(wanted, names, lambda name: clean_words(name, key))
        if self._status.state is ModelState.ASKED:  # else a reply has set the state meanwhile
            self._note(*found)

    def warm(self) -> None:
        """Load the library, for which the first call would wait a second. On any thread."""
        import_module("openai")

    async def ask(
        self,
        call: ModelCall,
        read: Callable[[ModelAnswer], T],
        allowance: Allowance,
        flows: Callable[[str], object] | None = None,
    ) -> T:
        """What `read` makes of the model's answer.

        Args:
            read: raises `LLMError` when the answer is unusable. If it is `Refused`, and time is left, the
                model is told why and asked once more.
            allowance: for whom, and until when. Costs are added to it, also on failure. `late` is called once
                if the first word of a reply takes longer than `llm.first_token_seconds`.
            flows: called again and again with what has come of a streamed answer; it may end the call by
                raising `CallFailed`.

        Raises:
            LLMError: there is no usable answer in time.
        """
        try:
            try:
                return await self._ask_once(_PendingCall(call, allowance, flows), read)
            except Refused as refused:
                if self._monotonic() >= allowance.until:
                    raise
                again = replace(call, prompt=retry_prompt(call.prompt, str(refused), refused.advice))
            return await self._ask_once(_PendingCall(again, allowance, flows), read)
        except LLMError as error:
            raise LLMError(f"{self._endpoint}: {error}") from None

    async def _ask_once(self, pending: _PendingCall, read: Callable[[ModelAnswer], T]) -> T:
        spent, allowance = pending.spent, pending.allowance
        try:
            async with self._turn_of(pending.call.task):
                answer = await self._recorded(pending)
            return read(answer)
        except LLMError as error:
            if spent.sent is not None:
                spent.sent.failure = str(error)
            raise
        finally:
            allowance.calls += spent.calls
            allowance.tokens += spent.tokens

    @asynccontextmanager
    async def _turn_of(self, task: Task) -> AsyncIterator[None]:
        """Calls that nobody waits for go one at a time, and begin only when there is no other."""
        if task in BACKGROUND:
            async with self._background:
                await self._idle.wait()
                yield
            return
        self._foreground += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._foreground -= 1
            if not self._foreground:
                self._idle.set()

    async def close(self) -> None:
        """Close open connections. A second time it does nothing."""
        await self._transport.close()

    async def _recorded(self, pending: _PendingCall) -> ModelAnswer:
        """The answer of the endpoint, or of the recording in its place."""
        call, spent = pending.call, pending.spent
        if self._replay is not None:
            return self._replay.take(call, spent)
        outcome: ModelAnswer | LLMError
        try:
            outcome = await self._in_time(pending)
        except LLMError as error:
            outcome = error
        if call.task is Task.REPLY:
            self._note_outcome(outcome)
        if self._recorder is not None:
            self._recorder.keep(call, spent, outcome)
        if isinstance(outcome, LLMError):
            raise outcome
        return outcome

    async def _in_time(self, pending: _PendingCall) -> ModelAnswer:
        """The answer before the deadline, unless the circuit breaker is open."""
        task, begun = pending.call.task, self._monotonic()
        whole = SHARES.get(task, 1.0) * self._settings.timeout_seconds
        seconds = min(whole, pending.allowance.until - begun)
        if seconds <= 0:
            raise LLMError("there was no time left for it in this turn")
        pending.until = begun + seconds
        try:
            with self._circuit_breaker.call(counts=task not in BACKGROUND):
                try:
                    async with asyncio.timeout(seconds) as deadline:
                        with self._watched(pending, deadline, pending.allowance.until - begun):
                            return await self._attempts(pending)
                except TimeoutError:
                    if pending.pieces:  # slow is not dead
                        said = "".join(pending.pieces)
                        return unfinished(said, "it was too slow to finish even one sentence", ailing=False)
                    raise self._late(pending, seconds, whole) from None
        except CircuitOpen as refused:
            again = datetime.fromtimestamp(self._now() + refused.seconds, UTC).strftime("%H:%M:%S UTC")
            if task is Task.REPLY and not self._status.away:  # calls for other tasks opened it
                self._note(ModelState.SILENT, refused.reason)
            raise LLMError(f"{refused}; it will be tried again at {again}") from None

    async def _attempts(self, pending: _PendingCall) -> ModelAnswer:
        """The answer of the first attempt that succeeds; raises what the last one raised."""
        for pause in PAUSES:
            try:
                return await self._attempt(pending)
            except CallFailed as failed:
                wait = max(pause, failed.wait)
                if not failed.passing or self._monotonic() + wait >= pending.until:
                    raise
            await self._sleep(wait)
        return await self._attempt(pending)

    async def _attempt(self, pending: _PendingCall) -> ModelAnswer:
        """One attempt, when it is its turn and the budget allows it; counted however it ends."""
        call, who, spent = pending.call, pending.allowance.user_id, pending.spent
        pending.sent = None
        async with self._slots:
            self._budget.admit(who, self._now())
            self._budget.spend(who, self._now(), calls=1)
            spent.calls += 1
            receipt = Receipt(sum(len(message.content) for message in call.prompt))
            pending.sent = self._monotonic()
            spent.sent = sent = SentPrompt(call.task, self.model(call.task), call.prompt)
            pending.allowance.sent(sent)
            limit: int = getattr(self._settings.max_tokens, call.task)
            tokens = min(limit, call.tokens or limit, self._tokens_in_time(call))
            pending.pieces.clear()
            try:
                return await self._transport.send(call, self.model(call.task), tokens, receipt, pending.heard)
            except CallFailed as failed:
                failed.hide(call.prompt)
                sent.failure = str(failed)
                raise
            finally:
                self._note_speed(pending)
                sent.tokens = receipt.counts
                spent.tokens += receipt.tokens
                self._budget.spend(who, self._now(), tokens=receipt.tokens)

    def _note_outcome(self, outcome: ModelAnswer | LLMError) -> None:
        """Set the state after a reply, unless a failure may be the fault of the call, as a long prompt is."""
        if isinstance(outcome, ModelAnswer):
            self._note(ModelState.ANSWERS)
        elif isinstance(outcome, CallFailed) and (outcome.ailing or outcome.status == NOT_FOUND):
            self._note(_state_of(outcome), str(outcome))

    def _note(self, state: ModelState, words: str = "") -> None:
        before = self._status
        since = before.since if state is before.state else self._now()
        self._status = replace(before, state=state, words=words, since=since)
        if state is before.state:
            return
        log.log(logging.WARNING if self._status.away else logging.INFO, "%s", self._status.sentence)
        for watcher in tuple(self.watchers):
            try:
                watcher(before, self._status)
            except Exception:
                log.exception("a watcher of the model failed")

    def _late(self, pending: _PendingCall, seconds: float, whole: float) -> CallFailed:
        if pending.sent is None:
            words = f"other calls kept it waiting for {seconds:.3g} s (llm.concurrency)"
            return CallFailed(words, ailing=False)
        had = self._monotonic() - pending.sent
        return CallFailed(f"it did not answer within {seconds:.3g} s", ailing=had >= FAIR * whole)

    @contextmanager
    def _watched(self, pending: _PendingCall, deadline: asyncio.Timeout, left: float) -> Iterator[None]:
        """Calls `late` if the first word of a streamed answer is late; from then on the answer has more time.

        Args:
            left: seconds of the turn.
        """
        if not pending.call.streamed:
            yield
            return
        loop = asyncio.get_running_loop()
        timer = loop.call_later(self._settings.first_token_seconds, pending.allowance.late)
        end = loop.time() + min(self._settings.answer_seconds, left)

        def heard(text: str) -> None:
            if not pending.pieces:
                timer.cancel()
                pending.began = self._monotonic()
                deadline.reschedule(max(end, deadline.when() or 0.0))
            pending.pieces.append(text)
            if pending.flows is not None:
                pending.flows("".join(pending.pieces))

        pending.heard = heard
        try:
            yield
        finally:
            timer.cancel()

    def _tokens_in_time(self, call: ModelCall) -> int:
        """How many tokens the answer may have at the speed that was measured last."""
        if not call.streamed or self._tokens_a_second is None:
            return 10**9
        return max(FEWEST_TOKENS, int(STREAMING * self._settings.answer_seconds * self._tokens_a_second))

    def _note_speed(self, pending: _PendingCall) -> None:
        """Measure how fast an answer streamed, if that took long enough."""
        seconds = self._monotonic() - pending.began
        if pending.pieces and seconds >= MEASURED_SECONDS:
            measured = sum(map(len, pending.pieces)) / CHARACTERS_A_TOKEN / seconds
            before = self._tokens_a_second
            self._tokens_a_second = measured if before is None else (before + measured) / 2


def _state_of(failed: CallFailed) -> ModelState:
    return ModelState.REFUSES if failed.status else ModelState.SILENT


def _found(wanted: str, names: list[str] | None, shown: Callable[[str], str]) -> tuple[ModelState, str]:
    """The state, by a list of names. Ollama takes a name without `:latest`, Gemini without `models/`."""
    if names is None:
        return ModelState.ASKED, "it does not list its models; its first answer will show whether it works"
    if wanted in names or wanted in (name.removeprefix("models/").removesuffix(":latest") for name in names):
        return ModelState.ANSWERS, ""
    others = [shown(name) for name in names[:NAMED]] + ["…"] * (len(names) > NAMED)
    return ModelState.UNKNOWN, f"it lists {', '.join(others)}" if others else "it lists no models"
