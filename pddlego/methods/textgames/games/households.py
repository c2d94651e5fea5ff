"""Generates households for ALFWorld's engine from the data of its package, without the download of its games.

A household is a floor plan with its receptacles and with objects in plausible places, and a task of one of six types.
The walkthrough follows from where things are.
"""

from __future__ import annotations

import json
import random
import runpy
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

TASKS = {
    "place": "pick_and_place_simple",
    "look": "look_at_obj_in_light",
    "clean": "pick_clean_then_place_in_recep",
    "heat": "pick_heat_then_place_in_recep",
    "cool": "pick_cool_then_place_in_recep",
    "two": "pick_two_obj_and_place",
}
"""ALFWorld's names of the six types of tasks."""

TEST = 10_000
"""Seeds from this number on are played in floor plans in which no other seed is played."""

_UNSEEN = (10, 219, 308, 424)
"""The floor plans of the official games `valid_unseen`. ALFWorld's constants list other ones for tests."""

_STATIONS = {"clean": ("Cleanable", "SinkBasin"), "heat": ("Heatable", "Microwave"), "cool": ("Coolable", "Fridge")}
"""The property of objects that a task needs, and the receptacle in which it changes them."""

_PROPERTIES = ("Heatable", "Coolable", "Cleanable", "Sliceable")
_OPENABLE = ("Fridge", "Cabinet", "Microwave", "Drawer", "Safe")
_BASINS = {"Sink": "SinkBasin", "Bathtub": "BathtubBasin"}
_SEVERAL = {"StoveBurner": 4, "HandTowelHolder": 2}
"""The number of receptacles of a type in floor plans whose data name the type only."""

_LAMPS = ("DeskLamp", "FloorLamp")
_STANDS = ("CoffeeTable", "Desk", "DiningTable", "Dresser", "SideTable", "TVStand")
"""Where lamps stand: the data of the package do not say it."""

_MAX_PER_TYPE = 3
"""Maximum number of objects of a type."""


def package_folder() -> Path:
    """The folder of the package `alfworld`, which is not imported: that would make a folder for its cache."""
    spec = find_spec("alfworld")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("The package alfworld is not installed")
    return Path(next(iter(spec.submodule_search_locations)))


class Data:
    """The data of the package: floor plans, and what can be where."""

    def __init__(self) -> None:
        self.folder = package_folder()
        constants = self._values("constants")
        self.fits: Mapping[str, set[str]] = {
            place: things.union(_LAMPS if place in _STANDS else ())
            for place, things in constants["VAL_RECEPTACLE_OBJECTS"].items()
        }
        self.properties: Mapping[str, set[str]] = constants["VAL_ACTION_OBJECTS"]
        self._movable = set(constants["MOVABLE_RECEPTACLES"])
        test = {*constants["TEST_SCENE_NUMBERS"], *_UNSEEN}
        self.plans = {"train": sorted({*constants["TRAIN_SCENE_NUMBERS"]} - test), "test": sorted(test)}

    @cached_property
    def goals(self) -> Mapping[str, Mapping[str, Any]]:
        """The goal of each type of task in PDDL, and the sentences that state it."""
        goals: Mapping[str, Mapping[str, Any]] = self._values("goal_library")["gdict"]
        return goals

    @property
    def domain(self) -> str:
        return (self.folder / "data" / "alfred.pddl").read_text(encoding="utf-8")

    @property
    def grammar(self) -> str:
        return (self.folder / "data" / "alfred.twl2").read_text(encoding="utf-8")

    def kinds(self, plan: int) -> list[str]:
        """The types of things in a floor plan."""
        return sorted(
            json.loads((self.folder / f"gen/layouts/FloorPlan{plan}-objects.json").read_text(encoding="utf-8"))
        )

    def receptacles(self, plan: int) -> Counter[str]:
        """The number of receptacles of each type in a floor plan."""
        places = json.loads((self.folder / f"gen/layouts/FloorPlan{plan}-openable.json").read_text(encoding="utf-8"))
        named = (place.partition("|")[0] for place in places)
        counted = Counter(_BASINS.get(kind, kind) for kind in named)
        others = {kind: _SEVERAL.get(kind, 1) for kind in self.kinds(plan) if kind not in counted}
        found = {**counted, **others}
        return Counter({kind: found[kind] for kind in sorted(found) if kind in self.fits and kind not in self._movable})

    def _values(self, name: str) -> Mapping[str, Any]:
        return runpy.run_path(str(self.folder / "gen" / f"{name}.py"))


@dataclass(frozen=True)
class HouseholdTask:
    """A task: bring an object of the type `thing` to a receptacle of the type `goal`, or to a lamp of this type."""

    kind: str
    thing: str
    goal: str


