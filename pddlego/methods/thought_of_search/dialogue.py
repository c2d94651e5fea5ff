"""A model writes both functions, and tests correct them (Cao et al., 2024): steps 1 to 4 in one conversation."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

from pddlego.events import Event, Rejected
from pddlego.methods.thought_of_search.events import Coded
from pddlego.methods.thought_of_search.extract import Code, code_as_the_paper, code_of
from pddlego.methods.thought_of_search.faults import Fault, Kind
from pddlego.methods.thought_of_search.functions import Functions
from pddlego.methods.thought_of_search.space import Judge, Space, Which
from pddlego.methods.thought_of_search.testing import Tests
from pddlego.models.base import Message
from pddlego.models.feedback import Feedback
from pddlego.models.prompts import Prompts
from pddlego.refine.chat import Chat
from pddlego.refine.usage import Meter

Steps = Generator[Event, None, bool]
"""Whether the functions pass."""


@dataclass(frozen=True)
class Stages:
    """Which tests are made. `paper` makes them as the paper's code does where that is otherwise (docs/search.md)."""

    goal: bool = True
    soundness: bool = True
    completeness: bool = True
    paper: bool = False


class Dialogue:
    """The conversation about both functions. Each function has at most so many `answers`."""

    def __init__(
        self, space: Space, judge: Judge, functions: Functions, tests: Tests, stages: Stages, answers: int
    ) -> None:
        self.space, self.judge, self.functions, self.tests = space, judge, functions, tests
        self.stages, self.most = stages, answers
        self.answers: dict[Which, int] = {"successors": 0, "goal": 0}
        self.failing: Which | None = None  # the function that has no answer left
        self._passed = 0  # answers with a goal test that passed
        self._prompts = Prompts("thought_of_search")

    def run(self, chat: Chat, meter: Meter) -> Steps:
        """Everything until both functions pass, or one has no answer left."""
        self._chat, self._meter = chat, meter
        chat.messages = (Message("system", self._prompts.render("thought_of_search/system").strip()),)
        if not (yield from self._readable("successors", self._first("successors"))):
            return False
        if not (yield from self._goal(self._first("goal"))):
            return False
        while True:
            fault = yield from self._function_fault()
            if fault is None:
                return True
            if self.stages.paper and fault.kind is not Kind.GOAL:
                fault = _as_successors(fault)
            if fault.which == "goal":
                if not (yield from self._again(fault)):
                    return False
                continue
            if not (yield from self._readable("successors", self._told(fault), fault)):
                return False

    def _again(self, fault: Fault) -> Steps:
        """The goal test is to blame for what a search found: back to step 2."""
        passed = yield from self._goal(self._told(fault), fault)
        if not self.stages.paper:
            return passed
        # The paper's code sends the same words once more, as a question about the other function, passed or not.
        return (yield from self._readable("successors", self._told(fault), fault))

    def _function_fault(self) -> Generator[Event, None, Fault | None]:
        fault = (yield from self.tests.soundness()) if self.stages.soundness else None
        if fault is None and self.stages.completeness:
            fault = yield from self.tests.completeness()
        return fault

    def _goal(self, text: str, fault: Fault | None = None) -> Steps:
        """Step 2: ask for the goal test until it passes."""
        while True:
            if not (yield from self._readable("goal", text, fault)):
                return False
            fault = (yield from self.tests.goal()) if self.stages.goal else None
            if fault is None:
                self._passed += 1
                return True
            text = self._told(fault)

    def _readable(self, which: Which, text: str, fault: Fault | None = None) -> Steps:
        """Ask for a function until there is one that can be loaded. `fault` is what the question is about."""
        while True:
            if fault is not None:
                yield Rejected(self.answers[which], _feedback(fault))
            if not self._may_ask(which):
                self.failing = which
                return False
            purpose = which if not self.answers[which] else f"{which} again"
            limit = f"{fault.limit} ({fault.message})" if fault is not None and fault.limit else ""
            said = yield from self._chat.say(purpose, text, max(0, self.answers[which] - 1), limit=limit)
            self.answers[which] += 1
            code = (code_as_the_paper if self.stages.paper else code_of)(said, which)
            yield self._coded(which, code)
            fault = Fault(Kind.UNREADABLE, which, "the answer holds no function")
            fault = self.functions.put(which, code) if code is not None else fault
            if fault is None:
                return True
            text = self._told(fault)

    def _may_ask(self, which: Which) -> bool:
        counted = self.answers[which]
        if self.stages.paper and which == "goal":  # the paper's code counts those that failed
            counted -= self._passed
        return counted < self.most

    def _coded(self, which: Which, code: Code | None) -> Coded:
        self._meter.step()
        command = f"{'successor function' if which == 'successors' else 'goal test'} {self.answers[which]}"
        text, name = (code.text, code.name) if code is not None else ("", "")
        return Coded(self._meter.tally.steps, command, which, self.answers[which], text, name)

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
    kind = Kind.SUCCESSOR_ERROR if fault.kind is Kind.GOAL_ERROR else fault.kind
    return replace(fault, which="successors", kind=kind)
