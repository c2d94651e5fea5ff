"""What planners can do, as values: needs of tasks, the list of planners, and the tables of the documentation."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from pddlego import tools
from pddlego.errors import UsageError
from pddlego.pddl import parse_domain, parse_problem
from pddlego.planners import OWN, Feature
from pddlego.planning import Search
from pddlego.planning.abilities import needs, planners_for
from pddlego.planning.engines import missing
from tests.cli.command import run
from tests.scale import PATIENCE

FORMATS = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")

DOMAIN = """(define (domain d) (:requirements :adl :derived-predicates :numeric-fluents :durative-actions)
  (:predicates (a) (b) (c)) (:functions (total-cost) (n) (unset)) {}
  (:action go :parameters () :precondition (and (a) {}) :effect (and (b) {})))"""

NEEDS = {
    "nothing": ("", "", "", set()),
    "a delete effect": ("", "", "(not (a))", set()),
    "negation": ("", "(not (b))", "", {Feature.NEGATION}),
    "logic": ("", "(imply (b) (a))", "", {Feature.LOGIC}),
    "a quantified effect": ("", "", "(forall (?x) (not (a)))", {Feature.LOGIC}),
    "when": ("", "", "(when (a) (c))", {Feature.CONDITIONAL}),
    "when, with a negative condition": ("", "", "(when (not (a)) (c))", {Feature.CONDITIONAL, Feature.NEGATION}),
    "derived": ("(:derived (c) (not (a)))", "", "", {Feature.DERIVED, Feature.NEGATION}),
    "numbers": ("", "(> (n) 0)", "", {Feature.NUMBERS}),
    "numbers in when": (
        *("", "", "(when (> (n) 0) (c))"),
        {Feature.NUMBERS, Feature.NUMBERS_IN_WHEN, Feature.CONDITIONAL},
    ),
    "no value": ("", "(or (a) (> (unset) 0))", "", {Feature.NUMBERS, Feature.UNSET, Feature.LOGIC}),
}


def problem(metric: str = "") -> str:
    return f"(define (problem p) (:domain d) (:init (a) (= (n) 1)) (:goal (b)) {metric})"


@pytest.mark.parametrize("name", NEEDS)
def test_what_a_task_needs(name: str) -> None:
    *parts, expected = NEEDS[name]
    assert set(needs(parse_domain(DOMAIN.format(*parts)), parse_problem(problem()))) == expected


def test_what_a_task_with_time_or_with_costs_needs() -> None:
    slow = "(:durative-action slow :parameters () :duration (= ?duration 2) :condition () :effect (at end (b)))"
    timed = needs(parse_domain(DOMAIN.format(slow, "", "")), parse_problem(problem()))
    assert [*timed] == [Feature.TIME, Feature.NUMBERS]
    dear = parse_domain(DOMAIN.format("", "", "(increase (total-cost) 3)"))
    assert needs(dear, parse_problem(problem("(:metric minimize (total-cost))"))).keys() == {Feature.COSTS}


def able(name: str) -> list[str]:
    """The planners that have all features that a task needs."""
    *_, needed = NEEDS[name]
    return [planner for planner, spec in OWN.items() if spec.can >= needed and spec.solve and not missing(planner)]


@pytest.mark.parametrize("name", NEEDS)
def test_each_planner_does_what_it_says_and_no_other_is_tried(name: str) -> None:
    """The values are compared with the planners themselves, which find a plan, or refuse the task."""
    *parts, _ = NEEDS[name]
    files = DOMAIN.format(*parts), problem()
    for planner in (planner for planner in OWN if OWN[planner].solve and not missing(planner)):
        result = tools.solve(*files, planner=planner, seconds=PATIENCE, why_seconds=0)
        assert (result.plan is not None) == (planner in able(name)), (planner, result)


def test_a_fact_that_follows_from_itself_is_for_planners_without_that_limit() -> None:
    domain = DOMAIN.format("(:derived (c) (or (a) (c)))", "(c)", "")
    for planner in (planner for planner in OWN if OWN[planner].solve and not missing(planner)):
        result = tools.solve(domain, problem(), planner=planner, seconds=PATIENCE, why_seconds=0)
        assert (result.plan is not None) == OWN[planner].has_whole(Feature.DERIVED), (planner, result)


def test_the_list_says_why_a_planner_cannot() -> None:
    domain = parse_domain(DOMAIN.format("(:derived (c) (not (a)))", "(not (c))", ""))
    task = parse_problem(problem())
    answers = {answer.planner: answer for answer in planners_for(domain, task, Search.parse("astar(lmcut)")).planners}
    assert answers["mimir"].reason.startswith("mimir has no optimal search")
    assert answers["pyperplan"].limits == ("derived predicates (no fact may follow from itself)",)
    assert answers["pyperplan"].reason == ""
    numeric = parse_domain(DOMAIN.format("", "(> (n) 0)", ""))
    reasons = {answer.planner: answer.reason for answer in planners_for(numeric, task, Search()).planners}
    assert {name for name, reason in reasons.items() if reason == "no numbers"} == {
        name for name, spec in OWN.items() if Feature.NUMBERS not in spec.can
    }


@pytest.mark.parametrize("option", [("--planner", "mimir"), ("-o", "x.plan"), ("--timeout", "3"), ("--plans", "2")])
def test_an_option_without_effect_on_the_list_is_refused(option: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "d.pddl").write_text(DOMAIN.format("", "", ""))
    (tmp_path / "p.pddl").write_text(problem())
    done = run("solve", "d.pddl", "p.pddl", "--planners", *option, cwd=tmp_path)
    name = "--output" if option[0] == "-o" else option[0]
    assert (done.returncode, done.stdout) == (2, "")
    assert f"--planners and {name} exclude each other" in done.stderr
    assert run("solve", "d.pddl", "p.pddl", "--planners", "--search", "bfs", cwd=tmp_path).returncode == 0


def test_an_unknown_search_is_refused_in_the_list_as_in_a_call() -> None:
    with pytest.raises(UsageError, match="The search gbf"):
        tools.read_search("gbf(ff)")


def test_the_tables_of_the_documentation() -> None:
    """`docs/formats.md` has what the values say; run this test to see the right tables."""
    header = ("feature", *(f"`{name}`" for name in OWN))
    rows = [header, ("---",) * len(header)]
    for feature in Feature:
        can = ((spec.limits.get(feature, "yes") if feature in spec.can else "") for spec in OWN.values())
        rows.append((feature.value, *can))
    features = "".join(map(_row, rows))
    assert features in FORMATS, features
    rows = [(f"`{name}`", spec.about, _code(spec.install)) for name, spec in OWN.items()]
    about = "".join(map(_row, rows))
    assert about in FORMATS, about


def _row(cells: Iterable[str]) -> str:
    return f"|{'|'.join(f' {cell} ' if cell else ' ' for cell in cells)}|\n"


def _code(install: str) -> str:
    """A command with its remark, as in `pip install x`, for Linux."""
    command, comma, remark = install.partition(", ")
    return f"`{command}`{comma}{remark}" if install else ""
