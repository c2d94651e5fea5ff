"""The functions for PDDL files: `check`, `repair`, `solve`, `validate`, `simulate` and `compare`.

Python (`pddlego.check` …), the command line and the MCP server call the same functions. A file is given as its text,
its path, or the value that was read from it. A text is a path if it is one word that ends in `.pddl` or `.plan`, or
names an existing file.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from pddlego.errors import PddlegoError, UsageError
from pddlego.pddl import Atom, Defect, DefectKind, Domain, PddlSyntaxError, Problem
from pddlego.pddl.check import check as check_problem
from pddlego.pddl.check import check_domain, check_reading
from pddlego.pddl.conditions import Term
from pddlego.pddl.costs import needs_time
from pddlego.pddl.domain import MAX_TYPES, DomainReading, read_domain
from pddlego.pddl.numbers import TOTAL_TIME
from pddlego.pddl.portable import as_errors, checked_domain, is_numeric_problem, problem_refusals
from pddlego.pddl.problem import Metric, read_problem
from pddlego.pddl.rules import Level, Position
from pddlego.pddl.sexpr import LINE_BREAK, TOKEN
from pddlego.planning import Plan, PlanResult, PlanStatus, Search
from pddlego.planning import validate as validate_plan
from pddlego.planning.checked import checked_problem
from pddlego.planning.numbers import HugeNumberError, shown
from pddlego.planning.result import LEAST_COST, NO_PLAN, NOT_SEARCHED, SEARCH_NAMES, TOO_DEEP, WhyNoPlan
from pddlego.planning.state import State
from pddlego.planning.validate import FaultKind, PlanFault, as_number, plan_cost
from pddlego.planning.world import Simulator, World
from pddlego.util.files import read_source, read_text
from pddlego.util.text import one_line, suggestion

if TYPE_CHECKING:  # what only some of the functions need is imported there: `check` is used from shells and editors
    from pddlego.pddl.tolerant.files import Repair, Repaired
    from pddlego.planning.compare import Comparison
    from pddlego.planning.plan_text import PlanReading

DomainFile: TypeAlias = "str | Path | Domain"
ProblemFile: TypeAlias = "str | Path | Problem"
PlanFile: TypeAlias = "str | Path | Plan | Sequence[str]"

Part = Literal["domain", "problem", "plan"]

WHY_SECONDS = 5.0
"""The default time for finding out why there is no plan."""

EXPLORATION = "exploration"
"""The engine of a proof that no plan exists, if only the search for the reasons proved it."""

SKIPPED = "skipped-text"
"""The rule of the warning about lines of a plan's text that are not steps."""

_ADVICE = {
    DefectKind.SYNTAX: "Write it as the documentation of PDDL says.",
    DefectKind.MISSING_SECTION: "Add the section.",
    DefectKind.BAD_NAME: "Rename it.",
    DefectKind.ARITY: "Write these arguments, or change the declaration.",
    DefectKind.ARGUMENT_TYPE: "Use a name of that type, or change the type of one of both.",
    DefectKind.DUPLICATE_OBJECT: "Remove one of the two.",
    DefectKind.NOT_SUPPORTED: "Write the file without it.",
    DefectKind.IGNORED_METRIC: "Remove it, or minimize (total-cost).",
    DefectKind.TOO_LARGE: "Make it smaller.",
}
"""Advice for defects whose message does not contain it."""

_SYNTAX_ADVICE = {
    "closing one(s) missing": "Close it where it should end.",
    "closing one(s) too many": "Remove it.",
    "nested more than": "Simplify the condition.",
    "takes": "Write as many, several conditions or effects as one (and …).",
    "the type is missing": "Write a type there, or remove the hyphen.",
    "is not a number": "Write a number, such as 3.",
    "exactly one condition": "Put all conditions into one (and …).",
    "'define'": "Close the parenthesis before it.",
    "was found": "Begin the file with it.",
    "is not a section": "Remove it, or put it into a section.",
}
"""Advice for defects of the syntax, by words in their messages."""

_REMEDY = re.compile(
    r"(?:; |[:,] (?=(?:write|give|keep|leave|add|remove|rename|simplify|use|make) ))(?!.*; )(.+)\Z", re.DOTALL
)
"""The advice at the end of a message."""


