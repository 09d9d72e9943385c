"""The one way to a language model: an OpenAI-compatible endpoint, with everything that keeps it in bounds.

A call has a deadline, is retried where that may help, waits for its turn, is refused when the budget is used
up or the endpoint is left alone, and is counted. Whatever goes wrong is an `LLMError` within the deadline
that names the endpoint and never the key; so something else can take the model's place.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TypeVar

from noodlings.config import LLMSettings
from noodlings.errors import LLMError, UserError
from noodlings.llm.call import (
    CHARACTERS_A_TOKEN,
    CallFailed,
    CallRecorder,
    CallReplay,
    ModelAnswer,
    ModelCall,
    Receipt,
    Spent,
    Task,
)
from noodlings.llm.circuit_breaker import CircuitBreaker, CircuitOpen
from noodlings.llm.endpoint import address, clean_words
from noodlings.llm.token_budget import TokenBudget
from noodlings.llm.transport import Transport, unfinished
from noodlings.ports import Allowance, WorldStore
from noodlings.values.model_status import ModelState, ModelStatus, ModelWatcher
from noodlings.values.sent_prompt import PromptMessage, SentPrompt

PAUSES = (0.25, 1.0)
"""Seconds before each further attempt, where a failure may pass; the server may ask for longer."""
SHARES = {Task.APPRAISE: 0.5, Task.ACTION: 0.5}
"""How much of the whole deadline a task may take, where not all of it: a reply comes after an
appraisal, and nobody should wait long for an action that comes after a reply."""
FLOWS = 0.7
"""The part of the whole time of an answer in which it flows; before that the prompt is read."""
FEWEST_TOKENS = 24
"""An answer may have so many, however slow the model: one sentence."""
TELLING_SECONDS = 1.0
"""An answer that flowed for less says little of a model's speed."""
MEETING_SECONDS = 5.0
"""So long the endpoint may take to say which models it has."""
NAMED = 5
"""Of the models that are listed in place of ours, so many are named."""
NOT_FOUND = 404
"""With this an endpoint refuses a model that it does not have."""
FAIR = 0.5
"""An endpoint that had less than this part of a task's time is not to blame for what was late."""

T = TypeVar("T")

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Errand:
    """A call on its way.

    Attributes:
        call, user_id: what is asked, and for which player.
        until: its deadline, by the monotonic clock.
        spent: what it cost so far.
        sending: to be called with each prompt that is sent.
        heard: to be called with each piece of its answer.
        flows: to be called with all of them together, after each.
        pieces: of its answer, as far as they are there.
        began: when the first of them came.
        sent: when the attempt that is on its way was sent; None while it waits for its turn.
    """

    call: ModelCall
    user_id: str
    until: float
    spent: Spent
    sending: Callable[[SentPrompt], None] = lambda prompt: None
    heard: Callable[[str], object] = lambda text: None
    flows: Callable[[str], object] | None = None
    pieces: list[str] = field(default_factory=list)
    began: float = 0.0
    sent: float | None = None


