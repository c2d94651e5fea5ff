"""Timed plans are read, printed and measured exactly."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.pddl import PddlSyntaxError
from pddlego.planning import Plan, PlanStep
from pddlego.planning import timed_plan as module
from pddlego.planning.result import TimedStep
from pddlego.planning.timed_plan import read_timed_plan
from tests.growth import is_linear
from tests.shared import SHARED

NAMES = st.from_regex(r"[a-z][a-z0-9_-]{0,8}", fullmatch=True)
NUMBERS = st.decimals(min_value=0, max_value=10**9, places=4, allow_nan=False, allow_infinity=False)
STEPS = st.builds(
    TimedStep,
    NUMBERS,
    st.builds(PlanStep, NAMES, st.lists(NAMES, max_size=3).map(tuple)),
    st.none() | NUMBERS,
)


@given(st.lists(STEPS, max_size=8))
def test_a_printed_plan_is_read_as_an_equal_plan(steps: list[TimedStep]) -> None:
    plan = Plan.of(steps)
    assert read_timed_plan(str(plan)) == plan
    assert list(plan.times) == sorted(plan.times)


@given(st.text(alphabet="0123456789.:()[]de;-+ab \n\t", max_size=200) | st.text(max_size=100))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        plan = read_timed_plan(text)
    except PddlSyntaxError as error:
        assert all(defect.place is not None for defect in error.defects)
    else:
        assert read_timed_plan(str(plan)) == plan


def test_what_planners_write_is_read() -> None:
    plan = read_timed_plan(
        "; Time 0.05\r\n2.0: (MOVE  a b) [D:1.50; C:0.1] ; second\n\n.5:(load a)\n 0 : ( noop ) [ 1e1 ]\n"
    )
    assert str(plan) == "0: (noop) [10]\n0.5: (load a)\n2.0: (move a b) [1.50]"
    assert plan.durations == (Decimal(10), None, Decimal("1.5"))
    assert plan.makespan == 10


def test_names_of_objects_are_as_in_the_problem() -> None:
    assert read_timed_plan("1: (go 2f a.b x@1)").steps == (PlanStep("go", ("2f", "a.b", "x@1")),)


def test_the_makespan_is_exact() -> None:
    plan = read_timed_plan("0.1: (a) [0.2]\n0: (b) [0.3]")
    assert plan.makespan == Fraction(3, 10)
    long = "0." + "0" * 60 + "1"
    assert read_timed_plan(f"1: (a) [{long}]").makespan == 1 + Fraction(long)
    assert read_timed_plan("").makespan == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0: (a) [1]\n(go x)", "line 2, '(go x)', is not a timed step: write TIME: (action object …) [DURATION]"),
        ("0: go x", "is not a timed step"),
        ("0: (go x) [five]", "is not a timed step"),
        ("0: (go x) [5.5.5]", "is not a timed step"),
        ("-1: (go x)", "has a negative time or duration"),
        ("1: (go x) [-2]", "has a negative time or duration"),
        ("1: ()", "does not name an action"),
        ("1: (5 go)", "does not name an action"),
        (f"{'1' * 200}: (go)", "has a number of more than 100 characters"),
        (f"1: (go) [{'1' * 200}]", "has a number of more than 100 characters"),
        ("1e400: (go)", "is not a timed step"),
    ],
)
def test_what_is_not_a_timed_plan_is_refused(text: str, message: str) -> None:
    with pytest.raises(PddlSyntaxError) as caught:
        read_timed_plan(text)
    assert message in str(caught.value)


def test_the_numbers_of_faults_and_steps_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PddlSyntaxError) as caught:
        read_timed_plan("what\n" * 10_000)
    assert len(caught.value.defects) == 20
    monkeypatch.setattr(module, "MOST_STEPS", 3)
    assert len(read_timed_plan("0: (a)\n" * 3)) == 3
    with pytest.raises(PddlSyntaxError, match="more than 3 steps"):
        read_timed_plan("0: (a)\n" * 4)


@pytest.mark.shared("cases/levels")
def test_the_plans_of_the_temporal_cases_are_read() -> None:
    files = sorted((SHARED / "cases" / "levels").glob("t*/*.plan"))
    plans = [read_timed_plan(file.read_text(encoding="utf-8")) for file in files]
    assert len(plans) > 20
    assert all(read_timed_plan(str(plan)) == plan for plan in plans)


@pytest.mark.parametrize("line", ["0: (go{})", "0: (go){}x", "{}0: (go)", "0: (go) [1{}", "0: (go) [{}", "{}:"])
@pytest.mark.parametrize("filler", [" ", "5", "[", "(", ";"])
def test_long_lines_are_read_in_linear_time(line: str, filler: str) -> None:
    def work(size: int) -> None:
        with suppress(PddlSyntaxError):
            read_timed_plan(line.format(filler * size))

    assert is_linear(lambda: work(20_000), lambda: work(200_000), 10)
