"""Every screen is a function of the events: fixed by snapshots at three widths."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from pddlego.display.console import UNICODE
from pddlego.display.lines import JsonDisplay, LineDisplay, LiveDisplay, make_display
from pddlego.display.screens import result_line
from pddlego.episode import events as ev
from pddlego.episode.events import Event, Limits, Outcome
from pddlego.episode.trace import Trace
from pddlego.methods.textgames.events import Observed, Planned, PlannedStep
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.screen.view import GameView
from pddlego.methods.textgames.settings import MapRule
from pddlego.models.base import Completion, Feedback, RetryNotice
from pddlego.pddl import Entry, EntryKind
from pddlego.planning import PlanStatus
from pddlego.planning.result import NOTHING_THERE
from pddlego.util.text import both_ends
from tests.conftest import check_snapshot
from tests.display.rendering import SCREEN, rendered, shown


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40), (200, 50)])
def test_in_the_middle_of_an_episode(story: list[Event], width: int, height: int) -> None:
    middle = next(number for number, event in enumerate(story) if isinstance(event, Observed) and event.step == 4)
    text = rendered(shown(story[: middle + 1]), width, height)
    assert max(len(line) for line in text.split("\n")) <= width
    assert text.count("\n") < height
    check_snapshot(f"screen-{width}.txt", text)


@pytest.mark.parametrize(("width", "height"), [(72, 20), (80, 24), (100, 30), (120, 40), (200, 50), (300, 90)])
def test_every_moment_fits_into_every_terminal(story: list[Event], width: int, height: int) -> None:
    for number in range(len(story) + 1):
        text = rendered(shown(story[:number]), width, height)
        assert max(len(line) for line in text.split("\n")) <= width, number
        assert text.count("\n") < height, number


def test_the_agent_is_shown_where_it_is_before_the_model_has_read_of_it(story: list[Event]) -> None:
    middle = next(number for number, event in enumerate(story) if isinstance(event, Observed) and event.step == 4)
    trace = shown(story[: middle + 1])
    assert "● corridor" in rendered(trace, 120, 40)
    last = story[middle]
    assert isinstance(last, Observed)
    surprised = shown([*story[:middle], replace(last, mismatch="something else")])
    assert "● living room" in rendered(surprised, 120, 40)


def test_the_end(story: list[Event]) -> None:
    view = shown(story)
    assert result_line(view).plain == "won after 8 steps"
    assert "won after 8 steps" in rendered(view, 80, 24)


def test_a_rejected_answer_is_shown_with_its_reason(story: list[Event]) -> None:
    view = shown([*story[:5], ev.Rejected(1, Feedback("defects", "these:", ("(at x): no",)))])
    text = rendered(view, 120, 40)
    assert "attempt 2 rejected: defects" in text
    assert "(at x): no" in text


def test_lines_that_matched_nothing_are_marked(story: list[Event]) -> None:
    line = Entry(EntryKind.UNMATCHED, "init.delete", "(at moon)")
    view = shown([*story[:5], ev.Accepted("problem", "", lines=(line,))])
    assert "! init.delete (at moon): matched nothing" in rendered(view, 120, 40)


def test_additions_are_green_and_removals_red(story: list[Event]) -> None:
    view = shown([*story[:5], ev.Accepted("problem", "", ("(at a)",), ("(at b)",))])
    text = rendered(view, 120, 40, color=True)
    assert "\x1b[32m+ (at a)" in text
    assert "\x1b[31m− (at b)" in text


def test_waiting_for_a_model_is_shown(story: list[Event]) -> None:
    trace = shown([*story[:2], ev.Asked(1, "edit", 0, (), 10)])
    assert "asking reader (edit) … 1 s" in rendered(trace, 80, 24, now=trace.seconds + 1)


def test_an_episode_without_a_plan_shows_the_game_alone(story: list[Event]) -> None:
    started = story[0]
    assert isinstance(started, ev.Started)
    text = rendered(shown([replace(started, mode="act", details={**started.details, "goals": ()}), story[1]]), 80, 24)
    assert "map" not in text
    assert "You are in the kitchen." in text


def test_text_from_outside_cannot_steer_the_terminal(story: list[Event]) -> None:
    evil = "\x1b[2J\x1b]0;title\x07\u202e[red]bold[/red]"
    begun = story[0]
    assert isinstance(begun, ev.Started)
    changed = ev.Accepted("problem", evil, (evil,), (evil,), ((evil, evil),))
    observed = Observed(1, evil, evil, evil, mismatch=evil)
    view = shown([replace(begun, title=evil, model=evil), *story[1:6], observed, changed])
    for width in (80, 120, 200):
        text = rendered(view, width, 40)
        assert "\x1b" not in text
        assert "\x07" not in text
        assert "\u202e" not in text
        assert "[red]" in text


def test_plain_lines(story: list[Event]) -> None:
    stream = io.StringIO()
    with LineDisplay(Console(file=stream, width=40)) as display:
        for number, event in enumerate(story):
            display.show(event, number / 10)
    check_snapshot("lines.txt", stream.getvalue().rstrip("\n"))
    assert "\x1b" not in stream.getvalue()


def test_json_lines_are_events(story: list[Event]) -> None:
    import json

    stream = io.StringIO()
    with JsonDisplay(stream) as display:
        for event in story:
            display.show(event, 0.5)
    rows = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [row["event"]["type"] for row in rows] == [event.type for event in story]


@pytest.mark.parametrize(
    ("terminal", "width", "height", "json_lines", "kind"),
    [
        (True, 80, 24, False, LiveDisplay),
        (True, 60, 24, False, LineDisplay),
        (True, 80, 15, False, LineDisplay),
        (False, 120, 40, False, LineDisplay),
        (True, 80, 24, True, JsonDisplay),
    ],
)
def test_the_display_suits_the_output(terminal: bool, width: int, height: int, json_lines: bool, kind: type) -> None:
    console = Console(
        file=io.StringIO(), force_terminal=terminal, width=width, height=height, _environ={"TERM": "xterm"}
    )
    assert isinstance(make_display(console, 0.0, SCREEN, json_lines=json_lines), kind)


def test_the_live_display_leaves_the_last_screen(story: list[Event]) -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=80, height=24, _environ={"TERM": "xterm"})
    with LiveDisplay(console, 0.0, SCREEN) as display:
        for event in story:
            display.show(event, 0.0)
    assert "won after 8 steps" in stream.getvalue()


def test_outcomes() -> None:
    ended = ev.Ended(Outcome.NO_PLAN, "six\nlines", 0.0)
    assert result_line(Trace([(ended, 0.0)])).plain == "no plan after 0 steps: six lines"
    assert result_line(Trace()).plain == ""


def test_a_step_without_a_command_is_shown_as_the_action_that_it_is() -> None:
    stream = io.StringIO()
    steps = (PlannedStep("(move a b east)", "move east"), PlannedStep("(follow_map b c)", ""))
    with LineDisplay(Console(file=stream, width=80)) as display:
        display.show(Planned((), "be there", steps), 0.0)
    assert stream.getvalue().rstrip() == "     plan for 'be there': move east, (follow_map b c)"


def test_of_a_long_name_both_ends_are_shown() -> None:
    assert both_ends("reader+noise:0.3", 12) == "reader…e:0.3"
    assert both_ends("coin", 4) == "coin"
    assert [len(both_ends("reader+noise:0.3", width)) for width in (1, 2, 3, 15)] == [1, 2, 3, 15]


def test_no_ghost_room_stands_between_a_rename_and_the_plan(story: list[Event]) -> None:
    numbers = [number for number, event in enumerate(story) if isinstance(event, ev.Accepted) and event.renamed]
    for number in numbers:
        before, after = rendered(shown(story[: number + 1]), 120, 40), rendered(shown(story[: number + 2]), 120, 40)
        event = story[number]
        assert isinstance(event, ev.Accepted)
        for old, _ in event.renamed:
            assert not re.search(rf"\b{old}\b.*\?", before.split("problem")[0]), old
        assert before.count("●") == after.count("●") == 2, "the agent and the legend"


def test_what_is_in_hand_stands_below_the_map(story: list[Event]) -> None:
    begun, before = story[0], GameView(shown(story[:-2]))
    assert isinstance(begun, ev.Started)
    held = before.problem.replace("(:init", "(:init (have coin) (have red_apple)")
    for holding in ("have", ""):
        details = {**begun.details, "map": {**begun.details["map"], "holding": holding}}
        text = rendered(shown([replace(begun, details=details), ev.Accepted("problem", held)]), 120, 40)
        assert ("in hand: coin, red apple" in text) is bool(holding)


def test_the_recipe_is_a_checklist_below_the_map() -> None:
    setting = load("cooking-easy")
    assert setting.map is not None
    problem = """(define (problem p) (:domain d) (:objects pantry - location carrot salt oil - item) (:init
      (at pantry) (visited pantry) (ingredient carrot) (ingredient salt) (ingredient oil) (wanted carrot sliced)
      (wanted carrot fried) (is carrot sliced) (have carrot) (have oil) (thing_at salt pantry)) (:goal (and)))"""

    def drawn_with(rule: MapRule) -> str:
        begun = ev.Started(
            "g", "Game", "edit", "m", 0, "", Limits(9), "textgames", {"goals": ["eat"], "map": rule.model_dump()}
        )
        return rendered(shown([begun, ev.Accepted("problem", problem)]), 120, 40)

    text = drawn_with(setting.map)
    assert "· carrot: in hand, fried ·, sliced ✓" in text
    assert "· salt: in the pantry" in text
    assert "✓ oil: in hand" in text
    assert "pantry: salt" in text
    assert "carrot:" not in drawn_with(setting.map.model_copy(update={"needed": ""}))


def test_a_goal_that_is_true_of_nothing_says_so(story: list[Event]) -> None:
    planned = next(event for event in story if isinstance(event, Planned))
    tried = tuple(replace(item, status=PlanStatus.ALREADY_TRUE, message=NOTHING_THERE) for item in planned.tried[:1])
    events = [replace(event, tried=tried) if event is planned else event for event in story[: story.index(planned) + 1]]
    text = rendered(shown(events), 120, 40)
    assert "not yet" in text
    assert "already true" not in text


def test_a_retry_is_seen_while_it_waits(story: list[Event]) -> None:
    asked = next(number for number, event in enumerate(story) if isinstance(event, ev.Asked))
    view = shown([*story[: asked + 1], ev.Retrying(1, RetryNotice("429: slow down", 2, 6, 7.0))])
    text = rendered(view, 120, 40)
    assert "429: slow down (attempt 2 of 6; next try in" in text
    stream = io.StringIO()
    display = LineDisplay(Console(file=stream, width=200))
    display.show(ev.Retrying(1, RetryNotice("429: slow down", 2, 6, 7.0)), 3.0)
    assert "429: slow down: try 2 of 6, the next in 7 s" in stream.getvalue()


def test_a_plan_is_confirmed_in_the_state_that_it_was_made_for(story: list[Event]) -> None:
    number = next(number for number, event in enumerate(story) if isinstance(event, ev.Accepted))
    stream = io.StringIO()
    display = LiveDisplay(Console(file=stream, width=120, height=40, force_terminal=True), 0.0, SCREEN)
    for event in story[:number]:
        display.show(event, 0.0)
    display.show_question("accept?", tuple(story[number : number + 2]))
    text = "".join(segment.text for segment in Console(width=120, height=40).render(display))
    assert "(at kitchen)" in text
    assert "accept?" in text
    lines = io.StringIO()
    plain = LineDisplay(Console(file=lines, width=500))
    for event in story[:number]:
        plain.show(event, 0.0)
    plain.show_question("accept?", tuple(story[number : number + 2]))
    for event in story[number : number + 2]:
        plain.show(event, 0.0)
    assert lines.getvalue().count("+ (at kitchen)") == 1, "told with the question, and not again"
    assert lines.getvalue().index("+ (at kitchen)") < lines.getvalue().index("accept?")


ARRIVING = (
    '{"objects": {"add": ["kitchen - location", "loc1 - location"], "replace": [], "delete": []}, "init": {"add": '
)
ARRIVING += '["(at kitchen)", "(visited kitchen)", "(connected kitchen loc1 east)", "(closed_door kitch'


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40), (200, 50)])
def test_an_answer_is_seen_as_it_is_written(story: list[Event], width: int, height: int) -> None:
    asked = next(number for number, event in enumerate(story) if isinstance(event, ev.Asked))
    begun = [
        *story[: asked + 1],
        ev.Streamed(1, "", "I see a kitchen, and "),
        ev.Streamed(1, "", "a door to the east."),
    ]
    agents = rendered(shown(begun), width, height)
    assert "a door to the east." in " ".join(agents.replace("│", " ").split())
    assert "nothing is known yet" in agents
    writing = rendered(shown([*begun, ev.Streamed(1, ARRIVING)]), width, height)
    assert "● kitchen" in writing
    assert "+ (connected kitchen loc1 east)" in writing
    assert "(streaming)" in writing
    assert max(len(line) for line in writing.split("\n")) <= width
    failed = shown([*begun, ev.Retrying(1, RetryNotice("the stream broke off", 1, 6, 2.0))])
    assert failed.request is not None
    assert (failed.request.text, failed.request.reasoning) == ("", "")
    assert "attempt 1 of 6" in rendered(failed, width, height)


def test_what_takes_a_while_is_said(story: list[Event]) -> None:
    begun = shown(story[:1])
    assert "starting the game engine" not in rendered(begun, 120, 40, now=begun.seconds)
    assert "starting the game engine … 3 s" in rendered(begun, 120, 40, now=begun.seconds + 3)
    answered = next(number for number, event in enumerate(story) if isinstance(event, ev.Answered))
    planning = shown(story[: answered + 1])
    assert "planning … 2 s" in rendered(planning, 120, 40, now=planning.seconds + 2)


def test_what_was_wrong_is_marked_in_the_answer(story: list[Event]) -> None:
    from pddlego.display.steps import answer_lines

    answer = '{"init": {"add": ["(at moon)", "(at kitchen)"], "delete": ["(have key)"]}}'
    asked = next(number for number, event in enumerate(story) if isinstance(event, ev.Asked))
    rejected = ev.Rejected(
        0,
        Feedback("defects", "the problem file has these defects:", ("object moon is not declared",), ("(at moon)",)),
        (Entry(EntryKind.UNMATCHED, "init.delete", "(have key)"),),
    )
    trace = shown([*story[: asked + 1], ev.Answered(1, Completion(answer)), rejected])
    lines = answer_lines(trace.steps[-1], UNICODE)
    marked = next(line for line in lines if answer in line.plain)
    assert {marked.plain[span.start : span.end] for span in marked.spans if "reverse" in str(span.style)} == {
        "(at moon)",
        "(have key)",
    }
