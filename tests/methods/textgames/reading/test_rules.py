from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from pddlego.methods.textgames.reading.checks import RuleChecker
from pddlego.methods.textgames.reading.rules import (
    MOST_RULES,
    LearnedRules,
    ReadingRule,
    fits_domain,
    parse_learned,
    parse_pattern,
)
from pddlego.methods.textgames.settings import GameSetting
from pddlego.pddl import Problem, TypedName
from tests.growth import is_linear
from tests.methods.textgames.reading.rule_writer import BEHIND, COIN, HERE

RULES = tuple(map(ReadingRule.model_validate, COIN))


@pytest.mark.parametrize(
    "table",
    [
        {},
        {"sentence": "a", "text": "b"},
        {"sentence": "a", "command": "b"},
        {"text": "a", "after": "b"},
        {"text": "("},
        {"sentence": "{a}{b}"},
        {"sentence": "a", "after": "{"},
        {"sentence": "a", "ignore": True, "add": ["(at hall)"]},
        {"sentence": "a", "add": ["at hall"]},
        {"sentence": "a", "add": [["(at hall)"]]},
        {"sentence": "a", "add": ["(at hall)"] * 21},
        {"sentence": "a", "add": ["(at (hall))"]},
        {"sentence": "a", "add": [f"(at {'x' * 5_000})"]},
        {"sentence": "a", "unknown": 1},
        {"sentence": ["a"] * 21},
        {"sentence": "x" * 1_000_000},
    ],
)
def test_what_is_not_a_rule_is_refused(table: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ReadingRule.model_validate(table)


def test_learned_rules_are_read_as_they_are_written() -> None:
    learned = LearnedRules(RULES, (parse_pattern("(belongs cup shelf)"),), frozenset({'It says "no".', "It rains.\\"}))
    assert parse_learned(learned.text) == learned
    assert parse_learned("") == LearnedRules()
    assert parse_learned("[reading.own]\nsentence = 'a'") == parse_learned("[[reading]]\nsentence = 'a'")


@pytest.mark.parametrize(
    "text",
    [
        "opinions = 5",
        "unread = 3",
        "reading = [1]",
        "[[reading]]\ntext = 'a'",
        "[[reading]]\nlike = 'a'",
        "opinions = ['at hall']",
        "other = 1",
        "(define (domain d))",
        "\n".join(f"[[reading]]\nsentence = 'a {number}'" for number in range(MOST_RULES + 1)),
    ],
)
def test_a_file_without_learned_rules_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(ValueError, match=r".") as error:
        parse_learned(text)
    assert "\n" not in str(error.value)
    assert ("is not a list" in str(error.value)) is (text in ("opinions = 5", "unread = 3"))


def test_any_character_of_a_game_is_kept() -> None:
    learned = LearnedRules().with_unread(["a\x7fb", "\ud800", 'quotes " and \\'])
    again = parse_learned(learned.text)
    assert parse_learned(again.text) == again
    assert "a\x7fb" in again.unread


def test_a_new_rule_replaces_one_for_the_same_sentence_and_command() -> None:
    other = ReadingRule.model_validate({"sentence": "You take the {t}.", "add": ["(have {t})"]})
    assert LearnedRules(RULES).with_rules([other]).rules == (*RULES[:-1], other)
    after = ReadingRule.model_validate({"sentence": "You take the {t}.", "after": "take {t}", "add": ["(have {t})"]})
    assert LearnedRules(RULES).with_rules([after]).rules == (*RULES, after)


@pytest.fixture
def checker(coin: GameSetting) -> RuleChecker:
    problem = Problem("p", "d", frozenset(TypedName(name, "location") for name in ("kitchen", "living_room")))
    return RuleChecker(coin.start.domain, problem, coin.map, has_placeholders=True)


def test_right_rules_have_no_fault_but_unused_slots(checker: RuleChecker) -> None:
    faults = dict(checker.faults(RULES, ()))
    assert {RULES[number].sentence[0] for number in faults} == {
        one for rule in RULES for one in rule.sentence if "{kind}" in one
    }
    assert all("{kind}" in fault and "unused" in fault for fault in faults.values())


@pytest.mark.parametrize(
    ("keys", "fault"),
    [
        ({"add": ["(in {x})"]}, "there is no predicate in"),
        ({"add": ["(at {x} {x})"]}, "at has 1 arguments"),
        ({"add": ["(at {y})"]}, "{y} is not a slot"),
        ({"add": ["(at ?y)"]}, "`find` does not bind ?y"),
        ({"add": ["(at *)"]}, "* belongs to `forget`"),
        ({"add": ["+(at {x})"]}, "+ and ! belong to `find`"),
        ({"add": ["(at pantry)"]}, "'pantry' is a name of this game"),
        ({"add": ["(at coin)"]}, "coin is a item"),
        ({"sentence": "See kitchen {x}."}, "'kitchen' in"),
        ({"sentence": "Go north, {x}."}, "'north' in"),
        ({"find": ["+(connected ?a ?b {x})"]}, "exactly one variable"),
        ({"find": ["!(at ?a)"], "add": ["(at ?a)"]}, "`find` does not bind ?a"),
        ({"objects": ["{x} - room"]}, "is not {slot} - TYPE"),
        ({"same": [["?z", "{x}"]]}, "'?z' in `same`"),
        ({"add": [], "find": [HERE]}, "no fact uses {x}"),
        ({"sentence": ["See {x}.", "See {x} in {y}."], "add": ["(at {x})", "(visited {y})"]}, "{y} is not a slot"),
        ({"sentence": "See the living room, {x}."}, "'living room' in"),
        ({"after": "move north"}, "'north' in"),
        ({"objects": ["cup - item"]}, "is not {slot} - TYPE"),
    ],
)
def test_each_fault_is_named(checker: RuleChecker, keys: dict[str, Any], fault: str) -> None:
    rule = ReadingRule.model_validate({"sentence": "See {x}.", "add": ["(at {x})"], **keys})
    ((number, reason),) = checker.faults([rule], ())
    assert number == 0
    assert fault in reason


def test_the_time_of_checks_grows_with_the_number_of_rules(checker: RuleChecker) -> None:
    def work(number: int) -> None:
        forms = [[f"Form {n} {k} {{x}}." for k in range(20)] for n in range(number)]
        rules = [ReadingRule.model_validate({"sentence": form, "add": ["(at {x})"]}) for form in forms]
        assert not dict(checker.faults(rules, ()))

    assert is_linear(lambda: work(40), lambda: work(160), 4)


def test_there_are_at_most_so_many_rules(checker: RuleChecker) -> None:
    rules = [
        ReadingRule.model_validate({"sentence": f"Number {number}.", "ignore": True})
        for number in range(MOST_RULES + 2)
    ]
    assert len(dict(checker.faults(rules, ()))) == 2
    assert BEHIND


def test_rules_of_another_domain_do_not_fit(coin: GameSetting) -> None:
    assert all(fits_domain(rule, coin.start.domain) for rule in RULES)
    assert not fits_domain(ReadingRule.model_validate({"sentence": "a", "add": ["(put_away cup)"]}), coin.start.domain)


FORMS = ("There is also {x}.", "You also see {x}.", "You see {x}.", "There is {x}.")


@pytest.mark.parametrize("named", [{number} for number in range(4)] + [{0, 1}, {0, 3}, {1, 2, 3}, {0, 1, 2, 3}, set()])
@pytest.mark.parametrize("after", ["", "look"])
def test_a_new_rule_takes_only_its_own_sentences_out_of_a_list(named: set[int], after: str) -> None:
    table = {"sentence": FORMS, "after": after, "add": ["(have {x})"]}
    learned = LearnedRules().with_rules([ReadingRule.model_validate(table)])
    own = tuple(FORMS[number].replace("{x}", "{other}") for number in sorted(named)) or ("Nothing else.",)
    changed = learned.with_rules([ReadingRule(sentence=own, after=after, ignore=True)])
    left = tuple(form for number, form in enumerate(FORMS) if number not in named)
    assert [rule.sentence for rule in changed.rules] == ([left] if left else []) + [own]
    assert parse_learned(changed.text) == changed
    other = learned.with_rules([ReadingRule(sentence=own, after="take {y}", ignore=True)])
    assert other.rules[0].sentence == FORMS, "after another command it is another rule"
