"""Numbers without a value, rewritten for engines, which disagree on them.

A comparison of such a number is neither true nor false (Kleene). In the rewritten task a predicate says whether a
number has a value: `(or (a) (> (x) 0))` becomes `(or (a) (and (x-known) (> (x) 0)))`, and `(not (and (a) (> (x) 0)))`
becomes `(or (not (a)) (and (x-known) (not (> (x) 0))))`. A divisor that is 0 is treated alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeVar

from pddlego.pddl import Atom, Domain, Problem
from pddlego.pddl import conditions as pddl
from pddlego.pddl.conditions import And, Change, Compare, Formula, Not, Or, Term, number, parts_of, with_parts
from pddlego.pddl.domain import Action, Predicate
from pddlego.pddl.numbers import TOTAL_COST
from pddlego.planning.world import World

_Action = TypeVar("_Action", bound=Action)


def with_known_numbers(domain: Domain, problem: Problem) -> tuple[Domain, Problem]:
    """The task in which comparisons below `or`, `when` and the like, and those in derived predicates, are two-valued.

    Other comparisons stay: engines agree that an action is not applicable without the numbers of its condition.
    """
    terms = [term for formula in _formulas(domain, problem) for term in _inner_terms(formula)]
    heads = {term.head for term in terms}
    known: dict[str, str] = {}
    for term in unset_numbers(domain, problem):
        if term.head in heads:
            known[term.head] = f"{term.head}-known"
            while known[term.head] in domain.predicates_by_name:
                known[term.head] += "_"
    return _Rewriter(known).task(domain, problem) if known or "/" in heads else (domain, problem)


def unset_numbers(domain: Domain, problem: Problem) -> Iterator[Term]:
    """The first number of each function that has no value in `:init`, of the functions that the task reads."""
    read = {term.head for formula in _formulas(domain, problem) for term in _inner_terms(formula, True)}
    world = World(domain, problem)
    given = {value.left for value in problem.values} | {TOTAL_COST}
    for function in domain.functions_by_name.values():
        objects = [world.of_type(parameter.type) for parameter in function.parameters]
        ground = (Term(function.name, tuple(map(Term, names))) for names in product(*objects))
        if function.name in read and (term := next((term for term in ground if term not in given), None)):
            yield term


def _formulas(domain: Domain, problem: Problem) -> Iterator[Formula]:
    for action in (*domain.actions, *domain.durative):
        yield from (action.precondition, action.effect)
    yield from (Not(rule.condition) for rule in domain.derived)  # no conjunct of a rule is one of an action
    yield problem.goal


def _inner_terms(formula: Formula, inner: bool = False) -> Iterator[Term]:
    """All terms in comparisons and changes that are not in the outermost conjunction."""
    if inner and isinstance(formula, Compare | Change):
        waiting = [formula.left, formula.right] if isinstance(formula, Compare) else [formula.fluent, formula.value]
        while waiting:
            yield (term := waiting.pop())
            waiting += term.parts or ()
    for part in parts_of(formula):
        yield from _inner_terms(part, inner or not isinstance(formula, And | pddl.AtTime))


@dataclass(frozen=True)
class _Rewriter:
    """Rewrites a task. `known` has the predicate of each function whose numbers may have no value."""

    known: Mapping[str, str]

    def task(self, domain: Domain, problem: Problem) -> tuple[Domain, Problem]:
        heads = [function for function in domain.functions_by_name.values() if function.name in self.known]
        domain = replace(
            domain,
            predicates=(*domain.predicates, *(Predicate(self.known[head.name], head.parameters) for head in heads)),
            actions=tuple(map(self.action, domain.actions)),
            durative=tuple(map(self.action, domain.durative)),
            derived=tuple(replace(rule, condition=self.condition(rule.condition)) for rule in domain.derived),
        )
        facts = problem.facts.union(*(self.atoms(value.left) for value in problem.values))
        values = [(literal, literal.part.left) for literal in problem.later if isinstance(literal.part, Compare)]
        later = {replace(literal, part=atom) for literal, fluent in values for atom in self.atoms(fluent)}
        goal = self.condition(problem.goal)
        return domain, replace(problem, facts=facts, later=problem.later | later, goal=goal)

    def action(self, action: _Action) -> _Action:
        return replace(action, precondition=self.condition(action.precondition), effect=self.effect(action.effect))

    def atoms(self, fluent: Term) -> list[Atom]:
        """The atom which says that a function has a value; none if it always has one."""
        args = tuple(part.head for part in fluent.parts or ())
        return [Atom(self.known[fluent.head], args)] if fluent.head in self.known else []

    def needs(self, term: Term) -> Iterator[Formula]:
        """The conditions under which an expression has a value."""
        yield from self.atoms(term)
        for part in term.parts or ():
            yield from self.needs(part)
        if term.head == "/" and term.parts and not number(term.parts[-1].head):
            yield Not(Compare("=", term.parts[-1], Term("0")))

    def condition(self, formula: Formula, wanted: bool = True) -> Formula:
        """The condition under which a formula is true, or false if that is wanted, without a third possibility."""
        match formula:
            case Compare():
                own = formula if wanted else Not(formula)
                needs = dict.fromkeys((*self.needs(formula.left), *self.needs(formula.right)))
                return And((*needs, own)) if needs else own
            case Not():
                return self.condition(formula.part, not wanted)
            case pddl.Imply():
                parts = self.condition(formula.condition, not wanted), self.condition(formula.consequence, wanted)
                return Or(parts) if wanted else And(parts)
            case And() | Or() if not wanted:
                kind = Or if isinstance(formula, And) else And
                return kind(tuple(self.condition(part, False) for part in formula.parts))
            case pddl.Exists() | pddl.Forall() if not wanted:
                quantifier = pddl.Forall if isinstance(formula, pddl.Exists) else pddl.Exists
                return quantifier(formula.variables, self.condition(formula.part, False))
        return with_parts(formula, self.condition) if wanted else Not(formula)

    def effect(self, formula: Formula) -> Formula:
        """The effect, which also says that numbers with a new value are known."""
        if isinstance(formula, pddl.When):
            return pddl.When(self.condition(formula.condition), self.effect(formula.effect))
        if isinstance(formula, Change) and formula.operator == "assign":
            return And((formula, *self.atoms(formula.fluent)))
        return with_parts(formula, self.effect)
