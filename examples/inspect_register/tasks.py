"""Tasks of Inspect by their file, as the register of Inspect Evals runs them: `inspect eval tasks.py@coin`."""

from __future__ import annotations

from inspect_ai import Task, task

from pddlego.api.inspect_tasks import setting_task


@task
def coin(mode: str = "edit", seeds: str = "test") -> Task:
    """Coin Collector: find a coin in a house of 11 rooms."""
    return setting_task("coin", mode, seeds)


@task
def cooking_easy(mode: str = "edit", seeds: str = "test") -> Task:
    """Cooking World with two rooms and two ingredients."""
    return setting_task("cooking-easy", mode, seeds)


@task
def cooking_hard(mode: str = "edit", seeds: str = "test") -> Task:
    """Cooking World with five rooms and five ingredients."""
    return setting_task("cooking-hard", mode, seeds)
