"""Character cards, as SillyTavern and others exchange them, read as recipes and written from personas.

A card (version 2 or 3) is JSON, or a PNG image that holds it. Its description, personality and scenario
become the identity; its greeting and example lines give the voice. The whole card is kept, with its lorebook.
What it tells other programs (`system_prompt`, `post_history_instructions`) is kept and not used.
"""

from __future__ import annotations

import base64
import binascii
import json
import random
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, NoReturn

from noodlings.agent import card_texts
from noodlings.agent.png_text import plain_image, texts_of, with_texts
from noodlings.agent.recipe_form import CARD, LONGEST_NAME, OF_CARD
from noodlings.errors import UserError
from noodlings.text import clean, shorten
from noodlings.validation import given_twice
from noodlings.values.persona import Persona
from noodlings.values.wording import parse

SPECS = {"chara_card_v2": "2.0", "chara_card_v3": "3.0"}
"""The kinds of cards that are read, with their versions."""

LARGEST_JSON = 1_000_000
"""Bytes of a card."""

TEXTS = (
    "name", "description", "personality", "scenario", "first_mes", "mes_example",
    "creator_notes", "system_prompt", "post_history_instructions", "creator", "character_version",
)  # fmt: skip
"""The text fields of every card."""
LISTS = ("alternate_greetings", "tags")
BOOK, OURS = "character_book", "noodlings"
"""The keys of a lorebook, and of what only a recipe can say."""

_ONLY_RECIPES = (
    "species", "home", "factions", "aliases", "personality", "appetites", "baseline", "moodiness",
    "identity_words", "transistors", "max_tokens", "voice",
)  # fmt: skip
_KEYWORDS = {"chara_card_v2": "chara", "chara_card_v3": "ccv3"}


def is_card(data: Any) -> bool:
    return isinstance(data, dict) and isinstance(data.get("data"), dict) and "spec" in data


def read_json(text: bytes | str) -> Any:
    """Parse JSON. Raises `UserError` where it is too large, too deep or not JSON, or has a key twice."""
    if len(text) > LARGEST_JSON:
        raise UserError(f"it is larger than {LARGEST_JSON:,} bytes, too large for a card")
    try:
        return json.loads(text, parse_constant=refuse_constant, object_pairs_hook=_each_key_once)
    except (ValueError, RecursionError) as error:
        raise UserError(f"it cannot be read as JSON: {clean(str(error))}") from None


def card_in(image: bytes) -> Any:
    """The card in a PNG image; of two the one of version 3.

    Raises `UserError` when it is no image, or has no card, or a damaged one.
    """
    texts = texts_of(image)
    carried = texts.get("ccv3") or texts.get("chara")
    if carried is None:
        raise UserError("the image has no character card in it (a tEXt chunk chara or ccv3)")
    try:
        return read_json(base64.b64decode(b"".join(carried.split()), validate=True))
    except binascii.Error:
        raise UserError("the card in the image is damaged: it is not valid base64") from None


def recipe_of(card: Any) -> dict[str, Any]:
    """The recipe of a card, to be checked as any recipe is.

    Raises `UserError` when it is no card, or a text has the wrong type; the message names the key.
    """
    if not is_card(card):
        raise UserError("it is not a character card: a card has the keys spec and data")
    if str(card["spec"]) not in SPECS:
        raise UserError(f"its spec is {card['spec']!r:.40}, but must be {' or '.join(SPECS)}")
    data = card["data"]
    for key in (*TEXTS, "nickname"):
        if not isinstance(data.get(key) or "", str):
            raise UserError(f"data.{key} should be text, not {data[key]!r:.40}")
    name = clean(data.get("name") or "")
    if not name:
        raise UserError("data.name is missing: a character needs a name")
    extensions = data.get("extensions")
    ours = extensions.get(OURS) if isinstance(extensions, dict) else None
    recipe = _from_our_card(data, ours) if isinstance(ours, dict) else _from_other_card(data)
    nickname = clean(data.get("nickname") or "")
    if nickname and len(nickname) <= LONGEST_NAME and nickname.casefold() != name.casefold():
        recipe.setdefault("aliases", [nickname])
    if data.get(BOOK) is not None:
        recipe[BOOK] = data[BOOK]
    return recipe | {"name": shorten(name, LONGEST_NAME)}


def _from_other_card(data: dict[str, Any]) -> dict[str, Any]:
    """The recipe of a card made by others; the whole card is kept in it."""
    texts = {key: str(data.get(key) or "") for key in TEXTS}
    name = clean(texts["name"])
    called = clean(data.get("nickname") or "") or name
    lines = list(card_texts.examples(texts["mes_example"], name, called))
    greeting = card_texts.greeting(texts["first_mes"], called)
    acted = [card_texts.filled(texts["first_mes"], called), *lines]
    return {
        "description": card_texts.look(texts["description"], called) or None,
        "identity": card_texts.identity(texts, called),
        "examples": [shorten(line, card_texts.LONGEST_EXAMPLE) for line in lines[: card_texts.MOST_EXAMPLES]],
        "voice": {
            "lines": {"greeting": [greeting]} if greeting else {},
            "gestures": card_texts.gestures(acted, called),
            "mannerisms": card_texts.mannerisms(lines),
        },
        CARD: {key: value for key, value in data.items() if key != BOOK},
    }


