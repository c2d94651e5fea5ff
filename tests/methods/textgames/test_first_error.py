"""The error that ended an episode: the first one without which the episode would have gone on."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pddlego.episode.events import Ended, Outcome, Rejected, Usage
from pddlego.episode.trace import Trace
from pddlego.methods.textgames.events import FactError, FactsChecked, Observed
from pddlego.methods.textgames.first_error import lasting_errors
from pddlego.methods.textgames.memory import NO_PLAN
from pddlego.models.base import CUT_OFF, Feedback
from pddlego.planning import PlanStatus

OLD, OTHER = FactError("wrong", "(at hall)", 1), FactError("missing", "(closed_door hall attic)", 2)
NEW = FactError("wrong", "(connected hall loc1 north)", 4)
READ = sorted({category for category, _ in NO_PLAN.values()} - {NO_PLAN[PlanStatus.INVALID][0]})
UNREAD = ("invalid answer", CUT_OFF, "defects", "refused lines", NO_PLAN[PlanStatus.INVALID][0])

Answer = tuple[str, tuple[FactError, ...]]
"""A rejected answer: the category of its rejection, and the errors in what could be read of it."""


def causes(accepted: tuple[FactError, ...], answers: Sequence[Answer], *parts: str) -> list[tuple[str, bool]]:
    """The errors of an episode that ended with these rejected answers, and whether each is fatal."""
    trace = Trace()
    trace.add(FactsChecked({}, accepted), 0.0)
    trace.add(Observed(4, "move north", "", ""), 0.0)
    for attempt, (category, errors) in enumerate(answers):
        trace.add(Rejected(attempt, Feedback(category, f"message {attempt}", parts=parts)), 0.0)
        trace.add(FactsChecked({}, (*accepted, *errors), rejected=True), 0.0)
    trace.add(Ended(Outcome.NO_PLAN, "", 0.0, Usage(steps=4)), 0.0)
    return [(str(error.summary), error.fatal) for error in lasting_errors(trace)]


@pytest.mark.parametrize("category", READ)
def test_no_plan_for_a_problem_that_was_read_follows_from_its_older_error(category: str) -> None:
    assert causes((OLD, OTHER), [(category, ())]) == [(f"{OLD} after step 1", False), (f"{OTHER} after step 2", False)]
    assert causes((), [(category, (NEW,))]) == [(f"{NEW} in a rejected answer after step 4", False)]


@pytest.mark.parametrize("category", UNREAD)
@pytest.mark.parametrize("read", READ)
def test_an_older_error_comes_first_if_one_of_the_last_answers_failed_because_of_it(read: str, category: str) -> None:
    """Without the error, that answer would have been accepted, and none requested after it."""
    before = (f"{OLD} after step 1", False)
    assert causes((OLD,), [(read, ()), (category, ())]) == [before]
    assert causes((OLD,), [(category, ()), (read, ()), (category, ())]) == [before]
    assert causes((OLD,), [(category, ()), (read, ())]) == [before]


@pytest.mark.parametrize("category", UNREAD)
def test_answers_that_could_not_be_read_end_an_episode_whatever_was_wrong_before(category: str) -> None:
    unusable = (f"unusable answer ({category}) after step 4", True)
    assert causes((OLD,), [(category, ()), (category, ())]) == [unusable, (f"{OLD} after step 1", False)]
    assert causes((), [(READ[0], ()), (category, ())]) == [unusable], "no older error explains that no plan was found"


@pytest.mark.parametrize("category", ["defects", "refused lines"])
def test_a_wrong_fact_in_an_unusable_answer_is_the_cause_only_if_the_rejection_is_about_it(category: str) -> None:
    named = (f"{NEW} in a rejected answer after step 4", True)
    for part in (NEW.fact, "loc1", "loc1 - location"):
        assert causes((), [(category, (NEW,))], part) == [named]
    for part in ("", "(connected attic hall south)"):
        assert causes((), [(category, (NEW,))], part) == [(f"unusable answer ({category}) after step 4", True)]
