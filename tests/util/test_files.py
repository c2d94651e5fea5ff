from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest

from pddlego.errors import JournalError
from pddlego.util.files import MOST_IN_RUN, digest, open_run_file, read_run_file, write_run_file


def _link(path: Path) -> None:
    path.symlink_to(path.with_name("target"))


def _link_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


IRREGULAR = [_link, _link_to_a_device, os.mkfifo, Path.mkdir]


@pytest.fixture
def target(tmp_path: Path) -> Path:
    place = tmp_path / "target"
    place.write_text("kept")
    return place


@pytest.mark.parametrize("make", IRREGULAR)
@pytest.mark.parametrize("mode", ["rb", "ab", "xb"])
def test_a_file_of_a_run_is_a_regular_file(
    target: Path, make: Callable[[Path], None], mode: Literal["rb", "ab", "xb"]
) -> None:
    place = target.with_name("file")
    make(place)
    with pytest.raises(OSError, match="not a regular file"):
        open_run_file(place, mode)
    with pytest.raises(JournalError, match="Cannot write"):
        write_run_file(place, "text")
    assert digest(place) == ""
    assert target.read_text() == "kept"


def test_what_a_run_reads_is_bounded(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_bytes(b"x")
    assert read_run_file(place) == b"x"
    os.truncate(place, MOST_IN_RUN + 1)  # it takes no room on the disk
    with pytest.raises(OSError, match="bytes"):
        read_run_file(place)


def test_a_draft_that_is_a_link_is_replaced(target: Path) -> None:
    target.with_name(".file.new").symlink_to(target)
    write_run_file(target.with_name("file"), "text")
    assert target.with_name("file").read_text() == "text"
    assert target.read_text() == "kept"
