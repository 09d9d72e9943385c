"""One attempt at a call through the `openai` client, without retries or a deadline of its own.

Whatever goes wrong is a `CallFailed` whose message never holds the key, also an answer that is not a chat
completion or a piece of one. The library is loaded with the first call. Redirects are not followed, so the
prompt goes to the endpoint and nowhere else.

- The `openai` library reads an error response to its end, however long it is; here it is cut off before that.
- A streamed answer is server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), in
  portions that may break anywhere; only the field `data` is used.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from noodlings.config import LLMSettings
from noodlings.connections import on_this_machine
from noodlings.llm.call import SENTENCE_END, CallFailed, ModelAnswer, ModelCall, Receipt
from noodlings.llm.endpoint import NO_KEY, clean_words, failure, refusal
from noodlings.values.sent_prompt import NO_COUNTS, TokenCounts

if TYPE_CHECKING:
    from openai import AsyncOpenAI


LARGEST_REFUSAL = 20_000
"""Bytes; a larger refusal is not read to its end, and its message is lost."""


class EndpointRefusal(Exception):
    """An HTTP status other than success, 300…599.

    Attributes:
        message: the server's own, raw; "" if it has not the usual form.
        param: the parameter of the call that it is about, or "".
        wait: seconds that the server asks to wait, ≥ 0.
    """

    def __init__(self, status: int, body: bytes, retry_after: str) -> None:
        super().__init__(status)
        self.status = status
        self.wait = _seconds(retry_after)
        self.message, self.param = _said(body)


async def refuse(response: Any) -> None:
    """A hook of the HTTP client for each response. Raises `EndpointRefusal` if it is no success."""
    if response.is_success:
        return
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > LARGEST_REFUSAL:
            break
    raise EndpointRefusal(response.status_code, bytes(body), response.headers.get("retry-after", ""))


def _said(body: bytes) -> tuple[str, str]:
    """Message and parameter of an error in the form of OpenAI, or the message alone in that of others."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return "", ""
    error = found.get("error", found) if isinstance(found, dict) else None
    if isinstance(error, dict):
        return str(error.get("message") or error.get("detail") or ""), str(error.get("param") or "")
    return (error, "") if isinstance(error, str) else ("", "")


def _seconds(retry_after: str) -> float:
    """How long a server asks to wait; 0 if it gives a date, or nothing usable."""
    try:
        seconds = float(retry_after)
    except ValueError:
        return 0.0
    return seconds if 0.0 <= seconds < math.inf else 0.0


