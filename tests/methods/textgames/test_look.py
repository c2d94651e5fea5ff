"""`look` in an answer: where the model wants the agent to look, until its next answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from pddlego.episode.events import Accepted, Outcome, Rejected
from pddlego.errors import UsageError
from pddlego.methods.base import parse_variant
from pddlego.methods.setting_files import setting_names
from pddlego.methods.textgames.events import Planned
from pddlego.methods.textgames.formalize import LOOK_GOAL, ProblemProposal, PromptContext
from pddlego.methods.textgames.formalize.form import form_fault
from pddlego.methods.textgames.formalize.look import look_lines, read_look
from pddlego.methods.textgames.loading import load, setting_for, without_parts
from pddlego.methods.textgames.options import MODES, TEXT_GAME
from pddlego.methods.textgames.play import make_method
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.reference_model import NoisyReader
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models import Completion, Request
from pddlego.pddl import EntryKind, apply_edit, parse_edit
from pddlego.pddl.edit import LOOK_SCHEMA
from pddlego.planning import ProcessPlanner
from tests.methods.textgames.grid_house import GridHouse
from tests.methods.textgames.playing import ended, of, play

EXITS = {("kitchen", "north"): "hall", ("kitchen", "south"): "pantry", ("pantry", "south"): "cellar"}


@dataclass
class Looking:
    """The reader, whose answers have these values of `look`, one for each request."""

    looks: Sequence[Any]
    requests: list[Request] = field(default_factory=list)
    name: str = "looking"
    description: Mapping[str, Any] = field(default_factory=dict)

    def complete(self, request: Request) -> Completion:
        answer = ReaderModel().complete(request)
        look = [*self.looks, *[None] * 100][len(self.requests)]
        self.requests.append(request)
        if look is None:
            return answer
        if request.purpose == "gen":
            return replace(answer, text=f"look: {', '.join(look)}\n{answer.text}")
        return replace(answer, text=json.dumps(json.loads(answer.text) | {"look": look}))


@pytest.mark.parametrize(
    ("game", "objects", "right", "wrong"),
    [
        (
            "coin",
            "loc1 - location",
            ["loc1", "Loc1", "(at loc1)"],
            ["attic", "coin", "(at x)", "(at loc1", "", "north"],
        ),
        ("cooking-easy", "fridge - container loc1 - location", ["fridge", "loc1", "kitchen"], ["attic", "fried"]),
        ("household", "fridge_1 - place apple - thing", ["fridge 1", "fridge-1"], ["apple", "(at apple)"]),
        ("textworld-treasure", "box - container loc1 - location", ["box", "loc1"], ["drawer"]),
        ("textworld-cooking-easy", "box - container loc1 - location", ["box", "loc1"], ["drawer"]),
        ("twc", "loc1 - location", ["loc1"], ["north", '{"a": 1}']),
        ("science-melt", "hall - room cup - thing", ["hall", "cup"], ["attic"]),
        ("mapreader", "loc1 - location", ["loc1"], ["(visited loc1) (at loc1)"]),
    ],
)
def test_a_place_is_a_goal_and_what_is_wrong_is_named(
    game: str, objects: str, right: list[str], wrong: list[str]
) -> None:
    start = load(game).start
    edit = parse_edit(json.dumps({"objects": {"add": [objects]}}))
    knowledge = start.with_problem(apply_edit(start.problem, edit, start.domain.constants).problem)
    for line in right + wrong:
        goals, (entry,) = read_look([line], knowledge)
        assert (bool(goals), entry.kind) == (
            (True, EntryKind.APPLIED) if line in right else (False, EntryKind.UNMATCHED)
        )
        assert bool(entry.note) == (line in wrong)


def test_goals_that_explore_are_the_last_ones() -> None:
    games = [name for name in setting_names(TEXT_GAME) if not name.startswith("paper-")]
    ladders = {name: [rung.explores for rung in load(name).start.ladder] for name in games}
    assert {name for name, explores in ladders.items() if not any(explores) or explores != sorted(explores)} == set()
    assert not any(rung.explores for rung in load("paper-coin").start.ladder)


def test_the_agent_looks_where_the_model_says(coin: GameSetting, planner: ProcessPlanner) -> None:
    game = GridHouse(EXITS, coin="cellar")
    events = play(coin, planner, game, Looking([["pantry"], ["hall"]]))
    assert game.commands[:3] == ["move south", "move north", "move north"]
    assert [event.rung for event in of(events, Planned)][:3] == [LOOK_GOAL, LOOK_GOAL, "be in a room not yet visited"]
    assert [str(line) for line in of(events, Accepted)[0].lines if line.where == "look"] == ["look pantry: applied"]
    assert ended(events).outcome is Outcome.WON


@pytest.mark.parametrize("mode", ["edit", "gen"])
def test_a_list_is_a_tour(coin: GameSetting, planner: ProcessPlanner, mode: str) -> None:
    rooms = {("kitchen", "north"): "hall", ("kitchen", "south"): "pantry", ("kitchen", "east"): "study"}
    model, game = Looking([["pantry", "hall", "study"]]), GridHouse({**rooms, ("study", "east"): "attic"}, coin="attic")
    events = play(coin, planner, game, model, mode)
    assert game.commands[:5] == ["move south", "move north", "move north", "move south", "move east"]
    assert len(model.requests) == 3 and ended(events).outcome is Outcome.WON  # the start, the tour, the attic


@pytest.mark.parametrize(("coin_is", "steps"), [("pantry", 1), ("hall", 3), ("study", 5)])
def test_a_tour_ends_where_something_sought_is_named(
    coin: GameSetting, planner: ProcessPlanner, coin_is: str, steps: int
) -> None:
    rooms = {("kitchen", "north"): "hall", ("kitchen", "south"): "pantry", ("kitchen", "east"): "study"}
    model, game = Looking([["pantry", "hall", "study"]]), GridHouse(rooms, coin=coin_is)
    events = play(coin, planner, game, model)
    assert len(game.commands) == steps + 1 and game.commands[-1] == "take coin"
    assert len(model.requests) == 2 and ended(events).outcome is Outcome.WON


def test_a_closed_place_is_opened_on_a_tour(coin: GameSetting, planner: ProcessPlanner) -> None:
    rooms = {("kitchen", "north"): "hall", ("kitchen", "south"): "pantry"}
    game = GridHouse(rooms, frozenset({frozenset(("kitchen", "hall"))}), coin="pantry")
    play(coin, planner, game, Looking([["loc1", "pantry"]]))
    assert game.commands[:4] == ["open door to north", "move north", "move south", "move south"]


def test_a_place_that_opens_is_opened_first() -> None:
    start = load("household").start
    edit = parse_edit(json.dumps({"objects": {"add": ["drawer_1 - place"]}}))
    knowledge = start.with_problem(apply_edit(start.problem, edit, start.domain.constants).problem)
    goals, _ = read_look(["drawer 1"], knowledge)
    assert [("opened" in str(goal), "visited" in str(goal)) for goal in goals["drawer 1"]][:2] == [
        (True, False),
        (False, True),
    ]


@pytest.mark.parametrize("options", [{}, {"replan": "every-step"}], ids=str)
def test_it_is_kept_after_a_plan_that_went_as_expected(planner: ProcessPlanner, options: dict[str, Any]) -> None:
    coin = load("coin")
    exits = {("kitchen", "north"): "hall", ("kitchen", "south"): "pantry", ("hall", "north"): "attic"}
    # The hall is marked as not visited when it was seen: on the way back its text is not new, and no model is asked.
    model, game = Looking([["hall"], ["(at kitchen)", "pantry"]]), GridHouse(exits, coin="attic")
    events = play(coin, planner, game, model, **options)
    assert game.commands[:3] == ["move north", "move south", "move south"]
    assert ended(events).outcome is Outcome.WON


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("look: pantry, loc1\n", ["pantry", "loc1"]),
        ("; look: pantry\n", ["pantry"]),
        (";; Look: [pantry, hall]\n", ["pantry", "hall"]),
        ("Look: (and (at hall) (have coin))\n", ["(and (at hall) (have coin))"]),
        ('look: "pantry", `hall`\n', ["pantry", "hall"]),
        ("I look: it is dark.", []),
        ("nothing", []),
        ("look:\n", []),
    ],
)
def test_a_line_above_a_file_or_in_it_says_where_to_look(text: str, lines: list[str]) -> None:
    file = "(define (problem p)\n  (:init (at hall)))"
    assert look_lines(f"{text}{file}") == lines
    assert look_lines(f"(define (problem p)\n  {text}\n (:init))") == lines


def test_a_condition_that_no_action_makes_true_is_named(coin: GameSetting, planner: ProcessPlanner) -> None:
    model = Looking(["(visited hall)"])
    play(coin, planner, GridHouse(EXITS, coin="cellar"), model)
    note = "- look (visited hall): matched nothing (no action makes (visited hall) true)"
    assert note in model.requests[1].messages[1].content.splitlines()


def test_a_wrong_line_above_a_file_is_a_note(coin: GameSetting, planner: ProcessPlanner) -> None:
    model = Looking([["attic"]])
    play(coin, planner, GridHouse(EXITS, coin="cellar"), model, "gen")
    assert "look attic: matched nothing" in model.requests[1].messages[1].content


@pytest.mark.parametrize(
    "options", [{}, {"replan": "every-step"}, {"history": "all"}, {"retries": 0}], ids=lambda options: str(options)
)
def test_it_is_for_one_answer_only(coin: GameSetting, planner: ProcessPlanner, options: dict[str, Any]) -> None:
    model, game = Looking(["(at cellar)", "(at pantry)"]), GridHouse(EXITS, coin="cellar")
    events = play(coin, planner, game, model, **options)  # the cellar is not known yet
    assert [rung.name for rung in of(events, Planned)[0].tried] == ["have the coin", "be in a room not yet visited"]
    looks = [event.rung for event in of(events, Planned)].count(LOOK_GOAL)
    assert looks == (2 if options.get("replan") else 1)  # two commands
    assert ended(events).outcome is Outcome.WON


@pytest.mark.parametrize(
    ("look", "note"),
    [
        (["attic"], "look attic: matched nothing (it is neither a place of the problem file nor a short condition)"),
        (["kitchen"], "look kitchen: no plan leads to anything new there"),
        ("(visited kitchen)", "look (visited kitchen): no plan leads to anything new there"),
        (
            {"where": "hall"},
            "look {'where': 'hall'}: matched nothing (it is neither a place of the problem file nor a short condition)",
        ),
        (["kitchen", "attic", "hall"], "look kitchen: no plan leads to anything new there"),
    ],
)
def test_what_is_wrong_is_a_note_and_refuses_nothing(
    coin: GameSetting, planner: ProcessPlanner, look: Any, note: str
) -> None:
    model = Looking([look])
    events = play(coin, planner, GridHouse(EXITS, coin="cellar"), model)
    assert not of(events, Rejected) and ended(events).outcome is Outcome.WON
    assert f"- {note}" in model.requests[1].messages[1].content.splitlines()
    assert len(model.requests[1].messages[1].content) < 2_000
    assert (of(events, Planned)[0].rung == LOOK_GOAL) == ("hall" in look)


def reads(setting: GameSetting, mode: str) -> tuple[Request, ProblemProposal]:
    variant = parse_variant(mode, MODES)
    chosen = setting_for(setting, variant)
    method, situation = make_method(mode, chosen, 1), PromptContext(chosen.start, reader=chosen.reader)
    request = method.request(situation)
    proposal = method.read('{"objects": {}, "init": {}, "look": ["kitchen"]}', situation)
    assert request is not None and isinstance(proposal, ProblemProposal)
    return request, proposal


@pytest.mark.parametrize("mode", ["edit-no-look", "edit-no-prompts", "edit-no-domain", "edit", "edit-no-tolerance"])
def test_an_answer_has_it_only_if_the_request_offers_it(coin: GameSetting, mode: str) -> None:
    request, proposal = reads(coin, mode)
    offered = mode in ("edit", "edit-no-tolerance")
    assert ('"look"' in request.messages[0].content, request.schema is LOOK_SCHEMA) == (offered, offered)
    assert proposal.feedback is None
    assert any("'look' is not part of the form" in str(defect) for defect in proposal.defects) != offered


def test_the_settings_of_the_paper_do_not_offer_it() -> None:
    paper = load("paper-coin")
    request, proposal = reads(paper, "edit")
    assert "look" not in str(request.schema) and '"look"' not in request.messages[0].content
    assert proposal.feedback is not None
    with pytest.raises(UsageError, match="no look to take out"):
        without_parts(paper, ("look",))


def test_the_strict_form_allows_it(coin: GameSetting) -> None:
    sections: dict[str, Any] = {name: {"add": [], "replace": [], "delete": []} for name in ("objects", "init")}
    assert not form_fault(json.dumps(sections | {"look": ["loc1"]}), "edit", coin.start.problem)
    assert form_fault(json.dumps(sections | {"because": ["loc1"]}), "edit", coin.start.problem)


def test_the_noise_looks_anywhere(coin: GameSetting, planner: ProcessPlanner) -> None:
    def looks(model: NoisyReader, mode: str = "edit") -> list[str]:
        events = play(coin, planner, GridHouse(EXITS, coin="cellar"), model, mode)
        assert not of(events, Rejected) and ended(events).outcome is Outcome.WON
        return [str(line) for event in of(events, Accepted) for line in event.lines if line.where == "look"]

    asked = {line for seed in range(9) for line in looks(NoisyReader(1.0, seed, ("look",)))}
    assert asked > {"look kitchen: applied", "look pantry: applied"} and any(
        "matched nothing" in line for line in asked
    )
    assert not looks(NoisyReader(0.0)) and not looks(NoisyReader(1.0, 1, ("look",)), "edit-no-look")


@pytest.mark.parametrize(
    "condition",
    [
        *("(and)", "(or)", "(not (at kitchen))", "(forall (?x - location) (visited ?x))", "(exists (?x) (at ?x))"),
        *("(at ?x)", "(= kitchen kitchen)", "(= kitchen hall)", "(= (total-cost) 3)", "(imply (at hall) (at pantry))"),
        *("(when (at hall) (at pantry))", "(at hall) (at pantry)", "(nonsense hall)", "(at hall pantry)", "()", "(("),
        *("(not (not (at hall)))", "(preference p (at hall))", "(and (at hall) (at pantry))", "(have hall)"),
        "(" * 3_000 + "at hall" + ")" * 3_000,
        "(and " + "(not (at hall)) " * 2_000 + ")",
    ],
)
def test_no_condition_refuses_a_right_edit(coin: GameSetting, planner: ProcessPlanner, condition: str) -> None:
    model = Looking([[condition]])
    events = play(coin, planner, GridHouse(EXITS, coin="cellar"), model)
    assert not of(events, Rejected) and ended(events).outcome is Outcome.WON
    assert len(model.requests[1].messages[1].content) < 3_000
