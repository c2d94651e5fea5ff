"""Coverage of Corrêa, Pereira and Seipp (arXiv 2503.18809, version 1, Tables 2 and 3), for reports.

DeepSeek V3 is left out: the version of NeurIPS 2025 has another sum for it, and no coverage by domain that we could
read.
"""

from __future__ import annotations

from collections.abc import Mapping

from pddlego.methods.base import Published
from pddlego.methods.programs.options import HEURISTIC, NO_HEURISTIC, PLAN
from pddlego.runs.cells import NO_MODEL

TASKS = 90
"""The evaluation tasks of each domain."""

DOMAINS = ("blocks", "childsnack", "floortile", "miconic", "rovers", "sokoban", "spanner", "transport")

MODELS = {
    "gemini-2.0-flash": (35, 32, 4, 90, 32, 31, 30, 42),
    "gemini-2.0-flash-thinking": (37, 14, 8, 88, 39, 32, 30, 57),
    "deepseek-r1-distill-qwen-14b": (34, 16, 3, 30, 32, 24, 30, 45),
    "deepseek-r1": (66, 22, 4, 90, 32, 30, 70, 59),
}
"""The tasks that the best heuristic of each model solves, by domain."""

PYPERPLAN = {PLAN: (24, 17, 10, 74, 28, 31, 30, 29), f"{PLAN}-no-{NO_HEURISTIC}": (6, 9, 1, 30, 12, 24, 30, 8)}
"""Those of pyperplan with FF and without a heuristic, by mode."""

FAST_DOWNWARD = {
    "hff": (27, 25, 12, 90, 34, 36, 30, 41),
    "hadd": (44, 29, 14, 90, 33, 33, 30, 51),
    "hgc": (32, 23, 3, 90, 38, 42, 30, 36),
    "hlmc": (39, 13, 3, 90, 41, 43, 30, 36),
    "hcg": (34, 29, 7, 90, 39, 35, 30, 54),
    "hcea": (40, 29, 10, 79, 36, 33, 30, 49),
}
"""Those of Fast Downward, by heuristic. The ninth baseline, the learned WLF, is no mode here."""


def coverage(domain: str, baseline: str | None) -> Published:
    """The shares of solved tasks in a domain; mode `plan` is Fast Downward with the heuristic `baseline`, if given."""
    if domain not in DOMAINS:
        return {}
    place = DOMAINS.index(domain)
    plan = {**PYPERPLAN, PLAN: FAST_DOWNWARD[baseline]} if baseline in FAST_DOWNWARD else PYPERPLAN

    def shares(solved: Mapping[str, tuple[int, ...]]) -> dict[str, float]:
        return {mode: numbers[place] / TASKS for mode, numbers in solved.items()}

    return {NO_MODEL: shares(plan), **{model: shares({HEURISTIC: numbers}) for model, numbers in MODELS.items()}}
