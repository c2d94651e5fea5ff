"""Plays a cell of Thought of Search: a model writes both functions, tests correct them, a search solves instances."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from typing import Any

from pddlego.episode.approval import Approver, Question, ask_approval
from pddlego.episode.ask import Chat
from pddlego.episode.budget import Budget, EpisodeOver
from pddlego.episode.events import Event, Isolated, Outcome, Rejected
from pddlego.episode.lifecycle import Body
from pddlego.errors import UsageError
from pddlego.methods.base import Tools, parse_variant
from pddlego.methods.thought_of_search.events import (
    PASSED,
    SOLVED,
    Attempted,
    Coded,
    Finished,
    Point,
    Prepared,
    Tested,
    TestStage,
)
from pddlego.methods.thought_of_search.expander import KEYS, as_the_paper, canonical
from pddlego.methods.thought_of_search.file_space import FileSpace
from pddlego.methods.thought_of_search.functions import (
    BOTH,
    Code,
    Fault,
    FunctionFault,
    ModelFunctions,
    change_of,
    code_as_the_paper,
    failed,
    function_code,
)
from pddlego.methods.thought_of_search.loading import SearchSetting, call_limits, most_answers, search_limits
from pddlego.methods.thought_of_search.model_tests import write_tests
from pddlego.methods.thought_of_search.options import (
    BY_PERSON,
    MODES,
    NO_CHECK,
    NO_COMPLETENESS,
    NO_GOAL_TESTS,
    NO_SOUNDNESS,
    OWN_TESTS,
    PARTS,
    SearchOptions,
)
from pddlego.methods.thought_of_search.search import SearchLimits, SearchResult, StateSearch
from pddlego.methods.thought_of_search.space import (
    TITLES,
    GoalTest,
    Instance,
    SearchTask,
    Space,
    SpaceJudge,
    StateKey,
    SuccessorTest,
    Which,
    brief,
)
from pddlego.models.base import Feedback, Message
from pddlego.models.prompts import Prompts
from pddlego.runs.cells import Cell
from pddlego.sandbox import Sandbox
from pddlego.sandbox.jail.values import KEPT
from pddlego.util.text import count

_Checking = Generator[Event, None, "Fault | None"]
"""Yields the events of a check, and returns the first fault that is found."""


def play(cell: Cell, setting: SearchSetting, options: SearchOptions, tools: Tools, budget: Budget) -> Body:
    """Every event of the episode after the first. Ends by raising `EpisodeOver`."""
    variant = parse_variant(cell.mode, MODES)
    if variant.mode.name == BY_PERSON and tools.approver is None:
        reason = "Its functions are shown to a person, who accepts them or gives feedback."
        raise UsageError(f"Mode {BY_PERSON} needs a person", reason, "Use 'pddlego play' in a terminal.")
    with Sandbox(options.isolation) as sandbox:
        yield Isolated(options.isolation, sandbox.layers())
        space = setting.space
        space = space.replayed(cell.model, cell.seed) if isinstance(space, FileSpace) else space
        with space.judge(sandbox, cell.seed) as judge, ExitStack() as stack:
            if variant.mode.name == OWN_TESTS:
                tests = yield from write_tests(space, judge, sandbox, tools, budget)
                stack.callback(tests.session.close)
                judge = tests
            approver = tools.approver if variant.mode.name == BY_PERSON else None
            without = tuple(PARTS) if variant.mode.name == BY_PERSON else variant.without
            functions = ModelFunctions(sandbox, call_limits(options))
            try:
                episode = _Episode(setting, options, judge, functions, without, approver)
                yield from episode.run(Chat(tools.model, budget), budget)
            finally:
                functions.close()


_EXHAUSTED = (FunctionFault.SEARCH_TIME.value, FunctionFault.SUCCESSOR_TIME.value, FunctionFault.GOAL_TIME.value)
"""Kinds of results for which a longer time limit may be enough."""


class _Episode:
    """One episode: the conversation about both functions, then their evaluation.

    Each function has a limited number of answers. `without` are the kinds of tests that the mode leaves out. A person
    reads the functions as `approver`, if there is one.
    """

    def __init__(
        self,
        setting: SearchSetting,
        options: SearchOptions,
        judge: SpaceJudge,
        functions: ModelFunctions,
        without: tuple[str, ...],
        approver: Approver | None,
    ) -> None:
        self.approver = approver
        self.space, self.options, self.judge, self.functions = setting.space, options, judge, functions
        self.without, self.paper = without, options.parity == "paper"
        self.instances = judge.instances[: options.instances]
        self.answers: dict[Which, int] = {"successors": 0, "goal": 0}
        limits, check_transitions = search_limits(options, False), NO_CHECK not in without
        self.tests = _Tests(self.space, judge, functions, limits, check_transitions, self.paper)
        self._passed = 0  # answers with a goal test that passed
        self._reached: set[Point] = set()
        self._attempts: dict[tuple[str, ...], list[Attempted]] = {}  # of the functions with these texts
        self._prompts = Prompts("thought_of_search", setting.fixed_prompts)

    def run(self, chat: Chat, budget: Budget) -> Body:
        """Play the episode. Ends by raising `EpisodeOver`."""
        self._chat, self._budget = chat, budget
        tests = (self.judge.goal_tests, self.judge.soundness, self.judge.successor_tests, self.instances)
        yield Prepared(*map(len, tests))
        chat.messages = (Message("system", self._prompts.render("thought_of_search/system")),)
        failing = yield from self._write_both()
        total = len(self.instances)
        if failing is not None:
            yield from self._evaluate_at("first")
            own, both = self.answers[failing], sum(self.answers.values())
            answers = count(own, "answer") if own >= self.options.answers else f"{both} answers for both"
            message = f"not finished: the {TITLES[failing]} still fails after {answers}"
            if all(which in self.functions.codes for which in BOTH):
                solved = yield from self._evaluate("unfinished")
                tried = len(self._attempts[tuple(self.functions.codes[which].text for which in BOTH)])
                message += f"; {solved} of {total} instances solved"
                message += f", {total - tried} not tried for lack of time" if tried < total else ""
            raise EpisodeOver(Outcome.LOST, message)
        solved = yield from self._evaluate("complete")
        raise EpisodeOver(Outcome.WON if solved == total else Outcome.LOST, f"{solved} of {total} instances solved")

    def _write_both(self) -> Generator[Event, None, Which | None]:
        """Ask for both functions until they pass all tests. Returns the function that has no answer left, if any."""
        for which in BOTH:
            if not (yield from self._write(which)):
                return which
        while (fault := (yield from self._search_fault())) is not None:
            which = fault.which
            passed = yield from self._write(which, fault)
            if self.paper and which == "goal":
                # The paper's code sends the same words once more, as feedback on the other function, passed or not.
                which = "successors"
                passed = yield from self._write(which, fault)
            if not passed:
                return which
        return None

    def _search_fault(self) -> _Checking:
        """Steps 3 and 4: run the tests that use both functions. Returns the first fault."""
        fault = None if NO_SOUNDNESS in self.without else (yield from self.tests.soundness())
        if fault is None and NO_SOUNDNESS not in self.without:
            yield from self._evaluate_at("sound")
        if fault is None and NO_COMPLETENESS not in self.without:
            fault = yield from self.tests.completeness()
        if fault is not None and self.paper and fault.kind is not FunctionFault.GOAL:
            # The paper's code blames the successor function for everything else that fails in a search.
            kind = FunctionFault.SUCCESSOR_ERROR if fault.kind is FunctionFault.GOAL_ERROR else fault.kind
            return replace(fault, which="successors", kind=kind)
        return fault

    def _write(self, which: Which, fault: Fault | None = None) -> Generator[Event, None, bool]:
        """Ask for a function until it can be used. Returns False if it has no answer left.

        `fault` is what is wrong with the functions so far.
        """
        while True:
            if fault is not None:
                feedback = Feedback(fault.kind.value, fault.message, (*fault.lines, *fault.trace.splitlines()))
                yield Rejected(max(0, self.answers[which] - 1), feedback, attempts=self.options.answers)
            if not self._may_ask(which):
                return False
            fault = yield from self._ask(which, fault)
            if fault is None:
                return True

    def _may_ask(self, which: Which) -> bool:
        """Whether the function has an answer left: as in the paper, there are 10 for each and 19 for both."""
        counted = self.answers[which]
        if sum(self.answers.values()) >= most_answers(self.options):
            return False
        if self.paper and which == "goal":  # the paper's code counts the answers that failed
            counted -= self._passed
        return counted < self.options.answers

    def _ask(self, which: Which, fault: Fault | None) -> _Checking:
        """Ask for a function once. Returns what is wrong with it alone; for a goal test that includes step 2."""
        answers = self.answers[which]
        limit = f"{fault.limit} ({fault.message})" if fault is not None and fault.limit else ""
        if fault is None:
            shown = {**self.space.prompt(self.judge), "arguments": self.space.arguments[which], "kept": KEPT}
            shown["paper"] = self.paper
            question = self._prompts.render(f"thought_of_search/{self.space.templates}{which}", **shown)
        else:
            question = self._prompts.render("thought_of_search/feedback", fault=fault, lines="\n".join(fault.lines))
        purpose = f"{which} again" if answers else which
        answer = yield from self._chat.say(purpose, question, max(0, answers - 1), limit=limit)
        self.answers[which] = answers + 1
        code = (code_as_the_paper if self.paper else function_code)(answer, which)
        self._budget.step()
        command = f"{TITLES[which]} {answers + 1}"
        text, name = (code.text, code.name) if code is not None else ("", "")
        yield Coded(self._budget.usage.steps, command, which, answers + 1, text, name)
        fault = None if code is None else self.functions.put(which, code)
        if which == "goal":
            yield from self._evaluate_at("first")
        if code is None:
            return Fault(FunctionFault.UNREADABLE, which, "the answer holds no function")
        if fault is None and self.approver is not None:
            return (yield from self._read_by_person(which, code))
        if fault is None and which == "goal":
            fault = None if NO_GOAL_TESTS in self.without else (yield from self.tests.goal())
            self._passed += fault is None
        return fault

    def _read_by_person(self, which: Which, code: Code) -> _Checking:
        """Show a function to the person, who accepts it, gives feedback, or replaces it."""

        def faults(text: str) -> tuple[str, ...]:
            return () if function_code(f"```python\n{text}\n```", which) is not None else ("it holds no function",)

        question = partial(Question, "functions", f"the {TITLES[which]}", code.text, suffix=".py", faults=faults)
        decision = yield from ask_approval(self.approver, "functions", question, self._budget)
        own = function_code(f"```python\n{decision.text}\n```", which) if decision.kind == "replaced" else None
        if own is not None:
            command = f"{TITLES[which]} {self.answers[which]}, edited"
            yield Coded(self._budget.usage.steps, command, which, self.answers[which], own.text, own.name)
            return self.functions.put(which, own)
        if decision.kind == "accepted":
            return None
        reason = decision.text or "a person rejected it and gave no reason"
        return Fault(FunctionFault.PERSON, which, reason, reason=reason)

    def _evaluate_at(self, point: Point) -> Body:
        """With the option `curve`, evaluate the functions when a point of the dialogue is reached for the first time.

        If the first answers do not hold two functions that can be loaded, they solve no instance.
        """
        if not self.options.curve or point in self._reached:
            return
        self._reached.add(point)
        if point == "first" and (self.answers["successors"] > 1 or len(self.functions.codes) < len(BOTH)):
            yield Finished(self._budget.usage.steps, "no usable first answer", 0, len(self.instances), point=point)
        else:
            yield from self._evaluate(point)

    def _evaluate(self, point: Point) -> Generator[Event, None, int]:
        """Search every instance without checks on the way, and validate what is found. Returns the number solved.

        Functions that have not passed all tests have the time of one search for all instances together.
        """
        texts = tuple(self.functions.codes[which].text for which in BOTH)
        attempts = self._attempts.setdefault(texts, [])
        limit = search_limits(self.options, True).seconds
        if point == "complete":  # what took too long in the time that was left is tried again
            attempts[:] = takewhile(lambda attempt: attempt.kind not in _EXHAUSTED, attempts)
        ends, solved, total = point in ("complete", "unfinished"), 0, len(self.instances)
        for number, instance in enumerate(self.instances):
            self._budget.check_time()
            if number == len(attempts):
                spent = 0.0 if point == "complete" else sum(attempt.seconds for attempt in attempts)
                if spent >= limit:
                    break
                attempts.append((yield from self._attempt(number, instance, limit - spent)))
            solved += attempts[number].solved
            if ends:
                self._budget.score = solved / total
                yield attempts[number]
        if ends:
            self._budget.step()
        yield Finished(
            self._budget.usage.steps,
            f"evaluation{'' if point == 'complete' else f' ({point})'}: {solved} of {total}",
            solved,
            total,
            expansions=sum(attempt.expansions for attempt in attempts),
            generated=sum(attempt.generated for attempt in attempts),
            seconds=sum(attempt.seconds for attempt in attempts),
            successors=self.functions.codes["successors"].text,
            goal=self.functions.codes["goal"].text,
            point=point,
        )
        return solved

    def _attempt(self, number: int, instance: Instance, seconds: float) -> Generator[Event, None, Attempted]:
        """Search an instance for at most so many seconds of CPU time."""
        limits, left = replace(search_limits(self.options, True), seconds=seconds), self._budget.seconds_left
        shorter = left is not None and left < limits.seconds
        if shorter and left is not None:
            limits = replace(limits, seconds=left, patience=1.0)
        form = self.tests.key_name, self.space.unordered
        search = StateSearch(self.functions, self.space.order, self.tests.key, limits, key_form=form)
        results: list[SearchResult] = []
        for task in instance.searches:
            results.append((yield from search.run(task, instance.name)))
            if results[-1].path is not None or results[-1].fault is not None:
                break
        path, fault = results[-1].path, results[-1].fault
        if fault is not None:
            self._budget.check_time(shorter and "search" in fault.kind.value)
            kind, message = fault.kind.value, fault.message
        else:
            message = self.judge.validate(instance, len(results) - 1, path)
            kind = SOLVED if not message else "no solution" if path is None else "wrong solution"
        return Attempted(
            number,
            instance.name,
            kind,
            message,
            length=len(path) - 1 if path is not None else 0,
            expansions=sum(result.expansions for result in results),
            generated=sum(result.generated for result in results),
            seconds=sum(result.seconds for result in results),
        )


@dataclass(frozen=True)
class _Tests:
    """The tests of both functions. With `paper`, they compare and check states as the paper's code does."""

    space: Space
    judge: SpaceJudge
    functions: ModelFunctions
    limits: SearchLimits
    check_transitions: bool
    paper: bool

    @property
    def key(self) -> StateKey:
        return KEYS[self.key_name](self.space.unordered)

    @property
    def key_name(self) -> str:
        """The name of the function that makes `key`."""
        return (as_the_paper if self.paper else canonical).__name__

    def goal(self) -> _Checking:
        """Step 2: known goals, and states that are not goals."""
        return (yield from _first_fault("goal", map(self._goal_fault, self.judge.goal_tests)))

    def soundness(self) -> _Checking:
        """Step 3: searches that check every transition. If a search finds no goal, that is not a fault."""
        for number, instance in enumerate(self.judge.soundness):
            fault = yield from self._sound(number, instance)
            if fault is not None:
                return fault
        return None

    def completeness(self) -> _Checking:
        """Step 4: known successors of known states."""
        return (yield from _first_fault("completeness", map(self._successors_fault, self.judge.successor_tests)))

    def _goal_fault(self, test: GoalTest) -> Fault | None:
        result, shown = self.functions.call("goal", test.search, test.search.start), self._shown("goal", test.search)
        if not result.returned:
            return failed("goal", result, shown)
        return None if result.value is test.is_goal else _wrong_goal(not test.is_goal, shown)

    def _successors_fault(self, test: SuccessorTest) -> Fault | None:
        start, shown = test.search.start, self._shown("successors", test.search)
        result = self.functions.call("successors", test.search, start, echo=True)
        if not result.returned:
            return failed("successors", result, shown)
        if not self.paper and (fault := change_of((start, *test.search.successor_arguments), result.echo)) is not None:
            return fault
        key = self.key
        keys = set(map(key, result.value))
        missing = [state for state in test.known if key(state) not in keys]
        if not missing:
            return None
        reason = f"{len(missing)} of {len(test.known)} known successors are missing"
        return Fault(FunctionFault.MISSING, "successors", reason, (*shown, ("missing successors", missing)))

    def _sound(self, number: int, instance: Instance) -> _Checking:
        fault, expanded = None, 0
        for search in instance.searches[:1] if self.paper else instance.searches:
            result = yield from self._search(instance).run(search, instance.name)
            fault, expanded = result.fault, expanded + result.expansions
            if fault is None and result.path is not None and (self.space.verifies_goals or not self.paper):
                goal = result.path[-1]
                if not self.judge.is_goal(instance, goal):
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
            shown = (("state", bad.state), ("wrong successor", bad.successor))
            return Fault(FunctionFault.TRANSITION, "successors", bad.reason, shown, reason=bad.reason)

        return StateSearch(self.functions, self.space.order, self.key, self.limits, check)

    def _shown(self, which: Which, search: SearchTask) -> tuple[tuple[str, Any], ...]:
        """The state and the other arguments of a function, by their names."""
        return tuple(zip(self.space.arguments[which], (search.start, *search.arguments(which)), strict=False))


def _first_fault(stage: TestStage, faults: Iterable[Fault | None]) -> _Checking:
    """Report the test of each fault, up to the first test that fails."""
    for number, fault in enumerate(faults):
        yield _tested(stage, number, fault)
        if fault is not None:
            return fault
    return None


def _tested(stage: TestStage, number: int, fault: Fault | None, expansions: int = 0) -> Tested:
    kind, message = (PASSED, "") if fault is None else (fault.kind.value, fault.message)
    return Tested(stage, number, kind, message, expansions)


def _wrong_goal(as_goal: bool, shown: tuple[tuple[str, Any], ...]) -> Fault:
    reason = "it accepts a state that is not a goal" if as_goal else "it rejects a goal"
    return Fault(FunctionFault.GOAL, "goal", f"{reason}: {brief(shown[0][1])[:80]}", shown, as_goal=as_goal)
