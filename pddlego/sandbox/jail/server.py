"""Starts sandboxes: an interpreter that has loaded what programs may import, and is forked for each.

It runs nothing that a model wrote. Its end is the end of all sandboxes: when the process that started it is gone, its
control connection closes, and it kills them; when it is killed itself, the kernel does.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from . import layers, program

_PRELOADED = """
    abc array bisect cmath collections collections.abc contextlib copy copyreg dataclasses datetime
    decimal enum fractions functools heapq itertools json keyword linecache math numbers operator pprint
    queue random re statistics string struct _strptime calendar locale textwrap time traceback types
    typing unicodedata warnings weakref
"""
"""Names of the modules that programs may import. No other file can be found."""

CONTROL = 0
"""The descriptor of the control connection: standard input, a number that no received pipe can have."""

_HIGHEST = 4096
"""Descriptors below this number are closed in a child. The server opens few, always the lowest free ones."""


def main() -> None:
    """Serve on the connection that is standard input. The arguments are folders where more modules are found."""
    control = socket.socket(fileno=CONTROL)
    more = sys.argv[1:]
    for name in _PRELOADED.split():
        importlib.import_module(name)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    empty = tempfile.mkdtemp()
    os.chdir(empty)
    Path(empty).rmdir()  # a folder that is gone: nothing can be made in it, and nothing is left of it
    os.dup2(1, 2)  # what was said before explains why it did not start; no sandbox may write there
    children: set[int] = set()
    waiting = b""
    try:
        while True:
            data, descriptors, _, _ = socket.recv_fds(control, 65_536, 2)
            if not data:
                return
            waiting += data
            while not waiting.endswith(b"\n"):
                waiting += control.recv(65_536) or b"\n"
            request, waiting = json.loads(waiting), b""
            answer = _start(request, descriptors, more, children) if "memory" in request else _end(request, children)
            control.sendall(json.dumps(answer).encode() + b"\n")
    finally:
        for child in children:
            _kill(child)


def _start(request: dict[str, Any], descriptors: list[int], more: list[str], children: set[int]) -> dict[str, Any]:
    """Fork a process that locks itself and serves on the two pipes that came along."""
    for name in request["modules"]:
        if name not in sys.modules:
            _load(name, more)
    server = os.getpid()
    child, reason = None, ""
    try:
        child = os.fork()
    except OSError as error:
        reason = str(error)
    if child != 0:
        for descriptor in descriptors:
            os.close(descriptor)
        if child is not None:
            children.add(child)
        return {"child": child, "reason": reason}
    try:
        _become(request, descriptors, server)
    finally:
        os._exit(0)


def _load(name: str, places: list[str]) -> None:
    """Import a module outside of the standard library, such as numpy, if it is installed."""
    sys.path[:0] = places
    with contextlib.suppress(Exception):
        importlib.import_module(name)
    del sys.path[: len(places)]


def _become(request: dict[str, Any], descriptors: list[int], server: int) -> None:
    """What the forked process does until its end."""
    os.setsid()
    incoming, outgoing = descriptors  # they keep their numbers: any fixed number may be in use
    os.dup2(1, CONTROL)
    low, high = sorted(descriptors)
    for first, end in ((3, low), (low + 1, high), (high + 1, _HIGHEST)):
        os.closerange(first, end)
    locked = layers.lock(request["memory"], server, request["only"])
    layers.hide()
    program.send(outgoing, json.dumps({"layers": locked}).encode())
    program.serve(incoming, outgoing, request["most"])


def _end(request: dict[str, Any], children: set[int]) -> dict[str, Any]:
    """Kill a child and say how it ended: its status, and the most memory that it had, in bytes."""
    child = request["end"]
    if child not in children:
        return {"status": None, "memory": 0}
    children.discard(child)
    ended = 0
    for _ in range(0 if request["kill"] else _PATIENCE):  # it is ending, and how it does is of interest
        ended, status, used = os.wait4(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.01)
    if not ended:
        _kill(child)
        _, status, used = os.wait4(child, 0)
    return {"status": os.waitstatus_to_exitcode(status), "memory": used.ru_maxrss * (1 if _IN_BYTES else 1024)}


_PATIENCE = 20
"""Hundredths of a second that a process that closed its pipe may take to end."""

_IN_BYTES = sys.platform == "darwin"


def _kill(child: int) -> None:
    """Kill a child with everything that it started."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)
