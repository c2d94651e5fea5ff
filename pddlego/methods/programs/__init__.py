"""Generalized planning (Silver et al., 2024): a model writes a program that plans for every task of a domain."""

from pddlego.methods.base import Method, part
from pddlego.methods.programs.options import MODES, READ_BY


class _Programs(Method):
    name = "programs"
    modes = MODES
    read_by = READ_BY
    paper = "Generalized planning"
    options = part("options.ProgramOptions")
    measuring = part("measure.MEASURING")
    events = part("events.EVENTS")
    screen = part("screen.SCREEN")
    load = part("setting.load")
    builtin_model = part("reference_model.builtin_model")
    searches = part("play.baseline_search")
    upper_bound = part("setting.upper_bound")
    play = part("play.play")


METHOD = _Programs()
