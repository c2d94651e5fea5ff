from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from pddlego.methods.textgames.formalize import Exchange, Observations, PromptContext
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.methods.textgames.reading.engine import HistoryReader, ReadResult, read_news
from pddlego.methods.textgames.reading.rules import LearnedRules, ReadingRule, parse_pattern
from pddlego.methods.textgames.settings import GameSetting
from pddlego.pddl import Atom
from tests.methods.textgames.reading.rule_writer import BEHIND, COIN, HERE

KITCHEN = "You are in the kitchen. To the North you see a closed oak door. To the East you see the hall."
RULES = tuple(map(ReadingRule.model_validate, COIN))
WAY = "connected"


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


def test_what_the_step_does_needs_no_rule_if_the_text_says_nothing_else(coin: GameSetting) -> None:
    there, here = (Atom("item_at", ("pen", room)) for room in ("hall", "kitchen"))
    seen = situation(coin, f"{KITCHEN} There is also a pen.", ("take pen", "You pick it up."))
    first, taken = seen.seen.history
    for lost, left in ((here, set()), (there, {"pen kitchen"})):  # the second step is not one of this problem
        after = replace(taken, effects=(frozenset({Atom("have", ("pen",))}), frozenset({lost})), after=frozenset())
        found = read_history(replace(seen, seen=Observations((), (first, after))), coin.start, LearnedRules(RULES))
        assert bool(found.unread) == bool(left)
        assert facts(found, "item_at") == left
        assert facts(found, "have") == (set() if left else {"pen"})
    assert read_history(seen, coin.start, LearnedRules(RULES)).unread == ((1, "You pick it up."),)


@pytest.mark.parametrize(("other", "is_added"), [({"ignore": True}, True), ({"forget": ["(visited *)"]}, False)])
def test_what_the_step_does_holds_if_its_text_is_ignored(
    coin: GameSetting, other: Mapping[str, Any], is_added: bool
) -> None:
    seen = situation(coin, f"{KITCHEN} There is also a pen.", ("take pen", "You pick it up."))
    effects = frozenset({Atom("have", ("pen",))}), frozenset({Atom("item_at", ("pen", "kitchen"))})
    first, taken = seen.seen.history[0], replace(seen.seen.history[1], effects=effects, after=frozenset())
    rules = LearnedRules((*RULES, ReadingRule.model_validate({"sentence": "You pick it up.", **other})))
    found = read_history(replace(seen, seen=Observations((), (first, taken))), coin.start, rules)
    assert facts(found, "have") == ({"pen"} if is_added else set())
    assert bool(found.unmet) is not is_added


def test_an_opinion_is_added_when_its_objects_are_known(coin: GameSetting) -> None:
    opinions = (parse_pattern("(item_at coin hall)"), parse_pattern("(item_at coin attic)"))
    found = read_history(situation(coin, KITCHEN), coin.start, LearnedRules(RULES, opinions))
    assert facts(found, "item_at") == {"coin hall"}


ARRIVED = ReadingRule.model_validate(
    {
        "sentence": "You are in the {r}.",
        "after": "move {d}",
        "find": ["(at ?from)"],
        "forget": ["(at *)"],
        "add": ["(at {r})", "(connected ?from {r} {d})", "(connected {r} ?from {back:d})"],
    }
)
ANYWHERE = ReadingRule.model_validate(
    {"sentence": "You are in the {r}.", "forget": ["(at *)"], "add": ["(at {r})", "(visited {r})"]}
)


@pytest.mark.parametrize("rules", [(ARRIVED, ANYWHERE), (ANYWHERE, ARRIVED)])
def test_of_two_rules_for_a_sentence_the_one_for_the_command_wins(
    coin: GameSetting, rules: tuple[ReadingRule, ...]
) -> None:
    """It comes first, so that it finds where the agent was; the other one adds what it does not state."""
    found = result(coin, "You are in the kitchen.", ("move east", "You are in the hall."), rules=rules)
    assert facts(found, "connected") == {"kitchen hall east", "hall kitchen west"}
    assert facts(found, "at") == {"hall"}
    assert facts(found, "visited") == {"kitchen", "hall"}


@pytest.mark.parametrize("add", ["(have {i})", "(item_at {i} ?here)"])
@pytest.mark.parametrize("command", ["take {i}", "take {x}", "{verb} coin"])
def test_a_rule_that_ignores_a_sentence_after_its_command_is_alone(coin: GameSetting, add: str, command: str) -> None:
    general = ReadingRule(sentence=("You take the {i}.",), find=("(at ?here)",), add=(add,))
    ignored = ReadingRule(sentence=("You take the {i}.",), after=command, ignore=True)
    taken = ("take coin", "You take the coin.")
    for rules in ((general, ignored), (ignored, general)):
        found = result(coin, "You are in the hall.", taken, rules=(*RULES[:1], *rules))
        assert not facts(found, "have") | facts(found, "item_at")


