"""Plays a cell of Thought of Search: a model writes both functions, tests correct them, a search solves instances."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

from pddlego.episode.ask import Chat
from pddlego.episode.budget import Budget, EpisodeOver
from pddlego.episode.events import Event, Isolated, Outcome, Rejected
from pddlego.episode.lifecycle import Body, played
from pddlego.methods.base import Tools, parse_variant, started
from pddlego.methods.thought_of_search.events import SOLVED, Attempted, Coded, Finished, Prepared
from pddlego.methods.thought_of_search.functions import (
    Code,
    Fault,
    FunctionFault,
    ModelFunctions,
    code_as_the_paper,
    code_of,
)
from pddlego.methods.thought_of_search.loading import SearchSetting, call_limits, search_limits
from pddlego.methods.thought_of_search.options import (
    MODES,
    NO_CHECK,
    NO_COMPLETENESS,
    NO_GOAL_TESTS,
    NO_SOUNDNESS,
    SearchOptions,
)
from pddlego.methods.thought_of_search.search import SearchResult, StateSearch
from pddlego.methods.thought_of_search.space import Instance, Judge, Space, Which
from pddlego.methods.thought_of_search.testing import Tests, searched
from pddlego.models.base import Feedback, Message
from pddlego.models.prompts import Prompts
from pddlego.runs.cells import Cell
from pddlego.sandbox import Sandbox
from pddlego.util.text import count

FunctionSteps = Generator[Event, None, bool]
"""Whether the functions pass."""


class Dialogue:
    """The conversation about both functions. Each function has at most so many `answers`."""

    def __init__(
        self, space: Space, judge: Judge, functions: ModelFunctions, tests: Tests, without: Sequence[str], answers: int
    ) -> None:
        self.space, self.judge, self.functions, self.tests = space, judge, functions, tests
        self.without, self.most = without, answers
        self.answers: dict[Which, int] = {"successors": 0, "goal": 0}
        self.failing: Which | None = None  # the function that has no answer left
        self._passed = 0  # answers with a goal test that passed
        self._prompts = Prompts("thought_of_search")

    def run(self, chat: Chat, budget: Budget) -> FunctionSteps:
        """Everything until both functions pass, or one has no answer left."""
        self._chat, self._budget = chat, budget
        chat.messages = (Message("system", self._prompts.render("thought_of_search/system").strip()),)
        if not (yield from self._readable("successors", self._first("successors"))):
            return False
        if not (yield from self._goal(self._first("goal"))):
            return False
        while True:
            fault = yield from self._function_fault()
            if fault is None:
                return True
            if self.tests.paper and fault.kind is not FunctionFault.GOAL:
                fault = _as_successors(fault)
            if fault.which == "goal":
                if not (yield from self._again(fault)):
                    return False
                continue
            if not (yield from self._readable("successors", self._told(fault), fault)):
                return False

    def _again(self, fault: Fault) -> FunctionSteps:
        """The goal test is to blame for what a search found: back to step 2."""
        passed = yield from self._goal(self._told(fault), fault)
        if not self.tests.paper:
            return passed
        # The paper's code sends the same words once more, as a question about the other function, passed or not.
        return (yield from self._readable("successors", self._told(fault), fault))

    def _function_fault(self) -> Generator[Event, None, Fault | None]:
        fault = (yield from self.tests.soundness()) if NO_SOUNDNESS not in self.without else None
        if fault is None and NO_COMPLETENESS not in self.without:
            fault = yield from self.tests.completeness()
        return fault

    def _goal(self, text: str, fault: Fault | None = None) -> FunctionSteps:
        """Step 2: ask for the goal test until it passes."""
        while True:
            if not (yield from self._readable("goal", text, fault)):
                return False
            fault = (yield from self.tests.goal()) if NO_GOAL_TESTS not in self.without else None
            if fault is None:
                self._passed += 1
                return True
            text = self._told(fault)

    def _readable(self, which: Which, text: str, fault: Fault | None = None) -> FunctionSteps:
        """Ask for a function until there is one that can be loaded. `fault` is what the question is about."""
        while True:
            if fault is not None:
                yield Rejected(max(0, self.answers[which] - 1), _feedback(fault), attempts=self.most)
            if not self._may_ask(which):
                self.failing = which
                return False
            purpose = which if not self.answers[which] else f"{which} again"
            limit = f"{fault.limit} ({fault.message})" if fault is not None and fault.limit else ""
            answer = yield from self._chat.say(purpose, text, max(0, self.answers[which] - 1), limit=limit)
            self.answers[which] += 1
            code = (code_as_the_paper if self.tests.paper else code_of)(answer, which)
            yield self._coded(which, code)
            fault = Fault(FunctionFault.UNREADABLE, which, "the answer holds no function")
            fault = self.functions.put(which, code) if code is not None else fault
            if fault is None:
                return True
            text = self._told(fault)

    def _may_ask(self, which: Which) -> bool:
        counted = self.answers[which]
        if self.tests.paper and which == "goal":  # the paper's code counts those that failed
            counted -= self._passed
        return counted < self.most

    def _coded(self, which: Which, code: Code | None) -> Coded:
        self._budget.step()
        command = f"{'successor function' if which == 'successors' else 'goal test'} {self.answers[which]}"
        text, name = (code.text, code.name) if code is not None else ("", "")
        return Coded(self._budget.usage.steps, command, which, self.answers[which], text, name)

    def _first(self, which: Which) -> str:
        shown = {**self.space.prompt(self.judge), "arguments": self.space.arguments[which]}
        return self._prompts.render(f"thought_of_search/{self.space.templates}{which}", **shown).strip()

    def _told(self, fault: Fault) -> str:
        lines = "\n".join(fault.lines)
        return self._prompts.render("thought_of_search/feedback", fault=fault, lines=lines).strip()


def _feedback(fault: Fault) -> Feedback:
    evidence = (*fault.lines, *fault.trace.splitlines())
    return Feedback(fault.kind.value, fault.message, tuple(evidence))


def _as_successors(fault: Fault) -> Fault:
    """The same, held against the successor function, as by the paper's code for all that goes wrong in a search."""
    kind = FunctionFault.SUCCESSOR_ERROR if fault.kind is FunctionFault.GOAL_ERROR else fault.kind
    return replace(fault, which="successors", kind=kind)


