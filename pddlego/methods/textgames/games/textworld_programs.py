"""The programs in which TextWorld runs: `python -m …textworld_programs make|play PARENT FOLDER PATH …`.

`make … NAME FOLD SEED KEY=VALUE …` writes a game file to PATH, and its data to the `.json` beside it. `play` loads the
game. Each line of standard input is a command as JSON, or `null` to start the game again, and the answer is the state
of the game as JSON on one line. The programs have their own processes because TextWorld's interpreter is written in C:
a control character or a damaged file makes it loop forever or end its process.

Both programs end when the process with the number PARENT ends, and then remove FOLDER.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, TextIO

from pddlego.methods.textgames.games.process import connected, serve_game


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
    game.objective = "Find the coin, and take it."  # the generator's own objective describes the way
    return game


def _treasure(options: Any, parameters: Mapping[str, int], fold: str, seed: int) -> Any:
    """A maze of a difficulty level with two things; taking one of them loses the game."""
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


_ATTEMPTS = 10
"""Maximum number of maps that are generated for a seed until one has room for a quest of the right length."""

_FAR = 1_000_000
"""The difference between the seeds of two attempts, so that no attempt has the seed of another game."""


def _import_textworld() -> Any:
    """Import the package `textworld` without its environment for PDDL, which is not used here.

    That environment needs a package `fast_downward` that is not the one with our translator. If the import of
    `fast_downward` fails, TextWorld works without that environment.
    """
    modules: dict[str, Any] = sys.modules
    modules["fast_downward"] = None  # with this entry Python refuses the import
    return import_module("textworld")


def _make(path: str, name: str, fold: str, seed: str, *parameters: str) -> None:
    """Make the game and write it to `path`."""
    values = {key: int(value) for key, _, value in (parameter.partition("=") for parameter in parameters)}
    textworld = _import_textworld()
    for attempt in range(_ATTEMPTS):
        options = textworld.GameOptions()
        options.seeds, options.path, options.force_recompile = int(seed) + attempt * _FAR, path, True
        try:
            game = _MAKERS[name](options, values, fold, int(seed))
        except textworld.generator.QuestGenerationError:
            if attempt == _ATTEMPTS - 1:
                raise
        else:
            textworld.generator.compile_game(game, options)
            return


_ABOUT = ("description", "inventory", "admissible_commands", "facts", "objective", "max_score")
"""The values that the engine reports in addition to its answer."""

_MOST = 198
"""Maximum number of bytes in a command."""


def _cut(command: str) -> str:
    """The command, cut to the maximum length. The interpreter itself would cut a character in two, and then fail."""
    return command.strip().encode()[:_MOST].decode(errors="ignore")


def _fields(state: Any) -> Mapping[str, Any]:
    """The state of the game that is sent, including its facts and the types of its things.

    Raises `ValueError` if a value is missing, because the game was made without it or its file is damaged.
    """
    texts = {
        "text": state.feedback,
        "look": state.description,
        "inventory": state.inventory,
        "task": state.objective,
    }
    missing = [name for name, text in texts.items() if not isinstance(text, str)]
    if missing:
        raise ValueError(f"the game does not say its {', '.join(missing)}")
    kinds = {argument.name: argument.type for fact in state.facts for argument in fact.arguments}
    named = ([fact.name, *(argument.name for argument in fact.arguments)] for fact in state.facts)
    return texts | {
        "commands": state.admissible_commands,
        "facts": [*named, *([kind, name] for name, kind in kinds.items())],
        "score": (state.score or 0) / (state.max_score or 1),
        "won": bool(state.won),
        "lost": bool(state.lost),
        "solution": list(map(str, state["extra.walkthrough"])),
    }


def _play(path: str, answers: TextIO) -> None:
    """Load the game and answer until standard input closes."""
    textworld = _import_textworld()
    game = textworld.start(path, textworld.EnvInfos(**dict.fromkeys(_ABOUT, True), extras=["walkthrough"]))
    serve_game(lambda: _fields(game.reset()), lambda command: _fields(game.step(_cut(command))[0]), answers)


def main(program: str, parent: str, folder: str, path: str, *arguments: str) -> None:
    """Run one of the two programs."""
    answers = connected(parent, folder, limits=program == "play")
    if program == "make":
        _make(path, *arguments)
    else:
        _play(path, answers)


if __name__ == "__main__":
    main(*sys.argv[1:])
