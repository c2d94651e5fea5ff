"""Answers in the forms of L2P: the paper's headings and the library's tags, with every kind of component."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.methods.builders import headings
from pddlego.methods.builders.building import Target, components_in
from pddlego.methods.builders.draft import COMPONENTS, ComponentError
from pddlego.pddl.sexpr import SexprReading, read_sexprs
from tests.methods.builders.records.test_l2p import DOMAIN, PROBLEM

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


EFFECT = "### Action Effects\n```\n(and (p))\n```\n\n### New Predicates\n"

WHERE = "(at ?x - place): 'where it is'"
LISTS = [
    f"```\n- {WHERE}\n- (p)\n```",
    f"```pddl\n1. {WHERE}\n2) (p)\n```\nThese predicates describe where things are (and ?x is one).",
    "Here are the new predicates:\n\n• `(at ?x - place)`: where it is\n• `(p)`\n\nThey are all that is needed.",
    "```\n(:predicates\n    (at ?x - place) ; where it is\n    (p))\n```",
]
"""Two predicates in the forms that models write."""

EMPTY = [
    *(
        "",
        "```\n```",
        "``` ```",
        "```\n\n```\nIn this correction, the city is gone (it was not needed).",
        "()",
        "[]",
        "---",
    ),
    *(
        "None",
        "- None",
        "N/A",
        "(none)",
        "```\n(none)\n```",
        "**None**",
        "`None`",
        "None.",
        "- None (all are declared)",
    ),
    *(
        "No new predicates are needed.",
        "(no new predicates)",
        "There are no new predicates",
        "No additional predicates.",
    ),
    *("; none", "All predicates exist already.", "The predicates (at ?x ?y) and (p) suffice", "(All predicates exist)"),
    *("()\n\nAll exist already.", "(Note: at ?x ?y exists already)", "(The predicate (at ?x ?y) exists)"),
]


@pytest.mark.parametrize("text", LISTS)
def test_lists_of_predicates(text: str) -> None:
    for kind, answer in (("effects", EFFECT + text), ("predicates", f"### New Predicates\n{text}")):
        component = read(kind, answer)
        predicates = component.new_predicates if kind == "effects" else component.predicates
        assert [each.line for each in predicates] == ["(at ?x - place)  ; where it is", "(p)"]


@pytest.mark.parametrize("text", EMPTY)
def test_a_list_without_a_declaration_has_no_new_predicates(text: str) -> None:
    effects = read("effects", EFFECT + text)
    assert (effects.effect, effects.new_predicates) == ("(and (p))", ())


def test_only_what_the_component_has_is_read() -> None:
    answer = "### Action Parameters\n- ?t - truck: it drives\n\n### New Predicates\n- (at\n"
    assert [each.line for each in read("parameters", answer).parameters] == ["?t - truck"]


@pytest.mark.parametrize(
    "nothing", ["None", "- None", "N/A", "(none)", "No parameters or objects are needed.", "```\n```"]
)
def test_components_with_nothing_in_them(nothing: str) -> None:
    assert read("parameters", f"### Action Parameters\n{nothing}").parameters == ()
    assert read("objects", f"### OBJECTS\n{nothing}").objects == ()
    assert read("constants", f"### CONSTANTS\n{nothing}").constants == ()
    assert read("functions", f"### FUNCTIONS\n{nothing}").functions == ()
    assert read("types", f"### TYPES\n{nothing}").types == ()
    assert read("init", f"### INITIAL\n{nothing}").facts == ()
    assert read("preconditions", f"### Action Preconditions\n{nothing}").precondition == "(and)"


FLAT = [("truck", "object", "it drives"), ("place", "object", "where it is")]
TREE = [("vehicle", "object", "it moves"), ("truck", "vehicle", "it drives"), ("place", "object", "where it is")]
TYPES = [
    ("{'truck': 'it drives', 'place': 'where it is'}", FLAT),
    ('```json\n{"truck": "it drives", "place": "where it is"}\n```\nThese are the types (all of them).', FLAT),
    ("Here are the types:\n{\n  'truck': 'it drives',  # comment\n  'place': 'where it is',\n}\nThey suffice.", FLAT),
    ("{'truck':\n   'it drives',\n 'place': 'where it is'}", FLAT),
    ('[{"truck": "it drives"}, {"place": "where it is"}]', FLAT),
    ("```python\n'truck': 'it drives',\n'place': 'where it is'\n```", FLAT),
    ("The types are as follows:\n1. **truck**: it drives\n2. **place**: where it is", FLAT),
    ("- `truck` - it drives\n- `place` - where it is", FLAT),
    ("* truck ; it drives\n* place ; where it is", FLAT),
    (
        '[{"vehicle": "it moves", "children": [{"truck": "it drives", "children": []}]},\n'
        ' {"place": "where it is", "children": []}]',
        TREE,
    ),
    ("- vehicle: it moves\n  - truck: it drives\n- place: where it is", TREE),
    ("- vehicle - object: it moves\n- truck - vehicle: it drives\n- place: where it is", TREE),
    ("{'a': \"it's\", 'b': 'x: y'}", [("a", "object", "it's"), ("b", "object", "x: y")]),
    ("{\n'a': 'it's',\n'b': 'y'\n}", [("a", "object", "it's"), ("b", "object", "y")]),
    ('["a", "b"]', [("a", "object", ""), ("b", "object", "")]),
    ('{"a": ["b"], "children": "they"}', [("a", "object", ""), ("b", "a", ""), ("children", "object", "they")]),
    ("{}", []),
]


@pytest.mark.parametrize(("text", "wanted"), TYPES)
def test_types_with_their_parents(text: str, wanted: list[tuple[str, str, str]]) -> None:
    assert [(each.name, each.parent, each.about) for each in read("types", f"## Types\n{text}").types] == wanted


@pytest.mark.parametrize(
    "text",
    ["{'drive': 'it moves', 'load-up': 'it loads'}", "1. drive: it moves\n   - with ?t: a truck\n2. load-up: it loads"],
)
def test_lists_of_actions(text: str) -> None:
    actions = read("action-list", f"## Actions\n{text}").actions
    assert [(each.name, each.about) for each in actions] == [("drive", "it moves"), ("load-up", "it loads")]


@pytest.mark.parametrize(
    "text", ["- (at t1 a)\n- (p)\nThe truck is there.", "The facts are:\n1. (at t1 a)\n2. (p) ; so"]
)
def test_conditions_with_bullets_and_sentences(text: str) -> None:
    assert read("init", f"### INITIAL\n{text}").facts == ("(at t1 a)", "(p)")
    assert read("goal", f"### GOAL\n{text}").goal == "(and (at t1 a) (p))"


@pytest.mark.parametrize("count", [100, 3_000])
def test_a_long_list_is_read_as_a_whole(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    read_texts: list[int] = []

    def counted(text: str) -> SexprReading:
        read_texts.append(len(text))
        return read_sexprs(text)

    monkeypatch.setattr(headings, "read_sexprs", counted)
    text = "\n".join(f"- (p{number} ?x - t): what" for number in range(count))
    assert len(read("predicates", f"### Predicates\n{text}").predicates) == count
    assert sum(read_texts) < len(text)


def test_our_form_counts_before_those_of_l2p() -> None:
    ours = '### Predicates\n```json\n{"predicates": [{"name": "p", "parameters": [], "about": ""}]}\n```'
    assert [each.name for each in read("predicates", ours).predicates] == ["p"]


@pytest.mark.parametrize(
    ("kind", "text", "says"),
    [
        ("predicates", "### New Predicates\n```\n- at the place\n```", "'at the place' is not a declaration"),
        ("effects", EFFECT + "- (p ?x - t", "is not a declaration"),
        ("effects", EFFECT + "- (p ?x - )", "is not a declaration"),
        ("effects", EFFECT + "- (p ?x - t) (q)", "is not a declaration"),
        ("effects", EFFECT + "- (p", "is not a declaration"),
        ("effects", EFFECT + "- (p x - t)", "is not a declaration"),
        ("predicates", "### Predicates\n- ((p) ?x)", "name"),
        ("predicates", "### Predicates\n- (p x - t)", "is not a declaration: write"),
        ("predicates", "### Predicates\n- (p)\n- at the place", "'at the place' is not a declaration"),
        ("predicates", "### Predicates\nThey follow from the actions.", "is not a declaration"),
        ("objects", "### OBJECTS\nThe objects are as above.", "is not a declaration"),
        ("types", "## Types\n{'a': 'it's', 'b': 'y'}", "cannot be read"),
        ("types", "## Types\n{'a': 'x', 'a': 'y'}", "occurs twice"),
        ("types", "## Types\n{'a': 3}", "about"),
        ("types", "## Types\n{'a': 'x'", "cannot be read"),
        ("types", "## Types\n" + "[" * 5_000, "cannot be read"),
        ("init", "### INITIAL\n```\n(at a\n```", "closing one"),
        ("effects", tagged("effects", {"add": [], "change": []}), "effects cannot be read: change"),
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
