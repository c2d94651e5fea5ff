"""The page of a plan: pictures of relations, what changes, when each fact is true, and the whole state, by step."""

from __future__ import annotations

import base64
import json
import re
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

from pddlego import tools
from pddlego.cli.plan_page import write_plan_page
from pddlego.pddl.rules import Level
from tests.cli.command import run
from tests.lamps import DOMAIN, PLAN, PROBLEM

FLEET = """(define (domain fleet) (:requirements :strips :typing :numeric-fluents) (:types place truck)
  (:predicates (road ?a - place ?b - place) (at ?t - truck ?p - place))
  (:functions (fuel ?t - truck))
  (:action drive :parameters (?t - truck ?a - place ?b - place) :precondition (and (at ?t ?a) (road ?a ?b))
    :effect (and (not (at ?t ?a)) (at ?t ?b) (decrease (fuel ?t) 2))))"""

TRIP = """(define (problem trip) (:domain fleet) (:objects bonn cologne essen - place red blue - truck)
  (:init (road bonn cologne) (road cologne bonn) (road cologne essen) (at red bonn) (at blue bonn)
    (= (fuel red) 5) (= (fuel blue) 7)) (:goal (at red essen)))"""


def page_of(domain: str, problem: str, plan: str, file: Path, title: str = "plan") -> str:
    parsed = tools.read_domain_file(domain, Level.NUMBERS)
    task = tools.read_problem_file(parsed, problem, Level.NUMBERS)
    write_plan_page(tools.simulate(parsed, task, plan), parsed, task, file, title)
    return file.read_text(encoding="utf-8")


def test_the_last_step_says_which_preferences_are_violated(tmp_path: Path) -> None:
    goal = "(:goal (and (at red essen) (preference home (at blue bonn)) (preference full (> (fuel red) 3))))"
    trip = TRIP[: TRIP.index("(:goal")] + f"{goal} (:metric minimize (* 3 (is-violated full))))"
    page = page_of(FLEET, trip, "(drive red bonn cologne)\n(drive red cologne essen)", tmp_path / "page.html")
    last = json.dumps(value_of(page), ensure_ascii=False)
    assert "Preference home: kept" in last and "Preference full: violated (cost 3)" in last


def value_of(page: str) -> Any:
    packed = re.search(r'id="data-plan">([^<]*)<', page)
    assert packed is not None
    return json.loads(zlib.decompress(base64.b64decode(packed[1])))


def pane(value: Any, step: int, title: str) -> str:
    """The text of a pane, with its picture."""
    panes = (pane for tab in value["steps"][step]["panes"] for pane in tab)
    found = next(pane for pane in panes if pane["title"] == title)
    return "\n".join(value["lines"][number] for number in [*found.get("drawing", ()), *found["lines"]])


def test_the_page_has_the_changes_and_the_state_of_each_step(tmp_path: Path) -> None:
    page = page_of(DOMAIN, PROBLEM, PLAN, tmp_path / "a.html", "evening <1>")
    value = value_of(page)
    assert value["tabs"] == ["overview", "timeline", "state"]
    assert [step["command"] for step in value["steps"]] == ["the initial state", *PLAN.splitlines()]
    assert pane(value, 2, "changes").splitlines() == [
        '<span class="green">+ (at kitchen)</span>',
        '<span class="red">- (at hall)</span>',
        "cost so far: 2",
    ]
    assert '<span class="green">(at kitchen)</span>' in pane(value, 2, "state")
    assert "(lit hall)" in pane(value, 2, "state")
    assert pane(value, 2, "objects") == "room: hall, kitchen"
    assert "<h1>evening &lt;1&gt;: 3 steps, the goal is reached</h1>" in page
    assert re.findall(r'<button id="([\w-]+)" type="button" hidden', page) == [
        "more",
        "back",
        "failure",
        "different",
    ]


def test_a_plan_that_fails_opens_at_the_step_that_is_not_possible(tmp_path: Path) -> None:
    page = page_of(DOMAIN, PROBLEM, "(switch-on hall)\n(switch-on kitchen)", tmp_path / "a.html", "evening")
    assert "evening: 1 step, not possible: step 2: (switch-on kitchen)" in page
    value = value_of(page)
    assert (value["opens"], len(value["steps"])) == (2, 3)
    assert [step["marks"] for step in value["steps"]] == [[], [], ["not possible"]]
    assert [step["phase"] for step in value["steps"]] == ["", "switch-on", ""]
    changes = pane(value, 2, "changes")
    assert '<span class="bold red">Not possible: step 2: (switch-on kitchen) has an unsatisfied precondition' in changes
    assert "Set (at kitchen) to true" in changes
    assert "(lit hall)" in pane(value, 2, "state"), "the state in which the step is not possible"
    assert changes in page.replace("<div>", "").replace("</div>", "\n"), "also without a script"
    assert value_of(page_of(DOMAIN, PROBLEM, "", tmp_path / "b.html"))["opens"] == 0


