"""Where each value of the configuration comes from, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import pddlego
from pddlego.errors import UsageError
from pddlego.evaluation.config import ARGUMENT, DEFAULT, resolve
from pddlego.evaluation.prepare import make_setup
from pddlego.evaluation.resources import make_planners
from pddlego.evaluation.setup import one_cell


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "own.toml"


def test_a_table_takes_the_name_of_a_field_and_that_of_the_option(file: Path) -> None:
    file.write_text('[planner]\nengine = "graphplan"\ntimeout = 3\n[endpoint]\nmax_tokens = 7\n')
    resolved = resolve({}, {}, file)
    assert (resolved.config.planner.engine, resolved.config.planner.timeout) == ("graphplan", 3.0)
    assert resolved.config.endpoint.max_tokens == 7
    assert resolved.config.limits.max_tokens is None, "that is another option of the same name"
    assert resolved.origin("planner") == resolved.origin("max_answer_tokens") == str(file)
    assert resolved.origin("max_tokens") == DEFAULT


def test_a_flag_beats_the_field_of_a_table(file: Path) -> None:
    file.write_text('[planner]\nengine = "graphplan"\n')
    assert resolve({"planner": "pyperplan"}, {}, file).config.planner.engine == "pyperplan"


@pytest.mark.method("programs")
@pytest.mark.method("thought_of_search")
def test_a_table_sets_the_options_of_one_method_only(file: Path) -> None:
    file.write_text('[programs]\nisolation = "off"\n')
    resolved = resolve({}, {}, file)
    assert resolved.origins == {("programs", "isolation"): str(file)}
    assert resolved.config.methods["thought_of_search"].model_dump()["isolation"] == "required"


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        pytest.param({"kappa": "1,2"}, "kappa = 1,2 is invalid", marks=pytest.mark.method("graphplan")),
        ({"memory": "much"}, "--memory much is invalid"),
        ({"workers": 0}, "--workers 0 is invalid"),
    ],
)
def test_a_wrong_value_is_told_as_it_was_typed(flags: dict[str, Any], text: str) -> None:
    with pytest.raises(UsageError, match=text):
        resolve(flags, {})
    with pytest.raises(UsageError, match=r"^[a-z_]+ = .* is invalid"):
        resolve(flags, {}, origin=ARGUMENT)


def test_a_command_reads_only_the_variables_of_its_options() -> None:
    environment = {"PDDLEGO_WORKERS": "many", "PDDLEGO_JAVA": "/opt/java"}
    assert resolve({}, environment, names=("java",)).origin("java") == "environment (PDDLEGO_JAVA)"
    with pytest.raises(UsageError, match="workers = many is invalid"):
        resolve({}, environment)
    with pytest.raises(UsageError, match="Unknown option 'workers'"):
        resolve({"workers": 2}, {}, names=("java",))


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ('api_key = "x"', "looks like a secret"),
        ('nested = {inner = {access_key = "x"}}', "looks like a secret"),
        ('list = [{password = "x"}]', "looks like a secret"),
        ('note = "sk-123456"', "looks like a secret"),
        ("temperature = 1", "cannot be set so"),
        ("messages = []", "cannot be set so"),
        ("when = 2020-01-01", "has no value that JSON has"),
        ("big = inf", "has no value that JSON has"),
    ],
)
def test_fields_of_a_table_are_checked_as_those_of_a_flag(file: Path, fields: str, text: str) -> None:
    file.write_text(f"[endpoint.extra_body]\n{fields}\n")
    with pytest.raises(UsageError, match=text):
        resolve({}, {}, file)


def test_a_list_of_fields_holds_texts() -> None:
    with pytest.raises(UsageError, match="'3' is not a field"):
        resolve({"extra_body": [3]}, {})


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"modes": ("edit", "random")}, "One episode has one mode"),
        ({"models": "reader,reader+noise:0.1"}, "One episode has one model"),
        ({"repeats": 2}, "One episode has one repeat"),
        ({"ablate": "ladder"}, "One episode has one mode"),
        pytest.param({"kappa": 1.0}, "kappa has no effect here", marks=pytest.mark.method("graphplan")),
    ],
)
def test_one_episode_is_one_cell(options: dict[str, Any], text: str) -> None:
    with pytest.raises(UsageError, match=text):
        one_cell(make_setup(resolve({"games": ("coin",), "seeds": "0", **options}, {})))


@pytest.mark.method("builders")
def test_a_build_takes_only_options_that_change_it() -> None:
    for name in ("workers", "max_cost", "kappa"):
        options: dict[str, Any] = {name: 1}
        with pytest.raises(UsageError, match=f"Unknown option '{name}'"):
            pddlego.build("domain", "Some blocks.", "m", **options)


@pytest.mark.parametrize(
    ("game", "mode", "options"),
    [
        pytest.param("ferry", "plan-no-heuristic", {"planner": "fast-downward"}, marks=pytest.mark.method("programs")),
        pytest.param("ferry", "plan-no-heuristic", {"planner": "mimir"}, marks=pytest.mark.method("programs")),
        pytest.param("ferry", "plan-no-heuristic", {"planner": "graphplan"}, marks=pytest.mark.method("programs")),
        pytest.param(
            *("ferry", "plan", {"planner": "pyperplan", "set": ("baseline=hadd",)}),
            marks=pytest.mark.method("programs"),
        ),
        ("coin", "edit", {"planner": "mimir"}),
        ("coin", "edit-no-ladder", {"planner": "mimir"}),
        ("coin", "gen", {"planner": "fast-downward", "search": "gbf(hmax)"}),
        ("coin", "gen", {"planner": "graphplan", "search": "gbf(blind)"}),
    ],
)
def test_a_search_that_the_planner_does_not_have_is_refused_before_the_first_task(
    game: str, mode: str, options: dict[str, Any]
) -> None:
    with pytest.raises(
        UsageError, match=f"{game} in mode {mode} cannot use the planner {options['planner']}"
    ) as caught:
        make_setup(resolve({"games": (game,), "modes": (mode,), **options}, {}))
    assert caught.value.reason and caught.value.next_step


@pytest.mark.method("programs")
@pytest.mark.parametrize("planner", ["fast-downward", "mimir", "graphplan"])
def test_modes_that_can_use_a_planner_are_not_refused(planner: str) -> None:
    assert make_setup(resolve({"games": ("ferry",), "modes": ("plan",), "planner": planner}, {}))


@pytest.mark.method("programs")
def test_an_engine_that_is_not_installed_is_refused_before_the_first_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pddlego.planning.process.missing", lambda engine: ("up_fast_downward", "pip install it"))
    with pytest.raises(UsageError, match="The planner fast-downward is not installed"):
        make_planners(make_setup(resolve({"games": ("ferry",), "modes": ("plan",), "planner": "fast-downward"}, {})))
