"""A real program as the editor."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pddlego.display.person import MAX_EDITS, edit_text
from pddlego.errors import UsageError


def no_faults(text: str) -> tuple[str, ...]:
    return ()


def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> Path:
    """Make an editor that runs `body` on `text` and keeps what it saw in a file of lines of dashes."""
    script, seen = tmp_path / "editor.py", tmp_path / "seen.txt"
    script.write_text(
        "import pathlib, sys\n"
        f"seen = pathlib.Path({str(seen)!r})\n"
        "path = pathlib.Path(sys.argv[1]); text = path.read_text()\n"
        "seen.write_text((seen.read_text() if seen.exists() else '') + text + '\\n-----\\n')\n"
        f"{body}\npath.write_text(text)\n"
    )
    monkeypatch.setenv("VISUAL", f"'{sys.executable}' '{script}'")
    return seen


def test_a_change_comes_back_without_the_comments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = editor(tmp_path, monkeypatch, "text = text.replace('moon', 'kitchen')")
    assert edit_text("(at moon)\n", no_faults, ["where are we?", "two\nlines"]) == "(at kitchen)\n"
    assert seen.read_text().startswith("; where are we?\n; two\n; lines\n(at moon)\n")


def test_no_change_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editor(tmp_path, monkeypatch, "pass")
    assert edit_text("(at moon)", no_faults) is None
    editor(tmp_path, monkeypatch, "text = ''")
    assert edit_text("(at moon)", no_faults) is None
    editor(tmp_path, monkeypatch, "text = '; only a comment'")
    assert edit_text("(at moon)", no_faults) is None


def test_it_opens_again_as_long_as_there_are_faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = editor(tmp_path, monkeypatch, "text = text.replace('mars', 'kitchen') if 'mars' in text else text + 'mars'")

    def faults(text: str) -> tuple[str, ...]:
        return ("there is no mars",) if "mars" in text else ()

    assert edit_text("(at moon)", faults) == "(at moon)kitchen"
    assert "; there is no mars" in seen.read_text().split("-----")[1]


def test_who_mends_nothing_is_not_asked_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editor(tmp_path, monkeypatch, "text = text if 'mars' in text else text + 'mars'")
    with pytest.raises(UsageError, match="cannot be used"):
        edit_text("(at moon)", lambda text: ("no",) if "mars" in text else ())
    editor(tmp_path, monkeypatch, "text = 'always mars'")
    with pytest.raises(UsageError, match="cannot be used"):
        edit_text("(at moon)", lambda text: ("no",) if "mars" in text else ())
    editor(tmp_path, monkeypatch, "path.unlink(); sys.exit()")
    assert edit_text("(at moon)", no_faults) is None


def test_an_editor_that_adds_a_wrong_line_every_time_is_opened_a_bounded_number_of_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails_in_the_end = f"if seen.read_text().count('-----') > {MAX_EDITS}: sys.exit('opened too often')"
    seen = editor(tmp_path, monkeypatch, f"{fails_in_the_end}\ntext += 'x'")
    with pytest.raises(UsageError, match=f"cannot be used after {MAX_EDITS} edits"):
        edit_text("(at moon)", lambda text: ("x is not known",) if "x" in text else ())
    assert seen.read_text().count("-----") == MAX_EDITS


@pytest.mark.parametrize(
    ("command", "says"), [("no-such-editor", "The editor cannot be started"), ("false", "The editor failed")]
)
def test_an_editor_that_fails(monkeypatch: pytest.MonkeyPatch, command: str, says: str) -> None:
    monkeypatch.setenv("VISUAL", command)
    with pytest.raises(UsageError, match=says):
        edit_text("(at moon)", no_faults)


@pytest.mark.parametrize("body", ["path.symlink_to('/dev/zero')", "os.mkfifo(path)", "path.mkdir()"])
def test_what_an_editor_leaves_must_be_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    editor(tmp_path, monkeypatch, f"import os; path.unlink(); {body}; sys.exit(0)")
    with pytest.raises(UsageError, match="cannot be read"):
        edit_text("(at moon)", no_faults)


def test_a_text_that_cannot_be_used_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    editor(tmp_path, monkeypatch, "text = '(at mars)'")
    with pytest.raises(UsageError) as refused:
        edit_text("(at moon)", lambda text: ("there is no such place",))
    (kept,) = tmp_path.glob("pddlego-edit-*")
    assert str(kept) in refused.value.next_step
    assert kept.read_text() == "(at mars)"
