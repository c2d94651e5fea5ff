"""The reader, erring on purpose: every kind of error in its own way, and the same for the same seed."""

from __future__ import annotations

import itertools
import json
import random

import pytest

from pddlego.episode import events as ev
from pddlego.errors import UsageError
from pddlego.evaluation.config import resolve
from pddlego.evaluation.models import is_free
from pddlego.methods.base import BuiltIn
from pddlego.methods.textgames.events import Observed
from pddlego.methods.textgames.reference_model import (
    BLIND,
    IDENTICAL,
    KINDS,
    Edited,
    NoisyReader,
    builtin_model,
    with_any_error,
)
from pddlego.methods.textgames.settings import GameSetting
from pddlego.pddl import parse_problem
from pddlego.planning import ProcessPlanner
from pddlego.runs.cells import Cell
from tests.methods.textgames.grid_house import small_house
from tests.methods.textgames.playing import ended, of, play

RENAMED = {"old": "loc1 - location", "new": "attic - location"}
EDIT = json.dumps(
    {
        "objects": {"add": ["loc2 - location"], "replace": [RENAMED], "delete": []},
        "init": {
            "add": ["(visited attic)", "(connected attic loc2 north)", "(connected loc2 attic south)", "(at attic)"],
            "replace": [],
            "delete": ["(at kitchen)"],
        },
    }
)


def erring(kind: str, text: str = EDIT) -> str:
    return KINDS[kind].make(text, random.Random(1))


def added(text: str) -> list[str]:
    result: list[str] = json.loads(text)["init"]["add"]
    return result


def test_every_kind_errs_in_its_own_way() -> None:
    assert any("loc1" in item for item in added(erring("forgotten-rename")))
    assert len([item for item in added(erring("missing-reverse")) if "connected" in item]) == 1
    assert json.loads(erring("undeclared-object"))["objects"]["add"] == []
    assert len(added(erring("duplicate"))) == 5
    assert "(at kitchen)" not in json.loads(erring("stale-at"))["init"]["delete"]
    assert erring("missing-parenthesis", "((a))").count(")") == 1
    assert "```" in erring("fence-and-prose")
    assert EDIT.startswith(erring("cut-off"))
    assert len(erring("cut-off")) < len(EDIT)
    assert "sorry" in erring("refusal")
    assert erring("empty") == ""


def noisy(planner: ProcessPlanner, coin: GameSetting, model: NoisyReader, mode: str = "edit") -> list[ev.Event]:
    return play(coin, planner, small_house("pantry"), model, mode)


@pytest.mark.parametrize("mode", ["edit", "gen"])
def test_without_noise_it_is_the_reader(coin: GameSetting, planner: ProcessPlanner, mode: str) -> None:
    events = noisy(planner, coin, NoisyReader(0.0), mode)
    assert not of(events, ev.Rejected)
    assert ended(events).usage.refused == 0


def test_the_same_seed_errs_in_the_same_way(coin: GameSetting, planner: ProcessPlanner) -> None:
    def answers(seed: int, episode: int = 0) -> list[str]:
        events = noisy(planner, coin, NoisyReader(0.5, seed, episode=episode))
        return [item.completion.text for item in of(events, ev.Answered)]

    assert answers(1) == answers(1)
    assert len({tuple(answers(seed)) for seed in range(4)}) > 1
    assert len({tuple(answers(1, episode)) for episode in range(4)}) > 1


def test_only_the_chosen_kinds(coin: GameSetting, planner: ProcessPlanner) -> None:
    events = noisy(planner, coin, NoisyReader(1.0, kinds=("empty",)))
    assert {item.completion.text for item in of(events, ev.Answered)} == {""}
    assert ended(events).outcome.value == "no plan"


def test_a_retry_may_be_the_rejected_answer_again(coin: GameSetting, planner: ProcessPlanner) -> None:
    texts = [
        [
            item.completion.text
            for item in of(noisy(planner, coin, NoisyReader(0.6, seed, ("refusal", IDENTICAL))), ev.Answered)
        ]
        for seed in range(6)
    ]
    assert any(one == two for item in texts for one, two in itertools.pairwise(item))


def blind(planner: ProcessPlanner, coin: GameSetting, kinds: tuple[str, ...]) -> list[list[str]]:
    """The answers of 12 noise seeds in a mode that says nothing of what was wrong."""
    games = (noisy(planner, coin, NoisyReader(0.5, seed, kinds), "edit-no-feedback") for seed in range(12))
    return [[item.completion.text for item in of(events, ev.Answered)] for events in games]


def repeated(answers: list[list[str]]) -> int:
    return sum(one == two for item in answers for one, two in itertools.pairwise(item))


