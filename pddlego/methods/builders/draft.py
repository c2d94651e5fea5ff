"""A domain and a problem under construction, and the components that a model answers with (L2P).

A component is a pydantic value. Its JSON schema, with the docstring of its class, is sent to endpoints that support
schemas.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from pddlego.pddl import Domain
from pddlego.pddl.check import check_domain
from pddlego.pddl.conditions import TRUE, read_typed_list
from pddlego.pddl.domain import DomainReading, read_domain
from pddlego.pddl.edit import Lines, domain_text, sections_of
from pddlego.pddl.lint import needed_requirements
from pddlego.pddl.names import is_name
from pddlego.pddl.nearly_json import EditSyntaxError, Form, last_object, note_on_key
from pddlego.pddl.portable import CheckedDomain, checked_domain, is_numeric_problem
from pddlego.pddl.preferences import with_preferences
from pddlego.pddl.problem import Problem, read_problem
from pddlego.pddl.rules import Level
from pddlego.pddl.sexpr import read_sexprs, show
from pddlego.pddl.tolerant import Repaired, RepairKind, repair
from pddlego.planning.checked import CheckedProblem, checked_problem
from pddlego.util.answers import file_in
from pddlego.util.text import fault_of


class Component(Form):
    """A part of a domain or a problem that one answer contains. Names are converted to lower case, as in PDDL."""

    model_config = ConfigDict(frozen=True, str_strip_whitespace=True)


def _pddl_name(value: str) -> str:
    """Return the name in lower case. Raises `ValueError` unless it is a PDDL name, with or without a leading `?`."""
    if not is_name(value.lower().removeprefix("?")):
        raise ValueError("a PDDL name is a letter followed by letters, digits, - or _, for a variable with ? before it")
    return value.lower()


_Name = Annotated[str, AfterValidator(_pddl_name)]
NewName = Annotated[str, Field(min_length=1), AfterValidator(_pddl_name)]


def _comment(text: str) -> str:
    """A description as a PDDL comment at the end of a line; empty for an empty one."""
    words = " ".join(text.split())[:_LONGEST_COMMENT]
    return f"  ; {words}" if words else ""


_LONGEST_COMMENT = 80


class _Declared(Component):
    """A name with a type, in PDDL or as an object: `?x - place` or `?x`."""

    @model_validator(mode="before")
    @classmethod
    def _from_pddl(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        reading = read_sexprs(value.strip().removeprefix("(").removesuffix(")"))
        names, defects = read_typed_list(reading.expressions)
        if len(names) != 1 or defects or reading.defects:
            raise ValueError(f"'{value[:100]}' is not in the form 'NAME - TYPE'")
        first, second, *_ = cls.model_fields
        return {first: names[0].name, second: names[0].type}


class Typed(_Declared):
    """A parameter, a constant or an object with its type."""

    name: NewName = Field(description="for a parameter: with its question mark, as ?x")
    type: NewName = "object"

    @property
    def line(self) -> str:
        """`name - type`."""
        return f"{self.name} - {self.type}"


class NewType(_Declared):
    """A type below another, `object` for one of its own."""

    name: NewName
    parent: _Name = "object"
    about: str = ""

    @property
    def line(self) -> str:
        """`name - parent`, and the description as a comment."""
        return f"{self.name} - {self.parent}{_comment(self.about)}"


class _Headed(Component):
    """A name with parameters."""

    name: NewName
    parameters: tuple[Typed, ...] = ()

    @property
    def line(self) -> str:
        """`(name ?x - type …)`."""
        return f"({' '.join((self.name, *(parameter.line for parameter in self.parameters)))})"


class NewPredicate(_Headed):
    """A predicate with its parameters, and what it means."""

    about: str = ""

    @property
    def line(self) -> str:
        """`(name ?x - type …)`, and the meaning as a comment."""
        return f"{super().line}{_comment(self.about)}"


class NewRule(_Headed):
    """A derived predicate: it is true where its condition is."""

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
    """Numeric functions of the domain."""

    functions: tuple[NewPredicate, ...]


class DerivedPredicates(Component):
    """Derived predicates."""

    rules: tuple[NewRule, ...]


class ActionList(Component):
    """The actions that a domain has, in words."""

    actions: tuple[NamedAction, ...]


class Parameters(Component):
    """The parameters of an action."""

    name: _Name
    parameters: tuple[Typed, ...]


class Preconditions(Component):
    """The precondition of an action, and predicates that it needs and that are new."""

    name: _Name
    precondition: str
    new_predicates: tuple[NewPredicate, ...] = ()


class Effects(Component):
    """The effect of an action, and predicates that it needs and that are new."""

    name: _Name
    effect: str
    new_predicates: tuple[NewPredicate, ...] = ()


class WholeAction(Component):
    """An action with everything, and predicates that it needs and that are new."""

    name: NewName
    parameters: tuple[Typed, ...] = ()
    precondition: str = "(and)"
    effect: str
    new_predicates: tuple[NewPredicate, ...] = ()


class TimedAction(Component):
    """An action that takes time, or none if its duration is empty, and predicates that it needs and that are new."""

    name: NewName
    parameters: tuple[Typed, ...] = ()
    duration: str = ""
    condition: str = "(and)"
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


def _bare_metric(value: Any) -> Any:
    """Return `minimize (f)` for `(:metric minimize (f))` and `(minimize (f))` too, and an empty text for null."""
    reading = read_sexprs(value) if isinstance(value, str) else None
    parts = tuple(reading.expressions) if reading is not None and not reading.defects else ()
    while parts and (parts[0] == ":metric" or (len(parts) == 1 and isinstance(parts[0], tuple))):
        parts = parts[1:] if parts[0] == ":metric" else tuple(parts[0])
    return " ".join(map(show, parts)) if parts and parts[0] in ("minimize", "maximize") else value or ""


class PlanMetric(Component):
    """The quality measure of plans, such as `minimize (total-time)`; empty without one."""

    metric: Annotated[str, BeforeValidator(_bare_metric)]


class WholeDomain(Component):
    """A domain file."""

    domain: str


class WholeProblem(Component):
    """A problem file."""

    problem: str


ActionPart = WholeAction | TimedAction | Parameters | Preconditions | Effects
"""A component that belongs to one action."""

COMPONENTS: Mapping[str, type[Component]] = {
    "types": Types,
    "constants": Constants,
    "predicates": Predicates,
    "functions": Functions,
    "rules": DerivedPredicates,
    "action-list": ActionList,
    "parameters": Parameters,
    "preconditions": Preconditions,
    "effects": Effects,
    "action": WholeAction,
    "timed-action": TimedAction,
    "objects": Objects,
    "init": Init,
    "goal": Goal,
    "metric": PlanMetric,
    "domain": WholeDomain,
    "problem": WholeProblem,
}
"""The components that a request can ask for, by their names."""

_LEVELS = {"timed-action": Level.TIME, "metric": Level.NUMBERS}
"""The lowest levels of the components that classical PDDL does not have."""


def components_of(level: Level) -> tuple[str, ...]:
    """The components of a level of PDDL."""
    return tuple(kind for kind in COMPONENTS if _LEVELS.get(kind, Level.CLASSICAL) <= level)


def prompt_of(kind: str, level: Level) -> str:
    """The prompt of a component in `kinds/`. What classical PDDL writes in the same way has one prompt."""
    return f"numbers/{kind}" if level > Level.CLASSICAL and kind in _NUMERIC_PROMPTS else kind


_NUMERIC_PROMPTS = (
    *("functions", "preconditions", "effects", "action", "timed-action", "init", "goal", "metric", "domain", "problem"),
)
"""The components whose prompts say how numbers and time are written."""

ACTION_COMPONENTS = ("parameters", "preconditions", "effects", "action", "timed-action")
"""Components that belong to one action."""

PROBLEM_COMPONENTS = ("objects", "init", "goal", "metric", "problem")
"""Components of the problem file; all others belong to the domain file."""


class ComponentError(ValueError):
    """An answer does not contain the requested component; the message is the reason. `cut_off`: it is incomplete."""

    def __init__(self, message: str, cut_off: bool = False) -> None:
        super().__init__(message)
        self.cut_off = cut_off


def read_components(kinds: Sequence[str], text: str, notes: list[str]) -> list[Component]:
    """Read the components of these kinds from an answer. Raises `ComponentError`.

    The answer to a request for several components is one JSON object with the fields of all of them. `notes` gets a
    note for each remark that was left out.
    """
    if len(kinds) == 1:
        return [read_component(kinds[0], text, notes)]
    fields = [tuple(COMPONENTS[kind].model_fields) for kind in kinds]
    value = _last_object(text, {name for names in fields for name in names}, notes)
    parts = ({name: value[name] for name in names if name in value} for names in fields)
    return [read_component(kind, json.dumps(part), notes) for kind, part in zip(kinds, parts, strict=True)]


def read_component(kind: str, text: str, notes: list[str] | None = None) -> Component:
    """Read a component from an answer: its last JSON object. Raises `ComponentError`.

    Text around the object is ignored, and remarks in it are left out, which `notes` says. A domain or a problem may
    also be a plain PDDL file.
    """
    model = COMPONENTS[kind]
    is_file = model in (WholeDomain, WholeProblem) and "(define" in text.lower().replace(" ", "")
    if is_file and not text.lstrip(" `json\n").startswith("{"):
        return model.model_validate({kind: text})
    said, ignored = list[str](), list[str]()
    value = _last_object(text, model.model_fields, said)
    try:
        component = model.model_validate(value, context=ignored)
    except ValidationError as error:
        raise ComponentError("; ".join(map(fault_of, error.errors()[:10]))) from error
    if notes is not None:
        notes += (*said, *map(note_on_key, ignored))
    return component


def _last_object(text: str, names: Collection[str], notes: list[str]) -> Any:
    try:
        read = last_object(text, names)
        notes += [f"JSON: {repair}" for repair in read.repairs]
        return read.value
    except EditSyntaxError as error:
        raise ComponentError(str(error).replace('{"objects": {…}, "init": {…}}', "one"), error.cut_off) from error


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


@dataclass(frozen=True)
class Draft:
    """The parts of a domain and a problem that exist so far, as the model wrote them.

    `sections` are the lines of the domain by section. A domain that cannot be parsed is kept whole, as the only
    "action", with an empty name. `planned` are the actions that the model has listed, written or not, and `known` the
    predicates when an action was last written. A problem without a name of its own is named after the domain. The
    checks refuse what is above the `level`.
    """

    name: str = "built"
    sections: Mapping[str, Lines] = field(default_factory=dict)
    planned: tuple[NamedAction, ...] = ()
    known: Mapping[str, Lines] = field(default_factory=dict, compare=False)
    objects: tuple[Typed, ...] = ()
    facts: tuple[str, ...] = ()
    goal: str = "(and)"
    metric: str = ""
    constraints: str = ""
    problem_name: str = ""
    level: Level = Level.CLASSICAL

    @cached_property
    def domain(self) -> str:
        """The text of the domain file, with the requirements that it needs."""
        unreadable = self.sections.get("actions", {}).get("")
        if unreadable is not None:
            return file_in(unreadable)
        actions = dict(self.sections.get("actions", {}))
        for action in self.planned:
            if action.about and action.name in actions:
                actions[action.name] = f"{_comment(action.about).strip()}\n  {actions[action.name]}"
        sections = {**self.sections, "actions": actions}
        needed = needed_requirements(read_domain(domain_text(self.name, (":strips",), sections)).domain)
        return domain_text(self.name, (":strips", *sorted(needed)), sections)

    @cached_property
    def problem(self) -> str:
        """The text of the problem file."""
        objects = "\n    ".join(obj.line for obj in self.objects)
        facts = "\n    ".join(self.facts)
        rest = "".join(f"\n  {section}" for section in (self.constraints, self.metric) if section)
        name = self.problem_name or f"{self.name}-problem"
        return (
            f"(define (problem {name})\n  (:domain {self.name})\n  (:objects\n    {objects})\n"
            f"  (:init\n    {facts})\n  (:goal {self.goal}){rest})"
        )

    @property
    def has_problem(self) -> bool:
        """Whether any part of the problem exists. A problem may have no objects, or nothing but a goal."""
        return bool(self.objects or self.facts or self.metric or self.goal != "(and)")

    @cached_property
    def reading(self) -> DomainReading:
        """The domain as far as it can be parsed, with the defects of its text."""
        return read_domain(self.domain)

    @cached_property
    def checked_domain(self) -> CheckedDomain:
        """The domain with everything that the checks find in it."""
        return checked_domain(
            self.domain, self.level, numeric_task=is_numeric_problem(read_problem(self.problem).problem)
        )

    @cached_property
    def checked_problem(self) -> CheckedProblem | None:
        """The problem with everything that the checks find in it; None if the domain has errors."""
        domain = self.checked_domain.domain
        return checked_problem(domain, self.problem, self.level) if domain is not None else None

    @property
    def predicates(self) -> Lines:
        """The lines of the predicates, by their names."""
        return self.sections.get("predicates", {})

    @property
    def actions(self) -> tuple[str, ...]:
        """The names of the actions that are written."""
        return tuple(self.sections.get("actions", {}))

    def added_after(self, action: str) -> tuple[str, ...]:
        """The predicates that were added after the action was last written."""
        known = self.known.get(action, self.predicates)
        return tuple(line for name, line in self.predicates.items() if name not in known)

    def with_domain(self, domain: Domain) -> Draft:
        """Replace the whole domain. Its numbers and its time raise the level."""
        return replace(self, name=domain.name, sections=sections_of(domain), known={}).with_level_of(domain)

    def with_level_of(self, domain: Domain) -> Draft:
        """The draft, of a level that has all that the domain uses."""
        own = Level.TIME if domain.durative else Level.NUMBERS if domain.numeric_part else Level.CLASSICAL
        return replace(self, level=max(self.level, own))

    def with_problem(self, problem: Problem) -> Draft:
        """Replace the whole problem."""
        objects = tuple(Typed(name=obj.name, type=obj.type) for obj in problem.sorted_objects())
        facts = (*problem.init_lines(), *map(str, problem.sorted_later()))
        metric = str(problem.metric) if problem.metric else ""
        goal, constraints = with_preferences(problem.goal, problem.constraints, problem.preferences)
        name = problem.name if problem.name != "unnamed" else ""
        draft = replace(self, objects=objects, facts=facts, goal=str(goal), metric=metric, problem_name=name)
        return replace(draft, constraints=f"(:constraints {constraints})" if constraints != TRUE else "")

    def with_component(self, component: Component) -> Draft:
        """Replace a component. The new predicates of an action are added to the others."""
        if isinstance(component, WholeDomain):
            return self._with_domain_file(component.domain)
        if isinstance(component, WholeProblem):
            files = repair(self.domain, component.problem, self.level)
            text = file_in(component.problem) if _guesses(files) else files.problem
            return self.with_problem(read_problem(text).problem)
        if isinstance(component, (Types, Constants, Predicates, Functions)):
            [(section, entries)] = dict(component).items()
            if section == "types":  # the check reports types with the same name
                return self._with(section, {entry.line: entry.line for entry in entries})
            return self._with(section, {entry.name: entry.line for entry in entries})
        if isinstance(component, DerivedPredicates):
            return self._with_rules(component)
        if isinstance(component, ActionList):
            return replace(self, planned=component.actions)
        if isinstance(component, PlanMetric):
            return replace(self, metric=f"(:metric {component.metric})" if component.metric else "")
        if isinstance(component, (Objects, Init, Goal)):
            return replace(self, **dict(component))
        assert isinstance(component, ActionPart)
        return self._with_action(component)

    def without_unused(self) -> Draft:
        """Remove the predicates that no action and no rule uses."""
        used = " ".join((*self.sections.get("actions", {}).values(), *self.sections.get("rules", {}).values())).lower()
        heads = set(re.findall(r"\(\s*([^\s()]+)[\s)]", used))
        kept = {name: line for name, line in self.predicates.items() if name in heads}
        return self._with("predicates", kept)

    def _with(self, section: str, lines: Lines) -> Draft:
        return replace(self, sections={**self.sections, section: lines})

    def _with_rules(self, component: DerivedPredicates) -> Draft:
        """Replace the rules, and add their heads to the predicates. Several rules may have the same head."""
        heads = {rule.name: rule.line for rule in component.rules}
        lines = [f"(:derived {rule.line} {rule.condition})" for rule in component.rules]
        draft = self._with("rules", {line: line for line in lines})
        return draft._with("predicates", {**heads, **self.predicates})

    def _with_action(self, component: ActionPart) -> Draft:
        name = component.name
        parts = _action_parts(self.sections.get("actions", {}).get(name, ""))
        if isinstance(component, (WholeAction, TimedAction, Parameters)):
            parts["parameters"] = " ".join(parameter.line for parameter in component.parameters)
        if isinstance(component, (WholeAction, Preconditions)):
            parts["precondition"] = component.precondition or "(and)"
        if isinstance(component, TimedAction):
            parts["precondition"] = component.condition or "(and)"
        if isinstance(component, (WholeAction, TimedAction, Effects)):
            parts["effect"] = component.effect or "(and)"
        signature = f"{name}\n    :parameters ({parts['parameters']})"
        head, condition = f":action {signature}", "precondition"
        if isinstance(component, TimedAction) and component.duration:
            head, condition = f":durative-action {signature}\n    :duration {component.duration}", "condition"
        text = f"({head}\n    :{condition} {parts['precondition']}\n    :effect {parts['effect']})"
        draft = self._with("actions", {**self.sections.get("actions", {}), name: text})
        new = () if isinstance(component, Parameters) else component.new_predicates
        known = self.predicates
        added = {predicate.name: predicate.line for predicate in new if predicate.name not in known}
        draft = draft._with("predicates", {**known, **added})
        return replace(draft, known={**self.known, name: draft.predicates})

    def _with_domain_file(self, text: str) -> Draft:
        files = repair(text, "", self.level)
        reading = read_domain(file_in(text) if _guesses(files) else files.domain)
        if any(defect.blocking for defect in (*reading.defects, *check_domain(reading.domain, self.level))):
            return replace(self, sections={"actions": {"": text}})  # unchanged, so that the check reports its defects
        return self.with_domain(reading.domain)


def _guesses(files: Repaired) -> bool:
    """Whether the repair declared a name that the model only used. In a build this is an error of the model."""
    return any(repair.kind is RepairKind.DECLARED and repair.of != "requirement" for repair in files.repairs)


def _action_parts(action: str) -> dict[str, str]:
    """The parameters, precondition and effect in the text of an action, with defaults for missing ones."""
    parts = {"parameters": "", "precondition": "(and)", "effect": "(and)"}
    for expression in read_sexprs(action).expressions:
        if isinstance(expression, tuple):
            for key, value in zip(expression[2::2], expression[3::2], strict=False):
                shown = show(value)
                parts[str(key).removeprefix(":")] = shown[1:-1] if key == ":parameters" else shown
    return parts
