"""Components of domains and problems as a model answers with them: pydantic values, each with its JSON schema (L2P)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from pddlego.pddl.names import is_name
from pddlego.pddl.nearly_json import EditSyntaxError, last_object


class Component(BaseModel):
    """What one answer brings. Names are lower case, as PDDL reads them."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


def _pddl_name(value: str) -> str:
    """The name in lower case. Raises `ValueError` for what PDDL cannot read as one name, with or without a `?`."""
    if not is_name(value.lower().removeprefix("?")):
        raise ValueError("a PDDL name is a letter followed by letters, digits, - or _, for a variable with ? before it")
    return value.lower()


Name = Annotated[str, AfterValidator(_pddl_name)]
NewName = Annotated[str, Field(min_length=1), AfterValidator(_pddl_name)]


class Typed(Component):
    """A parameter, a constant or an object with its type."""

    name: NewName = Field(description="for a parameter: with its question mark, as ?x")
    type: NewName = "object"


class NewType(Component):
    """A type below another, `object` for one of its own."""

    name: NewName
    parent: Name = "object"
    about: str = ""


class NewPredicate(Component):
    """A predicate with its parameters, and what it means."""

    name: NewName
    parameters: tuple[Typed, ...] = ()
    about: str = ""


class NewRule(Component):
    """A derived predicate: it is true where its condition is."""

    name: NewName
    parameters: tuple[Typed, ...] = ()
    condition: str


class NamedAction(Component):
    """An action by its name, in words."""

    name: NewName
    about: str = ""


class Types(Component):
    """All types of the domain."""

    types: tuple[NewType, ...]


class Constants(Component):
    """Objects that the actions of the domain name."""

    constants: tuple[Typed, ...]


class Predicates(Component):
    """Predicates of the domain, without those that follow by rule."""

    predicates: tuple[NewPredicate, ...]


class Functions(Component):
    """Numeric functions, which only action costs may use."""

    functions: tuple[NewPredicate, ...]


class Rules(Component):
    """Derived predicates."""

    rules: tuple[NewRule, ...]


class ActionList(Component):
    """The actions that a domain has, in words."""

    actions: tuple[NamedAction, ...]


class Parameters(Component):
    """The parameters of an action."""

    name: Name
    parameters: tuple[Typed, ...]


class Preconditions(Component):
    """The precondition of an action, and predicates that it needs and that are new."""

    name: Name
    precondition: str
    new_predicates: tuple[NewPredicate, ...] = ()


class Effects(Component):
    """The effect of an action, and predicates that it needs and that are new."""

    name: Name
    effect: str
    new_predicates: tuple[NewPredicate, ...] = ()


class WholeAction(Component):
    """An action with everything, and predicates that it needs and that are new."""

    name: NewName
    parameters: tuple[Typed, ...] = ()
    precondition: str = "(and)"
    effect: str
    new_predicates: tuple[NewPredicate, ...] = ()


class Objects(Component):
    """The objects of a problem."""

    objects: tuple[Typed, ...]


class Init(Component):
    """The facts that are true at the beginning, as PDDL; what is not listed is false."""

    facts: tuple[str, ...]


class Goal(Component):
    """What is wanted, one PDDL condition."""

    goal: str


class WholeDomain(Component):
    """A domain file."""

    domain: str


class WholeProblem(Component):
    """A problem file."""

    problem: str


COMPONENTS: Mapping[str, type[Component]] = {
    "types": Types,
    "constants": Constants,
    "predicates": Predicates,
    "functions": Functions,
    "rules": Rules,
    "action-list": ActionList,
    "parameters": Parameters,
    "preconditions": Preconditions,
    "effects": Effects,
    "action": WholeAction,
    "objects": Objects,
    "init": Init,
    "goal": Goal,
    "domain": WholeDomain,
    "problem": WholeProblem,
}
"""Every component that can be asked for, by its name."""


class ComponentError(ValueError):
    """An answer is not the component that was asked for; the message says why. `cut_off`: it ends in the middle."""

    def __init__(self, message: str, cut_off: bool = False) -> None:
        super().__init__(message)
        self.cut_off = cut_off


def parts_of(text: str, kinds: Sequence[str]) -> dict[str, str]:
    """The text of each component in an answer: all of it for one, its part of the object for several.

    Raises `ComponentError`.
    """
    if len(kinds) == 1:
        return {kinds[0]: text}
    fields = {kind: tuple(COMPONENTS[kind].model_fields) for kind in kinds}
    try:
        value = last_object(text, {name for names in fields.values() for name in names}, tolerant=False).value
    except EditSyntaxError as error:
        raise _not_one(error) from error
    return {kind: json.dumps({name: value[name] for name in names if name in value}) for kind, names in fields.items()}


def _not_one(error: EditSyntaxError) -> ComponentError:
    return ComponentError(str(error).replace('{"objects": {…}, "init": {…}}', "one"), error.cut_off)


def read_component(kind: str, text: str) -> Component:
    """The component in an answer: its last JSON object; text around it is ignored. Raises `ComponentError`."""
    model = COMPONENTS[kind]
    whole = model in (WholeDomain, WholeProblem)
    if whole and "(define" in text.lower().replace(" ", "") and not text.lstrip(" `json\n").startswith("{"):
        return model.model_validate({kind: text})  # a file is as good as one in JSON
    try:
        value = last_object(text, tuple(model.model_fields), tolerant=False).value
        return model.model_validate(value)
    except EditSyntaxError as error:
        raise _not_one(error) from error
    except ValidationError as error:
        faults = (
            f"{'.'.join(map(str, fault['loc'])) or 'the object'}: {fault['msg']}" for fault in error.errors()[:10]
        )
        raise ComponentError("; ".join(faults)) from error


def schema_of(kind: str) -> dict[str, Any]:
    """The JSON schema of a component, strict: every property is required, and no others are allowed."""
    schema = COMPONENTS[kind].model_json_schema()
    _harden(schema)
    return schema


def _harden(part: Any) -> None:
    if isinstance(part, dict):
        if part.get("type") == "object":
            part["additionalProperties"] = False
            part["required"] = list(part.get("properties", {}))
        for name in ("default", "title", "minLength"):
            if not isinstance(part.get(name), dict):
                part.pop(name, None)
        for value in part.values():
            _harden(value)
    elif isinstance(part, list):
        for value in part:
            _harden(value)
