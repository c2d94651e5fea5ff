"""Answers with a domain and a problem: every form that models use, and the pairs that real models wrote."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.methods.textgames.formalize import PromptContext, Terms
from pddlego.methods.textgames.formalize.full import (
    PARTS,
    FullAnswer,
    FullEditor,
    FullFormalizer,
    FullSteps,
    in_braces,
    take_apart,
)
from pddlego.methods.textgames.knowledge import EMPTY_DOMAIN, Knowledge, ModelDomain, read_written, written_text
from pddlego.models.prompts import Prompts
from pddlego.pddl import Problem, parse_domain, parse_problem
from pddlego.pddl.conditions import parse_condition
from pddlego.pddl.tolerant import read_pair
from pddlego.planning import PlanStatus, ProcessPlanner, Search
from pddlego.tools.audit.pairs import read_labelled
from tests.recorded_pairs import check_pair
from tests.shared import CORPUS

PAIRS = CORPUS / "pairs.jsonl"

DOMAIN = """(define (domain house) (:requirements :strips :typing) (:types room direction)
  (:constants north south - direction)
  (:predicates (at ?r - room) (way ?a ?b - room ?d - direction))
  (:action move :parameters (?a ?b - room ?d - direction)
    :precondition (and (at ?a) (way ?a ?b ?d)) :effect (and (not (at ?a)) (at ?b))))"""
PROBLEM = """(define (problem p) (:domain house) (:objects hall attic - room)
  (:init (at hall) (way hall attic north) (way attic hall south)) (:goal (at attic)))"""
SCHEMAS = ("move (?from - location ?to - location ?d - direction)",)


BLANK = Knowledge(EMPTY_DOMAIN, Problem("game", "unwritten"))


def situation(known: Knowledge = BLANK) -> PromptContext:
    return PromptContext(known)


def whole(schemas: tuple[str, ...] = SCHEMAS) -> FullFormalizer:
    return FullFormalizer(Prompts("coin"), BLANK, Terms(schemas))


@pytest.mark.parametrize(
    "answer",
    [
        f"<domain>\n{DOMAIN}\n</domain>\n<problem>\n{PROBLEM}\n</problem>",
        f"<think>hm (define (domain x))</think>Sure:\n```pddl\n{DOMAIN}\n```\nand\n```pddl\n{PROBLEM}\n```\nDone.",
        json.dumps({"df": DOMAIN, "pf": PROBLEM}),
        f"```json\n{json.dumps({'domain': DOMAIN, 'problem': PROBLEM})}\n```",
        f"<domain>```lisp\n{DOMAIN}\n```<problem>{PROBLEM}",
        f"{PROBLEM}\n{DOMAIN}",
        f"<domain>{DOMAIN}</domain>\n```pddl\n{PROBLEM}\n```",
        f"```pddl\n{DOMAIN}\n```\n<problem>\n{PROBLEM}\n</problem>",
    ],
)
def test_two_files_are_found_in_every_form(answer: str) -> None:
    proposal = whole().read(answer, situation())
    assert proposal.feedback is None, proposal.feedback
    assert proposal.knowledge.written is not None
    assert proposal.knowledge.written.domain.name == "house"
    assert proposal.problem == parse_problem(PROBLEM)


NEARLY = {
    "a line break or a tab in a string": f'{{"domain": "{DOMAIN}", "problem": "{PROBLEM}"}}',
    "a comma before a closing bracket": f'{{"df": {json.dumps(DOMAIN)}, "pf": {json.dumps(PROBLEM)},}}',
    "the key 'Domain' is in capitals": json.dumps({"Domain": DOMAIN, "Problem": PROBLEM}),
    "earlier JSON objects are drafts": "\n".join(
        json.dumps({"domain": DOMAIN, "problem": problem}) for problem in (PROBLEM.replace("(at hall)", ""), PROBLEM)
    ),
}


@pytest.mark.parametrize("repair", NEARLY)
def test_files_in_what_is_nearly_json_are_read_and_the_repair_is_listed(repair: str) -> None:
    proposal = whole().read(NEARLY[repair], situation())
    assert proposal.feedback is None
    assert proposal.problem == parse_problem(PROBLEM)
    assert f"JSON: {repair}" in [defect.message for defect in proposal.defects]
    strict = FullFormalizer(Prompts("coin"), BLANK, Terms(SCHEMAS), tolerant=False).read(NEARLY[repair], situation())
    assert strict.feedback is not None


def test_an_edit_of_both_files_that_is_nearly_json() -> None:
    known = situation(Knowledge(parse_domain(DOMAIN), parse_problem(PROBLEM)))
    parts = "domain: {Predicates: {add: ['(open ?r - room)']}}, objects: {add: ['cellar - room',]}"
    edit = f"{{{parts}, 'Goals': ['(at cellar)']}}"
    draft = '{"objects": {"add": ["barn - room"]}}'
    proposal = FullEditor(Prompts("coin"), BLANK, Terms(SCHEMAS)).read(f"{draft}\n{edit}", known)
    assert proposal.feedback is None
    assert {"cellar"} == {obj.name for obj in proposal.problem.objects} - {"hall", "attic"}
    assert "(open ?r - room)" in str(proposal.knowledge.domain.text)
    assert "JSON: a key without quotes" in [defect.message for defect in proposal.defects]
    strict = FullEditor(Prompts("coin"), BLANK, Terms(SCHEMAS), tolerant=False).read(edit, known)
    assert strict.feedback is not None
    assert "cannot be read" in strict.feedback.message


def test_a_file_that_is_left_out_stays_as_it_was() -> None:
    written = ModelDomain(parse_domain(DOMAIN), goals=(parse_condition("(at attic)"),))
    known = situation(Knowledge(written.domain, parse_problem(PROBLEM), written=written))
    moved = PROBLEM.replace("(at hall)", "(at attic)").replace("(:goal (at attic))", "(:goal (at hall))")
    proposal = whole().read(f"<problem>{moved}</problem>", known)
    assert proposal.feedback is None
    assert proposal.knowledge.written is not None
    assert proposal.knowledge.written.domain.text == parse_domain(DOMAIN).text
    assert proposal.problem.goal == parse_condition("(at hall)")
    other = whole().read(f"<domain>{DOMAIN.replace('hall', 'lobby')}</domain>", known)
    assert other.problem == parse_problem(PROBLEM)
    assert other.knowledge.written is not None
    assert other.knowledge.written.goals == (parse_condition("(at attic)"),)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("I cannot do that.", "neither a domain file nor a problem file"),
        (f"<problem>{PROBLEM}</problem>", "no domain file"),
        (f"<domain>{DOMAIN[:200]}", "cut off"),
        (
            f"<domain>{DOMAIN.replace('move', 'fly')}</domain><problem>{PROBLEM}</problem>",
            "action fly is not an action of the game",
        ),
        (
            f"<domain>{DOMAIN.replace(' ?d - direction)', ')', 2)}</domain><problem>{PROBLEM}</problem>",
            "write move (?from",
        ),
        (f"<domain>{DOMAIN}</domain><problem>{PROBLEM.replace('(at attic)))', '(at ?x)))')}</problem>", "variable ?x"),
        (
            f"<domain>{DOMAIN}</domain><problem>{PROBLEM}</problem><goals>(in attic)</goals>",
            "predicate in is not declared",
        ),
        (f"<domain>{DOMAIN}</domain><problem>{PROBLEM}</problem><goals>(at attic</goals>", "missing"),
        (f"<domain>{DOMAIN.replace('(way ?a ?b ?d)', '(road ?a ?b ?d)')}</domain><problem>{PROBLEM}</problem>", "road"),
    ],
)
def test_what_is_wrong_goes_back_with_what_to_do(answer: str, says: str) -> None:
    feedback = whole().read(answer, situation()).feedback
    assert feedback is not None
    assert says in " ".join((feedback.message, *feedback.evidence))


def test_goals_are_tried_in_the_order_of_the_answer() -> None:
    answer = (
        f"<domain>{DOMAIN}</domain><problem>{PROBLEM}</problem><goals>(at attic)\n(:goal (at hall))\n(at attic)</goals>"
    )
    proposal = whole().read(answer, situation())
    assert proposal.knowledge.written is not None
    assert proposal.knowledge.written.goals == (parse_condition("(at attic)"), parse_condition("(at hall)"))


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ((DOMAIN, f"```pddl\n{PROBLEM}\n```", "(at attic)"), ""),
        ((f"<domain>{DOMAIN}</domain>{PROBLEM}", f"<problem>{PROBLEM}</problem>", "<goals>(at attic)</goals>"), ""),
        ((f"hm</think>{DOMAIN}", f"hm</think>{PROBLEM}", "hm (at hall)</think>(:goal (at attic))"), ""),
        ((DOMAIN, PROBLEM.replace("(:goal (at attic))", ""), '{"goals": ["(at attic)"]}'), ""),
        ((DOMAIN, "I cannot do that.", "I neither."), "no <problem> and <goals> in it"),
        (("", PROBLEM, "(at attic)"), "no domain file"),
        ((DOMAIN, PROBLEM, "(in attic)"), "predicate in is not declared"),
        ((DOMAIN, PROBLEM), "cut off"),
        ((DOMAIN[:200], PROBLEM, "(at attic)"), "cut off"),
    ],
)
def test_answers_in_steps_are_read_as_one(answers: tuple[str, ...], says: str) -> None:
    *earlier, last = answers
    steps = FullSteps(Prompts("coin"), BLANK, Terms(SCHEMAS))
    proposal = steps.read(last, PromptContext(BLANK, answers=tuple(earlier)))
    if says:
        assert proposal.feedback is not None
        assert says in " ".join((proposal.feedback.message, *proposal.feedback.evidence))
        return
    assert proposal.feedback is None, proposal.feedback
    assert proposal.problem == parse_problem(PROBLEM)
    assert proposal.knowledge.written is not None
    assert proposal.knowledge.written.goals == (parse_condition("(at attic)"),)


def test_without_schemas_every_action_needs_a_command_of_its_parameters() -> None:
    files = f"<domain>{DOMAIN}</domain><problem>{PROBLEM}</problem>"
    text = whole(()).read(f"{files}<commands>move: go ?d</commands>", situation())
    assert text.knowledge.written is not None
    assert text.knowledge.written.commands == {"move": "go {d}"}
    for commands, says in (("", "has no command"), ("<commands>move: go {where}</commands>", "names where")):
        feedback = whole(()).read(files + commands, situation()).feedback
        assert feedback is not None
        assert says in feedback.evidence[0]


def test_a_domain_with_its_commands_is_one_text() -> None:
    written = ModelDomain(parse_domain(DOMAIN), commands={"move": "go {d}"})
    again = read_written(written_text(written))
    assert (again.domain.text, again.commands) == (written.domain.text, written.commands)


def test_commands_are_marked_in_many_ways() -> None:
    assert in_braces("`open door to ?the-dir`") == "open door to {the_dir}"
    assert in_braces("move {?d} of {from-room}") == "move {d} of {from_room}"


@given(
    st.text(max_size=200)
    | st.sampled_from([DOMAIN, PROBLEM]).flatmap(lambda text: st.integers(0, len(text)).map(lambda end: text[:end]))
)
def test_any_text_can_be_taken_apart_and_read(text: str) -> None:
    assert isinstance(take_apart(text), FullAnswer)
    for wrapped in (text, f"<domain>{text}", f"<problem>{text}</problem>", json.dumps(dict.fromkeys(PARTS, text))):
        for method in (whole(), FullEditor(Prompts("coin"), BLANK, Terms(SCHEMAS))):
            proposal = method.read(wrapped, situation())
            assert proposal.feedback is not None or proposal.knowledge.written is not None


@pytest.mark.slow
@pytest.mark.shared("corpus")
def test_recorded_pairs_get_the_verdicts_of_the_corpus_and_say_what_to_change(planner: ProcessPlanner) -> None:
    """PDDLego+'s own answers: 343 pairs in its JSON, read as an answer in this mode is."""
    refused = 0
    for pair in read_labelled(PAIRS, {}):
        known = read_pair(pair.domain, pair.problem)
        heads = known.domain.actions if known.domain else ()
        schemas = tuple(f"{head.name} ({' '.join(map(str, head.parameters))})" for head in heads)
        answer = json.dumps({"df": pair.domain, "pf": pair.problem})
        proposal = whole(schemas or SCHEMAS).read(answer, situation())
        checked = check_pair(pair, planner)
        if checked.refused:
            refused += 1
            assert proposal.feedback is not None, pair.id
            text = " ".join((proposal.feedback.message, *proposal.feedback.evidence))
            assert checked.refused in text, (pair.id, text)
        else:
            assert proposal.feedback is None, (pair.id, proposal.feedback)
            assert proposal.knowledge.written is not None
            result = planner.solve(proposal.knowledge.written.domain, proposal.problem, Search())
            assert result.status in (PlanStatus.SOLVED, PlanStatus.UNSOLVABLE, PlanStatus.ALREADY_TRUE)
            assert proposal.problem.goal == known.problem.goal
            assert not checked.contradiction
    assert refused == 23
