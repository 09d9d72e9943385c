"""Tables that people may change, kept in YAML: read safely, checked whole, mistakes put into words."""

from __future__ import annotations

from typing import Protocol, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from noodlings.errors import UserError
from noodlings.explain import explain

Table = TypeVar("Table", bound=BaseModel)


class Readable(Protocol):
    """A file on disk (`pathlib.Path`) or inside an installed package."""

    def read_text(self, encoding: str) -> str:
        """Everything in it."""


def read_table(file: Readable, model: type[Table]) -> Table:
    """The file as a model. Raises `UserError` when it cannot be read, and for all that is wrong in it."""
    try:
        return model.model_validate(yaml.safe_load(file.read_text("utf-8")))
    except ValidationError as error:
        raise UserError(f"{file}: {explain(error, model)}") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(f"{file} cannot be read: {error}") from None
