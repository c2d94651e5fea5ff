"""The Python file of a setting, which says what is right: run in a sandbox, because it may come from anybody.

Its functions take plain values. `item` is always what the file of examples or instances says of one:

    read(item)                      what the functions are given: a dictionary with "state", and as far as there are any
                                    "successor_arguments", "goal_arguments", "successors"; or a list of these, one for
                                    each search, of which the first that finds a goal solves the instance
    check(state, successor, item)   why this is no transition; empty if it may be one
    is_goal(state, item)            whether a state is a goal (left out: whatever is found is one)
    validate(path, search, item)    why the states from start to goal are no solution; empty if they are one. `path` is
                                    None where no search found a goal; `search` is the number of the one that did
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pddlego.errors import SettingError
from pddlego.methods.thought_of_search.faults import brief
from pddlego.methods.thought_of_search.space import BadTransition, GoalTest, Instance, Search, SuccessorTest
from pddlego.methods.thought_of_search.states import have_form
from pddlego.sandbox import CallResult, Sandbox, SandboxLimits, Session, Status, TooLargeError

SECONDS = 60.0
"""Of CPU time for one question."""

MOST = 2_000
"""Successors that are looked at with one message."""

MALFORMED = "it has not the form of a state"

MODULE = "checks"

NEEDED = ("read", "check", "validate")

LISTS = ("successor_arguments", "goal_arguments", "successors")
"""Entries of what `read` returns that are lists."""

MISTAKES = frozenset(("NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError", "PermissionError"))
"""Exceptions that are the file's own fault, whatever it is given."""

_LOOP = """

def _first_bad(transitions, item):
    for place, (state, successors) in enumerate(transitions):
        for number, successor in enumerate(successors):
            try:
                why = check(state, successor, item)
                if why:
                    return [place, number, str(why), False]
            except Exception as error:
                return [place, number, f"{MALFORMED}: {type(error).__name__}: {error}", True]
    return None
"""


