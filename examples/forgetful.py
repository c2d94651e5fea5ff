"""Plays Coin Collector with a model that errs: it reads like the built-in reader, but one exit it never writes down.

    python examples/forgetful.py kitchen west 3

is an episode of seed 3 in which the model never says where the kitchen's western exit leads. It is recorded in `runs/`,
like any other; `pddlego show` finds the fault and `pddlego resume` corrects it.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pddlego.evaluation.assemble import evaluating
from pddlego.evaluation.config import resolve
from pddlego.evaluation.prepare import make_setup
from pddlego.methods.base import Tools
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.models import Completion, Request
from pddlego.runs.folders import fresh_folder
from pddlego.runs.journal import follow
from pddlego.runs.store import Recorder


@dataclass
class Forgetful:
    """A `Model`: what the reader says, without one connection."""

    room: str
    direction: str
    name: str = "forgetful"
    description: Mapping[str, Any] = field(default_factory=dict)
    reader: ReaderModel = field(default_factory=ReaderModel)

    def complete(self, request: Request) -> Completion:
        answer = self.reader.complete(request)
        edit = json.loads(answer.text)
        forgotten = re.compile(rf"\(connected {self.room} \S+ {self.direction}\)")
        edit["init"]["add"] = [line for line in edit["init"]["add"] if not forgotten.fullmatch(line)]
        return replace(answer, text=json.dumps(edit))


def main(room: str, direction: str, seed: int) -> None:
    resolved = resolve({"games": ("coin",), "modes": ("edit",), "seeds": str(seed), "retries": 1}, {})
    setup = make_setup(resolved)
    (cell,) = setup.cells()
    played, model = setup.played_in(cell), Forgetful(room, direction)
    path = fresh_folder(Path("runs"), f"coin-edit-{model.name}-seed{seed}")
    with evaluating(setup, path) as running:
        tools = Tools(model, running.planner, setup.limits, setup.config.limits.retries)
        recorder = Recorder(replace(cell, model=model.name), running.store)
        ended = follow(played.method.run(cell, played.setting, played.options, tools), [recorder.keep])
        recorder.close()
        recorder.record()
    print(f"{ended.outcome.value} after {ended.usage.steps} steps: {path}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
