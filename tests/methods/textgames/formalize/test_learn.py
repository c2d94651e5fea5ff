"""Mode `learn`: the model is asked about sentences without a rule, and its rules read the rest."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pddlego.episode.events import Accepted, Answered, Asked, Event, Limits, Outcome, Rejected, Started
from pddlego.errors import JournalError, UsageError
from pddlego.methods.base import parse_variant
from pddlego.methods.textgames.formalize.learn import parse_rules
from pddlego.methods.textgames.knowledge import restored
from pddlego.methods.textgames.loading import load, setting_for
from pddlego.methods.textgames.options import MODES
from pddlego.methods.textgames.reading.rules import MOST_RULES, LearnedRules, parse_learned, parse_pattern
from pddlego.methods.textgames.resume import knowledge_at, recorded_game, restart_at
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models import Completion, Request
from pddlego.models.base import ScriptedModel
from pddlego.pddl import EditSyntaxError
from pddlego.planning import ProcessPlanner
from pddlego.runs.store import last_text
from tests.methods.textgames.grid_house import GridHouse, small_house
from tests.methods.textgames.playing import ended, of, play
from tests.methods.textgames.reading.rule_writer import COIN, RuleWriter
from tests.traces import trace_of


def learn(
    coin: GameSetting, planner: ProcessPlanner, model: Any, text: str = "", mode: str = "learn", **how: Any
) -> list[Event]:
    setting = setting_for(coin, parse_variant(mode, MODES), text)
    return play(setting, planner, how.pop("game", None) or small_house("pantry"), model, mode, Limits(50), **how)


def rules(events: Sequence[Event]) -> list[Accepted]:
    return [event for event in of(events, Accepted) if event.kind == "rules"]


def test_a_game_is_read_with_rules_and_a_second_one_without_a_request(
    coin: GameSetting, planner: ProcessPlanner
) -> None:
    model = RuleWriter()
    events = learn(coin, planner, model)
    assert ended(events).outcome is Outcome.WON
    assert 0 < len(model.asked) <= 4
    assert not of(events, Rejected)
    assert len(of(events, Asked)) == len(rules(events))

    text = last_text(trace_of(events), "rules")
    assert parse_learned(text).rules
    second = RuleWriter()
    again = learn(coin, planner, second, text, game=GridHouse({("kitchen", "north"): "pantry"}, coin="pantry"))
    assert ended(again).outcome is Outcome.WON
    assert of(again, Started)[0].details["rules"] == text
    assert [sentence for asked in second.asked for sentence in asked] == []


def test_each_form_is_asked_about_once(coin: GameSetting, planner: ProcessPlanner) -> None:
    model = RuleWriter()
    learn(coin, planner, model)
    asked = [sentence for sentences in model.asked for sentence in sentences]
    assert len(asked) == len(set(asked))


class Changed(RuleWriter):
    """Leaves a key out of the rules whose sentence contains a text, in its first answers."""

    def __init__(self, part: str, keys: Mapping[str, Any], times: int = 1) -> None:
        super().__init__()
        self.part, self.keys, self.times = part, keys, times

    def complete(self, request: Request) -> Completion:
        value = json.loads(super().complete(request).text)["rules"]
        if not value:  # what was wrong is repaired when the rules go back
            value = [self._complete(n) for n, rule in enumerate(self.rules) if self.part in rule.sentence[0]]
        wrong = [table for table in value if self.part in str(table["sentence"])]
        if self.times and wrong:
            self.times -= 1
            value = [{**table, **self.keys} if table in wrong else table for table in value]
        return Completion(json.dumps({"rules": value}))


@pytest.mark.parametrize(
    ("part", "keys", "message"),
    [
        ("You are in", {"add": ["(in {room})"]}, "there is no predicate in"),
        ("closed {kind} door", {"unused": []}, "no fact uses {kind}"),
        ("You are in", {"sentence": "You are in the kitchen."}, "'no rule covers'"),
        ("revealing", {"forget": []}, "(closed_door kitchen pantry) false"),
        ("You are in", {"add": ["(visited {room})"], "forget": []}, "(at ?l - location)"),
        ("You are in", {"ignore": True, "add": [], "forget": []}, "(at ?l - location)"),
    ],
)
def test_a_fault_goes_back_with_its_reason_and_is_repaired(
    coin: GameSetting, planner: ProcessPlanner, part: str, keys: Mapping[str, Any], message: str
) -> None:
    house = GridHouse({("kitchen", "north"): "pantry"}, frozenset({frozenset({"kitchen", "pantry"})}), coin="pantry")
    events = learn(coin, planner, Changed(part, keys), game=house)
    rejected = of(events, Rejected)
    assert ended(events).outcome is Outcome.WON
    if message != "'no rule covers'":
        assert any(message in line for event in rejected for line in event.feedback.evidence)


def test_good_rules_of_a_rejected_answer_are_kept(coin: GameSetting, planner: ProcessPlanner) -> None:
    model = Changed("closed {kind} door", {"add": ["(in {d})"]})
    events = learn(coin, planner, model)
    first, second = rules(events)[:2]
    assert "You are in the {room}." in first.text
    assert "closed {kind} door" not in first.text
    assert "closed {kind} door" in second.text
    assert model.asked[1] == [line for line in model.asked[1] if "closed" in line]


def test_a_rule_that_finds_nothing_does_not_cover_its_sentence(coin: GameSetting, planner: ProcessPlanner) -> None:
    model = Changed("closed {kind} door", {"find": ["(have coin)", "(at ?here)", "+(connected ?here ?to {d})"]})
    house = GridHouse({("kitchen", "north"): "pantry"}, frozenset({frozenset({"kitchen", "pantry"})}), coin="pantry")
    events = learn(coin, planner, model, game=house)
    assert ended(events).outcome is Outcome.WON
    (line,) = of(events, Rejected)[0].feedback.evidence
    assert line.startswith('a fact of `find` is missing in all rules for "To the North you see a closed')
    assert sum("closed" in sentence for asked in model.asked for sentence in asked) == 2


def test_the_commands_are_in_the_first_request(coin: GameSetting, planner: ProcessPlanner) -> None:
    model = RuleWriter()
    learn(coin, planner, model)
    assert "\nCommands: move {d}; open door to {d}; take {i}\n" in model.requests[0].messages[0].content


def test_an_opinion_is_taken_back() -> None:
    first = LearnedRules().with_rules((), map(parse_pattern, ["(belongs cup shelf)", "(belongs hat rack)"]))
    second = first.with_rules((), map(parse_pattern, ["!(belongs cup shelf)", "(belongs cup cupboard)"]))
    assert list(map(str, second.opinions)) == ["(belongs hat rack)", "(belongs cup cupboard)"]


@pytest.mark.parametrize("game", ["paper-coin", "paper-cooking-easy"])
def test_a_game_without_notes_cannot_be_learned(game: str) -> None:
    with pytest.raises(UsageError, match=r"in mode learn\n.*notes\.j2"):
        setting_for(load(game), parse_variant("learn", MODES))


class Silent(RuleWriter):
    """Never writes a rule for sentences about things."""

    def _for(self, sentence: str, command: str) -> list[Mapping[str, Any]]:
        return [] if "table" in sentence else super()._for(sentence, command)


def test_a_sentence_without_a_rule_is_not_asked_about_for_ever(coin: GameSetting, planner: ProcessPlanner) -> None:
    class Furnished(GridHouse):
        def _look(self) -> str:
            return f"{super()._look()} A table shines."

    model = Silent()
    house = Furnished({("kitchen", "north"): "hall", ("hall", "north"): "pantry"}, coin="pantry")
    events = learn(coin, planner, model, game=house)
    assert ended(events).outcome is Outcome.WON
    assert sum("A table shines." in asked for asked in model.asked) == 3
    assert parse_learned(last_text(trace_of(events), "rules")).unread == {"A table shines."}


def test_usable_rules_are_planned_with_when_the_retries_are_spent(coin: GameSetting, planner: ProcessPlanner) -> None:
    class Furnished(GridHouse):
        def _look(self) -> str:
            return f"{super()._look()} A table shines."

    house = Furnished({("kitchen", "north"): "hall", ("hall", "north"): "pantry"}, coin="pantry")
    events = learn(coin, planner, Silent(), game=house, retries=1)
    assert ended(events).outcome is Outcome.WON


def test_without_feedback_the_same_is_asked_again(coin: GameSetting, planner: ProcessPlanner) -> None:
    model = Changed("You are in", {"ignore": True, "add": [], "forget": []}, times=1)
    learn(coin, planner, model, mode="learn-no-feedback")
    assert len(model.requests) > 1


def test_without_the_check_rules_are_used_as_they_are(coin: GameSetting, planner: ProcessPlanner) -> None:
    events = learn(coin, planner, Changed("closed {kind} door", {"unused": []}), mode="learn-no-check")
    assert ended(events).outcome is Outcome.WON
    assert not of(events, Rejected)


@pytest.mark.parametrize("key", ["text", "like", "command", "task"])
@pytest.mark.parametrize("mode", ["learn", "learn-no-check"])
def test_a_model_cannot_write_regular_expressions(
    coin: GameSetting, planner: ProcessPlanner, mode: str, key: str
) -> None:
    """They would run without a limit. With and without the check, such a rule is left out, and the others are used."""
    text = json.dumps([*COIN, {key: "^(.+)+;$", "add": ["(at kitchen)"]}])
    events = learn(coin, planner, ScriptedModel((text, "[]")), mode=mode, retries=0)
    assert rules(events)
    assert all(not rule.text and not rule.like for event in rules(events) for rule in parse_learned(event.text).rules)
    assert parse_rules(text)[0] == parse_rules(json.dumps(list(COIN)))[0]


@pytest.mark.parametrize(
    "text", ["[[reading]]\nlike = 'a'", "[[reading]]\nsentence = ", "opinions = 1", "(define (domain"]
)
def test_damaged_rules_of_a_journal_are_said_to_be_damaged(coin: GameSetting, text: str) -> None:
    with pytest.raises(JournalError, match="domain or rules are damaged"):
        restored(coin.start, text, coin.start.problem)


def test_an_episode_is_restarted_with_the_rules_that_it_had_learned(coin: GameSetting, planner: ProcessPlanner) -> None:
    model = RuleWriter()
    trace = trace_of(learn(coin, planner, model))
    setting = setting_for(coin, parse_variant("learn", MODES), "")
    recorded = recorded_game(Path("x.jsonl"), trace, coin)
    assert recorded.setting.start.learned == setting.start.learned
    later = restart_at(recorded, 3)
    assert knowledge_at(recorded, later).learned.rules
    assert len([event for event in trace.events if isinstance(event, Answered)]) == len(model.asked)


@pytest.mark.parametrize(
    "form",
    [
        *("{}", '{{"rules": {}}}', "Here:\n```json\n{}\n```", '<think>[]</think>{{"rules": {}}}'),
        'Here:\n```json\n{{"rules": {}}}\n```',
    ],
)
def test_forms_of_an_answer(form: str) -> None:
    read, opinions, faults = parse_rules(form.format(json.dumps(list(COIN))))
    assert len(read) == len(COIN)
    assert not opinions
    assert not faults


def test_the_end_of_a_bare_list_is_found() -> None:
    read, _, faults = parse_rules(f"{json.dumps(list(COIN))}\nNote: see [1].")
    assert (len(read), faults) == (len(COIN), [])
    with pytest.raises(EditSyntaxError) as error:
        parse_rules(json.dumps(list(COIN))[:-20])
    assert error.value.cut_off


def test_of_too_many_rules_the_first_are_read() -> None:
    many = [{"sentence": f"Number {number}.", "ignore": True} for number in range(10_000)]
    read, _, faults = parse_rules(json.dumps({"rules": many}))
    assert len(read) == MOST_RULES
    assert len(faults) == 1


@pytest.mark.parametrize("answer", ["", "none", "{}", '{"objects": {}}', '{"rules": 1}', "[" * 5_000])
def test_an_answer_without_rules_is_refused(answer: str) -> None:
    with pytest.raises(EditSyntaxError):
        parse_rules(answer)


def test_unreadable_rules_are_named() -> None:
    read, opinions, faults = parse_rules('{"rules": [1, {"sentence": "a", "what": 1}], "opinions": ["x", "(at hall)"]}')
    assert not read
    assert [str(opinion) for opinion in opinions] == ["(at hall)"]
    assert len(faults) == 3
