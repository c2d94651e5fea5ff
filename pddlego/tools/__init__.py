"""The functions for PDDL files: `check`, `repair`, `solve`, `validate`, `simulate` and `compare`, with typed results.

Python (`pddlego.check` …), the command line, the tool server and the language server call the same functions. But for
planners they need no other package. `files` says what their arguments are.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pddlego.planning.validation.preferences import PreferenceVerdict as PreferenceVerdict
    from pddlego.tools.checking import check as check
    from pddlego.tools.checking import check_files as check_files
    from pddlego.tools.comparison import compare as compare
    from pddlego.tools.comparison import difference as difference
    from pddlego.tools.comparison import is_domain as is_domain
    from pddlego.tools.comparison import read_conditions as read_conditions
    from pddlego.tools.execution import validate as validate
    from pddlego.tools.files import is_path as is_path
    from pddlego.tools.files import read_domain_file as read_domain_file
    from pddlego.tools.files import read_problem_file as read_problem_file
    from pddlego.tools.learning import learn_actions as learn_actions
    from pddlego.tools.repairing import is_problem as is_problem
    from pddlego.tools.repairing import repair as repair
    from pddlego.tools.repairing import repair_files as repair_files
    from pddlego.tools.results import ApplicableResult as ApplicableResult
    from pddlego.tools.results import CheckedFiles as CheckedFiles
    from pddlego.tools.results import CheckResult as CheckResult
    from pddlego.tools.results import DifferenceResult as DifferenceResult
    from pddlego.tools.results import Finding as Finding
    from pddlego.tools.results import OtherPlan as OtherPlan
    from pddlego.tools.results import RepairResult as RepairResult
    from pddlego.tools.results import SimulatedState as SimulatedState
    from pddlego.tools.results import SimulationResult as SimulationResult
    from pddlego.tools.results import SolveResult as SolveResult
    from pddlego.tools.results import ValidationResult as ValidationResult
    from pddlego.tools.simulation import Simulation as Simulation
    from pddlego.tools.simulation import applicable as applicable
    from pddlego.tools.simulation import simulate as simulate
    from pddlego.tools.solving import EXPLORATION as EXPLORATION
    from pddlego.tools.solving import WHY_SECONDS as WHY_SECONDS
    from pddlego.tools.solving import read_search as read_search
    from pddlego.tools.solving import solve as solve
    from pddlego.tools.solving import solve_result as solve_result

_PLACES = {
    "checking": ("check", "check_files"),
    "comparison": ("compare", "difference", "is_domain", "read_conditions"),
    "execution": ("validate",),
    "files": ("is_path", "read_domain_file", "read_problem_file"),
    "learning": ("learn_actions",),
    "repairing": ("is_problem", "repair", "repair_files"),
    "results": (
        "ApplicableResult",
        "CheckedFiles",
        "CheckResult",
        "DifferenceResult",
        "Finding",
        "OtherPlan",
        "PreferenceVerdict",
        "RepairResult",
        "SimulatedState",
        "SimulationResult",
        "SolveResult",
        "ValidationResult",
    ),
    "simulation": ("Simulation", "applicable", "simulate"),
    "solving": ("EXPLORATION", "WHY_SECONDS", "read_search", "solve", "solve_result"),
}
"""The module of each name, which is loaded when one of its names is first used."""

if not TYPE_CHECKING:  # commands ask which parts of this package are here, and need no function

    def __getattr__(name: str) -> Any:
        for module, names in _PLACES.items():
            if name in names:
                return globals().setdefault(name, getattr(import_module(f"pddlego.tools.{module}"), name))
        raise AttributeError(f"module 'pddlego.tools' has no attribute {name!r}")
