"""Pictures for talks: an SVG that needs nothing else, a GIF with a picture for each step."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from rich.text import Text

from pddlego.display import export
from pddlego.display.console import UNICODE
from pddlego.display.screens import Canvas
from pddlego.episode.events import Event
from pddlego.errors import UsageError
from tests.display.rendering import SCREEN, shown


def test_an_svg_is_whole_and_loads_nothing(story: list[Event]) -> None:
    drawn = export.svg(SCREEN.draw(shown(story), Canvas(100, 30, 1.0, UNICODE)), 100, 30, "coin <12>")
    ElementTree.fromstring(drawn)
    assert "won" in drawn
    assert "@font-face" not in drawn
    assert not [part for part in drawn.split('"') if part.startswith("http") and "w3.org" not in part]


@pytest.mark.font
def test_a_gif_has_a_picture_for_each_step(tmp_path: Path, story: list[Event]) -> None:
    from PIL import Image

    pictures = [SCREEN.draw(shown(story[:number]), Canvas(80, 24, 1.0, UNICODE)) for number in (4, 8, len(story))]
    pictures.append(Text("wide 日本 and reversed", "reverse on red"))
    path = tmp_path / "a.gif"
    assert export.gif(pictures, 80, 24, path, 0.5) == 4
    with Image.open(path) as image:
        assert getattr(image, "n_frames", 1) == 4
        assert image.info["duration"] == 500
        assert image.width > 80 * 5
        colours = image.convert("RGB").getcolors(1 << 16)
    assert colours is not None
    assert len(colours) > 8


@pytest.mark.font
def test_without_a_font_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "FONTS", ("no-such-font.ttf",))
    with pytest.raises(UsageError, match="no font"):
        export.gif([Text("a")], 80, 24, tmp_path / "a.gif")
