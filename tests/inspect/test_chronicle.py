"""Asking about commits by meaning: what the embedder is given, and what becomes of a question if it fails."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from noodlings.agent.archive import AgentArchive
from noodlings.embed.queue import EmbeddingQueue
from noodlings.errors import NoodlingsError
from noodlings.ingest.commit import Commit
from noodlings.inspect.chronicle import ChronicleView
from noodlings.inspect.inspector import Inspector
from noodlings.ports import Changes
from noodlings.store.memory import MemoryStore
from noodlings.values.audience import OPEN, Audience, Tier
from noodlings.values.caller import Caller, Role
from noodlings.values.memory import EntryVector, MemoryEntry
from noodlings.values.percept import Kind
from tests.fakes import FakeAgent, FakeSociety, HashingEmbedder, LayeredHashingEmbedder
from tests.ingest.repositories import a_commit
from tests.memory.entries import an_entry

ADMIN = Caller("user_root", "root", Role.ADMIN)


@dataclass
class Searchable(FakeAgent):
    archive: AgentArchive | None = None


class BrokenForMany(HashingEmbedder):
    """Embeds one text at a time only."""

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        if len(texts) > 1:
            raise NoodlingsError("the endpoint is away")
        return super().embed(texts)


def remembered(commit: Commit, audience: Audience = OPEN) -> MemoryEntry:
    number, record = int(commit.hash, 16), commit.record("git:1", "harbour")
    return an_entry(
        number,
        user_text=record.text,
        kind=Kind.READ,
        audience=audience,
        timestamp=float(number),
        extra={"data": record.data},
    )


def asked(embedder: HashingEmbedder, question: str, *entries: MemoryEntry) -> ChronicleView:
    store, model = MemoryStore(), HashingEmbedder()
    texts = model.embed([entry.user_text for entry in entries])
    vectors = tuple(
        EntryVector(entry.id, embedder.name, vector) for entry, vector in zip(entries, texts, strict=True)
    )
    store.commit(Changes("phi", added=entries, vectors=vectors))
    queue = EmbeddingQueue(embedder, reach=Tier.CONFINED)
    society = FakeSociety(people={}, store=store)
    society.add(Searchable(archive=AgentArchive("phi", store, queue, society.names, len(entries))))
    try:
        return asyncio.run(Inspector(society).chronicle(ADMIN, "phi", question, 5))
    finally:
        queue.close()


def test_the_meaning_of_the_message_alone_counts_but_not_of_one_that_may_not_leave() -> None:
    open_, secret = a_commit("The boats are painted", 1), a_commit("The boats are counted", 2)
    embedder = LayeredHashingEmbedder()
    guarded = Audience(frozenset({ADMIN.user_id}), confined=True, tier=Tier.SECRET)
    view = asked(embedder, "painted boats", remembered(open_), remembered(secret, guarded))
    assert [one.commit.subject for one in view.commits] == ["The boats are painted", "The boats are counted"]
    first, second = view.commits
    assert view.by_meaning
    assert 0.0 < first.scores["message_meaning"] <= 1.0
    assert second.scores["message_meaning"] == 0.0
    messages = [text for how, texts in embedder.passes if how == "embed" for text in texts]
    assert messages == ["painted boats", "The boats are painted. Number 1 says why."]


def test_an_embedder_that_fails_leaves_what_the_search_found() -> None:
    view = asked(BrokenForMany(), "painted boats", remembered(a_commit("The boats are painted", 1)))
    (only,) = view.commits
    assert only.commit.subject == "The boats are painted"
    assert only.scores["message_meaning"] == 0.0
