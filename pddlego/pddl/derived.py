"""Derived predicates written out: a domain and a goal of the same meaning without them, for engines that know none."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping

from pddlego.pddl.domain import Domain, reachable
from pddlego.pddl.problem import Atom, TypedName, read_atom
from pddlego.pddl.sexpr import Sexpr, read_sexprs, show


def conjuncts(part: Sexpr) -> tuple[Sexpr, ...]:
    """What stands in a conjunction, nested ones too; what is none is its own only conjunct."""
    if isinstance(part, tuple) and part[:1] == ("and",):
        return tuple(inner for each in part[1:] for inner in conjuncts(each))
    return (part,) if part else ()


def required_atoms(condition: Sexpr) -> list[Atom]:
    """The conjuncts of a condition that are atoms."""
    return [atom for each in conjuncts(condition) if (atom := read_atom(each)) is not None]


def expressions(part: Sexpr) -> Iterator[tuple[Sexpr, ...]]:
    """An expression and all lists inside of it that are not empty, in their order."""
    if isinstance(part, tuple) and part:
        yield part
        for inner in part:
            yield from expressions(inner)


def words(part: Sexpr) -> Iterator[str]:
    """Every word in an expression, in its order."""
    if isinstance(part, str):
        yield part
    else:
        for inner in part:
            yield from words(inner)


def recursive_predicate(domain: Domain) -> str | None:
    """A derived predicate that is defined by itself, directly or through others; None if there is none."""
    uses: dict[str, set[str]] = defaultdict(set)
    for predicate, condition in domain.derived:
        uses[predicate.name].update(_predicates(condition))
    return next((name for name in uses if name in reachable(uses[name], uses)), None)


def write_out(domain: Domain, goal: Sexpr) -> tuple[str, Sexpr]:
    """The text of the domain and the goal with every derived atom replaced by its definition.

    Raises `ValueError` for a recursive definition, which cannot be written out.
    """
    circle = recursive_predicate(domain)
    if circle is not None:
        raise ValueError(f"the derived predicate {circle} is recursive")
    if not domain.derived:
        return domain.text, goal
    writer = _Writer(domain, goal)
    sections = (writer.section(part) for part in read_sexprs(domain.text).expressions[0][1:])
    return show(("define", *(each for each in sections if each is not None))), writer.condition(goal, {})


class _Writer:
    """Replaces derived atoms. Bound variables of a definition get names that nobody uses, so that none is caught."""

    def __init__(self, domain: Domain, goal: Sexpr) -> None:
        self.domain, self.rules = domain, domain.rules
        used = {*words(read_sexprs(domain.text).expressions[0]), *words(goal)}
        self.fresh = (name for number in itertools.count(1) if (name := f"?v{number}") not in used)

    def section(self, part: Sexpr) -> Sexpr | None:
        """A section of the domain without derived predicates; None if nothing is left of it."""
        head = part[0] if isinstance(part, tuple) and part else ""
        if head == ":derived":
            return None
        if head == ":requirements":
            return tuple(each for each in part if each not in (":derived-predicates", ":domain-axioms"))
        if head == ":predicates":
            return tuple(each for each in part if not (isinstance(each, tuple) and each and each[0] in self.rules))
        if head == ":action":
            return self._action(part)
        return part

    def _action(self, part: Sexpr) -> Sexpr:
        done = list(part)
        for number, word in enumerate(part):
            if word == ":precondition":
                done[number + 1] = self.condition(part[number + 1], {})
            elif word == ":effect":
                done[number + 1] = self._effect(part[number + 1])
        return tuple(done)

    def _effect(self, effect: Sexpr) -> Sexpr:
        if isinstance(effect, str) or not effect:
            return effect
        if effect[0] == "when" and len(effect) == 3:
            return ("when", self.condition(effect[1], {}), self._effect(effect[2]))
        if effect[0] in ("and", "forall"):
            return (effect[0], *(self._effect(part) for part in effect[1:]))
        return effect

    def condition(self, condition: Sexpr, names: Mapping[str, str]) -> Sexpr:
        """The condition with `names` put in place of its variables and definitions in place of derived atoms."""
        if isinstance(condition, str):
            return names.get(condition, condition)
        if not condition:
            return condition
        head, parts = condition[0], condition[1:]
        if head in ("exists", "forall") and len(parts) == 2 and names:
            renamed = {each: next(self.fresh) for each in words(parts[0]) if each.startswith("?")}
            inner = {**names, **renamed}
            return (head, self.condition(parts[0], inner), self.condition(parts[1], inner))
        done = tuple(self.condition(part, names) for part in parts)
        rules = self.rules.get(str(head))
        if rules is None:
            # A list of variables begins with one; the names of predicates and connectives stay.
            first = self.condition(head, names) if isinstance(head, tuple) or head.startswith("?") else head
            return (first, *done)
        ways = [self._way(str(head), rule, [show(each) for each in done]) for rule in rules]
        return ways[0] if len(ways) == 1 else ("or", *ways)

    def _way(self, name: str, rule: tuple[tuple[TypedName, ...], Sexpr], arguments: list[str]) -> Sexpr:
        """One rule for these arguments; it counts only for arguments of the types that it names."""
        parameters, body = rule
        written = self.condition(body, {each.name: arg for each, arg in zip(parameters, arguments, strict=True)})
        declared = self.domain.predicates_by_name[name].parameters
        guards: list[Sexpr] = []
        for parameter, general, arg in zip(parameters, declared, arguments, strict=True):
            if not self.domain.is_a(general.type, parameter.type):
                fresh = next(self.fresh)
                guards.append(("exists", (fresh, "-", parameter.type), ("=", fresh, arg)))
        return ("and", *guards, written) if guards else written


def _predicates(condition: Sexpr) -> Iterator[str]:
    """The predicates of a condition: what stands first, and is no connective."""
    if isinstance(condition, str) or not condition:
        return
    head, parts = condition[0], condition[1:]
    if head in ("exists", "forall"):
        yield from _predicates(parts[-1]) if parts else ()
    elif head in ("and", "or", "not", "imply"):
        for part in parts:
            yield from _predicates(part)
    elif isinstance(head, str) and head != "=":
        yield head
