"""PDDL to a ground STRIPS task: Fast Downward's translator parses, normalises and grounds; the rest is compiled here.

Features that pyperplan's STRIPS tasks lack are compiled away: negative conditions become complement facts, derived
atoms (the translator makes them from `exists`, `forall`, `or` and `imply`) are replaced by their rules, conditional
effects split an operator, and a goal with several alternatives becomes one artificial last step for each, which is
removed from the plan.
"""

from __future__ import annotations

import contextlib
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from pddlego import planners
from pddlego.pddl import Domain, Problem
from pddlego.pddl.conditions import Formula, TypedName, arguments_in
from pddlego.pddl.costs import counts_cost, integral
from pddlego.pddl.plain import in_plain_pddl
from pddlego.pddl.problem import without
from pddlego.pddl.sexpr import Sexpr, read_sexprs
from pddlego.planning.result import PlanStatus
from pddlego.util.text import natural

_MAX_VARIANTS = 5_000
"""The maximum number of conjunctions that a condition, and of operators that a ground action, may be compiled into."""

_SLICE = 20_000
"""The operators in one text of a ground task."""

_GOAL_FACT = "(goal-reached)"
GOAL_STEP = "(reach-goal)"

_Literal = tuple[str, bool]
_Conjunction = frozenset[_Literal]


class PlanningError(Exception):
    """An engine ended without a plan and without a proof that none exists; `status` is the kind of this ending.

    `INVALID`: the engine cannot express something, which the message names. `CRASHED`: the engine failed. `TIMEOUT`:
    another engine may find a plan. `BOUND`: longer plans were not searched for.
    """

    def __init__(self, message: str = "", status: PlanStatus = PlanStatus.INVALID) -> None:
        super().__init__(message, status)
        self.message, self.status = message, status

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Operator:
    """A ground STRIPS operator. `action` is the ground action, shared by all operators compiled from it.

    Costs are whole numbers; they are 1 if the problem does not minimize costs.
    """

    action: str
    preconditions: frozenset[str]
    adds: frozenset[str]
    deletes: frozenset[str]
    cost: int = 1


@dataclass(frozen=True)
class GroundTask:
    """A ground STRIPS task. Operators are sorted, so that the same problem gives the same task everywhere."""

    facts: frozenset[str]
    initial: frozenset[str]
    goals: frozenset[str]
    operators: tuple[Operator, ...]


def ground(domain: Domain, problem: Problem, relevant: bool = True) -> GroundTask | None:
    """Ground `problem`; None if the goal is unreachable even when actions delete nothing.

    If `relevant`, operators that cannot contribute to the goal are left out.

    The problem has no blocking defects (see `check`). Raises `PlanningError` if the translator rejects the task, or if
    it cannot be compiled into STRIPS. Redirects standard output during the call, because the translator prints: not for
    use in a process with threads that print.
    """
    from fast_downward.translate import instantiate

    domain, problem = in_plain_pddl(domain, problem)
    with translating():
        if problem.values or counts_cost(problem):
            task = translator_task(domain, problem)
            explored = instantiate.explore(task)
        else:
            task, explored = _explored(domain, problem)
    reachable, fluents, actions, goal, axioms, _ = explored
    if not reachable or goal is None:
        return None
    initial = {_text(atom) for atom in task.init if getattr(atom, "predicate", "=") != "=" and atom in fluents}
    compiled = _Compiler(axioms).compile(initial, actions, goal)
    compiled = _relevant(compiled) if relevant else compiled
    return replace(compiled, operators=_ordered(domain, compiled.operators))


def slices_of(task: GroundTask, problem: Problem) -> tuple[str, ...]:
    """A ground task as texts for the driver of heuristics, which explains their form."""
    names = sorted(task.facts)
    numbers = {fact: str(number) for number, fact in enumerate(names)}

    def numbered(facts: Iterable[str]) -> str:
        return " ".join([numbers[fact] for fact in facts])

    static = sorted(fact for fact in map(str, problem.facts) if fact not in numbers)
    lines = [
        "\t".join((operator.action, *map(numbered, (operator.preconditions, operator.adds, operator.deletes))))
        for operator in task.operators
    ]
    slices = ["\n".join(lines[first : first + _SLICE]) for first in range(0, len(lines), _SLICE)]
    return ("\n".join(names), "\n".join((numbered(task.initial), numbered(task.goals), "\t".join(static))), *slices)


