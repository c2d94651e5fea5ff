"""Children of tests: a child ends with its block, and never runs longer than a test waits."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tests.scale import PATIENCE


@contextmanager
def started(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """Start a child as `Popen` does. It is killed at the end of the block, and after `PATIENCE`."""
    with subprocess.Popen(command, **options) as child:
        limit = threading.Timer(PATIENCE, child.kill)
        limit.start()
        try:
            yield child
        finally:
            limit.cancel()
            child.kill()
