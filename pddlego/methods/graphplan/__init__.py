"""Graphplan with a model that prunes its levels and sorts its actions (LLMs4Plan)."""

from pddlego.methods.base import Method, part
from pddlego.methods.graphplan.options import MODES


class _Graphplan(Method):
    name = "graphplan"
    modes = MODES
    paper = "LLMs4Plan"
    options = part("options.GraphplanOptions")
    measuring = part("events.MEASURING")
    events = part("events.EVENTS")
    screen = part("events.SCREEN")
    load = part("setting.load")
    builtin_model = part("advisers.builtin_model")
    upper_bound = part("setting.upper_bound")
    play = part("play.play")


METHOD = _Graphplan()
