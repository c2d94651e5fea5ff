"""What a plan predicted and the game confirmed, an answer must not take back."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

from pddlego.episode.events import Accepted, Rejected
from pddlego.methods.setting_files import setting_names
from pddlego.methods.textgames.formalize import Exchange, Observations, ProblemProposal, PromptContext
from pddlego.methods.textgames.formalize.confirmed import confirmed, unless_taken_back
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.options import TEXT_GAME
from pddlego.methods.textgames.play import make_method, setting_game
from pddlego.methods.textgames.reader import can_read
from pddlego.pddl import Atom, parse_problem
from pddlego.planning import ProcessPlanner
from tests.methods.textgames.playing import ForgetfulModel, of, play

HOUSE = "(connected kitchen corridor north) (connected corridor kitchen south) (visited kitchen)"
ROOMS = "kitchen corridor loc1 - location"
STATES = {
    "coin": (ROOMS, f"{HOUSE} (at kitchen) (item_at coin kitchen) (closed_door kitchen corridor)"),
    "cooking-easy": (
        f"{ROOMS} fridge - container potato - item",
        f"{HOUSE} (at kitchen) (closed fridge kitchen) (thing_at potato kitchen) (thing_at knife kitchen)",
    ),
    "household": ("desk_1 shelf_1 - place pen_1 - thing", "(at desk_1) (hands_free) (is_in pen_1 desk_1)"),
}
"""The objects and the facts before the news, by setting."""


def facts(text: str) -> frozenset[Atom]:
    return frozenset(
        Atom(name, tuple(args)) for name, *args in (part.split() for part in text.strip("()").split(") ("))
    )


def step(command: str, added: str = "", removed: str = "") -> Exchange:
    """A step of a plan that went as expected."""
    effects = facts(added) if added else frozenset(), facts(removed) if removed else frozenset()
    return Exchange(command, "It is done.", effects=effects, undone=tuple(map(str, effects[1])))


MOVED = step("move north", "(at corridor)", "(at kitchen)")
TOOK = step("take coin", "(have coin)", "(item_at coin kitchen)")
OPENED = step("open door to north", "", "(closed_door kitchen corridor)")
UNFORESEEN = Exchange("move east", "You are in the attic.", unforeseen="It was to be the pantry.", undone=())
UNPLANNED = Exchange("jump", "You jump.", undone=None)


def problem(name: str, text: str = "", without: str = "") -> str:
    """The file of a setting's state with more facts, and without some."""
    objects, init = STATES[name]
    kept = [fact for fact in init.strip("()").split(") (") if f"({fact})" not in without]
    init = " ".join(f"({fact})" for fact in kept)
    domain = load(name).start.domain.name
    return f"(define (problem p) (:domain {domain}) (:objects {objects}) (:init {init} {text}) (:goal (and)))"


def edit(add: str = "", delete: str = "", renamed: str = "") -> str:
    old, _, new = renamed.partition(" > ")
    changed = [{"old": old, "new": new}] if renamed else []
    lists = {"add": [add] if add else [], "delete": [delete] if delete else [], "replace": []}
    return json.dumps({"objects": {"add": [], "replace": changed, "delete": []}, "init": lists})


def judged(name: str, answer: str, *news: Exchange, mode: str = "") -> ProblemProposal:
    """An answer to the state of a setting after these news."""
    setting = load(name)
    knowledge = setting.start.with_problem(parse_problem(problem(name)))
    situation = PromptContext(knowledge, seen=Observations(news, news), reader=setting.reader)
    proposal = make_method(mode or ("gen" if "define" in answer else "edit"), setting, 0).read(answer, situation)
    assert isinstance(proposal, ProblemProposal) and proposal.feedback is None, proposal.feedback
    return unless_taken_back(proposal, situation, last=False)


def lines(proposal: ProblemProposal) -> set[str]:
    """What the file must have and must not have."""
    said = proposal.feedback.evidence if proposal.feedback else proposal.notes
    return {line.partition(" must ")[2].partition(":")[0] for line in said if " must " in line}


