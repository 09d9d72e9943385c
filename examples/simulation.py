"""What feeling does for recall: a village of ten lives through a few days, with a part of the mind left out.

Now and then somebody is told of a grief, a fright or a joy, each time in other words. When they answer, is an
earlier memory of the same kind in their mind? That is counted for whole minds, for minds without feeling (a
mood that nothing moves, and nothing recalled for its feeling), and for a plain list, over the same twenty
seeds, so that all three hear the same lines from the same people. It takes some minutes, prints a table, and
draws it with intervals of 95 %:

    python examples/simulation.py [--seeds 20] [--ticks 150] [--jobs 2] [--out simulation.svg]
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from noodlings.drawing.progress import progress_over
from noodlings.simulate import load_scenario, sweep

VILLAGE = Path(__file__).with_name("village.yaml")
ARMS = {"whole": (), "without feeling": ("feeling", "mood"), "a plain list": ("streams",)}
THEMES = ("grief", "fright", "joy")
ALL = "all"
OF_ITS_KIND = "of its kind"
COLOURS = ("#33658a", "#f6ae2d", "#9a9a9a")

Shares = dict[str, float]


def reminded(rows: list[dict[str, Any]]) -> Shares:
    """By theme: of the turns that had an earlier memory of it to recall, in how many that was in mind.

    `OF_ITS_KIND`: of all such memories in mind, of whichever theme, how many were of the one told of. Whoever
    recalls anything that is intense, whatever it was, has a third there.
    """
    turns: dict[str, list[bool]] = defaultdict(list)
    told: set[tuple[str, str]] = set()
    for row in rows:
        if (theme := row["about"]) not in THEMES:
            continue
        if row["response"] and (row["agent"], theme) in told:
            in_mind = [known for known in row["recalled_about"].split(";") if known]
            turns[theme].append(theme in in_mind)
            turns[ALL].append(theme in in_mind)
            turns[OF_ITS_KIND] += [known == theme for known in in_mind]
        told.add((row["agent"], theme))
    return {theme: float(np.mean(hits)) for theme, hits in turns.items() if hits}


def mean_of(values: list[float]) -> tuple[float, float, float]:
    """The mean over seeds, and an interval of 95 % around it by resampling them; NaN where there are none."""
    if not values:
        return (float("nan"),) * 3
    array = np.array(values)
    means = np.random.default_rng(0).choice(array, (4_000, len(array))).mean(axis=1)
    low, high = np.percentile(means, (2.5, 97.5))
    return float(array.mean()), float(low), float(high)


def column(shares: list[Shares], theme: str) -> list[float]:
    return [share[theme] for share in shares if theme in share]


def gain(whole: list[Shares], other: list[Shares]) -> list[float]:
    """How much more often a whole mind was reminded, seed by seed: both heard the same."""
    return [a[ALL] - b[ALL] for a, b in zip(whole, other, strict=True) if ALL in a and ALL in b]


def picture(results: dict[str, list[Shares]], title: str) -> str:
    """A bar for each arm and theme with its interval, as SVG."""
    groups = (*THEMES, ALL)
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 400"',
        ' font-family="sans-serif" font-size="13">',
        '<rect width="640" height="400" fill="white"/>',
        f'<text x="320" y="24" text-anchor="middle" font-size="15">{title}</text>',
    ]
    for percent in range(0, 101, 25):
        y = 340 - 2.8 * percent
        parts.append(f'<line x1="50" x2="620" y1="{y}" y2="{y}" stroke="#ddd"/>')
        parts.append(f'<text x="44" y="{y + 4}" text-anchor="end">{percent} %</text>')
    for number, group in enumerate(groups):
        left = 70 + 140 * number
        parts.append(f'<text x="{left + 50}" y="360" text-anchor="middle">{group}</text>')
        for place, (arm, colour) in enumerate(zip(ARMS, COLOURS, strict=True)):
            mean, low, high = mean_of(column(results[arm], group))
            if mean == mean:  # not NaN
                x, top = left + 34 * place, 340 - 280 * mean
                ends = f'y1="{340 - 280 * low:.1f}" y2="{340 - 280 * high:.1f}"'
                parts.append(
                    f'<rect x="{x}" y="{top:.1f}" width="30" height="{280 * mean:.1f}" fill="{colour}"/>'
                )
                parts.append(f'<line x1="{x + 15}" x2="{x + 15}" {ends} stroke="black" stroke-width="1.5"/>')
    for place, (arm, colour) in enumerate(zip(ARMS, COLOURS, strict=True)):
        x = 120 + 160 * place
        parts.append(f'<rect x="{x}" y="376" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="{x + 18}" y="387">{arm}</text>')
    return "\n".join([*parts, "</svg>\n"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--ticks", type=int, default=150)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=Path("simulation.svg"))
    asked = parser.parse_args()

    # Said before it is lived through: a bar is shown only where somebody looks on.
    lived = f"{asked.seeds} seeds of {asked.ticks} ticks"
    print(f"reminded of the same kind, {lived} (95 % interval)", flush=True)
    village, seeds = load_scenario(VILLAGE), range(1, asked.seeds + 1)
    results: dict[str, list[Shares]] = {arm: [] for arm in ARMS}
    with progress_over(len(ARMS) * asked.seeds, "living") as done:
        for arm, without in ARMS.items():
            for rows in sweep(village, asked.ticks, seeds, without=without, jobs=asked.jobs):
                results[arm].append(reminded(rows))
                done(sum(map(len, results.values())))

    for arm, shares in results.items():
        print(f"  {arm}")
        for theme in (*THEMES, ALL, OF_ITS_KIND):
            print(f"    {theme:12} {_written(mean_of(column(shares, theme)))}")
    for arm in list(ARMS)[1:]:
        print(f"  whole minds beside {arm}: {_written(mean_of(gain(results['whole'], results[arm])), '+')}")
    asked.out.write_text(picture(results, "Reminded of the same kind of moment"), "utf-8")
    print(f"drawn in {asked.out}")


def _written(values: tuple[float, float, float], sign: str = "") -> str:
    mean, low, high = values
    if mean != mean:
        return "never came up"
    return f"{mean:{sign}.0%} ({low:{sign}.0%} to {high:{sign}.0%})"


if __name__ == "__main__":
    main()
