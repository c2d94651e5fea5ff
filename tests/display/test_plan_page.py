"""The page of a plan: a step for each state, with what changes and the whole state."""

from __future__ import annotations

import base64
import json
import re
import zlib

from pddlego import tools
from pddlego.display.plan_page import plan_page
from tests.lamps import DOMAIN, PLAN, PROBLEM


def test_the_page_has_the_changes_and_the_state_of_each_step() -> None:
    page = plan_page(tools.simulate(DOMAIN, PROBLEM, PLAN), "evening <1>")
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
        "rejected",
        "surprise",
        "different",
    ]


def test_a_plan_that_fails_is_shown_up_to_its_fault() -> None:
    page = plan_page(tools.simulate(DOMAIN, PROBLEM, "(switch-on kitchen)"), "evening")
    assert "evening: 0 steps, not possible: step 1: (switch-on kitchen)" in page
