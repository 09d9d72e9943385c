"""`noodlings eval …`: measures on data from outside, as a table or as one line of JSON."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from noodlings.cli.options import AsJson, Config, Embedding, command_group, print_json, settings_of
from noodlings.errors import UserError

if TYPE_CHECKING:
    from noodlings.agent.society import Society
    from noodlings.clock import ManualClock
    from noodlings.ports import Embedder
    from noodlings.values.affect import Affect

eval_app = command_group("Measure how good each part is, on data of your own.")


T = TypeVar("T")
VoiceName = Literal["offline", "model"]
"""Who answers in an evaluation of talk."""
LAST_SECONDS = 5.0
"""Real seconds for work in the background after the last line."""

Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", help="Accepted as everywhere; an evaluation keeps nothing."),
]


@eval_app.command()
def importance(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A transcript; see noodlings replay.")],
    as_json: AsJson = False,
    data: Data = None,
    config: Config = None,
) -> None:
    """Show how importance is distributed over recorded talk, and how much of it becomes episodic."""
    import asyncio

    from noodlings.app import build
    from noodlings.clock import ManualClock
    from noodlings.drawing.progress import progress_over
    from noodlings.ingest.lines import count_lines
    from noodlings.lab.evaluate.importance import evaluate, view
    from noodlings.store.memory import MemoryStore

    clock = ManualClock()
    society = build(settings_of(None, config), clock=clock, store=MemoryStore())
    with progress_over(count_lines(file), "appraising") as done:
        figures = asyncio.run(evaluate(society, clock, file, done))
    _print(figures, view, as_json)


@eval_app.command()
def affect(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.csv", help="A CSV file with the columns V, A (1…5) and text; or text and label."
        ),
    ],
    embedder: Embedding = "minilm",
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Measure how well feelings are read from text, against human ratings or labels."""
    from noodlings.ingest.lines import count_lines
    from noodlings.lab.evaluate.affect import evaluate, view

    with _counting(count_lines(file), "appraising") as done:
        figures = evaluate(file, _embedder(embedder), done)
    _print(figures, view, as_json)


