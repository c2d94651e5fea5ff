"""Options that were chosen and that nothing reads are refused: all pairs of an option and a mode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pddlego.evaluation.config import COMMON_GROUPS, PARAMETERS, groups
from pddlego.evaluation.dependencies import has_effect
from pddlego.methods.base import BUILT_IN_MODEL, Method, Mode
from pddlego.methods.registry import methods
from pddlego.runs.cells import Matrix
from pddlego.util.options import options_of
from tests.cli.command import run_at_once

GAMES = {"text game": "coin", "planning": "ferry", "search": "24game", "text": "text-blocks"}
"""A game of each kind of setting."""

PLAYED = [(by, mode) for by in methods() for mode in by.modes if mode.plays in GAMES]

OPTIONS: dict[str, dict[str, str]] = {}
for group, kind in groups().items():
    for option in options_of(kind):
        if option.name != PARAMETERS:
            OPTIONS.setdefault(option.name, {})[group] = option.field
"""The fields of each option, by its groups."""

OF_REQUESTS = {"max_calls", "max_tokens", "max_cost", "prices", "llm_jobs"}


def is_read(name: str, by: Method, mode: Mode, model: str) -> bool:
    """What the mode and its method declare."""
    places = {group: field for group, field in OPTIONS[name].items() if group in (*COMMON_GROUPS, by.name)}
    if "endpoint" in places or name in OF_REQUESTS:
        return mode.asks_model and model != BUILT_IN_MODEL
    if name in ("models", "retries"):
        return mode.asks_model
    if name in ("carry", "from"):
        return bool(mode.carries.kind)
    own = [field if group == by.name else group for group, field in places.items() if group in ("planner", by.name)]
    if own:
        return any({mode.name, mode.plays} & {*by.read_by.get(field, (mode.name,))} for field in own)
    return bool(places)


CASES = [(by, mode, BUILT_IN_MODEL) for by, mode in PLAYED] + [(by, by.modes[0], "gpt-x") for by in methods()]


@pytest.mark.parametrize(("by", "mode", "model"), CASES, ids=[f"{mode.name}-{model}" for _, mode, model in CASES])
def test_each_option_has_an_effect_in_the_modes_that_read_it_only(by: Method, mode: Mode, model: str) -> None:
    matrix = Matrix({GAMES[mode.plays]: (0,)}, (mode.name,), (model,), 1, () if mode.asks_model else (mode.name,))
    assert [name for name in OPTIONS if has_effect(name, matrix) != is_read(name, by, mode, model)] == []


@pytest.mark.parametrize("by", [*methods()], ids=lambda by: by.name)
def test_what_a_method_declares_exists(by: Method) -> None:
    fields = {option.field for option in options_of(by.options)} | {"planner"}
    assert {name for name in by.read_by if not name.startswith("prompts/")} <= fields
    known = {word for mode in by.modes for word in (mode.name, mode.plays)}
    assert {word for readers in by.read_by.values() for word in readers} <= known


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("play", "coin", "--mode", "edit", "--set", "valid_actions=all"), "--set valid_actions"),
        (("play", "coin", "--mode", "act", "--set", "replan=every-step"), "--set replan"),
        (("play", "coin", "--mode", "act", "--planner", "mimir"), "--planner"),
        (("play", "coin", "--mode", "gen", "--from", "x.toml"), "--from"),
        (("play", "coin", "--mode", "random", "--model", "gpt-x"), "The model"),
        (("eval", "coin", "--modes", "gen", "--carry"), "--carry"),
        (("eval", "coin", "--modes", "edit", "--models", "reader", "--temperature", "0"), "--temperature"),
        (("eval", "coin", "--modes", "edit", "--tasks", "x"), "--tasks"),
    ],
)
def test_an_option_without_effect_is_refused_with_what_reads_it(tmp_path: Path, arguments: Any, option: str) -> None:
    code, printed = run_at_once(*arguments, cwd=tmp_path)
    assert code == 2
    what, reason, advice = printed.splitlines()
    assert what == f"Error: {option} has no effect here"
    assert reason and advice
    assert not list(tmp_path.iterdir())
