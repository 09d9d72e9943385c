"""A circuit on a clock set by hand: after failures in a row it opens, tries once, and closes."""

import asyncio
from contextlib import ExitStack

import pytest

from noodlings.clock import ManualClock
from noodlings.errors import LLMError
from noodlings.llm.call import CallFailed
from noodlings.llm.circuit_breaker import FAILURES, FIRST_PAUSE, LONGEST_PAUSE, CircuitBreaker, CircuitOpen


class Endpoint:
    """A circuit, the clock it goes by, and calls that end as told."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.circuit = CircuitBreaker(self.clock.now)

    def fails(self, error: BaseException | None = None) -> None:
        error = error or CallFailed("no luck")
        with pytest.raises(type(error)), self.circuit.call():
            raise error

    def answers(self) -> None:
        with self.circuit.call():
            pass

    def refuses(self) -> CircuitOpen:
        with pytest.raises(CircuitOpen) as refused, self.circuit.call():
            raise AssertionError("the call was let through")
        return refused.value

    def breaks(self) -> None:
        for _ in range(FAILURES):
            self.fails()


def test_it_opens_after_failures_in_a_row_and_says_why_and_for_how_long():
    endpoint = Endpoint()
    endpoint.breaks()
    endpoint.clock.advance(1.0)
    refused = endpoint.refuses()
    assert refused.seconds == FIRST_PAUSE - 1.0
    assert str(refused) == f"not called after {FAILURES} failures in a row (no luck)"


def test_one_answer_between_failures_keeps_it_closed():
    endpoint = Endpoint()
    for _ in range(3):
        for _ in range(FAILURES - 1):
            endpoint.fails()
        endpoint.answers()
    assert not endpoint.circuit.open


def test_a_trial_that_goes_well_closes_it():
    endpoint = Endpoint()
    endpoint.breaks()
    endpoint.clock.advance(FIRST_PAUSE)
    endpoint.answers()
    endpoint.answers()
    endpoint.breaks()
    assert endpoint.refuses().seconds == FIRST_PAUSE


def test_only_one_trial_at_a_time():
    endpoint = Endpoint()
    endpoint.breaks()
    endpoint.clock.advance(FIRST_PAUSE)
    with endpoint.circuit.call():
        assert endpoint.refuses().seconds == 0.0
    assert not endpoint.circuit.open


def test_the_pause_grows_with_each_trial_that_fails_up_to_the_longest():
    endpoint = Endpoint()
    endpoint.breaks()
    pauses = []
    for _ in range(10):
        pauses.append(endpoint.refuses().seconds)
        endpoint.clock.advance(pauses[-1])
        endpoint.fails()
    assert pauses[:4] == [FIRST_PAUSE, 2 * FIRST_PAUSE, 4 * FIRST_PAUSE, 8 * FIRST_PAUSE]
    assert pauses[-1] == LONGEST_PAUSE


@pytest.mark.parametrize(
    "error", [LLMError("out of budget"), CallFailed("bad request", ailing=False), asyncio.CancelledError()]
)
def test_what_says_nothing_of_the_endpoint_changes_nothing(error: BaseException):
    endpoint = Endpoint()
    for _ in range(2 * FAILURES):
        endpoint.fails(error)
    assert not endpoint.circuit.open
    endpoint.breaks()
    endpoint.clock.advance(FIRST_PAUSE)
    endpoint.fails(error)  # a trial without a result: the next call is one again
    endpoint.answers()
    assert not endpoint.circuit.open


def test_calls_that_were_on_their_way_when_it_opened_do_not_lengthen_the_pause():
    endpoint = Endpoint()
    with ExitStack() as on_their_way:
        on_their_way.enter_context(pytest.raises(CallFailed))
        on_their_way.enter_context(endpoint.circuit.call())
        endpoint.breaks()
        endpoint.clock.advance(1.0)
        raise CallFailed("late news")
    assert endpoint.refuses().seconds == FIRST_PAUSE - 1.0
