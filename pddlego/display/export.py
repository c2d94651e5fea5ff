"""Pictures of screens: SVG files, and GIF files of several screens."""

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
"""Monospaced fonts with box-drawing characters; the first installed one is used."""

_FONT_SIZE = 15

COLOURS = 64
"""The number of colours of a GIF: screens have few, and smooth edges of letters need some more."""


def svg(picture: RenderableType, width: int, height: int, title: str) -> str:
    """The picture as an SVG file that loads no other files."""
    console = _console(width, height, record=True)
    console.print(picture)
    text = console.export_svg(title=clean(title))
    return re.sub(r"@font-face\s*\{[^}]*\}\s*", "", text)


def gif(pictures: Iterable[RenderableType], width: int, height: int, path: Path, seconds: float = 0.8) -> int:
    """Write the pictures as one GIF, each for `seconds`, the last for four times as long. Returns their number.

    Raises `UsageError` without Pillow or a font, and `OSError` when the file cannot be written.
    """
    if find_spec("PIL") is None:
        raise UsageError(
            "GIFs need Pillow", "Missing: pillow.", "Install pddlego with its extra: pip install '.[gif]'."
        )
    font = find_font()
    console = _console(width, height)
    images = [_image_of(console, picture, width, height, font) for picture in pictures]
    # With the same palette in all pictures, only the areas that change are written.
    palette = images[len(images) // 2].quantize(COLOURS)
    reduced = [image.quantize(palette=palette, dither=0) for image in images]
    times = [int(seconds * 1000)] * (len(reduced) - 1) + [int(seconds * 4000)]
    reduced[0].save(path, "GIF", save_all=True, append_images=reduced[1:], duration=times, loop=0, optimize=True)
    return len(reduced)


def _console(width: int, height: int, record: bool = False) -> Console:
    return Console(
        file=io.StringIO(), width=width, height=height, record=record, force_terminal=True, color_system="truecolor"
    )


def find_font() -> Any:
    """The font for GIFs. Raises `UsageError` if no font of `FONTS` is installed."""
    from PIL import ImageFont

    for name in FONTS:
        try:
            return ImageFont.truetype(name, _FONT_SIZE)
        except OSError:
            continue
    names = ", ".join(FONTS[:2])
    raise UsageError(
        "Cannot draw the GIF: no font was found",
        f"Looked for {names} and others.",
        "Install one, or write an SVG file.",
    )


def _image_of(console: Console, picture: RenderableType, width: int, height: int, font: Any) -> Image:
    """A picture as an image, with one cell for each character of the terminal."""
    from PIL import Image, ImageDraw

    cell_width, cell_height = round(font.getlength("M")), sum(font.getmetrics())
    image = Image.new("RGB", (cell_width * width, cell_height * height), THEME.background_color)
    draw = ImageDraw.Draw(image)
    lines = console.render_lines(picture, console.options.update(width=width, height=None), pad=False)
    for row, line in enumerate(lines[:height]):
        for column, text, fore, back in _cells(line):
            left, top = column * cell_width, row * cell_height
            if back is not None:
                end = (left + cell_width * cell_len(text), top + cell_height)
                draw.rectangle(((left, top), end), fill=back)
            for number, letter in enumerate(text):
                cell = cell_len(text[:number])
                draw.text((left + cell * cell_width, top), letter, fill=fore, font=font)
    return image


def _cells(line: Sequence[Segment]) -> Iterator[tuple[int, str, tuple[int, int, int], tuple[int, int, int] | None]]:
    """The column, text, colour and background of each segment of a line."""
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