SLIPS = {
    "the agent stays, in an edit": (
        "coin",
        edit("(visited corridor)"),
        [MOVED],
        {"have (at corridor)", "not have (at kitchen)"},
    ),
    "the agent stays, in a file": (
        "coin",
        problem("coin", "(visited corridor)"),
        [MOVED],
        {"have (at corridor)", "not have (at kitchen)"},
    ),
    "the agent is nowhere": ("coin", edit(delete="(at kitchen)"), [MOVED], {"have (at corridor)"}),
    "the agent is in two rooms": ("coin", edit("(at corridor)"), [MOVED], {"not have (at kitchen)"}),
    "the agent is in a room not seen": (
        "coin",
        problem("coin", "(at loc1)", "(at kitchen)"),
        [MOVED],
        {"have (at corridor)"},
    ),
    "the room has another name now": (
        "coin",
        edit(renamed="corridor - location > hallway - location"),
        [MOVED],
        {"have (at hallway)", "not have (at kitchen)"},
    ),
    "a thing was taken": (
        "coin",
        edit("(visited corridor)"),
        [TOOK],
        {"have (have coin)", "not have (item_at coin kitchen)"},
    ),
    "a thing was taken, but lies there too": ("coin", edit("(have coin)"), [TOOK], {"not have (item_at coin kitchen)"}),
    "a door is open": ("coin", edit("(visited corridor)"), [OPENED], {"not have (closed_door kitchen corridor)"}),
    "a way through a door": (
        "coin",
        edit(delete="(at kitchen)", add="(at corridor)"),
        [OPENED, MOVED],
        {"not have (closed_door kitchen corridor)"},
    ),
    "a container is open": (
        "cooking-easy",
        edit("(visited corridor)"),
        [step("open fridge", "(open fridge kitchen)", "(closed fridge kitchen)")],
        {"not have (closed fridge kitchen)"},
    ),
    "an ingredient was cut": (
        "cooking-easy",
        edit("(visited corridor)"),
        [step("slice potato", "(is potato sliced)")],
        {"have (is potato sliced)"},
    ),
    "a thing is in the hand": (
        "household",
        edit("(visited desk_1)"),
        [step("take pen 1 from desk 1", "(holding pen_1)", "(hands_free) (is_in pen_1 desk_1)")],
        {"have (holding pen_1)", "not have (hands_free)", "not have (is_in pen_1 desk_1)"},
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_what_an_answer_takes_back_is_named(slip: str) -> None:
    name, answer, news, expected = SLIPS[slip]
    assert lines(judged(name, answer, *news)) == expected


def test_it_is_refused_if_both_cannot_be_true_unless_it_is_the_last_attempt() -> None:
    refused = {slip for slip, (name, answer, news, _) in SLIPS.items() if judged(name, answer, *news).feedback}
    assert refused == {
        *("the agent stays, in an edit", "the agent stays, in a file", "the agent is in a room not seen"),
        "the room has another name now",
        *(slip for slip in refused if slip == "a thing is in the hand"),
    }


RIGHT = {
    "as it was": ("coin", edit(delete="(at kitchen)", add="(at corridor)"), [MOVED]),
    "as it was, in a file": ("coin", problem("coin", "(at corridor)", "(at kitchen)"), [MOVED]),
    "there and back": (
        "coin",
        edit("(visited corridor)"),
        [MOVED, step("move south", "(at kitchen)", "(at corridor)")],
    ),
    "after a surprise": ("coin", edit("(visited corridor)"), [MOVED, UNFORESEEN]),
    "after a lower score": (
        "coin",
        edit("(visited corridor)"),
        [TOOK, replace(step("put coin in box", "(have coin)", "(item_at coin kitchen)"), gained=-0.5)],
    ),
    "after a command without a plan": ("coin", edit("(visited corridor)"), [MOVED, UNPLANNED]),
    "the room is gone": ("coin", problem("coin").replace("corridor", "hallway"), [step("move north", "(at corridor)")]),
    "a room that was not seen": ("coin", edit("(visited corridor)"), [step("move east", "(at loc1)")]),
    "only in plans": ("cooking-easy", edit("(visited corridor)"), [step("read cookbook", "(recipe_read)")]),
    "no news": ("coin", edit("(visited corridor)"), []),
    "no effects": ("coin", edit("(visited corridor)"), [Exchange("look around", "You are in the kitchen.")]),
}


@pytest.mark.parametrize("case", RIGHT)
def test_what_may_be_true_gets_no_note(case: str) -> None:
    name, answer, news = RIGHT[case]
    assert not lines(judged(name, answer, *news))


def test_a_later_step_decides() -> None:
    back = step("move south", "(at kitchen)", "(at corridor)")
    known = {str(fact): holds for fact, (holds, _) in confirmed([MOVED, back]).items()}
    assert known == {"(at kitchen)": True, "(at corridor)": False}
    assert not confirmed([MOVED, UNPLANNED])


GAMES = [name for name in setting_names(TEXT_GAME) if can_read(load(name)) and not load(name).missing]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(6))
def test_right_answers_are_never_refused_or_noted(planner: ProcessPlanner, number: int) -> None:
    rng = random.Random(f"confirmed/{number}")
    name, mode = rng.choice(GAMES), rng.choice(("edit", "gen"))
    setting = load(name)
    events = play(setting, planner, setting_game(setting, rng.choice(setting.all_seeds)), ForgetfulModel([]), mode)
    assert of(events, Accepted) and not of(events, Rejected)
    assert not [event.defects for event in of(events, Accepted) if "lost fact" in event.kinds], (name, mode)
