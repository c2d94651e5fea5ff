"""`pddlego solve` with a program or a heuristic of a model."""

from __future__ import annotations

from pathlib import Path

from pddlego.cli.printing import say
from pddlego.evaluation.config import Config
from pddlego.methods.programs.guided import GroundedTask, GuidedTrial, guided
from pddlego.methods.programs.trial import Trial, attempt, program_in
from pddlego.pddl import Domain, Problem
from pddlego.pddl.numbers import numeric_part
from pddlego.sandbox import Sandbox, SandboxLimits
from pddlego.tasks import Task
from pddlego.util.text import count, one_line


def by_model(kind: str, place: Path, domain: Domain, problem: Problem, config: Config) -> tuple[str, ...] | None:
    """Return the plan of a program, or of a greedy search with a heuristic. If it fails, report it and return None."""
    text, planner, task = program_in(place), config.planner, Task(problem.name, problem)
    limits = SandboxLimits(seconds=planner.timeout or 1e5, memory=planner.memory or 4096)
    trial: Trial | GuidedTrial
    with Sandbox(getattr(config.methods["programs"], "isolation", "required")) as sandbox:
        if kind == "heuristic":
            with planner.make() as grounder:
                trial = guided(sandbox, text, GroundedTask.of(grounder, domain, task, limits.seconds), limits)
        else:
            numeric = domain.numeric_part or numeric_part((problem.goal,))
            trial = attempt(sandbox, text, domain, task, limits, whole=False, numeric=numeric is not None)
    if trial.solved:
        done, after = "made", ""
        if isinstance(trial, GuidedTrial):
            done, after = "led to", f", after {count(trial.expanded, 'expanded state')}"
        say(f"The {kind} of {place} {done} a plan of {count(trial.length, 'action')} in {trial.seconds:.2f} s{after}.")
        return tuple(map(str, trial.plan.steps)) if trial.plan else ()
    reason = one_line(f"{trial.kind.value}: {trial.message}", 200)
    say(f"The {kind} of {place} fails ({reason}). Searching with {planner.engine or 'auto'} instead.")
    return None
