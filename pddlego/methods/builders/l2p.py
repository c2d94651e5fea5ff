"""Read the components that the library l2p (0.4) writes as JSON, in files and in answers to its prompts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from pddlego.errors import UsageError
from pddlego.methods.builders.draft import (
    COMPONENTS,
    ActionList,
    Component,
    DerivedPredicates,
    Draft,
    Effects,
    Goal,
    Init,
    NamedAction,
    NewName,
    NewPredicate,
    NewRule,
    NewType,
    Objects,
    Parameters,
    Preconditions,
    Typed,
    WholeAction,
    WholeDomain,
    WholeProblem,
)
from pddlego.methods.builders.headings import fenced
from pddlego.pddl.nearly_json import last_object
from pddlego.pddl.problem import read_problem
from pddlego.util.text import fault_of


def condition(value: Any) -> str:
    """Convert a condition of l2p to PDDL: a text, a list, or an object with `operator` or `quantifier`.

    Raises `ValueError` for other values.
    """
    if value is None or value == []:
        return "(and)"
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return condition(value[0]) if len(value) == 1 else f"(and {' '.join(map(condition, value))})"
    if not isinstance(value, Mapping):
        raise ValueError(f"{str(value)[:60]!r} is not a condition")
    head = value.get("quantifier") or value.get("operator")
    unknown = next((key for key in value if key not in _KEYS), head if head not in _HEADS else None)
    if unknown is not None:
        raise ValueError(f"'{unknown}' is not a supported condition")
    parts = value.get("conditions", value.get("condition", []))
    if head in ("forall", "exists"):
        variables = " ".join(
            f"{variable['variable']} - {variable.get('type', 'object')}" for variable in value["parameters"]
        )
        return f"({head} ({variables}) {condition(parts)})"
    if head == "imply":
        return f"(imply {condition(value.get('antecedent'))} {condition(value.get('consequent'))})"
    if head == "not":
        return f"(not {condition(parts)})"
    if head in ("and", "or"):
        conditions = parts if isinstance(parts, list) else [parts]
        return f"({head} {' '.join(map(condition, conditions))})"
    if "conditions" in value:
        return condition(parts)
    raise ValueError(f"{str(value)[:60]!r} is not a condition")


_HEADS = (None, "forall", "exists", "imply", "not", "and", "or")
_KEYS = ("quantifier", "operator", "parameters", "conditions", "condition", "antecedent", "consequent", "desc")
"""What a condition of l2p may begin with, and its fields; those of time and preferences are missing."""

_Condition = Annotated[str, BeforeValidator(condition)]


# Unknown fields are refused. Descriptions are kept for types, predicates, functions and actions.


class _Described(BaseModel, extra="forbid"):
    about: Annotated[str, BeforeValidator(lambda value: value or "")] = Field(default="", validation_alias="desc")


class _Named(_Described, Typed):
    pass


class _Variable(_Named):
    name: NewName = Field(validation_alias="variable")


class _Type(_Described, NewType):
    pass


class _Predicate(_Described, NewPredicate):
    parameters: tuple[_Variable, ...] = Field((), validation_alias="params")


class _Derived(_Described, NewRule):
    parameters: tuple[_Variable, ...] = Field((), validation_alias="params")
    condition: _Condition = "(and)"


class _Action(_Predicate):
    preconditions: _Condition = "(and)"
    effects: Any = None


class _State(_Described):
    facts: tuple[_Condition, ...] = ()
    timed_facts: list[Any] = []


class _Wanted(_Described):
    conditions: list[Any] = []


class _Metric(_Described):
    optimization: Literal["minimize", "maximize"]
    expression: str


class _Details(_Described):
    """The fields of both `DomainDetails` and `ProblemDetails` of l2p. All are optional.

    `requirements` are found from the other parts. The texts of whole files count only where there are no parts.
    """

    name: NewName | None = None
    domain_name: NewName | None = None
    requirements: list[Any] = []
    constraint: list[Any] = []
    constraints: list[Any] = []
    metric: _Metric | None = None
    domain_pddl: str | None = None
    problem_pddl: str | None = None
    types: tuple[_Type, ...] = ()
    constants: tuple[_Named, ...] = ()
    predicates: tuple[_Predicate, ...] = ()
    functions: tuple[_Predicate, ...] = ()
    derived_predicates: tuple[_Derived, ...] = ()
    actions: list[_Action] = []
    durative_actions: list[Any] = []
    events: list[Any] = []
    processes: list[Any] = []
    objects: list[_Named] = []
    initial_state: _State = _State()
    goal_state: _Wanted = _Wanted()


def with_l2p(draft: Draft, text: str, place: str = "the file") -> Draft:
    """Put the components of a JSON file of l2p into a draft: a domain, a problem, or parts of either.

    `place` names the file in errors. Numbers in its actions raise the level of the draft. Raises `UsageError` for other
    values, and for time, constraints and preferences, which are not supported.
    """
    what, todo = f"{place} holds no components of l2p", "Write it as DomainDetails or ProblemDetails do."
    try:
        details = _Details.model_validate(json.loads(text))
        components, metric = _components(details), _metric(details)
        draft = _with_names(draft, details)
    except ValidationError as error:
        raise UsageError(what, f"{fault_of(error.errors()[0])}.", todo) from error
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error).splitlines()[0]
        raise UsageError(what, f"{reason}.", todo) from error
    if not components and not metric:
        raise UsageError(what, "It is empty.", todo)
    for component in components:
        draft = draft.with_component(component)
    draft = draft.with_level_of(draft.reading.domain)
    return replace(draft, metric=metric) if metric else draft


def _with_names(draft: Draft, details: _Details) -> Draft:
    """The draft with the names of the domain and the problem. Raises `ValueError` for a problem of another domain."""
    own = details.name
    if any(getattr(details, part) for part in _DOMAIN_PARTS):
        draft, own = replace(draft, name=own or draft.name), None
    wanted = details.domain_name or draft.name
    if draft.name not in (wanted, Draft().name):
        raise ValueError(f"the problem is of the domain {wanted}, and the domain is {draft.name}")
    return replace(draft, name=wanted, problem_name=own or draft.problem_name)


_DOMAIN_PARTS = ("types", "constants", "predicates", "functions", "derived_predicates", "actions", "domain_pddl")


def _metric(details: _Details) -> str:
    """The metric as PDDL; empty without one. Raises `ValueError` if it cannot be read."""
    if details.metric is None:
        return ""
    text = f"(:metric {details.metric.optimization} {details.metric.expression})"
    _check_problem("metric", f"(define (problem p) (:domain d) (:init) (:goal (and)) {text})")
    return text


def _check_problem(name: str, text: str) -> None:
    """Raises `ValueError` if the field of this name has what cannot be read."""
    faults = [defect.message for defect in read_problem(text).defects if defect.blocking]
    if faults:
        raise ValueError(f"{name} is not supported: {faults[0]}")


def _components(details: _Details) -> list[Component]:
    for name in ("durative_actions", "events", "processes"):
        if getattr(details, name):
            raise ValueError(f"{name.replace('_', ' ')} are not supported: only files in PDDL may have time")
    if details.constraint or details.constraints:
        raise ValueError("constraints are not supported: nothing here plans with trajectory constraints")
    if details.initial_state.timed_facts:
        raise ValueError("timed facts are not supported: only files in PDDL may have time")
    lists = {name: getattr(details, name) for name in ("types", "constants", "predicates", "functions")}
    components = [COMPONENTS[name](**{name: entries}) for name, entries in lists.items() if entries]
    if details.derived_predicates:
        components.append(DerivedPredicates(rules=details.derived_predicates))
    components += map(_action, details.actions)
    if details.domain_pddl and not components:
        components.append(WholeDomain(domain=details.domain_pddl))
    described = tuple(NamedAction(name=action.name, about=action.about) for action in details.actions)
    if described:
        components.append(ActionList(actions=described))
    if details.problem_pddl and not (details.objects or details.initial_state.facts or details.goal_state.conditions):
        _check_problem("problem_pddl", details.problem_pddl)
        components.append(WholeProblem(problem=details.problem_pddl))
    if details.objects:
        components.append(Objects(objects=tuple(Typed(name=obj.name, type=obj.type) for obj in details.objects)))
    if details.initial_state.facts:
        components.append(Init(facts=details.initial_state.facts))
    if details.goal_state.conditions:
        components.append(Goal(goal=condition(details.goal_state.conditions)))
    return components


def _action(action: _Action) -> WholeAction:
    return WholeAction(
        name=action.name,
        parameters=action.parameters,
        precondition=action.preconditions,
        effect=_effect(action.effects or {}, action.name),
    )


def _effect(effects: Any, name: str) -> str:
    if not isinstance(effects, Mapping):
        raise ValueError(f"the effects of {name} are not an object")
    parts = _changes(effects, name, "conditional")
    for effect in effects.get("conditional", []):
        inner = " ".join(_changes(effect.get("effect", {}), name))
        parts.append(f"(when {condition(effect.get('condition'))} (and {inner}))")
    return f"(and {' '.join(parts)})"


def _changes(effects: Mapping[str, Any], name: str, *more: str) -> list[str]:
    """The added and deleted facts, and the numbers that change, as parts of a conjunction.

    Raises `ValueError` for fields that are neither these nor `more`.
    """
    unknown = next((key for key in effects if key not in ("add", "delete", "numeric", "desc", *more)), None)
    if unknown is not None:
        raise ValueError(f"{name} has effects of an unknown kind: {unknown}")
    numeric = [condition(effect) for effect in effects.get("numeric") or ()]
    deleted = (f"(not {condition(fact)})" for fact in effects.get("delete", []))
    return [*map(condition, effects.get("add", [])), *deleted, *numeric]


TAGS: Mapping[str, tuple[str, str]] = {
    **{kind: (kind, kind) for kind in ("types", "constants", "predicates", "functions", "objects")},
    "rules": ("derived_predicates", "derived_predicates"),
    "action": ("actions", "actions"),
    "init": ("initial_states", "initial_state"),
    "goal": ("goal_states", "goal_state"),
}
"""The tags of l2p's answers with a component of each kind, and the names of its fields in a file."""