def _from_our_card(data: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    """The recipe that one of our cards was written from, with later changes of its texts."""
    name = clean(str(data["name"]))
    kept = {key: value for key, value in data.items() if key not in (*OF_CARD, "extensions", BOOK) and value}
    others = {key: value for key, value in data["extensions"].items() if key != OURS}
    recipe = {key: value for key, value in ours.items() if key not in (CARD, BOOK)}
    if kept or others:
        recipe[CARD] = kept | ({"extensions": others} if others else {})
    recipe["description"] = card_texts.filled(str(data.get("description") or ""), name) or None
    told = card_texts.filled(str(data.get("personality") or ""), name)
    recipe["identity"] = told.removeprefix(str(ours.get("story") or "")).lstrip() or None
    recipe["examples"] = list(card_texts.examples(str(data.get("mes_example") or ""), name, name))
    first, voice = str(data.get("first_mes") or ""), ours.get("voice")
    lines = voice.get("lines") if isinstance(voice, dict) else None
    if isinstance(voice, dict) and isinstance(lines, dict) and first != _first_message(lines):
        greeting = card_texts.greeting(first, name)
        others_lines = {key: value for key, value in lines.items() if key != "greeting"}
        recipe["voice"] = voice | {"lines": others_lines | ({"greeting": [greeting]} if greeting else {})}
    return recipe


def card_of(persona: Persona, spec: str) -> dict[str, Any]:
    """The card of a persona: the one it was read from, or a new one that keeps the whole recipe."""
    found = persona.extra.get(CARD)
    kept = dict(found) if isinstance(found, Mapping) else {}
    data: dict[str, Any] = dict.fromkeys(TEXTS, "") | {key: [] for key in LISTS}
    if spec == "chara_card_v3":
        data["group_only_greetings"] = []
    data |= kept
    # Of a card that is read, what is no section is passed over as well.
    data["extensions"] = dict(kept["extensions"]) if isinstance(kept.get("extensions"), Mapping) else {}
    if not kept.get("name"):
        data |= _texts(persona)
        data["extensions"] = {**data["extensions"], OURS: _recipe_only(persona)}
    if BOOK in persona.extra:
        data[BOOK] = persona.extra[BOOK]
    return {"spec": spec, "spec_version": SPECS[spec], "data": data}


def _texts(persona: Persona) -> dict[str, str]:
    return {
        "name": persona.name,
        "description": persona.description,
        "personality": persona.prompt,
        "first_mes": _first_message(persona.voice.lines),
        "mes_example": "\n".join(f"<START>\n{{{{char}}}}: {line}" for line in persona.examples),
    }


def _recipe_only(persona: Persona) -> dict[str, Any]:
    """What a card has no field for, as in a recipe."""
    whole = asdict(replace(persona, extra={}))
    recipe = {key: whole[key] for key in _ONLY_RECIPES} | {
        "profession": persona.profession or None,
        "story": persona.story or None,
        "language_mode": "verbal" if persona.verbal else "nonverbal",
        "constraints": {
            "temperature": persona.temperature,
            "response_cooldown": persona.response_cooldown,
            **whole["sampling"],
        },
    }
    for key, value in persona.extra.items():
        if key in recipe and isinstance(value, Mapping):
            recipe[key] |= value
        elif key not in (CARD, BOOK):
            recipe[key] = value
    return recipe


def _first_message(lines: Any) -> str:
    """The first greeting of a recipe's lines as plain text, "" where there is none."""
    greetings = lines.get("greeting") if isinstance(lines, Mapping) else None
    if not isinstance(greetings, list | tuple) or not greetings or not isinstance(greetings[0], str):
        return ""
    slots = {"name": "{{user}}", "address": "{{user}}", "me": "{{char}}", "species": "", "percent": "99.9%"}
    chance = random.Random(0)  # noqa: S311 -- the same each time, to be known again
    try:
        return parse(greetings[0]).expand(chance, slots)
    except (UserError, KeyError):
        return ""  # no phrase: whoever reads the recipe says so


def as_json(card: Mapping[str, Any]) -> bytes:
    return (json.dumps(card, indent=2, allow_nan=False) + "\n").encode()


def as_image(card: Mapping[str, Any], image: bytes | None = None) -> bytes:
    """A card in the given PNG image, or in a plain one. Raises `UserError` for a damaged image."""
    carried = base64.b64encode(json.dumps(card, allow_nan=False).encode())
    return with_texts(image or plain_image(), {_KEYWORDS[card["spec"]]: carried}, without=_KEYWORDS.values())


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if (key := given_twice(pairs)) is not None:
        raise ValueError(f"the key {key!r:.40} stands twice in it")
    return dict(pairs)


def refuse_constant(name: str) -> NoReturn:
    """For `json.loads`: refuse NaN and infinity, which Python would read."""
    raise ValueError(f"{name} is not a JSON number")
