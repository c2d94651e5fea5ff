"""A domain and a problem under way: what the components have brought so far, as an immutable value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from pddlego.methods.builders.components import (
    ActionList,
    Component,
    Constants,
    Effects,
    Functions,
    Goal,
    Init,
    NamedAction,
    NewPredicate,
    NewRule,
    Objects,
    Parameters,
    Preconditions,
    Predicates,
    Rules,
    Typed,
    Types,
    WholeAction,
    WholeDomain,
    WholeProblem,
)
from pddlego.pddl import Domain, parse_domain
from pddlego.pddl.check import check_domain
from pddlego.pddl.domain import DomainReading, read_domain
from pddlego.pddl.edit import Lines, domain_text, sections_of
from pddlego.pddl.lint import needed_requirements
from pddlego.pddl.problem import read_problem
from pddlego.pddl.sexpr import read_sexprs, show
from pddlego.pddl.tolerant import Repaired, RepairKind, repair
from pddlego.util.answers import file_in


@dataclass(frozen=True)
class Draft:
    """What is there. `sections` are the lines of the domain by section; `planned` are actions that are yet to be
    written, in words. Texts are as the model gave them: the check reads what comes of them."""

    name: str = "built"
    sections: Mapping[str, Lines] = field(default_factory=dict)
    planned: tuple[NamedAction, ...] = ()
    objects: tuple[Typed, ...] = ()
    facts: tuple[str, ...] = ()
    goal: str = "(and)"
    metric: str = ""

    @cached_property
    def domain(self) -> str:
        """The text of the domain file, with the requirements of what it uses; a file with defects as it is."""
        whole = self.sections.get("actions", {}).get("")
        if whole is not None:
            return file_in(whole)
        plain = domain_text(self.name, (":strips",), self.sections)
        needed = needed_requirements(read_domain(plain).domain)
        return domain_text(self.name, (":strips", *sorted(needed)), self.sections)

    @cached_property
    def reading(self) -> DomainReading:
        """The domain as far as it can be read, and what is wrong with its text."""
        return read_domain(self.domain)

    @property
    def problem(self) -> str:
        """The text of the problem file."""
        objects = "\n    ".join(f"{obj.name} - {obj.type}" for obj in self.objects)
        facts = "\n    ".join(self.facts)
        metric = f"\n  {self.metric}" if self.metric else ""
        return (
            f"(define (problem {self.name}-problem)\n  (:domain {self.name})\n  (:objects\n    {objects})\n"
            f"  (:init\n    {facts})\n  (:goal {self.goal}){metric})"
        )

    @property
    def actions(self) -> tuple[str, ...]:
        """The names of the actions that are written."""
        return tuple(self.sections.get("actions", {}))

    def with_domain(self, domain: Domain) -> Draft:
        """With all of a domain in place of what was there."""
        return replace(self, name=domain.name, sections=sections_of(domain))

    def with_component(self, component: Component) -> Draft:
        """With what a component brings: it takes the place of its like, and predicates of actions are added."""
        if isinstance(component, WholeDomain):
            return self._whole_domain(component.domain)
        if isinstance(component, WholeProblem):
            return self._whole_problem(component.problem)
        if isinstance(component, Types):
            lines = [f"{type_name.name} - {type_name.parent}" for type_name in component.types]
            return self._with("types", dict(zip(lines, lines, strict=True)))
        if isinstance(component, Constants):
            return self._with("constants", {constant.name: typed(constant) for constant in component.constants})
        if isinstance(component, Predicates):
            return self._with("predicates", {predicate.name: head(predicate) for predicate in component.predicates})
        if isinstance(component, Functions):
            return self._with("functions", {function.name: head(function) for function in component.functions})
        if isinstance(component, Rules):
            return self._rules(component)
        if isinstance(component, ActionList):
            return replace(self, planned=component.actions)
        if isinstance(component, (Objects, Init, Goal)):
            return replace(self, **dict(component))
        assert isinstance(component, (WholeAction, Parameters, Preconditions, Effects))
        return self._action(component)

    def without_unused(self) -> Draft:
        """Without predicates that no action and no rule uses."""
        used = " ".join((*self.sections.get("actions", {}).values(), *self.sections.get("rules", {}).values())).lower()
        heads = set(re.findall(r"\(\s*([^\s()]+)[\s)]", used))
        kept = {name: line for name, line in self.sections.get("predicates", {}).items() if name in heads}
        return self._with("predicates", kept)

    def _with(self, section: str, lines: Lines) -> Draft:
        return replace(self, sections={**self.sections, section: lines})

    def _rules(self, component: Rules) -> Draft:
        """Rules, and their heads among the predicates; several may have one head."""
        heads = {rule.name: head(rule) for rule in component.rules}
        lines = [f"(:derived {head(rule)} {rule.condition})" for rule in component.rules]
        known = self.sections.get("predicates", {})
        return self._with("rules", dict(zip(lines, lines, strict=True)))._with("predicates", {**heads, **known})

    def _action(self, component: WholeAction | Parameters | Preconditions | Effects) -> Draft:
        name = component.name
        before = _parts(self.sections.get("actions", {}).get(name, ""))
        if isinstance(component, (WholeAction, Parameters)):
            before["parameters"] = " ".join(map(typed, component.parameters))
        if isinstance(component, (WholeAction, Preconditions)):
            before["precondition"] = component.precondition or "(and)"
        if isinstance(component, (WholeAction, Effects)):
            before["effect"] = component.effect or "(and)"
        text = (
            f"(:action {name}\n    :parameters ({before['parameters']})\n    :precondition {before['precondition']}\n"
            f"    :effect {before['effect']})"
        )
        made = self._with("actions", {**self.sections.get("actions", {}), name: text})
        new = () if isinstance(component, Parameters) else component.new_predicates
        known = self.sections.get("predicates", {})
        added = {predicate.name: head(predicate) for predicate in new if predicate.name not in known}
        return made._with("predicates", {**known, **added})

    def _whole_domain(self, text: str) -> Draft:
        files = repair(text, "")
        reading = read_domain(file_in(text) if _guesses(files) else files.domain)
        if any(defect.blocking for defect in (*reading.defects, *check_domain(reading.domain))):
            return replace(self, sections={"actions": {"": text}})  # as it is, for the check to say what is wrong
        return self.with_domain(reading.domain)

    def _whole_problem(self, text: str) -> Draft:
        files = repair(self.domain, text)
        problem = read_problem(file_in(text) if _guesses(files) else files.problem).problem
        objects = tuple(Typed(name=obj.name, type=obj.type) for obj in problem.sorted_objects())
        facts = (*map(str, problem.sorted_facts()), *sorted(map(str, problem.values)))
        metric = str(problem.metric) if problem.metric else ""
        return replace(self, objects=objects, facts=facts, goal=str(problem.goal), metric=metric)


def _guesses(files: Repaired) -> bool:
    """Whether the tolerant reader declared something that the model only used. In a build this is an error."""
    return any(repair.kind is RepairKind.DECLARED and "requirements" not in repair.what for repair in files.repairs)


def typed(entry: Typed) -> str:
    """`name - type`."""
    return f"{entry.name} - {entry.type}"


def head(entry: NewPredicate | NewRule) -> str:
    """`(name ?x - type …)`."""
    return f"({' '.join((entry.name, *map(typed, entry.parameters)))})"


def _parts(action: str) -> dict[str, str]:
    """The parts of an action's text, as far as they are there."""
    parts = {"parameters": "", "precondition": "(and)", "effect": "(and)"}
    for expression in read_sexprs(action).expressions:
        if isinstance(expression, tuple):
            for key, value in zip(expression[2::2], expression[3::2], strict=False):
                shown = show(value)
                parts[str(key).removeprefix(":")] = shown[1:-1] if key == ":parameters" else shown
    return parts


def draft_of(domain_text: str) -> Draft:
    """A draft that begins with a given domain. Raises `PddlSyntaxError`."""
    return Draft().with_domain(parse_domain(domain_text))
