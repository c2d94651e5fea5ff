"""The page that adds a search problem, followed literally."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pddlego.evaluation.config import LimitOptions
from tests.cli.command import run
from tests.methods.thought_of_search.playing import fenced
from tests.model_server import ModelServer, answer
from tests.sandbox.ordinary import needs_locks

ROOT = Path(__file__).parent.parent.parent.parent
PAGE = (ROOT / "docs" / "adding-a-search-problem.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"`((?:envs|domains)/jugs[\w./-]+)`:\n\n```\w+\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))

SUCCESSORS = """def successors(state, sizes):
    results = []
    for i, size in enumerate(sizes):
        for amount in {0, size} - {state[i]}:
            results.append([*state[:i], amount, *state[i + 1:]])
        for j, room in enumerate(sizes):
            poured = min(state[i], room - state[j])
            if i != j and poured:
                new = list(state)
                new[i] -= poured
                new[j] += poured
                results.append(new)
    return results"""
GOAL = "def is_goal(state, wanted):\n    return wanted in state"
OVERFULL = SUCCESSORS.replace("min(state[i], room - state[j])", "state[i]")

pytestmark = [needs_locks, pytest.mark.usefixtures("patient_sandboxes")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def play(folder: Path, server: ModelServer, *answers: str) -> subprocess.CompletedProcess[str]:
    def says(body: dict[str, Any]) -> Any:
        return answer(fenced(answers[(len(body["messages"]) - 2) // 2]))

    server.replies = [says]
    where = ("--model", "m", "--base-url", server.url)
    return run("play", "jugs", "--mode", "tos", *where, "--set", "instances=3", cwd=folder)


def test_the_page_names_every_file() -> None:
    parts = ("checks.py", "goals.jsonl", "instances.jsonl", "non_goals.jsonl", "soundness.jsonl", "successors.jsonl")
    assert set(FILES) == {"envs/jugs.toml", *(f"domains/jugs/{name}" for name in parts)}


def test_the_problem_of_the_page_is_played(
    folder: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    done = play(folder, model_server, OVERFULL, GOAL, SUCCESSORS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "unsound transition" in done.stdout
    assert "3 of 3 instances solved" in done.stdout
    first = model_server.requests[0]["messages"]
    assert [message["role"] for message in first] == ["system", "user"]
    assert "successors(state, sizes)" in first[1]["content"]
    text = model_server.requests[-1]["messages"][-1]["content"]
    assert "An amount is negative or larger than the jug" in text
    assert "wrong successor" in text


REST = "\n\ndef check(s, t, i):\n    return ''\n\ndef validate(p, s, i):\n    return ''\n"
CHECKS = FILES["domains/jugs/checks.py"]
WRONG = [
    ("domains/jugs/checks.py", "def read(item):\n    return item\n", "It has no function check"),
    ("domains/jugs/checks.py", CHECKS.replace("if any(amount < 0", "if nothing and any(amount < 0"), "NameError"),
    ("domains/jugs/checks.py", CHECKS.replace('item["wanted"] in state', 'item["wanted"] not in state'), "disagree"),
    (
        "domains/jugs/checks.py",
        CHECKS.replace('item["wanted"] in state', 'item["target"] in state'),
        "KeyError: 'target' (File \"<file of checks>\", line 22, in is_goal)",
    ),
    ("domains/jugs/checks.py", CHECKS.replace('item["sizes"])):', 'item["jugs"])):'), "KeyError: 'jugs'"),
    (
        "domains/jugs/checks.py",
        CHECKS.replace('item["wanted"] in path', 'item["target"] in path'),
        "KeyError: 'target'",
    ),
    ("domains/jugs/checks.py", CHECKS.replace("(x != y for", "(x != y + item['jugs'] for"), "KeyError: 'jugs'"),
    ("domains/jugs/soundness.jsonl", '{"state": [0, 0], "wanted": 2}', "KeyError: 'sizes'"),
    ("domains/jugs/soundness.jsonl", '{"state": [0, 0], "sizes": [4, 3]}', "KeyError: 'wanted'"),
    ("domains/jugs/checks.py", CHECKS.replace("amount > size", "amount >= size"), "disagree"),
    ("domains/jugs/instances.jsonl", '{"state": [0, 0], "sizes": [5, 3], "wanted": 4, "cost": "six"}', "says no cost"),
    ("domains/jugs/goals.jsonl", "[" * 100_000, "no JSON lines"),
    (
        "envs/jugs.toml",
        FILES["envs/jugs.toml"].replace('"state", "sizes"', '"state", "sizes", "more"'),
        "names state, sizes, more",
    ),
    ("envs/jugs.toml", FILES["envs/jugs.toml"].replace('"sizes"', '"1x"'), "is not a name of an argument"),
    ("domains/jugs/checks.py", "def read(item):\n    return item['nothing']" + REST, "KeyError"),
    ("domains/jugs/checks.py", "def read(item)\n    return item", "SyntaxError"),
    (
        "domains/jugs/checks.py",
        "def read(item):\n    return 1" + REST,
        "read returned 1, and it must return a dictionary",
    ),
    *(
        ("domains/jugs/checks.py", f"{CHECKS}\ndef {function}:\n    {body}\n", says)
        for function, body, says in (
            ("read(item)", "return {'state': [0, 0], 'successor_arguments': 5}", "read returned 5"),
            ("check(state, successor, item)", "return 5", "check returned 5, and it must return a text"),
            ("is_goal(state, item)", "return 'no'", "is_goal returned 'no', and it must return True or False"),
            ("validate(path, search, item)", "return [1]", "validate returned [1], and it must return a text"),
            ("check(state, successor, item)", "raise KeyboardInterrupt", "in check"),
            ("check(state, successor, item)", "raise ValueError('top\\nline')", "ValueError: top"),
        )
    ),
    (
        "domains/jugs/checks.py",
        "import os\nos.system('touch PWNED')\ndef read(item):\n    return open('/etc/passwd')",
        "checks.py is wrong",
    ),
    ("domains/jugs/goals.jsonl", "{", "no JSON lines"),
    ("domains/jugs/instances.jsonl", "", "holds no instance"),
    ("envs/jugs.toml", 'kind = "search"\n', "rules"),
    ("envs/jugs.toml", 'kind = "search"\nrules = "r"\nsearch = "A*"\n', "search"),
    ("envs/jugs.toml", 'kind = "search"\nrules = "r"\n[files]\ngoals = "../nowhere.jsonl"\n', "cannot be read"),
]


@pytest.mark.parametrize(("file", "text", "says"), WRONG)
def test_wrong_files_are_refused_in_three_lines(folder: Path, file: str, text: str, says: str) -> None:
    (folder / file).write_text(text)
    done = run("play", "jugs", "--mode", "tos", "--model", "m", "--base-url", "http://127.0.0.1:9", cwd=folder)
    assert done.returncode in (2, 3), done.stdout
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "PWNED").exists()


def test_a_file_of_checks_may_begin_as_files_do(folder: Path, model_server: ModelServer) -> None:
    text = '"""Jugs."""\n\nfrom __future__ import annotations\n' + CHECKS.replace('"""What is right with jugs."""', "")
    (folder / "domains" / "jugs" / "checks.py").write_text("\ufeff" + text, encoding="utf-8")
    done = play(folder, model_server, SUCCESSORS, GOAL)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_reader_has_no_functions_for_it(folder: Path) -> None:
    done = run("play", "jugs", "--mode", "tos", cwd=folder)
    assert done.returncode == 2
    assert "The reader cannot play jugs" in done.stderr


def test_the_reader_plays_it_with_reference_functions(folder: Path) -> None:
    file = folder / "domains" / "jugs" / "reference.py"
    file.write_text(f'"""Jugs."""\n\n\n{SUCCESSORS}\n\n\n{GOAL}\n', encoding="utf-8")
    done = run("play", "jugs", "--mode", "tos", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 of 3 instances solved" in done.stdout
    file.write_text(GOAL, encoding="utf-8")
    done = run("play", "jugs", "--mode", "tos", cwd=folder)
    assert done.returncode in (2, 3)
    assert "domains/jugs/reference.py is wrong why: It must define successors" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_retries_have_no_effect_and_the_help_says_what_has(folder: Path, model_server: ModelServer) -> None:
    model_server.replies = [lambda body: answer(fenced(OVERFULL if len(body["messages"]) == 2 else GOAL))]
    where = ("--model", "m", "--base-url", model_server.url, "--retries", "0")
    done = run("play", "jugs", "--mode", "tos", *where, "--set", "answers=1", "--set", "eval_timeout=0.2", cwd=folder)
    assert "the successor function still fails after 1 answer" in done.stdout
    assert "--set answers=N" in (LimitOptions.model_fields["retries"].description or "")


@pytest.mark.method("programs")
def test_decoding_is_greedy_unless_a_temperature_is_named(folder: Path, model_server: ModelServer) -> None:
    model_server.replies = [lambda body: answer("prose")]
    for flags in ((), ("--temperature", "0.5")):
        where = ("--model", "m", "--base-url", model_server.url, "--set", "answers=1")
        run("play", "jugs", "--mode", "tos", *where, *flags, cwd=folder)
    run("play", "ferry", "--mode", "program-no-debug", "--model", "m", "--base-url", model_server.url, cwd=folder)
    sent = [request["temperature"] for request in model_server.requests]
    assert list(dict.fromkeys(sent)) == [0.0, 0.5, 1.0]
