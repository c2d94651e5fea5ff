"""Makes one game file of TextWorld: `python -m …textworld_maker PARENT NAME FOLD SEED PATH KEY=VALUE …`.

It ends with its parent, which is named by its number, and removes the folder of the path then.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from pddlego.util.children import die_with


def import_textworld() -> Any:
    """Import the package `textworld`.

    Its environment for PDDL, which is not used here, subclasses `fast_downward.Atom` of another package. The package of
    that name which holds our translator has no such class, and is given one.
    """
    import fast_downward

    vars(fast_downward).setdefault("Atom", object)
    return import_module("textworld")


def _coin(options: Any, parameters: Mapping[str, int], fold: str, seed: int) -> Any:
    """A chain of `distance` rooms with a coin at its end, and other rooms until there are `rooms`."""
    from textworld.challenges.tw_coin_collector import coin_collector
    from textworld.generator.data import KnowledgeBase

    options.kb = KnowledgeBase.load(coin_collector.KB_PATH)
    options.grammar.allowed_variables_numbering = True
    rooms, distance = parameters["rooms"], parameters["distance"]
    if distance > rooms:
        raise ValueError(f"distance={distance} is more than rooms={rooms}")
    options.nb_rooms, options.quest_length = rooms, distance
    game = coin_collector.make_game("random", options)
    game.objective = "Find the coin, and take it."  # the generator's own objective says the way
    return game


def _treasure(options: Any, parameters: Mapping[str, int], fold: str, seed: int) -> Any:
    """A maze of a level with two things, one of which loses the game."""
    from textworld.challenges.tw_treasure_hunter import treasure_hunter

    game = treasure_hunter.make({"level": parameters["level"]}, options)
    last = game.metadata["walkthrough"][-1]
    thing = re.fullmatch(r"take (.+?)(?: from .+)?", last)
    assert thing is not None, f"the last command is {last}"
    game.objective = f"Find the {thing[1]}, and take it. Take no other thing, but keys."
    return game


def _cooking(options: Any, parameters: Mapping[str, int], fold: str, seed: int) -> Any:
    """A house with a recipe and its ingredients, with the foods of a fold."""
    from textworld.challenges.tw_cooking import cooking

    numbers = {name: parameters[name] for name in ("recipe", "take", "go")}
    if numbers["take"] > numbers["recipe"]:
        raise ValueError(f"take={numbers['take']} is more than recipe={numbers['recipe']}")
    switches = {name: bool(parameters[name]) for name in ("open", "cook", "cut")}
    return cooking.make({**numbers, **switches, "recipe_seed": seed, "split": fold}, options)


_MAKERS: Mapping[str, Callable[[Any, Mapping[str, int], str, int], Any]] = {
    "coin_collector": _coin,
    "cooking": _cooking,
    "treasure_hunter": _treasure,
}


ATTEMPTS = 10
"""Maps that are drawn for a seed, until one has room for a quest of the right length."""

_FAR = 1_000_000
"""Between the seeds of two attempts, so that no other game begins with the same one."""


def main(parent: str, name: str, fold: str, seed: str, path: str, *parameters: str) -> None:
    """Make the game and write it to `path` (its data beside it, as `.json`)."""
    threading.Thread(target=die_with, args=(int(parent), str(Path(path).parent)), daemon=True).start()
    os.dup2(2, 1)  # what it prints is read with its errors
    values = {key: int(value) for key, _, value in (parameter.partition("=") for parameter in parameters)}
    textworld = import_textworld()
    for attempt in range(ATTEMPTS):
        options = textworld.GameOptions()
        options.seeds, options.path, options.force_recompile = int(seed) + attempt * _FAR, path, True
        try:
            game = _MAKERS[name](options, values, fold, int(seed))
        except textworld.generator.QuestGenerationError:
            if attempt == ATTEMPTS - 1:
                raise
        else:
            textworld.generator.compile_game(game, options)
            return


if __name__ == "__main__":
    main(*sys.argv[1:])
