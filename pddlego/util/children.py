"""Child processes: start them with an environment without secrets, limit their memory, and end them."""

from __future__ import annotations

import contextlib
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

from pddlego.errors import EngineError, is_too_many_files

T = TypeVar("T")


_SECRET = re.compile(r"(^|_)(API_?KEY|KEY|TOKEN|SECRET|CREDENTIAL)S?(_\d+)?$|PASSW(OR)?D", re.IGNORECASE)

NEEDED = ("RAY_",)
"""Prefixes of the secret variables that child processes receive: Ray needs its variables to connect to a cluster."""


def _is_secret(name: str) -> bool:
    """Whether an environment variable of this name holds a secret that child processes do not need."""
    return bool(_SECRET.search(name)) and not name.startswith(NEEDED)


def for_children(**more: str) -> Mapping[str, str]:
    """The environment of a child process (a planner, Java, git): ours without secrets, with `more` variables."""
    return {name: value for name, value in os.environ.items() if not _is_secret(name)} | more


@contextlib.contextmanager
def without_secrets() -> Iterator[None]:
    """Remove secrets from our own environment temporarily, for libraries that start processes with all of it."""
    taken = {name: os.environ.pop(name) for name in list(os.environ) if _is_secret(name)}
    try:
        yield
    finally:
        for name, value in taken.items():
            os.environ.setdefault(name, value)


def start_python(name: str, arguments: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start this interpreter with `arguments`, in a session of its own; `options` are those of `subprocess.Popen`.

    Raises `EngineError` with the `name` of the program if it does not start, and `OSError` if too many files are open.
    """
    try:
        return subprocess.Popen([sys.executable or "", *arguments], start_new_session=True, **options)
    except OSError as error:
        if is_too_many_files(error):
            raise
        reason = f"{sys.executable or 'Python'}: {error.strerror or error}."
        advice = "Install Python where the user of this process can run it, or run as the user who owns it."
        raise EngineError(f"{name} did not start", reason, advice) from error


def limit_memory(mebibytes: int) -> None:
    """Limit the memory of this process, if the system supports a limit; 0: no limit."""
    if not mebibytes:
        return
    try:
        import resource
    except ImportError:  # Windows has no such limits.
        return
    with contextlib.suppress(ValueError):  # macOS has no limit of this kind; elsewhere a lower one holds already
        resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))


def kill_group(leader: int) -> None:
    """Kill a process that has a session of its own, with all its children.

    Call it before `wait`: after `wait`, the process number may belong to another process.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(leader, signal.SIGKILL)
        else:
            os.kill(leader, signal.SIGTERM)


def die_with(parent: int, folder: str | None = None) -> None:
    """Wait until the parent is gone; then remove the folder and end this process with all its children.

    A long search would not notice that its pipe was closed. The parent passes its own process number: `os.getppid` in
    the child could already return the process that adopted the child. On Windows, where `os.getppid` never changes and
    may be the launcher of a virtual environment, it returns at once.
    """
    if not hasattr(os, "killpg"):
        return
    while os.getppid() == parent:
        time.sleep(1.0)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
    os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


_CRASHES = (signal.SIGSEGV, signal.SIGFPE, signal.SIGILL, getattr(signal, "SIGBUS", signal.SIGSEGV))
"""Signals of faults in compiled code. Others also end a process that has no memory left."""


def in_a_fork(call: Callable[[], T], errors: tuple[type[Exception], ...]) -> T:
    """The result of a call in a forked copy of this process; raises those `errors` that the call raised.

    Compiled code may hold Python's lock for minutes, so that no other thread of the same process can notice that the
    parent has ended. Raises `ChildProcessError` if the copy crashes, and `MemoryError` if it ends without a result.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException), os.fdopen(writing, "wb") as stream:
            os.close(reading)
            try:
                answer: tuple[bool, object] = (True, call())
            except errors as error:
                answer = (False, error)
            pickle.dump(answer, stream)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        answered = stream.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status) and (number := os.WTERMSIG(status)) in _CRASHES:
        raise ChildProcessError(f"crashed with {signal.Signals(number).name}")
    if not answered:
        raise MemoryError
    good, value = pickle.loads(answered)
    if not good:
        raise value
    return cast(T, value)
