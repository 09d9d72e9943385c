"""What an agent expects, and how surprised it is.

    percept against forecast → error → surprise, by the agent's own history
    the state steps on → the forecast learns → the meaning becomes familiar

The same state and percept give the same result, bit for bit, before and after a restart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from noodlings.errors import UserError
from noodlings.mind.meaning import Familiar, short_vector
from noodlings.mind.packing import pack, unpack
from noodlings.mind.phenomenal import AFFECT_SIZE, FEATURES, STATE_SIZE, Parameters, shipped, step
from noodlings.mind.predictor import (
    HISTORY,
    Learner,
    affect_error,
    calibrated,
    expect,
    features,
    learner,
    meaning_error,
    usual,
)
from noodlings.values.affect import Affect
from noodlings.values.audience import OPEN, Audience

Numbers = npt.NDArray[np.float64]

VERSION = 1
LARGEST_WEIGHT, LARGEST_ERROR = 1e6, 1e100
"""Bounds of the weights and errors that are kept, far beyond what is ever learnt: what is made of numbers
within them can be kept again, also after a damaged or hostile import."""


@dataclass(frozen=True, slots=True, eq=False)
class Expectation:
    """How one percept compared with what an agent expected.

    Attributes:
        surprise: calibrated on the agent's own history, 0…1.
        error: how unlikely the percept was, in nats, ≥ 0.
        state: the phenomenal state after it, shape (40,), each −1…1; read-only.
    """

    surprise: float
    error: float
    state: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class MindState:
    """Everything a mind keeps between two percepts. The arrays are read-only.

    Attributes:
        state: the phenomenal state, (40,). affect: the last one, (5,).
        readout: the agent's own weights of the forecast, (46, 5).
        errors: its last errors in nats, oldest first, at most `HISTORY`.
        familiar: the meanings it lately heard.
    """

    state: Numbers
    affect: Numbers
    readout: Numbers
    errors: Numbers
    familiar: Familiar

    @classmethod
    def newborn(cls, parameters: Parameters) -> MindState:
        """At rest, with nothing heard and nothing learned."""
        rest = np.asarray(parameters.rest)
        return cls(_kept(np.zeros(STATE_SIZE)), rest, parameters.readout, _kept(np.zeros(0)), Familiar())

    def as_dict(self, write: Callable[[Any], Any] = pack) -> dict[str, Any]:
        """JSON-compatible, about 15 KB, and exact; `write` makes JSON of a long array: `pack`, or
        `np.ndarray.tolist` for people to read."""
        return {
            "version": VERSION,
            "state": write(self.state),
            "affect": self.affect.tolist(),
            "readout": write(self.readout),
            "errors": write(self.errors),
            "familiar": self.familiar.as_dict(write),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> MindState:
        """Raises `UserError` for another version, and for anything that is damaged."""
        if data.get("version") != VERSION:
            raise UserError(f"a stored mind of version {data.get('version')!r}; this program reads {VERSION}")
        return cls(
            state=unpack(data, "state", (STATE_SIZE,), low=-1.0, high=1.0),
            affect=unpack(data, "affect", (AFFECT_SIZE,), low=-1.0, high=1.0),
            readout=unpack(
                data, "readout", (FEATURES, AFFECT_SIZE), low=-LARGEST_WEIGHT, high=LARGEST_WEIGHT
            ),
            errors=unpack(data, "errors", (-1,), low=0.0, high=LARGEST_ERROR)[-HISTORY:],
            familiar=Familiar.from_dict(data.get("familiar")),
        )


class Mind:
    """The mind of one agent. Not safe for two threads at once; an agent has one lock."""

    def __init__(self, parameters: Parameters | None = None, learn: Learner | None = None) -> None:
        """A newborn mind.

        Args:
            parameters: other weights than the shipped ones, of numpy.
            learn: `noodlings.mind.predictor.learner(mlx.core)` to learn by the gradient of mlx. By default
                numpy does it, which is faster for one agent and gives the same bits everywhere.
        """
        self._parameters = parameters or shipped()
        self._learn = learn or learner(np)
        self._mind = MindState.newborn(self._parameters)

    def perceive(
        self,
        affect: Affect,
        meaning: Any,
        now: float,
        audience: Audience = OPEN,
        listeners: frozenset[str] | None = None,
    ) -> Expectation:
        """Take in one percept: how surprising it was, and what state it leaves.

        Args:
            affect: what is felt about it; five numbers in any form that `Affect.of` takes.
            meaning: an embedding of its text (any one-dimensional array; all of one model), or the text, or
                None if it has no words.
            now: world time, seconds.
            audience: who may learn of it.
            listeners: who will see how surprising it was, see `Familiar.hear`.

        Raises:
            UserError: a number is not finite or a shape does not fit; the mind is as it was before.
        """
        if not math.isfinite(now):
            raise UserError(f"the time of a percept must be finite seconds, not {now!r}")
        parameters, mind = self._parameters, self._mind
        came = Affect.of(affect).array()
        meant = None if meaning is None else short_vector(meaning)

        error, familiar = affect_error(self._expected(), came), mind.familiar
        if meant is not None:
            likelihood, familiar = familiar.hear(meant, now, audience, listeners)
            error += meaning_error(likelihood)
        surprise = calibrated(error, usual(mind.errors))

        error = min(error, LARGEST_ERROR)
        state = _kept(step(np, parameters, mind.state, came))
        seen = features(np, parameters, mind.state, mind.affect)
        learned = self._learn(parameters, mind.readout, seen, came)
        self._mind = MindState(
            state=state,
            affect=_kept(came),
            readout=_kept(learned.clip(-LARGEST_WEIGHT, LARGEST_WEIGHT)),
            errors=_kept(np.append(mind.errors[-(HISTORY - 1) :], error)),
            familiar=familiar,
        )
        return Expectation(surprise, error, state)

    def _expected(self) -> Numbers:
        """The affect, (5,), that it expects next."""
        return np.asarray(
            expect(np, self._parameters, self._mind.readout, self._mind.state, self._mind.affect)
        )

    @property
    def state(self) -> Numbers:
        """The phenomenal state, (40,): fast 16, medium 16, slow 8. Read-only."""
        return self._mind.state

    def expects(self) -> Affect:
        return Affect.of(self._expected())

    def forget(self, moments: Collection[float]) -> None:
        """Forget the meaning of what was heard at these moments, in world seconds.

        What was learned from it in general stays: no words can be recovered from that.
        """
        self._mind = replace(self._mind, familiar=self._mind.familiar.without(moments))

    def state_dict(self) -> dict[str, Any]:
        """Everything it keeps, JSON-compatible and exact."""
        return self._mind.as_dict()

    def load_state(self, data: Mapping[str, Any]) -> None:
        """Restore what `state_dict` gave. If it raises `UserError`, the mind is unchanged."""
        self._mind = MindState.from_dict(data)


def _kept(array: Numbers) -> Numbers:
    array.flags.writeable = False
    return array
