"""A simulation in ten lines: a village lives through a day, twice, once with a plain list for a memory."""

from pathlib import Path

from noodlings.affect.feeling import feeling
from noodlings.simulate import Simulation, load_scenario

village = load_scenario(Path(__file__).with_name("village.yaml"))
for parts in ("", "streams"):
    with Simulation(village, seed=1, without=parts.split()) as simulation:
        turns = simulation.run(ticks=96)
        mara = simulation.society.agents["mara"]
        grief = [turn for turn in turns if turn.about == "grief" and turn.trace.response]
        reminded = sum("grief" in turn.recalled_about for turn in grief)
        print(f"without {parts or 'nothing'}: {reminded} of {len(grief)} griefs recalled another")
        print("  mara feels", feeling(mara.mood), "and holds", len(mara.memory.retrieve_episodic(limit=None)))
