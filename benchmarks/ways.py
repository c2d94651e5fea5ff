"""One model in five ways on the same tasks of growing sizes: it plans, programs, writes heuristics, or advises.

For each way: the share of solved tasks by size, tokens and cost. The same with meaningless names. Programs and
heuristics are written once for all sizes; plans and advice are requested for each task.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pddlego
from benchmarks.table import show
from pddlego.episode.events import Outcome
from pddlego.errors import UsageError
from pddlego.methods.planning_settings import PlanningSetting, load_planning
from pddlego.methods.programs.events import Ran
from pddlego.pddl import Domain
from pddlego.pddl.perturb import Anonymous, anonymous
from pddlego.runs.listing import costs_of
from pddlego.tasks import Task
from pddlego.tasks.generators import GENERATORS

SIZES: Mapping[str, list[dict[str, int]]] = {
    "ferry": [{"locations": size, "cars": (size + 1) // 2} for size in (2, 4, 8, 16, 24)],
    "blocks": [{"blocks": size} for size in (3, 5, 8, 15, 30)],
}
TRAINING = 10

ONCE, EACH = ("program", "heuristic", "heuristic-direct"), ("plan-by-model", "graphplan")
"""The modes in which a model answers once for all tasks, and those in which it answers for each task."""


@dataclass
class Way:
    """The results of a mode: solved tasks by size, and what the model used."""

    solved: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks ways", description=__doc__)
    parser.add_argument("--model", default="reader")
    parser.add_argument("--games", nargs="+", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--modes", nargs="+", default=[*ONCE, *EACH])
    parser.add_argument("--tasks", type=int, default=5, help="tasks of each size")
    parser.add_argument("--sizes", type=int, default=5, help="number of sizes, the smallest first")
    parser.add_argument("--names", nargs="+", default=["plain", "nameless"], choices=["plain", "nameless"])
    parser.add_argument("--prices", help="a file with prices (docs/evaluating.md)")
    parser.add_argument("--set", nargs="*", default=[], help="options KEY=VALUE, such as candidates=2")
    options = parser.parse_args(arguments)
    for game in options.games:
        for names in options.names:
            table(game, names == "nameless", options)


def table(game: str, nameless: bool, options: argparse.Namespace) -> None:
    domain = PlanningSetting(**load_planning(game)).domain
    sizes = SIZES[game][: options.sizes]
    labels = [str(next(iter(size.values()))) for size in sizes]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_tasks(folder, game, domain, sizes, options.tasks)
        ways = {}
        for mode in options.modes:
            try:
                ways[mode] = played(folder, game, mode, nameless, labels, options)
            except UsageError as error:  # the built-in model has no program for every domain
                print(f"  {mode} is left out: {error.reason}")
    rows = []
    for mode, way in ways.items():
        shares = [f"{way.solved[label]}/{options.tasks}" for label in labels]
        cost = "" if way.cost is None else f"${way.cost:.4f}"
        rows.append((mode, *shares, str(way.calls), f"{way.tokens:,}", cost, f"{way.seconds:.0f}"))
    best = [max(way.solved[label] for way in ways.values()) for label in labels]
    wins = [
        ", ".join(mode for mode, way in ways.items() if most and way.solved[label] == most) or "none"
        for label, most in zip(labels, best, strict=True)
    ]
    parameter = next(iter(sizes[0]))
    title = f"{game}{', names taken out' if nameless else ''}: {options.model}, solved tasks by {parameter}"
    show(title, ("way", *labels, "calls", "tokens", "cost", "s"), rows)
    for label, names in zip(labels, wins, strict=True):
        print(f"  most at {label}: {names}")


def write_tasks(folder: Path, game: str, domain: Domain, sizes: list[dict[str, int]], number: int) -> None:
    """Write the tasks in the form of `--tasks`: `all` has them in one seed, `each` one in every seed.

    `all-nameless` and `each-nameless` have the same tasks with meaningless names.
    """
    training = PlanningSetting(**load_planning(game)).tasks(0).training[:TRAINING]
    tasks = [
        Task(f"{next(iter(size.values()))}-{task}", GENERATORS[game](random.Random(f"{game}/{size}/{task}"), **size))
        for size in sizes
        for task in range(number)
    ]
    made = anonymous(domain)
    for suffix, text, renamed in (("", domain.text, None), ("-nameless", made.domain.text, made)):
        _write(folder / f"all{suffix}", text, [tasks], training, renamed)
        _write(folder / f"each{suffix}", text, [[task] for task in tasks], training, renamed)


def _write(
    folder: Path, text: str, seeds: Sequence[Sequence[Task]], training: Sequence[Task], made: Anonymous | None
) -> None:
    for seed, evaluation in enumerate(seeds):
        for split, tasks in (("train", training), ("eval", evaluation)):
            place = folder / split / f"seed{seed}"
            place.mkdir(parents=True)
            for task in tasks:
                problem = made.problem(task.problem) if made is not None else task.problem
                (place / f"{task.name}.pddl").write_text(str(problem))
    (folder / "domain.pddl").write_text(text)


def played(folder: Path, game: str, mode: str, nameless: bool, labels: list[str], options: argparse.Namespace) -> Way:
    """Play a mode on all tasks."""
    kind, way = "all" if mode in ONCE else "each", Way()
    settings: dict[str, object] = {}
    if mode in ONCE:
        settings |= dict(pair.split("=", 1) for pair in options.set)
    tasks = folder / kind
    if nameless and mode in ONCE:
        mode = f"{mode}-no-names"
        settings["tasks_no_names"] = str(folder / f"{kind}-nameless")
    elif nameless:
        tasks, game = folder / f"{kind}-nameless", _own_setting(folder, f"{kind}-nameless")
    seeds = range(1) if kind == "all" else range(len(labels) * options.tasks)
    run = folder / f"run-{mode}-{kind}-{nameless}"
    result = pddlego.evaluate(
        game, run, models=options.model, modes=mode, seeds=seeds, tasks=str(tasks), set=settings, prices=options.prices
    )
    for episode in result:
        way.calls += episode.usage.calls
        way.tokens += episode.usage.tokens_in + episode.usage.tokens_out
        way.seconds += episode.usage.seconds
        way.solved.update(solved_in(episode, kind, labels, options.tasks))
    way.cost = sum(costs_of(run).values()) if options.prices else None
    return way


def _own_setting(folder: Path, name: str) -> str:
    """Add a setting for tasks of another domain, which is found because the working directory becomes `folder`."""
    (folder / "envs").mkdir(exist_ok=True)
    (folder / "envs" / f"{name}.toml").write_text(f'kind = "planning"\ntasks = "{folder / name}"\n')
    os.chdir(folder)
    return name


def solved_in(episode: pddlego.Episode, kind: str, labels: list[str], number: int) -> Iterator[str]:
    """The size of each solved task."""
    if kind == "each":
        if episode.outcome == Outcome.WON:
            yield labels[episode.seed // number]
        return
    for event in episode.events:
        if isinstance(event, Ran) and event.split == "evaluation" and event.solved:
            yield event.task.partition("-")[0]