@dataclass(frozen=True)
class Finding:
    """An error or a warning in a file; `path` is its name, empty for a text or a value.

    `line` and `column` count from 1 and `source` is that line of the file; for what concerns the whole file they are 1
    and `source` is empty. The word or list ends before `end_column`. `rule` is the rule's id in the documentation.
    `where` is the beginning of the message, if that names the place and not the fault.
    """

    file: Part
    line: int
    column: int
    severity: Literal["error", "warning"]
    rule: str
    message: str
    advice: str
    source: str = ""
    end_column: int = 1
    path: str = ""
    where: str = ""


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
        return CheckResult(_is_sound(self.findings), self.findings, self.cost)


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
    Without a plan, `why` is what a search knows of the parts of the goal, and `findings` are what `check` finds.
    `others` are further plans, each without an action of every plan before it.
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


@dataclass(frozen=True)
class ValidationResult:
    """Whether a plan works, and its cost; else the fault of the plan and the step that has it.

    Steps are counted from 1 in the order of execution; None for the goal, and for a plan that cannot be read. `note`
    describes skipped lines of the plan's text.
    """

    valid: bool
    cost: int | float | None = None
    step: int | None = None
    rule: str = ""
    message: str = ""
    advice: str = ""
    note: str = ""


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

    `fault` is empty if all actions are possible, whether they reach the goal or not.
    """

    states: tuple[SimulatedState, ...]
    applicable: tuple[str, ...]
    fault: str = ""
    advice: str = ""


@dataclass(frozen=True)
class ApplicableResult:
    """The ground actions that are possible in a state."""

    actions: tuple[str, ...]


@dataclass(frozen=True)
class DifferenceResult:
    """The objects, facts and numbers that only one of two states has. Names count: nothing is matched."""

    only_left: tuple[str, ...]
    only_right: tuple[str, ...]


def check(domain: DomainFile, problem: ProblemFile | None = None, plan: PlanFile | None = None) -> CheckResult:
    """Find the errors and warnings in a domain, a problem of the domain and a plan for the problem.

    The problem is checked as far as errors of the domain allow, and the plan if the problem has no errors. Raises
    `UsageError` for a path that cannot be read, and for a plan without a problem.
    """
    return check_files(domain, problem, plan).result


def check_files(domain: DomainFile, problem: ProblemFile | None = None, plan: PlanFile | None = None) -> CheckedFiles:
    """Check files like `check`, and return the values of the files without errors, too."""
    if plan is not None and problem is None:
        raise UsageError("A plan needs a problem", "A plan is for one problem.", "Name domain and problem.")
    paths = {
        part: str(file) for part, file in zip(get_args(Part), (domain, problem, plan), strict=True) if is_path(file)
    }
    checked = _checked_files(domain, problem, plan)
    named = tuple(replace(finding, path=paths.get(finding.file, "")) for finding in checked.findings)
    return replace(checked, findings=named)


def _checked_files(domain: DomainFile, problem: ProblemFile | None, plan: PlanFile | None) -> CheckedFiles:
    sources = _text(domain, read_source), None if problem is None else _text(problem, read_source)
    texts = *sources, "" if plan is None else _text(plan)
    with _limited_depth():
        checked = _checked_texts(texts[0], texts[1])
        if plan is None:
            return checked
        if checked.domain is None or checked.problem is None:
            finding = _not_checked("plan", "problem" if checked.domain else "domain")
            return replace(checked, findings=(*checked.findings, finding))
        findings, sound = _checked_plan(checked.domain, checked.problem, plan, texts[2])
        cost = None if sound is None else plan_cost(checked.domain, checked.problem, sound)
        return replace(checked, findings=(*checked.findings, *findings), plan=sound, cost=cost)


def repair(text: str | Path, domain: DomainFile | None = None) -> RepairResult:
    """Repair a domain or a problem by a model, or an answer with both, as far as this needs no guess.

    A text without errors stays as it is. With the `domain` of a problem, which is not changed, more can be repaired and
    checked; `repair_files` repairs both. Raises `UsageError` for a path that cannot be read, or a `domain` that is not
    valid.
    """
    from pddlego.pddl.tolerant.files import repair as repair_pair
    from pddlego.pddl.tolerant.files import repair_problem
    from pddlego.util.answers import spoken

    content = _text(text, read_source)
    if domain is not None:
        value = read_domain_file(domain, Level.TIME)
        repaired = repair_problem(value.text or value.canonical, content, Level.TIME, moves=False)
        in_domain = (" is a predicate", " is a type")  # declarations in the domain, which stays as it is
        repairs = tuple(repair for repair in repaired.repairs if not repair.what.endswith(in_domain))
        return _repaired_problem(replace(repaired, repairs=repairs), value, content)
    with_domain = re.search(r"\(\s*define\s*\(\s*domain\b", spoken(content), re.IGNORECASE) is not None
    with_problem = is_problem(spoken(content))
    if with_domain and with_problem:
        first, second = _repaired_pair(content, content)
        both = f"{first.text.rstrip()}\n\n{second.text}"
        return RepairResult(first.ok and second.ok, both, first.repairs, (*first.findings, *second.findings))
    if with_problem:
        return _repaired_problem(repair_pair("", content, Level.TIME), None, content)
    return _repaired_domain(repair_pair(content, "", Level.TIME), content)[0]


def is_problem(text: str) -> bool:
    """Whether a text is meant as a problem rather than as a domain."""
    return re.search(r"\(\s*problem\b", text, re.IGNORECASE) is not None


def repair_files(domain: str | Path, problem: str | Path) -> tuple[RepairResult, RepairResult]:
    """Repair a domain and a problem that a model wrote together: misplaced parts are moved to the other file."""
    return _repaired_pair(_text(domain, read_source), _text(problem, read_source))


def _repaired_pair(domain: str, problem: str) -> tuple[RepairResult, RepairResult]:
    from pddlego.pddl.tolerant.files import repair as repair_pair

    repaired = repair_pair(domain, problem, Level.TIME)
    first, value = _repaired_domain(repaired, domain)
    if value is None:
        return first, RepairResult(False, repaired.problem, (), (_not_checked("problem", "domain"),))
    return first, _repaired_problem(replace(repaired, repairs=()), value, problem)


def _repaired_domain(repaired: Repaired, given: str) -> tuple[RepairResult, Domain | None]:
    checked = checked_domain(repaired.domain, Level.TIME, numeric_task=is_numeric_problem(repaired.problem))
    findings = tuple(_findings("domain", checked.defects, given, repaired.domain_place))
    return _repair_result(repaired.domain, repaired.repairs, findings), checked.domain


def _repaired_problem(repaired: Repaired, domain: Domain | None, given: str) -> RepairResult:
    if domain is not None:
        defects = checked_problem(domain, repaired.problem, Level.TIME).defects
    else:
        reading = read_problem(repaired.problem)
        defects = (
            *reading.defects,
            *problem_refusals(reading, Level.TIME, is_numeric_problem(repaired.problem)),
            *reading.missing_sections(),
        )
    findings = tuple(_findings("problem", defects, given, repaired.problem_place))
    return _repair_result(repaired.problem, repaired.repairs, findings)


def _repair_result(text: str, repairs: tuple[Repair, ...], findings: tuple[Finding, ...]) -> RepairResult:
    return RepairResult(_is_sound(findings), text, tuple(map(str, repairs)), findings)


def solve(
    domain: DomainFile,
    problem: ProblemFile,
    *,
    planner: str = "auto",
    search: str = "gbf(hff)",
    seconds: float = 30.0,
    memory: int = 4096,
    why_seconds: float = WHY_SECONDS,
    plans: int = 1,
    before_reasons: Callable[[SolveResult], object] | None = None,
) -> SolveResult:
    """Find a plan in a process of its own, within `seconds` and with at most `memory` MiB.

    Without a plan, a search looks for the reasons for up to `why_seconds`; 0: no search. `before_reasons` is called
    before it with the result so far. Up to `plans` plans are found; all but the first within another `seconds`.

    `status` is `solved`, `already true` (an empty plan), `unsolvable`, `invalid`, `timeout`, `out of memory` or
    `crashed`. Raises `UsageError` for invalid files and for an unknown planner or search.
    """
    from pddlego.planning.alternatives import other_plans
    from pddlego.planning.engines import check_search
    from pddlego.planning.process import make_planner

    try:
        parsed_search = Search.parse(search, "auto")
    except ValueError as error:
        advice = suggestion(search, SEARCH_NAMES, "Example: gbf(hff).")
        raise UsageError(f"The search {search} is not possible", f"{error}.", advice) from error
    check_search(planner, parsed_search, "The call")
    value = read_domain_file(domain, Level.TIME)
    task = read_problem_file(value, problem, Level.TIME, domain)
    with make_planner(planner, seconds, memory) as made:
        result = made.solve(value, task, parsed_search)
        solved = solve_result(result, parsed_search)
        if why_seconds > 0 and result.status in (PlanStatus.UNSOLVABLE, *_UNDECIDED):
            from pddlego.planning.why import why_no_plan

            if before_reasons is not None:
                before_reasons(solved)
            why = why_no_plan(made, value, task, result, why_seconds)
            if why.plan is None:
                if why.is_proof and result.status is not PlanStatus.UNSOLVABLE:
                    solved = replace(solved, status=PlanStatus.UNSOLVABLE.value, message=NO_PLAN, engine=EXPLORATION)
                return replace(solved, why=why, findings=check(domain, problem).findings)
            explored = replace(result, status=PlanStatus.SOLVED, message="", engine=EXPLORATION, plan=why.plan)
            solved = solve_result(replace(explored, cost=plan_cost(value, task, why.plan)))
        if plans > 1 and result.plan is not None:
            others, complete = other_plans(made, value, task, parsed_search, result, number=plans - 1, seconds=seconds)
            further = tuple(OtherPlan(other.plan or (), other.cost) for other in map(solve_result, others))
            end = "no other plan was found, which is no proof that none exists"
            if complete:
                end = "every other plan has all actions of one of these"
            solved = replace(solved, others=further, message="" if len(further) == plans - 1 else end)
    if solved.plan is None or solved.optimal or task.metric is None:
        return solved
    reason = _why_not_proved(planner, parsed_search, task.metric)
    return replace(solved, note=f"the cost is not proved to be {task.metric.best}: {reason}")


def _why_not_proved(planner: str, search: Search, metric: Metric) -> str:
    """Why a plan is not proved to be the best by a metric."""
    if metric.direction == "maximize":
        return NOT_SEARCHED
    if search.proves_least_cost:
        return f"{planner} found no better plan, which is no proof; give it more time, or use the planner auto"
    other = " with the planner auto" if planner in ("mimir", "kairos") else ""  # mimir has no optimal search
    return f"{search} does not minimize it; the search {LEAST_COST} does{other}"


_UNDECIDED = (PlanStatus.TIMEOUT, PlanStatus.MEMORY, PlanStatus.BOUND)
"""The endings of a planning call after which it is unknown whether a plan exists."""


def solve_result(result: PlanResult, search: Search | None = None) -> SolveResult:
    """The result of a planning call. `search` is the search that found the plan, if one did."""
    already = result.status is PlanStatus.ALREADY_TRUE
    plan = Plan(()) if already else result.plan
    return SolveResult(
        result.status.value,
        None if plan is None else tuple(map(str, plan.timed or plan.steps)),
        0 if already else result.cost,
        result.engine,
        result.message,
        round(result.seconds, 3),
        optimal=already or (plan is not None and _is_optimal(plan, search)),
    )


def _is_optimal(plan: Plan, search: Search | None) -> bool:
    return plan.optimal if plan.optimal is not None else search is not None and search.proves_least_cost


def validate(domain: DomainFile, problem: ProblemFile, plan: PlanFile) -> ValidationResult:
    """Execute a plan, and report its fault or its cost. A text that cannot be read is not a valid plan.

    Raises `UsageError` for an invalid domain or problem, and for a path that cannot be read; `PddlegoError` if a step
    has more cases than can be evaluated.
    """
    value = read_domain_file(domain, Level.TIME)
    task = read_problem_file(value, problem, Level.TIME, domain)
    try:
        reading = _read_plan(value, task, plan)
    except PddlSyntaxError as error:
        more = f" (and {len(error.faults) - 1} more)" if len(error.faults) > 1 else ""
        what, advice = _plan_parted(error.defects[0], value, task)
        message = f"the plan cannot be read: {what}{more}"
        return ValidationResult(False, rule=DefectKind.SYNTAX.id, message=message, advice=advice)
    with _limited_depth():
        fault = validate_plan(value, task, reading.plan)
    if fault is None:
        return ValidationResult(True, plan_cost(value, task, reading.plan), note=reading.note)
    if fault.kind is FaultKind.TOO_LARGE:
        advice = "Use fewer variables or fewer objects."
        raise PddlegoError("The plan cannot be judged", f"{_fault_text(fault)}.", advice)
    return ValidationResult(
        False,
        step=None if fault.time is None else fault.time + 1,
        rule=_rule(fault),
        message=_fault_text(fault),
        advice=_fault_advice(fault),
        note=reading.note,
    )


def simulate(domain: DomainFile, problem: ProblemFile, plan: PlanFile = "") -> SimulationResult:
    """Execute a plan step by step.

    Raises `UsageError` for invalid files, and `PddlegoError` for a state with more cases than can be evaluated.
    """
    value = read_domain_file(domain, Level.NUMBERS)
    task = read_problem_file(value, problem, Level.NUMBERS, domain)
    try:
        steps = _read_plan(value, task, plan).plan
    except PddlSyntaxError as error:
        raise _invalid("plan", plan, error.faults, before=(domain, problem)) from error
    with _limited_depth():
        world = World(value, task)
        simulator = Simulator(world, world.initial)
        states = [_state(simulator, task, 0, "", State())]
        fault = validate_plan(value, task, steps)
        spent = Fraction(0)
        possible = len(steps) if fault is None or fault.time is None else fault.time
        for number, step in enumerate(steps.steps[:possible], start=1):
            before = simulator.state.copy()
            world.work.renew()
            simulator.do(step)
            spent += world.cost(step)
            cost = _metric_value(world, task, simulator.state, number) if world.is_numeric and task.metric else spent
            states.append(
                replace(
                    _state(simulator, task, number, str(step), before), cost=None if cost is None else as_number(cost)
                )
            )
        world.work.renew()
        applicable = tuple(map(str, simulator.applicable()))
    if fault is None or fault.time is None:
        return SimulationResult(tuple(states), applicable)
    return SimulationResult(tuple(states), applicable, _fault_text(fault), _fault_advice(fault))


def applicable(domain: DomainFile, problem: ProblemFile, plan: PlanFile = "", action: str = "") -> ApplicableResult:
    """The ground actions that are possible after a plan, of one `action` if it is named.

    Raises `UsageError` for invalid files, a plan that fails, and an action that the domain does not have.
    """
    value = read_domain_file(domain, Level.NUMBERS)
    name, known = action.strip("() \n").lower(), [schema.name for schema in value.actions]
    if name and name not in known:
        raise UsageError(f"The domain has no action {name}", f"It has: {', '.join(known)}.", "Name one, or none.")
    result = simulate(value, problem, plan)
    if result.fault:
        raise UsageError("The plan fails", result.fault, "Pass the steps before it.")
    return ApplicableResult(tuple(a for a in result.applicable if not name or a.strip("()").split(" ")[0] == name))


def difference(domain: DomainFile, left: ProblemFile, right: ProblemFile) -> DifferenceResult:
    """The objects, facts and numbers of `:init` that only one of two problems has. Raises `UsageError`."""
    from pddlego.pddl.edit import edit_between

    value = read_domain_file(domain, Level.NUMBERS)
    edit = edit_between(*(read_problem_file(value, file, Level.NUMBERS, domain) for file in (left, right)))
    return DifferenceResult((*edit.objects.delete, *edit.init.delete), (*edit.objects.add, *edit.init.add))


def compare(domain: DomainFile, left: ProblemFile | Domain, right: ProblemFile | None = None) -> Comparison:
    """Whether two problems of a domain are equal; without `right`, whether `domain` and `left` are equal domains.

    Raises `UsageError` for invalid files.
    """
    from pddlego.planning import compare as comparing

    value = read_domain_file(domain, Level.NUMBERS)
    if right is None or isinstance(left, Domain):
        assert not isinstance(left, Problem)
        return comparing.compare_domains(value, read_domain_file(left, Level.NUMBERS))
    with _limited_depth():
        problems = (read_problem_file(value, file, Level.NUMBERS, domain) for file in (left, right))
        return comparing.compare_problems(value, *problems)


@contextlib.contextmanager
def _limited_depth() -> Iterator[None]:
    """Raise `UsageError` for files that are nested more deeply than Python's stack allows."""
    try:
        yield
    except RecursionError as error:
        raise UsageError("The files are too deep", f"{TOO_DEEP}.", "Simplify them.") from error


