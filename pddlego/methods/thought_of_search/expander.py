"""Expands states with the functions of programs, in their process in the sandbox: the host must check the results."""

from __future__ import annotations

import marshal
import sys
from collections import Counter, deque
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import chain
from time import monotonic
from typing import Any, Literal

from pddlego.sandbox.jail.values import WITHOUT_REFERENCES, as_list, differs, plain, tagged, tagged_whole

GOAL, SUCCESSORS = FUNCTIONS = "goal", "successors"
"""The two functions of a search space, as requests and answers name them."""

_MOST = 10_000_000
"""Maximum characters of a state."""


_SENT, _TAGGED = 16, 1_000
"""Estimates: bytes that a byte of a kept state takes where it is sent, and the kept bytes of a tagged state."""


class Expander:
    """The driver: expands states, and keeps all successors so that requests can refer to them by number.

    `_kept` has a state as marshal's bytes, or tagged if marshal cannot write it. `_numbers` has the numbers of the
    former. `_sent` has the last arguments of each function. `_results` are those of the expansions of a search, in
    order: the function that ran last, and True for a goal, the successors as they are kept, or an exception.
    """

    def __init__(self) -> None:
        self._first = 0
        self._numbers: dict[bytes, int] = {}
        self._kept: list[bytes | dict[str, Any]] = []
        self._sent: dict[str, Any] = {}
        self._results: deque[tuple[str, Literal[True] | list[bytes | dict[str, Any]] | BaseException]] = deque()

    def expand(
        self, states: list[Any], functions: dict[str, Any], watched: bool, fresh: int | None, again: bool = False
    ) -> Iterator[tuple[list[Any], list[Any], str]]:
        """Call both functions on every state in order. Yield the results, the new states, and the function that ran.

        A state that was a successor before is sent as its number. The result of a state is the numbers of its
        successors, or `True` for a goal, which ends the expansion. If changes are `watched`, an argument that
        `successors` changed also ends it, with its index (0: the state) and its value. If `fresh` is not None, the
        known states are forgotten, and new states are numbered from `fresh`. The arguments of a function after the
        state are sent if they are not those of the expansion before. With `again`, the expansions are those of the
        last search, in its order: the functions are called where its results end.
        """
        if not again:
            self._results.clear()
        if fresh is not None:
            self._first = fresh
            self._numbers.clear()
            self._kept.clear()
        before, done = len(self._kept), list[Any]()
        self._at = GOAL
        try:
            called = self._called(functions)
            if not self._repeat(len(states), done):
                self._expand(states[len(done) :], called, watched, done)
        finally:  # also after an exception, which goes on when this has been sent
            yield done, [_copied(kept) for kept in self._kept[before:]], self._at

    def search(self, start: Any, functions: dict[str, Any], options: dict[str, Any]) -> Iterator[list[Any]]:
        """Search with both functions for some `seconds` of wall time. Without a `start`, continue the search.

        Yield the numbers of expanded and of generated states, whether the search is over, and the path from the first
        state to a goal, if one is found. `key` is a name in `KEYS` with its argument. Raises `OverflowError` if there
        may be more than `most` states, bytes of the new states of an expansion, or bytes of all states.
        """
        if start is not None:
            self._first, self._kept, self._numbers, self._size = 0, [start], {}, 0
            self._results.clear()
            self._queue, self._key = Queue(options["depth_first"]), KEYS[options["key"][0]](options["key"][1])
        called, queue, most = self._called(functions), self._queue, options["most"]
        ends, number, path, done = monotonic() + options["seconds"], [0], None, list[Any]()
        while number and path is None and monotonic() < ends:
            new = self._kept[len(queue.keys) :]
            size = _SENT * sum([len(kept) if isinstance(kept, bytes) else _TAGGED for kept in new])
            self._size += size
            if len(self._kept) > most[0] or size > most[1] or self._size > most[2]:
                raise OverflowError
            queue.keys.extend([self._key(_copied(kept)) for kept in new])
            if number := queue.next(1):
                try:
                    self._expand(number, called, False, done)
                except BaseException as error:
                    self._results.append((self._at, error))
                    raise
                successors = done.pop()
                forms = successors if successors is True else [self._kept[place] for place in successors]
                self._results.append((self._at, forms))
                if successors is True:
                    path = [_copied(self._kept[place]) for place in queue.path(number[0])]
                else:
                    queue.add(number[0], successors)
        yield [queue.expansions, queue.generated, not number or path is not None, path]

    def _repeat(self, most: int, done: list[Any]) -> bool:
        """Add up to so many results of the last search. Returns whether the last one is a goal."""
        numbers = self._numbers
        while self._results and len(done) < most:
            self._at, forms = self._results.popleft()
            if isinstance(forms, BaseException):
                raise forms
            if forms is True:
                done.append(True)
                return True
            done.append([numbers[f] if isinstance(f, bytes) and f in numbers else self._keep(f) for f in forms])
        return False

    def _called(self, functions: dict[str, Any]) -> list[_Function]:
        """Both functions with their arguments, which are those of the request before unless they are sent."""
        for name in FUNCTIONS:
            if functions[name]["arguments"] is not None:
                self._sent[name] = functions[name]["arguments"]
        called = {name: _function(*functions[name]["function"]) for name in FUNCTIONS}
        return [(called[name], _Arguments(self._sent[name])) for name in FUNCTIONS]

    def _expand(self, states: list[Any], functions: list[_Function], watched: bool, done: list[Any]) -> None:
        (goal, goal_arguments), (successors, arguments) = functions
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
                done.append([self._keep({"v": tagged_whole(state, _MOST)}) for state in next_states])

    def _keep(self, form: bytes | dict[str, Any]) -> int:
        """Keep a new state; returns its number."""
        number = self._first + len(self._kept)
        if isinstance(form, bytes):
            self._numbers[form] = number
        self._kept.append(form)
        return number


