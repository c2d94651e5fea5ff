"""Shades that can be read on dark and on light terminals."""

from __future__ import annotations

import io
from itertools import product

import pytest
from rich.color import Color
from rich.text import Text

from pddlego.display.console import PLAIN, SHADES, Console

BLACK, WHITE = (0, 0, 0), (255, 255, 255)


def luminance(colour: tuple[int, int, int]) -> float:
    """The relative luminance of WCAG 2.1."""
    parts = [value / 255 for value in colour]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(("name", "background"), list(product(SHADES, (BLACK, WHITE))))
def test_every_shade_can_be_read(name: str, background: tuple[int, int, int]) -> None:
    assert contrast(Color.parse(SHADES[name]).get_truecolor(), background) >= 4.5


@pytest.mark.parametrize("plain", ["", "1"])
@pytest.mark.parametrize(("columns", "width"), [("", 1000), ("90", 90)])
def test_nothing_is_cut_on_a_pipe(monkeypatch: pytest.MonkeyPatch, plain: str, columns: str, width: int) -> None:
    monkeypatch.setenv(PLAIN, plain)
    monkeypatch.setenv("COLUMNS", columns)
    assert Console(file=io.StringIO()).width == width


@pytest.mark.parametrize("style", ["bold yellow", "dim", "red", "dim italic"])
def test_styles_of_texts_get_the_shades(style: str) -> None:
    console = Console(file=io.StringIO())
    (segment,) = Text.assemble(("word", style)).render(console, end="")
    assert segment.style is not None and segment.style.color is not None
    assert segment.style.color.name in SHADES.values()
    assert not segment.style.dim
