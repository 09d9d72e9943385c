"""A player and the staff of a real game talk to a character whose mind is in a real server, which is killed.

Run by run.sh; prints what it sees, and ends with an assertion where something is otherwise than promised.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from processes import PASSWORD, Game, Noodlings, free_ports, listens, rss
from telnet import Telnet

LINES = 20
KILLED_AFTER = 10
BOATS = ["Heron", "Plover", "Curlew", "Dunlin", "Gannet", "Petrel", "Puffin", "Avocet", "Godwit", "Turnstone"]
ANSWER = r'Servnak says, "[^\n]+"'


def main(work: Path) -> None:
    telnet, amp, api = free_ports(3)
    noodlings = Noodlings(work, api)
    game = Game(work, telnet, amp, f"http://127.0.0.1:{api}")
    assert game.python("import noodlings") != 0, "the game must do without noodlings"
    assert game.python("import commands; assert '/game/commands' in commands.__file__") == 0
    game.start()
    try:
        staff = entered(telnet, f"connect admin {PASSWORD}", "admin")
        staff.ask("create/drop Servnak:typeclasses.minds.MindedCharacter", "You create a new")
        wren = registered(telnet, "Wren")
        talk(staff, wren, noodlings)
        inspect(staff, wren)
        part(staff, wren)
        namesake(staff, telnet)
        go_on(staff)
        server, portal, mind = game.pid("server"), game.pid("portal"), noodlings.process.pid
        print(f"RSS: game server {rss(server)}, game portal {rss(portal)}, noodlings {rss(mind)}")
        assert "Traceback" not in game.log(), game.log()
        for client in (staff, wren):
            client.close()
    except BaseException:
        print(game.log()[-5_000:])
        raise
    finally:
        game.stop()
        code = noodlings.stop()
    assert code == 0, code
    assert not any(map(listens, (telnet, amp, api)))


def entered(port: int, connect: str, name: str) -> Telnet:
    """Somebody logs in."""
    client = Telnet(port, name)
    client.expect("Welcome to game")
    client.ask(connect, "You become")
    return client


def registered(port: int, name: str) -> Telnet:
    """Somebody new makes an account and logs in."""
    client = Telnet(port, name)
    client.expect("Welcome to game")
    client.ask(f"create {name} {PASSWORD}", "Is this what you intended")
    client.ask("y", "created")
    client.ask(f"connect {name} {PASSWORD}", "You become")
    return client


def talk(staff: Telnet, wren: Telnet, noodlings: Noodlings) -> None:
    """Twenty lines, each answered; of two the server learns only when it is back."""
    for number in range(1, LINES + 1):
        if number == KILLED_AFTER + 1:
            noodlings.kill()
            wren.ask(line(number), "You say")
            staff.expect("noodlings: .*cannot be reached")
            wren.ask("look", "Limbo")  # the game goes on
            wren.ask("@mood servnak", "cannot be reached")
            wren.ask(line(number + 1), "You say")
            noodlings.restart()
            # Two, and the one before them where it was on its way when the server was killed.
            staff.expect(r"is back after \d+ s: [23] percepts waited and are sent now, 0 were dropped")
            wren.expect(f"{ANSWER}.*{ANSWER}")
        elif number == LINES:
            # Answered in a whisper as well, and after all the others: percepts are taken in order.
            wren.ask(line(number).replace("say ", "whisper Servnak = ", 1), 'Servnak whispers: "')
        elif number != KILLED_AFTER + 2:
            answer = wren.ask(line(number), ANSWER).splitlines()[-1]
            print(f"{number:2} {answer}")
    assert staff.seen().count("cannot be reached") == 1
    assert len(re.findall(ANSWER, wren.seen())) >= LINES - 1


def line(number: int) -> str:
    """What Wren says; each is told from all others."""
    return f"say servnak, boat number {number} is called {BOATS[(number - 1) % len(BOATS)]}."


def inspect(staff: Telnet, wren: Telnet) -> None:
    """What the commands answer to the player and to the staff."""
    page = wren.ask("@memories servnak --user me --limit 40", rf"boat number {LINES} ")
    told = [int(found) for found in re.findall(r"boat\s+number\s+(\d+)", page)]
    assert told == list(range(1, LINES + 1)), f"{told}:\n{page}"
    print(f"@memories shows {len(told)} of {LINES} lines, each once")
    why = wren.ask("@why servnak", rf"boat number {LINES} .*because.*felt.*\n.*\n")
    print(why.strip())
    wren.ask("@mood servnak", "returns to")
    wren.ask('@recall servnak "which boat is the Curlew"', "Curlew")
    wren.ask("@memories servnak --user admin", "only read what you yourself")
    staff.ask("@memories servnak --user Wren", "boat number")
    wren.ask("@forget servnak --user me", "add --yes")
    wren.ask("@why servnak --nonsense", "no flag --nonsense")
    staff.ask("whisper Servnak = it is a zebrafinch", 'Servnak whispers: "')
    assert "zebrafinch" not in wren.seen()


def part(staff: Telnet, wren: Telnet) -> None:
    """Deeds, coming and going are perceived; what is forgotten is gone."""
    wren.ask("pose hands servnak a rope.", "Servnak ")
    wren.ask("quit", "")
    staff.expect("Wren has left the game")
    # Percepts are taken in order: with its answer, those before it are in memory.
    staff.ask("whisper Servnak = we are alone now", 'Servnak whispers: "')
    staff.ask("@memories servnak --user Wren --limit 40", r"hands servnak a rope.*leaves")
    staff.ask("@forget servnak --user Wren --yes", "has forgotten")
    staff.ask("@memories servnak --working", "zebrafinch")
    assert "boat number" not in staff.seen().rpartition("has forgotten")[2]


def namesake(staff: Telnet, port: int) -> None:
    """A player who is called like a mind of the server is not perceived, and keeps nobody else from it."""
    maren = registered(port, "Maren")
    maren.ask("say hello, servnak", "You say")
    staff.expect("refuses something that Servnak perceives: Maren is a character here")
    staff.ask("say servnak, do you hear me?", ANSWER)
    maren.close()


def go_on(staff: Telnet) -> None:
    """A character without a mind is told to the staff; after a reload of the game the others still answer."""
    staff.ask("create/drop Nobody:typeclasses.minds.MindedCharacter", "You create a new")
    staff.ask("say hello, nobody", "Nobody has no mind at http")
    staff.ask("reload", "Server restarted", 60)
    staff.ask("say servnak, are you still there?", ANSWER)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
