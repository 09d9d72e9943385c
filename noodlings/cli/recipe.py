"""`noodlings recipe …`: the files that say who a character is, checked, begun and exchanged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from noodlings.values.persona import Persona

recipe_app = typer.Typer(
    help="Recipes: the files that say who a character is. See docs/recipes.md.",
    no_args_is_help=True,
    add_completion=False,
)


@recipe_app.command()
def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Recipes or character cards.")],
) -> None:
    """Tell what is read of recipes, what is kept without use, and what is wrong.

    Exit code 2 where one of them is wrong. For instance: noodlings recipe check gus.yaml seraphina.png
    """
    from noodlings.agent.recipes import load_recipe
    from noodlings.errors import UserError
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
            typer.echo(f"  {clean(line)}")
    if wrong:
        raise typer.Exit(2)


@recipe_app.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As it is shown: Lotta, or 'Old Gus'.")],
    folder: Annotated[Path, typer.Option("--folder", metavar="DIR", help="Where to put it.")] = Path(),
) -> None:
    """Write the beginnings of a recipe, with comments, to NAME.yaml. Never over a file that is there.

    For instance: noodlings recipe new Lotta --folder ~/noodlings/recipes
    """
    import json
    import re
    import unicodedata
    from importlib import resources
    from string import Template

    from noodlings.agent.recipe_form import ID, LONGEST_NAME
    from noodlings.errors import UserError
    from noodlings.text import clean

    shown = clean(name)
    letters = unicodedata.normalize("NFKD", shown.lower()).encode("ascii", "ignore").decode()
    identifier = "_".join(re.findall("[a-z0-9]+", letters))
    if not ID.fullmatch(identifier) or len(shown) > LONGEST_NAME:
        raise UserError(
            f"a name of up to {LONGEST_NAME} characters that begins with a letter a-z becomes the name of "
            "the file; the key name in it may be changed to any other afterwards"
        )
    path = folder / f"{identifier}.yaml"
    text = resources.files(__package__).joinpath("new_recipe.yaml").read_text("utf-8")
    filled = Template(text).substitute(name=shown, quoted=json.dumps(shown, ensure_ascii=False))
    _write(path, filled.encode())
    typer.echo(f"wrote {path}; noodlings recipe check {path} tells what is read of it")


@recipe_app.command()
def card(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A recipe or a character card.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="X.json or X.png; never over a file.")],
    v3: Annotated[bool, typer.Option("--v3", help="A card of version 3; else of version 2.")] = False,
) -> None:
    """Write a recipe as a character card, as SillyTavern and others read them.

    What a card has no place for goes into its extensions, and comes back with it. A PNG keeps the picture
    that FILE has, or gets a plain one. For instance: noodlings recipe card gus.yaml --out gus.png
    """
    from noodlings.agent.cards import as_image, as_json, card_of
    from noodlings.agent.recipes import load_recipe
    from noodlings.errors import UserError

    ending = out.suffix.lower()
    if ending not in (".json", ".png"):
        raise UserError(f"a card is a file .json or .png, and {out} is neither")
    made = card_of(load_recipe(file), "chara_card_v3" if v3 else "chara_card_v2")
    if ending == ".json":
        _write(out, as_json(made))
    else:
        _write(out, as_image(made, file.read_bytes() if file.suffix.lower() == ".png" else None))
    typer.echo(f"wrote {out}, a card of version {made['spec_version']}")


def _read(persona: Persona) -> Iterator[str]:
    """What a recipe comes to."""
    from noodlings.agent.cards import BOOK
    from noodlings.agent.recipe_form import unused

    sounds = f"; must go {' or '.join(persona.voice.sounds)}" if persona.voice.sounds else ""
    yield f"{'speaks' if persona.verbal else 'acts and never speaks'}{sounds}"
    yield f"personality: {_levels(persona.personality)}; moodiness {persona.moodiness:g}"
    yield f"appetites: {_levels(persona.appetites)}"
    temperature = "" if persona.temperature is None else f", temperature {persona.temperature:g}"
    yield (
        f"replies of up to {persona.max_tokens} tokens{temperature}, unasked {persona.response_cooldown:g} s "
        "after its last words at the earliest"
    )
    voice = persona.voice
    own = {
        "lines": sum(map(len, voice.lines.values())),
        "mannerisms": len(voice.mannerisms),
        "gestures": len(voice.gestures),
        "example lines": len(persona.examples),
    }
    yield "of its own: " + (", ".join(f"{what} {count}" for what, count in own.items() if count) or "nothing")
    book = persona.extra.get(BOOK)
    entries = book.get("entries") if isinstance(book, Mapping) else None
    if isinstance(entries, list | dict):
        yield f"lorebook: entries {len(entries)}, kept whole"
    if names := ", ".join(unused(persona.extra)):
        yield f"kept, and used by nothing: {names}"


def _levels(levels: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {level:g}" for name, level in levels.items())


def _write(path: Path, content: bytes) -> None:
    """Raises `UserError` where a file is there, or it cannot be written."""
    from noodlings.errors import UserError

    try:
        with path.open("xb") as file:
            file.write(content)
    except FileExistsError:
        raise UserError(f"{path} is there already and stays as it is; choose another name") from None
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror or error}") from None
