"""The built-in model: it answers with the components of the gold files, so that everything runs without a key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pddlego.errors import ModelError
from pddlego.methods.builders.building import BuilderRequest
from pddlego.models import Completion, Request
from pddlego.pddl import Domain, Problem
from pddlego.pddl.conditions import TypedName, atoms_of


class BuilderReference:
    """Answers with components of the domain and the problem that are described; its opinion is that all is well."""

    @property
    def name(self) -> str:
        return "reader"

    @property
    def description(self) -> Mapping[str, Any]:
        return {"reference": True}

    def complete(self, request: Request) -> Completion:
        """Raises `ModelError` for a request without gold files."""
        asked = request.context
        if not isinstance(asked, BuilderRequest) or asked.order.reference is None:
            reason = "It knows only what the built-in settings describe."
            raise ModelError("The built-in model cannot build this", reason, "Choose a language model with --model.")
        if asked.purpose == "review":
            return Completion(json.dumps({"score": 10, "passing": True, "intended": True}))
        gold: Any = asked.order.reference
        value = component_of(asked.step.kind, gold.domain, gold.problem, asked.step.action)
        if "facts" in value:  # a predicate that no action uses may be gone by then
            known = asked.draft.sections.get("predicates", {})
            value["facts"] = [fact for fact in value["facts"] if fact.strip("()").split()[0] in known]
        return Completion(json.dumps(value))


def component_of(kind: str, domain: Domain, problem: Problem, action: str = "") -> dict[str, Any]:
    """A component of a domain and a problem, as JSON values. Raises `KeyError` for an unknown kind or action."""
    derived = set(domain.rules)
    if kind in ("parameters", "preconditions", "effects", "action"):
        definition = domain.actions_by_name[action]
        own: dict[str, Any] = {"parameters": _typed(definition.parameters)}
        needs, changes = {"precondition": str(definition.precondition)}, {"effect": str(definition.effect)}
        used = {atom.predicate for part in (definition.precondition, definition.effect) for atom in atoms_of(part)}
        new = [predicate for predicate in domain.predicates if predicate.name in used]
        heads = [_head(predicate.name, predicate.parameters) | {"about": predicate.meaning} for predicate in new]
        added: dict[str, Any] = {"new_predicates": heads}
        parts = {"parameters": own, "preconditions": {**needs, **added}, "effects": {**changes, **added}}
        return {"name": definition.name, **parts.get(kind, {**own, **needs, **changes, **added})}
    components: dict[str, dict[str, Any]] = {
        "types": {
            "types": [
                {"name": supertype.name, "parent": supertype.type, "about": ""} for supertype in domain.supertypes
            ]
        },
        "constants": {"constants": _typed(domain.constants)},
        "predicates": {
            "predicates": [
                _head(predicate.name, predicate.parameters) | {"about": predicate.meaning}
                for predicate in domain.predicates
            ]
        },
        "functions": {"functions": []},
        "rules": {
            "rules": [
                _head(rule.predicate.name, rule.predicate.parameters) | {"condition": str(rule.condition)}
                for rule in domain.derived
            ]
        },
        "action-list": {"actions": [{"name": action.name, "about": ""} for action in domain.actions]},
        "objects": {"objects": _typed(tuple(problem.sorted_objects()))},
        "init": {"facts": [str(fact) for fact in problem.sorted_facts() if fact.predicate not in derived]},
        "goal": {"goal": str(problem.goal)},
        "domain": {"domain": domain.text},
        "problem": {"problem": str(problem)},
    }
    return components[kind]


def _typed(names: tuple[TypedName, ...]) -> list[dict[str, str]]:
    return [{"name": entry.name, "type": entry.type} for entry in names]


def _head(name: str, parameters: tuple[TypedName, ...]) -> dict[str, Any]:
    return {"name": name, "parameters": _typed(parameters)}
