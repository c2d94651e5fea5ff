"""Several commands in one answer of mode act: each is sent when its turn comes, until the first surprise."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pddlego.episode.events import Answered, Asked, Ended, Limits, Outcome, Rejected
from pddlego.episode.trace import Trace
from pddlego.errors import UsageError
from pddlego.methods.base import parse_variant
from pddlego.methods.textgames.events import Observed
from pddlego.methods.textgames.formalize import MOST_COMMANDS, CommandProposal, PromptContext
from pddlego.methods.textgames.formalize.act import ActionGen
from pddlego.methods.textgames.loading import load, without_parts
from pddlego.methods.textgames.options import MODES
from pddlego.methods.textgames.play import make_method
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.world import Restart
from pddlego.models import Model
from pddlego.models.prompts import Prompts
from pddlego.planning import ProcessPlanner
from tests.methods.textgames.grid_house import GridHouse
from tests.methods.textgames.playing import ForgetfulModel, agent, ended, of, play
from tests.methods.textgames.situations import situation_with

EXITS = {("kitchen", "north"): "hall", ("hall", "east"): "attic", ("kitchen", "south"): "pantry"}
ALL = "open door to north; move north; move east; take coin"


def house() -> GridHouse:
    return GridHouse(EXITS, frozenset({frozenset({"kitchen", "hall"})}), coin="attic")


@pytest.fixture
def situation(coin: GameSetting) -> PromptContext:
    valid = ("open door to north", "move south", "look around")
    return situation_with("coin", "", coin.start.domain, coin.start.problem, valid_commands=valid)


@pytest.mark.parametrize(
    ("answer", "rest"),
    [
        ("open door to north", []),
        ("open door to north;", []),
        ("open door to north; move north", ["move north"]),
        ("Open door to north ;move north;take coin.", ["move north", "take coin."]),
        ("1. open door to north\n2. move north\n3. take coin", ["2. move north", "3. take coin"]),
        ("```\nopen door to north\nmove north\n```", ["move north"]),
        ("open door to north; move north\ntake coin", ["move north", "take coin"]),
        ("open door to north\nThe coin may be in the hall.", []),
        ("Action: open door to north; move north", ["move north"]),
        ("I go on.\nopen door to north; move north\n\nThe hall is behind it; it is new.", ["move north"]),
        ('{"actions": ["open door to north", "move north"]}', ["move north"]),
        ('{"thought": "take coin", "commands": ["open door to north", "move north"]}', ["move north"]),
        ('{"action": "open door to north; move north"}', ["move north"]),
        ("\n".join(["open door to north"] * 1_000), ["open door to north"] * (MOST_COMMANDS - 1)),
    ],
)
def test_the_first_command_and_the_rest(situation: PromptContext, answer: str, rest: list[str]) -> None:
    proposal = ActionGen(Prompts("coin"), sequences=True).read(answer, situation)
    assert (proposal.command, proposal.feedback) == ("open door to north", None)
    assert list(proposal.rest) == rest
    without = ActionGen(Prompts("coin")).read(answer, situation)
    assert without.command in ("open door to north", "") and not without.rest


def test_a_command_with_a_semicolon_is_one_command(situation: PromptContext) -> None:
    seen = replace(situation.seen, valid_commands=("say hello; goodbye", "say hello"))
    proposal = ActionGen(Prompts("coin"), sequences=True).read("say hello; goodbye", replace(situation, seen=seen))
    assert (proposal.command, proposal.rest) == ("say hello; goodbye", ())


def test_after_a_chain_of_thought_the_last_line_counts(situation: PromptContext) -> None:
    answer = "The pantry is south; the door north.\nmove south\nAction: open door to north; move north"
    proposal = ActionGen(Prompts("coin"), sequences=True, thinks=True).read(answer, situation)
    assert (proposal.command, proposal.rest) == ("open door to north", ("move north",))


def acted(coin: GameSetting, planner: ProcessPlanner, model: Model, mode: str = "act") -> Trace:
    return Trace((event, 0.0) for event in play(coin, planner, house(), model, mode))


@pytest.mark.parametrize("mode", ["act", "act+cot"])
def test_one_request_may_be_followed_by_several_observations(
    coin: GameSetting, planner: ProcessPlanner, mode: str
) -> None:
    trace = acted(coin, planner, ForgetfulModel([ALL]), mode)
    assert [event.command for event in trace.all(Observed)] == [None, *ALL.split("; ")]
    assert [event.continues for event in trace.all(Observed)] == [False, False, True, True, True]
    assert (len(trace.all(Asked)), trace.calls[0].accepted) == (1, True)
    assert trace.ended is not None and trace.ended.outcome is Outcome.WON


@pytest.mark.parametrize(
    ("answer", "sent", "dropped"),
    [
        ("open door to north; fly; move north", ["open door to north"], "fly; move north"),
        ("move north; move east", ["move north"], "move east"),  # the door is closed: the game refuses it
        ("move south; move north; take coin", ["move south", "move north"], "take coin"),
    ],
)
def test_the_rest_is_dropped_at_the_first_surprise(
    coin: GameSetting, planner: ProcessPlanner, answer: str, sent: list[str], dropped: str
) -> None:
    model = ForgetfulModel([answer])
    trace = acted(coin, planner, model)
    assert [event.command for event in trace.all(Observed)][1 : len(sent) + 1] == sent
    turn = model.requests[1].messages[-2:]
    assert turn[0].content == "; ".join(sent)
    assert turn[1].content.count("> ") == len(sent) - 1
    assert f"Not sent: {dropped} (" in turn[1].content
    assert all("Not sent" not in message.content for message in model.requests[2].messages)
    assert trace.calls[0].accepted is (answer[:10] != "move north")


def test_no_step_is_sent_after_the_last(coin: GameSetting, planner: ProcessPlanner) -> None:
    game = house()
    events = play(coin, planner, game, ForgetfulModel([ALL]), "act", Limits(2))
    assert (ended(events).outcome, game.commands) == (Outcome.STEP_LIMIT, ALL.split("; ")[:2])


@pytest.mark.parametrize("mode", ["act-no-sequences", "act-no-check", "act-no-prompts", "act-no-check-no-sequences"])
def test_without_sequences_an_answer_is_one_command(coin: GameSetting, planner: ProcessPlanner, mode: str) -> None:
    setting = without_parts(coin, parse_variant(mode, MODES).without)
    events = play(setting, planner, house(), ReaderModel(), mode)
    asked = of(events, Asked)
    assert len(asked) == len(of(events, Observed)) - 1 and not any(event.continues for event in of(events, Observed))
    assert "; " not in asked[0].messages[0].content.rpartition("Answer with")[2]


def test_the_settings_of_the_paper_have_no_sequences() -> None:
    paper = load("paper-coin")
    proposal = make_method("act", paper, 1).read("look around; look around", PromptContext(paper.start))
    assert isinstance(proposal, CommandProposal)
    assert not proposal.rest
    with pytest.raises(UsageError, match="no sequences to take out"):
        without_parts(paper, ("sequences",))


def test_the_reader_answers_what_is_certain(coin: GameSetting, planner: ProcessPlanner) -> None:
    events = play(coin, planner, house(), ReaderModel(), "act")
    one_by_one = play(coin, planner, house(), ReaderModel(), "act-no-sequences")
    assert [event.command for event in of(events, Observed)] == [event.command for event in of(one_by_one, Observed)]
    assert len(of(events, Asked)) < len(of(one_by_one, Asked))


def test_a_restart_restores_the_turns(coin: GameSetting, planner: ProcessPlanner) -> None:
    first = play(coin, planner, house(), ForgetfulModel(["open door to north; move north", "fly"]), "act")
    observed = of(first, Observed)
    restart = Restart("x", 2, observed[1:3], coin.start.problem, 3, first_observation=observed[0].text)
    model = ForgetfulModel([])
    events = list(agent(coin, planner, house(), model, "act", restart=restart).run())
    assert ended(events).outcome is Outcome.WON
    asked = [event for event in first if isinstance(event, Asked)]
    assert model.requests[0].messages == asked[1].messages


def test_a_rejected_command_ends_the_answer(coin: GameSetting, planner: ProcessPlanner) -> None:
    events = play(coin, planner, house(), ForgetfulModel(["fly; move north"]), "act")
    assert of(events, Rejected)[0].feedback.message == "'fly' is not in the list."
    assert isinstance(events[-1], Ended) and of(events, Answered)
