"""Compares `check` with every planner on all variants: `python -m tests.differential`. Exit code 1 if they disagree."""

from __future__ import annotations

import sys

from tests.differential.engines import bench
from tests.differential.report import compare
from tests.differential.variants import variants


def main() -> int:
    with bench() as planners:
        report = compare(planners, variants())
    lines = [f"{report.without_errors} variants without errors, {report.with_errors} with errors", *report.faults]
    lines += [
        f"explained: {entry.reader}: {entry.message!r}: {entry.reason}" for entry in sorted(report.explained, key=str)
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