def _relevant(task: GroundTask) -> GroundTask:
    """The task with only the operators that may contribute to the goal: they add a goal, or a fact that such an
    operator needs.

    Every plan without its irrelevant steps is still a plan, so shortest plans stay as short; and a blind search no
    longer tries every order of picking up irrelevant things.
    """
    adding: dict[str, list[Operator]] = defaultdict(list)
    for operator in task.operators:
        for fact in operator.adds:
            adding[fact].append(operator)
    relevant: set[Operator] = set()
    wanted, waiting = set(task.goals), list(task.goals)
    while waiting:
        for operator in adding[waiting.pop()]:
            if operator not in relevant:
                relevant.add(operator)
                waiting += operator.preconditions - wanted
                wanted |= operator.preconditions
    return replace(task, operators=tuple(relevant))


def _ordered(domain: Domain, operators: Iterable[Operator]) -> tuple[Operator, ...]:
    """Operators in the order of the domain file: actions, then constants as declared, names of objects last.

    This order breaks the ties between equally good plans, so it should depend as little as possible on the names that a
    model chose.
    """
    actions = {action.name: number for number, action in enumerate(domain.actions)}
    constants = {constant.name: number for number, constant in enumerate(domain.constants)}

    def key(operator: Operator) -> tuple[object, ...]:
        name, *args = operator.action.strip("()").split()
        declared = tuple(constants[arg] for arg in args if arg in constants)
        names = tuple(natural(arg) for arg in args)
        return actions.get(name, len(actions)), declared, names, sorted(operator.preconditions), sorted(operator.adds)

    return tuple(sorted(operators, key=key))


def translator_task(domain: Domain, problem: Problem) -> Any:
    """The normalised task of Fast Downward's translator. Call the function, and use its result, under `translating`."""
    from fast_downward.translate import normalize

    domain, problem = integral(domain, without(problem, domain.constants))
    task = _parsed(domain.canonical, problem)
    normalize.normalize(task)
    return task


def _parsed(domain: str, problem: Problem) -> Any:
    """The translator's task of the canonical text of a domain and a problem."""
    from fast_downward.translate import options
    from fast_downward.translate.pddl_parser import parsing_functions

    if options.options is None:
        options.set_options(["domain", "problem"])
    lists = _lists(read_sexprs(domain).expressions[0])
    # The translator refuses some requirements, and needs none.
    lists = [part for part in lists if part[0] != ":requirements"]
    return parsing_functions.parse_task(lists, _problem_lists(replace(problem, domain=lists[1][1])))


def _explored(domain: Domain, problem: Problem) -> tuple[Any, Any]:
    """The translator's task of a problem without numbers, and the result of its exploration.

    Games plan repeatedly for the same goals, so `_schema` caches all results that do not depend on the facts.
    """
    from fast_downward.translate import build_model, instantiate, pddl, pddl_to_prolog

    own = without(problem, domain.constants)
    named = {obj.name for obj in own.objects}.intersection(arguments_in(problem.goal))
    schema, rules, facts = _schema(domain.canonical, problem.goal, tuple(sorted(named)))
    task = copy(schema)
    task.objects = [*task.objects, *(pddl.TypedObject(obj.name, obj.type) for obj in own.sorted_objects())]
    task.init = [pddl.Atom(fact.predicate, fact.args) for fact in problem.sorted_facts()]
    task.init += [pddl.Atom("=", (obj.name, obj.name)) for obj in task.objects]
    program = pddl_to_prolog.PrologProgram()
    pddl_to_prolog.translate_facts(program, task)
    atoms = [*(fact.atom for fact in program.facts), *facts]
    atoms += [pddl.Atom("@object", (name,)) for name in program.objects]
    # Rules collect the atoms that match them, so each call needs its own.
    unifier = build_model.Unifier([type(rule)(rule.effect, rule.conditions) for rule in rules])
    queue = build_model.Queue(sorted(atoms, key=lambda atom: atom.key))
    while queue:
        atom = queue.pop()
        for rule, number in unifier.unify(atom):
            rule.update_index(atom, number)
            rule.fire(atom, number, queue.push)
    return task, instantiate.instantiate(task, queue.queue)


