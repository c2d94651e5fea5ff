"""Warnings about likely mistakes in domains and problems that can be planned with.

`pddlego check` prints the warnings, and a model reads them while it builds a domain; games ignore them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from pddlego.pddl.check import declaration_warnings
from pddlego.pddl.conditions import (
    ANY_TYPE,
    TRUE,
    And,
    Atom,
    Compare,
    Equal,
    Exists,
    Forall,
    Formula,
    Not,
    Scope,
    When,
    arguments_in,
    atoms_of,
    changed_atoms,
    conjuncts,
    parts_of,
    required_atoms,
    scope_of,
    walk,
    word_of,
)
from pddlego.pddl.costs import counts_cost, needs_numbers, needs_time
from pddlego.pddl.domain import Action, Domain, either
from pddlego.pddl.exclusive import broken_invariants, exclusive_goals
from pddlego.pddl.names import spelt
from pddlego.pddl.numbers import IS_VIOLATED, TOTAL_COST, TOTAL_TIME, changed_fluents, fluents_in, is_cost, numeric_part
from pddlego.pddl.preferences import is_goal
from pddlego.pddl.problem import Problem
from pddlego.pddl.rules import Defect, DefectKind, Level, Where, warning

_NEEDS = {
    "not": ":negative-preconditions",
    "or": ":disjunctive-preconditions",
    "imply": ":disjunctive-preconditions",
    "exists": ":existential-preconditions",
    "forall": ":universal-preconditions",
    "=": ":equality",
}
"""The requirement that each word in a condition needs."""

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

NUMERIC = frozenset((":fluents", ":numeric-fluents"))
TIMED = frozenset((":durative-actions", ":duration-inequalities", ":timed-initial-literals", ":timed-initial-effects"))
CONSTRAINED = frozenset((":constraints", ":preferences"))
"""The requirements of numbers, of time and of constraints, which planners read only in tasks that have them."""

PDDL_REQUIREMENTS = READ_REQUIREMENTS | frozenset(
    (
        *(*_IMPLIED[":ucpop"], ":ucpop", ":action-costs", ":fluents", ":numeric-fluents", ":object-fluents", ":mdp"),
        *(":durative-actions", ":duration-inequalities", ":continuous-effects", ":derived-predicates", ":open-world"),
        *(*TIMED, ":preferences", ":constraints", ":time", ":action-expansions", ":rewards"),
        *(":foreach-expansions", ":dag-expansions", ":subgoal-through-axioms", ":expression-evaluation"),
        *(":goal-utilities", ":non-deterministic", ":probabilistic-effects", ":multi-agent"),
        *(":hierarchy", ":hierachie", ":method-preconditions"),  # of HDDL, as its files spell them
    )
)
"""The requirements of all versions of PDDL."""


def domain_warnings(domain: Domain) -> tuple[Defect, ...]:
    """The warnings about a domain. Total, but most useful for a domain without defects."""
    warnings = list(declaration_warnings(domain))
    for action in (*domain.actions, *domain.durative):
        where, scope = Where("action", action.name), scope_of(action.parameters)
        before, after = where._replace(part="precondition"), where._replace(part="effect")
        warnings += _argument_warnings(domain, action.precondition, before, scope)
        warnings += _argument_warnings(domain, action.effect, after, scope)
        warnings += _contradictions(action.precondition, before, DefectKind.CONTRADICTING_CONDITION)
        # A precondition that the effect makes both false and true is a lock, as in some competition domains.
        locks = frozenset(conjuncts(action.precondition))
        warnings += _contradictions(action.effect, after, DefectKind.CONTRADICTING_EFFECT, locks)
        if not any(changed_atoms(action.effect)) and all(map(is_cost, changed_fluents(action.effect))):
            fault, advice = "the action changes nothing", "write its effect"
            defect = warning(DefectKind.EMPTY_EFFECT, action.name, fault, advice, action.place)
            warnings.append(replace(defect, where=where))
    for rule in domain.derived:
        where, scope = Where("derived predicate", rule.predicate.name), scope_of(rule.predicate.parameters)
        warnings += _argument_warnings(domain, rule.condition, where, scope)
    return (*warnings, *_untyped_parameters(domain), *_requirements(domain))


def _untyped_parameters(domain: Domain) -> Iterator[Defect]:
    """Warnings about predicates that lack a type where all actions use one."""
    used: dict[tuple[str, int], set[str]] = defaultdict(set)
    for action in domain.schemas if domain.supertypes else ():
        for node, bound in walk(And((action.precondition, action.effect)), scope_of(action.parameters)):
            for number, arg in enumerate(node.args if isinstance(node, Atom) else ()):
                used[word_of(node), number].add(bound.get(arg, ANY_TYPE))
    for predicate in domain.predicates:
        kinds = [used[predicate.name, number] for number in range(len(predicate.parameters))]
        typed = [
            replace(one, type=min(own)) if one.untyped and len(own) == 1 else one
            for one, own in zip(predicate.parameters, kinds, strict=True)
        ]
        untyped = [one for one in typed if one.untyped and one.type != ANY_TYPE]
        if untyped:
            names = ", ".join(parameter.name for parameter in untyped)
            fault = f"predicate {predicate.name}: {names} without a type, and actions use one"
            advice = f"write {replace(predicate, parameters=tuple(typed))}"
            yield warning(DefectKind.UNTYPED, predicate.name, fault, advice, untyped[0].place)


def problem_warnings(domain: Domain, problem: Problem, level: Level = Level.CLASSICAL) -> tuple[Defect, ...]:
    """The warnings about a problem of a domain. Total, but most useful for a domain without defects.

    A metric is ignored unless it is about action costs, or the `level` of the caller has numbers.
    """
    warnings: list[Defect] = []
    constants = {constant.name for constant in domain.constants}
    for obj in problem.sorted_objects():
        if obj.name in constants:
            fault, advice = f"object {obj.name} is a constant of the domain", "remove it from :objects"
            warnings.append(warning(DefectKind.OBJECT_IS_CONSTANT, obj.name, fault, advice, obj.place))
    wanted = And((problem.goal, *problem.preferences))
    if not any(isinstance(node, Atom | Equal | Compare) for node, _ in walk(wanted)):
        fault, advice = "the goal is empty", "write what must be true at the end"
        warnings.append(warning(DefectKind.EMPTY_GOAL, ":goal", fault, advice, problem.goal.place))
    warnings += _contradictions(problem.goal, Where(":goal"), DefectKind.CONTRADICTING_GOAL)
    temporal = needs_time(domain, problem) is not None  # the invariants below are those of instantaneous actions
    warnings += () if temporal else exclusive_goals(domain, problem)
    mentioned = {
        *(arg for literal in problem.later for arg in arguments_in(literal.part)),
        *(arg for fact in problem.facts for arg in fact.args),
        *arguments_in(wanted),
        *arguments_in(problem.constraints),
        *constants,
    }
    if needs_numbers(domain, problem) is not None:
        mentioned |= {name for value in problem.values for name in arguments_in(value)}
    unused = [obj for obj in problem.sorted_objects() if obj.name not in mentioned]
    usable = set(_usable_types(domain, problem)) if unused else set()
    useless = {own for own in {obj.type for obj in unused} if not any(domain.is_a(own, kind) for kind in usable)}
    for obj in unused:
        if obj.type in useless:
            fault, advice = f"object {obj.name} does not occur in :init or in the goal", "use or remove it"
            warnings.append(warning(DefectKind.UNUSED_OBJECT, obj.name, fault, advice, obj.place))
    if problem.metric is not None and level < Level.NUMBERS and not counts_cost(problem):
        fault = f"{problem.metric} is ignored: only (:metric minimize (total-cost)) is used"
        warnings.append(warning(DefectKind.IGNORED_METRIC, ":metric", fault, "", problem.metric.place))
    if problem.metric is not None and level >= Level.NUMBERS and TOTAL_TIME in fluents_in(problem.metric.term):
        fault = f"{problem.metric} counts the steps, because the task has no time"
        advice = "leave it out, or minimize (total-cost) if actions have costs"
        defect = warning(DefectKind.UNTIMED_METRIC, ":metric", fault, advice, problem.metric.place)
        warnings += () if temporal else (defect,)
    own = (*domain.requirements, *problem.requirements)
    missing = _missing_requirements(own, _only_in_problem(domain, problem))
    warnings += (replace(defect, place=problem.goal.place) for defect in missing)
    return (*warnings, *_never_true(domain, problem), *(() if temporal else broken_invariants(domain, problem)))


def _argument_warnings(domain: Domain, part: Formula, where: Where, scope: Scope) -> Iterator[Defect]:
    """Warnings about arguments of a wider type than declared, and about variables that are bound twice."""
    for node, bound in walk(part, scope):
        found: list[Defect] = []
        if isinstance(node, Exists | Forall):
            for variable in node.variables:
                if variable.name in bound:
                    fault, kind = f"{variable.name} is already bound", DefectKind.SHADOWED_VARIABLE
                    found.append(warning(kind, variable.name, fault, "rename it", variable.place))
        elif isinstance(node, Atom):
            predicate = domain.predicates_by_name.get(node.predicate)
            for arg, wanted in zip(node.args, predicate.parameters if predicate else (), strict=False):
                own = bound.get(arg)
                if own is not None and _is_wider(domain, own, wanted.type):
                    fault = f"{arg} is a {own}, and {node.predicate} takes a {wanted.type}"
                    found.append(warning(DefectKind.WIDER_TYPE, arg, fault, "give it that type", node.place))
        printed = str(node) if found else ""  # once: a long part may have many warnings
        yield from (replace(defect, where=where, part=printed) for defect in found)


def _is_wider(domain: Domain, kind: str, wanted: str) -> bool:
    """Whether some objects of type `kind` are of type `wanted`, and others are not."""
    return not domain.is_a(kind, wanted) and all(
        any(domain.is_a(one, above) for above in either(kind)) for one in either(wanted)
    )


def _contradictions(
    part: Formula, where: Where, kind: DefectKind, allowed: frozenset[Formula] = frozenset()
) -> Iterator[Defect]:
    """Warnings about atoms that one conjunction contains both plain and negated, except `allowed` ones."""
    true = set(required_atoms(part))
    for conjunct in conjuncts(part):
        match conjunct:
            case Not(part=Atom() as atom) if atom in true and atom not in allowed:
                fault = f"{atom} and (not {atom}) contradict each other"
                yield replace(warning(kind, str(atom), fault, "keep one", atom.place), where=where)
    for inner in parts_of(part):
        if not isinstance(part, Not) and not isinstance(inner, Not):
            yield from _contradictions(inner, where, kind, allowed)


def _usable_types(domain: Domain, problem: Problem) -> Iterator[str]:
    """The types of quantified variables, and of parameters that no atom of an unchanging predicate restricts."""
    for condition in (problem.goal, *domain.conditions()):
        for node, _ in walk(condition):
            if isinstance(node, Exists | Forall):
                yield from (variable.type for variable in node.variables)
    changed = {name for action in domain.schemas for name in _added_predicates(action)}
    for action in domain.schemas:
        atoms = required_atoms(action.precondition)
        restricted = {arg for atom in atoms if atom.predicate not in changed for arg in atom.args}
        yield from (parameter.type for parameter in action.parameters if parameter.name not in restricted)


_MOST_NAMED = 3
"""The maximum number of actions that a message names."""


def action_names(names: Sequence[str]) -> str:
    """`action a`, or `actions a, b, c and 2 more`."""
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"action{'s' * (len(names) > 1)} {', '.join(names[:_MOST_NAMED])}{more}"


def missing_type(domain: Domain, kinds: Collection[str], wanted: Iterable[str]) -> str:
    """`no object has the type dock`, if it is wanted, and objects have only the types `kinds`; else empty."""
    lacking = (either(one) for one in wanted if not any(domain.is_a(kind, one) for kind in kinds))
    return next((f"no object has the type {' or '.join(names)}" for names in lacking), "")


def _never_true(domain: Domain, problem: Problem) -> Iterator[Defect]:
    """Warnings about predicates that actions require, and that occur in no fact of `:init` and in no effect."""
    possible = {*domain.rules, *(fact.predicate for fact in problem.facts)}
    possible |= {name for action in domain.schemas for name in _added_predicates(action)}
    possible |= {atom.predicate for literal in problem.later for atom in atoms_of(literal.part)}
    requiring: dict[str, list[str]] = defaultdict(list)
    for action in domain.schemas:
        for name in {atom.predicate for atom in required_atoms(action.precondition)} - possible:
            requiring[name].append(action.name)
    kinds = {obj.type for obj in (*domain.constants, *problem.objects)}
    for name, actions in sorted(requiring.items()):
        if name in domain.predicates_by_name:
            predicate = domain.predicates_by_name[name]
            fault = f"{action_names(actions)} can never be applied: {predicate} is in no fact of :init,"
            fault += " and no action adds it"
            advice = f"add facts of {name} to :init, or an effect to an action"
            if lack := missing_type(domain, kinds, scope_of(predicate.parameters).values()):
                fault = f"{lack}, so {action_names(actions)} can never be applied"
                advice = f"declare one in :objects, and add facts of {name} to :init"
            yield warning(DefectKind.NEVER_TRUE, name, fault, advice, None)  # the cause is in the domain file


def _added_predicates(action: Action) -> set[str]:
    """The predicates of the atoms that an action can make true."""
    return {atom.predicate for atom, value in changed_atoms(action.effect) if value}


def _requirements(domain: Domain) -> Iterator[Defect]:
    for name in sorted(set(domain.requirements) - PDDL_REQUIREMENTS):
        meant = spelt(name, PDDL_REQUIREMENTS)
        fault, advice = f"PDDL has no requirement {name}", "remove it"
        advice = f"did you mean {meant}? Else {advice}" if meant else advice
        defect = warning(DefectKind.UNKNOWN_REQUIREMENT, name, fault, advice, (1, 1))
        yield replace(defect, word=name, meant=meant)
    yield from _missing_requirements(domain.requirements, needed_requirements(domain))


def _missing_requirements(requirements: tuple[str, ...], needed: dict[str, str]) -> Iterator[Defect]:
    declared = set(requirements).union(*(_IMPLIED.get(name, ()) for name in requirements))
    if declared & {":fluents", ":numeric-fluents"}:
        declared |= {":action-costs", ":numeric-fluents"}
    for name, reason in sorted(needed.items()):
        if name not in declared:
            fault, advice = f"{reason} needs {name}", "add it to (:requirements …)"
            yield warning(DefectKind.MISSING_REQUIREMENT, name, fault, advice, None)


def _only_in_problem(domain: Domain, problem: Problem) -> dict[str, str]:
    """The requirements that the goal or the metric needs and the domain does not, each with what needs it."""
    needed = {name: f"'{word}' in the goal" for name, word in _requirements_of(problem.goal)}
    if problem.constraints != TRUE or not all(map(is_goal, problem.preferences)):
        needed[":constraints"] = "a constraint"
    if problem.preferences:
        needed[":preferences"] = "a preference"
    fluents = set(fluents_in(problem.metric.term)) - {TOTAL_COST, TOTAL_TIME} if problem.metric else ()
    if part := numeric_part((problem.goal, problem.constraints, *problem.preferences)):
        needed[":numeric-fluents"] = f"'{word_of(part)}' in the goal"
    elif any(fluent.head != IS_VIOLATED for fluent in fluents):
        needed[":numeric-fluents"] = "the metric"
    in_domain = needed_requirements(domain) if needed else ()
    return {name: what for name, what in needed.items() if name not in in_domain}


def needed_requirements(domain: Domain) -> dict[str, str]:
    """The requirements that a domain needs, each with the element that needs it."""
    needed: dict[str, str] = {}
    typed = [parameter for predicate in domain.predicates for parameter in predicate.parameters]
    typed += [parameter for action in domain.schemas for parameter in action.parameters]
    if any(parameter.name != ANY_TYPE for parameter in domain.supertypes) or any(
        parameter.type != ANY_TYPE for parameter in typed
    ):
        needed[":typing"] = "a type"
    if domain.derived:
        needed[":derived-predicates"] = "a derived predicate"
    if domain.constraints != TRUE:
        needed[":constraints"] = "a constraint"
    if domain.numeric_part is not None:
        needed[":numeric-fluents"] = f"'{word_of(domain.numeric_part)}'"
    elif domain.functions:
        needed[":action-costs"] = f"function {domain.functions[0].name}"
    if domain.durative:
        needed[":durative-actions"] = f"action {domain.durative[0].name}"
    conditions = [(action.precondition, f"action {action.name}") for action in domain.schemas]
    conditions += [(rule.condition, f"derived predicate {rule.predicate.name}") for rule in domain.derived]
    for action in domain.schemas:
        for node, _ in walk(action.effect):
            if isinstance(node, When | Forall):
                needed[":conditional-effects"] = f"'{word_of(node)}' in action {action.name}"
                conditions += [(node.condition, f"action {action.name}")] if isinstance(node, When) else []
    for condition, where in conditions:
        for name, word in _requirements_of(condition):
            needed[name] = f"'{word}' in {where}"
    return needed


def _requirements_of(condition: Formula) -> Iterator[tuple[str, str]]:
    """The requirements that a condition needs, each with the word that needs it."""
    for node, _ in walk(condition):
        word = word_of(node)
        is_exempt = isinstance(node, Compare) or (isinstance(node, Not) and isinstance(node.part, Equal))
        if word in _NEEDS and not is_exempt:
            yield _NEEDS[word], word