class Gateway:
    """A model at an endpoint, shared by everything in a process that asks one. Belongs to one event loop.

    Args:
        settings: endpoint, models, key and limits.
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
        self._tokens_a_second: float | None = None
        self._recorder = CallRecorder(Path(settings.record).expanduser()) if settings.record else None
        self._replay = CallReplay(Path(settings.replay).expanduser()) if settings.replay else None
        state = ModelState.ANSWERS if settings.replay else ModelState.ASKED
        name = clean_words(self.model(Task.REPLY), settings.api_key.get_secret_value())
        self._status = ModelStatus(state, name, shown, since=now())
        self.watchers: list[ModelWatcher] = []

    def model(self, task: Task) -> str:
        """The name of the model that is asked."""
        models = self._settings.models
        return getattr(models, task) or self._settings.model or models.reply

    @property
    def prompt_tokens(self) -> int:
        """The most there are to be in the prompt of a reply."""
        return self._settings.prompt_tokens

    @property
    def status(self) -> ModelStatus:
        """How things stand with the model that speaks, as far as anybody asked."""
        return self._status

    async def meet(self) -> None:
        """Ask the endpoint once which models it has. Where it gives no list the first reply tells."""
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
        if self._status.state is ModelState.ASKED:  # else a reply met it meanwhile, and knows better
            self._note(*found)

    def warm(self) -> None:
        """Load the library that the first call would wait a second for. On any thread."""
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
            call: what is asked.
            read: raises `LLMError` when the answer is no use.
            allowance: for whom, and until when; what was spent is added to it, also when it fails. Where the
                first word of a reply takes longer than `llm.first_token_seconds`, `late` is called, once.
            flows: called with a streamed answer as far as it is there, again and again; what it raises, a
                `CallFailed`, ends the call.

        Raises:
            LLMError: there is no answer of any use, or not in time.
        """
        spent = Spent()
        try:
            return read(await self._recorded(call, allowance, spent, flows))
        except LLMError as error:
            if spent.sent is not None:
                spent.sent.failure = str(error)
            raise LLMError(f"{self._endpoint}: {error}") from None
        finally:
            allowance.calls += spent.calls
            allowance.tokens += spent.tokens

    async def close(self) -> None:
        """Let go of open connections. A second time it does nothing."""
        await self._transport.close()

    async def _recorded(
        self,
        call: ModelCall,
        allowance: Allowance,
        spent: Spent,
        flows: Callable[[str], object] | None,
    ) -> ModelAnswer:
        """The answer of the endpoint, or of the recording in its place."""
        if self._replay is not None:
            return self._replay.take(call, spent)
        outcome: ModelAnswer | LLMError
        try:
            outcome = await self._in_time(call, allowance, spent, flows)
        except LLMError as error:
            outcome = error
        if call.task is Task.REPLY:
            self._note_outcome(outcome)
        if self._recorder is not None:
            self._recorder.keep(call, spent, outcome)
        if isinstance(outcome, LLMError):
            raise outcome
        return outcome

    async def _in_time(
        self,
        call: ModelCall,
        allowance: Allowance,
        spent: Spent,
        flows: Callable[[str], object] | None,
    ) -> ModelAnswer:
        """The answer before the deadline, if the endpoint is not left alone."""
        whole = SHARES.get(call.task, 1.0) * self._settings.timeout_seconds
        begun = self._monotonic()
        seconds = min(whole, allowance.until - begun)
        if seconds <= 0:
            raise LLMError("there was no time left for it in this turn")
        errand = _Errand(call, allowance.user_id, begun + seconds, spent, allowance.sent, flows=flows)
        try:
            with self._circuit_breaker.call():
                try:
                    async with asyncio.timeout(seconds) as patience:
                        with self._watched(errand, allowance.late, patience, allowance.until - begun):
                            return await self._attempts(errand)
                except TimeoutError:
                    if errand.pieces:  # slow is not dead
                        said = "".join(errand.pieces)
                        return unfinished(said, "it was too slow to finish even one sentence", ailing=False)
                    raise self._late(errand, seconds, whole) from None
        except CircuitOpen as refused:
            again = datetime.fromtimestamp(self._now() + refused.seconds, UTC).strftime("%H:%M:%S UTC")
            if call.task is Task.REPLY and not self._status.away:  # other calls met what opened it
                self._note(ModelState.SILENT, refused.reason)
            raise LLMError(f"{refused}; it will be tried again at {again}") from None

    async def _attempts(self, errand: _Errand) -> ModelAnswer:
        """The answer to the first attempt that has one; raises what the last one met."""
        for pause in PAUSES:
            try:
                return await self._attempt(errand)
            except CallFailed as failed:
                wait = max(pause, failed.wait)
                if not failed.passing or self._monotonic() + wait >= errand.until:
                    raise
            await self._sleep(wait)
        return await self._attempt(errand)

    async def _attempt(self, errand: _Errand) -> ModelAnswer:
        """One attempt, when it is its turn and the budget allows it; counted however it ends."""
        call, who, spent = errand.call, errand.user_id, errand.spent
        errand.sent = None
        async with self._slots:
            self._budget.admit(who, self._now())
            self._budget.spend(who, self._now(), calls=1)
            spent.calls += 1
            receipt = Receipt(sum(len(message.content) for message in call.prompt))
            errand.sent = self._monotonic()
            messages = tuple(PromptMessage(*message) for message in call.prompt)
            sent = SentPrompt(call.task, self.model(call.task), messages)
            errand.sending(sent)
            spent.sent = sent
            limit: int = getattr(self._settings.max_tokens, call.task)
            tokens = min(limit, call.tokens or limit, self._in_so_long(call))
            errand.pieces.clear()
            try:
                return await self._transport.send(call, self.model(call.task), tokens, receipt, errand.heard)
            except CallFailed as failed:
                failed.hide(call.prompt)
                sent.failure = str(failed)
                raise
            finally:
                self._note_speed(errand)
                sent.tokens = receipt.counts
                spent.tokens += receipt.tokens
                self._budget.spend(who, self._now(), tokens=receipt.tokens)

    def _note_outcome(self, outcome: ModelAnswer | LLMError) -> None:
        """What a reply met. What is no failure of the endpoint leaves everything as it was, and so does what
        may be the fault of what was asked, such as a prompt that is too long.
        """
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

    def _late(self, errand: _Errand, seconds: float, whole: float) -> CallFailed:
        """What to say of a deadline that passed."""
        if errand.sent is None:
            words = f"other calls kept it waiting for {seconds:.3g} s (llm.concurrency)"
            return CallFailed(words, ailing=False)
        had = self._monotonic() - errand.sent
        return CallFailed(f"it did not answer within {seconds:.3g} s", ailing=had >= FAIR * whole)

    @contextmanager
    def _watched(
        self, errand: _Errand, late: Callable[[], None], patience: asyncio.Timeout, left: float
    ) -> Iterator[None]:
        """While the first word of a streamed answer is waited for, `late` may be called; then it flows on.

        Args:
            left: seconds of its turn.
        """
        if not errand.call.streamed:
            yield
            return
        loop = asyncio.get_running_loop()
        timer = loop.call_later(self._settings.first_token_seconds, late)
        end = loop.time() + min(self._settings.answer_seconds, left)

        def heard(text: str) -> None:
            if not errand.pieces:
                timer.cancel()
                errand.began = self._monotonic()
                patience.reschedule(max(end, patience.when() or 0.0))
            errand.pieces.append(text)
            if errand.flows is not None:
                errand.flows("".join(errand.pieces))

        errand.heard = heard
        try:
            yield
        finally:
            timer.cancel()

    def _in_so_long(self, call: ModelCall) -> int:
        """Tokens that an answer may have, to be said in time at the speed that was measured last."""
        if not call.streamed or self._tokens_a_second is None:
            return 10**9
        return max(FEWEST_TOKENS, int(FLOWS * self._settings.answer_seconds * self._tokens_a_second))

    def _note_speed(self, errand: _Errand) -> None:
        """How fast an answer flowed, where it flowed long enough to tell."""
        seconds = self._monotonic() - errand.began
        if errand.pieces and seconds >= TELLING_SECONDS:
            measured = sum(map(len, errand.pieces)) / CHARACTERS_A_TOKEN / seconds
            before = self._tokens_a_second
            self._tokens_a_second = measured if before is None else (before + measured) / 2


def _state_of(failed: CallFailed) -> ModelState:
    return ModelState.REFUSES if failed.status else ModelState.SILENT


def _found(wanted: str, names: list[str] | None, shown: Callable[[str], str]) -> tuple[ModelState, str]:
    """What a list of models says of ours. Ollama takes a name without `:latest`, Gemini without `models/`."""
    if names is None:
        return ModelState.ASKED, "it does not list its models; its first answer will show whether it works"
    if wanted in names or wanted in (name.removeprefix("models/").removesuffix(":latest") for name in names):
        return ModelState.ANSWERS, ""
    others = [shown(name) for name in names[:NAMED]] + ["…"] * (len(names) > NAMED)
    return ModelState.UNKNOWN, f"it lists {', '.join(others)}" if others else "it lists no models"
