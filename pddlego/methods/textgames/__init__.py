"""Text games (the paper PDDLEGO): an agent plans with a PDDL problem of everything that it has observed."""

from pddlego.methods.base import Method, part
from pddlego.methods.textgames.options import MODES, READ_BY


class _TextGames(Method):
    name = "textgames"
    modes = MODES
    read_by = READ_BY
    paper = "PDDLEGO"
    options = part("options.TextGameOptions")
    measuring = part("measure.MEASURING")
    events = part("events.EVENTS")
    judges_each_answer = True
    screen = part("screen.SCREEN")
    load = part("loading.load")
    missing = part("games.missing_in")
    builtin_model = part("reference_model.builtin_model")
    searches = part("loading.searches")
    upper_bound = part("loading.upper_bound")
    run = part("play.play")
    learned = part("transitions.learned_from_games")
    checks = part("doctor.checks")
    first_requests = part("doctor.first_requests")
    suiting_mode = part("doctor.suiting_mode")
    referee = part("rewards.referee")
    rewards = part("rewards.ExpertPrompt")


METHOD = _TextGames()
