"""Building PDDL piece by piece from Python: components are asked for, set, appended and removed one by one."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any

from pddlego.episode.budget import Budget
from pddlego.episode.events import Event, Limits
from pddlego.episode.loop import Attempt
from pddlego.errors import ModelError, UsageError
from pddlego.methods.builders.building import BuildOrder, StepAsking, attempted, prompt_of
from pddlego.methods.builders.components import COMPONENTS, Component, ComponentError, Typed, read_component
from pddlego.methods.builders.draft import Draft, draft_of
from pddlego.models import Model
from pddlego.models.prompts import Prompts
from pddlego.pddl.domain import read_domain
from pddlego.pddl.edit import sections_of
from pddlego.pddl.problem import read_problem
from pddlego.util.text import suggestion

_SECTIONS: Mapping[str, str] = {
    "types": "(:types {})",
    "constants": "(:constants {})",
    "predicates": "(:predicates {})",
    "functions": "(:functions {})",
    "rules": "{}",
    "actions": "{}",
}
"""The sections of a domain, and how each is written in it."""

_OF_PROBLEM = ("objects", "init", "goal")

_OF_ACTIONS = ("action-list", "action", "parameters", "preconditions", "effects")
"""Components that change an action, or the list of them, and leave the other actions as they are."""


class Builder:
    """A domain and a problem under way.

    `domain` and `problem` are their texts. Nothing is sent before `ask`; `prompt` is what it would send.
    """

    def __init__(self, model: Model, description: str = "", domain: str = "", retries: int = 5) -> None:
        """Begins with the text of a `domain` if it is given. Raises `PddlSyntaxError` for an invalid one."""
        self.description, self.retries = description, retries
        self._model, self._prompts, self._budget = model, Prompts("builders"), Budget(Limits(None))
        self._draft = draft_of(domain) if domain else Draft()

    @property
    def calls(self) -> int:
        """How many requests were sent."""
        return self._budget.usage.calls

    @property
    def domain(self) -> str:
        """The text of the domain so far."""
        return self._draft.domain

    @property
    def problem(self) -> str:
        """The text of the problem so far."""
        return self._draft.problem

    @property
    def actions(self) -> tuple[str, ...]:
        """The names of the actions that the model has listed (`ask("action-list")`), then of those only written."""
        return tuple(dict.fromkeys((*(action.name for action in self._draft.planned), *self._draft.actions)))

    def prompt(self, *components: str, action: str = "", advice: str = "") -> str:
        """The text of a request for one component or several."""
        return prompt_of(self._order, self._prompts, self._draft, _known(components), action=action, advice=advice)

    def ask(self, *components: str, action: str = "", advice: str = "", prompt: str = "") -> Builder:
        """Ask the model for components, several in one request, and put the answer into the files.

        `components` are those of `pddlego build`: types, constants, predicates, functions, rules, action-list, action,
        parameters, preconditions, effects, objects, init, goal, domain, problem. `action` names the action of the
        parts of one. `prompt` is sent instead of our text; the answer has the same form. An answer that cannot be read,
        or that would introduce defects, is asked for again up to `retries` times.

        Raises `ModelError` if the model cannot answer or no answer can be used.
        """
        kinds = _known(components)
        asking = StepAsking(self._model, self._budget, self._prompts, self.retries)
        events = attempted(*(self._order, asking, self._draft, kinds), action=action, advice=advice, prompt=prompt)
        attempt = _finished(events)
        if attempt.value is None:
            reason = attempt.failure or "No answer could be used."
            raise ModelError(f"The model has no usable {', '.join(kinds)}", reason, "See the last answer, or set it.")
        self._draft = attempt.value
        return self

    def set(self, component: str, value: str | Mapping[str, Any]) -> Builder:
        """Put a component in place of what was there: PDDL, or the JSON value of a model's answer.

        `component` is a section of the domain (types, constants, predicates, functions, rules, actions), or objects,
        init, goal. Raises `UsageError` for what cannot be read.
        """
        return self._change(component, value, keeps=False)

    def append(self, component: str, value: str | Mapping[str, Any]) -> Builder:
        """Add to a component; what has the same name is replaced. As `set`."""
        return self._change(component, value, keeps=True)

    def remove(self, component: str, name: str) -> Builder:
        """Take out an entry of a section or of objects by its name, or a fact of init by its text.

        Raises `UsageError` for an unknown one.
        """
        draft, lines = self._draft, dict(self._draft.sections.get(component, {}))
        known = {"objects": [obj.name for obj in draft.objects], "init": draft.facts}.get(component, tuple(lines))
        if name not in known:
            raise UsageError(f"There is no '{name}' in {component}", "", suggestion(name, known, "See the files."))
        lines.pop(name, None)
        self._draft = replace(
            draft,
            sections={**draft.sections, component: lines} if component in _SECTIONS else draft.sections,
            planned=tuple(action for action in draft.planned if component != "actions" or action.name != name),
            objects=tuple(obj for obj in draft.objects if component != "objects" or obj.name != name),
            facts=tuple(fact for fact in draft.facts if component != "init" or fact != name),
        )
        return self

    def _change(self, component: str, value: str | Mapping[str, Any], keeps: bool) -> Builder:
        if component in _OF_ACTIONS and not isinstance(value, str):
            self._draft = self._draft.with_component(_component(component, value))
            return self
        if not isinstance(value, str):
            made = Draft().with_component(_component(component, value))
        elif component in _OF_PROBLEM:
            made = _problem_part(component, value)
        else:
            made = _domain_part(component, value)
        before = self._draft
        old = before if keeps else Draft()
        sections = {name: {**old.sections.get(name, {}), **lines} for name, lines in made.sections.items()}
        self._draft = replace(before, sections={**before.sections, **sections})
        if component == "objects":
            by_name = {obj.name: obj for obj in (*old.objects, *made.objects)}
            self._draft = replace(self._draft, objects=tuple(by_name.values()))
        elif component == "init":
            self._draft = replace(self._draft, facts=tuple(dict.fromkeys((*old.facts, *made.facts))))
        elif component == "goal":
            self._draft = replace(self._draft, goal=made.goal)
        return self

    @property
    def _order(self) -> BuildOrder:
        return BuildOrder("task", self.description)


def _known(components: tuple[str, ...]) -> tuple[str, ...]:
    for name in components or ("",):
        if name not in COMPONENTS:
            advice = suggestion(name, COMPONENTS, f"They are: {', '.join(COMPONENTS)}.")
            raise UsageError(f"Unknown component '{name}'", "", advice)
    return components


def _component(component: str, value: object) -> Component:
    """The component that a JSON value holds. Raises `UsageError`."""
    try:
        return read_component(component, json.dumps(value))
    except (ComponentError, KeyError, TypeError) as error:
        what = f"The value of {component} cannot be read"
        raise UsageError(what, f"{error}.", "Use the form of a model's answer, or PDDL.") from error


def _balanced(component: str, text: str) -> str:
    """The text. Raises `UsageError` if its parentheses do not fit: it would end more than its own part."""
    depth = 0
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth < 0:
            break
    if depth:
        raise UsageError(f"The text of {component} cannot be read", "Its parentheses do not fit.", "Fix them.")
    return text


def _domain_part(component: str, text: str) -> Draft:
    if component not in _SECTIONS:
        known = (*_SECTIONS, *_OF_PROBLEM)
        advice = suggestion(component, known, f"They are: {', '.join(known)}.")
        raise UsageError(f"Unknown component '{component}'", "", advice)
    reading = read_domain(f"(define (domain part) {_SECTIONS[component].format(_balanced(component, text))})")
    lines = sections_of(reading.domain)[component]
    faults = [defect.message for defect in reading.defects if defect.blocking]
    if faults or not lines:
        raise UsageError(f"The text of {component} cannot be read", f"{faults[0] if faults else 'It is empty'}.", "")
    return Draft(sections={component: lines})


def _problem_part(component: str, text: str) -> Draft:
    goal = "" if component == "goal" else " (:goal (and))"
    reading = read_problem(f"(define (problem part) (:domain part) (:{component} {_balanced(component, text)}){goal})")
    faults = [defect.message for defect in reading.defects if defect.blocking]
    if faults:
        raise UsageError(f"The text of {component} cannot be read", f"{faults[0]}.", "")
    problem = reading.problem
    objects = tuple(Typed(name=obj.name, type=obj.type) for obj in problem.sorted_objects())
    facts = (*map(str, problem.sorted_facts()), *sorted(map(str, problem.values)))
    return Draft(objects=objects, facts=facts, goal=str(problem.goal))


def _finished(events: Generator[Event, None, Attempt[Draft]]) -> Attempt[Draft]:
    """Run a generator to its end, and return its value."""
    while True:
        try:
            next(events)
        except StopIteration as done:
            attempt: Attempt[Draft] = done.value
            return attempt
