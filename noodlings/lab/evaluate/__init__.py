"""Evaluations: how good the parts are, on data from outside. `noodlings eval …` prints what these return."""
