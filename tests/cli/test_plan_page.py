"""The page of a plan: a step for each state, with what changes and the whole state."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path

from pddlego import tools
from pddlego.cli.simulate import write_plan_page
from tests.lamps import DOMAIN, PLAN, PROBLEM


def page_of(result: tools.SimulationResult, file: Path, title: str) -> str:
    write_plan_page(result, file, title)
    return file.read_text(encoding="utf-8")


def test_the_page_has_the_changes_and_the_state_of_each_step(tmp_path: Path) -> None:
    page = page_of(tools.simulate(DOMAIN, PROBLEM, PLAN), tmp_path / "a.html", "evening <1>")
    packed = re.search(r'id="data-plan">([^<]*)<', page)
    assert packed is not None
    value = json.loads(zlib.decompress(base64.b64decode(packed[1])))
    assert value["tabs"] == ["changes", "state"]
    assert [step["command"] for step in value["steps"]] == ["the initial state", *PLAN.splitlines()]
    changes, state = ([value["lines"][line] for line in lines] for lines in value["steps"][2]["lines"])
    assert changes[:2] == [
        '<span class="green">+ (at kitchen)</span>',
        '<span class="red">- (at hall)</span>',
    ]
    assert "cost so far: 2" in changes
    assert '<span class="green">(at kitchen)</span>' in state and "(lit hall)" in state
    assert "<h1>evening &lt;1&gt;: 3 steps, the goal is reached</h1>" in page
    assert re.findall(r'<button id="([\w-]+)" type="button" hidden', page) == [
        "back",
        "failure",
        "different",
    ]


def test_a_plan_that_fails_is_shown_up_to_its_fault(tmp_path: Path) -> None:
    page = page_of(tools.simulate(DOMAIN, PROBLEM, "(switch-on kitchen)"), tmp_path / "a.html", "evening")
    assert "evening: 0 steps, not possible: step 1: (switch-on kitchen)" in page
