from __future__ import annotations

import contextlib
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.pddl import EDIT_SCHEMA, Edit, EditSyntaxError, SectionEdit, parse_edit
from pddlego.pddl.edit import read_edit
from pddlego.pddl.nearly_json import last_object
from pddlego.util.answers import spoken
from tests.shared import CORPUS

KEYS = ("objects", "init")

UNREADABLE = CORPUS / "unreadable-answers.jsonl"


@pytest.mark.parametrize(
    ("text", "edit"),
    [
        ("{}", Edit()),
        ('{"objects": {}, "init": null}', Edit()),
        ('{"init": {"add": "(at a)", "replace": [], "delete": null}}', Edit(init=SectionEdit(("(at a)",)))),
        ('{"init": {"replace": {"(a)": null}}}', Edit(init=SectionEdit(replace=(("(a)", None),)))),
        ('For {kitchen} I write: {"objects": {"add": ["a - b"]}}', Edit(SectionEdit(("a - b",)))),
        ('{"objects": {"add": ["\\ud800 - b"]}}', Edit(SectionEdit(("? - b",)))),
        ('```json\n{"objects": {"add": ["a - b"]}}\n```\nDone.', Edit(SectionEdit(("a - b",)))),
    ],
)
def test_reading(text: str, edit: Edit) -> None:
    assert parse_edit(text) == edit


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no JSON object"),
        ("I cannot do that.", "no JSON object"),
        ('{"init": {"add": [(at a)]}}', "cannot be read"),
        ('{"init": {"add": ["(at a)"', "cannot be read"),
        ('{"init": {"plus": []}}', "init.plus"),
        ('{"goal": []}', "goal"),
        ('{"init": {"replace": {"(a)": "(b)", "(a)": "(c)"}}}', "'\\(a\\)' occurs twice"),
        ('{"objects": ' + "1" * 5000 + "}", "cannot be read|no edit"),
        ('{"init": {"add": [1]}}', "init.add.0"),
        ("[1]", "no JSON object"),
        ('{"a":' * 100_000, "cannot be read|nested too deeply"),
    ],
)
def test_what_is_no_edit_is_said(text: str, message: str) -> None:
    with pytest.raises(EditSyntaxError, match=message):
        parse_edit(text)


def test_the_schema_names_what_is_read() -> None:
    parts = EDIT_SCHEMA["$defs"]["part"]["properties"]
    edit: dict[str, dict[str, list[str]]] = {name: {part: [] for part in parts} for name in EDIT_SCHEMA["properties"]}
    assert parse_edit(json.dumps(edit)) == Edit()
    assert len(json.dumps(EDIT_SCHEMA)) < 600


def test_both_forms_of_replace_are_the_same() -> None:
    pairs = [("loc1 - location", "hall - location"), ("(at a)", "(at b)")]
    as_map = {"objects": {"replace": dict(pairs)}}
    as_list = {"objects": {"replace": [{"old": old, "new": new} for old, new in pairs]}}
    assert parse_edit(json.dumps(as_map)) == parse_edit(json.dumps(as_list))
    twice = {"objects": {"replace": [{"old": "a", "new": "b"}, {"old": "a", "new": "c"}]}}
    for wrong in (twice, {"objects": {"replace": [{"old": "a"}]}}, {"objects": {"replace": ["a", "b"]}}):
        with pytest.raises(EditSyntaxError):
            parse_edit(json.dumps(wrong))


@given(st.text(max_size=100) | st.text(alphabet='{}[]":,aobjectsinit\\n ', max_size=100))
def test_any_text_gives_an_edit_or_an_edit_error(text: str) -> None:
    with contextlib.suppress(EditSyntaxError):
        assert isinstance(parse_edit(text), Edit)


@pytest.mark.shared("corpus")
def test_fifteen_answers_that_could_not_be_read_then() -> None:
    """What is whole is read, whatever follows; what ends in the middle says so; the rest is thinking without an end."""
    result = []
    for line in UNREADABLE.read_text(encoding="utf-8").splitlines():
        answer = spoken(json.loads(line)["answer"])
        try:
            value = last_object(answer, KEYS).value
            result.append(",".join(value))
        except EditSyntaxError as error:
            result.append("cut off" if error.cut_off else "nothing said" if not answer.strip() else str(error))
    assert Counter(result) == {"df,pf": 4, "cut off": 7, "nothing said": 4}


@pytest.mark.parametrize("text", ['{"init": {"add": ["(at a', '{"init": {"add": ["(at a)"', '{"init":', "{"])
def test_an_edit_that_ends_in_the_middle_is_cut_off(text: str) -> None:
    with pytest.raises(EditSyntaxError) as caught:
        parse_edit(text)
    assert caught.value.cut_off


@pytest.mark.parametrize("text", ["", "sorry", '{"init": {"add": [nothing]}}', '{"init": {"add": 1}}'])
def test_an_edit_that_is_wrong_is_not_cut_off(text: str) -> None:
    with pytest.raises(EditSyntaxError) as caught:
        parse_edit(text)
    assert not caught.value.cut_off


