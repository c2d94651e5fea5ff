"""One call of a function of `pddlego.tools` in a process of its own: a question on standard input, an answer on output.

The question is `{"function": …, "arguments": {…}}`, the answer `{"result": …}` or `{"error": …}`, both as JSON.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

from pddlego import tools
from pddlego.errors import PddlegoError, UsageError
from pddlego.util.children import die_with, limit_memory

FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "check": tools.check,
    "repair": tools.repair,
    "solve": tools.solve,
    "validate": tools.validate,
    "simulate": tools.simulate,
    "compare": tools.compare,
}


def main() -> None:
    """Answer. Arguments are the memory limit in MiB, and the parent process, without which this one ends."""
    memory, parent = int(sys.argv[1]), int(sys.argv[2])
    limit_memory(memory)
    threading.Thread(target=die_with, args=(parent,), daemon=True).start()
    question = json.load(sys.stdin.buffer)
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # nothing but the answer may reach standard output
    try:
        answer: dict[str, Any] = {"result": dataclasses.asdict(_called(question["function"], question["arguments"]))}
    except PddlegoError as error:
        answer = {"error": error.sentence}
    except (MemoryError, RecursionError):
        answer = {"error": f"not enough memory: the limit is {memory} MiB. Simplify the task."}
    json.dump(answer, output)
    output.close()


def _called(function: str, arguments: dict[str, Any]) -> Any:
    for name in ("domain", "problem", "plan", "text", "left", "right"):
        text = arguments.get(name)
        if text and "(" not in text:  # it would be taken for the path of a file
            raise UsageError(
                f"{name} is not PDDL", "It has no parenthesis.", "Pass the text of the file, not its path."
            )
    return FUNCTIONS[function](**arguments)


if __name__ == "__main__":
    main()
