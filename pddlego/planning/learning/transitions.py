"""Transitions: an action that was tried in a state, and the state after it. As values, and as lines of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pddlego.errors import UsageError
from pddlego.pddl import Atom, Domain
from pddlego.pddl.conditions import TypedName, read_atom, read_typed_list
from pddlego.pddl.sexpr import read_sexprs
from pddlego.planning.result import PlanStep


@dataclass(frozen=True)
class Transition:
    """An action that was tried in a state: the facts that were true, and those that are true `after` it.

    `after` is None if the action was refused. The `objects` include those of no fact; constants may be left out.
    """

    before: frozenset[Atom]
    action: PlanStep
    after: frozenset[Atom] | None
    objects: frozenset[TypedName]


class TransitionError(UsageError):
    """A transition that nothing can be learned from. `number` counts transitions from 1."""

    def __init__(self, number: int, reason: str, next_step: str) -> None:
        super().__init__(f"Nothing can be learned from transition {number}", f"{reason}.", next_step)
        self.number = number


def transition_fault(domain: Domain, transition: Transition, checked: set[Atom]) -> tuple[str, str] | None:
    """The fault of a transition and what to do; None if it has none.

    Facts in `checked` are skipped, and sound ones are added to it.
    """
    types = {item.name: item.type for item in (*domain.constants, *transition.objects)}
    action, step = domain.actions_by_name.get(transition.action.action), transition.action
    if action is None:
        return f"{step} is not an action of the domain", f"It has: {', '.join(domain.actions_by_name)}."
    if unknown := next((item for item in sorted(transition.objects, key=str) if item.type not in domain.types), None):
        return f"the type of {unknown} is not declared", f"The types are {', '.join(sorted(domain.types))}."
    uses = [(f"{step}", "action", action.parameters, step.args)]
    unchecked = (transition.before | (transition.after or frozenset())) - checked
    for fact in sorted(unchecked, key=str):
        predicate = domain.predicates_by_name.get(fact.predicate)
        if predicate is None or fact.predicate in domain.rules:
            reason = "is derived" if predicate else "is not declared"
            return f"the predicate of {fact} {reason}", "State the facts of declared predicates that actions change."
        uses.append((str(fact), "predicate", predicate.parameters, fact.args))
    for text, kind, parameters, args in uses:
        if len(args) != len(parameters):
            return f"{text} has {len(args)} argument(s), and the {kind} has {len(parameters)}", "Correct the arguments."
        for arg, parameter in zip(args, parameters, strict=True):
            if arg not in types:
                return f"{arg} in {text} is not among the objects", "Add it to the objects, with its type."
            if not domain.is_a(types[arg], parameter.type):
                return f"{arg} in {text} is a {types[arg]}, and not a {parameter.type}", "Correct its type."
    checked |= unchecked
    return None


_FORM = 'Write {"objects": ["a - place"], "state": ["(at a)"], "action": "(move a b)", "next": ["(at b)"]}.'


def read_transitions(text: str) -> Iterator[Transition]:
    """The transitions of a text of JSON lines (docs/formats.md). Raises `TransitionError` with the number of a line.

    A line without `objects` has those of the line before, and one without `state` begins where that line ended.
    """
    atom = lru_cache(maxsize=100_000)(_read_atom)
    objects: frozenset[TypedName] | None = None
    state: frozenset[Atom] | None = None
    for number, line in enumerate(text.rstrip("\n").split("\n"), start=1):
        try:
            values = json.loads(line)
            objects = _read_objects(_list_of(values["objects"])) if "objects" in values else objects
            state = frozenset(map(atom, _list_of(values["state"]))) if "state" in values else state
            step = atom(values["action"])
            after = None if values["next"] is None else frozenset(map(atom, _list_of(values["next"])))
        except KeyError as error:
            raise TransitionError(number, f"The line has no {error}", _FORM) from error
        except json.JSONDecodeError as error:
            reason = f"The line is not JSON, or cut off: {error.msg}"
            raise TransitionError(number, reason, "Correct or remove it.") from error
        except (TypeError, ValueError, RecursionError) as error:
            detail = f": {error}" if isinstance(error, ValueError) else ""
            raise TransitionError(number, f"The line has another form{detail}", _FORM) from error
        if objects is None or state is None:
            missing = "objects" if objects is None else "state"
            raise TransitionError(number, f"The line has no '{missing}', and neither has one before it", _FORM)
        yield Transition(state, PlanStep(step.predicate, step.args), after, objects)
        state = state if after is None else after


def _list_of(value: Any) -> list[Any]:
    """The value if it is a list. Raises `ValueError`."""
    if not isinstance(value, list):
        raise ValueError("'objects', 'state' and 'next' are lists of texts")
    return value


def _read_atom(text: str) -> Atom:
    """A fact or a step. Raises `ValueError`, and `TypeError` if it is not a text."""
    if not isinstance(text, str):
        raise TypeError("facts and actions are texts")
    reading = read_sexprs(text)
    atom = read_atom(reading.expressions[0]) if len(reading.expressions) == 1 and not reading.defects else None
    if atom is None:
        raise ValueError(f"{text[:60]!r} is not a fact or an action")
    return atom


def _read_objects(texts: list[str]) -> frozenset[TypedName]:
    """Objects with their types. Raises `ValueError`, and `TypeError` if they are not texts."""
    reading = read_sexprs(" ".join(texts))
    names, defects = read_typed_list(reading.expressions)
    if reading.defects or defects:
        raise ValueError((*reading.defects, *defects)[0].message)
    types = {item.name: item.type for item in names}
    if twice := next((item.name for item in names if types[item.name] != item.type), ""):
        raise ValueError(f"{twice} has two types")
    return frozenset(names)


def write_transitions(transitions: Iterable[Transition]) -> str:
    """The text of transitions that `read_transitions` reads."""
    lines = (
        {
            "objects": sorted(map(str, transition.objects)),
            "state": sorted(map(str, transition.before)),
            "action": str(transition.action),
            "next": None if transition.after is None else sorted(map(str, transition.after)),
        }
        for transition in transitions
    )
    return "\n".join(map(json.dumps, lines))
