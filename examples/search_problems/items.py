"""What a search problem is made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Items = dict[str, Iterable[Any]]
"""What each file holds: `goals`, `non_goals`, `successors`, `soundness`, `instances`."""
