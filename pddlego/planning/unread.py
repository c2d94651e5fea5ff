"""Tasks without the numbers that no condition reads, such as a counter in the metric, and without all numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pddlego.pddl import Domain, Problem
from pddlego.pddl.conditions import TRUE, Change, Compare, Formula, Not, Term, changed_atoms, walk, with_parts
from pddlego.pddl.numbers import fluents_in, read_fluents
from pddlego.planning.state import State


def read_functions(domain: Domain, problem: Problem) -> set[str]:
    """The functions on whose values it depends which actions are possible, and whether the goal is true."""
    formulas = [problem.goal, *domain.conditions(), *(action.duration for action in domain.durative)]
    formulas += [action.precondition for action in domain.durative]
    nodes = [node for formula in formulas for node, _ in walk(formula)]
    changes = [node for node in nodes if isinstance(node, Change)]
    read = {fluent.head for node in nodes if isinstance(node, Compare) for fluent in read_fluents(node)}
    # A division by zero makes an action impossible.
    divided = [change for change in changes if change.operator == "scale-down" or _divides(change.value)]
    read |= {fluent.head for change in divided for fluent in fluents_in(change.value)}
    before = -1
    while before < len(read):
        before = len(read)
        read |= {fluent.head for one in changes if one.fluent.head in read for fluent in fluents_in(one.value)}
    return read


def _divides(term: Term) -> bool:
    return term.head == "/" or any(map(_divides, term.parts or ()))


def key_of(domain: Domain, problem: Problem) -> Callable[[State], State]:
    """A function that gives states with the same future the same key.

    It has the facts, the numbers that are read, and which other numbers have a value.
    """
    read = read_functions(domain, problem)
    if domain.changed_functions <= read:
        return lambda state: state
    return lambda state: State(
        state.facts, {term: value * (term.head in read) for term, value in state.numbers.items()}
    )


def without_unread(domain: Domain, problem: Problem) -> tuple[Domain, Problem]:
    """The task without the numbers that no condition reads, and without its metric: it has all plans of the task."""
    unread = domain.changed_functions - read_functions(domain, problem)

    def reduced(formula: Formula) -> Formula:
        if isinstance(formula, Change):
            return TRUE if formula.fluent.head in unread else formula
        return with_parts(formula, reduced)

    if unread:
        actions = tuple(replace(action, effect=reduced(action.effect)) for action in domain.actions)
        durative = tuple(replace(action, effect=reduced(action.effect)) for action in domain.durative)
        domain = replace(domain, actions=actions, durative=durative, text="")
    return domain, replace(problem, metric=None)


def without_numbers(domain: Domain, problem: Problem) -> tuple[Domain, Problem]:
    """The task without all conditions on numbers and time."""

    def reduced(formula: Formula) -> Formula:
        bare = formula.part if isinstance(formula, Not) else formula
        return TRUE if isinstance(bare, Compare | Change) else with_parts(formula, reduced)

    actions = tuple(
        replace(action, precondition=reduced(action.precondition), effect=reduced(action.effect))
        for action in domain.schemas
    )
    rules = tuple(replace(rule, condition=reduced(rule.condition)) for rule in domain.derived)
    later = {atom for literal in problem.later for atom, value in changed_atoms(literal.part) if value}
    task = replace(problem, facts=problem.facts | later, later=frozenset(), metric=None, goal=reduced(problem.goal))
    return replace(domain, actions=actions, durative=(), derived=rules, text=""), task
