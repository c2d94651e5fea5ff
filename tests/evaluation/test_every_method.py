"""What an evaluation promises, for every method: interrupts, continuation, budgets, the cache, replay, reports."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.children import started
from tests.cli.command import run
from tests.coin_endpoint import next_command, next_files
from tests.model_server import ModelServer, answer
from tests.report.pages import pages_in
from tests.sandbox.ordinary import needs_locks
from tests.scale import PATIENCE
from tests.without import need

pytestmark = [needs_locks, pytest.mark.usefixtures("patient_sandboxes")]


@dataclass(frozen=True)
class Kind:
    """A mode of a method on a setting, and what its endpoint says to a request."""

    method: str
    game: str
    mode: str
    says: Callable[[dict[str, Any]], str]
    options: tuple[str, ...] = ()


def next_program(body: dict[str, Any]) -> str:
    """A summary, a strategy, a program that fails, and one that does not."""
    from pddlego.methods.programs.reference_model import reference

    asked = len(body["messages"])
    if asked < 5:
        return "It is about a ferry."
    return "```python\nx = 1\n```" if asked == 5 else f"```python\n{reference('ferry')}```"


def next_function(body: dict[str, Any]) -> str:
    """A successor function that fails, a goal test, and a successor function that does not."""
    from pddlego.methods.thought_of_search.reference_model import reference_functions as functions
    from tests.methods.thought_of_search.playing import fenced

    asked, texts = len(body["messages"]), functions("deduction")
    if asked < 5:
        return "```python\ndef successors(state, rules):\n    return []\n```" if asked == 2 else fenced(texts["goal"])
    return fenced(texts["successors"])


def next_advice(body: dict[str, Any]) -> str:
    """All candidates but the last, as they stand in the question."""
    items = str(body["messages"][0]["content"]).partition("Candidate actions of level")[2]
    lines = items.partition("\n\n")[0].splitlines()[1:]
    return "\n".join(lines[:-1] or lines)


def next_plan(body: dict[str, Any]) -> str:
    """A plan that cannot begin, and then one that is not a plan."""
    return "(unload-truck p0 t0 l00)" if len(body["messages"]) == 1 else "I give up."


def next_heuristic(body: dict[str, Any]) -> str:
    """A heuristic that fails at once, so that its evaluation does not last, and then one that is direct."""
    from pddlego.methods.programs.reference_model import reference
    from tests.methods.programs.guiding import heuristic

    text = heuristic("return node.nothing") if len(body["messages"]) == 1 else reference("spanner", "heuristics")
    return f"```python\n{text}```"


def a_component(body: dict[str, Any]) -> str:
    from tests.methods.builders.test_command_build import next_component

    return next_component(body)


KINDS = [
    Kind("textgames", "coin", "act", next_command),
    Kind("textgames", "coin", "full", next_files),
    Kind("programs", "ferry", "program", next_program),
    Kind("programs", "spanner", "heuristic-direct", next_heuristic),
    Kind("builders", "text-coin", "build+whole", a_component, ("--set", "feedback=model")),
    Kind("thought_of_search", "deduction", "tos", next_function, ("--set", "instances=20")),
    Kind("graphplan", "logistics", "graphplan", next_advice),
    Kind("graphplan", "logistics", "plan-by-model", next_plan, ("--retries", "2")),
]
SEEDS = "0-1"
FEW_CALLS = 3
"""Fewer calls than the episodes of any kind need."""


@pytest.fixture(
    params=[KINDS[0], *(pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS[1:])],
    ids=lambda kind: f"{kind.game}-{kind.mode}",
)
def kind(request: pytest.FixtureRequest) -> Kind:
    result: Kind = request.param
    need(result.method)
    return result


@pytest.fixture
def command(kind: Kind, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    model_server.replies = [lambda body: answer(kind.says(body))]
    where = ("--models", "m", "--base-url", model_server.url, *kind.options)
    return ("eval", kind.game, "--modes", kind.mode, *where, "--seeds", SEEDS, "--run", "r", "--workers", "2")


def scores(folder: Path) -> list[str]:
    return [",".join(line.split(",")[:9]) for line in (folder / "runs" / "r" / "results.csv").read_text().splitlines()]


@pytest.mark.slow
def test_a_budget_stops_it_and_it_goes_on_where_it_was(
    tmp_path: Path, command: tuple[str, ...], model_server: ModelServer
) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    assert run(*command, cwd=whole).returncode == 0
    expected, calls = scores(whole), len(model_server.requests)
    model_server.requests.clear()
    assert run(*command, "--max-calls", str(FEW_CALLS), cwd=tmp_path).returncode == 3
    assert len(model_server.requests) == FEW_CALLS
    assert run(*command, "--max-calls", "1000", cwd=tmp_path).returncode == 0
    assert scores(tmp_path) == expected
    assert (
        calls <= len(model_server.requests) <= calls + FEW_CALLS
    )  # what was broken off is asked again, what was done is not


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [item for item in KINDS if item.mode in ("program", "tos")], ids=lambda kind: kind.mode, indirect=True
)
def test_the_result_table_of_a_run_is_that_of_the_next(tmp_path: Path, command: tuple[str, ...]) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        assert run(*command, cwd=tmp_path / name).returncode == 0
    first, second = (tmp_path / name / "runs" / "r" / "results.csv" for name in ("first", "second"))
    assert first.read_bytes() == second.read_bytes()
    times = {"task_seconds", "expansions_per_second"}
    text = json.loads(run("report", "runs/r", "--format", "json", cwd=tmp_path / "first").stdout)
    assert all(times & {*row} for row in text["rows"])


@pytest.mark.slow
def test_what_the_cache_has_is_not_asked_again(
    tmp_path: Path, command: tuple[str, ...], model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    assert run(*command, "--cache", "use", cwd=tmp_path / "first").returncode == 0
    asked = len(model_server.requests)
    assert run(*command, "--cache", "use", cwd=tmp_path / "second").returncode == 0
    assert len(model_server.requests) == asked
    assert scores(tmp_path / "first") == scores(tmp_path / "second")


@pytest.mark.slow
def test_every_episode_plays_again_and_stands_in_every_report(tmp_path: Path, command: tuple[str, ...]) -> None:
    assert run(*command, cwd=tmp_path).returncode == 0
    again = run("replay", "runs/r", cwd=tmp_path)
    assert again.returncode == 0, again.stdout
    assert again.stdout.count("identical") == 2
    for form in ("markdown", "csv", "json", "html"):
        assert run("report", "runs/r", "--format", form, "--output", f"report.{form}", cwd=tmp_path).returncode == 0
    page = (tmp_path / "report.html").read_text()
    assert "2 episodes" in page
    assert len(pages_in(page)) == 2
    assert "sk-canary" not in "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    for line in (run("report", "runs/r", cwd=tmp_path), run("show", "runs/r", "--seed", "1", cwd=tmp_path)):
        assert line.returncode == 0


@pytest.mark.slow
def test_an_interrupt_leaves_what_was_played_and_nothing_running(
    tmp_path: Path, kind: Kind, command: tuple[str, ...], model_server: ModelServer
) -> None:
    model_server.replies = [lambda body: answer(kind.says(body), delay=0.2)]
    code = "from pddlego.cli import main; main()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path)}
    child = [sys.executable, "-c", code, *command]
    with started(child, cwd=tmp_path, env=environment, stdout=-1, stderr=-1, start_new_session=True) as playing:
        model_server.wait_for_requests(3)
        os.kill(playing.pid, signal.SIGINT)
        time.sleep(0.5)  # signals that come at once are one interrupt
        os.kill(playing.pid, signal.SIGINT)
        playing.communicate(timeout=PATIENCE)
    assert playing.returncode in (0, 3, 130, -signal.SIGKILL)  # the last one on a machine that is too busy
    model_server.replies = [lambda body: answer(kind.says(body))]
    assert run(*command, cwd=tmp_path).returncode == 0
    assert len(scores(tmp_path)) == 3
