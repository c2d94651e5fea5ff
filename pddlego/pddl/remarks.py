"""What is most likely a mistake in a domain or a problem that can be planned with all the same.

A person reads these in `pddlego check`, and a model while it builds; a game is played without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pddlego.pddl.check import declaration_remarks
from pddlego.pddl.derived import conjuncts, expressions, required_atoms, words
from pddlego.pddl.domain import Domain, either
from pddlego.pddl.exclusive import broken_invariants
from pddlego.pddl.problem import ANY_TYPE, Atom, Problem, TypedName, read_atom, read_typed_list
from pddlego.pddl.rules import Defect, DefectKind, remark
from pddlego.pddl.sexpr import Sexpr, show

Scope = dict[str, str]

NEEDS = {
    "not": ":negative-preconditions",
    "or": ":disjunctive-preconditions",
    "imply": ":disjunctive-preconditions",
    "exists": ":existential-preconditions",
    "forall": ":universal-preconditions",
    "=": ":equality",
}
"""The requirement of a word in a condition."""

QUANTIFIED = ":quantified-preconditions"

ADL = frozenset({":strips", ":typing", ":conditional-effects", QUANTIFIED, *NEEDS.values()})

IMPLIED = {
    QUANTIFIED: frozenset({NEEDS["exists"], NEEDS["forall"]}),
    ":adl": ADL,
    ":ucpop": ADL | {":adl", ":domain-axioms", ":safety-constraints"},
}
"""Requirements that stand for several others."""

KNOWN = frozenset(
    (
        *(*IMPLIED[":ucpop"], ":ucpop", ":action-costs", ":fluents", ":numeric-fluents", ":object-fluents", ":mdp"),
        *(":durative-actions", ":duration-inequalities", ":continuous-effects", ":derived-predicates", ":open-world"),
        *(":timed-initial-literals", ":preferences", ":constraints", ":time", ":action-expansions", ":rewards"),
        *(":foreach-expansions", ":dag-expansions", ":subgoal-through-axioms", ":expression-evaluation"),
        *(":goal-utilities", ":non-deterministic", ":probabilistic-effects", ":multi-agent"),
    )
)
"""Requirements that some version of PDDL knows."""


def with_implied(requirements: Iterable[str]) -> set[str]:
    """The requirements with those that they stand for."""
    declared = set(requirements)
    return declared.union(*(IMPLIED.get(name, ()) for name in declared))


def domain_remarks(domain: Domain) -> tuple[Defect, ...]:
    """What is most likely a mistake in a domain. Total; says most of a domain without defects."""
    found = list(declaration_remarks(domain))
    for action in domain.actions:
        where, scope = f"action {action.name}", {each.name: each.type for each in action.parameters}
        found += _of_part(domain, action.precondition, f"{where}, precondition", scope)
        found += _of_part(domain, action.effect, f"{where}, effect", scope)
        found += _contradictions(action.precondition, f"{where}, precondition", DefectKind.CONTRADICTING_CONDITION)
        # What is asked for, and made false and true again, is a lock: some domains of the competitions have those.
        asked = frozenset(conjuncts(action.precondition))
        found += _contradictions(action.effect, f"{where}, effect", DefectKind.CONTRADICTING_EFFECT, asked)
        if not any(True for _ in _literals(action.effect)):
            found.append(remark(DefectKind.EMPTY_EFFECT, where, f"{where} changes nothing; write its effect"))
    for predicate, condition in domain.derived:
        scope = {each.name: each.type for each in predicate.parameters}
        found += _of_part(domain, condition, f"derived predicate {predicate.name}", scope)
    return (*found, *_requirements(domain))


def problem_remarks(domain: Domain, problem: Problem) -> tuple[Defect, ...]:
    """What is most likely a mistake in a problem of a domain. Total; says most of a problem without defects."""
    found: list[Defect] = []
    constants = {each.name for each in domain.constants}
    for each in problem.sorted_objects():
        if each.name in constants:
            message = f"object {each.name} is a constant of the domain; leave it out of :objects"
            found.append(remark(DefectKind.OBJECT_IS_CONSTANT, each.name, message))
    if not any(True for _ in _atoms(problem.goal)):
        found.append(remark(DefectKind.EMPTY_GOAL, ":goal", "the goal asks for nothing; write what is to be reached"))
    named = {*(arg for fact in problem.facts for arg in fact.args), *words(problem.goal)}
    for each in problem.sorted_objects():
        if each.name not in named | constants and not _may_be_used(domain, problem, each):
            message = f"object {each.name} stands in no fact and not in the goal; say something of it, or leave it out"
            found.append(remark(DefectKind.UNUSED_OBJECT, each.name, message))
    used = {*domain.rules, *(fact.predicate for fact in problem.facts)}
    used |= {atom.predicate for part in (problem.goal, *_conditions(domain)) for atom in _atoms(part)}
    for name in dict.fromkeys(each.name for each in domain.predicates):
        if name not in used:
            message = f"predicate {name} is used by no action, no fact and not by the goal; use it, or leave it out"
            found.append(remark(DefectKind.UNUSED_PREDICATE, name, message))
    return (*found, *_never_true(domain, problem), *broken_invariants(domain, problem))


def _of_part(domain: Domain, part: Sexpr, where: str, scope: Scope) -> Iterator[Defect]:
    """Arguments of too wide a type, and variables that are bound twice."""
    if not isinstance(part, tuple) or not part:
        return
    if part[0] in ("forall", "exists") and len(part) == 3 and isinstance(part[1], tuple):
        variables = tuple(read_typed_list(part[1], []))
        for variable in variables:
            if variable.name in scope:
                message = f"{show(part)}: {variable.name} is bound already; give it another name"
                yield remark(DefectKind.SHADOWED_VARIABLE, where, f"{where}: {message}")
        scope = {**scope, **{each.name: each.type for each in variables}}
        yield from _of_part(domain, part[2], where, scope)
        return
    atom = read_atom(part)
    if atom is None:
        for each in part[1:]:
            yield from _of_part(domain, each, where, scope)
        return
    predicate = domain.predicates_by_name.get(atom.predicate)
    for given, wanted in zip(atom.args, predicate.parameters if predicate else (), strict=False):
        kind = scope.get(given)
        if kind is not None and _is_wider(domain, kind, wanted.type):
            message = f"{atom}: {given} is a {kind}, and {atom.predicate} takes a {wanted.type}; give it that type"
            yield remark(DefectKind.WIDER_TYPE, where, f"{where}: {message}")


def _is_wider(domain: Domain, kind: str, wanted: str) -> bool:
    """Whether some things of type `kind` cannot stand where `wanted` is asked for, and some can."""
    return not domain.is_a(kind, wanted) and all(
        any(domain.is_a(one, above) for above in either(kind)) for one in either(wanted)
    )


def _contradictions(
    part: Sexpr, where: str, kind: DefectKind, meant: frozenset[Sexpr] = frozenset()
) -> Iterator[Defect]:
    """Facts that one conjunction asks for, or makes, both true and false, and that are not `meant` so."""
    true = set(required_atoms(part))
    for each in conjuncts(part):
        atom = read_atom(each[1]) if isinstance(each, tuple) and len(each) == 2 and each[0] == "not" else None
        if atom is not None and atom in true and each[1] not in meant:
            message = f"{where}: {atom} and (not {atom}) stand together; keep one"
            yield remark(kind, where, message)
    if isinstance(part, tuple) and part and part[0] in ("and", "or", "forall", "exists", "when", "imply"):
        for each in part[1:]:
            if isinstance(each, tuple) and each[:1] != ("not",):
                yield from _contradictions(each, where, kind, meant)


def _literals(part: Sexpr) -> Iterator[tuple[str, bool]]:
    """The predicates that an effect makes true, and those that it makes false."""
    if not isinstance(part, tuple) or not part:
        return
    if part[0] == "not" and len(part) == 2:
        yield from ((name, not value) for name, value in _literals(part[1]))
    elif part[0] == "and":
        for each in part[1:]:
            yield from _literals(each)
    elif part[0] in ("when", "forall") and len(part) == 3:
        yield from _literals(part[2])
    elif isinstance(part[0], str):
        yield part[0], True


def _atoms(part: Sexpr) -> Iterator[Atom]:
    """Every atom of a condition or effect, equalities too."""
    atom = read_atom(part)
    if atom is not None:
        yield atom
    elif isinstance(part, tuple) and part:
        if part[0] == "=":
            yield Atom("=", tuple(show(each) for each in part[1:]))
            return
        quantified = part[0] in ("forall", "exists")
        for each in part[2 if quantified else 1 :]:
            yield from _atoms(each)


def _conditions(domain: Domain) -> list[Sexpr]:
    """The preconditions and effects of actions, and the conditions of rules."""
    found = [each for action in domain.actions for each in (action.precondition, action.effect)]
    return found + [condition for _, condition in domain.derived]


def _may_be_used(domain: Domain, problem: Problem, thing: TypedName) -> bool:
    """Whether something may happen with an object, or depend on it, though no fact names it."""
    bound = (variable for each in (problem.goal, *_conditions(domain)) for variable in _quantified(each))
    if any(domain.is_a(thing.type, variable.type) for variable in bound):
        return True
    changed = {name for action in domain.actions for name, value in _literals(action.effect) if value}
    for action in domain.actions:
        atoms = required_atoms(action.precondition)
        asked = {arg for atom in atoms if atom.predicate not in changed for arg in atom.args}
        if any(each.name not in asked and domain.is_a(thing.type, each.type) for each in action.parameters):
            return True
    return False


def _never_true(domain: Domain, problem: Problem) -> Iterator[Defect]:
    """What actions ask for that nothing makes true, where the goal is out of reach for that."""
    there = {*domain.rules, *(fact.predicate for fact in problem.facts)}
    asked = {action.name: {atom.predicate for atom in required_atoms(action.precondition)} for action in domain.actions}
    made = {action.name: {name for name, value in _literals(action.effect) if value} for action in domain.actions}
    for _ in domain.actions:
        there |= {name for action in domain.actions if asked[action.name] <= there for name in made[action.name]}
    if there.issuperset(atom.predicate for atom in required_atoms(problem.goal)):
        return
    for action in domain.actions:
        for name in sorted((asked[action.name] - there) & set(domain.predicates_by_name)):
            message = f"action {action.name} asks for {name}, of which no fact is listed and which no action can make"
            message += f" true before; add the facts of {name} to :init, or an effect to an action"
            yield remark(DefectKind.NEVER_TRUE, name, message)


def _requirements(domain: Domain) -> Iterator[Defect]:
    for name in sorted(set(domain.requirements) - KNOWN):
        message = f"requirement {name} is none of PDDL; leave it out"
        yield remark(DefectKind.UNKNOWN_REQUIREMENT, name, message)
    declared = with_implied(domain.requirements)
    for name, why in sorted(needed_requirements(domain).items()):
        if name not in declared:
            message = f"{why} needs {name}; add it to (:requirements …)"
            yield remark(DefectKind.MISSING_REQUIREMENT, name, message)


def needed_requirements(domain: Domain) -> dict[str, str]:
    """The requirements of what a domain uses, with what needs them."""
    found: dict[str, str] = {}
    typed = [each for predicate in domain.predicates for each in predicate.parameters]
    typed += [each for action in domain.actions for each in action.parameters]
    if any(name != ANY_TYPE for name, _ in domain.supertypes) or any(each.type != ANY_TYPE for each in typed):
        found[":typing"] = "a type"
    if domain.derived:
        found[":derived-predicates"] = "a derived predicate"
    conditions = [(action.precondition, f"action {action.name}") for action in domain.actions]
    conditions += [(condition, f"derived predicate {head.name}") for head, condition in domain.derived]
    for action in domain.actions:
        for part in expressions(action.effect):
            if part[0] in ("when", "forall"):
                found[":conditional-effects"] = f"'{part[0]}' in action {action.name}"
                conditions += [(part[1], f"action {action.name}")] if part[0] == "when" and len(part) == 3 else []
    for condition, where in conditions:
        for part in expressions(condition):
            name = NEEDS.get(str(part[0]))
            if name is not None and not (part[0] == "not" and part[1:2] and part[1][:1] == ("=",)):
                found[name] = f"'{part[0]}' in {where}"
    return found


def _quantified(part: Sexpr) -> Iterator[TypedName]:
    """The variables that forall and exists bind in an expression."""
    for each in expressions(part):
        if each[0] in ("forall", "exists") and len(each) == 3 and isinstance(each[1], tuple):
            yield from read_typed_list(each[1], [])
