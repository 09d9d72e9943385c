"""The public names of simulations; they live in `noodlings.lab`."""

from noodlings.lab.ablation import Ablation
from noodlings.lab.scenario import Scenario, load_scenario
from noodlings.lab.simulated_turns import Turn
from noodlings.lab.simulation import Simulation
from noodlings.lab.sweep import sweep
from noodlings.lab.table import written_table

__all__ = ["Ablation", "Scenario", "Simulation", "Turn", "load_scenario", "sweep", "written_table"]
