"""The agent with a domain of the model's own: both loops, goals of the model's and ours, memory, going back."""

from __future__ import annotations

import pytest

import pddlego.episode.events as ev
from pddlego.episode.events import Accepted, Event, Limits, Outcome, Started
from pddlego.methods.base import parse_variant
from pddlego.methods.textgames.events import FactsChecked, Observed, Planned
from pddlego.methods.textgames.formalize import Exchange, PromptContext
from pddlego.methods.textgames.loading import setting_for
from pddlego.methods.textgames.memory import Memory
from pddlego.methods.textgames.options import MODES, STEPS
from pddlego.methods.textgames.play import make_method
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.reference_model import NoisyReader
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.truth import Checker, Reference
from pddlego.models import Model
from pddlego.pddl.edit import domain_parts
from pddlego.planning import ProcessPlanner
from pddlego.runs.store import last_text
from tests.methods.textgames.grid_house import GridHouse, small_house
from tests.methods.textgames.playing import ForgetfulModel, ended, of, play
from tests.traces import trace_of

PROBLEM = """<problem>
(define (problem p) (:domain coin-collector) (:objects kitchen loc1 - location)
  (:init (at kitchen) (visited kitchen) (connected kitchen loc1 north) (connected loc1 kitchen north)
    (closed_door kitchen loc1))
  (:goal (at loc1)))
</problem>"""


def behind_a_door() -> GridHouse:
    return GridHouse({("kitchen", "north"): "pantry"}, frozenset({frozenset({"kitchen", "pantry"})}), coin="pantry")


def with_open_doors(coin: GameSetting) -> str:
    """The domain, in which a closed door does not keep anybody from moving."""
    asked = "(connected ?from ?to ?d) (not (closed_door ?from ?to)) (not (closed_door ?to ?from))"
    return coin.start.domain.text.replace(asked, "(connected ?from ?to ?d)")


def full(
    setting: GameSetting,
    planner: ProcessPlanner,
    model: Model,
    mode: str = "full",
    game: GridHouse | None = None,
    limits: Limits | None = None,
    **how: object,
) -> list[Event]:
    played = setting_for(setting, parse_variant(mode, MODES))
    return play(played, planner, game or behind_a_door(), model, mode, limits or Limits(30), **how)


MODES_THAT_WRITE = (
    "full",
    "full-edit",
    "full-no-schemas",
    "full-edit-no-schemas",
    "full-no-tolerance",
    "full+steps",
    "full+steps-no-schemas",
    "full+steps-no-tolerance",
    "full-no-hint-no-detailed-goal",
)


@pytest.mark.parametrize("mode", MODES_THAT_WRITE)
def test_the_reader_wins_without_a_given_domain(coin: GameSetting, planner: ProcessPlanner, mode: str) -> None:
    events = full(coin, planner, ReaderModel(), mode, small_house("pantry"))
    assert ended(events).outcome is Outcome.WON
    assert not of(events, ev.Rejected)
    domains = [event for event in of(events, Accepted) if event.kind == "domain"]
    assert len(domains) == 1  # it is written once, and stays
    assert "coin - item" in " ".join(domains[0].added)
    asked = of(events, ev.Asked)
    ours = [
        predicate.name
        for predicate in coin.start.domain.predicates
        if predicate.name not in ("at", "have", "visited", "item_at")
    ]
    assert not any(name in asked[0].messages[0].content for name in ours)
    assert ("open_door (?from - location" in asked[0].messages[0].content) is ("no-schemas" not in mode)
    assert "(have coin)" not in asked[0].messages[0].content


def test_a_refused_command_goes_back_with_its_action_and_costs_one_step(
    coin: GameSetting, planner: ProcessPlanner
) -> None:
    """A domain whose doors are not hindrance: the game says no, the model mends its domain, the agent stays."""
    careless = with_open_doors(coin)
    model = ForgetfulModel([f"<domain>{careless}</domain>\n{PROBLEM}"])
    game = behind_a_door()
    events = full(coin, planner, model, game=game)
    assert ended(events).outcome is Outcome.WON
    assert game.commands == ["move north", "open door to north", "move north", "take coin"]
    text = model.requests[1].messages[-1].content
    assert "(move kitchen loc1 north) was to make (at loc1) true" in text
    assert "the game refused the command" in text
    mended = [event for event in of(events, Accepted) if event.kind == "domain"][1]
    assert len(mended.added) == len(mended.removed) == 1
    assert mended.added[0].startswith("action (move ")
    assert not [event for event in of(events, Observed) if event.repeated]


