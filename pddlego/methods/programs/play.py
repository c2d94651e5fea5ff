"""Plays a cell of generalized planning (Silver et al., 2024): with a model that writes a program, or with a baseline.

The model writes a summary, a strategy and an implementation. The program is tried on the training tasks in their order,
and its first failure goes back to the model, in one growing conversation, a few times at most. The last program is
evaluated on larger tasks, whether it solves the training tasks or not.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace

from pddlego.episode.ask import Chat
from pddlego.episode.budget import Budget, EpisodeOver
from pddlego.episode.events import Event, Isolated, Outcome, Rejected
from pddlego.episode.lifecycle import Body
from pddlego.episode.loop import Attempt, Retry, refine
from pddlego.errors import ModelError, TooManyCasesError
from pddlego.methods.base import Tools, Variant, parse_variant
from pddlego.methods.planning_settings import example_action
from pddlego.methods.programs.events import SOLVED, Began, Evaluated, ProgramWritten, Ran, failure_counts, reasons
from pddlego.methods.programs.heuristics import HeuristicDialogue, is_out_of_requests
from pddlego.methods.programs.limits import first_programs, limits_within, task_limits
from pddlego.methods.programs.options import (
    MODES,
    NO_COT,
    NO_DEBUG,
    NO_HEURISTIC,
    NO_REFLECTION,
    NO_STRATEGY_DEBUG,
    PLAN,
    PROGRAM,
    SHOWN,
    ProgramOptions,
)
from pddlego.methods.programs.setting import Benchmark, ProgramSetting
from pddlego.methods.programs.strategy import StrategyCorrection
from pddlego.methods.programs.trial import Trial, TrialKind, attempt, code_of, grown, operators
from pddlego.models.base import Feedback, Message
from pddlego.models.prompts import Prompts
from pddlego.pddl.domain import Function, Predicate
from pddlego.pddl.problem import abbreviated
from pddlego.planning import Plan, PlanStatus, PlanStep, Search, validate
from pddlego.planning.result import EAGER
from pddlego.planning.world import Simulator, World
from pddlego.runs.cells import Cell
from pddlego.sandbox import Sandbox
from pddlego.tasks import Split, Task
from pddlego.util.answers import spoken
from pddlego.util.limits import Work


def play(cell: Cell, setting: ProgramSetting, options: ProgramOptions, tools: Tools, budget: Budget) -> Body:
    """Every event of the episode after the first. Ends by raising `EpisodeOver`."""
    variant = parse_variant(cell.mode, MODES)
    benchmark = setting.benchmark(cell.seed, variant)
    training, evaluation = (
        tuple(task.name for task in tasks) for tasks in (benchmark.tasks.training, benchmark.tasks.evaluation)
    )
    yield Began(benchmark.domain.name, training, evaluation, options.curve)
    if variant.mode.asks_model:
        dialogue = _ProgramDialogue if variant.mode.name == PROGRAM else HeuristicDialogue
        with Sandbox(options.isolation) as sandbox:
            yield Isolated(options.isolation, sandbox.layers())
            failed = yield from dialogue(benchmark, variant, options, tools, budget, sandbox).run()
    else:
        baseline = _Baseline(benchmark, options, tools, budget, *baseline_search(setting, cell.mode))
        evaluating = baseline.plan() if variant.mode.name == PLAN else baseline.walk(f"{cell.setting}/{cell.seed}")
        failed = yield from evaluating
    solved, total = round(budget.score * len(benchmark.tasks.evaluation)), len(benchmark.tasks.evaluation)
    message = f"{solved} of {total} evaluation tasks solved{reasons(failed)}"
    raise EpisodeOver(Outcome.WON if solved == total else Outcome.LOST, message)


LIMITS = {TrialKind.TIMEOUT: "task_timeout", TrialKind.MEMORY: "task_memory"}
"""The options that limit a task."""

_HOPELESS, _HURRIED, _LEAST = 2, 0.01, 0.1
"""With `hurry`, after `_HOPELESS` tasks in a row that ran out of time or memory, of which the first is a training task,
an evaluation task gets the share `_HURRIED` of its seconds, but at least `_LEAST` seconds."""


class _ProgramDialogue:
    """The conversation about one program, or about each of several first programs.

    `program` is the text of the program so far, without answers that are not Python. `best` is the program that is
    evaluated: the last one, or of several first programs and their corrections the one that solves most training tasks.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        variant: Variant,
        options: ProgramOptions,
        tools: Tools,
        budget: Budget,
        sandbox: Sandbox,
    ) -> None:
        self.benchmark, self.options, self.budget, self.sandbox = benchmark, options, budget, sandbox
        self.reasons = NO_COT not in variant.without
        self.rounds = 0 if NO_DEBUG in variant.without else options.debug_rounds
        pseudocode = options.strategy == "pseudocode"
        self.reflects = pseudocode and NO_REFLECTION not in variant.without
        self.corrects = pseudocode and NO_STRATEGY_DEBUG not in variant.without
        self.programs = first_programs(options, variant)
        self.program = self.best = ""
        self._most, self._best_answer = 0, 0
        self._failed: tuple[Trial, Task] | None = None  # the last failure on a training task
        self._answers = 0
        self._exhausted = 0  # exhausted tasks in a row, the first of them in training
        self._tools, self._chat = tools, Chat(tools.model, budget)
        self._prompts = Prompts("programs", benchmark.fixed_prompts)

    @property
    def _paper(self) -> bool:
        return self.options.parity == "paper"

    def run(self) -> Generator[Event, None, tuple[str, ...]]:
        """Summary, strategy, program, corrections, evaluation. Returns `Evaluated.failed`."""
        if self.reasons:
            yield from self._chat.say("summarize", self._prompts.render("programs/summarize", **self._tasks()))
            yield from self._find_strategy()
        before = self._chat.messages
        try:
            for number in range(self.programs):
                self._chat.messages, self._failed, self.program, self._number = before, None, "", number
                if (yield from refine(self._propose, self.rounds)).feedback is None:
                    break
        except (EpisodeOver, ModelError) as error:
            if self.best and is_out_of_requests(error, self._tools):
                yield from self._evaluate(self._best_answer, final=True)
            raise
        return (yield from self._evaluate(self._best_answer, final=True))

    def _find_strategy(self) -> Generator[Event, None, None]:
        """Ask for a strategy. Pseudocode is corrected, and takes the place of its first version in the conversation."""
        kind = self.options.strategy or "strategy"
        answer = yield from self._chat.say(kind, self._prompts.render(f"programs/{kind}"))
        if self.corrects:
            tools, budget = self._tools, self.budget
            correction = StrategyCorrection(self.benchmark, self.options, tools, budget, self._prompts, self.reflects)
            corrected = yield from correction.run(spoken(answer).strip())
            self._chat.messages = (*self._chat.messages[:-1], Message("assistant", corrected))

    def _tasks(self) -> dict[str, object]:
        shown = [self._shown(task) for task in self.benchmark.tasks.training[:SHOWN]]
        return {"domain": self.benchmark.domain.text, "tasks": shown}

    def _shown(self, task: Task) -> str:
        return abbreviated(task.problem, self.benchmark.numeric)

    def _propose(self, retry: Retry) -> Generator[Event, None, Attempt[str]]:
        """Ask for a program and try it on the training tasks until it fails."""
        answer, limit = self._answers + 1, ""
        if self._failed is None:
            reply = yield from self._chat.say("implement", self._implement(), self._number)
        else:
            trial, task = self._failed
            if trial.kind in LIMITS:
                limit = f"{LIMITS[trial.kind]} ({trial.message})"
            text = self._debug(trial, task)
            if self.reflects:
                text = self._prompts.render("programs/reflect", failure=text)
                yield from self._chat.say("reflect", text, retry.attempt - 1, limit=limit)
                text, limit = self._prompts.render("programs/correct", paper=self._paper), ""
            reply = yield from self._chat.say("debug", text, retry.attempt - 1, limit=limit)
        code = code_of(reply, self._paper)
        program = grown(self.program, code)
        self._answers = answer
        self.budget.step()
        yield ProgramWritten(self.budget.usage.steps, f"program {answer}", answer, code, program)
        self._failed = yield from self._failure(program, answer)
        if self._failed is None:
            return Attempt(reply, program)
        trial, task = self._failed
        evidence = (trial.traceback or trial.advice or trial.reason,)
        feedback = Feedback(trial.kind.value, f"on {task.name}: {trial.message}", tuple(filter(None, evidence)))
        yield Rejected(retry.attempt, feedback, attempts=retry.attempts)
        if retry.attempt < self.rounds and self.options.curve:
            yield from self._evaluate(answer, final=False)
        return Attempt(reply, feedback=feedback)

    def _implement(self) -> str:
        domain = self.benchmark.domain
        return self._prompts.render(
            f"programs/implement{'-numbers' if self.benchmark.numeric else ''}",
            **self._tasks(),
            paper=self._paper,
            reasoned=self.reasons,
            typed=bool(domain.supertypes),
            fact=_example(domain.predicates),
            function=_example(domain.functions),
            action=f"({example_action(domain)})",
        )

    def _failure(self, program: str, answer: int) -> Generator[Event, None, tuple[Trial, Task] | None]:
        """The first training task that a program fails, with the trial; None if it solves all of them.

        Of several first programs, the others are tried on the remaining tasks, too: the best one is evaluated.
        """
        failed, solved = None, 0
        for number, task in enumerate(self.benchmark.tasks.training):
            trial = yield from self._try("training", number, task, program, answer)
            solved += trial.solved
            failed = failed or (None if trial.solved else (trial, task))
            if failed is not None and (self.programs == 1 or failed[0].unreadable):
                break
        is_python = failed is None or not self._is_no_python(failed[0])
        if is_python:
            self.program = program
        self._exhausted = int(failed is not None and failed[0].kind in LIMITS)
        if self.programs == 1 or (is_python and solved >= self._most):
            self.best, self._best_answer, self._most = self.program, answer, solved
        return failed

    def _is_no_python(self, trial: Trial) -> bool:
        """Whether an answer is not Python, so that its code is discarded.

        The paper's code searches all texts about the failure for `SyntaxError`.
        """
        texts = (trial.traceback, trial.message, trial.shown)
        return any("SyntaxError" in text for text in texts) if self._paper else trial.unreadable

    def _try(self, split: Split, number: int, task: Task, program: str, answer: int) -> Generator[Event, None, Trial]:
        self.budget.check_time()
        limits = task_limits(self.options, split == "evaluation")
        if split == "evaluation" and self.options.hurry and self._exhausted >= _HOPELESS:
            limits = replace(limits, seconds=min(limits.seconds, max(_LEAST, limits.seconds * _HURRIED)))
        limits, shorter = limits_within(self.budget, limits)
        benchmark = self.benchmark
        trial = attempt(self.sandbox, program, benchmark.domain, task, limits, self._paper, numeric=benchmark.numeric)
        if trial.kind is TrialKind.TIMEOUT:
            self.budget.check_time(shorter)
        tried = Ran(split, number, task.name, task.size, trial.kind.value, trial.length)
        yield replace(tried, seconds=trial.seconds, message=trial.message, answer=answer)
        return trial

    def _evaluate(self, answer: int, final: bool) -> Generator[Event, None, tuple[str, ...]]:
        program, tasks, kinds = self.best if final else self.program, self.benchmark.tasks.evaluation, list[str]()
        for number, task in enumerate(tasks):
            trial = yield from self._try("evaluation", number, task, program, answer)
            if trial.kind not in LIMITS:
                self._exhausted = 0
            elif self._exhausted:
                self._exhausted += 1
            kinds.append(trial.kind.value)
            if final:
                self.budget.score = kinds.count(SOLVED) / len(tasks)
        if final:
            self.budget.step()
        solved, failed = kinds.count(SOLVED), failure_counts(kinds)
        yield Evaluated(
            self.budget.usage.steps,
            f"evaluation: {solved} of {len(tasks)}",
            solved,
            len(tasks),
            answer=answer,
            final=final,
            program=program,
            failed=failed,
        )
        return failed

    def _debug(self, trial: Trial, task: Task) -> str:
        # The paper's code reports exhausted memory as a time-out.
        kind = TrialKind.TIMEOUT if self._paper and trial.kind is TrialKind.MEMORY else trial.kind
        return self._prompts.render(
            "programs/debug",
            paper=self._paper,
            task=self._shown(task),
            kind=kind.value,
            traceback=trial.traceback,
            shown=trial.shown,
            action=trial.action,
            time=trial.time,
            reason=trial.reason,
            advice=trial.advice,
            operators=operators(self.benchmark.domain),
            seconds=f"{self.options.task_timeout:g}",
            memory=self.options.task_memory,
        )


