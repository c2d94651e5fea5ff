"""The commands that README and docs print are run, page by page and in their order, in an empty folder.

A command that needs a language model gets a local server. An evaluation plays its first game and first seed only, a
planner and a program have three seconds, a heuristic has one to be tried, and a search problem has five instances.
Blind search, which takes all of its time for most tasks, is left out.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from string import Template
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet

from pddlego.methods.builders.reference import component_of
from pddlego.methods.registry import modes
from pddlego.pddl import parse_domain, parse_problem
from tests.cli.command import run_at_once
from tests.model_server import ModelServer, Reply, answer
from tests.pages import write_files
from tests.scale import PATIENCE
from tests.shared import RECORDED

pytestmark = pytest.mark.whole

ROOT = Path(__file__).parent.parent
PAGES = {
    str(page.relative_to(ROOT)): page.read_text(encoding="utf-8")
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}
"""README and the pages of docs, by their paths."""
SESSIONS = {name: re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL) for name, text in PAGES.items()}
"""Commands after a `$` and what they print."""
SCRIPTS = {name: re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL) for name, text in PAGES.items()}
"""Commands whose output is not shown."""

DOMAIN = """(define (domain warehouse)
  (:requirements :strips :typing)
  (:types box room)
  (:predicates (robot-in ?r - room) (in ?b - box ?r - room) (holding ?b - box) (empty))
  (:action move :parameters (?from - room ?to - room)
    :precondition (robot-in ?from) :effect (and (not (robot-in ?from)) (robot-in ?to)))
  (:action pick-up :parameters (?b - box ?r - room) :precondition (and (robot-in ?r) (in ?b ?r) (empty))
    :effect (and (not (in ?b ?r)) (not (empty)) (holding ?b)))
  (:action put-down :parameters (?b - box ?r - room) :precondition (and (robot-in ?r) (holding ?b))
    :effect (and (in ?b ?r) (empty) (not (holding ?b)))))"""
PROBLEM = """(define (problem p) (:domain warehouse) (:objects office store garage - room box1 box2 - box)
  (:init (robot-in office) (empty) (in box1 store) (in box2 office))
  (:goal (and (in box1 garage) (in box2 garage))))"""
ROLES = {
    path.stem: path.read_text(encoding="utf-8").partition("ROLE\n")[2].partition("\n")[0]
    for path in (ROOT / "prompts" / "builders" / "kinds").glob("*.j2")
}
"""The first sentence of each request for a component."""


def warehouse(body: dict[str, Any]) -> Reply:
    """The components of the domain above, whatever is described; for other requests a text without an answer."""
    text = body["messages"][-1]["content"]
    kind = next((kind for kind, role in ROLES.items() if role in text), "")
    action = re.search(r"^The action is ([\w-]+)", text, re.MULTILINE)
    if not kind:
        return answer("I have no answer.")
    return answer(
        json.dumps(component_of(kind, parse_domain(DOMAIN), parse_problem(PROBLEM), action[1] if action else ""))
    )


FEW = {
    "PDDLEGO_TIMEOUT": "3",
    "PDDLEGO_TRAINING_TIMEOUT": "1",
    "PDDLEGO_TASK_TIMEOUT": "3",
    "PDDLEGO_INSTANCES": "5",
}
"""Limits of what a command of a page does here."""

NEED_A_PACKAGE = ("docs/adding-a-method.md", "docs/adding-a-planner.md", "docs/adding-an-engine.md")
"""Pages whose own tests bring the package of the page."""


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SESSIONS if SESSIONS[name] and name not in NEED_A_PACKAGE])
def test_the_commands_of_a_page_print_what_it_shows(name: str, tmp_path: Path) -> None:
    write_files(PAGES[name], tmp_path)
    for session in "".join(SESSIONS[name]).split("$ ")[1:]:
        command, _, wanted = session.partition("\n")
        printed = _ran(command, tmp_path, {})[1]
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        assert doctest.OutputChecker().check_output(wanted, printed, flags), f"{command} printed:\n{printed}"
        assert _carets(wanted) == _carets(printed), f"{command} printed:\n{printed}"


def _carets(text: str) -> list[str]:
    """The lines that point to a column, which `NORMALIZE_WHITESPACE` does not compare."""
    return [line for line in text.splitlines() if line.strip() == "^"]


def _script_params() -> Iterator[ParameterSet]:
    """The pages with scripts; those that replay the recordings of others need them."""
    for name, blocks in SCRIPTS.items():
        marks = [pytest.mark.shared("recorded")] if "recorded/" in PAGES[name] else []
        if blocks:
            yield pytest.param(name, marks=marks)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(_script_params()))
def test_the_commands_of_a_page_run_in_their_order(name: str, tmp_path: Path) -> None:
    for page in (PAGES["docs/checking.md"], PAGES[name]):  # several pages use the files of the first
        write_files(page, tmp_path)
    (tmp_path / "recorded").symlink_to(RECORDED)
    script = "".join(SCRIPTS[name]).replace("\\\n", " ")
    script = script.replace("--seeds test", "--seeds 10-59").replace(",plan-no-heuristic", "")
    script = re.sub(r"--seeds (\d+)-\d+", r"--seeds \1", script)
    script = re.sub(r"pddlego eval ([\w-]+)( [\w-]+)*? -", r"pddlego eval \1 -", script)
    with ModelServer() as server:
        server.replies = [warehouse]
        variables = {"OPENAI_BASE_URL": server.url, **FEW}
        for line in script.splitlines():
            code, printed = _ran(line, tmp_path, variables)
            assert code in (0, 1), f"1 is a game that was not won\n{line} printed:\n{printed}"
            assert not re.search(r"^(Traceback|Error: )", printed, re.MULTILINE), f"{line} printed:\n{printed}"


WATCHED = re.findall(r"^\| .* \| `pddlego (play \S+ --mode (\S+).*)` \|$", PAGES["docs/watching.md"], re.MULTILINE)
"""The commands of the table of what can be watched without a key, each with its mode."""


def test_each_mode_can_be_watched_without_a_key() -> None:
    assert sorted(mode for _, mode in WATCHED) == sorted(mode.name for mode in modes())


@pytest.mark.slow
@pytest.mark.parametrize(("command", "mode"), WATCHED)
def test_what_is_watched_without_a_key_is_played(command: str, mode: str, tmp_path: Path) -> None:
    """A person who types nothing, and one who is needed at a terminal, play nothing; only chance may lose."""
    code, printed = run_at_once(*command.split(), "--pace", "0", cwd=tmp_path, **FEW)
    expected = {"human": (130,), "tos+human": (2,), "random": (0, 1)}.get(mode, (0,))
    assert code in expected, printed
    assert "needs a terminal" in printed if code == 2 else (tmp_path / "runs").is_dir()


def test_the_python_of_the_page_about_pddl_prints_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(PAGES["docs/pddl.md"], tmp_path)
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(str(ROOT / "docs" / "pddl.md"), module_relative=False, encoding="utf-8")
    assert result.attempted == 12
    assert result.failed == 0


SNIPPETS = ("docs/builders.md", "docs/sandbox.md")
"""Pages with Python whose output is not shown."""


@pytest.mark.slow
@pytest.mark.parametrize("name", SNIPPETS)
def test_the_python_of_a_page_runs(name: str, tmp_path: Path) -> None:
    """The domain and the problem that a snippet converts are those of the warehouse."""
    snippets = "".join(re.findall(r"^```python\n(.*?)^```", PAGES[name], re.MULTILINE | re.DOTALL))
    lines = (
        "from pddlego import parse_domain, parse_problem",
        f"domain, problem = parse_domain({DOMAIN!r}), parse_problem({PROBLEM!r})",
        snippets.replace("range(10)", "range(1)"),
    )
    (tmp_path / "page.py").write_text("\n".join(lines), encoding="utf-8")
    with ModelServer() as server:
        server.replies = [warehouse]
        variables = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "none"}
        done = _bash('python page.py; echo "exit code $?"', tmp_path, **variables)
    assert done.stdout.endswith("\nexit code 0\n"), done.stdout


def _ran(line: str, folder: Path, variables: dict[str, str]) -> tuple[int, str]:
    """The exit code and the output of a line. `pddlego` runs here; a variable that the line sets is kept."""
    if assignment := re.fullmatch(r"(?:export )?(\w+)=(\S+)", line):
        variables[assignment[1]] = assignment[2]
        return 0, ""
    if re.fullmatch(r"pddlego [^|<>;&`*~]*", line):
        words = shlex.split(Template(line).safe_substitute(variables), comments=True)
        return run_at_once(*words[1:], cwd=folder, **variables)
    done = _bash(line, folder, **variables)
    return done.returncode, done.stdout


def _bash(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={**os.environ, "COLUMNS": "100", "PYTHONPATH": str(ROOT), **variables, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
