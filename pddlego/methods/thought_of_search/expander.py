"""Expands states with the functions of programs, in their process in the sandbox: the host must check the results."""

from __future__ import annotations

import marshal
import sys
from collections.abc import Callable, Iterator
from typing import Any

from pddlego.sandbox.jail.values import WITHOUT_REFERENCES, as_list, differs, plain, tagged

GOAL, SUCCESSORS = FUNCTIONS = "goal", "successors"
"""The two functions of a search space, as requests and answers name them."""

_MOST = 10_000_000
"""Maximum characters of a state."""


class Expander:
    """The driver: expands states, and keeps all successors so that requests can refer to them by number.

    `_kept` has a state as marshal's bytes, or tagged if marshal cannot write it. `_numbers` has the numbers of the
    former. `_sent` has the last arguments of each function.
    """

    def __init__(self) -> None:
        self._first = 0
        self._numbers: dict[bytes, int] = {}
        self._kept: list[bytes | dict[str, Any]] = []
        self._sent: dict[str, Any] = {}

    def expand(
        self, states: list[Any], functions: dict[str, Any], watched: bool, fresh: int | None
    ) -> Iterator[tuple[list[Any], list[Any], str]]:
        """Call both functions on every state in order. Yield the results, the new states, and the function that ran.

        A state that was a successor before is sent as its number. The result of a state is the numbers of its
        successors, or `True` for a goal, which ends the expansion. If changes are `watched`, an argument that
        `successors` changed also ends it, with its index (0: the state) and its value. If `fresh` is not None, the
        known states are forgotten, and new states are numbered from `fresh`. The arguments of a function after the
        state are sent if they are not those of the expansion before.
        """
        if fresh is not None:
            self._first = fresh
            self._numbers.clear()
            self._kept.clear()
        for name in FUNCTIONS:
            if functions[name]["arguments"] is not None:
                self._sent[name] = functions[name]["arguments"]
        before, done = len(self._kept), list[Any]()
        self._at = GOAL
        try:
            called = [_function(*functions[name]["function"]) for name in FUNCTIONS]
            self._expand(states, called, watched, done)
        finally:  # also after an exception, which goes on when this has been sent
            yield done, [_copied(kept) for kept in self._kept[before:]], self._at

    def _expand(self, states: list[Any], functions: list[Callable[..., Any]], watched: bool, done: list[Any]) -> None:
        goal, successors = functions
        goal_arguments, arguments = (_Arguments(self._sent[name]) for name in FUNCTIONS)
        numbers, first, dumps = self._numbers, self._first, marshal.dumps
        for sent in states:
            kept = self._kept[sent - first] if type(sent) is int else sent
            self._at = GOAL
            if goal(_copied(kept), *goal_arguments.values):
                done.append(True)
                return
            goal_arguments.renew()
            self._at = SUCCESSORS
            state = _copied(kept)
            next_states = as_list(successors(state, *arguments.values))
            if watched and differs(state, _copied(kept)):
                done.append({"changed": state, "place": 0})
                return
            place = arguments.renew()
            if watched and place is not None:
                done.append({"changed": arguments.changed, "place": place + 1})
                return
            if "numpy" in sys.modules:  # marshal would write numpy's values as bytes
                next_states = [plain(tagged(state, _MOST)) for state in next_states]
            try:
                forms = [dumps(state, WITHOUT_REFERENCES) for state in next_states]
                done.append([numbers[form] if form in numbers else self._keep(form) for form in forms])
            except ValueError:  # a state contains an instance of a class of the program
                done.append([self._keep({"v": tagged(state, _MOST)}) for state in next_states])

    def _keep(self, form: bytes | dict[str, Any]) -> int:
        """Keep a new state; returns its number."""
        number = self._first + len(self._kept)
        if isinstance(form, bytes):
            self._numbers[form] = number
        self._kept.append(form)
        return number


class _Arguments:
    """The arguments of a function after the state, with the same values at every call even if a call changes them."""

    def __init__(self, sent: Any) -> None:
        self._sent = sent
        self.values, self._before = plain(sent), plain(sent)
        self.changed: Any = None

    def renew(self) -> int | None:
        """Restore changed arguments; returns the index of the first changed argument, or None."""
        if self.values == self._before:
            return None
        place = next((n for n, pair in enumerate(zip(self.values, self._before, strict=False)) if differs(*pair)), None)
        if place is not None:
            self.changed = self.values[place]
        self.values = plain(self._sent)
        return place


def _copied(kept: bytes | dict[str, Any]) -> Any:
    """A fresh copy of a kept state, so that a call cannot change the state for later calls."""
    return marshal.loads(kept) if isinstance(kept, bytes) else plain(kept["v"])


def _function(module: str, name: str) -> Callable[..., Any]:
    names = vars(sys.modules[module])
    if name not in names:
        raise NameError(f"name '{name}' is not defined")
    function: Callable[..., Any] = names[name]
    return function
