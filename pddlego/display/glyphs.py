"""The signs that pictures are drawn with, for terminals with and without Unicode."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Glyphs:
    """The signs of the display. Many fields, because it is one for each sign."""

    here: str = "●"
    unknown: str = "?"
    thing: str = "◆"
    across: str = "─"
    across_door: str = "╫"
    down: str = "│"
    down_door: str = "╪"
    used: str = "▶"
    failed: str = "✗"
    done: str = "✓"
    dot: str = "·"
    added: str = "+"
    removed: str = "−"
    arrow: str = "→"


UNICODE = Glyphs()
ASCII = Glyphs(
    here="@",
    unknown="?",
    thing="*",
    across="-",
    across_door="#",
    down="|",
    down_door="#",
    used=">",
    failed="x",
    done="v",
    dot="-",
    added="+",
    removed="-",
    arrow="->",
)


def glyphs_for(encoding: str) -> Glyphs:
    """The signs that an output of this encoding can show."""
    return UNICODE if encoding.lower().replace("-", "").startswith("utf") else ASCII
