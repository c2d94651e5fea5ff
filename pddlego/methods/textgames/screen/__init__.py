"""The live picture of a text game: the map, the goal ladder, the plan, and what the model changed."""

from __future__ import annotations

from pddlego.display.console import UNICODE
from pddlego.display.screens import Tab
from pddlego.methods.textgames.screen import layout, panels
from pddlego.methods.textgames.screen.map import draw, house_of
from pddlego.methods.textgames.screen.panels import domain_lines, ladder_lines_in_full, problem_lines
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

    fold = staticmethod(fold)
    body = staticmethod(layout.body)
    latest = staticmethod(panels.log_panel)
    small = staticmethod(panels.map_panel)

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
