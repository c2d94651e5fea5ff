"""Graphplan in passes: expand and prune the graph until a backward search finds a plan (Algorithm 1 of the paper).

The paper leaves three details open: here each pass begins with a new graph, the last pass prunes nothing, and a graph
whose levels no longer change can be proved to contain no plan.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pddlego.pddl import Domain, Problem
from pddlego.planning.engines import Solver
from pddlego.planning.graphplan.graph import PlanningGraph
from pddlego.planning.graphplan.values import (
    AdviceQuestion,
    Advise,
    ExtractionKind,
    GraphSearch,
    GraphTask,
    LevelAdded,
    Passed,
    PlannedLayers,
    Purpose,
    Searched,
    SearchProgress,
    SearchWatcher,
    bits,
    compile_task,
    ignore,
    keep_all,
)
from pddlego.planning.ground import GOAL_STEP, PlanningError, ground
from pddlego.planning.result import Plan, PlanStatus, PlanStep, Search
from pddlego.util.text import count

_Chosen = tuple[int, int, "_Chosen"] | None
"""The actions chosen in a level as a linked list, the last first: the goal (as a bit), its action, and the rest."""


@dataclass
class _NodeCount:
    """The work of a search: `nodes` are actions tried for a goal, `sets` the sets of goals examined."""

    nodes: int = 0
    sets: int = 0
    nogoods: int = 0
    hits: int = 0


class _NoGoods:
    """The sets of goals that cannot be reached together at a level."""

    def __init__(self) -> None:
        self.all: list[int] = []
        self._by_lowest: dict[int, list[int]] = defaultdict(list)
        self._known: set[int] = set()

    def add(self, facts: int) -> bool:
        if facts in self._known:
            return False
        self._known.add(facts)
        self.all.append(facts)
        self._by_lowest[facts & -facts].append(facts)
        return True

    def within(self, facts: int) -> int:
        """A no-good that is a subset of `facts`; 0 without one."""
        if facts in self._known:
            return facts
        rest, missing, by_lowest = facts, ~facts, self._by_lowest
        while rest:
            low = rest & -rest
            for goals in by_lowest.get(low, ()):
                if not goals & missing:
                    return goals
            rest ^= low
        return 0


class _WholeNoGoods(_NoGoods):
    """No-goods of which only the same set is found again."""

    def within(self, facts: int) -> int:
        return facts if facts in self._known else 0


class _Choice:
    """A goal for which an action is being chosen. `first` holds all goals of a level, in its first choice only."""

    __slots__ = ("above", "available", "chosen", "conflict", "first", "forbidden", "goal", "level", "remaining", "ways")

    def __init__(self, level: int, remaining: int, forbidden: int, chosen: _Chosen, first: int, above: _Chosen) -> None:
        self.level, self.remaining, self.forbidden, self.chosen = level, remaining, forbidden, chosen
        self.first, self.above = first, above
        self.goal = self.conflict = self.available = 0
        self.ways: Iterator[int] = iter(())


class Extraction:
    """Backward search in one graph, which may grow between two searches. `ranks` order the actions of each level.

    Actions without a rank follow: the no-op, then the others in their order. `tick` is called at every set of goals,
    and may raise an exception to stop the search; `depth` is the level of the last set.
    """

    _no_goods: type[_NoGoods] = _NoGoods
    """The store of failures of a level."""

    def __init__(
        self,
        graph: PlanningGraph,
        ranks: Mapping[int, Mapping[int, int]] | None = None,
        memo: bool = True,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        self.graph, self.memo, self._tick = graph, memo, tick
        self.ranks = ranks if ranks is not None else {}
        self.nogoods: dict[int, _NoGoods] = defaultdict(self._no_goods)
        self.count = _NodeCount()
        self.depth = 0
        self._ways: dict[tuple[int, int], tuple[int, tuple[int, ...]]] = {}
        self._needs, self._adds = graph.task.needs, graph.task.adds

    def find(self, level: int, goals: int) -> list[list[int]] | None:
        """The actions of each level, no-ops too, that reach the goals at `level`; None if no actions do."""
        if level == 0 or not goals:
            return [[] for _ in range(level)]
        if self._nogood_in(level, goals):
            return None
        stack = [self._begin(level, goals, None)]
        while stack:
            top = stack[-1]
            conflict = self._advance(top, stack)
            if conflict is None:
                continue
            if conflict == 0:
                return self._solution(stack)
            while True:  # a conflict goes back to the last choice that is part of it
                top = stack.pop()
                if top.first:
                    if self.memo and self.nogoods[top.level].add(conflict & top.first):
                        self.count.nogoods += 1
                    if not stack:
                        return None
                    conflict = self._regressed(conflict, top.above)
                below = stack[-1]
                if conflict & below.goal:
                    below.conflict |= conflict
                    break
        return None

    def hopeless(self, level_off: int) -> bool:
        """Whether longer graphs hold no plan either, after a search from the last level has found none.

        This is proved if, after all levels are equal, each no-good of some level contains a no-good of the next level:
        then whatever makes the search fail at a level makes it fail at the next one, and so on.
        """
        if not self.memo:
            return False
        for level in range(level_off, self.graph.level):
            here, above = self.nogoods[level], self.nogoods[level + 1]
            # A search may add no-goods to the list during this loop, and these are checked, too.
            if here.all and all(above.within(mutex) or self.find(level + 1, mutex) is None for mutex in here.all):
                return True
        return False

    def _advance(self, top: _Choice, stack: list[_Choice]) -> int | None:
        """Try the next action for a goal. None to continue, 0 if all goals are reached, else the conflict."""
        graph, level = self.graph, top.level
        for action in top.ways:
            if not top.available >> action & 1:
                continue
            self.count.nodes += 1
            remaining = top.remaining & ~self._adds[action]
            chosen: _Chosen = (top.goal, action, top.chosen)
            if remaining:
                forbidden = top.forbidden | graph.exclusive[level][action]
                stack.append(self._prepared(_Choice(level, remaining, forbidden, chosen, 0, None)))
                return None
            goals = 0
            link = chosen
            while link is not None:
                goals |= self._needs[link[1]]
                link = link[2]
            if level == 1 or not goals:
                stack.append(_Choice(0, 0, 0, None, 0, chosen))
                return 0
            known = self._nogood_in(level - 1, goals)
            if not known:
                stack.append(self._begin(level - 1, goals, chosen))
                return None
            conflict = self._regressed(known, chosen)
            if not conflict & top.goal:
                return conflict
            top.conflict |= conflict
        return top.conflict

    def _nogood_in(self, level: int, goals: int) -> int:
        """A no-good among these goals; 0 without one."""
        self.depth = level
        self._tick()
        self.count.sets += 1
        nogood = self.nogoods[level].within(goals) if self.memo else 0
        if nogood:
            self.count.hits += 1
        return nogood

    def _begin(self, level: int, goals: int, above: _Chosen) -> _Choice:
        return self._prepared(_Choice(level, goals, 0, None, goals, above))

    def _prepared(self, choice: _Choice) -> _Choice:
        """Choose the goal with the fewest available actions. Choices that exclude its actions join its conflict."""
        level, forbidden = choice.level, choice.forbidden
        best, least, all_ways = -1, 1 << 60, 0
        ordered: tuple[int, ...] = ()
        for fact in bits(choice.remaining):
            ways, order = self._ways_of(level, fact)
            left = (ways & ~forbidden).bit_count()
            if left < least:
                best, least, all_ways, ordered = fact, left, ways, order
                if not left:
                    break
        choice.goal = choice.conflict = 1 << best
        choice.available = all_ways & ~forbidden
        choice.ways = iter(ordered)
        taken, link = all_ways & forbidden, choice.chosen
        exclusive = self.graph.exclusive[level]
        while taken and link is not None:
            blocked = exclusive[link[1]] & taken
            if blocked:
                choice.conflict |= link[0]
                taken &= ~blocked
            link = link[2]
        return choice

    def _ways_of(self, level: int, fact: int) -> tuple[int, tuple[int, ...]]:
        """The actions that add a fact, as a set and in the order in which they are tried."""
        supporters = self._ways.get((level, fact))
        if supporters is None:
            ways = self.graph.supporters(level, fact)
            rank, real = self.ranks.get(level, {}), self.graph.task.real
            last = len(rank)
            order = sorted(bits(ways), key=lambda action: (rank.get(action, last), action < real, action))
            supporters = self._ways[level, fact] = ways, tuple(order)
        return supporters

    def _regressed(self, conflict: int, chosen: _Chosen) -> int:
        """The goals of the level above whose chosen actions need the facts of a conflict."""
        needs = 0
        while chosen is not None and conflict:
            goal, action, chosen = chosen
            if self._needs[action] & conflict:
                needs |= goal
                conflict &= ~self._needs[action]
        return needs

    def _solution(self, stack: list[_Choice]) -> list[list[int]]:
        layers: list[list[int]] = []
        for choice in reversed(stack):
            if choice.above is not None:
                level: list[int] = []
                link: _Chosen = choice.above
                while link is not None:
                    level.append(link[1])
                    link = link[2]
                layers.append(level)
        return [[] for _ in range(stack[0].level - len(layers))] + layers


class PlainExtraction(Extraction):
    """The backward search of Blum and Furst (1997): goals in their order, and chronological backtracking.

    Nothing explains a failure: the last choice is changed next, and a no-good is a whole set of goals, which is found
    again only if the same set is.
    """

    _ALL = -1
    """The conflict of every failure: every choice is part of it."""

    _no_goods = _WholeNoGoods
    _failed_before = -1

    def hopeless(self, level_off: int) -> bool:
        """Whether longer graphs hold no plan either: one more level has added no no-good where the levels are equal.

        This is the test of Blum and Furst. It searches nothing, so that `count` is that of the plain search.
        """
        failed = len(self.nogoods[level_off].all)
        before, self._failed_before = self._failed_before, failed
        return self.memo and failed == before

    def _prepared(self, choice: _Choice) -> _Choice:
        """Choose the first goal."""
        choice.goal, choice.conflict = choice.remaining & -choice.remaining, self._ALL
        ways, ordered = self._ways_of(choice.level, choice.goal.bit_length() - 1)
        choice.available, choice.ways = ways & ~choice.forbidden, iter(ordered)
        return choice

    def _regressed(self, conflict: int, chosen: _Chosen) -> int:
        return self._ALL


_EXTRACTIONS: Mapping[ExtractionKind, type[Extraction]] = {"backjumping": Extraction, "plain": PlainExtraction}


_QuestionKey = tuple[int, int]
"""The facts and the candidates of a question."""


_Tick = Callable[[Callable[[], SearchProgress]], None]
"""A function that is called again and again in a search, with a function for its progress; may raise."""


def plan_graph(
    task: GraphTask,
    search: GraphSearch,
    advise: Advise = keep_all,
    watch: SearchWatcher = ignore,
    tick: _Tick = lambda progress: None,
) -> PlannedLayers:
    """Plan. `advise` answers questions, `watch` is called with events. An exception in either ends planning."""
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
    """The answers to questions, each of which is asked once for all passes, or twice if it is `repeated`.

    `asked` counts the questions.
    """

    advise: Advise
    watch: SearchWatcher
    kept: dict[_QuestionKey, int] = field(default_factory=dict)
    ranks: dict[_QuestionKey, dict[int, int]] = field(default_factory=dict)
    repeated: set[_QuestionKey] = field(default_factory=set)
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
        tick: _Tick,
    ) -> None:
        self.task, self.search, self.iteration, self.kappa, self.answers = task, search, iteration, kappa, answers
        self.graph = PlanningGraph(task)
        self._ranks: dict[int, dict[int, int]] = {}
        # Without no-goods, a pass with a pruned graph may never end, and the last pass would not begin.
        memo = search.memo or kappa > 0
        self._most = None if search.levels is None else search.levels + bool(task.goal_steps)
        self._tick: Callable[[], None] = lambda: tick(self._progress)
        self._extraction = _EXTRACTIONS[search.extraction](self.graph, self._ranks, memo, self._tick)
        self._tossed: dict[_QuestionKey, bool] = {}
        self._draw = random.Random(f"{search.seed}/{iteration}").random
        self._pruned = self._hopeless = False

    def run(self) -> PlannedLayers:
        graph, satisfied = self.graph, self.graph.satisfied
        while True:
            self._tick()
            if satisfied:
                steps = self._search()
                if steps is not None:
                    return PlannedLayers("found", self._step_names(steps))
            if self._hopeless or (not satisfied and graph.level_off is not None):
                return PlannedLayers("given up" if self._pruned else "no plan")
            if self._most is not None and graph.level >= self._most:
                return PlannedLayers("levels")
            satisfied = self._expand()

    def _progress(self) -> SearchProgress:
        extraction = self._extraction
        count = extraction.count
        return SearchProgress(
            self.iteration,
            self.graph.level,
            extraction.depth,
            nodes=count.nodes,
            sets=count.sets,
            nogoods=count.nogoods,
        )

    def _expand(self) -> bool:
        graph, candidates = self.graph, self.graph.candidates()
        kept = candidates
        asked = candidates & ~self.task.goal_steps  # the artificial last step is not an action of the domain
        if asked and self._prunes((graph.facts[-1], asked)):
            kept = self._keep(asked) | candidates & self.task.goal_steps
        before = graph.facts[-1].bit_count()
        graph.expand(kept)
        if kept != candidates and graph.level_off is not None and not graph.satisfied:
            # A level like the last one ends the pass: the model may choose once more.
            graph.remove_level()
            kept = self._keep(asked, again=True) | candidates & self.task.goal_steps
            graph.expand(kept)
        self._pruned = self._pruned or kept != candidates
        level, satisfied = graph.level, graph.satisfied
        expanded = LevelAdded(
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

    def _prunes(self, key: _QuestionKey) -> bool:
        """Whether the level is pruned. Equal questions share one toss of the coin, so that equal levels stay equal."""
        if not self.kappa:
            return False
        if self.search.coin == "pass":
            key = (0, 0)
        if key not in self._tossed:
            self._tossed[key] = self.kappa >= 1 or self._draw() < self.kappa
        return self._tossed[key]

    def _keep(self, candidates: int, again: bool = False) -> int:
        """The candidates to keep: all if the answer names none. `again`: ask once more, because nothing new came."""
        key, kept = (self.graph.facts[-1], candidates), self.answers.kept
        useless = self._names(kept[key]) if again and key not in self.answers.repeated else ()
        if useless:
            self.answers.repeated.add(key)
        if useless or key not in kept:
            named = self._ask("prune", self.graph.level + 1, candidates, useless)
            kept[key] = sum(actions & candidates for actions in named) or candidates
        return kept[key]

    def _search(self) -> list[list[int]] | None:
        level = self.graph.level
        if self.search.sort:
            for unsorted in range(len(self._ranks) + 1, level + 1):
                self._ranks[unsorted] = self._rank(unsorted)
        extraction = self._extraction
        extraction.count = count = _NodeCount()
        steps = extraction.find(level, self.task.goal)
        level_off = self.graph.level_off
        if steps is None and level_off is not None:
            self._hopeless = extraction.hopeless(level_off)
        is_solved = steps is not None
        searched = Searched(
            self.iteration,
            level,
            nodes=count.nodes,
            sets=count.sets,
            nogoods=count.nogoods,
            hits=count.hits,
            found=is_solved,
        )
        self.answers.watch(searched)
        return steps

    def _rank(self, level: int) -> dict[int, int]:
        kept = self.graph.actions[level] & ((1 << self.task.real) - 1) & ~self.task.goal_steps
        key = (self.graph.facts[level - 1], kept)
        if key not in self.answers.ranks:
            named: list[int] = []
            if kept.bit_count() > 1:
                named = self._ask("sort", level, kept)
            present = self.graph.actions[level]
            ordered = [action for actions in named for action in bits(actions & present)]
            self.answers.ranks[key] = {action: rank for rank, action in enumerate(ordered)}
        return self.answers.ranks[key]

    def _ask(self, purpose: Purpose, level: int, candidates: int, useless: tuple[str, ...] = ()) -> list[int]:
        """Ask a question; return the sets of actions in the answer, and none after the last allowed question."""
        if self.answers.asked >= self.search.questions:
            return []
        self.answers.asked += 1
        facts = self.task.named(self.graph.facts[level - 1])
        question = AdviceQuestion(purpose, level, facts, tuple(dict.fromkeys(self._names(candidates))), useless=useless)
        return self._sets(self.answers.advise(question))

    def _sets(self, names: Sequence[str]) -> list[int]:
        """The set of actions for each name, as one action may be compiled into several."""
        return [self.task.named_actions[name] for name in dict.fromkeys(names) if name in self.task.named_actions]

    def _names(self, actions: int) -> tuple[str, ...]:
        return tuple(self.task.actions[action] for action in bits(actions))

    def _step_names(self, steps: list[list[int]]) -> tuple[tuple[str, ...], ...]:
        """The real actions of each level, in the task's order, without the artificial last step."""
        real = [sorted(action for action in level if action < self.task.real) for level in steps]
        names = ([self.task.actions[action] for action in level] for level in real)
        named = (tuple(name for name in level if name != GOAL_STEP) for level in names)
        return tuple(level for level in named if level)


