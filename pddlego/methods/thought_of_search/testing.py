"""The tests of both functions: known goals, searches that check every transition, known successors (steps 2 to 4)."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

from pddlego.episode.events import Event
from pddlego.methods.thought_of_search.events import PASSED, SearchRunning, Tested, TestStage
from pddlego.methods.thought_of_search.functions import Fault, FunctionFault, ModelFunctions, change_of, failed
from pddlego.methods.thought_of_search.search import SearchLimits, SearchResult, StateSearch
from pddlego.methods.thought_of_search.space import (
    Instance,
    Judge,
    SearchTask,
    Space,
    StateKey,
    Which,
    as_the_paper,
    brief,
    canonical,
)
from pddlego.sandbox import CallResult

TestRun = Generator[Event, None, "Fault | None"]
"""Yields an event for each test, and returns the first fault."""


class Tests:
    """The tests of an episode. With `paper`, states are compared and searches are checked as in the paper's code."""

    __test__ = False  # not a class of tests, although its name begins like one

    def __init__(
        self,
        space: Space,
        judge: Judge,
        functions: ModelFunctions,
        limits: SearchLimits,
        *,
        check_transitions: bool,
        paper: bool,
    ) -> None:
        self.space, self.judge, self.functions, self.limits = space, judge, functions, limits
        self.check_transitions, self.paper = check_transitions, paper
        self.key: StateKey = (as_the_paper if paper else canonical)(space.unordered)

    def goal(self) -> TestRun:
        """Step 2: known goals, and states that are not goals."""
        for number, test in enumerate(self.judge.goal_tests):
            result = self.functions.call("goal", test.search, test.search.start)
            shown = self._shown("goal", test.search)
            fault = None
            if not result.returned:
                fault = failed("goal", result, shown)
            elif result.value is not test.is_goal:
                fault = _wrong_goal(not test.is_goal, shown)
            yield _tested("goal", number, fault)
            if fault is not None:
                return fault
        return None

    def soundness(self) -> TestRun:
        """Step 3: searches that check every transition. If a search finds no goal, that is not a fault."""
        for number, instance in enumerate(self.judge.soundness):
            fault = yield from self._sound(number, instance)
            if fault is not None:
                return fault
        return None

    def completeness(self) -> TestRun:
        """Step 4: known successors of known states."""
        for number, test in enumerate(self.judge.successor_tests):
            arguments = (test.search.start, *test.search.successor_arguments)
            shown = self._shown("successors", test.search)
            result = self.functions.call("successors", test.search, test.search.start, echo=True)
            if result.returned:
                fault = None if self.paper else change_of(arguments, result.echo)
                fault = fault or self._missing(test.known, result, shown)
            else:
                fault = failed("successors", result, shown)
            yield _tested("completeness", number, fault)
            if fault is not None:
                return fault
        return None

    def _sound(self, number: int, instance: Instance) -> TestRun:
        fault, expanded = None, 0
        for place, search in enumerate(instance.searches[:1] if self.paper else instance.searches):
            result = yield from searched(self._search(instance), search, instance.name)
            fault, expanded = result.fault, expanded + result.expansions
            if fault is None and result.path is not None and (self.space.verifies_goals or not self.paper):
                goal = result.path[-1]
                if not self.judge.is_goal(instance, place, goal):
                    fault = _wrong_goal(True, self._shown("goal", replace(search, start=goal)))
            if fault is not None:
                break
        if fault is not None and fault.kind is not FunctionFault.GOAL:
            fault = replace(fault, shown=(*fault.shown, *self._shown(fault.which, search)[1:]))
        yield _tested("soundness", number, fault, expanded)
        return fault

    def _search(self, instance: Instance) -> StateSearch:
        """A search that checks the transitions of an instance."""

        def check(transitions: Sequence[tuple[Any, Sequence[Any]]]) -> Fault | None:
            bad = self.judge.first_bad(instance, transitions) if self.check_transitions else None
            if bad is None:
                return None
            state, successors = transitions[bad.state]
            shown = (("state", state), ("wrong successor", successors[bad.successor]))
            return Fault(FunctionFault.TRANSITION, "successors", bad.reason, shown, reason=bad.reason)

        return StateSearch(self.functions, self.space.order, self.key, self.limits, check)

    def _missing(self, known: Sequence[Any], result: CallResult, shown: tuple[tuple[str, Any], ...]) -> Fault | None:
        keys = {self.key(state) for state in result.value}
        missing = [state for state in known if self.key(state) not in keys]
        if not missing:
            return None
        reason = f"{len(missing)} of {len(known)} known successors are missing"
        return Fault(FunctionFault.MISSING, "successors", reason, (*shown, ("missing successors", missing)))

    def _shown(self, which: Which, search: SearchTask) -> tuple[tuple[str, Any], ...]:
        """The state and the other arguments of a function, by their names."""
        return tuple(zip(self.space.arguments[which], (search.start, *search.arguments(which)), strict=False))


def searched(search: StateSearch, task: SearchTask, name: str) -> Generator[Event, None, SearchResult]:
    """Run a search, with events about its progress."""
    for progress in search.run(task):
        if isinstance(progress, SearchResult):
            return progress
        yield SearchRunning(name, progress)
    raise AssertionError("a search ends with its result")


def _tested(stage: TestStage, number: int, fault: Fault | None, expansions: int = 0) -> Tested:
    kind, message = (PASSED, "") if fault is None else (fault.kind.value, fault.message)
    return Tested(stage, number, kind, message, expansions)


def _wrong_goal(as_goal: bool, shown: tuple[tuple[str, Any], ...]) -> Fault:
    reason = "it accepts a state that is not a goal" if as_goal else "it rejects a goal"
    return Fault(FunctionFault.GOAL, "goal", f"{reason}: {brief(shown[0][1])[:80]}", shown, as_goal=as_goal)
