"""Where `check` and the planners disagree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pddlego import tools
from tests.differential.engines import Bench
from tests.differential.explained import Explained, explanation
from tests.differential.variants import Variant


@dataclass
class Report:
    """How many variants have errors, what disagrees, and which explanations were needed."""

    with_errors: int = 0
    without_errors: int = 0
    faults: list[str] = field(default_factory=list)
    explained: set[Explained] = field(default_factory=set)


def compare(planners: Bench, variants: Iterable[Variant]) -> Report:
    report = Report()
    for variant in variants:
        verdicts = planners.verdicts(variant)
        if verdicts.errors:
            report.with_errors += 1
            continue
        report.without_errors += 1
        repaired = tools.repair_files(f"{variant.domain}\n", f"{variant.problem}\n")
        if [result.text for result in repaired] != [f"{variant.domain}\n", f"{variant.problem}\n"]:
            report.faults.append(f"{variant.name}: repair changes it: {repaired[0].repairs}")
        if len(set(verdicts.planned.values())) > 1:
            report.faults.append(f"{variant.name}: {verdicts.planned}")
        for reader, message in verdicts.refused.items():
            entry = explanation(reader, message)
            if entry is None:
                report.faults.append(f"{variant.name}: {reader}: {message}")
            else:
                report.explained.add(entry)
    return report
