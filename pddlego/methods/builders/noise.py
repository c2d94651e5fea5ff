"""The built-in model with simulated errors: a simulation, and called one wherever it is shown.

A component errs with probability P: a condition, an effect, a fact, an object, a predicate or a part of the goal is
lost, or a fact is false. Its reviews compare with the gold files and name the first difference. How much rounds of
feedback help it follows from this assumption, and is not a finding.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from typing import Any

from pddlego.methods.base import BUILT_IN_MODEL
from pddlego.methods.builders.building import BuilderRequest, Step
from pddlego.methods.builders.draft import Draft
from pddlego.methods.builders.reference import BuilderReference
from pddlego.models import Completion, Request
from pddlego.pddl import Domain, Problem
from pddlego.pddl.conditions import conjuncts, read_condition
from pddlego.pddl.perturb import corrupted
from pddlego.pddl.problem import read_problem
from pddlego.pddl.sexpr import read_sexprs, show


class NoisyReference(BuilderReference):
    """`reader+noise:P[,seed=S]`: the same errors every time for a seed."""

    def __init__(self, rate: float, seed: int = 0, episode: int = 0) -> None:
        self.rate, self.seed = rate, seed
        self._random = random.Random(f"{seed}/{episode}")

    @property
    def name(self) -> str:
        return f"{BUILT_IN_MODEL}+noise:{self.rate:g}{f',seed={self.seed}' if self.seed else ''}"

    @property
    def description(self) -> Mapping[str, Any]:
        return {"reference": True, "noise": {"rate": self.rate, "seed": self.seed, "simulation": True}}

    def complete(self, request: Request) -> Completion:
        """Raises `ModelError` for a request without gold files."""
        answer, asked = super().complete(request), request.context
        assert isinstance(asked, BuilderRequest)
        gold: Any = asked.order.reference
        if asked.purpose == "review":
            return Completion(
                json.dumps(_opinion(difference(asked.draft, asked.order.what, gold.domain, gold.problem)))
            )
        if self._random.random() >= self.rate:
            return answer
        return Completion(json.dumps(erring(json.loads(answer.text), gold.domain, self._random)))


def _opinion(step: Step | None) -> dict[str, Any]:
    """The fields of every kind of review, filled from the first difference."""
    target = {"component": step.kind, "action": step.action} if step else {"component": "", "action": ""}
    opinion = "" if step is None else f"{step.kind} {step.action} is not what the description says".replace("  ", " ")
    fine = step is None
    fields = {
        "summary": opinion,
        "repair": opinion,
        "bottleneck": opinion,
        "fix": opinion,
        "critique": opinion,
        "lesson": opinion,
    }
    return {**fields, **target, "score": 10 if fine else 4, "passing": fine, "intended": fine}


def difference(draft: Draft, what: str, domain: Domain, problem: Problem) -> Step | None:
    """The first component in which a draft differs from the gold files; None if it does not."""
    gold = Draft().with_domain(domain)
    if what != "problem":
        for action in domain.actions_by_name:
            if _plain(draft.sections.get("actions", {}).get(action, "")) != _plain(gold.sections["actions"][action]):
                return Step("action", action) if action in draft.actions else Step("domain")
    if what == "domain":
        return None
    stated = read_problem(draft.problem).problem
    if {obj.name for obj in stated.objects} != {obj.name for obj in problem.objects}:
        return Step("objects")
    known = {fact for fact in problem.facts if fact.predicate in draft.sections.get("predicates", {})}
    if stated.facts != known:
        return Step("init")
    return Step("goal") if _wanted(stated) != _wanted(problem) else None


def _plain(text: str) -> str:
    return " ".join(show(expression) for expression in read_sexprs(text).expressions)


def _wanted(problem: Problem) -> frozenset[str]:
    return frozenset(map(str, conjuncts(problem.goal)))


def erring(value: dict[str, Any], domain: Domain, rng: random.Random) -> dict[str, Any]:
    """A component with one error, where one can be made in it."""
    wrong = dict(value)
    for name in ("objects", "predicates", "facts"):
        if len(wrong.get(name, ())) > 1:
            place = rng.randrange(len(wrong[name]))
            wrong[name] = _false(wrong[name], place, rng) if name == "facts" else _without(wrong[name], place)
            return wrong
    fields = [name for name in ("precondition", "effect", "goal") if len(_parts(wrong.get(name, ""))) > 1]
    if fields:
        name = rng.choice(fields)
        parts = _parts(wrong[name])
        wrong[name] = f"(and {' '.join(_without(parts, rng.randrange(len(parts))))})"
    elif "domain" in wrong:
        conditions = sum(
            len(conjuncts(action.precondition)) + len(conjuncts(action.effect)) for action in domain.actions
        )
        wrong["domain"] = corrupted(domain, 1 / max(1, conditions), str(rng.random()))[0].text
    elif "problem" in wrong:
        facts = re.findall(r"^    \(.*\)$", wrong["problem"], re.MULTILINE)
        wrong["problem"] = wrong["problem"].replace(f"{rng.choice(facts)}\n", "", 1) if facts else wrong["problem"]
    return wrong


def _false(facts: list[str], place: int, rng: random.Random) -> list[str]:
    """Remove one fact, or add one with two arguments swapped."""
    words = facts[place].strip("()").split()
    if len(words) > 2 and rng.random() < 0.5:
        return [*facts, f"({' '.join([words[0], words[2], words[1], *words[3:]])})"]
    return _without(facts, place)


def _without(values: list[Any], place: int) -> list[Any]:
    return [value for number, value in enumerate(values) if number != place]


def _parts(text: str) -> list[str]:
    return [str(part) for expression in read_sexprs(text).expressions for part in conjuncts(read_condition(expression))]
