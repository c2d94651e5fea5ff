"""The examples in the documentation are run."""

from __future__ import annotations

import doctest
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def test_the_examples_in_formats_md() -> None:
    result = doctest.testfile(str(DOCS / "formats.md"), module_relative=False, encoding="utf-8")
    assert result.attempted >= 12
    assert result.failed == 0