# reading


def _text(file: object, read: Callable[[Path], str] = read_text) -> str:
    """The text of a file. Raises `UsageError` if it cannot be read."""
    if isinstance(file, Domain):
        return file.text or file.canonical
    if is_path(file):
        return read(Path(str(file)))
    if isinstance(file, (list, tuple)):
        return "\n".join(map(str, file))
    if not isinstance(file, (str, Problem, Plan)):
        reason = f"It is of the type {type(file).__name__}."
        raise UsageError("A file is not a text, a path or a value", reason, "Pass the text, or the path as a Path.")
    return str(file)


def read_domain_file(file: DomainFile, level: Level = Level.CLASSICAL) -> Domain:
    """A domain without errors. Raises `UsageError`. For `level` see `pddl.check`."""
    if isinstance(file, Domain) and (level >= Level.TIME or not file.durative):
        return file
    reading = DomainReading(file) if isinstance(file, Domain) else read_domain(_text(file))
    domain, wrong = reading.domain, [defect.message for defect in reading.defects if defect.blocking]
    if wrong:
        raise _invalid("domain", file, wrong)
    errors = [defect.message for defect in check_domain(domain, level) if defect.blocking]
    if errors:
        always = [defect.message for defect in check_domain(domain, Level.TIME) if defect.blocking]
        raise _invalid("domain", file, always or errors, None if always else level)
    return domain


