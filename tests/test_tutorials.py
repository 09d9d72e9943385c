"""The tutorials are typed as they stand there, with the real program, in an empty folder.

What a page may hold, from top to bottom:

- a block marked `sh`: each line is run;
- a block marked `python` or `yaml`: it is saved as the file that the words above it name last;
- a block without a mark: behind `$` is a command, behind `>` what is typed into the world that `noodlings
  play` opened last, and the lines below are what is seen then, in this order. `…` stands for anything;
  figures, bars and the words of characters may be others. With `<!-- says: WORDS -->` above it the last
  answer in it has these words;
- `<!-- answers: whole | never | stopped -->` above it: what becomes of the model's answers while it is typed.

A server stands in for Ollama, and one on any free port for `noodlings serve`. The code of the tutorial on
Evennia is that of docs/evennia.md, which tests/evennia installs; a game is not part of these tests.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

import pytest
from markdown_it import MarkdownIt

from tests.api.serving import served
from tests.llm.server import Answer, Server, chat, listing, serving
from tests.program import Program, ran

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "tutorials"
TUTORIALS = sorted(page.stem for page in FOLDER.glob("*.md") if page.stem != "evennia")
OLLAMA, SERVED = "http://localhost:11434", "http://127.0.0.1:8765"

FILE = re.compile(r"`([\w./-]+\.(?:py|yaml))`")
REMARK = re.compile(r"<!-- (says|answers): (.+) -->")
SAID = re.compile(r'says, "([^"]*)"')
TOKEN = re.compile(
    r'(?P<said>(?: \([^()]*\))? says, "[^"]*")|(?P<gap> ?… ?)|(?P<number>[+-]?\d+(?:[.,]\d+)*)'
    r"|(?P<bar>[▁-█▉-▏·]+)|(?P<space> )|(?P<plain>.)"
)
ANY = {
    "said": r'(?: \([^()]*\))? says, "[^"]*"',
    "gap": ".*?",
    "number": r"[+-]?\d+(?:[.,]\d+)*",
    "bar": "[▁-█▉-▏·]+",
    "space": r"\s",
}


@dataclass(frozen=True)
class Step:
    """What is typed, behind `$` or `>` or as a line of a script, and what is seen then."""

    mark: str
    typed: str
    seen: str = ""
    says: str = ""
    answers: str = ""


@dataclass(frozen=True)
class SavedFile:
    """What is to stand in a file."""

    path: str
    text: str


def steps(page: str) -> Iterator[Step | SavedFile]:
    """A tutorial, as something that can be done."""
    before, remarks = "", dict[str, str]()
    for token in MarkdownIt().parse(page):
        if token.type == "inline":
            before = token.content
        elif token.type == "html_block":
            remarks = dict(REMARK.findall(token.content))
            assert remarks, token.content
        elif token.type == "fence":
            if token.info == "sh":
                yield from (Step("sh", line) for line in token.content.splitlines())
            elif token.info:
                yield SavedFile(FILE.findall(before)[-1], token.content)
            else:
                yield from _transcript(token.content, remarks)
            remarks = {}


def _transcript(text: str, remarks: dict[str, str]) -> Iterator[Step]:
    first, *parts = re.split(r"^([>$]) (.+)\n", text, flags=re.M)
    if first:
        yield Step("", "", first, answers=remarks.get("answers", ""))
    said = [at for at in range(0, len(parts), 3) if SAID.search(parts[at + 2])]
    for at in range(0, len(parts), 3):
        says = remarks.get("says", "") if said and at == said[-1] else ""
        yield Step(*parts[at : at + 3], says=says, answers=remarks.get("answers", ""))
    assert said or "says" not in remarks, text


def expected(seen: str) -> str:
    """A pattern for what is seen, but for what differs each time."""
    words = " ".join(seen.split())
    tokens = ((token.lastgroup or "", token[0]) for token in TOKEN.finditer(words))
    return "".join(ANY.get(kind, re.escape(text)) for kind, text in tokens)


def shown(output: str, seen: list[Step]) -> None:
    """What is on a page was seen, in this order."""
    rest = " ".join(output.split())
    for step in seen:
        if step.mark == ">" and step.typed.startswith("say "):
            heard = rest.partition(f'You say, "{step.typed.removeprefix("say ")}"')
            assert heard[1], f"{step.typed!r} was not said:\n{output}"
            rest = heard[2]
        found = re.search(expected(step.seen), rest)
        assert found, f"after {step.typed!r} not seen:\n{step.seen}\n--- but:\n{output}"
        if step.says:
            assert step.says.casefold() in SAID.findall(found[0])[-1].casefold(), found[0]
        rest = rest[found.end() :]


@dataclass
class Reader:
    """Somebody who follows a tutorial.

    Attributes:
        variables: of the environment.
        addresses: those of the page, and where these servers are now.
        visit: how `noodlings play` was started, and what was done since.
    """

    folder: Path
    model: Server
    stack: ExitStack
    variables: dict[str, str]
    addresses: dict[str, str] = field(default_factory=dict)
    visit: tuple[str, list[Step]] | None = None

    def follow(self, page: str) -> None:
        """Do all of it."""
        for step in steps(page):
            if isinstance(step, SavedFile):
                (self.folder / step.path).write_text(self._here(step.text), "utf-8")
            elif step.mark not in ("$", "sh"):
                assert self.visit, f"nobody plays when this is typed: {step.typed}"
                self.visit[1].append(step)
            else:
                self._leave()
                if step.typed.startswith("noodlings play"):
                    self.visit = step.typed, []
                else:
                    self._do(step)
        self._leave()

    def _do(self, step: Step) -> None:
        """A command that is shown writes what is shown below it, and nothing else."""
        output = self._run(step.typed)
        if step.mark == "$":
            same = re.fullmatch(expected(step.seen), " ".join(output.split()))
            assert same, f"{step.typed!r} did not show:\n{step.seen}\n--- but:\n{output}"

    def _leave(self) -> None:
        """Type what was collected, and look at what came of it."""
        if self.visit is None:
            return
        command, done = self.visit
        self.visit = None
        self._let_answer(done)
        lines = "".join(f"{step.typed}\n" for step in done if step.typed)
        shown(
            self._played(command, lines, done[0].seen) if not done[0].mark else self._run(command, lines),
            done,
        )

    def _played(self, line: str, typed: str, first: str) -> str:
        """A visit in which nobody types before they have read what a page shows first."""
        here = {name: self._here(value) for name, value in self.variables.items()}
        awaited, seen = expected(first), ""
        with Program(line.split()[1:], here, apart=True, folder=self.folder) as program:
            while not re.search(awaited, self._there(seen)):
                read = program.said.readline()
                assert read, f"not seen:\n{first}\n--- but:\n{seen}"
                seen += read
            done = program.ended(typed.encode())
        assert done.returncode == 0, (line, done.stderr.decode())
        return self._there(seen + done.stdout.decode())

    def _let_answer(self, done: list[Step]) -> None:
        """The model answers with what the page shows of it, or not at all."""
        [how] = {step.answers for step in done} or {""}
        words = [said for step in done for said in SAID.findall(step.seen)] or ["Mind the wet paint."]
        self.model.answer = lambda _: Answer(hold=True) if how == "never" else chat(words[0])
        port = closed_port() if how == "stopped" else self.model.port
        self.addresses[OLLAMA] = f"http://localhost:{port}"

    def _run(self, line: str, typed: str = "") -> str:
        name, *words = line.split()
        if name == "export":
            self.variables |= dict(word.split("=", 1) for word in words)
        elif name == "unset":
            self.variables.pop(words[0])
        elif line.startswith("noodlings serve"):
            server = self.stack.enter_context(
                served(self.folder / words[-1], NOODLINGS_EMBEDDING__MODEL="minilm")
            )
            self.addresses[SERVED] = server.url
        elif name == "noodlings":
            here = {name: self._here(value) for name, value in self.variables.items()}
            done = ran(*words, environment=here, input=typed.encode())
            assert done.returncode == 0, (line, done.stderr.decode())
            return self._there(done.stdout.decode())
        else:
            return self._elsewhere(self._here(line))
        return ""

    def _elsewhere(self, line: str) -> str:
        """Run what is not the program."""
        python = f'python() {{ {sys.executable} "$@"; }}; '
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", python + line],
            cwd=self.folder,
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, (line, done.stderr)
        return done.stdout

    def _here(self, text: str) -> str:
        for page, real in self.addresses.items():
            text = text.replace(page, real)
        return text

    def _there(self, text: str) -> str:
        text = " ".join(text.split())
        for page, real in self.addresses.items():
            text = text.replace(real, page)
        return text


def closed_port() -> int:
    """One at which nothing listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


