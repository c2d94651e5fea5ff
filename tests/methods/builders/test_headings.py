"""Answers in the forms of L2P: the paper's headings and the library's tags, with every kind of component."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.methods.builders.building import Target, components_in
from pddlego.methods.builders.draft import COMPONENTS, ComponentError
from tests.methods.builders.test_l2p import DOMAIN, PROBLEM

MOVE = """I think about it first: the truck moves. (This is the chain of thought.)

### Action Parameters
```
- ?t - truck: The truck that drives
- ?to - place: Where it goes
```

### Action Preconditions
```
(and
    (can-go ?t ?to) ; the way is open
)
```

### Action Effects
```
(and
    (at ?t ?to) ; there
)
```

### New Predicates
```
- (can-go ?t - truck ?to - place): 'the truck ?t can drive to ?to: by a road'
2. (at ?t - truck ?p - place) ; where it is
```
"""

HEADED = {
    "types": "### TYPES\n```\n{\n    \"truck\": \"it drives\",\n    'place': 'where: things are',\n}\n```",
    "constants": "### CONSTANTS\n```\n- home - place: the first\n```",
    "predicates": MOVE,
    "functions": "### FUNCTIONS\n```\n- (fuel ?t - truck): what is left\n```",
    "objects": "### OBJECTS\n```\nt1 - truck ; the truck\na b - place\n```",
    "init": "### INITIAL\n```\n(at t1 a) ; here\n(= (fuel t1) 3)\n```",
    "goal": "### GOAL\n```\n(at t1 b) ; there\n(done)\n```",
    "action": MOVE,
    "parameters": MOVE,
    "preconditions": MOVE,
    "effects": MOVE,
}


def tagged(tag: str, value: Any) -> str:
    return f"First I think.\n<{tag}>\n{json.dumps(value)}\n</{tag}>\n"


(ACTION,) = DOMAIN["actions"]
TAGGED = {
    **{kind: tagged(kind, DOMAIN[kind]) for kind in ("types", "constants", "predicates")},
    "functions": tagged("functions", [{"name": "fuel", "params": [{"variable": "?t", "type": "rover"}], "desc": ""}]),
    "rules": tagged("derived_predicates", DOMAIN["derived_predicates"]),
    "action-list": tagged("nl_actions", {"drive": "from place to place"}),
    "action": tagged("actions", [{**ACTION, "name": "other"}, ACTION]),
    "parameters": tagged("parameters", ACTION["params"]),
    "preconditions": f"<preconditions>\n```json\n{json.dumps(ACTION['preconditions'])}\n```\n</preconditions>",
    "effects": tagged("effects", ACTION["effects"]),
    "objects": tagged("objects", PROBLEM["objects"]),
    "init": tagged("initial_states", PROBLEM["initial_state"]),
    "goal": tagged("goal_states", PROBLEM["goal_state"]),
    "domain": tagged("domain", DOMAIN),
    "problem": tagged("problem", PROBLEM),
}


def read(kind: str, text: str) -> Any:
    (component,) = components_in(text, [Target(kind, "drive")], [])
    return component


def test_the_headings_of_the_paper() -> None:
    action = read("action", HEADED["action"])
    assert (action.name, [each.line for each in action.parameters]) == ("drive", ["?t - truck", "?to - place"])
    assert (action.precondition, action.effect) == ("(and (can-go ?t ?to))", "(and (at ?t ?to))")
    assert [each.about for each in action.new_predicates] == ["the truck ?t can drive to ?to: by a road", "where it is"]
    assert read("predicates", HEADED["predicates"]).predicates == action.new_predicates
    assert read("preconditions", HEADED["preconditions"]).precondition == action.precondition
    types = read("types", HEADED["types"]).types
    assert [(each.name, each.about) for each in types] == [("truck", "it drives"), ("place", "where: things are")]
    assert [each.line for each in read("objects", HEADED["objects"]).objects] == [
        "t1 - truck",
        "a - place",
        "b - place",
    ]
    assert read("init", HEADED["init"]).facts == ("(at t1 a)", "(= (fuel t1) 3)")
    assert read("goal", HEADED["goal"]).goal == "(and (at t1 b) (done))"


def test_the_tags_of_the_library() -> None:
    action = read("action", TAGGED["action"])
    assert (action.name, action.effect) == ("drive", "(and (at ?r ?to) (not (at ?r ?from)))")
    assert read("effects", TAGGED["effects"]).effect == action.effect
    assert read("preconditions", TAGGED["preconditions"]).precondition == action.precondition
    assert read("parameters", TAGGED["parameters"]).parameters == action.parameters
    assert read("action-list", TAGGED["action-list"]).actions[0].about == "from place to place"
    assert read("goal", TAGGED["goal"]).goal == "(at rover1 loc1)"
    assert read("predicates", "<predicates>[]</predicates>").predicates == ()
    assert "(:action drive" in read("domain", TAGGED["domain"]).domain


@pytest.mark.parametrize("kind", sorted(COMPONENTS))
def test_every_kind_has_a_form_of_l2p_or_says_what_is_missing(kind: str) -> None:
    forms = [answers[kind] for answers in (HEADED, TAGGED) if kind in answers]
    for text in forms:
        assert isinstance(read(kind, text), COMPONENTS[kind])
    if not forms:
        with pytest.raises(ComponentError):
            read(kind, MOVE + TAGGED["types"])


def test_our_form_counts_before_those_of_l2p() -> None:
    ours = '### Predicates\n```json\n{"predicates": [{"name": "p", "parameters": [], "about": ""}]}\n```'
    assert [each.name for each in read("predicates", ours).predicates] == ["p"]


@pytest.mark.parametrize(
    ("kind", "text", "says"),
    [
        ("predicates", "### New Predicates\n```\n- at the place\n```", "'at the place' is not a declaration"),
        ("init", "### INITIAL\n```\n(at a\n```", "closing one"),
        ("effects", tagged("effects", {"add": [], "change": []}), "unknown kind: change"),
        ("actions", "", "holds no JSON object"),
        ("parameters", tagged("parameters", ["?x - t"]), "the parameters cannot be read"),
        ("action", tagged("actions", []), "the action cannot be read"),
    ],
)
def test_what_cannot_be_read_is_named(kind: str, text: str, says: str) -> None:
    with pytest.raises(ComponentError, match=says):
        read("types" if kind == "actions" else kind, text)


@given(st.sampled_from(sorted(COMPONENTS)), st.sampled_from([*HEADED.values(), *TAGGED.values()]), st.data())
def test_damaged_answers_are_read_or_refused(kind: str, text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    damaged = text[:start] + data.draw(st.text(alphabet="(){}[]<>`#-:;\"'? \n", max_size=4)) + text[start + 1 :]
    with contextlib.suppress(ComponentError):
        assert isinstance(read(kind, damaged), COMPONENTS[kind])
