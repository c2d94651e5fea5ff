"""`pddlego build`: from a text to files, with a model behind a real endpoint."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pddlego
from pddlego.episode.events import Answered
from pddlego.errors import UsageError
from pddlego.methods.builders.options import BuilderOptions
from pddlego.methods.builders.reference import component_of
from pddlego.methods.builders.setting import load
from tests.cli.command import run
from tests.model_server import ModelServer, answer, fault

GOLD = load("text-coin", BuilderOptions())
KINDS = {
    "You list the types": "types",
    "You list the constants": "constants",
    "You list the predicates": "predicates",
    "You list the derived": "rules",
    "You list the actions": "action-list",
    "You write the parameters": "parameters",
    "You write the precondition": "preconditions",
    "You write the effect": "effects",
    "You write one action": "action",
    "You list the objects": "objects",
    "You write the initial state": "init",
    "You write the goal": "goal",
    "You write a planning domain": "domain",
    "You write a planning problem": "problem",
}


def next_component(body: dict[str, Any]) -> str:
    """What a language model would say that has understood the description."""
    text = str(body["messages"][0]["content"])
    if "You evaluate whether" in text:
        return json.dumps({"score": 9, "passing": True, "intended": True})
    kind = next(kind for words, kind in KINDS.items() if words in text)
    action = re.search(r"^The action is (\S+?)[:.]", text, re.MULTILINE)
    return json.dumps(component_of(kind, GOLD.domain, GOLD.task(0), action[1] if action else ""))


@pytest.fixture
def describing(tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    (tmp_path / "coin.txt").write_text(GOLD.description(0), encoding="utf-8")
    model_server.replies = [lambda body: answer(next_component(body))]

    def build(*arguments: str) -> Any:
        return run("build", *arguments, "--model", "m", "--base-url", model_server.url, cwd=tmp_path)

    return build


@pytest.mark.parametrize("mode", ["build+whole", "build"])
def test_a_task_is_built_of_a_text(mode: str, describing: Callable[..., Any], tmp_path: Path) -> None:
    done = describing("task", "coin.txt", "-o", "out", "--mode", mode, "--set", "feedback=model")
    assert done.returncode == 0, done.stdout + done.stderr
    files = {item.name for item in (tmp_path / "out").iterdir()}
    assert files == {"domain.pddl", "problem.pddl", "plan.txt", "journal.jsonl"}
    checked = run("check", "out/domain.pddl", "out/problem.pddl", "--plan", "out/plan.txt", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout
    assert "sk-canary" not in (tmp_path / "out" / "journal.jsonl").read_text(encoding="utf-8")
    for arguments in (("out",), ("out/journal.jsonl",), ("out", "-o", "page.html")):
        shown = run("show", *arguments, cwd=tmp_path)
        assert shown.returncode == 0, shown.stderr
    assert "predicate (have" in run("show", "out", cwd=tmp_path).stdout


def test_a_domain_and_then_a_problem_of_it(describing: Callable[..., Any], tmp_path: Path) -> None:
    assert describing("domain", "coin.txt", "-o", "d", "--mode", "build+by-action").returncode == 0
    assert not (tmp_path / "d" / "problem.pddl").exists()
    arguments = tmp_path / "coin.pddl"
    arguments.write_text(GOLD.domain.text, encoding="utf-8")
    done = describing("problem", "coin.txt", "-o", "p", "--domain", "coin.pddl")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "(have coin)" in (tmp_path / "p" / "problem.pddl").read_text(encoding="utf-8")


def test_what_was_built_is_kept_when_calls_run_out(describing: Callable[..., Any], tmp_path: Path) -> None:
    done = describing("task", "coin.txt", "-o", "out", "--max-calls", "3")
    assert done.returncode == 1
    assert "3 model calls used up" in done.stdout
    assert "(:types" in (tmp_path / "out" / "domain.pddl").read_text(encoding="utf-8")
    again = describing("task", "coin.txt", "-o", "out")
    assert again.returncode == 2  # what is there stays as it is
    assert "There is domain.pddl, journal.jsonl in it" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("house", "coin.txt"), "domain, problem, task"),
        (("task", "nowhere.txt"), "nowhere.txt"),
        (("task", "empty.txt"), "is empty"),
        (("problem", "coin.txt"), "A problem needs its domain"),
        (("problem", "coin.txt", "--domain", "coin.txt"), "is not a valid domain"),
        (("task", "coin.txt", "--mode", "quickly"), "--mode quickly is not possible here"),
        (("task", "coin.txt", "--confirm", "files"), "Standard input is not a terminal"),
        (("task", "coin.txt", "--from", "coin.txt"), "no components of l2p"),
        (("task", "coin.txt", "--set", "rounds=99"), "rounds = 99"),
        (("task", "coin.txt", "-o", "/proc/nowhere"), "Cannot write to /proc/nowhere"),
        (("task", "coin.txt", "-o", "."), "the folder where you are"),
        (("task", "coin.txt", "--domain", "coin.txt"), "--domain is for a problem"),
        (("task", "coin.txt", "--temperature", "0"), "--temperature was removed"),
    ],
)
def test_what_a_user_can_get_wrong_ends_in_three_lines(
    arguments: tuple[str, ...], says: str, describing: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "empty.txt").write_text(" \n", encoding="utf-8")
    done = describing(*arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_no_model_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "coin.txt").write_text("A house.", encoding="utf-8")
    done = run("build", "task", "coin.txt", cwd=tmp_path)
    assert done.returncode == 2
    assert "The built-in model reader cannot build" in done.stderr


def test_the_same_in_five_lines_of_python(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    model_server.replies = [lambda body: answer(next_component(body))]
    built = pddlego.build("task", GOLD.description(0), model="m", base_url=model_server.url, steps="whole")
    assert built.sound
    assert built.plan.startswith("(")
    assert "(define (domain" in built.domain
    assert "(have coin)" in built.problem
    assert len(built.record.all(Answered)) == built.calls == 2
    path = built.save(tmp_path / "built")
    again = run("show", str(path.parent), cwd=tmp_path)
    assert again.returncode == 0 and "won" in again.stdout, again.stdout + again.stderr


@pytest.mark.parametrize(
    ("what", "text", "options", "says"),
    [
        ("house", "A house.", {}, "what = house"),
        ("task", " ", {}, "The description is empty"),
        ("task", "A house.", {"steps": "quickly"}, "steps = quickly"),
        ("problem", "A house.", {}, "A problem needs its domain"),
    ],
)
def test_python_is_told_what_is_wrong_before_anything_is_asked(
    what: Any, text: str, options: dict[str, Any], says: str, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    with pytest.raises(UsageError, match=says):
        pddlego.build(what, text, model="m", base_url=model_server.url, **options)
    assert not model_server.requests


def test_a_plan_is_kept_when_the_model_fails_in_the_review(
    describing: Callable[..., Any], model_server: ModelServer, tmp_path: Path
) -> None:
    def reply(body: dict[str, Any]) -> Any:
        review = "You evaluate whether" in str(body["messages"][0]["content"])
        return fault(400, "no reviews here") if review else answer(next_component(body))

    model_server.replies = [reply]
    done = describing("task", "coin.txt", "-o", "out", "--mode", "build+whole", "--set", "feedback=model")
    assert done.returncode == 3, done.stdout
    assert (tmp_path / "out" / "plan.txt").read_text(encoding="utf-8").startswith("(")


@pytest.mark.parametrize("facts", [["(p)"], []])
def test_the_command_and_python_build_the_same_problem_without_objects(
    facts: list[str], model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    domain = "(define (domain d) (:predicates (p) (q)) (:action a :parameters () :effect (q)))"
    components: list[dict[str, Any]] = [{"objects": []}, {"facts": facts}, {"goal": "(q)"}]

    def reply(body: dict[str, Any]) -> Any:
        return answer(json.dumps(components[(len(model_server.requests) - 1) % 3]))

    model_server.replies = [reply]
    (tmp_path / "d.pddl").write_text(domain, encoding="utf-8")
    (tmp_path / "text.txt").write_text("Make q true.", encoding="utf-8")
    arguments = ("text.txt", "--domain", "d.pddl", "-o", "out", "--model", "m", "--base-url", model_server.url)
    assert run("build", "problem", *arguments, cwd=tmp_path).returncode == 0
    built = pddlego.build("problem", "Make q true.", model="m", base_url=model_server.url, domain=domain)
    assert built.sound
    assert "(:goal (q))" in built.problem
    assert (tmp_path / "out" / "problem.pddl").read_text(encoding="utf-8") == f"{built.problem}\n"
