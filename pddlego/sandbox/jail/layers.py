"""Locks the process that it runs in, layer by layer, and says which of them hold. Nothing of it can be undone.

The boundary is the kernel's. That modules are hidden from the program (`hide`) only makes mistakes visible early: what
is in the process's memory a program can find.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import resource
import signal
import sys
from collections.abc import Callable

from . import seccomp

NOBODY = 65534
"""The user that a sandbox begun by root becomes: one that owns nothing."""

LIMITS, _NAMESPACES, USER, LANDLOCK, SECCOMP = "limits", "namespaces", "own user", "Landlock", "seccomp"

_TOTAL_SECONDS = 1_000_000
"""CPU time of one process, all calls together."""

_SPARE = 64 << 20
"""Bytes that a process may take besides, once its program has run out of memory, to say so."""

_SET_DEATH_SIGNAL, _SET_SECCOMP, _NO_NEW_PRIVILEGES, _FILTER = 1, 22, 38, 2
_NEW_USER, _NEW_NET, _NEW_IPC = 0x10000000, 0x40000000, 0x08000000
_CREATE_RULES, _RESTRICT = 444, 446
_RULES_VERSION = 1
_FILES_BY_VERSION = ((1, (1 << 13) - 1), (2, (1 << 14) - 1), (3, (1 << 15) - 1), (5, (1 << 16) - 1))
_NET_VERSION, _SCOPE_VERSION = 4, 6


class _Rules(ctypes.Structure):
    """What Landlock is to take away: files, network, and signals and sockets to processes outside."""

    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scope", ctypes.c_uint64))


class _Program(ctypes.Structure):
    """A filter of system calls: how many steps it has, and where they are."""

    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def lock(memory: int, parent: int, only: list[str] | None) -> dict[str, str]:
    """Take away everything that a program does not need. `memory` is in MiB.

    Returns each layer with why it does not hold, which is empty for one that does. The process dies with its `parent`.
    Of the layers `only` those are tried, if they are named.
    """
    steps: list[tuple[str, Callable[[], None]]] = [(_NAMESPACES, _leave_namespaces)]
    if os.getuid() == 0:
        steps.append((USER, _become_nobody))
    steps += [(LIMITS, lambda: _limit(memory)), (LANDLOCK, _close_files), (SECCOMP, _filter_calls)]
    layers: dict[str, str] = {}
    for name, step in steps:
        if name == LIMITS:  # a change of user forgets it
            _die_with(parent)
        if only is not None and name not in only:
            continue
        try:
            step()
            layers[name] = ""
        except (OSError, ValueError, AttributeError) as error:
            layers[name] = str(error) or type(error).__name__
    return layers


def hide() -> None:
    """Make modules that no program needs hard to reach, and every import of what is not loaded an error."""
    for name in list(sys.modules):
        first = name.partition(".")[0]
        if first in _HIDDEN or first == __package__.partition(".")[0] or name == "__main__":
            del sys.modules[name]
    sys.path.clear()
    sys.path_importer_cache.clear()
    sys.argv[:] = [""]


_HIDDEN = frozenset(("ctypes", "_ctypes", "socket", "_socket", "select", "resource", "subprocess", "_posixsubprocess"))


def more_memory() -> None:
    """Let the process have the memory that is kept for saying that it has none."""
    with contextlib.suppress(OSError, ValueError):
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _leave_namespaces() -> None:
    """A network without a way out, as the user that we are where that is allowed, else as a new one."""
    _only_linux()
    call = _library().unshare
    if os.getuid() == 0 and call(_NEW_NET | _NEW_IPC) == 0:
        return
    if call(_NEW_USER | _NEW_NET | _NEW_IPC) != 0:
        raise _error()


def _become_nobody() -> None:
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def _limit(memory: int) -> None:
    limits = [("RLIMIT_CPU", _TOTAL_SECONDS, _TOTAL_SECONDS + 1), ("RLIMIT_FSIZE", 0, 0), ("RLIMIT_CORE", 0, 0)]
    limits += [("RLIMIT_NOFILE", 16, 16), ("RLIMIT_NPROC", 0, 0), ("RLIMIT_MSGQUEUE", 0, 0), ("RLIMIT_MEMLOCK", 0, 0)]
    limits.append(("RLIMIT_AS", memory << 20, (memory << 20) + _SPARE))
    failed = []
    for name, soft, hard in limits:
        kind = getattr(resource, name, None)
        if kind is None:
            continue
        try:
            _, highest = resource.getrlimit(kind)
            most = hard if highest == resource.RLIM_INFINITY else min(hard, highest)
            resource.setrlimit(kind, (min(soft, most), most))
        except (OSError, ValueError) as error:
            failed.append(f"{name}: {error}")
    if failed:
        raise OSError("; ".join(failed))


def _die_with(parent: int) -> None:
    if sys.platform == "linux":
        _library().prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)


def _close_files() -> None:
    """No file, no connection, no signal to other processes: rules without any exception."""
    _only_linux()
    call = _library().syscall
    version = call(_CREATE_RULES, None, ctypes.c_size_t(0), _RULES_VERSION)
    if version < 1:
        raise _error()
    files = max(rights for since, rights in _FILES_BY_VERSION if since <= version)
    rules = _Rules(files, 3 if version >= _NET_VERSION else 0, 3 if version >= _SCOPE_VERSION else 0)
    size = 24 if version >= _SCOPE_VERSION else 16 if version >= _NET_VERSION else 8
    made = call(_CREATE_RULES, ctypes.byref(rules), ctypes.c_size_t(size), 0)
    if made < 0:
        raise _error()
    _forbid_privileges()
    restricted = call(_RESTRICT, made, 0)
    failed = _error()
    os.close(made)
    if restricted != 0:
        raise failed


def _filter_calls() -> None:
    steps = seccomp.filter_for(platform.machine()) if sys.platform == "linux" else None
    if steps is None:
        raise OSError(f"the system calls of {sys.platform} on {platform.machine()} are unknown")
    _forbid_privileges()
    program = _Program(len(steps) // 8, steps)
    if _library().prctl(_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0) != 0:
        raise _error()


def _only_linux() -> None:
    """Other systems have other numbers for other calls."""
    if sys.platform != "linux":
        raise OSError(f"{sys.platform} has no such lock")


def _forbid_privileges() -> None:
    if _library().prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        raise _error()


def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _error() -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))
