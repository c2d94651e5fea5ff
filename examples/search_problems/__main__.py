"""Writes the lists of states into `domains/`.

python -m examples.search_problems            all of them
python -m examples.search_problems 24game     one
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from examples.search_problems.blocks import blocksworld
from examples.search_problems.crosswords import crosswords
from examples.search_problems.deduction import deduction
from examples.search_problems.game24 import game24
from examples.search_problems.items import Items
from examples.search_problems.sokoban import sokoban

DOMAINS = Path(__file__).parent.parent.parent / "domains"

MAKERS: dict[str, Callable[[], Items]] = {
    "24game": game24,
    "blocksworld": blocksworld,
    "crosswords": crosswords,
    "deduction": deduction,
    "sokoban": sokoban,
}


def main(names: list[str]) -> None:
    """Write the files of the problems of these names, or of all."""
    for name in names or MAKERS:
        folder = DOMAINS / name
        folder.mkdir(parents=True, exist_ok=True)
        for file, items in MAKERS[name]().items():
            text = "".join(json.dumps(item) + "\n" for item in items)
            (folder / f"{file}.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
