"""Code that a model writes: its lines, and the picture of methods whose models write code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import Generic

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from pddlego.display.console import Glyphs
from pddlego.display.screens import V, asking_lines, beside, panel, word_lines, wrapped
from pddlego.util.text import clean

WIDE = 110
"""Columns from which on the code has its tests and the conversation beside it."""


def code_lines(text: str, kept: int, known: Collection[str], glyphs: Glyphs) -> list[Text]:
    """The lines of a program with numbers: the first `kept` dim, of the others those that are not `known` green."""
    lines = []
    for number, line in enumerate(text.splitlines()):
        fresh = number >= kept and line.strip() and line not in known
        style = "green" if fresh else "dim" if number < kept else "default"
        sign = glyphs.added if fresh else " "
        lines.append(Text(f"{number + 1:>4} {sign} {clean(line)}", style, no_wrap=True))
    return lines


def code_panel(lines: list[Text], first: int, title: str, width: int, height: int) -> Panel:
    """Lines of code from a little before the `first` that is new; long ones end in dots."""
    shown = [line.copy() for line in lines]
    for line in shown:
        line.truncate(max(1, width - 4), overflow="ellipsis")
        line.no_wrap = True
    room = max(1, height - 2)
    start = max(0, min(first - 1, len(shown) - room))
    part = f"{start + 1}-{start + room} of {len(shown)}" if len(shown) > room else None
    body = Group(*shown[start : start + room])
    return Panel(body, title=title, subtitle=part, width=width, height=height, border_style="dim")


def marked(good: bool, text: str, glyphs: Glyphs) -> Text:
    """A line about something that was tried: good or bad."""
    return Text(clean(f"{glyphs.done if good else glyphs.failed} {text}"), "green" if good else "red")


class CodeScreen(ABC, Generic[V]):
    """What every `Screen` of code draws: the code, the tests of it, and what goes back to the model.

    The code has `code_share` per cent of a wide terminal. In a narrow one the conversation has a part of the height,
    at least so many lines: `talk_share`. Where not all of it fits, `keeps_end` shows its end.
    """

    code_share: int
    talk_share: tuple[int, int]
    keeps_end: bool

    @abstractmethod
    def code(self, view: V, width: int, height: int, glyphs: Glyphs) -> RenderableType:
        """The code, in exactly this size."""

    @abstractmethod
    def tests(self, view: V, width: int, glyphs: Glyphs) -> tuple[str, list[Text]]:
        """The title, and rows that fit into the width."""

    @abstractmethod
    def feedback(self, view: V, glyphs: Glyphs) -> tuple[str, list[Text]]:
        """The title, and lines of what goes back to the model."""

    def body(self, view: V, width: int, height: int, now: float, glyphs: Glyphs) -> RenderableType:
        if width >= WIDE:
            left = width * self.code_share // 100
            tests = self._tests_height(view, width - left, glyphs)
            right = Group(
                self._tests_panel(view, width - left, tests, glyphs),
                self.latest(view, width - left, height - tests, now, glyphs),
            )
            return beside(self.code(view, left, height, glyphs), right)
        part, least = self.talk_share
        tests, talk = self._tests_height(view, width, glyphs), max(least, height // part)
        return Group(
            self.code(view, width, height - tests - talk, glyphs),
            self._tests_panel(view, width, tests, glyphs),
            self.latest(view, width, talk, now, glyphs),
        )

    def _tests_height(self, view: V, width: int, glyphs: Glyphs) -> int:
        return 2 + len(self.tests(view, width - 4, glyphs)[1])

    def _tests_panel(self, view: V, width: int, height: int, glyphs: Glyphs) -> Panel:
        title, rows = self.tests(view, width - 4, glyphs)
        return panel(rows[: max(1, height - 2)], title, width, height)

    def latest(self, view: V, width: int, height: int, now: float, glyphs: Glyphs) -> Panel:
        """What the model is saying now, else what went back to it."""
        asking = asking_lines(view, now)
        words = word_lines(view, width - 4, max(0, height - 3))
        if words:
            return panel([*asking, *words][-max(1, height - 2) :], "answer", width, height)
        title, lines = self.feedback(view, glyphs)
        rows = wrapped(lines, width - 4)
        room = max(0, height - 2 - len(asking))
        shown = rows[max(0, len(rows) - room) :] if self.keeps_end else rows[:room]
        return panel([*shown, *asking], title, width, height)
