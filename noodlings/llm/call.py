"""One call to a model: what is asked, what comes back, what it costs, and how it can fail.

Calls can be recorded to a JSONL file and answered from it, so that a turn can be repeated exactly. Each line
is one call: its task, a hash of its prompt (never the prompt), its cost, and the answer or the error message.
A prompt that is asked again gets the next answer that was recorded for it.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import defaultdict, deque
from dataclasses import asdict, astuple, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from noodlings.errors import LLMError, UserError
from noodlings.files import in_words, make_private
from noodlings.values.persona import Sampling
from noodlings.values.sent_prompt import NO_COUNTS, PromptMessage, SentPrompt, TokenCounts

CHARACTERS_A_TOKEN = 4
"""About right for English prose; in most other languages the estimate of tokens is too low."""
SENTENCE_END = re.compile(r"(?:(?<!\.\.)[.!?]|(?:…|\.{3})(?!\s+[a-z]))[\"”')*]*(?=\s|$)|[。！？]")
"""Where a sentence of an answer ends. Dots before a small letter are a pause in it."""
ECHO = 10
"""This many letters and digits in a row, whatever stands between them, do not match a prompt by chance."""


class Task(StrEnum):
    """The purpose of a call; each may have its own model and limit of tokens."""

    REPLY = "reply"
    MODULATE = "modulate"
    APPRAISE = "appraise"
    SYMBOL = "symbol"
    ACTION = "action"
    FACTS = "facts"
    JOURNAL = "journal"


BACKGROUND = frozenset({Task.FACTS, Task.JOURNAL})
"""Tasks that nobody waits for."""


Prompt = tuple[PromptMessage, ...]
"""First the character, then the talk in turns, and at last what the model answers."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """What a model is asked.

    Attributes:
        temperature: 0 and above.
        tokens: a limit for the answer below that of the settings.
        seed: makes answers repeatable at an endpoint that supports it.
        format: the `response_format` of a structured answer, or None.
        sampling: overrides that of the settings; with None neither is sent.
        speaker: a line of this person ends the answer, if stop words are sent.
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
        """Whether the answer comes word by word."""
        return self.task is Task.REPLY


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A model's answer; it is not `whole` if it ran out of tokens or time."""

    text: str
    whole: bool = True


@dataclass(slots=True)
class Receipt:
    """What one attempt at a call costs, filled in while it runs, so that an interrupted one is counted too.

    Attributes:
        asked, answered: characters that were sent, and that came back.
        usage: tokens as the server reports them; 0 for those that it does not report.
        refused: the call never reached a model.
    """

    asked: int
    answered: int = 0
    usage: TokenCounts = NO_COUNTS
    refused: bool = False

    @property
    def counts(self) -> TokenCounts | None:
        """Tokens that were sent and that came back; None for a refused call.

        Where the server reports none (many do not for a stream), or the call broke off, they are estimated.
        """
        if self.usage.prompt or self.refused:
            return None if self.refused else self.usage
        sent, answered = (math.ceil(length / CHARACTERS_A_TOKEN) for length in (self.asked, self.answered))
        total = self.usage.total or math.ceil((self.asked + self.answered) / CHARACTERS_A_TOKEN)
        return TokenCounts(total, sent, answered, estimated=True)

    @property
    def tokens(self) -> int:
        """All tokens that `counts`."""
        return self.counts.total if self.counts else 0


class CallFailed(LLMError):
    """An attempt at a call failed at the endpoint.

    Attributes:
        passing: another attempt may succeed soon.
        ailing: the endpoint is at fault, and not this call alone.
        wait: seconds that the server asks to wait, ≥ 0.
        status: the HTTP status of a refusal, else 0.
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
        self.passing, self.ailing, self.wait, self.status = passing, ailing, wait, status

    def hide(self, prompt: Prompt) -> None:
        """Remove what the endpoint repeats of the prompt, which not every reader of the message may see."""
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


class Refused(LLMError):
    """An answer is unusable; `advice` is for the model when it is asked once more."""

    def __init__(self, words: str, advice: str) -> None:
        super().__init__(words)
        self.advice = advice


@dataclass(slots=True)
class Spent:
    """What a call cost: attempts, and their tokens; `sent` is the last prompt that was sent."""

    calls: int = 0
    tokens: int = 0
    sent: SentPrompt | None = None


@dataclass(frozen=True, slots=True)
class _Line:
    """A recorded call; `error` is "" if it was answered."""

    task: str
    prompt: str
    calls: int
    tokens: int
    text: str = ""
    whole: bool = True
    error: str = ""


class CallRecorder:
    """Appends calls to a file. Raises `UserError` if it cannot be written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with in_words(f"{path} (llm.record)", "written"):
            path.parent.mkdir(parents=True, exist_ok=True)
            make_private(path).open("a", encoding="utf-8").close()

    def keep(self, call: ModelCall, spent: Spent, outcome: ModelAnswer | LLMError) -> None:
        """Record a call and its outcome. Raises `LLMError` if it cannot be written."""
        said = asdict(outcome) if isinstance(outcome, ModelAnswer) else {"error": str(outcome)}
        line = _Line(call.task, prompt_hash(call), spent.calls, spent.tokens, **said)
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(line)) + "\n")
        except OSError as error:
            raise LLMError(f"the call cannot be recorded in {self._path}: {error.strerror}") from None


class CallReplay:
    """Answers calls from a recording. Raises `UserError` if it cannot be read."""

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
        """The next answer to this prompt; its recorded cost is added to `spent`.

        Raises:
            LLMError: a failure was recorded, or there is no answer (any more).
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
    """A hash of the messages, 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(list(map(astuple, call.prompt))).encode()).hexdigest()[:16]


def strict_object(properties: dict[str, Any]) -> dict[str, Any]:
    """A JSON schema as strict endpoints want it: every property is required, and no other is allowed."""
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def answer_format(name: str, properties: dict[str, Any]) -> dict[str, Any]:
    """The `response_format` of an answer that is one strict object."""
    schema = strict_object(properties)
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}
