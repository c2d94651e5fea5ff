"""`pddlego watch`, `show`, `replay` and `resume` through their real entry point, without a terminal."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pddlego.pddl import parse_problem
from pddlego.runs.folders import find_journal, newest_run
from pddlego.runs.store import TRUTH
from tests.cli.command import run
from tests.cli.test_play import KEY, three_lines
from tests.evaluation.test_replay import RECORDED, RUNS
from tests.model_server import ModelServer, fault
from tests.report.pages import pages_in
from tests.runs.stores import read
from tests.scale import PATIENCE


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    shutil.copytree(RECORDED / RUNS[0], tmp_path / "runs" / "one")
    return tmp_path


def test_on_a_pipe_the_list_is_printed_once(recorded: Path) -> None:
    done = run("watch", cwd=recorded)
    assert done.returncode == 0, done.stderr
    assert "1 episode, 1 ended, 1 won" in done.stdout
    assert "won    coin" in done.stdout


def test_on_a_pipe_the_episode_is_told_in_lines(recorded: Path) -> None:
    done = run("show", "runs/one", cwd=recorded)
    assert done.returncode == 0, done.stderr
    assert "You are in the kitchen." in done.stdout
    assert "won after 21 steps" in done.stdout
    step = run("show", "runs/one", "--seed", "12", "--step", "2", cwd=recorded).stdout
    assert "move north" in step
    assert "won after" not in step


def test_answers_and_requests_are_printed_in_full(recorded: Path) -> None:
    """With --step the answers of the step, with --answers those of all steps, and with --requests both."""
    lines, answers, requests, step = (
        run("show", "runs/one", *options, cwd=recorded).stdout
        for options in ((), ("--answers",), ("--requests",), ("--step", "2"))
    )
    assert re.search(r"^answer 1: .*\n  \{", answers, re.MULTILINE)
    one, both = answers.count("\nanswer "), requests.count("\nanswer ")
    assert one == both == requests.count("\nrequest ") == 10
    assert not re.search("^(answer|request) |^user$", lines, re.MULTILINE)
    assert "\nuser\n" in requests
    assert "\nuser\n" not in answers
    assert step.startswith("  2  ")
    wrong = run("show", "runs/one", "--answers", "--problem", cwd=recorded)
    assert wrong.returncode == 2
    assert three_lines(wrong.stderr)


def test_a_step_without_a_request_says_which_step_has_one(recorded: Path) -> None:
    done = run("show", "runs/one", "--step", "1", "--requests", cwd=recorded)
    assert done.stdout.splitlines()[-1] == "step 1 has no request; the nearest step that has one is 0"
    assert "has no request" not in run("show", "runs/one", "--step", "0", "--requests", cwd=recorded).stdout


def test_the_problem_of_a_step_is_pddl(recorded: Path) -> None:
    done = run("show", "runs/one", "--step", "2", "--problem", cwd=recorded)
    assert done.returncode == 0, done.stderr
    assert "(at laundry_room)" in {str(item) for item in parse_problem(done.stdout).facts}


@pytest.mark.font
def test_pictures(recorded: Path) -> None:
    done = run("show", "runs/one", "--step", "2", "-o", "a.svg", "--size", "80x24", cwd=recorded)
    assert done.returncode == 0, done.stderr
    assert "laundry" in (recorded / "a.svg").read_text()
    done = run("show", "runs/one", "-o", "a.gif", "--size", "80x24", cwd=recorded)
    assert done.returncode == 0, done.stderr
    assert (recorded / "a.gif").read_bytes().startswith(b"GIF8")


@pytest.mark.parametrize("other", [(), ("runs/one",)])
def test_a_page(recorded: Path, other: tuple[str, ...]) -> None:
    done = run("show", "runs/one", *other, "-o", "a.html", "--step", "3", cwd=recorded)
    assert done.returncode == 0, done.stderr
    text = (recorded / "a.html").read_text()
    assert {page["opens"] for page in pages_in(text)} == {3}
    assert text.count('id="data-') == 1 + len(other)
    assert "coin edit reader seed 12" in text
    index = json.loads(text.partition('id="index">')[2].partition("</script>")[0])
    cells = dict(zip([column["name"] for column in index["columns"]], index["rows"][0]["cells"], strict=True))
    assert (cells["calls"], cells["step"]) == ("10", "21"), "the numbers of the results"
    assert "cost" not in cells


def test_lost_episodes_are_chosen_without_checks(recorded: Path) -> None:
    journal = find_journal(recorded / "runs" / "one")
    results = journal.parent.parent / "results.jsonl"
    results.write_text(results.read_text().replace('"outcome":"won"', '"outcome":"lost"'))
    done = run("show", "runs/one", "--only", "lost", "--answers", cwd=recorded)
    assert done.returncode == 0, done.stderr
    assert not (journal.parent.parent / TRUTH).exists()


def test_several_lost_episodes_are_named_with_the_options_in_which_they_differ(recorded: Path) -> None:
    journal = find_journal(recorded / "runs" / "one")
    results = journal.parent.parent / "results.jsonl"
    (won,) = results.read_text().splitlines(keepends=True)
    for seed in (7, 8):
        for old, new in ((journal, journal.with_name(f"coin-edit-reader-seed{seed}.jsonl")), (results, results)):
            text = won if old == results else old.read_text()
            text = text.replace('"seed":12', f'"seed":{seed}').replace('"outcome":"won"', '"outcome":"lost"')
            new.write_text(text if new != results else results.read_text() + text)
    done = run("show", "one", "--only", "lost", "--answers", cwd=recorded)
    assert done.returncode == 2 and three_lines(done.stderr[done.stderr.index("Error:") :]), done.stderr
    assert "2 episodes match" in done.stderr and "coin-edit-reader-seed7, coin-edit-reader-seed8." in done.stderr
    assert "Select one with --seed, or name" in done.stderr


def test_resume_names_no_option_that_selects_nothing(recorded: Path) -> None:
    """Its option --model is the model that goes on."""
    journal = find_journal(recorded / "runs" / "one")
    for name, field in [("model", '"model":"reader"'), ("seed", '"seed":12')]:
        text = journal.read_text().replace(field, field.replace("reader", "other").replace("12", "7"), 1)
        (other := journal.with_name("other.jsonl")).write_text(text)
        done = run("resume", "one", "--from-step", "2", cwd=recorded)
        assert (done.returncode, "2 episodes match" in done.stderr) == (2, True), done.stderr
        assert ("--model" in done.stderr, "--seed" in done.stderr) == (False, name == "seed")
        other.unlink()


def test_replay_says_the_same_or_what_differs(recorded: Path) -> None:
    done = run("replay", "runs/one", cwd=recorded)
    assert done.returncode == 0, done.stderr
    assert "coin-edit-reader-seed12.jsonl: identical, 64 events" in done.stdout
    journal = find_journal(recorded / "runs" / "one")
    text = journal.read_text()
    journal.write_text("".join(text.splitlines(keepends=True)[:12]))
    done = run("replay", str(journal), cwd=recorded)
    assert (done.returncode, "identical, 12 events, without an end" in done.stdout) == (0, True)
    journal.write_text(text.replace("revealing the laundry room", "revealing the wine cellar", 1))
    done = run("replay", str(journal), cwd=recorded)
    assert done.returncode == 1
    assert "differs at step 1" in done.stdout
    assert "wine cellar" in done.stdout


def test_resume_with_a_problem_file(recorded: Path) -> None:
    done = run("show", "runs/one", "--step", "7", "--problem", cwd=recorded)
    (recorded / "fixed.pddl").write_text(done.stdout.replace("(:init", "(:init (visited loc2)"))
    done = run("resume", "runs/one", "--seed", "12", "--from-step", "7", "--problem", "fixed.pddl", cwd=recorded)
    assert done.returncode in (0, 1), done.stderr
    assert "goes on after step 7 of runs/one/episodes/coin-edit-reader-seed12.jsonl" in done.stdout
    assert "corrected by a person: + (visited loc2)" in done.stdout
    made = newest_run(recorded / "runs")
    assert made.name.endswith("-resumed")
    assert run("replay", str(made), cwd=recorded).returncode == 0


def test_resume_with_an_editor(recorded: Path) -> None:
    editor = recorded / "editor.py"
    editor.write_text(
        "import pathlib, sys\npath = pathlib.Path(sys.argv[1]); text = path.read_text()\n"
        "assert '; Predicates: ' in text\n"
        "path.write_text(text.replace('(visited kitchen)', '(visited kitchen) (visited loc4)'))\n"
    )
    arguments = ("resume", "runs/one", "--from-step", "2", "--edit")
    done = run(*arguments, cwd=recorded, EDITOR=f"'{sys.executable}' '{editor}'")
    assert done.returncode in (0, 1), done.stderr
    assert "corrected by a person: + (visited loc4)" in done.stdout
    done = run(*arguments, cwd=recorded, EDITOR="true")
    assert done.returncode == 2
    assert "Nothing was corrected" in done.stderr


@pytest.mark.parametrize(
    ("mode", "predicate"),
    [("edit-no-domain", "(closed_door ?loc1 - location ?loc2 - location)"), ("full", "(item_at ")],
)
def test_the_editor_shows_the_domain_that_was_played(tmp_path: Path, mode: str, predicate: str) -> None:
    assert run("play", "coin", "--mode", mode, "--seed", "4", "--pace", "0", cwd=tmp_path).returncode == 0
    editor = tmp_path / "editor.py"
    editor.write_text(
        "import pathlib, sys\npath = pathlib.Path(sys.argv[1]); text = path.read_text()\n"
        f"pathlib.Path({str(tmp_path / 'seen.pddl')!r}).write_text(text)\n"
        "path.write_text(text.replace('(visited kitchen)', '(visited kitchen) (visited loc4)'))\n"
    )
    arguments = ("resume", "latest", "--from-step", "2", "--edit", "--pace", "0")
    done = run(*arguments, cwd=tmp_path, EDITOR=f"'{sys.executable}' '{editor}'")
    assert done.returncode == 0, done.stderr
    assert "corrected by a person: + (visited loc4)" in done.stdout
    comments = [line for line in (tmp_path / "seen.pddl").read_text().splitlines() if line.startswith(";")]
    (predicates,) = (line for line in comments if line.startswith("; Predicates: "))
    assert predicate in predicates
    assert not [line for line in comments if line.startswith("; Check: ")]
    assert run("replay", "latest", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (("report", "one"), "coin"),
        (("show", "one", "--step", "7"), "7  "),
        (("watch", "one"), "runs/one"),
        (("replay", "one"), "identical, 64 events"),
        (("resume", "one", "--from-step", "7", "--pace", "0"), "won after"),
    ],
)
def test_a_run_is_found_by_the_name_that_eval_gave_it(recorded: Path, arguments: tuple[str, ...], output: str) -> None:
    done = run(*arguments, cwd=recorded)
    assert done.returncode == 0, done.stderr
    assert output in done.stdout


def test_the_latest_report_is_of_a_run_with_results(recorded: Path) -> None:
    """Later runs are a `play` that is running, and an episode that was resumed."""
    running = recorded / "runs" / "running"
    shutil.copytree(recorded / "runs" / "one", running)
    (running / "results.jsonl").unlink()
    assert run("resume", "runs/one", "--from-step", "7", "--pace", "0", cwd=recorded).returncode == 0
    os.utime(running / "episodes", (4e9, 4e9))
    done = run("report", "latest", "--format", "json", cwd=recorded)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["sources"] == ["runs/one"]
    shutil.rmtree(recorded / "runs" / "one")
    done = run("report", "latest", cwd=recorded)
    assert done.returncode == 2
    assert "no episode in it is finished" in done.stderr


def test_a_person_plays_from_a_pipe_and_is_recorded(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pddlego", "play", "coin", "--seed", "12", "--mode", "human"]
    script = "open door to north\n\nmove north\ndance\n"
    done = subprocess.run(
        command,
        cwd=tmp_path,
        input=script,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env=os.environ,
    )
    assert done.returncode == 130, done.stderr
    assert "You are in the laundry room." in done.stdout
    assert "3 steps" in done.stdout
    assert "1 refused" in done.stdout
    assert run("replay", str(newest_run(tmp_path / "runs")), cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("watch", "--runs", "nowhere"), "Set PDDLEGO_RUNS"),
        (("show", "nowhere"), "Unknown run nowhere"),
        (("show", "runs/one", "--seed", "13"), "none with seed 13"),
        (("show", "runs/one", "--step", "99"), "Unknown step 99"),
        (("show", "runs/one", "-o", "a.svg", "--size", "9x9"), "--size 9x9 is not possible"),
        (("show", "runs/one", "-o", "nowhere/a.svg"), "Cannot write"),
        (("show", "runs/one", "-o", "a.png"), "a.png is not possible (-o)"),
        (("show", "runs/one", "-o", "--only"), "--only is not possible (-o)"),
        (("replay", "runs"), "runs is not a run folder"),
        (("resume", "runs/one"), "To go on with an evaluation, run eval again"),
        (("resume", "runs/one", "--from-step", "21"), "Cannot resume from step 21"),
        (("resume", "runs/one", "--from-step", "7", "--problem", "none.pddl"), "none.pddl cannot be read"),
        (("resume", "runs/one", "--from-step", "7", "--problem", "bad.pddl"), "bad.pddl cannot be planned with"),
        (("resume", "runs/one", "--from-step", "7", "--max-steps", "7"), "nothing is left"),
        (("resume", "runs/one", "--from-step", "7", "--model", "gpt-x"), "OPENAI_API_KEY"),
        (("resume", "runs/one", "--from-step", "7", "--confirm", "plans"), "--confirm needs a terminal"),
        (("play", "coin", "--confirm", "dreams"), "--confirm dreams is not possible"),
        (("play", "coin", "--mode", "act", "--confirm", "plans"), "There is nothing to confirm"),
    ],
)
def test_what_a_user_can_get_wrong_ends_in_three_lines(recorded: Path, arguments: tuple[str, ...], says: str) -> None:
    (recorded / "bad.pddl").write_text("(define (problem p) (:domain coin-collector) (:init (at moon)))")
    done = run(*arguments, cwd=recorded)
    assert done.returncode in (2, 3), done.stdout
    assert three_lines(done.stderr)
    assert says in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("script", [b"go \xff\n", b"\n" * 3000 + b"look around\n", b""])
def test_whatever_comes_through_a_pipe(tmp_path: Path, script: bytes) -> None:
    command = [sys.executable, "-m", "pddlego", "play", "coin", "--seed", "12", "--mode", "human"]
    done = subprocess.run(
        command, cwd=tmp_path, input=script, capture_output=True, timeout=PATIENCE, check=False, env=os.environ
    )
    assert done.returncode == 130, done.stderr
    assert b"Traceback" not in done.stderr
    assert read(find_journal(newest_run(tmp_path / "runs"))).ended is not None


def test_the_key_goes_to_no_endpoint_that_only_a_run_folder_names(recorded: Path, model_server: ModelServer) -> None:
    place = recorded / "runs" / "one" / "manifest.json"
    kept = json.loads(place.read_text())
    kept["configuration"]["endpoint"]["base_url"] = model_server.url
    place.write_text(json.dumps(kept))
    journal = find_journal(recorded / "runs" / "one")
    journal.write_text(journal.read_text().replace('"model":"reader"', '"model":"m"', 1))
    # At step 1 the plan goes on; the model is asked after step 2.
    model_server.replies = [fault(400, "no")]
    arguments = ("resume", "runs/one", "--from-step", "1")
    done = run(*arguments, cwd=recorded, OPENAI_API_KEY=KEY)
    assert "Your key is not sent" in done.stdout
    assert model_server.requests
    assert not any(KEY in str(header) for header in model_server.headers)
    run(*arguments, "--base-url", model_server.url, cwd=recorded, OPENAI_API_KEY=KEY)
    assert KEY in str(model_server.headers[-1])