def _example(heads: Sequence[Predicate | Function]) -> tuple[str, ...]:
    """The first of the heads with parameters, else the first, as a tuple; empty without any."""
    head = next((head for head in heads if head.parameters), heads[0] if heads else None)
    return (head.name, *(parameter.name.lstrip("?") for parameter in head.parameters)) if head else ()


SEARCH = Search("gbf", "hff", "auto")
"""The search of mode `plan`: greedy best-first search with FF, because any plan is good and the tasks are large."""

BLIND = Search("gbf", "blind", "auto")
"""Its search without a heuristic, which only pyperplan has."""


def baseline_search(setting: ProgramSetting, mode: str) -> tuple[Search, ...]:
    """The search of the baseline `plan`; other modes do not search with the planner."""
    variant = parse_variant(mode, MODES)
    informed = SEARCH if setting.baseline is None else Search(EAGER, setting.baseline, "auto")
    return (BLIND if NO_HEURISTIC in variant.without else informed,) if variant.mode.name == PLAN else ()


_KINDS = {
    PlanStatus.SOLVED: SOLVED,
    PlanStatus.ALREADY_TRUE: SOLVED,
    PlanStatus.TIMEOUT: "timeout",
    PlanStatus.MEMORY: "memory",
}
"""The kinds of results of the planner; another status is counted by its own name."""