def test_going_back_repeats_what_had_worked_and_counts_it(coin: GameSetting, planner: ProcessPlanner) -> None:
    careless = with_open_doors(coin)
    model = ForgetfulModel(
        [f"<domain>{coin.start.domain.text}</domain>{PROBLEM}", f"<domain>{careless}</domain>{LATER}"]
    )
    game = GridHouse(
        {("kitchen", "north"): "hall", ("hall", "north"): "pantry"},
        frozenset({frozenset({"kitchen", "hall"}), frozenset({"hall", "pantry"})}),
        coin="pantry",
    )
    events = full(coin, planner, model, game=game, rewind=True)
    assert ended(events).outcome is Outcome.WON
    repeated = [event.command for event in of(events, Observed) if event.repeated]
    assert repeated == ["open door to north", "move north"]
    refused = next(event for event in of(events, Observed) if event.refused)
    assert refused.command == "move north"
    assert ended(events).usage.steps == 6  # what is repeated is not a step
    assert game.commands[:2] == repeated


LATER = """<problem>
(define (problem p) (:domain coin-collector) (:objects kitchen hall loc2 - location)
  (:init (at hall) (visited kitchen) (visited hall) (connected kitchen hall north) (connected hall kitchen south)
    (connected hall loc2 north) (connected loc2 hall south) (closed_door hall loc2))
  (:goal (at loc2)))
</problem>"""


def test_the_planners_error_goes_back(coin: GameSetting, planner: ProcessPlanner) -> None:
    nowhere = PROBLEM.replace("(connected kitchen loc1 north) (connected loc1 kitchen north)", "")
    true = PROBLEM.replace("(:goal (at loc1))", "(:goal (at kitchen))")
    wrong = PROBLEM.replace("(:goal (at loc1))", "(:goal (at ?x))")
    answers = [f"<domain>{coin.start.domain.text}</domain>{problem}" for problem in (nowhere, true, wrong)]
    model = ForgetfulModel(answers)
    events = full(coin, planner, model)
    assert ended(events).outcome is Outcome.WON
    text = [request.messages[-1].content for request in model.requests[1:4]]
    assert "no sequence of actions reaches any goal" in text[0]
    assert "the goal is true before any action" in text[1]
    assert "variable ?x is not bound" in text[2]
    categories = [event.feedback.category for event in of(events, ev.Rejected)]
    assert categories == ["goal unreachable", "goal already true", "defects"]


def test_goals_of_the_model_are_a_ladder(coin: GameSetting, planner: ProcessPlanner) -> None:
    goals = "<goals>\n(have coin)\n(at loc1)\n</goals>"
    model = ForgetfulModel([f"<domain>{coin.start.domain.text}</domain>{PROBLEM}{goals}"])
    events = full(coin, planner, model)
    first = of(events, Planned)[0]
    assert [item.name for item in first.tried] == ["(have coin)", "(at loc1)"]
    assert first.rung == "(at loc1)"


HINT = "such as reaching an unvisited place"
FORM = "The planner tries them in this order"


@pytest.mark.parametrize(
    ("mode", "texts"),
    [
        ("full", {HINT, FORM}),
        ("full+steps", {HINT, FORM}),
        ("full-no-hint", {FORM}),
        ("full-edit-no-detailed-goal", {HINT}),
        ("full+steps-no-detailed-goal-no-hint", set()),
    ],
)
def test_what_is_said_of_goals_can_be_left_out(coin: GameSetting, mode: str, texts: set[str]) -> None:
    played = setting_for(coin, parse_variant(mode, MODES))
    request = make_method(mode, played, 1).request(PromptContext(played.start, reader=played.reader))
    assert request is not None
    system = request.messages[0].content
    where = '"goals"' if "edit" in mode else "<goals>"
    assert f"Also write the goals in {where}" in system
    assert {text for text in (HINT, FORM) if text in system} == texts


def in_steps(domain: str, problem: str, goals: str) -> list[str]:
    return [f"<domain>{domain}</domain>", problem, f"<goals>{goals}</goals>"]


def test_the_parts_are_asked_for_one_after_another(coin: GameSetting, planner: ProcessPlanner) -> None:
    """Each request shows the parts before it. All are asked for again if what they are together is rejected."""
    true = in_steps(coin.start.domain.text, PROBLEM, "(at kitchen)")
    model = ForgetfulModel([*true, "<domain></domain>"])  # the rejected domain is not kept
    events = full(coin, planner, model, "full+steps")
    assert ended(events).outcome is Outcome.WON
    text = [request.messages[-1].content for request in model.requests]
    assert [item.splitlines()[-1] for item in text[:6]] == [f"Now write <{part}>." for part in STEPS] * 2
    assert ["(:action move" in item for item in text[:3]] == [False, True, True]
    assert ["There is no problem file yet." in item for item in text[:3]] == [False, True, False]
    assert "(connected kitchen loc1 north)" in text[2]
    already_true, no_domain = of(events, ev.Rejected)
    assert already_true.feedback.category == "goal already true"
    assert no_domain.feedback.message.startswith("it contains no domain file")
    assert all("the goal is true before any action" in item for item in text[3:6])
    assert ended(events).usage.calls == len(model.requests)
    assert [event.attempt for event in of(events, ev.Asked)][:9] == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_an_answer_that_is_cut_off_ends_the_steps(coin: GameSetting, planner: ProcessPlanner) -> None:
    model = ForgetfulModel(in_steps(coin.start.domain.text, PROBLEM[:100], "")[:1], finish="length")
    events = full(coin, planner, model, "full+steps")
    assert ended(events).outcome is Outcome.WON
    assert [event.feedback.category for event in of(events, ev.Rejected)] == ["cut off"]
    assert model.requests[1].messages[-1].content.endswith("Now write <domain>.")


