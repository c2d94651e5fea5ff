"""Attacks on the sandbox, run in it: what a program must not be able to do, tried.

Those that call the kernel do so by its own numbers, through the C library that the interpreter has loaded, so that it
is the kernel that says no, and not a missing module.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pddlego.sandbox.result import CallResult, SandboxLimits, Status
from pddlego.sandbox.sandbox import Isolation, Sandbox

LIMITS = SandboxLimits(seconds=10.0, memory=256, most=1_000_000, patience=30.0)
ENDLESS = SandboxLimits(seconds=0.3, memory=256, most=1_000_000, patience=100.0, grace=0.2)
ASLEEP = SandboxLimits(seconds=0.3, memory=256, patience=1.0, grace=0.2)

REFUSED = frozenset({Status.RAISED})
"""How a call ends that was not allowed something. A process that ended has perhaps become another program."""

_LIBRARY = """
def library():
    def below(kind):
        for each in type.__subclasses__(kind):
            yield each
            yield from below(each)
    return next(each for each in below(object) if each.__name__ == "CDLL")(None, use_errno=True)

def ask(*numbers):
    if library().syscall(*numbers) < 0:
        raise PermissionError("the kernel refuses")
    return "done"
"""

OUTGOING = 4
"""The descriptor of the pipe to the host in a sandbox: the lowest free number after the pipe from the host."""

MOST_FORKS = 50
"""How many processes a fork bomb makes, should nothing stop it: they end at once, for this is the user's machine."""


@dataclass(frozen=True)
class Probe:
    """An attack: the `source` defines `attack(host, place)`, which gets the number of the host's process and a file.

    It is stopped if the call ends in one of the `stopped` ways.
    """

    name: str
    source: str
    stopped: frozenset[Status] = REFUSED
    limits: SandboxLimits = LIMITS


@dataclass(frozen=True)
class Tried:
    """What came of an attack."""

    name: str
    stopped: bool
    how: str


def _call(name: str, x86_64: int, aarch64: int, arguments: str) -> Probe:
    """An attack that is one call of the kernel."""
    numbers = {"x86_64": x86_64, "aarch64": aarch64}
    machine = os.uname().machine if hasattr(os, "uname") else ""
    if machine not in numbers or sys.platform != "linux":
        return Probe(name, "", frozenset())
    source = f"{_LIBRARY}\ndef attack(host, place):\n    return ask({numbers}[{machine!r}], {arguments})\n"
    return Probe(name, source)


def _code(name: str, body: str, *stopped: Status, limits: SandboxLimits = LIMITS) -> Probe:
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    return Probe(name, f"def attack(host, place):\n{lines}\n", frozenset(stopped) or REFUSED, limits)


def _forged(name: str, line: str) -> Probe:
    """An attack that writes to the host a line that no sandbox writes: an expression of Python."""
    body = f"import os\ndata = ({line} + '\\n').encode()\nwhile data:\n    data = data[os.write({OUTGOING}, data):]"
    return _code(name, f"{body}\nos._exit(0)", Status.DIED)


