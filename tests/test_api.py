"""The Python interface, as a user calls it."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

import pddlego
from pddlego.episode.budget import EpisodeOver
from pddlego.episode.events import Outcome
from pddlego.errors import UsageError
from tests import options
from tests.children import started
from tests.scale import PATIENCE


@pytest.mark.parametrize(
    "game",
    [
        pytest.param("ferry", marks=pytest.mark.method("programs")),
        pytest.param("text-ferry", marks=pytest.mark.method("builders")),
    ],
)
def test_play_without_a_mode_takes_the_first_mode_of_the_game(game: str) -> None:
    assert pddlego.play(game).won


@pytest.mark.whole
def test_the_options_are_those_of_the_configuration() -> None:
    formatted = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "-"],
        input=options.module(),
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    assert options.FILE.read_text(encoding="utf-8") == formatted.stdout, "run: python -m tests.options"


@pytest.mark.whole
def test_all_public_names_are_there() -> None:
    for name in pddlego.__all__:
        assert getattr(pddlego, name) is not None
    assert set(pddlego.__all__) <= set(dir(pddlego))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"retires": 3}, "Did you mean 'retries'?"),
        ({"temperature": "hot"}, "temperature = hot is invalid"),
        ({"mode": "edti"}, "Did you mean 'edit'?"),
        ({"seed": 10**6}, "1000000"),
        ({"max_cost": 1.0, "model": "gpt-x"}, "max_cost requires the price of every model"),
        ({"carry": True}, "Unknown option 'carry'"),
    ],
)
def test_errors_name_arguments(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(pddlego.PddlegoError) as error:
        pddlego.play("coin", **arguments)
    assert says in str(error.value)
    assert "--" not in str(error.value)


def test_a_function_that_fails_ends_its_episode() -> None:
    def broken(messages: list[pddlego.Message]) -> str:
        raise ValueError("no answer today")

    episode = pddlego.play("coin", model=broken)
    assert episode.outcome.value == "model error"
    assert "no answer today" in episode.message

    def wrong(messages: object) -> Any:
        return 3

    assert "returned int" in pddlego.play("coin", model=wrong).message


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even this")


class Fatal(BaseException):
    def __str__(self) -> str:
        raise asyncio.CancelledError


RAISED = (
    (asyncio.CancelledError("no more"), "CancelledError: no more"),
    (GeneratorExit("enough"), "GeneratorExit: enough"),
    (SystemExit(3), "SystemExit: 3"),
    (StopIteration("that was all"), "StopIteration: that was all"),
    (MemoryError("full"), "MemoryError: full"),
    (EpisodeOver(Outcome.WON, "I have won"), "EpisodeOver: I have won"),
    (UsageError("wrong"), "UsageError: wrong"),
    (UnspeakableError(), "UnspeakableError: (no message: its __str__ raises RuntimeError)"),
    (Fatal(), "Fatal: (no message: its __str__ raises CancelledError)"),
    (ValueError("half of \ud83d"), "ValueError: half of ?"),
)


def test_whatever_a_function_raises_every_cell_has_an_outcome(tmp_path: Path) -> None:
    """One worker plays all of them: what ends it would lose the cells after it."""
    left = list(RAISED)

    def failing(messages: list[pddlego.Message]) -> str:
        raise left.pop(0)[0]

    options: dict[str, Any] = {"modes": "act", "seeds": range(len(RAISED)), "workers": 1}
    results = pddlego.evaluate("coin", tmp_path / "run", models=failing, **options).results
    assert [result.outcome for result in results] == [Outcome.MODEL_ERROR] * len(RAISED)
    assert [says in result.message for (_, says), result in zip(RAISED, results, strict=True)] == [True] * len(RAISED)


@pytest.mark.parametrize("answer", [None, b"look", 3, ["look"], pddlego.Completion(None), pddlego.Completion(b"look")])  # type: ignore[arg-type]
def test_an_answer_is_a_text(answer: Any) -> None:
    assert pddlego.play("coin", "act", model=lambda messages: answer).outcome is Outcome.MODEL_ERROR


def test_an_object_may_be_a_model() -> None:
    class Silent:
        name = "silent"
        description: ClassVar[dict[str, Any]] = {}

        def complete(self, request: pddlego.Request) -> pddlego.Completion:
            return pddlego.Completion("", tokens_in=7)

    episode = pddlego.play("coin", model=Silent(), retries=1)
    assert (episode.model, episode.usage.tokens_in) == ("python:silent", 14)


def test_functions_in_an_evaluation(tmp_path: Path) -> None:
    def looking(messages: list[pddlego.Message]) -> str:
        return "look around"

    options: dict[str, Any] = {"modes": "act", "seeds": range(2), "max_steps": 3}
    evaluation = pddlego.evaluate("coin", tmp_path / "run", models=[looking, "reader"], **options)
    assert {episode.model for episode in evaluation} == {"python:looking", "reader"}
    again = pddlego.evaluate("coin", tmp_path / "run", models=[looking, "reader"], **options)
    assert len(again.results) == 4, "finished episodes are not played again"
    with pytest.raises(pddlego.PddlegoError, match="python:looking"):
        pddlego.evaluate("coin", tmp_path / "run", models="python:looking", **{**options, "seeds": range(3)})


def test_a_folder_of_another_configuration_is_refused_at_once(tmp_path: Path) -> None:
    pddlego.evaluate("coin", tmp_path, seeds="1").wait(PATIENCE)
    with pytest.raises(pddlego.PddlegoError, match="configuration"):
        pddlego.evaluate("coin", tmp_path, seeds="1", retries=2)


def test_stopping_an_evaluation(tmp_path: Path) -> None:
    evaluation = pddlego.evaluate("coin", tmp_path, modes="random", seeds="0-200", workers=1)
    first = next(iter(evaluation))
    assert first.game == "coin"
    evaluation.stop()
    assert len(evaluation.results) < 201
    assert "still running" not in repr(evaluation)


INTERRUPTED = """
import signal, sys, time, pddlego
signal.signal(signal.SIGINT, signal.default_int_handler)
evaluation = pddlego.evaluate("coin", sys.argv[1], modes="random", seeds="0-400", workers=2)
next(iter(evaluation))
print("begun", flush=True)
{rest}
"""


@pytest.mark.slow
@pytest.mark.parametrize("rest", ["time.sleep(1000)", "for episode in evaluation: pass"])
def test_an_interrupt_stops_what_runs_in_the_background(tmp_path: Path, rest: str) -> None:
    command = [sys.executable, "-c", INTERRUPTED.replace("{rest}", rest), str(tmp_path / "run")]
    with started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=PATIENCE) != 0
    assert 0 < len(pddlego.load(tmp_path / "run").results) < 401


def test_a_stream_that_is_left(tmp_path: Path) -> None:
    stream = pddlego.stream("coin", seed=3)
    with pytest.raises(ValueError, match="has not begun"):
        _ = stream.episode
    for event in stream:
        if event.type == "observed":
            break
    assert not stream.episode.won
    assert stream.episode.outcome.value == "interrupted"


def test_asynchronous_evaluations(tmp_path: Path) -> None:
    async def play() -> list[int]:
        return [episode.seed async for episode in pddlego.evaluate("coin", tmp_path / "run", seeds="3-4")]

    assert sorted(asyncio.run(play())) == [3, 4]


def test_values_are_shown_in_notebooks(tmp_path: Path) -> None:
    episode = pddlego.play("coin", seed=3)
    assert episode._repr_html_().startswith("<iframe srcdoc=")
    assert episode.problem is not None
    assert "(at kitchen)" in episode.problem._repr_html_()
    evaluation = pddlego.evaluate("coin", tmp_path / "run", seeds="3").wait(PATIENCE)
    assert "<td>100%</td>" in evaluation._repr_html_()


@pytest.mark.pandas
def test_rows_of_pandas(tmp_path: Path) -> None:
    frame = pddlego.evaluate("coin", tmp_path, seeds="3-5").to_pandas()
    assert frame["won"].sum() == 3


SCRIPT = """
import pddlego
from pddlego.episode.budget import EpisodeOver
from pddlego.episode.events import Outcome
from pddlego.errors import UsageError

