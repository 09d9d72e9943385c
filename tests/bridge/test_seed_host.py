"""A host of the first kind, with its list of dicts and with the memory behind it, over a long life."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from noodlings.bridge.list_wrapper import MemoryListWrapper
from noodlings.memory.hierarchical import HierarchicalMemory
from noodlings.memory.saved import MARK_KEY as KEY
from tests.bridge.hosts import unmarked
from tests.bridge.seed_host import OLD, changed_lines, make
from tests.memory.entries import texts

GRIEF, CALM = [-0.8, 0.5, 0.1, 0.8, 0.0], [0.1, 0.5, 0.0, 0.0, 0.0]
NAMES = ["caity", "micha", "user_bo"]


def live(host: Any, first: int, last: int) -> None:
    """So many events; every ninth matters, and now and then the character answers or broods."""
    for number in range(first, last):
        name = NAMES[number % len(NAMES)]
        if number % 9 == 0:
            host.perceive(name, f"My dog Bruno died, {number}!", GRIEF, surprise=0.9, salience=0.6)
        else:
            host.perceive(name, f"nice weather, {number}", CALM)
        if number % 4 == 0:
            host.respond(f"So it is, {name}.")
        if number % 7 == 0:
            host.ruminate("They talk of the weather a lot.")


def both(host: Any) -> set[str]:
    return {*texts(host.conversation_context.hm.episodic_memory)}


def without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_marks(inner) for name, inner in value.items() if name != KEY}
    return [without_marks(inner) for inner in value] if isinstance(value, list) else value


def test_two_changed_lines_give_a_host_of_26_uses_its_memory() -> None:
    assert changed_lines() == 2
    assert all(f"# {number}\n" in OLD for number in range(1, 27))


@pytest.mark.slow
def test_every_use_gives_what_the_list_gave_over_three_reloads() -> None:
    old, new = make("agent_servnak", changed=False), make("agent_servnak", changed=True)
    for first in range(0, 1000, 250):
        for host in (old, new):
            live(host, first, first + 250)
        for name in NAMES:
            assert without_marks(new.views(name)) == old.views(name)
        assert without_marks(json.loads(new.save())) == json.loads(old.save())
        reloaded = [make("agent_servnak", changed) for changed in (False, True)]
        for host, before in zip(reloaded, (old, new), strict=True):
            host.load(before.save())
        old, new = reloaded


@pytest.mark.slow
def test_a_thousand_events_and_three_reloads_lose_nothing() -> None:
    once, often = make("agent_servnak", changed=True), make("agent_servnak", changed=True)
    live(once, 0, 1000)
    for first in range(0, 1000, 250):
        live(often, first, first + 250)
        before, saved = both(often), often.save()
        often = make("agent_servnak", changed=True)
        often.load(saved)
        assert both(often) == before
    assert both(often) == both(once)
    assert len(both(often)) == 112
    stats = [host.conversation_context.hm.stats() for host in (once, often)]
    assert (stats[0].perceived, stats[0].consolidated) == (stats[1].perceived, stats[1].consolidated)
    assert unmarked(often.conversation_context) == unmarked(once.conversation_context)
    known = often.conversation_context.hm.get_context_for_response("caity", GRIEF, total_size=10)
    assert any("Bruno" in row["text"] for row in known)


@pytest.mark.parametrize("first", [0, 250])
def test_the_search_by_name_goes_back_five_hundred_rows(first: int) -> None:
    old, new = make("agent_servnak", changed=False), make("agent_servnak", changed=True)
    for host in (old, new):
        live(host, first, first + 230)
    found = [row["text"] for row in new.conversation_context if "Bruno" in row["text"]]
    assert found == [row["text"] for row in old.conversation_context if "Bruno" in row["text"]]
    assert len(found) == 26 if first == 0 else 25


# -- taken back


def by_environment(patch: pytest.MonkeyPatch, folder: Any) -> None:
    patch.setenv("NOODLINGS_MEMORY__USE_HIERARCHICAL", "false")


def by_file(patch: pytest.MonkeyPatch, folder: Any) -> None:
    (folder / "config.yaml").write_text("memory: {use_hierarchical: false}\n")
    patch.chdir(folder)


@pytest.mark.parametrize("how", [by_environment, by_file])
def test_with_the_flag_it_is_the_plain_list_byte_for_byte(
    how: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    how(monkeypatch, tmp_path)
    old, new = make("agent_servnak", changed=False), make("agent_servnak", changed=True)
    for first in (0, 400):
        for host in (old, new):
            live(host, first, first + 400)
            host.load(host.save())
        assert new.save() == old.save()
        assert type(new.conversation_context) is list
        assert [new.views(name) for name in NAMES] == [old.views(name) for name in NAMES]


def test_the_flag_can_be_the_hosts_own() -> None:
    class Host:
        context: Any = MemoryListWrapper.attribute(use_hierarchical=False)
        other: Any = MemoryListWrapper.attribute(use_hierarchical=True)

    host = Host()
    assert (type(host.context), type(host.other)) == (list, MemoryListWrapper)
    host.context.append({"text": "hello"})
    rows = [{"text": "a"}]
    Host().context = rows
    assert host.context == [{"text": "hello"}]
    host.context = rows
    assert host.context is rows


def test_a_context_for_a_response_comes_with_and_without_the_flag() -> None:
    class Host:
        context: Any = MemoryListWrapper.attribute(HierarchicalMemory)
        plain: Any = MemoryListWrapper.attribute(use_hierarchical=False)

    host = Host()
    for rows in (host.context, host.plain):
        rows.append(
            {"user": "caity", "text": "My dog died", "affect": GRIEF, "surprise": 0.9, "timestamp": 1}
        )
        rows.extend({"user": "micha", "text": f"hm {n}", "affect": [], "timestamp": 2 + n} for n in range(40))
    known, last = (
        MemoryListWrapper.context_for_response(rows, "caity", GRIEF, total_size=10)
        for rows in (host.context, host.plain)
    )
    assert (known[0]["text"], known[-1]["text"]) == ("My dog died", "hm 39")
    assert [row["text"] for row in last] == [f"hm {n}" for n in range(30, 40)]
    assert MemoryListWrapper.context_for_response(host.plain, None, None, total_size=0) == []
