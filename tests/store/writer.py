"""A process that writes until it is killed: `python -m tests.store.writer FOLDER|URL [KEY_FILE]`.

It says the id of each turn once `commit` has returned from all of it, and never says one before.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from noodlings.ports import AgentState, Changes
from noodlings.store import writing
from noodlings.store.keys import UserKeys
from noodlings.store.sql import SqlStore
from noodlings.store.vault import Encryption
from noodlings.values.audience import Tier
from tests.store.records import AGENT, a_symbol, a_trace, an_entry


def main(where: str, key_file: str = "") -> None:
    """Two commits a turn, as an agent makes them: the percept, then everything that came of it."""
    encryption = Encryption(Tier.OPEN, UserKeys(file=key_file)) if key_file else None
    writing.KEPT_TRACES = 50
    store = SqlStore(where if "://" in where else Path(where), encryption=encryption)
    record = store.load(AGENT)
    number = record.last_id if record else 0
    print("open", flush=True)
    while True:
        number += 1
        entry = an_entry(number, f"line {number}")
        store.commit(Changes(AGENT, added=(entry,), episodic=(number,)))
        store.commit(
            Changes(
                AGENT,
                updated=(replace(entry, response=f"answer {number}"),),
                evicted=(number - 5,) if number > 5 else (),
                state=AgentState(AGENT, {"turns": number}),
                trace=a_trace(number, response=f"answer {number}"),
                symbols=(a_symbol(number, number),),
                faded=(number - 5,) if number > 5 else (),
            )
        )
        print(number, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
