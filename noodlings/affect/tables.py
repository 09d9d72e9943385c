"""Tables that people may change, kept in YAML: read safely, checked whole, mistakes put into words."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from noodlings.errors import UserError
from noodlings.explain import explain

# In C where there is one: several times as fast.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Table = TypeVar("Table", bound=BaseModel)


class Readable(Protocol):
    """A file on disk (`pathlib.Path`) or inside an installed package."""

    def read_text(self, encoding: str) -> str:
        """Everything in it."""


def read_table(file: Readable, model: type[Table]) -> Table:
    """The file as a model. Raises `UserError` when it cannot be read, and for all that is wrong in it."""
    try:
        data = yaml.load(file.read_text("utf-8"), Loader=_Loader)  # noqa: S506 -- a safe loader
        return model.model_validate(data)
    except ValidationError as error:
        raise UserError(f"{file}: {explain(error, model)}") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(f"{file} cannot be read: {error}") from None
