"""A process that calls functions of `pddlego.tools`: questions on standard input, answers on output.

A question is `{"function": …, "arguments": {…}}`, an answer `{"result": …}` or `{"error": …}`: a line of JSON each.
`left_out` in a result names the parts that are too long for the context of an agent, and a way to get them.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from pddlego import tools
from pddlego.errors import PddlegoError, UsageError
from pddlego.util.children import die_with, limit_memory

MOST = 100_000
"""The maximum size of all lists of an answer together, in characters."""

LONGEST = 2_000
"""The maximum length of a text in an answer, except a repaired file."""

LONGEST_FILE = 2_000_000
"""The maximum length of a repaired file: twice that of an argument."""

_HOW_TO_GET = {
    "check": "Correct these and check again.",
    "repair": "Repair the file in parts, or with 'pddlego repair'.",
    "solve": "'pddlego solve' prints the whole plan.",
    "compare": "'pddlego compare --format json' prints all differences.",
    "applicable": "Name one action.",
    "difference": "'pddlego compare --format json' prints all differences.",
    "simulate": "Pass only the first steps of the plan: the facts of its last state are included, as far as they fit.",
}
"""The way to get the parts that are left out of the answer of a function."""


def main() -> None:
    """Answer questions until the input ends.

    Arguments are the memory limit in MiB and the parent's id, with which this process ends.
    """
    memory, parent = int(sys.argv[1]), int(sys.argv[2])
    limit_memory(memory)
    threading.Thread(target=die_with, args=(parent,), daemon=True).start()
    questions, output = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # nothing but answers may reach standard output
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # planners inherit it, and must not read questions
    for question in questions:
        output.write(json.dumps(answered(json.loads(question), memory)) + "\n")
        output.flush()


def answered(question: Mapping[str, Any], memory: int) -> dict[str, Any]:
    """The answer to a question, in a process whose memory is limited to `memory` MiB."""
    function = question["function"]
    try:
        result = dataclasses.asdict(_called(function, question["arguments"]))
        return {"result": bounded(result, _HOW_TO_GET.get(function, ""))}
    except PddlegoError as error:
        return {"error": _shortened(error.sentence)}
    except (MemoryError, RecursionError):
        return {"error": f"not enough memory: the limit is {memory} MiB. Simplify the task."}


def _called(function: str, arguments: dict[str, Any]) -> Any:
    for name in ("domain", "problem", "text", "left", "right"):
        if tools.is_path(arguments.get(name)):
            raise UsageError(f"{name} is not PDDL", "It is the name of a file.", "Pass its text, not its path.")
    if arguments.get("plan"):
        arguments = {**arguments, "plan": f"{arguments['plan']}\n"}  # a line, which is never a path
    return getattr(tools, function)(**arguments)


def bounded(result: Mapping[str, Any], how_to_get: str) -> dict[str, Any]:
    """The result with lists of `MOST` characters in all, which keep their first items (`states` their last)."""
    lists = [name for name, value in result.items() if isinstance(value, (list, tuple))]
    answer, missing = {name: value if name == "text" else _shortened(value) for name, value in result.items()}, []
    for name in lists:
        room, items = MOST // len(lists), answer[name]
        kept, without = _last_states(items, room) if name == "states" else (_first(items, room), "")
        if len(kept) < len(items):
            missing.append(f"{len(items) - len(kept)} of {len(items)} {name}")
        if without:
            missing.append(without)
        answer[name] = kept
    if len(answer.get("text", "")) > LONGEST_FILE:
        answer["text"] = ""
        missing.append("the text")
    return answer | {"left_out": f"Left out: {', '.join(missing)}. {how_to_get}".strip() if missing else ""}


def _last_states(states: list[dict[str, Any]], room: int) -> tuple[list[dict[str, Any]], str]:
    """The last states of a simulation that fit, and the parts left out: first facts of states before the last."""
    if _size(states) <= room:
        return states, ""
    *before, last = states
    shares = {"facts": room // 2, "added": room // 8, "deleted": room // 8}
    parts = {name: _first(last[name], share) for name, share in shares.items()}
    cut = [f"{len(last[name]) - len(part)} {name}" for name, part in parts.items() if len(part) < len(last[name])]
    changes = _first(({**state, "facts": []} for state in reversed(before)), room // 4)
    without = ["the facts of all states but the last"] if before else []
    without += [f"of the last state {' and '.join(cut)}"] if cut else []
    return [*reversed(changes), {**last, **parts}], ", ".join(without)


def _first(items: Iterable[Any], room: int) -> list[Any]:
    """The first items that fit into `room` characters."""
    kept = []
    for item in items:
        room -= _size(item)
        if room < 0:
            break
        kept.append(item)
    return kept


def _size(value: Any) -> int:
    return len(json.dumps(value)) + 2


def _shortened(value: Any) -> Any:
    """The value with long texts cut to their beginnings."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST else f"{value[:LONGEST]}…"
    if isinstance(value, dict):
        return {name: _shortened(part) for name, part in value.items()}
    return [_shortened(part) for part in value] if isinstance(value, (list, tuple)) else value


if __name__ == "__main__":
    main()
