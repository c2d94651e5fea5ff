"""Checks of claims after the fact: kept beside the journals, and the causes that follow from them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pddlego
from pddlego.cli.browsing import causes_of, checks_of, explain_episode, saved_cause
from pddlego.display.console import UNICODE
from pddlego.display.live import LivePages
from pddlego.display.opened import Sources
from pddlego.episode.events import Outcome
from pddlego.evaluation.truth import Causes, ResultFilter, explain_losses, with_truth
from pddlego.methods.registry import make_codec, screen_of
from pddlego.runs.cells import NO_MODEL, Cell
from pddlego.runs.store import TRUTH, journal_name, read_results
from pddlego.runs.summary import LastingError, Measures, Summary
from tests.cli.command import run
from tests.scale import PATIENCE

GAMES = ("coin", "mapreader", "twc", "cooking-easy", "cooking-hard", "cooking-full")


def result(seed: int, outcome: Outcome, *errors: LastingError, model: str = "m") -> Summary:
    return Summary(Cell("coin", "edit", model, seed), 1, outcome, measures=Measures(errors=errors))


AT, DOOR = LastingError("missing at", "missing (at hall)", 0), LastingError("missing closed_door", "missing (…)", 6)
UNUSABLE = LastingError("unusable answer (cut off)", "unusable answer (cut off)", 7, fatal=True)
ENDING = LastingError("no command that helps", "no command that helps in 7 steps")


def test_the_cause_is_the_error_that_won_episodes_do_not_have() -> None:
    """As in 20 explained losses, of which 19 had the same first error, and so had all won episodes."""
    lost = [result(seed, Outcome.NO_PLAN, AT, DOOR) for seed in range(19)]
    won = [result(seed, Outcome.WON, AT) for seed in range(20, 41)]
    causes = Causes([*lost, *won])
    (first, second) = causes.shares["coin", "edit", "m"]
    assert (first.kind, first.lost, first.all_lost, first.won, first.all_won) == (DOOR.kind, 19, 19, 0, 21)
    assert causes.caused["coin", "edit", "m"] == {DOOR.kind: 19}
    assert second.difference == 0
    assert {causes.of(summary) for summary in lost} == {"missing (…) after step 6"}
    assert {causes.of(summary) for summary in won} == {""}


def test_an_answer_that_ended_the_episode_comes_first() -> None:
    ended = result(0, Outcome.NO_PLAN, DOOR, UNUSABLE)
    causes = Causes([ended, *(result(seed, Outcome.NO_PLAN, DOOR) for seed in range(1, 9))])
    assert causes.of(ended) == "unusable answer (cut off) after step 7"


KINDS = ("a", "b", "c")
EPISODES = st.lists(st.tuples(st.booleans(), st.sets(st.sampled_from(KINDS))), max_size=30)


@given(EPISODES)
def test_no_cause_is_as_frequent_in_won_episodes(episodes: Sequence[tuple[bool, set[str]]]) -> None:
    results = [
        result(seed, Outcome.WON if won else Outcome.LOST, *(LastingError(kind, kind, 1) for kind in sorted(kinds)))
        for seed, (won, kinds) in enumerate(episodes)
    ]
    causes = Causes(results)
    shares = {share.kind: share.difference for share in causes.shares.get(("coin", "edit", "m"), ())}
    differences = list(shares.values())
    assert differences == sorted(differences, reverse=True)
    for summary in results:
        cause = causes.of(summary).removesuffix(" after step 1")
        if cause not in ("", Outcome.LOST.value):  # won, or nothing but the end is known
            assert shares[cause] == max(shares[error.kind] for error in summary.measures.errors) > 0


def test_a_model_that_repeats_a_command_is_said_to(tmp_path: Path) -> None:
    """In mode `act` the model writes no facts: what it chose is all that can be said."""
    evaluation = pddlego.evaluate(
        "coin", tmp_path / "run", modes="act", models=lambda request: "look around", seeds="1"
    )
    (summary,) = evaluation.wait(PATIENCE).results
    assert not summary.won
    assert [error.kind for error in summary.measures.errors] == ["the same command"]
    assert "'look around' 50 of 50 times" in run("truth", str(tmp_path / "run"), cwd=tmp_path).stdout


def test_random_has_no_causes() -> None:
    lost = result(0, Outcome.LOST, AT, model=NO_MODEL)
    assert (Causes([lost]).shares, Causes([lost]).of(lost)) == ({}, "")


@pytest.mark.parametrize("outcome", list(Outcome))
@pytest.mark.parametrize("message", ["", "why it ended"])
def test_a_loss_without_an_error_has_the_cause_that_ended_it(outcome: Outcome, message: str) -> None:
    ended = replace(result(0, outcome), message=message)
    known = replace(ended, measures=Measures(ending=LastingError("end", "no command that helps in 3 steps", 7)))
    is_lost = ended.counts and not ended.won
    assert Causes([ended]).of(ended) == ((message or outcome.value) if is_lost else "")
    assert Causes([known]).of(known) == ("no command that helps in 3 steps after step 7" if is_lost else "")


def test_an_error_that_explains_more_comes_before_the_end() -> None:
    ended = replace(result(0, Outcome.NO_PLAN, AT), measures=Measures(errors=(AT,), ending=UNUSABLE))
    assert Causes([ended]).of(ended) == str(AT)
    assert Causes([ended, result(1, Outcome.WON, AT)]).of(ended) == str(UNUSABLE), "won episodes have it, too"


ERRORS = st.lists(st.sampled_from([AT, DOOR, LastingError("stale at", "stale (at hall)", 3), UNUSABLE]), unique=True)


@given(st.lists(st.tuples(st.sampled_from([Outcome.WON, Outcome.NO_PLAN]), ERRORS, st.booleans()), max_size=9))
def test_no_cause_is_provisional(episodes: Sequence[tuple[Outcome, Sequence[LastingError], bool]]) -> None:
    """While some episodes are unchecked, each cause is the one that all checks give, or is not known."""
    all_checked = [result(seed, outcome, *errors) for seed, (outcome, errors, _) in enumerate(episodes)]
    final = Causes(all_checked)
    ended = Measures(ending=ENDING)
    so_far = [
        summary if checked else replace(summary, measures=ended)
        for summary, (_, _, checked) in zip(all_checked, episodes, strict=True)
    ]
    unchecked = [summary.cell for summary, (_, _, checked) in zip(all_checked, episodes, strict=True) if not checked]
    causes = Causes(so_far, unchecked)
    assert all(causes.of(now) in ("", final.of(then)) for now, then in zip(so_far, all_checked, strict=True))
    if not unchecked:
        assert [causes.of(summary) for summary in so_far] == [final.of(summary) for summary in all_checked]


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs with and without `--truth` on different seeds."""
    folder = tmp_path_factory.mktemp("night")
    options = ("coin", "--modes", "edit,random", "--models", "reader+noise:0.3", "--retries", "0")
    assert run("eval", *options, "--seeds", "10-15", "--run", "plain", cwd=folder).returncode == 0
    assert run("eval", *options, "--seeds", "16-19", "--run", "live", "--truth", cwd=folder).returncode == 0
    return folder


