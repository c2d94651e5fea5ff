"""Characters sent for an episode, beside what was sent before prompts showed an outline of the domain."""

from __future__ import annotations

from functools import partial

from benchmarks.episodes import play
from benchmarks.table import show
from pddlego.methods.base import BuiltIn
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.reference_model import NoisyReader
from pddlego.planning import ProcessPlanner

NOISE = "reader+noise:0.3"
SEEDS = range(10, 60)
BEFORE = {
    ("coin", "reader"): ("50/50", "10.94", "5.80", "20,921"),
    ("coin", NOISE): ("50/50", "10.74", "6.52", "23,849"),
    ("cooking-easy", "reader"): ("50/50", "10.60", "5.12", "38,282"),
    ("cooking-easy", NOISE): ("50/50", "10.60", "5.86", "44,157"),
    ("cooking-hard", "reader"): ("50/50", "23.72", "9.32", "74,550"),
    ("cooking-hard", NOISE): ("50/50", "23.82", "10.46", "84,187"),
}
"""Won, steps, calls and characters of the same at commit f2345a2, measured with this benchmark."""

MOST = {"coin": "17,500", "cooking-easy": "20,000", "cooking-hard": "40,000"}
"""What was to be reached with the reader."""


def main() -> None:
    rows = []
    with ProcessPlanner() as planner:
        for name, most in MOST.items():
            for model in ("reader", NOISE):
                done = play(load(name), "edit", SEEDS, planner, partial(_model, model))
                now = (done.won, done.steps, done.calls, done.characters)
                before = BEFORE.get((name, model), ("-",) * 4)
                rows.append([name, model, *before, *now, most if model == "reader" else ""])
    head = ["", "model", "won", "steps", "calls", "before", "won", "steps", "calls", "now", "at most"]
    show("Characters sent per episode, edit, test seeds (10-59): before and now", head, rows)


def _model(name: str, seed: int) -> ReaderModel:
    built_in = BuiltIn.parse(name)
    assert built_in is not None
    return ReaderModel() if built_in.rate is None else NoisyReader(built_in.rate, built_in.seed, episode=seed)
