"""Answers that hold both changes of the problem and reading rules, in modes `edit` and `learn`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import pddlego
from pddlego.episode.events import Accepted, Event, Outcome, Rejected
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.reading.rules import LearnedRules, parse_rule
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models import Completion, Request
from pddlego.pddl import DefectKind
from pddlego.planning import ProcessPlanner
from pddlego.runs.store import last_text
from tests.methods.textgames.formalize.test_learn import learn
from tests.methods.textgames.grid_house import GridHouse, small_house
from tests.methods.textgames.playing import ended, of
from tests.methods.textgames.reading.rule_writer import COIN
from tests.traces import trace_of

ALL: Sequence[Mapping[str, Any]] = [
    {**rule, "unused": ["kind"]} if "{kind}" in rule["sentence"] else rule for rule in COIN
]
READABLE = (*ALL[:3], *ALL[5:])
"""Rules for everything but opened doors."""


class Teacher(ReaderModel):
    """Answers with the changes that the built-in reader reads, and with `rules` beside them in its first answers."""

    def __init__(self, rules: Sequence[Mapping[str, Any]] = READABLE, times: int = 1) -> None:
        self.rules, self.times, self.requests = rules, times, list[Request]()

    def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        changes = json.loads(super().complete(replace(request, purpose="edit")).text)
        self.times -= 1
        return Completion(json.dumps({**changes, "rules": self.rules} if self.times >= 0 else changes))


def teach(coin: GameSetting, planner: ProcessPlanner, model: Any, mode: str = "edit", **how: Any) -> list[Event]:
    return learn(coin, planner, model, mode=mode, **how)


def shown(request: Request) -> str:
    return request.messages[-1].content


def test_what_rules_beside_an_edit_read_is_not_asked(coin: GameSetting, planner: ProcessPlanner) -> None:
    plain, teacher = Teacher(times=0), Teacher()
    without, events = teach(coin, planner, plain), teach(coin, planner, teacher)
    assert ended(without).outcome is ended(events).outcome is Outcome.WON
    assert len(teacher.requests) < len(plain.requests)
    assert all("wood door" in shown(request).rpartition("The agent did")[2] for request in teacher.requests[1:])


def test_a_second_game_begins_with_the_rules(coin: GameSetting, planner: ProcessPlanner) -> None:
    text = last_text(trace_of(teach(coin, planner, Teacher())), "rules")
    second = Teacher(times=0)
    house = GridHouse({("kitchen", "north"): "pantry"}, coin="pantry")
    assert ended(teach(coin, planner, second, text=text, game=house)).outcome is Outcome.WON
    assert not second.requests, "the task is the same, and the model wrote no rule for it"


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"sentence": "You are in the kitchen.", "add": ["(at ?here)"]}, "is a name: write a {slot}"),
        ({"sentence": "You see {x}.", "add": ["(in {x})"]}, "there is no predicate in"),
        ({"sentence": "You see {x}.", "add": ["(at {y})"]}, "{y} is not a slot"),
        ({"sentence": "You see {x}.", "add": ["(at)"]}, "at has 1 arguments"),
        ({"sentence": "You see {x} {y}.", "add": ["(at {x})"]}, "two slots without a word between them"),
        ({"sentence": "You see {x}.", "text": ".*"}, "are for settings"),
        ({"sentence": "You see {x} and {y}.", "add": ["(at {x})"]}, "no fact uses {y}"),
        ({"sentence": "You see {x}.", "add": ["(at *)"]}, "* belongs to `forget`"),
        ({"sentence": "You see {x}.", "ignore": True, "add": ["(at {x})"]}, "an ignored sentence adds"),
        ({"sentence": "You see {x}.", "find": ["+(at {x})"]}, "+ needs exactly one variable"),
    ],
)
def test_faulty_rules_beside_a_good_edit_come_back_as_notes(
    coin: GameSetting, planner: ProcessPlanner, rule: Mapping[str, Any], message: str
) -> None:
    teacher = Teacher([rule])
    events = teach(coin, planner, teacher)
    assert ended(events).outcome is Outcome.WON
    assert not of(events, Rejected)
    assert message in shown(teacher.requests[1]).partition("Notes on your last answer:")[2]
    assert not [event for event in of(events, Accepted) if event.kind == "rules"]


@pytest.mark.parametrize("rules", ["a remark about rules", []])
def test_an_edit_without_rules_is_read_as_ever(coin: GameSetting, planner: ProcessPlanner, rules: Any) -> None:
    class Remarking(Teacher):
        def complete(self, request: Request) -> Completion:
            answer = json.loads(super().complete(request).text)
            return Completion(json.dumps({**answer, "rules": rules} if rules != [] else answer))

    plain, model = Teacher(times=0), Remarking(times=0)
    without, events = teach(coin, planner, plain), teach(coin, planner, model)
    assert [shown(request) for request in model.requests][:1] == [shown(request) for request in plain.requests][:1]
    assert ended(events).outcome is ended(without).outcome is Outcome.WON


def test_an_empty_answer_is_no_answer_after_rules_are_known(coin: GameSetting, planner: ProcessPlanner) -> None:
    class Silent(Teacher):
        def complete(self, request: Request) -> Completion:
            answer = super().complete(request)
            return replace(answer, text="") if len(self.requests) == 2 else answer

    (rejected, *_) = of(teach(coin, planner, Silent()), Rejected)
    assert rejected.feedback.category == "invalid answer"


@pytest.mark.parametrize("mode", ["edit", "learn"])
def test_repairs_of_json_are_listed_beside_rules(coin: GameSetting, planner: ProcessPlanner, mode: str) -> None:
    class Slipping(Teacher):
        def complete(self, request: Request) -> Completion:
            answer = super().complete(request)
            return replace(answer, text=f"{answer.text[:-1]},}}")

    accepted = [event for event in of(teach(coin, planner, Slipping(), mode=mode), Accepted) if event.kind == "problem"]
    assert DefectKind.REPAIRED.value in accepted[0].kinds


def test_mode_learn_takes_changes_in_place_of_rules(coin: GameSetting, planner: ProcessPlanner) -> None:
    teacher = Teacher(times=0)
    events = teach(coin, planner, teacher, mode="learn")
    assert ended(events).outcome is Outcome.WON
    assert not of(events, Rejected)


def test_changes_are_made_after_new_rules_have_read(coin: GameSetting, planner: ProcessPlanner) -> None:
    """Mode `learn`: rules read what they cover, and changes say the rest."""

    class Both(Teacher):
        def complete(self, request: Request) -> Completion:
            answer = json.loads(super().complete(request).text)
            if len(self.requests) == 1:
                closed = [line for line in answer["init"]["add"] if "closed_door" in line]
                answer = {"rules": list(READABLE), "init": {"add": closed}}
            return Completion(json.dumps(answer))

    model = Both(times=0)
    assert ended(teach(coin, planner, model, mode="learn", game=small_house("pantry"))).outcome is Outcome.WON


@pytest.mark.slow
def test_a_household_is_played_in_mode_learn_with_changes_for_what_no_rule_says() -> None:
    episode = pddlego.play("household", mode="learn", seed=260, model=Teacher(times=0))
    assert episode.won, episode.message


class Given(Teacher):
    """Answers with `first`, and then as a `Teacher` without rules."""

    def __init__(self, first: Mapping[str, Any]) -> None:
        super().__init__(times=0)
        self.first = first

    def complete(self, request: Request) -> Completion:
        answer = super().complete(request)
        return Completion(json.dumps(self.first)) if len(self.requests) == 1 else answer


def test_rules_alone_need_none_for_the_task_that_no_request_shows(coin: GameSetting, planner: ProcessPlanner) -> None:
    events = teach(coin, planner, Given({"rules": ALL}))
    assert ended(events).outcome is Outcome.WON
    assert not of(events, Rejected)


def test_an_observation_whose_move_no_rule_reads_is_not_half_read(coin: GameSetting, planner: ProcessPlanner) -> None:
    teacher = Teacher(READABLE[1:])
    assert ended(teach(coin, planner, teacher)).outcome is Outcome.WON
    (_, second, *_) = teacher.requests
    assert "You are in the corridor." in shown(second)
    assert "(connected kitchen kitchen" not in shown(second)
    assert "does not have what these sentences say:\n- You are in the corridor." in shown(second)


@pytest.mark.parametrize(
    ("read", "wrong"),
    [
        ({"sentence": "To the {d} you see {x}.", "ignore": True}, "with this problem file no"),
        (
            {"sentence": "To the {d} you see {x}.", "add": ["(at {x})"], "unused": ["d"]},
            "the problem file contradicts itself",
        ),
    ],
)
def test_nobody_answered_where_rules_read_everything_and_the_problem_is_wrong(
    coin: GameSetting, planner: ProcessPlanner, read: Mapping[str, Any], wrong: str
) -> None:
    carried = LearnedRules(tuple(map(parse_rule, [ALL[0], read, *ALL[5:]]))).with_unread(["Task: Find the coin."])
    teacher = Given({"init": {"add": []}})
    teach(coin, planner, teacher, text=carried.text)
    assert f"What is wrong: {wrong}" in shown(teacher.requests[0])
    assert "(an empty answer)" not in shown(teacher.requests[0])


@pytest.mark.parametrize(
    ("rule", "fault", "kept"),
    [
        ({"sentence": ["{x}.", "{x}!"], "ignore": True}, "'{x}!' has no word of the sentence", 0),
        ({"sentence": ["{x}.", "It smells of {x}."], "ignore": True}, "'{x}.' has no word of the sentence", 1),
        ({"sentence": ["To the north is {x}.", "Behind is {x}."], "ignore": True}, "'north' in", 1),
    ],
)
def test_a_faulty_sentence_of_a_rule_leaves_the_others(
    coin: GameSetting, planner: ProcessPlanner, rule: Mapping[str, Any], fault: str, kept: int
) -> None:
    teacher = Teacher([*READABLE, rule])
    events = teach(coin, planner, teacher)
    assert fault in shown(teacher.requests[1])
    text = last_text(trace_of(events), "rules")
    assert text.count("ignore = true") == kept


def test_a_faulty_rule_does_not_reject_good_ones_without_changes(coin: GameSetting, planner: ProcessPlanner) -> None:
    teacher = Given({"rules": [*ALL, {"sentence": "It smells of {x}.", "add": ["(smells {x})"]}]})
    events = teach(coin, planner, teacher)
    assert ended(events).outcome is Outcome.WON
    assert not of(events, Rejected)


ROOMS = ("kitchen", "corridor", "pantry", "study", "attic", "cellar", "lounge", "office", "garage", "sauna", "closet")
REMARKS = dict(zip(ROOMS[1:], "abcdefghij", strict=True))


class ChattyHouse(GridHouse):
    """Rooms in a row, to the east. The first description of each ends with a remark, except in the kitchen."""

    def __init__(
        self, remark: str = "Wow, as in dream {}!", coin: str = ROOMS[-1], rooms: Sequence[str] = ROOMS
    ) -> None:
        super().__init__({(room, "east"): other for room, other in pairwise(rooms)}, coin=coin)
        self.remark = remark

    def _look(self) -> str:
        said = REMARKS.get(self._here)
        return super()._look() + (self.remark.format(said) if said else "")


def test_sentences_that_name_nothing_known_are_asked_about_together(coin: GameSetting, planner: ProcessPlanner) -> None:
    teacher = Teacher(ALL)
    assert ended(teach(coin, planner, teacher, game=ChattyHouse())).outcome is Outcome.WON
    (_, second) = teacher.requests
    listed = shown(second).rpartition("these sentences say:\n")[2].splitlines()
    assert listed[0] == '- Wow, as in dream a! (earlier, with "You are in the corridor.")'
    assert [line[:21] for line in listed] == [f"- Wow, as in dream {letter}!" for letter in "abcdefgh"]
    assert listed[-1].endswith("h!"), "it is in the observation that the request shows"
    assert shown(second).count("The agent did: move east") == 1
    assert "(at garage)" in shown(second), "the rules have read the last observation"


@pytest.mark.parametrize("remark", ["Dream {}: the coin is close!", "Dream {}: cold air from the north!"])
def test_a_sentence_that_names_something_known_is_asked_about_at_once(
    coin: GameSetting, planner: ProcessPlanner, remark: str
) -> None:
    teacher = Teacher(ALL)
    teach(coin, planner, teacher, game=ChattyHouse(remark))
    assert f"- {remark.format('a')}" in shown(teacher.requests[1])
    assert "(at corridor)" in shown(teacher.requests[1])


def test_sentences_that_waited_are_asked_about_when_no_plan_is_left(coin: GameSetting, planner: ProcessPlanner) -> None:
    teacher = Teacher(ALL)
    teach(coin, planner, teacher, game=ChattyHouse(coin="", rooms=ROOMS[:4]))
    second = shown(teacher.requests[1])
    assert all(f"- Wow, as in dream {letter}!" in second for letter in "abc")
    assert "What is wrong: with this problem file no" in second


def test_a_sentence_after_another_command_than_a_move_does_not_wait(coin: GameSetting, planner: ProcessPlanner) -> None:
    class Creaking(GridHouse):
        def _open(self, direction: str) -> str:
            return f"{super()._open(direction)}Wow, how it creaks!"

    doors = frozenset({frozenset({"kitchen", "pantry"})})
    teacher = Teacher(ALL)
    teach(coin, planner, teacher, game=Creaking({("kitchen", "north"): "pantry"}, doors, "pantry"))
    assert "- Wow, how it creaks!" in shown(teacher.requests[1])


@pytest.mark.parametrize("carry", [True, False])
def test_rules_are_asked_for_where_they_are_handed_on(tmp_path: Path, carry: bool) -> None:
    class Obedient(Teacher):
        """Writes rules beside its first changes in each game if the request asks for them."""

        def complete(self, request: Request) -> Completion:
            self.times = int('"rules": [rule' in request.messages[0].content)
            return super().complete(request)

    teacher = Obedient()
    played = [
        *pddlego.evaluate("coin", tmp_path / "run", models=teacher, modes=["edit"], seeds=[2, 12, 5], carry=carry)
    ]
    assert [episode.replay().difference for episode in played] == [None] * 3
    calls = [episode.usage.calls for episode in played if episode.won]
    assert len(calls) == 3
    systems = {request.messages[0].content for request in teacher.requests}
    assert len(systems) == 1, "the same in every request, so that endpoints can cache it"
    assert ('"sentence"' in next(iter(systems))) is carry
    assert (calls[-1] <= 1) is carry


def test_faulty_rules_are_said_where_the_changes_are_rejected(coin: GameSetting, planner: ProcessPlanner) -> None:
    faulty = {"sentence": "It smells of {x}.", "add": ["(smells {x})"]}
    teacher = Given({"init": {"add": ["(at kitchen)"]}, "rules": [faulty]})
    rejected = of(teach(coin, planner, teacher), Rejected)
    assert "there is no predicate smells" in "\n".join(rejected[0].feedback.evidence)
    assert "there is no predicate smells" in shown(teacher.requests[1])
