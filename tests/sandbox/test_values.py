from __future__ import annotations

import contextlib
import json
from collections import OrderedDict, namedtuple
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.sandbox.jail.values import KEPT, Opaque, TooLargeError, plain, tagged, tagged_whole

hashable = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text() | st.floats(allow_nan=False),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3),
    max_leaves=10,
)
values = st.recursive(
    hashable,
    lambda inner: st.lists(inner, max_size=4) | st.sets(hashable, max_size=4) | st.dictionaries(hashable, inner),
    max_leaves=20,
)


@given(values)
def test_what_is_sent_comes_back_as_it_was(value: Any) -> None:
    result = plain(json.loads(json.dumps(tagged(value, 1_000_000))))
    assert result == value
    assert type(result) is type(value)


@pytest.mark.slow
@given(
    st.lists(st.fixed_dictionaries({"a": values, "b": st.lists(st.tuples(st.text(), st.integers(0, 9)))}), min_size=2)
)
def test_columns_come_back_as_they_were(value: list[dict[str, Any]]) -> None:
    assert plain(json.loads(json.dumps(tagged(value, 1_000_000)))) == value


@pytest.mark.parametrize("value", [{"k": [("a", "b")]}, [[("ä", "b")], [("c", "d")]], {("a", "b"), ("c", "d")}])
def test_states_are_converted_in_the_sandbox_without_json(value: object) -> None:
    assert plain(tagged(value, 1_000)) == value


def test_classes_of_the_program_become_what_they_extend() -> None:
    point = namedtuple("point", "x y")
    assert plain(tagged([point(1, 2), OrderedDict(a=1)], 100)) == [(1, 2), {"a": 1}]


def test_what_cannot_be_sent_is_named() -> None:
    assert plain(tagged(object, 1000)) == Opaque("type", "<class 'object'>")
    assert plain(tagged(2**70, 1000)) == Opaque("int", str(2**70))

    class Bad:
        def __repr__(self) -> str:
            raise RuntimeError

    assert plain(tagged(Bad(), 1000)) == Opaque("Bad", "<no representation: RuntimeError>")


@pytest.mark.parametrize("value", [Fraction(1, 3), [Fraction(8, 3), 2], {"a": (Fraction(-1, 7),)}, {Fraction(2, 5)}])
def test_fractions_survive_as_they_are(value: object) -> None:
    assert plain(json.loads(json.dumps(tagged(value, 1_000)))) == value
    assert not isinstance(tagged(value, 1_000), Opaque) and tagged_whole([value], 1_000)


@pytest.mark.parametrize("forged", [[1, 0], [1.5, 2], ["1", "2"], [1, 2, 3], [2**70, 1], None, 3])
def test_a_forged_fraction_is_refused(forged: object) -> None:
    with pytest.raises(ValueError, match=r"value|fraction"):
        plain({"q": forged})


@pytest.mark.parametrize(
    "value", [Decimal("0.5"), 2**70, b"ab", 1j, object(), range(3), Fraction(2**70, 3), ..., print, iter([])]
)
def test_a_state_with_a_value_that_would_be_lost_is_refused_by_name(value: object) -> None:
    with pytest.raises(TypeError, match=f"a value of type {type(value).__name__}, which does not survive") as raised:
        tagged_whole([[1, 2], [3, (value,)]], 10_000)
    assert str(raised.value).endswith(KEPT)


def test_what_is_too_large_is_refused_before_it_is_built() -> None:
    with pytest.raises(TooLargeError):
        tagged(["x" * 100] * 100, 1000)
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(TooLargeError):
        tagged(endless, 10**9)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_whatever_else_is_read_is_a_value_or_an_error(result: Any) -> None:
    with contextlib.suppress(ValueError):
        plain(result)
