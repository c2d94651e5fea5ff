"""Curves of numbers after each step, as SVG pictures on pages. All texts are escaped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from html import escape
from itertools import groupby

from rich.text import Text

from pddlego.display.screens import Drawing
from pddlego.display.shapes import group, text
from pddlego.util.text import both_ends, clean, count

MOST_CURVES = 8
"""How many names have room beside the curves."""

_WIDTH, _RIGHT, _TOP, _BOTTOM, _LINE = 400, 280, 14, 120, 14
"""Pixels: the width of the picture, the right, upper and lower edge of the curves, and the height of a line."""

_LETTERS, _MOST_CHANGES = 15, 20
"""The letters of a name, and how many changes of a number its text alternative has."""
_DASHES = ("none", "8 3", "2 3", "8 3 2 3")


@dataclass(frozen=True)
class Curves:
    """The values of a few numbers after each step, by their names; None where a number has no value."""

    title: str
    values: Mapping[str, Sequence[Fraction | None]]

    def drawing(self, step: int) -> Drawing:
        """The picture with a mark at a step, which alone differs from step to step, and the values after it."""
        x = self._across[step]
        mark = group("now", f"step {step}", f'<path d="M{x} {_TOP - 6}V{_BOTTOM}"/>')
        lines = [Text(f"{name}: {_short(values[step])}") for name, values in self.values.items()]
        return Drawing([*self._drawn, mark, "</svg>"], lines)

    @cached_property
    def _range(self) -> tuple[Fraction, Fraction]:
        known = [value for values in self.values.values() for value in values if value is not None]
        return min(known), max(known)

    @cached_property
    def _across(self) -> Sequence[int]:
        """The place of each step."""
        left = 14 + 7 * max(len(_short(value)) for value in self._range)
        last = max(map(len, self.values.values())) - 1
        return [left + (_RIGHT - left) * number // max(1, last) for number in range(last + 1)]

    @cached_property
    def _drawn(self) -> Sequence[str]:
        low, high = self._range
        left, last = self._across[0], len(self._across) - 1
        name = escape(clean(f"{self.title} by step: {', '.join(self.values)}"))
        start = f'<svg viewBox="0 0 {_WIDTH} {_BOTTOM + 24}" width="{_WIDTH}" role="img" aria-label="{name}">'
        axes = text(_short(high), 6, _TOP + 4, "") + text(_short(low), 6, _BOTTOM + 4, "")
        axes += text("0", left, _BOTTOM + 16, "") + text(f"step {last}", _RIGHT - 20, _BOTTOM + 16, "")
        axis = f'<g class="axis"><path d="M{left} {_TOP}V{_BOTTOM}H{_RIGHT}"/>{axes}</g>'
        return [start, axis, *self._curves()]

    def _curves(self) -> Iterator[str]:
        """The curves, each with its name beside its end; the names do not lie on each other."""
        below = _TOP - _LINE
        ends = sorted((self._height(values[-1]), name) for name, values in self.values.items())
        for place, (end, name) in enumerate(ends):
            room = _BOTTOM - (len(ends) - 1 - place) * _LINE  # for the names below it
            below = max(below + _LINE, min(end, room))
            link = f"M{_RIGHT} {end}L{_RIGHT + 12} {below}" if self.values[name][-1] is not None else ""
            path = f"{self._path(self.values[name])}{link}"
            shape = f'<path d="{path}" stroke-dasharray="{_DASHES[place % len(_DASHES)]}"/>'
            label = text(both_ends(name, _LETTERS), _RIGHT + 16, below + 4, "")
            yield group(f"curve phase-{place}", _sentence(name, self.values[name]), shape + label)

    def _path(self, values: Sequence[Fraction | None]) -> str:
        """Level lines from step to step, and upright ones where the value changes."""
        path, before = "", None
        for x, value in zip(self._across, values, strict=True):
            if value is not None:
                path += f"M{x} {self._height(value)}" if before is None else f"H{x}V{self._height(value)}"
            before = value
        return path

    def _height(self, value: Fraction | None) -> int:
        low, high = self._range
        return _BOTTOM if value is None else round(_BOTTOM - (_BOTTOM - _TOP) * (value - low) / ((high - low) or 1))


def _sentence(name: str, values: Sequence[Fraction | None]) -> str:
    """The text alternative of a curve: each value with the step since which the number has it."""
    runs = [(value, next(steps)[0]) for value, steps in groupby(enumerate(values), key=lambda pair: pair[1])]
    rest = f", and {count(len(runs) - _MOST_CHANGES, 'further change')}" if runs[_MOST_CHANGES:] else ""
    return f"{name}: {', '.join(f'{_short(value)} after step {step}' for value, step in runs[:_MOST_CHANGES])}{rest}"


def _short(value: Fraction | None) -> str:
    return "no value" if value is None else f"{Decimal(value.numerator) / Decimal(value.denominator):.6g}"
