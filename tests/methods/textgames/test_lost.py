"""What an answer lost is named in a note, and a right answer gets none."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace

import pytest

from pddlego.episode.events import Accepted
from pddlego.methods.setting_files import setting_names
from pddlego.methods.textgames.advice import with_losses
from pddlego.methods.textgames.formalize import Exchange, Observations, ProblemProposal, PromptContext
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.options import TEXT_GAME
from pddlego.methods.textgames.play import make_method, setting_game
from pddlego.methods.textgames.reader import can_read
from pddlego.methods.textgames.settings import GameSetting
from pddlego.pddl import parse_problem
from pddlego.planning import ProcessPlanner
from tests.methods.textgames.grid_house import small_house
from tests.methods.textgames.playing import ForgetfulModel, of, play

SEEN = ("attic", "backyard", "bathroom", "corridor", "driveway", "kitchen", "laundry_room", "pantry", "street")
WAYS = """kitchen corridor north | kitchen loc1 east | kitchen loc2 west | corridor bathroom east | corridor loc4 west
corridor driveway north | driveway street north | street pantry east | bathroom laundry_room north | pantry attic south
laundry_room backyard east"""
BACK = {"north": "south", "south": "north", "east": "west", "west": "east"}
DOORS = "(closed_door corridor loc4) (closed_door kitchen loc1) (closed_door kitchen loc2)"

LEFT_OUT = "the file leaves out facts that nothing contradicts: "
DELETED = "the deleted objects took facts with them that nothing contradicts: "
ADD = ". Add those that are still true, with the present names"
LEADS_BACK = "every exit leads back"

MOVED = Exchange("move east", "You are in the backyard.\nTo the West you see the laundry room.", undone=())
"""The last command of the house below, whose effects are in the problem before already."""


def house(extra: str = "") -> str:
    """A problem file of twelve rooms, in which the agent has seen nine."""
    ways = [way.split() for line in WAYS.splitlines() for way in line.split(" | ")]
    facts = [f"(connected {a} {b} {way}) (connected {b} {a} {BACK[way]})" for a, b, way in ways]
    facts += [f"(visited {name})" for name in SEEN]
    init = " ".join((*facts, DOORS, "(at backyard) (item_at coin attic)", extra))
    objects = f"(:objects {' '.join(SEEN)} loc1 loc2 loc4 - location)"
    return f"(define (problem house) (:domain coin-collector) {objects} (:init {init}) (:goal (and)))"


def notes(setting: GameSetting, before: str, mode: str, answer: str, *news: Exchange) -> tuple[str, ...]:
    """The notes on an answer to the problem `before`."""
    knowledge = setting.start.with_problem(parse_problem(before))
    situation = PromptContext(knowledge, seen=Observations(news), reader=setting.reader)
    proposal = make_method(mode, setting, 0).read(answer, situation)
    assert isinstance(proposal, ProblemProposal)
    assert proposal.feedback is None, proposal.feedback
    return with_losses(proposal, situation, setting).notes


def without(text: str, *lost: str) -> str:
    """The text without some of its words and facts, which are all in it."""
    for part in lost:
        assert part in text, part
        text = text.replace(part, "", 1)
    return text


SLIPS = {
    "an exit": (["(connected kitchen loc2 west)"], "", [f"{LEFT_OUT}(connected kitchen loc2 west){ADD}"]),
    "an exit and its way back": (
        ["(connected kitchen loc2 west)", "(connected loc2 kitchen east)"],
        "",
        [f"{LEFT_OUT}(connected kitchen loc2 west) (connected loc2 kitchen east){ADD}"],
    ),
    "a room": (
        [
            "loc4",
            "(connected corridor loc4 west)",
            "(connected loc4 corridor east)",
            "(closed_door corridor loc4)",
        ],
        "",
        [f"{LEFT_OUT}(closed_door corridor loc4) (connected corridor loc4 west) (connected loc4 corridor east){ADD}"],
    ),
    "that a room was visited": (["(visited attic)"], "", [f"{LEFT_OUT}(visited attic){ADD}"]),
    "that a door is closed": (["(closed_door corridor loc4)"], "", [f"{LEFT_OUT}(closed_door corridor loc4){ADD}"]),
    "the coin": (["(item_at coin attic)"], "", [f"{LEFT_OUT}(item_at coin attic){ADD}"]),
    "a new exit without its way back": (
        ["attic backyard"],
        "loc5 attic backyard|(connected backyard loc5 north)",
        [f"(connected backyard loc5 north): {LEADS_BACK}; add (connected loc5 backyard south)"],
    ),
    "a new exit with a wrong way back": (
        ["attic backyard"],
        "loc5 attic backyard|(connected backyard loc5 north) (connected loc5 backyard east)",
        [
            f"(connected backyard loc5 north) and (connected loc5 backyard east): {LEADS_BACK}, in the opposite "
            "direction; correct one"
        ],
    ),
    "an exit that turned": (
        ["(connected kitchen loc2 west)"],
        "|(connected kitchen loc2 south)",
        [
            f"(connected kitchen loc2 south) and (connected loc2 kitchen east): {LEADS_BACK}, in the opposite "
            "direction; correct one"
        ],
    ),
    "an exit that ends elsewhere": (
        ["(connected laundry_room bathroom south)"],
        "|(connected laundry_room corridor south)",
        [
            f"(connected bathroom laundry_room north): {LEADS_BACK}; add (connected laundry_room bathroom south)",
            f"(connected laundry_room corridor south): {LEADS_BACK}; add (connected corridor laundry_room north)",
        ],
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_in_a_long_file_is_named(coin: GameSetting, slip: str) -> None:
    lost, new, expected = SLIPS[slip]
    objects, _, facts = new.partition("|")
    answer = without(house(facts), *lost).replace("(:objects ", f"(:objects {objects} ")
    assert notes(coin, house(), "gen", answer, MOVED) == tuple(expected)


def test_a_note_lists_a_few_facts(coin: GameSetting) -> None:
    nothing = re.sub(r"\(:init .*\) \(:goal", "(:init (at backyard)) (:goal", house())
    (note,) = notes(coin, house(), "gen", nothing, MOVED)
    assert note.count("(") == 10
    assert " and 25 more. Add" in note


def test_a_few_exits_without_a_way_back_are_named(coin: GameSetting) -> None:
    numbers = range(20, 50)
    facts = " ".join(f"(connected loc{number} street east)" for number in numbers)
    objects = " ".join(f"loc{number}" for number in numbers)
    answer = house(facts).replace("(:objects ", f"(:objects {objects} ")
    assert len(notes(coin, house(), "gen", answer, MOVED)) == 10


EDITS = {
    "a room in place of a placeholder": (
        {"objects": {"delete": ["loc4 - location"], "add": ["cellar - location"]}, "init": {"add": ["(at cellar)"]}},
        [f"{DELETED}(closed_door corridor loc4) (connected corridor loc4 west) (connected loc4 corridor east){ADD}"],
    ),
    "a room that is there": (
        {"objects": {"delete": ["attic"]}},
        [f"{DELETED}(connected attic pantry north) (connected pantry attic south) (item_at coin attic){ADD}"],
    ),
    "some of its facts are stated again": (
        {
            "objects": {"delete": ["loc4"], "add": ["cellar - location"]},
            "init": {"add": ["(connected cellar corridor east)"], "delete": ["(closed_door corridor loc4)"]},
        },
        [
            f"{DELETED}(connected corridor loc4 west){ADD}",
            f"(connected cellar corridor east): {LEADS_BACK}; add (connected corridor cellar west)",
        ],
    ),
}


@pytest.mark.parametrize("case", EDITS)
def test_facts_that_go_with_a_deleted_object_are_named(coin: GameSetting, case: str) -> None:
    edit, expected = EDITS[case]
    before = without(house(), "(at backyard)", "(visited attic)")
    assert notes(coin, before, "edit", json.dumps(edit), MOVED) == tuple(expected)


OPENED = Exchange(
    "open door to west", "You open the door, revealing the cellar.", undone=("(closed_door corridor loc4)",)
)
REFUSED = Exchange(
    "move south", "You can't go there.", unforeseen="(move pantry attic south) was to make (at attic) true; refused."
)
RENAMED = house().replace("loc4", "cellar")
RIGHT = {
    "nothing changes": (house(), [MOVED]),
    "a door that was opened": (without(house(), "(closed_door corridor loc4)"), [OPENED]),
    "a door that was opened, from the other side": (
        without(house(), "(closed_door kitchen loc2)"),
        [replace(OPENED, undone=("(closed_door loc2 kitchen)",))],
    ),
    "a placeholder has a name": (without(RENAMED, "(closed_door corridor cellar)"), [OPENED]),
    "a placeholder is a known room": (
        without(house(), "loc4", "(closed_door corridor loc4)").replace("loc4", "backyard"),
        [OPENED],
    ),
    "a door from the other side": (
        house().replace("(closed_door corridor loc4)", "(closed_door loc4 corridor)"),
        [MOVED],
    ),
    "the agent went": (house().replace("(at backyard)", "(at laundry_room)"), [MOVED]),
    "the coin is not there": (
        without(house(), "(item_at coin attic)"),
        [Exchange("take coin", "There is no coin in the attic.")],
    ),
    "a command that was not planned": (
        without(house(), "(closed_door corridor loc4)"),
        [Exchange("open door to west", "It is open.", undone=None)],
    ),
    "an exit that does not exist": (
        without(house(), "(connected pantry attic south)", "(connected attic pantry north)"),
        [REFUSED],
    ),
}


@pytest.mark.parametrize("case", RIGHT)
def test_what_is_contradicted_is_not_lost(coin: GameSetting, case: str) -> None:
    answer, news = RIGHT[case]
    assert notes(coin, house(), "gen", answer, *news) == ()


def test_what_an_edit_deletes_in_its_own_lines_is_not_lost(coin: GameSetting) -> None:
    facts = ["(connected corridor loc4 west)", "(connected loc4 corridor east)", "(closed_door corridor loc4)"]
    edit = {"objects": {"delete": ["loc4 - location"]}, "init": {"delete": facts}}
    assert notes(coin, house(), "edit", json.dumps(edit), MOVED) == ()


OTHERS = {
    "cooking-easy": ("(ingredient cookbook) (likely knife kitchen)", "(ingredient cookbook)"),
    "twc": ("(tried sock shelf) (belongs sock shelf)", "(tried sock shelf)"),
    "household": ("(gives shelf clean) (hands_free)", "(gives shelf clean)"),
    "science-melt": ("(door hall shed) (door shed hall)", "(door hall shed)"),
}
TYPES = {
    "cooking-easy": "",
    "twc": "sock - item shelf - holder",
    "household": "shelf - place",
    "science-melt": "hall shed - room",
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_games_lose_facts_as_well(name: str) -> None:
    setting = load(name)
    facts, lost = OTHERS[name]
    head = f"(define (problem p) (:domain {setting.start.domain.name}) (:objects {TYPES[name]})"
    frame = head + " (:init {}) (:goal (and)))"
    (note,) = notes(setting, frame.format(facts), "gen", frame.format(""), Exchange(None, "A room."))
    assert lost in note
    assert "likely" not in note
    assert "belongs" not in note


class TestWhenItIsShown:
    FIRST = "(define (problem p) (:domain coin-collector) (:objects kitchen loc1 loc2 - location) (:init (at kitchen) "
    FIRST += "(visited kitchen) (connected kitchen loc1 east) (connected kitchen loc2 north)))"
    NOTE = f"(connected kitchen loc2 north): {LEADS_BACK}; add (connected loc2 kitchen south)"

    @pytest.mark.parametrize(
        ("mode", "times"), [("gen", 1), ("edit", 1), ("gen-no-remedies", 1), ("gen-no-feedback", 0)]
    )
    def test_once(self, coin: GameSetting, planner: ProcessPlanner, mode: str, times: int) -> None:
        model = ForgetfulModel([self.FIRST])
        events = play(coin, planner, small_house(), model, mode)
        assert [self.NOTE in request.messages[-1].content for request in model.requests].count(True) == times
        assert ("one way" in of(events, Accepted)[0].kinds) == bool(times)

    def test_never_in_the_settings_of_the_paper(self, planner: ProcessPlanner) -> None:
        model = ForgetfulModel([self.FIRST, self.FIRST.replace("loc2 ", "")])
        events = play(load("paper-coin"), planner, small_house(), model, "gen")
        assert not {"one way", "lost fact"} & {kind for event in of(events, Accepted) for kind in event.kinds}
        assert not any("Notes" in message.content for request in model.requests for message in request.messages)

    def test_with_the_request_after_a_plan_that_went_as_expected(
        self, coin: GameSetting, planner: ProcessPlanner
    ) -> None:
        rooms = "(at kitchen) (visited kitchen) (connected kitchen corridor east) (visited corridor)"
        rooms += " (connected corridor garden north) (connected corridor kitchen west)"
        objects = "(:objects kitchen corridor garden - location)"
        first = f"(define (problem p) (:domain coin-collector) {objects} (:init {rooms}))"
        model = ForgetfulModel([first])
        events = play(coin, planner, small_house(), model, "gen")
        assert of(events, Accepted)[0].kinds == ("one way",)
        assert "add (connected garden corridor south)" in model.requests[1].messages[-1].content


def played(name: str, mode: str, seed: int, planner: ProcessPlanner) -> list[Accepted]:
    """The accepted answers of the built-in reader in one episode."""
    setting = load(name)
    events = play(setting, planner, setting_game(setting, seed), ForgetfulModel([]), mode)
    return [event for event in of(events, Accepted) if event.source == "model"]


GAMES = [name for name in setting_names(TEXT_GAME) if can_read(load(name)) and not load(name).missing]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(6))
def test_a_right_answer_gets_no_note(planner: ProcessPlanner, number: int) -> None:
    rng = random.Random(f"right answers/{number}")
    name, mode = rng.choice(GAMES), rng.choice(("edit", "gen"))
    seed = rng.choice(load(name).all_seeds)
    accepted = played(name, mode, seed, planner)
    assert accepted
    assert not [event.defects for event in accepted if {"lost fact", "one way"} & {*event.kinds}], (name, mode, seed)
