"""What `check` finds no error in is read by every planner. `python -m tests.differential` prints how it went."""

from __future__ import annotations

import pytest

from tests.differential.engines import bench, checked
from tests.differential.explained import EXPLAINED
from tests.differential.report import compare
from tests.differential.variants import BASES, variants


def test_variants_are_different_tasks() -> None:
    tasks = [(variant.domain, variant.problem) for variant in variants()]
    assert len(set(tasks)) == len(tasks) > 400
    assert not any(checked(base)[2] for base in BASES)


@pytest.mark.slow
@pytest.mark.oracle
def test_planners_read_the_tasks_that_are_varied() -> None:
    with bench() as planners:
        report = compare(planners, BASES)
    assert report.faults == []
    assert report.without_errors == len(BASES)


@pytest.mark.slow
@pytest.mark.oracle
def test_planners_read_what_has_no_errors() -> None:
    with bench() as planners:
        report = compare(planners, variants())
    assert report.faults == []
    assert report.explained == set(EXPLAINED), "an explanation that is not needed any more can go"
    assert report.without_errors > 150
    assert report.with_errors > 150
