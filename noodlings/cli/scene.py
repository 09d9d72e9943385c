"""`noodlings scene FILE`: a moment from a file, and what each transistor makes of the thought in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noodlings.cli.options import AsJson, Config, Data, settings_of

if TYPE_CHECKING:
    from noodlings.config import Settings
    from noodlings.lab.scene import Played


def scene(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A YAML file; see docs/transistors.md.")],
    gain: Annotated[
        list[str] | None,
        typer.Option("--gain", metavar="NAME=VALUE", help="Set a transistor, 0 to 1; may be repeated."),
    ] = None,
    as_json: AsJson = False,
    data: Data = None,
    config: Config = None,
) -> None:
    """Hear what each transistor makes of a thought, in scenes from a file.

    A scene holds a persona, memories, symbols, mood and a percept. Nothing of it is kept.
    """
    import asyncio
    import sys
    from json import dumps

    from rich.text import Text

    from noodlings.drawing.screen import Screen
    from noodlings.lab.scene_view import view

    gains = dict(map(_gain, gain or ()))
    played = asyncio.run(_play(settings_of(data, config), file, gains))
    if as_json:
        whole = [one.as_dict() for one in played]
        told = whole[0] if len(whole) == 1 else {"scenes": whole}
        typer.echo(dumps(told, ensure_ascii=False, allow_nan=False))
        return
    screen = Screen(terminal=sys.stdout.isatty())
    for at, one in enumerate(played):
        if at:
            screen.show(Text(""))
        screen.show(view(one))


async def _play(settings: Settings, file: Path, gains: dict[str, float]) -> list[Played]:
    from noodlings.app import recipes, voice_of
    from noodlings.lab.scene import Stage, play
    from noodlings.lab.scene_file import load_scenes
    from noodlings.transistors.chain import FOLDER_NAME
    from noodlings.voice.offline import OfflineVoice

    folder = settings.data_dir
    scenes, stage = load_scenes(file), Stage(recipes(folder), folder / FOLDER_NAME, OfflineVoice())
    async with voice_of(settings) as voice:
        return [await play(one, stage, voice, gains) for one in scenes]


def _gain(text: str) -> tuple[str, float]:
    """One --gain. Raises `UserError`."""
    from noodlings.errors import UserError

    name, equals, value = text.partition("=")
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not (name.strip() and equals and 0.0 <= number <= 1.0):
        raise UserError(
            f"a gain is NAME=VALUE with a value from 0 to 1, such as memory=0.5, not {text!r:.60}"
        )
    return name.strip().lower(), number
