"""Metrics for Prometheus: turns, steps, models, streams, readers, requests.

Turns and requests are counted as they happen; sizes and states are read when somebody asks.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric

from noodlings.agent.society import Society
from noodlings.inspect.feed import Feed
from noodlings.values.model_status import ModelState
from noodlings.values.trace import TurnEvent

_STEP_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

log = logging.getLogger(__name__)


class Metrics:
    """The metrics of one server; `unfinished` tells how many turns are under way."""

    def __init__(self, society: Society, feed: Feed, unfinished: Callable[[], int]) -> None:
        self.registry = CollectorRegistry()
        self._society, self._feed, self._unfinished = society, feed, unfinished
        counter = partial(Counter, registry=self.registry)
        histogram = partial(Histogram, buckets=_STEP_SECONDS, registry=self.registry)
        self._turns = counter("noodlings_turns", "Finished turns.", ["agent", "outcome"])
        self._steps = histogram("noodlings_step_seconds", "Time taken by each step of a turn.", ["step"])
        self._calls = counter("noodlings_llm_calls", "Calls to a language model, including failed ones.")
        self._tokens = counter("noodlings_llm_tokens", "Tokens sent and received in these calls.")
        self._degraded = counter(
            "noodlings_degraded", "Turns in which something failed and a fallback was used."
        )
        self._requests = histogram(
            "noodlings_request_seconds", "Time taken by requests.", ["method", "route", "status"]
        )
        self.registry.register(self)
        self.close = society.watch(self._happened)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self._requests.labels(method, route, str(status)).observe(seconds)

    def text(self) -> bytes:
        return generate_latest(self.registry)

    def collect(self) -> Iterator[Metric]:
        """Sizes and states, as they are now; of agents, only those that are awake."""
        streams = GaugeMetricFamily("noodlings_stream_entries", "Entries.", labels=["agent", "stream"])
        perceived = GaugeMetricFamily("noodlings_perceived", "Ever perceived.", labels=["agent"])
        for agent in self._society.agents.awake:
            stats = agent.memory.stats()
            for stream in ("working", "episodic", "symbols"):
                streams.add_metric([agent.id, stream], getattr(stats, stream))
            perceived.add_metric([agent.id], stats.perceived)
        yield streams
        yield perceived
        yield GaugeMetricFamily("noodlings_live_readers", "Readers of the live stream.", self._feed.readers)
        yield GaugeMetricFamily("noodlings_live_waiting", "Events waiting for them.", self._feed.waiting)
        yield GaugeMetricFamily(
            "noodlings_live_lost", "Events dropped because a reader was too slow.", self._feed.lost
        )
        state = self._society.model_status.state
        models = GaugeMetricFamily("noodlings_model", "1 for the language model's state.", labels=["state"])
        for one in ModelState:
            models.add_metric([one], one is state)
        yield models
        yield GaugeMetricFamily("noodlings_unfinished_turns", "Turns under way.", self._unfinished())

    def _happened(self, turn_event: TurnEvent) -> None:
        if turn_event.step != "turn":
            return
        trace = turn_event.trace
        outcome = "silent" if trace.response is None else trace.voice
        self._turns.labels(trace.agent_id, outcome).inc()
        for step, milliseconds in trace.milliseconds.items():
            self._steps.labels(step).observe(milliseconds / 1e3)
        self._calls.inc(trace.calls)
        self._tokens.inc(trace.tokens)
        if trace.degraded:
            self._degraded.inc()
        log.info(
            "turn=%s/%d outcome=%s ms=%.1f calls=%d tokens=%d degraded=%d",
            trace.agent_id, trace.entry_id, outcome, sum(trace.milliseconds.values()), trace.calls,
            trace.tokens, len(trace.degraded),
        )  # fmt: skip
