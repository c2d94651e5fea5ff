"""The part of the library `fast_downward` that TextWorld's games in PDDL need, in Python, with our translator.

The package `fast-downward-textworld` has the same folder as our translator, so that only one of them can be installed.
TextWorld asks the library for the ground task, its applicable operators, and the facts that change. Here the translator
grounds the task, and a set of facts is the state. The library's names and behaviour are kept: it reports all
conditional effects of an operator, and TextWorld applies them all, also those whose condition was false.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import itertools
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any, cast

Fact = tuple[str, tuple[str, ...]]
"""The predicate of a fact, and its arguments."""

Condition = tuple[frozenset[Fact], frozenset[Fact]]
"""The facts that must be true, and those that must be false."""


class Atom(ctypes.Structure):
    """An element of the array of facts that TextWorld allocates, such as `Atom opened(fridge)` or `NegatedAtom …`."""

    _fields_ = (("name", ctypes.py_object),)


class Operator(ctypes.Structure):
    """An element of the array of applicable operators that TextWorld allocates."""

    _fields_ = (("id", ctypes.c_int), ("name", ctypes.py_object), ("nb_effect_atoms", ctypes.c_int))


@dataclass(frozen=True)
class Change:
    """An effect of an operator: a fact becomes true or false if the condition holds."""

    condition: Condition
    fact: Fact
    adds: bool


@dataclass(frozen=True)
class Ground:
    """A ground task. TextWorld calls `encode` because it expects a text."""

    initial: frozenset[Fact]
    fluents: tuple[Fact, ...]
    operators: tuple[tuple[str, Condition, tuple[Change, ...]], ...]
    rules: tuple[tuple[Condition, Fact], ...]
    goal: Condition

    def encode(self, coding: str) -> Ground:
        return self


_NO_TASK = Ground(frozenset(), (), (), (), (frozenset(), frozenset()))


class Simulator:
    """The state of a game, as TextWorld changes and reads it. Methods have the library's names."""

    def load_sas(self, task: Ground) -> None:
        self._task, self._state = task, set(task.initial)

    def load_sas_replan(self, task: Ground) -> None:
        """Do nothing: no plans are made."""

    def get_state_size(self) -> int:
        return len(self._task.fluents)

    def get_state(self, atoms: Any) -> None:
        for number, fact in enumerate(self._task.fluents):
            atoms[number].name = _named(fact, fact in self._state)

    def get_applicable_operators_count(self) -> int:
        operators, known = enumerate(self._task.operators), self._known()
        self._applicable = [number for number, operator in operators if _holds(operator[1], known)]
        return len(self._applicable)

    def get_applicable_operators(self, operators: Any) -> None:
        for place, number in enumerate(self._applicable):
            name, _, changes = self._task.operators[number]
            operators[place].id, operators[place].name = number, name
            operators[place].nb_effect_atoms = len(changes)

    def apply_operator(self, number: int, effects: Any) -> None:
        changes, known = self._task.operators[number][2], self._known()
        fired = [change for change in changes if _holds(change.condition, known)]
        self._state -= {change.fact for change in fired if not change.adds}
        self._state |= {change.fact for change in fired if change.adds}
        for place, change in enumerate(changes):
            effects[place].name = _named(change.fact, change.adds)

    def check_goal(self) -> bool:
        return _holds(self._task.goal, self._known())

    def _known(self) -> set[Fact]:
        """The facts that are true, with those that the rules derive."""
        known, size = set(self._state), -1
        while size != len(known):
            size = len(known)
            known |= {fact for condition, fact in self._task.rules if _holds(condition, known)}
        return known


def _holds(condition: Condition, state: set[Fact]) -> bool:
    true, false = condition
    return true <= state and false.isdisjoint(state)


def _named(fact: Fact, is_true: bool) -> str:
    return f"{'Atom' if is_true else 'NegatedAtom'} {fact[0]}({', '.join(fact[1])})"


