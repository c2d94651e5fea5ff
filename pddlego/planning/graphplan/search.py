"""Graphplan in passes: expand the graph, asking what to keep, until a backward search finds a plan (Algorithm 1).

The paper's loop, with what it leaves open: the graph begins anew in each pass, the last pass prunes nothing, and a
graph whose levels are all alike from some point on is proved to hold no plan.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pddlego.planning.graphplan.extract import Count, Extraction
from pddlego.planning.graphplan.graph import PlanningGraph
from pddlego.planning.graphplan.task import GraphTask, bits
from pddlego.planning.graphplan.values import (
    Advise,
    Expanded,
    GraphSearch,
    Passed,
    Planned,
    Purpose,
    Question,
    Searched,
    Searching,
    Watch,
    ignore,
    keep_all,
)
from pddlego.planning.ground import GOAL_STEP

Key = tuple[int, int]
"""The facts and the candidates of a question."""


Tick = Callable[[Callable[[], Searching]], None]
"""Is called again and again in a search, with what can say how far it is; may raise to break off."""


def _no_tick(progress: Callable[[], Searching]) -> None:
    pass


def plan_graph(
    task: GraphTask,
    search: GraphSearch,
    advise: Advise = keep_all,
    watch: Watch = ignore,
    tick: Tick = _no_tick,
) -> Planned:
    """Plan. `advise` answers questions, `watch` is called with what happens. What any of them raises ends it."""
    kappas = [kappa for kappa in search.kappas if kappa > 0] if search.prune else []
    answers = _Answers(advise, watch)
    for iteration, kappa in enumerate((*kappas, 0.0), start=1):
        one_pass = _Pass(task, search, iteration, kappa, answers, tick)
        planned = one_pass.run()
        watch(Passed(iteration, kappa, one_pass.graph.level, planned.ending, planned.steps or ()))
        if planned.ending in ("found", "no plan"):
            break
    return planned


@dataclass
class _Answers:
    """What was answered to questions: they are asked once, whatever the pass. `asked` counts them."""

    advise: Advise
    watch: Watch
    kept: dict[Key, int] = field(default_factory=dict)
    ranks: dict[Key, dict[int, int]] = field(default_factory=dict)
    asked: int = 0


class _Pass:
    """One pass: a graph that is pruned with the probability kappa."""

    def __init__(
        self,
        task: GraphTask,
        search: GraphSearch,
        iteration: int,
        kappa: float,
        answers: _Answers,
        tick: Tick,
    ) -> None:
        self.task, self.search, self.iteration, self.kappa, self.answers = task, search, iteration, kappa, answers
        self.graph = PlanningGraph(task)
        self._ranks: dict[int, dict[int, int]] = {}
        # Without no-goods nothing ends a pass whose graph lacks what it needs, and the last pass must have its turn.
        memo = search.memo or kappa > 0
        self._most = None if search.levels is None else search.levels + bool(task.goal_steps)
        self._tick: Callable[[], None] = lambda: tick(self._progress)
        self._extraction = Extraction(self.graph, self._ranks, memo, self._tick)
        self._tossed: dict[Key, bool] = {}
        self._draw = random.Random(f"{search.seed}/{iteration}").random
        self._pruned = self._hopeless = False

    def run(self) -> Planned:
        graph, satisfied = self.graph, self.graph.satisfied
        while True:
            self._tick()
            if satisfied:
                steps = self._searched()
                if steps is not None:
                    return Planned("found", self._named(steps))
            if self._hopeless or (not satisfied and graph.level_off is not None):
                return Planned("given up" if self._pruned else "no plan")
            if self._most is not None and graph.level >= self._most:
                return Planned("levels")
            satisfied = self._expanded()

    def _progress(self) -> Searching:
        extraction = self._extraction
        count = extraction.count
        return Searching(
            self.iteration,
            self.graph.level,
            extraction.depth,
            nodes=count.nodes,
            sets=count.sets,
            nogoods=count.nogoods,
        )

    def _expanded(self) -> bool:
        graph, candidates = self.graph, self.graph.candidates()
        kept = candidates
        asked = candidates & ~self.task.goal_steps  # the artificial last step is no action that anybody knows
        if asked and self._prunes((graph.facts[-1], asked)):
            kept = self._kept(asked)
            kept |= candidates & self.task.goal_steps
            self._pruned = self._pruned or kept != candidates
        before = graph.facts[-1].bit_count()
        graph.expand(kept)
        level, satisfied = graph.level, graph.satisfied
        expanded = Expanded(
            self.iteration,
            level,
            facts=before,
            candidates=candidates.bit_count(),
            kept=kept.bit_count(),
            noops=before,
            mutexes=graph.mutexes(level),
            new_facts=graph.facts[-1].bit_count(),
            fact_mutexes=graph.fact_mutexes(level),
            satisfied=satisfied,
            pruned=self._names(candidates & ~kept),
        )
        self.answers.watch(expanded)
        return satisfied

    def _prunes(self, key: Key) -> bool:
        """Whether the level is pruned. Tossed once for what is the same question: levels that are alike stay alike."""
        if not self.kappa:
            return False
        if self.search.coin == "pass":
            key = (0, 0)
        if key not in self._tossed:
            self._tossed[key] = self.kappa >= 1 or self._draw() < self.kappa
        return self._tossed[key]

    def _kept(self, candidates: int) -> int:
        key = (self.graph.facts[-1], candidates)
        if key not in self.answers.kept:
            named = self._asked("prune", self.graph.level + 1, candidates)
            kept = 0
            for actions in named:
                kept |= actions & candidates
            self.answers.kept[key] = kept or candidates
        return self.answers.kept[key]

    def _searched(self) -> list[list[int]] | None:
        level = self.graph.level
        if self.search.sort:
            for unsorted in range(len(self._ranks) + 1, level + 1):
                self._ranks[unsorted] = self._ranked(unsorted)
        extraction = self._extraction
        extraction.count = count = Count()
        steps = extraction.find(level, self.task.goal)
        level_off = self.graph.level_off
        if steps is None and level_off is not None:
            self._hopeless = extraction.hopeless(level_off)
        found = steps is not None
        searched = Searched(
            self.iteration,
            level,
            nodes=count.nodes,
            sets=count.sets,
            nogoods=count.nogoods,
            hits=count.hits,
            found=found,
        )
        self.answers.watch(searched)
        return steps

    def _ranked(self, level: int) -> dict[int, int]:
        kept = self.graph.actions[level] & ((1 << self.task.real) - 1) & ~self.task.goal_steps
        key = (self.graph.facts[level - 1], kept)
        if key not in self.answers.ranks:
            named: list[int] = []
            if kept.bit_count() > 1:
                named = self._asked("sort", level, kept)
            present = self.graph.actions[level]
            ordered = [action for actions in named for action in bits(actions & present)]
            self.answers.ranks[key] = {action: rank for rank, action in enumerate(ordered)}
        return self.answers.ranks[key]

    def _asked(self, purpose: Purpose, level: int, candidates: int) -> list[int]:
        """The sets of actions that an answer names; none after the last question that may be asked."""
        if self.answers.asked >= self.search.questions:
            return []
        self.answers.asked += 1
        facts = self.task.named(self.graph.facts[level - 1])
        question = Question(purpose, level, facts, tuple(dict.fromkeys(self._names(candidates))))
        return self._sets(self.answers.advise(question))

    def _sets(self, names: Sequence[str]) -> list[int]:
        """The actions of each name: one that was compiled into several is several."""
        return [self.task.named_actions[name] for name in dict.fromkeys(names) if name in self.task.named_actions]

    def _names(self, actions: int) -> tuple[str, ...]:
        return tuple(self.task.actions[action] for action in bits(actions))

    def _named(self, steps: list[list[int]]) -> tuple[tuple[str, ...], ...]:
        """The real actions of each level, in the task's order, without the artificial last step."""
        real = [sorted(action for action in level if action < self.task.real) for level in steps]
        names = ([self.task.actions[action] for action in level] for level in real)
        named = (tuple(name for name in level if name != GOAL_STEP) for level in names)
        return tuple(level for level in named if level)