def read_problem_file(
    domain: Domain, file: ProblemFile, level: Level = Level.CLASSICAL, domain_file: DomainFile = ""
) -> Problem:
    """A problem of a domain without errors. Raises `UsageError`, whose advice names the `domain_file`.

    For `level` see `pddl.check`.
    """
    if isinstance(file, Problem):
        problem, find = file, partial(check_problem, domain, file)
    else:
        reading = read_problem(_text(file))
        problem, find = reading.problem, partial(check_reading, domain, reading)
    errors = [defect.message for defect in find(level) if defect.blocking]
    if errors:
        always = [defect.message for defect in find(Level.TIME) if defect.blocking]
        raise _invalid("problem", file, always or errors, None if always else level, (domain_file,))
    return problem


def _plan_parted(defect: Defect, domain: Domain, problem: Problem) -> tuple[str, str]:
    """The message of a defect of a plan without the advice, and the advice: its own, or how a step is written."""
    from pddlego.planning.plan_text import TIMED_FORM

    what, _, advice = defect.message.rpartition("; ")
    if advice.startswith(("write ", "give ")):
        return what, f"{advice[0].upper()}{advice[1:]}."
    form = "(action object …)" if needs_time(domain, problem) is None else TIMED_FORM
    return defect.message, f"Write one action a line: {form}."