@dataclass(frozen=True)
class Household:
    """Receptacles by their ids, closed ones, and objects with the receptacles in which they are."""

    plan: int
    task: HouseholdTask
    receptacles: Mapping[str, str]
    closed: frozenset[str]
    things: Mapping[str, tuple[str, str]]


def displayed_names(ids: Sequence[str]) -> dict[str, str]:
    """ALFWorld's names of receptacles and objects by their ids: the last id of a type in the alphabet has number 1."""
    numbers: Counter[str] = Counter()
    names = {}
    for identity in sorted((identity.lower() for identity in ids), reverse=True):
        kind, bar, _ = identity.partition("_bar_")
        kind += "basin" if bar and "basin" in identity else ""
        numbers[kind] += bool(bar)
        names[identity] = f"{kind} {numbers[kind]}" if bar else identity
    return names


def household(data: Data, name: str, parameters: Mapping[str, Any], seed: int) -> Household:
    """The household of a seed; `name` is a type of `TASKS`, or `household` for all six in turn.

    Raises `ValueError` if no floor plan has a task of the type.
    """
    kind = list(TASKS)[seed % len(TASKS)] if name == "household" else name
    rng = random.Random(f"{name}/{seed}")
    plans = list(data.plans["test" if seed >= TEST else "train"])
    rng.shuffle(plans)
    for plan in plans:
        tasks = list(_tasks(data, kind, plan))
        if tasks:
            return _furnished(data, rng, plan, rng.choice(tasks), parameters)
    raise ValueError(f"no floor plan has a task of the type {kind}")


def _tasks(data: Data, kind: str, plan: int) -> Iterator[HouseholdTask]:
    """The tasks of a type that are possible in a floor plan."""
    places, kinds = data.receptacles(plan), data.kinds(plan)
    needed, station = _STATIONS.get(kind, ("", ""))
    lamps = [lamp for lamp in _LAMPS if lamp in kinds and any(lamp in data.fits[place] for place in places)]
    goals = lamps if kind == "look" else [goal for goal in places if goal != station]
    if station and station not in places:
        return
    for thing in kinds:
        homes = {place for place in places if thing in data.fits[place]}
        if thing in _LAMPS or not homes or (needed and thing not in data.properties[needed]):
            continue
        for goal in goals:
            if kind == "look" or (goal in homes and homes != {goal}):
                yield HouseholdTask(kind, thing, goal)


def _furnished(
    data: Data, rng: random.Random, plan: int, task: HouseholdTask, parameters: Mapping[str, Any]
) -> Household:
    """A household for a task with the number of receptacles and objects of the parameters, as far as there is room."""
    station = _STATIONS.get(task.kind, ("", ""))[1]
    all_places = [kind for kind, number in data.receptacles(plan).items() for _ in range(number)]
    rng.shuffle(all_places)
    homes = [kind for kind in all_places if task.thing in data.fits[kind] and kind != task.goal]
    stands = [kind for kind in all_places if task.goal in data.fits[kind]][:1] if task.kind == "look" else []
    needed = [*homes[:1], *stands, *([station] if station else []), *([] if stands else [task.goal])]
    for kind in dict.fromkeys(needed):
        all_places.remove(kind)
    chosen = [*dict.fromkeys(needed), *all_places][: max(int(parameters["receptacles"]), len(set(needed)))]
    receptacles = _numbered(chosen, basins=True)
    closed = {
        identity
        for identity, kind in receptacles.items()
        if kind in _OPENABLE and rng.randrange(100) < int(parameters["closed"])
    }
    least, most = 2 if task.kind == "two" else 1, int(parameters["objects"])
    wanted = [task.thing] * rng.randint(least, max(least, min(_MAX_PER_TYPE, most)))
    wanted += [task.goal] if task.kind == "look" else []
    kinds = [kind for kind in data.kinds(plan) if any(kind in data.fits[place] for place in chosen)]
    others = [
        kind
        for kind in kinds
        for _ in range(rng.randint(0, _MAX_PER_TYPE))
        if kind not in wanted and kind not in _LAMPS
    ]
    rng.shuffle(others)
    things = {}
    for identity, kind in _numbered([*wanted, *others][: max(most, len(wanted))]).items():
        rooms = [place for place, home in receptacles.items() if kind in data.fits[home]]
        if kind == task.thing and task.kind != "look":
            rooms = [place for place in rooms if receptacles[place] != task.goal]
        things[identity] = (kind, rng.choice(rooms))
    return Household(plan, task, receptacles, frozenset(closed), things)


