"""The files that a page of the documentation shows: `python -m tests.pages PAGE FOLDER` writes them into a folder."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def files_of(page: str) -> dict[str, str]:
    """The text of each file that the page shows below its name."""
    return dict(re.findall(r"^`([\w./-]+)`:\n\n```\w+\n(.*?)^```", page, re.MULTILINE | re.DOTALL))


def write_files(page: str, folder: Path) -> None:
    for name, text in files_of(page).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_files(Path(sys.argv[1]).read_text(encoding="utf-8"), Path(sys.argv[2]))