def _read_plan(domain: Domain, problem: Problem, file: PlanFile) -> PlanReading:
    """The plan in a file, and the positions of its steps. Raises `PddlSyntaxError`."""
    from pddlego.planning.plan_text import PlanReading, read_plan

    if isinstance(file, Plan):
        return PlanReading(file, tuple((number, 1) for number in range(1, len(file) + 1)))
    return read_plan(_text(file), domain, problem)


_MOST_NAMED = 3
"""The maximum number of errors that a message lists."""


def _invalid(
    part: Part, file: object, errors: Sequence[str], level: Level | None = None, before: Sequence[object] = ()
) -> UsageError:
    """The error for a file with errors. With a `level`, it is valid, but has numbers or time beyond that level.

    `before` are the files that it depends on.
    """
    name = str(file) if is_path(file) else f"The {part}"
    if level is not None:
        what = "time, which is" if level is Level.NUMBERS else "numbers or time, which are"
        todo = "Use solve (planner auto), check or validate, or a file without them."
        return UsageError(f"{name} has {what} not possible here", f"{errors[0]}.", todo)
    if isinstance(file, str) and file.strip() and not {"(", "\n"} & {*file} and not is_path(file):
        reason = f"'{one_line(file, 60)}' was read as PDDL text: it does not end with .pddl, and no such file exists."
        return UsageError(f"{name} is not valid", reason, "Name a file that exists.")
    what = f"{name} is not {f'a valid {part}' if is_path(file) else 'valid'}"
    more = f" (and {len(errors) - _MOST_NAMED} more)" if len(errors) > _MOST_NAMED else ""
    reason = f"{'; '.join(errors[:_MOST_NAMED])}{more}."
    words = zip(("DOMAIN", "PROBLEM", "--plan PLAN"), (*before, file), strict=False)
    names = ("--plan " * (word[0] == "-") + quote(str(path)) if is_path(path) else word for word, path in words)
    return UsageError(what, reason, f"See: pddlego check {' '.join(names)}.")