@pytest.mark.parametrize(
    ("template", "sentence", "is_read"),
    [
        ("Your task is to: {x}.", "Your task is to: put some pen on the diningtable.", True),
        ("It says {x}!", 'It says "On sale, and cheap: (2) for 1"!', True),
        ("You hear {x}", "You hear a, b, c; and it is over", True),
        ("{x} sings.", "A bird that is in the tree sings.", True),
        ("{a} meets {b}.", "The king, who is old, meets the queen, and others.", True),
        ("A clock {x...}.", "A clock is on the wall and in the hall.", True),
        ("It smells of {x}.", "It smells of .", False),
        ("It smells of {x}.", "It smells of", False),
        ("{x}", "Anything at all, and all of it.", False),
        ("{x}, {y}.", "Anything, at all, it is.", False),
    ],
)
def test_a_slot_of_an_ignored_sentence_takes_any_text(
    coin: GameSetting, template: str, sentence: str, is_read: bool
) -> None:
    rule = ReadingRule(sentence=(template,), ignore=True)
    assert result(coin, f"\n{sentence}", rules=(rule,)).unread == (() if is_read else ((0, sentence),))
    other = ReadingRule(sentence=(template,), add=("(have coin)",))
    assert result(coin, f"\n{sentence}", rules=(other,)).unread == ((0, sentence),)


def test_any_rule_that_reads_names_is_before_one_that_ignores_any_text(coin: GameSetting) -> None:
    ignoring = ReadingRule(sentence=("You are in {x} and {y} and nothing else of all that.", "You {x}."), ignore=True)
    assert facts(result(coin, "You are in the hall.", rules=(ignoring, *RULES)), "at") == {"hall"}


def test_the_text_of_a_refused_command_is_not_left_unread(coin: GameSetting) -> None:
    for refused in (True, False):
        exchange = Exchange("move up", "You can't go that way, unless you fly.", refused=refused)
        seen = situation(coin)
        seen = replace(seen, seen=Observations((exchange,), (exchange,)))
        found = read_history(seen, coin.start, LearnedRules(RULES))
        assert bool(found.unread) is not refused


@pytest.mark.parametrize("is_silent", [False, True])
def test_effects_about_a_room_without_a_name_are_about_the_same_exit_under_other_rules(
    coin: GameSetting, is_silent: bool
) -> None:
    texts = ("A hole is in the South.", "To the North you see a closed oak door.", "Click.")
    seen = situation(coin, f"You are in the kitchen. {' '.join(texts[:2])}", ("open door to north", texts[2]))
    planned = result(coin, f"You are in the kitchen. {texts[1]}").problem
    closed, exits = (frozenset(one for one in planned.facts if one.predicate == name) for name in ("closed_door", WAY))
    assert {str(fact) for fact in closed} == {"(closed_door kitchen loc1)"}
    first, opened = seen.seen.history
    opened = replace(opened, effects=(frozenset(), closed), unnamed=closed | exits)
    opened = replace(opened, after=frozenset() if is_silent else None)
    seen = replace(seen, seen=Observations((opened,), (first, opened)))
    hole = {"sentence": "A hole is in the {d}.", "find": [HERE, BEHIND], "add": ["(visited ?here)"]}
    click = {"sentence": "Click.", "ignore": True}
    rules = LearnedRules((*RULES, *map(ReadingRule.model_validate, (hole, click))))
    found = read_history(seen, coin.start, rules)
    assert "kitchen loc1 south" in facts(found, WAY)  # the door's room has another number now
    assert facts(found, "closed_door") == (set() if is_silent else {"kitchen loc2"})
    assert [str(fact) for _, fact, _ in found.unmet] == ([] if is_silent else ["(closed_door kitchen loc2)"])
    without = LearnedRules(tuple(one for one in rules.rules if "door" not in "".join(one.sentence)))
    assert read_history(seen, coin.start, without).unmet == ()  # no exit is left that the effect may be about


@pytest.mark.parametrize("is_known", [False, True])
def test_the_room_that_the_agent_enters_is_the_one_its_step_leads_to(coin: GameSetting, is_known: bool) -> None:
    before = f"You are in the pantry. You are in the kitchen. {KITCHEN}" if is_known else KITCHEN
    seen = situation(coin, before, ("move north", "You are in the pantry."))
    exits = frozenset(one for one in result(coin, KITCHEN).problem.facts if one.predicate == WAY)
    first, moved = seen.seen.history
    effects = frozenset({Atom("at", ("loc1",))}), frozenset({Atom("at", ("kitchen",))})
    moved = replace(moved, effects=effects, unnamed=exits)
    found = read_history(replace(seen, seen=Observations((moved,), (first, moved))), coin.start, LearnedRules(RULES))
    assert ("kitchen pantry north" in facts(found, WAY)) is not is_known  # a room that was visited may be a wrong name
    assert [str(fact) for _, fact, _ in found.unmet] == (["(at loc1)"] if is_known else [])
