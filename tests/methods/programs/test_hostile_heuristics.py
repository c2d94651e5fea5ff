"""Heuristics that attack: the host, the sandbox, the search, and what it reports. None of them gains anything."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pddlego.methods.programs.guide import CLIMB, GREEDY
from pddlego.methods.programs.guided import GuidedKind
from pddlego.methods.programs.reference_model import reference
from pddlego.planning import ProcessPlanner, validate
from pddlego.sandbox import Sandbox
from tests.methods.programs.guiding import blocks, grounded, heuristic, tried
from tests.sandbox.ordinary import needs_locks
from tests.scale import PATIENCE

pytestmark = needs_locks

COUNT = "return len(self.goals - node.state)"

GUIDE = """
import gc, sys
def guide():
    return next(made for made in gc.get_objects() if type(made).__name__ == "Guide")
"""


def reports(value: str) -> str:
    """A heuristic that replaces the search by a report of its own."""
    return heuristic(COUNT, module=f"{GUIDE}\nREPORT = {value}\nguide().search = lambda *_: REPORT\n")


FORGED = {
    "no plan at all": '{"ended": "plan", "plan": [], "expanded": 0, "evaluated": 0}',
    "a plan of unknown actions": '{"ended": "plan", "plan": ["(win)"], "expanded": 1}',
    "a plan that is a number": '{"ended": "plan", "plan": 7, "expanded": 1}',
    "a plan of numbers": '{"ended": "plan", "plan": [7], "expanded": 1}',
    "a plan of empty actions": '{"ended": "plan", "plan": ["()", ""], "expanded": 1}',
    "a plan of a million actions": '{"ended": "plan", "plan": ["(pick-up b0)"] * 1000000, "expanded": 1}',
    "counts that are texts": '{"ended": "exhausted", "expanded": "many"}',
    "counts that are infinite": '{"ended": "exhausted", "expanded": float("inf")}',
    "a count of four thousand digits": '{"ended": "exhausted", "expanded": 10 ** 4000}',
    "a count in a text": '{"ended": "exhausted", "expanded": "9" * 4000}',
    "counts below zero": '{"ended": "exhausted", "expanded": -5}',
    "no counts": '{"ended": "plan", "plan": []}',
    "a report that is a list": "[1, 2, 3]",
    "an ending that does not exist": '{"ended": "won", "plan": [], "expanded": 1}',
    "a state that cannot be reached": '{"ended": "stalled", "plan": ["(stack b0 b0)"], "value": 1, "successors": []}',
    "successors that do not exist": (
        '{"ended": "stalled", "plan": [], "value": 1, "successors": [["(win)", 0]], "expanded": 1}'
    ),
    "values that are texts": (
        '{"ended": "stalled", "plan": [], "value": "low", "successors": [["(pick-up b0)", "x"]], "expanded": 1}'
    ),
    "nothing": "None",
}

ATTACKS = {
    "reads a file": heuristic("return len(open('/etc/passwd').read())"),
    "writes a file": heuristic("open(PLACE, 'w').write('x')\nreturn 0"),
    "signals the host": heuristic("import os\nos.kill(HOST, 9)\nreturn 0"),
    "opens a connection": heuristic("import socket\nsocket.socket()\nreturn 0"),
    "runs a program": heuristic("import os\nos.system('touch ' + PLACE)\nreturn 0"),
    "loops in __init__": heuristic(COUNT, init="while True:\n    pass"),
    "loops while it is loaded": heuristic(COUNT, module="while True:\n    pass"),
    "loops and catches everything": heuristic("while True:\n    try:\n        while True: pass\n    except: pass"),
    "fills the memory": heuristic("x = [0]\nwhile True:\n    x += x"),
    "computes a huge number": heuristic("return 10 ** (10 ** 10)"),
    "never ends a recursion": heuristic("return self(node)"),
    "breaks the interpreter's stack": heuristic(
        "return self(node)", module="import sys\nsys.setrecursionlimit(10 ** 9)"
    ),
    "ends its process": heuristic("import os\nos._exit(0)"),
    "writes to the pipe": heuristic(
        "import os\nfor number in range(64):\n    try:\n"
        "        os.write(number, b'{\"status\": \"returned\", \"value\": {}}\\n')\n"
        "    except OSError:\n        pass\n" + COUNT
    ),
    "stops the clock": heuristic(
        "return -len(node.state)", module="import time\ntime.process_time = lambda: 0.0\ntime.monotonic = lambda: 0.0"
    ),
    "ignores the signal": heuristic(
        "while True:\n    pass", module="import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)"
    ),
    "removes the goals": heuristic(COUNT, init="task.goals = frozenset()\ntask.operators.clear()"),
    "removes the goals of the search": heuristic(COUNT, init="guide()._goals = frozenset()", module=GUIDE),
    "begins at the goal": heuristic(COUNT, init="guide()._initial = task.goals", module=GUIDE),
    "makes actions free": heuristic(
        COUNT,
        init="made, none = guide(), frozenset()\nfor index, operator in enumerate(task.operators):\n"
        "    free = type(made._operators[0])(operator.name, none, operator.add_effects, none)\n"
        "    made._always.append((index, free))",
        module=GUIDE,
    ),
    "changes the state": heuristic("object.__setattr__(node, 'state', self.goals)\nreturn 0"),
    "returns a number that compares as it likes": heuristic(
        "return Odd(3)",
        module="class Odd(int):\n    def __lt__(self, other): raise ValueError\n    __add__ = __lt__",
    ),
}  # fmt: skip

HEURISTICS = {**ATTACKS, **{f"reports {name}": reports(value) for name, value in FORGED.items()}}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as made:
        yield made


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", [GREEDY, CLIMB])
@pytest.mark.parametrize("name", HEURISTICS)
def test_nothing_is_gained_and_nothing_harmed(
    sandbox: Sandbox, planner: ProcessPlanner, tmp_path: Path, name: str, algorithm: str
) -> None:
    place = tmp_path / "file"
    text = f"PLACE, HOST = {str(place)!r}, {os.getpid()}\n{HEURISTICS[name]}"
    trial = tried(sandbox, planner, text, number=6, algorithms=(algorithm,), seconds=2.0)
    if trial.solved:  # then it is a plan, which took some search
        task = grounded(planner, blocks(6))
        assert trial.plan is not None and len(trial.plan) == trial.length > 0
        assert validate(task.domain, task.task.problem, trial.plan) is None
        assert trial.expanded >= trial.length
    assert trial.expanded >= 0
    assert trial.seconds < PATIENCE
    assert not place.exists()
    if name.startswith("reports"):
        assert not trial.solved, trial
        assert trial.kind in (GuidedKind.INVALID, GuidedKind.EXHAUSTED, GuidedKind.CALL, GuidedKind.STALLED)
    good = tried(sandbox, planner, reference("blocks", "heuristics") or "", number=6)
    assert good.solved and good.length == good.expanded  # the next one is not harmed either


def test_there_are_enough_of_them() -> None:
    assert len(HEURISTICS) >= 30