def test_a_cause_is_found_by_every_name_that_is_shown() -> None:
    """Tables count causes by their kind, the page of a run heads its lists with it, and other lists have the text."""
    ended = replace(result(3, Outcome.LOST), measures=Measures(ending=ENDING))
    lost = [result(0, Outcome.NO_PLAN, AT), result(1, Outcome.NO_PLAN, UNUSABLE), result(2, Outcome.STEP_LIMIT), ended]
    causes = Causes(lost)
    for summary in lost:
        error = causes.error_of(summary)
        assert error is not None and error.kind in ResultFilter(cause="mistyped").hint(causes)
        for name in (error.kind, error.text, str(error), error.kind.upper()):
            found = [other for other in lost if ResultFilter(cause=name).matches(other, causes)]
            assert summary in found and len(found) == 1, name


@pytest.mark.slow
def test_runs_with_and_without_truth_join_and_are_checked_once(night: Path) -> None:
    done = run("report", "plain", "live", cwd=night)
    assert done.returncode == 0, done.stderr
    assert "Errors that lasted, in lost and in won episodes" in done.stdout
    kept = (night / "runs" / "plain" / TRUTH).read_bytes()
    assert kept.count(b"\n") == 6, "modes without a model have no claims"
    assert run("report", "plain", "live", cwd=night).stdout == done.stdout
    assert (night / "runs" / "plain" / TRUTH).read_bytes() == kept
    manifests = [json.loads((night / "runs" / name / "manifest.json").read_text()) for name in ("plain", "live")]
    assert manifests[0]["configuration"] == manifests[1]["configuration"]