PROBES: tuple[Probe, ...] = (
    _code("read a file", "return open('/etc/passwd').read()"),
    _call("read a file through the kernel", 257, 56, "-100, b'/etc/passwd', 0"),
    _code("write a file", "open(place, 'w').write('x')\nreturn 'done'"),
    _code("delete a file", "import os\nos.unlink(place + '.kept')\nreturn 'done'"),
    _code("list a folder", "import os\nreturn os.listdir('/')"),
    _code("the host's environment", "return open(f'/proc/{host}/environ').read()"),
    _code("the host's memory", "return open(f'/proc/{host}/maps').read()"),
    _call("trace the host", 101, 117, "16, host, 0, 0"),
    _call("read the host's memory through the kernel", 310, 270, "host, 0, 0, 0, 0, 0"),
    _call("signal to the host", 62, 129, "host, 0"),
    _call("a connection", 41, 198, "2, 1, 0"),
    _call("run a program", 59, 221, "b'/bin/true', 0, 0"),
    _call("leave the namespaces", 272, 97, "0x10000000"),
    _call("become root", 105, 146, "0"),
    _code(
        "fork bomb",
        f"import os\nfor _ in range({MOST_FORKS}):\n    if not os.fork():\n        os._exit(0)\nreturn 'done'",
    ),
    _code("threads", "import threading\nthreading.Thread(target=print).start()\nreturn 'done'"),
    _call("machine code of its own", 9, 222, "0, 4096, 7, 0x22, -1, 0"),
    _code("import ctypes", "import ctypes\nreturn 'done'"),
    _code("import subprocess", "import subprocess\nreturn 'done'"),
    _code("memory bomb", "kept = []\nwhile True:\n    kept.append(bytearray(1 << 20))", Status.MEMORY),
    _code("memory bomb in one piece", "return len(bytearray(1 << 32))", Status.MEMORY),
    _code("memory bomb in lists", "kept = [0]\nwhile True:\n    kept += kept", Status.MEMORY),
    _code(
        "endless loop under a bare except",
        "while True:\n    try:\n        for _ in range(1000):\n            sum(range(100))\n    except:\n        pass",
        Status.TIMEOUT,
        limits=ENDLESS,
    ),
    _code(
        "endless loop in one expression",
        "import re\nre.match(r'(a+)+$', 'a' * 40 + 'b')",
        Status.TIMEOUT,
        limits=ENDLESS,
    ),
    _code(
        "deaf to signals",
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True:\n    pass",
        Status.TIMEOUT,
        limits=ENDLESS,
    ),
    _code("sleep", "import time\ntime.sleep(1_000_000)", Status.TIMEOUT, limits=ASLEEP),
    _code("endless recursion", "import sys\nsys.setrecursionlimit(1 << 30)\nreturn attack(host, place)",
          Status.MEMORY, Status.DIED, Status.TIMEOUT, Status.RAISED, limits=ENDLESS),
    _code("flood of prints", "while True:\n    print('x' * 1000)", Status.TIMEOUT, limits=ENDLESS),
    _code("flood of the pipe", f"import os\nwhile True:\n    os.write({OUTGOING}, b'x' * 100_000)", Status.TOO_LARGE),
    _code("result of 100 MB", "return 'x' * 100_000_000", Status.TOO_LARGE, Status.MEMORY),
    _forged("forged answer", "'{}'"),
    _forged("forged value", """'{"status": "returned", "value": {"m": 5}}'"""),
    _forged("forged value that is nested deeply",
            """'{"status": "returned", "value": ' + '[' * 99_999 + ']' * 99_999 + '}'"""),
    _forged("forged text", """'{"status": "returned", "value": 1, "message": Infinity}'"""),
    _code("end of the process", "import os\nos._exit(0)", Status.DIED),
)  # fmt: skip


def try_all(isolation: Isolation = "required") -> Iterator[Tried]:
    """Every attack, each in a session of its own. Raises `UsageError` where there is no sandbox."""
    with tempfile.TemporaryDirectory(prefix="pddlego-probe-") as folder, Sandbox(isolation) as sandbox:
        place = Path(folder) / "file"
        place.with_name("file.kept").write_text("x")
        Path(folder).chmod(0o777)
        for probe in PROBES:
            if not probe.source:
                yield Tried(probe.name, False, "not tried: the numbers of this system's calls are not known")
                continue
            with sandbox.open(probe.source, probe.limits) as session:
                found = session.loaded
                if found.returned:
                    found = session.call("attack", os.getpid(), str(place))
            harmed = place.exists() or not place.with_name("file.kept").exists()
            yield Tried(probe.name, found.status in probe.stopped and not harmed, _how(found))
    yield orphan(isolation)


def _how(found: CallResult) -> str:
    return f"{found.status.value}{': ' * bool(found.message)}{found.message}"


_HOST = """
import sys
sys.path[:] = sys.argv[2:]
from pddlego.sandbox import (Sandbox, SandboxLimits)
session = Sandbox(sys.argv[1]).open("def attack():\\n    while True: pass", SandboxLimits(seconds=600))
print(session.child, flush=True)
session.call("attack")
"""


def orphan(isolation: Isolation = "required", patience: float = 10.0) -> Tried:
    """Whether a program goes on running after its host was killed."""
    name = "outlive the host"
    paths = [path or str(Path.cwd()) for path in sys.path]
    command = [sys.executable, "-c", _HOST, isolation, *paths]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as host:
        assert host.stdout is not None
        line = host.stdout.readline()
        host.kill()
    if not line.strip().isdigit():
        return Tried(name, False, "the host did not start")
    child, began = int(line), time.monotonic()
    while _runs(child):
        if time.monotonic() - began > patience:
            return Tried(name, False, f"process {child} still runs")
        time.sleep(0.01)
    return Tried(name, True, "it is gone")


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