@contextmanager
def beside() -> Iterator[Server]:
    """A model that is served by a thread of its own, since the program takes this one."""
    loop, stack = asyncio.new_event_loop(), AsyncExitStack()
    thread = Thread(target=loop.run_forever)
    thread.start()
    try:
        entering = stack.enter_async_context(serving(chat("Mind the wet paint.")))
        server = asyncio.run_coroutine_threadsafe(entering, loop).result(10)
        server.models = listing("llama3.2:latest")
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(stack.aclose(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_is_as_it_says(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kept = {key: value for key, value in os.environ.items() if not key.startswith("NOODLINGS_")}
    with ExitStack() as stack:
        model = stack.enter_context(beside())
        variables = kept | {"NOODLINGS_WORLD__IDLE_SECONDS": "0", "COLUMNS": "100"}
        reader = Reader(tmp_path, model, stack, variables)
        reader.follow((FOLDER / f"{name}.md").read_text("utf-8"))


def test_the_tutorial_on_evennia_has_the_code_of_the_guide() -> None:
    tokens = MarkdownIt().parse((FOLDER / "evennia.md").read_text("utf-8"))
    code = [token.content for token in tokens if token.type == "fence"]
    guide = re.sub(r" +#.*", "", (FOLDER.parent / "evennia.md").read_text("utf-8"))
    assert len(code) == 4
    assert all(text in guide for text in code)


def test_every_tutorial_leads_on() -> None:
    for page in FOLDER.glob("*.md"):
        last = page.read_text("utf-8").split("\n## ")[-1]
        assert last.startswith("Next\n"), page.name
        assert "](" in last, page.name


@pytest.mark.parametrize(
    ("seen", "output"),
    [
        ('A says, "x"', 'A (nods) says, "whatever\nelse"'),
        ("#  score\n3  ██▍ 0.39 … dog", "#  score   12 █▏··· 0.18  next to  my dog"),
    ],
)
def test_what_differs_each_time_is_not_compared(seen: str, output: str) -> None:
    shown(output, [Step(">", "", seen)])


@pytest.mark.parametrize(
    ("seen", "says", "output"),
    [
        ("Gus …", "", "Marta, person"),
        ('A says, "my dog died"', "dog died", 'A says, "what dog?"'),
        ("one … two", "", "two one"),
    ],
)
def test_what_is_otherwise_is_found(seen: str, says: str, output: str) -> None:
    with pytest.raises(AssertionError):
        shown(output, [Step(">", "", seen, says)])
