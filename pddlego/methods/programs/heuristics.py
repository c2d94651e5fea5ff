"""Plays the modes in which a model writes heuristics.

`heuristic` (Corrêa, Pereira and Seipp, 2025): the model answers one prompt several times, the candidates are tried on
the training tasks, and the best one guides greedy best-first search on the evaluation tasks. `heuristic-direct` (their
successor of 2026): one heuristic is corrected until, on the training tasks, every state that strictly improving
transitions reach has a strictly improving successor, or is a goal. Then hill climbing needs no search.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

from pddlego.episode.ask import Chat, ask
from pddlego.episode.budget import Budget, EpisodeOver
from pddlego.episode.events import Event, Rejected
from pddlego.episode.lifecycle import Body
from pddlego.episode.loop import Attempt, Retry, refine
from pddlego.errors import BudgetSpentError, ModelError
from pddlego.methods.base import Tools, Variant
from pddlego.methods.planning_settings import example_action
from pddlego.methods.programs.events import SOLVED, Chosen, Evaluated, ProgramWritten, Ran, Sampled, failure_counts
from pddlego.methods.programs.guide import CLIMB, GREEDY, PROPERTY
from pddlego.methods.programs.guided import GroundedTask, GuidedKind, GuidedTrial, guided
from pddlego.methods.programs.limits import candidates_of, heuristic_limits, limits_within
from pddlego.methods.programs.options import DIRECT, NO_CHECKLIST, NO_DOMAIN, NO_EXAMPLES, NO_SEARCH, ProgramOptions
from pddlego.methods.programs.reference_model import examples
from pddlego.methods.programs.setting import Benchmark
from pddlego.methods.programs.trial import code_of
from pddlego.models.base import Feedback, Message, Request
from pddlego.models.prompts import Prompts
from pddlego.pddl.problem import abbreviated
from pddlego.planning import PlanStatus
from pddlego.sandbox import Sandbox
from pddlego.tasks import Split, Task

HEURISTIC = re.compile(r"^\s+def __call__\(", re.MULTILINE)
"""The method that a block of code has if it defines the heuristic."""

_FATAL = frozenset({GuidedKind.LOADING, GuidedKind.NO_CLASS})
"""The kinds of failures that are the same on every task."""


@dataclass(frozen=True)
class _Candidate:
    """A heuristic with the number of training tasks that it solves, and its agile score and expanded states on them.

    `detours` are the expanded states beyond the lengths of the plans.
    `never_failed` is whether it gave values on every training task where it was tried.
    """

    answer: int
    text: str
    solved: int = 0
    score: float = 0.0
    expanded: int = 0
    detours: int = 0
    never_failed: bool = True


def is_out_of_requests(error: EpisodeOver | ModelError, tools: Tools) -> bool:
    """Whether a budget allowed no further request, so that what was written before is evaluated.

    A replay has no such budget: it has no further answer.
    """
    if isinstance(error, EpisodeOver):
        return error.cause in ("calls", "tokens")
    return isinstance(error, BudgetSpentError) or tools.recorded is not None


class HeuristicDialogue:
    """The questions about heuristics in an episode, and their trials."""

    def __init__(
        self,
        benchmark: Benchmark,
        variant: Variant,
        options: ProgramOptions,
        tools: Tools,
        budget: Budget,
        sandbox: Sandbox,
    ) -> None:
        self.benchmark, self.variant, self.options = benchmark, variant, options
        self.tools, self.budget, self.sandbox = tools, budget, sandbox
        self.direct = variant.mode.name == DIRECT
        self.most = candidates_of(options, self.direct)
        self.limits = heuristic_limits(options, evaluating=False, direct=self.direct)
        self._grounded: dict[int, GroundedTask] = {}
        self._failed: tuple[GuidedTrial, Task] | None = None
        self._candidates: list[_Candidate] = []
        self._chat = Chat(tools.model, budget)
        self._prompts = Prompts("programs")

    def run(self) -> Generator[Event, None, tuple[str, ...]]:
        """Candidates, the choice of the best one, and its evaluation, also if a budget allows no further candidate.

        Returns `Evaluated.failed`.
        """
        try:
            yield from self._write()
        except (EpisodeOver, ModelError) as error:
            if self._candidates and is_out_of_requests(error, self.tools):
                yield from self._conclude()
            raise
        return (yield from self._conclude())

    def _write(self) -> Body:
        if self.direct:
            yield from refine(self._propose, self.most - 1)
            return
        request = Request("heuristic", (Message("user", self._prompt()),))
        for number in range(self.most):
            answer = yield from ask(self.tools.model, request, self.budget, number)
            yield from self._train(answer.text)
            if self.options.parity != "paper" and self._is_perfect(self._candidates[-1]):
                return

    def _is_perfect(self, candidate: _Candidate) -> bool:
        """Whether a candidate solves every training task at once, and expands no state beside its plan."""
        total = len(self.benchmark.tasks.training)
        return candidate.solved == total == round(candidate.score, 1) and candidate.detours <= 0

    def _conclude(self) -> Generator[Event, None, tuple[str, ...]]:
        chosen = self._chosen()
        total = len(self.benchmark.tasks.training)
        yield Chosen(chosen.answer, chosen.solved, total, round(chosen.score, 3), chosen.expanded)
        return (yield from self._evaluate(chosen))

    def _prompt(self) -> str:
        without, domain = self.variant.without, self.benchmark.domain
        tasks = sorted(self.benchmark.tasks.training, key=lambda task: task.size)
        shown = [tasks[0], tasks[-1]] if len(tasks) > 1 else tasks
        _, state, static = self._ground(self.benchmark.tasks.training.index(tasks[0]), tasks[0]).described()
        return self._prompts.render(
            "programs/heuristic",
            direct=self.direct,
            domain="" if NO_DOMAIN in without else domain.text,
            tasks=[abbreviated(task.problem) for task in shown],
            action=f"'({example_action(domain)})'",
            state=sorted(state)[:_SHOWN],
            static=static[:_SHOWN],
            examples=[] if NO_EXAMPLES in without else examples(self.benchmark.name),
            checklist=NO_CHECKLIST not in without,
        )

    def _propose(self, retry: Retry) -> Generator[Event, None, Attempt[str]]:
        """Ask for a heuristic, and try it on the training tasks until it fails."""
        if self._failed is None:
            reply = yield from self._chat.say("heuristic", self._prompt())
        else:
            reply = yield from self._chat.say("correct", self._correction(*self._failed), retry.attempt)
        self._failed = yield from self._train(reply)
        if self._failed is None:
            return Attempt(reply, reply)
        feedback = _feedback(*self._failed)
        yield Rejected(retry.attempt, feedback, attempts=retry.attempts)
        return Attempt(reply, feedback=feedback)

    def _correction(self, trial: GuidedTrial, task: Task) -> str:
        return self._prompts.render(
            "programs/heuristic-again",
            kind=trial.kind.value,
            task=abbreviated(task.problem),
            example=trial.counterexample,
            value=lambda value: f"{value:g}",
            traceback=trial.traceback,
            message=trial.message,
            seconds=f"{self.limits.seconds:g}",
            memory=self.limits.memory,
        )

    def _train(self, reply: str) -> Generator[Event, None, tuple[GuidedTrial, Task] | None]:
        """Try the heuristic of an answer on the training tasks. Returns the first failure.

        A heuristic that must be direct is not tried further, nor one that fails in the same way on every task.
        """
        candidate = _Candidate(len(self._candidates) + 1, code_of(reply, defines=HEURISTIC))
        self.budget.step()
        command = f"heuristic {candidate.answer}"
        yield ProgramWritten(self.budget.usage.steps, command, candidate.answer, candidate.text, candidate.text)
        failed = list[tuple[GuidedTrial, Task]]()
        for number, task in enumerate(self.benchmark.tasks.training):
            trial = yield from self._try("training", number, task, candidate)
            if trial.solved:
                score = candidate.score + _agility(trial.seconds, self.limits.seconds)
                expanded = candidate.expanded + trial.expanded
                detours = candidate.detours + trial.expanded - trial.length
                solved = candidate.solved + 1
                candidate = replace(candidate, solved=solved, score=score, expanded=expanded, detours=detours)
                continue
            if trial.unfinished or (self.direct and self._ground(number, task).result.status is not PlanStatus.GROUND):
                continue  # no fault was found, or no heuristic can change it
            failed.append((trial, task))
            if self.direct or trial.kind in _FATAL:
                break
        never_failed = all(trial.kind in (GuidedKind.STALLED, GuidedKind.GROUNDING) for trial, _ in failed)
        self._candidates.append(replace(candidate, never_failed=never_failed))
        if not self.direct:
            yield _summary(candidate, [trial for trial, _ in failed], len(self.benchmark.tasks.training))
        return next(iter(failed), None)

    def _chosen(self) -> _Candidate:
        """The direct candidate without a known fault, else the candidate that solves most training tasks; of several,
        the last one that runs if it is corrected, else the one with the best agile score. If the scores are equal,
        because all are quick, the one that expands the fewest states; a heuristic that forges this count gains nothing
        but the choice.

        A replay repeats the recorded choice, because times differ from run to run.
        """
        for chosen in self.tools.recorded.all(Chosen) if self.tools.recorded is not None else ():
            if chosen.answer <= len(self._candidates):
                return self._candidates[chosen.answer - 1]
        if self.direct and self._failed is None:
            return self._candidates[-1]
        if self.direct:
            return max(
                self._candidates, key=lambda candidate: (candidate.solved, candidate.never_failed, candidate.answer)
            )
        return max(
            self._candidates, key=lambda candidate: (candidate.solved, round(candidate.score, 1), -candidate.expanded)
        )

    def _evaluate(self, chosen: _Candidate) -> Generator[Event, None, tuple[str, ...]]:
        tasks, kinds = self.benchmark.tasks.evaluation, list[str]()
        for number, task in enumerate(tasks):
            trial = yield from self._try("evaluation", number, task, chosen)
            kinds.append(trial.kind.value)
            self.budget.score = kinds.count(SOLVED) / len(tasks)
        self.budget.step()
        solved, failed = kinds.count(SOLVED), failure_counts(kinds)
        yield Evaluated(
            self.budget.usage.steps,
            f"evaluation: {solved} of {len(tasks)}",
            solved,
            len(tasks),
            answer=chosen.answer,
            program=chosen.text,
            failed=failed,
        )
        return failed

    def _try(self, split: Split, number: int, task: Task, candidate: _Candidate) -> Generator[Event, None, GuidedTrial]:
        self.budget.check_time()
        whole = self.limits if split == "training" else heuristic_limits(self.options, evaluating=True)
        limits, shorter = limits_within(self.budget, whole)
        algorithms: tuple[str, ...] = (CLIMB,) if self.direct else (GREEDY,)
        if split == "training":
            grounded = self._ground(number, task)
            algorithms = (PROPERTY,) if self.direct else algorithms
        else:
            grounded = self._grounded_task(task, limits.seconds)
            if self.direct and NO_SEARCH not in self.variant.without:
                algorithms = (CLIMB, GREEDY)
        trial = guided(self.sandbox, candidate.text, grounded, limits, algorithms)
        if trial.kind is GuidedKind.TIMEOUT or trial.unfinished:
            self.budget.check_time(shorter)
        tried = Ran(split, number, task.name, task.size, trial.kind.value, trial.length)
        tried = replace(tried, seconds=trial.seconds, message=trial.message, expanded=trial.expanded)
        yield replace(tried, answer=candidate.answer, candidate=split == "training" and not self.direct)
        return trial

    def _ground(self, number: int, task: Task) -> GroundedTask:
        """A training task, which is grounded once for all candidates."""
        if number not in self._grounded:
            self._grounded[number] = self._grounded_task(task, self.limits.seconds)
        return self._grounded[number]

    def _grounded_task(self, task: Task, seconds: float) -> GroundedTask:
        """The task with its ground task. Raises `EngineError` if the translator fails: no heuristic is to blame."""
        grounded = GroundedTask.of(self.tools.planner, self.benchmark.domain, task, seconds)
        grounded.result.tried(task.name)
        return grounded


_SHOWN = 12
"""Maximum number of facts in a prompt, and of successors in a feedback."""


def _agility(seconds: float, limit: float) -> float:
    """The agile score of a solved task of the planning competitions: 1 up to a second, and 0 at the limit."""
    return 1.0 if seconds <= 1 else max(0.0, 1 - math.log(seconds) / math.log(max(limit, seconds)))


def _summary(candidate: _Candidate, failed: Sequence[GuidedTrial], total: int) -> Sampled:
    kinds = Counter(trial.kind for trial in failed)
    kind = max(kinds, key=kinds.__getitem__, default=None)
    message = next((trial.message for trial in failed if trial.kind is kind), "")
    score, failure = round(candidate.score, 3), kind.value if kind is not None else ""
    return Sampled(candidate.answer, candidate.solved, total, score, failure, message)


def _feedback(trial: GuidedTrial, task: Task) -> Feedback:
    example = trial.counterexample
    evidence = [trial.traceback] if trial.traceback else []
    if example is not None:
        values = ", ".join(f"{action} {value:g}" for action, value, _, _ in example.successors[:_SHOWN])
        evidence = [
            f"state: {' '.join(example.facts)}",
            f"its value: {example.value:g}; successors: {values or 'none'}",
        ]
    return Feedback(trial.kind.value, f"on {task.name}: {trial.message}", tuple(evidence))
