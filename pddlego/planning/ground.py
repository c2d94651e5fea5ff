"""PDDL to a ground STRIPS task: Fast Downward's translator parses, normalises and grounds; the rest is compiled here.

What pyperplan's STRIPS tasks cannot say is compiled away: negative conditions become complement facts, derived atoms
(the translator makes them from `exists`, `forall`, `or` and `imply`) are replaced by their rules, conditional effects
split an operator, and a goal with several ways becomes one artificial last step for each, stripped from the plan.
"""

from __future__ import annotations

import contextlib
import io
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from pddlego.pddl import Domain, Problem
from pddlego.pddl.derived import recursive_predicate
from pddlego.pddl.names import natural
from pddlego.pddl.problem import without
from pddlego.pddl.sexpr import Sexpr, read_sexprs

_MAX_VARIANTS = 5_000
"""Most conjunctions that one condition, and operators that one ground action, may compile into."""

_GOAL_FACT = "(goal-reached)"
GOAL_STEP = "(reach-goal)"

Literal = tuple[str, bool]
Conjunction = frozenset[Literal]


class NotPlannableError(Exception):
    """The domain or problem says something that cannot be grounded; the message names it."""


class EngineFailedError(Exception):
    """The engine broke down; the problem may be sound."""


class BoundError(Exception):
    """The engine looked no further than it was allowed to; the message says how far."""


@dataclass(frozen=True)
class Operator:
    """A ground STRIPS operator. `action` is the ground action, shared by all operators compiled from it."""

    action: str
    preconditions: frozenset[str]
    adds: frozenset[str]
    deletes: frozenset[str]


@dataclass(frozen=True)
class GroundTask:
    """A ground STRIPS task. Operators are sorted, so that the same problem gives the same task everywhere."""

    facts: frozenset[str]
    initial: frozenset[str]
    goals: frozenset[str]
    operators: tuple[Operator, ...]


def ground(domain: Domain, problem: Problem, relevant: bool = True) -> GroundTask | None:
    """Ground `problem`. None means that the goal is out of reach even if nothing were ever deleted.

    Operators that cannot contribute to the goal are left out, if only the `relevant` ones are wanted.

    Raises `NotPlannableError` for what the translator rejects and for what cannot be compiled into STRIPS. Redirects
    standard output while it works, because the translator prints: not for use in a process with threads that print.
    """
    numeric = {":fluents", ":numeric-fluents", ":durative-actions", ":action-costs"} & set(domain.requirements)
    if numeric:
        raise NotPlannableError(f"{', '.join(sorted(numeric))} is not supported: numbers and time are not planned with")
    circle = recursive_predicate(domain)
    if circle:
        raise NotPlannableError(f"the derived predicate {circle} is recursive, which is not supported")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        task, explored = _translate(domain, problem)
    reachable, fluents, actions, goal, axioms, _ = explored
    if not reachable or goal is None:
        return None
    initial = {_text(atom) for atom in task.init if getattr(atom, "predicate", "=") != "=" and atom in fluents}
    compiled = _Compiler(axioms).compile(initial, actions, goal)
    compiled = _relevant(compiled) if relevant else compiled
    return replace(compiled, operators=_ordered(domain, compiled.operators))


def _relevant(task: GroundTask) -> GroundTask:
    """Only the operators that may contribute to the goal: they add a goal, or what a relevant operator needs.

    Any plan remains one without its irrelevant steps, so shortest plans stay as short; and a blind search no longer
    tries every order of picking up irrelevant things.
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

    This order breaks the ties between equally good plans, so it should depend as little as possible on what a model
    happened to call a thing.
    """
    actions = {action.name: number for number, action in enumerate(domain.actions)}
    constants = {constant.name: number for number, constant in enumerate(domain.constants)}

    def key(operator: Operator) -> tuple[object, ...]:
        name, *args = operator.action.strip("()").split()
        declared = tuple(constants[arg] for arg in args if arg in constants)
        names = tuple(natural(arg) for arg in args)
        return actions.get(name, len(actions)), declared, names, sorted(operator.preconditions), sorted(operator.adds)

    return tuple(sorted(operators, key=key))


def _translate(domain: Domain, problem: Problem) -> tuple[Any, Any]:
    from fast_downward.translate import instantiate, normalize, options
    from fast_downward.translate.pddl_parser import parsing_functions
    from fast_downward.translate.pddl_parser.parse_error import ParseError

    if options.options is None:
        options.set_options(["domain", "problem"])
    stated = replace(without(problem, domain.constants), domain=domain.name)
    try:
        task = parsing_functions.parse_task(_domain_lists(domain.canonical), _problem_lists(stated))
        normalize.normalize(task)
        return task, instantiate.explore(task)
    except (ParseError, SystemExit) as error:
        raise NotPlannableError(" ".join(str(error).split())) from error
    except KeyError as error:
        raise NotPlannableError(f"{error.args[0]!r} is used but not declared (is it a type?)") from error
    except (StopIteration, IndexError, ValueError, AssertionError, AttributeError, TypeError) as error:
        raise NotPlannableError(f"the translator cannot read it ({type(error).__name__} {error})") from error


@lru_cache(maxsize=8)
def _domain_lists(text: str) -> Any:
    return _lists(read_sexprs(text).expressions[0])