def _numbered(kinds: Sequence[str], basins: bool = False) -> dict[str, str]:
    """An id for each thing of a list of types. The id of a basin is that of its sink, as ALFWorld's names require."""
    numbers: Counter[str] = Counter()
    found = {}
    for kind in kinds:
        numbers[kind] += 1
        whole = kind.removesuffix("Basin") if basins else kind
        found[f"{whole}_bar_{numbers[kind]:03}" + (f"_bar_{kind}" if whole != kind else "")] = kind
    return found


def game_of(data: Data, made: Household, seed: int) -> dict[str, Any]:
    """The household as a game file of ALFWorld (`game.tw-pddl`)."""
    task, library = made.task, data.goals[TASKS[made.task.kind]]
    words = {"obj": task.thing, "recep": task.goal, "toggle": task.goal}
    template = library["templates"][seed // len(TASKS) % len(library["templates"])]
    sentence = template.format(**{key: word.lower() for key, word in words.items()})
    return {
        "pddl_domain": data.domain,
        "grammar": data.grammar.replace("UNKNOWN GOAL", sentence),
        "pddl_problem": _problem(data, made, library["pddl"].format(**words).replace("#", "-")),
        "solvable": True,
        "walkthrough": walkthrough(made),
    }


def _problem(data: Data, made: Household, goal: str) -> str:
    """The problem file. `goal` is the goal with the last bracket of the file."""
    places, things = made.receptacles, made.things
    at = {identity: f"loc_{number}" for number, identity in enumerate(places, 1)}
    kinds = sorted({*(kind for kind, _ in things.values()), "Knife", "ButterKnife"})
    objects = [
        "agent1 - agent",
        *(f"{location} - location" for location in ("loc_0", *at.values())),
        *(f"{identity} - receptacle" for identity in places),
        *(f"{identity} - object" for identity in things),
        *(f"{kind}Type - otype" for kind in kinds),
        *(f"{kind}Type - rtype" for kind in sorted({*places.values(), "SinkBasin", "Microwave", "Fridge"})),
    ]
    facts = ["atLocation agent1 loc_0"]
    for identity, kind in places.items():
        facts += [f"receptacleAtLocation {identity} {at[identity]}", f"receptacleType {identity} {kind}Type"]
        facts += [f"openable {identity}"] if kind in _OPENABLE else []
        facts += [f"opened {identity}"] if kind in _OPENABLE and identity not in made.closed else []
    for identity, (kind, place) in things.items():
        facts += [f"objectType {identity} {kind}Type", f"inReceptacle {identity} {place}"]
        facts += [f"objectAtLocation {identity} {at[place]}"]
        facts += [f"{name.lower()} {identity}" for name in _PROPERTIES if kind in data.properties[name]]
        facts.append(f"toggleable {identity}" if kind in _LAMPS else f"pickupable {identity}")
    present = sorted({kind for kind, _ in things.values()})
    for place in sorted(set(places.values())):
        facts += [f"canContain {place}Type {kind}Type" for kind in present if kind in data.fits[place]]
    lines = ["(define (problem household)", "(:domain alfred)", "(:objects", *objects, ")", "(:init"]
    return "\n".join([*lines, *(f"({fact})" for fact in facts), ")", goal])


def walkthrough(made: Household) -> list[str]:
    """Commands that win."""
    names, task, opened = displayed_names([*made.receptacles, *made.things]), made.task, set[str]()
    name = {identity: names[identity.lower()] for identity in (*made.receptacles, *made.things)}
    goals = [identity for identity, kind in made.receptacles.items() if kind == task.goal]
    wanted = [identity for identity, (kind, _) in made.things.items() if kind == task.thing]
    commands, here = list[str](), ""

    def go(place: str, into: bool = True) -> None:
        nonlocal here
        commands.extend([f"go to {name[place]}"] if here != place else [])
        here = place
        if into and place in made.closed - opened:
            opened.add(place)
            commands.append(f"open {name[place]}")

    for thing in wanted[: 2 if task.kind == "two" else 1]:
        go(made.things[thing][1])
        commands.append(f"take {name[thing]} from {name[here]}")
        station = _STATIONS.get(task.kind, ("", ""))[1]
        if station:
            go(next(identity for identity, kind in made.receptacles.items() if kind == station), into=False)
            commands.append(f"{task.kind} {name[thing]} with {name[here]}")
        if task.kind == "look":
            lamp = next(identity for identity, (kind, _) in made.things.items() if kind == task.goal)
            go(made.things[lamp][1])
            commands.append(f"use {name[lamp]}")
        else:
            go(goals[0])
            commands.append(f"move {name[thing]} to {name[here]}")
    return commands
