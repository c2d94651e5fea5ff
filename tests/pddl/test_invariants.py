"""What no problem can say without contradicting itself."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.episode import events as ev
from pddlego.methods.setting_files import setting_names
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.options import TEXT_GAME
from pddlego.methods.textgames.settings import GameSetting
from pddlego.pddl import Atom, Problem, parse_domain, parse_problem
from pddlego.pddl.exclusive import broken_invariants
from pddlego.pddl.invariants import Invariant, contradictions, one_way, parse_invariant
from pddlego.planning import ProcessPlanner
from tests.methods.textgames.grid_house import small_house
from tests.methods.textgames.playing import ForgetfulModel, ended, of, play


def problem(*facts: str) -> Problem:
    return parse_problem(f"(define (problem p) (:domain d) (:objects) (:init {' '.join(facts)}) (:goal (and)))")


def test_every_setting_says_what_cannot_be(coin: GameSetting) -> None:
    for name in setting_names(TEXT_GAME):
        setting = load(name)
        if "feedback" not in setting.asking.protocol.without:  # who is told of nothing needs no words for it
            rules = setting.start.invariants
            assert Atom("at", ("*",)) in [rule.once for rule in rules], name
            has_exits = bool(setting.map and setting.map.exit) or setting.game.engine == "scienceworld"
            assert any(rule.both_ways for rule in rules) == has_exits, name
        assert contradictions(setting.start.problem, setting.start.invariants) == ()


def test_two_places_at_once(coin: GameSetting) -> None:
    result = contradictions(problem("(at kitchen)", "(at attic)", "(visited attic)"), coin.start.invariants)
    assert [str(violation) for violation in result] == ["(at attic) and (at kitchen): the agent is in one place"]


def test_two_rooms_behind_one_exit(coin: GameSetting) -> None:
    facts = "(connected kitchen attic north)", "(connected kitchen cellar north)", "(connected kitchen hall south)"
    (result,) = contradictions(problem(*facts), coin.start.invariants)
    assert result.facts == (
        Atom("connected", ("kitchen", "attic", "north")),
        Atom("connected", ("kitchen", "cellar", "north")),
    )


def test_open_and_closed() -> None:
    rule = Invariant("a door is open or closed", never=(Atom("open", ("?a", "?b")), Atom("closed", ("?b", "?a"))))
    assert contradictions(problem("(open x y)", "(closed x y)"), [rule]) == ()
    (result,) = contradictions(problem("(open x y)", "(closed y x)"), [rule])
    assert str(result) == "(open x y) and (closed y x): a door is open or closed"


def test_a_variable_that_stands_twice_is_one_value() -> None:
    rule = Invariant("nothing leads to itself", once=Atom("connected", ("?a", "?a", "*")))
    assert contradictions(problem("(connected x x n)", "(connected x y n)"), [rule]) == ()
    assert len(contradictions(problem("(connected x x n)", "(connected x x s)"), [rule])) == 1


@pytest.mark.parametrize(
    ("once", "never", "says"),
    [
        ("", (), "give either"),
        ("(at *)", ("(at ?x)", "(visited ?x)"), "give either"),
        ("", ("(at ?x)",), "two facts"),
        ("(at)", (), "not a fact of the domain"),
        ("(flies ?x)", (), "not a fact of the domain"),
        ("at ?x", (), "not a fact of the domain"),
        ("((", (), "not a fact of the domain"),
    ],
)
def test_what_is_no_invariant(coin: GameSetting, once: str, never: tuple[str, ...], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse_invariant(coin.start.domain, "trial", once, never)


GRID = {
    "north": (0, -1),
    "south": (0, 1),
    "east": (1, 0),
    "west": (-1, 0),
    "up": (1, -1),
    "down": (-1, 1),
    "northeast": (1, -1),
}


@pytest.mark.parametrize(
    ("pattern", "directions", "says"),
    [
        ("(connected ?a * *)", GRID, "needs a variable for each of two places"),
        ("(connected ?a ?a ?d)", GRID, "needs a variable for each of two places"),
        ("(connected ?a ?b ?d)", {}, r"has the direction \?d, and \[map.directions\] has no opposite"),
        ("(connected ?a ?b ?d)", {"north": (0, -1), "here": (0, 0)}, r"no opposite"),
        ("(connected ?a ?b)", GRID, "not a fact of the domain"),
        ("(leads ?a ?b)", GRID, "not a fact of the domain"),
    ],
)
def test_ways_that_cannot_lead_back(
    coin: GameSetting, pattern: str, directions: dict[str, tuple[int, int]], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        parse_invariant(coin.start.domain, "trial", both_ways=pattern, directions=directions)
    with pytest.raises(ValueError, match="give either"):
        parse_invariant(coin.start.domain, "trial", "(at *)", both_ways="(connected ?a ?b ?d)", directions=GRID)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ("(connected a b north) (connected b a south)", []),
        ("(connected a b north)", ["(connected a b north): back; add (connected b a south)"]),
        (
            "(connected a b north) (connected b a east)",
            ["(connected a b north) and (connected b a east): back, in the opposite direction; correct one"],
        ),
        ("(connected a b up) (connected b a down) (connected c b northeast) (connected b c down)", []),
        ("(connected a a north) (connected a b inside)", []),
        (
            "(connected a b north) (connected b a south) (connected a b up)",
            ["(connected a b up): back; add (connected b a down)"],
        ),
    ],
    ids=["right", "no way back", "not opposite", "two names of a direction", "no opposite", "two exits to a room"],
)
def test_a_way_back_is_missing_or_not_opposite(facts: str, expected: list[str]) -> None:
    rule = Invariant("back", both_ways=Atom("connected", ("?a", "?b", "?d")), directions=GRID)
    assert [str(violation) for violation in one_way(problem(facts), [rule])] == expected
    assert contradictions(problem(facts), [rule]) == ()


def test_a_door_without_a_direction_leads_back() -> None:
    rule = Invariant("back", both_ways=Atom("door", ("*", "?a", "?b")))
    assert list(one_way(problem("(door gate x y) (door gate y x)"), [rule])) == []
    (violation,) = one_way(problem("(door gate x y)"), [rule])
    assert violation.missing == Atom("door", ("gate", "y", "x"))


ROOMS = st.sampled_from("abc")


@given(st.sets(st.tuples(ROOMS, ROOMS, st.sampled_from("ns")), max_size=8))
def test_a_contradiction_is_named_once_for_each_exit(ways: set[tuple[str, str, str]]) -> None:
    rule = Invariant("one room", once=Atom("connected", ("?a", "*", "?d")))
    result = contradictions(Problem("p", "d", frozenset(), frozenset(Atom("connected", way) for way in ways)), [rule])
    exits = [(start, way) for start, _, way in ways]
    assert len(result) == len({way for way in exits if exits.count(way) > 1})


OBJECTS = ["kitchen - location", "attic - location", "loc1 - location"]
FACTS = ["(at kitchen)", "(visited kitchen)", "(at attic)", "(visited attic)", "(connected kitchen loc1 east)"]
TWO_PLACES = json.dumps({"objects": {"add": OBJECTS}, "init": {"add": FACTS}})
BOTH = "(at attic) and (at kitchen): the agent is in one place"


def test_a_contradiction_goes_back_with_both_facts(coin: GameSetting, planner: ProcessPlanner) -> None:
    model = ForgetfulModel([TWO_PLACES])
    events = play(coin, planner, small_house(), model)
    rejected = of(events, ev.Rejected)[0]
    assert (rejected.feedback.category, rejected.feedback.evidence, rejected.kinds) == (
        "contradiction",
        (BOTH,),
        ("contradiction",),
    )
    assert BOTH in model.requests[1].messages[-1].content
    assert not any("(at attic)" in item.text for item in of(events, ev.Accepted))
    assert ended(events).usage.refused == 0


def test_it_is_planned_with_when_the_retries_are_spent(coin: GameSetting, planner: ProcessPlanner) -> None:
    model = ForgetfulModel([TWO_PLACES] * 3)
    events = play(coin, planner, small_house(), model, retries=2)
    assert len(of(events, ev.Rejected)) == 2
    first = of(events, ev.Accepted)[0]
    assert first.kinds == ("one way", "contradiction")
    assert "contradicts itself" in model.requests[3].messages[-1].content


def test_what_was_known_to_contradict_itself_is_not_rejected_again(coin: GameSetting, planner: ProcessPlanner) -> None:
    model = ForgetfulModel([TWO_PLACES, "{}"])
    events = play(coin, planner, small_house(), model, retries=0)
    assert not [item for item in of(events, ev.Rejected) if item.feedback.category == "contradiction"]


def test_a_placeholder_that_is_used_for_two_doors(coin: GameSetting) -> None:
    facts = "(connected kitchen loc2 south)", "(connected corridor loc2 east)", "(connected loc2 kitchen north)"
    (result,) = contradictions(problem(*facts), coin.start.invariants)
    assert str(result).startswith("(connected corridor loc2 east) and (connected kitchen loc2 south):")
    assert "a number that is not in use" in str(result)
    assert contradictions(problem(*facts, "(visited loc2)"), coin.start.invariants) == ()
    named = (fact.replace("loc2", "pantry") for fact in facts)
    assert contradictions(problem(*named), coin.start.invariants) == ()


@pytest.mark.parametrize(
    ("names", "unless", "says"),
    [("(", "", "regular expression"), ("", "(visited ?y)", "names a variable"), ("", "(flies ?x)", "not a fact")],
)
def test_exceptions_that_are_none(coin: GameSetting, names: str, unless: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse_invariant(coin.start.domain, "trial", "(connected * ?x *)", (), names, unless)
    with pytest.raises(ValueError, match="belong to `once`"):
        parse_invariant(coin.start.domain, "trial", "", ("(at ?x)", "(visited ?x)"), "loc")


WALK = """(define (domain walk) (:types robot box place)
  (:predicates {0} (in ?b - box ?p - place) (has ?b - box) (path ?p ?q - place) (token ?p - place))
  (:action move :parameters (?r - robot ?p ?q - place) :precondition (and {1} (path ?p ?q))
    :effect (and (not {1}) {2}))
  (:action slide :parameters (?p ?q - place) :precondition (and (token ?p) (path ?p ?q))
    :effect (and (not (token ?p)) (token ?q)))
  (:action pick :parameters (?r - robot ?b - box ?p - place) :precondition (and {1} (in ?b ?p))
    :effect (and (has ?b) (not (in ?b ?p)))))"""
NAMED = WALK.format("(at ?r - robot ?p - place)", "(at ?r ?p)", "(at ?r ?q)")
UNNAMED = WALK.format("(at ?p - place)", "(at ?p)", "(at ?q)")
CROWDED = {
    ("(at r1 p) (at r1 q)", NAMED): ["(at r1 p) and (at r1 q) usually exclude each other for r1"],
    ("(at r1 p) (at r2 p) (at r2 q)", NAMED): ["(at r2 p) and (at r2 q) usually exclude each other for r2"],
    ("(at p) (at q)", UNNAMED): ["(at p) and (at q) usually exclude each other"],
    ("(at r1 p) (at r2 p)", NAMED): [],
    ("(at r1 p) (token p) (token q)", NAMED): [],
    ("(at p) (path q p)", UNNAMED): [],
}


@pytest.mark.parametrize(("facts", "domain"), CROWDED)
def test_an_object_in_two_places_breaks_an_invariant(facts: str, domain: str) -> None:
    problem = f"""(define (problem one) (:domain walk) (:objects r1 r2 - robot b c - box p q - place)
      (:init {facts} (in b p) (in c p) (path p q)) (:goal (has b)))"""
    warnings = broken_invariants(parse_domain(domain), parse_problem(problem))
    assert [str(defect).partition(": ")[0] for defect in warnings] == CROWDED[facts, domain]
