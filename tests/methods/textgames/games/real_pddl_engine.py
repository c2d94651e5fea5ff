"""Plays a game with TextWorld and the real library `fast-downward-textworld`: run by `test_alfworld_walks`.

It must not import pddlego, whose translator has the same folder as that library. Standard input has the game, the names
of its things and the commands; each line of the output has the state after a command.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def main() -> None:
    asked = json.load(sys.stdin)
    from textworld import EnvInfos
    from textworld.envs.pddl import PddlEnv

    engine: Any = PddlEnv(EnvInfos(admissible_commands=True, facts=True))
    engine.load(asked["game"])
    for info in engine._entity_infos.values():
        info.name = asked["names"][info.id]
    state = engine.reset()
    for command in [None, *asked["commands"]]:
        state = state if command is None else engine.step(command)[0]
        facts = sorted([fact.name, *(argument.name for argument in fact.arguments)] for fact in state["facts"])
        told = {"text": state.feedback.strip(), "commands": state["admissible_commands"], "won": bool(state["won"])}
        sys.stdout.write(json.dumps(told | {"facts": facts}) + "\n")


if __name__ == "__main__":
    main()
