"""Stores under test: every test that asks for one of these runs over both adapters."""

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
from tests.store.either import AnyStore, Make

KEY = UserKey(bytes(32))


@pytest.fixture(params=["sql", "encrypted", "memory"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    """Makes a store of the kind under test, with the arguments of both."""
    made: list[AnyStore] = []

    def make_one(**arguments: Any) -> AnyStore:
        folder = tmp_path / str(len(made))
        if request.param == "encrypted":
            arguments["encryption"] = Encryption(Tier.OPEN, UserKeys(KEY.text))
        made.append(MemoryStore(**arguments) if request.param == "memory" else SqlStore(folder, **arguments))
        return made[-1]

    yield make_one
    for store in made:
        store.close()


@pytest.fixture
def store(make: Make) -> AnyStore:
    return make()


@pytest.fixture(scope="module", params=["sql", "memory"])
def lasting(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AnyStore]:
    """One store for all the examples of a property; each example has an agent of its own."""
    store = SqlStore(tmp_path_factory.mktemp("lasting")) if request.param == "sql" else MemoryStore()
    yield store
    store.close()
