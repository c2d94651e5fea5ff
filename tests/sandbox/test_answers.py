"""Whatever a program writes to the pipe is read as what it is, or costs the program its call; never the host."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.sandbox import SandboxLimits, Status
from pddlego.sandbox.jail.values import MOST_DEEP, MOST_PARTS, TooLargeError, parts, plain, tagged
from pddlego.sandbox.result import read_call, read_parts
from pddlego.sandbox.sandbox import Sandbox
from tests.growth import is_linear
from tests.sandbox.attacks import FORGE
from tests.sandbox.ordinary import needs_locks
from tests.scale import PATIENCE

pytestmark = needs_locks

MALFORMED = (
    "5",
    "[]",
    '{"status": 5, "value": 1}',
    '{"status": ["returned"], "value": 1}',
    '{"status": "returned"}',
    '{"status": "won", "value": 1}',
    '{"status": "returned", "value": {"m": 5}}',
    '{"status": "returned", "value": {"m": [5]}}',
    '{"status": "returned", "value": {"t": 5}}',
    '{"status": "returned", "value": {"s": [[1]]}}',
    '{"status": "returned", "value": {"s": 1e400}}',
    '{"status": "returned", "value": {"o": 5}}',
    '{"status": "returned", "value": {"c": 5}}',
    '{"status": "returned", "value": {"d": {"a": 1}}}',
    '{"status": "returned", "value": {}}',
    f'{{"status": "returned", "value": {"[" * 300}{"]" * 300}}}',
    f'{{"status": "returned", "value": {"[" * 200_000}{"]" * 200_000}}}',
    '{"status": "returned", "value": ' + "9" * 5000 + "}",
    "\udcff",
)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as made:
        yield made


@pytest.mark.parametrize("line", MALFORMED, ids=lambda line: line[:60])
def test_a_malformed_answer_is_the_programs_loss(sandbox: Sandbox, line: str) -> None:
    with sandbox.open(FORGE.replace("line.encode()", "line.encode('utf-8', 'surrogateescape')")) as program:
        result = program.call("forge", line)
    assert (result.status, result.message) == (Status.DIED, "the program wrote to the sandbox's own pipe")


@pytest.mark.parametrize(("wanted", "value"), [("list", "5"), ("truth", '"yes"')])
def test_a_value_of_another_type_is_the_programs_loss(sandbox: Sandbox, wanted: Any, value: str) -> None:
    with sandbox.open(FORGE) as program:
        result = program.call("forge", f'{{"status": "returned", "value": {value}}}', result=wanted)
    assert result.status is Status.DIED


def test_arguments_that_do_not_come_back_are_the_programs_loss(sandbox: Sandbox) -> None:
    with sandbox.open(FORGE) as program:
        result = program.call("forge", '{"status": "returned", "value": 1, "echo": 7}', echo=True)
    assert result.status is Status.DIED


@pytest.mark.parametrize("arguments", [((1, 2), (3, 4)), ({"a": 1}, {"a": 2}, {"a": 3}), ([1], [(2,)]), ((1,), 2)])
def test_arguments_of_any_form_come_back(sandbox: Sandbox, arguments: tuple[Any, ...]) -> None:
    with sandbox.open("def f(*given):\n    return 1") as program:
        result = program.call("f", *arguments, echo=True)
    assert (result.status, result.echo) == (Status.RETURNED, list(arguments))


def test_texts_of_an_answer_are_cut(sandbox: Sandbox) -> None:
    line = json.dumps({"status": "raised", **dict.fromkeys(("message", "error", "traceback"), "x" * 2_000_000)})
    with sandbox.open(FORGE) as program:
        result = program.call("forge", line)
    assert result.status is Status.RAISED
    assert [len(text) for text in (result.message, result.error, result.traceback)] == [1_000, 200, 20_005]


def test_the_name_of_an_error_is_cut(sandbox: Sandbox) -> None:
    with sandbox.open("def f():\n    raise type('E' * 9_000_000, (Exception,), {})('x' * 9_000_000)") as program:
        result = program.call("f")
    assert result.status is Status.RAISED
    assert max(map(len, (result.error, result.message, result.traceback))) <= 20_005


COLUMN = '{"c":{"a":[1,2]}}'
WORST = (
    "[]",
    "0",
    '"a"',
    '{"m":{}}',
    '{"t":["é"]}',
    '{"T":[]}',
    '{"s":["a"]}',
    '{"L":[[[1,"é"]]]}',
    '{"c":{"a":[1,2]}}',
)


@pytest.mark.slow
@pytest.mark.parametrize("part", WORST)
def test_reading_the_worst_line_takes_linear_time(part: str) -> None:
    number = min((MOST_PARTS - 10) // (parts(part.encode()) + 1), SandboxLimits().most // (len(part) + 1))

    def read(times: int) -> None:
        line = f'{{"status": "returned", "value": [{",".join([part] * times)}]}}'.encode()
        assert parts(line) <= MOST_PARTS
        assert len(read_call(line).value) == times

    assert is_linear(lambda: read(number // 10), lambda: read(number), 10)


def nested(tag: str, levels: int, inside: str) -> str:
    """A value in so many levels of one tag."""
    begin, end = {"L": ('{"L": [[[', "]]]}"), "T": ('{"T": [[', "]]}"), "c": ('{"c": {"a": [', "]}}")}[tag]
    return f"{begin * levels}{inside}{end * levels}"


@pytest.mark.parametrize(
    "value",
    [
        nested("L", 180, "[]"),
        nested("T", 199, "[]"),
        '{"c": {"a": "xxxx"}}',
        '{"s": "abc"}',
        f'{{"S": [{", ".join(["[-1, -2]", "[-2, -1]"] * 200 + [f"[{n}]" for n in range(3)])}]}}',
        f'{{"s": [{", ".join(f"""{{"t": {json.dumps(key)}}}""" for key in product([-1, -2], repeat=8))}]}}',
        f'{{"d": [{", ".join(f"""[{{"t": {json.dumps(key)}}}, 1]""" for key in product([-1, -2], repeat=8))}]}}',
    ],
    ids=lambda value: value[:20],
)
def test_a_value_that_would_take_too_much_is_refused(value: str) -> None:
    with pytest.raises(ValueError):
        read_call(f'{{"status": "returned", "value": {value}}}'.encode())


@pytest.mark.slow
def test_the_rows_of_columns_are_counted() -> None:
    numbers = ",".join(["0"] * 900_000)
    line = f'{{"status": "returned", "value": {{"c": {{"a": [{numbers}]}}}}}}'
    assert len(read_call(line.encode()).value) == 900_000
    columns = f'{{"c": {{"a": {{"c": {{"b": [{numbers}]}}}}}}}}'
    with pytest.raises(ValueError):
        read_call(f'{{"status": "returned", "value": {columns}}}'.encode())


def test_a_line_that_is_too_long_is_not_parsed(sandbox: Sandbox) -> None:
    with sandbox.open(FORGE.replace("(line)", "(size)").replace("line.encode()", "b'[' * size")) as program:
        result = program.call("forge", 20_000_000)
    assert (result.status, result.message) == (Status.TOO_LARGE, "it sent more than it may")


@pytest.mark.parametrize("value", ["[[]] * 600_000", "'[' * 1_500_000", "chr(0) * 5_000_000"])
def test_an_honest_answer_with_too_much_in_it_is_too_large(sandbox: Sandbox, value: str) -> None:
    with sandbox.open(f"def f():\n    return {value}") as program:
        result = program.call("f")
        assert result.status is Status.TOO_LARGE, result
        assert program.call("f").status is Status.TOO_LARGE  # the session goes on


def succeeds(function: Callable[..., Any], *arguments: Any) -> bool:
    try:
        function(*arguments)
    except (ValueError, TooLargeError):
        return False
    return True


def test_what_is_received_can_be_sent_back(sandbox: Sandbox) -> None:
    nested: Any = []
    for _ in range(MOST_DEEP - 1):
        nested = [nested]
    with sandbox.open("def f(x):\n    return x") as program:
        result = program.call("f", nested)
        assert result.value == nested
        assert program.call("f", result.value).value == nested
    read = True
    for _ in range(5):
        nested = [nested]
        read, sent = succeeds(plain, nested), succeeds(tagged, nested, 10**6)
        assert sent or not read
    assert not read


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text(), inner)
        | st.dictionaries(st.sampled_from("mdocTSLtsf"), inner, min_size=1, max_size=1)
    ),
    max_leaves=20,
)
FIELDS = ("value", "echo", "message", "traceback", "error")
answers = st.fixed_dictionaries(
    {"status": st.sampled_from([status.value for status in Status])}, optional=dict.fromkeys(FIELDS, json_values)
)


@given(json_values | answers, st.sampled_from(["any", "truth", "list"]))
def test_every_answer_is_read_or_refused(answer: Any, wanted: Any) -> None:
    line = json.dumps(answer).encode()
    with contextlib.suppress(ValueError):
        read_call(line, wanted)
    with contextlib.suppress(ValueError):
        read_parts(line, lambda result: result)


@given(st.binary())
def test_every_line_is_read_or_refused(line: bytes) -> None:
    with contextlib.suppress(ValueError):
        read_call(line)


_DESCRIPTORS = """
import os, resource, sys; sys.path[:] = sys.argv[2:]
from pddlego.sandbox import Sandbox
highest = int(sys.argv[1])
if highest < 0:
    resource.setrlimit(resource.RLIMIT_NOFILE, (-highest, -highest))
else:
    while os.open(os.devnull, os.O_RDONLY) < highest:
        pass
with Sandbox() as sandbox, sandbox.open("def f(x): return x + 1") as program:
    print(program.call("f", 1))
"""


@pytest.mark.parametrize("highest", [93, 94, 95, 96, -32])
def test_any_descriptor_of_the_host_may_be_in_use(highest: int) -> None:
    """The control connection and the pipes get every number around 100; a negative number is a limit on all."""
    paths = [path or str(Path.cwd()) for path in sys.path]
    done = subprocess.run(
        [sys.executable, "-c", _DESCRIPTORS, str(highest), *paths],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert "value=2" in done.stdout, done.stdout + done.stderr
