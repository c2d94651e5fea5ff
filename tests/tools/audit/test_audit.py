"""Audits of pairs whose labels are right by construction, some of them turned into wrong ones."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from pddlego.errors import UsageError
from pddlego.pddl import parse_domain
from pddlego.planning import Search
from pddlego.planning.process import make_planner
from pddlego.tasks.generators import generate
from pddlego.tools.audit.judges import audit, difference_from_record, judge
from pddlego.tools.audit.pairs import LABELS, LabelledPair, read_labelled
from pddlego.util import resources
from tests.cli.command import run
from tests.scale import PATIENCE

FERRY = resources.read("domains", "ferry.pddl")


@lru_cache
def made(number: int) -> tuple[str, str, tuple[str, ...]]:
    """A task of ferry that needs a plan, the task without its ferry, and a plan of least cost."""
    seed = f"{number}"
    while True:
        problem = replace(generate("ferry", {"locations": (2, 3), "cars": (1, 2)}, seed), domain="ferry")
        with make_planner("pyperplan", 30, 2048) as planner:
            plan = planner.solve(parse_domain(FERRY), problem, Search.parse("bfs")).plan
        if plan is not None and plan.steps:
            break
        seed += "+"
    empty = replace(problem, facts=frozenset(atom for atom in problem.facts if atom.predicate != "at-ferry"))
    return str(problem), str(empty), tuple(map(str, plan.steps))


def pair(number: int, wrong: bool) -> dict[str, Any]:
    """The row of a pair with one label, in the order of `LABELS`."""
    problem, unsolvable, plan = made(number // len(LABELS) % 8)
    label, truth = LABELS[number % len(LABELS)], number // len(LABELS) % 2 == 0
    row: dict[str, Any] = {"id": f"p{number}", "domain": FERRY, "problem": problem}
    if label == "solvable":
        return {**row, "problem": problem if truth else unsolvable, "solvable": truth != wrong}
    if label == "valid":
        return {**row, "plan": "\n".join(plan if truth else plan[:-1]), "valid": truth != wrong}
    if label == "equivalent":
        other = problem.replace(" c1", " vehicle").replace(" l1", " harbour") if truth else unsolvable
        return {**row, "other": other, "equivalent": truth != wrong}
    if label == "recorded_verdict":
        problem = (unsolvable if wrong else problem) if truth else (problem if wrong else unsolvable)
        return {**row, "problem": problem, "recorded_verdict": "PLAN" if truth else "goal FALSE"}
    return {**row, "cost": len(plan) + (random.Random(number).choice((-1, 1)) if wrong else 0)}


@pytest.mark.parametrize("size", [10, pytest.param(300, marks=pytest.mark.slow)])
def test_the_wrong_labels_are_found_and_no_right_one_is_accused(size: int) -> None:
    wrong = set(random.Random(0).sample(range(size), size // 10))
    pairs = [LabelledPair.model_validate(pair(number, number in wrong)) for number in range(size)]
    judgements = list(audit(pairs, 60, workers=2))
    assert [judgement.id for judgement in judgements] == [f"p{number}" for number in range(size)]
    accused = {int(judgement.id[1:]) for judgement in judgements if judgement.verdict == "contradicted"}
    assert accused == wrong
    assert all(judgement.evidence and judgement.verdict != "undecided" for judgement in judgements)


def test_the_evidence() -> None:
    evidence = {
        label: judge(LabelledPair.model_validate(pair(place, True)), PATIENCE)[0] for place, label in enumerate(LABELS)
    }
    assert "a plan of" in evidence["solvable"].evidence and "(sail" in evidence["solvable"].evidence
    assert "the plan reaches the goal, with cost" in evidence["valid"].evidence
    assert "a plan of cost" in evidence["cost"].evidence or "the least cost is" in evidence["cost"].evidence
    none = judge(LabelledPair.model_validate(pair(len(LABELS), True)), PATIENCE)[0]
    assert none.verdict == "contradicted" and "and" in none.evidence and "prove that no plan exists" in none.evidence


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"domain": "(define (domain ferry"}, "domain"),
        ({"problem": "nonsense"}, "problem"),
        ({"valid": True}, "there is no plan"),
        ({"equivalent": True}, "there is no second problem"),
        ({"problem": "/etc/passwd"}, "problem"),
        ({"domain": "(" * 100_000}, "domain"),
    ],
)
def test_what_cannot_be_judged_is_undecided(changes: dict[str, Any], reason: str) -> None:
    for judgement in judge(LabelledPair.model_validate({**pair(0, False), **changes}), PATIENCE):
        if judgement.label in changes or ("valid" not in changes and "equivalent" not in changes):
            assert judgement.verdict == "undecided" and reason in judgement.evidence


@pytest.mark.kairos
def test_a_proof_by_exploration_decides_a_label_that_kairos_leaves_undecided() -> None:
    domain = """(define (domain d) (:predicates (done)) (:functions (n)) (:action a :parameters ()
      :precondition (> (* (n) (n)) 2) :effect (and (done) (increase (n) 0.1))))"""
    problem = "(define (problem p) (:domain d) (:init (= (n) 1.4)) (:goal (done)))"
    judgement = judge(LabelledPair(id="x", domain=domain, problem=problem, solvable=True), PATIENCE)[0]
    assert (judgement.verdict, judgement.evidence) == ("contradicted", "exploration proves that no plan exists")


def test_the_least_cost_is_undecided_for_a_maximized_metric_and_for_costs_without_a_metric() -> None:
    action = "(:action {} :parameters () :effect (and (done) (increase (total-cost) {})))"
    cheap, dear = action.format("a", 1), action.format("b", 5)
    domain = f"(define (domain d) (:predicates (done)) (:functions (total-cost)) {cheap} {dear})"
    problem = "(define (problem p) (:domain d) (:init (= (total-cost) 0)) (:goal (done)) {})"
    judgements = [
        judge(LabelledPair(id="x", domain=domain, problem=problem.format(metric), cost=5), PATIENCE)[0]
        for metric in ("(:metric minimize (total-cost))", "(:metric maximize (total-cost))", "")
    ]
    assert [judgement.verdict for judgement in judgements] == ["contradicted", "undecided", "undecided"], judgements


def test_a_proof_for_a_label_is_repeated_by_an_engine_with_another_reader() -> None:
    pytest.importorskip("pymimir")
    row = pair(len(LABELS), True)
    for labels in ({"solvable": True}, {"cost": 3}):
        judgement = judge(LabelledPair(id="x", domain=row["domain"], problem=row["problem"], **labels), PATIENCE)[0]
        assert judgement.verdict == "contradicted" and "and mimir prove" in judgement.evidence


def test_a_plan_that_cannot_be_read_contradicts_nothing() -> None:
    row = pair(0, False)
    read = LabelledPair(id="x", domain=row["domain"], problem=row["problem"], plan="plans/p1.plan", valid=True)
    assert [judgement.verdict for judgement in judge(read, PATIENCE)] == ["undecided"]
    with pytest.raises(ValueError, match="finite"):
        LabelledPair(id="x", domain=row["domain"], problem=row["problem"], cost=float("nan"))


def test_the_same_pairs_in_every_form(tmp_path: Path) -> None:
    rows = [pair(number, False) for number in range(4)]
    rows[0]["problem"] += " ; \u2028 and \x85 end no line in JSON"
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "a.json").write_text(json.dumps(rows), encoding="utf-8")
    columns = sorted({key for row in rows for key in row})
    cells = [
        [json.dumps(row[c]) if isinstance(row.get(c), bool) else str(row.get(c, "")) for c in columns] for row in rows
    ]
    quoted = [",".join('"' + cell.replace('"', '""') + '"' for cell in line) for line in [columns, *cells]]
    (tmp_path / "a.csv").write_text("\n".join(quoted), encoding="utf-8")
    for row in rows:
        folder = tmp_path / "folders" / row["id"]
        folder.mkdir(parents=True)
        for field, suffix in (("domain", "pddl"), ("problem", "pddl"), ("other", "pddl"), ("plan", "plan")):
            if field in row:
                (folder / f"{field}.{suffix}").write_text(row[field], encoding="utf-8")
        labels = {label: row[label] for label in LABELS if label in row}
        (folder / "labels.json").write_text(json.dumps(labels), encoding="utf-8")
    expected = [LabelledPair.model_validate(row) for row in rows]
    for name in ("a.jsonl", "a.json", "a.csv", "folders"):
        assert list(read_labelled(tmp_path / name, {})) == expected, name


@pytest.mark.parametrize("text", ["{", "[1", "[1]", "3", '{"domain": "x"}', "[" * 100_000, ""])
def test_a_file_that_is_not_a_list_of_pairs_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(text, encoding="utf-8")
    if text:
        with pytest.raises(UsageError):
            list(read_labelled(path, {}))
    else:
        assert not list(read_labelled(path, {}))


def test_the_command_continues_where_it_was_killed(tmp_path: Path) -> None:
    rows = [
        {("pddl" if key == "problem" else key): value for key, value in pair(place, place == 1).items()}
        for place in (0, 1)
    ]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    arguments = ("audit", "pairs.jsonl", "--field", "problem=pddl", "-o", "out.jsonl", "--timeout", "300")
    first = run(*arguments, cwd=tmp_path)
    assert first.returncode == 1 and "p1: valid = false is contradicted: the plan reaches the goal" in first.stdout
    output = tmp_path / "out.jsonl"
    lines = output.read_text(encoding="utf-8").splitlines(keepends=True)
    forged = lines[0].replace("a plan of", "kept from before, a plan of")
    output.write_text(forged + lines[1][:20], encoding="utf-8")
    assert run(*arguments, cwd=tmp_path).stdout == first.stdout
    assert output.read_text(encoding="utf-8") == forged + lines[1]
    refused = run("audit", "pairs.jsonl", "--field", "goal=pddl", cwd=tmp_path)
    assert refused.returncode == 2 and "The fields are: id, domain" in refused.stderr


def test_only_unchanged_rows_are_taken_over(tmp_path: Path) -> None:
    def audited(*rows: dict[str, Any]) -> list[dict[str, Any]]:
        (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        assert run("audit", "pairs.jsonl", "-o", "out.jsonl", "--timeout", "300", cwd=tmp_path).returncode in (0, 1)
        return [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]

    solvable, valid = pair(0, False), pair(1, False)
    first = audited(solvable, valid)
    assert [line["verdict"] for line in first] == ["confirmed", "confirmed"]
    changed = {**valid, "plan": "\n".join(valid["plan"].splitlines()[:-1])}
    second = audited({**solvable, "solvable": False}, changed)
    assert [line["verdict"] for line in second] == ["contradicted", "contradicted"]
    (kept,) = audited({**changed, "note": "other columns do not matter"})
    assert kept == second[1]


def test_a_misspelt_label_is_named(tmp_path: Path) -> None:
    row = pair(0, False)
    row["solveable"], row["split"] = row.pop("solvable"), "test"
    (tmp_path / "pairs.jsonl").write_text(json.dumps(row), encoding="utf-8")
    assert run("audit", "pairs.jsonl", cwd=tmp_path).stderr.splitlines()[0] == (
        "'solveable' is not a label, and is ignored in 1 pair. Did you mean 'solvable'?"
    )
    done = run("audit", "pairs.jsonl", "--field", "solvable=solveable", "--format", "csv", cwd=tmp_path)
    assert "solvable,1,0,0" in done.stdout and "ignored" not in done.stderr
    done = run("audit", "pairs.jsonl", "--field", "solvable=solvabel", cwd=tmp_path)
    assert done.returncode == 2 and "no pair has the column" in done.stderr and "'solveable'" in done.stderr


@pytest.mark.parametrize(
    ("record", "ending", "contradicts"),
    [
        ({"recorded_verdict": "PLAN"}, ("solved", 2), False),
        ({"recorded_verdict": "PLAN"}, ("already true", 0), False),
        ({"recorded_verdict": "PLAN"}, ("unsolvable", 0), True),
        ({"recorded_verdict": "PLAN", "recorded_actions": ["(a)", "(b)"]}, ("solved", 2), False),
        ({"recorded_verdict": "PLAN", "recorded_actions": ["(a)"]}, ("solved", 2), True),
        ({"recorded_verdict": "PLAN", "recorded_actions": ["(a)"]}, ("already true", 0), True),
        ({"recorded_verdict": "goal FALSE"}, ("solved", 2), True),
        ({"reference_plan_length": 3}, ("solved", 2), True),
        ({"reference_plan_length": 3}, ("unsolvable", 0), False),
        ({"recorded_verdict": "segfault"}, ("solved", 2), False),
    ],
)
def test_an_ending_contradicts_a_record(record: dict[str, Any], ending: tuple[str, int], contradicts: bool) -> None:
    recorded = LabelledPair.model_validate({"id": "x", "domain": "", "problem": "", **record})
    assert bool(difference_from_record(recorded, *ending)) == contradicts


def test_a_record_of_files_that_are_not_valid_is_undecided() -> None:
    row = {**pair(0, False), "solvable": None}
    for changes in ({"problem": "nonsense", "recorded_verdict": "PLAN"}, {"recorded_verdict": "segfault"}):
        (judgement,) = judge(LabelledPair.model_validate({**row, **changes}), PATIENCE)
        assert (judgement.label, judgement.verdict) == ("recorded_verdict", "undecided"), judgement


def test_the_step_of_a_fault_is_named_once() -> None:
    row = pair(1, False)
    wrong = LabelledPair.model_validate({**row, "plan": "\n".join(row["plan"].splitlines()[1:]), "valid": True})
    assert judge(wrong, PATIENCE)[0].evidence.count("step ") == 1


def test_the_table_as_latex(tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").write_text(json.dumps(pair(0, False)), encoding="utf-8")
    table = run("audit", "pairs.jsonl", "--format", "latex", cwd=tmp_path)
    assert table.returncode == 0 and "solvable & 1 & 0 & 0" in table.stdout