def test_a_journal_that_was_cut_changes_no_result(night: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(night / "runs" / "plain", folder, ignore=shutil.ignore_patterns(TRUTH))
    results = read_results(folder)[0]
    for journal in (folder / "episodes").iterdir():
        journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:-1]))
    assert with_truth(folder, results, lambda checked, total: None) == results
    assert not (folder / TRUTH).exists()


def test_lists_follow_what_was_checked(night: Path, tmp_path: Path) -> None:
    """The pages of `view`, after each line of truth.jsonl: no cause, or the one that `truth` names."""
    folder, copy = night / "runs" / "plain", tmp_path / "copy"
    results, causes = explain_losses(folder, lambda checked, total: None)
    final = {journal.name: causes.of(summary) for journal, summary in results.items()}
    lines = (folder / TRUTH).read_bytes().splitlines(keepends=True)
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(TRUTH))
    sources = Sources(make_codec(), screen_of, UNICODE, explain_episode, saved_cause, causes_of, checker=checks_of)
    pages, known = LivePages(tmp_path, sources), []
    for number in range(len(lines) + 1):
        (copy / TRUTH).write_bytes(b"".join(lines[:number]))
        index = json.loads(pages.answer("copy/", {"index": ""}).text)
        heads = [column["name"] for column in index["columns"]]
        place = heads.index("cause") if "cause" in heads else None
        shown = {row["key"]: row["cells"][place] if place is not None else "" for row in index["rows"]}
        assert all(cause in ("", final[name]) for name, cause in shown.items())
        saved = {journal.name: str(saved_cause(copy / "episodes" / journal.name) or "") for journal in results}
        assert saved == shown
        known.append(sum(map(bool, shown.values())))
    assert known[0] == 0 and shown == final and known[-1] > 0


def test_live_checks_and_later_ones_find_the_same(night: Path) -> None:
    live = {summary.cell: summary.measures.errors for summary in read_results(night / "runs" / "live")[0]}
    explain_losses(night / "runs" / "live", lambda checked, total: None)
    reported: list[tuple[int, int]] = []
    later, _ = explain_losses(night / "runs" / "live", lambda checked, total: reported.append((checked, total)))
    assert reported == [], "nothing is checked a second time"
    assert {summary.cell: summary.measures.errors for summary in later.values()} == live


