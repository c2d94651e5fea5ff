"""Prompts: a template is compiled once in a process, until its text changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from pddlego.models.prompts import Prompts


def test_a_changed_template_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "prompts" / "own" / "greeting.j2"
    file.parent.mkdir(parents=True)
    for text, rendered in (("Hello {{ who }}", "Hello model"), ("Good day {{ who }}", "Good day model")):
        file.write_text(text, encoding="utf-8")
        assert Prompts("own").render("greeting", who="model") == rendered
        assert Prompts("own").render("greeting", who="model") == rendered
