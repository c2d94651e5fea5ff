"""Thought of Search (Cao et al., 2024): a model writes a search space, unit tests correct it, a search solves all."""

from pddlego.methods.base import Method, part
from pddlego.methods.thought_of_search.options import MODES, READ_BY


class _ThoughtOfSearch(Method):
    name = "thought_of_search"
    modes = MODES
    read_by = READ_BY
    paper = "AutoToS"
    options = part("options.SearchOptions")
    measuring = part("measure.MEASURING")
    events = part("events.EVENTS")
    screen = part("screen.SCREEN")
    load = part("loading.load")
    builtin_model = part("reference_model.builtin_model")
    upper_bound = part("loading.upper_bound")
    play = part("play.play")
    temperature = 0.0  # greedy decoding, as in the paper


METHOD = _ThoughtOfSearch()
