"""The program in which a game of ALFWorld runs: `python -m …alfworld_program play PARENT FOLDER GAME`.

GAME is JSON: the `path` of a game file, or the `name`, `parameters` and `seed` of a household that is generated. Each
line of standard input is a command as JSON, or `null` to start the game again, and the answer is the state of the game
as JSON on one line. TextWorld's parser and our translator are not made for several games at once in a process.

The program ends when the process with the number PARENT ends, and then removes FOLDER.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any, TextIO

from pddlego.methods.textgames.games.fast_downward_shim import install
from pddlego.methods.textgames.games.households import Data, displayed_names, game_of, household
from pddlego.methods.textgames.games.process import connected, serve_game

_TASK = re.compile(r"Your task is to: (.+?)\.?\s*$", re.DOTALL)
_GO = re.compile(r"go to (.+)")
_OLDER = (
    ("You arrive at {lend.name}.", "You arrive at {r.name}."),
    ("put {o} in/on {r}", "move {o} to {r}"),
    ("You put the {o.name} in/on the {r.name}.", "You move the {o.name} to the {r.name}."),
)
"""Parts of the grammar in the official games, and those of the package's grammar in their place."""


def _game(about: Mapping[str, Any]) -> dict[str, Any]:
    """The game of a file, or of a household. Raises `ValueError` and `OSError`."""
    if "path" in about:
        game: Any = json.loads(Path(about["path"]).read_text(encoding="utf-8"))
        if not isinstance(game, dict):
            raise ValueError("it is not a JSON object")
        missing = [name for name in ("pddl_domain", "grammar", "pddl_problem") if not isinstance(game.get(name), str)]
        if missing:
            raise ValueError(f"it has no {', '.join(missing)}")
        for older, newer in _OLDER:
            game["grammar"] = game["grammar"].replace(older, newer)
        listed = game.get("walkthrough")
        commands = [text for text in listed if isinstance(text, str)] if isinstance(listed, list) else []
        return game | {"walkthrough": [re.sub(r"^put (.+) in/on (.+)$", r"move \1 to \2", text) for text in commands]}
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
        textgen.EvalSymbol.derive = lambda symbol, context=None: [
            textgen.TerminalSymbol(evaluated(symbol.expression, (context or symbol.context)["variables"]))
        ]
        # Not `policy_commands`, nor the walkthrough, for which TextWorld would plan: that takes minutes.
        self._engine: Any = PddlEnv(EnvInfos(admissible_commands=True, facts=True))
        self._engine.load(game)
        infos = self._engine._entity_infos.values()
        names = displayed_names([info.id for info in infos])
        for info in infos:
            info.name = names[info.id]
        # Official walkthroughs may name things by their ids, which the engine never displays.
        self.walkthrough = tuple(
            " ".join(names.get(word.lower(), word) for word in text.split()) for text in game["walkthrough"]
        )
        self._task = self._went = ""

    def start(self) -> Mapping[str, Any]:
        """Start the game again."""
        state = self._engine.reset()
        task, self._went = _TASK.search(state.feedback), ""
        self._task = " ".join(task[1].split()) if task else ""
        return self._fields(state)

    def step(self, command: str) -> Mapping[str, Any]:
        """Send a command."""
        went = _GO.fullmatch(command)
        self._went = went[1] if went else self._went
        return self._fields(self._engine.step(command)[0])

    def _fields(self, state: Any) -> Mapping[str, Any]:
        named = [(fact.name, *(argument.name for argument in fact.arguments)) for fact in state["facts"]]
        facts = [fact for fact in named if not fact[0].startswith(("new-axiom@", "not_"))]
        return {
            "text": state.feedback.strip(),
            "task": self._task,
            "commands": state["admissible_commands"],
            "facts": sorted({*facts, *_derived(facts, self._went)}),
            "won": bool(state["won"]),
            "solution": self.walkthrough,
        }


def evaluated(expression: str, variables: Mapping[str, Any]) -> str:
    """The text of an expression in a grammar, for which TextWorld calls `eval`, although a file may contain any code.

    It consists of texts, of things such as `o` and `o.name`, `+` and `or`. Raises
    `RuntimeError` for anything else, because TextWorld takes a `ValueError` for a refused command.
    """

    def value(node: ast.expr) -> str:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        if isinstance(node, ast.Name):
            return str(variables[node.id])
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in _ATTRIBUTES:
            return str(getattr(variables[node.value.id], node.attr))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return value(node.left) + value(node.right)
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            return next(filter(None, map(value, node.values)), "")
        raise RuntimeError(f"a grammar of ALFWorld has no such expression: {expression[:80]}")

    return value(ast.parse(expression.strip(), mode="eval").body)


_ATTRIBUTES = ("definite", "id", "indefinite", "name")
_Words = tuple[str, ...]


def _derived(facts: list[_Words], went: str) -> Iterator[_Words]:
    """Facts that follow from the engine's: the agent's place, closed places, free hands, types of things and places.

    Of several places at the agent's location, it is at the one to which it `went`.
    """
    known = set(facts)
    location = {fact[2] for fact in facts if fact[0] == "atlocation"}
    here = sorted(fact[1] for fact in facts if fact[0] == "receptacleatlocation" and fact[2] in location)
    yield ("at", went if went in here else next(iter(here), "room"))
    yield from (("closed", fact[1]) for fact in facts if fact[0] == "openable" and ("opened", fact[1]) not in known)
    if not any(fact[0] == "holds" for fact in facts):
        yield ("hands_free",)
    types = {"objecttype": "thing", "receptacletype": "place"}
    yield from ((types[fact[0]], fact[1], fact[2].removesuffix("type")) for fact in facts if fact[0] in types)


def _play(about: Mapping[str, Any], answers: TextIO) -> None:
    """Load the game and answer until standard input closes. Raises `ValueError` if a generated game cannot be won."""
    try:
        game = LoadedGame(_game(about))
        state = game.start()
    except Exception as error:  # noqa: BLE001 -- parsers of TextWorld and the translator, and a file with anything in it
        place = about.get("path", "the household")
        raise RuntimeError(f"{place} cannot be loaded: {type(error).__name__}: {error}"[:300]) from None
    if "path" not in about:
        for command in game.walkthrough:
            state = game.step(command)
        if not state["won"]:
            raise ValueError(f"the household cannot be won by {', '.join(game.walkthrough)}")
    serve_game(game.start, game.step, answers)


if __name__ == "__main__":
    _play(json.loads(sys.argv[4]), connected(sys.argv[2], sys.argv[3]))
