"""Locks the current process irrevocably, layer by layer, and reports the layers that hold.

Only the kernel's layers are a boundary. Hiding modules from the program (`hide`) only makes mistakes visible early: a
program can find everything that is in the memory of its process.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import signal
import struct
import sys
from collections.abc import Callable

with contextlib.suppress(ImportError):  # Windows, where no sandbox is started
    import resource

NOBODY = 65534
"""The number of the user, who owns nothing, that a sandbox started by root runs as."""

LIMITS, _NAMESPACES, USER, LANDLOCK, SECCOMP = "limits", "namespaces", "own user", "Landlock", "seccomp"

_TOTAL_SECONDS = 1_000_000
"""The limit of CPU time of one process, for all calls together."""

_SPARE = 64 << 20
"""Additional bytes that a process may use to report that its program has run out of memory."""

_SET_DEATH_SIGNAL, _SET_SECCOMP, _NO_NEW_PRIVILEGES, _FILTER = 1, 22, 38, 2
_NEW_USER, _NEW_NET, _NEW_IPC = 0x10000000, 0x40000000, 0x08000000
_CREATE_RULES, _RESTRICT = 444, 446
_RULES_VERSION = 1
_FILES_BY_VERSION = ((1, (1 << 13) - 1), (2, (1 << 14) - 1), (3, (1 << 15) - 1), (5, (1 << 16) - 1))
_NET_VERSION, _SCOPE_VERSION = 4, 6


class _Rules(ctypes.Structure):
    """The access rights that Landlock removes: files, network, and signals and sockets to processes outside."""

    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scope", ctypes.c_uint64))


class _Program(ctypes.Structure):
    """A filter of system calls: the number of its steps, and a pointer to them."""

    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def lock(memory: int, parent: int, only: list[str] | None) -> dict[str, str]:
    """Remove all access that a program does not need. `memory` is in MiB.

    Returns the fault of each layer by its name; the fault is empty if the layer holds. The process is killed when its
    `parent` ends. If `only` is not None, other layers are not tried.
    """
    steps: list[tuple[str, Callable[[], None]]] = [(_NAMESPACES, _leave_namespaces)]
    if os.getuid() == 0:
        steps.append((USER, _become_nobody))
    steps += [(LIMITS, lambda: _limit(memory)), (LANDLOCK, _close_files), (SECCOMP, _filter_calls)]
    layers: dict[str, str] = {}
    for name, step in steps:
        if name == LIMITS:  # after the change of user, which would reset this
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
    """Remove modules that programs do not need, and make the import of every module that is not loaded an error."""
    for name in list(sys.modules):
        first = name.partition(".")[0]
        if first in _HIDDEN or first == __package__.partition(".")[0] or name == "__main__":
            del sys.modules[name]
    sys.path.clear()
    sys.path_importer_cache.clear()
    sys.argv[:] = [""]


_HIDDEN = frozenset(("ctypes", "_ctypes", "socket", "_socket", "select", "resource", "subprocess", "_posixsubprocess"))


def more_memory() -> None:
    """Let the process use the memory that is reserved for reporting that its program has run out of memory."""
    with contextlib.suppress(OSError, ValueError):
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _leave_namespaces() -> None:
    """Move to a network namespace without connections; unless a privileged root runs it, in a new user namespace."""
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
    """Forbid all files, connections, and signals to other processes, by Landlock rules without exceptions."""
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
    steps = _filter_for(platform.machine()) if sys.platform == "linux" else None
    if steps is None:
        raise OSError(f"the system calls of {sys.platform} on {platform.machine()} are unknown")
    _forbid_privileges()
    program = _Program(len(steps) // 8, steps)
    if _library().prctl(_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0) != 0:
        raise _error()


def _only_linux() -> None:
    """Raise `OSError` on systems other than Linux, whose system calls differ."""
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


_CALLS: dict[str, tuple[int | None, int | None]] = {
    "read": (0, 63),
    "write": (1, 64),
    "close": (3, 57),
    "fstat": (5, 80),
    "poll": (7, None),
    "ppoll": (None, 73),
    "lseek": (8, 62),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "brk": (12, 214),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sched_yield": (24, 124),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "nanosleep": (35, 101),
    "getitimer": (36, 102),
    "setitimer": (38, 103),
    "getpid": (39, 172),
    "exit": (60, 93),
    "gettimeofday": (96, 169),
    "getrusage": (98, 165),
    "times": (100, 153),
    "getuid": (102, 174),
    "getgid": (104, 176),
    "geteuid": (107, 175),
    "getegid": (108, 177),
    "sigaltstack": (131, 132),
    "gettid": (186, 178),
    "time": (201, None),
    "futex": (202, 98),
    "restart_syscall": (219, 128),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "exit_group": (231, 94),
    "set_robust_list": (273, 99),
    "prlimit64": (302, 261),
    "getrandom": (318, 278),
    "membarrier": (324, 283),
    "rseq": (334, 293),
}
"""The numbers of the allowed system calls on x86_64 and on aarch64; None if the processor has no such call."""

_MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""The kernel's identifiers of the processors, in the order of the numbers above."""

_ALLOW, _KILL, _EPERM = 0x7FFF0000, 0x80000000, 0x00050001
_PROT_EXEC = 4

_LOAD, _EQUAL, _HAS, _RETURN = 0x20, 0x15, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST, _THIRD = 0, 4, 16, 32
"""Offsets of the call's number, the processor, and the first and third argument in the filter's data."""


def _filter_for(machine: str) -> bytes | None:
    """The filter in the kernel's format; None for a processor whose system call numbers are not in `_CALLS`.

    Memory may be mapped, but not as executable, and a process may read and lower only its own limits.
    """
    if machine not in _MACHINES:
        return None
    column = list(_MACHINES).index(machine)
    numbers_by_name = {name: number for name, numbers in _CALLS.items() if (number := numbers[column]) is not None}
    mapping = [numbers_by_name.pop("mmap"), numbers_by_name.pop("mprotect")]
    own_limits = numbers_by_name.pop("prlimit64")
    steps = [_step(_LOAD, 0, 0, _ARCHITECTURE), _step(_EQUAL, 1, 0, _MACHINES[machine]), _step(_RETURN, 0, 0, _KILL)]
    steps.append(_step(_LOAD, 0, 0, _NUMBER))
    for number in mapping:  # three steps, then the next comparison
        steps += [_step(_EQUAL, 0, 4, number), _step(_LOAD, 0, 0, _THIRD), _step(_HAS, 0, 1, _PROT_EXEC)]
        steps += [_step(_RETURN, 0, 0, _EPERM), _step(_RETURN, 0, 0, _ALLOW)]
    steps += [_step(_EQUAL, 0, 4, own_limits), _step(_LOAD, 0, 0, _FIRST), _step(_EQUAL, 0, 1, 0)]
    steps += [_step(_RETURN, 0, 0, _ALLOW), _step(_RETURN, 0, 0, _EPERM)]
    numbers = sorted(numbers_by_name.values())
    for place, number in enumerate(numbers):
        steps.append(_step(_EQUAL, len(numbers) - place, 0, number))
    steps += [_step(_RETURN, 0, 0, _EPERM), _step(_RETURN, 0, 0, _ALLOW)]
    return b"".join(steps)


def _step(code: int, if_true: int, if_false: int, value: int) -> bytes:
    """One BPF instruction; `if_true` and `if_false` are the numbers of steps to skip after a comparison."""
    return struct.pack("=HBBI", code, if_true, if_false, value)