def install() -> None:
    """Add the library's names to the package `fast_downward` of our translator, and keep `jericho` from being needed.

    TextWorld imports `jericho`, the interpreter of its other games, which needs a compiler to install.
    """
    import fast_downward
    from fast_downward.translate import options

    options.set_options(["domain", "problem"])
    package = cast("Any", fast_downward)
    package.Atom, package.Operator, package.load_lib, package.pddl2sas = Atom, Operator, Simulator, pddl2sas
    jericho: Any = ModuleType("jericho")
    jericho.__getattr__ = lambda name: UserWarning  # TextWorld filters warnings of these classes
    sys.modules["jericho"] = jericho


@lru_cache(maxsize=2)
def pddl2sas(domain: str, problem: str, verbose: bool = False, optimize: bool = False) -> tuple[Any, Ground]:
    """The translator's task, and the ground task; the second call, for a planner, gets an empty one.

    TextWorld calls it for the same game again and again, and changes neither. Raises `ValueError` if the goal cannot be
    reached even when nothing is deleted.
    """
    from fast_downward.translate import instantiate, normalize
    from fast_downward.translate.pddl_parser import parsing_functions

    if optimize:
        return None, _NO_TASK
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        task = parsing_functions.parse_task(*_for_translator(domain, problem))
        normalize.normalize(task)
        is_reachable, fluents, actions, goal, axioms, _ = instantiate.explore(task)
    if not is_reachable or goal is None:
        raise ValueError("the goal of the game cannot be reached")
    initial = {_fact(atom) for atom in task.init if getattr(atom, "predicate", "=") != "="}
    known = tuple(sorted(map(_fact, fluents)))
    operators = ((action.name.strip("() "), _condition(action.precondition), _changes(action)) for action in actions)
    return task, Ground(
        frozenset(initial.intersection(known)),
        known,
        tuple(operator for operator in operators if operator[2]),
        tuple((_condition(axiom.condition), _fact(axiom.effect)) for axiom in axioms),
        _condition(goal),
    )


def _fact(atom: Any) -> Fact:
    return atom.predicate, tuple(atom.args)


def _condition(literals: Iterable[Any]) -> Condition:
    literals = list(literals)
    true, false = ([_fact(literal) for literal in literals if literal.negated == negated] for negated in (False, True))
    return frozenset(true), frozenset(false)


def _changes(action: Any) -> tuple[Change, ...]:
    """The effects that are not true already: walking from a place to itself has none, and is no operator."""
    true, false = _condition(action.precondition)
    effects = [(effect, True) for effect in action.add_effects] + [(effect, False) for effect in action.del_effects]
    changes = (Change(_condition(condition), _fact(atom), adds) for (condition, atom), adds in effects)
    return tuple(change for change in changes if change.fact not in (true if change.adds else false))


def _for_translator(domain: str, problem: str) -> tuple[list[Any], list[Any]]:
    """Domain and problem as the nested lists that our translator takes.

    The library takes files that our translator refuses: objects of the problem and types that the domain uses and does
    not declare, and metrics before objects. So all objects become constants. A type that nothing declares, such as the
    `location,` of ALFWorld's `examineObject`, has no objects, so that its quantifier is never true.
    """
    from fast_downward.translate.pddl_parser import lisp_parser

    parts, task = (lisp_parser.parse_nested_list(text.splitlines()) for text in (domain, problem))
    words = re.sub(r";.*", "", domain).lower().replace("(", " ").replace(")", " ").split()
    types = next(part for part in parts if part[0] == ":types")
    types += sorted({kind for sign, kind in itertools.pairwise(words) if sign == "-"} - {*types, "object", "number"})
    objects = next(part for part in task if part[0] == ":objects")
    parts.insert(parts.index(types) + 1, [":constants", *objects[1:]])
    del objects[1:]
    ignored = (":requirements", ":metric")
    return [part for part in parts if part[0] not in ignored], [part for part in task if part[0] not in ignored]
