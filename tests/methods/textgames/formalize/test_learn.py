"""Mode `learn`: the model is asked about sentences without a rule, and its rules read the rest."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import pddlego
from pddlego.episode.events import Accepted, Answered, Asked, Event, Limits, Outcome, Rejected, Started
from pddlego.episode.loop import Retry
from pddlego.errors import JournalError, UsageError
from pddlego.methods.base import parse_variant
from pddlego.methods.textgames.formalize import Exchange, Observations, ProblemProposal, PromptContext
from pddlego.methods.textgames.formalize.learn import Lesson, parse_lesson
from pddlego.methods.textgames.knowledge import restored
from pddlego.methods.textgames.loading import load, setting_for
from pddlego.methods.textgames.memory import UNREACHABLE
from pddlego.methods.textgames.options import MODES
from pddlego.methods.textgames.play import make_method
from pddlego.methods.textgames.reading.rules import MOST_RULES, LearnedRules, parse_learned, parse_pattern
from pddlego.methods.textgames.resume import knowledge_at, recorded_game, restart_at
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models import Completion, Request
from pddlego.models.base import Feedback, ScriptedModel
from pddlego.pddl import EditSyntaxError, TypedName
from pddlego.planning import ProcessPlanner
from pddlego.runs.store import last_text
from tests.methods.textgames.grid_house import GridHouse, small_house
from tests.methods.textgames.playing import ended, of, play
from tests.methods.textgames.reading.rule_writer import COIN, RuleWriter
from tests.shared import SHARED
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
    assert parse_lesson(text).rules == parse_lesson(json.dumps(list(COIN))).rules


def given_rules(mode: str, text: str = "") -> LearnedRules:
    return setting_for(load("twc"), parse_variant(mode, MODES), text).start.learned


def test_a_long_list_of_sentences_is_several_rules() -> None:
    sentences = [f"Remark {number}." for number in range(45)]
    lesson = parse_lesson(json.dumps({"rules": [{"sentence": sentences, "ignore": True}]}))
    assert [len(rule.sentence) for rule in lesson.rules] == [20, 20, 5]
    assert [one for rule in lesson.rules for one in rule.sentence] == sentences
    assert lesson.faults == ()


def test_a_model_cannot_write_a_given_rule() -> None:
    lesson = parse_lesson(json.dumps({"rules": [{**COIN[0], "given": True}]}))
    assert not lesson.rules
    assert "`given` are for settings" in lesson.faults[0]


@pytest.mark.parametrize("mode", ["learn", "learn-facts"])
def test_the_given_rules_of_a_setting_are_learned_from_the_start(mode: str) -> None:
    learned = given_rules(mode)
    assert {"You put the {i} in the {h}.", "The score goes up."} <= {
        form for one in learned.rules for form in one.sentence
    }
    assert learned.rules == load("twc").reader.given
    assert "given" not in learned.text
    assert given_rules(mode, learned.text) == learned
    assert not given_rules("edit").rules


@pytest.mark.parametrize("mode", ["learn", "learn-facts"])
def test_a_learned_rule_replaces_a_given_one_for_the_same_sentence(mode: str) -> None:
    own = '[[reading]]\nsentence = "You put the {item} in the {holder}."\nadd = ["(tried {item} {holder})"]'
    (rule,) = parse_learned(own).rules
    before, after = given_rules(mode).rules, given_rules(mode, own).rules
    assert after == (*(one for one in before if "You put" not in one.sentence[0]), rule)


@pytest.mark.parametrize("mode", ["learn", "learn-facts"])
def test_nothing_is_asked_about_sentences_of_given_rules(mode: str) -> None:
    episode = pddlego.play("twc", mode=mode, seed=260)
    asked = "\n".join(event.messages[-1].content for event in episode.events if isinstance(event, Asked))
    assert episode.won
    assert "You are in the living room." in asked
    assert not re.search(r"(You put|The score goes|a stove\.).*( ->| \(after)", asked)


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
    lesson = parse_lesson(form.format(json.dumps(list(COIN))))
    assert len(lesson.rules) == len(COIN)
    assert not lesson.opinions
    assert not lesson.faults


def test_the_end_of_a_bare_list_is_found() -> None:
    lesson = parse_lesson(f"{json.dumps(list(COIN))}\nNote: see [1].")
    assert (len(lesson.rules), lesson.faults) == (len(COIN), ())
    with pytest.raises(EditSyntaxError) as error:
        parse_lesson(json.dumps(list(COIN))[:-20])
    assert error.value.cut_off


def test_of_too_many_rules_the_first_are_read() -> None:
    many = [{"sentence": f"Number {number}.", "ignore": True} for number in range(10_000)]
    lesson = parse_lesson(json.dumps({"rules": many}))
    assert len(lesson.rules) == MOST_RULES
    assert len(lesson.faults) == 1


@pytest.mark.parametrize("answer", ["", "none", "{}", '{"objects": {}}', '{"rules": 1}', "[" * 5_000])
def test_an_answer_without_rules_is_refused(answer: str) -> None:
    with pytest.raises(EditSyntaxError):
        parse_lesson(answer)


def test_unreadable_rules_are_named() -> None:
    lesson = parse_lesson('{"rules": [1, {"sentence": "a", "what": 1}], "opinions": ["x", "(at hall)"]}')
    assert not lesson.rules
    assert [str(opinion) for opinion in lesson.opinions] == ["(at hall)"]
    assert len(lesson.faults) == 3


TURN6 = SHARED / "cases" / "turn6" / "played"


def lessons(case: str) -> list[Lesson]:
    return [parse_lesson(file.read_text(encoding="utf-8")) for file in sorted((TURN6 / case).glob("ans*.txt"))]


@pytest.mark.shared("cases/turn6/played")
def test_a_sentence_that_is_named_alone_leaves_the_list(coin: GameSetting) -> None:
    """Case `learn_list_replaced`: the third answer has a list, and the fourth one of its sentences."""
    learned = LearnedRules()
    for lesson in lessons("learn_list_replaced"):
        assert not lesson.faults
        learned = learned.with_rules(lesson.rules)
    covered = [form for rule in learned.rules for form in rule.sentence if rule.ignore and rule.after]
    assert covered == ["Ingredients:", "Directions:", "prepare {m}"]


@pytest.mark.slow
@pytest.mark.shared("cases/turn6/played")
def test_the_answers_about_a_recipe_are_not_rejected_for_the_name_of_the_meal() -> None:
    """Case `learn_list_replaced`: no action finds the meal, and it is no place, so its name may be ignored."""
    answers = [file.read_text(encoding="utf-8") for file in sorted((TURN6 / "learn_list_replaced").glob("ans00[123]*"))]
    episode = pddlego.play("cooking-easy", mode="learn", seed=264, model=ScriptedModel(tuple(answers)))
    rejected = [event for event in episode.events if isinstance(event, Rejected)]
    lines = [line for event in rejected for line in event.feedback.evidence]
    assert lines[0].startswith("the type of banana")
    assert not [line for line in lines if "names meal" in line]


@pytest.mark.shared("cases/turn6/played")
@pytest.mark.parametrize("attempt", [0, 1, 2, 5])
def test_faults_of_the_last_permitted_answer_are_noted_in_the_next_request(coin: GameSetting, attempt: int) -> None:
    """Case `learn_third_fault_silent`: the fifth answer has the name of a room in a sentence."""
    exchange = Exchange(None, "You are in the kitchen.")
    room = replace(coin.start.problem, objects=frozenset({TypedName("bedroom", "location")}))
    seen = PromptContext(coin.start.with_problem(room), "", Observations((exchange,), (exchange,)), Retry(attempt))
    seen = replace(seen, reader=coin.reader)
    answer = sorted((TURN6 / "learn_third_fault_silent").glob("ans*.txt"))[-1].read_text(encoding="utf-8")
    method = make_method("learn", coin, 0)
    proposal = method.read(answer, seen)
    assert isinstance(proposal, ProblemProposal)
    lines = proposal.feedback.evidence if proposal.feedback else proposal.notes
    assert (proposal.feedback is None) is (attempt >= 2)
    assert any(line.startswith("'bedroom' in") for line in lines)
    request = method.request(replace(seen, notes=proposal.notes, retry=Retry(), knowledge=coin.start))
    assert request is not None
    assert ("Notes on your last answer:\n- 'bedroom' in" in request.messages[-1].content) is (attempt >= 2)


@pytest.mark.parametrize(
    ("opinion", "is_asked"),
    [
        ("(belongs cup shelf)", True),
        ("!(belongs cup shelf)", True),
        ("(belongs cup)", False),
        ("(belongs cup shelf hall)", False),
        ("(belongs {x} shelf)", False),
        ("(belongs ?x shelf)", False),
        ("(belongs cup *)", False),
        ("(tried cup shelf)", False),
        ("(holder_at shelf hall)", False),
        ("(likely cup shelf)", False),
        ("(put_away cup)", False),
    ],
)
def test_opinions_that_are_not_asked_for_are_noted(opinion: str, is_asked: bool) -> None:
    setting = setting_for(load("twc"), parse_variant("learn", MODES))
    exchange = Exchange(None, "Birds sing.")
    seen = PromptContext(setting.start, "", Observations((exchange,), (exchange,)), reader=setting.reader)
    rule = {"sentence": "Birds sing.", "ignore": True}
    proposal = make_method("learn", setting, 0).read(json.dumps({"rules": [rule], "opinions": [opinion]}), seen)
    assert isinstance(proposal, ProblemProposal)
    assert proposal.feedback is None
    assert [note for note in proposal.notes if opinion in note] == list(proposal.notes)
    assert len(proposal.notes) == (not is_asked)


@pytest.mark.parametrize(
    ("game", "name", "matters"),
    [
        ("cooking-easy", "meal", False),
        ("cooking-easy", "sliced", False),
        ("cooking-easy", "knife", True),
        ("cooking-easy", "cookbook", True),
        ("cooking-easy", "stove", True),
        ("cooking-easy", "oven", True),
        ("cooking-easy", "kitchen", True),
        ("cooking-easy", "north", True),
        ("coin", "coin", True),
        ("coin", "west", True),
        ("mapreader", "coin", True),
    ],
)
def test_a_sentence_may_be_ignored_if_it_names_only_a_constant_that_nothing_needs(
    game: str, name: str, matters: bool
) -> None:
    setting = setting_for(load(game), parse_variant("learn", MODES))
    exchange = Exchange(None, f"Think of the {name}.")
    seen = PromptContext(setting.start, "", Observations((exchange,), (exchange,)), reader=setting.reader)
    answer = json.dumps({"rules": [{"sentence": "Think of the {x}.", "ignore": True}]})
    assert (make_method("learn", setting, 0).read(answer, seen).feedback is not None) is matters


@pytest.mark.parametrize("game", ["cooking-easy", "twc", "mapreader", "coin"])
def test_only_the_types_that_a_predicate_allows_are_listed(game: str) -> None:
    setting = setting_for(load(game), parse_variant("learn", MODES))
    exchange = Exchange(None, "You are in the den. You see a lamp.")
    seen = PromptContext(setting.start, "", Observations((exchange,), (exchange,)), reader=setting.reader)
    things = setting.map.things if setting.map else ""
    rules = [
        {"sentence": "You are in the {r}.", "add": ["(at {r})"]},
        {"sentence": "You see {t}.", "find": ["(at ?h)"], "add": [f"({things} {{t}} ?h)"]},
    ]
    feedback = make_method("learn", setting, 0).read(json.dumps({"rules": rules}), seen).feedback
    found = [line for line in feedback.evidence if "is open" in line] if feedback else []
    assert len(found) == (game == "cooking-easy")
    assert all("one of griller, item;" in line for line in found), found


def test_the_task_stands_once_in_the_instructions() -> None:
    for game in ("household", "textworld-coin", "coin", "twc"):
        setting = setting_for(load(game), parse_variant("learn", MODES))
        exchange = Exchange(None, "Birds sing.")
        seen = PromptContext(setting.start, "Find it.", Observations((exchange,), (exchange,)), reader=setting.reader)
        request = make_method("learn", setting, 0).request(seen)
        assert request is not None
        assert request.messages[0].content.count("The task: Find it.") == 1, game


def test_opinions_are_asked_with_the_problem_alone() -> None:
    setting = setting_for(load("twc"), parse_variant("learn", MODES))
    text = "You are in the den. You also see a cup. You also see a desk, that has nothing on it."
    exchange = Exchange(None, text)
    rules = parse_lesson(
        json.dumps(
            [
                {"sentence": "You are in the {r}.", "add": ["(at {r})", "(visited {r})"]},
                {"sentence": "You also see {i}.", "find": ["(at ?h)"], "add": ["(item_at {i} ?h)"]},
                {
                    "sentence": "You also see {x}, that has nothing on it.",
                    "find": ["(at ?h)"],
                    "add": ["(holder_at {x} ?h)"],
                },
            ]
        )
    ).rules
    for opinions in ((), (parse_pattern("(belongs cup desk)"),)):
        learned = LearnedRules().with_rules(rules, opinions)
        retry = Retry(1, "", Feedback(UNREACHABLE, "no plan", ("unsolvable",)))
        knowledge = replace(setting.start, learned=learned)
        seen = PromptContext(knowledge, "", Observations((exchange,), (exchange,)), retry, reader=setting.reader)
        request = make_method("learn", setting, 0).request(seen)
        assert request is not None
        assert ("Rules that you wrote" in request.messages[-1].content) is bool(opinions)
