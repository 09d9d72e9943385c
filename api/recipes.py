"""Recipes: listing the characters, and creating one from a new recipe.

An accepted recipe is stored in the data folder as a file like any other. One that could not be read at the
next start is refused before anything is written.
"""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path as FilePath
from tempfile import TemporaryDirectory
from typing import Annotated

import yaml
from fastapi import Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel

from api.answers import documented, shown
from api.parts import Actor, Held, InspectorPart, SocietyPart, parts_of, topic_router
from api.problem import Conflict, RefusedRequest
from noodlings.agent.recipes import ENDINGS, load_recipe
from noodlings.errors import StoreError, UserError
from noodlings.files import atomic_write
from noodlings.inspect.views import AgentView
from noodlings.portable.person import is_in_memories, people, require_no_person
from noodlings.values.caller import Role
from noodlings.values.persona import Persona

FOLDER = "recipes"
_TYPES = ("application/json", "application/yaml", "text/yaml", "application/x-yaml", "text/x-yaml")
_RECIPE = """name: Lotta
species: lighthouse keeper
description: Lotta smells of salt and lamp oil.
story: You are Lotta, who keeps the lighthouse.
identity: You speak little, and kindly.
"""
_SCHEMA = {
    "type": "object",
    "required": ["name"],
    "properties": {
        name: {"type": "string", "minLength": 1}
        for name in ("name", "species", "description", "story", "identity")
    },
}

router = topic_router("/api/recipes", tags=["recipes"])


class Listed(BaseModel):
    """A recipe; `own` says whether it is a file in the data folder."""

    id: str
    name: str
    species: str
    own: bool


class Recipes(BaseModel):
    """All recipes, sorted by id."""

    recipes: list[Listed]


@router.get("", responses=documented(Recipes))
async def recipes(society: SocietyPart, held: Held) -> Recipes:
    """List the characters, and whether each comes from a recipe in the data folder."""
    folder = society.settings.data_dir / FOLDER
    personas = sorted(society.personas.values(), key=lambda persona: persona.id)
    return Recipes(
        recipes=[
            Listed(
                id=one.id,
                name=one.name,
                species=one.species,
                own=any((folder / f"{one.id}{ending}").is_file() for ending in ENDINGS),
            )
            for one in personas
        ]
    )


@router.post(
    "/{id}",
    status_code=201,
    responses=documented(AgentView, 201),
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "A recipe, in which only the name is required, or a character card.",
            "content": {
                "application/yaml": {"schema": {"type": "string"}, "example": _RECIPE},
                "application/json": {"schema": _SCHEMA, "example": yaml.safe_load(_RECIPE)},
            },
        }
    },
)
async def create(
    request: Request,
    id: Annotated[str, Path(pattern="^[a-z][a-z0-9_]{0,39}$", examples=["lotta"])],
    caller: Actor,
    held: Held,
    society: SocietyPart,
    inspector: InspectorPart,
) -> Response:
    """Create a character, and keep its recipe in the data folder. Admin only."""
    held.require(Role.ADMIN, to="create characters")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    text = _text(kind, await request.body())
    file = f"{id}.{'json' if kind == _TYPES[0] else 'yaml'}"
    if id in society.personas:
        raise Conflict(f"there is already a character {id}; choose another id")
    persona = await run_in_threadpool(_read, file, text)
    if await run_in_threadpool(is_in_memories, society, id):
        raise Conflict(f"{id} is already the id of a person; choose another id")
    world = parts_of(request).people.world
    known = await run_in_threadpool(people, society.settings, society.people())
    try:
        await run_in_threadpool(require_no_person, persona, known)
        persona.require_unused_names(society.personas.values())
        world.require_free(persona)
    except UserError as error:
        raise Conflict(str(error)) from None
    _keep(society.settings.data_dir / FOLDER, file, text)
    society.create(persona)
    world.settle_in(persona)
    return shown(inspector.agent(caller, persona.id), HTTPStatus.CREATED)


def _text(kind: str, body: bytes) -> str:
    if kind not in _TYPES:
        raise RefusedRequest(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"Send it as {' or '.join(_TYPES[:2])}.")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        raise UserError("this recipe is not UTF-8 text; save it as UTF-8") from None


def _read(file: str, text: str) -> Persona:
    """The persona of a recipe in a file of that name. Raises `UserError` in the words of `load_recipe`."""
    with TemporaryDirectory(prefix="noodlings-recipe-") as folder:
        path = FilePath(folder) / file
        path.write_text(text, encoding="utf-8")
        try:
            return load_recipe(path)
        except UserError as error:
            raise UserError(str(error).replace(str(path), path.stem)) from None


def _keep(folder: FilePath, file: str, text: str) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with atomic_write(folder / file) as aside:
            aside.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"the recipe cannot be saved: {error.strerror or error}") from error
