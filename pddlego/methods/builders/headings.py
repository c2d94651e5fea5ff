"""Answers in the form of the L2P paper (Figures 1, 6, 9): headings such as `### New Predicates` with PDDL in fences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pddlego.methods.builders.draft import (
    ActionList,
    Component,
    Constants,
    Effects,
    Functions,
    Goal,
    Init,
    NamedAction,
    NewPredicate,
    NewType,
    Objects,
    Parameters,
    Preconditions,
    Predicates,
    Typed,
    Types,
    WholeAction,
)
from pddlego.pddl.conditions import read_typed_list
from pddlego.pddl.domain import read_domain
from pddlego.pddl.sexpr import Sexpr, read_sexprs, show

_BULLET = re.compile(r"^\s*(?:[-*]\s+(?=[(?\w])|\d+\.\s+)")
_DESCRIBED = re.compile(r"""[\s{]*["']([\w-]+)["']\s*:\s*["'](.*)["'][\s,}]*$""")

_WANTED: Mapping[str, tuple[str, ...]] = {
    "types": ("types",),
    "constants": ("constants",),
    "predicates": ("new predicates", "predicates"),
    "functions": ("functions", "new functions"),
    "action-list": ("natural language actions", "actions"),
    "parameters": ("action parameters",),
    "preconditions": ("action preconditions",),
    "effects": ("action effects",),
    "action": ("action effects",),
    "objects": ("objects",),
    "init": ("initial",),
    "goal": ("goal",),
}
"""The headings of the components, in lower case."""


def headed_component(kind: str, text: str, action: str) -> Component | None:
    """The component of this kind in an answer with headings; None if the answer does not have its heading.

    `action` is the name of the action that was asked for. Raises `ValueError` for text that cannot be read.
    """
    parts = _parts(text)
    heading = next((name for name in _WANTED.get(kind, ()) if name in parts), None)
    if heading is None:
        return None
    own, new = parts[heading], _predicates(parts.get("new predicates", ""))
    parameters, needed = parts.get("action parameters", ""), parts.get("action preconditions", "")
    if kind == "types":
        return Types(types=tuple(NewType(name=name, about=about) for name, about in _described(own)))
    if kind == "action-list":
        return ActionList(actions=tuple(NamedAction(name=name, about=about) for name, about in _described(own)))
    if kind == "predicates":
        return Predicates(predicates=_predicates(own))
    if kind == "functions":
        return Functions(functions=_predicates(own))
    if kind in ("constants", "objects"):
        return Constants(constants=_typed(own)) if kind == "constants" else Objects(objects=_typed(own))
    if kind == "init":
        return Init(facts=tuple(map(show, _expressions(own))))
    if kind == "goal":
        return Goal(goal=_condition(own))
    if kind == "parameters":
        return Parameters(name=action, parameters=_typed(own))
    if kind == "preconditions":
        return Preconditions(name=action, precondition=_condition(own), new_predicates=new)
    if kind == "effects":
        return Effects(name=action, effect=_condition(own), new_predicates=new)
    whole = {"parameters": _typed(parameters), "precondition": _condition(needed), "effect": _condition(own)}
    return WholeAction.model_validate({"name": action, **whole, "new_predicates": new})


def _parts(text: str) -> dict[str, str]:
    """The text after each heading, without its fence. The last of equal headings counts."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith("##"):
            lines = found[line.strip("#: \t").lower()] = []
        else:
            lines.append(line)
    return {name: fenced("\n".join(lines)) for name, lines in found.items()}


def fenced(text: str) -> str:
    """The text in the first fence; without a fence, the whole text."""
    _, fence, rest = text.partition("```")
    first, _, inside = rest.partition("\n")
    return (inside if re.fullmatch(r"\w*\s*", first) else rest).partition("```")[0] if fence else text


def _lines(text: str) -> list[tuple[str, str]]:
    """The declaration and the description of each line: `- (at ?x - place): 'where it is'`, `box - thing ; a box`."""
    pairs = []
    for line in text.splitlines():
        line = _BULLET.sub("", line).strip().removesuffix(",")
        declared, _, about = line.partition(";")
        if ":" in declared:
            declared, _, about = declared.partition(":")
        if declared.strip():
            pairs.append((declared.strip(), about.strip(" \t;'\"")))
    return pairs


def _described(text: str) -> list[tuple[str, str]]:
    """Names with their descriptions, as a Python dictionary has them or as lines."""
    # A search would try every brace of a long line as its beginning.
    pairs = [(match[1], match[2]) for line in text.splitlines() if (match := _DESCRIBED.match(line))]
    return pairs or [(name, about) for name, about in _lines(text) if name not in "{}"]


def _predicates(text: str) -> tuple[NewPredicate, ...]:
    found = []
    for declared, about in _lines(text):
        reading = read_domain(f"(define (domain d) (:predicates {declared}))")
        faults = [defect.message for defect in reading.defects if defect.blocking]
        if faults or len(reading.domain.predicates) != 1:
            raise ValueError(f"{declared[:100]!r} is not a declaration{f': {faults[0]}' if faults else ''}")
        (predicate,) = reading.domain.predicates
        parameters = tuple(Typed(name=name.name, type=name.type) for name in predicate.parameters)
        found.append(NewPredicate(name=predicate.name, parameters=parameters, about=about))
    return tuple(found)


def _typed(text: str) -> tuple[Typed, ...]:
    names, defects = read_typed_list(_expressions("\n".join(declared for declared, _ in _lines(text))))
    if defects:
        raise ValueError(defects[0].message)
    return tuple(Typed(name=name.name, type=name.type) for name in names)


def _condition(text: str) -> str:
    parts = [show(part) for part in _expressions(text)]
    return parts[0] if len(parts) == 1 else f"(and {' '.join(parts)})"


def _expressions(text: str) -> Sequence[Sexpr]:
    reading = read_sexprs(text)
    if reading.defects:
        raise ValueError(reading.defects[0].message)
    return reading.expressions
