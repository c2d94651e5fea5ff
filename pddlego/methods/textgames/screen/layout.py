"""Everything about one episode at a given size: which panels, where, how large."""

from __future__ import annotations

from rich.console import Group, RenderableType

from pddlego.display.console import Glyphs
from pddlego.display.screens import beside
from pddlego.methods.textgames.screen import panels
from pddlego.methods.textgames.screen.view import GameView

WIDE, VERY_WIDE = 110, 170


SHORT = 5
"""Lines that the map and the goals have at least while a question takes the rest."""


def body(view: GameView, width: int, height: int, now: float, glyphs: Glyphs) -> RenderableType:
    """Everything about the episode, exactly `width` wide and at most `height` lines high."""
    if not view.goals:
        return panels.log_panel(view, width, height, now, glyphs)
    if width >= VERY_WIDE:
        left, middle = width * 45 // 100, width * 27 // 100
        return beside(
            _scene(view, left, height, now, glyphs),
            _thoughts(view, middle, height, glyphs),
            _files(view, width - left - middle, height, glyphs),
        )
    if width >= WIDE:
        left = width * 6 // 10
        return beside(_scene(view, left, height, now, glyphs), _thoughts(view, width - left, height, glyphs))
    log = max(4, height // 5)
    middle = max(SHORT, min(max(len(panels.goals_of(view)) + 4, height // 3), height - log - SHORT))
    left = width // 2
    return Group(
        panels.map_panel(view, width, height - middle - log, glyphs),
        beside(panels.goal_panel(view, left, middle, glyphs), panels.changes_panel(view, width - left, middle, glyphs)),
        panels.log_panel(view, width, log, now, glyphs),
    )


def _scene(view: GameView, width: int, height: int, now: float, glyphs: Glyphs) -> RenderableType:
    """What the game is: the map and the last answers."""
    log = max(8, height // 3)
    upper = panels.map_panel(view, width, height - log, glyphs)
    return Group(upper, panels.log_panel(view, width, log, now, glyphs))


def _thoughts(view: GameView, width: int, height: int, glyphs: Glyphs) -> RenderableType:
    """What the agent makes of it: goals, plan, and what it learned."""
    ladder = len(panels.goals_of(view)) + 2
    plan = max(5, height // 3 if panels.speaks(view) else min(len(view.plan) + 2, height // 3))
    return Group(
        panels.ladder_panel(view, width, ladder, glyphs),
        panels.plan_panel(view, width, plan, glyphs),
        panels.changes_panel(view, width, height - ladder - plan, glyphs),
    )


def _files(view: GameView, width: int, height: int, glyphs: Glyphs) -> RenderableType:
    """The problem, and the domain where the model writes it and the map does not stand in its place."""
    if not (view.writes_domain and view.has_map):
        return panels.problem_panel(view, width, height, glyphs)
    upper = height // 2
    lower = panels.problem_panel(view, width, height - upper, glyphs)
    return Group(panels.domain_panel(view, width, upper, glyphs), lower)
