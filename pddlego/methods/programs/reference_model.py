"""The built-in model, which answers with programs and heuristics of the package."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from pddlego.errors import UsageError
from pddlego.methods.base import BuiltIn, Mode, parse_variant
from pddlego.methods.planning_settings import PlanningSetting
from pddlego.methods.programs.options import DIRECT, MODES, NO_NAMES, PROGRAM
from pddlego.models.base import Model, Request, RuleModel
from pddlego.pddl import Domain, Problem
from pddlego.pddl.names import is_name
from pddlego.pddl.perturb import anonymous
from pddlego.planning import Planner, Search
from pddlego.runs.cells import Cell
from pddlego.util import resources

_FAULTS: tuple[Callable[[str], str], ...] = (
    lambda code: re.sub(r'f"\((.*?)\)"', r'f"\1"', code),  # no parentheses
    lambda code: code.replace("init, goal):", "init, goal)", 1),  # no Python
    lambda code: code.replace("    plan = []", "    plan = [init[0]]", 1),  # an exception
    lambda code: re.sub(r"return plan\b", "return None", code),  # no list
    lambda code: re.sub(r"return plan\b", "return plan[:-1]", code),  # no plan
)
"""Typical faults of generated programs. Each function puts one into a correct program."""

_HEURISTIC_FAULTS = (
    ("self.goals = task.goal_facts", "return 0"),
    ("pass", "return node.value"),
    ("pass", "return None"),
    ("pass", "return float('nan')"),
    ("pass", "return float('inf')"),
    ("pass", "return len(bytearray(1 << 40))"),
    ("pass", "while True: pass"),
)
"""Typical faults of generated heuristics: the bodies of `__init__` and `__call__`."""

_FAULTY = """class Faulty:
    \"\"\"A heuristic with a fault.\"\"\"

    def __init__(self, task):
        {0}

    def __call__(self, node):
        {1}
"""

_GOAL_COUNT = "goal-count"
"""The heuristic for every domain that counts the goals that are not true."""

_EXAMPLES = ("gripper", "miconic")
"""The domains whose heuristic is the example in prompts: the first that is not the task's own."""

_WORDS = {
    "summarize": "The built-in reader has a program for this domain, and needs no summary.",
    "strategy": "It is the strategy of that program.",
    "pseudocode": "1. Do what that program does.",
    "reflect-strategy": "The built-in reader errs on purpose.",
    "correct-strategy": "1. Do what that program does, without errors.",
    "reflect": "The built-in reader errs on purpose.",
}


@dataclass(frozen=True)
class FollowRequest:
    """The context of a request to follow a strategy, from which the built-in model computes its answer."""

    planner: Planner
    domain: Domain
    problem: Problem

    def plan(self) -> list[str]:
        """The actions of a plan by the planner; empty without one."""
        plan = self.planner.solve(self.domain, self.problem, Search("gbf", "hff", "auto")).plan
        return [] if plan is None else [str(step) for step in plan.steps]


_UNNAMED = """

NAMES = {names}
_named = get_plan


def get_plan(objects, init, goal):
    def old(atom):
        return (NAMES.get(atom[0], atom[0]), *atom[1:])

    new = {{value: key for key, value in NAMES.items() if key.startswith("operator")}}
    known = {{(item[0], NAMES.get(item[1], item[1])) if isinstance(item, tuple) else item for item in objects}}
    plan = _named(known, {{old(atom) for atom in init}}, {{old(atom) for atom in goal}})
    steps = [action.strip("()").split() for action in plan]
    return [f"({{' '.join([new[step[0]], *step[1:]])}})" for step in steps]
"""


def builtin_model(name: str, cell: Cell, setting: PlanningSetting | None) -> Model | None:
    """The built-in model of that name; None for a language model. Raises `UsageError` if it cannot play the cell.

    It answers with the package's program for the domain, with an added fault with the probability of the noise. Its
    heuristics are of different quality: some fail, some count goals, and some are good. Where they are corrected, each
    answer repairs one fault.
    """
    built_in = BuiltIn.parse(name)
    if built_in is None:
        return None
    mode = parse_variant(cell.mode, MODES).mode
    code = "" if setting is None else _code(cell, setting, mode)
    noise, seed = built_in.rate or 0.0, cell.model_seed + 7_919 * built_in.seed
    rng = random.Random(f"{name}/{seed}/{cell.setting}")

    def answer(request: Request) -> str:
        if request.purpose in _WORDS:
            return _WORDS[request.purpose]
        is_wrong = bool(noise) and rng.random() < noise
        if isinstance(request.context, FollowRequest):
            plan = request.context.plan()
            return "\n".join(plan[:-1] if is_wrong else plan)
        if mode.name != PROGRAM:
            answers = _heuristics(code, mode.name == DIRECT)
            text = (
                _FAULTY.format(*rng.choice(_HEURISTIC_FAULTS)) if is_wrong else answers[request.attempt % len(answers)]
            )
            return f"```python\n{text}```"
        wrong = [made for fault in _FAULTS if (made := fault(code)) != code]
        return f"```python\n{rng.choice(wrong) if is_wrong else code}```"

    return RuleModel(name, answer, {"noise": noise} if noise else {})


def _heuristics(good: str, direct: bool) -> tuple[str, ...]:
    """The answers of the built-in model, which are repeated after the last."""
    simple, wrong = reference(_GOAL_COUNT, "heuristics") or "", [_FAULTY.format(*fault) for fault in _HEURISTIC_FAULTS]
    return (wrong[0], wrong[2], simple, good) if direct else (simple, wrong[1], good)


def examples(domain: str) -> list[dict[str, str]]:
    """The domain and the heuristic that a prompt shows for tasks of a domain."""
    other = next(name for name in _EXAMPLES if name != domain)
    code = (reference(other, "heuristics") or "").rstrip()
    return [{"domain": resources.read("domains", f"{other}.pddl").rstrip(), "code": code}]


def reference(domain: str, kind: str = "programs") -> str | None:
    """The text of `domains/programs/DOMAIN.py`, which is run in the sandbox; None without such a file.

    The other `kind` is `heuristics`.
    """
    place = f"{kind}/{domain}.py"
    return resources.read("domains", place) if is_name(domain) and resources.has("domains", place) else None


def _code(cell: Cell, setting: PlanningSetting, mode: Mode) -> str:
    kind = "programs" if mode.name == PROGRAM else "heuristics"
    code = reference(setting.domain.name, kind)
    if code is None:
        why = f"It has no {kind.removesuffix('s')} for the domain {setting.domain.name}."
        raise UsageError(f"The built-in reader cannot play {setting.name}", why, "Name a language model with --model.")
    if NO_NAMES not in parse_variant(cell.mode, MODES).without:
        return code
    if setting.numeric is not None:
        why = "It does not translate the names of functions and numbers."
        raise UsageError(f"The built-in reader cannot play {setting.name}", why, "Name a language model with --model.")
    made = anonymous(setting.domain)
    if setting.nameless_folder is not None and setting.nameless_folder.domain().canonical != made.domain.canonical:
        why = "It does not know what the names of its nameless tasks were."
        raise UsageError(f"The built-in reader cannot play {setting.name}", why, "Name a language model with --model.")
    names = {new: old for old, new in made.names.items()}
    if mode.name == PROGRAM:
        return code + _UNNAMED.format(names=names)
    (heuristic,) = re.findall(r"^class (\w+)", code, re.MULTILINE)
    return f"{code}\n\n{reference('nameless', 'heuristics')}\n\nNAMES, NAMED = {names}, {heuristic}\n"
