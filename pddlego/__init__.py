"""pddlego: agents that play text games by planning.

A language model reads what a game says and writes or edits a PDDL problem, a classical planner finds a plan for the
best goal that can be reached now, the plan is executed, and what is seen next goes back to the model (Zhang et al.,
2024, *PDDLEGO: Iterative Planning in Textual Environments*).
"""

from pddlego.api import build, evaluate, load_runs, play

__all__ = ["build", "evaluate", "load_runs", "play"]

__version__ = "0.1.0"
