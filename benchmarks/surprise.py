"""What surprises an agent, by the whole way: our own appraisal, the meaning of the sentence, the mind.

Prints where planted changes rank in their stream (1 is the most surprising line), how far repetition stops
surprising, how surprise is spread over ordinary talk, and how far the layers of the state move.

    python benchmarks/surprise.py [--embedder minilm|none] [--chat FILE]   (lines of JSON with a `text`)
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from noodlings.affect.appraisal import Appraiser
from noodlings.embed.minilm import MiniLM
from noodlings.embed.queue import understood_by
from noodlings.mind.meaning import word_vector
from noodlings.mind.mind import Mind
from noodlings.mind.phenomenal import FAST, MEDIUM, SLOW
from noodlings.ports import Understood
from tests.mind.streams import CALM, GREETINGS, SAME_IN_OTHER_WORDS

DEATHS = (
    "My dog died yesterday.",
    "I am sorry, your mother has passed away.",
    "My little brother was killed last night.",
    "We buried my grandmother on Tuesday.",
)
INSULTS = ("You worthless heap of scrap.", "I despise you.", "Shut up, you idiot.")
PATTERNS = (
    ("tick", "tock"),
    ("Good morning.", "Good night."),
    ("The door opens.", "The door closes."),
    ("yes", "no"),
)

Meant = Callable[[str], Understood]


def live(texts: Sequence[str], meant: Meant, by_meaning: bool) -> tuple[np.ndarray, np.ndarray]:
    """Surprise at each line, one every twenty seconds, and the state after it, (n, 40)."""
    mind, appraiser, lived = Mind(), Appraiser(), []
    for turn, text in enumerate(texts):
        meaning = meant(text)
        affect = appraiser.appraise(text, addressed=True, understood=meaning if by_meaning else None).affect
        lived.append(mind.perceive(affect, meaning.vector, 20.0 * turn))
    return np.array([percept.surprise for percept in lived]), np.array([percept.state for percept in lived])


def rank(surprises: np.ndarray, at: int) -> str:
    """Where a line stands in its stream."""
    return f"{int((surprises > surprises[at]).sum()) + 1} of {len(surprises)} ({surprises[at]:.2f})"


def moved(states: np.ndarray, layer: slice) -> float:
    """How far a layer moves in a step, root mean square a unit."""
    return float(np.sqrt((np.diff(states[:, layer], axis=0) ** 2).mean()))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--embedder", choices=("minilm", "none"), default="minilm")
    parser.add_argument("--chat", type=Path, help="ordinary talk to see the spread on")
    asked = parser.parse_args()
    by_meaning = asked.embedder == "minilm"
    model = MiniLM()

    def meant(text: str) -> Understood:
        return understood_by(model, [text])[0] if by_meaning else Understood(word_vector(text))

    def surprises(texts: Sequence[str]) -> np.ndarray:
        return live(texts, meant, by_meaning)[0]

    for death in DEATHS:
        texts = [*CALM[:25], death, *CALM[25:]]
        print(f"calm talk, then    {death:<45} {rank(surprises(texts), 25)}")
    for insult in INSULTS:
        greetings = [GREETINGS[turn * 5 % len(GREETINGS)] for turn in range(100)]
        print(f"greetings, then    {insult:<45} {rank(surprises([*greetings, insult]), 100)}")
    for first, second in PATTERNS:
        texts = [first, second] * 20 + [second]
        print(f"alternating, then  {second + ' (again)':<45} {rank(surprises(texts), 40)}")
    for theme, texts in SAME_IN_OTHER_WORDS.items():
        said, again = surprises(texts), surprises([texts[0]] * 10)
        told = f"1st {said[0]:.2f}  6th {said[5]:.2f}  12th {said[11]:.2f}   literally: 10th {again[9]:.3f}"
        print(f"in other words     {theme:<10} {told}")
    if asked.chat:
        lines = [json.loads(line)["text"] for line in asked.chat.read_text("utf-8").splitlines()]
        spread, states = live(lines, meant, by_meaning)
        print(
            f"{len(lines)} lines: surprise at 5, 25, 50, 75, 95%:",
            np.quantile(spread, [0.05, 0.25, 0.5, 0.75, 0.95]).round(2),
        )
        print(
            "movement a step:",
            {n: round(moved(states, s), 4) for n, s in (("fast", FAST), ("medium", MEDIUM), ("slow", SLOW))},
        )


if __name__ == "__main__":
    main()