def test_a_relation_over_one_type_is_drawn_with_what_is_at_its_objects(tmp_path: Path) -> None:
    value = value_of(page_of(FLEET, TRIP, "(drive red bonn cologne)", tmp_path / "a.html"))
    first, second = pane(value, 0, "road"), pane(value, 1, "road")
    assert "<title>(road bonn cologne) and (road cologne bonn)</title>" in first
    assert '<text class="thing"' in first and "◆ blue, red</text>" in first
    assert "◆ red</text>" in second, "trucks are objects of another type"
    bonn = "bonn\n(at blue bonn)\n(road bonn cologne)\n(road cologne bonn)"
    assert f"<title>{bonn}</title>" in second, "the text alternative has all facts"
    assert [pane["title"] for pane in value["steps"][0]["panes"][0]] == ["road", "changes", "objects"]
    assert second.count('class="room here"') == 2, "the objects of facts that changed"


def test_the_timeline_has_the_steps_of_each_fact_that_changes(tmp_path: Path) -> None:
    plan = "(drive red bonn cologne)\n(drive red cologne bonn)"
    chart = pane(value_of(page_of(FLEET, TRIP, plan, tmp_path / "a.html")), 0, "timeline")
    sentences = re.findall(r"<rect [^>]*><title>([^<]*)", chart)
    assert sentences == [
        "(at red bonn): 0 to 1",
        "(at red bonn): 2 to 3",
        "(at red cologne): 1 to 2",
    ]


def test_numbers_that_change_are_curves_of_their_functions(tmp_path: Path) -> None:
    domain = FLEET.replace("(fuel ?t - truck)", "(fuel ?t - truck) (distance) (share)")
    domain = domain.replace("(decrease (fuel ?t) 2)", "(decrease (fuel ?t) 2) (assign (share) (/ (fuel ?t) 3))")
    problem = TRIP.replace("(= (fuel red) 5)", "(= (fuel red) 5) (= (distance) 4)")
    value = value_of(
        page_of(domain, problem, "(drive red bonn cologne)\n(drive red cologne bonn)", tmp_path / "a.html")
    )
    assert [found["title"] for found in value["steps"][0]["panes"][1]] == ["timeline", "fuel", "share"]
    fuel = pane(value, 1, "fuel")
    assert "<title>red: 5 after step 0, 3 after step 1, 1 after step 2</title>" in fuel
    assert "blue" not in fuel, "it does not change"
    assert fuel.endswith("\nred: 3"), "the value after the step, as text"
    assert "<title>step 1</title>" in fuel
    share = pane(value, 0, "share")
    assert "<title>share: no value after step 0, 1.66667 after step 1, 1 after step 2</title>" in share
    assert share.endswith("\nshare: no value")


def test_few_functions_are_drawn_and_few_of_their_numbers(tmp_path: Path) -> None:
    names = [f"t{number:02}" for number in range(12)]
    domain = """(define (domain d) (:requirements :typing :numeric-fluents) (:types t) (:predicates (p))
      (:functions (a ?x - t) (b) (c) (d)) (:action go :parameters ()
        :effect (and (p) (forall (?x - t) (increase (a ?x) 1)) (increase (b) 1) (increase (c) 1) (increase (d) 1))))"""
    numbers = " ".join(f"(= (a {name}) 0)" for name in names) + "(= (b) 0) (= (c) 0) (= (d) 0)"
    problem = f"(define (problem p) (:domain d) (:objects {' '.join(names)} - t) (:init {numbers}) (:goal (p)))"
    value = value_of(page_of(domain, problem, "(go)", tmp_path / "a.html"))
    titles = [found["title"] for found in value["steps"][0]["panes"][1]]
    assert titles == ["timeline", "a (8 of 12, 4 left out)", "b", "c"]


