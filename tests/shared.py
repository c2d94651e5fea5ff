"""Files of others: recordings, a corpus of models' PDDL, competition tasks. Tests read them; the repository holds none.

They are in the folder that `PDDLEGO_SHARED` names, by default in `shared` beside the repository. A test that needs some
of them has the marker `shared(PATH…)`: it is skipped where the folder is missing, and fails where the variable names a
folder without them.
"""

from __future__ import annotations

import os
from pathlib import Path

from pddlego.pddl import Domain, Problem, parse_domain, parse_problem

VARIABLE = "PDDLEGO_SHARED"
SHARED = Path(os.environ.get(VARIABLE) or Path(__file__).parents[2] / "shared")

CORPUS = SHARED / "corpus"
RECORDED = SHARED / "recorded"
COMPETITION = SHARED / "competition"

SUITES = sorted(file.parent.name for file in COMPETITION.glob("*/domain.pddl")) or ["no suite"]
"""Folders of `COMPETITION`; where there are none, a name without a folder, so that a test says that it is skipped."""

SMALL_SUITES = (
    *(
        "blocks",
        "depot",
        "elevators-opt08-strips",
        "grid",
        "hiking-sat14-strips",
        "miconic-fulladl",
        "movie",
        "mystery",
    ),
    *("openstacks-opt08-strips", "pathways", "pegsol-opt11-strips", "psr-small", "satellite"),
    *("sokoban-opt11-strips", "transport-opt08-strips", "trucks", "visitall-opt11-strips", "woodworking-opt08-strips"),
    "zenotravel",
)
"""Suites for whose smallest task a plan of least cost is found in seconds."""


def missing(names: tuple[str, ...]) -> list[str]:
    """The paths of `SHARED` among `names` that are not there."""
    return [name for name in names if not (SHARED / name).exists()]


def suite(name: str) -> tuple[Domain, Problem]:
    """The task of a suite."""
    files = (COMPETITION / name / f"{kind}.pddl" for kind in ("domain", "problem"))
    domain, problem = (file.read_text(encoding="utf-8") for file in files)
    return parse_domain(domain), parse_problem(problem)
