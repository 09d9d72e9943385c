"""The sources of the studio. Run as a program, this is the process that reads a data folder.

Only that process imports what reads memories, so that the screen does not wait for it.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noodlings.errors import NoodlingsError
from noodlings.values.caller import Caller, Role

if TYPE_CHECKING:
    from noodlings.agent.society import Society
    from noodlings.config import Settings
    from studio.local import LocalSource
    from studio.process import ProcessSource
    from studio.remote import RemoteSource


def remote_source(url: str, token: str, user: str) -> RemoteSource:
    """A server, which is not contacted yet. Raises `UserError` for an invalid address."""
    from studio.remote import RemoteSource

    return RemoteSource(url, token, user)


def process_source(config: Path | None, **overrides: Any) -> ProcessSource:
    """The data folder of these settings, read in a process of its own, which begins now: `connect` to it.

    Args:
        config, overrides: see `noodlings.config.load_settings`; JSON-compatible.
    """
    from studio.process import ProcessSource

    asked = json.dumps([str(config) if config else None, overrides])
    return ProcessSource([sys.executable, "-m", "noodlings.host.studio", asked])


def local_source(settings: Settings) -> LocalSource:
    """A data folder, read by this process; nothing is loaded before the first question.

    Raises:
        NotFound: there are no memories in it.
    """
    from noodlings.store.opening import require_kept
    from studio.local import LocalSource

    require_kept(settings.database)
    folder = settings.data_dir

    def open_society() -> AbstractContextManager[Society]:
        from noodlings.app import build

        return closing(build(settings, read_only=True))

    def note_of(agent_id: str, entry_id: int) -> Path | None:
        from noodlings.notes.notebook import FOLDER_NAME, Notebook

        return Notebook(folder / FOLDER_NAME).find(agent_id, entry_id)

    return LocalSource(folder, open_society, Caller("studio", "studio", Role.VIEWER), note_of)


def _read(asked: str, connection: socket.socket) -> None:
    """Answer the process at the other end, and end with it."""
    from noodlings.config import load_settings
    from noodlings.store.opening import open_database
    from noodlings.store.vault import Encryption
    from studio.process import send_greeting, serve

    config, overrides = json.loads(asked)
    try:
        settings = load_settings(config and Path(config), **overrides)
        source = local_source(settings)
        # What is damaged, or of another version, is refused before there is a screen.
        open_database(settings.database, read_only=True, encryption=Encryption.of(settings.store)).close()
    except NoodlingsError as error:
        send_greeting(connection, refused=str(error))
        return

    async def reading() -> None:
        await serve(source, connection)
        os._exit(0)  # a search that is under way in a thread is not waited for

    asyncio.run(reading())


if __name__ == "__main__":
    # As in `noodlings.__main__`: the working directory may contain another package called `studio`.
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for the process with the screen
    _read(sys.argv[1], socket.socket(fileno=sys.stdin.fileno()))