_UNFINISHED = "not finished"


def play(cell: Cell, setting: SearchSetting, options: SearchOptions, tools: Tools) -> Iterator[Event]:
    """Every event of the episode."""
    budget = Budget(replace(tools.limits, steps=None))
    return played(_episode(cell, setting, options, tools, budget), budget)


def _episode(cell: Cell, setting: SearchSetting, options: SearchOptions, tools: Tools, budget: Budget) -> Body:
    yield started(cell, setting, tools, budget.limits, "thought_of_search")
    with Sandbox(options.isolation) as sandbox:
        yield Isolated(options.isolation, sandbox.layers())
        with setting.space.judge(sandbox, cell.seed) as judge:
            functions = ModelFunctions(sandbox, call_limits(options))
            try:
                yield from _Episode(cell, setting, options, judge, functions, budget).run(Chat(tools.model, budget))
            finally:
                functions.close()


class _Episode:
    """One episode, from the first question to the last instance."""

    def __init__(
        self,
        cell: Cell,
        setting: SearchSetting,
        options: SearchOptions,
        judge: Judge,
        functions: ModelFunctions,
        budget: Budget,
    ) -> None:
        without = parse_variant(cell.mode, MODES).without
        self.options, self.judge, self.functions, self.budget = options, judge, functions, budget
        self.space = setting.space
        self.instances = judge.instances[: options.instances]
        self.tests = Tests(setting.space, judge, functions, search_limits(options, False), NO_CHECK not in without)
        if options.parity == "paper":
            self.tests.as_the_paper()
        self.dialogue = Dialogue(setting.space, judge, functions, self.tests, without, options.answers)

    def run(self, chat: Chat) -> Body:
        """Ends by raising `EpisodeOver`."""
        judge, most = self.judge, self.options.answers
        tests = (judge.goal_tests, judge.soundness, judge.successor_tests, self.instances)
        yield Prepared(*map(len, tests))
        passed = yield from self.dialogue.run(chat, self.budget)
        if not passed:
            which = "goal test" if self.dialogue.failing == "goal" else "successor function"
            raise EpisodeOver(Outcome.LOST, f"{_UNFINISHED}: the {which} still fails after {count(most, 'answer')}")
        yield from self._evaluate()

    def _evaluate(self) -> Body:
        """Solve every instance, with nothing looked at on the way; what is found is validated."""
        solved = expansions = generated = 0
        seconds = 0.0
        total = len(self.instances)
        for number, instance in enumerate(self.instances):
            self.budget.check_time()
            attempt = yield from self._attempt(number, instance)
            solved += attempt.solved
            expansions += attempt.expansions
            generated += attempt.generated
            seconds += attempt.seconds
            self.budget.score = solved / total
            yield attempt
        self.budget.step()
        codes = self.functions.codes
        yield Finished(
            self.budget.usage.steps,
            f"evaluation: {solved} of {total}",
            solved,
            total,
            expansions=expansions,
            generated=generated,
            seconds=seconds,
            successors=codes["successors"].text,
            goal=codes["goal"].text,
        )
        raise EpisodeOver(Outcome.WON if solved == total else Outcome.LOST, f"{solved} of {total} instances solved")

    def _attempt(self, number: int, instance: Instance) -> Generator[Event, None, Attempted]:
        expansions = generated = 0
        seconds = 0.0
        limits, left = search_limits(self.options, True), self.budget.seconds_left
        shorter = left is not None and left < limits.seconds
        if shorter and left is not None:
            limits = replace(limits, seconds=left, patience=1.0)
        search = StateSearch(self.functions, self.space.order, self.tests.key, limits)
        result = SearchResult(None, 0, 0, 0.0)
        last = 0
        for number_of_search, task in enumerate(instance.searches):
            last = number_of_search
            result = yield from searched(search, task, instance.name)
            expansions += result.expansions
            generated += result.generated
            seconds += result.seconds
            if result.path is not None or result.fault is not None:
                break
        if result.fault is not None:
            self.budget.check_time(shorter and "search" in result.fault.kind.value)
            kind, message = result.fault.kind.value, result.fault.message
        else:
            reason = self.judge.fault(instance, last, result.path)
            kind, message = (
                (SOLVED, "") if not reason else ("no solution" if result.path is None else "wrong solution", reason)
            )
        length = len(result.path) - 1 if result.path is not None else 0
        return Attempted(
            number,
            instance.name,
            kind,
            message,
            length=length,
            expansions=expansions,
            generated=generated,
            seconds=seconds,
        )
