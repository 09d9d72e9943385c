"""Calls to a model, recorded as a JSONL file and answered from it, so that a turn can be had again as it was.

A line is a call: its task, a hash of its prompt (never the prompt), what it cost, and the answer or the words
of its failure. The same prompt asked again gets the next answer that was recorded for it.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict, deque
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from noodlings.errors import LLMError, UserError
from noodlings.files import made_private
from noodlings.llm.call import Answer, Call


@dataclass(slots=True)
class Spent:
    """What a call cost: attempts, and tokens of all of them."""

    calls: int = 0
    tokens: int = 0


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


class Recorder:
    """Writes calls to the end of a file. Raises `UserError` when that cannot be written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            made_private(path).open("a", encoding="utf-8").close()
        except OSError as error:
            raise UserError(f"llm.record: {path} cannot be written: {error.strerror}") from None

    def keep(self, call: Call, spent: Spent, outcome: Answer | LLMError) -> None:
        """One call and what became of it. Raises `LLMError` when it cannot be written."""
        line = _Line(call.task, prompt_hash(call), spent.calls, spent.tokens)
        if isinstance(outcome, Answer):
            line = replace(line, text=outcome.text, whole=outcome.whole)
        else:
            line = replace(line, error=str(outcome))
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(line)) + "\n")
        except OSError as error:
            raise LLMError(f"the call cannot be recorded in {self._path}: {error.strerror}") from None


class Replay:
    """Answers calls from a recording. Raises `UserError` when the file cannot be read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines: defaultdict[tuple[str, str], deque[_Line]] = defaultdict(deque)
        try:
            texts = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"llm.replay: {path} cannot be read: {error}") from None
        for number, text in enumerate(texts, 1):
            try:
                line = _Line(**json.loads(text))
            except (ValueError, TypeError):
                raise UserError(f"llm.replay: line {number} of {path} is no recorded call") from None
            self._lines[line.task, line.prompt].append(line)

    def take(self, call: Call, spent: Spent) -> Answer:
        """The next answer to this prompt; what it cost then is added to `spent`.

        Raises:
            LLMError: what was recorded is a failure, or the call is not in the recording (any more).
        """
        lines = self._lines[call.task, prompt_hash(call)]
        if not lines:
            raise LLMError(f"this call ({call.task}) is not in the recording {self._path}")
        line = lines.popleft()
        spent.calls += line.calls
        spent.tokens += line.tokens
        if line.error:
            raise LLMError(line.error)
        return Answer(line.text, line.whole)


def prompt_hash(call: Call) -> str:
    """Of both messages, 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(call.prompt).encode()).hexdigest()[:16]
