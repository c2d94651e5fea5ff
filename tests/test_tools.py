"""The functions for PDDL files: texts, paths and values; and what models wrote, repaired."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import re
from pathlib import Path

import pytest

import pddlego
from pddlego import tools
from pddlego.errors import UsageError
from pddlego.pddl import parse_domain, parse_problem
from pddlego.pddl.tolerant import read_pair
from pddlego.planning import Plan, PlanStep
from pddlego.planning.corpus import Pair, read_pairs
from tests.lamps import DOMAIN, PLAN, PROBLEM

CORPUS = [Path(__file__).parent / "data" / "corpus" / name for name in ("pairs.jsonl", "pairs-other-models.jsonl")]


def test_a_file_is_a_text_a_path_or_a_value(tmp_path: Path) -> None:
    (tmp_path / "d.pddl").write_text(DOMAIN)
    (tmp_path / "p.pddl").write_text(PROBLEM)
    plan = Plan(tuple(map(PlanStep.read, PLAN.splitlines())))
    for domain in (DOMAIN, tmp_path / "d.pddl", str(tmp_path / "d.pddl"), parse_domain(DOMAIN)):
        for problem in (PROBLEM, tmp_path / "p.pddl", parse_problem(PROBLEM)):
            assert pddlego.check(domain, problem, plan) == tools.CheckResult(True, (), 3)
            assert pddlego.validate(domain, problem, PLAN) == tools.ValidationResult(True, 3)
            assert pddlego.compare(domain, problem, PROBLEM).verdict == "same"
    with pytest.raises(UsageError, match="cannot be read"):
        pddlego.check(tmp_path / "nowhere.pddl")


def test_a_plan_is_found_with_its_cost_and_engine() -> None:
    result = pddlego.solve(DOMAIN, PROBLEM)
    assert (result.status, result.cost, result.engine) == ("solved", 3, "pyperplan")
    assert result.plan == tuple(PLAN.splitlines())
    done = pddlego.solve(DOMAIN, PROBLEM.replace("(:init", "(:init (lit hall) (lit kitchen)"))
    assert (done.status, done.plan, done.cost) == ("already true", (), 0)
    impossible = pddlego.solve(DOMAIN, PROBLEM.replace("(connected hall kitchen)", ""))
    assert (impossible.status, impossible.plan) == ("unsolvable", None)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"domain": "(define (domain d"}, "The domain is not valid"),
        ({"problem": PROBLEM.replace("(at hall)", "(at hal)")}, "did you mean hall"),
        ({"search": "magic"}, "unknown search"),
        ({"planner": "magic"}, "Unknown planner"),
    ],
)
def test_wrong_arguments_are_explained(arguments: dict[str, str], says: str) -> None:
    with pytest.raises(UsageError) as caught:
        tools.solve(**{"domain": DOMAIN, "problem": PROBLEM, **arguments})  # type: ignore[arg-type]
    assert says in caught.value.sentence


def test_each_state_of_a_plan_is_simulated() -> None:
    result = pddlego.simulate(DOMAIN, PROBLEM, "(switch-on hall)\n(switch-on kitchen)")
    assert [state.action for state in result.states] == ["", "(switch-on hall)"]
    assert result.states[-1].added == ("(lit hall)",)
    assert not result.states[-1].goal_reached
    assert result.applicable == ("(move hall kitchen)", "(switch-on hall)")
    assert result.fault == "step 2: (switch-on kitchen) has an unsatisfied precondition"
    assert result.advice == "(Set (at kitchen) to true)"


def test_a_domain_and_a_problem_are_repaired_alone() -> None:
    domain = pddlego.repair(f"Sure!\n```pddl\n{DOMAIN[:-1]}\n```")
    assert domain.ok
    assert domain.repairs
    problem = pddlego.repair(PROBLEM[:-1], domain=domain.text)
    assert problem.ok
    assert problem.repairs == ("lexical: closing parentheses were missing at the end",)
    assert pddlego.repair(problem.text, domain.text) == tools.RepairResult(True, problem.text, (), ())
    hopeless = pddlego.repair("(define (domain d) (:action a :effect (", None)
    assert not hopeless.ok


@pytest.mark.slow
@pytest.mark.parametrize("file", CORPUS, ids=lambda file: file.stem)
def test_what_models_wrote_is_repaired_with_the_verdict_of_the_corpus(file: Path) -> None:
    for pair in read_pairs(file):
        _check_repair(pair)


def _check_repair(pair: Pair) -> None:
    reading = read_pair(pair.domain, pair.problem)
    domain, problem = tools.repair_files(f"{pair.domain}\n", f"{pair.problem}\n")
    ok = domain.ok and problem.ok
    assert ok is (reading.domain is not None and not reading.defects), pair.id
    again = tools.repair_files(domain.text, problem.text)
    assert [result.text for result in again] == [domain.text, problem.text], pair.id
    assert not again[0].repairs, pair.id
    if ok:
        _translate(domain.text, problem.text)


def _translate(domain: str, problem: str) -> None:
    """Read the files with Fast Downward's own translator. Raises what it raises."""
    from fast_downward.translate import normalize, options
    from fast_downward.translate.pddl_parser import lisp_parser, parsing_functions

    options.set_options(["domain", "problem"])
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        files = (lisp_parser.parse_nested_list(text.splitlines(keepends=True)) for text in (domain, problem))
        normalize.normalize(parsing_functions.parse_task(*files))


