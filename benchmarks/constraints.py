"""`python -m benchmarks constraints [--seeds FIRST-LAST] [--tasks N]`: success with a constraint of each kind.

In coin, each game is played without the constraint, and the constraint is judged afterwards; then its plans keep it.
The built-in reader does not read constraints, so the first is also what it makes of one in its requests. In blocks,
random tasks with one random constraint each are solved without and with it; pddlego, VAL and Kairos judge the plans.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from benchmarks.table import show
from pddlego.episode.budget import EpisodeOver
from pddlego.episode.events import Accepted, Event, Limits, Outcome
from pddlego.episode.trace import Trace
from pddlego.methods.textgames.events import BROKEN_UNKNOWN
from pddlego.methods.textgames.formalize.constraint import CONSTRAINT
from pddlego.methods.textgames.keeping import Keeper, kept
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.play import episode_events, setting_game
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.reference_model import NoisyReader
from pddlego.methods.textgames.settings import GameSetting, parse_range
from pddlego.methods.textgames.world import EpisodeSetup
from pddlego.models import Model
from pddlego.pddl import Domain, Formula, Problem, parse_domain, parse_problem
from pddlego.pddl.constraints import read_constraint
from pddlego.pddl.sexpr import read_sexprs
from pddlego.planning import ProcessPlanner, Search, validate
from pddlego.planning.ladder import Rung
from pddlego.planning.result import Plan, PlanResult, PlanStatus
from pddlego.planning.trajectories import Monitor, instances
from pddlego.planning.world import World
from pddlego.runs.journal import follow
from pddlego.tasks.generators import generate
from pddlego.util import resources
from tests.levels.judges import VALID, judges

IN_COIN = (
    "(always (not (at bathroom)))",
    "(sometime (at bathroom))",
    "(at-most-once (at kitchen))",
    "(sometime-before (have coin) (at bathroom))",
    "(sometime-after (at bathroom) (at kitchen))",
    "(at end (at kitchen))",
    "(forall (?r - location) (at-most-once (at ?r)))",
)

IN_BLOCKS = (
    "(always (not {0}))",
    "(sometime {0})",
    "(at-most-once {0})",
    "(sometime-before {0} {1})",
    "(sometime-after {0} {1})",
    "(at end {0})",
)

NOISE = 0.3

_SECONDS = 30.0
"""The time to solve a task of blocks."""


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks constraints")
    parser.add_argument("--seeds", type=parse_range, default=range(100))
    parser.add_argument("--tasks", type=int, default=600)
    chosen = parser.parse_args(arguments)
    with ProcessPlanner() as planner:
        if chosen.seeds:
            _coin(chosen.seeds, planner)
        _blocks(chosen.tasks, planner)


def _coin(seeds: range, planner: ProcessPlanner) -> None:
    setting, rows = load("coin"), []
    maps = [_map(setting, seed, planner) for seed in seeds]
    for name in ("reader", f"reader+noise:{NOISE}"):
        free = [_played(setting, name, seed, planner) for seed in seeds]
        for constraint in IN_COIN:
            there = replace(setting, constraint=constraint)
            judged = _won([_judged(trace, constraint, setting) for trace in free])
            kept_by = _won([_played(there, name, seed, planner) for seed in seeds])
            possible = sum(_is_possible(setting, known, constraint, planner) for known in maps)
            rows.append([constraint, name, *map(str, (_won(free)[0], judged[1], *kept_by, possible))])
            print(*rows[-1], flush=True)
    head = [
        "constraint",
        "model",
        "won without it",
        "and kept",
        "won with it",
        "and kept",
        "broken",
        "not won",
        "possible",
    ]
    show(f"coin, edit, seeds {seeds[0]}-{seeds[-1]}", head, rows)


def _map(setting: GameSetting, seed: int, planner: ProcessPlanner) -> Problem:
    """The whole house, with the agent at the start: it sees all rooms where it looks for one that is not there."""
    trace = _played(replace(setting, constraint="(sometime (at nowhere))"), "reader", seed, planner)
    accepted = [event for event in trace.all(Accepted) if event.kind == "problem"]
    first, last = parse_problem(accepted[0].text), parse_problem(accepted[-1].text)
    there = {fact for fact in last.facts if fact.predicate not in ("at", "visited")}
    return replace(last, facts=frozenset(there | {fact for fact in first.facts if fact.predicate == "at"}))


def _is_possible(setting: GameSetting, known: Problem, constraint: str, planner: ProcessPlanner) -> bool:
    """Whether an agent that knows the house from the start could win and keep a constraint."""
    rung = Rung("", setting.start.ladder[0].goal, Search("gbf", "hff", "auto"), False, _formula(constraint), ends=True)
    return planner.solve(*rung.task(setting.start.domain, known), rung.search, _SECONDS).plan is not None


def _formula(text: str) -> Formula:
    return read_constraint(read_sexprs(text).expressions[0])


def _played(setting: GameSetting, name: str, seed: int, planner: ProcessPlanner) -> Trace:
    model: Model = ReaderModel() if name == "reader" else NoisyReader(NOISE, 0, episode=seed)
    episode, trace = EpisodeSetup(setting, seed, "edit", Limits(setting.max_steps)), Trace()
    follow(episode_events(episode, setting_game(setting, seed), model, planner), [trace.add])
    return trace


def _judged(played: Trace, constraint: str, setting: GameSetting) -> Trace:
    """The trace of an episode, with the verdicts on a constraint that it did not keep on purpose."""

    def again() -> Iterator[Event]:
        yield Accepted(CONSTRAINT, constraint)
        yield from played.events[:-1]
        raise EpisodeOver(Outcome.WON)

    trace = Trace()
    try:
        for event in Keeper("allow", setting.start).follow(again()):
            trace.add(event, 0.0)
    except EpisodeOver:
        trace.add(played.events[-1], 0.0)
    return trace


def _won(traces: Sequence[Trace]) -> tuple[int, int, int, int]:
    """How many episodes were won; how many of these did not break the constraint; how many broke it, or lost only."""
    verdicts = [(kept(trace) in ("no", BROKEN_UNKNOWN), trace.ended and trace.ended.outcome) for trace in traces]
    won = [is_broken for is_broken, outcome in verdicts if outcome is Outcome.WON]
    broken = sum(is_broken for is_broken, _ in verdicts)
    return len(won), won.count(False), broken, len(traces) - len(won)


def _blocks(number: int, planner: ProcessPlanner) -> None:
    domain = parse_domain(resources.read("domains", "blocks.pddl"))
    counts = {form: Counter[str]() for form in IN_BLOCKS}
    for seed in range(number):
        form = IN_BLOCKS[seed % len(IN_BLOCKS)]
        task = generate("blocks", {"blocks": (4, 6)}, str(seed))
        constrained = replace(task, constraints=_constraint(form, domain, task, random.Random(seed)))
        counts[form].update(_solved(domain, task, constrained, planner))
    head = ["tasks", "solved without it", "these keep it", "solved with it", "valid for all three", "proved impossible"]
    rows = [[form.format("C", "D"), *(str(count[column]) for column in head)] for form, count in counts.items()]
    show(f"blocks, {number} random tasks of 4 to 6 blocks", ["constraint", *head], rows)


def _constraint(form: str, domain: Domain, task: Problem, rng: random.Random) -> Formula:
    """A constraint about random facts that the initial state does not break."""
    names, world = sorted(one.name for one in task.objects), World(domain, task)
    while True:
        pairs = [rng.sample(names, 2) for _ in range(2)]
        facts = [rng.choice((f"(on {a} {b})", f"(on-table {a})", f"(clear {a})", f"(holding {a})")) for a, b in pairs]
        formula = _formula(form.format(*facts))
        if Monitor(world, instances(world, formula)).observe(world.initial, Fraction(0)) is None:
            return formula


def _solved(domain: Domain, task: Problem, constrained: Problem, planner: ProcessPlanner) -> Iterator[str]:
    """The columns in which a task counts."""
    yield "tasks"
    free, kept_by = (planner.solve(domain, one, Search("gbf", "hff", "auto"), _SECONDS) for one in (task, constrained))
    if (plan := _plan(free)) is not None:
        yield "solved without it"
        yield from ["these keep it"] * (validate(domain, constrained, plan) is None)
    if kept_by.status is PlanStatus.UNSOLVABLE:
        yield "proved impossible"
    if (plan := _plan(kept_by)) is not None:
        yield "solved with it"
        verdicts = judges(str(domain), str(constrained), str(plan), ("val", "kairos"))
        is_valid = validate(domain, constrained, plan) is None
        yield from ["valid for all three"] * (is_valid and {*verdicts.values()} == {VALID})


def _plan(result: PlanResult) -> Plan | None:
    return Plan(()) if result.status is PlanStatus.ALREADY_TRUE else result.plan
