"""Success at the first attempt: of an episode, and of its questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from pddlego.episode.events import Accepted, Answered, Asked, Ended, Event, Limits, Outcome, Rejected, Started
from pddlego.methods.textgames.events import Observed, Planned, PlannedStep
from pddlego.methods.textgames.measure import WITHOUT_NEWS, measure
from pddlego.models.base import Completion, Feedback
from tests.traces import trace_of

ACCEPTED, EXPECTED = Accepted("problem", "p"), Accepted("problem", "p", source="plan")
DOMAIN = Accepted("domain", "d")
REJECTED = Rejected(0, Feedback("defects", "no"))
DONE, REFUSED = Observed(1, "move", "b", "b"), Observed(2, "move", "b", "b", refused=True)
WON, LOST = Ended(Outcome.WON, "", 1.0), Ended(Outcome.NO_PLAN, "", 0.0)


def started(mode: str) -> Started:
    return Started("coin", "Coin", mode, "m", 1, "", Limits(50), "textgames")


def with_answers(events: Sequence[Event]) -> Iterator[Event]:
    """The events, with a request and its answer before each verdict on one."""
    for number, event in enumerate(events):
        if isinstance(event, (Accepted, Rejected)) and event is not EXPECTED and DOMAIN not in events[:number][-1:]:
            yield Asked(number, "edit", 0, (), 0)
            yield Answered(number, Completion(""))
        yield replace(event)  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("events", "first_try", "share"),
    [
        ([DOMAIN, ACCEPTED, DONE, EXPECTED, DONE, ACCEPTED, DONE, WON], 1, 1.0),
        ([ACCEPTED, DONE, LOST], 0, 1.0),
        ([ACCEPTED, DONE, REJECTED, REJECTED, ACCEPTED, DONE, WON], 0, 0.5),
        ([ACCEPTED, REFUSED, ACCEPTED, DONE, WON], 0, 0.5),
        ([REJECTED, ACCEPTED, REFUSED, ACCEPTED, DONE, ACCEPTED, WON], 0, 2 / 3),
        ([REJECTED, REJECTED, LOST], 0, 0.0),
    ],
)
def test_first_answers_are_accepted_and_no_command_is_refused(
    events: list[Event], first_try: int, share: float
) -> None:
    numbers = measure(trace_of([started("full-no-hint"), *with_answers(events)])).numbers
    assert (numbers["first_try"], numbers["first_answers"]) == (first_try, share)


@pytest.mark.parametrize(
    ("mode", "events"), [("act", [*with_answers([REJECTED]), DONE, WON]), ("edit", [WON]), ("edit", [ACCEPTED, WON])]
)
def test_without_plans_or_answers_nothing_is_said_of_them(mode: str, events: list[Event]) -> None:
    assert not {"first_try", "first_answers"} & set(measure(trace_of([started(mode), *events])).numbers)


TAKE, GO = PlannedStep("(take lamp hall)", "take lamp", ("(have lamp)",)), PlannedStep("(go hall)", "go hall")
PLAN = Planned((), "have", (GO, TAKE))
WENT, TOOK = Observed(1, "go hall", "", ""), Observed(2, "take Lamp", "", "")
SAME = Accepted("problem", "p", ("(have lamp)",))


@pytest.mark.parametrize(
    ("events", "without_news"),
    [
        ([ACCEPTED, PLAN, WENT, TOOK, SAME, WON], {"take": 1}),
        ([ACCEPTED, PLAN, WENT, TOOK, ACCEPTED, WON], {"take": 1}),
        ([ACCEPTED, PLAN, WENT, ACCEPTED, WON], {"go": 1}),
        ([ACCEPTED, PLAN, WENT, TOOK, EXPECTED, WON], {}),
        ([ACCEPTED, PLAN, WENT, SAME, WON], {}),
        ([ACCEPTED, PLAN, WENT, TOOK, replace(SAME, renamed=(("a", "b"),)), WON], {}),
        ([ACCEPTED, PLAN, WENT, TOOK, replace(SAME, added=("(have lamp)", "(at sea)")), WON], {}),
        ([ACCEPTED, PLAN, WENT, replace(TOOK, refused=True), ACCEPTED, WON], {}),
        ([ACCEPTED, PLAN, WENT, replace(TOOK, mismatch="otherwise"), ACCEPTED, WON], {}),
        ([ACCEPTED, PLAN, Observed(1, "look", "", ""), ACCEPTED, WON], {}),
        ([ACCEPTED, PLAN, WENT, TOOK, DOMAIN, SAME, WON], {}),
        ([ACCEPTED, WON], {}),
    ],
)
def test_a_request_is_without_news_if_its_answer_says_what_the_plan_had_predicted(
    events: list[Event], without_news: dict[str, int]
) -> None:
    measures = measure(trace_of([started("edit"), *with_answers(events)]))
    assert measures.counts[WITHOUT_NEWS] == without_news
    assert measures.numbers.get("without_news", 0) == sum(without_news.values())


@pytest.mark.parametrize(("mode", "is_error"), [("act", True), ("act-no-check", True), ("edit", False)])
def test_a_command_after_which_the_game_is_lost_is_its_cause(mode: str, is_error: bool) -> None:
    """A model that chooses the command made the error; with a plan, the cause is first looked for in its facts."""
    fatal = Observed(3, "eat black pepper", "It is delicious.", "It is delicious.", lost=True)
    measured = measure(trace_of([started(mode), DONE, REFUSED, fatal, Ended(Outcome.LOST, "it is lost", 0.0)]))
    assert str(measured.ending) == "'eat black pepper' lost the game after step 3"
    kinds = {error.kind: error.fatal for error in measured.errors}
    assert kinds == ({"fatal command": True, "refused commands": False} if is_error else {})


NOTHING = Observed(3, "", "Unknown action", "Unknown action")
THEN = replace(DONE, continues=True)
LIMIT = Ended(Outcome.STEP_LIMIT, "", 0.0)


@pytest.mark.parametrize(
    ("commands", "errors"),
    [
        ([NOTHING] * 4, {"answers without a command": "4 of 4 answers without a command"}),
        ([replace(NOTHING, refused=True)] * 4, {"answers without a command": "4 of 4 answers without a command"}),
        ([NOTHING, REFUSED, NOTHING, DONE], {"answers without a command": "2 of 4 answers without a command"}),
        ([NOTHING, NOTHING, DONE, THEN], {"answers without a command": "2 of 3 answers without a command"}),
        ([NOTHING, REFUSED, DONE], {"refused commands": "1 of 3 commands refused"}),
        ([REFUSED, REFUSED], {"refused commands": "2 of 2 commands refused"}),
        ([DONE, NOTHING, DONE, DONE, DONE], {"the same command": "'move' 4 of 5 times"}),
    ],
)
def test_an_answer_without_a_command_is_not_a_refused_command(commands: list[Observed], errors: dict[str, str]) -> None:
    measured = measure(trace_of([started("act-no-check"), *commands, LIMIT]))
    assert {error.kind: error.text for error in measured.errors} == errors
