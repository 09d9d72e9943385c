"""The two programs: a game made by `evennia --init`, and `noodlings serve`; on ports of loopback alone."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PASSWORD = "heron-and-lamp-oil-7"
TOKENS = {"world": "the-token-of-the-game", "admin": "the-token-of-its-staff"}
FINISH_SECONDS = 60

_SETTINGS = """
TELNET_PORTS = [{telnet}]
TELNET_INTERFACES = ["127.0.0.1"]
AMP_PORT = {amp}
WEBSERVER_ENABLED = False
WEBSOCKET_CLIENT_ENABLED = False
TEST_ENVIRONMENT = True  # else the server restarts once after its first start, under whoever logged in

NOODLINGS_URL = "{url}"
NOODLINGS_TOKEN = "{world}"
NOODLINGS_ADMIN_TOKEN = "{admin}"
"""
_CMDSET = "from typeclasses.minds import MindCmdSet\n"
_ADDED = "        self.add(MindCmdSet)\n"


def free_ports(count: int) -> list[int]:
    """Ports nobody listens on."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def listens(port: int) -> bool:
    """Whether somebody does."""
    with socket.socket() as trying:
        return trying.connect_ex(("127.0.0.1", port)) == 0


def rss(pid: int) -> str:
    """What a process holds in memory."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))
    return f"{int(kilobytes) / 1024:.0f} MB"


def plain_environment(**more: str) -> dict[str, str]:
    """Ours, without settings and paths of whoever runs the test."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("NOODLINGS_", "PYTHON"))
    }
    return kept | more


class Game:
    """A game, installed as docs/evennia.md says.

    Args:
        work: where its virtual environment `venv` is, and where it shall be.
        url: of the noodlings server.
    """

    def __init__(self, work: Path, telnet: int, amp: int, url: str) -> None:
        self._bin = work / "venv" / "bin"
        self.folder = work / "game"
        self._run("--init", "game", at=work)
        minds = self.folder / "typeclasses" / "minds.py"
        shutil.copy(ROOT / "noodlings" / "worlds" / "evennia.py", minds)
        with (self.folder / "server" / "conf" / "settings.py").open("a", encoding="utf-8") as settings:
            settings.write(_SETTINGS.format(telnet=telnet, amp=amp, url=url, **TOKENS))
        cmdsets = self.folder / "commands" / "default_cmdsets.py"
        head, line, tail = cmdsets.read_text(encoding="utf-8").partition(
            "        super().at_cmdset_creation()\n"
        )
        assert line, "the game's cmdset looks otherwise than it did"
        cmdsets.write_text(_CMDSET + head + line + _ADDED + tail, encoding="utf-8")

    def start(self) -> None:
        """Make the database with an account `admin`, and run it."""
        self._run("migrate")
        self._run("start")

    def stop(self) -> None:
        """End it in order."""
        self._run("stop")

    def python(self, code: str) -> int:
        """Run a line with the game's own Python, in its folder. The exit code."""
        done = subprocess.run(
            [self._bin / "python", "-c", code],
            cwd=self.folder,
            env=plain_environment(),
            stderr=subprocess.DEVNULL,
            check=False,
        )
        return done.returncode

    def pid(self, part: str) -> int:
        """Of its `server` or its `portal`."""
        return int((self.folder / "server" / f"{part}.pid").read_text(encoding="utf-8"))

    def log(self) -> str:
        """What its server wrote."""
        return (self.folder / "server" / "logs" / "server.log").read_text(encoding="utf-8")

    def _run(self, *words: str, at: Path | None = None) -> None:
        environment = plain_environment(
            PATH=f"{self._bin}{os.pathsep}{os.environ['PATH']}",
            EVENNIA_SUPERUSER_USERNAME="admin",
            EVENNIA_SUPERUSER_PASSWORD=PASSWORD,
            EVENNIA_SUPERUSER_EMAIL="admin@example.org",
        )
        done = subprocess.run(
            [self._bin / "evennia", *words],
            cwd=at or self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=FINISH_SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"evennia {' '.join(words)}:\n{done.stdout}"


class Noodlings:
    """A noodlings server over a data folder."""

    def __init__(self, work: Path, port: int) -> None:
        self._work, self._port = work, port
        self.process = self._begun()

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(FINISH_SECONDS)

    def stop(self) -> int:
        """End it in order. The exit code."""
        self.process.terminate()
        return self.process.wait(FINISH_SECONDS)

    def restart(self) -> None:
        """Run it again."""
        self.process = self._begun()

    def _begun(self) -> subprocess.Popen[str]:
        tokens = [{"role": role, "token": token} for role, token in TOKENS.items()]
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "noodlings",
                "serve",
                "--port",
                str(self._port),
                "--data",
                self._work / "data",
            ],
            cwd=ROOT,
            env=plain_environment(
                NOODLINGS_API__TOKENS=json.dumps(tokens),
                NOODLINGS_CONFIG=str(ROOT / "config.yaml"),
                NOODLINGS_EMBEDDING__MODEL="none",
                NOODLINGS_MEMORY_WINDOWS__WORKING="40",  # all that is said in the test
                NOODLINGS_WORLD__IDLE_SECONDS="0",
                PYTHONUNBUFFERED="1",
            ),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        (self._work / "noodlings.pid").write_text(str(process.pid), encoding="utf-8")
        assert process.stdout is not None
        said = process.stdout.readline()
        assert said.startswith("noodlings serves "), said
        return process
