"""One person's data in a data folder: a report of it, an export, and its deletion.

A name is not an identity. A person is one id, or several where an account was joined to a user of a world.
Where several people have the same name, the id has to be given. Everything is read as of one moment, and
deleted in the same way as by `@forget`: nothing here changes the database itself.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any
from unicodedata import category, normalize

from noodlings.agent.hearsay import heard_as
from noodlings.agent.recollection import newer_forms
from noodlings.agent.society import Society
from noodlings.config import Settings
from noodlings.errors import NotFound, StoreError, UserError
from noodlings.llm.token_budget import KEY as SPENT
from noodlings.notes.notebook import FOLDER_NAME, Notebook
from noodlings.portable.remains import Marks, Remains, lines_with, remains, strike_out, words_in
from noodlings.ports import Forgotten, StoreSnapshot
from noodlings.recall.filters import EVERYTHING
from noodlings.reflection.facts import facts
from noodlings.store.forgetting import observes
from noodlings.store.transfer import snapshot
from noodlings.store.vault import Encryption
from noodlings.text import clean, folded, shorten
from noodlings.values.audience import Tier
from noodlings.values.caller import (
    NO_CHARACTERS,
    Caller,
    account_id_of,
    as_character_id,
    display_name,
    is_past_id,
    user_id_of,
)
from noodlings.values.memory import (
    KNOWN_BY,
    LinkType,
    MemoryEntry,
    circumstances_given,
    circumstances_of,
    hearsay_of,
    told_words,
    written_by,
)
from noodlings.values.percept import SPOKEN, Kind
from noodlings.values.persona import Persona
from noodlings.worlds.accounts import Account, Accounts
from noodlings.worlds.beings import Being, require_free, require_name

MOST_ROUNDS = 20
"""How often a deletion looks for what characters heard of somebody from each other, also meanwhile."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who is no character.

    Attributes:
        ids: by which worlds, tokens and accounts know them, sorted.
        name: as shown.
        accounts: their accounts, removed ones too.
    """

    ids: tuple[str, ...]
    name: str
    accounts: tuple[Account, ...] = ()

    @property
    def called(self) -> frozenset[str]:
        """Their names: as shown, and of their accounts."""
        return frozenset({self.name, *(account.name for account in self.accounts)})


@dataclass(frozen=True, slots=True)
class PersonReport:
    """What is stored about a person, and where. It quotes nobody.

    Attributes:
        ids, name: see `Person`.
        accounts: the name of each account with its role, or "removed".
        tokens: how many tokens in the settings are theirs; only an admin can change those.
        introduced: the names that characters know them by.
        places: the rooms that they were last in, by id.
        characters: id → how many memories of what they said and did, answers, traces, symbols, links and
            notes of these, facts about them, records of a source that wait and are theirs or observe them
            ("waiting"), and memories of what
            others said they had heard from them, or answered to them ("heard").
        lines: file of a log, or the history of the terminal → lines that hold their words, ids or name.
    """

    ids: tuple[str, ...]
    name: str
    accounts: dict[str, str]
    tokens: int
    introduced: tuple[str, ...]
    places: tuple[str, ...]
    characters: dict[str, dict[str, int]]
    lines: dict[str, int]


@dataclass(frozen=True, slots=True)
class PersonForgotten:
    """What was deleted of a person.

    Attributes:
        memories, answers: how many were deleted, of all characters.
        lines: file → lines that were deleted, or made nameless in the audit log.
        remains: what a search in every file found afterwards.
        erased: False where the last bytes leave the disk at the next start.
    """

    memories: int
    answers: int
    lines: dict[str, int]
    remains: Remains
    erased: bool


def people(settings: Settings, introduced: Mapping[str, str]) -> dict[str, str]:
    """Id → name of everybody introduced, of all accounts and tokens, and of whoever plays at the machine.
    Whoever is known from a source alone is not among them: the one who speaks in a log may become a
    character."""
    known = {user: display_name(user, introduced) for user in _token_users(settings)}
    known |= {one: name for one, name in introduced.items() if not is_past_id(one)}
    known |= {user_id_of(settings.world.player): settings.world.player}
    accounts = Accounts(settings.data_dir).everybody()
    return known | {one: account.name for account in accounts for one in _ids_of(account)}


def require_no_person(persona: Persona, known: Mapping[str, str]) -> None:
    """Raise `UserError` if a new character would have the id of a person or a world, in any form, a name that
    looks like that of one of these people (id → name), or one that commands would misunderstand.

    An audience is a set of ids, so each would be told what the other heard in confidence; and what is
    whispered to one of two that are called alike reaches the other.
    """
    plain_id = as_character_id(persona.id)
    if plain_id.startswith(NO_CHARACTERS):
        raise UserError(
            f"{persona.id}: ids that begin with {' or '.join(NO_CHARACTERS)} belong to people and worlds"
        )
    if plain_id in map(as_character_id, known):
        raise UserError(f"{persona.id} is the id of a person; no character may have it")
    names = (persona.id, persona.name, *persona.aliases)
    for name in names:
        require_name(normalize("NFKC", name), character=True)
    require_free((Being(*one) for one in known.items()), persona.id, names, character=True)


def is_in_memories(society: Society, agent_id: str) -> bool:
    """Whether an id that no character has stands for somebody whom characters remember; this reads every
    memory."""
    store, wanted = society.store, as_character_id(agent_id)
    if agent_id in store.agents():
        return False
    for remembers in store.agents():
        after = -1
        while page := store.archive(remembers, after):
            after = page[-1].id
            if any(
                as_character_id(one) == wanted for entry in page for one in (entry.user_id, *_ids_in(entry))
            ):
                return True
    return False


def find_person(society: Society, who: str) -> Person:
    """Somebody by id, by the name of an account, or by a shown name; "me" is whoever plays in the terminal.

    Raises:
        UserError: several people have that name, or a character does.
        NotFound: nobody has.
    """
    wanted, names = str(clean(who)), society.names()
    if not wanted or "Cc" in map(category, who.strip()):
        raise NotFound("nobody's id or name is empty, or has control characters in it")
    if wanted == "me":
        wanted = user_id_of(society.settings.world.player)
    accounts = Accounts(society.settings.data_dir).everybody()
    if wanted in society.personas:
        raise UserError(f"{wanted} is a character; what it remembers is deleted with @forget")
    tokens, rooms = _token_users(society.settings), society.world_state.get("rooms", {})
    known = {*names, *rooms, *tokens} - society.personas.keys()
    known |= {one for account in accounts for one in _ids_of(account)}
    meant = [wanted] if wanted in known or _told(society, wanted) else []
    if not meant:
        called = folded(wanted)
        meant = [one for one in known if called in (folded(one), folded(display_name(one, names)))]
        meant += [account.user_id for account in accounts if folded(account.name) == called]
        meant += [one for one in (user_id_of(wanted), account_id_of(called)) if _told(society, one)]
    if not meant and wanted and _named(society, wanted):
        meant = [wanted]
    people = {}
    for one in meant:
        theirs = tuple(account for account in accounts if one in _ids_of(account))
        ids = tuple(sorted({one, *(other for account in theirs for other in _ids_of(account))}))
        people[ids] = Person(ids, display_name(one, names), theirs)
    if len(people) > 1:
        which = ", ".join(sorted(one for person in people for one in person))
        raise UserError(
            f"several are called {shorten(wanted, 30)}, and a name is no identity; say which: {which}"
        )
    if not people:
        raise NotFound(
            f"nothing is kept of anybody called {shorten(wanted, 30)}; name the id, if they have one"
        )
    return next(iter(people.values()))


def report(society: Society, person: Person) -> PersonReport:
    kept, names = _read(society, person), society.names()
    rooms = society.world_state.get("rooms", {})
    return PersonReport(
        ids=person.ids,
        name=person.name,
        accounts={one.name: one.role.value if one.hash else "removed" for one in person.accounts},
        tokens=sum(user in person.ids for user in _token_users(society.settings)),
        introduced=tuple(sorted({names[one] for one in person.ids if one in names})),
        places=tuple(sorted({rooms[one] for one in person.ids if one in rooms})),
        characters={who: counts for who, counts in kept.counted.items() if any(counts.values())},
        lines=lines_with(society.settings.data_dir, kept.marks(society, person)),
    )


def export_person(society: Society, person: Person, write: Callable[[str], object]) -> int:
    """Write what a person told and was answered, one JSON object a line. Returns how many memories.

    Sealed memories are there without words and place, which leave the store only in an encrypted export.

    Raises:
        StoreError: the memories cannot be read.
    """

    def put(line: dict[str, object]) -> None:
        write(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n")

    rooms, names = society.world_state.get("rooms", {}), society.names()
    known = {one: {"name": names.get(one, ""), "place": rooms.get(one, "")} for one in person.ids}
    accounts = [{"name": one.name, "role": one.role.value} for one in person.accounts]
    put({"format": "noodlings-person", "version": 1, "ids": known, "accounts": accounts})
    own = _read(society, person).own
    for agent_id, entries in own.items():
        for entry in entries:
            same = ("id", "timestamp", "user_id", "kind", "place", "user_text", "response")
            line = {"agent": agent_id} | {name: getattr(entry, name) for name in same}
            if entry.tier is Tier.SEALED:
                line |= {"place": None, "user_text": None, "response": None, "sealed": True}
            put(line | ({KNOWN_BY: written_by(entry)} if written_by(entry) else {}))
    return sum(map(len, own.values()))


def forget_person(
    society: Society,
    caller: Caller,
    person: Person,
    change: Callable[[Callable[[], Any]], Any] = lambda step: step(),
    wait: Callable[[], object] = lambda: None,
) -> PersonForgotten:
    """Delete everything of a person, for good. If they are in the rooms they must leave first.

    Every character forgets what they said, the answers to it that it heard others give, and what others told
    of it, also meanwhile. Their id is removed from the witnesses of what others said, and from facts that
    they wrote; so is what was observed of them, by id or name, and what waits and observes them.

    Args:
        change: calls what changes the society. On a thread beside an event loop, it must do so in the loop.
        wait: waits until what the characters heard so far is kept.

    Raises:
        Forbidden: the caller is no admin.
        StoreError: not everything was forgotten; call it again.
    """
    caller.require_admin("have everything about a person deleted")
    wait()
    folder, kept = society.settings.data_dir, _read(society, person)
    marks, memories, answers = kept.marks(society, person), 0, 0
    try:
        lines = strike_out(folder, marks)  # while the memories tell which
    except StoreError as error:
        raise StoreError(f"nothing is forgotten yet: {error}") from None
    unsaid: dict[str, set[int]] = defaultdict(set)
    for _ in range(MOST_ROUNDS):
        todo = kept.todo(unsaid)
        if not todo:
            break
        for agent_id, ids in todo.items():
            forgotten: Forgotten = change(partial(_forget_entries, society, caller, agent_id, ids, kept))
            memories, answers = memories + forgotten.count, answers + len(forgotten.redacted)
            unsaid[agent_id] |= {*ids, *forgotten.redacted}
        wait()
        kept = _read(society, person, kept.answers)
    for agent_id in kept.agents:  # what was too damaged to be read
        for one in person.ids:
            memories += change(partial(society.corrections.forget_user, caller, agent_id, one)).count
        change(partial(society.agents[agent_id].part_from, person.ids, person.called))
    change(partial(_forget_being_there, society, person))
    society.write_notes()
    erased = society.store.erase()
    for file, count in strike_out(folder, marks).items():  # what was logged meanwhile
        lines[file] = lines.get(file, 0) + count
    store = society.settings.store
    left = remains(folder, person.ids, marks.words, Encryption.of(store), store.url.get_secret_value())
    if todo:
        raise StoreError("others went on telling of them, and some of that is left; ask for it once more")
    return PersonForgotten(memories, answers, lines, left, erased)


def _forget_entries(
    society: Society, caller: Caller, agent_id: str, ids: Collection[int], kept: _Kept
) -> Forgotten:
    """Let an agent forget those of these entries that are still there; what it answered since is noted."""
    answers = kept.answers[agent_id]
    late = society.store.archive(agent_id, max(answers, default=0))
    answers.update({entry.id: (entry.response, entry.timestamp) for entry in late if entry.response})
    there = society.store.entries(agent_id, sorted(ids))
    known = dict(there)
    newer = newer_forms(agent_id, society.store, known, EVERYTHING)
    same = {new for old, new in newer.items() if known[new].user_id == known[old].user_id}
    return society.corrections.forget(caller, agent_id, sorted(there.keys() | same))


def _forget_being_there(society: Society, person: Person) -> None:
    """Forget their names, where they were, what they spent, and their accounts."""
    society.forgot_person(person.ids)
    if society.ownership is not None:
        society.ownership.forgot_person(person.ids)  # while the others know their names
    society.forget_names(person.ids)
    if isinstance(society.store.world_get(SPENT), dict):
        society.store.world_update(SPENT, lambda kept: _without(kept, "players", person))
    society.save_world(_without(society.world_state, "rooms", person))
    for account in person.accounts:
        Accounts(society.settings.data_dir).erase(account.name)


def _without(kept: dict[str, Any], name: str, person: Person) -> dict[str, Any]:
    return kept | {name: {one: at for one, at in kept.get(name, {}).items() if one not in person.ids}}


@dataclass(slots=True)
class _Kept:
    """All memories of all characters, as far as they have to do with one person.

    Attributes:
        agents: ids of all characters.
        own: agent → what came from the person.
        hearsay: agent → ids of what others said they had heard from the person, or answered to them.
        answers: agent → id → the answer to each memory, and when it was given.
        heard: speaker → hearer, id, words and time of everything that characters heard characters say.
        made: symbols made of the person's memories, and the words of `hearsay`.
        others: all words of everybody else.
        counted: see `PersonReport.characters`.
    """

    agents: list[str]
    own: dict[str, list[MemoryEntry]] = field(default_factory=lambda: defaultdict(list))
    hearsay: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    answers: dict[str, dict[int, tuple[str, float]]] = field(default_factory=lambda: defaultdict(dict))
    heard: dict[str, list[tuple[str, int, str, float]]] = field(default_factory=lambda: defaultdict(list))
    made: list[str] = field(default_factory=list)
    others: set[str] = field(default_factory=set)
    counted: dict[str, dict[str, int]] = field(default_factory=dict)

    def marks(self, society: Society, person: Person) -> Marks:
        """What marks a line as being about the person."""
        entries = [entry for entries in self.own.values() for entry in entries]
        said = [words for entry in entries for words in (entry.user_text, entry.response or "")]
        words = words_in(" ".join(map(told_words, entries))) - self.others
        types_here = user_id_of(society.settings.world.player) in person.ids
        return Marks.of((*person.ids, *person.called), (*said, *self.made), words, types_here)

    def todo(self, unsaid: Mapping[str, Collection[int]]) -> dict[str, set[int]]:
        """Agent → what it has to forget, with what it heard of the answers to these."""
        found = {who: {entry.id for entry in self.own[who]} | self.hearsay[who] for who in self.agents}
        for agent_id, ids in unsaid.items():
            for hearer, heard in self.heard_of(agent_id, ids):
                found[hearer].add(heard)
        return {who: ids for who, ids in found.items() if ids}

    def heard_of(self, agent_id: str, ids: Collection[int]) -> Iterator[tuple[str, int]]:
        """Who heard the answers that an agent gave to these, whole or in part, as which of their memories."""
        said = [self.answers[agent_id][one] for one in ids if one in self.answers[agent_id]]
        for hearer, entry_id, text, at in self.heard[agent_id]:
            if any(heard_as(text, at, answer, when) for answer, when in said):
                yield hearer, entry_id


def _read(
    society: Society, person: Person, answers: dict[str, dict[int, tuple[str, float]]] | None = None
) -> _Kept:
    """All of it, with these answers, which may be gone by now."""
    settings = society.settings
    with snapshot(settings.database, Encryption.of(settings.store), sealed_words=True) as stored:
        kept = _Kept(stored.agents(), answers=answers or defaultdict(dict))
        for agent_id in kept.agents:
            _read_agent(stored, society, person, agent_id, kept)
    for persona in tuple(society.personas.values()):
        kept.others |= words_in(str(persona))
    return kept


def _read_agent(stored: StoreSnapshot, society: Society, person: Person, agent_id: str, kept: _Kept) -> None:
    own, about, name = kept.own[agent_id], 0, person.name.casefold()
    names = {called.casefold(): person.ids[0] for called in (person.name, *person.ids)}
    called = {*person.ids, *person.called} - {""}
    links, sourced = list(stored.links(agent_id)), dict[int, MemoryEntry]()
    for entry in (archived.entry for archived in stored.entries(agent_id)):
        if entry.source:
            sourced[entry.id] = entry
        if entry.user_id in person.ids:
            own.append(entry)
        elif entry.user_id in society.personas:
            kept.heard[entry.user_id].append((agent_id, entry.id, entry.user_text, entry.timestamp))
        else:
            kept.others |= words_in(told_words(entry))
        if not hearsay_of(entry).isdisjoint(person.ids):
            kept.hearsay[agent_id].add(entry.id)
            kept.made.append(entry.user_text)
        if entry.response:
            kept.answers[agent_id][entry.id] = entry.response, entry.timestamp
        if entry.user_id in person.ids or (
            entry.kind in (*SPOKEN, Kind.FACT) and name in entry.user_text.casefold()
        ):
            about += sum(fact.of in person.ids for fact in facts(entry, names))
    ids = {entry.id for entry in own}
    former = defaultdict[int, list[int]](list)
    for link in links:
        if link.type is LinkType.REPLACED:
            former[link.source].append(link.target)
    for entry in own:  # with the earlier versions of its record, which may be under another name
        for number in former[entry.id] if entry.source else ():
            if number in sourced and number not in ids:
                own.append(sourced[number])
                ids.add(number)
    symbols = [made.symbol for made in stored.symbols(agent_id) if made.symbol.entry_id in ids]
    kept.made += [symbol.symbolic_encoding for symbol in symbols]
    kept.counted[agent_id] = {
        "memories": len(own),
        "answers": sum(entry.response is not None for entry in own),
        "traces": sum(trace.entry_id in ids for trace in stored.traces(agent_id)),
        "symbols": len(symbols),
        "links": sum(not ids.isdisjoint((link.source, link.target)) for link in links),
        "notes": len(ids.intersection(Notebook(society.settings.data_dir / FOLDER_NAME).ids(agent_id))),
        "facts": about,
        "waiting": sum(
            (record.user_id in person.ids and record.record is not None) or observes(record, called)
            for record in stored.taken(agent_id)
        ),
        "heard": len(kept.hearsay[agent_id]),
    }


def _ids_of(account: Account) -> frozenset[str]:
    """Both ids of its owner: what they told before it was joined stays with the account's own."""
    return frozenset({account.user_id, account_id_of(folded(account.name))})


