"""The speed of a model, and a dry run without its file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pddlego.models import Completion, Message, Request
from pddlego.models.base import Delta
from pddlego.models.speed import Speed, measure_speed
from tests.cli.command import run
from tests.cli.test_play import three_lines
from tests.clock import FakeClock


@dataclass
class Typist:
    """A model that writes 20 tokens to 100, the first after a pause if it streams."""

    streams: bool
    clock: FakeClock
    name: str = "typist"
    description: Mapping[str, Any] = field(default_factory=dict)

    def complete(self, request: Request) -> Completion:
        if self.streams and request.report is not None:
            self.clock.advance(2.0)
            request.report(Delta("a"))
        self.clock.advance(5.0)
        return Completion("a" * 80, 100, 20)


def test_reading_is_measured_where_an_answer_is_streamed() -> None:
    request = Request("probe", (Message("user", "a" * 400),))
    clock = FakeClock()
    streamed, whole = (measure_speed(Typist(streams, clock), request, clock) for streams in (True, False))
    assert streamed == Speed(50.0, 4.0, 4.0)
    assert whole == Speed(math.inf, 4.0, 4.0)
    assert str(Speed(30.4, 10.2, 4)) == "reads 30 tokens a second, writes 10 tokens a second"


@pytest.mark.server
def test_a_dry_run_refuses_a_missing_file(tmp_path: Path) -> None:
    done = run("eval", "coin", "--models", "local:none.gguf", "--seeds", "0", "--dry-run", cwd=tmp_path)
    assert done.returncode == 2
    assert three_lines(done.stderr)
    assert "none.gguf cannot be read" in done.stderr
