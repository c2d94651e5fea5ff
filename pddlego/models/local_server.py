"""The server of llama.cpp with one model, in a process of its own: `python -m pddlego.models.local_server FILE TOKENS`.

It has a context of so many tokens, and prints its address when it answers requests. It ends when its standard input is
closed, which happens whatever ends the process that started it.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Any

_PROMPTS_MIB = 256
"""Memory for prompts that were read before, in MiB."""


def main() -> None:
    threading.Thread(target=_end_with_input, daemon=True).start()
    try:
        server = _start(Path(sys.argv[1]), int(sys.argv[2]))  # it stops when nothing refers to it
    except RuntimeError as error:
        sys.stdout.write(f"\nerror: {error}\n")
        sys.stdout.flush()
        os._exit(1)
    sys.stdout.write(f"\n{server.listening_address}\n")
    sys.stdout.flush()
    threading.Event().wait()


def _end_with_input() -> None:
    while os.read(0, 1024):
        pass
    os._exit(0)


def _start(path: Path, context: int) -> Any:
    """Start the server on a free port."""
    import xllamacpp

    options = xllamacpp.CommonParams()
    options.model.path = str(path)
    options.hostnames, options.port = ["127.0.0.1"], 0
    options.n_ctx, options.n_parallel, options.cache_ram_mib = context, 1, _PROMPTS_MIB
    # With more threads than free cores, it is much slower.
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = max(1, physical_cores() - 1)
    options.warmup = False
    return xllamacpp.Server(options)


def physical_cores() -> int:
    """The physical cores that this process may use; on other systems than Linux, half of the logical ones."""
    if not hasattr(os, "sched_getaffinity"):
        return max(1, (os.cpu_count() or 2) // 2)
    cpus, limit = Path("/sys/devices/system/cpu"), Path("/sys/fs/cgroup/cpu.max")
    siblings = (cpus / f"cpu{number}/topology/thread_siblings_list" for number in os.sched_getaffinity(0))
    cores = len({place.read_text() if place.exists() else place for place in siblings})
    quota, _, period = limit.read_text().partition(" ") if limit.exists() else ("max", "", "")
    return cores if quota == "max" else max(1, min(cores, int(quota) // int(period)))


if __name__ == "__main__":
    main()
