"""Stores under test: every test that asks for one of these runs over all adapters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from noodlings.store.cipher import UserKey
from noodlings.store.keys import UserKeys
from noodlings.store.memory import MemoryStore
from noodlings.store.sql import SqlStore
from noodlings.store.vault import Encryption
from noodlings.values.audience import Tier
from tests.postgres import NewDatabase
from tests.store.either import AnyStore, Make

KEY = UserKey(bytes(32))


@pytest.fixture(params=["sql", "encrypted", "memory", "postgresql", "postgresql encrypted"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    """Makes a store of the kind under test, with the arguments of all."""
    made: list[AnyStore] = []
    new_database: NewDatabase | None = None
    if request.param.startswith("postgresql"):
        new_database = request.getfixturevalue("new_database")

    def make_one(**arguments: Any) -> AnyStore:
        where = tmp_path / str(len(made)) if new_database is None else new_database()
        if request.param.endswith("encrypted"):
            arguments["encryption"] = Encryption(Tier.OPEN, UserKeys(KEY.text))
        made.append(MemoryStore(**arguments) if request.param == "memory" else SqlStore(where, **arguments))
        return made[-1]

    yield make_one
    for store in made:
        store.close()


@pytest.fixture
def store(make: Make) -> AnyStore:
    return make()


@pytest.fixture(scope="module", params=["sql", "memory", "postgresql"])
def lasting(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AnyStore]:
    """One store for all the examples of a property; each example has an agent of its own."""
    if request.param == "memory":
        store: AnyStore = MemoryStore()
    elif request.param == "sql":
        store = SqlStore(tmp_path_factory.mktemp("lasting"))
    else:
        store = SqlStore(request.getfixturevalue("new_database")())
    yield store
    store.close()
