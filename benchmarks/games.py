"""Every game with the built-in reader, beside the paper's Table 1, and on unseen seeds and folds."""

from __future__ import annotations

from benchmarks.episodes import play
from benchmarks.table import show
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.options import TextGameOptions
from pddlego.planning import ProcessPlanner

PAPER = {
    "coin": ("4%", "68%", "26%", "28%", "94%", "58%", "78%"),
    "cooking-easy": ("0%", "0%", "70%", "68%", "4%", "94%", "98%"),
    "cooking-hard": ("0%", "0%", "4%", "6%", "0%", "16%", "46%"),
}
"""Table 1 of the paper: random, then Action-gen, PDDL-gen and PDDL-edit of GPT-3.5 Turbo and of GPT-4 Turbo."""

GAMES = ("coin", "cooking-easy", "cooking-hard", "cooking-full", "mapreader", "twc")
SEEDS = range(60)
TEST_SEEDS = range(10, 60)
UNTUNED = (
    ("train", "100-199", range(100, 200)),
    ("dev", "10020-10039", range(10020, 10040)),
    ("test", "20020-20039", range(20020, 20040)),
)


def main() -> None:
    with ProcessPlanner() as planner:
        _table_1(planner)
        print()
        _all(planner)
        print()
        _untuned(planner)


def _table_1(planner: ProcessPlanner) -> None:
    rows = []
    for name, paper in PAPER.items():
        ours = [play(load(name), mode, TEST_SEEDS, planner).success for mode in ("random", "gen", "edit")]
        rows.append([name, *paper, *ours])
    head = [
        "",
        "random",
        "3.5 act",
        "3.5 gen",
        "3.5 edit",
        "4 act",
        "4 gen",
        "4 edit",
        "random",
        "rules gen",
        "rules edit",
    ]
    show(
        "Won of the 50 test seeds (10-59): the paper's language models | pddlego, without any language model",
        head,
        rows,
    )
    print("  3.5 and 4 are GPT-3.5 Turbo and GPT-4 Turbo, as printed in the paper's Table 1, not measured here.")
    print("  'rules' is the built-in reader: rules that read the game in place of a language model.")


def _all(planner: ProcessPlanner) -> None:
    rows = []
    for name in GAMES:
        for mode in ("edit", "gen"):
            done = play(load(name), mode, SEEDS, planner)
            numbers = [done.won, done.steps, done.most_steps, done.refused, done.lost, done.calls, done.characters]
            rows.append([f"{name} {mode}", *numbers])
    head = ["", "won", "steps", "most", "refused", "lost", "calls", "characters sent"]
    show("Seeds 0-59, built-in reader (rules, no language model)", head, rows)


def _untuned(planner: ProcessPlanner) -> None:
    rows = []
    for name in GAMES:
        cells = []
        for fold, _, seeds in UNTUNED:
            done = play(load(name, TextGameOptions(fold=fold)), "edit", seeds, planner)
            cells += [done.won, done.steps, done.refused]
        rows.append([name, *cells])
    head = [""]
    for fold, label, _ in UNTUNED:
        head += [f"{fold} {label}", "steps", "refused"]
    show("Unseen seeds, edit, built-in reader (rules, no language model)", head, rows)
