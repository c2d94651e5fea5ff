"""The list of system calls that a program in the sandbox may make, as a filter of the kernel (seccomp-BPF).

A filter of our own and not libseccomp's: that library must be installed by the system, its Python binding must be found
by an interpreter without site packages, and the whole filter is a list of numbers. Everything that is not listed fails
with `EPERM`, so that a program that tries it gets a `PermissionError` and its traceback is the feedback.
"""

from __future__ import annotations

import struct

_X86_64 = {
    "read": 0,
    "write": 1,
    "close": 3,
    "fstat": 5,
    "poll": 7,
    "lseek": 8,
    "mmap": 9,
    "mprotect": 10,
    "munmap": 11,
    "brk": 12,
    "rt_sigaction": 13,
    "rt_sigprocmask": 14,
    "rt_sigreturn": 15,
    "sched_yield": 24,
    "mremap": 25,
    "madvise": 28,
    "nanosleep": 35,
    "getitimer": 36,
    "setitimer": 38,
    "getpid": 39,
    "exit": 60,
    "gettimeofday": 96,
    "getrusage": 98,
    "times": 100,
    "getuid": 102,
    "getgid": 104,
    "geteuid": 107,
    "getegid": 108,
    "sigaltstack": 131,
    "gettid": 186,
    "time": 201,
    "futex": 202,
    "restart_syscall": 219,
    "clock_gettime": 228,
    "clock_getres": 229,
    "clock_nanosleep": 230,
    "exit_group": 231,
    "set_robust_list": 273,
    "prlimit64": 302,
    "getrandom": 318,
    "membarrier": 324,
    "rseq": 334,
}
_AARCH64 = {
    "read": 63,
    "write": 64,
    "close": 57,
    "fstat": 80,
    "ppoll": 73,
    "lseek": 62,
    "mmap": 222,
    "mprotect": 226,
    "munmap": 215,
    "brk": 214,
    "rt_sigaction": 134,
    "rt_sigprocmask": 135,
    "rt_sigreturn": 139,
    "sched_yield": 124,
    "mremap": 216,
    "madvise": 233,
    "nanosleep": 101,
    "getitimer": 102,
    "setitimer": 103,
    "getpid": 172,
    "exit": 93,
    "gettimeofday": 169,
    "getrusage": 165,
    "times": 153,
    "getuid": 174,
    "getgid": 176,
    "geteuid": 175,
    "getegid": 177,
    "sigaltstack": 132,
    "gettid": 178,
    "futex": 98,
    "restart_syscall": 128,
    "clock_gettime": 113,
    "clock_getres": 114,
    "clock_nanosleep": 115,
    "exit_group": 94,
    "set_robust_list": 99,
    "prlimit64": 261,
    "getrandom": 278,
    "membarrier": 283,
    "rseq": 293,
}

MACHINES = {"x86_64": (0xC000003E, _X86_64), "aarch64": (0xC00000B7, _AARCH64)}
"""For each kind of processor what the kernel calls it, and the numbers of its system calls."""

ALLOW, KILL, EPERM = 0x7FFF0000, 0x80000000, 0x00050001
PROT_EXEC = 4

_LOAD, _EQUAL, _HAS, _RETURN = 0x20, 0x15, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST, _THIRD = 0, 4, 16, 32
"""Where in what the filter sees the number of the call, the processor, and the first and third argument stand."""


def filter_for(machine: str) -> bytes | None:
    """The filter as the kernel takes it; None for a kind of processor that we have no numbers for.

    Memory may be mapped, but not as code, and limits may be read and lowered for the process itself only.
    """
    if machine not in MACHINES:
        return None
    architecture, calls = MACHINES[machine]
    listed = dict(calls)
    mapping = [listed.pop("mmap"), listed.pop("mprotect")]
    own_limits = listed.pop("prlimit64")
    steps = [_step(_LOAD, 0, 0, _ARCHITECTURE), _step(_EQUAL, 1, 0, architecture), _step(_RETURN, 0, 0, KILL)]
    steps.append(_step(_LOAD, 0, 0, _NUMBER))
    for number in mapping:  # three steps, then the next comparison
        steps += [_step(_EQUAL, 0, 4, number), _step(_LOAD, 0, 0, _THIRD), _step(_HAS, 0, 1, PROT_EXEC)]
        steps += [_step(_RETURN, 0, 0, EPERM), _step(_RETURN, 0, 0, ALLOW)]
    steps += [_step(_EQUAL, 0, 4, own_limits), _step(_LOAD, 0, 0, _FIRST), _step(_EQUAL, 0, 1, 0)]
    steps += [_step(_RETURN, 0, 0, ALLOW), _step(_RETURN, 0, 0, EPERM)]
    numbers = sorted(listed.values())
    for place, number in enumerate(numbers):
        steps.append(_step(_EQUAL, len(numbers) - place, 0, number))
    steps += [_step(_RETURN, 0, 0, EPERM), _step(_RETURN, 0, 0, ALLOW)]
    return b"".join(steps)


def _step(code: int, if_so: int, else_: int, value: int) -> bytes:
    return struct.pack("=HBBI", code, if_so, else_, value)
