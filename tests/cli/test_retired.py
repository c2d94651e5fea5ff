"""Names that were removed: one line says what to use instead, before anything is read or played."""

from __future__ import annotations

from pathlib import Path

import pytest

import pddlego
from pddlego.cli.retired import RETIRED
from pddlego.errors import UsageError
from tests.cli.command import run

INSPECT = "inspect:openai/gpt-4o"


@pytest.mark.parametrize(("command", "option", "value"), sorted(RETIRED))
@pytest.mark.parametrize("separator", [" ", "="])
def test_a_retired_name_is_refused_in_one_line(
    command: str, option: str, value: str, separator: str, tmp_path: Path
) -> None:
    done = run(command, *f"{option}{separator}{value or 'x'}".split(), "coin", cwd=tmp_path)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr
    assert RETIRED[command, option, value] in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_value_of_another_option_is_not_retired(tmp_path: Path) -> None:
    assert "was removed" not in run("export", "hub", "--format", "chat", cwd=tmp_path).stderr


@pytest.mark.method("textgames")
def test_a_provider_of_inspect_is_refused_as_a_model(tmp_path: Path) -> None:
    done = run("eval", "coin", "--models", INSPECT, "--seeds", "3", cwd=tmp_path)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and "--base-url" in done.stderr, done.stderr
    with pytest.raises(UsageError, match="inspect eval pddlego/GAME"):
        pddlego.play("coin", model=INSPECT)