@eval_app.command()
def locomo(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Conversations with questions.")],
    embedder: Embedding = "minilm",
    mood: Annotated[
        str, typer.Option("--mood", metavar="V,A", help="Search in a mood: valence −1…1, arousal 0…1.")
    ] = "",
    lived: Annotated[
        bool,
        typer.Option(
            "--lived",
            help="Also ask the character each question: did it have the evidence in mind when it answered?",
        ),
    ] = False,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Measure how much of the evidence for a question is found in a long conversation."""
    import asyncio

    from noodlings.lab.evaluate.locomo import evaluate, steps, view

    asked_in = _mood(mood) if mood else None
    with _counting(steps(files, lived), "asking") as done, _listening(embedder) as (society, clock):
        figures = asyncio.run(evaluate(society, clock, files, asked_in, done, lived))
    _print(figures, view, as_json)


@eval_app.command()
def mood(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Scenarios with queries asked in a mood.")],
    embedder: Embedding = "minilm",
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Measure whether a mood brings back the memory that fits it."""
    import asyncio

    from noodlings.lab.evaluate.mood import evaluate, read_scenarios, view

    total = sum(len(scenario.queries) for scenario in read_scenarios(file))
    with _counting(total, "asking") as done, _listening(embedder) as (society, clock):
        figures = asyncio.run(evaluate(society, clock, file, _embedder(embedder), done))
    _print(figures, view, as_json)


@eval_app.command()
def talk(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE.yaml", help="A YAML file of cases: who tells what, and what is asked."),
    ],
    embedder: Embedding = "minilm",
    voice: Annotated[
        VoiceName,
        typer.Option("--voice", help="Who answers: the offline voice, or the model in the llm settings."),
    ] = "offline",
    one: Annotated[
        bool,
        typer.Option(
            "--one",
            help="One character lives through all cases, and is told everything before it is asked anything.",
        ),
    ] = False,
    filler: Annotated[
        Path | None,
        typer.Option("--filler", metavar="CHAT.jsonl", help="A transcript to take idle talk from."),
    ] = None,
    busy: Annotated[int, typer.Option("--busy", min=1, help="Multiply the amount of idle talk by this.")] = 1,
    show: Annotated[bool, typer.Option("--show", help="Print every question with its answer.")] = False,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Measure whether a character remembers what players tell it, recalls it when needed, and says it."""
    import asyncio

    from noodlings.drawing.screen import Screen
    from noodlings.lab.evaluate import talk as lived_talk

    cases = lived_talk.read_cases(file)
    idle = None if filler is None else lived_talk.read_idle(filler)
    steps = lived_talk.steps(cases)
    with _listening(embedder, voice) as (society, clock), _counting(steps, "talking") as done:
        lived = lived_talk.Conversations(society, clock, idle, busy).run(cases, one, done)
        exchanges = asyncio.run(_to_the_end(lived, society))
    if show and not as_json:
        for line in lived_talk.shown_exchanges(exchanges):
            Screen(terminal=sys.stdout.isatty()).show(line)
    _print(lived_talk.figures(exchanges), lived_talk.view, as_json)


@eval_app.command()
def people(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.yaml", help="A YAML file of lines, with the facts about people in them."
        ),
    ],
    embedder: Embedding = "minilm",
    voice: Annotated[
        VoiceName,
        typer.Option("--voice", help="Patterns alone (offline), or the model in the llm settings as well."),
    ] = "offline",
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Measure whether a character's cards contain what it was told about people, and are right."""
    import asyncio

    from noodlings.lab.evaluate.people import evaluate, read_weeks, view

    weeks = read_weeks(file)
    with _listening(embedder, voice) as (society, clock), _counting(len(weeks.lines), "listening") as done:
        figures = asyncio.run(_to_the_end(evaluate(society, clock, weeks, done), society))
    _print(figures, view, as_json)


async def _to_the_end(lived: Awaitable[T], society: Society) -> T:
    """What is lived through, after which the work in the background may end, too."""
    try:
        return await lived
    finally:
        await society.rest(LAST_SECONDS)


@contextmanager
def _listening(embedder: str, voice: VoiceName = "offline") -> Iterator[tuple[Society, ManualClock]]:
    """A society that stores nothing, whose agents use this embedder.

    Raises:
        UserError: a model is to speak, and none is configured.
    """
    from noodlings.app import build
    from noodlings.clock import ManualClock
    from noodlings.config import load_settings
    from noodlings.store.memory import MemoryStore

    given: dict[str, Any] = {"embedding": {"model": embedder}, "memory": {"use_hierarchical": True}}
    given["llm"] = {"base_url": ""} if voice == "offline" else {"write_journal": False}  # which nobody reads
    settings = load_settings(**given)
    if voice == "model" and not settings.llm.base_url:
        raise UserError("no model is configured: set llm.base_url and llm.model, or leave out --voice")
    clock = ManualClock()
    with closing(build(settings, clock=clock, store=MemoryStore())) as society:
        yield society, clock


def _embedder(name: str) -> Embedder | None:
    if name == "none":
        return None
    from noodlings.embed.minilm import MiniLM

    embedder = MiniLM()
    embedder.embed(["ready?"])  # fail now, in words, rather than in the middle
    return embedder


def _mood(given: str) -> Affect:
    from noodlings.values.affect import Affect

    try:
        valence, arousal = map(float, given.split(","))
    except ValueError:
        raise UserError(f"--mood needs valence and arousal, such as -0.8,0.9, not {given!r:.30}") from None
    return Affect(valence, arousal)


@contextmanager
def _counting(total: int, what: str) -> Iterator[Callable[[], None]]:
    """A progress bar that is moved by one with each call."""
    from itertools import count

    from noodlings.drawing.progress import progress_over

    positions = count(1)
    with progress_over(total, what) as done:
        yield lambda: done(next(positions))


def _print(figures: dict[str, Any], view: Callable[[dict[str, Any]], Any], as_json: bool) -> None:
    if as_json:
        print_json(figures)
        return
    from noodlings.drawing.screen import Screen

    Screen(terminal=sys.stdout.isatty()).show(view(figures))
