"""All attacks on the sandbox: those that `doctor` tries, many more, and a program that outlives its host."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from pddlego.sandbox.probes import ENDLESS, PROBES, Probe, ProbeResult, code, kernel_call
from pddlego.sandbox.result import SandboxLimits, Status
from pddlego.sandbox.sandbox import Isolation
from tests.children import started
from tests.scale import PATIENCE

ASLEEP = SandboxLimits(seconds=0.3, memory=256, patience=1.0, grace=0.2)

OUTGOING = 4
"""The descriptor of the pipe to the host in a sandbox: the lowest free number after the pipe from the host."""

FORGE = f"""
import os
def forge(line):
    data = line.encode() + b"\\n"
    while data:
        data = data[os.write({OUTGOING}, data):]
    os._exit(0)
"""
"""A program whose function writes a line to the host as the answer, and ends its process."""

MOST_FORKS = 50
"""How many processes a fork bomb makes, should nothing stop it: they end at once, for this is the user's machine."""


def _forged(name: str, line: str) -> Probe:
    """An attack that writes to the host a line that no sandbox writes: an expression of Python."""
    body = f"import os\ndata = ({line} + '\\n').encode()\nwhile data:\n    data = data[os.write({OUTGOING}, data):]"
    return code(name, f"{body}\nos._exit(0)", Status.DIED)


ATTACKS: tuple[Probe, ...] = (
    *PROBES,
    code("read a file", "return open('/etc/passwd').read()"),
    code("delete a file", "import os\nos.unlink(place + '.kept')\nreturn 'done'"),
    code("list a folder", "import os\nreturn os.listdir('/')"),
    code("the host's environment", "return open(f'/proc/{host}/environ').read()"),
    kernel_call("trace the host", 101, 117, "16, host, 0, 0"),
    kernel_call("read the host's memory through the kernel", 310, 270, "host, 0, 0, 0, 0, 0"),
    kernel_call("leave the namespaces", 272, 97, "0x10000000"),
    kernel_call("become root", 105, 146, "0"),
    code(
        "fork bomb",
        f"import os\nfor _ in range({MOST_FORKS}):\n    if not os.fork():\n        os._exit(0)\nreturn 'done'",
    ),
    code("threads", "import threading\nthreading.Thread(target=print).start()\nreturn 'done'"),
    kernel_call("machine code of its own", 9, 222, "0, 4096, 7, 0x22, -1, 0"),
    code("import ctypes", "import ctypes\nreturn 'done'"),
    code("import subprocess", "import subprocess\nreturn 'done'"),
    code("memory bomb", "kept = []\nwhile True:\n    kept.append(bytearray(1 << 20))", Status.MEMORY),
    code("memory bomb in lists", "kept = [0]\nwhile True:\n    kept += kept", Status.MEMORY),
    code(
        "endless loop in one expression",
        "import re\nre.match(r'(a+)+$', 'a' * 40 + 'b')",
        Status.TIMEOUT,
        limits=ENDLESS,
    ),
    code(
        "deaf to signals",
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True:\n    pass",
        Status.TIMEOUT,
        limits=ENDLESS,
    ),
    code("sleep", "import time\ntime.sleep(1_000_000)", Status.TIMEOUT, limits=ASLEEP),
    code("endless recursion", "import sys\nsys.setrecursionlimit(1 << 30)\nreturn attack(host, place)",
          Status.MEMORY, Status.DIED, Status.TIMEOUT, Status.RAISED, limits=ENDLESS),
    code("flood of prints", "while True:\n    print('x' * 1000)", Status.TIMEOUT, limits=ENDLESS),
    code("flood of the pipe", f"import os\nwhile True:\n    os.write({OUTGOING}, b'x' * 100_000)", Status.TOO_LARGE),
    code("result of 100 MB", "return 'x' * 100_000_000", Status.TOO_LARGE, Status.MEMORY),
    _forged("forged answer", "'{}'"),
    _forged("forged value", """'{"status": "returned", "value": {"m": 5}}'"""),
    _forged("forged value that is nested deeply",
            """'{"status": "returned", "value": ' + '[' * 99_999 + ']' * 99_999 + '}'"""),
    _forged("forged text", """'{"status": "returned", "value": 1, "message": Infinity}'"""),
    code("end of the process", "import os\nos._exit(0)", Status.DIED),
)  # fmt: skip


_HOST = """
import sys
sys.path[:] = sys.argv[2:]
from pddlego.sandbox import (Sandbox, SandboxLimits)
session = Sandbox(sys.argv[1]).open("def attack():\\n    while True: pass", SandboxLimits(seconds=600))
print(session.child, flush=True)
session.call("attack")
"""


def orphan(isolation: Isolation = "required", patience: float = PATIENCE) -> ProbeResult:
    """Whether a program goes on running after its host was killed."""
    name = "outlive the host"
    paths = [path or str(Path.cwd()) for path in sys.path]
    command = [sys.executable, "-c", _HOST, isolation, *paths]
    with started(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as host:
        assert host.stdout is not None
        line = host.stdout.readline()
        host.kill()
    if not line.strip().isdigit():
        return ProbeResult(name, False, "the host did not start")
    child, began = int(line), time.monotonic()
    while _runs(child):
        if time.monotonic() - began > patience:
            return ProbeResult(name, False, f"process {child} still runs")
        time.sleep(0.01)
    return ProbeResult(name, True, "it is gone")


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
