"""What is nearly JSON has one meaning or none: it is repaired with a word about it, or refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.pddl import Edit, EditSyntaxError, SectionEdit
from pddlego.pddl.edit import read_edit
from pddlego.pddl.nearly_json import last_object

PLAIN = '{"objects": {"add": ["hall - location"]}, "init": {"add": ["(at hall)"], "delete": ["(at attic)"]}}'
EDIT = Edit(SectionEdit(("hall - location",)), SectionEdit(("(at hall)",), (), ("(at attic)",)))

NEARLY = {
    "a comma before a closing bracket": PLAIN.replace("]", ",]").replace("}", " ,\n}"),
    "a comment": PLAIN.replace('"init"', '// the "new" room {\n"init"'),
    "a key without quotes": re.sub(r'"(\w+)":', r"\1 :", PLAIN),
    "' as a quotation mark": PLAIN.replace('"', "'"),
    "“ as a quotation mark": re.sub(r'"([^"]*)"', r"“\1”", PLAIN),
    "‘ as a quotation mark": re.sub(r'"([^"]*)"', r"‘\1’", PLAIN),
    "„ as a quotation mark": re.sub(r'"([^"]*)"', r"„\1“", PLAIN),
    "a line break or a tab in a string": PLAIN.replace("(at hall)", "(at\n  hall)"),
    "the object is inside of 'edit'": f'{{"edit": {PLAIN}}}',
    "the object is inside of 'arguments'": f'{{"name": "change", "arguments": {PLAIN}}}',
    "the object is inside of 'final'": f'{{"why": "a new room", "answer": {{"final": {PLAIN}}}}}',
    "the key 'Objects' is in capitals": PLAIN.replace("objects", "Objects").replace("add", "ADD"),
    "None for null": PLAIN.replace('"delete"', '"replace": None, "delete"'),
    "the escape \\(, which JSON does not have": PLAIN.replace("(at hall)", "\\(at hall)"),
    "earlier JSON objects are drafts": f'```\n{{"init": {{"add": ["(at b)"]}}}}\n```\nNo:\n```json\n{PLAIN}\n```',
}
"""A text for each kind of repair, as `PLAIN` written in another way."""


@pytest.mark.parametrize("repair", NEARLY)
def test_what_has_one_meaning_is_repaired_and_listed(repair: str) -> None:
    edit, repairs = read_edit(NEARLY[repair])
    assert edit == EDIT
    assert repair in repairs


@pytest.mark.parametrize("text", NEARLY.values(), ids=list(NEARLY))
def test_without_tolerance_it_is_refused(text: str) -> None:
    with pytest.raises(EditSyntaxError):
        read_edit(text, tolerant=False)


def test_json_is_read_without_a_repair_with_and_without_tolerance() -> None:
    assert read_edit(PLAIN) == read_edit(PLAIN, tolerant=False) == (EDIT, ())


@pytest.mark.parametrize(
    "comment", ["// (at x)\n", "# don't\n", "/* {'a': [ */", "/* two\nlines */", "//\n//\n"], ids=repr
)
def test_comments_may_be_anywhere_between_tokens(comment: str) -> None:
    text = re.sub(r'([{}\[\],:])(?!$)(?=[^"]*(?:"[^"]*"[^"]*)*$)', lambda match: match[1] + comment, PLAIN)
    assert read_edit(text)[0] == EDIT


def test_what_is_inside_of_strings_stays() -> None:
    inside = "it's // no , ] {a: None} /* “x” \\ # c"
    assert last_object(f"{{a: {json.dumps(inside)},}}", ("a",)).value == {"a": inside}
    assert last_object("{'a': 'say \"x\" and \\'y\\''}", ("a",)).value == {"a": "say \"x\" and 'y'"}


@pytest.mark.parametrize(
    "text",
    [
        '{"init": {"add": [nothing]}}',
        '{"init": {"add": ["(at a)" "(at b)"]}}',
        '{"init": {"add" ["(at a)"]}}',
        '{"init": {"add": ["(at a)"}}',
        '{"init": {"add": ["(at a)"]]}}',
        '{"init": {"add": [,]}}',
        '{"init": {"add": ["(at a)",,]}}',
        '{"init": {"add": ,}}',
        '{"init" "objects"}',
        '{"init": {"add": ["the "big" room"]}}',
        "{'init': {'add': ['bob's room']}}",
        '{"init": {"add": ["(at a)"]} "objects": {}}',
        "{init: undefined}",
        '{"a": {"init": {}}, "b": {"objects": {}}}',
        '{"init": {"add": ["\\x41"]}}',
        '{"init": {\'add": []}}',
        '{("init", "add")}',
    ],
)
def test_nothing_is_guessed(text: str) -> None:
    with pytest.raises(EditSyntaxError):
        read_edit(text)


@pytest.mark.parametrize("name", NEARLY)
def test_no_beginning_of_an_edit_is_taken_for_an_edit(name: str) -> None:
    """Of the last object nothing counts before it is complete, and nothing that was there before it."""
    whole = NEARLY[name]
    first = whole.index("{", whole.index("No:") if "No:" in whole else 0)
    last = whole.rindex("}")
    for length in range(first + 1, last):
        try:
            edit, _ = read_edit(whole[:length])
        except EditSyntaxError as error:
            assert error.cut_off, whole[:length]
        else:
            pytest.fail(f"{edit} of {whole[:length]}")


OTHER = '{"init": {"add": ["(at cellar)"]}}'


@pytest.mark.parametrize(
    "text",
    [
        f"{OTHER}\n{PLAIN}",
        f"[{OTHER}, {PLAIN}]",
        f"{{'init': broken}} {PLAIN}",
        f'{{"init": {{"add": [nothing]}}}} {PLAIN}',
        f"{PLAIN} I left out {{}} and {{kitchen}}, {{x: it's}} or {{ }}.",
        f'{PLAIN} As {{"name": "x"}} says.',
        f'{{"name": "x"}} {PLAIN}',
        f"{{}}\n{PLAIN}",
        f'{PLAIN} and not {{"name": x}}.',
    ],
)
def test_the_last_edit_counts_and_no_prose_about_it(text: str) -> None:
    assert read_edit(text)[0] == EDIT


def test_an_empty_edit_for_itself_counts_after_a_draft() -> None:
    assert read_edit(f"{PLAIN}\nNothing is new after all:\n```json\n{{}}\n```")[0] == Edit()


@pytest.mark.parametrize("end", ['{"init": {"add": [nothing]}}', '{"init": {"add": ["(at ha', "{'init': {'add'", '{"'])
def test_a_draft_does_not_replace_an_edit_that_cannot_be_read(end: str) -> None:
    with pytest.raises(EditSyntaxError):
        read_edit(f"{PLAIN}\nNo, this is better:\n{end}")


def test_an_error_shows_its_place_in_the_answer() -> None:
    with pytest.raises(EditSyntaxError, match=r"at line 3, near .*'add': \[nothing\]"):
        read_edit("So:\n{'objects': {}, // none\n 'init': {'add': [nothing]}}")


texts = st.text(alphabet="ab'\"\\{}[]:,/#\n\t“”‘’? ", max_size=12)
values = st.recursive(
    texts | st.none() | st.booleans() | st.integers(-9, 9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


def _with_commas(value: object) -> str:
    """The value as JSON with a comma, a comment and a line break before each closing bracket."""
    if isinstance(value, dict):
        return "{" + "".join(f"{json.dumps(key)}: {_with_commas(item)}, # '\n" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + "".join(f"{_with_commas(item)}, /* ] */" for item in value) + "]"
    return json.dumps(value)


def _with_line_breaks(value: object) -> str:
    return json.dumps(value).replace("\\\\", "\0").replace("\\n", "\n").replace("\\t", "\t").replace("\0", "\\\\")


WRITERS: tuple[Callable[[object], str], ...] = (json.dumps, repr, _with_commas, _with_line_breaks)


@given(values, st.sampled_from(WRITERS))
def test_any_value_is_what_it_was(value: object, write: Callable[[object], str]) -> None:
    """JSON with commas and comments, and what Python prints: single quotes, `None`, its escapes."""
    assert last_object(write({"init": value}), ("init",)).value == {"init": value}


@given(texts | st.text(max_size=60), st.booleans())
def test_any_text_gives_an_object_or_an_error(text: str, tolerant: bool) -> None:
    for whole in (text, f"{{{text}}}", f"{{'init': {text}}}", f"{PLAIN}{text}"):
        try:
            found = last_object(whole, ("init",), tolerant=tolerant)
        except EditSyntaxError:
            continue
        assert isinstance(found.value, dict)
