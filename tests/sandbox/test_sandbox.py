"""The sandbox on the real kernel: what programs may do, what they may not, and how the host is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pddlego.errors import EngineError, UsageError
from pddlego.sandbox import SandboxLimits, Status
from pddlego.sandbox.probes import PROBES, Probe
from pddlego.sandbox.sandbox import NEEDED, Sandbox, modules_of
from tests.children import started
from tests.clock import FakeClock
from tests.growth import is_linear
from tests.sandbox.attacks import ATTACKS as ALL
from tests.sandbox.attacks import OUTGOING, orphan
from tests.sandbox.ordinary import needs_locks, probes_as_ordinary_user, run_tests_as_ordinary_user
from tests.scale import PATIENCE, PATIENT, scaled

pytestmark = needs_locks

ATTACKS = [
    file
    for file in (
        "tests/sandbox/test_answers.py",
        "tests/sandbox/test_drivers.py",
        "tests/methods/programs/test_trial.py",
        "tests/methods/programs/test_hostile_heuristics.py",
        "tests/methods/thought_of_search/test_expander.py",
        "tests/methods/thought_of_search/test_search.py",
        "tests/methods/thought_of_search/test_checks.py",
    )
    if (Path(__file__).parents[2] / file).exists()
]
"""Files of tests in which models write what harms: they run as this user, and as an ordinary one."""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as made:
        yield made


def test_a_program_is_loaded_once_and_called_often(sandbox: Sandbox) -> None:
    with sandbox.open("seen = []\ndef f(x):\n    seen.append(x)\n    return len(seen), {x}") as program:
        assert program.call("f", "a").value == (1, {"a"})
        assert program.call("f", ("b", 1)).value == (2, {("b", 1)})
        assert set(NEEDED) <= set(program.layers)


def test_what_was_changed_comes_back_where_it_is_asked_for(sandbox: Sandbox) -> None:
    with sandbox.open("def f(x):\n    x.append(1)\n    return None") as program:
        assert program.call("f", [0], echo=True).echo == [[0, 1]]


def test_an_error_is_told_without_our_frames(sandbox: Sandbox) -> None:
    with sandbox.open("def g():\n    raise ValueError('no')\n\ndef f():\n    g()\n") as program:
        result = program.call("f")
    assert (result.status, result.error, result.message) == (Status.RAISED, "ValueError", "ValueError: no")
    lines = [line.strip() for line in result.traceback.splitlines() if line.startswith("  File")]
    assert lines == ['File "<file-name-omitted>", line 5, in f', 'File "<file-name-omitted>", line 2, in g']
    assert "raise ValueError('no')" in result.traceback


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("def f(:", "SyntaxError"),
        ("def f():\nreturn 1", "IndentationError"),
        ("raise SystemExit(3)", "SystemExit"),
        ("import pddl_planning", "ModuleNotFoundError"),
        ("x" * 3 + "\0", "SyntaxError"),
        ("class E(BaseException):\n    def __str__(self): raise self\nraise E", "E"),
    ],
)
def test_a_program_that_cannot_be_loaded(sandbox: Sandbox, source: str, error: str) -> None:
    with sandbox.open(source) as program:
        assert program.loaded.status is Status.RAISED
        assert program.loaded.error in (error, "ValueError")


def test_a_program_that_takes_too_long_says_where_it_was(sandbox: Sandbox) -> None:
    limits = SandboxLimits(seconds=0.2, patience=PATIENT)
    with sandbox.open("def f():\n    x = 0\n    while True:\n        x = sum([x])\n", limits) as program:
        result = program.call("f")
        assert result.status is Status.TIMEOUT
        assert "KeyboardInterrupt" in result.traceback
        assert "in f" in result.traceback
        assert program.call("f").status is Status.DIED  # it is ended, and no call waits for it


@pytest.mark.parametrize(("patience", "status"), [(1e6, Status.RETURNED), (4.0, Status.TIMEOUT)])
def test_time_is_that_of_the_processor_and_only_in_the_end_that_of_the_clock(patience: float, status: Status) -> None:
    clock = FakeClock()
    sleeping = "import time\ndef f():\n    time.sleep(1)\n    return 1"
    limits = SandboxLimits(seconds=1.0, patience=patience)
    with Sandbox(clock=clock) as sandbox, sandbox.open(sleeping, limits) as program:
        assert program.loaded.returned
        clock.step = 60.0  # a minute passes whenever it is read
        result = program.call("f")
    assert result.status is status
    assert result.message == ("it took longer than 1 second" if status is Status.TIMEOUT else "")


@pytest.mark.parametrize(
    "body",
    [
        "x = []\n    while True: x.append('a' * 1000000)",
        "return [0] * 10**10",
        "return {n: str(n) for n in range(10**9)}",
    ],
)
def test_a_program_that_eats_memory_ends_as_memory(sandbox: Sandbox, body: str) -> None:
    limits = SandboxLimits(seconds=600, memory=200)
    with sandbox.open(f"def f():\n    {body}", limits) as program:
        result = program.call("f")
    assert result.status is Status.MEMORY
    assert result.message == "it needs more than 200 MiB of memory"


def test_what_is_printed_costs_nothing(sandbox: Sandbox) -> None:
    with sandbox.open("def f():\n    for _ in range(100000): print('x' * 100)\n    return 1") as program:
        result = program.call("f")
    assert result.value == 1


_ORDER = """
import sys; sys.path[:] = sys.argv[1:]
from pddlego.sandbox import Sandbox
with Sandbox() as sandbox, sandbox.open("def f(x): return list(x)") as program:
    print(program.call("f", {f"name{number}" for number in range(100)}).value)