async def events(pieces: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """The data of each event. Other fields, and an event that breaks off, are ignored."""
    data: list[str] = []
    async for line in _lines(pieces):
        field, _, value = line.partition(":")
        if field == "data":
            data.append(value.removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data = []


async def _lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """Lines without their ends; what is not UTF-8 becomes the replacement character."""
    rest = bytearray()
    async for piece in pieces:
        rest += piece
        if b"\n" in piece:  # else a long line would be searched again for each piece of it
            *lines, last = rest.split(b"\n")
            rest = bytearray(last)
            for line in lines:
                yield line.decode("utf-8", "replace").removesuffix("\r")


DONE = "[DONE]"
"""The data of the last event of a stream."""


def completion(body: bytes, key: str) -> tuple[ModelAnswer, TokenCounts]:
    """The answer in a body, and its tokens as far as the server reports them."""
    found = _parsed(body, "its answer is not JSON", key)
    try:
        choice = found["choices"][0]
        text, end = choice["message"]["content"], choice.get("finish_reason")
    except (TypeError, KeyError, IndexError, AttributeError):
        raise CallFailed("its answer is not a chat completion") from None
    if not isinstance(text, str):
        raise CallFailed("it answered without any text", ailing=False)
    return ModelAnswer(text, end != "length"), _usage(found)


def piece(data: str, key: str) -> tuple[str, str, TokenCounts]:
    """The text in an event of a stream, why the answer ends here (or ""), and tokens, if reported."""
    found = _parsed(data, "its stream is not JSON", key)
    try:
        choices = found.get("choices") or [{}]
        text = (choices[0].get("delta") or {}).get("content") or ""
        end = choices[0].get("finish_reason") or ""
    except (TypeError, KeyError, IndexError, AttributeError):
        text = None
    if not isinstance(text, str):
        raise CallFailed("its stream is not a chat completion")
    return text, str(end), _usage(found)


def _parsed(text: bytes | str, otherwise: str, key: str) -> Any:
    """The JSON in a text. Raises `CallFailed`, also for an error in place of an answer."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise CallFailed(otherwise) from None
    if isinstance(found, dict) and (error := found.get("error")):
        said = error.get("message") if isinstance(error, dict) else error
        raise CallFailed(f"it answered with an error: {clean_words(str(said), key)}")
    return found


def _usage(found: Any) -> TokenCounts:
    usage = found.get("usage") if isinstance(found, dict) else None
    if not isinstance(usage, dict):
        return NO_COUNTS
    total, sent, answered = (
        _count(usage.get(name)) or 0 for name in ("total_tokens", "prompt_tokens", "completion_tokens")
    )
    details = usage.get("prompt_tokens_details")
    cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else None
    return TokenCounts(total or sent + answered, sent, answered, cached)


def _count(given: Any) -> int | None:
    """The value if it can be a number of tokens, else None."""
    sound = isinstance(given, int) and not isinstance(given, bool) and 0 <= given < 10**9
    return given if sound else None


def listed(body: bytes) -> list[str] | None:
    """The names in the answer to `GET /models`; None if that is no list of models."""
    try:
        names = [model["id"] for model in json.loads(body)["data"]]
    except (ValueError, RecursionError, TypeError, KeyError):
        return None
    return names if all(isinstance(name, str) for name in names) else None


LARGEST_ANSWER = 4_000_000
"""Bytes; a larger answer is not read further. A stream takes about 300 for each token."""
LINGER = 0.5
"""Seconds that a stream may take after its answer is complete to report its tokens, and to end."""

_KEY_REFUSED = frozenset({401, 403})
_NO_LIST = frozenset({400, 403, 404, 405, 422, 429, 501})
"""Refusals of the list of models that do not mean that a call would fail: a key may be for calls only."""
SAMPLING = ("stop", "frequency_penalty", "presence_penalty", "min_p")
OPTIONAL = frozenset({"max_tokens", "temperature", "seed", "response_format", "stream_options", *SAMPLING})
"""Parameters that are left out from then on if a model refuses them by name. `max_tokens` is replaced by
`max_completion_tokens`, which some of OpenAI's models want."""


class Transport:
    def __init__(self, settings: LLMSettings) -> None:
        self._base_url = settings.base_url
        self._key = settings.api_key.get_secret_value()
        self._stall = settings.stall_seconds
        self._usual = {name: getattr(settings, name) for name in SAMPLING}
        self._client: AsyncOpenAI | None = None
        self._refused: defaultdict[str, set[str]] = defaultdict(set)

    async def send(
        self, call: ModelCall, model: str, tokens: int, receipt: Receipt, heard: Callable[[str], object]
    ) -> ModelAnswer:
        """The endpoint's answer. Raises `CallFailed` if there is none.

        Args:
            tokens: the limit for the answer.
            receipt: gets the cost, also on failure.
            heard: called with each piece of a streamed answer.
        """
        openai = await asyncio.to_thread(import_module, "openai")  # a second, the first time
        try:
            sending = self._connection(openai).chat.completions.with_streaming_response.create(
                **self._parameters(call, model, tokens)
            )
            async with sending as response:
                pieces = _limited(response.iter_bytes())
                kind = response.headers.get("content-type", "").lower()
                if kind.startswith("text/event-stream"):
                    return await self._streamed(pieces, receipt, heard)
                answer, receipt.usage = completion(b"".join([some async for some in pieces]), self._key)
                receipt.answered = len(answer.text)
                return answer
        except CallFailed:
            raise
        except Exception as error:  # noqa: BLE001 -- the library does not wrap all errors of its transport
            met = _met(error)
            if met is not None:
                receipt.refused = True
                raise self._refusal(met, model) from None
            lost = isinstance(error, openai.APIConnectionError)
            receipt.refused = lost
            raise CallFailed(failure(error, openai), passing=lost) from None

    async def models(self) -> list[str] | None:
        """The names of the endpoint's models; None if it does not list them.

        Raises:
            CallFailed: the endpoint cannot be reached, or would refuse a call, too.
        """
        openai = await asyncio.to_thread(import_module, "openai")
        try:
            async with self._connection(openai).models.with_streaming_response.list() as response:
                return listed(b"".join([some async for some in _limited(response.iter_bytes())]))
        except CallFailed:
            return None
        except Exception as error:  # noqa: BLE001 -- as above
            met = _met(error)
            if met is None:
                raise CallFailed(failure(error, openai)) from None
            if met.status in _NO_LIST:
                return None
            raise CallFailed(refusal(met.status, met.message, self._key), status=met.status) from None

    async def close(self) -> None:
        """Close open connections. A second time it does nothing."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _streamed(
        self, pieces: AsyncIterator[bytes], receipt: Receipt, heard: Callable[[str], object]
    ) -> ModelAnswer:
        texts: list[str] = []
        end, lingers = "", False
        now = asyncio.get_running_loop().time
        try:
            async with asyncio.timeout(None) as patience:
                async for data in events(pieces):
                    if data.strip() == DONE:
                        end = end or "stop"
                    else:
                        text, ended, usage = piece(data, self._key)
                        receipt.usage = max(receipt.usage, usage, key=lambda said: said.total)
                        receipt.answered += len(text)
                        texts.append(text)
                        end = end or ended
                        if text:
                            heard(text)
                            patience.reschedule(now() + self._stall)
                    if end and not lingers:
                        lingers = True
                        patience.reschedule(now() + LINGER)
        except TimeoutError:
            if not end:  # else the answer is complete, and only the connection stays open
                return unfinished("".join(texts), "its answer stopped arriving halfway")
        if not end:
            raise CallFailed("its stream ended halfway")
        return ModelAnswer("".join(texts), end != "length")

    def _refusal(self, met: EndpointRefusal, model: str) -> CallFailed:
        words = refusal(met.status, met.message, self._key)
        refused = self._refused[model]
        if met.status == 400 and met.param in OPTIONAL - refused:
            refused.add(met.param)
            return CallFailed(words, passing=True, ailing=False, status=met.status)
        passing = met.status == 429 or met.status >= 500
        ailing = passing or met.status in _KEY_REFUSED
        return CallFailed(words, passing=passing, ailing=ailing, wait=met.wait, status=met.status)

    def _parameters(self, call: ModelCall, model: str, tokens: int) -> dict[str, Any]:
        """The parameters of a call for the endpoint, without those that the model refused."""
        refused = self._refused[model]
        wanted: dict[str, Any] = {
            "model": model,
            "messages": [asdict(message) for message in call.prompt],
            "max_tokens": tokens,
            "max_completion_tokens": tokens if "max_tokens" in refused else None,
            "temperature": call.temperature,
            "seed": call.seed,
            "response_format": call.format,
        }
        if call.streamed:
            wanted |= {"stream": True, "stream_options": {"include_usage": True}}
        if call.sampling is not None:
            own = {name: getattr(call.sampling, name) for name in SAMPLING}
            wanted |= {name: self._usual[name] if own[name] is None else own[name] for name in SAMPLING}
        if wanted.get("stop") is not None:
            wanted["stop"] = [*wanted["stop"], f"\n{call.speaker}:"]
        sent = {name: value for name, value in wanted.items() if name not in refused and value is not None}
        if "min_p" in sent:  # OpenAI has no such parameter, so its client takes it only like this
            sent["extra_body"] = {"min_p": sent.pop("min_p")}
        return sent

    def _connection(self, openai: ModuleType) -> AsyncOpenAI:
        """The client, which is made with the first call and keeps its connections open."""
        if self._client is None:
            self._client = openai.AsyncOpenAI(
                base_url=self._base_url,
                api_key=self._key or NO_KEY,
                timeout=None,  # the caller has a deadline
                max_retries=0,
                http_client=openai.DefaultAsyncHttpxClient(
                    follow_redirects=False,
                    event_hooks={"response": [refuse]},
                    # With a proxy from the environment the call would leave this machine.
                    trust_env=not on_this_machine(self._base_url),
                ),
            )
        return self._client


def unfinished(text: str, why: str, *, ailing: bool = True) -> ModelAnswer:
    """An answer that was cut off. Raises `CallFailed` if it has no whole sentence."""
    if not SENTENCE_END.search(text):
        raise CallFailed(why, ailing=ailing)
    return ModelAnswer(text, whole=False)


def _met(error: Exception) -> EndpointRefusal | None:
    """The refusal behind an error, which some versions of the library wrap."""
    met = error if isinstance(error, EndpointRefusal) else error.__cause__
    return met if isinstance(met, EndpointRefusal) else None


async def _limited(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Raises `CallFailed` beyond `LARGEST_ANSWER`."""
    size = 0
    async for some in pieces:
        size += len(some)
        if size > LARGEST_ANSWER:
            raise CallFailed(f"its answer is larger than {LARGEST_ANSWER:,} bytes")
        yield some