def is_path(file: object) -> bool:
    """Whether a value is a path: a `Path`, a name like `a.pddl` or `a.plan`, or the name of a file that exists."""
    if isinstance(file, Path) or not isinstance(file, str):
        return isinstance(file, Path)
    if not file.strip() or {"(", "\n", "\0"} & {*file}:
        return False
    if file.lower().endswith((".pddl", ".plan")) and len(file.split()) == 1:
        return True
    try:
        return Path(file).is_file()
    except (OSError, ValueError):  # too long for a name, or not writable as one
        return False


# findings


def _is_sound(findings: Iterable[Finding]) -> bool:
    return not any(finding.severity == "error" for finding in findings)


def _checked_texts(domain: str, problem: str | None) -> CheckedFiles:
    checked = checked_domain(domain, Level.TIME, numeric_task=is_numeric_problem(problem or ""))
    in_domain = tuple(_findings("domain", checked.defects, domain))
    if problem is None:
        return CheckedFiles(in_domain, checked.domain)
    readable, task = checked.domain or _readable(domain), None
    defects: Iterable[Defect]
    if checked.domain is not None:
        task, defects = (
            (checked_file := checked_problem(checked.domain, problem, Level.TIME)).problem,
            checked_file.defects,
        )
    elif readable is not None:
        found = check_reading(readable, read_problem(problem), Level.TIME)
        types = [(DefectKind.UNDECLARED_TYPE, defect.word) for defect in checked.defects]
        errors = (defect for defect in as_errors(problem, found) if defect.blocking)
        defects = [defect for defect in errors if (defect.kind, defect.word) not in types]
    else:
        reading = read_problem(problem)
        defects = [*reading.defects, *reading.missing_sections()]
    return CheckedFiles((*in_domain, *_findings("problem", defects, problem)), checked.domain, task)


