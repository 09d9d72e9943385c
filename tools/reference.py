"""The pages of the reference that the code itself can tell, as Markdown: settings, commands, REST, names.

They are made anew for each build of the site (`docs/conf.py`) and are not kept, so that none can be out of
date. Words that stand elsewhere already are taken from there: the comments of `config.yaml`, the tables of
`docs/recipes.md`, docstrings and help texts. A key without words there is an error that ends the build.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import textwrap
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer
from pydantic import BaseModel

import commands as _declared  # noqa: F401, it declares them
import noodlings
from api.authentication import USER_HEADER
from api.mcp.tools import TOOLS
from api.server import make_app, make_parts
from commands.registry import registry
from noodlings.agent.recipe_form import Recipe
from noodlings.app import build
from noodlings.cli.main import app as command_line
from noodlings.config import ENV_PREFIX, Settings
from noodlings.store.memory import MemoryStore
from noodlings.worlds.places import load_places
from noodlings.worlds.rooms import World

ROOT = Path(__file__).parents[1]
HTTP = ("get", "post", "put", "patch", "delete")


def write(folder: Path) -> None:
    """Write every page into a folder; what has not changed is left alone, so that it is not built again."""
    pages = {
        "settings": settings(),
        "recipe-keys": recipe_keys(),
        "commands": commands(),
        "command-line": command_line_page(),
        "rest": rest(),
        "mcp-tools": tools(),
        "python": python(),
        "changelog": included("CHANGELOG.md"),
        "contributing": included("CONTRIBUTING.md"),
        "security": included("SECURITY.md"),
    }
    folder.mkdir(exist_ok=True)
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def included(name: str) -> str:
    """A page from the top of the project, whose links start there."""
    text = (ROOT / name).read_text("utf-8")
    return re.sub(r"\]\((?!https?:|#)", "](../../", text).replace("](../../docs/", "](../")


def settings() -> str:
    """Every key of the settings, explained by the comment above it in `config.yaml`."""
    told = dict(_comments((ROOT / "config.yaml").read_text("utf-8")))
    defaults = Settings().model_dump(mode="json")
    schema = Settings.model_json_schema()
    parts = [
        "# Settings",
        "Every key with its default. Settings come from a file in YAML (`--config FILE`, else "
        "`$NOODLINGS_CONFIG`, else `config.yaml` in the folder where noodlings is "
        "started), and variables of the "
        "environment override the file. A key that does not exist is refused. The whole file, to copy: "
        "[`config.yaml`](../../config.yaml).",
    ]
    for section in schema["properties"]:
        parts.append(f"## {section}")
        for key, field in _leaves(schema, schema["properties"][section], section):
            default = defaults
            for part in key.split("."):
                default = default[part]
            variable = ENV_PREFIX + key.replace(".", "__").upper()
            parts += [
                f"### `{key}`",
                told[key],
                f"- Default: `{json.dumps(default, ensure_ascii=False)}`\n"
                f"- Value: {_kind(field, schema)}\n- In the environment: `{variable}`",
            ]
    return _page(parts)


def _comments(text: str) -> Iterator[tuple[str, str]]:
    """Each key of a settings file with the comment above it, by its path."""
    path: list[str] = []
    said: list[str] = []
    for line in text.splitlines():
        if comment := re.match(r" *# ?(.*)", line):
            said.append(comment[1])
        elif key := re.match(r"( *)(\w+):", line):
            path = [*path[: len(key[1]) // 2], key[2]]
            yield ".".join(path), _sentence(" ".join(said))
            said = []


def _sentence(text: str) -> str:
    """A comment as a sentence; a value in front of it stays as it is written."""
    first, _, rest = text.partition(" ")
    start = (
        f"`{first}` {rest}" if first in ("true", "false", "null", "normal:") else text[:1].upper() + text[1:]
    )
    return start.rstrip(".") + "."


def _leaves(schema: dict[str, Any], field: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """What can be set below a section, by its path."""
    inner = _behind(field, schema)
    if "properties" not in inner:
        yield path, field
        return
    for name, below in inner["properties"].items():
        yield from _leaves(schema, below, f"{path}.{name}")


def _behind(field: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """What a reference stands for; anything else as it is."""
    found: Any = schema
    if "$ref" not in field:
        return field
    for part in field["$ref"].removeprefix("#/").split("/"):
        found = found[part]
    return dict(found)


def _kind(field: dict[str, Any], schema: dict[str, Any]) -> str:
    """What a value may be, in words: "number, 0 to 1"."""
    if "$ref" in field:
        return _kind(_behind(field, schema), schema)
    if "anyOf" in field:
        kinds = [_kind(one, schema) for one in field["anyOf"] if one.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds)) + (
            ", or nothing" if len(kinds) < len(field["anyOf"]) else ""
        )
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return "one of " + ", ".join(f"`{one}`" for one in field["enum"])
    names = {
        "boolean": "`true` or `false`",
        "integer": "whole number",
        "number": "number",
        "string": "text",
        "array": "list",
        "object": "names with values",
    }
    kind = names.get(field.get("type", ""), "anything")
    if field.get("type") == "array" and (items := field.get("items")):
        kind = f"list of {_plural(_kind(items, schema))}"
    low, high = field.get("minimum"), field.get("maximum")
    above, below = field.get("exclusiveMinimum"), field.get("exclusiveMaximum")
    if low is not None and high is not None:
        kind += f", {low:,} to {high:,}"
    else:
        limits = (("at least", low), ("above", above), ("at most", high), ("below", below))
        kind += "".join(f", {word} {limit:,}" for word, limit in limits if limit is not None)
    if longest := field.get("maxLength"):
        kind += f", up to {longest:,} characters"
    if most := field.get("maxItems"):
        kind += f", up to {most} of them"
    return kind


def _plural(kind: str) -> str:
    word, comma, rest = kind.partition(",")
    known = {"text": "texts", "whole number": "whole numbers", "number": "numbers"}
    return known.get(word, word) + comma + rest


def recipe_keys() -> str:
    """Every key of a recipe with its values; what it does stands in the tables of `docs/recipes.md`."""
    told = dict(reversed([*_rows((ROOT / "docs" / "recipes.md").read_text("utf-8"))]))  # the first row counts
    schema = Recipe.model_json_schema()
    parts = [
        "# Keys of a recipe",
        "What a recipe may say, from the code that reads it. How to write one: [Recipes](../recipes.md).",
    ]
    for name, field in schema["properties"].items():
        inner = _behind(field, schema)
        parts += [f"## `{name}`", told[name]]
        if "properties" not in inner:
            parts.append(f"- Value: {_kind(field, schema)}{_default(field)}")
            continue
        parts.append(
            "\n".join(
                f"- `{key}`: {_kind(below, schema)}{_default(below)}"
                for key, below in inner["properties"].items()
            )
        )
    return _page(parts)


def _default(field: dict[str, Any]) -> str:
    found = field.get("default")
    return "" if found in (None, "", [], {}) else f"; `{json.dumps(found, ensure_ascii=False)}` if left out"


def _rows(text: str) -> Iterator[tuple[str, str]]:
    """Keys in the first column of tables, each with what the last column says of it."""
    for row in re.findall(r"^\| `.*\|$", text, re.M):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
        for key in re.findall(r"`([\w.]+)`", cells[0]):
            said = cells[-1].replace("](#", "](../recipes.md#")
            said = re.sub(r"\]\((?!https?:|\.\./)", "](../", said)
            yield key.partition(".")[0], _sentence(said)
    yield "constraints", "How a model picks its words, and when the character speaks unasked."
    yield (
        "voice",
        "How it sounds without a model: [the keys of a voice](../recipes.md#how-it-sounds-without-a-model).",
    )


GROUPS = {
    "world": "In the world",
    "directions": "Ways",
    "minds": "Inside a mind",
    "help": "Help",
}


def commands() -> str:
    """The commands of the world, with the help that `help NAME` shows."""
    parts = [
        "# Commands of the world",
        "What one types in `noodlings play`, over telnet, or sends with `POST /api/commands`. In the world, "
        "`help` lists them and `help NAME` shows what stands here.",
    ]
    every = registry.all()
    for group, heading in GROUPS.items():
        parts.append(f"## {heading}")
        for command in (one for one in every if one.group == group):
            first, _, rest = command.help.partition("\n")
            parts += [f"### `{command.name}`", first, _fenced(command.usage)]
            if command.aliases:
                parts.append("Also: " + ", ".join(f"`{alias}`" for alias in command.aliases))
            if rest.strip():
                parts.append(_fenced(rest))
    if missing := {one.group for one in every} - set(GROUPS):
        raise LookupError(f"commands of a group without a heading: {missing}")
    return _page(parts)


def command_line_page() -> str:
    """`noodlings` and all below it, with what `--help` says."""
    parts = ["# Command line", "Every command of the terminal, with what its `--help` says."]
    root = typer.main.get_command(command_line)
    for path, level in _commands(root, ()):
        with redirect_stdout(StringIO()) as shown:
            root.main([*path, "--help"], prog_name="noodlings", standalone_mode=False, terminal_width=90)
        parts += [f"{'#' * level} `{' '.join(('noodlings', *path))}`", _fenced(shown.getvalue())]
    return _page(parts)


def _commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int]]:
    """The words of each command and the level of its heading; help is plain text from then on."""
    command.rich_markup_mode = None
    yield path, min(len(path) + 1, 3) if path else 2
    for name, inner in getattr(command, "commands", {}).items():
        yield from _commands(inner, (*path, name))


def rest() -> str:
    """Every address of the REST API, from its own OpenAPI description."""
    schema = openapi()
    parts = [
        "# REST",
        "Every address that `noodlings serve` answers at. How to use them, and who may do what: "
        "[the API](../api.md). A running server shows the same at `/docs`, where "
        "requests can be tried, and for "
        "programs at `/openapi.json`.",
        f"Every request may carry the header `{USER_HEADER}`: for whom a world asks.",
    ]
    for path, operations in schema["paths"].items():
        for method in (one for one in HTTP if one in operations):
            parts += _operation(f"{method.upper()} {path}", operations[method], schema)
    parts.append("## Bodies and answers")
    for name, model in sorted(schema["components"]["schemas"].items()):
        if "properties" in model:
            parts += [f"### {name}", _prose(model.get("description", ""))]
            parts.append(_fields(model, schema))
    return _page(parts)


def openapi() -> dict[str, Any]:
    """What the server says of itself at `/openapi.json`."""

    async def told() -> dict[str, Any]:
        with TemporaryDirectory() as folder:
            given: dict[str, Any] = {"store": {"path": folder}, "embedding": {"model": "none"}}
            society = build(Settings(**given), store=MemoryStore())
            try:
                world = World(load_places(), (), society.perceive, lambda agent_id, now: None, society.clock)
                return make_app(make_parts(society, world)).openapi()
            finally:
                society.close()

    return asyncio.run(told())


def _operation(title: str, said: dict[str, Any], schema: dict[str, Any]) -> Iterator[str]:
    yield f"## `{title}`"
    yield _prose(said.get("description") or said["summary"])
    rows = [
        f"| `{one['name']}` | {one['in']} | {_kind(one['schema'], schema)} "
        f"| {_cell(one.get('description', ''))} |"
        for one in said.get("parameters", [])
        if one["name"] != USER_HEADER
    ]
    if rows:
        yield "\n".join(["| parameter | in | value | |", "|---|---|---|---|", *rows])
    for content in said.get("requestBody", {}).get("content", {}).values():
        yield f"Body: {_named(content.get('schema', {}), schema)}"
    answers = []
    for code, answer in said["responses"].items():
        if code.startswith("2"):
            shapes = [_named(one.get("schema", {}), schema) for one in answer.get("content", {}).values()]
            answers.append(f"{code} {' or '.join(filter(None, shapes))}".strip())
    yield "Answers: " + ", ".join(answers)


def _named(field: dict[str, Any], schema: dict[str, Any]) -> str:
    """The models that a value is made of, each with a link to its fields."""
    names = dict.fromkeys(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(field)))
    found = " or ".join(
        f"[{name}](#{name.lower()})"
        for name in names
        if "properties" in schema["components"]["schemas"][name]
    )
    return f"list of {found}" if field.get("type") == "array" and found else found


def _fields(model: dict[str, Any], schema: dict[str, Any]) -> str:
    required = model.get("required", [])
    rows = []
    for name, field in model["properties"].items():
        kind = _named(field, schema) or _kind(field, schema)
        must = "" if name not in required else ", always there"
        rows.append(f"| `{name}` | {kind}{must} | {_cell(field.get('description', ''))} |")
    return "\n".join(["| field | value | |", "|---|---|---|", *rows])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _prose(text: str) -> str:
    """A docstring for readers of Markdown: the names under `Attributes:` and the like become a list."""
    paragraphs = inspect.cleandoc(text)
    kept = re.split(r"^(?:Attributes|Args|Raises|Returns):$", paragraphs, flags=re.M)[0]
    return kept.strip()


def tools() -> str:
    """The tools that `noodlings mcp` offers."""
    parts = [
        "# MCP tools",
        "The tools that `noodlings mcp` offers to a client of the Model Context Protocol. How to connect "
        "one: [MCP](../mcp.md).",
    ]
    for tool in TOOLS.values():
        schema = tool.arguments.model_json_schema()
        parts += [f"## `{tool.name}`", f"**{tool.title}.** {_example(_prose(tool.description))}"]
        if tool.destroys or tool.writes:
            parts.append("It deletes." if tool.destroys else "It changes a memory.")
        parts.append(_fields(schema, schema))
    return _page(parts)


def _example(text: str) -> str:
    return re.sub(r"\s*Example: (\{.*\})", r"\n\n```json\n\1\n```", text)


def python() -> str:
    """The public names of the package, from their docstrings."""
    parts = [
        "# Python names",
        "What `import noodlings` offers. A name is loaded when it is first used. How the parts fit together: "
        "[Architecture](../architecture.md).",
    ]
    for name in noodlings.__all__:
        made = getattr(noodlings, name)
        kind = "class" if inspect.isclass(made) else "function"
        options = []
        if kind == "class" and not issubclass(made, BaseModel):
            options.append("   :members:")
        parts += [
            f"## {name}",
            "\n".join(["```{eval-rst}", f".. auto{kind}:: noodlings.{name}", *options, "```"]),
        ]
    return _page(parts)


def _fenced(text: str) -> str:
    return f"```text\n{textwrap.dedent(text).strip()}\n```"


def _page(parts: list[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"
