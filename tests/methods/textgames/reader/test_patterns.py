from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.methods.textgames.formalize import Exchange
from pddlego.methods.textgames.reader import PatternRules
from pddlego.methods.textgames.reading.rules import ReadingRule
from pddlego.pddl import Atom, Problem, TypedName, apply_edit, parse_domain
from tests.methods.textgames.situations import situation_with

DOMAIN = parse_domain("""(define (domain d) (:types thing) (:constants box - thing)
  (:predicates (seen ?t - thing) (have ?t - thing) (wanted ?t - thing) (done)))""")
TAKEN = ("(have {it})", "(done)")
RULES = (
    ReadingRule(text=r"\ban? (?P<it>\w+)\.", objects=("{it} - thing",), add=("(seen {it})",)),
    ReadingRule(
        text="^You take the (?P<it>[^.]+)", forget=("(wanted *)", "(seen {it})"), add=("(have {it})", "(done)")
    ),
    ReadingRule(text="^Done", command="^drop (?P<what>.+)$", forget=("(have {what})",)),
)


def after(problem: Problem, *news: Exchange, rules: tuple[ReadingRule, ...] = RULES) -> Problem:
    edit = PatternRules().edit(situation_with("x", "", DOMAIN, problem, news, reading=rules))
    report = apply_edit(problem, edit, DOMAIN.constants)
    assert not report.unmatched
    assert not report.refused
    return report.problem


@pytest.fixture
def known() -> Problem:
    facts = frozenset({Atom("wanted", ("cup",)), Atom("seen", ("red_ball",))})
    return Problem("p", "d", frozenset({TypedName("cup", "thing"), TypedName("red_ball", "thing")}), facts)


def test_every_match_counts_and_constants_are_not_declared_again(known: Problem) -> None:
    problem = after(known, Exchange(None, "There is a dish. You also see a box."))
    assert {obj.name for obj in problem.objects} == {"cup", "red_ball", "dish"}
    assert {Atom("seen", ("dish",)), Atom("seen", ("box",))} <= problem.facts


def test_names_become_pddl_names_and_a_star_stands_for_anything(known: Problem) -> None:
    problem = after(known, Exchange("take red ball", "You take the red ball."))
    assert problem.facts == {Atom("have", ("red_ball",)), Atom("done")}


def test_a_rule_may_depend_on_the_command(known: Problem) -> None:
    held = replace(known, facts=frozenset({Atom("have", ("red_ball",))}))
    assert after(held, Exchange("drop red ball", "Done.")).facts == frozenset()
    assert after(held, Exchange("look", "Done.")).facts == held.facts
    assert after(held, Exchange(None, "Done.")).facts == held.facts


@given(st.text(), st.text())
def test_any_answer_is_read(command: str, text: str) -> None:
    empty = Problem("p", "d")
    PatternRules().edit(situation_with("x", "", DOMAIN, empty, (Exchange(command, text),), reading=RULES))


def test_a_star_is_one_object_and_a_name_is_never_a_pattern(known: Problem) -> None:
    pairs = frozenset({Atom("wanted", ("cup",)), Atom("seen", ("cup", "box")), Atom("seen", ("cup",))})
    rules = (
        ReadingRule(text="x", forget=("(wanted *)",)),
        ReadingRule(text="drop (?P<it>.+)", forget=("(seen {it})",)),
    )
    problem = replace(known, facts=pairs)
    edit = PatternRules().edit(situation_with("x", "", DOMAIN, problem, (Exchange("", "x"),), reading=rules))
    assert edit.init.delete == ("(wanted cup)",)
    assert (
        not PatternRules()
        .edit(situation_with("x", "", DOMAIN, problem, (Exchange("", "drop c*"),), reading=rules))
        .init.delete
    )


def test_what_is_no_pddl_name_makes_no_rule_apply(known: Problem) -> None:
    rules = (ReadingRule(text="a (?P<it>.+)", objects=("{it} - thing",), add=("(seen {it})",)),)
    for text in ("a cup (red)", "a bob's cup", "a 2nd cup"):
        assert after(known, Exchange(None, text), rules=rules) == known


def _read(problem: Problem, text: str, **rule: object) -> Problem:
    rules = (ReadingRule.model_validate(rule),)
    edit = PatternRules().edit(situation_with("x", "", DOMAIN, problem, (Exchange(None, text),), reading=rules))
    return apply_edit(problem, edit, DOMAIN.constants).problem


def test_like_is_searched_in_each_sentence_and_its_list_is_split() -> None:
    empty = Problem("p", "d")
    rule = {"like": ["^Here are (?P<t>.+)\\.$", "see (?P<t>an? .+)\\."], "list": "t", "add": ["(seen {t})"]}
    problem = _read(empty, "Here are cup, plate and pan. You see a cup of the day, and a jug.", **rule)
    names = {"cup", "plate", "pan", "cup_of_the_day", "jug"}
    assert problem.facts == {Atom("seen", (name,)) for name in names}


def test_words_before_a_name_are_dropped_or_marks() -> None:
    empty = Problem("p", "d")
    rule = {"sentence": "You see {t...}.", "drop": ["big"], "marks": ["red"], "add": ["(seen {t})", "(wanted {mark})"]}
    problem = _read(empty, "You see a big red cup, a red, and a jug.", **rule)
    assert problem.facts == {Atom("seen", (name,)) for name in ("cup", "red", "jug")} | {Atom("wanted", ("red",))}


def test_parts_of_a_name_are_joined_by_their_numbers() -> None:
    rule = {"like": "a (?P<t_2>box), which looks (?P<t_1>\\w+)", "add": ["(seen {t})"]}
    assert _read(Problem("p", "d"), "a box, which looks red", **rule).facts == {Atom("seen", ("red_box",))}


def test_a_note_lasts_until_the_end_of_the_observation() -> None:
    rules = tuple(
        map(
            ReadingRule.model_validate,
            (
                {"sentence": "List:", "add": ["(_listing)"]},
                {"like": "^(?P<t>\\w+)$", "find": ["(_listing)"], "add": ["(seen {t})"]},
            ),
        )
    )
    news = (Exchange(None, "cup\nList:\njug"), Exchange("look", "pan"))
    edit = PatternRules().edit(situation_with("x", "", DOMAIN, Problem("p", "d"), news, reading=rules))
    assert edit.init.add == ("(seen jug)",)