_OFTEN = 0.25
"""Seconds between two reports on the progress of a search."""

_Tell = Callable[[object], tuple[str, ...]]
"""A function that sends a value to the caller, and returns the answer; nothing, if the value is not a question."""


def graph_solver(graph: GraphSearch, relevant: bool, tell: _Tell) -> Solver:
    """A solver by Graphplan. Unless only the `relevant` part is grounded, the task also holds facts that never change.

    The solver sends, in this order: the ground task, if an adviser is asked about it; then questions and events.
    """

    def solve(domain: Domain, problem: Problem, search: Search, seconds: float) -> Plan | None:
        task = graph_task(domain, problem, relevant)
        if task is None:
            return None
        if graph.prune or graph.sort:
            tell(task)
        # Without a seed, every problem has its own coins.
        seeded = replace(graph, seed=graph.seed or str(problem))
        planned = plan_graph(task, seeded, tell, tell, _tick(tell))
        if planned.ending == "levels":
            raise PlanningError(f"no plan has at most {count(graph.levels or 0, 'level')}", PlanStatus.BOUND)
        if planned.steps is None:
            return None
        return Plan(tuple(PlanStep.read(name) for level in planned.steps for name in level))

    return solve


def graph_task(domain: Domain, problem: Problem, relevant: bool = True) -> GraphTask | None:
    """The numbered ground task of a problem; None if the goal is unreachable even when actions delete nothing.

    Raises `PlanningError` for a problem that cannot be compiled.
    """
    task = ground(domain, problem, relevant)
    if task is None:
        return None
    others = [str(fact) for fact in problem.facts] if not relevant else []
    return compile_task(task, others)


def _tick(tell: _Tell) -> Callable[[Callable[[], SearchProgress]], None]:
    """Return a function that sends the progress of a search, at most once in `_OFTEN` seconds."""
    reported = time.monotonic()

    def tick(progress: Callable[[], SearchProgress]) -> None:
        nonlocal reported
        if time.monotonic() - reported > _OFTEN:
            tell(progress())
            reported = time.monotonic()

    return tick
