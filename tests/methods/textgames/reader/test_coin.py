from __future__ import annotations

import pytest

from pddlego.errors import ModelError
from pddlego.methods.textgames.formalize import Exchange, PromptContext
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models import Message, Request
from pddlego.pddl import Atom, Problem, apply_edit, parse_edit, parse_problem
from tests.methods.textgames.situations import situation_with


def situation(coin: GameSetting, problem: Problem, *news: tuple[str | None, str], rules: str = "coin") -> PromptContext:
    exchanges = tuple(Exchange(command, text) for command, text in news)
    return situation_with(rules, "", coin.start.domain, problem, exchanges, exchanges)


def answer(purpose: str, asked: PromptContext) -> str:
    return ReaderModel().complete(Request(purpose, (Message("user", ""),), asked)).text


def after(coin: GameSetting, problem: Problem, *news: tuple[str | None, str]) -> Problem:
    report = apply_edit(
        problem, parse_edit(answer("edit", situation(coin, problem, *news))), coin.start.domain.constants
    )
    assert not report.unmatched
    assert not report.refused
    return report.problem


FIRST = "You are in the kitchen.\nTo the North you see the corridor. To the South you see a closed wood door."


def test_a_first_look(coin: GameSetting) -> None:
    problem = after(coin, coin.start.problem, (None, FIRST))
    assert {str(fact) for fact in problem.facts} == {
        "(at kitchen)",
        "(visited kitchen)",
        "(connected kitchen corridor north)",
        "(connected corridor kitchen south)",
        "(connected kitchen loc1 south)",
        "(connected loc1 kitchen north)",
        "(closed_door kitchen loc1)",
    }


def test_a_door_that_opens_gives_its_placeholder_a_name(coin: GameSetting) -> None:
    known = after(coin, coin.start.problem, (None, FIRST))
    problem = after(
        coin,
        known,
        ("open door to south", "You open the wood door, revealing the living room."),
        ("move south", "You are in the living room.\nThrough an open wood door, to the North you see the kitchen."),
    )
    names = {obj.name for obj in problem.objects}
    assert names == {"kitchen", "corridor", "living_room"}
    assert not any(fact.predicate == "closed_door" for fact in problem.facts)
    assert Atom("at", ("living_room",)) in problem.facts
    assert Atom("at", ("kitchen",)) not in problem.facts


def test_a_closed_door_towards_a_known_place_of_the_grid_needs_no_placeholder(coin: GameSetting) -> None:
    """Kitchen, corridor north of it, pantry east of the corridor; the closed door south of the pantry is at (1, 0)."""
    problem = after(
        coin,
        coin.start.problem,
        (None, "You are in the kitchen.\nTo the North you see the corridor. To the East you see the bedroom."),
        ("move north", "You are in the corridor.\nTo the South you see the kitchen. To the East you see the pantry."),
        (
            "move east",
            "You are in the pantry.\nTo the South you see a closed wood door. To the West you see the corridor.",
        ),
    )
    assert Atom("closed_door", ("bedroom", "pantry")) in problem.facts
    assert not any(obj.name.startswith("loc") for obj in problem.objects)


def test_a_door_that_turns_out_to_be_closed(coin: GameSetting) -> None:
    known = after(coin, coin.start.problem, (None, "You are in the kitchen.\nTo the North you see the corridor."))
    problem = after(coin, known, ("move north", "You can't move there, the door is closed."))
    assert Atom("closed_door", ("corridor", "kitchen")) in problem.facts


def test_the_coin(coin: GameSetting) -> None:
    seen = after(coin, coin.start.problem, (None, "You are in the kitchen. There is also a coin."))
    assert Atom("item_at", ("coin", "kitchen")) in seen.facts
    taken = after(coin, seen, ("take coin", "You take the coin."))
    assert Atom("have", ("coin",)) in taken.facts
    assert Atom("item_at", ("coin", "kitchen")) not in taken.facts


def test_gen_gives_the_file_that_the_edit_leads_to(coin: GameSetting) -> None:
    text = answer("gen", situation(coin, coin.start.problem, (None, FIRST)))
    assert parse_problem(text) == after(coin, coin.start.problem, (None, FIRST))


def test_act_goes_to_the_nearest_room_and_takes_the_coin(coin: GameSetting) -> None:
    assert answer("act", situation(coin, coin.start.problem, (None, FIRST))) == "move north"
    assert (
        answer("act", situation(coin, coin.start.problem, (None, "You are in the attic. There is also a coin.")))
        == "take coin"
    )
    assert answer("act", situation(coin, coin.start.problem, (None, "You are in the attic."))) == "look around"


def test_what_the_reader_cannot_do_is_a_model_error(coin: GameSetting) -> None:
    with pytest.raises(ModelError) as caught:
        answer("edit", situation(coin, coin.start.problem, rules="chess"))
    assert "no rules for 'chess'" in str(caught.value)
    with pytest.raises(ModelError, match="cannot answer for 'poem'"):
        answer("poem", situation(coin, coin.start.problem))
