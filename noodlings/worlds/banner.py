"""The first thing one sees: what this is, who speaks here, and how to get help. Fits 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

WIDTH = 80


def banner(voice: str, connected: bool, characters: Sequence[str]) -> RenderableType:
    """The greeting of `noodlings play`.

    Args:
        voice: "offline", or the model's name.
        connected: whether a model is configured.
        characters: shown names of those who live here.
    """
    what = Text("A small world of characters who remember what matters to them, are reminded of it by ")
    what.append("how they feel, and can be asked why they spoke.")
    if characters:
        names = " and ".join(filter(None, (", ".join(characters[:-1]), characters[-1])))
        what.append_text(
            Text.assemble(" Here live " if len(characters) > 1 else " Here lives ", (names, "bold"), ".")
        )
    help_line = Text("Try ")
    for word, rest in (("say hello", ", "), ("look", ", "), ("who", " and "), ("go north", "; ")):
        help_line.append_text(Text.assemble((word, "bold cyan"), rest))
    help_line.append_text(
        Text.assemble(("help", "bold cyan"), " lists all commands, ", ("quit", "bold cyan"), " leaves.")
    )
    return Panel(
        Group(what, Text(), *_voice(voice, connected), Text(), help_line),
        title=Text("noodlings", style="bold cyan"),
        border_style="cyan",
        padding=(0, 1),
        width=WIDTH,
    )


def _voice(voice: str, connected: bool) -> list[RenderableType]:
    if connected:
        return [
            Text.assemble(("Connected", "bold green"), " to the model ", (voice, "bold"), "."),
            Text("When it fails or is late, the offline voice speaks, and the trace says so.", style="dim"),
        ]
    return [
        Text.assemble(
            ("No language model is connected", "bold yellow"),
            ": the offline voice speaks. It builds each line from who they are, how they feel and what they "
            "remember, and is more honest than eloquent. To connect a model (LM Studio, Ollama, …):",
        ),
        Text("  export NOODLINGS_LLM__BASE_URL=http://localhost:1234/v1", style="cyan"),
        Text("  export NOODLINGS_LLM__MODEL=its-name", style="cyan"),
    ]
