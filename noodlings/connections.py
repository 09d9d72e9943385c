"""Limits on the connections from outside, and which one is closed when there are too many.

Some file descriptors always stay free for the store, and every newcomer has a moment to say who they are. A
newcomer displaces a connection that waits, never one that is in: of the largest group that came by one way,
the one that has waited longest. So a crowd displaces itself, and nobody else.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import sys
from collections.abc import Callable, Hashable
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

from noodlings.errors import UserError

MOST = 4_096
"""Connections at once, however many descriptors there are: each may hold some 100 KB."""
BACKLOG = 1_024
"""Connections that wait in the network until they are taken."""
BATCH = 16
"""Connections that are taken at once; then whoever was displaced is let go of, and the descriptor is free."""
SHARE = 1 / 8
"""The part of all places that one owner of a token may be in with."""
SMALLEST_SHARE = 8
"""Places that everybody may be in with, however few there are."""
MOST_UNREAD = 256_000
"""Bytes that may wait for a client that does not read; then it is let go."""
READ_AT_ONCE = 2_048
"""Bytes that are read at once from a client that types; what it sends beyond that waits in the network."""


def most_connections() -> int:
    """As many connections as leave a quarter of this process's descriptors to everything else."""
    if sys.platform == "win32":  # a socket is no descriptor there
        return MOST
    import resource

    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if descriptors == resource.RLIM_INFINITY else min(descriptors * 3 // 4, MOST)


def on_this_machine(url: str) -> bool:
    """Whether a web address is of this machine: its host is localhost, 127.0.0.1 or ::1, and nothing else.

    Any other name or address counts as remote, if it should lead here, too: who can say for how long it does.
    """
    try:
        return urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")
    except ValueError:
        return False


def read_little(transport: asyncio.BaseTransport) -> None:
    """Have a transport read little at once: asyncio takes up to 256 KB, and nobody else runs meanwhile.

    Over TLS it makes no difference: there whoever is given the bytes has to take them in pieces.
    """
    transport.max_size = READ_AT_ONCE  # type: ignore[attr-defined]


class Rate:
    """A limit on how fast one client may send.

    Args:
        per_second: lines or frames a second, > 0.
        at_once: how many need not wait after a pause.
        now: seconds, to begin with.
    """

    def __init__(self, per_second: float, at_once: int, now: float) -> None:
        self._per_second = per_second
        self._at_once = at_once
        self._left = float(at_once)
        self._counted_at = now

    def wait(self, now: float) -> float:
        """Count one; returns the seconds that it has to wait, 0 at a human pace."""
        gained = (now - self._counted_at) * self._per_second
        self._left = min(self._left + gained, self._at_once) - 1
        self._counted_at = now
        return max(-self._left / self._per_second, 0.0)


def network_of(address: str) -> str:
    """An address as it is counted: of IPv6 the network, for a household has 2^64 addresses."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:  # a wire that knows none
        return address
    if isinstance(ip, IPv6Address):
        return str(ip.ipv4_mapped or ip_network((ip, 64), strict=False))
    return str(ip)


class Place:
    """The place of one connection, from when it is taken until its descriptor is free again.

    Attributes:
        let_go: ends the connection at once, so that another can have its place.
        way: where it came from and by what port; a crowd has one or a few.
        owner: whose it proved to be, or ""; of those who wait, strangers make room first.
        share: the part of all places that its owner may be in with; with 1 there is no limit.
        group: where it stands; None once it is displaced or gone.
    """

    def __init__(self, connections: Connections, let_go: Callable[[], object], way: Hashable = None) -> None:
        self._connections = connections
        self.let_go = let_go
        self.way = way
        self.owner = ""
        self.share = SHARE
        self.group: _Groups | None = None

    @property
    def key(self) -> Hashable:
        """Whom it is counted with."""
        return self.owner or self.way

    @property
    def greedy(self) -> bool:
        """Whether its owner is in with as many as one owner may be."""
        share = max(int(self._connections.most * self.share), SMALLEST_SHARE)
        return bool(self.owner) and self.share < 1 and self._connections.inside.counted(self.owner) >= share

    def prove(self, owner: str, share: float = SHARE) -> None:
        """Note whose it proved to be, and that it waits; see the attributes."""
        stood = self.leave()  # before it is counted with others
        self.owner, self.share = owner, share
        if stood:
            (self._connections.known if owner else self._connections.strangers).add(self)

    def enter(self) -> bool:
        """Keep the place until it waits again. False where its owner, or everybody together, has too many."""
        inside = self._connections.inside
        if self.group is not inside:
            kept = self._connections.for_newcomers * (1 if self.share >= 1 else 2)
            if inside.count >= self._connections.most - kept or self.greedy:
                return False
        if self.leave():
            inside.add(self)
        return True

    def wait(self) -> None:
        """It waits for something, and has done so for the shortest time of all."""
        self.prove(self.owner, self.share)

    def leave(self) -> bool:
        """Leave its group; whether it was in one, neither displaced nor gone."""
        if self.group is None:
            return False
        self.group.remove(self)
        return True


def listening(host: str, port: int, instead: str) -> socket.socket:
    """A plain socket that listens there.

    Args:
        instead: what to try where another program has the port.

    Raises:
        UserError: the address cannot be used.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, where = found[0]
        return socket.create_server(where[:2], family=family, backlog=BACKLOG)
    except (OSError, OverflowError, UnicodeError) as error:
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            taken = f"Port {port} on {host} is in use. Stop the other program, or {instead}."
            raise UserError(taken) from None
        why = error.strerror if isinstance(error, OSError) else None
        words = f"Cannot listen on {host}, port {port}: {why or error}. Choose another host or port."
        raise UserError(words) from None


class Connections:
    """All connections of a process. Use within a running event loop.

    Args:
        most: how many there may be, 8 or more; an eighth of them is for those who are not in yet, and another
            for those whose share has no limit.

    Attributes:
        for_newcomers: that eighth.
        strangers, known: the places that wait; of the known ones it is proved whose they are.
        inside: the places that are in.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.for_newcomers = max(most // 8, 1)
        self.strangers, self.known, self.inside = _Groups(), _Groups(), _Groups()
        self._places: dict[int, Place] = {}

    def listen(self, host: str, port: int, instead: str) -> socket.socket:
        """As `listening`, but the socket takes no more connections than there may be."""
        return self.adopt(listening(host, port, instead))

    def adopt(self, plain: socket.socket) -> socket.socket:
        """The same of a socket that is bound already."""
        listening = _Listening(plain.family, plain.type, plain.proto, plain.detach())
        listening.connections = self
        return listening

    def place_of(self, transport: asyncio.BaseTransport) -> Place:
        """The place of a connection; of one that is gone already, a place that nobody waits for."""
        number = transport.get_extra_info("socket").fileno()
        return self._places.get(number) or Place(self, lambda: None)

    def come(self, connection: socket.socket, way: Hashable) -> Place:
        """One more, which may cost another its place."""
        if len(self._places) >= self.most:
            self._displace()
        place = Place(self, lambda: _shut(connection), way)
        self._places[connection.fileno()] = place
        self.strangers.add(place)
        return place

    def gone(self, number: int) -> None:
        """The descriptor of a connection is free."""
        place = self._places.pop(number, None)
        if place is not None:
            place.leave()

    def _displace(self) -> None:
        # Were all who wait known, each newcomer would displace the one before, which had no time to speak.
        few = self.strangers.count < self.for_newcomers and self.known.count
        oldest = (self.known if few else self.strangers).oldest_of_most()
        if oldest is not None:
            oldest.leave()
            oldest.let_go()


class _Groups:
    """Places by whom they are counted with, in each group from the one who has been there for longest.

    Attributes:
        count: of all together.
    """

    def __init__(self) -> None:
        self._places: dict[Hashable, dict[Place, None]] = {}
        self.count = 0

    def add(self, place: Place) -> None:
        """It stands here from now on."""
        self._places.setdefault(place.key, {})[place] = None
        self.count += 1
        place.group = self

    def remove(self, place: Place) -> None:
        """It stands here no longer."""
        same = self._places[place.key]
        del same[place]
        if not same:
            del self._places[place.key]
        self.count -= 1
        place.group = None

    def counted(self, key: Hashable) -> int:
        """How many of one group stand here."""
        return len(self._places.get(key, ()))

    def oldest_of_most(self) -> Place | None:
        """Who has been longest in the largest group; of groups as large, in the one that is oldest."""
        most = max(self._places.values(), key=len, default={})
        return next(iter(most), None)


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
        self.connections.come(accepted, (network_of(str(address[0])), self.getsockname()[1]))
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
