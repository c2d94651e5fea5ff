"""The program in which a game of ALFWorld runs: `python -m …alfworld_program play PARENT FOLDER GAME`.

GAME is JSON: the `path` of a game file, or the `name`, `parameters` and `seed` of a household that is generated. Each
line of standard input is a command as JSON, or `null` to start the game again, and the answer is the state of the game
as JSON on one line. TextWorld's parser and our translator are not made for several games at once in a process.

The program ends when the process with the number PARENT ends, and then removes FOLDER.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any, TextIO

from pddlego.methods.textgames.games.fast_downward_shim import install
from pddlego.methods.textgames.games.households import Data, game_of, household, names_of
from pddlego.util.children import die_with, limit_memory

_MEMORY = 4096
"""The memory limit in MiB. Games need a tenth of it."""

_TASK = re.compile(r"Your task is to: (.+?)\.?\s*$", re.DOTALL)
_MOVE = re.compile(r"move (.+) to (.+)")
"""The command for which older grammars have `put … in/on …`."""


def _game(about: Mapping[str, Any]) -> dict[str, Any]:
    """The game of a file, or of a household. Raises `ValueError` and `OSError`."""
    if "path" in about:
        game: dict[str, Any] = json.loads(Path(about["path"]).read_text(encoding="utf-8"))
        missing = [name for name in ("pddl_domain", "grammar", "pddl_problem") if not isinstance(game.get(name), str)]
        if missing:
            raise ValueError(f"the game has no {', '.join(missing)}")
        return game
    data = Data()
    return game_of(data, household(data, about["name"], about["parameters"], about["seed"]), about["seed"])


class LoadedGame:
    """A game that TextWorld's engine for PDDL has loaded."""

    def __init__(self, game: dict[str, Any]) -> None:
        install()
        from textworld import EnvInfos, logic
        from textworld.envs.pddl import PddlEnv, textgen

        # The same hundred texts are parsed again at each step, which would take more than half of its time.
        logic._parse_and_convert = lru_cache(maxsize=1000)(logic._parse_and_convert)
        parsed = lru_cache(maxsize=1000)(textgen._parse_and_convert)
        textgen._parse_and_convert = lambda *args, **options: deepcopy(parsed(*args, **options))  # it is changed then

        # Not `policy_commands`, nor the walkthrough, for which TextWorld would plan: that takes minutes.
        self._engine: Any = PddlEnv(EnvInfos(admissible_commands=True, facts=True))
        self._engine.load(game)
        infos = self._engine._entity_infos.values()
        names = names_of([info.id for info in infos])
        for info in infos:
            info.name = names[info.id]
        self.walkthrough = tuple(game.get("walkthrough") or ())
        self._task = ""

    def start(self) -> Mapping[str, Any]:
        """Start the game again."""
        state = self._engine.reset()
        task = _TASK.search(state.feedback)
        self._task = " ".join(task[1].split()) if task else ""
        return self._fields(state)

    def step(self, command: str) -> Mapping[str, Any]:
        """Send a command. `move … to …` is understood by games that have `put … in/on …` as well."""
        moved = _MOVE.fullmatch(command)
        valid = self._engine.state["admissible_commands"]
        if moved and command not in valid:
            other = f"put {moved[1]} in/on {moved[2]}"
            command = other if other in valid else command
        return self._fields(self._engine.step(command)[0])

    def _fields(self, state: Any) -> Mapping[str, Any]:
        facts = [(fact.name, *(argument.name for argument in fact.arguments)) for fact in state["facts"]]
        return {
            "text": state.feedback.strip(),
            "task": self._task,
            "commands": state["admissible_commands"],
            "facts": sorted({*_true(facts), *_derived(facts)}),
            "won": bool(state["won"]),
            "solution": self.walkthrough,
        }


_Words = tuple[str, ...]


def _true(facts: Iterable[_Words]) -> Iterator[_Words]:
    return (fact for fact in facts if not fact[0].startswith(("new-axiom@", "not_")))


def _derived(facts: list[_Words]) -> Iterator[_Words]:
    """Facts that follow from the engine's: the agent's place, closed places, free hands, types of things and places."""
    known = set(facts)
    place = {fact[2] for fact in facts if fact[0] == "atlocation"}
    here = [fact[1] for fact in facts if fact[0] == "receptacleatlocation" and fact[2] in place]
    yield from (("at", name) for name in here or ["room"])
    yield from (("closed", fact[1]) for fact in facts if fact[0] == "openable" and ("opened", fact[1]) not in known)
    if not any(fact[0] == "holds" for fact in facts):
        yield ("hands_free",)
    types = {"objecttype": "thing", "receptacletype": "place"}
    yield from ((types[fact[0]], fact[1], fact[2].removesuffix("type")) for fact in facts if fact[0] in types)


def _play(about: Mapping[str, Any], answers: TextIO) -> None:
    """Load the game and answer until standard input closes. Raises `ValueError` if a generated game cannot be won."""
    limit_memory(_MEMORY)
    game = LoadedGame(_game(about))
    if "path" not in about:
        state = game.start()
        for command in game.walkthrough:
            state = game.step(command)
        if not state["won"]:
            raise ValueError(f"the household cannot be won by {', '.join(game.walkthrough)}")
    for line in sys.stdin.buffer:
        command = json.loads(line)
        answers.write(json.dumps(game.start() if command is None else game.step(command)) + "\n")
        answers.flush()


def main(parent: str, folder: str, game: str) -> None:
    """Play a game."""
    threading.Thread(target=die_with, args=(int(parent), folder), daemon=True).start()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # the output of TextWorld goes to standard error, because standard output is for answers only
    _play(json.loads(game), answers)


if __name__ == "__main__":
    main(*sys.argv[2:])
