"""Findings in domains, problems and plans, at their places."""

from __future__ import annotations

import pytest

import pddlego
from pddlego import tools
from pddlego.errors import PddlegoError
from pddlego.pddl import parse_domain
from pddlego.planning import Plan, PlanStep
from tests.lamps import DOMAIN, PROBLEM
from tests.tools.walk import WALK, WALK_TASK


@pytest.mark.parametrize("name", ["(domain lamps :requirements :strips)", "(domain)", "(domain lamps lights)"])
def test_a_file_has_one_name(name: str) -> None:
    result = tools.check(DOMAIN.replace("(domain lamps)", name), PROBLEM)
    assert {finding.rule for finding in result.findings if finding.severity == "error"} >= {"syntax"}
    for old in ("(problem evening)", "(:domain lamps)"):
        wrong = name.replace("domain", old.strip("(").split()[0])
        found = tools.check(DOMAIN, PROBLEM.replace(old, wrong)).findings
        assert any("is not one name" in finding.message for finding in found), wrong


def test_an_undeclared_type_of_the_domain_has_no_errors_in_the_problem() -> None:
    found = tools.check(DOMAIN.replace("- room", "- roon", 1), PROBLEM).findings
    assert {finding.rule for finding in found if finding.severity == "error"} == {"undeclared-type"}, found


def test_a_glued_variable_hides_no_errors() -> None:
    result = pddlego.check(DOMAIN.replace("(lit ?r)))", "(light?r)))"))
    assert {finding.rule for finding in result.findings} == {"glued-variable", "undeclared-predicate"}


def test_rules_that_follow_from_too_long_a_chain_are_refused() -> None:
    spots = " ".join(f"s{number}" for number in range(400))
    edges = " ".join(f"(edge s{number} s{number + 1})" for number in range(399))
    chain = parse_domain("""(define (domain chain) (:predicates (edge ?a ?b) (path ?a ?b))
      (:derived (path ?a ?b) (or (edge ?a ?b) (exists (?c) (and (edge ?a ?c) (path ?c ?b))))))""")
    problem = f"(define (problem p) (:domain chain) (:objects {spots}) (:init {edges}) (:goal (path s0 s399)))"
    with pytest.raises(PddlegoError, match="cannot be judged"):
        pddlego.validate(chain, problem, Plan(()))
    (found,) = [finding for finding in pddlego.check(chain, problem, Plan(())).findings if finding.file == "plan"]
    assert (found.rule, "derived predicate path" in found.message) == ("too-large", True)


def test_a_finding_points_at_the_step_in_the_text() -> None:
    plan = "; a plan\n2: (rest)\n1: (go x y)\n  0: (go y\n  z)"
    (finding,) = pddlego.check(WALK, WALK_TASK, plan).findings
    assert (finding.line, finding.column, finding.source) == (4, 6, "  0: (go y")
    assert finding.message == "step 1: (go y z) has an unsatisfied precondition"
    (finding,) = pddlego.check(WALK, WALK_TASK, "(go x y) (go y z) (fly; to)\n)").findings
    assert (finding.line, finding.column, finding.rule) == (1, 19, "unknown-action")
    (finding,) = pddlego.check(WALK, WALK_TASK, "0: (go x y)\n0: (rest)\n1: (go y z)\n1: (go y z)").findings
    assert (finding.line, finding.rule, finding.advice) == (4, "interfering-actions", "Give them different times")
    (finding,) = pddlego.check(WALK, WALK_TASK, Plan((PlanStep("rest"), PlanStep("go", ("y", "z"))))).findings
    assert (finding.line, finding.column, finding.source) == (2, 1, "(go y z)")
    (finding,) = pddlego.check(WALK, WALK_TASK, "").findings
    assert (finding.line, finding.column, finding.source, finding.rule) == (1, 1, "", "goal-not-reached")
    (finding,) = pddlego.check(WALK, WALK_TASK, "(go x y)\n(rest)").findings
    assert (finding.line, finding.rule) == (2, "goal-not-reached")


def test_a_message_about_a_plan_is_not_cut_at_a_semicolon() -> None:
    (finding,) = pddlego.check(WALK, WALK_TASK, "```\ngo x: a; b; c\n```\n").findings
    assert finding.message == "line 2, 'go x: a; b; c', is not an action"
    (finding,) = pddlego.check(WALK, WALK_TASK, "0: (rest)\n(rest)\n0: (rest)").findings
    assert finding.message == "time 0 follows time 0, and other steps have no time"
    (finding,) = pddlego.check(WALK, WALK_TASK, "(go x y)\n(go y z)\n(sleep)").findings
    assert finding.message == "step 3: (sleep) is not an action of the domain; the actions are go, rest"


def test_skipped_lines_are_a_warning() -> None:
    log = "Solution found!\ngo x y (1)\ngo y z (1)\nrest  (1)\nPlan length: 3 step(s).\n"
    result = pddlego.check(WALK, WALK_TASK, log)
    assert (result.ok, result.cost) == (True, 3)
    (finding,) = result.findings
    assert (finding.severity, finding.rule, finding.line, finding.source) == (
        "warning",
        "skipped-text",
        1,
        "",
    )
    note = "2 lines without a step of the plan skipped, the first is line 1"
    assert finding.message == note
    assert pddlego.validate(WALK, WALK_TASK, log) == tools.ValidationResult(True, 3, note=note)
    failed = pddlego.validate(WALK, WALK_TASK, log.replace("rest  (1)\n", ""))
    assert (failed.rule, failed.note) == ("goal-not-reached", note)


def test_a_plan_of_a_problem_with_errors_is_not_checked() -> None:
    for domain, problem, cause in (
        (WALK, WALK_TASK.replace("(at x)", "(at q)"), "problem"),
        (WALK.replace("(rested))\n", ")\n"), WALK_TASK, "domain"),
        ("(define (domain", WALK_TASK, "domain"),
    ):
        finding = pddlego.check(domain, problem, "(rest)").findings[-1]
        assert (finding.file, finding.rule, finding.severity) == ("plan", "not-checked", "error")
        assert finding.message == f"the plan was not checked, because the {cause} has errors"
        assert finding.advice == f"Fix the {cause} first."
    assert all(finding.file != "plan" for finding in pddlego.check(WALK, "(define (problem").findings)


def test_another_name_of_the_domain_is_reported_at_its_line() -> None:
    domain = "(define (domain shop) (:predicates (p)) (:action a :effect (p)))"
    (finding,) = tools.check(domain, "(define (problem x)\n (:domain shopp)\n (:init) (:goal (p)))").findings
    assert (finding.line, finding.column, finding.end_column, finding.rule) == (2, 11, 16, "other-domain-name")
    assert (finding.advice, finding.path) == ("Write (:domain shop)", "")
