from __future__ import annotations

import os
from pathlib import Path

import pytest

from pddlego.errors import SettingError
from pddlego.util import clone as module
from pddlego.util.clone import Clone


def test_text_and_names(tmp_path: Path) -> None:
    for name in ("a10.txt", "a2.txt", "b.md"):
        (tmp_path / name).write_bytes(b"\xef\xbb\xbfone\r\ntwo")
    clone = Clone("kind", "owner/name", tmp_path)
    assert clone.text("a2.txt") == "one\ntwo"
    assert clone.names(".", ".txt") == ["a2.txt", "a10.txt"]


def test_what_is_too_large_or_outside_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 10)
    monkeypatch.setattr(module, "MOST_ENTRIES", 2)
    root = tmp_path / "root"
    root.mkdir()
    (root / "large").write_bytes(b"x" * 11)
    clone = Clone("kind", "owner/name", root)
    for name, reason in (
        ("large", "It has over 10 bytes."),
        ("../root2", "It leads out of the clone."),
        (".", "It is not a regular file."),
        ("a\0b", "Embedded null byte."),
    ):
        with pytest.raises(SettingError) as raised:
            clone.text(name)
        assert raised.value.reason == reason
    for number in range(3):
        (root / f"file{number}").touch()
    with pytest.raises(SettingError) as raised:
        clone.names(".")
    assert raised.value.reason == "It has over 2 entries."


def test_many_large_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("12345")
    clone = Clone("kind", "owner/name", tmp_path, left=12)
    assert clone.text("file") == clone.text("file") == "12345"
    with pytest.raises(SettingError, match="cannot be used") as raised:
        clone.text("file")
    assert "the files before it" in raised.value.reason


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_does_not_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    clone = Clone("kind", "owner/name", tmp_path)
    for name in ("pipe", "loop"):
        with pytest.raises(SettingError, match="cannot be used"):
            clone.text(name)
