"""Defects of files and faults of plans as findings, which quote the text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from pddlego.pddl import Defect
from pddlego.pddl.rules import Position, general_advice
from pddlego.pddl.sexpr import LINE_BREAK, TOKEN
from pddlego.planning.validation.fault import PlanFault
from pddlego.tools.results import Finding, Part, Severity
from pddlego.util.text import capitalized


def findings_in(
    part: Part, defects: Iterable[Defect], text: str, place_in: Callable[[Position], Position] = lambda place: place
) -> Iterator[Finding]:
    """Defects as findings that quote a text; `place_in` converts the position of a defect for that text."""
    lines = LINE_BREAK.split(text)
    for defect in defects:
        severity: Severity = "error" if defect.blocking else "warning"
        advice = capitalized(defect.advice or general_advice(defect.kind))
        finding = Finding(part, 1, 1, severity, defect.kind.id, defect.described, advice=advice, meant=defect.meant)
        place = place_in(defect.place) if defect.place else None
        yield quoting(finding, lines, place, words=defect.word.count(" ") + 1)


def quoting(finding: Finding, lines: Sequence[str], place: Position | None, words: int = 1) -> Finding:
    """A finding about `words` words or lists at a position of a text; without a position, about the whole text."""
    if place is None:
        return replace(finding, meant="")
    line, column = place
    source = lines[line - 1] if line <= len(lines) else ""
    end = _end_column(source, column, words)
    quoted = source if len(source) <= _MOST_SOURCE else ""
    end_column, meant = (end, finding.meant) if end else (len(source) + 1, "")
    return replace(finding, line=line, column=column, source=quoted, end_column=end_column, meant=meant)


_MOST_SOURCE = 1000
"""The maximum length of a line that a finding quotes."""


def _end_column(source: str, column: int, words: int) -> int | None:
    """The column after the words or lists at a position of a line; None if the last one goes on after the line."""
    depth = 0
    for token in TOKEN.finditer(source, column - 1):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        words -= depth < 1
        if not words:
            return token.end() + 1
    return None


def rule_of(fault: PlanFault) -> str:
    return fault.kind.value.replace(" ", "-")


def fault_text(fault: PlanFault) -> str:
    """The text of a fault, with the number of its step."""
    if fault.time is None:
        return fault.what
    return f"step {fault.time + 1}: {fault.subject}{fault.fault}"


def fault_advice(fault: PlanFault) -> str:
    """The advice of a fault without the parentheses that VAL writes around it."""
    return fault.advice[1:-1].rstrip() if fault.advice.startswith("(") else fault.advice


def not_checked(part: Part, cause: Part) -> Finding:
    message = f"the {part} was not checked, because the {cause} has errors"
    return Finding(part, 1, 1, severity="error", rule="not-checked", message=message, advice=f"Fix the {cause} first.")