def test_facts_of_rejected_steps_are_checked(coin: GameSetting, planner: ProcessPlanner) -> None:
    model = ForgetfulModel(in_steps(coin.start.domain.text, PROBLEM, "(at kitchen)"))
    played = setting_for(coin, parse_variant("full+steps", MODES))
    checker = Checker(played, make_method("full+steps", played, 1), Reference(played))
    events = play(played, planner, behind_a_door(), model, "full+steps", Limits(30), checker=checker)
    first = of(events, FactsChecked)[0]
    assert first.rejected
    assert first.right["at"] == 1


@pytest.mark.parametrize("kind", ["goal-true", "lost-effect", "duplicate"])
def test_simulated_errors_are_made_in_their_step(coin: GameSetting, planner: ProcessPlanner, kind: str) -> None:
    events = full(coin, planner, NoisyReader(1.0, kinds=(kind,)), "full+steps", limits=Limits(30, calls=3))
    wrong = ["domain", "problem", "goals"].index(
        {"goal-true": "goals", "lost-effect": "domain", "duplicate": "problem"}[kind]
    )
    mistakes = [event.completion.mistake is not None for event in of(events, ev.Answered)]
    assert mistakes == [step == wrong for step in range(3)]


@pytest.mark.parametrize(
    ("commands", "repeating"),
    [
        ("n n n", ("n",)),
        ("s n n n", ("n",)),
        ("n s n s n s", ("n", "s")),
        ("n s w n s w n s w", ("n", "s", "w")),
        ("n n", ()),
        ("n s n s n", ()),
        ("n n n s", ()),
        ("", ()),
    ],
)
def test_commands_that_repeat_are_noticed(commands: str, repeating: tuple[str, ...]) -> None:
    memory, without = Memory(), Memory(remedies=False)
    for command in (None, *commands.split()):
        memory.take(Exchange(command, "text"), refused=False)
        without.take(Exchange(command, "text"), refused=False)
    assert memory.repeating == repeating
    assert without.repeating == ()


def test_commands_that_repeat_are_told(coin: GameSetting, planner: ProcessPlanner) -> None:
    """A model whose goals send it to and fro."""
    there = PROBLEM.replace("(closed_door kitchen loc1)", "")
    files = f"<domain>{coin.start.domain.text}</domain>" + there
    back = files.replace("(at kitchen)", "(at loc1)").replace("(:goal (at loc1))", "(:goal (at kitchen))")
    model = ForgetfulModel([files, back] * 3)
    full(coin, planner, model, game=GridHouse({("kitchen", "north"): "pantry"}))
    text = [request.messages[-1].content for request in model.requests]
    first = next(number for number, item in enumerate(text) if "Your last commands repeat: move north" in item)
    assert first >= 3


def test_a_whole_memory_shows_every_command(coin: GameSetting, planner: ProcessPlanner) -> None:
    for history, seen in (("all", "The game begins:"), ("news", "")):
        model = ForgetfulModel([])
        full(coin, planner, model, game=small_house("pantry"), history=history)
        last = model.requests[-1].messages[-1].content
        assert len(model.requests) > 2
        assert ("The game begins:" in last) is bool(seen)


def test_a_kept_text_is_begun_with_and_not_written_again(coin: GameSetting, planner: ProcessPlanner) -> None:
    for mode in ("full", "full-no-schemas"):
        first = full(coin, planner, ReaderModel(), mode, small_house("pantry"))
        kept = last_text(trace_of(first), "domain")
        played = setting_for(coin, parse_variant(mode, MODES), kept)
        model = ForgetfulModel([])
        events = play(played, planner, small_house("pantry"), model, mode, Limits(30))
        assert ended(events).outcome is Outcome.WON
        assert not [event for event in of(events, Accepted) if event.kind == "domain"]
        assert "(:action move" in model.requests[0].messages[-1].content
        assert domain_parts(played.start.domain) == domain_parts(coin.start.domain)
        (started,) = of(events, Started)
        assert started.details["domain"] == kept == last_text(trace_of(events), "domain")
