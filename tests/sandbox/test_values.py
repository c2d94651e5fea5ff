from __future__ import annotations

import contextlib
import json
from collections import OrderedDict, namedtuple
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.sandbox.jail.values import Opaque, TooLargeError, plain, tagged

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