def _token_users(settings: Settings) -> list[str]:
    return [token.user for token in settings.api.all_tokens() if token.user]


def _told(society: Society, user_id: str) -> bool:
    return any(society.store.told_by(agent_id, user_id) for agent_id in society.store.agents())


def _named(society: Society, user_id: str) -> bool:
    """Whether an id of which nothing else is kept is that of a witness, a source, somebody answered, an
    author, somebody observed, or whoever had something forgotten; this reads every memory."""
    settings = society.settings
    with snapshot(settings.database, Encryption.of(settings.store)) as stored:
        if user_id in stored.done_by():
            return True
        agents = stored.agents()
        kept = (one.entry for agent_id in agents for one in stored.entries(agent_id))
        waits = (one.record or {} for agent_id in agents for one in stored.taken(agent_id))
        told = ((_ids_in(entry), circumstances_of(entry)) for entry in kept)
        observed = ((frozenset[str](), circumstances_given(record)) for record in waits)
        return any(
            user_id in ids or user_id in {one.who for one in known.emotions}
            for ids, known in chain(told, observed)
        )


def _ids_in(entry: MemoryEntry) -> frozenset[str]:
    """The ids in a memory beside that of whoever told it."""
    return entry.audience.witnesses | hearsay_of(entry) | {written_by(entry)}
