"""Compares two domains in a process of its own: a question to Z3 may take more time or memory than it was given."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from pddlego.pddl import Domain, Problem
from pddlego.pddl.conditions import Formula
from pddlego.planning.compare import Comparison, ComparisonVerdict
from pddlego.planning.domains.compare import SECONDS, compare_domains
from pddlego.util.children import die_with, for_children, kill_group, limit_memory, start_python

_ENDING = 20.0
"""Seconds that the process has beyond those of the comparison: to start, and to end a question that is late."""

_MEMORY = 2048
"""The memory of the process in MiB."""

_BOOT = "import sys; sys.path[:] = sys.argv[3:]; from pddlego.planning.domains.process import main; main()"


def compare_apart(
    left: Domain,
    right: Domain,
    problem: Problem | None = None,
    assumed: Sequence[Formula] = (),
    *,
    seconds: float = SECONDS,
    ending: float = _ENDING,
    memory: int = _MEMORY,
) -> Comparison:
    """The answer of `compare_domains`; undecided if the process does not end in time, or ends without an answer.

    Raises what `compare_domains` raises.
    """
    question = pickle.dumps((left, right, problem, tuple(assumed), seconds))
    pipe, paths = subprocess.PIPE, [path or str(Path.cwd()) for path in sys.path]
    process = start_python(
        "The comparison",
        ["-c", _BOOT, str(memory), str(os.getpid()), *paths],
        stdin=pipe,
        stdout=pipe,
        stderr=subprocess.DEVNULL,
        env=for_children(PYTHONHASHSEED="0"),
    )
    with process:
        try:
            answer = process.communicate(question, timeout=seconds + ending)[0]
        except subprocess.TimeoutExpired:
            return Comparison(ComparisonVerdict.UNDECIDED, f"the time is up, after {seconds + ending:g} s")
        finally:
            if process.returncode is None:
                kill_group(process.pid)
    if not answer:
        reason = f"the comparison ended without an answer; its memory limit is {memory} MiB"
        return Comparison(ComparisonVerdict.UNDECIDED, reason)
    comparison: Comparison | Exception = pickle.loads(answer)
    if isinstance(comparison, Exception):
        raise comparison
    return comparison


def main() -> None:
    """Answer the question on standard input. Arguments are the memory limit in MiB, and the parent's id."""
    limit_memory(int(sys.argv[1]))
    threading.Thread(target=die_with, args=(int(sys.argv[2]),), daemon=True).start()
    left, right, problem, assumed, seconds = pickle.load(sys.stdin.buffer)
    answer: object
    try:
        answer = compare_domains(left, right, problem, assumed=assumed, seconds=seconds)
    except MemoryError:
        return
    except Exception as error:  # noqa: BLE001 -- the border of the process: the caller raises it
        answer = error
    sys.stdout.buffer.write(pickle.dumps(answer))