def _readable(text: str) -> Domain | None:
    """The domain of a text, which may have errors; None with syntax errors or too many types."""
    reading = read_domain(text)
    unreadable = any(defect.blocking for defect in reading.defects) or len(reading.domain.supertypes) > MAX_TYPES
    return None if unreadable else reading.domain


_MOST_SOURCE = 1000
"""The maximum length of a line that a finding quotes."""


def _findings(
    part: Part, defects: Iterable[Defect], text: str, place_in: Callable[[Position], Position] = lambda place: place
) -> Iterator[Finding]:
    """Defects as findings that quote a text; `place_in` converts the position of a defect for that text."""
    lines = LINE_BREAK.split(text)
    for defect in defects:
        message, advice = _parted(defect)
        line, column = place_in(defect.place) if defect.place else (1, 1)
        yield Finding(
            part,
            line,
            column,
            severity="error" if defect.blocking else "warning",
            rule=defect.kind.id,
            message=message,
            advice=advice[:1].upper() + advice[1:],
            source=_quoted(lines, line) if defect.place else "",
            end_column=_end_column(lines, line, column, defect.word.count(" ") + 1) if defect.place else 1,
            where=defect.where.removesuffix(": "),
        )


def _end_column(lines: Sequence[str], line: int, column: int, count: int = 1) -> int:
    """The column behind `count` words or lists from a position on, or behind the line if the last one goes on."""
    depth, source = 0, lines[line - 1] if line <= len(lines) else ""
    for token in TOKEN.finditer(source, column - 1):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        count -= depth < 1
        if not count:
            return token.end() + 1
    return len(source) + 1


def _quoted(lines: Sequence[str], line: int) -> str:
    source = lines[line - 1] if line <= len(lines) else ""
    return source if len(source) <= _MOST_SOURCE else ""


