"""Play a cell of builders: build a domain and a problem from a description, and compare them with the gold files."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from pddlego.episode.budget import Budget, EpisodeOver
from pddlego.episode.events import Event, Outcome
from pddlego.methods.base import Tools, parse_variant
from pddlego.methods.builders.building import BuildSteps, ComponentWriter, Gold
from pddlego.methods.builders.draft import Draft
from pddlego.methods.builders.events import BuildConcluded
from pddlego.methods.builders.options import MODES, BuilderOptions
from pddlego.methods.builders.reviewing import Review, Reviewer
from pddlego.methods.builders.setting import TextSetting
from pddlego.pddl import Domain, Problem, check
from pddlego.pddl.conditions import TRUE, Formula, Renaming, conjuncts
from pddlego.pddl.domain import Action, DurativeAction
from pddlego.pddl.edit import domain_parts
from pddlego.pddl.rules import Level
from pddlego.planning import Plan, PlanStep, validate
from pddlego.planning.compare import ComparisonVerdict, compare_problems, equivalence, named_alike
from pddlego.planning.domains.structure import equal_up_to_names
from pddlego.planning.plan_text import read_plan
from pddlego.runs.cells import Cell

STEPS: dict[str, BuildSteps] = {
    "build": "by-component",
    "build+whole": "whole",
    "build+by-action": "by-action",
    "build-problem": "by-component",
}


def play(
    cell: Cell, setting: TextSetting, options: BuilderOptions, tools: Tools, budget: Budget
) -> Generator[Event, None, None]:
    """Every event of the episode after the first. Ends by raising `EpisodeOver`."""
    variant = parse_variant(cell.mode, MODES)
    has_domain = variant.mode.name == "build-problem"
    gold = Gold(setting.domain, setting.task(cell.seed))
    writer = ComponentWriter(
        "problem" if has_domain else "task",
        setting.description(cell.seed),
        tools.model,
        budget,
        steps=STEPS[variant.mode.name],
        retries=tools.retries,
        checks="checks" not in variant.without,
        gold=gold,
    )
    by = "none" if "review" in variant.without else options.feedback
    reviewer = Reviewer(writer, tools.planner, by, options.rounds, tools.approver)
    empty = Draft(level=setting.level)
    draft = yield from writer.write_all(empty.with_domain(gold.domain) if has_domain else empty)
    draft, review = yield from reviewer.review(draft)
    concluded = _compared(draft, review, gold)
    budget.score = float(bool(concluded.plan_valid))
    yield concluded
    if concluded.plan_valid:
        raise EpisodeOver(Outcome.WON, "the plan works in the reference domain")
    reason = "the plan does not work in the reference domain" if concluded.solvable else "the built task has no plan"
    raise EpisodeOver(Outcome.LOST, reason if concluded.valid else "what was built has defects")


def _compared(draft: Draft, review: Review, gold: Gold) -> BuildConcluded:
    """Compare what was built with the gold files."""
    checked, checked_problem = draft.checked_domain, draft.checked_problem
    defects = (*checked.defects, *(checked_problem.defects if checked_problem is not None else ()))
    read = not any(defect.kind.value == "syntax" for defect in defects)
    domain, problem = checked.domain, checked_problem.problem if checked_problem is not None else None
    if domain is None or problem is None:
        first = next((defect.message for defect in defects if defect.blocking), "")
        return BuildConcluded(read, valid=False, solvable=False, plan_valid=False, equivalent=False, first_error=first)
    plan = read_plan(review.plan, domain, problem).plan if review.plan else None
    if draft.level >= Level.TIME:
        verdict = _compared_as_written(domain, problem, gold)
    elif domain == gold.domain:
        verdict = compare_problems(gold.domain, problem, gold.problem).verdict.value
    else:
        verdict = equivalence((domain, problem), (gold.domain, gold.problem))
    same = {"same": True, "different": False}.get(verdict)
    works = plan is not None and validate(gold.domain, gold.problem, _with_gold_names(plan, gold)) is None
    error = "" if works else first_differing_part(domain, problem, gold)
    return BuildConcluded(
        read, valid=True, solvable=plan is not None, plan_valid=works, equivalent=same, first_error=error
    )


def _compared_as_written(domain: Domain, problem: Problem, gold: Gold) -> str:
    """Compare tasks with time by their texts; undecided if these differ. Their states are not explored."""
    same = not first_differing_part(domain, problem, gold) and problem.later == gold.problem.later
    return "same" if same else "undecided"


def _with_gold_names(plan: Plan, gold: Gold) -> Plan:
    """The plan with the names of actions and objects spelled as in the gold files."""
    objects = {obj.name.replace("-", "_"): obj.name for obj in (*gold.problem.objects, *gold.domain.constants)}
    steps = (
        PlanStep(
            named_alike(gold.domain, step.action) or step.action,
            tuple(objects.get(arg.replace("-", "_"), arg) for arg in step.args),
        )
        for step in plan.steps
    )
    return replace(plan, steps=tuple(steps))


def first_differing_part(domain: Domain, problem: Problem, gold: Gold) -> str:
    """The first part that differs from the gold files, in the order of a file; empty if nothing differs.

    Parts are paired by their names; `-` and `_` are the same. Domains that `compare` calls the same may only differ in
    the names of actions, which plans use.
    """
    is_timed = bool(gold.domain.durative or domain.durative)  # `compare` does not read durative actions
    renamed = not is_timed and bool(equal_up_to_names(gold.domain, domain))
    difference = _first_missing_action(domain, gold.domain) if renamed else _domain_difference(domain, gold.domain)
    if difference:
        return difference
    problem = replace(problem, domain=gold.domain.name)
    defects = check(gold.domain, problem, Level.TIME)
    defect = next((defect.message for defect in defects if defect.blocking), "")
    if defect:
        return f"problem: {defect}"
    compared = compare_problems(gold.domain, problem, gold.problem)
    if compared.verdict is ComparisonVerdict.SAME:
        return ""
    parts = [f"not in the reference: {', '.join(compared.only_left[:3])}"] if compared.only_left else []
    parts += [f"only in the reference: {', '.join(compared.only_right[:3])}"] if compared.only_right else []
    return "; ".join((f"problem: {compared.reason}", *parts))


def _first_missing_action(domain: Domain, gold: Domain) -> str:
    names = {_spelled(action.name) for action in domain.actions}
    missing = next((action.name for action in gold.actions if _spelled(action.name) not in names), "")
    return f"action {missing} is missing" if missing else ""


def _domain_difference(domain: Domain, gold: Domain) -> str:
    own, wanted = ({_spelled(name): text for name, text in domain_parts(side).items()} for side in (domain, gold))
    actions, gold_actions = (
        {_spelled(f"action {action.name}"): action for action in (*side.actions, *side.durative)}
        for side in (domain, gold)
    )
    for name, text in wanted.items():
        if name not in own:
            return f"{name} is missing"
        if name in gold_actions:
            difference = _action_difference(actions[name], gold_actions[name])
            if difference:
                return f"{name}: {difference}"
        elif _spelled(own[name]) != _spelled(text):
            return f"{name} is {own[name]}; the reference has {text}"
    extra = next((name for name in own if name not in wanted), None)
    return f"{extra} is not in the reference" if extra is not None else ""


def _action_difference(own: Action, gold: Action) -> str:
    """The first difference of two actions: parameters, a condition, an effect."""
    types, gold_types = ([_spelled(parameter.type) for parameter in action.parameters] for action in (own, gold))
    if types != gold_types:
        return f"its parameters are of the types {', '.join(types)}; in the reference {', '.join(gold_types)}"
    names = {mine.name: theirs.name for mine, theirs in zip(own.parameters, gold.parameters, strict=True)}
    renaming = Renaming(names)
    durations = [action.duration if isinstance(action, DurativeAction) else TRUE for action in (own, gold)]
    pairs = (
        ("duration", renaming.formula(durations[0]), durations[1]),
        ("condition", renaming.formula(own.precondition), gold.precondition),
        ("effect", renaming.formula(own.effect), gold.effect),
    )
    for what, mine, theirs in pairs:
        missing, extra = _parts(theirs) - _parts(mine), _parts(mine) - _parts(theirs)
        if missing or extra:
            texts = [f"{what} {part} is missing" for part in sorted(missing)]
            texts += [f"{what} {part} is not in the reference" for part in sorted(extra)]
            return "; ".join(texts)
    return ""


def _parts(formula: Formula) -> set[str]:
    return {_spelled(str(part)) for part in conjuncts(formula)}


def _spelled(text: str) -> str:
    return text.lower().replace("_", "-")