"""


def test_sets_are_in_the_same_order_whatever_the_host() -> None:
    paths = [path or str(Path.cwd()) for path in sys.path]
    result = [
        subprocess.run(
            [sys.executable, "-c", _ORDER, *paths],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        ).stdout
        for seed in ("1", "2")
    ]
    assert result[0] == result[1] != ""


@pytest.mark.parametrize(
    "value", [f'{{"s": [{", ".join(str(k * (2**61 - 1)) for k in range(9))}]}}', f"[{'[],' * 1_000_000}[]]"]
)
def test_what_a_forged_answer_may_cost_the_host_is_bounded(sandbox: Sandbox, value: str) -> None:
    source = (
        "import os\ndef f(line):\n    data = line.encode()\n"
        f"    while data:\n        data = data[os.write({OUTGOING}, data):]\n    os._exit(0)"
    )
    with sandbox.open(source) as program:
        result = program.call("f", f'{{"status": "returned", "value": {value}}}\n')
    assert result.status is Status.DIED
    assert "own pipe" in result.message


def test_what_was_not_asked_for_ends_the_session(sandbox: Sandbox) -> None:
    source = f"import os\ndef f():\n    return 1\ndef g():\n    os.write({OUTGOING}, b'{{}}\\n{{}}\\n')\n    return 2"
    with sandbox.open(source) as program:
        assert program.call("f").value == 1
        assert program.call("g").status is Status.DIED
        assert program.call("f").status is Status.DIED


def test_programs_may_use_what_looks_for_its_module(sandbox: Sandbox) -> None:
    source = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\nfrom datetime import datetime\n"
        "@dataclass\nclass A:\n    x: int\n"
        "def f():\n    return A(datetime.strptime('2024', '%Y').year).x"
    )
    with sandbox.open(source) as program:
        assert program.call("f").value == 2024, program.loaded


def test_limits_that_are_there_already_are_kept(tmp_path: Path) -> None:
    code = (
        "import resource, sys; sys.path[:] = sys.argv[1:]\n"
        "resource.setrlimit(resource.RLIMIT_CPU, (5000, 5000))\n"
        "from pddlego.sandbox import Sandbox\n"
        "print(*Sandbox().layers())"
    )
    paths = [path or str(Path.cwd()) for path in sys.path]
    done = subprocess.run([sys.executable, "-c", code, *paths], capture_output=True, text=True, timeout=PATIENCE)
    assert "limits" in done.stdout, done.stderr


@pytest.mark.parametrize("name", ["read a file", "run a program", "a connection", "list a folder", "import ctypes"])
def test_without_locks_an_attack_succeeds(name: str) -> None:
    """So that a probe that cannot fail is noticed. What would harm the machine is not tried."""
    (probe,) = (item for item in ALL if item.name == name)
    with Sandbox("off") as off, off.open(probe.source, probe.limits) as session:
        result = session.call("attack", os.getpid(), "/nowhere")
    assert (result.status in probe.stopped) is (name == "import ctypes")


def test_many_threads_may_use_it_at_once(sandbox: Sandbox) -> None:
    result: list[object] = []

    def work(number: int) -> None:
        with sandbox.open("def f(x):\n    return x * 2") as program:
            result.extend(program.call("f", number).value for _ in range(20))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert sorted(map(str, result)) == sorted(str(number * 2) for number in range(8) for _ in range(20))


def test_a_server_that_is_killed_takes_its_sessions_along_and_is_started_again() -> None:
    with Sandbox() as made:
        program = made.open("def f():\n    while True: pass", SandboxLimits(seconds=600))
        server = made._server
        assert server is not None and program.child is not None
        server.send_signal(signal.SIGKILL)
        assert program.call("f").status is Status.DIED
        program.close()
        with made.open("def f():\n    return 1") as again:
            assert again.call("f").value == 1


def test_where_isolation_cannot_be_had_it_is_refused_and_best_effort_takes_what_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pddlego.sandbox.sandbox.NEEDED", (*NEEDED, "a wall"))
    with Sandbox() as made, pytest.raises(UsageError, match="cannot be isolated") as refused:
        made.open("x = 1")
    assert "a wall" in refused.value.reason
    with Sandbox("best-effort") as made, made.open("x = 1") as program:
        assert program.loaded.returned
    with Sandbox("off") as made, made.open("def f(): return open('/dev/null').name") as program:
        assert program.call("f").value == "/dev/null"
        assert program.layers == ("limits",)


@pytest.mark.parametrize("blank", ["\n", " ", "\t", "\f", "\n \n", "import ", "import\n"])
def test_looking_for_imports_takes_linear_time(blank: str) -> None:
    def look(characters: int) -> None:
        assert modules_of(blank * (characters // len(blank)) + "x") == ()

    assert modules_of(blank * 100 + "\n\n  import numpy as np") == ("numpy",)
    assert is_linear(lambda: look(20_000), lambda: look(200_000), 10)


def test_a_program_does_not_depend_on_the_modules_of_another(sandbox: Sandbox) -> None:
    plain = "def is_here():\n    import numpy\n    return True"
    for _ in range(2):
        with sandbox.open("import numpy\ndef is_here():\n    return True") as program:
            assert program.call("is_here").value is True
        with sandbox.session() as session:
            session.load(plain)
            assert session.call("is_here").error == "ModuleNotFoundError"


def test_there_is_no_other_isolation() -> None:
    with pytest.raises(UsageError, match="Unknown isolation 'some'"):
        Sandbox("some")  # type: ignore[arg-type]


@pytest.mark.parametrize("probe", ALL, ids=lambda probe: probe.name)
def test_an_attack_is_stopped(sandbox: Sandbox, probe: Probe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    place = tmp_path / "file"
    place.with_name("file.kept").write_text("x")
    with sandbox.open(probe.source, probe.limits) as session:
        result = session.loaded
        if result.returned:
            result = session.call("attack", os.getpid(), str(place))
    assert result.status in probe.stopped, result
    assert not place.exists()
    assert place.with_name("file.kept").exists()
    assert "sk-secret" not in repr(result)


def test_nothing_of_the_hosts_environment_is_inside(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with Sandbox() as made, made.open("import os\ndef f():\n    return dict(os.environ)") as program:
        assert "sk-secret" not in repr(program.call("f"))


def test_a_program_ends_with_its_host() -> None:
    assert orphan(patience=PATIENCE).stopped


@pytest.mark.slow
def test_an_ordinary_user_is_as_safe() -> None:
    result = probes_as_ordinary_user()
    assert [line for line in result if not line.startswith("stopped")] == []
    assert len(result) == len(PROBES)


@pytest.mark.slow
@pytest.mark.parametrize("file", scaled(ATTACKS[:1], in_ci=ATTACKS))
def test_attacks_fail_for_an_ordinary_user_too(file: str) -> None:
    done = run_tests_as_ordinary_user(file)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout and "skipped" not in done.stdout


FOREIGN = """
import os, sys; sys.path[:] = sys.argv[2:]
from pathlib import Path
from pddlego.errors import EngineError
from pddlego.sandbox import Sandbox
private = Path(sys.argv[1])
(private / "bin").mkdir(parents=True)
(private / "bin" / "python").symlink_to(sys.executable)
sys.executable = str(private / "bin" / "python")
private.chmod(0)
if os.getuid() == 0:
    os.setgroups([]); os.setresgid(65533, 65533, 65533); os.setresuid(65533, 65533, 65533)
