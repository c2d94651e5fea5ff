"""Our part of the library `fast_downward` against the real one, in random walks through households."""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pddlego.methods.textgames.games import GameSpec
from pddlego.methods.textgames.games.alfworld import HouseholdGame
from pddlego.methods.textgames.games.households import Data, displayed_names, game_of, household

PYTHON = os.environ.get("PDDLEGO_FAST_DOWNWARD_PYTHON", "")
"""The Python of an environment with `textworld` and `fast-downward-textworld`."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.alfworld,
    pytest.mark.skipif(not PYTHON, reason="the real library needs an environment of its own (see .ci/run)"),
]

COMMANDS = 80
DERIVED = {"at", "closed", "hands_free", "place", "thing"}
"""The facts that pddlego adds, but for the engine's own."""


def walk(seed: int) -> tuple[dict[str, Any], list[str], list[dict[str, Any]]]:
    """A game, random commands with those that win among them, and the states in our process."""
    spec = GameSpec("household", {"receptacles": 12, "objects": 25, "closed": 60}, seed, "all")
    rng, game = random.Random(seed), HouseholdGame(spec)
    game.start()
    states = [dict(game._state)]
    commands: list[str] = []
    for _ in range(COMMANDS):
        valid = [command for command in states[-1]["commands"] if command != "help"]
        rare = [command for command in valid if not command.startswith(("go to", "examine"))]
        commands.append(rng.choice(rare if rare and rng.random() < 0.7 else [*valid, "fly away"]))
        game.step(commands[-1])
        states.append(dict(game._state))
    for command in game._state["solution"]:
        commands.append(command)
        game.step(command)
        states.append(dict(game._state))
    game.close()
    data = Data()
    return game_of(data, household(data, spec.name, spec.parameters, seed), seed), commands, states


@pytest.mark.parametrize("seed", range(6))
def test_a_walk_is_the_same_with_the_real_library(seed: int) -> None:
    game, commands, states = walk(seed)
    ids = set(game["pddl_problem"].lower().replace("(", " ").replace(")", " ").split())
    asked = {"game": game, "names": displayed_names(sorted(ids)), "commands": commands}
    script = Path(__file__).with_name("real_pddl_engine.py")
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": ""}
    run = subprocess.run(
        [PYTHON, str(script)], input=json.dumps(asked), capture_output=True, text=True, env=environment, check=False
    )
    assert run.returncode == 0, run.stderr[-1000:]
    real = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(real) == len(states) == len(commands) + 1
    for command, ours, theirs in zip(["start", *commands], states, real, strict=True):
        assert ours["text"] == theirs["text"], (command, ours["text"], theirs["text"])
        assert ours["commands"] == theirs["commands"], (command, set(ours["commands"]) ^ set(theirs["commands"]))
        assert ours["won"] == theirs["won"], command
        facts = {tuple(fact) for fact in ours["facts"] if fact[0] not in DERIVED}
        true = {tuple(fact) for fact in theirs["facts"] if not fact[0].startswith(("not_", "new-axiom@"))}
        assert facts == true, (command, facts ^ true)
