"""Expands many states of a search with one message: a message for each would cost more than most functions do.

Most successors of a search were met before. So states are numbered as they come up, only new ones are sent, and what
is to be expanded is named by its number.
"""

from __future__ import annotations

import marshal
import sys
from collections.abc import Callable
from typing import Any

from . import values

GOAL, SUCCESSORS = "goal", "successors"

FUNCTIONS = (GOAL, SUCCESSORS)
"""The two functions of a search space, as requests and answers name them."""


def as_list(value: Any) -> list[Any]:
    """What a function returned or yields, as a list. Raises `TypeError` for what holds no states."""
    if isinstance(value, (str, bytes, dict)):
        raise TypeError(f"a list of states is wanted, and it returned a {type(value).__name__}")
    return list(value)


class Expander:
    """Expands states, and keeps those that came up: nothing of this leaves the process but through `values`."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._first = 0
        self._numbers: dict[bytes, int] = {}
        self._kept: list[bytes | dict[str, Any]] = []
        self._sent: dict[str, Any] = {}

    def expand(
        self, request: dict[str, Any], goal: Callable[..., Any], successors: Callable[..., Any], answer: dict[str, Any]
    ) -> None:
        """Call both functions on every state. In `found`, `done` grows by `True` for a goal, which is the end, or by
        the numbers of the successors; `new` are the states that were not sent before; `at` is the function that runs.

        Where changes are `watched`, a state that `successors` changed is the end, too: `done` says how it is `changed`.
        """
        if request["fresh"] is not None:
            self._first = request["fresh"]
            self._numbers.clear()
            self._kept.clear()
        before = len(self._kept)
        try:
            self._expand(request, goal, successors, answer)
        finally:
            answer["new"] = values.tagged([_copied(kept) for kept in self._kept[before:]], self.most)

    def _expand(
        self, request: dict[str, Any], goal: Callable[..., Any], successors: Callable[..., Any], answer: dict[str, Any]
    ) -> None:
        for name in FUNCTIONS:
            if request[name]["arguments"] is not None:
                self._sent[name] = request[name]["arguments"]
        goal_given, arguments = (_Arguments(self._sent[name]) for name in FUNCTIONS)
        watched, done = request["watched"], answer["done"]
        numbers, first, dumps = self._numbers, self._first, marshal.dumps
        for sent in request["states"]:
            kept = self._kept[sent - first] if type(sent) is int else sent
            answer["at"] = GOAL
            if goal(_copied(kept), *goal_given.values):
                done.append(True)
                return
            goal_given.renew()
            answer["at"] = SUCCESSORS
            state = _copied(kept)
            found_states = as_list(successors(state, *arguments.values))
            if watched and values.differs(state, _copied(kept)):
                done.append({"changed": values.tagged(state, self.most), "place": 0})
                return
            place = arguments.renew()
            if watched and place is not None:
                done.append({"changed": values.tagged(arguments.changed, self.most), "place": place + 1})
                return
            if "numpy" in sys.modules:  # whose values look like bytes to marshal
                found_states = [values.plain(values.tagged(state, self.most)) for state in found_states]
            try:
                forms = [dumps(state, values.WITHOUT_REFERENCES) for state in found_states]
                done.append([numbers[form] if form in numbers else self._keep(form) for form in forms])
            except ValueError:  # something of a class of the program's own is in one
                done.append([self._keep({"v": values.tagged(state, self.most)}) for state in found_states])

    def _keep(self, form: bytes | dict[str, Any]) -> int:
        """The number of a state that is new."""
        number = self._first + len(self._kept)
        if isinstance(form, bytes):
            self._numbers[form] = number
        self._kept.append(form)
        return number


class _Arguments:
    """What a function gets besides a state: the same at every call, whatever the calls before did to it."""

    def __init__(self, sent: Any) -> None:
        self._sent = sent
        self.values, self._before = values.plain(sent), values.plain(sent)
        self.changed: Any = None

    def renew(self) -> int | None:
        """Make good what was changed: the place of the first such argument, if there is one."""
        if self.values == self._before:
            return None
        place = next(
            (n for n, pair in enumerate(zip(self.values, self._before, strict=False)) if values.differs(*pair)), None
        )
        if place is not None:
            self.changed = self.values[place]
        self.values = values.plain(self._sent)
        return place


def _copied(kept: bytes | dict[str, Any]) -> Any:
    """A state made anew, so that no call spoils it for another: it is kept as bytes, or as it is sent."""
    return marshal.loads(kept) if isinstance(kept, bytes) else values.plain(kept["v"])
