"""Lists with two types in a row, HDDL, and requirements that only a problem needs."""

from __future__ import annotations

import pytest

from pddlego import tools

LISTS = {
    "types": "pot lid - thing thing",
    "constants": "k - pot",
    "predicates": "?p - thing",
    "functions": "(weight ?p - pot) - number",
    "parameters": "?p - pot",
}
KITCHEN = """(define (domain kitchen) (:requirements :strips :typing :action-costs)
  (:types {types}) (:constants {constants}) (:predicates (hot {predicates})) (:functions {functions})
  (:action heat :parameters ({parameters}) :effect (hot ?p)))"""
DINNER = "(define (problem dinner) (:domain kitchen) (:objects a b - {}) (:init) (:goal (hot a)))"


@pytest.mark.parametrize(
    ("place", "text", "second"),
    [
        ("types", "pot - thing - object lid - thing", "- object"),
        ("constants", "k - pot - lid", "- lid"),
        ("predicates", "?p - thing - pot", "- pot"),
        ("functions", "(weight ?p - pot) - number - number", "- number"),
        ("functions", "(weight ?p - pot - lid) - number", "- lid"),
        ("parameters", "?p - pot - nonsense ?q - pot", "- nonsense"),
        ("constants", "- pot", "- pot"),
    ],
)
def test_two_types_in_a_row_are_an_error_at_the_second_hyphen(place: str, text: str, second: str) -> None:
    assert not tools.check(KITCHEN.format(**LISTS)).findings
    domain = KITCHEN.format(**{**LISTS, place: text})
    (finding,) = tools.check(domain).findings
    assert (finding.rule, second in finding.message) == ("syntax", True)
    lines = domain.splitlines()
    assert lines[finding.line - 1][finding.column - 1 :].startswith(second)


@pytest.mark.parametrize("text", ["pot - lid", "(either pot lid) - pot", "pot - lid - thing"])
def test_two_types_of_objects_are_an_error(text: str) -> None:
    findings = tools.check(KITCHEN.format(**LISTS), DINNER.format(text)).findings
    assert "there is no name before" in findings[0].message


PLAIN = "(define (domain d) {} (:predicates (p)) (:action a :parameters () :effect (p)))"
GOAL = "(define (problem one) (:domain d) {} (:init) {})"


@pytest.mark.parametrize(
    "section",
    [
        *("(:requirements :hierarchy)", "(:requirements :hierachie :method-preconditions)"),
        *("(:task get :parameters (?l))", "(:method m :parameters () :task (t) :ordered-subtasks (and))"),
    ],
)
def test_hddl_domains_are_refused_by_name(section: str) -> None:
    assert {finding.rule for finding in tools.check(PLAIN.format(section)).findings} == {"not-supported"}


@pytest.mark.parametrize("goal", ["", "(:goal (p))"])
@pytest.mark.parametrize("network", ["(:htn :parameters () :ordered-subtasks (and (a)))", "(:htn :tasks (and (a)))"])
def test_hddl_problems_are_refused_by_name(network: str, goal: str) -> None:
    (finding,) = tools.check(PLAIN.format(""), GOAL.format(network, goal)).findings
    assert (finding.rule, "hierarchical planning" in finding.message) == ("not-supported", True)


@pytest.mark.parametrize(
    ("goal", "needed"),
    [
        ("(:goal (not (p)))", [":negative-preconditions"]),
        ("(:goal (or (p) (p)))", [":disjunctive-preconditions"]),
        ("(:goal (imply (p) (p)))", [":disjunctive-preconditions"]),
        ("(:goal (exists (?x) (p)))", [":existential-preconditions"]),
        ("(:goal (forall (?x) (not (p))))", [":negative-preconditions", ":universal-preconditions"]),
        ("(:goal (>= (f) 1))", [":numeric-fluents"]),
        ("(:goal (p)) (:metric maximize (f))", [":numeric-fluents"]),
        ("(:goal (p)) (:metric minimize f)", [":numeric-fluents"]),
        ("(:goal (p))", []),
        ("(:goal (p)) (:metric minimize (total-cost))", []),
    ],
)
def test_a_requirement_that_only_the_problem_needs_is_named(goal: str, needed: list[str]) -> None:
    costs = "(:requirements :strips :action-costs)"
    domain = PLAIN.replace("(:predicates (p))", "(:predicates (p)) (:functions (total-cost) (f))").format(costs)
    problem = GOAL.format("", goal).replace("(:init)", "(:init (= (f) 1))")

    def named(problem: str, domain: str = domain) -> list[str]:
        findings = tools.check(domain, problem).findings
        return [finding.message.split()[-1] for finding in findings if finding.rule == "missing-requirement"]

    assert named(problem) == needed
    words = " ".join(needed)
    assert not named(problem, domain.replace(":strips", f":strips {words}"))
    assert not named(problem.replace("(:init", f"(:requirements :strips {words}) (:init"))