def test_show_lists_on_a_pipe_and_selects_by_result(night: Path) -> None:
    listed = run("show", "plain", "--mode", "edit", cwd=night)
    assert listed.stdout.startswith(f"{Path('runs') / 'plain'}: 6 episodes, 6 ended")
    lost = json.loads(run("truth", "plain", "--only", "lost", "--format", "json", cwd=night).stdout)
    assert lost and all(row["outcome"] != "won" and row["cause"] for row in lost if row["mode"] == "edit")
    causes = [row["cause"].split(" after")[0] for row in lost if row["cause"]]
    chosen = run("show", "plain", "--only", "unusable", cwd=night).stdout
    assert chosen.startswith(f"{Path('runs') / 'plain'}: {len(causes)} episodes")
    assert all(cause[:15] in chosen for cause in causes)  # the column is narrow
    assert run("export", "plain", "--only", "unusable", "--seeds", "all", cwd=night).stdout.count('"seed"') > len(
        causes
    )
    for command in ("show", "report", "export"):  # each name in the list finds something
        nothing = run(command, "plain", "--only", "mistyped", cwd=night)
        names = nothing.stderr.split("The causes are: ")[1].split(".")[0].replace("\n", " ").split(", ")
        assert nothing.returncode == 2 and any("unusable answer" in name for name in names)
    assert all(run("show", "plain", "--only", name, cwd=night).returncode == 0 for name in names)
    wrong = run("show", "plain", "--only", "no plan,crashed", cwd=night)
    assert (wrong.returncode, "--only no plan,crashed selects nothing" in wrong.stderr) == (2, True)
    nothing = run("show", "plain", "--only", "crashed", cwd=night)
    assert (nothing.returncode, "no such episode" in nothing.stderr) == (2, True)
    reported = run("report", "plain", "--mode", "edit", "--only", "lost", "--table", "success", cwd=night)
    assert "edit" in reported.stdout and "random" not in reported.stdout
    reported = run("report", "plain", "--model", "none", "--table", "success", cwd=night)
    assert "random" in reported.stdout and "edit" not in reported.stdout
    nothing = run("report", "plain", "--model", "mistyped", cwd=night)
    assert (nothing.returncode, "The models are: none, reader+noise:0.3." in nothing.stderr) == (2, True)


def test_a_filter_has_cells_and_results() -> None:
    some = ResultFilter(games=("coin",), lost=True)
    lost, won = result(0, Outcome.LOST), result(1, Outcome.WON)
    causes = Causes([lost, won])
    assert (some.matches(lost, causes), some.matches(won, causes)) == (True, False)
    assert not ResultFilter(modes=("gen",)).matches(lost, causes)
    others = (ResultFilter(models=(name,)).has(lost.cell) for name in (lost.cell.model, "mistyped"))
    assert tuple(others) == (True, False)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["edit", "edit-no-feedback-no-tolerance"])
def test_causes_are_the_errors_that_were_made(tmp_path: Path, mode: str) -> None:
    """A night with known errors: of losses with one error, at least 90 % have it as their cause."""
    options = ("--modes", mode, "--models", "reader+noise:0.3", "--seeds", "0-1")
    assert run("eval", *GAMES, *options, "--retries", "0", "--run", "night", cwd=tmp_path).returncode == 0
    folder = tmp_path / "runs" / "night"
    results, causes = explain_losses(folder, lambda checked, total: None)
    right = single = 0
    for summary in results.values():
        step, made = 0, []
        journal = folder / "episodes" / journal_name(summary.cell, summary.attempt)
        for line in journal.read_text(encoding="utf-8").splitlines():
            event = json.loads(line)["event"]
            step = event["step"] if event["type"] == "observed" else step
            made += [step] if event["type"] == "answered" and event["completion"].get("mistake") else []
        if not summary.won and len(made) == 1:
            single += 1
            right += causes.of(summary).endswith(f" after step {made[0]}")
    assert right >= 0.9 * single > 0
    for shares in causes.shares.values():
        assert not shares or shares[0].difference > 0


def test_episodes_that_cannot_be_checked_are_not_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else each command would report again that it checks them."""
    reported: list[tuple[int, int]] = []
    monkeypatch.setattr("pddlego.evaluation.truth._has_claims", lambda result: True)
    results = [replace(result(seed, Outcome.LOST, AT), digest=str(seed)) for seed in range(30)]
    for _ in range(2):
        with_truth(tmp_path, results, lambda checked, total: reported.append((checked, total)))
    assert reported == []
