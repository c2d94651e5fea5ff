"""What other programs are given of our environment: all but what is secret."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping

_SECRET = re.compile(r"(^|_)(API_?KEY|KEY|TOKEN|SECRET|CREDENTIAL)S?(_\d+)?$|PASSW(OR)?D", re.IGNORECASE)

NEEDED = ("RAY_",)
"""How names begin that a program of ours needs, though it is a secret: a cluster lets nobody in without it."""


def is_secret(name: str) -> bool:
    """Whether a variable of this name holds something that no other program needs to know."""
    return bool(_SECRET.search(name)) and not name.startswith(NEEDED)


def for_children(**more: str) -> Mapping[str, str]:
    """The environment of a program that we start: a planner, the Java machine, git."""
    return {name: value for name, value in os.environ.items() if not is_secret(name)} | more


@contextlib.contextmanager
def without_secrets() -> Iterator[None]:
    """Takes secrets out of our own environment meanwhile, for what starts programs with all of it."""
    taken = {name: os.environ.pop(name) for name in list(os.environ) if is_secret(name)}
    try:
        yield
    finally:
        for name, value in taken.items():
            os.environ.setdefault(name, value)
