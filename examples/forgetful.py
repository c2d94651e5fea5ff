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

from pddlego.episode import Episode
from pddlego.episodes import episode_events, follow, make_game, make_planner, open_run
from pddlego.events import Limits
from pddlego.models import Completion, Request
from pddlego.models.reader import ReaderModel
from pddlego.setting_files import load_setting


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
        edit["init"]["add"] = [each for each in edit["init"]["add"] if not forgotten.fullmatch(each)]
        return replace(answer, text=json.dumps(edit))


def main(room: str, direction: str, seed: int) -> None:
    setting = load_setting("coin")
    episode = Episode(setting, seed, "edit", Limits(setting.max_steps), retries=1)
    model = Forgetful(room, direction)
    with make_planner("pyperplan") as planner:
        run, journal = open_run(Path("runs"), episode, model, planner)
        ended = follow(episode_events(episode, make_game(setting, seed), model, planner), [journal.write])
        journal.close()
    print(f"{ended.outcome.value} after {ended.tally.steps} steps: {run.path}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
