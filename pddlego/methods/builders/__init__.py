"""Builders: domains and problems from text, component by component, checked, reviewed and corrected (L2P)."""

from pddlego.methods.base import Method, part
from pddlego.methods.builders.options import MODES


class _Builders(Method):
    name = "builders"
    modes = MODES
    options = part("options.OPTIONS")
    measuring = part("measure.MEASURING")
    events = part("events.EVENTS")
    load = part("loading.load")
    builtin_model = part("reference_model.builtin_model")
    upper_bound = part("loading.upper_bound")
    play = part("play.play")


METHOD = _Builders()
