"""Functions for a planning domain, made from its actions: what a model is asked to find out by reading."""

from __future__ import annotations

from pddlego.errors import UsageError
from pddlego.methods.thought_of_search.space import Which
from pddlego.pddl import Domain
from pddlego.pddl.conditions import Atom, Equal, Exists, Forall, Formula, parts_of, word_of

_GOAL = """def is_goal(state, goal):
    return all(fact in state for fact in goal)"""

_SUCCESSORS = """def successors(state, objects):
    from itertools import product

    parents = {parents}
    actions = {actions}

    def is_a(kind, wanted):
        return wanted in (kind, "object") or wanted in parents.get(kind, ())

    def holds(condition, binding):
        head, parts = condition[0], condition[1:]
        if head == "and":
            return all(holds(part, binding) for part in parts)
        if head == "or":
            return any(holds(part, binding) for part in parts)
        if head == "not":
            return not holds(parts[0], binding)
        if head == "imply":
            return not holds(parts[0], binding) or holds(parts[1], binding)
        if head in ("exists", "forall"):
            truths = [holds(parts[1], extended) for extended in bindings(parts[0], binding)]
            return any(truths) if head == "exists" else all(truths)
        names = tuple(binding.get(part, part) for part in parts)
        return names[0] == names[1] if head == "=" else (head, *names) in state

    def bindings(parameters, binding):
        choices = [[name for name, kind in objects.items() if is_a(kind, wanted)] for _, wanted in parameters]
        for chosen in product(*choices):
            yield {{**binding, **{{name: value for (name, _), value in zip(parameters, chosen)}}}}

    def apply(effect, binding, adds, deletes):
        head, parts = effect[0], effect[1:]
        if head == "and":
            for part in parts:
                apply(part, binding, adds, deletes)
        elif head == "when":
            if holds(parts[0], binding):
                apply(parts[1], binding, adds, deletes)
        elif head == "forall":
            for extended in bindings(parts[0], binding):
                apply(parts[1], extended, adds, deletes)
        elif head == "not":
            deletes.add((parts[0][0], *(binding.get(part, part) for part in parts[0][1:])))
        else:
            adds.add((head, *(binding.get(part, part) for part in parts)))

    results = []
    for parameters, precondition, effect in actions:
        for binding in bindings(parameters, {{}}):
            if holds(precondition, binding):
                adds, deletes = set(), set()
                apply(effect, binding, adds, deletes)
                results.append((state - deletes) | adds)
    return results"""


def functions_for(domain: Domain) -> dict[Which, str]:
    """Both functions. Raises `UsageError` for a domain with derived predicates."""
    if domain.derived:
        why = "It has derived predicates."
        raise UsageError(f"The reader cannot play {domain.name}", why, "Name a language model with --model.")
    actions = [
        (
            tuple((parameter.name, parameter.type) for parameter in action.parameters),
            _plain(action.precondition),
            _plain(action.effect),
        )
        for action in domain.actions
    ]
    parents = {kind: tuple(sorted(above)) for kind, above in sorted(domain.types.items())}
    return {"successors": _SUCCESSORS.format(parents=repr(parents), actions=repr(actions)), "goal": _GOAL}


def _plain(formula: Formula) -> object:
    """A condition or effect as nested tuples, with the variables of quantifiers as pairs of a name and a type."""
    match formula:
        case Atom():
            return (formula.predicate, *formula.args)
        case Equal():
            return ("=", formula.left, formula.right)
        case Exists() | Forall():
            variables = tuple((variable.name, variable.type) for variable in formula.variables)
            return (word_of(formula), variables, _plain(formula.part))
    return (word_of(formula), *map(_plain, parts_of(formula)))
