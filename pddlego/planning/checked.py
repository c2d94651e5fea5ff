"""Checks the text of a problem: reports errors and, if there are no errors, warnings.

Unreachable goals and actions are found by the relaxed reachability of planning graphs: an action that is not possible
even if no fact ever becomes false is never possible. Preconditions other than atoms count only if no action changes
their predicates, so that no possible action is reported.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from fractions import Fraction

from pddlego.errors import TooManyCasesError
from pddlego.pddl import Atom, Defect, DefectKind, Domain, Problem
from pddlego.pddl.check import MAX_DEFECTS, check_reading
from pddlego.pddl.conditions import (
    TRUE,
    And,
    Change,
    Compare,
    Exists,
    Forall,
    Formula,
    Not,
    Renaming,
    Term,
    TypedName,
    When,
    atoms_of,
    changed_atoms,
    conjuncts,
    scope_of,
    walk,
)
from pddlego.pddl.costs import needs_numbers
from pddlego.pddl.domain import Action
from pddlego.pddl.lint import action_names, missing_type, problem_warnings
from pddlego.pddl.numbers import (
    DURATION,
    IS_VIOLATED,
    TOTAL_COST,
    TOTAL_TIME,
    allows_duration,
    changed_fluents,
    duration_bounds,
    fluents_in,
    read_fluents,
)
from pddlego.pddl.portable import as_errors, problem_refusals
from pddlego.pddl.problem import Metric, ProblemReading, read_problem
from pddlego.pddl.rules import Level, warning
from pddlego.planning.numbers import HugeNumberError, shown
from pddlego.planning.result import NOTHING_THERE, PlanStep
from pddlego.planning.state import State
from pddlego.planning.validation import goal_holds, speaks_of_nothing
from pddlego.planning.world import Simulator, World, ground_term
from pddlego.util.limits import Work
from pddlego.util.text import count


@dataclass(frozen=True)
class CheckedProblem:
    """The problem of a text, and its defects; `problem` is None if the defects make planning impossible."""

    problem: Problem | None
    defects: tuple[Defect, ...]


def checked_problem(domain: Domain, text: str | ProblemReading, level: Level = Level.CLASSICAL) -> CheckedProblem:
    """Check a problem of a sound domain: report errors; without errors, warnings. For `level` see `check`."""
    reading = read_problem(text) if isinstance(text, str) else text
    numeric = needs_numbers(domain, reading.problem) is not None
    refusals = itertools.islice(problem_refusals(reading, level, numeric), MAX_DEFECTS)
    defects = as_errors(reading.plain, (*check_reading(domain, reading, level), *refusals))
    if any(defect.blocking for defect in defects):
        return CheckedProblem(None, defects)
    problem = reading.problem
    warnings = [*problem_warnings(domain, problem, level), *_goal_warnings(domain, problem)]
    explained = any(defect.kind is DefectKind.NEVER_TRUE for defect in warnings)
    work = Work(max(_LEAST_WORK, (len(domain.text) + len(reading.plain)) // _CHARACTERS_PER_STEP))
    defects = as_errors(reading.plain, (*defects, *warnings, *_relaxed_warnings(domain, problem, explained, work)))
    errors = tuple(defect for defect in defects if defect.blocking)
    return CheckedProblem(None, errors) if errors else CheckedProblem(problem, defects[:MAX_DEFECTS])


def _goal_warnings(domain: Domain, problem: Problem) -> Iterator[Defect]:
    if problem.goal == TRUE or problem.later:
        return  # `problem_warnings` reports it, or timed literals may change it
    try:
        if not goal_holds(domain, problem):
            return
        reason = NOTHING_THERE if speaks_of_nothing(domain, problem) else "there is nothing to plan"
    except TooManyCasesError as error:
        fault = f"{error.part or 'the goal'} has too many cases for {count(len(problem.objects), 'object')}"
        advice = "quantify over fewer variables"
        if isinstance(error, HugeNumberError):
            fault, advice = f"{error.part} {error.excess}", "write smaller numbers"
        yield warning(DefectKind.TOO_LARGE, ":goal", fault, advice, problem.goal.place)
        return
    fault, advice = f"the goal is already true in the initial state: {reason}", "use a goal that is not yet true"
    yield warning(DefectKind.GOAL_TRUE, ":goal", fault, advice, problem.goal.place)


_LEAST_WORK, _CHARACTERS_PER_STEP = 20_000, 4
"""The limit of an exploration, in facts and bindings: 20,000, a tenth of a second, and more for files with more than
four characters for each. The exploration of such files takes at most three times as long as reading them."""


def _relaxed_warnings(domain: Domain, problem: Problem, explained: bool, work: Work) -> Iterator[Defect]:
    """Yield warnings about missing numbers and durations; without these, about unreachable goals and actions.

    If a precondition is never true, unreachable goals and actions are `explained` by it. If the exploration takes more
    than `work`, those are reported that the explored part and the unchanging facts prove.
    """
    explorer = Explorer(domain, problem, work)
    explorer.decide(problem.goal)
    missing = [*explorer.missing_numbers(problem), *explorer.impossible_durations()]
    yield from missing
    if missing or explained:
        return
    goals = [goal for goal in conjuncts(problem.goal) if explorer.is_out_of_reach(goal)]
    if goals:
        more = f" (as {count(len(goals) - 1, 'other part')} of the goal)" if len(goals) > 1 else ""
        fault = f"the goal {goals[0]} can never be true{more}: no action that can be applied makes it true"
        advice, place = "correct the goal, :init or an effect", getattr(goals[0], "place", None)
        yield warning(DefectKind.UNREACHABLE_GOAL, str(goals[0]), fault, advice, place)
    # Preconditions that no action makes true at all are reported by `problem_warnings`.
    there = {atom.predicate for atom in explorer.state.facts} | explorer.added
    never = [
        action
        for action in domain.schemas
        if all(atom.predicate in there for atom in explorer.required[action.name]) and explorer.is_impossible(action)
    ]
    if never:
        lacks = {one.name: explorer.missing_type(Exists(one.parameters, one.precondition)) for one in never}
        lack = next(filter(None, lacks.values()), "")
        names = [name for name in lacks if lacks[name] == lack]
        fault = f"{lack}{', so ' * bool(lack)}{action_names(names)} can never be applied in this problem"
        fault += f" (as {count(others, 'other action')})" if (others := len(never) - len(names)) else ""
        with contextlib.suppress(TooManyCasesError):
            fault += "" if lack else explorer.cause(never[0])
        remedy = "declare one in :objects" if lack else "correct the preconditions or :init"
        advice = f"ignore this if that is meant, else {remedy}"
        yield warning(DefectKind.NEVER_APPLICABLE, names[0], fault, advice, None)


MOST_TOGETHER = 3
"""The maximum number of facts of a precondition that a message names."""


class Explorer(Simulator):
    """Adds facts one by one, and executes each action once, as soon as the facts that it requires are true."""

    def __init__(self, domain: Domain, problem: Problem, work: Work | None = None) -> None:
        self._durations = {action.name: action.duration for action in domain.durative}
        self._undecided = {action.name for action in domain.schemas}
        domain = replace(domain, actions=tuple(case for one in domain.schemas for case in cases_of(one)), durative=())
        super().__init__(World(domain, problem, work), State())
        self.is_numeric = self.world.is_numeric or bool(self._durations)
        self.kinds = {*self.world.types.values()}
        self.possible: set[str] = set()
        self.complete = False
        self._missing: dict[str, dict[Term, PlanStep]] = defaultdict(dict)
        self._unset: dict[str, dict[Term, PlanStep]] = defaultdict(dict)
        self._impossible: dict[str, list[PlanStep]] = defaultdict(list)
        self._assigned: set[str] = set()
        for action in domain.actions:
            needed = {fluent for part in conjuncts(action.precondition) for fluent in read_fluents(part)}
            first = [change.fluent for change in changed_fluents(action.effect) if change.operator == "assign"]
            self._assigned |= {fluent.head for fluent in first if fluent not in needed}
        changes = [change for action in domain.actions for change in changed_atoms(action.effect)]
        self.added = {atom.predicate for atom, value in changes if value}
        self.deleted = {atom.predicate for atom, value in changes if not value}
        later = [change for literal in problem.sorted_later() for change in changed_atoms(literal.part)]
        self.added |= {atom.predicate for atom, value in later if value}
        self.deleted |= {atom.predicate for atom, value in later if not value}
        self._assigned |= {literal.part.left.head for literal in problem.later if isinstance(literal.part, Compare)}
        self._waiting = deque([*problem.sorted_facts(), *(atom for atom, value in later if value)])
        self._known = set(self._waiting)
        self._initial = self.world.initial
        self._done: set[PlanStep] = set()
        self._uses: dict[tuple[str, int, str], list[tuple[Action, int]]] = defaultdict(list)
        for action in domain.actions:
            for index, atom in enumerate(self.required[action.name]):
                constants = ((place, arg) for place, arg in enumerate(atom.args) if not arg.startswith("?"))
                place, arg = next(constants, (-1, ""))
                self._uses[atom.predicate, place, arg].append((action, index))
        self._kinds = {action.name: scope_of(action.parameters) for action in domain.actions}
        fluent = self.added | self.deleted | {*domain.rules}
        self._static = {action.name: _static_part(action, fluent, self.world.changing) for action in domain.actions}
        self._effects = {action.name: action.effect for action in domain.actions}

    def is_out_of_reach(self, goal: Formula) -> bool:
        """Whether a part of the goal is a fact, or its negation, that is never true."""
        match goal:
            case Atom():
                may_grow = not self.complete and goal.predicate in self.added
                may_grow |= goal.predicate in self.world.domain.rules
                return not may_grow and goal not in self._known
            case Not(part=Atom() as atom):
                return atom in self._initial.facts and atom.predicate not in self.deleted
            case Compare():
                static = self.world.changing.isdisjoint(fluent.head for fluent in read_fluents(goal))
                with contextlib.suppress(TooManyCasesError):
                    return static and not self.world.holds(goal, self._initial, {})
        return False

    def is_impossible(self, action: Action) -> bool:
        """Whether an action is proved to be impossible: if not all is explored, by facts that no action adds."""
        if self.complete or action.name in self.possible:
            return action.name not in self.possible
        unchanging = [atom for atom in self.required[action.name] if atom.predicate not in self.added]
        with contextlib.suppress(TooManyCasesError):
            bindings = self._bindings(action, unchanging, {})
            return not any(self.world.holds(self._static[action.name], self._initial, values) for values in bindings)
        return False

    def cause(self, action: Action) -> str:
        """The smallest part of the precondition of an impossible action that is never true; empty for a large one.

        It is also empty if not all is explored. Raises `TooManyCasesError` if that is too much work.
        """
        if not self.complete:
            return ""
        self.world.work.renew()
        atoms, needed = self.never_together(action, {}), self.required[action.name]
        if atoms:
            never = "is never true" if len(atoms) == 1 else "are never true together"
            return f": {' and '.join(map(str, atoms))} of {action.name} {never}"
        for part in conjuncts(self._static[action.name]):
            if not any(self.world.holds(part, self._initial, values) for values in self._bindings(action, needed, {})):
                return f": {part} of {action.name} is never true"
        return ""

    def missing_type(self, condition: Formula) -> str:
        """`no object has the type dock`, if a condition needs one to be true; else empty."""
        scopes = [(scope_of(part.variables), part.part) for part in conjuncts(condition) if isinstance(part, Exists)]
        lacks = (missing_type(self.world.domain, self.kinds, kinds.values()) for kinds, _ in scopes)
        return next(filter(None, (*lacks, *(self.missing_type(part) for _, part in scopes))), "")

    def never_together(self, action: Action, binding: Mapping[str, str]) -> tuple[Atom, ...]:
        """The fewest required atoms of an action, at most `MOST_TOGETHER`, that are never true together; else empty."""
        kinds = scope_of(action.parameters)
        for size in range(1, MOST_TOGETHER + 1):
            for atoms in itertools.combinations(self.required[action.name], size):
                if next(self._joined(atoms, binding, kinds), None) is None:
                    return atoms
        return ()

    def missing_numbers(self, problem: Problem) -> Iterator[Defect]:
        """Yield a warning for each function without a number that an action needs to be applicable, or the goal.

        If actions assign numbers later, only those needed by steps whose required facts are true at the beginning.
        """
        kind = DefectKind.MISSING_NUMBER if self.is_numeric else DefectKind.MISSING_COST
        least = "" if self.complete else "at least "
        metric = problem.metric
        needs: dict[str, dict[Term, PlanStep | Formula | Metric]] = defaultdict(dict)
        for head, terms in self._missing.items():
            needs[head] |= terms
        wanted: list[tuple[Term, Formula | Metric]] = [
            (fluent, part) for part in conjuncts(problem.goal) for fluent in read_fluents(part)
        ]
        wanted += [(fluent, metric) for fluent in fluents_in(metric.term)] if metric and self.is_numeric else []
        for fluent, part in wanted:
            if fluent.head != IS_VIOLATED and self._has_no_value(fluent):
                needs[fluent.head].setdefault(fluent, part)
        later = {*self._unset} - {*needs}
        for head in later:
            needs[head] |= self._unset[head]
        for head, lacking in needs.items():
            term, user = min(lacking.items(), key=lambda item: (not isinstance(item[1], PlanStep), str(item[0])))
            fault = f"{term} has no number in :init"
            if len(lacking) > 1:
                fault = (
                    f"{head} has no number in :init for {least}{len(lacking)} combinations of arguments, as in {term}"
                )
            if head in later:
                fault += f", so {user} cannot be applied until an action assigns one"
            elif isinstance(user, PlanStep):
                fault += f", so {user} can never be applied"
            else:
                fault += f", and no action assigns one, so {user} has no meaning"
            place = None if isinstance(user, PlanStep) else user.place
            yield warning(kind, str(term), fault, f"add (= {term} NUMBER) to :init", place)

    def impossible_durations(self) -> Iterator[Defect]:
        """Yield a warning for each durative action whose duration is impossible for some objects."""
        for name, steps in self._impossible.items():
            step = min(steps, key=str)
            duration = Renaming(self.world.binding(step)).formula(self._durations[name])
            fluents = (fluent for _, term in duration_bounds(duration) for fluent in fluents_in(term))
            values = {fluent: self.world.value(fluent, self._initial, {}) for fluent in fluents}
            known = [f"{fluent} is {shown(value)}" for fluent, value in values.items() if value is not None]
            as_known = f", as {', '.join(known)}" if known else ""
            least = "" if self.complete else "at least "
            others = f", as {least}{count(len(steps) - 1, 'other call')} of {name}" if len(steps) > 1 else ""
            fault = f"{step} can never be applied{others}: {duration} allows no duration from 0{as_known}"
            advice = "correct these numbers or the duration"
            yield warning(DefectKind.IMPOSSIBLE_DURATION, name, fault, advice, None)

    def _may_last(self, action: Action, binding: Mapping[str, str]) -> bool:
        """Whether the bounds of a duration that nothing changes allow a duration."""
        bounds: list[tuple[str, Fraction]] = []
        for sign, term in duration_bounds(self._durations.get(schema_name(action.name), TRUE)):
            if self.world.changing.isdisjoint(fluent.head for fluent in fluents_in(term)):
                value = self.world.value(term, self._initial, binding)
                if value is None:  # it divides by zero
                    return False
                bounds.append((sign, value))
        return allows_duration(bounds)

    def _has_no_value(self, fluent: Term) -> bool:
        """Whether a number has no value at the beginning, and no action assigns one."""
        return not self._is_given(fluent) and fluent.head not in self._assigned

    def _is_given(self, fluent: Term) -> bool:
        return fluent in self.world.values or fluent in (TOTAL_COST, TOTAL_TIME)

    def _not_given(self, action: Action, binding: Mapping[str, str]) -> Iterator[Term]:
        """The numbers that `:init` lacks and an action needs: in its precondition, and in unconditional effects."""
        duration = conjuncts(self._durations.get(schema_name(action.name), TRUE))
        for part in (*conjuncts(action.precondition), *conjuncts(action.effect), *duration):
            needed = read_fluents(part)
            if isinstance(part, Change):
                changed = (part.fluent,) if part.operator != "assign" else ()
                needed = iter((*fluents_in(part.value), *changed))
            for fluent in needed:
                ground = ground_term(fluent, binding)
                if not self._is_given(ground):
                    yield ground

    def decide(self, goal: Formula) -> None:
        """Explore until nothing can be reported, or as far as the work allows: `complete` says which."""
        with contextlib.suppress(TooManyCasesError):
            self.explore(goal)
            self.complete = True
        self.world.work.renew()
        if not self.complete:
            self.change(self._initial.facts, ())

    def explore(self, goal: Formula | None = None) -> None:
        """Execute every possible action. Raises `TooManyCasesError` if that is too much work.

        With a `goal`, stop when its atoms and every action are known to be possible, unless numbers may be missing.
        """
        wanted: list[Atom] | None = None
        if goal is not None and self._has_all_numbers():
            parts, rules = conjuncts(goal), self.world.domain.rules
            wanted = [part for part in parts if isinstance(part, Atom) and part.predicate not in rules]
        for action in self.world.domain.actions:
            if not self.required[action.name]:
                self._try(action, [], {})
        while self._waiting and not self._is_decided(wanted):
            fact = self._waiting.popleft()
            self.change((fact,), ())
            keys = [(fact.predicate, -1, ""), *((fact.predicate, place, arg) for place, arg in enumerate(fact.args))]
            for action, index in (use for key in keys for use in self._uses.get(key, ())):
                atoms = self.required[action.name]
                binding = self._matched(atoms[index], fact, {}, self._kinds[action.name])
                self.world.work.spend()
                if binding is not None:
                    self._try(action, [*atoms[:index], *atoms[index + 1 :]], binding)

    def _has_all_numbers(self) -> bool:
        """Whether no number can be missing: each cost has one for all arguments."""
        counts = Counter(fluent.head for fluent in self.world.values)
        sizes = (
            (function.name, math.prod(len(self.world.of_type(parameter.type)) for parameter in function.parameters))
            for function in self.world.domain.functions
            if function.name != TOTAL_COST.head
        )
        return not self.is_numeric and all(counts[name] >= size for name, size in sizes)

    def _is_decided(self, wanted: list[Atom] | None) -> bool:
        """Whether every action and all `wanted` atoms are known to be possible. The known atoms are removed."""
        while wanted and wanted[-1] in self._known:
            wanted.pop()
        return wanted == [] and not self._undecided

    def _try(self, action: Action, atoms: Sequence[Atom], binding: Mapping[str, str]) -> None:
        for values in self._bindings(action, atoms, binding):
            step = PlanStep(action.name, tuple(values[parameter.name] for parameter in action.parameters))
            if step in self._done:
                continue
            self._done.add(step)
            self._execute(action, step, values)

    def _execute(self, action: Action, step: PlanStep, values: Mapping[str, str]) -> bool:
        """Execute a step whose required facts are true, if its other conditions allow it. Returns whether they do."""
        not_given = list(self._not_given(action, values)) if self.is_numeric else []
        lacking = next(filter(self._has_no_value, not_given), None)
        if lacking is not None:
            if schema_name(action.name) == action.name:  # else the effect just does not happen
                self._missing[lacking.head].setdefault(lacking, step)
            return False
        if not self.world.holds(self._static[action.name], self._initial, values):
            return False
        if not_given and self.world.holds(And(tuple(self.required[action.name])), self._initial, values):
            self._unset[not_given[0].head].setdefault(not_given[0], step)
        if not self._may_last(action, values):
            if schema_name(action.name) == action.name:
                self._impossible[action.name].append(step)
            return False
        self.possible.add(action.name)
        self._undecided.discard(action.name)
        try:
            self.world.cost(step)
        except KeyError as error:
            self._missing[error.args[0].head].setdefault(error.args[0], step)
            return False
        adds, _ = self.world.effects(self._effects[action.name], self.state, values)
        self._waiting.extend(sorted(adds - self._known, key=str))
        self._known |= adds
        return True


def _static_part(action: Action, changed: AbstractSet[str], changing: AbstractSet[str]) -> Formula:
    """Return the conjuncts of a precondition that are not atoms, and whose predicates and functions nothing changes."""
    parts = (part for part in conjuncts(action.precondition) if not isinstance(part, Atom))
    parts = (part for part in parts if changed.isdisjoint(atom.predicate for atom in atoms_of(part)))
    parts = (part for part in parts if DURATION.head not in str(part))
    fluents = ((part, [fluent.head for node, _ in walk(part) for fluent in read_fluents(node)]) for part in parts)
    return And(tuple(part for part, heads in fluents if changing.isdisjoint(heads)))


def schema_name(name: str) -> str:
    """The name of the action of the domain that a case of it comes from."""
    return name.partition(" ")[0]


def cases_of(action: Action) -> Iterator[Action]:
    """The action without its conditional effects, and an action for each of these, which needs its condition, too.

    Its name is that of the action and a number. Its parameters are those of the action, and the variables over which
    the effect is quantified.
    """
    always: list[Formula] = []
    cases: dict[tuple[tuple[TypedName, ...], tuple[Formula, ...]], list[Formula]] = {}
    waiting = [(action.effect, action.parameters, tuple[Formula, ...]())]
    while waiting:
        effect, variables, conditions = waiting.pop()
        if isinstance(effect, And):
            waiting += [(part, variables, conditions) for part in reversed(effect.parts)]
        elif isinstance(effect, When):
            waiting.append((effect.effect, variables, (*conditions, effect.condition)))
        elif isinstance(effect, Forall) and any(isinstance(node, When) for node, _ in walk(effect)):
            names, taken = dict[str, str](), {*scope_of(variables)}
            for name in (variable.name for variable in effect.variables if variable.name in taken):
                numbered = (f"{name}-{number}" for number in itertools.count(2))
                names[name] = next(new for new in numbered if new not in taken and new not in str(action))
                taken.add(names[name])
            renaming = Renaming(names)
            waiting.append((renaming.formula(effect.part), (*variables, *renaming.typed(effect.variables)), conditions))
        elif conditions:
            cases.setdefault((variables, conditions), []).append(effect)
        else:
            more = variables[len(action.parameters) :]
            always.append(Forall(more, effect) if more else effect)
    yield replace(action, effect=And(tuple(always)))
    for number, ((variables, conditions), effects) in enumerate(cases.items(), start=1):
        condition = And((action.precondition, *conditions))
        yield Action(f"{action.name} {number}", variables, condition, And(tuple(effects)), place=action.place)
