"""A module of a method that runs in the sandbox: what it may do, and how its faults end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import pddlego.sandbox
from pddlego.errors import EngineError
from pddlego.methods.registry import methods
from pddlego.sandbox import CallResult, SandboxLimits, SandboxSession, Status
from pddlego.sandbox.sandbox import Sandbox
from tests.sandbox.attacks import FORGE, OUTGOING
from tests.sandbox.ordinary import needs_locks

pytestmark = needs_locks

LIMITS = SandboxLimits(seconds=0.3, memory=256, most=100_000, patience=1_000, grace=0.2)

GUEST = f"""
from __future__ import annotations
import itertools, os, signal, sys
from dataclasses import dataclass
from pddlego.sandbox.jail.values import plain, tagged

@dataclass(frozen=True)
class Total:
    number: int

class Guest:
    def __init__(self):
        self.total = Total(0)

    def add(self, numbers):
        for number in plain(numbers):
            number = vars(sys.modules["program"])["double"](number)
            self.total = Total(self.total.number + number)
            yield number

    def sum(self):
        return self.total.number

    def loop(self):
        yield 1
        while True:
            pass

    def yield_endlessly(self):
        yield from itertools.count()

    def yield_too_much(self):
        yield "x" * 200_000

    def yield_itself(self):
        yield [self]

    def catch_everything(self):
        while True:
            try:
                yield from itertools.repeat(1, 1000)
            except BaseException:
                pass

    def ignore_the_signal(self):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self.loop()
        while True:
            pass

    def fill_the_memory(self):
        return len(bytearray(1 << 40))

    def flood(self):
        while True:
            os.write({OUTGOING}, b"x" * 10_000)

    def write_before(self):
        os.write({OUTGOING}, 2 * b'{{"status": "returned", "value": []}}\\n')
        return 1

    def end(self):
        os._exit(0)

    def exit(self):
        yield 1
        sys.exit("no")

    def read(self):
        return open("/etc/passwd").read()
