"""Writes a clone in the layout of IBM/AutoToS, with problems of our own, or with the recorded dialogues."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

from tests.shared import RECORDED

LOG = "\nAutoToS prompt:\n\n{prompt}\n\nModel response:\n{answer}\n\nSystem message:\nAll tests passed\n"

STATE = {"clear": ["b"], "on-table": ["a"], "arm-empty": True, "holding": None, "on": [["b", "a"]]}
LIFTED = {"clear": ["a"], "on-table": ["a"], "arm-empty": False, "holding": "b", "on": []}
TOWER = """(define (problem p) (:domain d) (:objects a b c)
 (:init (handempty) (clear c) (clear b) (ontable a) (ontable c) (on b a)) (:goal (and (on c b) (clear c))))"""

MAZE = """(define (problem p) (:domain d)
 (:objects player-01 - player stone-01 - stone pos-1-1 pos-1-2 pos-1-3 pos-2-1 pos-2-2 pos-2-3 pos-2-4 - location)
 (:init (IS-GOAL pos-2-4) (clear pos-2-4) (clear pos-2-1) (at player-01 pos-2-2) (at stone-01 pos-2-3))
 (:goal (at-goal stone-01)))"""
GRID = [[1, 1, 1, 1], [0, 0, 0, 2]]
BEFORE, AFTER = {"at-player": [1, 1], "at-stone": [[1, 2]]}, {"at-player": [1, 2], "at-stone": [[1, 3]]}

QUESTION = (
    "Every tabby is a cat. Cats are felines. Painted ladies are not herbivorous. Each feline is not a wumpus. "
    "Wumpuses are luminous. Max is a tabby."
)
ASKED = {"question": QUESTION, "query": "True or false: Max is not a wumpus.", "answer": "True"}

ROWS = [[word] for word in ("abcde", "fghij", "klmno", "pqrst", "uvwxy")]
COLUMNS = [[word] for word in ("afkpu", "bglqv", "chmrw", "dinsx", "ejoty")]
FILLED = [list(words[0]) for words in ROWS]
EMPTY = [[None] * 5 for _ in range(5)]
CLUES = {"horizontal_clues": ROWS, "vertical_clues": COLUMNS}


def lines(*items: object) -> str:
    return "".join(f"{json.dumps(item)}\n" for item in items)


def _quoted(words: list[list[str]]) -> str:
    return '"' + json.dumps(words).replace('"', '""') + '"'


FILES = {
    "twentyfourgame": {
        "24game_goals.jsonl": lines([24]),
        "24game_non_goals.jsonl": lines([], [24, 1]),
        "24game_successors.jsonl": lines([[12, 12], [[24], [0], [144], [1.0]]]),
        "unittests.csv": "Rank,Puzzles\n1,1 1 4 6\n",
        "model_test.csv": "Rank,Puzzles,solvable\n11,1 1 2 8,1\n12,1 1 1 1,0\n",
    },
    "blocksworld": {
        "blocks_goals.jsonl": json.dumps([{"state": STATE, "goal": {"clear": [], "on-table": [], "on": [["b", "a"]]}}]),
        "blocks_non_goals.jsonl": json.dumps(
            [{"state": STATE, "goal": {"clear": ["a"], "on-table": [], "on": []}}], indent=2
        ),
        "blocks_successors.jsonl": json.dumps([{"state": STATE, "successors": [LIFTED]}]),
        "unittests.csv": "instances/one.pddl, 2\n",
        "solutions.csv": "instances/one.pddl, 2\n",
        "instances/one.pddl": TOWER,
    },
    "crossword5by5": {
        "crosswords_goal.jsonl": json.dumps([{"state": FILLED, **CLUES}]),
        "crosswords_nongoal.jsonl": json.dumps([{"state": EMPTY, **CLUES}]),
        "crosswords_successors.jsonl": json.dumps(
            [{"state": [*FILLED[:4], [None] * 5], "successors": [FILLED], **CLUES}]
        ),
        "unittests.csv": f"Table 1,,\n{_quoted(ROWS)},{_quoted(COLUMNS)},\n",
        "crossworld.csv": f"Table 1,,\n{_quoted(ROWS)},{_quoted(COLUMNS)},\n",
    },
    "prontoqa": {
        "prontoqa_goals.jsonl": lines({"state": ["cat", "small"], "goal": "small"}),
        "prontoqa_non_goals.jsonl": lines({"state": ["cat"], "goal": "small"}),
        "prontoqa_successors.jsonl": lines(
            {"state": ["cat"], "rules": [["cat", "small"]], "successors": [["cat", "small"]]}
        ),
        "unittests.json": json.dumps({"example_pool": [ASKED]}),
        "example_pool.json": json.dumps({"example_pool": [ASKED]}),
    },
    "sokoban": {
        "sokoban_goals.jsonl": lines({"state": AFTER, "grid": GRID}),
        "sokoban_non_goals.jsonl": lines({"state": BEFORE, "grid": GRID}),
        "sokoban_successors.jsonl": lines(
            {"state": BEFORE, "grid": GRID, "successors": [AFTER, {"at-player": [1, 0], "at-stone": [[1, 2]]}]}
        ),
        "sokoban_optimal_costs.json": '{"p01.pddl": 1}',
        "unittests_instances/p01.pddl": MAZE,
        "test_instances/p01.pddl": MAZE,
    },
}
SETTINGS = {
    "24game": "twentyfourgame",
    "blocksworld": "blocksworld",
    "crosswords": "crossword5by5",
    "deduction": "prontoqa",
    "sokoban": "sokoban",
}


def written_clone(root: Path) -> str:
    for folder, files in FILES.items():
        for name, text in files.items():
            path = root / "src" / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    (root / "src" / "domain_base_class.py").write_text('    sysmsg = """Write {functions}."""\n')
    for folder in FILES:
        code = "".join(
            f'def get_initial_{name}_prompt(self):\n        return """\n{folder}: {name}?\n"""\n'
            for name in ("successor", "goal")
        )
        (root / "src" / folder / f"{folder}_experiments.py").write_text(code)
    return f"autotos:{root}"


def recorded_clone(root: Path) -> str:
    """Write the recorded dialogues, unit tests and instances of the 24 Game as their repository has them."""
    problem = root / "src" / "twentyfourgame"
    problem.mkdir(parents=True)
    for file in (RECORDED / "game24").iterdir():
        if file.suffix in (".csv", ".jsonl"):
            shutil.copyfile(file, problem / file.name)
    with gzip.open(RECORDED / "game24" / "conversations.jsonl.gz", "rt", encoding="utf-8") as recorded:
        for number, line in enumerate(recorded):
            text = json.loads(line)
            folder = root / "src" / "clean_logs" / "24game" / f"{text['model']}-{text['variant']}_logs"
            folder.mkdir(parents=True, exist_ok=True)
            log = "".join(LOG.format(**turn) for turn in text["turns"])
            (folder / f"script_log_20240808_{number:06}.txt").write_text(log, encoding="utf-8")
    return f"autotos:{root}"
