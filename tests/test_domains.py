"""What the domains promise: nothing irrevocable by mistake, and every setting's files fit together."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest

from pddlego.methods.setting_files import setting_names
from pddlego.methods.textgames.games.alfworld import OFFICIAL
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.options import TEXT_GAME
from pddlego.methods.textgames.settings import GameSetting
from pddlego.pddl import Atom, Problem, TypedName, check, parse_problem
from pddlego.planning import PlanStep, ProcessPlanner, climb
from pddlego.planning.world import World

FOODS = ("carrot", "salt", "red_potato")
WAYS = ("sliced", "chopped", "diced", "fried", "roasted", "grilled")


@pytest.fixture(scope="module")
def cooking() -> GameSetting:
    return load("cooking-hard")


def kitchen(*facts: str, foods: tuple[str, ...] = FOODS) -> Problem:
    """A kitchen with everything to cook with, a corridor to the south, and these facts besides."""
    known = ["at kitchen", "visited kitchen", "connected kitchen corridor south", "connected corridor kitchen north"]
    known += [f"thing_at {name} kitchen" for name in ("stove", "oven", "toaster")]
    objects = {TypedName("corridor", "location"), TypedName("fridge", "container")}
    objects |= {TypedName(food, "item") for food in foods}
    atoms = frozenset(Atom(words[0], tuple(words[1:])) for words in (item.split() for item in (*known, *facts)))
    return Problem("p", "cooking-world", frozenset(objects), atoms)


def test_whatever_the_recipe_says_nothing_else_is_done_to_a_food(cooking: GameSetting) -> None:
    """Over random recipes: of all actions on all things, those that can be done prepare what is wanted, and once."""
    prepared = 0
    for number in range(20):
        rng = random.Random(number)
        wanted = {(food, rng.choice(WAYS)) for food in FOODS for _ in range(2) if rng.random() < 0.5}
        done = {item for item in wanted if rng.random() < 0.3}
        facts = [f"wanted {food} {way}" for food, way in wanted] + [f"is {food} {way}" for food, way in done]
        problem = kitchen("recipe_known", *facts, *(f"have {item}" for item in (*FOODS, "knife", "cookbook")))
        for added in _effects(cooking, problem):
            if added.predicate == "is":
                assert added.args in wanted - done
                prepared += 1
            assert added.predicate != "eaten" or added.args == ("meal",)
    assert prepared > 20


def _effects(setting: GameSetting, problem: Problem) -> Iterator[Atom]:
    """What the actions that are possible in the problem make true."""
    world = World(setting.start.domain, problem)
    for action in setting.start.domain.actions:
        named = [
            [one.name for one in world.objects if setting.start.domain.is_a(one.type, parameter.type)]
            for parameter in action.parameters
        ]
        for arguments in itertools.product(*named):
            binding = dict(zip((parameter.name for parameter in action.parameters), arguments, strict=True))
            if world.holds(action.precondition, world.initial, binding):
                yield from world.after(PlanStep(action.name, arguments), world.initial).facts - problem.facts


def test_the_meal_waits_for_every_ingredient(cooking: GameSetting, planner: ProcessPlanner) -> None:
    ready = ["recipe_known", "ingredient carrot", "wanted carrot sliced", "ingredient salt", "have carrot", "have salt"]
    done = climb(planner, cooking.start.domain, kitchen(*ready, "is carrot sliced"), cooking.start.ladder)
    assert done.plan is not None
    assert [str(step) for step in done.plan.steps] == ["(prepare_meal)", "(eat_meal)"]
    raw = climb(planner, cooking.start.domain, kitchen(*ready, "thing_at knife corridor"), cooking.start.ladder)
    assert raw.plan is not None and len(raw.plan) == 6, "the knife is fetched first"
    assert "(slice carrot)" in [str(step) for step in raw.plan.steps]


def test_a_likely_place_comes_before_any_place_before_a_room(cooking: GameSetting, planner: ProcessPlanner) -> None:
    known = ["recipe_known", "ingredient carrot", "closed fridge corridor", "closed trash_can kitchen"]
    objects = frozenset({TypedName("trash_can", "container"), TypedName("loc1", "location")})

    def rung(*facts: str) -> str | None:
        base = kitchen(*facts)
        problem = Problem(base.name, base.domain, base.objects | objects, base.facts)
        return climb(planner, cooking.start.domain, problem, cooking.start.ladder).rung

    assert rung(*known, "likely carrot fridge") == "search a likely container of a room for each missing thing"
    assert rung(*known, "likely carrot corridor") == "search a likely place for a missing thing"
    assert rung(*known, "likely salt fridge") == "open any container", "salt is not needed"
    assert rung(*known, "likely salt corridor") == "open any container", "nor is it looked for in a likely room"
    opened = [*known[:2], "connected kitchen loc1 east"]
    assert rung(*opened, "likely carrot fridge") == "be in a room not yet visited", "nothing is opened twice"


@pytest.mark.parametrize(
    ("likely", "opened"),
    [
        (("carrot fridge",), 1),
        (("carrot fridge", "knife drawer"), 2),
        (("carrot fridge", "salt fridge"), 1),
        (("knife drawer", "knife cupboard"), 1),
        (("carrot fridge", "knife drawer", "knife cupboard"), 2),
        (("carrot fridge", "pepper drawer"), 1),
    ],
)
def test_one_plan_opens_one_container_for_each_missing_thing(
    cooking: GameSetting, planner: ProcessPlanner, likely: tuple[str, ...], opened: int
) -> None:
    containers = ("fridge", "drawer", "cupboard")
    needed = ["recipe_known", "ingredient carrot", "ingredient salt", "wanted carrot sliced"]
    facts = [*needed, *(f"likely {pair}" for pair in likely), *(f"closed {name} kitchen" for name in containers)]
    base = kitchen(*facts, foods=(*FOODS, "pepper"))
    objects = base.objects | {TypedName(name, "container") for name in containers}
    problem = Problem(base.name, base.domain, objects, base.facts)
    plan = climb(planner, cooking.start.domain, problem, cooking.start.ladder).plan
    assert plan is not None
    assert [step.action for step in plan.steps] == ["open_container"] * opened


def test_the_recipe_is_read_once_and_from_the_hand_too(cooking: GameSetting, planner: ProcessPlanner) -> None:
    def rung(*facts: str) -> str | None:
        return climb(planner, cooking.start.domain, kitchen(*facts), cooking.start.ladder).rung

    assert rung("thing_at cookbook kitchen") == "read the recipe"
    assert rung("have cookbook") == "read the recipe"
    known = ("recipe_known", "ingredient carrot", "likely carrot corridor")
    assert rung("thing_at cookbook kitchen", *known) == "search a likely place for a missing thing"


def test_nothing_is_searched_once_everything_is_known(cooking: GameSetting, planner: ProcessPlanner) -> None:
    facts = ["recipe_known", "ingredient carrot", "wanted carrot fried", "thing_at carrot corridor"]
    result = climb(planner, cooking.start.domain, kitchen(*facts, "closed fridge kitchen"), cooking.start.ladder)
    assert result.rung == "eat the meal"
    # The carrot cannot be reached: no exploring, the problem must be wrong.
    lost = [item for item in kitchen(*facts, "closed fridge kitchen").facts if item.predicate != "connected"]
    problem = Problem("p", "cooking-world", kitchen().objects, frozenset(lost))
    assert climb(planner, cooking.start.domain, problem, cooking.start.ladder).rung is None


@pytest.mark.parametrize(("way", "thing"), [("sliced", "knife"), ("fried", "stove"), ("grilled", "barbeque")])
def test_what_a_recipe_takes_is_sought(cooking: GameSetting, planner: ProcessPlanner, way: str, thing: str) -> None:
    facts = {
        "at kitchen",
        "recipe_known",
        "ingredient salt",
        f"wanted salt {way}",
        "have salt",
        f"likely {thing} corridor",
    }
    base = kitchen(*facts)
    bare = frozenset(fact for fact in base.facts if fact.predicate != "thing_at")
    result = climb(
        planner, cooking.start.domain, Problem("p", "cooking-world", base.objects, bare), cooking.start.ladder
    )
    assert result.rung == "search a likely place for a missing thing"


def test_a_map_is_followed_without_directions(planner: ProcessPlanner) -> None:
    setting = load("mapreader")
    text = """(define (problem p) (:domain map-reader) (:objects a b c - location)
      (:init (at a) (visited a) (box_at a) (connected a b east) (connected b a west) (on_map b c) (item_at coin c))
      (:goal (and)))"""
    result = climb(planner, setting.start.domain, parse_problem(text), setting.start.ladder)
    assert result.plan is not None
    assert [setting.start.command(step) for step in result.plan.steps] == [
        "move east",
        "",
        "take coin",
        "",
        "move west",
        "put coin in box",
    ]


def test_a_map_is_followed_only_from_rooms_that_were_not_seen(planner: ProcessPlanner) -> None:
    """Of a room that was seen all exits are known: a map that knows better is no way out."""
    setting = load("mapreader")
    text = """(define (problem p) (:domain map-reader) (:objects a b c - location)
      (:init (at a) (visited a) (map_known) (on_map a c) (item_at coin c) (box_at a) (connected a b east))
      (:goal (and)))"""
    assert (
        climb(planner, setting.start.domain, parse_problem(text), setting.start.ladder).rung
        == "be in a room not yet visited"
    )


def test_a_place_that_was_wrong_is_not_tried_again(planner: ProcessPlanner) -> None:
    setting = load("twc")

    def rung(facts: str) -> str | None:
        text = f"""(define (problem p) (:domain text-world-commonsense)
          (:objects a - location cup - item shelf - holder)
          (:init (at a) (visited a) (holder_at shelf a) {facts}) (:goal (and)))"""
        return climb(planner, setting.start.domain, parse_problem(text), setting.start.ladder).rung

    assert rung("(have cup) (belongs cup shelf)") == "put everything away"
    assert rung("(have cup) (belongs cup shelf) (tried cup shelf)") is None
    assert rung("(item_at cup a)") == "pick up what lies about"
    assert rung("(item_at cup a) (put_away cup)") is None


@pytest.mark.parametrize("name", setting_names(TEXT_GAME))
def test_every_setting_starts_sound_and_says_every_step(name: str) -> None:
    setting = load(name)
    assert not check(setting.start.domain, setting.start.problem)
    assert set(setting.start.actions) == set(setting.start.domain.actions_by_name)
    spans = sorted((fold.start, fold.stop) for fold in setting.game.folds.values())
    if setting.game.name == OFFICIAL:  # its folds are folders, in each of which the first game has seed 0
        return
    assert all(stop <= start for (_, stop), (start, _) in itertools.pairwise(spans))
