"""`pddlego solve --planner graphplan`, with models that prune and sort."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import closing

from pddlego import tools
from pddlego.cli.printing import say
from pddlego.episode.budget import Budget
from pddlego.episode.events import Event, Limits, Retrying
from pddlego.evaluation.config import Config
from pddlego.methods.graphplan.advisers import Advisers, make_adviser, planning
from pddlego.methods.shared_options import PassOptions
from pddlego.models.endpoint import Access, make_endpoint, prepare_cache
from pddlego.pddl import Domain, Problem
from pddlego.pddl.costs import counts_cost
from pddlego.planning import PlanResult
from pddlego.planning.graphplan import values
from pddlego.tools import SolveResult
from pddlego.util.text import count, one_line


def by_graphplan(domain: Domain, problem: Problem, config: Config, prune: str | None, sort: str | None) -> SolveResult:
    """Plan by Graphplan with the advice of models, and report the numbers of levels, actions and calls."""
    options = config.methods["graphplan"]
    assert isinstance(options, PassOptions)
    graph = values.GraphSearch(prune is not None, sort is not None, options.kappa, levels=options.levels)
    prepare_cache(config.endpoint.cache)
    key = os.environ.get("OPENAI_API_KEY")
    models = {
        name: make_adviser(name, "solve/0") or make_endpoint(name, config.endpoint, Access(key))
        for name in (prune, sort)
        if name is not None
    }
    budget = Budget(Limits(None))
    moments: list[values.SearchMoment] = []
    advisers = Advisers(budget, models.get(prune or ""), models.get(sort or ""))

    def react(moment: values.AdviceQuestion | values.SearchMoment) -> Generator[Event, None, tuple[str, ...]]:
        if isinstance(moment, values.AdviceQuestion):
            return (yield from advisers.ask(moment))
        moments.append(moment)
        return ()

    with config.planner.make() as planner:

        def solve(advise: values.Advise, watch: values.SearchWatcher) -> PlanResult:
            return planner.solve(domain, problem, values.Graphplan(graph=graph, advise=advise, watch=watch))

        result = _result_of(planning(solve, react))
    if counts_cost(problem):
        say("graphplan ignores action costs: its plans have the fewest levels.")
    if moments:
        say(_summary(moments, budget.usage.calls))
    return tools.solve_result(result)


def _result_of(planning: Generator[Event, None, PlanResult]) -> PlanResult:
    """Run the planning to its end, report failed attempts to call the endpoint, and return the result."""
    with closing(planning):
        while True:
            try:
                event = next(planning)
            except StopIteration as ended:
                result: PlanResult = ended.value
                return result
            if isinstance(event, Retrying):
                trouble = event.trouble
                tried = f"try {trouble.tries} of {trouble.most}"
                say(f"{one_line(trouble.reason, 200)}: {tried}, the next in {trouble.seconds:.0f} s")


def _summary(moments: Sequence[values.SearchMoment], calls: int) -> str:
    """The numbers of levels, passes, actions, mutex pairs, search nodes and calls, on one line."""
    added = [moment for moment in moments if isinstance(moment, values.LevelAdded)]
    searched = [moment for moment in moments if isinstance(moment, values.Searched)]
    passes = sum(isinstance(moment, values.Passed) for moment in moments)
    steps = [moment.steps for moment in moments if isinstance(moment, values.Passed) and moment.ending == "found"]
    levels = len(steps[-1]) if steps else max((moment.level for moment in added), default=0)
    parts = [count(levels, "level"), *([f"{passes} passes"] if passes > 1 else [])]
    parts += [f"{sum(moment.actions for moment in added):,} actions expanded"]
    parts += [f"{sum(moment.mutexes for moment in added):,} mutex pairs"]
    parts += [f"{sum(moment.nodes for moment in searched):,} search nodes", *([count(calls, "call")] if calls else [])]
    return f"graphplan: {', '.join(parts)}"
