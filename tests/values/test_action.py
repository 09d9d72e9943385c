"""What may be offered, and that whatever is chosen is of it."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter, ValidationError

from noodlings.errors import UserError
from noodlings.values.action import (
    LARGEST_NUMBER,
    MOST_ACTIONS,
    OfferedAction,
    ParameterSchema,
    ParametersSchema,
)
from noodlings.values.percept import Percept

OFFERS = TypeAdapter(OfferedAction)
"""An offer as a request holds it."""

names = st.text("abXY19_", min_size=1, max_size=5)
words = (
    st.text("abc é", min_size=1, max_size=20)
    .map(str.strip)
    .filter(bool)
    .map(lambda word: " ".join(word.split()))
)
choices = st.lists(words, max_size=4).map(tuple)
parameters = st.one_of(
    st.builds(ParameterSchema, st.just("string"), words, choices),
    st.builds(ParameterSchema, st.sampled_from(("integer", "number", "boolean")), words),
)


@st.composite
def offers(draw: st.DrawFn) -> OfferedAction:
    """Any action that may be offered."""
    properties = draw(st.dictionaries(names, parameters, max_size=4))
    required = sorted(name for name in properties if draw(st.booleans()))
    name = draw(names)
    return OfferedAction(name, draw(words), ParametersSchema(properties, tuple(required)), draw(choices))


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=3,
)


@pytest.mark.slow
@given(offers(), st.data())
def test_what_is_chosen_fits_its_schema_and_else_nothing_is(
    offered: OfferedAction, data: st.DataObject
) -> None:
    takes = sorted(offered.parameters.properties)
    given_names = st.sampled_from(takes) | words if takes else words
    listed = [choice for one in offered.parameters.properties.values() for choice in one.enum]
    values = anything | st.sampled_from(listed) if listed else anything
    arguments = data.draw(st.dictionaries(given_names, values, max_size=4))
    try:
        action = offered.chosen(arguments, "llm")
    except UserError:
        return
    Draft202012Validator(offered.schema).validate(action.arguments)
    assert json.loads(json.dumps(action.arguments, allow_nan=False)) == action.arguments == arguments
    assert all(not isinstance(value, str) or len(value) <= 200 for value in arguments.values())


@pytest.mark.slow
@given(offers())
def test_a_schema_is_one_and_comes_back_as_the_same_offer(offered: OfferedAction) -> None:
    Draft202012Validator.check_schema(offered.schema)
    assert (
        OFFERS.validate_python(
            {
                "name": offered.name,
                "description": offered.description,
                "parameters": offered.schema,
                "words": offered.words,
            }
        )
        == offered
    )


@pytest.mark.parametrize("given_name", ["Look At", "look-at", "LOOK_AT", "ｌｏｏｋ at"])
def test_a_name_is_folded(given_name: str) -> None:
    assert OfferedAction(given_name).name == "look_at"


def taking(**more: Any) -> dict[str, Any]:
    return {
        "name": "give",
        "parameters": {"type": "object", "properties": {"item": {"type": "string"} | more}},
    }


@pytest.mark.parametrize(
    "offer",
    [
        {"name": ""}, {"name": "none"}, {"name": "None"}, {"name": "x" * 61},
        {"name": "<b>"}, {"name": 7}, {"name": None}, {"name": "folgen für"}, {}, "follow", [], None,
        {"name": "a", "description": "x" * 201}, {"name": "a", "description": "one\nline"},
        {"name": "a", "words": [""]}, {"name": "a", "words": ["x" * 61]},
        {"name": "a", "words": ["\x1b[31m"]}, {"name": "a", "words": "follow"}, {"name": "a", "more": 1},
        taking(type="array"), taking(type=["string", "null"]), taking(minimum=1), taking(enum=[1]),
        taking(enum=[""]), taking(enum=["a\u202eb"]), taking(type="integer", enum=["a"]),
        taking(properties={}), {"name": "a", "parameters": {"type": "array"}},
        {"name": "a", "parameters": {"required": ["item"]}},
        {"name": "a", "parameters": {"additionalProperties": True}},
        {"name": "a", "parameters": {"$ref": "#"}},
        {"name": "a", "parameters": {"properties": {"": {"type": "string"}}}},
        {"name": "a", "parameters": {"properties": {"a b": {"type": "string"}}}},
    ],
)  # fmt: skip
def test_what_will_not_do_is_refused(offer: Any) -> None:
    with pytest.raises((UserError, ValidationError)):
        OFFERS.validate_python(offer)


def test_too_many_or_too_much_is_refused() -> None:
    def offered(*actions: OfferedAction) -> Percept:
        return Percept("user_caity", "hello", 1.0, actions=actions)

    many = [OfferedAction(f"act_{number}") for number in range(MOST_ACTIONS + 1)]
    assert len(offered(*many[1:]).actions) == MOST_ACTIONS
    long = [
        OfferedAction(f"act_{number}", "x" * 200, words=("y" * 60, "z" * 60))
        for number in range(MOST_ACTIONS)
    ]
    for actions in (many, long, [OfferedAction("a"), OfferedAction("A")]):
        with pytest.raises(UserError, match="actions"):
            offered(*actions)


@pytest.mark.parametrize(
    ("type_", "value", "fits"),
    [
        ("integer", 3, True), ("integer", 3.0, False), ("integer", True, False), ("integer", "3", False),
        ("integer", LARGEST_NUMBER, True), ("integer", -LARGEST_NUMBER - 1, False),
        ("integer", 10**400, False), ("number", 2.5, True), ("number", 2, True),
        ("number", math.nan, False), ("number", math.inf, False), ("number", False, False),
        ("boolean", False, True), ("boolean", 0, False), ("boolean", None, False),
        ("string", "a lamp", True), ("string", "", False), ("string", "x" * 201, False),
        ("string", "a\nb", False), ("string", "a\x1b[31m", False), ("string", 3, False),
        ("string", ["a"], False),
    ],
)  # fmt: skip
def test_types(type_: Any, value: Any, fits: bool) -> None:
    assert ParameterSchema(type_).fits(value) is fits


def test_what_is_wrong_is_told_without_what_was_given() -> None:
    give = OfferedAction(
        "give", parameters=ParametersSchema({"item": ParameterSchema("string", enum=("lamp",))}, ("item",))
    )
    for arguments in ({"item": "a secret"}, {}, {"item": "lamp", "secret": 1}, {"item": {"secret": 1}}):
        with pytest.raises(UserError) as refused:
            give.chosen(arguments, "llm")
        assert "secret" not in str(refused.value)
    assert str(give.chosen({"item": "lamp"}, "rule")) == 'give(item="lamp")'
