from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pddlego.methods.textgames.formalize import Exchange, Observations, PromptContext
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.methods.textgames.reading.engine import HistoryReader, ReadResult, read_news
from pddlego.methods.textgames.reading.rules import LearnedRules, ReadingRule, parse_pattern
from pddlego.methods.textgames.settings import GameSetting
from tests.methods.textgames.reading.rule_writer import BEHIND, COIN, HERE

KITCHEN = "You are in the kitchen. To the North you see a closed oak door. To the East you see the hall."
RULES = tuple(map(ReadingRule.model_validate, COIN))


def read_history(seen: PromptContext, start: Knowledge, learned: LearnedRules) -> ReadResult:
    return HistoryReader().read(seen, start, learned.rules, learned.opinions)


def situation(coin: GameSetting, *texts: str | tuple[str, str]) -> PromptContext:
    pairs = ((None, text) if isinstance(text, str) else text for text in texts)
    news = tuple(Exchange(command, text) for command, text in pairs)
    return PromptContext(coin.start, "", Observations(news, news), placeholder="loc1", reader=coin.reader)


def result(coin: GameSetting, *texts: str | tuple[str, str], rules: tuple[ReadingRule, ...] = RULES) -> ReadResult:
    return read_history(situation(coin, *texts), coin.start, LearnedRules(rules))


def facts(found: ReadResult, predicate: str) -> set[str]:
    return {" ".join(fact.args) for fact in found.problem.facts if fact.predicate == predicate}


def test_unknown_rooms_get_placeholders_and_known_ones_are_used(coin: GameSetting) -> None:
    found = result(coin, KITCHEN)
    assert facts(found, "connected") == {
        "kitchen loc1 north",
        "loc1 kitchen south",
        "kitchen hall east",
        "hall kitchen west",
    }
    assert facts(found, "closed_door") == {"kitchen loc1"}
    assert {f"{obj.name} {obj.type}" for obj in found.problem.objects} == {
        f"{name} location" for name in ("kitchen", "hall", "loc1")
    }


def test_a_placeholder_becomes_the_room_that_an_invariant_makes_it(coin: GameSetting) -> None:
    opened = ("open door to north", "You open the oak door, revealing the pantry.")
    found = result(coin, KITCHEN, opened)
    assert "loc1" not in {obj.name for obj in found.problem.objects}
    assert facts(found, "closed_door") == set()
    assert found.renamed == {"loc1": "pantry"}
    again = result(
        coin, KITCHEN, opened, ("move north", "You are in the pantry. To the North you see a closed tin door.")
    )
    assert "loc2" in {obj.name for obj in again.problem.objects}  # a number is never used again


def test_reading_more_never_changes_the_names_of_before(coin: GameSetting) -> None:
    texts = (KITCHEN, ("move east", "You are in the hall. To the South you see a closed tin door."))
    first, both = result(coin, *texts[:1]), result(coin, *texts)
    assert first.problem.objects <= both.problem.objects


def test_the_edit_of_a_result_renames_what_was_known(coin: GameSetting) -> None:
    before = result(coin, KITCHEN).problem
    later = situation(coin, ("open door to north", "You open the oak door, revealing the pantry."))
    later = replace(later, knowledge=coin.start.with_problem(before))
    edit = read_news(later, RULES).edit_from(before, coin.start.domain.constants)
    assert edit.objects.replace == (("loc1 - location", "pantry - location"),)


def rule(**keys: Any) -> ReadingRule:
    return ReadingRule.model_validate(
        {"sentence": "{t...} lie here.", "find": [HERE], "add": ["(item_at {t} ?here)"], **keys}
    )


