"""Unit tests and a partial check that a model writes, in place of those of the setting (AutoToS, section 7)."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

from pddlego.episode.ask import ask
from pddlego.episode.budget import Budget, EpisodeOver
from pddlego.episode.events import Event, Outcome, Rejected
from pddlego.episode.loop import Attempt, Retry, refine
from pddlego.methods.base import Tools
from pddlego.methods.thought_of_search.space import (
    BadTransition,
    GoalTest,
    Instance,
    SearchTask,
    Space,
    SpaceJudge,
    SuccessorTest,
    first_bad_loop,
)
from pddlego.models.base import Feedback, Message, Request
from pddlego.models.prompts import Prompts
from pddlego.sandbox import Sandbox, SandboxSession, TooLargeError
from pddlego.util.answers import python_blocks, spoken

TESTS = "tests"
"""The purpose of the request for tests."""

_MODULE = "model_tests"

_VALUES = """

def _tests():
    return [list(GOALS), list(NON_GOALS), list(SUCCESSORS)]
"""

_FIRST_BAD = first_bad_loop("check(state, successor)")

_RETRIES = 2


@dataclass
class ModelTests:
    """A judge with the tests of a model. Start states, instances and the validation of solutions are the setting's."""

    setting: SpaceJudge
    session: SandboxSession
    goal_tests: Sequence[GoalTest]
    successor_tests: Sequence[SuccessorTest]

    def __post_init__(self) -> None:
        self.soundness, self.instances = self.setting.soundness, self.setting.instances

    def first_bad(self, instance: Instance, transitions: Sequence[tuple[Any, Sequence[Any]]]) -> BadTransition | None:
        """The first successor that the model's check rejects. A check that fails rejects nothing."""
        try:
            result = self.session.call("_first_bad", [list(pair) for pair in transitions], None, module=_MODULE)
        except TooLargeError:
            return None
        if not result.returned or result.value is None:
            return None
        place, number, reason = result.value
        return BadTransition(transitions[place][0], transitions[place][1][number], reason)

    def is_goal(self, instance: Instance, state: Any) -> bool:
        return True  # it is not known

    def validate(self, instance: Instance, search: int, path: Sequence[Any] | None) -> str:
        return self.setting.validate(instance, search, path)


def write_tests(
    space: Space, judge: SpaceJudge, sandbox: Sandbox, tools: Tools, budget: Budget
) -> Generator[Event, None, ModelTests]:
    """Ask a model for tests, in a request of its own. Raises `EpisodeOver` if no answer can be used.

    The session of the tests is left open.
    """
    prompts = Prompts("thought_of_search")

    def propose(retry: Retry) -> Generator[Event, None, Attempt[ModelTests]]:
        fault = retry.feedback.message if retry.feedback is not None else ""
        shown = {**space.prompt(judge), "arguments": space.arguments, "fault": fault}
        text = prompts.render(f"thought_of_search/{space.templates}tests", **shown).strip()
        request = Request(TESTS, (Message("user", text),), judge)
        answer = yield from ask(tools.model, request, budget, retry.attempt)
        session = sandbox.session()
        tests = _read(answer.text, space, judge, session)
        if isinstance(tests, ModelTests):
            return Attempt(answer.text, tests)
        session.close()
        feedback = Feedback("unusable tests", tests)
        yield Rejected(retry.attempt, feedback, attempts=retry.attempts)
        return Attempt(answer.text, feedback=feedback)

    attempt = yield from refine(propose, _RETRIES)
    if attempt.value is None:
        raise EpisodeOver(Outcome.LOST, f"not finished: the model wrote no usable tests ({attempt.failure})")
    return attempt.value


def _read(answer: str, space: Space, judge: SpaceJudge, session: SandboxSession) -> ModelTests | str:
    """The tests in an answer, or the reason why they cannot be used."""
    code = "\n\n".join(python_blocks(spoken(answer)))
    if not code.strip():
        return "it holds no Python code block"
    loaded = session.load(code + _FIRST_BAD + _VALUES, _MODULE)
    if not loaded.returned:
        return loaded.message
    result = session.call("_tests", module=_MODULE)
    if not result.returned:
        return result.message
    if not (isinstance(result.value, list) and list(map(type, result.value)) == [list] * 3):
        return "GOALS, NON_GOALS and SUCCESSORS must be lists"
    goals, others, transitions = result.value
    if not (goals and others and transitions and session.defines("check", _MODULE)):
        return "GOALS, NON_GOALS and SUCCESSORS must not be empty, and check must be defined"
    widths = {name: len(arguments) for name, arguments in space.arguments.items()}
    if not all(isinstance(item, tuple) and len(item) == widths["goal"] for item in (*goals, *others)):
        return f"each item of GOALS and NON_GOALS must be a tuple of {widths['goal']} arguments"
    if not all(_is_successor_test(item, widths["successors"]) for item in transitions):
        return f"each item of SUCCESSORS must be a pair: a tuple of {widths['successors']} arguments, and a list"
    for arguments, successors in transitions:
        for successor in successors:
            checked = session.call("check", arguments[0], successor, module=_MODULE)
            if not checked.returned or checked.value:
                reason = checked.value if checked.returned else checked.message
                return f"check rejects a successor of SUCCESSORS: {reason}"
    goal_tests = [
        GoalTest(SearchTask(item[0], (), item[1:]), is_goal)
        for items, is_goal in ((goals, True), (others, False))
        for item in items
    ]
    successor_tests = [SuccessorTest(SearchTask(item[0][0], item[0][1:]), tuple(item[1])) for item in transitions]
    return ModelTests(judge, session, goal_tests, successor_tests)


def _is_successor_test(item: Any, width: int) -> bool:
    if not isinstance(item, (tuple, list)) or len(item) != 2:
        return False
    return isinstance(item[0], tuple) and len(item[0]) == width and isinstance(item[1], (list, tuple))


def reference_tests(judge: Any) -> str:
    """The tests of a setting as a model would write them; the check accepts everything."""
    goals, others = (
        [(test.search.start, *test.search.goal_arguments) for test in judge.goal_tests if test.is_goal is wanted]
        for wanted in (True, False)
    )
    tested = ((test.search, test.known) for test in judge.successor_tests)
    known = [((search.start, *search.successor_arguments), list(successors)) for search, successors in tested]
    check = 'def check(state, successor):\n    return ""'
    return f"```python\nGOALS = {goals!r}\nNON_GOALS = {others!r}\nSUCCESSORS = {known!r}\n\n\n{check}\n```"