@pytest.mark.parametrize(
    "text",
    [
        '{"init": {"add": [], "replace": {}, "add": ["(at a)"]}}',
        '{"init": {"add": ["(at a)"], "add": []}}',
        '{"init": {"add": ["(at a)"]}, "init": {"add": ["(at a)"]}, "init": {}}',
    ],
)
def test_a_key_that_stands_twice_with_one_value_is_read(text: str) -> None:
    assert parse_edit(text) == Edit(init=SectionEdit(("(at a)",)))


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('{"init": {"add": ["(at a)"], "add": ["(at b)"]}}', "add"),
        ('{"init": {"add": ["(at a)"]}, "objects": {}, "init": {"delete": ["(at b)"]}}', "init"),
        ('{"init": {"add": ["(at a)"], "Add": ["(at b)"]}}', "add"),
        ('{init: {add: ["(at a)"], add: ["(at b)"],}}', "add"),
        ('{"init": {"replace": [{"old": "(a)", "new": "(b)"}, {"old": "(a)", "new": "(c)"}]}}', r"\(a\)"),
    ],
)
def test_a_key_with_two_values_is_named(text: str, key: str) -> None:
    with pytest.raises(EditSyntaxError, match=f"the key '{key}' occurs twice"):
        parse_edit(text)


def test_what_stands_outside_is_shown() -> None:
    with pytest.raises(EditSyntaxError, match=r"^the JSON is not an edit: init\.plus: Extra inputs are not permitted"):
        parse_edit('{"init": {"plus": []}}')
    with pytest.raises(EditSyntaxError, match=r'add is outside of "objects" and "init": \["\(at a\)"\]'):
        parse_edit('{"add": ["(at a)"]}')


@pytest.mark.parametrize(
    "text",
    [
        '{"objects": {}, "init": {"add": ["(at b)"]}, "reasoning": "moved north"}',
        '{"thoughts": "The door is open.", "init": {"add": ["(at b)"]}}',
        '{"objects": {}, "init": {"add": ["(at b)"]}, "status": "done"}',
        '{"objects": {}, "init": {"add": ["(at b)"]}, "notes": ["moved north", "the door is open"], "comments": []}',
        '{"init": {"add": ["(at b)"], "explanation": "It moved (north)."}}',
        "{'init': {'add': ['(at b)']}, 'Comment': 'it moved',}",
    ],
)
def test_remarks_are_left_out_and_noted(text: str) -> None:
    edit, _ = read_edit(text)
    assert edit == Edit(init=SectionEdit(("(at b)",)))
    assert edit.ignored
    with pytest.raises(EditSyntaxError):
        read_edit(text, tolerant=False)


def test_a_reason_for_a_replacement_is_left_out() -> None:
    text = '{"init": {"replace": [{"old": "(at a)", "new": "(at b)", "reason": "it moved"}]}}'
    assert read_edit(text)[0] == Edit(init=SectionEdit(replace=(("(at a)", "(at b)"),)))
    with pytest.raises(EditSyntaxError):
        read_edit(text, tolerant=False)


@pytest.mark.parametrize(
    "text",
    [
        '{"reasoning": "nothing has changed"}',
        '{"objects": {}, "init": {}, "goal": "(have coin)"}',
        '{"objects": {}, "init": {}, "delete": ["(at a)"]}',
        '{"objects": {}, "init": {}, "added": "attic - location"}',
        '{"object": "the attic is new", "init": {}}',
        '{"init": {"add": [], "deleted": "kitchen"}}',
        '{"objects": {}, "init": {}, "goals": {"add": []}}',
    ],
)
def test_what_may_mean_something_is_not_a_remark(text: str) -> None:
    with pytest.raises(EditSyntaxError, match=r"outside of|not permitted"):
        parse_edit(text)


WHOLE = json.dumps(
    {
        "objects": {"add": ["attic - location"], "replace": {}, "delete": []},
        "init": {"add": ["(at attic)", "(visited attic)"], "replace": {"(at hall)": None}, "delete": []},
    },
    indent=1,
)


@pytest.mark.parametrize("length", range(1, len(WHOLE)))
def test_no_part_of_an_edit_is_taken_for_an_edit(length: int) -> None:
    for before in ("", "Use {x}. "):
        with pytest.raises(EditSyntaxError) as caught:
            parse_edit(before + WHOLE[:length])
        assert caught.value.cut_off


@pytest.mark.parametrize(
    "text",
    [
        '{"objects": {}, "init": {"add": [nothing]}}',
        '{"objects": {} "init": {"add": ["(at a)"]}}',
    ],
)
def test_an_object_inside_of_a_broken_one_is_no_edit(text: str) -> None:
    with pytest.raises(EditSyntaxError, match="cannot be read") as caught:
        parse_edit(text)
    assert not caught.value.cut_off


def test_many_keys_that_stand_twice() -> None:
    pairs = ",".join('"replace":{"(at a)":"(at b)"}' for _ in range(5000))
    assert parse_edit(f'{{"init":{{{pairs}}}}}').init.replace == (("(at a)", "(at b)"),)
