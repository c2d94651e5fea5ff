"""Plans in the answers of models."""

from __future__ import annotations

import time

import pytest

from pddlego.pddl import PddlSyntaxError
from pddlego.planning.validate import plan_in

PLAN = "(pick ball1 rooma)\n(move rooma roomb)"


@pytest.mark.parametrize(
    "answer",
    [
        PLAN,
        f"```\n{PLAN}\n```",
        f"```pddl\n{PLAN}",
        f"Here is a plan:\n```pddl\n{PLAN}\n```\nIt moves the ball (there is one).",
        f"```\n(:init (at ball1 rooma))\n```\nThe plan:\n```\n{PLAN}\n```",
        f"<think>(drop everything)</think>\n{PLAN}",
        "1. (PICK ball1 rooma)\n2. (move rooma roomb) ; to the other room\n\nDone.",
        "- (pick ball1 rooma)\n- (move rooma roomb)",
        "0: (pick ball1 rooma)\n1: (move rooma roomb)",
        "0.000: (pick ball1 rooma) [1.0]\n1.000: (move rooma roomb) [1.0]",
    ],
)
def test_the_plan_of_an_answer_is_read(answer: str) -> None:
    assert str(plan_in(answer)) == PLAN


@pytest.mark.parametrize("answer", ["", "There is no plan.", "```\n```"])
def test_an_answer_without_actions_is_an_empty_plan(answer: str) -> None:
    assert not plan_in(answer).steps


@pytest.mark.parametrize("answer", ["(pick ball1 rooma", "(pick ball1) then (move)", "(and (pick ball1))"])
def test_a_line_that_is_not_an_action_is_a_fault(answer: str) -> None:
    with pytest.raises(PddlSyntaxError, match="is not an action"):
        plan_in(answer)


@pytest.mark.slow
@pytest.mark.parametrize("worst", ["(", "(a", "(a ", " ", "1", "1.", "-", "`", "```", "```\n", "(a)\n", "<think>"])
def test_long_answers_are_read_in_linear_time(worst: str) -> None:
    """200,000 characters are what an answer may have."""
    answer = (worst * 200_000)[:200_000]
    began = time.process_time()
    for text in (answer, f"({answer}", f"(a {answer})", f"1{answer}"):
        try:
            plan_in(text)
        except PddlSyntaxError:
            continue
    assert time.process_time() - began < 10.0
