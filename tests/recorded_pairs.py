"""Pairs of files that models wrote, with what a planner has said about them: whether pddlego can plan with them."""

from __future__ import annotations

from dataclasses import dataclass

from pddlego.pddl.costs import needs_numbers
from pddlego.pddl.rules import Level
from pddlego.pddl.tolerant.files import read_pair
from pddlego.planning import Planner, Search
from pddlego.tools.audit.judges import difference_from_record
from pddlego.tools.audit.pairs import LabelledPair


@dataclass(frozen=True)
class CheckedPair:
    """`refused` is the message about files that are not valid, and `contradiction` a difference to the record."""

    pair: LabelledPair
    repairs: tuple[str, ...]
    refused: str = ""
    contradiction: str = ""


def check_pair(pair: LabelledPair, planner: Planner) -> CheckedPair:
    reading = read_pair(pair.domain, pair.problem, level=Level.TIME)
    repairs = tuple(map(str, reading.files.repairs))
    if reading.domain is None or reading.defects:
        return CheckedPair(pair, repairs, refused=reading.defects[0].message)
    search = Search(engine="auto") if needs_numbers(reading.domain, reading.problem) else Search()
    result = planner.solve(reading.domain, reading.problem, search)
    return CheckedPair(pair, repairs, "", difference_from_record(pair, result.status.value, len(result.plan or ())))