class Queue:
    """The states of a search that wait to be expanded, by number, and the states that were: in the sandbox and here.

    `keys` has the key of each known state, the first one's first; states with equal keys are equal. `parents` maps the
    key of each expanded state to the number of the state from which it was first reached.
    """

    def __init__(self, depth_first: bool) -> None:
        self.keys: list[Hashable] = []
        self.parents: dict[Hashable, int | None] = {}
        self.expansions = self.generated = 0
        self.waiting: deque[tuple[int, int | None]] = deque([(0, None)])
        self._queued: set[int] = set()
        self._depth_first = depth_first

    def next(self, most: int) -> list[int]:
        """Take up to so many states that are not visited yet, and mark them as visited."""
        batch: list[int] = []
        while self.waiting and len(batch) < most:
            number, parent = self.waiting.pop() if self._depth_first else self.waiting.popleft()
            if self.keys[number] not in self.parents:
                self.parents[self.keys[number]] = parent
                batch.append(number)
        return batch

    def add(self, number: int, successors: Sequence[int]) -> None:
        """Add the successors of an expanded state."""
        self.expansions += 1
        self.generated += len(successors)
        for successor in successors:
            if self._depth_first or successor not in self._queued:  # an earlier state may have the same successor
                self._queued.add(successor)
                self.waiting.append((successor, number))

    def path(self, goal: int) -> list[int]:
        """The states on the way from the first state to a goal."""
        path: list[int] = []
        number: int | None = goal
        while number is not None:
            path.append(number)
            number = self.parents[self.keys[number]]
        return path[::-1]


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


_Function = tuple[Callable[..., Any], _Arguments]


def _copied(kept: bytes | dict[str, Any]) -> Any:
    """A fresh copy of a kept state, so that a call cannot change the state for later calls."""
    return marshal.loads(kept) if isinstance(kept, bytes) else plain(kept["v"])


def _function(module: str, name: str) -> Callable[..., Any]:
    names = vars(sys.modules[module])
    if name not in names:
        raise NameError(f"name '{name}' is not defined")
    function: Callable[..., Any] = names[name]
    return function


_GRID = 1_234_577.891
"""Numbers are equal within about a millionth. No simple fraction lies on a border of this grid."""

_LARGE = 2.0**50
"""Numbers beyond it are compared exactly."""

_TEXTS = frozenset((str,))
_NUMBERS = frozenset((int, float, Fraction))


def canonical(unordered: Collection[str]) -> Callable[[Any], Hashable]:
    """The key that compares states by content: `1` equals `1.0`, and a list equals a tuple with the same items."""
    names = frozenset(unordered)
    is_bag = "." in names

    def key(state: Any) -> Hashable:
        if is_bag and type(state) is list:
            if state and set(map(type, state)) <= _NUMBERS and min(state) > -_LARGE and max(state) < _LARGE:
                with suppress(ValueError):  # NaN is neither smaller nor larger than anything
                    return tuple(sorted([round(part * _GRID) for part in state]))
            return _bag(state)
        if isinstance(state, dict):
            return frozenset(
                [
                    (name, _bag(part) if name in names and isinstance(part, (list, tuple)) else _plain(part))
                    for name, part in state.items()
                ]
            )
        return _bag(state) if is_bag and isinstance(state, (list, tuple)) else _plain(state)

    return key


def as_the_paper(unordered: Collection[str]) -> Callable[[Any], Hashable]:
    """The key of the paper's code, which compares texts: `1` differs from `1.0`, and the order of a dictionary counts.

    All lists that are values of a dictionary are sorted.
    """
    is_ordered = not unordered

    def key(state: Any) -> Hashable:
        try:
            if isinstance(state, dict):
                parts = (f"{name}:{sorted(part) if isinstance(part, list) else part}" for name, part in state.items())
                return "".join(parts)
            texts = [str(part) for part in state]
        except TypeError:  # not a state
            return str(state)
        return " ".join(texts if is_ordered and not isinstance(state, (set, frozenset)) else sorted(texts))

    return key


def _plain(value: Any) -> Hashable:
    kind = type(value)
    if kind in _NUMBERS:
        return _number(value)
    if kind is list or kind is tuple:
        kinds = set(map(type, value))
        if kinds <= _TEXTS:
            return tuple(value)
        return tuple(map(_number if kinds <= _NUMBERS else _plain, value))
    if kind is set or kind is frozenset:
        return frozenset(map(_plain, value))
    if kind is dict:
        return frozenset((_plain(name), _plain(part)) for name, part in value.items())
    atom: Hashable = value
    return atom


def _number(value: float | Fraction) -> Hashable:
    if -_LARGE < value < _LARGE:
        return round(value * _GRID)
    try:
        return ("large", int(value))  # exact: a number this large has no fraction
    except (OverflowError, ValueError):
        return str(value)  # not a number, or infinite


def _bag(value: list[Any] | tuple[Any, ...]) -> Hashable:
    kinds = set(map(type, value))
    if kinds <= _TEXTS or (kinds == {tuple} and set(map(type, chain.from_iterable(value))) <= _TEXTS):
        return tuple(sorted(value))
    items: list[Any] = list(map(_number if kinds <= _NUMBERS else _plain, value))
    made = set(map(type, items))
    if made == {int} or (made == {tuple} and set(map(type, chain.from_iterable(items))) <= _TEXTS):
        return tuple(sorted(items))
    return frozenset(Counter(items).items())  # these cannot be sorted


KEYS: dict[str, Callable[[Collection[str]], Callable[[Any], Hashable]]] = {
    function.__name__: function for function in (canonical, as_the_paper)
}
"""The functions that make keys of states, by their names."""