@lru_cache(maxsize=32)
def _schema(domain: str, goal: Formula, named: tuple[str, ...]) -> tuple[Any, list[Any], list[Any]]:
    """The translator's results for a domain and a goal that names some objects, independent of the facts.

    These are a task without objects and facts, and the Datalog program that grounds it: its rules, and the atoms that
    are not facts of a problem.
    """
    from fast_downward.translate import build_model, normalize, pddl_to_prolog

    problem = Problem("p", "", frozenset(map(TypedName, named)), goal=goal)
    task = _parsed(domain, problem)
    task.objects = task.objects[: len(task.objects) - len(named)]  # the constants
    normalize.normalize(task)
    program = pddl_to_prolog.PrologProgram()
    for conditions, effect in normalize.build_exploration_rules(task):
        program.add_rule(pddl_to_prolog.Rule(conditions, effect))
    program.normalize()
    program.split_rules()
    return task, build_model.convert_rules(program), [fact.atom for fact in program.facts]


@contextlib.contextmanager
def translating() -> Iterator[None]:
    """Discard the output of the translator, and convert its exceptions to `PlanningError`."""
    from fast_downward.translate.pddl_parser.parse_error import ParseError

    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    except (ParseError, SystemExit) as error:
        raise PlanningError(" ".join(str(error).split())) from error
    except KeyError as error:
        raise PlanningError(f"{error.args[0]!r} is used but not declared (is it a type?)") from error
    except (StopIteration, IndexError, ValueError, AssertionError, AttributeError, TypeError) as error:
        raise PlanningError(f"the translator cannot read it ({type(error).__name__} {error})") from error


def _problem_lists(problem: Problem) -> Any:
    """A problem as the nested lists that the translator takes, in canonical order."""
    objects = [word for obj in problem.sorted_objects() for word in (obj.name, "-", obj.type)]
    costs = [_lists(read_sexprs(value).expressions[0]) for value in sorted(map(str, problem.values))]
    return [
        "define",
        ["problem", problem.name],
        [":domain", problem.domain],
        [":objects", *objects],
        [":init", *([fact.predicate, *fact.args] for fact in problem.sorted_facts()), *costs],
        [":goal", _lists(read_sexprs(str(problem.goal)).expressions[0])],
        *([[":metric", "minimize", ["total-cost"]]] if counts_cost(problem) else []),
    ]


def _lists(expression: Sexpr) -> Any:
    return expression if isinstance(expression, str) else [_lists(part) for part in expression]


def _text(atom: Any) -> str:
    return "(" + " ".join((str(atom.predicate), *atom.args)) + ")"


def _name(action: Any) -> str:
    return str(action.name).replace(" )", ")")


def _literal(literal: Any) -> _Literal:
    return _text(literal), not literal.negated