class Checks:
    """The functions of one file, in a session of their own. `place` is where the file is. They raise `SettingError` for
    a file that is wrong. A function that raises is wrong too, unless a model's function made a value that has not the
    form of a state: the form of the states in the setting's files.
    """

    def __init__(self, sandbox: Sandbox, place: str, text: str, options: Mapping[str, Any]) -> None:
        self.place = place
        self._states: list[Any] = []
        self._session: Session = sandbox.session(SandboxLimits(seconds=SECONDS))
        try:
            names = {"OPTIONS": dict(options), "MALFORMED": MALFORMED}
            self._loaded(text.removeprefix("\ufeff") + _LOOP, names)
            for function in NEEDED:
                if not self._session.defines(function, MODULE):
                    raise SettingError(
                        f"{place} is wrong", f"It has no function {function}.", "Add it (docs/search.md)."
                    )
            self.knows_goals = self._session.defines("is_goal", MODULE)
        except BaseException:
            self._session.close()
            raise

    def close(self) -> None:
        self._session.close()

    def _loaded(self, source: str, names: Mapping[str, Any]) -> None:
        result = self._session.load(source, module=MODULE, names=names)
        if not result.returned:
            raise self._wrong(result)

    def read(self, item: Any) -> list[dict[str, Any]]:
        """What the functions are given, for each search."""
        found = self._call("read", item)
        listed = found if isinstance(found, list) else [found]
        if not listed or not all(isinstance(each, dict) and "state" in each for each in listed):
            raise self._wrong_type("read", found, "a dictionary with 'state', or a list of these")
        for name in LISTS:
            for each in listed:
                if not isinstance(each.get(name, ()), (list, tuple)):
                    raise self._wrong_type("read", each[name], f"a list as '{name}'")
        return listed

    def goal_test(self, item: Any, is_goal: bool) -> GoalTest:
        return GoalTest(self._searches(item)[0], is_goal)

    def successor_test(self, item: Any) -> SuccessorTest:
        known = tuple(self.read(item)[0].get("successors", ()))
        self._states += known
        return SuccessorTest(self._searches(item)[0], known)

    def instance(self, name: str, item: Any) -> Instance:
        return Instance(name, self._searches(item), item)

    def first_bad(self, transitions: Sequence[tuple[Any, Sequence[Any]]], item: Any) -> BadTransition | None:
        """The first successor that is none. What is too large to be looked at is none either."""
        first = 0
        for part in _parts(transitions):
            try:
                result = self._session.call("_first_bad", list(part), item, module=MODULE)
            except TooLargeError as error:
                return BadTransition(first, 0, f"{MALFORMED}: {error}")
            if not result.returned:
                raise self._wrong(result)
            if result.value is not None:
                place, number, why, raised = result.value
                state, successors = part[place]
                if raised:
                    result = self._session.call("check", state, successors[number], item, module=MODULE)
                    self._refuse_fault(result, state, successors[number])
                return BadTransition(first + place, number, why)
            first += len(part)
        return None

    def is_goal(self, state: Any, item: Any) -> bool:
        if not self.knows_goals:
            return True
        result = self._session.call("is_goal", state, item, module=MODULE, result="truth")
        self._refuse_fault(result, state)
        return result.value is True  # where it raised, the state has not the form of one

    def validate(self, path: Sequence[Any] | None, search: int, item: Any) -> str:
        listed = None if path is None else list(path)
        try:
            result = self._session.call("validate", listed, search, item, module=MODULE)
        except TooLargeError as error:
            return f"{MALFORMED}: {error}"
        self._refuse_fault(result, *(listed or ()))
        if not result.returned:
            return f"{MALFORMED}: {result.message}"
        if not isinstance(result.value, (str, type(None))):
            raise self._wrong_type("validate", result.value, "a text, which is empty for a solution")
        return result.value or ""

    def try_out(self, soundness: Sequence[Instance], instances: Sequence[Instance]) -> None:
        """Call each function on the first instance of both lists.

        Raises `SettingError` if one of them raises, or returns a value of another type.
        """
        for instance in soundness[:1]:
            start = instance.searches[0].start
            why = self._call("check", start, start, instance.item)
            if not isinstance(why, (str, type(None))):
                raise self._wrong_type("check", why, "a text, which is empty for a transition")
            if self.knows_goals:
                is_goal = self._call("is_goal", start, instance.item)
                if not isinstance(is_goal, bool):
                    raise self._wrong_type("is_goal", is_goal, "True or False")
        for instance in instances[:1]:
            start = instance.searches[0].start
            for path in (None, [start], [start, start]):
                self.validate(path, 0, instance.item)

    def _refuse_fault(self, result: CallResult, *states: Any) -> None:
        """Raises `SettingError` for a call that did not return, unless it raised on a state without the known form."""
        if result.returned:
            return
        own = result.status is not Status.RAISED or result.error in MISTAKES
        if own or have_form(states, self._states):
            raise self._wrong(result)

    def _searches(self, item: Any) -> tuple[Search, ...]:
        listed = self.read(item)
        self._states += [each["state"] for each in listed]
        return tuple(
            Search(each["state"], tuple(each.get("successor_arguments", ())), tuple(each.get("goal_arguments", ())))
            for each in listed
        )

    def _call(self, function: str, *arguments: Any) -> Any:
        try:
            result = self._session.call(function, *arguments, module=MODULE)
        except TooLargeError as error:
            raise SettingError(f"An item of {self.place} cannot be read", f"{error}.", "Make it smaller.") from error
        if not result.returned:
            raise self._wrong(result)
        return result.value

    def _wrong_type(self, function: str, value: Any, wanted: str) -> SettingError:
        why = f"{function} returned {brief(value)[:80]}, and it must return {wanted}."
        return SettingError(f"{self.place} is wrong", why, f"Fix {function} (docs/search.md).")

    def _wrong(self, result: CallResult) -> SettingError:
        trace = [line.strip() for line in result.traceback.splitlines() if line.strip().startswith("File ")]
        where = f" ({trace[-1]})" if trace else ""
        return SettingError(f"{self.place} is wrong", f"{result.message}{where}.", "Mend the file.")


def _parts(transitions: Sequence[tuple[Any, Sequence[Any]]]) -> Iterator[list[tuple[Any, list[Any]]]]:
    """Transitions in pieces that are not too large; a state with many successors is a piece of its own."""
    part: list[tuple[Any, list[Any]]] = []
    size = 0
    for state, successors in transitions:
        if part and size + len(successors) > MOST:
            yield part
            part, size = [], 0
        part.append((state, list(successors)))
        size += len(successors)
    if part:
        yield part
