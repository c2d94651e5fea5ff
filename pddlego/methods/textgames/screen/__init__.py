"""The live picture of a text game: the map, the goal ladder, the plan, and what the model changed."""

from __future__ import annotations

from rich.console import RenderableType
from rich.panel import Panel

from pddlego.display.glyphs import UNICODE, Glyphs
from pddlego.display.screens import Tab
from pddlego.events import Event
from pddlego.methods.textgames.screen import layout, panels
from pddlego.methods.textgames.screen.details import domain_lines, ladder_lines_in_full, problem_lines
from pddlego.methods.textgames.screen.map import draw, house_of
from pddlego.methods.textgames.screen.view import GameView, fold
from pddlego.pddl import PddlSyntaxError, parse_problem

PORTRAIT = (76, 25)
"""Characters and lines of the map on an episode's page."""


class GameScreen:
    """A `Screen`."""

    start = GameView()
    tabs = (
        Tab("problem", "problem: before and after this step", problem_lines),
        Tab("domain", "domain: before and after this step", domain_lines, lambda view: view.writes_domain),
        Tab("ladder", "goal ladder and plan", lambda frame, glyphs: list(ladder_lines_in_full(frame, glyphs))),
    )

    def fold(self, view: GameView, event: Event, seconds: float) -> GameView:
        return fold(view, event, seconds)

    def body(self, view: GameView, width: int, height: int, now: float, glyphs: Glyphs) -> RenderableType:
        return layout.body(view, width, height, now, glyphs)

    def latest(self, view: GameView, width: int, height: int, now: float, glyphs: Glyphs) -> RenderableType:
        return panels.log_panel(view, width, height, now, glyphs)

    def small(self, view: GameView, width: int, height: int, glyphs: Glyphs) -> Panel:
        return panels.map_panel(view, width, height, glyphs)

    def portrait(self, view: GameView) -> str:
        """The map as known at the end."""
        if view.map_rule is None or not view.problem:
            return ""
        try:
            house = house_of(parse_problem(view.problem), view.map_rule)
        except PddlSyntaxError:
            return ""
        return draw(house, *PORTRAIT, UNICODE).plain


SCREEN = GameScreen
