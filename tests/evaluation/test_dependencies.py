"""A run can be continued with another value of what neither its earlier nor its new episodes read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import pddlego
from pddlego.errors import UsageError
from pddlego.evaluation.config import resolve
from pddlego.evaluation.dependencies import check_effects, reads
from pddlego.methods.base import parse_variant
from pddlego.methods.textgames.loading import load, setting_for
from pddlego.methods.textgames.options import MODES
from pddlego.methods.textgames.play import make_method
from pddlego.runs.cells import Matrix
from pddlego.runs.store import read_configuration
from pddlego.util import resources


def evaluate(run: Path, **options: Any) -> Mapping[str, Any]:
    """The recorded configuration of the setting, after all episodes were played."""
    pddlego.evaluate("coin", run, **{"modes": "random", "seeds": "0", "max_steps": 2, **options}).wait()
    return read_configuration(run)


UNREAD: list[tuple[str, str, str]] = [
    ("edit", "valid_actions", "all"),
    ("edit", "temperature", "0"),  # of the reader
    ("random", "valid_actions", "all"),
    ("random", "history", "all"),
    ("random", "search", "bfs"),
    ("random", "replan", "every-step"),
    ("random", "timeout", "5"),
    ("random", "retries", "0"),
    ("gold", "reasoning_effort", "low"),
    ("random,gold", "extra_body", "a=1"),
]
"""Modes, an option that they do not read, and a value of it."""


@pytest.mark.parametrize(("modes", "option", "value"), UNREAD)
@pytest.mark.parametrize("first", [True, False])
def test_an_option_of_the_environment_without_effect_locks_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, modes: str, option: str, value: str, first: bool
) -> None:
    values = (value, "") if first else ("", value)
    monkeypatch.setenv(f"PDDLEGO_{option.upper()}", values[0])
    begun = evaluate(tmp_path / "run", modes=modes)
    monkeypatch.setenv(f"PDDLEGO_{option.upper()}", values[1])
    assert evaluate(tmp_path / "run", modes=modes, seeds="0-1") == begun


@pytest.mark.parametrize(("modes", "option", "value"), UNREAD)
def test_an_option_without_effect_is_refused_if_it_is_chosen(
    tmp_path: Path, modes: str, option: str, value: str
) -> None:
    with pytest.raises(UsageError, match=f"{option} has no effect here"):
        evaluate(tmp_path / "run", modes=modes, **{option: value})
    assert not (tmp_path / "run").exists()


def test_an_option_counts_from_the_first_mode_that_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / "run"
    evaluate(run, modes="edit")
    with monkeypatch.context() as patched:
        patched.setenv("PDDLEGO_VALID_ACTIONS", "all")
        kept = evaluate(run, modes="edit,random")
    assert kept["settings"]["coin"]["options"]["valid_actions"] == "last"
    kept = evaluate(run, modes="act,edit", models="reader", valid_actions="all")
    assert kept["settings"]["coin"]["options"]["valid_actions"] == "all", "the episodes of act are played with it"
    with pytest.raises(UsageError, match=r"valid_actions was \"all\" and is now \"last\""):
        evaluate(run, modes="act")
    assert evaluate(run, modes="edit") == kept


@pytest.mark.parametrize(
    ("modes", "options"),
    [
        ("act", {"valid_actions": "all"}),
        ("edit", {"search": "gbf(hff)"}),
        ("random", {"max_steps": 3}),
        ("edit", {"history": "all"}),
        ("edit", {"retries": 0}),
    ],
)
def test_an_option_with_effect_does(tmp_path: Path, modes: str, options: dict[str, Any]) -> None:
    evaluate(tmp_path / "run", modes=modes)
    with pytest.raises(UsageError, match="begun with another configuration"):
        evaluate(tmp_path / "run", modes=modes, **options)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder where the user works, with prompts of its own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prompts" / "coin").mkdir(parents=True)
    yield tmp_path


def test_a_new_prompt_of_a_mode_that_is_not_played_stops_no_run(here: Path) -> None:
    evaluate(here / "run", modes="edit")
    for name in ("gen-example.txt", "act-rules.txt", "learn.txt", "full-turn.txt"):
        (here / "prompts" / "coin" / name).write_text("Nothing.")
    evaluate(here / "run", modes="edit", seeds="0-1")
    (here / "prompts" / "coin" / "edit-example.txt").write_text("Nothing.")
    with pytest.raises(UsageError, match="edit-example"):
        evaluate(here / "run", modes="edit")


def test_a_prompt_that_was_not_read_may_be_gone(here: Path) -> None:
    other = here / "prompts" / "coin" / "gen-example.txt"
    other.write_text("Nothing.")
    evaluate(here / "run", modes="edit")
    other.unlink()
    evaluate(here / "run", modes="edit", seeds="0-1")


GAMES = ("coin", "cooking-hard", "twc", "paper-coin", "household", "science-paint", "textworld-coin")


@pytest.mark.parametrize("game", GAMES)
def test_what_a_mode_renders_is_what_it_reads(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read, rendered = resources.read, set[str]()

    def noted(kind: str, name: str) -> str:
        rendered.add(f"{kind}/{name}")
        return read(kind, name)

    for mode in (mode for mode in MODES if mode.asks_model):
        try:
            setting = setting_for(load(game), parse_variant(mode.name, MODES))
        except UsageError:
            continue
        rendered.clear()
        with monkeypatch.context() as patched:
            patched.setattr(resources, "read", noted)
            make_method(mode.name, setting, 0)
        asked = [Matrix({game: (0,)}, (mode.name,), ("reader",), without_model=())]
        files = {name for name in rendered if name.startswith("prompts/")}
        assert files
        assert [name for name in files if not reads(("settings", game, "files", name), asked)] == []


@pytest.mark.parametrize(
    ("given", "typed"),
    [
        ({"from_": "x.toml"}, "from"),
        ({"carry": True}, "carry"),
    ],
)
def test_a_text_to_begin_from_needs_a_mode_that_reads_it(here: Path, given: dict[str, Any], typed: str) -> None:
    (here / "x.toml").write_text("")
    with pytest.raises(UsageError, match=f"{typed} has no effect here"):
        evaluate(here / "run", modes="gen,act", **given)
    assert not (here / "run").exists()


def test_an_option_that_changes_the_task_is_read_by_all_or_refused(here: Path) -> None:
    constraint = {"set": ("constraint=never enter the bathroom",)}
    with pytest.raises(UsageError, match="set constraint has no effect in mode act"):
        evaluate(here / "run", modes="edit,act", **constraint)
    assert not (here / "run").exists()
    evaluate(here / "run", modes="edit,learn", **constraint)


@pytest.mark.parametrize("modes", [("edit", "act"), ("act",)])
def test_an_option_of_a_file_that_changes_the_task_is_read_by_all_or_refused(
    tmp_path: Path, modes: tuple[str, ...]
) -> None:
    """Other options of a file are for the commands that read them."""
    file = tmp_path / "config.toml"
    file.write_text('[textgames]\nvalid_actions = "all"\nconstraint = "never enter the bathroom"\n')
    resolved = resolve({}, {}, file)
    with pytest.raises(UsageError, match=r"constraint \(set in: .*config.toml\) has no effect"):
        check_effects(resolved, Matrix({"coin": (0,)}, modes, ("reader",), without_model=()), False)
    check_effects(resolved, Matrix({"coin": (0,)}, ("edit", "learn"), ("reader",), without_model=()), False)


def test_runs_of_today_have_the_same_manifest(tmp_path: Path) -> None:
    """What is recorded did not change: a new version of pddlego continues an old run, and an old one a new run."""
    kept = evaluate(tmp_path / "run", modes="act,edit", valid_actions="all")
    options = kept["settings"]["coin"]["options"]
    assert options["valid_actions"] == "all" and options["rules_from"] is None
    assert {"prompts/gen.j2", "prompts/act.j2", "prompts/edit.j2"} < set(kept["settings"]["coin"]["files"])
    json.dumps(kept)
