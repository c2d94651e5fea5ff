"""Runs a program on a task, and classifies the result as in the paper (Silver et al., 2024, section 3)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any

from pddlego.errors import UsageError
from pddlego.methods.programs.events import EVENTS, SOLVED, Evaluated, ProgramWritten
from pddlego.pddl import Domain
from pddlego.pddl.conditions import And, number
from pddlego.pddl.sexpr import Sexpr, read_sexprs
from pddlego.planning import Plan, PlanStep, validate
from pddlego.planning.validation.fault import FaultKind, PlanFault
from pddlego.runs.folders import find_journal
from pddlego.runs.journal import Codec, read_journal
from pddlego.sandbox import CallResult, Sandbox, SandboxLimits, Status
from pddlego.sandbox.jail.values import LARGEST
from pddlego.tasks import Task
from pddlego.util.answers import python_blocks, spoken
from pddlego.util.files import read_text

MOST_ACTIONS = 100_000
"""The maximum length of a plan that is validated, which takes seconds."""

_BEFORE, _AFTER = 40, 5
"""The numbers of actions before and after a failing action that a prompt shows."""

_SHOWN, _WHOLE = 2_000, 200_000
"""Maximum characters of a text in a prompt; `_WHOLE` where the paper's code shows the whole text."""

_ACTION = re.compile(r"\(\s*([^\s()]+)((?:\s+[^\s()]+)*)\s*\)\Z")


class TrialKind(str, Enum):
    """The kinds of results of a program on a task. All kinds but `SOLVED` are failures."""

    SOLVED = SOLVED
    EXCEPTION = "python exception"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    NO_PLAN = "output not a plan"
    SYNTAX = "operator syntax"
    SEMANTICS = "plan semantics"


@dataclass(frozen=True)
class Trial:
    """The result of a program on one task: a one-line `message`, and details for a prompt.

    `unreadable` is true if the text is not Python. `plan` is None unless the plan is valid.
    """

    kind: TrialKind
    message: str = ""
    seconds: float = 0.0
    length: int = 0
    traceback: str = ""
    shown: str = ""
    action: str = ""
    time: int = 0
    reason: str = ""
    advice: str = ""
    unreadable: bool = False
    plan: Plan | None = field(default=None, repr=False)

    @property
    def solved(self) -> bool:
        return self.kind is TrialKind.SOLVED


def arguments_of(domain: Domain, task: Task, numeric: bool = False) -> tuple[Any, ...]:
    """The arguments of `get_plan`: objects (with their types, if the domain has types), facts and goals, as tuples.

    In a `numeric` task also the numbers of `:init`, costs included: `{("fuel", "t1"): 8}`.
    """
    problem = task.problem
    objects_in_order = sorted((*domain.constants, *problem.objects), key=lambda obj: obj.name)
    objects = {(obj.name, obj.type) if domain.supertypes else obj.name for obj in objects_in_order}
    init = {(fact.predicate, *fact.args) for fact in problem.sorted_facts()}
    goal = problem.goal
    parts = goal.parts if isinstance(goal, And) else (goal,)
    goals = {_tuples(read_sexprs(str(part)).expressions[0]) for part in parts}
    if not numeric:
        return objects, init, goals
    numbers = {
        (value.left.head, *(arg.head for arg in value.left.parts or ())): _tuples(str(value.right))
        for value in problem.values
    }
    return objects, init, goals, dict(sorted(numbers.items()))


def _tuples(part: Sexpr) -> Any:
    """Lists as tuples, and numbers as values of JSON, which the sandbox gets: `int` if whole and not too large."""
    if not isinstance(part, str):
        return tuple(map(_tuples, part))
    value = number(part)
    if value is None:
        return part
    return int(value) if value.denominator == 1 and abs(value) < LARGEST else float(part)


def attempt(
    sandbox: Sandbox,
    program: str,
    domain: Domain,
    task: Task,
    limits: SandboxLimits,
    whole: bool,
    numeric: bool = False,
) -> Trial:
    """Run the program on a task in a process of its own, and validate the plan in this process.

    With `whole`, the details contain the whole value that the program returned, as in the paper's code. The program of
    a `numeric` domain gets the numbers, too.
    """
    with sandbox.open(program, limits) as session:
        result = session.loaded
        if not result.returned:
            return _failed(result)
        loading = result.seconds
        left = max(0.0, limits.seconds - loading)  # one limit for loading and planning together
        result = session.call("get_plan", *arguments_of(domain, task, numeric), seconds=left)
        late = f"it took longer than {limits.seconds:g} seconds"
        message = late if result.status is Status.TIMEOUT else result.message
        result = replace(result, seconds=loading + result.seconds, message=message)
    if not result.returned:
        return _failed(result)
    return judged(result.value, result.seconds, domain, task, whole)


def _failed(result: CallResult) -> Trial:
    kinds = {Status.TIMEOUT: TrialKind.TIMEOUT, Status.MEMORY: TrialKind.MEMORY, Status.TOO_LARGE: TrialKind.NO_PLAN}
    kind = kinds.get(result.status, TrialKind.EXCEPTION)
    trace = result.traceback or (result.message if kind is TrialKind.EXCEPTION else "")
    return Trial(kind, result.message, result.seconds, traceback=trace, unreadable=result.unreadable)