def test_objects_without_types_are_drawn_if_they_have_a_pair(tmp_path: Path) -> None:
    domain = "(define (domain d) (:predicates (on ?a ?b) (in ?a)) (:action a :parameters (?x) :effect (in ?x)))"
    objects = " ".join(f"o{number:02}" for number in range(40))
    facts = " ".join(f"(on o{number:02} o{number + 1:02})" for number in range(35))
    problem = f"(define (problem p) (:domain d) (:objects x {objects}) (:init (on x x) {facts}) (:goal (in x)))"
    value = value_of(page_of(domain, problem, "(a x)", tmp_path / "a.html"))
    picture = pane(value, 0, "on (30 of 36 objects, 6 left out)")
    assert picture.count('class="room"') == 30
    assert "x" not in re.findall(r"<title>(\w+)\n", picture)


def test_of_many_objects_those_of_the_plan_and_those_beside_them_are_drawn(tmp_path: Path) -> None:
    places = [f"p{number:02}" for number in range(100)]
    roads = " ".join(f"(road {start} {end})" for start, end in pairwise(places))
    problem = f"(define (problem trip) (:domain fleet) (:objects {' '.join(places)} - place red - truck)"
    problem += f" (:init {roads} (at red p80) (= (fuel red) 5)) (:goal (at red p81)))"
    value = value_of(page_of(FLEET, problem, "(drive red p80 p81)", tmp_path / "a.html"))
    picture = pane(value, 1, "road (30 of 100 objects, 70 left out)")
    drawn = re.findall(r"<title>(p\d\d)\n", picture)
    assert len(drawn) == 30
    assert {"p79", "p80", "p81", "p82"} <= {*drawn}
    assert "p50" not in drawn


def test_words_that_do_not_fit_are_counted(tmp_path: Path) -> None:
    domain = "(define (domain d) (:predicates (on ?a ?b) (clear ?a) (on-table ?a)) (:action a :parameters (?x ?y)"
    domain += " :effect (and (not (on ?x ?y)) (clear ?y) (on-table ?x) (clear ?x))))"
    problem = "(define (problem p) (:domain d) (:objects x y) (:init (on x y)) (:goal (clear y)))"
    picture = pane(value_of(page_of(domain, problem, "(a x y)", tmp_path / "a.html")), 1, "on")
    assert re.findall(r'<text class="word"[^>]*>([^<]*)', picture) == ["on-table +1", "clear"]


def test_long_names_and_things_are_cut_so_that_they_differ(tmp_path: Path) -> None:
    names = ["warehouse-district-north-1", "warehouse-district-north-2"]
    problem = TRIP.replace("bonn", names[0]).replace("cologne", names[1]).replace("blue", "very-long-truck-blue")
    first = pane(value_of(page_of(FLEET, problem, "", tmp_path / "a.html")), 0, "road")
    shown = re.findall(r'<text class="(?:name|thing)"[^>]*>([^<]*)', first)
    assert shown == ["essen", "wareho…rth-1", "◆ red +1", "wareho…rth-2"]
    assert f"<title>{names[0]}\n" in first, "the text alternative is whole"


def test_a_page_of_a_task_with_constraints_is_refused_before_planning(tmp_path: Path) -> None:
    (tmp_path / "d.pddl").write_text(FLEET.replace(":numeric-fluents", ":numeric-fluents :constraints"))
    (tmp_path / "p.pddl").write_text(TRIP[:-1] + " (:constraints (sometime (at red cologne))))")
    done = run("solve", "d.pddl", "p.pddl", "-o", "x.html", cwd=tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 3)
    assert "Plan of" not in done.stdout
    assert not (tmp_path / "x.html").exists()


def test_the_page_of_solve_has_the_search_of_pyperplan(tmp_path: Path) -> None:
    (tmp_path / "d.pddl").write_text(DOMAIN, encoding="utf-8")
    (tmp_path / "p.pddl").write_text(PROBLEM, encoding="utf-8")
    for planner, is_shown in (("pyperplan", True), ("fast-downward", False)):
        done = run("solve", "d.pddl", "p.pddl", "--planner", planner, "-o", "a.html", cwd=tmp_path)
        if planner == "fast-downward" and done.returncode == 3:
            continue  # not installed here
        assert done.returncode == 0, done.stderr
        value = value_of((tmp_path / "a.html").read_text(encoding="utf-8"))
        assert ("search" in value["tabs"]) is is_shown
        if is_shown:
            assert "1. the initial state" in pane(value, 0, "search")
            assert pane(value, 0, "search") == pane(value, len(value["steps"]) - 1, "search")
