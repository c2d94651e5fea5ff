"""What the panes, tabs and questions of a text game show. The panes are fixed by the snapshots of whole screens."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace

import pytest
from rich.text import Text

from pddlego.display.console import UNICODE
from pddlego.display.lines import event_lines
from pddlego.display.person import question_panel
from pddlego.display.rows import wrapped
from pddlego.display.screens import Canvas, title_line, usage_line
from pddlego.display.steps import answer_lines
from pddlego.episode import events as ev
from pddlego.episode.approval import Question
from pddlego.episode.events import Event, Outcome
from pddlego.methods.textgames import screen as panes
from pddlego.methods.textgames.agent import plan_question
from pddlego.methods.textgames.events import Resumed
from pddlego.methods.textgames.screen.view import GameView
from tests.conftest import check_snapshot
from tests.display.rendering import SCREEN, drawn, rendered, shown

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

WIDTHS = {80: 24, 200: 50}


EDIT = Question(
    "edits",
    "a change of the problem",
    "(define …)",
    changes=True,
    added=("(at cellar)",),
    removed=("(at garden)",),
    renamed=(("kitchen", "cellar"),),
)
PLAN = plan_question(("open door to north", "move north"), "be in a room not yet visited", ())

QUESTIONS = {"edit": EDIT, "plan": PLAN}


def canvas(width: int) -> Canvas:
    return Canvas(width, 24, 1.0, UNICODE)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question(name: str, width: int) -> None:
    height = WIDTHS[width]
    text = drawn(question_panel(QUESTIONS[name], width, UNICODE), width, height)
    assert max(len(line) for line in text.split("\n")) <= width
    assert text.count("\n") < height
    check_snapshot(f"panel-question-{name}-{width}.txt", text)


def test_an_episode_is_cut_at_its_commands(story: list[Event]) -> None:
    trace = shown(story)
    assert [step.number for step in trace.steps] == list(range(9))
    assert [event for step in trace.steps for event in step.events] == story
    assert trace.steps[0].plan
    assert trace.steps[-1].after.ended is not None
    assert trace.step(99) is None


def test_long_lines_are_broken_and_nothing_is_lost() -> None:
    rows = wrapped([Text("abcdefghij"), Text("日本語の長い行")], 4)
    assert [row.plain for row in rows] == ["abcd", "efgh", "ij", "日本", "語の", "長い", "行"]


def test_what_a_person_did_is_shown(story: list[Event]) -> None:
    resumed = Resumed("runs/x/episodes/y.jsonl", 0, "(define", 1, "(define", ("(at moon)",), ())
    judged = ev.Judged("plans", "rejected", "go south")
    step = shown([*story[:2], resumed, judged]).steps[0]
    lines = answer_lines(step, UNICODE)
    text = "\n".join(line.plain for line in lines)
    assert "plans rejected by a person" in text
    assert "go south" in text


EVIL = "\x1b[31mX\x1b]0;pwn\x07\x9b2J"


def test_no_text_of_a_journal_can_steer_the_terminal(story: list[Event]) -> None:
    """Every text of every event is evil, so that no field is forgotten."""

    def evil(value: object) -> object:
        if isinstance(value, str) and not isinstance(value, Outcome):
            return value + EVIL
        if isinstance(value, (tuple, list)):
            return type(value)(evil(item) for item in value)
        if is_dataclass(value) and not isinstance(value, type):
            kept = {"text", "outcome", "kind", "status"}
            names = (field.name for field in fields(value) if field.name not in kept)
            return replace(value, **{name: evil(getattr(value, name)) for name in names})
        return value

    trace = shown([event for event in map(evil, story) if isinstance(event, Event)])
    assert len(trace) == len(story)
    for step in trace.steps:
        for tab in SCREEN.tabs:
            assert not any(CONTROL.search(line.plain) for line in tab.lines(step, UNICODE))
        assert not CONTROL.search(rendered(step.after, 120, 40).replace("\n", ""))
        for event in step.events:
            assert not any(CONTROL.search(line) for line, _ in event_lines(event, step.after, UNICODE))


@pytest.mark.parametrize("rule", [{}, {"here": 3}, {"room": "location", "directions": {"north": "up"}}])
def test_a_map_rule_that_is_none_gives_no_map(story: list[Event], rule: dict[str, object]) -> None:
    started = story[0]
    assert isinstance(started, ev.Started)
    view = GameView(shown([replace(started, details={**started.details, "map": rule}), *story[1:]]))
    assert view.map_rule is None
    assert "no map" in drawn(panes.map_pane(view, UNICODE).draw(80, 24), 80, 24)
    content = panes.map_pane(view, UNICODE).on_page()[1]
    assert (content.parts, content.lines) == ((), ()), "a page leaves out a pane without content"


def test_a_correction_is_shown_as_the_change_that_it_is(story: list[Event]) -> None:
    started = [item for item in story if isinstance(item, ev.Started)]
    resumed = Resumed("y.jsonl", 0, "(define (old))", 1, "(define (new))", ("(at moon)",), ("(at mars)",))
    view = GameView(shown([*started, resumed]))
    assert view.problem == "(define (new))"
    text = drawn(panes.changes_pane(view, UNICODE).draw(80, 10), 80, 10)
    assert "+ (at moon)" in text
    assert "− (at mars)" in text


def test_a_long_name_of_a_model_does_not_hide_the_meter(story: list[Event]) -> None:
    started = story[0]
    assert isinstance(started, ev.Started)
    model = "reader+noise:0.1,seed=3,kinds=refusal+empty"
    trace = shown([replace(started, model=model, mode="edit-no-feedback"), *story[1:5]])
    line = title_line(trace, canvas(100)).plain
    assert line.endswith("1.0 s played")
    assert len(line) == 100
    assert "simulation" in title_line(trace, canvas(200)).plain


def test_answers_from_the_cache_are_counted_in_the_title(story: list[Event]) -> None:
    answered = next(event for event in story if isinstance(event, ev.Answered))
    cached = replace(answered, completion=replace(answered.completion, from_cache=True))
    trace = shown([story[0], *(event for event in story if isinstance(event, ev.Asked)), answered, cached, cached])
    calls = trace.usage.calls
    assert f"{calls} calls (2 from the cache)" in usage_line(trace, 1.0, UNICODE)


def test_a_long_question_scrolls() -> None:
    long = replace(EDIT, added=tuple(f"(at room{number})" for number in range(30)), removed=(), renamed=())
    first = drawn(question_panel(long, 80, UNICODE), 80, 24)
    assert "room0)" in first
    assert "1-9 of 30" in first
    assert "scroll" in first
    last = drawn(question_panel(long, 80, UNICODE, scroll=21), 80, 24)
    assert "room29)" in last
    assert "22-30 of 30" in last
    assert "scroll" not in drawn(question_panel(EDIT, 80, UNICODE), 80, 24)