def _parted(defect: Defect) -> tuple[str, str]:
    """The message of a defect without the advice at its end, and the advice."""
    remedy = None if defect.message.startswith("unbalanced") else _REMEDY.search(defect.message)
    if remedy is not None:
        return defect.message[: remedy.start()], remedy[1]
    if defect.message.startswith("write "):
        return defect.message, defect.message
    advice = _ADVICE.get(defect.kind, "Correct it.")
    if defect.kind is DefectKind.SYNTAX:
        advice = next((text for words, text in _SYNTAX_ADVICE.items() if words in defect.message), advice)
    return defect.message, advice


def _checked_plan(domain: Domain, problem: Problem, file: PlanFile, text: str) -> tuple[list[Finding], Plan | None]:
    """The findings in a plan, and the plan if it works."""
    lines, findings = LINE_BREAK.split(text), list[Finding]()

    def add(place: Position | None, rule: str, message: str, advice: str) -> None:
        line, column = place or (1, 1)
        severity: Literal["error", "warning"] = "warning" if rule == SKIPPED else "error"
        source = _quoted(lines, line)
        end = _end_column(lines, line, column) if place else 1
        finding = Finding("plan", line, column, severity, rule=rule, message=message, advice=advice, source=source)
        finding = replace(finding, end_column=end)
        findings.append(finding)

    try:
        reading = _read_plan(domain, problem, file)
    except PddlSyntaxError as error:
        for defect in error.defects:
            add(defect.place, defect.kind.id, *_plan_parted(defect, domain, problem))
        return findings, None
    fault = validate_plan(domain, problem, reading.plan)
    if fault is not None:
        place = reading.places[-1 if fault.time is None else fault.time] if reading.places else None
        remedy = _fault_advice(fault) or "Use an action and objects that are declared."
        add(place, _rule(fault), _fault_text(fault), remedy)
    if reading.note:
        one_plan = "Write one plan, without other text, if more of the lines were meant as steps of it."
        add(None, SKIPPED, reading.note, one_plan)
    return findings, reading.plan if fault is None else None


def _rule(fault: PlanFault) -> str:
    return fault.kind.value.replace(" ", "-")


def _fault_text(fault: PlanFault) -> str:
    """The text of a fault, with the number of its step."""
    if fault.time is None:
        return fault.what
    return f"step {fault.time + 1}: {fault.what.replace(f' at time {fault.time}', '')}"


def _fault_advice(fault: PlanFault) -> str:
    """The advice of a fault without the parentheses that VAL writes around it."""
    return fault.advice[1:-1].rstrip() if fault.advice.startswith("(") else fault.advice


def _not_checked(part: Part, cause: Part) -> Finding:
    message = f"the {part} was not checked, because the {cause} has errors"
    return Finding(part, 1, 1, severity="error", rule="not-checked", message=message, advice=f"Fix the {cause} first.")


def _state(simulator: Simulator, problem: Problem, number: int, action: str, before: State) -> SimulatedState:
    world, now = simulator.world, simulator.state
    reached = world.holds(problem.goal, now, {})
    constants = world.values if world.is_numeric else {}
    texts = [_shown(now.facts, {**constants, **now.numbers})]
    for one, other in ((now, before), (before, now)) if number else ():
        changed = {term: value for term, value in one.numbers.items() if other.numbers.get(term) != value}
        texts.append(_shown(one.facts - other.facts, changed))
    facts, added, deleted = texts if number else (*texts, (), ())
    return SimulatedState(number, action, facts, added, deleted, goal_reached=reached)


def _metric_value(world: World, problem: Problem, state: State, steps: int) -> Fraction | None:
    """The value of the metric after some steps; None without one."""
    assert problem.metric is not None
    numbers = {**state.numbers, TOTAL_TIME: Fraction(steps)}
    with contextlib.suppress(HugeNumberError):
        return world.value(problem.metric.term, State(state.facts, numbers), {})
    return None


def _shown(facts: AbstractSet[Atom], numbers: Mapping[Term, Fraction]) -> tuple[str, ...]:
    """Facts and numbers such as `(= (fuel t1) 3)`, sorted."""
    return tuple(sorted((*map(str, facts), *(f"(= {term} {shown(value)})" for term, value in numbers.items()))))