try:
    Sandbox().open("x = 1")
except EngineError as error:
    print(error)
"""


def test_a_python_that_the_user_cannot_read_is_named(tmp_path: Path) -> None:
    """As for a program that gave up its rights after it had started."""
    paths = [path or str(Path.cwd()) for path in sys.path]
    command = [sys.executable, "-c", FOREIGN, str(tmp_path / "private"), *paths]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    (tmp_path / "private").chmod(0o700)
    what, reason, advice = done.stdout.splitlines()
    assert (what, done.stderr) == ("The sandbox did not start", "")
    assert reason == f"{tmp_path}/private/bin/python: Permission denied."
    assert "install Python and pddlego where that user can read them" in advice


@pytest.mark.parametrize(
    ("text", "mode", "says"),
    [
        ("#!/bin/sh\n", 0o644, "Permission denied"),
        ("\x7fELF", 0o755, "Exec format error"),
        ("#!/no/such/program\n", 0o755, "No such file or directory"),
        ("#!/bin/sh\necho \"ModuleNotFoundError: No module named 'encodings'\" >&2\nexit 1\n", 0o755, "'encodings'"),
        ("#!/bin/sh\necho 'error while loading shared libraries: libpython.so' >&2\nexit 127\n", 0o755, "libpython.so"),
    ],
)
def test_a_python_that_does_not_start_is_named(
    text: str, mode: int, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    python.write_text(text)
    python.chmod(mode)
    monkeypatch.setattr(sys, "executable", str(python))
    with Sandbox() as made, pytest.raises(EngineError, match="The sandbox did not start") as caught:
        made.open("x = 1")
    assert says in caught.value.reason
    assert str(python) in caught.value.next_step


def test_what_a_program_prints_as_errors_goes_nowhere(sandbox: Sandbox) -> None:
    source = "import sys\ndef f():\n    return sys.stderr.write('no error ' * 100_000)"
    with sandbox.open(source) as program:
        assert program.call("f").value == 900_000
        assert sandbox._errors is not None and sandbox._errors.seek(0, os.SEEK_END) == 0


def test_a_host_that_is_interrupted_leaves_nothing_behind() -> None:
    code = (
        "import sys; sys.path[:] = sys.argv[1:]\n"
        "from pddlego.sandbox import Sandbox, SandboxLimits\n"
        "with Sandbox() as s, s.open('def f():\\n while True: pass', SandboxLimits(seconds=600)) as p:\n"
        "    print(p.child, flush=True)\n"
        "    p.call('f')\n"
    )
    paths = [path or str(Path.cwd()) for path in sys.path]
    with started([sys.executable, "-c", code, *paths], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as host:
        assert host.stdout is not None
        child = int(host.stdout.readline())
        host.send_signal(signal.SIGINT)
        host.wait(PATIENCE)
    began = time.monotonic()
    while Path(f"/proc/{child}").exists() and time.monotonic() - began < PATIENCE:
        time.sleep(0.01)
    assert not Path(f"/proc/{child}").exists()