def _problem_lists(problem: Problem) -> Any:
    """A problem as the nested lists that the translator takes, in canonical order."""
    objects = [word for obj in problem.sorted_objects() for word in (obj.name, "-", obj.type)]
    return [
        "define",
        ["problem", problem.name],
        [":domain", problem.domain],
        [":objects", *objects],
        [":init", *([fact.predicate, *fact.args] for fact in problem.sorted_facts())],
        [":goal", _lists(read_sexprs(str(problem.goal)).expressions[0])],
    ]


def _lists(expression: Sexpr) -> Any:
    return expression if isinstance(expression, str) else [_lists(part) for part in expression]


def _text(atom: Any) -> str:
    return "(" + " ".join((str(atom.predicate), *atom.args)) + ")"


def _literal(literal: Any) -> Literal:
    return _text(literal), not literal.negated


class _Compiler:
    """Turns grounded actions with derived atoms and conditional effects into STRIPS operators."""

    def __init__(self, axioms: Iterable[Any]) -> None:
        self.rules: dict[str, list[list[Literal]]] = defaultdict(list)
        for axiom in axioms:
            self.rules[_text(axiom.effect)].append([_literal(literal) for literal in axiom.condition])
        self.known: dict[Literal, tuple[Conjunction, ...]] = {}
        self.open: set[str] = set()

    def compile(self, initial: set[str], actions: Iterable[Any], goal: Iterable[Any]) -> GroundTask:
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
            )
            for action, condition, adds, deletes in drafts
        }
        start = frozenset(initial) | {_plain((fact, False)) for fact in negated if fact not in initial}
        wanted = frozenset(_plain(literal) for literal in goals)
        facts = start | wanted
        facts = facts.union(*(operator.preconditions | operator.adds | operator.deletes for operator in operators))
        return GroundTask(facts, start, wanted, tuple(operators))

    def _variants(self, action: Any) -> list[tuple[str, Conjunction, frozenset[str], frozenset[str]]]:
        """The STRIPS operators of one ground action: one for each way its conditions can be true."""
        name = action.name.replace(" )", ")")
        grouped: dict[tuple[Literal, ...], tuple[set[str], set[str]]] = {}
        for effects, which in ((action.add_effects, 0), (action.del_effects, 1)):
            for condition, atom in effects:
                key = tuple(sorted({_literal(literal) for literal in condition}))
                grouped.setdefault(key, (set(), set()))[which].add(_text(atom))
        drafts = [
            (condition, frozenset[str](), frozenset[str]())
            for condition in self._conjoin(self._ways(_literal(literal)) for literal in action.precondition)
        ]
        for when, (adds, deletes) in sorted(grouped.items()):
            yes = self._conjoin(self._ways(literal) for literal in when)
            no = self._negate(yes) if when else ()
            split = []
            for condition, added, deleted in drafts:
                fires = [(way, added | adds, deleted | deletes) for way in self._conjoin([[condition], yes])]
                split += fires + [(way, added, deleted) for way in self._conjoin([[condition], no])]
            drafts = self._bounded(split, name)
        return [(name, condition, adds, deletes) for condition, adds, deletes in drafts]

    def _ways(self, literal: Literal) -> tuple[Conjunction, ...]:
        """The ways in which a literal can be true, over atoms that are not derived."""
        fact, positive = literal
        if fact not in self.rules:
            return (frozenset({literal}),)
        if literal not in self.known:
            if fact in self.open:
                raise NotPlannableError(f"the derived predicate in {fact} is recursive, which is not supported")
            self.open.add(fact)
            bodies = [self._conjoin(self._ways(literal) for literal in body) for body in self.rules[fact]]
            either = tuple(dict.fromkeys(way for ways in bodies for way in ways))
            self.known[literal] = either if positive else self._negate(either)
            self.open.discard(fact)
        return self.known[literal]

    def _negate(self, ways: Iterable[Conjunction]) -> tuple[Conjunction, ...]:
        """The ways in which none of `ways` is true: one literal of each must be false."""
        falsified = ([frozenset({(fact, not positive)}) for fact, positive in sorted(way)] for way in ways)
        return self._conjoin(falsified)

    def _conjoin(self, choices: Iterable[Iterable[Conjunction]]) -> tuple[Conjunction, ...]:
        """All consistent conjunctions that take one way from each choice; supersets of another are dropped."""
        conjunctions: list[Conjunction] = [frozenset()]
        for ways in choices:
            options = list(ways)
            joined = dict.fromkeys(conjunction | way for conjunction in conjunctions for way in options)
            consistent = [way for way in joined if not any((fact, not positive) in way for fact, positive in way)]
            conjunctions = self._bounded(_minimal(consistent) if len(options) > 1 else consistent, "a condition")
        return tuple(conjunctions)

    def _bounded(self, items: list[Any], what: str) -> list[Any]:
        if len(items) > _MAX_VARIANTS:
            raise NotPlannableError(f"{what} has more than {_MAX_VARIANTS} ways to be true: simplify its or/forall")
        return items


def _minimal(ways: list[Conjunction]) -> list[Conjunction]:
    """Drop every way that another way implies. Quadratic, so only where it is cheap."""
    if len(ways) > 200:
        return ways
    return [way for way in ways if not any(other < way for other in ways)]


def _plain(literal: Literal) -> str:
    fact, positive = literal
    return fact if positive else f"(not {fact})"