@dataclass(frozen=True)
class _Baseline:
    """The baselines of programs: a planner, which also solves the training tasks, and a random policy."""

    benchmark: Benchmark
    options: ProgramOptions
    tools: Tools
    budget: Budget
    search: Search = SEARCH

    def plan(self) -> Generator[Event, None, tuple[str, ...]]:
        """Solve with the planner. Time is wall time, because the planner runs in a process of its own."""
        yield from self._tried("training", self._planned)
        return (yield from self._tried("evaluation", self._planned))

    def walk(self, seed: str) -> Generator[Event, None, tuple[str, ...]]:
        """The paper's random policy: random actions until the goal, a dead end, or the horizon is reached."""
        rng = random.Random(seed)
        return (yield from self._tried("evaluation", lambda task, seconds: self._walked(task, seconds, rng)))

    def _tried(
        self, split: Split, solve: Callable[[Task, float], tuple[str, Plan | None, str]]
    ) -> Generator[Event, None, tuple[str, ...]]:
        """Try every task of a split. `solve` gets the time limit, and returns the kind, the plan, and a message."""
        tasks, kinds = self.benchmark.tasks.of(split), list[str]()
        for number, task in enumerate(tasks):
            self.budget.check_time()
            limit, left = task_limits(self.options, split == "evaluation").seconds, self.budget.seconds_left
            began = time.perf_counter()
            kind, plan, message = solve(task, limit if left is None else min(limit, left))
            if kind == "timeout":
                self.budget.check_time(left is not None and left < limit)
            kinds.append(kind)
            if split == "evaluation":
                self.budget.score = kinds.count(SOLVED) / len(tasks)
            took = time.perf_counter() - began
            length, expanded = (len(plan), plan.expanded) if plan is not None else (0, 0)
            tried = Ran(split, number, task.name, task.size, kind, message=message)
            yield replace(tried, length=length, seconds=took, expanded=expanded)
        self.budget.step()
        solved, failed = kinds.count(SOLVED), failure_counts(kinds)
        command = f"{split}: {solved} of {len(tasks)}"
        yield Evaluated(
            self.budget.usage.steps, command, solved, len(tasks), final=split == "evaluation", failed=failed
        )
        return failed

    def _planned(self, task: Task, seconds: float) -> tuple[str, Plan | None, str]:
        result = self.tools.planner.solve(self.benchmark.domain, task.problem, self.search, seconds).tried(task.name)
        return _KINDS.get(result.status, result.status.value), result.plan, result.message

    def _walked(self, task: Task, seconds: float, rng: random.Random) -> tuple[str, Plan | None, str]:
        world = World(self.benchmark.domain, task.problem, Work(seconds=seconds))
        done: list[PlanStep] = []
        try:
            reason = self._walk(Simulator(world, world.initial), task, done, rng)
        except TooManyCasesError:
            reason = "timeout"
        if reason:
            return reason, Plan(tuple(done)), ""
        valid = validate(self.benchmark.domain, task.problem, Plan(tuple(done)), Work()) is None
        return (SOLVED if valid else "plan semantics"), Plan(tuple(done)), ""

    def _walk(self, simulator: Simulator, task: Task, done: list[PlanStep], rng: random.Random) -> str:
        """Do random steps. Returns why the goal was not reached, or an empty text. Raises `TooManyCasesError`."""
        while not simulator.world.holds(task.problem.goal, simulator.state, {}):
            possible = list(simulator.applicable()) if len(done) < self.options.horizon else []
            if not possible:
                return "horizon" if len(done) >= self.options.horizon else "dead end"
            done.append(rng.choice(possible))
            simulator.do(done[-1])
        return ""
