"""What the reading rules make of recorded episodes. The problems are those of the reader that was written in Python."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from pddlego.methods.textgames.formalize import Exchange, Observations, PromptContext
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.reader import PatternRules
from pddlego.pddl import apply_edit

RECORDED: dict[str, list[dict[str, Any]]] = json.loads(
    gzip.decompress((Path(__file__).parents[3] / "data" / "readings.json.gz").read_bytes())
)
"""Episodes by setting: the task, and for each request the news, the next placeholder, and a digest of the problem."""


@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDED)
def test_each_problem_is_the_recorded_one_with_facts_and_types(name: str) -> None:
    setting, constants = load(name), load(name).start.domain.constants
    for number, episode in enumerate(RECORDED[name]):
        problem, history = setting.start.problem, list[Exchange]()
        for step, (news, placeholder, digest) in enumerate(episode["steps"]):
            exchanges = tuple(Exchange(command, text, None, gained) for command, text, gained in news)
            history += exchanges
            asked = PromptContext(
                setting.start.with_problem(problem),
                episode["task"],
                Observations(exchanges, tuple(history)),
                placeholder=placeholder,
                reader=setting.reader,
            )
            report = apply_edit(problem, PatternRules().edit(asked), constants)
            assert not report.unmatched and not report.refused
            problem = report.problem
            assert hashlib.sha256(str(problem).encode()).hexdigest()[:12] == digest, (number, step, news)
