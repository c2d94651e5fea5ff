"""The results of the functions for PDDL files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pddlego.pddl import Domain, Problem
from pddlego.planning import Plan
from pddlego.planning.result import SearchTree, WhyNoPlan
from pddlego.planning.validation.preferences import PreferenceVerdict

Part = Literal["domain", "problem", "plan"]
Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Finding:
    """An error or a warning in a file; `path` is its name, empty for a text or a value.

    `line` and `column` count from 1 and `source` is that line of the file; for what concerns the whole file they are 1
    and `source` is empty. The word or list ends before `end_column`. `rule` is the rule's id in the documentation.
    `meant` is the text that belongs between the columns, if that is known.
    """

    file: Part
    line: int
    column: int
    severity: Severity
    rule: str
    message: str
    advice: str
    source: str = ""
    end_column: int = 1
    path: str = ""
    meant: str = ""


@dataclass(frozen=True)
class CheckResult:
    """The findings in files; `ok` if none of them is an error. `cost` is the cost of a plan without errors."""

    ok: bool
    findings: tuple[Finding, ...]
    cost: int | float | None = None


@dataclass(frozen=True)
class CheckedFiles:
    """The findings in files, and the values of the files without errors; `cost` is the cost of the plan."""

    findings: tuple[Finding, ...]
    domain: Domain | None = None
    problem: Problem | None = None
    plan: Plan | None = None
    cost: int | float | None = None

    @property
    def result(self) -> CheckResult:
        return CheckResult(is_sound(self.findings), self.findings, self.cost)


@dataclass(frozen=True)
class RepairResult:
    """A file as strict PDDL, and every repair that was made. `ok`: the `findings` hold no error."""

    ok: bool
    text: str
    repairs: tuple[str, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class OtherPlan:
    """A further plan for a task, and its cost."""

    plan: tuple[str, ...]
    cost: int | float | None


@dataclass(frozen=True)
class SolveResult:
    """The ending of a planning call, and the plan if there is one: its actions, its cost, and the engine that found it.

    In a task with time the actions are written `TIME: (action object …) [DURATION]`.

    `optimal`: no plan has a lower cost (false: this is not known). `note` names the search that would prove it.
    Without a plan, `note` is how to install more planners if they may find one, `why` is what a search knows of the
    parts of the goal, and `findings` are what `check` finds.
    `others` are further plans, each without an action of every plan before it. `preferences` are the verdicts about
    preferences. `tree` has the states of the search, if they were to be kept and the planner can.
    """

    status: str
    plan: tuple[str, ...] | None
    cost: int | float | None
    engine: str
    message: str
    seconds: float
    optimal: bool = False
    note: str = ""
    why: WhyNoPlan | None = None
    findings: tuple[Finding, ...] = ()
    others: tuple[OtherPlan, ...] = ()
    preferences: tuple[PreferenceVerdict, ...] = ()
    tree: SearchTree | None = None


@dataclass(frozen=True)
class ValidationResult:
    """Whether a plan works, and its cost; else the fault of the plan and the step that has it.

    Steps are counted from 1 in the order of execution; None for the goal, and for a plan that cannot be read. `note`
    describes skipped lines of the plan's text. `preferences` are the verdicts about preferences, for a valid plan.
    """

    valid: bool
    cost: int | float | None = None
    step: int | None = None
    rule: str = ""
    message: str = ""
    advice: str = ""
    note: str = ""
    preferences: tuple[PreferenceVerdict, ...] = ()


@dataclass(frozen=True)
class SimulatedState:
    """The facts after a step (step 0 is the initial state), what the step changed, and whether the goal is reached.

    In a numeric task, numbers are among the facts: `(= (fuel t1) 3)`. `cost` is the cost of the steps so far, None if
    the metric has no value.
    """

    step: int
    action: str
    facts: tuple[str, ...]
    added: tuple[str, ...]
    deleted: tuple[str, ...]
    goal_reached: bool
    cost: int | float | None = None


@dataclass(frozen=True)
class SimulationResult:
    """The states of a plan up to its first impossible action, and the actions that are applicable in the last state.

    `fault` is empty if all actions are possible, whether they reach the goal or not. `preferences` are the verdicts
    about preferences if the plan ended there.
    """

    states: tuple[SimulatedState, ...]
    applicable: tuple[str, ...]
    fault: str = ""
    advice: str = ""
    preferences: tuple[PreferenceVerdict, ...] = ()


@dataclass(frozen=True)
class ApplicableResult:
    """The ground actions that are possible in a state."""

    actions: tuple[str, ...]


@dataclass(frozen=True)
class DifferenceResult:
    """The objects, facts and numbers that only one of two states has. Names count: nothing is matched."""

    only_left: tuple[str, ...]
    only_right: tuple[str, ...]


def is_sound(findings: Iterable[Finding]) -> bool:
    return not any(finding.severity == "error" for finding in findings)
