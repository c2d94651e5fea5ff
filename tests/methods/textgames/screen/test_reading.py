"""Which sentence of the game a fact came from, and the map of modes whose model writes no problem."""

from __future__ import annotations

from pathlib import Path

import pytest

import pddlego
from pddlego.cli.browsing import explain_episode
from pddlego.display.console import UNICODE
from pddlego.display.steps import tabs_of
from pddlego.episode.events import Accepted, Limits, Started
from pddlego.episode.trace import Step, Trace
from pddlego.methods.registry import make_codec
from pddlego.methods.textgames.events import GameRead, Observed
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.screen.reading import reading_lines
from pddlego.methods.textgames.screen.view import GameView
from pddlego.runs.folders import find_journal
from pddlego.runs.journal import read_journal
from tests.display.rendering import SCREEN, rendered, shown
from tests.scale import PATIENCE

COIN_MAP = load("coin").map
assert COIN_MAP is not None
TEXT = "You are in the hall. To the North you see the attic. To the South you see a closed plain door."
ROOM = Observed(0, None, TEXT, TEXT)
PROBLEM = """(define (problem p) (:domain d) (:objects hall attic loc1 - location)
(:init (at hall) (connected hall attic north) (connected attic hall south) (closed_door hall loc1)
(connected hall loc1 south)) (:goal (and)))"""
BEGUN = Started("coin", "", "edit", "m", 1, "", Limits(50), "textgames", {"map": COIN_MAP.model_dump()})
ADDED = (
    "attic - location",
    "loc1 - location",
    "(at hall)",
    "(connected hall attic north)",
    "(connected attic hall south)",
    "(closed_door hall loc1)",
    "(connected hall loc1 south)",
)


def lines_of(step: Step) -> list[str]:
    return [line.plain for line in reading_lines(step, UNICODE)]


def test_each_fact_stands_below_its_sentence() -> None:
    trace = shown([BEGUN, ROOM, Accepted("problem", PROBLEM, ADDED)])
    assert lines_of(trace.steps[-1]) == [
        "0 the game begins",
        "You are in the hall.",
        "    + (at hall)",
        "To the North you see the attic.",
        "    + attic - location",
        "    + (connected hall attic north)",
        "    + (connected attic hall south)",
        "To the South you see a closed plain door.",
        "    + (closed_door hall loc1)",
        "    + (connected hall loc1 south)",
        "facts about things that no response names",
        "    + loc1 - location",
    ]


def test_a_fact_about_a_constant_comes_from_the_sentence_with_its_name() -> None:
    """`cookbook` is a constant of the domain, and no object of the problem."""
    text = "You are in the kitchen. You see a stove. On the counter is a cookbook."
    problem = PROBLEM.replace("hall attic loc1", "kitchen")
    facts = ("(at kitchen)", "(thing_at cookbook kitchen)")
    trace = shown([BEGUN, Observed(0, None, text, text), Accepted("problem", problem, facts)])
    assert lines_of(trace.steps[-1])[-2:] == ["On the counter is a cookbook.", "    + (thing_at cookbook kitchen)"]


def test_an_answer_may_read_several_responses() -> None:
    after = Observed(1, "open door", "You open the door.", "You open the door.")
    trace = shown([ROOM, after, Accepted("problem", PROBLEM, ADDED[:1])])
    assert "    + attic - location" in lines_of(trace.steps[-1])


def test_a_step_without_an_answer_has_its_sentences_only() -> None:
    assert lines_of(shown([ROOM]).steps[-1])[1:] == [
        "You are in the hall.",
        "To the North you see the attic.",
        "To the South you see a closed plain door.",
    ]


@pytest.mark.parametrize("truth", [True, False])
def test_modes_without_a_problem_have_the_map_of_the_reader(tmp_path: Path, truth: bool) -> None:
    pddlego.evaluate("coin", tmp_path / "run", modes="act", seeds="1", truth=truth).wait(PATIENCE)
    journal = find_journal(tmp_path / "run")
    read = read_journal(journal, make_codec())
    assert any(isinstance(event, GameRead) for event in read.events) is truth
    trace = Trace(explain_episode(journal).timed)  # as `t` in the browser
    assert GameView(trace).sketched
    (tab,) = (tab for tab in tabs_of(SCREEN, trace) if tab.name == "map")
    text = "\n".join(line.plain for line in tab.lines(trace.steps[-1], UNICODE))
    assert text.startswith("map as the built-in reader reads the game")
    assert "● " in text
    assert "map as the built-in reader reads the game" in rendered(trace, 120, 40)
