"""Read the components that the library l2p (0.4) writes as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from pddlego.errors import UsageError
from pddlego.methods.builders.draft import (
    COMPONENTS,
    Component,
    Draft,
    Goal,
    Init,
    NewName,
    NewPredicate,
    NewRule,
    NewType,
    Objects,
    Rules,
    Typed,
    WholeAction,
)
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
    if head is None and "conditions" in value:
        return condition(parts)
    raise ValueError(f"'{head or next(iter(value), '')}' is not a supported condition")


_Condition = Annotated[str, BeforeValidator(condition)]


# The models of l2p also have fields that are ignored here, such as descriptions.


class _Named(Typed, extra="ignore"):
    pass


class _Variable(_Named):
    name: NewName = Field(validation_alias="variable")


class _Type(NewType, extra="ignore"):
    pass


class _Predicate(NewPredicate, extra="ignore"):
    parameters: tuple[_Variable, ...] = Field((), validation_alias="params")


class _Derived(NewRule, extra="ignore"):
    parameters: tuple[_Variable, ...] = Field((), validation_alias="params")
    condition: _Condition = "(and)"


class _Action(_Predicate):
    preconditions: _Condition = "(and)"
    effects: Any = None


class _State(BaseModel):
    facts: tuple[_Condition, ...] = ()
    timed_facts: list[Any] = []


class _Wanted(BaseModel):
    conditions: list[Any] = []


class _Details(BaseModel):
    """The fields of both `DomainDetails` and `ProblemDetails` of l2p. All are optional."""

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

    `place` names the file in errors. Raises `UsageError` for other values, and for time, numbers and preferences, which
    are not supported.
    """
    what, todo = f"{place} holds no components of l2p", "Write it as DomainDetails or ProblemDetails do."
    try:
        details = _Details.model_validate(json.loads(text))
        components = _components(details)
    except ValidationError as error:
        raise UsageError(what, f"{fault_of(error.errors()[0])}.", todo) from error
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error).splitlines()[0]
        raise UsageError(what, f"{reason}.", todo) from error
    if not components:
        raise UsageError(what, "It is empty.", todo)
    for component in components:
        draft = draft.with_component(component)
    return draft


def _components(details: _Details) -> list[Component]:
    for name in ("durative_actions", "events", "processes"):
        if getattr(details, name):
            raise ValueError(f"{name.replace('_', ' ')} are not supported: nothing here plans with time")
    if details.initial_state.timed_facts:
        raise ValueError("timed facts are not supported: nothing here plans with time")
    lists = {name: getattr(details, name) for name in ("types", "constants", "predicates", "functions")}
    components = [COMPONENTS[name](**{name: entries}) for name, entries in lists.items() if entries]
    if details.derived_predicates:
        components.append(Rules(rules=details.derived_predicates))
    components += map(_action, details.actions)
    if details.objects:
        components.append(Objects(objects=tuple(Typed(name=obj.name, type=obj.type) for obj in details.objects)))
    if details.initial_state.facts:
        components.append(Init(facts=details.initial_state.facts))
    if details.goal_state.conditions:
        components.append(Goal(goal=condition(details.goal_state.conditions)))
    return components


def _action(action: _Action) -> WholeAction:
    effects = action.effects or {}
    if not isinstance(effects, Mapping):
        raise ValueError(f"the effects of {action.name} are not an object")
    if effects.get("numeric"):
        raise ValueError(f"{action.name} has numeric effects: nothing here plans with numbers")
    parts = _changes(effects)
    for effect in effects.get("conditional", []):
        inner = " ".join(_changes(effect.get("effect", {})))
        parts.append(f"(when {condition(effect.get('condition'))} (and {inner}))")
    return WholeAction(
        name=action.name,
        parameters=action.parameters,
        precondition=action.preconditions,
        effect=f"(and {' '.join(parts)})",
    )


def _changes(effects: Mapping[str, Any]) -> list[str]:
    """The added and deleted facts, as parts of a conjunction."""
    deleted = (f"(not {condition(fact)})" for fact in effects.get("delete", []))
    return [*map(condition, effects.get("add", [])), *deleted]
