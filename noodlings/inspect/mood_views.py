"""What one sees of an agent's feelings and of the state of its mind. See `noodlings.inspect.views`."""

from __future__ import annotations

from dataclasses import dataclass

from noodlings.inspect.views import FeltView, View


@dataclass(frozen=True, slots=True)
class MoodView(View):
    """What an agent feels. Everybody may see it, a player in steps; but for what a game told.

    Attributes:
        mood: now; `baseline` is where it returns to, `affect` what the latest percept felt like, for a player
            the latest of this player.
        half_life: world seconds in which half of what is between mood and baseline wears off.
        valences: of the mood after each of the latest turns that the caller may know of, oldest first, −1…1.
        goals: what it wants most now, in words.
        named: chill, hyped, nervous or frustrated, as a game's events left it; `named_left` are the world
            seconds until it is chill again if nothing happens.
        game: lines that a voice is told of the game now; empty before a game's first event, and for players
            (a world that asks for one of them, too). `hidden` counts the notable events kept from those.
    """

    agent: str
    name: str
    mood: FeltView
    baseline: FeltView
    affect: FeltView
    half_life: float
    valences: tuple[float, ...]
    goals: tuple[str, ...]
    named: str
    named_left: float
    game: tuple[str, ...]
    hidden: int


@dataclass(frozen=True, slots=True)
class ObserveView(View):
    """The state of an agent's mind. Everybody may see it, a player in steps of a quarter.

    Attributes:
        fast, medium, slow: the phenomenal state, 16, 16 and 8 numbers of −1…1.
        mood: now; `affect` is what the latest percept felt like, `expected` what it expects next.
        surprises: of the latest turns that the caller may know of, oldest first, 0…1.
        appetites: the eight drives now, 0…1; `usual` is where each returns to when nothing happens.
        goals: what they make it want, in words, the strongest first.
    """

    agent: str
    name: str
    fast: tuple[float, ...]
    medium: tuple[float, ...]
    slow: tuple[float, ...]
    mood: FeltView
    affect: FeltView
    expected: FeltView
    surprises: tuple[float, ...]
    appetites: dict[str, float]
    usual: dict[str, float]
    goals: tuple[str, ...]
