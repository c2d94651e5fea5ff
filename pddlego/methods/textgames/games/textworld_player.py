"""Plays one game file of TextWorld: `python -m …textworld_player PARENT FOLDER PATH`.

Each line of standard input is a command as JSON, or `null` to begin anew; each is answered by the state of the game, as
JSON on one line. TextWorld's interpreter is written in C: a control character or a damaged file makes it loop for ever
or end its process.

It ends with its parent, which is named by its number, and removes the folder then.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Mapping
from typing import Any

from pddlego.methods.textgames.games.textworld_maker import import_textworld
from pddlego.util.children import die_with, limit_memory

_MEMORY = 4096
"""MiB. The largest games take a tenth of that."""

_ABOUT = ("description", "inventory", "admissible_commands", "facts", "objective", "max_score")
"""What the engine is to say besides its answer."""

_MOST = 198
"""Bytes of a command that the interpreter takes."""


def main(parent: str, folder: str, path: str) -> None:
    """Load the game and answer until standard input closes."""
    threading.Thread(target=die_with, args=(int(parent), folder), daemon=True).start()
    limit_memory(_MEMORY)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # nothing but answers may reach standard output
    textworld = import_textworld()
    game = textworld.start(path, textworld.EnvInfos(**dict.fromkeys(_ABOUT, True), extras=["walkthrough"]))
    for line in sys.stdin.buffer:
        command = json.loads(line)
        state = game.reset() if command is None else game.step(_cut(command))[0]
        answers.write(json.dumps(_fields(state)) + "\n")
        answers.flush()


def _cut(command: str) -> str:
    """The part of a command that the interpreter takes. It cuts letters in two itself, and fails then."""
    return command.strip().encode()[:_MOST].decode(errors="ignore")


def _fields(state: Any) -> Mapping[str, Any]:
    """What the game reports. Besides its facts it says what kinds of things there are.

    Raises `ValueError` if it leaves something out: it was made without that, or its file is damaged.
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


if __name__ == "__main__":
    main(*sys.argv[1:])
