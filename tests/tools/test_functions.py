"""The functions together: numbers in each, and what the page about agents shows."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest

import pddlego
from pddlego import tools
from tests import fuel


def test_every_function_knows_numbers() -> None:
    """Each result with facts has numbers, and each message about a number its value."""
    task, other = (fuel.DOMAIN, fuel.PROBLEM), fuel.PROBLEM.replace("(= (fuel t1) 8)", "(= (fuel t1) 9)")
    assert pddlego.check(*task, fuel.PLAN) == tools.CheckResult(True, (), 3)
    assert pddlego.solve(*task).plan == fuel.PLAN
    values = "Make (>= (fuel t1) (distance p2 p3)) true: (fuel t1) is 3, (distance p2 p3) is 4.5"
    assert pddlego.validate(*task, (fuel.PLAN[0], fuel.PLAN[2])).advice == values
    assert pddlego.check(*task, (fuel.PLAN[0], fuel.PLAN[2])).findings[0].advice == values
    assert pddlego.repair(fuel.PROBLEM[:-3], fuel.DOMAIN).ok
    assert tools.applicable(*task, fuel.PLAN[0]).actions == ("(refuel t1 p2)",)
    different = tools.DifferenceResult(("(= (fuel t1) 8)",), ("(= (fuel t1) 9)",))
    assert tools.difference(fuel.DOMAIN, fuel.PROBLEM, other) == different
    compared = pddlego.compare(fuel.DOMAIN, fuel.PROBLEM, other)
    assert (compared.only_left, compared.only_right) == (different.only_left, different.only_right)
    states = pddlego.simulate(*task, fuel.PLAN).states
    assert [[fact for fact in state.facts if "fuel" in fact] for state in states] == [
        [f"(= (fuel t1) {number})"] for number in ("8", "3", "10", "5.5")
    ]
    assert repr(pddlego.parse_problem(fuel.PROBLEM)) == "<Problem tour: 4 objects, 4 facts, 4 numbers>"


def test_the_functions_are_loaded_when_they_are_used() -> None:
    assert set(pddlego.__all__) <= set(dir(tools)) | set(dir(pddlego))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = pddlego.nothing  # type: ignore[attr-defined]


def test_the_conversation_of_the_page_about_agents_is_what_the_tools_say() -> None:
    page = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")
    domain, draft = re.findall(r"^```pddl\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    checked, repaired, solved, validated = (
        json.loads(block) for block in re.findall(r"^```json\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    )
    findings = [dataclasses.asdict(finding) for finding in tools.check(domain, draft).findings]
    for shown in checked["findings"]:
        assert any(shown.items() <= finding.items() for finding in findings), shown
    result = tools.repair(draft.replace("(torch her)", "(torch here)"), domain)
    assert {"ok": result.ok, "repairs": [*result.repairs]} == repaired
    plan = tools.solve(domain, result.text, search="astar(lmcut)")
    assert {"status": plan.status, "plan": [*(plan.plan or ())], "cost": plan.cost} == solved
    greedy = "(cross-together bob ann here there) (cross-alone ann there here) (cross-together cid ann here there) "
    greedy += "(cross-alone ann there here) (cross-together dan ann here there)"
    found = tools.validate(domain, result.text, greedy.replace(") ", ")\n"))
    assert {"valid": found.valid, "cost": found.cost} == validated
