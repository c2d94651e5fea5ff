"""Builders: domains and problems from text, component by component, checked, reviewed and corrected (L2P)."""

from pddlego.methods.base import Method, part
from pddlego.methods.builders.options import MODES


class _Builders(Method):
    name = "builders"
    modes = MODES
    paper = "L2P"
    options = part("options.OPTIONS")
    measuring = part("events.MEASURING")
    events = part("events.EVENTS")
    judges_each_answer = True
    load = part("setting.load")
    builtin_model = part("reference.builtin_model")
    upper_bound = part("setting.upper_bound")
    play = part("play.play")


METHOD = _Builders()
