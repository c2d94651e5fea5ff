"""Graphplan with a model that prunes its levels and sorts its actions (LLMs4Plan)."""

from pddlego.methods.base import Method, part
from pddlego.methods.graphplan.options import MODES, READ_BY


class _Graphplan(Method):
    name = "graphplan"
    modes = MODES
    read_by = READ_BY
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