@pytest.mark.parametrize(
    ("changed", "items"),
    [
        (rule(), {"red_hat kitchen", "stove kitchen", "cup kitchen"}),
        (rule(drop=["red"]), {"hat kitchen", "stove kitchen", "cup kitchen"}),
        (rule(**{"not": ["Stove"]}), {"red_hat kitchen", "cup kitchen"}),
        (rule(find=[HERE, "!(have {t})"]), {"red_hat kitchen", "stove kitchen", "cup kitchen"}),
        (rule(find=[HERE, "(have {t})"]), set()),
        (rule(after="look {d}"), set()),
        (rule(find=["(connected ?here ?to ?d)"]), set()),
    ],
)
def test_keys_of_a_rule(coin: GameSetting, changed: ReadingRule, items: set[str]) -> None:
    first = RULES[0]
    found = result(coin, "You are in the kitchen. A red hat, a stove, and a cup lie here.", rules=(first, changed))
    assert facts(found, "item_at") == items


def test_the_most_literal_template_is_meant(coin: GameSetting) -> None:
    thing = ReadingRule.model_validate({"sentence": "You see {t}.", "find": [HERE], "add": ["(item_at {t} ?here)"]})
    nothing = ReadingRule.model_validate({"sentence": "You see a {t} cloud.", "ignore": True})
    found = result(coin, "You are in the hall. You see a dark cloud. You see a cup.", rules=(RULES[0], thing, nothing))
    assert facts(found, "item_at") == {"cup hall"}
    assert found.uses == {0: 1, 1: 1, 2: 1}


def test_sentences_without_a_rule_are_unread(coin: GameSetting) -> None:
    found = result(coin, "You are in the hall. It rains.", ("wait", "Time passes."))
    assert found.unread == ((0, "It rains."), (1, "Time passes."))


@pytest.mark.parametrize(
    ("changed", "unread"),
    [
        (rule(find=[HERE, "(item_at {t} ?here)"]), True),  # never known
        (rule(find=["(connected ?here ?to ?d)"]), True),
        (rule(find=[HERE, "!(have {t})"]), False),
        (rule(find=[HERE, "!(at ?here)", "(have {t})"]), False),
        (rule(**{"not": ["cup", "red hat", "stove"]}), False),
    ],
)
def test_a_sentence_is_unread_if_no_rule_for_it_finds_its_facts(
    coin: GameSetting, changed: ReadingRule, unread: bool
) -> None:
    sentence = "A red hat, a stove, and a cup lie here."
    found = result(coin, f"You are in the kitchen. {sentence}", rules=(RULES[0], changed))
    assert found.unread == (((0, sentence),) if unread else ())
    both = result(coin, f"You are in the kitchen. {sentence}", rules=(RULES[0], changed, rule()))
    assert both.unread == ()


def test_effects_of_the_plan_that_the_rules_do_not_read_are_unmet(coin: GameSetting) -> None:
    closed = next(iter(fact for fact in result(coin, KITCHEN).problem.facts if fact.predicate == "closed_door"))
    seen = situation(coin, KITCHEN, ("open door to north", "You open the oak door, revealing the pantry."))
    first, opened = seen.seen.history
    opened = replace(opened, effects=(frozenset(), frozenset({closed})))
    seen = replace(seen, seen=Observations((opened,), (first, opened)))
    lazy = ReadingRule.model_validate(
        {"sentence": "You open the {k} door, revealing the {r}.", "after": "open door to {d}", "find": [HERE, BEHIND],
         "add": ["(connected ?here {r} {d})"], "unused": ["k"]}
    )  # fmt: skip
    kept = tuple(one for one in RULES if "open door" not in one.after)
    (unmet,) = read_history(seen, coin.start, LearnedRules((*kept, lazy))).unmet
    assert (unmet[0], str(unmet[1]), unmet[2]) == (1, "(closed_door kitchen pantry)", False)
    assert read_history(seen, coin.start, LearnedRules(RULES)).unmet == ()


def test_an_opinion_is_added_when_its_objects_are_known(coin: GameSetting) -> None:
    opinions = (parse_pattern("(item_at coin hall)"), parse_pattern("(item_at coin attic)"))
    found = read_history(situation(coin, KITCHEN), coin.start, LearnedRules(RULES, opinions))
    assert facts(found, "item_at") == {"coin hall"}
