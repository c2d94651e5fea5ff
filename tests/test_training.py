"""Training data: conversations that play back, preferences, trajectories, experts without test seeds, rewards."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import pddlego
from pddlego import training
from pddlego.cli.export import ExportProgress
from pddlego.errors import UsageError
from pddlego.methods.textgames.events import Observed
from pddlego.pddl import EDIT_SCHEMA
from tests.children import started
from tests.cli.command import run
from tests.scale import PATIENCE


@pytest.fixture(scope="module")
def noisy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with rejected answers."""
    folder = tmp_path_factory.mktemp("training") / "run"
    pddlego.evaluate(["coin"], folder, models="reader+noise:0.4", seeds="6-11").wait(PATIENCE)
    return folder


@pytest.mark.slow
def test_exported_conversations_play_back_to_the_same_results(noisy: Path, tmp_path: Path) -> None:
    done = run("export", str(noisy), "--seeds", "all", "-o", "chat.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (tmp_path / "chat.jsonl").read_text().splitlines()]
    assert any(not row["accepted"] for row in rows)
    assert {message["role"] for row in rows for message in row["messages"]} == {"system", "user", "assistant"}
    again = pddlego.evaluate("coin", tmp_path / "again", models=f"transcript:{tmp_path}/chat.jsonl", seeds="6-11")
    before = pddlego.load(noisy)
    assert [(one.outcome, one.steps, one.usage.calls) for one in again.episodes] == [
        (one.outcome, one.steps, one.usage.calls) for one in before.episodes
    ]


@pytest.mark.slow
@pytest.mark.parametrize("to_file", [True, False])
def test_rows_are_written_as_episodes_are_read(to_file: bool, tmp_path: Path) -> None:
    """The first ones of 900 episodes come long before the last."""
    command = [sys.executable, "-m", "pddlego", "export", "--expert", "coin", "--seeds", "60-959"]
    place = tmp_path / "rows.jsonl"
    with started(command + ["-o", str(place)] * to_file, stdout=subprocess.PIPE, text=True) as export:
        assert export.stdout is not None
        while to_file and not (place.exists() and "\n" in place.read_text(encoding="utf-8")):
            assert export.poll() is None
            time.sleep(0.05)
        line = place.read_text(encoding="utf-8").splitlines()[0] if to_file else export.stdout.readline()
        assert json.loads(line)["seed"] == 60
        assert export.poll() is None


def test_an_export_says_how_far_it_is() -> None:
    progress = ExportProgress(total=5_000, episodes=1_234, rows=20_000)
    assert str(progress) == "1,234 of 5,000 episodes, 20,000 rows"
    assert str(replace(progress, total=None)) == "1,234 episodes, 20,000 rows"
    assert str(ExportProgress(total=None, episodes=1, rows=1)) == "1 episode, 1 row"
    assert str(ExportProgress(total=1, episodes=1, rows=1)) == "1 of 1 episode, 1 row"


def test_a_file_is_not_touched_before_the_first_row(noisy: Path, tmp_path: Path) -> None:
    (tmp_path / "kept.jsonl").write_text("kept")
    assert run("export", "--expert", "coin", "--seeds", "9-10", "-o", "kept.jsonl", cwd=tmp_path).returncode == 2
    assert (tmp_path / "kept.jsonl").read_text() == "kept"
    assert run("export", str(noisy), "-o", "no/such/folder.jsonl", cwd=tmp_path).returncode == 3
    done = run("export", str(noisy), "-o", str(noisy / "results.jsonl"), cwd=tmp_path)
    assert (done.returncode, "belongs to a run" in done.stderr) == (2, True)
    nothing = run(
        "export", str(noisy), "--format", "preference", "--only", "won,accepted", "-o", "x.jsonl", cwd=tmp_path
    )
    assert nothing.returncode == 2 and not (tmp_path / "x.jsonl").exists()


def test_test_seeds_are_left_out(noisy: Path, tmp_path: Path) -> None:
    done = run("export", str(noisy), cwd=tmp_path)
    assert "2 episodes of other seeds left out" in done.stderr
    done_as_atif = run("export", str(noisy), "--format", "atif", cwd=tmp_path)
    assert "2 episodes of other seeds left out" in done_as_atif.stderr
    assert {json.loads(line)["seed"] for line in done.stdout.splitlines()} == {6, 7, 8, 9}
    with pytest.raises(UsageError, match="not for training"):
        next(training.expert("coin", seeds=[60, 12]))
    (first,) = (episode for episode, _ in zip(training.expert("coin"), [0], strict=False))
    assert first.seed == 60, "dev and test seeds come before"


def test_expert_answers_have_the_form_that_the_prompt_asks_for() -> None:
    (episode,) = training.expert("coin", "edit", [61])
    replaced = []
    for row in training.chat_rows(episode):
        for section in json.loads(row["messages"][-1]["content"]).values():
            assert list(section) == EDIT_SCHEMA["$defs"]["part"]["required"]
            replaced += section["replace"]
    assert replaced
    assert all(list(pair) == ["old", "new"] for pair in replaced)


def test_accepted_answers_only(noisy: Path) -> None:
    for episode in pddlego.load(noisy):
        rows = list(training.chat_rows(episode))
        accepted = list(training.chat_rows(episode, accepted_only=True))
        assert len(accepted) == sum(row["accepted"] for row in rows)


def test_an_expert_is_the_reader_whatever_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PDDLEGO_MODEL", "reader+noise:0.5")
    (episode,) = training.expert("coin", "edit", [60])
    assert episode.model == "reader"


def test_a_pair_names_the_prompt_that_it_has(noisy: Path) -> None:
    for episode in pddlego.load(noisy):
        prompts = {row["prompt_id"]: row["messages"][:-1] for row in training.chat_rows(episode)}
        assert all(prompts[row["prompt_id"]] == row["prompt"] for row in training.preference_rows(episode))


def test_preferences_have_a_better_and_a_worse_answer(noisy: Path) -> None:
    rows = [row for episode in pddlego.load(noisy) for row in training.preference_rows(episode)]
    assert rows
    for row in rows:
        assert row["chosen"] != row["rejected"]
        assert row["prompt"][-1]["role"] == "user"
        assert row["feedback"]


def test_thinking_can_be_left_out() -> None:
    def thinking(messages: list[pddlego.Message]) -> str:
        return "<think>east or west</think>look around"

    episode = pddlego.play("coin", mode="act", model=thinking, max_steps=1)
    (row,) = training.chat_rows(episode, without_thinking=True)
    assert row["messages"][-1]["content"] == "look around"
    (row,) = training.chat_rows(episode)
    assert "<think>" in row["messages"][-1]["content"]
    assert "<think>" not in json.dumps(training.trajectory(episode, without_thinking=True))
    assert "<think>" in json.dumps(training.trajectory(episode))


def test_thinking_can_be_left_out_of_earlier_answers_too() -> None:
    answers = iter(["<think>the oven?</think>dance", "<think>no, west</think>look around"])
    episode = pddlego.play("coin", mode="act", model=lambda messages: next(answers), max_steps=1)
    for without_thinking in (False, True):
        messages = [*training.chat_rows(episode, without_thinking=without_thinking)][-1]["messages"]
        assert [message["content"] for message in messages if message["role"] == "assistant"] == (
            ["dance", "look around"] if without_thinking else ["<think>the oven?</think>dance", messages[-1]["content"]]
        )


@pytest.mark.parametrize("mode", ["edit", "random"])
def test_a_trajectory_begins_with_what_the_game_says_first(mode: str) -> None:
    episode = pddlego.play("coin", mode=mode, max_steps=2)
    said = next(event.text for event in episode.events if isinstance(event, Observed))
    assert said
    first = training.trajectory(episode)["steps"][0]
    assert (first["source"], first["message"]) == ("user", said)


@pytest.mark.parametrize(
    "game",
    [
        "coin",
        pytest.param("ferry", marks=pytest.mark.method("programs")),
        pytest.param("text-ferry", marks=pytest.mark.method("builders")),
        pytest.param("24game", marks=[pytest.mark.slow, pytest.mark.method("thought_of_search")]),
    ],
)
def test_trajectories_keep_the_rules_of_the_format(game: str) -> None:
    """The rules that its published models check: ids in order, and each result belongs to a call of its own step."""
    episode = pddlego.play(game)
    value = training.trajectory(episode)
    assert value["final_metrics"]["total_steps"] == len(value["steps"])
    assert value["extra"]["commands"] == episode.steps
    assert value["schema_version"] == "ATIF-v1.7"
    assert [step["step_id"] for step in value["steps"]] == list(range(1, len(value["steps"]) + 1))
    for step in value["steps"]:
        assert step["source"] in ("system", "user", "agent")
        calls = {call["tool_call_id"] for call in step.get("tool_calls", [])}
        results = [result["source_call_id"] for result in step.get("observation", {}).get("results", [])]
        assert set(results) == calls
        if step["source"] != "agent":
            assert not {"tool_calls", "metrics", "reasoning_content"} & set(step)
        if step.get("llm_call_count") == 0:
            assert not {"metrics", "reasoning_content"} & set(step)
    json.dumps(value)


@pytest.mark.slow
def test_rewards() -> None:
    (episode,) = training.expert("coin", "edit", [60])
    rows = list(training.chat_rows(episode))
    empty = '{"objects": {}, "init": {}}'
    with training.Rewards() as rewards:
        for row in rows:
            assert rewards(row["prompt_id"], row["messages"][-1]["content"]).value == 1.0
            assert rewards(row["prompt_id"], "I do not know.") == training.Reward()
            assert rewards(row["prompt_id"], empty).value == 0.0, "to change nothing is worth nothing"
    with pytest.raises(ValueError, match="closed"):
        rewards(rows[0]["prompt_id"], empty)
    with pytest.raises(UsageError, match="Unknown prompt"):
        training.reward("coin/edit/60/99/0", empty)
    other = pddlego.play("coin", "edit", 60, set={"numLocations": 5})
    with pytest.raises(UsageError, match="is not a prompt of the expert"):
        training.reward(next(training.chat_rows(other))["prompt_id"], empty)
    (tested,) = [row for row in training.chat_rows(pddlego.play("coin", "edit", 10)) if row["call"] == 1]
    with pytest.raises(UsageError, match="not for training"):
        training.reward(tested["prompt_id"], empty)
    with pytest.raises(UsageError, match="no rewards"):
        training.reward("coin/act/60/1/0", empty)
    with pytest.raises(UsageError, match="Unknown prompt"):
        training.reward("something", empty)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "Name either runs or --expert GAME"),
        (("--expert", "coin", "--seeds", "9-10"), "test seeds are not for training"),
        (("--expert", "coni"), "Did you mean"),
        (("nowhere",), "Unknown run nowhere"),
    ],
)
def test_wrong_usage_ends_in_three_lines(arguments: tuple[str, ...], says: str, tmp_path: Path) -> None:
    done = run("export", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_seeds_of_another_fold_are_no_training_data(tmp_path: Path) -> None:
    pddlego.evaluate("coin", tmp_path / "run", seeds="20000", fold="test").wait(PATIENCE)
    done = run("export", "run", cwd=tmp_path)
    assert done.stdout == ""
    assert "1 episode of other seeds left out" in done.stderr


def test_verdicts_on_answers(noisy: Path) -> None:
    """They are those of the events."""
    for episode in pddlego.load(noisy).episodes:
        verdicts = [call.accepted for call in training.calls_of(episode)]
        rejected = sum(event.type == "rejected" for event in episode.events)
        assert verdicts.count(False) == rejected
        assert verdicts.count(True) == len(verdicts) - rejected
    assert all(call.accepted for call in training.calls_of(pddlego.play("coin", "act", 3)))


def test_the_answers_of_one_attempt_have_one_verdict() -> None:
    episode = pddlego.play("coin", "full+steps", 0, "reader+noise:0.3")
    verdicts = [call.accepted for call in training.calls_of(episode)]
    questions = sum(event.type == "accepted" and getattr(event, "kind", "") == "problem" for event in episode.events)
    assert any(event.type == "rejected" for event in episode.events)
    assert verdicts.count(True) == 3 * questions
    assert None not in verdicts


@pytest.mark.method("thought_of_search")
@pytest.mark.slow
def test_of_a_search_it_is_not_known_which_answer_was_wrong() -> None:
    assert {call.accepted for call in training.calls_of(pddlego.play("24game"))} == {None}
