"""A model writes a program that plans for every task of a domain (Silver et al., 2024).

Summary, strategy, implementation; then the program is tried on the training tasks in their order, and what goes wrong
first goes back to the model, in one growing conversation, a few times at most. The last program is evaluated on larger
tasks, whether it solves those for training or not.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass, replace

from pddlego.episode.ask import Chat
from pddlego.episode.budget import Budget, EpisodeOver
from pddlego.episode.events import Event, Outcome, Rejected
from pddlego.methods.base import Tools, Variant
from pddlego.methods.planning_settings import example_action
from pddlego.methods.programs.events import Evaluated, ProgramWritten, Ran
from pddlego.methods.programs.loading import SHOWN, task_limits
from pddlego.methods.programs.options import NO_COT, NO_DEBUG, ProgramOptions
from pddlego.methods.programs.trial import Trial, TrialKind, attempt, operators
from pddlego.models.base import Feedback
from pddlego.models.prompts import Prompts
from pddlego.pddl import Domain
from pddlego.pddl.problem import abbreviated
from pddlego.sandbox import Sandbox
from pddlego.tasks import Split, Task, Tasks
from pddlego.util.answers import python_blocks, spoken


def judged_by(budget: Budget, total: int) -> EpisodeOver:
    """The `EpisodeOver` to raise: won if all of the `total` tasks were solved."""
    solved = round(budget.score * total)
    outcome = Outcome.WON if solved == total else Outcome.LOST
    return EpisodeOver(outcome, f"{solved} of {total} evaluation tasks solved")


_PAPER_MARK = "```python"

_BETWEEN = "\n\n\n"

_DEFINES = re.compile(r"^def\s+get_plan\b", re.MULTILINE)


def code_of(answer: str, paper: bool = False) -> str:
    """The code in an answer: the blocks up to the first that defines `get_plan`; without any block the whole answer.

    The paper's code takes the first block that is marked as Python.
    """
    if paper:
        _, mark, rest = answer.partition(_PAPER_MARK)
        return rest.partition("```")[0] if mark else answer
    text = spoken(answer)
    blocks = python_blocks(text)
    for number, block in enumerate(blocks):
        if _DEFINES.search(block):
            return _BETWEEN.join(blocks[: number + 1]).rstrip()
    return _BETWEEN.join(blocks).rstrip() if blocks else text.strip()


def grown(kept: str, code: str) -> str:
    """The program with new code appended."""
    return f"{kept}{_BETWEEN}{code}" if kept else code


ProgramSteps = Generator[Event, None, None]

LIMITS = {TrialKind.TIMEOUT: "task_timeout", TrialKind.MEMORY: "task_memory"}
"""The options that limit a task."""

_HOPELESS, _HURRIED = 2, 0.01
"""With `hurry`: after so many exhausted tasks in a row, the first of them in training, an evaluation task has this
share of the time."""

LEAST = 0.1
"""Seconds that every task gets."""


@dataclass(frozen=True)
class ProgramTask:
    """What a model reads and is evaluated with: the text of the domain, the domain, and the tasks."""

    text: str
    domain: Domain
    tasks: Tasks


class ProgramDialogue:
    """The conversation about one program. `kept` is the program as far as it is Python."""

    def __init__(
        self,
        task: ProgramTask,
        variant: Variant,
        options: ProgramOptions,
        tools: Tools,
        budget: Budget,
        sandbox: Sandbox,
    ) -> None:
        self.given, self.options, self.budget, self.sandbox = task, options, budget, sandbox
        self.reasons = NO_COT not in variant.without
        self.rounds = 0 if NO_DEBUG in variant.without else options.debug_rounds
        self.kept = ""
        self._exhausted = 0  # exhausted tasks in a row, from the one in training on
        self._chat = Chat(tools.model, budget)
        self._prompts = Prompts("programs")

    @property
    def _paper(self) -> bool:
        return self.options.parity == "paper"

    def run(self) -> ProgramSteps:
        """Everything until the program is evaluated. Ends by raising `EpisodeOver`."""
        yield from self._reason()
        text, limit = self._implement(), ""
        for answer in range(1, self.rounds + 2):
            purpose = "implement" if answer == 1 else "debug"
            failed = yield from self._written(purpose, text, answer, limit)
            if failed is None:
                break
            trial, task = failed
            feedback = self._feedback(trial, task)
            yield Rejected(answer - 1, feedback, attempts=self.rounds + 1)
            if answer <= self.rounds and self.options.curve:
                yield from self._evaluate(answer, final=False)
            text = self._debug(trial, task)
            limit = f"{LIMITS[trial.kind]} ({trial.message})" if trial.kind in LIMITS else ""
        yield from self._evaluate(answer, final=True)
        raise judged_by(self.budget, len(self.given.tasks.evaluation))

    def _reason(self) -> ProgramSteps:
        if self.reasons:
            yield from self._chat.say("summarize", self._prompts.render("programs/summarize", **self._tasks()))
            yield from self._chat.say("strategy", self._prompts.render("programs/strategy"))

    def _tasks(self) -> dict[str, object]:
        shown = self.given.tasks.training[:SHOWN]
        return {"domain": self.given.text.strip(), "tasks": [abbreviated(task.problem) for task in shown]}

    def _implement(self) -> str:
        domain = self.given.domain
        predicate = next((candidate for candidate in domain.predicates if candidate.parameters), domain.predicates[0])
        fact = (predicate.name, *(parameter.name.lstrip("?") for parameter in predicate.parameters))
        return self._prompts.render(
            "programs/implement",
            **self._tasks(),
            reasoned=self.reasons,
            typed=bool(domain.supertypes),
            fact=fact,
            action=f"({example_action(domain)})",
        )

    def _written(
        self, purpose: str, text: str, answer: int, limit: str
    ) -> Generator[Event, None, tuple[Trial, Task] | None]:
        """Ask for a program and try it; what came of the first training task that it fails, if there is one."""
        reply = yield from self._chat.say(purpose, text, max(0, answer - 2), limit=limit)
        code = code_of(reply, self._paper)
        program = grown(self.kept, code)
        self.budget.step()
        yield ProgramWritten(self.budget.usage.steps, f"program {answer}", answer, code, program)
        for number, task in enumerate(self.given.tasks.training):
            trial = yield from self._try("training", number, task, program, answer)
            if not trial.solved:
                if not self._is_no_python(trial):
                    self.kept = program
                self._exhausted = int(trial.kind in LIMITS)
                return trial, task
        self.kept, self._exhausted = program, 0
        return None

    def _is_no_python(self, trial: Trial) -> bool:
        """Whether the answer is not kept. The paper's code looks for the word in all that it says of the failure."""
        texts = (trial.traceback, trial.message, trial.shown)
        return any("SyntaxError" in text for text in texts) if self._paper else trial.unreadable

    def _try(self, split: Split, number: int, task: Task, program: str, answer: int) -> Generator[Event, None, Trial]:
        self.budget.check_time()
        limits, left = task_limits(self.options, split == "evaluation"), self.budget.seconds_left
        if split == "evaluation" and self.options.hurry and self._exhausted >= _HOPELESS:
            limits = replace(limits, seconds=min(limits.seconds, max(LEAST, limits.seconds * _HURRIED)))
        shorter = left is not None and left < limits.seconds
        if shorter and left is not None:
            limits = replace(limits, seconds=left, patience=1.0)
        trial = attempt(self.sandbox, program, self.given.domain, task, limits, self._paper)
        if trial.kind is TrialKind.TIMEOUT:
            self.budget.check_time(shorter)
        yield Ran(
            split,
            number,
            task.name,
            task.size,
            trial.kind.value,
            length=trial.length,
            seconds=trial.seconds,
            message=trial.message,
            answer=answer,
        )
        return trial

    def _evaluate(self, answer: int, final: bool) -> ProgramSteps:
        tasks = self.given.tasks.evaluation
        solved = 0
        for number, task in enumerate(tasks):
            trial = yield from self._try("evaluation", number, task, self.kept, answer)
            if trial.kind not in LIMITS:
                self._exhausted = 0
            elif self._exhausted:
                self._exhausted += 1
            solved += trial.solved
            if final:
                self.budget.score = solved / len(tasks)
        if final:
            self.budget.step()
        yield Evaluated(
            self.budget.usage.steps,
            f"evaluation: {solved} of {len(tasks)}",
            solved,
            len(tasks),
            answer=answer,
            final=final,
            program=self.kept,
        )

    def _feedback(self, trial: Trial, task: Task) -> Feedback:
        evidence = (trial.traceback or trial.advice or trial.reason,)
        return Feedback(trial.kind.value, f"on {task.name}: {trial.message}", tuple(filter(None, evidence)))

    def _debug(self, trial: Trial, task: Task) -> str:
        # To the paper's code a program that eats all memory is one that takes too long.
        kind = TrialKind.TIMEOUT if self._paper and trial.kind is TrialKind.MEMORY else trial.kind
        return self._prompts.render(
            "programs/debug",
            task=abbreviated(task.problem),
            kind=kind.value,
            traceback=trial.traceback,
            shown=trial.shown,
            action=trial.action,
            time=trial.time,
            reason=trial.reason,
            advice=trial.advice,
            operators=operators(self.given.domain),
            seconds=f"{self.options.task_timeout:g}",
            memory=self.options.task_memory,
        )
