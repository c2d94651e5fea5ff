"""Starts sandboxes: an interpreter that has loaded the modules for programs, and is forked for each sandbox.

The server itself runs no program of a model. All sandboxes end with it: when the host process is gone, the control
connection closes and the server kills them; when the server itself is killed, the kernel kills them.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import json
import os
import signal
import socket
import sys
import tempfile
import time
from pathlib import Path
from types import CodeType
from typing import Any

from . import layers, program

_PRELOADED = """
    abc array bisect cmath collections collections.abc contextlib copy copyreg dataclasses datetime
    decimal enum fnmatch fractions functools heapq itertools json keyword linecache math numbers operator pprint
    queue random re statistics string struct _strptime calendar locale textwrap time traceback types
    typing unicodedata warnings weakref
"""
"""The names of the modules that programs may import. Imports of other modules fail."""

CONTROL = 0
"""The descriptor of the control connection: standard input, whose number no received pipe can have."""

_HIGHEST = 4096
"""Descriptors below this number are closed in a child. The server's few descriptors have the lowest free numbers."""


_loaded: set[str] = set()
"""The names of the modules outside of the standard library that programs have imported."""


def main() -> None:
    """Serve requests on the control connection. The command-line arguments are folders with additional modules."""
    control = socket.socket(fileno=CONTROL)
    more = sys.argv[1:]
    for name in _PRELOADED.split():
        importlib.import_module(name)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    empty = tempfile.mkdtemp()
    os.chdir(empty)
    Path(empty).rmdir()  # no file can be created in a deleted working directory, and no folder is left behind
    os.dup2(1, 2)  # until here, standard error explains a failed start; no sandbox may write to it
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
    """Fork a process that locks itself and serves on the two pipes `descriptors`."""
    for name in set(request["modules"]) - _loaded:
        _load(name, more)
    server = os.getpid()
    child, reason = None, ""
    code = _code(request["driver"][0]) if request["driver"] else ""  # once, and not in every child
    try:
        gc.freeze()  # a collection in the child would copy all pages
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
        for name in _loaded.difference(request["modules"]):  # a program does not depend on those before it
            sys.modules.pop(name, None)
        _become(request, descriptors, server, code)
    finally:
        os._exit(0)


def _load(name: str, places: list[str]) -> None:
    """Import a module outside of the standard library, such as numpy, if it is installed in one of the folders."""
    sys.path[:0] = places
    with contextlib.suppress(Exception):
        importlib.import_module(name)
    del sys.path[: len(places)]
    _loaded.add(name)


@functools.cache
def _code(path: str) -> CodeType | str:
    """The code of a driver's file, which only a locked child runs; or the reason why it has none."""
    try:
        return compile(Path(path).read_bytes(), program.DRIVER, "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError) as error:
        return str(error)


def _become(request: dict[str, Any], descriptors: list[int], server: int, code: CodeType | str) -> None:
    """Run the forked process: close other descriptors, lock the process, and serve a program until the pipe closes."""
    os.setsid()
    incoming, outgoing = descriptors  # they keep their numbers, because any fixed number may be in use
    os.dup2(1, CONTROL)
    low, high = sorted(descriptors)
    for first, end in ((3, low), (low + 1, high), (high + 1, _HIGHEST)):
        os.closerange(first, end)
    locked = layers.lock(request["memory"], server, request["only"])
    layers.hide()
    driver, fault = (None, code) if isinstance(code, str) else program.make_driver(code, request["driver"][1])
    program.send(outgoing, json.dumps({"layers": locked, "driver": fault}).encode())
    program.serve(incoming, outgoing, request["most"], driver)


def _end(request: dict[str, Any], children: set[int]) -> dict[str, Any]:
    """End a child; returns its exit status and its maximum memory in bytes."""
    child = request["end"]
    if child not in children:
        return {"status": None, "memory": 0}
    children.discard(child)
    ended = 0
    for _ in range(0 if request["kill"] else _PATIENCE):  # it is ending by itself: wait for its own exit status
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
    """Kill a child and its process group."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)
