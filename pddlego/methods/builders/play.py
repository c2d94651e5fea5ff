"""Plays a cell of builders: a domain and a problem from a description, judged by the gold ones."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from pddlego.episode.budget import Budget, EpisodeOver
from pddlego.episode.events import Event, Outcome
from pddlego.methods.base import Tools, parse_variant
from pddlego.methods.builders.building import BuildOrder, How, StepAsking, built
from pddlego.methods.builders.difference import first_difference
from pddlego.methods.builders.draft import Draft
from pddlego.methods.builders.events import BuildConcluded
from pddlego.methods.builders.loading import TextSetting
from pddlego.methods.builders.options import MODES, BuilderOptions
from pddlego.methods.builders.reviewing import Review, Reviewing, reviewed
from pddlego.models.prompts import Prompts
from pddlego.pddl import Domain, Problem
from pddlego.planning import Plan, PlanStep, validate
from pddlego.planning.compare import compare_problems
from pddlego.planning.equivalence import equivalence, named_alike
from pddlego.planning.solve import checked_domain, checked_problem
from pddlego.runs.cells import Cell

_HOW: dict[str, How] = {
    "build": "by-component",
    "build-whole": "whole",
    "build-by-action": "by-action",
    "build-problem": "by-component",
}


@dataclass(frozen=True)
class Gold:
    """What a description describes: for judging, and for the stand-in."""

    domain: Domain
    problem: Problem


def play(
    cell: Cell, setting: TextSetting, options: BuilderOptions, tools: Tools, budget: Budget
) -> Generator[Event, None, None]:
    """Every event of the episode after the first. Ends by raising `EpisodeOver`."""
    variant = parse_variant(cell.mode, MODES)
    has_domain = variant.mode.name == "build-problem"
    gold = Gold(setting.domain, setting.task(cell.seed))
    order = BuildOrder(
        "problem" if has_domain else "task", setting.description(cell.seed), _HOW[variant.mode.name], gold
    )
    asking = StepAsking(tools.model, budget, Prompts("builders"), tools.retries, "checks" not in variant.without)
    draft = Draft().with_domain(gold.domain) if has_domain else Draft()
    draft = yield from built(order, asking, draft)
    by = "none" if "review" in variant.without else options.feedback
    draft, review = yield from reviewed(
        Reviewing(order, asking, tools.planner, by, options.rounds, tools.approver), draft
    )
    done = concluded(draft, review, gold)
    budget.score = float(bool(done.plan_valid))
    yield done
    if done.plan_valid:
        raise EpisodeOver(Outcome.WON, "the plan works in the reference domain")
    reason = "the plan does not work in the reference domain" if done.solvable else "the built task has no plan"
    raise EpisodeOver(Outcome.LOST, reason if done.valid else "what was built has defects")


def concluded(draft: Draft, review: Review, gold: Gold) -> BuildConcluded:
    """How what was built compares with the gold files."""
    domain = checked_domain(draft.domain)
    problem = checked_problem(domain.domain, draft.problem) if domain.domain is not None else None
    read = not any(defect.kind.value == "syntax" for defect in (*domain.defects, *(problem.defects if problem else ())))
    if domain.domain is None or problem is None or problem.problem is None:
        defects = (*domain.defects, *(problem.defects if problem else ()))
        first = next((defect.message for defect in defects if defect.blocking), "")
        return BuildConcluded(read, valid=False, solvable=False, plan_valid=False, equivalent=False, first_error=first)
    plan = Plan(tuple(map(PlanStep.read, review.plan.splitlines()))) if review.plan else None
    if domain.domain == gold.domain:
        verdict = compare_problems(gold.domain, problem.problem, gold.problem).verdict.value
    else:
        verdict = equivalence((domain.domain, problem.problem), (gold.domain, gold.problem)).value
    same = {"same": True, "different": False}.get(verdict)
    works = plan is not None and validate(gold.domain, gold.problem, _in_gold(plan, gold)) is None
    error = "" if works else first_difference(domain.domain, problem.problem, gold.domain, gold.problem)
    return BuildConcluded(
        read, valid=True, solvable=plan is not None, plan_valid=works, equivalent=same, first_error=error
    )


def _in_gold(plan: Plan, gold: Gold) -> Plan:
    """A plan with actions and objects spelt as in the gold files."""
    objects = {obj.name.replace("-", "_"): obj.name for obj in (*gold.problem.objects, *gold.domain.constants)}
    steps = (
        PlanStep(
            named_alike(gold.domain, step.action) or step.action,
            tuple(objects.get(arg.replace("-", "_"), arg) for arg in step.args),
        )
        for step in plan.steps
    )
    return Plan(tuple(steps))
