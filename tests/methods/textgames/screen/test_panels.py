"""Every panel is a function of the folded events, fixed by a snapshot at three widths."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import pytest
from rich.console import RenderableType

from pddlego.display.console import ASCII, UNICODE
from pddlego.display.frames import Frame
from pddlego.display.lines import event_lines
from pddlego.display.person import question_panel
from pddlego.display.screens import Size, budget, header, text_panel, wrapped
from pddlego.display.show import Show, ShownPlace, frame_picture, furthest, moved
from pddlego.display.watch import Drawn, grid_picture, grid_shape, list_picture, ordered
from pddlego.episode import events as ev
from pddlego.episode.approval import Question
from pddlego.episode.events import Event, Outcome
from pddlego.methods.textgames import screen as panels
from pddlego.methods.textgames.agent import plan_question
from pddlego.methods.textgames.events import Observed, Resumed
from pddlego.methods.textgames.screen.view import GameView
from pddlego.runs.tail import EpisodeStatus
from tests.conftest import check_snapshot
from tests.display.rendering import PICTURE, drawn, film_of, view_of

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

WIDTHS = {80: 24, 120: 40, 200: 50}


def peek(
    name: str,
    setting: str,
    mode: str,
    model: str,
    seed: int,
    step: int,
    command: str,
    outcome: Outcome | None,
    changed: float,
) -> EpisodeStatus:
    shown = EpisodeStatus(Path(name), setting, mode, model=model, seed=seed, most=50)
    return replace(shown, step=step, command=command, outcome=outcome, changed=changed)


PEEKS = [
    peek("a", "coin", "edit", "gpt-4.1", 12, 3, "move north", None, 999.0),
    peek("b", "coin", "gen", "a-model-with-a-long-name", 13, 9, "open door to east", None, 700.0),
    peek("c", "cooking-hard", "edit", "gpt-4.1", 12, 23, "eat meal", Outcome.WON, 500.0),
    peek("d", "cooking-hard", "act", "gpt-4.1", 12, 50, "inventory", Outcome.STEP_LIMIT, 400.0),
]

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

TABS = ("overview", "problem", "ladder", "request")

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
    "list": lambda view, width, height: list_picture(PEEKS, 1, "runs/night", 1000.0, Size(width, height), UNICODE),
    "grid": lambda view, width, height: grid_picture(
        [(item, small(view)) for item in PEEKS], 4, 1000.0, Size(width, height), UNICODE
    ),
}


def small(view: GameView) -> Drawn:
    return lambda width, height: PICTURE.screen.small(view, width, height, UNICODE)


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


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("tab", range(len(TABS)))
def test_a_view_of_a_step(story: list[Event], tab: int, width: int) -> None:
    film = film_of(story)
    number = film.at(2)
    assert number is not None
    show = Show(film, PICTURE, UNICODE, ShownPlace(number, tab))
    text = drawn(show.picture(width, WIDTHS[width]), width, WIDTHS[width])
    assert max(len(line) for line in text.split("\n")) <= width
    assert text.count("\n") < WIDTHS[width]
    check_snapshot(f"show-{TABS[tab]}-{width}.txt", text)


def test_every_view_of_every_step_fits(story: list[Event]) -> None:
    for frame in film_of(story).frames:
        for tab in range(len(TABS)):
            for width, height in ((72, 20), (80, 24), (120, 40)):
                text = drawn(
                    frame_picture(PICTURE, frame, ShownPlace(0, tab, 10**6), Size(width, height), ASCII), width, height
                )
                assert max(len(line) for line in text.split("\n")) <= width, (frame.step, tab)
                assert text.count("\n") < height, (frame.step, tab)


def test_an_episode_is_cut_at_its_commands(story: list[Event]) -> None:
    frames = film_of(story).frames
    assert [frame.step for frame in frames] == list(range(9))
    assert [event for each in frames for event in each.events] == story
    assert frames[0].after.plan
    assert frames[-1].after.ended is not None
    assert film_of(story).at(99) is None


def test_keys_move_and_stop_at_the_ends() -> None:
    def press(*keys: str, place: ShownPlace | None = None) -> ShownPlace:
        place = place or ShownPlace()
        for key in keys:
            place = moved(place, key, 5, 4)
        return place

    assert press("right", "right", "left").frame == 1
    assert press("left").frame == 0
    assert press("end").frame == press(*["right"] * 9).frame == 4
    assert press("end", "home").frame == 0
    assert press("tab", "tab").tab == 2
    assert press("backtab").tab == 3
    assert press("2", "down", "down").scroll == 2
    assert press("2", "down", "right").scroll == 0
    assert press("up").scroll == 0
    following = ShownPlace(following=True)
    assert press("left", place=following) == ShownPlace(frame=3)
    assert press("right", place=following).following


def test_scrolling_stops_at_the_end(story: list[Event]) -> None:
    show = Show(film_of(story), PICTURE, UNICODE, ShownPlace(0, TABS.index("request"), 10**6))
    show.picture(80, 24)
    assert show.place.scroll == furthest(PICTURE, show.film.frames[0], show.place, Size(80, 22), UNICODE) < 10**4
    assert "· solved" not in drawn(show.picture(80, 24), 80, 24)


def test_long_lines_are_broken_and_nothing_is_lost() -> None:
    from rich.text import Text

    rows = wrapped([Text("abcdefghij"), Text("日本語の長い行")], 4)
    assert [row.plain for row in rows] == ["abcd", "efgh", "ij", "日本", "語の", "長い", "行"]
    text = drawn(text_panel(rows, "t", 20, 5, 99), 20, 5)
    assert "5-7 of 7" in text


def test_running_episodes_come_first_and_a_silent_one_says_so() -> None:
    assert [item.path.name for item in ordered(PEEKS[::-1])] == ["a", "b", "c", "d"]
    assert [item.state(1000.0) for item in PEEKS] == ["running", "silent 5:00", "won", "step limit"]


def test_the_grid_takes_what_fits() -> None:
    assert grid_shape(4, 80, 22) == (2, 2)
    assert grid_shape(9, 80, 22) == (2, 2)
    assert grid_shape(4, 120, 38) == (2, 2)
    assert grid_shape(9, 200, 48) == (3, 3)
    assert grid_shape(1, 200, 50) == (1, 1)
    assert grid_shape(64, 10, 5) == (1, 1)


def test_what_a_person_did_is_shown(story: list[Event]) -> None:
    resumed = Resumed("runs/x/episodes/y.jsonl", 0, "(define", 1, "(define", ("(at moon)",), ())
    judged = ev.Judged("plans", "rejected", "go south")
    frame = Frame(0, (resumed, judged), GameView(), view_of(story[:2]))
    text = drawn(frame_picture(PICTURE, frame, ShownPlace(0, TABS.index("request")), Size(80, 24), UNICODE), 80, 24)
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
        for tab in range(len(TABS)):
            assert not CONTROL.search(
                drawn(frame_picture(PICTURE, frame, ShownPlace(0, tab), Size(120, 40), UNICODE), 120, 40)
            )
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


def test_small_maps_beside_each_other_are_whole(story: list[Event]) -> None:
    """In a table, an empty text took the place of a map's first line."""
    view = view_of(story)
    for height in range(18, 44):
        alone = drawn(panels.map_panel(view, 40, (height - 2) // 2, UNICODE), 40, height).split("\n")[1:-1]
        beside = drawn(
            grid_picture([(item, small(view)) for item in PEEKS], 4, 1000.0, Size(80, height), UNICODE), 80, height
        )
        for line in alone:
            assert line in beside, height


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


def test_a_followed_episode_counts_while_a_request_is_open(story: list[Event]) -> None:
    asked = next(number for number, event in enumerate(story) if type(event).__name__ == "Asked")
    film = film_of(story[: asked + 1])
    waited = [0.0]
    show = Show(film, PICTURE, UNICODE, ShownPlace(following=True), waited=lambda: waited[0])
    seen = []
    for waited[0] in (0.0, 30.0):
        seen.append(drawn(show.picture(120, 40), 120, 40))
    assert "30 s" in seen[1]
    assert "30 s" not in seen[0]
