"""HTML pages of episodes: the tabs of the terminal, and a table that groups losses by their cause."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pddlego.display.console import UNICODE
from pddlego.display.elements import static_html
from pddlego.display.opened import Explanation, ShownEpisode
from pddlego.display.page import EpisodeData, EpisodePage, ListedEpisode, episode_index, episode_page, render
from pddlego.episode.events import Accepted, Answered, Cause, Ended, Event, Outcome
from pddlego.episode.trace import TimedEvent
from pddlego.methods.registry import make_codec, screen_of
from pddlego.models.base import Completion
from pddlego.runs.journal import JournalTail
from pddlego.runs.listing import EpisodeStatus
from pddlego.runs.summary import LastingError
from tests.evaluation.test_replay import RECORDED, RUNS
from tests.report.pages import pages_in

JOURNAL = next((RECORDED / RUNS[0] / "episodes").iterdir())
ERROR = LastingError("missing connected", "missing (connected a b north)", 2)


def shown(cause: LastingError | None = None, lost: bool = False, most: int = 1_000) -> ShownEpisode:
    """The recorded episode, or its first events, as lost if `lost`."""
    events: list[TimedEvent] = list(JournalTail(JOURNAL, make_codec()).poll())[:most]
    if lost:
        last: Any = events[-1][0]
        events[-1] = (type(last)(Outcome.LOST, "it was lost", 0.0, last.usage), events[-1][1])
    return ShownEpisode(Explanation(events, cause, (cause,) if cause else ()), screen_of, UNICODE)


def text_of(value: dict[str, Any], numbers: list[int]) -> str:
    return "\n".join(value["lines"][number] for number in numbers)


def panes_of(value: dict[str, Any], panes: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(pane["title"], text_of(value, [*pane.get("drawing", ()), *pane["lines"]])) for pane in panes]


def test_the_overview_has_the_panes_of_the_terminal_and_their_whole_content() -> None:
    episode = shown()
    value, step = EpisodeData(episode).value(), episode.steps[-1]
    columns = episode.screen.on_page(step.after, UNICODE)
    panes = value["steps"][-1]["panes"][0]
    assert [pane["title"] for pane in panes] == [pane.on_page()[0] for column in columns for pane in column]
    assert [pane["column"] for pane in panes] == [number for number, column in enumerate(columns) for _ in column]
    whole = dict(panes_of(value, panes))
    title, facts = next((title, text) for title, text in whole.items() if title.startswith("problem ·"))
    assert title == f"problem · {len(facts.splitlines())} lines", "no fact is cut"


def test_the_time_line_has_the_marks_and_the_goal_of_each_step() -> None:
    value = EpisodeData(shown(ERROR, lost=True)).value()
    marks = {step["step"]: step["marks"] for step in value["steps"]}
    assert [mark for mark in marks[2] if mark in ("cause", "lasting error")] == ["cause", "lasting error"]
    assert sum("cause" in names for names in marks.values()) == 1
    assert marks[0][-2:] == ["accepted answer", "request"]
    assert value["steps"][0]["phase"] == "be in a room not yet visited"


def test_the_text_of_the_first_step_needs_no_script() -> None:
    page = episode_page("key", shown(ERROR, lost=True))
    text = render("page.html.j2", [ListedEpisode(EpisodeStatus(JOURNAL), page)], title="page")
    static = text.partition("<noscript>")[2].partition("</noscript>")[0]
    assert "cause: missing (connected a b north) after step 2" in static
    assert "<h3>goal ladder</h3>" in static
    assert '<div class="drawing"><svg' in static, "with the style of a map"


def test_a_pane_without_content_is_left_out() -> None:
    panes: list[dict[str, Any]] = [
        {"title": "map", "lines": []},
        {"title": "game", "lines": [0]},
        {"title": "plan", "lines": [], "drawing": [0]},
    ]
    assert re.findall("<h3>(.*?)</h3>", static_html([panes], ["text"])) == ["game", "plan"]


def test_a_lost_episode_opens_on_its_cause_and_says_what_the_terminal_says() -> None:
    episode = shown(ERROR, lost=True)
    value: dict[str, Any] = EpisodeData(episode).value()
    assert (value["tab"], value["steps"][value["opens"]]["step"]) == ("why", 2)
    assert value["tabs"] == ["overview", *(tab.name for tab in episode.tabs()), "why"]
    parts = [text_of(value, pane["lines"]) for pane in value["steps"][value["opens"]]["panes"][-1]]
    why = episode.why(episode.steps[value["opens"]])
    assert [part.count("\n") + 1 for part in parts] == [len(lines) for lines in (why.head, why.answer, why.truth)]
    assert "cause: missing (connected a b north) after step 2" in parts[0]
    assert "answer after step 2" in parts[1]


@pytest.mark.parametrize(
    ("outcome", "ended_by"),
    [
        (Outcome.INTERRUPTED, ""),
        (Outcome.BUDGET, "evaluation"),
        (Outcome.MODEL_ERROR, ""),
    ],
)
def test_a_loss_that_does_not_count_has_no_cause_but_its_errors(outcome: Outcome, ended_by: Cause) -> None:
    events: list[TimedEvent] = list(JournalTail(JOURNAL, make_codec()).poll())
    events[-1] = Ended(outcome, "it ended", 0.0, cause=ended_by), events[-1][1]
    episode = ShownEpisode(Explanation(events, None, (ERROR,)), screen_of, UNICODE)
    for episode.is_being_checked in (True, False):
        head = [line.plain for line in episode.why(episode.steps[-1]).head]
        assert head[1:] == [f"no cause: {outcome.value}", f"error: {ERROR}"]


def test_a_loss_by_the_budget_of_an_episode_has_a_cause() -> None:
    events: list[TimedEvent] = list(JournalTail(JOURNAL, make_codec()).poll())
    events[-1] = Ended(Outcome.BUDGET, "it ended", 0.0), events[-1][1]
    episode = ShownEpisode(Explanation(events), screen_of, UNICODE)
    assert episode.why(episode.steps[-1]).head[1].plain == "cause: no lasting error of the model is known"


def test_the_answer_of_a_failure_replaces_that_of_the_decisive_step() -> None:
    episode = shown(ERROR, lost=True)
    failures = [step for step in episode.steps if episode.is_failure(step)]
    assert {str(episode.why(step).answer[0]) for step in episode.steps} == {
        f"answer after step {step.number}" for step in failures
    }


def test_an_episode_that_was_won_opens_at_its_end() -> None:
    """There are the whole map, the program or the plan; its beginning is empty."""
    value = EpisodeData(shown()).value()
    assert (value["tab"], value["opens"]) == ("overview", len(value["steps"]) - 1)


@pytest.mark.slow
def test_data_grow_as_the_episode_does() -> None:
    """Made step by step, they are those of the whole episode."""
    whole = list(JournalTail(JOURNAL, make_codec()).poll())
    episode = shown(most=2)
    data = EpisodeData(episode)
    sizes = []
    for event, seconds in whole[2:]:
        sizes.append(len(data.value()["steps"]))
        episode.trace.add(event, seconds)
        episode.steps = episode.trace.steps
    assert sizes == sorted(sizes)
    grown: Any = data.value()
    once: Any = EpisodeData(shown()).value()
    assert grown["opens"] == once["opens"]
    for left, right in zip(grown["steps"], once["steps"], strict=True):
        for one, other in zip(left["panes"][:-1], right["panes"][:-1], strict=True):
            assert panes_of(grown, one) == panes_of(once, other)


def test_lost_episodes_are_grouped_by_cause_and_modes_without_a_model_are_last() -> None:
    rare, common = LastingError("rare", "rare"), LastingError("common", "common")
    statuses = [
        EpisodeStatus(Path(), mode="random", model="none", outcome=Outcome.LOST),
        EpisodeStatus(Path(), model="m", outcome=Outcome.WON),
        EpisodeStatus(Path(), model="m", outcome=Outcome.LOST),
        EpisodeStatus(Path(), model="m", outcome=Outcome.LOST, cause=rare),
        *[EpisodeStatus(Path(), model="m", outcome=Outcome.NO_PLAN, cause=common)] * 2,
        EpisodeStatus(Path(), model="m"),
    ]
    index: Any = episode_index([ListedEpisode(status) for status in statuses], start=False)
    assert [row["group"] for row in index["rows"]] == [
        *("not ended", "lost: common", "lost: common", "lost: rare"),
        *("lost: no known cause", "won", "lost, no model"),
    ]


@pytest.mark.parametrize("other", ["one", "two"])
def test_episodes_of_several_runs_are_named_with_their_runs(other: str) -> None:
    runs = [Path("one/episodes/a.jsonl"), Path(other) / "episodes/b.jsonl"]
    statuses = [EpisodeStatus(path, setting="coin", mode="edit", model="m") for path in runs]
    listed = [ListedEpisode(status, EpisodePage(f"{key}", "", "")) for key, status in enumerate(statuses)]
    index: Any = episode_index(listed, start=False)
    named = [index["episodes"][f"{key}"]["about"].startswith(f"{path.parts[0]}: ") for key, path in enumerate(runs)]
    assert named == [other == "two"] * 2


EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.mark.parametrize("place", ["answer", "model", "room"])
def test_what_a_model_writes_is_text(place: str) -> None:
    def changed(event: Event) -> Event:
        if isinstance(event, Accepted) and place == "room":
            return replace(event, text=event.text.replace("kitchen", "<img/src=x/onerror=alert`3`>"))
        return Answered(event.call, Completion(EVIL)) if isinstance(event, Answered) and place == "answer" else event

    timed = [(changed(event), seconds) for event, seconds in JournalTail(JOURNAL, make_codec()).poll()]
    page = episode_page("key", ShownEpisode(Explanation(timed), screen_of, UNICODE))
    status = EpisodeStatus(JOURNAL, model=EVIL, outcome=Outcome.WON)
    text = render("page.html.j2", [ListedEpisode(status, page)], title=EVIL)
    assert EVIL not in text
    assert text.count("<img") == 0
    (value,) = pages_in(text)
    assert all("<img" not in line and "<script" not in line for line in value["lines"])


def test_an_unfinished_episode_of_a_saved_page_has_no_clock() -> None:
    status = EpisodeStatus(Path("journal.jsonl"))
    assert status.state(1.7e9) == "not ended"
    assert replace(status, modified_at=1.7e9).state(1.7e9 + 61) == "silent 1:01"


def test_a_column_without_values_is_left_out_and_attempts_are_numbered() -> None:
    first = EpisodeStatus(Path("a.jsonl"), model="m", outcome=Outcome.LOST, calls=3)
    again = EpisodeStatus(Path("a.2.jsonl"), model="m", outcome=Outcome.WON)
    for statuses, expected in (
        ([first], ["state", "seed", "step", "model", "calls"]),
        ([first, again], ["state", "seed", "attempt", "step", "model", "calls"]),
    ):
        index = json.loads(json.dumps(episode_index([ListedEpisode(status) for status in statuses], start=False)))
        assert [column["name"] for column in index["columns"]] == expected
        assert {len(row["cells"]) for row in index["rows"]} == {len(expected)}
    assert sorted(row["cells"][2] for row in index["rows"]) == ["", "2"]
