"""Panels: how long lines are broken, and what a page has of them."""

from __future__ import annotations

import io
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from pddlego.display.columns import EPISODE_COLUMNS, ListColumn, plain_table, widths_of
from pddlego.display.console import UNICODE
from pddlego.display.rows import truncated, wrapped
from pddlego.display.screens import LINES, Canvas, title_line
from pddlego.episode.events import Accepted, Answered, Asked, Event, Limits, Outcome, Started
from pddlego.models import Completion
from pddlego.runs.listing import EpisodeStatus
from pddlego.runs.summary import LastingError
from tests.display.rendering import shown


def rows(line: str, width: int) -> list[str]:
    return [row.plain for row in wrapped([Text(line)], width)]


def test_a_line_is_broken_after_a_space() -> None:
    assert rows("predicate conected is not declared", 20) == ["predicate conected ", "is not declared"]
    assert rows("    a-word-that-is-longer", 10) == ["    a-word", "-that-is-l", "onger"]
    assert rows("", 10) == [""]
    assert "".join(rows("漢字 漢", 1)) == "漢字 漢"


@given(st.text(st.sampled_from("ab (-)漢")), st.integers(2, 12))
def test_nothing_is_lost_or_too_wide(line: str, width: int) -> None:
    assert "".join(rows(line, width)) == line
    assert all(cell_len(row) <= width for row in rows(line, width))


def test_rows_that_do_not_fit_are_counted_on_the_last_row() -> None:
    rows = [Text("a"), Text("b"), Text("c")]
    assert [[row.plain for row in truncated(rows, height)] for height in (3, 2, 1, 0)] == [
        ["a", "b", "c"],
        ["a", "2 more"],
        ["3 more"],
        [],
    ]


def test_a_narrow_title_line_leaves_out_the_least_important_number_first() -> None:
    """The mode and a model with a short name stay; the game is left out where it has no room beside them."""
    events: list[Event] = [
        Started("coin", "Coin Collector", "edit", "gpt-4o-mini", 12, "", Limits(50), "textgames"),
        Asked(1, "edit", 0, (), 10),
        Answered(1, Completion("{}", 1200, 34, 0, 0.5, 1)),
    ]
    lines = {width: title_line(shown(events), Canvas(width, 1, 1.5, UNICODE)).plain for width in (120, 88, 80, 60, 40)}
    about = "Coin Collector · seed 12 · edit · gpt-4o-mini · step 0/50"
    assert lines == {
        120: f"{about} · 1 call · 1,234 tokens · 1.5 s played",
        88: f"{about} · 1 call · 1,234 tokens",
        80: f"{about} · 1 call",
        60: about,
        40: "seed 12 · edit · gpt-4o-mini · step 0/50",
    }


@given(st.lists(st.integers(1, 60), min_size=7, max_size=9), st.integers(40, 200))
def test_the_first_columns_of_a_list_are_visible(needed: list[int], room: int) -> None:
    """They fit where they can be narrowed enough; without need, nothing is narrowed."""
    columns = [ListColumn[str](f"{place}", str, width=60, narrow=8) for place in range(len(needed))]
    widths = widths_of(columns, needed, room, 2)
    can_fit = sum(min(8, own) for own in needed[:7]) + 12 <= room
    assert (sum(widths[:7]) + 12 <= room) == can_fit
    assert widths == needed or sum(needed[:7]) + 12 > room


EPISODES = st.lists(
    st.builds(
        EpisodeStatus,
        path=st.just(Path("x.jsonl")),
        setting=st.sampled_from(["coin", "cooking-hard", "science-find-living-thing"]),
        mode=st.sampled_from(["edit", "act", "edit-no-feedback-no-tolerance"]),
        model=st.sampled_from(["reader", "openai/gpt-5-mini-2025-08-07"]),
        seed=st.integers(0, 1999),
        outcome=st.sampled_from([Outcome.WON, Outcome.NO_PLAN]),
        step=st.integers(0, 100),
        calls=st.integers(0, 300),
        cost=st.sampled_from([0.0, 0.25]),
        cause=st.sampled_from([None, LastingError("k", "missing (connected kitchen living_room north)", 4)]),
    ),
    min_size=1,
    max_size=6,
)


@given(EPISODES, st.sampled_from([80, 100, 120, 1000]))
def test_a_printed_list_keeps_mode_and_seed(episodes: list[EpisodeStatus], width: int) -> None:
    """At 80 columns, too: a cause is cut at its end, and other columns are left out, those that are alike first."""
    file = io.StringIO()
    Console(file=file, width=width, emoji=False, markup=False).print(plain_table(EPISODE_COLUMNS, episodes, width))
    head, *lines = file.getvalue().splitlines()
    assert all(len(line) <= width for line in (head, *lines))
    for episode, line in zip(episodes, lines, strict=False):
        assert episode.setting in line and f" {episode.mode} " in line and f" {episode.seed} " in f"{line} "
        if episode.cause is not None and "cause" in head:
            assert "missing (connected" in line
    below = " ".join(lines[len(episodes) :])
    left = [column.name for column in EPISODE_COLUMNS if any(map(column.text, episodes)) and column.name not in head]
    assert all(name in below for name in left)
    assert width < 1000 or not left


def test_a_cause_is_cut_at_its_end_and_a_name_in_the_middle() -> None:
    columns = {column.name: column for column in EPISODE_COLUMNS}
    assert columns["cause"].cut("missing (at kitchen) after step 4", 20) == "missing (at kitchen…"
    assert columns["model"].cut("openai/gpt-5-mini-2025-08-07", 12) == "openai…08-07"
    assert columns["cause"].cut("short", 20) == "short"


def test_lines_on_a_page_have_a_change_each_and_the_accepted_texts_beside_them() -> None:
    first = Accepted("domain", "(define\n  (domain a))", added=("action (a)",))
    second = Accepted("domain", "(define\n  (domain <b>))", added=("action (b)", "action (c)"), removed=("action (a)",))
    trace = shown([first, second])
    texts, log = LINES.on_page(trace, UNICODE)
    (title, drawing), (_, events) = texts[0].on_page(), log[0].on_page()
    assert (title, [line.plain for line in drawing.lines]) == ("domain", ["(define", "  (domain <b>))"])
    assert [(line.plain, line.style) for line in events.lines] == [
        ("+ action (a)", "green"),
        ("+ action (b)", "green"),
        ("+ action (c)", "green"),
        ("− action (a)", "red"),
    ]
    (column,) = LINES.panes(trace, Canvas(120, 20, 0.0, UNICODE))
    assert [row.plain.strip() for row in column.panes[0].fit(116, 18)] == [
        "domain: + action (a)",
        "domain: + action (b)  + action (c)  − action (a)",
    ], "a terminal has one line for each answer"
    assert len(LINES.on_page(shown([]), UNICODE)) == 1
