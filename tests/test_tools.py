"""The functions for PDDL files: texts, paths and values; and what models wrote, repaired."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

import pddlego
from pddlego import tools
from pddlego.errors import PddlegoError, UsageError
from pddlego.pddl import DefectKind, parse_domain, parse_problem
from pddlego.pddl.check import check_reading
from pddlego.pddl.domain import read_domain
from pddlego.pddl.problem import read_problem
from pddlego.pddl.tolerant import read_pair
from pddlego.planning import Plan, PlanStep
from pddlego.planning.corpus import Pair, read_pairs
from tests import fuel
from tests.lamps import DOMAIN, PLAN, PROBLEM
from tests.shared import CORPUS

PAIRS = [CORPUS / name for name in ("pairs.jsonl", "pairs-other-models.jsonl")]


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
        ({"planner": "magic"}, "Unknown planner 'magic'"),
        ({"seconds": -1.0}, "The limits of the planner are not possible"),
        ({"memory": 5}, "A planner memory of 5 MiB is too small"),
    ],
)
def test_wrong_arguments_are_explained(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as caught:
        tools.solve(**{"domain": DOMAIN, "problem": PROBLEM, **arguments})
    assert says in caught.value.sentence
    assert "--" not in caught.value.sentence


def test_each_state_of_a_plan_is_simulated() -> None:
    result = pddlego.simulate(DOMAIN, PROBLEM, "(switch-on hall)\n(switch-on kitchen)")
    assert [state.action for state in result.states] == ["", "(switch-on hall)"]
    assert result.states[-1].added == ("(lit hall)",)
    assert not result.states[-1].goal_reached
    assert result.applicable == ("(move hall kitchen)", "(switch-on hall)")
    assert result.fault == "step 2: (switch-on kitchen) has an unsatisfied precondition"
    assert result.advice == "Set (at kitchen) to true"


TANK = """(define (domain fuel) (:requirements :strips :numeric-fluents) (:predicates (at ?p) (road ?a ?b))
  (:functions (fuel) (length ?a ?b))
  (:action go :parameters (?a ?b) :precondition (and (at ?a) (road ?a ?b) (>= (fuel) (length ?a ?b)))
    :effect (and (not (at ?a)) (at ?b) (decrease (fuel) (length ?a ?b)))))"""
OUTING = """(define (problem trip) (:domain fuel) (:objects a b c)
  (:init (at a) (road a b) (road b c) (road b a) (= (fuel) 4) (= (length a b) 2.5) (= (length b c) 2)
    (= (length b a) 1))
  (:goal (at c)))"""


def test_numbers_are_among_the_facts_of_a_simulated_state() -> None:
    result = pddlego.simulate(TANK, OUTING, "(go a b)\n(go b c)")
    assert "(= (fuel) 4)" in result.states[0].facts
    assert "(= (length a b) 2.5)" in result.states[-1].facts
    assert result.states[1].added == ("(= (fuel) 1.5)", "(at b)")
    assert result.states[1].deleted == ("(= (fuel) 4)", "(at a)")
    assert result.advice == "Make (>= (fuel) (length b c)) true: (fuel) is 1.5, (length b c) is 2"
    assert result.applicable == ("(go b a)",)
    assert tools.applicable(TANK, OUTING, "(go a b)").actions == ("(go b a)",)


def test_every_function_knows_numbers() -> None:
    """Each result with facts has numbers, and each message about a number its value."""
    task, other = (fuel.DOMAIN, fuel.PROBLEM), fuel.PROBLEM.replace("(= (fuel t1) 8)", "(= (fuel t1) 9)")
    assert pddlego.check(*task, fuel.PLAN) == tools.CheckResult(True, (), 3)
    assert pddlego.solve(*task).plan == fuel.PLAN
    values = "Make (>= (fuel t1) (distance p2 p3)) true: (fuel t1) is 3, (distance p2 p3) is 4.5"
    assert pddlego.validate(*task, (fuel.PLAN[0], fuel.PLAN[2])).advice == values
    assert pddlego.check(*task, (fuel.PLAN[0], fuel.PLAN[2])).findings[0].advice == values
    assert pddlego.repair(fuel.PROBLEM[:-3], fuel.DOMAIN).ok
    assert tools.applicable(*task, fuel.PLAN[0]).actions == ("(refuel t1 p2)",)
    different = tools.DifferenceResult(("(= (fuel t1) 8)",), ("(= (fuel t1) 9)",))
    assert tools.difference(fuel.DOMAIN, fuel.PROBLEM, other) == different
    compared = pddlego.compare(fuel.DOMAIN, fuel.PROBLEM, other)
    assert (compared.only_left, compared.only_right) == (different.only_left, different.only_right)
    states = pddlego.simulate(*task, fuel.PLAN).states
    assert [[fact for fact in state.facts if "fuel" in fact] for state in states] == [
        [f"(= (fuel t1) {number})"] for number in ("8", "3", "10", "5.5")
    ]
    assert repr(pddlego.parse_problem(fuel.PROBLEM)) == "<Problem tour: 4 objects, 4 facts, 4 numbers>"


def test_costs_of_a_classical_task_are_not_among_the_facts() -> None:
    domain = TANK.replace("(fuel)", "(total-cost)").replace("(>= (total-cost) (length ?a ?b))", "")
    domain = domain.replace("decrease", "increase").replace(":numeric-fluents", ":action-costs")
    result = pddlego.simulate(domain, OUTING.replace("(= (fuel) 4)", ""), "(go a b)")
    assert result.states[1].facts == ("(at b)", "(road a b)", "(road b a)", "(road b c)")


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
        _check_task(pair, _translated(domain.text, problem.text))


def _check_task(pair: Pair, repaired: object) -> None:
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


@pytest.mark.parametrize("name", ["(domain lamps :requirements :strips)", "(domain)", "(domain lamps lights)"])
def test_a_file_has_one_name(name: str) -> None:
    result = tools.check(DOMAIN.replace("(domain lamps)", name), PROBLEM)
    assert {finding.rule for finding in result.findings if finding.severity == "error"} >= {"syntax"}
    for old in ("(problem evening)", "(:domain lamps)"):
        wrong = name.replace("domain", old.strip("(").split()[0])
        found = tools.check(DOMAIN, PROBLEM.replace(old, wrong)).findings
        assert any("is not one name" in finding.message for finding in found), wrong


NO_PDDL = ["I cannot do that", "I cannot do that.\n", "", "/etc", "a" * 5000, "?", "sorry\r\n"]


@pytest.mark.parametrize("text", NO_PDDL)
def test_a_text_without_pddl_is_not_a_path(text: str) -> None:
    assert not tools.check(text).ok
    assert not tools.check(DOMAIN, text).ok
    for result in (tools.repair(text), tools.repair(text, DOMAIN), *tools.repair_files(text, text)):
        assert (result.ok, result.text, result.repairs) == (False, text, ())
        assert result.findings


def test_an_undeclared_type_of_the_domain_has_no_errors_in_the_problem() -> None:
    found = tools.check(DOMAIN.replace("- room", "- roon", 1), PROBLEM).findings
    assert {finding.rule for finding in found if finding.severity == "error"} == {"undeclared-type"}, found


@pytest.mark.parametrize("name", ["depot.pdl", "my tasks/depot.txt"])
def test_a_name_that_is_read_as_a_text_is_explained(name: str) -> None:
    for files in ((name, PROBLEM), (DOMAIN, name)):
        with pytest.raises(UsageError, match=f"'{name}' was read as PDDL text"):
            tools.solve(*files)
    with pytest.raises(UsageError, match=r"no \(define"):
        tools.solve(f"{name}\n(", PROBLEM)


def test_the_name_of_a_file_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lamps").write_text(DOMAIN)
    assert tools.check("lamps").ok
    for missing in ("x.pddl", "nowhere/X.PDDL", Path("x")):
        with pytest.raises(UsageError, match="cannot be read"):
            tools.check(missing)
        with pytest.raises(UsageError, match="cannot be read"):
            tools.repair(missing)


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
def test_lines_end_as_on_any_system(end: str, tmp_path: Path) -> None:
    broken = PROBLEM.replace("(at hall)", "; \u00fcber\n(at hal)")
    line = broken[: broken.index("(at hal)")].count("\n") + 1
    text = broken.replace("\n", end)
    (tmp_path / "p.pddl").write_bytes(text.encode("latin-1"))
    for file in (text, tmp_path / "p.pddl"):
        (finding,) = tools.check(DOMAIN, file).findings
        assert (finding.line, finding.column) == (line, 5)
        assert finding.source.startswith("(at hal)")
    repaired = tools.repair(text.replace("hal)", "hall)")[:-1], DOMAIN)
    assert repaired.text == text.replace("hal)", "hall)")


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
    with pytest.raises(PddlegoError, match="cannot be judged"):
        pddlego.validate(chain, problem, Plan(()))
    (found,) = [finding for finding in pddlego.check(chain, problem, Plan(())).findings if finding.file == "plan"]
    assert (found.rule, "derived predicate path" in found.message) == ("too-large", True)


# plans

WALK = """(define (domain walk) (:requirements :strips :typing) (:types spot)
  (:predicates (at ?s - spot) (way ?a ?b - spot) (rested))
  (:action go :parameters (?a ?b - spot) :precondition (and (at ?a) (way ?a ?b)) :effect (and (not (at ?a)) (at ?b)))
  (:action rest :parameters () :precondition () :effect (rested)))"""
WALK_TASK = """(define (problem w1) (:domain walk) (:objects x y z - spot)
  (:init (at x) (way x y) (way y z)) (:goal (and (at z) (rested))))"""


def test_the_step_that_fails_is_counted_from_one_in_the_order_of_execution() -> None:
    result = pddlego.validate(WALK, WALK_TASK, "(go x y)\n(rest)\n(go x y)\n(go y z)")
    assert (result.valid, result.step, result.rule) == (False, 3, "unsatisfied-precondition")
    assert result.message == "step 3: (go x y) has an unsatisfied precondition"
    result = pddlego.validate(WALK, WALK_TASK, "2: (rest)\n1: (go x y)\n0: (go y z)")
    assert (result.step, result.message) == (1, "step 1: (go y z) has an unsatisfied precondition")
    result = pddlego.validate(WALK, WALK_TASK, "(go x y)\n(rest)")
    assert (result.step, result.rule, result.advice) == (None, "goal-not-reached", "Set (at z) to true")
    result = pddlego.validate(WALK, WALK_TASK, "0: (go x y)\n0: (rest)\n0: (rest)\n1: (go y z)")
    assert result == tools.ValidationResult(True, 4)


def test_a_finding_points_at_the_step_in_the_text() -> None:
    plan = "; a plan\n2: (rest)\n1: (go x y)\n  0: (go y\n  z)"
    (finding,) = pddlego.check(WALK, WALK_TASK, plan).findings
    assert (finding.line, finding.column, finding.source) == (4, 6, "  0: (go y")
    assert finding.message == "step 1: (go y z) has an unsatisfied precondition"
    (finding,) = pddlego.check(WALK, WALK_TASK, "(go x y) (go y z) (fly; to)\n)").findings
    assert (finding.line, finding.column, finding.rule) == (1, 19, "unknown-action")
    (finding,) = pddlego.check(WALK, WALK_TASK, "0: (go x y)\n0: (rest)\n1: (go y z)\n1: (go y z)").findings
    assert (finding.line, finding.rule, finding.advice) == (4, "interfering-actions", "Give them different times")
    (finding,) = pddlego.check(WALK, WALK_TASK, Plan((PlanStep("rest"), PlanStep("go", ("y", "z"))))).findings
    assert (finding.line, finding.column, finding.source) == (2, 1, "(go y z)")
    (finding,) = pddlego.check(WALK, WALK_TASK, "").findings
    assert (finding.line, finding.column, finding.source, finding.rule) == (1, 1, "", "goal-not-reached")
    (finding,) = pddlego.check(WALK, WALK_TASK, "(go x y)\n(rest)").findings
    assert (finding.line, finding.rule) == (2, "goal-not-reached")


def test_a_message_about_a_plan_is_not_cut_at_a_semicolon() -> None:
    (finding,) = pddlego.check(WALK, WALK_TASK, "```\ngo x: a; b; c\n```\n").findings
    assert finding.message == "line 2, 'go x: a; b; c', is not an action: write (action object …)"
    (finding,) = pddlego.check(WALK, WALK_TASK, "0: (rest)\n(rest)\n0: (rest)").findings
    assert finding.message == "time 0 follows time 0, and other steps have no time"
    (finding,) = pddlego.check(WALK, WALK_TASK, "(go x y)\n(go y z)\n(sleep)").findings
    assert finding.message == "step 3: (sleep) is not an action of the domain; the actions are go, rest"


def test_skipped_lines_are_a_warning() -> None:
    log = "Solution found!\ngo x y (1)\ngo y z (1)\nrest  (1)\nPlan length: 3 step(s).\n"
    result = pddlego.check(WALK, WALK_TASK, log)
    assert (result.ok, result.cost) == (True, 3)
    (finding,) = result.findings
    assert (finding.severity, finding.rule, finding.line, finding.source) == (
        "warning",
        "skipped-text",
        1,
        "Solution found!",
    )
    note = "2 lines without a step of the plan skipped, the first is line 1"
    assert finding.message == note
    assert pddlego.validate(WALK, WALK_TASK, log) == tools.ValidationResult(True, 3, note=note)
    failed = pddlego.validate(WALK, WALK_TASK, log.replace("rest  (1)\n", ""))
    assert (failed.rule, failed.note) == ("goal-not-reached", note)


@pytest.mark.parametrize(
    "plan", ["I cannot do that", "None.", "N/A", "no", "(go x", "((", "go x y z (", "x" * 5000, "\n", ("(go x", "y")]
)
def test_validate_never_raises_for_an_unreadable_plan(plan: str | tuple[str, ...]) -> None:
    result = pddlego.validate(WALK, WALK_TASK, plan)
    assert not result.valid
    assert result.message
    assert not pddlego.check(WALK, WALK_TASK, plan).ok


def test_an_unreadable_plan_is_a_syntax_error() -> None:
    result = pddlego.validate(WALK, WALK_TASK, "(go x\n(go y\n(rest)")
    message = "the plan cannot be read: line 1, '(go x', is not an action: write (action object …) (and 1 more)"
    assert (result.rule, result.step, result.message) == ("syntax", None, message)
    assert result.advice == "Write one action a line: (action object …)."
    findings = pddlego.check(WALK, WALK_TASK, "(go x\n(go y\n(rest)").findings
    assert [(finding.line, finding.rule, finding.severity) for finding in findings] == [
        (1, "syntax", "error"),
        (2, "syntax", "error"),
    ]


def test_a_plan_is_a_path_if_the_file_exists_or_the_name_has_a_suffix(tmp_path: Path) -> None:
    (tmp_path / "sas_plan").write_text("(go x y)\n(go y z)\n(rest)\n")
    for path in (tmp_path / "sas_plan", str(tmp_path / "sas_plan")):
        assert pddlego.validate(WALK, WALK_TASK, path).valid
    for missing in ("nowhere.plan", tmp_path / "nowhere"):
        with pytest.raises(UsageError, match="cannot be read"):
            pddlego.validate(WALK, WALK_TASK, missing)
    assert pddlego.validate(WALK, WALK_TASK.replace("(at z) ", ""), "rest").valid


def test_a_plan_of_a_problem_with_errors_is_not_checked() -> None:
    for domain, problem, cause in (
        (WALK, WALK_TASK.replace("(at x)", "(at q)"), "problem"),
        (WALK.replace("(rested))\n", ")\n"), WALK_TASK, "domain"),
        ("(define (domain", WALK_TASK, "domain"),
    ):
        finding = pddlego.check(domain, problem, "(rest)").findings[-1]
        assert (finding.file, finding.rule, finding.severity) == ("plan", "not-checked", "error")
        assert finding.message == f"the plan was not checked, because the {cause} has errors"
        assert finding.advice == f"Fix the {cause} first."
    assert all(finding.file != "plan" for finding in pddlego.check(WALK, "(define (problem").findings)


ROADS = """(define (domain roads) (:requirements :strips :action-costs) (:predicates (at ?p) (road ?a ?b) (rail ?a ?b))
  (:functions (total-cost) - number)
  (:action fly :parameters (?a ?b) :precondition (and (at ?a) (road ?a ?b))
    :effect (and (not (at ?a)) (at ?b) (increase (total-cost) 9)))
  (:action ride :parameters (?a ?b) :precondition (and (at ?a) (rail ?a ?b))
    :effect (and (not (at ?a)) (at ?b) (increase (total-cost) 1))))"""
TRIP = """(define (problem trip) (:domain roads) (:objects a b c) (:init (at a) (road a c) (rail a b) (rail b c))
  (:goal (at c)) (:metric minimize (total-cost)))"""


def test_a_cost_that_is_not_proved_to_be_minimal_is_noted() -> None:
    fast = pddlego.solve(ROADS, TRIP)
    note = "the cost is not proved to be minimal: gbf(hff) does not minimize it; the search astar(lmcut) does"
    assert (fast.optimal, fast.note) == (False, note)
    best = pddlego.solve(ROADS, TRIP, search="astar(lmcut)")
    assert (best.cost, best.optimal, best.note) == (2, True, "")
    short = pddlego.solve(WALK, WALK_TASK)
    assert (short.optimal, short.note) == (False, "")  # no metric: any plan is good
    done = pddlego.solve(ROADS, TRIP.replace("(at a)", "(at c)"))
    assert (done.cost, done.optimal, done.note) == (0, True, "")
    none = pddlego.solve(ROADS, TRIP.replace("(rail b c)", "").replace("(road a c)", ""), search="astar(lmcut)")
    assert (none.status, none.optimal, none.note) == ("unsolvable", False, "")


def test_another_name_of_the_domain_is_reported_at_its_line() -> None:
    domain = "(define (domain shop) (:predicates (p)) (:action a :effect (p)))"
    (finding,) = tools.check(domain, "(define (problem x)\n (:domain shopp)\n (:init) (:goal (p)))").findings
    assert (finding.line, finding.column, finding.end_column, finding.rule) == (2, 11, 16, "other-domain-name")
    assert (finding.advice, finding.path) == ("Write (:domain shop)", "")


def test_the_advice_for_a_file_with_errors_names_the_files(tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in ("the domain.pddl", "p.pddl", "x.plan")]
    for name, text in zip(names, (DOMAIN, PROBLEM.replace("(at hall)", "(at hal)"), "go to ("), strict=True):
        Path(name).write_text(text)
    with pytest.raises(UsageError) as caught:
        tools.solve(names[0], names[1])
    assert caught.value.next_step == f"See: pddlego check '{names[0]}' {names[1]}."
    with pytest.raises(UsageError) as caught:
        tools.compare(DOMAIN, names[1], PROBLEM)
    assert caught.value.next_step == f"See: pddlego check DOMAIN {names[1]}."
    with pytest.raises(UsageError) as caught:
        tools.simulate(names[0], PROBLEM, names[2])
    assert caught.value.next_step == f"See: pddlego check '{names[0]}' PROBLEM --plan {names[2]}."
