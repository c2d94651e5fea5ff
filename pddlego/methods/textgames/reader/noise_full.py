"""Errors in answers that hold a domain, too, of the kinds that the recorded answers have (PDDLego+, by real models).

The shares are counts among the 343 recorded pairs of a domain and a problem; what is harmless in all of them (missing
requirements, upper case) is left out. Lost conditions and effects were counted in the action `move`: 21 ask not where
the agent is, 22 leave it where it was.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pddlego.methods.textgames.formalize.full_answer import take_apart
from pddlego.pddl import PddlSyntaxError, Problem, parse_problem
from pddlego.pddl.sexpr import Sexpr, read_sexprs, show


@dataclass(frozen=True)
class InDomain:
    """An error in the domain file; an answer without one, or in which it cannot be made, stays as it is."""

    change: Callable[[list[Sexpr], random.Random], None]

    def __call__(self, answer: str, rng: random.Random) -> str:
        domain = take_apart(answer).domain
        whole = next((each for each in read_sexprs(domain).expressions if isinstance(each, tuple)), ())
        parts = list(whole[1:])
        self.change(parts, rng)
        if not parts or tuple(parts) == whole[1:]:
            return answer
        wrong = "(define " + "\n  ".join(map(show, parts)) + ")"
        return answer.replace(domain, wrong)


@dataclass(frozen=True)
class InGoals:
    """An error in the goals."""

    change: Callable[[Problem, random.Random], str]

    def __call__(self, answer: str, rng: random.Random) -> str:
        try:
            problem = parse_problem(take_apart(answer).problem)
        except PddlSyntaxError:
            return answer
        goal = self.change(problem, rng)
        return re.sub(r"<goals>.*?</goals>", f"<goals>\n{goal}\n</goals>", answer, flags=re.DOTALL) if goal else answer


def lose(field: str, parts: list[Sexpr], rng: random.Random) -> None:
    """An action asks for one thing less than the game, or changes one thing less."""
    places = [
        (number, place + 1, each)
        for number, part in _actions(parts)
        for place, word in enumerate(part)
        if word == field and part[place + 1][:1] == ("and",)
        for each in range(1, len(part[place + 1]))
    ]
    if places:
        number, place, each = rng.choice(places)
        part = parts[number]
        condition = part[place]
        parts[number] = (*part[:place], (*condition[:each], *condition[each + 1 :]), *part[place + 1 :])


def undeclared_types(parts: list[Sexpr], rng: random.Random) -> None:
    """There is no section of types."""
    parts[:] = [part for part in parts if part[:1] != (":types",)]


def undeclared_predicate(parts: list[Sexpr], rng: random.Random) -> None:
    """A predicate is used and not declared."""
    for number, part in enumerate(parts):
        if part[:1] == (":predicates",) and len(part) > 1:
            lost = rng.randrange(1, len(part))
            parts[number] = (*part[:lost], *part[lost + 1 :])


def rename(new: Callable[[str], str], parts: list[Sexpr], rng: random.Random) -> None:
    """A condition or an effect names a variable that is no parameter, or has an argument too few."""
    actions = [(number, part) for number, part in _actions(parts) if "?" in show(part[4:])]
    if not actions:
        return
    number, part = rng.choice(actions)
    head, body = show(part[:4])[1:-1], show(part[4:])[1:-1]
    places = list(re.finditer(r"\?[\w-]+", body))
    match = rng.choice(places)
    changed = f"({head} {body[: match.start()]}{new(match.group())}{body[match.end() :]})"
    parts[number] = read_sexprs(changed).expressions[0]


def misspelt_section(parts: list[Sexpr], rng: random.Random) -> None:
    """`:preconditions`, `:effects`: the words of the language in the plural."""
    number, part = rng.choice([*_actions(parts)] or [(0, parts[0] if parts else ())])
    if not isinstance(part, tuple) or not part:
        return
    parts[number] = tuple(f"{each}s" if each in (":precondition", ":effect") else each for each in part)


def own_subtype(parts: list[Sexpr], rng: random.Random) -> None:
    """A type is its own subtype."""
    for number, part in enumerate(parts):
        if part[:1] == (":types",) and len(part) > 1 and isinstance(part[1], str):
            parts[number] = (*part, part[1], "-", part[1]) if "-" in part else (*part, "-", part[1])


def _actions(parts: list[Sexpr]) -> Iterator[tuple[int, tuple[Sexpr, ...]]]:
    for number, part in enumerate(parts):
        if isinstance(part, tuple) and part[:1] == (":action",):
            yield number, part


def goal_true(problem: Problem, rng: random.Random) -> str:
    """The goal is true before any action."""
    facts = [str(fact) for fact in problem.sorted_facts()]
    return rng.choice(facts) if facts else ""


def goal_variable(problem: Problem, rng: random.Random) -> str:
    """The goal names a variable that nothing binds."""
    facts = [fact for fact in problem.sorted_facts() if fact.args]
    return f"({rng.choice(facts).predicate} ?x)" if facts else ""