class _Compiler:
    """Turns grounded actions with derived atoms and conditional effects into STRIPS operators."""

    def __init__(self, axioms: Iterable[Any]) -> None:
        self.rules: dict[str, list[list[_Literal]]] = defaultdict(list)
        for axiom in axioms:
            self.rules[_text(axiom.effect)].append([_literal(literal) for literal in axiom.condition])
        self.known: dict[_Literal, tuple[_Conjunction, ...]] = {}
        self.open: set[str] = set()

    def compile(self, initial: set[str], actions: Sequence[Any], goal: Iterable[Any]) -> GroundTask:
        costs = {_name(action): int(action.cost) for action in actions}
        drafts = [draft for action in actions for draft in self._variants(action)]
        ways = self._conjoin(self._ways(_literal(literal)) for literal in goal)
        if len(ways) == 1:
            goals = next(iter(ways))
        else:
            goals = frozenset({(_GOAL_FACT, True)})
            drafts += [(GOAL_STEP, way, frozenset({_GOAL_FACT}), frozenset()) for way in ways]
        negated = {fact for _, condition, _, _ in drafts for fact, positive in condition if not positive}
        negated |= {fact for fact, positive in goals if not positive}
        operators = {
            Operator(
                action,
                frozenset(_plain(literal) for literal in condition),
                adds | {_plain((fact, False)) for fact in (deletes - adds) & negated},
                (deletes - adds) | {_plain((fact, False)) for fact in adds & negated},
                costs.get(action, 0),
            )
            for action, condition, adds, deletes in drafts
        }
        start = frozenset(initial) | {_plain((fact, False)) for fact in negated if fact not in initial}
        wanted = frozenset(_plain(literal) for literal in goals)
        facts = start | wanted
        facts = facts.union(*(operator.preconditions | operator.adds | operator.deletes for operator in operators))
        return GroundTask(facts, start, wanted, tuple(operators))

    def _variants(self, action: Any) -> list[tuple[str, _Conjunction, frozenset[str], frozenset[str]]]:
        """The STRIPS operators of one ground action: one for each way in which its conditions can be true."""
        name = _name(action)
        grouped: dict[tuple[_Literal, ...], tuple[set[str], set[str]]] = {}
        for effects, which in ((action.add_effects, 0), (action.del_effects, 1)):
            for condition, atom in effects:
                key = tuple(sorted({_literal(literal) for literal in condition}))
                grouped.setdefault(key, (set(), set()))[which].add(_text(atom))
        drafts = [
            (condition, frozenset[str](), frozenset[str]())
            for condition in self._conjoin(self._ways(_literal(literal)) for literal in action.precondition)
        ]
        for when, (adds, deletes) in sorted(grouped.items()):
            if not when:  # always: nothing to split
                drafts = [(condition, added | adds, deleted | deletes) for condition, added, deleted in drafts]
                continue
            yes = self._conjoin(self._ways(literal) for literal in when)
            no = self._negate(yes)
            split = []
            for condition, added, deleted in drafts:
                fires = [(way, added | adds, deleted | deletes) for way in self._conjoin([[condition], yes])]
                split += fires + [(way, added, deleted) for way in self._conjoin([[condition], no])]
            drafts = self._bounded(split, name)
        return [(name, condition, adds, deletes) for condition, adds, deletes in drafts]

    def _ways(self, literal: _Literal) -> tuple[_Conjunction, ...]:
        """The ways in which a literal can be true: conjunctions of literals that are not derived."""
        fact, positive = literal
        if fact not in self.rules:
            return (frozenset({literal}),)
        if literal not in self.known:
            if fact in self.open:
                what = f"{fact} is derived from itself, which pyperplan cannot plan with"
                others = (name for name, spec in planners.usable().items() if spec.has_whole(planners.Feature.DERIVED))
                raise PlanningError(f"{what}: use {planners.one_of(others)}")
            self.open.add(fact)
            bodies = [self._conjoin(self._ways(literal) for literal in body) for body in self.rules[fact]]
            either = tuple(dict.fromkeys(way for ways in bodies for way in ways))
            self.known[literal] = either if positive else self._negate(either)
            self.open.discard(fact)
        return self.known[literal]

    def _negate(self, ways: Iterable[_Conjunction]) -> tuple[_Conjunction, ...]:
        """The ways in which every conjunction in `ways` is false: one literal of each is false."""
        falsified = ([frozenset({(fact, not positive)}) for fact, positive in sorted(way)] for way in ways)
        return self._conjoin(falsified)

    def _conjoin(self, choices: Iterable[Iterable[_Conjunction]]) -> tuple[_Conjunction, ...]:
        """All consistent conjunctions of one way from each choice, without supersets of other conjunctions."""
        conjunctions: list[_Conjunction] = [frozenset()]
        for ways in choices:
            options = list(ways)
            joined = list(
                dict.fromkeys(
                    conjunction | way
                    for conjunction in conjunctions
                    for way in options
                    if conjunction.isdisjoint([(fact, not positive) for fact, positive in way])
                )
            )
            conjunctions = self._bounded(_minimal(joined) if len(options) > 1 else joined, "a condition")
        return tuple(conjunctions)

    def _bounded(self, items: list[Any], what: str) -> list[Any]:
        if len(items) > _MAX_VARIANTS:
            raise PlanningError(f"{what} has more than {_MAX_VARIANTS} ways to be true: simplify its or/forall")
        return items


def _minimal(ways: list[_Conjunction]) -> list[_Conjunction]:
    """Drop every way that contains another way. Quadratic, so only for few ways."""
    if len(ways) > 200:
        return ways
    return [way for way in ways if not any(other < way for other in ways)]


def _plain(literal: _Literal) -> str:
    fact, positive = literal
    return fact if positive else f"(not {fact})"
