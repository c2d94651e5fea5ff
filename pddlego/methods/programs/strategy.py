"""Corrects a strategy before a program is written (Stein et al., 2026): the model follows its own pseudocode.

On small training tasks, the model writes the plan that the pseudocode leads to. The first invalid plan is explained and
the pseudocode is corrected, a few times at most. The version with which most tasks were solved is implemented.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from pddlego.episode.ask import Chat
from pddlego.episode.budget import Budget
from pddlego.episode.events import Event
from pddlego.methods.base import Tools
from pddlego.methods.programs.events import Followed, StrategyChosen
from pddlego.methods.programs.limits import strategy_rounds
from pddlego.methods.programs.options import SHOWN, ProgramOptions
from pddlego.methods.programs.reference_model import FollowRequest
from pddlego.methods.programs.setting import Benchmark
from pddlego.methods.programs.trial import Trial, TrialKind, judged, operators
from pddlego.models.prompts import Prompts
from pddlego.pddl import PddlSyntaxError
from pddlego.planning.plan_text import plan_in
from pddlego.tasks import Task
from pddlego.util.answers import spoken


@dataclass(frozen=True)
class _Failure:
    """The first task that following a strategy failed on, with the conversation about it."""

    trial: Trial
    chat: Chat


@dataclass(frozen=True)
class StrategyCorrection:
    """The correction of a strategy on the smallest training tasks. `reflects` is whether failures are explained."""

    benchmark: Benchmark
    options: ProgramOptions
    tools: Tools
    budget: Budget
    prompts: Prompts
    reflects: bool

    def run(self, strategy: str) -> Generator[Event, None, str]:
        """Follow and correct a strategy. Returns the version that solved most tasks, of equal ones the last."""
        tasks = sorted(self.benchmark.tasks.training, key=lambda task: task.size)[:SHOWN]
        best, most, rounds = (0, strategy), -1, strategy_rounds(self.options)
        for version in range(rounds + 1):
            failure, solved = None, 0
            for number, task in enumerate(tasks):
                trial, chat = yield from self._follow(strategy, task, version, number)
                solved += trial.solved
                failure = failure or (None if trial.solved else _Failure(trial, chat))
            if solved >= most:
                best, most = (version, strategy), solved
            if failure is None or version == rounds:
                break
            strategy = yield from self._correct(failure, version)
        yield StrategyChosen(best[0], most, len(tasks), best[1])
        return best[1]

    def _follow(
        self, strategy: str, task: Task, version: int, number: int
    ) -> Generator[Event, None, tuple[Trial, Chat]]:
        """The plan that the model reaches by following a strategy, judged, and the conversation that has it."""
        domain, chat = self.benchmark.domain, Chat(self.tools.model, self.budget)
        text = self.prompts.render(
            "programs/follow",
            domain=domain.text,
            strategy=strategy,
            problem=str(task.problem).strip(),  # all of it: a plan for an abbreviated task cannot be right
            operators=operators(domain),
        )
        context = FollowRequest(self.tools.planner, domain, task.problem)
        answer = yield from chat.say("follow", text, version, context)
        try:
            steps = [str(step) for step in plan_in(answer, domain, task.problem).plan.steps]
            trial = judged(steps, 0.0, domain, task, self.options.parity == "paper")
        except PddlSyntaxError as error:
            trial = Trial(TrialKind.SYNTAX, error.faults[0])
        yield Followed(
            version, number, task.name, task.size, trial.kind.value, length=trial.length, message=trial.message
        )
        return trial, chat

    def _correct(self, failure: _Failure, version: int) -> Generator[Event, None, str]:
        """The strategy as corrected in the conversation in which following it failed."""
        trial = failure.trial
        about = {"kind": trial.kind.value, "message": trial.message, "reason": trial.reason, "advice": trial.advice}
        if self.reflects:
            text = self.prompts.render("programs/reflect-strategy", **about)
            yield from failure.chat.say("reflect-strategy", text, version)
        text = self.prompts.render("programs/correct-strategy", reflects=self.reflects, **about)
        return spoken((yield from failure.chat.say("correct-strategy", text, version))).strip()