def test_who_is_not_told_what_was_wrong_errs_in_the_same_way_again(coin: GameSetting, planner: ProcessPlanner) -> None:
    kinds = ("refusal", "empty")
    assert repeated(blind(planner, coin, (*kinds, BLIND))) > repeated(blind(planner, coin, kinds))


def test_a_blind_retry_may_be_the_same_answer_without_having_been_shown_it(
    coin: GameSetting, planner: ProcessPlanner
) -> None:
    assert repeated(blind(planner, coin, ("refusal", "empty", IDENTICAL))) > 0


def test_what_is_cut_off_says_so(coin: GameSetting, planner: ProcessPlanner) -> None:
    events = noisy(planner, coin, NoisyReader(0.5, kinds=("cut-off",)))
    assert "length" in {item.completion.finish for item in of(events, ev.Answered)}
    assert "cut off" in {item.feedback.category for item in of(events, ev.Rejected)}


@pytest.mark.parametrize("kind", ["missing-reverse", "undeclared-object", "duplicate", "forgotten-rename"])
def test_in_a_whole_file_an_error_may_hit_what_was_there_before(kind: str) -> None:
    made = KINDS[kind].make
    assert isinstance(made, Edited)
    problem = parse_problem(
        "(define (problem p) (:domain d) (:objects a b c - location) (:init (at a) (connected a b north)"
        " (connected b c north) (connected c b south)) (:goal (at c)))"
    )
    files = {
        with_any_error(problem, made, random.Random(seed), [{"old": "old - location", "new": "b - location"}])
        for seed in range(30)
    }
    assert len(files) >= 3
    assert all(file.endswith("(:goal (at c))\n)") for file in files)


def test_names() -> None:
    built_in = BuiltIn.parse("reader+noise:0.1,seed=3,kinds=refusal+empty", KINDS)
    assert built_in == BuiltIn(0.1, 3, ("refusal", "empty"))
    model = NoisyReader(0.1, 3, built_in.kinds, 0)
    assert (model.rate, model.seed, model.kinds) == (0.1, 3, ("refusal", "empty"))
    assert model.name == "reader+noise:0.1,seed=3,kinds=refusal+empty"
    assert NoisyReader(0.2).name == "reader+noise:0.2"
    assert model.description["noise"]["simulation"] is True
    cell = Cell("coin", "edit", "reader+noise:0.1", 7)
    assert is_free(cell)
    assert isinstance(builtin_model(cell.model, cell, None), NoisyReader)


@pytest.mark.parametrize(
    "name",
    [
        "reader+noise:",
        "reader+noise:2",
        "reader+noise:0.1,kinds=dream",
    ],
)
def test_what_is_no_noise(name: str) -> None:
    with pytest.raises(UsageError, match="Unknown model"):
        builtin_model(name, Cell("coin", "edit", name, 7), None)


def test_options_of_a_model_may_stand_in_a_list() -> None:
    result = resolve({"models": "reader, reader+noise:0.1,seed=3 ,kinds=empty,gpt-x"}, {}).config.what.models
    assert result == ("reader", "reader+noise:0.1,seed=3,kinds=empty", "gpt-x")


def test_an_error_in_an_edit_is_the_same_error_in_a_file(coin: GameSetting, planner: ProcessPlanner) -> None:
    events = noisy(planner, coin, NoisyReader(1.0, kinds=("missing-reverse",)), "gen")
    first = of(events, ev.Accepted)[0].text
    assert first.count("(connected ") == 3, "of two exits with their ways back one way is missing"


def test_in_act_another_command_is_chosen(coin: GameSetting, planner: ProcessPlanner) -> None:
    commands = {
        rate: [
            item.command
            for item in of(noisy(planner, coin, NoisyReader(rate, kinds=("other-command",)), "act"), Observed)
        ]
        for rate in (0.0, 0.5)
    }
    assert commands[0.0] != commands[0.5]


@pytest.mark.parametrize("kind", ["impossible-command", "refusal", "empty"])
def test_in_act_an_answer_that_is_no_command_is_rejected(coin: GameSetting, planner: ProcessPlanner, kind: str) -> None:
    events = noisy(planner, coin, NoisyReader(0.5, kinds=(kind,)), "act")
    assert {item.feedback.category for item in of(events, ev.Rejected)} == {"invalid command"}
    assert not of(noisy(planner, coin, NoisyReader(0.0, kinds=(kind,)), "act"), ev.Rejected)


def test_kinds_of_commands_are_not_drawn_for_problems() -> None:
    fits = {purpose: {name for name, kind in KINDS.items() if purpose in kind.purposes} for purpose in ("edit", "act")}
    assert fits["act"] == {"other-command", "impossible-command", "refusal", "empty"}
    assert not {"other-command", "impossible-command"} & fits["edit"]