def tagged_component(kind: str, text: str, action: str) -> Component | None:
    """The component of this kind in the answer to a prompt of l2p; None if the answer does not have its tag.

    `action` is the name of the action that was asked for. Raises `ValueError` and `LookupError` for values that cannot
    be read.
    """
    tag, field = TAGS.get(kind, (kind.replace("action-list", "nl_actions"), ""))
    start, end = text.rfind(f"<{tag}>"), text.rfind(f"</{tag}>")
    if not 0 <= start < end:
        return None
    value = last_object(f'{{"{tag}": {fenced(text[start + len(tag) + 2 : end])}}}', [tag]).value[tag]
    if kind in ("domain", "problem"):
        draft = with_l2p(Draft(), json.dumps(value), "the answer")
        return COMPONENTS[kind].model_validate({kind: getattr(draft, kind)})
    if kind == "action-list":
        return ActionList(actions=tuple(NamedAction(name=name, about=str(about)) for name, about in value.items()))
    if kind == "parameters":
        return Parameters(name=action, parameters=tuple(map(_Variable.model_validate, value)))
    if kind == "preconditions":
        return Preconditions(name=action, precondition=condition(value))
    if kind == "effects":
        return Effects(name=action, effect=_effect(value, action))
    if field and not value:
        return COMPONENTS[kind].model_validate({next(iter(COMPONENTS[kind].model_fields)): ()})
    components = _components(_Details.model_validate({field: value})) if field else []
    found = [component for component in components if isinstance(component, COMPONENTS[kind])]
    named = [component for component in found if isinstance(component, WholeAction) and component.name == action]
    return (named or found)[-1]
