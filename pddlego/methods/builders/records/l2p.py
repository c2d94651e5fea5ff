"""Read the components that the library l2p (0.4) writes as JSON, in files and in answers to its prompts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

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
    PlanMetric,
    Preconditions,
    Typed,
    WholeAction,
    WholeDomain,
    WholeProblem,
)
from pddlego.methods.builders.headings import fenced
from pddlego.pddl.conditions import TRUE
from pddlego.pddl.domain import read_domain
from pddlego.pddl.nearly_json import last_object
from pddlego.pddl.problem import read_problem
from pddlego.pddl.rules import Level
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
        variables = " ".join(_Variable.model_validate(variable).line for variable in _items(value.get("parameters")))
        return f"({head} ({variables}) {condition(parts)})"
    if head == "imply":
        return f"(imply {condition(value.get('antecedent'))} {condition(value.get('consequent'))})"
    if head == "not":
        return f"(not {condition(parts)})"
    if head in ("and", "or"):
        return f"({head} {' '.join(map(condition, _items(parts)))})"
    if "conditions" in value:
        return condition(parts)
    raise ValueError(f"{str(value)[:60]!r} is not a condition")


def _items(value: Any) -> list[Any]:
    """The items of a list; another value is one item, and null is an empty list."""
    return value if isinstance(value, list) else [] if value is None else [value]


_HEADS = (None, "forall", "exists", "imply", "not", "and", "or")
_KEYS = ("quantifier", "operator", "parameters", "conditions", "condition", "antecedent", "consequent", "desc")
"""What a condition of l2p may begin with, and its fields; those of time and preferences are missing."""

_Condition = Annotated[str, BeforeValidator(condition)]


# Unknown fields are refused. Descriptions are kept for types, predicates, functions and actions. A field may also have
# the name that our own requests ask for: `about`, `parameters`, and `name` of a variable.


class _Described(BaseModel, extra="forbid"):
    about: str = Field(default="", validation_alias="desc")

    @model_validator(mode="before")
    @classmethod
    def _without_empty(cls, value: Any) -> Any:
        """Leave out empty fields: l2p allows null and an empty list for any of them."""
        if not isinstance(value, dict):
            return value
        of_l2p = {name: field.validation_alias for name, field in cls.model_fields.items()}
        value = {key if (name := of_l2p.get(key)) in (None, *value) else name: part for key, part in value.items()}
        known = {field.validation_alias or name for name, field in cls.model_fields.items()}
        return {key: part for key, part in value.items() if key not in known or part not in (None, [], {})}


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


class _Changes(_Described):
    add: tuple[_Condition, ...] = ()
    delete: tuple[_Condition, ...] = ()
    numeric: tuple[_Condition, ...] = ()

    @property
    def parts(self) -> list[str]:
        """The added and deleted facts, and the numbers that change, as parts of a conjunction."""
        return [*self.add, *(f"(not {fact})" for fact in self.delete), *self.numeric]


class _Conditional(_Described):
    condition: _Condition = "(and)"
    effect: _Changes = _Changes()


class _Effects(_Changes):
    conditional: tuple[_Conditional, ...] = ()

    @property
    def parts(self) -> list[str]:
        """As above, with the conditional effects."""
        return [*super().parts, *(f"(when {c.condition} (and {' '.join(c.effect.parts)}))" for c in self.conditional)]

    def __str__(self) -> str:
        return f"(and {' '.join(self.parts)})"


class _Action(_Predicate):
    preconditions: _Condition = "(and)"
    effects: _Effects = _Effects()

    @property
    def component(self) -> WholeAction:
        precondition, effect = self.preconditions, str(self.effects)
        return WholeAction(name=self.name, parameters=self.parameters, precondition=precondition, effect=effect)


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
        return _filled(draft, json.loads(text))
    except ValidationError as error:
        raise UsageError(what, f"{fault_of(error.errors()[0])}.", todo) from error
    except (RecursionError, ValueError) as error:
        raise UsageError(what, f"{str(error).splitlines()[0]}.", todo) from error


def _filled(draft: Draft, value: Any) -> Draft:
    """The draft with the components of a value. Raises `ValueError`."""
    details = _Details.model_validate(value)
    components = _components(details)
    if not components:
        raise ValueError("It is empty")
    draft = _with_names(draft, details)
    for component in components:
        if isinstance(component, WholeDomain):
            draft = draft.with_level_of(read_domain(component.domain).domain)
        draft = draft.with_component(component)
    draft = draft.with_level_of(draft.reading.domain)
    return replace(draft, level=Level.TIME) if read_problem(draft.problem).problem.later else draft


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


_CONSTRAINTS = "constraints are not supported in files of l2p"


def _check_problem(name: str, text: str) -> None:
    """Raise `ValueError` if the field of this name has what cannot be read."""
    reading = read_problem(text)
    faults = [defect.message for defect in reading.defects if defect.blocking]
    if reading.problem.constraints != TRUE or reading.problem.preferences:
        faults.append(_CONSTRAINTS)
    if faults:
        raise ValueError(f"{name} is not supported: {faults[0]}")


_REFUSED: Mapping[str, tuple[str, ...]] = {
    "durative_actions": (
        *("durative_actions", "durative_action", "dur_actions", "nl_durative_actions"),
        *("durative_conditions", "durative_condition", "dur_conds"),
        *("durative_effects", "durative_effect", "dur_effects"),
    ),
    "events": ("events", "event"),
    "processes": ("processes", "process"),
    "timed_facts": ("timed_facts", "timed_fact"),
    "constraints": ("constraints", "constraint"),
    "constraint": (),
}
"""What is not supported, by its field in a file, and its tags in an answer."""


def _refused(name: str) -> ValueError:
    if name.startswith("constraint"):
        return ValueError(_CONSTRAINTS)
    why = "only PDDL files and answers to built-in prompts may have time"
    return ValueError(f"{name.replace('_', ' ')} are not supported: {why}")


def _components(details: _Details) -> list[Component]:
    """The components of a value; the metric has the form of `PlanMetric`. Raises `ValueError`."""
    for name in _REFUSED:
        if getattr(details, name, details.initial_state.timed_facts):
            raise _refused(name)
    lists = {name: getattr(details, name) for name in ("types", "constants", "predicates", "functions")}
    components = [COMPONENTS[name](**{name: entries}) for name, entries in lists.items() if entries]
    if details.derived_predicates:
        components.append(DerivedPredicates(rules=details.derived_predicates))
    components += [action.component for action in details.actions]
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
    if details.metric:
        metric = PlanMetric(metric=f"{details.metric.optimization} {details.metric.expression}")
        _check_problem("metric", f"(define (problem p) (:domain d) (:init) (:goal (and)) (:metric {metric.metric}))")
        components.append(metric)
    return components


TAGS: Mapping[str, tuple[str, ...]] = {
    **{f"{kind}s": (f"{kind}s", kind) for kind in ("type", "constant", "predicate", "function")},
    "rules": ("derived_predicates", "derived_predicate", "der_preds"),
    "action-list": ("nl_actions",),
    "parameters": ("parameters", "parameter"),
    "preconditions": ("preconditions", "precondition", "preconds"),
    "effects": ("effects", "effect"),
    "action": ("actions", "action"),
    "objects": ("objects", "object"),
    "init": ("initial_states", "initial_state", "initial", "init"),
    "goal": ("goal_states", "goal_state", "goals", "goal"),
    "metric": ("metric", "metrics"),
    "domain": ("domain", "environment"),
    "problem": ("problem", "task"),
}
"""The tags of l2p's answers with a component of each kind. The first is that of the library's own template."""

_FIELDS = {"rules": "derived_predicates", "action": "actions", "init": "initial_state", "goal": "goal_state"}
"""The fields of a file that have other names than the kinds of their components."""


def _tagged(text: str, tags: Sequence[str]) -> tuple[Any] | None:
    """The value in the last of these tags; None without one. Raises `ValueError` if it cannot be read."""
    ends = {tag: text.rfind(f"</{tag}>") for tag in tags}
    start, tag = max(((text.rfind(f"<{tag}>", 0, max(end, 0)), tag) for tag, end in ends.items()), default=(-1, ""))
    if start < 0:
        return None
    inner = fenced(text[start + len(tag) + 2 : ends[tag]]).strip()
    return (last_object(f'{{"{tag}": {inner or "null"}}}', [tag]).value[tag],)


def unasked(kinds: Sequence[str], text: str) -> list[str]:
    """Notes about what an answer to a prompt of l2p has, and what was not asked for."""
    tags = [names[0] for kind, names in TAGS.items() if kind not in kinds]
    return [f"<{tag}> was not asked for: it is ignored" for tag in tags if f"<{tag}>" in text and f"</{tag}>" in text]


def tagged_components(kind: str, text: str, action: str, notes: list[str]) -> list[Component]:
    """The components of this kind in the answer to a prompt of l2p: several actions, or one; none without its tag.

    `action` is the name of the action that was asked for; `notes` gets a note for each other one. Raises `ValueError`
    for values that cannot be read, and for those that are not supported.
    """
    for name, tags in _REFUSED.items():
        if (other := _tagged(text, tags)) and other[0]:
            raise _refused(name)
    tagged = _tagged(text, TAGS[kind]) if kind in TAGS else None
    if tagged is None:
        return []
    value = tagged[0]
    if (
        kind in ("effects", "init", "goal", "metric", "domain", "problem")
        and isinstance(value, list)
        and len(value) == 1
    ):
        value = value[0]  # the library reads all as lists
    if kind in ("domain", "problem"):
        return [COMPONENTS[kind].model_validate({kind: getattr(_filled(Draft(), value), kind)})]
    if kind == "action-list":
        listed = value.items() if isinstance(value, Mapping) else [(value, "")]
        return [ActionList(actions=tuple(NamedAction(name=name, about=str(about)) for name, about in listed))]
    if kind == "parameters":
        return [Parameters(name=action, parameters=tuple(map(_Variable.model_validate, _items(value))))]
    if kind == "preconditions":
        return [Preconditions(name=action, precondition=condition(value))]
    if kind == "effects":
        return [Effects(name=action, effect=str(_Effects.model_validate(value or {})))]
    field = _FIELDS.get(kind, kind)
    is_list = isinstance(_Details.model_fields[field].get_default(), (list, tuple))
    details = _Details.model_validate({field: _items(value) if is_list else value})
    found = [component for component in _components(details) if isinstance(component, COMPONENTS[kind])]
    names = [component.name for component in found if isinstance(component, WholeAction)]
    if action in names:
        notes += [f"the action {name} was not asked for: it is ignored" for name in names if name != action]
        found = [found[len(names) - 1 - names[::-1].index(action)]]
    if kind == "action" and not found:
        raise ValueError("it has no action")
    empty = {"goal": "(and)", "metric": ""}.get(kind, ())
    return found or [COMPONENTS[kind].model_validate({next(iter(COMPONENTS[kind].model_fields)): empty})]
