"""How a server ends: in order, also when it is a signal that ends it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn


class OrderlyServer(uvicorn.Server):
    """Does not let the signal that ended it end the process: what is kept is still to be closed."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals end the serving, and nothing after it."""
        with super().capture_signals():
            yield
            self._captured_signals.clear()
