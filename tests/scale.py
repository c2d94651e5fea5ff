"""How much is tested: everything in CI, a part of what takes long on a user's machine."""

from __future__ import annotations

import os
from typing import TypeVar

T = TypeVar("T")


def scaled(everywhere: T, in_ci: T) -> T:
    """The one of both that suits where the tests run."""
    return in_ci if os.environ.get("CI") == "true" else everywhere
