"""Conversations in a clone of tomsilver/llm-genplan: of our own, and the recorded ones played."""

from __future__ import annotations

from pathlib import Path

import pytest

from pddlego.errors import PddlegoError, SettingError
from pddlego.methods.programs.options import ProgramOptions
from pddlego.methods.programs.records.llm_genplan import cached_conversations
from pddlego.methods.programs.setting import load
from pddlego.runs.folders import find_journal
from pddlego.runs.journal import Codec, read_journal
from tests.cli.command import run
from tests.llm_genplan import CACHE, recorded_clone, write_turns, written_clone
from tests.methods.programs.test_recorded import SCORES, SHORT, scores
from tests.sandbox.ordinary import needs_locks

TURNS = [("summarize", "q0", "a0"), ("strategy", "q2", "a2"), ("implement", "q3", "a3"), ("debug", "q4", "a4")]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    cache = tmp_path / CACHE
    write_turns(cache / "pg3-manyferry_0_chatgpt4", TURNS)
    write_turns(cache / "pg3-manyferry_12_chatgpt4-no-cot", TURNS[2:])
    write_turns(cache / "pg3-manyferry_1_chatgpt3", TURNS)
    write_turns(cache / "pg3-manyferry-ablated_1_chatgpt4-no-words", TURNS)
    write_turns(cache / "pg3-hiking_0_chatgpt4", TURNS)
    for name in ("pg3-manyferry_0_chatgpt4-no-debug", "pg3-manyferry_0_chatgpt4-no-words", "notes", "pg3-_x_"):
        (cache / name).mkdir()
    cached_conversations.cache_clear()
    return tmp_path


def test_the_folders_are_conversations(clone: Path) -> None:
    known = cached_conversations(f"llm-genplan:{clone}", "ferry")
    assert known is not None
    assert {(item.model, item.variant, item.seed) for item in known} == {
        ("gpt-4", "gpt-4", 0),
        ("gpt-4", "gpt-4 no-cot", 12),
        ("gpt-3.5", "gpt-3.5", 1),
        ("gpt-4", "gpt-4 no-names", 1),
    }
    (whole,) = (item for item in known if item.variant == "gpt-4")
    assert [(turn.purpose, turn.prompt, turn.answer) for turn in whole.turns] == TURNS
    assert {item.domain for item in known} == {"ferry"}


def test_a_file_is_not_a_clone_and_another_domain_is_missing(clone: Path) -> None:
    assert cached_conversations("recorded.jsonl", "ferry") is None
    with pytest.raises(SettingError, match="cannot be used") as raised:
        cached_conversations(f"llm-genplan:{clone}", "spanner")
    assert raised.value.reason == "It has no conversation about spanner."


def test_an_answer_needs_its_prompt(clone: Path) -> None:
    (clone / CACHE / "pg3-manyferry_0_chatgpt4" / "2-prompt.txt").unlink()
    with pytest.raises(SettingError, match=r"has no llm_genplan/llm_cache/pg3-manyferry_0_chatgpt4/2-prompt\.txt"):
        cached_conversations(f"llm-genplan:{clone}", "ferry")


def test_only_settings_of_the_paper_have_conversations(clone: Path) -> None:
    with pytest.raises(SettingError, match="cannot be used"):
        load("logistics", ProgramOptions()).recordings(f"llm-genplan:{clone}")


def asked(runs: Path) -> list[str]:
    """The last messages of the requests of the only run."""
    calls = read_journal(find_journal(next(runs.iterdir())), Codec()).calls
    return [call.request.messages[-1].content for call in calls]


@needs_locks
def test_the_authors_prompts_are_sent_unchanged(tmp_path: Path) -> None:
    clone = written_clone(tmp_path / "clone")
    program = "```python\ndef get_plan(objects, init, goal):\n    return ['(board c l)']\n```"
    turns = [
        ("summarize", "Their domain: {{ x }}", "boats"),
        ("strategy", "How?", "so"),
        ("implement", "Write.", program),
    ]
    write_turns(tmp_path / "clone" / CACHE / "pg3-manyferry_0_chatgpt4", turns)
    options = ("--tasks", clone, "--set", f"prompts={clone}", "--set", "parity=paper", "--model", f"transcript:{clone}")
    done = run("play", "ferry", "--mode", "program", "--seed", "0", *options, cwd=tmp_path)
    assert "30 of 30" in done.stdout, done.stdout + done.stderr
    assert asked(tmp_path / "runs") == ["Their domain: {{ x }}", "How?", "Write."]
    refused = run("play", "ferry", "--mode", "program-no-cot", "--seed", "0", *options, cwd=tmp_path)
    assert "holds no such conversation" in refused.stderr
    for mode in ("heuristic", "heuristic-direct"):
        refused = run("play", "ferry", "--mode", mode, "--seed", "0", *options, cwd=tmp_path)
        assert f"--set prompts has no effect in mode {mode}" in refused.stderr


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"prompts": "llm-genplan:p"}, "Add --set parity=paper"),
        ({"prompts": "CLONE", "parity": "paper"}, "has no conversation about ferry"),
        ({"prompts": "folder", "parity": "paper"}, "Add --tasks llm-genplan:PATH"),
        ({"prompts": "CLONE", "parity": "paper", "tasks": "CLONE"}, "has no conversation about ferry"),
        ({"prompts": "folder", "parity": "paper", "tasks": "folder"}, "The tasks folder cannot be read"),
    ],
)
def test_prompts_need_the_papers_rules_and_tasks(tmp_path: Path, options: dict[str, str], says: str) -> None:
    clone = written_clone(tmp_path)
    (tmp_path / CACHE).mkdir(parents=True)
    named = {name: value.replace("CLONE", clone) for name, value in options.items()}
    with pytest.raises(PddlegoError) as raised:
        load("ferry", ProgramOptions.model_validate(named))
    assert says in raised.value.sentence


@pytest.mark.slow
@pytest.mark.shared("recorded/ferry")
@needs_locks
@pytest.mark.usefixtures("patient_sandboxes")
def test_the_recorded_conversations_have_the_papers_scores(tmp_path: Path) -> None:
    clone = recorded_clone(tmp_path / "clone")
    model = f"transcript:{clone},model="
    options = ("--seeds", "0-9", "--workers", "2", "--tasks", clone, "--set", "hurry=true", *SHORT)
    modes = "program,program-no-debug,program-no-names"
    done = run("eval", "ferry", "--modes", modes, "--models", f"{model}gpt-4", *options, "--run", "a", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = scores(tmp_path / "runs" / "a")
    assert [result["program", seed][0] for seed in range(10)] == SCORES
    means = {mode: round(sum(result[mode, seed][0] for seed in range(10)) / 10, 2) for mode in modes.split(",")}
    assert means == {"program": 0.80, "program-no-debug": 0.26, "program-no-names": 0.0}
    done = run(
        "eval", "ferry", "--modes", "program", "--models", f"{model}gpt-3.5", *options, "--run", "b", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert not any(score for score, _ in scores(tmp_path / "runs" / "b").values())
