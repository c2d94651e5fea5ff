"""What is most likely a mistake in a domain or a problem that can be planned with all the same.

A person reads these in `pddlego check`, and a model while it builds; a game is played without them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from pddlego.pddl.check import declaration_warnings
from pddlego.pddl.conditions import (
    ANY_TYPE,
    Atom,
    Equal,
    Exists,
    Forall,
    Formula,
    Not,
    Scope,
    When,
    arguments_in,
    changed_atoms,
    conjuncts,
    parts_of,
    required_atoms,
    scope_of,
    walk,
    word_of,
)
from pddlego.pddl.costs import counts_cost
from pddlego.pddl.domain import Action, Domain, either
from pddlego.pddl.exclusive import broken_invariants, exclusive_goals
from pddlego.pddl.problem import Problem
from pddlego.pddl.rules import Defect, DefectKind, warning

_NEEDS = {
    "not": ":negative-preconditions",
    "or": ":disjunctive-preconditions",
    "imply": ":disjunctive-preconditions",
    "exists": ":existential-preconditions",
    "forall": ":universal-preconditions",
    "=": ":equality",
}
"""The requirement of a word in a condition."""

_QUANTIFIED = ":quantified-preconditions"

ADL = frozenset({":strips", ":typing", ":conditional-effects", _QUANTIFIED, *_NEEDS.values()})

_IMPLIED = {
    _QUANTIFIED: frozenset({_NEEDS["exists"], _NEEDS["forall"]}),
    ":adl": ADL,
    ":ucpop": ADL | {":adl", ":domain-axioms", ":safety-constraints"},
}
"""Requirements that stand for several others."""

READ_REQUIREMENTS = frozenset(
    (
        *(":strips", ":adl", ":typing", ":negation", ":equality", ":negative-preconditions"),
        *(":disjunctive-preconditions", ":existential-preconditions", ":universal-preconditions"),
        *(":quantified-preconditions", ":conditional-effects", ":derived-predicates", ":action-costs"),
    )
)
"""The requirements that Fast Downward reads; it refuses a file with another one."""

PDDL_REQUIREMENTS = READ_REQUIREMENTS | frozenset(
    (
        *(*_IMPLIED[":ucpop"], ":ucpop", ":action-costs", ":fluents", ":numeric-fluents", ":object-fluents", ":mdp"),
        *(":durative-actions", ":duration-inequalities", ":continuous-effects", ":derived-predicates", ":open-world"),
        *(":timed-initial-literals", ":preferences", ":constraints", ":time", ":action-expansions", ":rewards"),
        *(":foreach-expansions", ":dag-expansions", ":subgoal-through-axioms", ":expression-evaluation"),
        *(":goal-utilities", ":non-deterministic", ":probabilistic-effects", ":multi-agent"),
    )
)
"""Requirements that some version of PDDL knows."""


def _with_implied(requirements: Iterable[str]) -> set[str]:
    """The requirements with those that they stand for."""
    declared = set(requirements)
    return declared.union(*(_IMPLIED.get(name, ()) for name in declared))


def domain_warnings(domain: Domain) -> tuple[Defect, ...]:
    """What is most likely a mistake in a domain. Total; says most of a domain without defects."""
    warnings = list(declaration_warnings(domain))
    for action in domain.actions:
        where, scope = f"action {action.name}", scope_of(action.parameters)
        warnings += _of_part(domain, action.precondition, f"{where}, precondition", scope)
        warnings += _of_part(domain, action.effect, f"{where}, effect", scope)
        warnings += _contradictions(action.precondition, f"{where}, precondition", DefectKind.CONTRADICTING_CONDITION)
        # What is asked for, and made false and true again, is a lock: some domains of the competitions have those.
        asked = frozenset(conjuncts(action.precondition))
        warnings += _contradictions(action.effect, f"{where}, effect", DefectKind.CONTRADICTING_EFFECT, asked)
        if not any(changed_atoms(action.effect)):
            message = f"{where} changes nothing; write its effect"
            warnings.append(warning(DefectKind.EMPTY_EFFECT, where, message, action.place))
    for rule in domain.derived:
        where, scope = f"derived predicate {rule.predicate.name}", scope_of(rule.predicate.parameters)
        warnings += _of_part(domain, rule.condition, where, scope)
    return (*warnings, *_requirements(domain))


def problem_warnings(domain: Domain, problem: Problem) -> tuple[Defect, ...]:
    """What is most likely a mistake in a problem of a domain. Total; says most of a problem without defects."""
    warnings: list[Defect] = []
    constants = {constant.name for constant in domain.constants}
    for obj in problem.sorted_objects():
        if obj.name in constants:
            message = f"object {obj.name} is a constant of the domain; remove it from :objects"
            warnings.append(warning(DefectKind.OBJECT_IS_CONSTANT, obj.name, message, obj.place))
    if not any(isinstance(node, Atom | Equal) for node, _ in walk(problem.goal)):
        message = "the goal is empty; write what must be true at the end"
        warnings.append(warning(DefectKind.EMPTY_GOAL, ":goal", message, problem.goal.place))
    warnings += _contradictions(problem.goal, "the goal", DefectKind.CONTRADICTING_GOAL)
    warnings += exclusive_goals(domain, problem)
    mentioned = {*(arg for fact in problem.facts for arg in fact.args), *arguments_in(problem.goal), *constants}
    unused = [obj for obj in problem.sorted_objects() if obj.name not in mentioned]
    usable = set(_usable_types(domain, problem)) if unused else set()
    for obj in unused:
        if not any(domain.is_a(obj.type, kind) for kind in usable):
            message = f"object {obj.name} does not occur in :init or in the goal; use or remove it"
            warnings.append(warning(DefectKind.UNUSED_OBJECT, obj.name, message, obj.place))
    if problem.metric is not None and not counts_cost(problem):
        message = f"{problem.metric} is ignored: only (:metric minimize (total-cost)) is used"
        warnings.append(warning(DefectKind.IGNORED_METRIC, ":metric", message, problem.metric.place))
    return (*warnings, *_never_true(domain, problem), *broken_invariants(domain, problem))


def _of_part(domain: Domain, part: Formula, where: str, scope: Scope) -> Iterator[Defect]:
    """Arguments of too wide a type, and variables that are bound twice."""
    for node, bound in walk(part, scope):
        if isinstance(node, Exists | Forall):
            for variable in node.variables:
                if variable.name in bound:
                    message = f"{where}: {node}: {variable.name} is already bound; rename it"
                    yield warning(DefectKind.SHADOWED_VARIABLE, where, message, variable.place)
        elif isinstance(node, Atom):
            predicate = domain.predicates_by_name.get(node.predicate)
            for arg, wanted in zip(node.args, predicate.parameters if predicate else (), strict=False):
                kind = bound.get(arg)
                if kind is not None and _is_wider(domain, kind, wanted.type):
                    message = f"{where}: {node}: {arg} is a {kind}, and {node.predicate} takes a {wanted.type}"
                    yield warning(DefectKind.WIDER_TYPE, where, f"{message}; give it that type", node.place)


def _is_wider(domain: Domain, kind: str, wanted: str) -> bool:
    """Whether only some things of type `kind` are of type `wanted`."""
    return not domain.is_a(kind, wanted) and all(
        any(domain.is_a(one, above) for above in either(kind)) for one in either(wanted)
    )


def _contradictions(
    part: Formula, where: str, kind: DefectKind, meant: frozenset[Formula] = frozenset()
) -> Iterator[Defect]:
    """Facts that one conjunction asks for, or makes, both true and false, and that are not `meant` so."""
    true = set(required_atoms(part))
    for conjunct in conjuncts(part):
        match conjunct:
            case Not(part=Atom() as atom) if atom in true and atom not in meant:
                message = f"{where}: {atom} and (not {atom}) contradict each other; keep one"
                yield warning(kind, where, message, atom.place)
    for inner in parts_of(part):
        if not isinstance(part, Not) and not isinstance(inner, Not):
            yield from _contradictions(inner, where, kind, meant)


def _usable_types(domain: Domain, problem: Problem) -> Iterator[str]:
    """The types of the objects that something may happen with, or depend on, though no fact names them."""
    for condition in (problem.goal, *domain.conditions()):
        for node, _ in walk(condition):
            if isinstance(node, Exists | Forall):
                yield from (variable.type for variable in node.variables)
    changed = {name for action in domain.actions for name in _made(action)}
    for action in domain.actions:
        atoms = required_atoms(action.precondition)
        asked = {arg for atom in atoms if atom.predicate not in changed for arg in atom.args}
        yield from (parameter.type for parameter in action.parameters if parameter.name not in asked)


_MOST_NAMED = 3
"""Actions that a message names."""


def named(names: Sequence[str]) -> str:
    """`action a`, or `actions a, b, c and 2 more`."""
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"action{'s' * (len(names) > 1)} {', '.join(names[:_MOST_NAMED])}{more}"


def _never_true(domain: Domain, problem: Problem) -> Iterator[Defect]:
    """The predicates that actions require, and that are in no fact of `:init` and in no effect."""
    there = {*domain.rules, *(fact.predicate for fact in problem.facts)}
    there |= {name for action in domain.actions for name in _made(action)}
    requiring: dict[str, list[str]] = defaultdict(list)
    for action in domain.actions:
        for name in {atom.predicate for atom in required_atoms(action.precondition)} - there:
            requiring[name].append(action.name)
    for name, actions in sorted(requiring.items()):
        if name in domain.predicates_by_name:
            message = (
                f"{named(actions)} can never be applied: {domain.predicates_by_name[name]} is in no fact of :init,"
            )
            message += f" and no action adds it; add facts of {name} to :init, or an effect to an action"
            yield warning(DefectKind.NEVER_TRUE, name, message)  # its place is in the other file


def _made(action: Action) -> set[str]:
    """The predicates of which an action can make a fact true."""
    return {atom.predicate for atom, value in changed_atoms(action.effect) if value}


def _requirements(domain: Domain) -> Iterator[Defect]:
    for name in sorted(set(domain.requirements) - PDDL_REQUIREMENTS):
        message = f"PDDL has no requirement {name}; remove it"
        yield warning(DefectKind.UNKNOWN_REQUIREMENT, name, message)
    declared = _with_implied(domain.requirements)
    if declared & {":fluents", ":numeric-fluents"}:
        declared.add(":action-costs")
    for name, reason in sorted(needed_requirements(domain).items()):
        if name not in declared:
            message = f"{reason} needs {name}; add it to (:requirements …)"
            yield warning(DefectKind.MISSING_REQUIREMENT, name, message)


def needed_requirements(domain: Domain) -> dict[str, str]:
    """The requirements of what a domain uses, with what needs them."""
    needed: dict[str, str] = {}
    typed = [parameter for predicate in domain.predicates for parameter in predicate.parameters]
    typed += [parameter for action in domain.actions for parameter in action.parameters]
    if any(parameter.name != ANY_TYPE for parameter in domain.supertypes) or any(
        parameter.type != ANY_TYPE for parameter in typed
    ):
        needed[":typing"] = "a type"
    if domain.derived:
        needed[":derived-predicates"] = "a derived predicate"
    if domain.functions:
        needed[":action-costs"] = f"function {domain.functions[0].name}"
    conditions = [(action.precondition, f"action {action.name}") for action in domain.actions]
    conditions += [(rule.condition, f"derived predicate {rule.predicate.name}") for rule in domain.derived]
    for action in domain.actions:
        for node, _ in walk(action.effect):
            if isinstance(node, When | Forall):
                needed[":conditional-effects"] = f"'{word_of(node)}' in action {action.name}"
                conditions += [(node.condition, f"action {action.name}")] if isinstance(node, When) else []
    for condition, where in conditions:
        for name, word in _requirements_of(condition):
            needed[name] = f"'{word}' in {where}"
    return needed


def _requirements_of(condition: Formula) -> Iterator[tuple[str, str]]:
    """The requirements of what a condition uses, each with the word that needs it."""
    for node, _ in walk(condition):
        word = word_of(node)
        if word in _NEEDS and not (isinstance(node, Not) and isinstance(node.part, Equal)):
            yield _NEEDS[word], word
