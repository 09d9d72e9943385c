"""The public names of simulations; they live in `noodlings.lab`."""

from noodlings.lab.scenario import Scenario, load_scenario
from noodlings.lab.simulation import Ablation, Simulation
from noodlings.lab.simulation import SimulatedTurn as Turn
from noodlings.lab.sweep import sweep, written_table

__all__ = ["Ablation", "Scenario", "Simulation", "Turn", "load_scenario", "sweep", "written_table"]
