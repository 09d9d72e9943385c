"""Every connection from outside, whatever port it came by, and who makes room when there are too many.

The rule it keeps: descriptors stay free for what is kept, and whoever comes always has a moment to say who
they are. A newcomer takes the place of whoever has waited longest without being in, never of one who is in.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Callable
from typing import Any

MOST = 4_096
"""Connections at once, however many descriptors there are: each may hold some 100 KB."""
BACKLOG = 1_024
"""Connections that wait in the network until they are taken."""
BATCH = 16
"""Connections that are taken at once; then whoever was displaced is let go of, and the descriptor is free."""
MOST_UNREAD = 256_000
"""Bytes that may wait for a client that does not read; then it is let go."""


def most_connections() -> int:
    """As many connections as leave a quarter of this process's descriptors to everything else."""
    if sys.platform == "win32":  # a socket is no descriptor there
        return MOST
    import resource

    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if descriptors == resource.RLIM_INFINITY else min(descriptors * 3 // 4, MOST)


class Place:
    """The place of one connection, from when it is taken until its descriptor is free again.

    Attributes:
        let_go: ends the connection at once, so that another can have its place.
        known: whether it proved who it is; of those who wait, strangers make room first.
    """

    def __init__(self, connections: Connections, let_go: Callable[[], object]) -> None:
        self._connections = connections
        self.let_go = let_go
        self.known = False

    def prove(self) -> None:
        """It has proved who it is."""
        self.known = True
        self._connections.wait_again(self)

    def enter(self) -> bool:
        """It is in: its place is its own until it waits again. False: all places are taken by others so."""
        return self._connections.enter(self)

    def wait(self) -> None:
        """It waits for something, and has done so for the shortest time of all."""
        self._connections.wait_again(self)


class Connections:
    """All connections of a process. Use within a running event loop.

    Args:
        most: how many there may be, 8 or more; an eighth of them is for those who are not in yet.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._for_newcomers = max(most // 8, 1)
        self._places: dict[int, Place] = {}
        self._strangers: dict[Place, None] = {}  # these two from the one who waits for longest
        self._known: dict[Place, None] = {}
        self._inside: set[Place] = set()

    def listen(self, host: str, port: int) -> socket.socket:
        """A socket that listens there and takes no more connections than there may be.

        Raises:
            OSError, OverflowError: the address cannot be used.
        """
        family, _, _, _, where = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        plain = socket.create_server(where[:2], family=family, backlog=BACKLOG)
        listening = _Listening(plain.family, plain.type, plain.proto, plain.detach())
        listening.connections = self
        return listening

    def place_of(self, transport: asyncio.BaseTransport) -> Place:
        """The place of a connection; of one that is gone already, a place that nobody waits for."""
        number = transport.get_extra_info("socket").fileno()
        return self._places.get(number) or Place(self, _nothing)

    def come(self, connection: socket.socket) -> Place:
        """One more, which may cost another its place."""
        if len(self._places) >= self._most:
            self._displace()
        place = Place(self, lambda: _shut(connection))
        self._places[connection.fileno()] = place
        self._strangers[place] = None
        return place

    def enter(self, place: Place) -> bool:
        """See `Place.enter`."""
        if place not in self._inside and len(self._inside) >= self._most - self._for_newcomers:
            return False
        if self._leave(place):
            self._inside.add(place)
        return True

    def wait_again(self, place: Place) -> None:
        """See `Place.wait`."""
        if self._leave(place):
            (self._known if place.known else self._strangers)[place] = None

    def gone(self, number: int) -> None:
        """The descriptor of a connection is free."""
        place = self._places.pop(number, None)
        if place is not None:
            self._leave(place)

    def _leave(self, place: Place) -> bool:
        """Take it from where it stands; whether it stood anywhere, neither displaced nor gone."""
        for group in (self._strangers, self._known):
            if place in group:
                del group[place]
                return True
        if place in self._inside:
            self._inside.discard(place)
            return True
        return False

    def _displace(self) -> None:
        # Were all who wait known, each newcomer would displace the one before, which had no time to speak.
        few = len(self._strangers) < self._for_newcomers and self._known
        group = self._known if few else self._strangers
        oldest = next(iter(group), None)
        if oldest is not None:
            del group[oldest]
            oldest.let_go()


class _Listening(socket.socket):
    """Gives each connection its place: here, as nowhere else, every one is met once, with TLS and without."""

    connections: Connections
    _taken = 0

    def accept(self) -> tuple[socket.socket, Any]:
        self._taken = (self._taken + 1) % (BATCH + 1)
        if not self._taken:
            raise BlockingIOError  # the event loop asks again, once it has done what is due
        plain, address = super().accept()
        accepted = _Accepted(plain.family, plain.type, plain.proto, plain.detach())
        accepted.connections = self.connections
        self.connections.come(accepted)
        return accepted, address


class _Accepted(socket.socket):
    """A connection that gives up its place with its descriptor."""

    connections: Connections

    def close(self) -> None:
        number = self.fileno()
        super().close()
        self.connections.gone(number)


def _shut(connection: socket.socket) -> None:
    """End what nothing but the event loop knows yet: it reads the end of it, and closes it."""
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:  # the other side was faster
        return


def _nothing() -> None:
    """Of a connection that is gone nothing is left to be let go."""
