"""Simulations: a society without a server, living through a scenario, the same again from the same seed."""

from noodlings.simulate.ablation import Ablation
from noodlings.simulate.scenario import Scenario, load_scenario
from noodlings.simulate.simulation import Simulation
from noodlings.simulate.sweep import sweep
from noodlings.simulate.table import written_table
from noodlings.simulate.turns import Turn

__all__ = ["Ablation", "Scenario", "Simulation", "Turn", "load_scenario", "sweep", "written_table"]