def judged(value: Any, seconds: float, domain: Domain, task: Task, whole: bool) -> Trial:
    """The result for a value that a program returned."""
    if not isinstance(value, list):
        shown = _cut(repr(value), _WHOLE if whole else _SHOWN)
        return Trial(TrialKind.NO_PLAN, f"returned {shown[:80]}, which is not a list", seconds, shown=shown)
    if len(value) > MOST_ACTIONS:
        return Trial(TrialKind.NO_PLAN, f"returned {len(value):,} actions, more than can be looked at", seconds)
    steps: list[PlanStep] = []
    for time, action in enumerate(value):
        step = read_action(action, strict=whole)
        reason = "it is not a string '(action object …)'" if step is None else _why_not(domain, step)
        if step is None or reason:
            text = _cut(str(action))
            return Trial(
                TrialKind.SYNTAX,
                f"{text[:60]} at step {time}: {_cut(reason)}",
                seconds,
                len(value),
                shown=shown_plan(value, time, whole),
                action=text,
                time=time,
                reason=_cut(reason),
            )
        steps.append(step)
    fault = validate(domain, task.problem, Plan(tuple(steps)))
    if fault is None:
        return Trial(TrialKind.SOLVED, "", seconds, len(steps), plan=Plan(tuple(steps)))
    return _invalid(fault, value, seconds, whole)


def read_action(action: object, strict: bool = False) -> PlanStep | None:
    """Parse an action; None for other strings. A `strict` reader does not normalize blanks or case."""
    if strict:
        if not isinstance(action, str) or not (action.startswith("(") and action.endswith(")")):
            return None
        name, *args = action[1:-1].split(" ")
        return PlanStep(name, tuple(arg.lower() for arg in args))
    match = _ACTION.match(action.strip().lower()) if isinstance(action, str) else None
    return PlanStep(match.group(1), tuple(match.group(2).split())) if match else None


def _why_not(domain: Domain, step: PlanStep) -> str:
    """The reason why a step is not an action of the domain; empty if name and number of arguments are right."""
    action = domain.actions_by_name.get(step.action)
    if action is None:
        return f"unknown operator {step.action}"
    wanted = len(action.parameters)
    return "" if len(step.args) == wanted else f"{step.action} takes {wanted} argument(s)"


def _invalid(fault: PlanFault, value: list[Any], seconds: float, whole: bool) -> Trial:
    time = len(value) - 1 if fault.time is None else fault.time
    # The validator VAL, which the paper's prompts quote, reports only preconditions and goals.
    nameless = whole and fault.kind not in (FaultKind.PRECONDITION, FaultKind.GOAL)
    return Trial(
        TrialKind.SEMANTICS,
        _cut(fault.what),
        seconds,
        len(value),
        shown=shown_plan(value, time, whole),
        action=_cut(str(fault.step or "")),
        time=time,
        reason="" if nameless else _cut(fault.what),
        advice=_cut(fault.val_advice if whole else fault.advice),
    )


def _cut(text: str, most: int = _SHOWN) -> str:
    """A text of a program, cut after `most` characters."""
    return text if len(text) <= most else f"{text[:most]} …"


def shown_plan(plan: list[Any], time: int, whole: bool = False) -> str:
    """A plan as a prompt shows it: the actions around the step at `time`, or the `whole` plan."""
    if whole:
        return _cut(repr(plan), _WHOLE)
    first, last = max(0, time - _BEFORE), time + 1 + _AFTER
    parts = [_cut(repr(step)) for step in plan[first:last]]
    parts = [*(["…"] if first else []), *parts, *(["…"] if last < len(plan) else [])]
    return f"[{', '.join(parts)}]"


def operators(domain: Domain) -> str:
    """The operators with the names of their parameters, sorted by name."""
    forms = (" ".join((action.name, *(one.name for one in action.parameters))) for action in domain.actions)
    return " ".join(f"({form})" for form in sorted(forms))


_PAPER_MARK = "```python"

_BETWEEN = "\n\n\n"

_DEFINES = re.compile(r"^def\s+get_plan\b", re.MULTILINE)


def code_of(answer: str, paper: bool = False, defines: re.Pattern[str] = _DEFINES) -> str:
    """The code in an answer: all blocks up to the first that `defines` the program's function, or else the answer
    without reasoning.

    With `paper`, it is the first block that is marked as Python.
    """
    if paper:
        _, mark, rest = answer.partition(_PAPER_MARK)
        return rest.partition("```")[0] if mark else answer
    text = spoken(answer)
    blocks = python_blocks(text)
    for index, block in enumerate(blocks):
        if defines.search(block):
            return _BETWEEN.join(blocks[: index + 1]).rstrip()
    return _BETWEEN.join(blocks).rstrip() if blocks else text.strip()


def grown(program: str, code: str) -> str:
    """The program with new code appended."""
    return f"{program}{_BETWEEN}{code}" if program else code


def program_in(place: Path) -> str:
    """The text of a Python file, or the program that a run evaluated last. Raises `UsageError` and `JournalError`."""
    if place.is_file() and place.suffix != ".jsonl":
        return read_text(place)
    if not place.exists():
        raise UsageError(f"{place} holds no program", "There is no such file.", "Name a Python file, or a run folder.")
    trace = read_journal(find_journal(place), Codec(lambda method: EVENTS))
    written = [event.text for event in trace.all(ProgramWritten)]
    kept = [event.program for event in trace.all(Evaluated) if event.program]
    if not written:
        reason = "No model wrote one in it."
        raise UsageError(f"{place} holds no program", reason, "Name a Python file, or a run folder.")
    return (kept or written)[-1]
