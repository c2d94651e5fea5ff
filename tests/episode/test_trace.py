"""What a trace says about the requests of an episode."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import pddlego
from pddlego.episode.events import Accepted, Answered, Asked, Event, Judged, Rejected
from pddlego.methods.textgames.events import Observed, Planned
from pddlego.models import Completion
from pddlego.models.base import Feedback
from tests.traces import trace_of

START = Observed(0, None, "a kitchen", "a kitchen")
MOVED = Observed(1, "move", "a hall", "a hall")
REFUSED = Observed(1, "move", "the door is closed", "the door is closed", refused=True)
NO = Rejected(0, Feedback("defects", "it has a defect"))
DOMAIN, PROBLEM = Accepted("domain", "(define)"), Accepted("problem", "(define)")
PLANNED = Accepted("problem", "(define)", source="plan")
REPLACED = Judged("edits", "replaced", "(define)")


def asked(number: int, purpose: str = "edit", attempt: int = 0) -> Iterator[Event]:
    yield Asked(number, purpose, attempt, (), 0)
    yield Answered(number, Completion(f"answer {number}"))


@pytest.mark.parametrize(
    ("events", "verdicts", "accepted"),
    [
        ((*asked(1), NO, *asked(2, attempt=1), PROBLEM), (NO, PROBLEM), (False, True)),
        ((*asked(1), *asked(2), *asked(3), NO, *asked(4, attempt=1)), (NO, NO, NO, None), (False, False, False, None)),
        ((*asked(1), *asked(2, "goal"), PROBLEM), (None, PROBLEM), (None, True)),
        ((*asked(1), DOMAIN, PROBLEM, MOVED), (PROBLEM,), (True,)),
        ((*asked(1), PROBLEM, MOVED, PLANNED, NO), (PROBLEM,), (True,)),
        ((*asked(1, "act"), MOVED, *asked(2, "act"), REFUSED), (MOVED, REFUSED), (True, False)),
        ((*asked(1), Planned((), None, ()), NO), (NO,), (False,)),
        ((*asked(1), MOVED, NO), (NO,), (False,)),
        ((*asked(1), REPLACED, PROBLEM), (PROBLEM,), (None,)),
        ((*asked(1), REPLACED, NO), (NO,), (None,)),
        ((*asked(1), PROBLEM, REPLACED), (PROBLEM,), (True,)),
        ((NO, PROBLEM, Asked(1, "edit", 0, (), 0)), (), ()),
    ],
)
def test_what_became_of_each_answer(
    events: tuple[Event, ...], verdicts: tuple[Event | None, ...], accepted: tuple[bool | None, ...]
) -> None:
    trace = trace_of((START, *events))
    assert all(call.verdict is verdict for call, verdict in zip(trace.calls, verdicts, strict=True))
    assert tuple(call.accepted for call in trace.calls) == accepted
    assert [call.completion.text for call in trace.calls] == [f"answer {number + 1}" for number in range(len(verdicts))]
    for end in range(len(trace)):  # a part knows no verdict that follows it
        part = trace.until(end)
        assert len(part.calls) == len(part.all(Answered))
        assert all(call.verdict is None or call.verdict in part.events for call in part.calls)


def test_calls_belong_to_the_step_that_they_were_answered_in() -> None:
    trace = trace_of((START, *asked(1), NO, *asked(2, attempt=1), PROBLEM, MOVED, *asked(3), PROBLEM))
    assert [[call.number for call in step.calls] for step in trace.steps] == [[1, 2], [3]]


def test_one_module_finds_out_what_became_of_an_answer() -> None:
    """Others ask `Trace.calls`: none reads both the answers and what followed them, but those that show every event."""
    package = Path(pddlego.__file__).parent
    both = set()
    for path in package.rglob("*.py"):
        names = {node.id for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Name)}
        if "Answered" in names and names & {"Accepted", "Rejected"}:
            both.add(path.relative_to(package).as_posix())
    shown = {"display/description.py", "display/steps.py", "methods/textgames/screen/view.py"}
    assert both - shown == {"episode/events.py", "episode/trace.py"}
