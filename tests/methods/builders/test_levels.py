"""Builds of domains with numbers and time: prompts, checks, plans with times, and the comparison with the reference."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

import pddlego
from pddlego.episode.events import Ended, Outcome, Rejected
from pddlego.errors import UsageError
from pddlego.methods.builders.building import Gold
from pddlego.methods.builders.draft import Draft, WholeDomain, WholeProblem, read_component
from pddlego.methods.builders.events import BuildConcluded, PlanTried, Reviewed
from pddlego.methods.builders.options import BuilderOptions
from pddlego.methods.builders.play import first_differing_part
from pddlego.methods.builders.reference import BuilderReference, component_of, with_error
from pddlego.methods.builders.setting import load
from pddlego.models.base import Message
from pddlego.pddl import Domain, Problem, parse_domain, parse_problem
from pddlego.pddl.rules import Level
from pddlego.planners import Feature
from pddlego.planning import ProcessPlanner, Search, engines
from pddlego.planning.compare import equivalence
from pddlego.planning.engines import numeric_attempts
from pddlego.planning.ground import PlanningError
from pddlego.planning.result import PlanResult
from tests.methods.builders.building import Scripted, build, dumped, of

kairos = pytest.mark.kairos

BATTERY = load("text-battery", BuilderOptions())
GOLD = Gold(BATTERY.domain, BATTERY.task(0))
CHARGE = component_of("timed-action", GOLD.domain, GOLD.problem, "charge")

FIRE = "(define (domain d) (:predicates (p)) (:durative-action fire :duration (= ?duration 1) :effect (at end (p))))"
WAITING = "(define (problem w) (:domain d) (:init (at 5 (p))) (:goal (p)))"
PUMP = """(define (domain pump) (:requirements :numeric-fluents) (:functions (water))
  (:action fill :parameters () :precondition (< (water) 9) :effect (increase (water) 2)))"""


@kairos
def test_wrong_answers_go_back_until_a_plan_with_times_is_found(planner: ProcessPlanner) -> None:
    wrong = {
        "functions": [dumped({"functions": [{"name": "battery", "parameters": [{"name": "?r", "type": "machine"}]}]})],
        "timed-action": [  # pick-up, put-down and drive are right, as every later answer
            *(
                dumped(component_of("timed-action", GOLD.domain, GOLD.problem, name))
                for name in ("pick-up", "put-down")
            ),
            dumped(component_of("timed-action", GOLD.domain, GOLD.problem, "drive")),
            dumped({**CHARGE, "condition": "(charger ?p)"}),
            dumped({**CHARGE, "effect": "(at end (assign (power ?r) 10))"}),
        ],
        "metric": [dumped({"metric": "minimize (money)"})],
    }
    model = Scripted(wrong)
    events = build("text-battery", "build", model, planner)
    reasons = ["\n".join(event.feedback.evidence) for event in of(events, Rejected)]
    assert len(reasons) == 4
    assert "[undeclared-type]" in reasons[0]
    assert "[misplaced-connective]" in reasons[1]
    assert "[undeclared-function]" in reasons[2]
    assert "[undeclared-function]" in reasons[3]
    assert "[misplaced-connective]" in model.of("timed-action")[4]
    (done,) = of(events, BuildConcluded)
    assert (done.valid, done.plan_valid, done.equivalent) == (True, True, True)
    assert any("charge robot" in step and step.endswith("[4]") for step in of(events, PlanTried)[-1].plan)
    assert of(events, Ended)[0].outcome is Outcome.WON


@kairos
def test_a_goal_that_the_battery_cannot_reach_is_no_plan(planner: ProcessPlanner) -> None:
    facts = component_of("init", GOLD.domain, GOLD.problem)["facts"]
    empty = [fact.replace("(= (capacity robot) 10)", "(= (capacity robot) 1)") for fact in facts]
    assert empty != facts
    events = build("text-battery", "build-problem", Scripted({"init": [dumped({"facts": empty})]}), planner)
    (done,) = of(events, BuildConcluded)
    assert (done.valid, done.solvable, done.equivalent) == (True, False, None)
    assert "(capacity robot)" in done.first_error


@kairos
def test_the_noisy_model_is_corrected_by_reviews(planner: ProcessPlanner) -> None:
    reached = set()
    for seed in range(6):
        events = build("text-battery", "build", BuilderReference(0.3, 1, seed), planner, seed, feedback="model")
        reached |= {event.by for event in of(events, Reviewed)}
        assert of(events, Ended)[0].outcome in (Outcome.WON, Outcome.LOST, Outcome.NO_PLAN)
    assert {"diagnose", "evaluate"} & reached


def test_errors_of_numbers_are_still_pddl() -> None:
    facts = {"facts": ["(= (fuel t1) 3)", "(= (dist a b) 4)", "(at 5 (open))"]}
    for seed in range(20):
        wrong = with_error(facts, GOLD.domain, random.Random(seed))["facts"]
        assert set(wrong) < set(facts["facts"])


class _WithoutKairos(ProcessPlanner):
    """A planner of a machine on which no engine with time is installed."""

    def solve(self, domain: Domain, problem: Problem, search: Search, seconds: float | None = None) -> PlanResult:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(engines, "find_spec", lambda name: None)
            try:
                numeric_attempts(search, 1, {Feature.TIME: ""})
            except PlanningError as error:
                return PlanResult(error.status, problem.goal, message=error.message)
        raise AssertionError("an engine was found")


@pytest.mark.parametrize(
    ("kind", "engine", "says"),
    [
        (ProcessPlanner, "pyperplan", "pyperplan has no time; use the planner auto or kairos"),
        (_WithoutKairos, None, "kairos is not installed"),
    ],
)
def test_a_missing_engine_is_named(kind: type[ProcessPlanner], engine: str | None, says: str) -> None:
    with kind(engine, 10, 0) as planner:
        events = build("text-battery", "build+whole", BuilderReference(), planner)
    (ended,) = of(events, Ended)
    assert ended.outcome not in (Outcome.WON, Outcome.LOST)
    assert says in ended.message


def test_only_higher_levels_have_prompts_with_numbers() -> None:
    for setting, told in (("text-ferry", False), ("text-battery", True)):
        sources = load(setting, BuilderOptions()).sources
        assert any("numbers/" in name for name in sources) is told
        assert any("timed-action" in name for name in sources) is told
    builder = pddlego.builder(lambda _: "", "a pump")
    assert "no numbers" in builder.prompt("preconditions", action="fill")
    numeric = pddlego.builder(lambda _: "", "a pump", level="numbers")
    assert "no numbers" not in numeric.prompt("preconditions", action="fill")
    assert "?duration" not in numeric.prompt("domain")
    assert "?duration" in pddlego.builder(lambda _: "", "a pump", level="time").prompt("domain")
    assert "timed-action" not in str(load("text-ferry", BuilderOptions()).sources)


def test_components_above_the_level_are_refused_by_name() -> None:
    builder = pddlego.builder(lambda _: "", "a pump")
    with pytest.raises(UsageError, match="no component 'metric'"):
        builder.ask("metric")
    with pytest.raises(UsageError, match="level = high"):
        pddlego.builder(lambda _: "", "a pump", level="high")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no component 'timed-action'") as caught:
        pddlego.builder(lambda _: "", "a pump", level="numbers").ask("timed-action")
    assert "The level is numbers" in str(caught.value)


@pytest.mark.parametrize(("text", "says"), [(FIRE, "time"), (PUMP, "numbers")])
def test_a_classical_build_refuses_what_is_above_its_level(text: str, says: str) -> None:
    draft = Draft().with_component(WholeDomain(domain=text))
    assert draft.level is Level.CLASSICAL
    assert draft.checked_domain.domain is None
    assert says in "\n".join(defect.message for defect in draft.checked_domain.defects)
    higher = Draft(level=Level[says.upper()]).with_component(WholeDomain(domain=text))
    assert higher.checked_domain.domain is not None


def test_a_given_domain_sets_the_level() -> None:
    draft = Draft().with_domain(parse_domain(FIRE))
    assert (draft.level, draft.actions) == (Level.TIME, ("fire",))
    assert Draft().with_domain(parse_domain(PUMP)).level is Level.NUMBERS
    assert Draft().with_domain(load("text-ferry", BuilderOptions()).domain).level is Level.CLASSICAL
    assert parse_domain(draft.domain).durative == parse_domain(FIRE).durative


def test_timed_literals_stay_in_a_problem() -> None:
    draft = Draft().with_domain(parse_domain(FIRE)).with_component(WholeProblem(problem=WAITING))
    assert parse_problem(draft.problem).later == parse_problem(WAITING).later
    assert draft.checked_problem is not None
    assert draft.checked_problem.problem is not None


def test_a_draft_of_components_is_the_gold_domain() -> None:
    draft = Draft("battery", level=Level.TIME)
    for kind in ("types", "predicates", "functions", "objects", "init", "goal", "metric"):
        value = component_of(kind, GOLD.domain, GOLD.problem)
        draft = draft.with_component(read_component(kind, dumped(value)))
    for action in (*GOLD.domain.actions, *GOLD.domain.durative):
        value = component_of("timed-action", GOLD.domain, GOLD.problem, action.name)
        draft = draft.with_component(read_component("timed-action", dumped(value)))
    made = parse_domain(draft.domain)
    assert (made.actions, made.durative, made.functions) == (
        *(GOLD.domain.actions, GOLD.domain.durative),
        GOLD.domain.functions,
    )
    problem = parse_problem(draft.problem)
    assert (problem.values, problem.metric) == (GOLD.problem.values, GOLD.problem.metric)


def test_another_duration_is_a_difference() -> None:
    drive, charge = GOLD.domain.durative
    assert first_differing_part(GOLD.domain, GOLD.problem, GOLD) == ""
    slow = replace(GOLD.domain, durative=(drive, replace(charge, duration=drive.duration)))
    assert first_differing_part(slow, GOLD.problem, GOLD).startswith("action charge: duration")
    fewer = replace(GOLD.domain, durative=(drive,))
    assert first_differing_part(fewer, GOLD.problem, GOLD) == "action charge is missing"


@kairos
def test_a_description_with_numbers_is_built_planned_and_validated() -> None:
    problem = _filling(0)

    def answer(messages: list[Message]) -> str:
        whole_domain = "You write a planning domain" in messages[-1].content
        return dumped({"domain": PUMP} if whole_domain else {"problem": problem})

    built = pddlego.build("task", "a pump", answer, steps="whole", level="numbers")
    assert built.sound, built.message
    assert built.plan.split("\n") == ["(fill)"] * 3
    refused = pddlego.build("task", "a pump", answer, steps="whole", retries=0)
    assert not refused.sound


@pytest.mark.parametrize(("water", "equal"), [(0, True), (1, False), (4, False)])
def test_tasks_with_numbers_are_compared_state_by_state(water: int, equal: bool) -> None:
    """From 0 the pump fills five times, from 1 four times."""
    gold = (parse_domain(PUMP), parse_problem(_filling(0)))
    other = parse_domain(PUMP.replace("(domain pump)", "(domain well)"))
    assert (equivalence((other, parse_problem(_filling(water))), gold) == "same") is equal


def _filling(water: int) -> str:
    return f"(define (problem p) (:domain pump) (:init (= (water) {water})) (:goal (>= (water) 5)))"


@kairos
def test_a_missing_number_is_a_defect_of_init(planner: ProcessPlanner) -> None:
    facts = component_of("init", GOLD.domain, GOLD.problem)["facts"]
    fewer = [fact for fact in facts if "(capacity robot)" not in fact]
    model = Scripted({"init": [dumped({"facts": fewer})]})
    events = build("text-battery", "build-problem", model, planner, feedback="model")
    checks = next(event for event in of(events, Reviewed) if event.by == "checks")
    assert any("(capacity robot)" in line for line in checks.lines)
    assert len(model.of("init")) == 2
    (done,) = of(events, BuildConcluded)
    assert (done.plan_valid, done.equivalent) == (True, True)