episode = pddlego.play("coin", mode="edit", seed=1, timeout=5.0)
facts: list[int] = [len(step.problem.facts) for step in episode.trajectory if step.problem is not None]
evaluation = pddlego.evaluate(["coin"], "run", modes=["edit"], seeds=range(3), workers=2, set={"numLocations": 5})
for one in evaluation:
    print(one.won, one.usage.calls)
"""


@pytest.mark.slow
def test_a_wrong_option_is_found_by_mypy(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(SCRIPT)
    (tmp_path / "name.py").write_text(SCRIPT.replace("timeout=5.0", "tmeout=5.0"))
    (tmp_path / "type.py").write_text(SCRIPT.replace("workers=2", 'workers="two"'))
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "good.py", "name.py", "type.py"]
    errors = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE).stdout
    assert "good.py" not in errors
    assert re.search(r'^name.py:.* Unexpected keyword argument "tmeout"', errors, re.MULTILINE), errors
    assert re.search(r'^type.py:.* incompatible type "str"; expected "int"', errors, re.MULTILINE), errors


@pytest.mark.parametrize("name", ["games", "modes", "models", "seeds", "run", "retires"])
def test_one_episode_has_no_options_of_evaluations(name: str) -> None:
    options: dict[str, Any] = {name: ["random"]}
    with pytest.raises(UsageError, match=f"Unknown option '{name}'"):
        pddlego.play("coin", **options)


@pytest.mark.parametrize("seed", [3.7, None, True, "3", [1], range(3)])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    with pytest.raises(UsageError, match="is invalid"):
        pddlego.play("coin", seed=seed)


def test_seeds_are_anything_that_lists_whole_numbers(tmp_path: Path) -> None:
    class Number:
        def __index__(self) -> int:
            return 4

        def __str__(self) -> str:
            return "4"

    seeds: Any = (seed for seed in [3, Number()])
    evaluation = pddlego.evaluate("coin", tmp_path / "run", seeds=seeds, max_steps=1)
    assert [row["seed"] for row in evaluation.rows()] == [3, 4]


def test_an_episode_is_saved_into_an_empty_folder_only(tmp_path: Path) -> None:
    episode = pddlego.play("coin", seed=3, max_steps=1)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="is not empty"):
        episode.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_repair_is_listed_only_if_the_text_has_it() -> None:
    domain = "(define (domain d) (:predicates (on ?l)) (:action a :parameters (?l) :effect (on ?l)))"
    problem = "(define (problem p) (:domain d) (:objects a - lamp) (:init (lit a)) (:goal (on a))"
    repaired = pddlego.repair(problem, domain)
    assert not repaired.ok
    assert not [repair for repair in repaired.repairs if "lit" in repair or "lamp" in repair]
