"""Facts of a small house, compared with what the game has said of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.methods.textgames.events import FactsChecked
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.truth.judge import Judge, align, image
from pddlego.pddl import Atom, Problem, TypedName, parse_problem
from pddlego.pddl.conditions import Renaming
from pddlego.pddl.problem import rename

COIN = load("coin")
HOUSE = """
(at kitchen) (visited kitchen)
(connected kitchen loc1 north) (connected loc1 kitchen south) (closed_door kitchen loc1)
(connected kitchen pantry east) (connected pantry kitchen west)
"""


def problem(facts: str, rooms: str = "kitchen pantry loc1") -> Problem:
    return parse_problem(
        f"(define (problem p) (:domain d) (:objects {rooms} - location) (:init {facts}) (:goal (and)))"
    )


def judged(claimed: Problem, true: str = HOUSE, past: str = "", rooms: str = "kitchen pantry loc1") -> FactsChecked:
    judge = Judge(COIN.claims, "loc")
    if past:
        judge.reference_changed(problem(past), ())
    reference = problem(true, rooms)
    judge.reference_changed(reference, ())
    return judge.judge(claimed, COIN.start.with_problem(reference), (), 3)


def errors(checked: FactsChecked) -> list[str]:
    return [f"{error.verdict} {error.fact}" for error in checked.errors]


def test_a_room_that_was_not_seen_may_have_any_name() -> None:
    checked = judged(problem(HOUSE.replace("loc1", "unknown_1"), "kitchen pantry unknown_1"))
    assert (errors(checked), sum(checked.right.values()), checked.new) == ([], 7, ())


def test_numbers_of_rooms_may_be_exchanged() -> None:
    true = HOUSE + "(connected kitchen loc2 south) (connected loc2 kitchen north) (closed_door kitchen loc2)"
    swapped = true.replace("loc1", "loc9").replace("loc2", "loc1").replace("loc9", "loc2")
    rooms = "kitchen pantry loc1 loc2"
    assert errors(judged(problem(swapped, rooms), true, rooms=rooms)) == []


def test_what_is_wrong_stale_or_missing() -> None:
    now = HOUSE.replace("(at kitchen)", "(at pantry) (visited pantry)").replace("(closed_door kitchen loc1)", "")
    claimed = now.replace("(at pantry)", "(at pantry) (at kitchen)").replace("(connected pantry kitchen west)", "")
    claimed += "(closed_door loc1 kitchen) (connected pantry kitchen south)"
    assert set(errors(judged(problem(claimed), now, past=HOUSE))) == {
        "stale (at kitchen)",
        "stale (closed_door loc1 kitchen)",
        "missing (connected pantry kitchen west)",
        "wrong (connected pantry kitchen south)",
    }


def test_what_cannot_be_known_is_not_judged() -> None:
    checked = judged(problem(HOUSE + "(item_at coin pantry)"))
    assert (errors(checked), checked.unknown) == ([], ("(item_at coin pantry)",))
    assert errors(judged(problem(HOUSE + "(item_at coin kitchen)"))) == ["wrong (item_at coin kitchen)"]


def test_a_closed_door_is_one_fact_for_both_ways() -> None:
    assert errors(judged(problem(HOUSE.replace("(closed_door kitchen loc1)", "(closed_door loc1 kitchen)")))) == []


def test_an_own_name_for_what_is_behind_a_closed_door() -> None:
    """The reference has concluded that the pantry is behind the door; the model has not, and is not wrong."""
    concluded = HOUSE.replace("loc1", "pantry").replace("(connected kitchen pantry east)", "")
    concluded = concluded.replace("(connected pantry kitchen west)", "") + "(connected pantry bath west)"
    claimed = problem(concluded + "", "kitchen pantry bath")
    doubled = concluded.replace("(connected kitchen pantry north)", "(connected kitchen loc7 north)")
    doubled = doubled.replace("(connected pantry kitchen south)", "(connected loc7 kitchen south)")
    doubled = doubled.replace("(closed_door kitchen pantry)", "(closed_door kitchen loc7)")
    judge = Judge(COIN.claims, "loc")
    known = COIN.start.with_problem(claimed)
    judge.reference_changed(claimed, ())
    checked = judge.judge(problem(doubled, "kitchen pantry bath loc7"), known, (), 1)
    assert errors(checked) == []


def test_how_long_an_error_is_there() -> None:
    judge = Judge(COIN.claims, "loc")
    known = COIN.start.with_problem(problem(HOUSE))
    judge.reference_changed(known.problem, ())
    wrong = problem(HOUSE + "(item_at coin kitchen)")
    assert judge.judge(wrong, known, (), 1).errors[0].since == 1
    assert judge.judge(wrong, known, (), 4).errors[0].since == 1
    assert judge.judge(problem(HOUSE), known, (), 5).errors == ()
    assert judge.judge(wrong, known, (), 6, rejected=True).errors[0].since == 6
    assert judge.judge(wrong, known, (), 7).errors[0].since == 7, "the rejected one is forgotten"


def test_objects_that_the_problem_does_not_declare() -> None:
    checked = judged(problem("(at kitchen) (visited kitchen)", "kitchen"))
    assert checked.new == ("loc1 - location", "pantry - location")
    assert {error.verdict for error in checked.errors} == {"missing"}


FACTS = st.frozensets(
    st.builds(
        lambda p, args: Atom(p, tuple(args)),
        st.sampled_from(["p", "q"]),
        st.permutations("abcdef").map(lambda o: o[:2]),
    ),
    max_size=12,
)


@given(FACTS, st.permutations("abcdef"))
def test_a_renamed_problem_agrees_where_names_do_not_count(facts: frozenset[Atom], names: list[str]) -> None:
    """Two copies of one problem under other names have at least as many facts in common as with names alone."""
    true = Problem("p", "d", frozenset(TypedName(name, "t") for name in "abcdef"), facts)
    renaming = Renaming({old: f"x{new}" for old, new in zip("abcdef", names, strict=True)})
    claimed = rename(true, renaming)
    mapping = align(claimed, true, (), made_up=lambda name: True, before={})
    assert len(set(mapping.values())) == len(mapping), "one to one"
    agreeing = sum(image(fact, mapping) in true.facts for fact in claimed.facts)
    assert agreeing >= len(facts) * 0.5


@pytest.mark.parametrize("game", ["coin", "cooking-easy", "twc", "mapreader", "paper-coin"])
def test_claims_are_about_predicates_of_the_domain(game: str) -> None:
    setting = load(game)
    assert setting.claims
    assert set(setting.claims) <= set(setting.start.domain.predicates_by_name)
    assert replace(setting, claims={}).claims == {}


def test_a_door_that_is_stated_both_ways_counts_once() -> None:
    checked = judged(problem(HOUSE + "(closed_door loc1 kitchen)"))
    assert checked.right["closed_door"] == 1


def test_a_name_of_the_model_is_not_that_of_the_reference() -> None:
    """The model's `loc1` has no counterpart, and does not borrow the facts of the reference's `loc1`."""
    claimed = HOUSE.replace("loc1", "annex") + "(connected kitchen loc1 north)"
    assert errors(judged(problem(claimed, "kitchen pantry annex loc1"))) == []
    assert "wrong (connected kitchen loc1 west)" in errors(
        judged(problem(HOUSE.replace("loc1", "annex") + "(connected kitchen loc1 west)", "kitchen pantry annex loc1"))
    )


def test_a_renamed_object_keeps_the_age_of_its_error() -> None:
    judge = Judge(COIN.claims, "loc")
    known = COIN.start.with_problem(problem(HOUSE))
    judge.reference_changed(known.problem, ())
    wrong = HOUSE + "(connected kitchen {0} south) (connected {0} kitchen north)"
    first = judge.judge(problem(wrong.format("attic"), "kitchen pantry loc1 attic"), known, (), 2)
    renamed = problem(wrong.format("cellar"), "kitchen pantry loc1 cellar")
    second = judge.judge(renamed, known, (("attic", "cellar"),), 6)
    assert {error.since for error in (*first.errors, *second.errors)} == {2}
