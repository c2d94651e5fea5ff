"""Text from games and models is data: nothing in it may steer the terminal."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Glyphs:
    """The signs of the display."""

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
ASCII = Glyphs("@", "?", "*", "-", "#", "|", "#", ">", "x", "v", "-", "+", "-", "->")


def glyphs_for(encoding: str) -> Glyphs:
    """The signs that an output of this encoding can show."""
    return UNICODE if encoding.lower().replace("-", "").startswith("utf") else ASCII
