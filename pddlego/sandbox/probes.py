"""Attacks on the sandbox, run in it: what a program must not be able to do, tried. The tests try many more.

Those that call the kernel do so by its own numbers, through the C library that the interpreter has loaded, so that it
is the kernel that says no, and not a missing module.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pddlego.sandbox.result import CallResult, SandboxLimits, Status
from pddlego.sandbox.sandbox import Isolation, Sandbox

LIMITS = SandboxLimits(seconds=10.0, memory=256, most=1_000_000, patience=30.0)
ENDLESS = SandboxLimits(seconds=0.3, memory=256, most=1_000_000, patience=100.0, grace=0.2)

REFUSED = frozenset({Status.RAISED})
"""How a call ends that was not allowed something. A process that ended has perhaps become another program."""

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
    """An attack: the `source` defines `attack(host, place)`, which gets the number of the host's process and a file.

    It is stopped if the call ends in one of the `stopped` ways.
    """

    name: str
    source: str
    stopped: frozenset[Status] = REFUSED
    limits: SandboxLimits = LIMITS


@dataclass(frozen=True)
class ProbeResult:
    """What came of an attack."""

    name: str
    stopped: bool
    how: str


def kernel_call(name: str, x86_64: int, aarch64: int, arguments: str) -> Probe:
    """An attack that is one call of the kernel."""
    numbers = {"x86_64": x86_64, "aarch64": aarch64}
    machine = os.uname().machine if hasattr(os, "uname") else ""
    if machine not in numbers or sys.platform != "linux":
        return Probe(name, "", frozenset())
    source = f"{_LIBRARY}\ndef attack(host, place):\n    return ask({numbers}[{machine!r}], {arguments})\n"
    return Probe(name, source)


def code(name: str, body: str, *stopped: Status, limits: SandboxLimits = LIMITS) -> Probe:
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
"""What `doctor` tries: one attack on each layer."""


def try_all(probes: Iterable[Probe] = PROBES, isolation: Isolation = "required") -> Iterator[ProbeResult]:
    """Try every attack, each in a session of its own. Raises `UsageError` without a sandbox."""
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
            yield ProbeResult(probe.name, result.status in probe.stopped and not harmed, _how(result))


def _how(result: CallResult) -> str:
    return f"{result.status.value}{': ' * bool(result.message)}{result.message}"
