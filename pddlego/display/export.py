"""What is on screen as a picture, for a talk or an issue: SVG, or a GIF of a whole episode."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.terminal_theme import SVG_EXPORT_THEME as THEME

from pddlego.errors import UsageError
from pddlego.util.text import clean

if TYPE_CHECKING:
    from PIL.Image import Image

FONTS = ("DejaVuSansMono.ttf", "LiberationMono-Regular.ttf", "Menlo.ttc", "Consola.ttf", "NotoSansMono-Regular.ttf")
"""Fonts with letters of one width and the signs of our boxes, where systems have them."""

_FONT_SIZE = 15

COLOURS = 64
"""Of a GIF: letters have few, and their edges need some."""


def svg(picture: RenderableType, width: int, height: int, title: str) -> str:
    """The picture as one SVG file that loads nothing from elsewhere."""
    console = _console(width, height, record=True)
    console.print(picture)
    drawn = console.export_svg(title=clean(title))
    return re.sub(r"@font-face\s*\{[^}]*\}\s*", "", drawn)


def gif(pictures: Iterable[RenderableType], width: int, height: int, path: Path, seconds: float = 0.8) -> int:
    """Write the pictures as one GIF, each for so many seconds, the last for longer. Returns how many there are.

    Raises `UsageError` without Pillow or a font, and `OSError` when the file cannot be written.
    """
    if find_spec("PIL") is None:
        raise UsageError(
            "GIFs need Pillow", "Missing: pillow.", "Install pddlego with its extra: pip install '.[gif]'."
        )
    font = find_font()
    console = _console(width, height)
    drawn = [_drawn(console, picture, width, height, font) for picture in pictures]
    # One palette for all: where nothing changes between two pictures, nothing is written.
    palette = drawn[len(drawn) // 2].quantize(COLOURS)
    images = [image.quantize(palette=palette, dither=0) for image in drawn]
    times = [int(seconds * 1000)] * (len(images) - 1) + [int(seconds * 4000)]
    images[0].save(path, "GIF", save_all=True, append_images=images[1:], duration=times, loop=0, optimize=True)
    return len(images)


def _console(width: int, height: int, record: bool = False) -> Console:
    return Console(
        file=io.StringIO(), width=width, height=height, record=record, force_terminal=True, color_system="truecolor"
    )


def find_font() -> Any:
    """A font for GIFs. Raises `UsageError` if it does not exist."""
    from PIL import ImageFont

    for name in FONTS:
        try:
            return ImageFont.truetype(name, _FONT_SIZE)
        except OSError:
            continue
    names = ", ".join(FONTS[:2])
    raise UsageError(
        "Cannot draw the GIF: no font was found", f"Looked for {names} and others.", "Install one, or use --svg."
    )


def _drawn(console: Console, picture: RenderableType, width: int, height: int, font: Any) -> Image:
    """One picture, a cell for each letter."""
    from PIL import Image, ImageDraw

    across, down = round(font.getlength("M")), sum(font.getmetrics())
    image = Image.new("RGB", (across * width, down * height), THEME.background_color)
    draw = ImageDraw.Draw(image)
    lines = console.render_lines(picture, console.options.update(width=width, height=None), pad=False)
    for row, line in enumerate(lines[:height]):
        for column, text, fore, back in _cells(line):
            place = (column * across, row * down)
            if back is not None:
                end = (place[0] + across * cell_len(text), place[1] + down)
                draw.rectangle((place, end), fill=back)
            for number, letter in enumerate(text):
                cell = cell_len(text[:number])
                draw.text((place[0] + cell * across, place[1]), letter, fill=fore, font=font)
    return image


def _cells(line: Sequence[Segment]) -> Iterator[tuple[int, str, tuple[int, int, int], tuple[int, int, int] | None]]:
    """The texts of a line with their column, colour and background."""
    column = 0
    for text, style, control in line:
        if control:
            continue
        fore: tuple[int, ...] = THEME.foreground_color
        back: tuple[int, int, int] | None = None
        if style is not None:
            if style.color is not None:
                fore = style.color.get_truecolor(THEME)
            if style.bgcolor is not None:
                back = style.bgcolor.get_truecolor(THEME, foreground=False)
            if style.dim:
                fore = tuple(
                    (channel + other) // 2 for channel, other in zip(fore, THEME.background_color, strict=True)
                )
            if style.reverse:
                fore, back = back or THEME.background_color, (fore[0], fore[1], fore[2])
        yield column, text, (fore[0], fore[1], fore[2]), back
        column += cell_len(text)
