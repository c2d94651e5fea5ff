"""The built-in model of builders: it answers from the gold files, so that everything runs without a key."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pddlego.errors import ModelError
from pddlego.methods.base import BUILT_IN_MODEL, BuiltIn
from pddlego.methods.builders.building import BuilderRequest, BuildPart, Gold, Target
from pddlego.methods.builders.draft import ACTION_COMPONENTS, COMPONENTS, Draft
from pddlego.models import Completion, Request
from pddlego.pddl import Domain, Problem
from pddlego.pddl.conditions import TypedName, atoms_of, conjuncts, read_condition
from pddlego.pddl.costs import needs_numbers
from pddlego.pddl.domain import Action, DurativeAction, Predicate
from pddlego.pddl.perturb import corrupted
from pddlego.pddl.problem import read_problem
from pddlego.pddl.rules import Level
from pddlego.pddl.sexpr import read_sexprs, show
from pddlego.runs.cells import Cell


def builtin_model(name: str, cell: Cell, setting: object) -> BuilderReference | None:
    """The built-in model with this name; None for another model. Raises `UsageError` for an invalid built-in name."""
    built_in = BuiltIn.parse(name)
    return None if built_in is None else BuilderReference(built_in.rate, built_in.seed, cell.model_seed)


class BuilderReference:
    """Answers with components of the gold files, and finds nothing wrong in a review.

    With a `rate`, it is a simulation of a model that errs (`reader+noise:P[,seed=S]`). With this probability, a
    component loses a condition, an effect, a fact, an object, a predicate or a part of the goal, or contains a false
    fact. Its reviews name the first difference from the gold files. How much reviews help follows from this assumption,
    and is not a finding. The errors depend only on `seed` and `episode`.
    """

    def __init__(self, rate: float | None = None, seed: int = 0, episode: int = 0) -> None:
        self._rate, self._random = rate, random.Random(f"{seed}/{episode}")
        self.name = BUILT_IN_MODEL
        self.description: Mapping[str, Any] = {"reference": True}
        if rate is not None:
            self.name += f"+noise:{rate:g}{f',seed={seed}' if seed else ''}"
            self.description = {"reference": True, "noise": {"rate": rate, "seed": seed, "simulation": True}}

    def complete(self, request: Request) -> Completion:
        """The requested component of the gold files, or a review. Raises `ModelError` without gold files."""
        asked = request.context
        if not isinstance(asked, BuilderRequest) or asked.gold is None:
            reason = "It knows only what the built-in settings describe."
            raise ModelError("The built-in model cannot build this", reason, "Choose a language model with --model.")
        if asked.is_review:
            return Completion(json.dumps(self._review(asked, asked.gold)))
        answer = component_of(asked.target.kind, asked.gold.domain, asked.gold.problem, asked.target.action)
        if "facts" in answer:  # predicates that no action uses may have been removed
            gone = {*asked.gold.domain.predicates_by_name} - {*asked.draft.sections.get("predicates", {})}
            answer["facts"] = [fact for fact in answer["facts"] if fact.strip("()").split()[0] not in gone]
        if self._rate is not None and self._random.random() < self._rate:
            answer = with_error(answer, asked.gold.domain, self._random)
        return Completion(json.dumps(answer))

    def _review(self, asked: BuilderRequest, gold: Gold) -> dict[str, Any]:
        """The fields of every kind of review."""
        if self._rate is None:
            return {"score": 10, "passing": True, "intended": True}
        target = _first_wrong(asked.draft, asked.what, gold)
        fine = target is None
        named = f"{target.kind} {target.action}".strip() if target else ""
        text = f"{named} is not what the description says" if target else ""
        texts = dict.fromkeys(("summary", "repair", "bottleneck", "fix", "critique", "lesson"), text)
        blamed = {"component": target.kind, "action": target.action} if target else {"component": "", "action": ""}
        return {**texts, **blamed, "score": 10 if fine else 4, "passing": fine, "intended": fine}


def component_of(kind: str, domain: Domain, problem: Problem, action: str = "") -> dict[str, Any]:
    """A component of a domain and a problem, as JSON values. Raises `KeyError` for an unknown kind or action."""
    if kind in ACTION_COMPONENTS:
        schemas = {schema.name: schema for schema in (*domain.actions, *domain.durative)}
        return _action_component(kind, domain, schemas[action])
    facts = [str(fact) for fact in problem.sorted_facts() if fact.predicate not in domain.rules]
    if needs_numbers(domain, problem) is not None:
        facts += [*sorted(map(str, problem.values)), *map(str, problem.sorted_later())]
    rules = [_head(rule.predicate) | {"condition": str(rule.condition)} for rule in domain.derived]
    components: dict[str, dict[str, Any]] = {
        "types": {"types": [{"name": name.name, "parent": name.type, "about": ""} for name in domain.supertypes]},
        "constants": {"constants": _typed(domain.constants)},
        "predicates": {"predicates": _predicates(domain.predicates)},
        "functions": {"functions": _functions(domain)},
        "rules": {"rules": rules},
        "action-list": {
            "actions": [{"name": action.name, "about": ""} for action in (*domain.actions, *domain.durative)]
        },
        "objects": {"objects": _typed(problem.sorted_objects())},
        "init": {"facts": facts},
        "goal": {"goal": str(problem.goal)},
        "metric": {"metric": f"{problem.metric.direction} {problem.metric.term}" if problem.metric else ""},
        "domain": {"domain": domain.text},
        "problem": {"problem": str(problem)},
    }
    return components[kind]


def _action_component(kind: str, domain: Domain, action: Action) -> dict[str, Any]:
    used = {atom.predicate for part in (action.precondition, action.effect) for atom in atoms_of(part)}
    fields: dict[str, Any] = {
        "name": action.name,
        "parameters": _typed(action.parameters),
        "precondition": str(action.precondition),
        "condition": str(action.precondition),
        "duration": str(action.duration) if isinstance(action, DurativeAction) else "",
        "effect": str(action.effect),
        "new_predicates": _predicates(predicate for predicate in domain.predicates if predicate.name in used),
    }
    return {name: fields[name] for name in COMPONENTS[kind].model_fields}


def _typed(names: Iterable[TypedName]) -> list[dict[str, str]]:
    return [{"name": entry.name, "type": entry.type} for entry in names]


def _head(predicate: Predicate) -> dict[str, Any]:
    return {"name": predicate.name, "parameters": _typed(predicate.parameters)}


def _functions(domain: Domain) -> list[dict[str, Any]]:
    return [
        {"name": function.name, "parameters": _typed(function.parameters), "about": ""} for function in domain.functions
    ]


def _predicates(predicates: Iterable[Predicate]) -> list[dict[str, Any]]:
    return [_head(predicate) | {"about": predicate.meaning} for predicate in predicates]


def _first_wrong(draft: Draft, what: BuildPart, gold: Gold) -> Target | None:
    """The first component in which a draft differs from the gold files."""
    if what != "problem":
        wanted = Draft().with_domain(gold.domain).sections["actions"]
        for action, text in wanted.items():
            if _spaced(draft.sections.get("actions", {}).get(action, "")) != _spaced(text):
                kind = "timed-action" if draft.level >= Level.TIME else "action"
                return Target(kind, action) if action in draft.actions else Target("domain")
    if what == "domain":
        return None
    problem = read_problem(draft.problem).problem
    if {obj.name for obj in problem.objects} != {obj.name for obj in gold.problem.objects}:
        return Target("objects")
    known = {fact for fact in gold.problem.facts if fact.predicate in draft.sections.get("predicates", {})}
    if problem.facts != known or problem.later != gold.problem.later:
        return Target("init")
    if draft.level > Level.CLASSICAL and problem.values != gold.problem.values:
        return Target("init")
    if draft.level > Level.CLASSICAL and problem.metric != gold.problem.metric:
        return Target("metric")
    return Target("goal") if _goals(problem) != _goals(gold.problem) else None


def _spaced(text: str) -> str:
    """PDDL with all whitespace replaced by single spaces."""
    return " ".join(show(expression) for expression in read_sexprs(text).expressions)


def _goals(problem: Problem) -> frozenset[str]:
    return frozenset(map(str, conjuncts(problem.goal)))


def with_error(value: dict[str, Any], domain: Domain, rng: random.Random) -> dict[str, Any]:
    """A copy of a component with one error, or without if it is too small to have one."""
    wrong = dict(value)
    for name in ("objects", "predicates", "facts"):
        if len(wrong.get(name, ())) > 1:
            place = rng.randrange(len(wrong[name]))
            wrong[name] = _false(wrong[name], place, rng) if name == "facts" else _without(wrong[name], place)
            return wrong
    fields = [
        name for name in ("precondition", "condition", "effect", "goal") if len(_conjuncts_in(wrong.get(name, ""))) > 1
    ]
    if fields:
        name = rng.choice(fields)
        parts = _conjuncts_in(wrong[name])
        wrong[name] = f"(and {' '.join(_without(parts, rng.randrange(len(parts))))})"
    elif "domain" in wrong:
        conditions = sum(len(conjuncts(action.precondition) + conjuncts(action.effect)) for action in domain.actions)
        wrong["domain"] = corrupted(domain, 1 / max(1, conditions), str(rng.random()))[0].text
    elif "problem" in wrong:
        facts = re.findall(r"^    \(.*\)$", wrong["problem"], re.MULTILINE)
        wrong["problem"] = wrong["problem"].replace(f"{rng.choice(facts)}\n", "", 1) if facts else wrong["problem"]
    return wrong


def _false(facts: list[str], place: int, rng: random.Random) -> list[str]:
    """Remove one fact, or add it with two arguments swapped."""
    words = facts[place].strip("()").split()
    if len(words) > 2 and "(" not in facts[place][1:] and rng.random() < 0.5:
        return [*facts, f"({' '.join([words[0], words[2], words[1], *words[3:]])})"]
    return _without(facts, place)


def _without(values: list[Any], place: int) -> list[Any]:
    return [value for number, value in enumerate(values) if number != place]


def _conjuncts_in(text: str) -> list[str]:
    return [str(part) for expression in read_sexprs(text).expressions for part in conjuncts(read_condition(expression))]