def test_the_functions_are_loaded_when_they_are_used() -> None:
    assert set(pddlego.__all__) <= set(dir(tools)) | set(dir(pddlego))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = pddlego.nothing  # type: ignore[attr-defined]


def test_the_conversation_of_the_page_about_agents_is_what_the_tools_say() -> None:
    page = (Path(__file__).parents[1] / "docs" / "agents.md").read_text(encoding="utf-8")
    domain, draft = re.findall(r"^```pddl\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    checked, repaired, solved, validated = (
        json.loads(block) for block in re.findall(r"^```json\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    )
    findings = [dataclasses.asdict(finding) for finding in tools.check(domain, draft).findings]
    for shown in checked["findings"]:
        assert any(shown.items() <= finding.items() for finding in findings), shown
    result = tools.repair(draft.replace("(torch her)", "(torch here)"), domain)
    assert {"ok": result.ok, "repairs": [*result.repairs]} == repaired
    plan = tools.solve(domain, result.text, search="astar(lmcut)")
    assert {"status": plan.status, "plan": [*(plan.plan or ())], "cost": plan.cost} == solved
    greedy = "(cross-together bob ann here there) (cross-alone ann there here) (cross-together cid ann here there) "
    greedy += "(cross-alone ann there here) (cross-together dan ann here there)"
    found = tools.validate(domain, result.text, greedy.replace(") ", ")\n"))
    assert {"valid": found.valid, "cost": found.cost} == validated


def test_an_answer_with_both_files_keeps_both() -> None:
    result = pddlego.repair(f"{DOMAIN}\n\n{PROBLEM[:-1]}")
    assert result.ok
    assert "(domain lamps)" in result.text and "(problem evening)" in result.text


def test_a_file_without_errors_is_not_changed() -> None:
    commented = f"; my comment\n{DOMAIN}"
    assert pddlego.repair(commented) == tools.RepairResult(True, commented, (), ())
    assert pddlego.repair(PROBLEM) == tools.RepairResult(True, PROBLEM, (), ())


def test_a_glued_variable_hides_no_errors() -> None:
    result = pddlego.check(DOMAIN.replace("(lit ?r)))", "(light?r)))"))
    assert {finding.rule for finding in result.findings} == {"glued-variable", "undeclared-predicate"}


def test_other_values_are_refused_by_their_type() -> None:
    for value in (None, 5, b"(define"):
        with pytest.raises(UsageError, match="not a text, a path or a value"):
            pddlego.check(value)  # type: ignore[arg-type]
    assert pddlego.validate(DOMAIN, PROBLEM, pddlego.solve(DOMAIN, PROBLEM).plan or ()).valid


def test_rules_that_follow_from_too_long_a_chain_are_refused() -> None:
    spots = " ".join(f"s{number}" for number in range(400))
    edges = " ".join(f"(edge s{number} s{number + 1})" for number in range(399))
    chain = parse_domain("""(define (domain chain) (:predicates (edge ?a ?b) (path ?a ?b))
      (:derived (path ?a ?b) (or (edge ?a ?b) (exists (?c) (and (edge ?a ?c) (path ?c ?b))))))""")
    problem = f"(define (problem p) (:domain chain) (:objects {spots}) (:init {edges}) (:goal (path s0 s399)))"
    with pytest.raises(UsageError, match="too deep"):
        pddlego.validate(chain, problem, Plan(()))
