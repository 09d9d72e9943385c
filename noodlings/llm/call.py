"""One call to a model: what is asked, what comes back, what it costs, and how it can fail.

Calls can be recorded to a JSONL file and answered from it, so that a turn can be repeated exactly. Each line
is one call: its task, a hash of its prompt (never the prompt), its cost, and the answer or the error message.
When the same prompt is asked again, it gets the next answer that was recorded for it.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import defaultdict, deque
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from noodlings.errors import LLMError, UserError
from noodlings.files import make_private
from noodlings.values.persona import Sampling
from noodlings.values.sent_prompt import NO_COUNTS, SentPrompt, TokenCounts

CHARACTERS_A_TOKEN = 4
"""Of English prose, about; less in most other languages, so that there an estimate is too low."""


SENTENCE_END = re.compile(r"(?:(?<!\.\.)[.!?]|(?:…|\.{3})(?!\s+[a-z]))[\"”')*]*(?=\s|$)|[。！？]")
"""Where a sentence of an answer ends. Dots before a small letter are a pause in it."""


ECHO = 10
"""So many letters and digits in a row, whatever stands between them, are no chance likeness to a prompt."""


class Task(StrEnum):
    """What a model is asked for; each may have a model and a limit of tokens of its own."""

    REPLY = "reply"
    MODULATE = "modulate"
    APPRAISE = "appraise"
    SYMBOL = "symbol"
    ACTION = "action"


class Message(NamedTuple):
    """One message of a prompt: whose turn it is ("system", "user" or "assistant"), and what is said in it."""

    role: str
    content: str


Prompt = tuple[Message, ...]
"""What a model is given: first who it is, then what was said in turns, at last what it answers."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """What a model is asked.

    Attributes:
        task: what for.
        prompt: the messages, in order.
        temperature: 0 and above.
        tokens: at most so many in the answer, where the settings allow more; None leaves it to them.
        seed: makes the same call sound the same, at an endpoint that keeps seeds.
        format: the `response_format` of a structured answer, or None.
        sampling: overrides that of the settings; with None neither is sent.
        speaker: whose next line would end the answer, where anything is sent that ends it.
    """

    task: Task
    prompt: Prompt
    temperature: float
    tokens: int | None = None
    seed: int | None = None
    format: dict[str, Any] | None = None
    sampling: Sampling | None = None
    speaker: str = ""

    @property
    def streamed(self) -> bool:
        """Whether the answer comes word by word, so that one sees in time that it is late."""
        return self.task is Task.REPLY


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What a model answered: its text, and whether it came to an end before its tokens did."""

    text: str
    whole: bool = True


@dataclass(slots=True)
class Receipt:
    """What one attempt at a call costs, filled in while it runs, so that one broken off is counted too.

    Attributes:
        asked, answered: characters that were sent, and that came back.
        usage: tokens as the server says; 0 of those of which it says nothing.
        refused: it never reached a model.
    """

    asked: int
    answered: int = 0
    usage: TokenCounts = NO_COUNTS
    refused: bool = False

    @property
    def tokens(self) -> int:
        """As the server says. Where it does not (many do not for a stream, none for a call that was broken
        off) an estimate from the characters, prompt included; nothing for a call that was refused.
        """
        if self.usage.total or self.refused:
            return self.usage.total
        return math.ceil((self.asked + self.answered) / CHARACTERS_A_TOKEN)

    @property
    def counts(self) -> TokenCounts | None:
        """What was sent and what came back, each by itself; None for a call that was refused."""
        if self.usage.prompt or self.refused:
            return None if self.refused else self.usage
        sent, answered = (math.ceil(length / CHARACTERS_A_TOKEN) for length in (self.asked, self.answered))
        return TokenCounts(self.tokens, sent, answered, estimated=True)


class CallFailed(LLMError):
    """An attempt at a call failed at the endpoint.

    Attributes:
        passing: it may go well in a moment.
        ailing: it says something about the endpoint, and not about this call alone.
        wait: seconds the server asks to be left alone for, ≥ 0.
        status: of HTTP with which it refused; 0 where it did not.
    """

    def __init__(
        self,
        words: str,
        *,
        passing: bool = False,
        ailing: bool = True,
        wait: float = 0.0,
        status: int = 0,
    ) -> None:
        super().__init__(words)
        self.status = status
        self.passing = passing
        self.ailing = ailing
        self.wait = wait

    def hide(self, prompt: Prompt) -> None:
        """Take out what the endpoint repeats of a prompt: not all who read the message may read that."""
        said = str(self)
        asked = "".join(filter(str.isalnum, "".join(message.content for message in prompt)))
        places = [place for place, letter in enumerate(said) if letter.isalnum()]
        letters = "".join(said[place] for place in places)
        repeated: set[int] = set()
        for start in range(len(letters) - ECHO + 1):
            if letters[start : start + ECHO] in asked:
                repeated.update(range(places[start], places[start + ECHO - 1] + 1))
        kept = "".join("\0" if place in repeated else letter for place, letter in enumerate(said))
        self.args = (re.sub("\0+", "…", kept),)


@dataclass(slots=True)
class Spent:
    """What a call cost: attempts, and tokens of all of them; `sent` is the last prompt that went out."""

    calls: int = 0
    tokens: int = 0
    sent: SentPrompt | None = None


@dataclass(frozen=True, slots=True)
class _Line:
    """A call of a recording; `error` is "" where it was answered."""

    task: str
    prompt: str
    calls: int
    tokens: int
    text: str = ""
    whole: bool = True
    error: str = ""


class CallRecorder:
    """Writes calls to the end of a file. Raises `UserError` when that cannot be written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            make_private(path).open("a", encoding="utf-8").close()
        except OSError as error:
            raise UserError(f"{path} (llm.record) cannot be written: {error.strerror}") from None

    def keep(self, call: ModelCall, spent: Spent, outcome: ModelAnswer | LLMError) -> None:
        """One call and what became of it. Raises `LLMError` when it cannot be written."""
        line = _Line(call.task, prompt_hash(call), spent.calls, spent.tokens)
        if isinstance(outcome, ModelAnswer):
            line = replace(line, text=outcome.text, whole=outcome.whole)
        else:
            line = replace(line, error=str(outcome))
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(line)) + "\n")
        except OSError as error:
            raise LLMError(f"the call cannot be recorded in {self._path}: {error.strerror}") from None


class CallReplay:
    """Answers calls from a recording. Raises `UserError` when the file cannot be read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines: defaultdict[tuple[str, str], deque[_Line]] = defaultdict(deque)
        try:
            texts = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"{path} (llm.replay) cannot be read: {error}") from None
        for number, text in enumerate(texts, 1):
            try:
                line = _Line(**json.loads(text))
            except (ValueError, TypeError):
                raise UserError(f"line {number} of {path} (llm.replay) is not a recorded call") from None
            self._lines[line.task, line.prompt].append(line)

    def take(self, call: ModelCall, spent: Spent) -> ModelAnswer:
        """The next answer to this prompt; what it cost then is added to `spent`.

        Raises:
            LLMError: what was recorded is a failure, or the call is not in the recording (any more).
        """
        lines = self._lines[call.task, prompt_hash(call)]
        if not lines:
            raise LLMError(f"the recording {self._path} has no answer for this call ({call.task})")
        line = lines.popleft()
        spent.calls += line.calls
        spent.tokens += line.tokens
        if line.error:
            raise LLMError(line.error)
        return ModelAnswer(line.text, line.whole)


def prompt_hash(call: ModelCall) -> str:
    """Of its messages, 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(call.prompt).encode()).hexdigest()[:16]
