"""`noodlings recipe …`: check, start and exchange the files that say who a character is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noodlings.cli.options import command_group
from noodlings.errors import UserError

if TYPE_CHECKING:
    from noodlings.values.persona import Persona

recipe_app = command_group("Work with recipes, the files that say who a character is. See docs/recipes.md.")


@recipe_app.command()
def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Recipes or character cards.")],
) -> None:
    """Check recipes: show what is read, what is kept but not used, and what is wrong.

    The exit code is 2 if one of them is wrong. Example: noodlings recipe check gus.yaml seraphina.png
    """
    from textwrap import fill

    from noodlings.agent.recipes import load_recipe
    from noodlings.drawing.screen import PIPE_WIDTH
    from noodlings.text import clean

    wrong = 0
    for file in files:
        try:
            persona = load_recipe(file)
        except UserError as error:
            wrong += 1
            typer.echo(f"noodlings: {clean(str(error))}", err=True)
            continue
        typer.echo(clean(f"{file}: {persona.name}, {persona.species}, by the id {persona.id}"))
        for line in _read(persona):
            typer.echo(fill(clean(line), PIPE_WIDTH, initial_indent="  ", subsequent_indent="    "))
    if wrong:
        raise typer.Exit(2)


@recipe_app.command()
def new(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The character's name, such as Lotta or 'Old Gus'.")
    ],
    folder: Annotated[
        Path, typer.Option("--folder", metavar="DIR", help="The folder to write it to; created if missing.")
    ] = Path(),
) -> None:
    """Start a recipe: write NAME.yaml, with comments. An existing file is never replaced.

    Example: noodlings recipe new Lotta --folder ~/noodlings/recipes
    """
    import json
    import re
    import unicodedata
    from importlib import resources
    from string import Template

    from noodlings.agent.recipe_form import LONGEST_NAME
    from noodlings.text import clean
    from noodlings.values.persona import ID

    shown = clean(name)
    letters = unicodedata.normalize("NFKD", shown.lower()).encode("ascii", "ignore").decode()
    identifier = "_".join(re.findall("[a-z0-9]+", letters))
    if not ID.fullmatch(identifier) or len(shown) > LONGEST_NAME:
        raise UserError(
            f"the name also names the file, so it must begin with a letter a-z and have {LONGEST_NAME} "
            "characters at most; you can change the key name in the file to anything afterwards"
        )
    path = folder / f"{identifier}.yaml"
    text = resources.files(__package__).joinpath("new_recipe.yaml").read_text("utf-8")
    filled = Template(text).substitute(name=shown, quoted=json.dumps(shown, ensure_ascii=False))
    _write(path, filled.encode())
    typer.echo(f"wrote {path}; to see how it is read: noodlings recipe check {path}")


@recipe_app.command()
def card(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A recipe or a character card.")],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="FILE",
            help="The file to write, .json or .png; an existing one is never replaced.",
        ),
    ],
    v3: Annotated[
        bool, typer.Option("--v3", help="Write version 3 of the card format instead of 2.")
    ] = False,
) -> None:
    """Write a recipe as a character card, for SillyTavern and other programs.

    What a card has no field for goes into its extensions, and is read back from there. A PNG keeps the
    picture of FILE, or gets a plain one. Example: noodlings recipe card gus.yaml --out gus.png
    """
    from noodlings.agent.cards import as_image, as_json, card_of
    from noodlings.agent.recipes import load_recipe

    ending = out.suffix.lower()
    if ending not in (".json", ".png"):
        raise UserError(f"{out} is neither .json nor .png; name a file that ends in one of them")
    made = card_of(load_recipe(file), "chara_card_v3" if v3 else "chara_card_v2")
    if ending == ".json":
        _write(out, as_json(made))
    else:
        _write(out, as_image(made, file.read_bytes() if file.suffix.lower() == ".png" else None))
    typer.echo(f"wrote {out}, a card of version {made['spec_version']}")


def _read(persona: Persona) -> Iterator[str]:
    from noodlings.agent.cards import BOOK
    from noodlings.agent.recipe_form import unused

    if names := ", ".join(unused(persona.extra)):
        yield f"kept but not used: {names}"
    sounds = f"; must go {' or '.join(persona.voice.sounds)}" if persona.voice.sounds else ""
    yield f"{'speaks' if persona.verbal else 'acts and never speaks'}{sounds}"
    if persona.profession or persona.factions:
        yield f"profession: {persona.profession or 'none'}; factions: {', '.join(persona.factions) or 'none'}"
    yield f"personality: {_levels(persona.personality)}; moodiness {persona.moodiness:g}"
    yield f"appetites: {_levels(persona.appetites)}"
    temperature = "" if persona.temperature is None else f", temperature {persona.temperature:g}"
    yield (
        f"replies of up to {persona.max_tokens} tokens{temperature}; speaks unasked no sooner than "
        f"{persona.response_cooldown:g} s after its last words"
    )
    voice = persona.voice
    own = {
        "lines": sum(map(len, voice.lines.values())),
        "answers about itself": sum(map(len, voice.about_itself.values())),
        "answers to what it is told": sum(map(len, voice.on_topics.values())),
        "mannerisms": len(voice.mannerisms),
        "gestures": len(voice.gestures),
        "example lines": len(persona.examples),
    }
    yield "of its own: " + (", ".join(f"{what} {count}" for what, count in own.items() if count) or "nothing")
    book = persona.extra.get(BOOK)
    entries = book.get("entries") if isinstance(book, Mapping) else None
    if isinstance(entries, list | dict):
        yield f"lorebook: entries {len(entries)}, kept whole"


def _levels(levels: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {level:g}" for name, level in levels.items())


def _write(path: Path, content: bytes) -> None:
    """Raises `UserError` where a file is there, or it cannot be written."""

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(content)
    except FileExistsError:
        if not path.parent.is_dir():
            raise UserError(f"{path.parent} is a file; name a folder") from None
        raise UserError(f"{path} already exists and was not changed; choose another name") from None
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror or error}") from None
