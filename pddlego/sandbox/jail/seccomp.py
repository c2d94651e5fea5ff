"""The list of system calls that a program in the sandbox may make, as a filter of the kernel (seccomp-BPF).

A filter of our own and not libseccomp's: that library must be installed by the system, its Python binding must be found
by an interpreter without site packages, and the whole filter is a list of numbers. Everything that is not listed fails
with `_EPERM`, so that a program that tries it gets a `PermissionError` and its traceback is the feedback.
"""

from __future__ import annotations

import struct

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
"""The numbers of the calls on x86_64 and on aarch64; None where the processor has no such call."""

_MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""What the kernel calls each kind of processor, in the order of the numbers above."""

_ALLOW, _KILL, _EPERM = 0x7FFF0000, 0x80000000, 0x00050001
_PROT_EXEC = 4

_LOAD, _EQUAL, _HAS, _RETURN = 0x20, 0x15, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST, _THIRD = 0, 4, 16, 32
"""Offsets of the call's number, the processor, and the first and third argument in the filter's data."""


def filter_for(machine: str) -> bytes | None:
    """The filter as the kernel takes it; None for a kind of processor that we have no numbers for.

    Memory may be mapped, but not as code, and limits may be read and lowered for the process itself only.
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


def _step(code: int, if_so: int, else_: int, value: int) -> bytes:
    return struct.pack("=HBBI", code, if_so, else_, value)
