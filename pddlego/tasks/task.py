"""A planning task, and those that a method learns from and is judged by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pddlego.pddl import Problem

Split = Literal["training", "evaluation"]


@dataclass(frozen=True)
class Task:
    """A problem under a name that is unique in its split."""

    name: str
    problem: Problem

    @property
    def size(self) -> int:
        """How many objects it has."""
        return len(self.problem.objects)


@dataclass(frozen=True)
class Tasks:
    """The tasks of one seed, each split in its order: the first two for training are those that a prompt shows."""

    training: tuple[Task, ...]
    evaluation: tuple[Task, ...]

    def of(self, split: Split) -> tuple[Task, ...]:
        return self.training if split == "training" else self.evaluation
