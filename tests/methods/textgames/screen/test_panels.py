"""Every panel is a function of the folded events, fixed by a snapshot at three widths."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace

import pytest
from rich.console import RenderableType

from pddlego.display.console import UNICODE
from pddlego.display.frames import Frame
from pddlego.display.lines import event_lines
from pddlego.display.person import question_panel
from pddlego.display.screens import budget, header, wrapped
from pddlego.display.steps import answer_lines
from pddlego.episode import events as ev
from pddlego.episode.approval import Question
from pddlego.episode.events import Event, Outcome
from pddlego.methods.textgames import screen as panels
from pddlego.methods.textgames.agent import plan_question
from pddlego.methods.textgames.events import Observed, Resumed
from pddlego.methods.textgames.screen.view import GameView
from tests.conftest import check_snapshot
from tests.display.rendering import PICTURE, drawn, film_of, rendered, view_of

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

WIDTHS = {80: 24, 120: 40, 200: 50}


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

Panel = Callable[[GameView, int, int], RenderableType]

PANELS: dict[str, Panel] = {
    "header": lambda view, width, height: header(view, 1.0, UNICODE, width),
    "map": lambda view, width, height: panels.map_panel(view, width, height, UNICODE),
    "changes": lambda view, width, height: panels.changes_panel(view, width, height, UNICODE),
    "ladder": lambda view, width, height: panels.ladder_panel(view, width, height, UNICODE),
    "plan": lambda view, width, height: panels.plan_panel(view, width, height, UNICODE),
    "goals": lambda view, width, height: panels.goal_panel(view, width, height, UNICODE),
    "problem": lambda view, width, height: panels.problem_panel(view, width, height, UNICODE),
    "game": lambda view, width, height: panels.log_panel(view, width, height, 1.0, UNICODE),
    "question-edit": lambda view, width, height: question_panel(EDIT, width, UNICODE),
    "question-plan": lambda view, width, height: question_panel(PLAN, width, UNICODE),
}


def middle(story: list[Event]) -> list[Event]:
    last = next(number for number, event in enumerate(story) if isinstance(event, Observed) and event.step == 4)
    return story[: last + 1]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PANELS)
def test_a_panel(story: list[Event], name: str, width: int) -> None:
    height = WIDTHS[width]
    text = drawn(PANELS[name](view_of(middle(story)), width, height), width, height)
    assert max(len(line) for line in text.split("\n")) <= width
    assert text.count("\n") < height
    check_snapshot(f"panel-{name}-{width}.txt", text)


def test_an_episode_is_cut_at_its_commands(story: list[Event]) -> None:
    frames = film_of(story).frames
    assert [frame.step for frame in frames] == list(range(9))
    assert [event for each in frames for event in each.events] == story
    assert frames[0].after.plan
    assert frames[-1].after.ended is not None
    assert film_of(story).at(99) is None


def test_long_lines_are_broken_and_nothing_is_lost() -> None:
    from rich.text import Text

    rows = wrapped([Text("abcdefghij"), Text("日本語の長い行")], 4)
    assert [row.plain for row in rows] == ["abcd", "efgh", "ij", "日本", "語の", "長い", "行"]


def test_what_a_person_did_is_shown(story: list[Event]) -> None:
    resumed = Resumed("runs/x/episodes/y.jsonl", 0, "(define", 1, "(define", ("(at moon)",), ())
    judged = ev.Judged("plans", "rejected", "go south")
    frame = Frame(0, (resumed, judged), GameView(), view_of(story[:2]))
    lines = answer_lines(frame, PICTURE.describe, UNICODE)
    text = "\n".join(line.plain for line in lines)
    assert "plans rejected by a person" in text
    assert "go south" in text


EVIL = "\x1b[31mX\x1b]0;pwn\x07\x9b2J"


def test_no_text_of_a_journal_can_steer_the_terminal(story: list[Event]) -> None:
    """Every text of every event, not only those that somebody thought of."""

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

    events = [item for item in map(evil, story) if isinstance(item, type(item))]
    film = film_of(events)  # type: ignore[arg-type]
    for frame in film.frames:
        for tab in PICTURE.screen.tabs:
            assert not any(CONTROL.search(line.plain) for line in tab.lines(frame, UNICODE))
        assert not CONTROL.search(rendered(frame.after, 120, 40).replace("\n", ""))
        for event in frame.events:
            assert not any(
                CONTROL.search(line) for line, _ in event_lines(event, frame.after, PICTURE.describe, UNICODE)
            )


@pytest.mark.parametrize("rule", [{}, {"here": 3}, {"room": "location", "directions": {"north": "up"}}])
def test_a_map_rule_that_is_none_gives_no_map(story: list[Event], rule: dict[str, object]) -> None:
    started = story[0]
    assert isinstance(started, ev.Started)
    view = view_of([replace(started, details={**started.details, "map": rule}), *story[1:]])
    assert view.map_rule is None
    assert "no map" in drawn(panels.map_panel(view, 80, 24, UNICODE), 80, 24)


def test_a_correction_is_shown_as_the_change_that_it_is(story: list[Event]) -> None:
    started = [item for item in story if isinstance(item, ev.Started)]
    resumed = Resumed("y.jsonl", 0, "(define (old))", 1, "(define (new))", ("(at moon)",), ("(at mars)",))
    view = view_of([*started, resumed])
    assert view.problem == "(define (new))"
    text = drawn(panels.changes_panel(view, 80, 10, UNICODE), 80, 10)
    assert "+ (at moon)" in text
    assert "− (at mars)" in text


def test_a_long_name_of_a_model_does_not_hide_the_meter(story: list[Event]) -> None:
    named = replace(view_of(story[:5]), model="reader+noise:0.1,seed=3,kinds=refusal+empty", mode="edit-no-feedback")
    line = header(named, 1.0, UNICODE, 100).plain
    assert line.endswith("1.0 s played")
    assert len(line) == 100
    assert "simulation" in header(named, 1.0, UNICODE, 200).plain


def test_answers_from_the_cache_are_counted_in_the_meter(story: list[Event]) -> None:
    view = replace(view_of(story[:5]), calls=3, from_cache=2)
    assert "3 calls (2 from the cache)" in budget(view, 1.0, UNICODE)


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
