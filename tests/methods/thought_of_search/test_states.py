"""What tells states apart, and what is read of answers and files."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.errors import SettingError
from pddlego.methods.thought_of_search.expander import as_the_paper, canonical
from pddlego.methods.thought_of_search.file_space import items_of
from pddlego.methods.thought_of_search.functions import code_as_the_paper, function_code
from pddlego.methods.thought_of_search.space import brief, have_form

NUMBERS = st.lists(st.one_of(st.integers(-1000, 1000), st.floats(-1000, 1000)), max_size=4)


@given(NUMBERS, st.integers(0, 100))
def test_the_order_of_numbers_says_nothing_where_it_is_said_so(state: list[float], seed: int) -> None:
    shuffled = random.Random(seed).sample(state, len(state))
    assert canonical(["."])(state) == canonical(["."])(shuffled)


@given(NUMBERS)
def test_rounding_and_whole_numbers_make_no_other_state(state: list[float]) -> None:
    key = canonical(["."])
    assert key(state) == key([float(number) for number in state])
    assert key(state) == key(tuple(state))


@given(NUMBERS, NUMBERS)
def test_numbers_that_differ_are_other_states(one: list[float], other: list[float]) -> None:
    if len(one) != len(other) or any(abs(x - y) > 1e-5 for x, y in zip(sorted(one), sorted(other), strict=True)):
        assert canonical(["."])(one) != canonical(["."])(other)


def test_one_and_one_point_nought_are_two_states_to_the_paper() -> None:
    assert canonical(["."])([1, 2.0]) == canonical(["."])([2, 1.0])
    assert as_the_paper(["."])([1, 2.0]) != as_the_paper(["."])([2, 1.0])
    assert as_the_paper(["."])([2, 1]) == as_the_paper(["."])([1, 2])


def test_lists_in_a_dictionary_are_bags_only_where_it_is_said() -> None:
    key = canonical(["on"])
    one: dict[str, Any] = {"on": [("a", "b"), ("c", "d")], "row": ["x", "y"]}
    assert key(one) == key({"row": ["x", "y"], "on": [["c", "d"], ["a", "b"]]})
    assert key(one) != key({**one, "row": ["y", "x"]})
    assert key(one) != key({**one, "on": [("b", "a"), ("c", "d")]})
    assert key(one) != key({**one, "on": [("a", "b"), ("a", "b"), ("c", "d")]})


@pytest.mark.parametrize(
    "state", [[float("nan")], [float("inf"), 1], [[None, "a"]], {"a", "b"}, "text", None, [{}, [], ()]]
)
def test_whatever_a_function_returns_has_a_key(state: Any) -> None:
    assert hash(canonical(["."])(state)) == hash(canonical(["."])(state))


@pytest.mark.parametrize(
    "parts",
    [
        [{"x": 1}, {"y": 2}, {"z": 3}],
        [{"a", "b"}, {"c"}, {"d", "a"}],
        [("a", None), ("a", "b"), (1, 2)],
        [1, "a", None],
    ],
)
def test_bags_of_anything_have_one_key(parts: list[Any]) -> None:
    assert len({canonical(["."])(list(order)) for order in itertools.permutations(parts)}) == 1


def test_large_numbers_are_told_apart() -> None:
    key = canonical(["."])
    assert key([2**60]) != key([2**60 + 1])
    assert key([2**54, 1]) != key([2**54 + 1, 1])
    assert key([2**60]) == key([float(2**60)])


def test_helpers_whose_names_are_alike_are_not_meant() -> None:
    text = "def successors(s):\n    return []\n\n\ndef _dedupe_successors(s):\n    return 1"
    result = function_code(
        f"```python\nstate = [1]\nresult = successors(state)\n```\n```python\n{text}\n```", "successors"
    )
    assert result is not None
    assert (result.name, result.text) == ("successors", text)


DEF = "def successors(state):\n    return []"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (f"```python\n{DEF}\n```", DEF),
        (f"Words.\n```\n{DEF}\n```\nMore words.", DEF),
        (DEF, DEF),
        (f"```python\n{DEF}\n``", DEF),
        (f"<think>def nothing(): pass</think>```py\n{DEF}\n```", DEF),
        (f"```python\ndef successor_old(s):\n    return 1\n```\nnow\n```python\n{DEF}\n```", None),
        (
            f"```python\nimport math\n```\n```python\n{DEF}\n```",
            f"import math\n\n\n\n{DEF}".replace("\n\n\n\n", "\n\n\n"),
        ),
        (f"```python\nprint(1)\n```\n```python\n{DEF}\n```", DEF),
        (f"```bash\nls\n```\n```python\n{DEF}\n```", DEF),
    ],
)
def test_the_function_is_found(answer: str, text: str | None) -> None:
    result = function_code(answer, "successors")
    assert result is not None
    assert result.name == "successors"
    assert text is None or result.text == text


@pytest.mark.parametrize("answer", ["", "I cannot.", "```python\nx = 1\n```", "```bash\nls\n```"])
def test_where_there_is_no_function_there_is_none(answer: str) -> None:
    assert function_code(answer, "successors") is None
    assert code_as_the_paper(answer, "successors") is None


def test_of_several_functions_the_one_with_the_name_is_meant() -> None:
    text = "def is_ok(x):\n    return True\n\n\ndef get_successors(s):\n    return []\n\n\ndef helper(x):\n    return x"
    result = function_code(f"```python\n{text}\n```", "successors")
    assert result is not None
    assert (result.name, result.text) == ("get_successors", text)


def test_the_paper_takes_the_first_function_and_moves_imports_into_it() -> None:
    text = "import math\n\ndef successor_states(s):\n    return [math.pi]\n\ndef other(s):\n    return 2\n"
    result = code_as_the_paper(f"```python\n{text}```", "successors")
    assert result is not None
    assert result.name == "successor_states"
    assert "other" not in result.text
    assert "    import math" in result.text


@given(st.text(max_size=300))
def test_any_answer_is_read(answer: str) -> None:
    for which in ("successors", "goal"):
        for read in (function_code, code_as_the_paper):
            result = read(answer, which)
            assert result is None or result.name in result.text


def test_files_are_lines_lists_and_tables() -> None:
    assert items_of("a.jsonl", "[24]\n\n[]\n") == ({"state": [24]}, {"state": []})
    assert items_of("a.jsonl", "[[1, 2], [[3], [2]]]\n") == ({"state": [1, 2], "successors": [[3], [2]]},)
    assert items_of("a.jsonl", '[\n {"state": 1},\n {"state": 2}\n]') == ({"state": 1}, {"state": 2})
    assert items_of("a.csv", "Rank,Puzzles\n1,1 1 4 6\n") == ({"Rank": "1", "Puzzles": "1 1 4 6"},)
    with pytest.raises(SettingError, match="no JSON lines"):
        items_of("a.jsonl", "[24\n")


def test_what_a_prompt_shows_is_the_same_in_every_run_and_not_endless() -> None:
    assert brief({"b", "a"}) == "{'a', 'b'}"
    assert brief([("x", {"k": {2, 1}})]) == "[('x', {'k': {1, 2}})]"
    assert len(brief(list(range(10_000)))) < 2_010


BLOCKS = [{"clear": ["a"], "on": [("a", "b")], "holding": None}, {"clear": ["a", "b"], "on": [], "holding": "c"}]


@pytest.mark.parametrize(
    ("value", "known", "has_it"),
    [
        ([3, 0.5], [[6, 6, 2, 1], [24]], False),
        ([3, 0.5], [[6, 6, 2, 1], [2.5]], True),
        ([3], [[2.5]], True),
        ((3,), [[6, 6, 2, 1], [24]], True),
        ([3, "x"], [[6, 6, 2, 1], [24]], False),
        (["fill", [4, 3]], [[0, 3], [4, 3]], False),
        ([4, 3, 0], [[0, 3], [4, 3]], False),
        (None, [[0, 3]], False),
        ({"clear": [], "on": [["c", "a"]], "holding": "b"}, BLOCKS, True),
        ({"clear": [], "on": ["ca"], "holding": "b"}, BLOCKS, False),
        ({"clear": [], "on": []}, BLOCKS, False),
        ({"a": "table", "c": "a"}, [{"a": "table"}, {"a": "b", "b": "table"}], True),
        ({"a": 1}, [{"a": "table"}, {"a": "b", "b": "table"}], False),
        (frozenset({"cat"}), [{"dog", "animal"}, set()], True),
        ([[None, "a"]], [[[None, None]], [["a", "b"]]], True),
        ([1] * 400_000, [[1]] * 2_000 + [[1, 2]], True),
    ],
)
def test_a_value_has_the_form_of_known_states(value: Any, known: list[Any], has_it: bool) -> None:
    assert have_form([value], known) is has_it
