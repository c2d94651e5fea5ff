"""Attacks on the sandbox from within: programs that try forbidden actions. The tests contain many more attacks.

Attacks on the kernel make system calls by number, through the C library of the interpreter. So the kernel must refuse
them; a missing Python module does not protect it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pddlego.sandbox.result import SandboxLimits, Status
from pddlego.sandbox.sandbox import Isolation, Sandbox

LIMITS = SandboxLimits(seconds=10.0, memory=256, most=1_000_000, patience=30.0)
ENDLESS = SandboxLimits(seconds=0.3, memory=256, most=1_000_000, patience=100.0, grace=0.2)

REFUSED = frozenset({Status.RAISED})
"""The statuses of a refused attack. `died` is not one of them: the process may have become another program."""

_LIBRARY = """
def library():
    def below(kind):
        for subclass in type.__subclasses__(kind):
            yield subclass
            yield from below(subclass)
    return next(cls for cls in below(object) if cls.__name__ == "CDLL")(None, use_errno=True)

def ask(*numbers):
    if library().syscall(*numbers) < 0:
        raise PermissionError("the kernel refuses")
    return "done"
"""


@dataclass(frozen=True)
class Probe:
    """An attack: `source` defines `attack(host, place)`; the arguments are the host's process number and a file's path.

    The sandbox has stopped the attack if the call ends with a status in `stopped`. An empty `source` is not tried.
    """

    name: str
    source: str
    stopped: frozenset[Status] = REFUSED
    limits: SandboxLimits = LIMITS


@dataclass(frozen=True)
class ProbeResult:
    """The result of an attack: whether the sandbox stopped it, and how the call ended."""

    name: str
    stopped: bool
    how: str


def kernel_call(name: str, x86_64: int, aarch64: int, arguments: str) -> Probe:
    """An attack that consists of one system call, with its numbers on two kinds of processors."""
    numbers = {"x86_64": x86_64, "aarch64": aarch64}
    machine = os.uname().machine if hasattr(os, "uname") else ""
    if machine not in numbers or sys.platform != "linux":
        return Probe(name, "", frozenset())
    source = f"{_LIBRARY}\ndef attack(host, place):\n    return ask({numbers}[{machine!r}], {arguments})\n"
    return Probe(name, source)


def code(name: str, body: str, *stopped: Status, limits: SandboxLimits = LIMITS) -> Probe:
    """An attack with this body of the function `attack`."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    return Probe(name, f"def attack(host, place):\n{lines}\n", frozenset(stopped) or REFUSED, limits)


PROBES: tuple[Probe, ...] = (
    kernel_call("read a file through the kernel", 257, 56, "-100, b'/etc/passwd', 0"),
    code("write a file", "open(place, 'w').write('x')\nreturn 'done'"),
    code("the host's memory", "return open(f'/proc/{host}/maps').read()"),
    kernel_call("signal to the host", 62, 129, "host, 0"),
    kernel_call("a connection", 41, 198, "2, 1, 0"),
    kernel_call("run a program", 59, 221, "b'/bin/true', 0, 0"),
    code("memory bomb in one piece", "return len(bytearray(1 << 32))", Status.MEMORY),
    code(
        "endless loop under a bare except",
        "while True:\n    try:\n        for _ in range(1000):\n            sum(range(100))\n    except:\n        pass",
        Status.TIMEOUT,
        limits=ENDLESS,
    ),
)  # fmt: skip
"""The attacks that `pddlego doctor` tries: one on each layer."""


def try_all(probes: Iterable[Probe] = PROBES, isolation: Isolation = "required") -> Iterator[ProbeResult]:
    """Try every attack in a session of its own. Raises `UsageError` if programs cannot be isolated."""
    with tempfile.TemporaryDirectory(prefix="pddlego-probe-") as folder, Sandbox(isolation) as sandbox:
        place = Path(folder) / "file"
        place.with_name("file.kept").write_text("x")
        Path(folder).chmod(0o777)
        for probe in probes:
            if not probe.source:
                yield ProbeResult(probe.name, False, "not tried: the numbers of this system's calls are not known")
                continue
            with sandbox.open(probe.source, probe.limits) as session:
                result = session.loaded
                if result.returned:
                    result = session.call("attack", os.getpid(), str(place))
            harmed = place.exists() or not place.with_name("file.kept").exists()
            how = f"{result.status.value}{': ' * bool(result.message)}{result.message}"
            yield ProbeResult(probe.name, result.status in probe.stopped and not harmed, how)
