"""A person over the agent's shoulder, on a game in pure Python with the real planner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from pddlego.episode import events as ev
from pddlego.episode.approval import ACCEPTED, Decision, Question, RecordedApprover
from pddlego.episode.events import Outcome
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.settings import GameSetting
from pddlego.planning import ProcessPlanner
from tests.methods.textgames.grid_house import small_house
from tests.methods.textgames.playing import ForgetfulModel, ended, of, play
from tests.methods.textgames.test_memory import WRONG


@dataclass
class Scripted:
    """Says what it was told to, then accepts; keeps the questions."""

    what: str
    says: list[Decision | Callable[[Question], Decision]]
    asked: list[Question] = field(default_factory=list)

    def wants(self, what: str) -> bool:
        return what == self.what

    def decide(self, question: Question) -> Decision:
        self.asked.append(question)
        text = self.says.pop(0) if self.says else ACCEPTED
        return text(question) if callable(text) else text


@pytest.mark.parametrize("what", ["edits", "plans", "commands"])
def test_who_accepts_everything_changes_nothing(coin: GameSetting, planner: ProcessPlanner, what: str) -> None:
    person = Scripted(what, [])
    events = play(coin, planner, small_house(), ReaderModel(), approver=person)
    alone = play(coin, planner, small_house(), ReaderModel())
    assert ended(events).usage.steps == ended(alone).usage.steps
    assert len(of(events, ev.Judged)) == len(person.asked) > 0
    assert {item.decision for item in of(events, ev.Judged)} == {"accepted"}


@pytest.mark.parametrize("what", ["edits", "plans"])
def test_a_rejection_with_its_hint_goes_to_the_model(coin: GameSetting, planner: ProcessPlanner, what: str) -> None:
    person = Scripted(what, [Decision("rejected", "the door is to the south")])
    model = ForgetfulModel([])
    events = play(coin, planner, small_house(), model, approver=person)
    (rejected,) = of(events, ev.Rejected)
    assert rejected.feedback.category == "rejected by a person"
    assert "the door is to the south" in model.requests[1].messages[-1].content
    assert ended(events).outcome is Outcome.WON


def test_a_rejected_command_is_not_sent_and_the_model_is_told(coin: GameSetting, planner: ProcessPlanner) -> None:
    person = Scripted("commands", [Decision("rejected", "not there")])
    model = ForgetfulModel([])
    game = small_house()
    events = play(coin, planner, game, model, approver=person)
    request = model.requests[1].messages[-1].content
    assert f"the next command would be:\n{person.asked[0].text}" in request
    assert "not there" in request
    assert len(game.commands) == ended(events).usage.steps == len(person.asked) - 1


def test_a_person_may_send_another_command_in_place_of_a_look(coin: GameSetting, planner: ProcessPlanner) -> None:
    def says(question: Question) -> Decision:
        return Decision("replaced", "  go   nowhere ") if question.text == "look around" else ACCEPTED

    game = small_house(tells_looks=False)
    answers = ForgetfulModel([WRONG, *["{}"] * 60])
    play(coin, planner, game, answers, approver=Scripted("commands", [says] * 60))
    assert "look around" not in game.commands
    assert "go nowhere" in game.commands


def test_a_person_may_write_another_plan(coin: GameSetting, planner: ProcessPlanner) -> None:
    person = Scripted("plans", [Decision("replaced", "look around\n\nlook around\n")])
    game = small_house()
    events = play(coin, planner, game, ReaderModel(), approver=person)
    assert game.commands[:2] == ["look around", "look around"]
    assert person.asked[0].reason == "be in a room not yet visited"
    assert ended(events).outcome is Outcome.WON


def test_a_person_may_mend_an_edit(coin: GameSetting, planner: ProcessPlanner) -> None:
    forgot = '{"objects": {"add": ["kitchen - location"]}, "init": {"add": ["(at kitchen)", "(visited kitchen)"]}}'

    def mend(question: Question) -> Decision:
        assert "(at kitchen)" in question.added
        assert question.faults("(define (problem p) (:init (at moon)))")
        mended = question.text.replace("kitchen - location", "kitchen loc1 - location")
        mended = mended.replace("(at kitchen)", "(at kitchen) (connected kitchen loc1 south)")
        assert not question.faults(mended)
        return Decision("replaced", mended)

    game = small_house()
    events = play(coin, planner, game, ForgetfulModel([forgot]), approver=Scripted("edits", [mend]))
    assert game.commands[0] == "move south"
    assert "(connected kitchen loc1 south)" in of(events, ev.Accepted)[0].added


def test_a_person_may_stop(coin: GameSetting, planner: ProcessPlanner) -> None:
    def stop(question: Question) -> Decision:
        raise KeyboardInterrupt

    events = play(coin, planner, small_house(), ReaderModel(), approver=Scripted("plans", [stop]))
    assert ended(events).outcome is Outcome.INTERRUPTED


def test_what_was_said_is_said_again() -> None:
    text = Decision("rejected", "no")
    again = RecordedApprover([("plans", text), ("edits", ACCEPTED)])
    assert not again.wants("edits")
    assert again.wants("plans")
    assert again.decide(Question("plans", "a plan", "")) == text
    assert again.wants("edits")
