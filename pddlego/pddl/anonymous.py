"""A domain and its problems with names that say nothing: `predicate0`, `operator1`, `object2`.

What a language model knows of a domain by its words, it cannot know of this one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pddlego.pddl.conditions import words
from pddlego.pddl.domain import Domain, parse_domain
from pddlego.pddl.names import natural
from pddlego.pddl.problem import ANY_TYPE, Atom, Problem, TypedName
from pddlego.pddl.sexpr import Sexpr, read_sexprs, show

WORDS = frozenset(
    ("define", "domain", "and", "or", "not", "imply", "exists", "forall", "when", "=", "-", "either", ANY_TYPE)
)
"""Words of the language, which stay."""


@dataclass(frozen=True)
class Anonymous:
    """A domain without meaning, and the new name of each of its names."""

    domain: Domain
    names: Mapping[str, str]

    def problem(self, problem: Problem) -> Problem:
        """A problem of the old domain as one of the new."""
        objects = sorted((each.name for each in problem.objects if each.name not in self.names), key=natural)
        own = {name: f"object{number}" for number, name in enumerate(objects, start=len(self.domain.constants))}
        names = {**self.names, **own}
        typed = frozenset(TypedName(names[each.name], names.get(each.type, each.type)) for each in problem.objects)
        facts = frozenset(Atom(names[fact.predicate], tuple(names[arg] for arg in fact.args)) for fact in problem.facts)
        return Problem("my-problem", self.domain.name, typed, facts, _renamed(problem.goal, names))


def anonymous(domain: Domain) -> Anonymous:
    """The domain with new names for everything that has one. Names are numbered in the order of the file."""
    names = _numbered("predicate", (each.name for each in domain.predicates))
    names |= _numbered("operator", (each.name for each in domain.actions))
    names |= _numbered("object", (each.name for each in domain.constants))
    names |= _numbered("type", (name for name in domain.types if name != ANY_TYPE))
    (whole,) = read_sexprs(domain.text).expressions
    names |= _numbered("?v", dict.fromkeys(word for word in words(whole) if word.startswith("?")))
    assert isinstance(whole, tuple)
    parts = "\n  ".join(show(_renamed(part, names)) for part in whole[1:] if part[:1] != ("domain",))
    return Anonymous(parse_domain(f"(define (domain my-domain)\n  {parts})"), names)


def _numbered(prefix: str, names: Iterable[str]) -> dict[str, str]:
    return {name: f"{prefix}{number}" for number, name in enumerate(names)}


def _renamed(part: Sexpr, names: Mapping[str, str]) -> Sexpr:
    if isinstance(part, str):
        return part if part in WORDS or part.startswith(":") else names.get(part, part)
    return tuple(_renamed(inner, names) for inner in part)
