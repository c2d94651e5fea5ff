"""What models wrote is repaired, and nothing else is changed."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import pytest

import pddlego
from pddlego import tools
from pddlego.pddl import DefectKind
from pddlego.pddl.check import check_reading
from pddlego.pddl.domain import read_domain
from pddlego.pddl.problem import read_problem
from pddlego.pddl.tolerant import read_pair
from pddlego.tools.audit.pairs import LabelledPair, read_labelled
from tests.lamps import DOMAIN, PROBLEM
from tests.shared import CORPUS

PAIRS = [CORPUS / name for name in ("pairs.jsonl", "pairs-other-models.jsonl")]


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
@pytest.mark.shared("corpus")
@pytest.mark.parametrize("file", PAIRS, ids=lambda file: file.stem)
def test_what_models_wrote_is_repaired_with_the_verdict_of_the_corpus(file: Path) -> None:
    for pair in read_labelled(file, {}):
        _check_repair(pair)


def _check_repair(pair: LabelledPair) -> None:
    reading = read_pair(pair.domain, pair.problem)
    domain, problem = tools.repair_files(f"{pair.domain}\n", f"{pair.problem}\n")
    ok = domain.ok and problem.ok
    assert ok is (reading.domain is not None and not reading.defects), pair.id
    again = tools.repair_files(domain.text, problem.text)
    assert [result.text for result in again] == [domain.text, problem.text], pair.id
    assert not again[0].repairs, pair.id
    if ok:
        _check_task(pair, _translated(domain.text, problem.text))


def _check_task(pair: LabelledPair, repaired: object) -> None:
    """What Fast Downward's translator made of the given files it makes of the repaired ones, too."""
    from fast_downward.translate.pddl_parser.parse_error import ParseError

    defects = check_reading(read_domain(pair.domain).domain, read_problem(pair.problem))
    if {DefectKind.UNDECLARED_OBJECT, DefectKind.ARGUMENT_TYPE} & {defect.kind for defect in defects}:
        return  # the translator does not look at the types of facts
    with contextlib.suppress(ParseError, KeyError, StopIteration):
        assert _translated(pair.domain, pair.problem) == repaired, pair.id


def _translated(domain: str, problem: str) -> object:
    """The ground task that Fast Downward's own translator makes of the files. Raises what it raises."""
    from fast_downward.translate import instantiate, normalize, options
    from fast_downward.translate.pddl_parser import lisp_parser, parsing_functions

    options.set_options(["domain", "problem"])
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        files = (lisp_parser.parse_nested_list(text.splitlines(keepends=True)) for text in (domain, problem))
        task = parsing_functions.parse_task(*files)
        normalize.normalize(task)
        reachable, fluents, actions, goal, _, _ = instantiate.explore(task)
    initial = {str(atom) for atom in task.init if atom in fluents}
    ground = {(action.name, frozenset(map(str, action.precondition)), _effects(action)) for action in actions}
    return reachable, initial, ground, goal and set(map(str, goal))


def _effects(action: Any) -> frozenset[tuple[bool, frozenset[str], str]]:
    both = ((True, action.add_effects), (False, action.del_effects))
    return frozenset((adds, frozenset(map(str, when)), str(fact)) for adds, effects in both for when, fact in effects)


def test_an_answer_with_both_files_keeps_both() -> None:
    result = pddlego.repair(f"{DOMAIN}\n\n{PROBLEM[:-1]}")
    assert result.ok
    assert "(domain lamps)" in result.text and "(problem evening)" in result.text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(:requirements", "(:requirements :fluents"),
        ("(:requirements", "(:requirements :numeric-fluents :time :telepathy"),
        ("(domain lamps) (:requirements", "(domain lamps :requirements"),
        ("hall kitchen - room", "hall kitchen hall - room"),
        ("(:objects", "(:requirements :fluents) (:objects"),
        ("(problem evening)", "(problem evening :requirements :strips)"),
        ("(:goal (and (lit hall) (lit kitchen)))", "(:goal ())"),
    ],
)
def test_what_is_called_free_of_errors_can_be_read_by_the_translator(old: str, new: str) -> None:
    given = DOMAIN.replace(old, new), PROBLEM.replace(old, new)
    assert given != (DOMAIN, PROBLEM)
    results = tools.repair_files(*given)
    assert all(result.ok for result in results)
    assert results[0].repairs
    _translated(*(result.text for result in results))


def test_errors_that_remain_quote_the_given_text() -> None:
    answer = f"Here it is:\n\n```\n{PROBLEM.replace('(lit kitchen)', '(lit kichen)')[:-1]}\n```"
    for result in (tools.repair(answer, DOMAIN), tools.repair_files(DOMAIN, answer)[1]):
        (finding,) = result.findings
        assert answer.split("\n")[finding.line - 1] == finding.source
        assert finding.source[finding.column - 1 :].startswith("kichen)")


def test_a_file_without_errors_is_not_changed() -> None:
    commented = f"; my comment\n{DOMAIN}"
    assert pddlego.repair(commented) == tools.RepairResult(True, commented, (), ())
    assert pddlego.repair(PROBLEM) == tools.RepairResult(True, PROBLEM, (), ())


@pytest.mark.parametrize("typed", ["extra -", "extra - -", "extra other - - -"])
def test_a_list_of_objects_may_end_with_hyphens(typed: str) -> None:
    problem = f"(define (problem p) (:domain d) (:objects {typed}) (:init (p)) (:goal (p)))"
    domain = "(define (domain d) (:requirements :fluents) (:predicates (p)) (:action a :precondition (p) :effect (p)))"
    for result in (tools.repair(problem, domain), tools.repair_files(domain, problem)[1]):
        assert "extra" in result.text