"""

PROGRAM = "def double(number):\n    return number * 2"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as made:
        yield made


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], type]:
    """Makes the driver `Guest` of a module with this text, which this process does not run."""

    def make(source: str) -> type:
        module = ModuleType("guests_module")
        module.__file__ = str(tmp_path / "guests_module.py")
        tmp_path.chmod(0o755)
        Path(module.__file__).write_text(source)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        return type("Guest", (), {"__module__": module.__name__})

    return make


def asked(session: SandboxSession, method: str, *arguments: Any) -> CallResult:
    session.post(method, *arguments)
    return session.collect()


def test_a_driver_calls_functions_of_programs_and_keeps_its_state(
    sandbox: Sandbox, driver: Callable[[str], type]
) -> None:
    with sandbox.session(LIMITS, driver=driver(GUEST)) as session:
        assert session.load(PROGRAM).returned
        session.post("add", [1, 2])
        session.post("add", [3])
        assert session.collect().value == [2, 4]
        assert session.collect().value == [6]
        assert asked(session, "sum").value == [12]
        assert session.call("double", 4).value == 8


def test_what_was_yielded_before_an_exception_is_sent(sandbox: Sandbox, driver: Callable[[str], type]) -> None:
    with sandbox.session(LIMITS, driver=driver(GUEST)) as session:
        session.load(f"{PROGRAM} if number else 1 / 0")
        result = asked(session, "add", [1, 0, 2])
        assert (result.status, result.error, result.value) == (Status.RAISED, "ZeroDivisionError", [2])
        assert "<driver>" not in result.traceback and "in double" in result.traceback
        assert asked(session, "sum").value == [2]
        assert asked(session, "exit").value == [1]
        assert asked(session, "win").error == "AttributeError"


def test_programs_do_not_see_the_driver_among_the_modules(sandbox: Sandbox, driver: Callable[[str], type]) -> None:
    source = "import sys\ndef f():\n    return [name for name in sys.modules if name[:1] == '<' or 'pddlego' in name]"
    with sandbox.session(LIMITS, driver=driver(GUEST)) as session:
        session.load(source)
        assert session.call("f").value == []


@pytest.mark.parametrize(
    ("method", "ends"),
    [
        ("loop", Status.TIMEOUT),
        ("yield_endlessly", (Status.TIMEOUT, Status.MEMORY)),
        ("yield_too_much", Status.TOO_LARGE),
        ("catch_everything", (Status.TIMEOUT, Status.MEMORY)),
        ("ignore_the_signal", Status.TIMEOUT),
        ("fill_the_memory", Status.MEMORY),
        ("flood", Status.TOO_LARGE),
        ("write_before", Status.RETURNED),  # the next request finds what follows
        ("end", Status.DIED),
        ("exit", Status.RAISED),
        ("read", Status.RAISED),
        ("yield_itself", Status.RETURNED),
    ],
)
def test_a_request_that_goes_wrong_ends_like_one_of_a_program(
    sandbox: Sandbox, driver: Callable[[str], type], method: str, ends: Any
) -> None:
    with sandbox.session(LIMITS, driver=driver(GUEST)) as session:
        result = asked(session, method)
        assert result.status in (ends if isinstance(ends, tuple) else (ends,)), result
        if method in ("exit", "read", "yield_itself", "yield_too_much"):
            assert asked(session, "sum").value == [0]
        else:
            assert asked(session, "sum").status is Status.DIED
    with sandbox.session(LIMITS, driver=driver(GUEST)) as session:
        assert asked(session, "sum").value == [0]


def test_a_result_that_the_check_refuses_was_forged(sandbox: Sandbox, driver: Callable[[str], type]) -> None:
    def refuse(result: CallResult) -> CallResult:
        raise ValueError(f"{result.value} is not a sum")

    with sandbox.session(LIMITS, driver=driver(GUEST)) as session:
        session.post("sum", check=refuse)
        assert session.collect().status is Status.DIED


@pytest.mark.parametrize(
    "line", ['{"status": "returned"}', '{"status": "returned", "value": 1}', '{"status": "raised", "value": {"m": {}}}']
)
def test_a_program_that_answers_for_the_driver_loses_its_process(
    sandbox: Sandbox, driver: Callable[[str], type], line: str
) -> None:
    with sandbox.session(LIMITS, driver=driver(GUEST)) as session:
        session.load(f"{FORGE}\ndef double(number):\n    forge({line!r})")
        assert asked(session, "add", [1]).status is Status.DIED


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import pddlego.sandbox\nclass Guest: pass", "No module named"),
        ("import ctypes\nclass Guest: pass", "No module named 'ctypes'"),
        ("raise ValueError('no')", "ValueError: no."),
        ("import sys\nsys.exit(1)", "SystemExit: 1."),
        ("x = 1", "KeyError: 'Guest'."),
        ("class Guest(", "was never closed"),
        ("x = '\0'", "null bytes"),
        ("class Guest:\n    def __init__(self, more): pass", "missing 1 required positional argument"),
        ("class Guest:\n    x = len(bytearray(1 << 40))", "MemoryError"),
        ("x = open('/etc/passwd').read()\nclass Guest: pass", "PermissionError"),
    ],
)
def test_a_driver_that_cannot_be_loaded_is_a_fault_of_its_method(
    sandbox: Sandbox, driver: Callable[[str], type], source: str, reason: str
) -> None:
    with pytest.raises(EngineError, match="driver of a sandbox cannot be loaded") as caught:
        sandbox.session(LIMITS, driver=driver(source))
    assert reason in caught.value.reason
    assert "can import what programs can" in caught.value.next_step


@pytest.mark.parametrize(
    "body", ["while True: pass", "import os\nos._exit(0)", f"import os\nwhile True: os.write({OUTGOING}, b'x' * 999)"]
)
def test_a_driver_that_never_ends_dies_or_floods_while_it_is_loaded(
    sandbox: Sandbox, driver: Callable[[str], type], monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    monkeypatch.setattr("pddlego.sandbox.sandbox._LOCKING", 0.5)
    with pytest.raises(EngineError, match="did not start"):
        sandbox.session(LIMITS, driver=driver(f"{body}\nclass Guest: pass"))
    monkeypatch.undo()
    with sandbox.open(PROGRAM) as session:
        assert session.call("double", 2).value == 4


def test_the_sandbox_has_no_words_of_methods() -> None:
    """A method hands in what runs in its sandbox."""
    names = {method.name for method in methods()} - {"programs"}
    words = {"goal", "successor", "expan", "heuristic", "guide", "planner", *names}
    for path in Path(pddlego.sandbox.__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8").lower()
        assert [word for word in words if word in text or word.replace("_", " ") in text] == [], path
