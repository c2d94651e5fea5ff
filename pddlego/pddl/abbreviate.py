"""A problem short enough for a prompt: of many things of one kind only the first are listed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from pddlego.pddl.problem import ANY_TYPE, Problem
from pddlego.pddl.sexpr import show

MOST = 10
"""Objects of a type, and atoms of a predicate, that are listed (Silver et al., 2024)."""

INDENT = "    "


def abbreviated(problem: Problem) -> str:
    """The problem with at most `MOST` objects of each type and atoms of each predicate, in alphabetical order.

    Where something is left out stands `...`.
    """
    objects = sorted(problem.objects, key=lambda each: (each.type, each.name))
    typed = any(each.type != ANY_TYPE for each in objects)
    listed = [(each.type, f"{each.name} - {each.type}" if typed else each.name) for each in objects]
    facts = sorted((fact.predicate, str(fact)) for fact in problem.facts)
    goal = problem.goal
    wanted = list(goal[1:]) if isinstance(goal, tuple) and goal[:1] == ("and",) else [goal]
    parts = sorted((show(part[0]) if part else "", show(part)) for part in wanted)
    lines = [f"(define (problem {problem.name}) (:domain {problem.domain})"]
    lines += ["  (:objects", *_some(listed), "  )", "  (:init", *_some(facts), "  )"]
    lines += ["  (:goal (and", *_some(parts), "  ))", ")"]
    return "\n".join(lines)


def _some(entries: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The first lines of each kind."""
    for _, group in groupby(entries, key=lambda entry: entry[0]):
        lines = [line for _, line in group]
        yield from (INDENT + line for line in lines[:MOST])
        if len(lines) > MOST:
            yield f"{INDENT}..."
